"""The decision of a human's answer: the part of a change that is taken, and the digest that names it.

A selection of lines or an edit becomes exact after-images, made from the bytes of both sides and never from
the text of hunks. The host that executes a decision checks it with the same functions.
"""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Protocol, cast

from msgspec.structs import replace

from workbench.changes.diff import (
    ChangedBlock,
    FileChange,
    changed_blocks,
    dominant_line_end,
    make_hunks,
    refuse_repeated_paths,
    split_lines,
    with_line_end,
)
from workbench.changes.digest import DigestRow, KeyedDigest, action_digest
from workbench.domain.events import ActionOpened
from workbench.domain.values import (
    BlobRef,
    Decision,
    FilePlan,
    Hunk,
    JsonObject,
    SelectedHunk,
)
from workbench.text import canonical

PickedLines = Mapping[int, frozenset[int]]
"""Hunk number -> the numbers of its changed lines that are taken."""


def taken_bytes(
    change: FileChange, hunks: Sequence[Hunk], selection: Sequence[SelectedHunk] | None
) -> bytes | None:
    """Return the bytes of a file, if any, after the selected part of its change; no selection is all."""
    if selection is None:
        return change.after
    picked = picked_lines(hunks, selection)
    own = sorted((hunk for hunk in hunks if hunk.path == change.path), key=lambda hunk: hunk.index)
    if not any(picked[hunk.index] for hunk in own):
        return change.before
    if all(len(picked[hunk.index]) == changed_line_count(hunk) for hunk in own):
        return change.after
    return _rebuilt(change, own, picked)


def picked_lines(hunks: Sequence[Hunk], selection: Sequence[SelectedHunk]) -> PickedLines:
    """Return for every hunk the changed lines that a selection takes; ValueError names a missing one."""
    sizes = {hunk.index: changed_line_count(hunk) for hunk in hunks}
    picked: dict[int, set[int]] = {index: set() for index in sizes}
    for part in selection:
        if part.hunk not in sizes:
            raise ValueError(f"there is no hunk {part.hunk}: this action has {_counted(len(sizes), 'hunk')}")
        size = sizes[part.hunk]
        lines = range(1, size + 1) if part.lines is None else part.lines
        unknown = [line for line in lines if not 1 <= line <= size]
        if unknown:
            raise ValueError(
                f"there is no line {unknown[0]} in hunk {part.hunk}: it has {_counted(size, 'changed line')}"
            )
        picked[part.hunk].update(lines)
    return {index: frozenset(lines) for index, lines in picked.items()}


def changed_line_count(hunk: Hunk) -> int:
    """Return how many lines a selection can name in a hunk: its `-` and `+` lines."""
    return sum(sign in "-+" for sign, _ in hunk.lines)


def _counted(count: int, noun: str) -> str:
    return f"{count or 'no'} {noun}{'' if count == 1 else 's'}"


def _rebuilt(change: FileChange, own: Sequence[Hunk], picked: PickedLines) -> bytes:
    old, new = split_lines(change.before), split_lines(change.after)
    lines: list[bytes] = []
    position = 0
    for hunk, group in zip(own, _blocks_by_hunk(change.path, own, changed_blocks(old, new)), strict=True):
        numbers = count(1)
        for block in group:
            lines += old[position : block.old_from]
            removed, added = old[block.old_from : block.old_to], new[block.new_from : block.new_to]
            lines += [line for line in removed if next(numbers) not in picked[hunk.index]]
            lines += [line for line in added if next(numbers) in picked[hunk.index]]
            position = block.old_to
    lines += old[position:]
    end = dominant_line_end(change.before, change.after)
    return b"".join([*(with_line_end(line, end) for line in lines[:-1]), *lines[-1:]])


def _blocks_by_hunk(
    path: str, own: Sequence[Hunk], blocks: Sequence[ChangedBlock]
) -> list[list[ChangedBlock]]:
    groups: list[list[ChangedBlock]] = []
    rest = list(reversed(blocks))
    for hunk in own:
        end = hunk.old_start + hunk.old_count - (1 if hunk.old_count else 0)
        group: list[ChangedBlock] = []
        while rest and rest[-1].old_to <= end:
            group.append(rest.pop())
        groups.append(group)
        if _block_signs(hunk, group) != [sign for sign, _ in hunk.lines if sign != "\\"]:
            raise ValueError(f"hunk {hunk.index} was not made from these bytes of {path}")
    if rest:
        raise ValueError(f"the hunks of {path} are not complete")
    return groups


def _block_signs(hunk: Hunk, group: Sequence[ChangedBlock]) -> list[str]:
    position = hunk.old_start - (1 if hunk.old_count else 0)
    start, signs = position, ""
    for block in group:
        signs += " " * (block.old_from - position)
        signs += "-" * (block.old_to - block.old_from) + "+" * (block.new_to - block.new_from)
        position = block.old_to
    return list(signs + " " * (start + hunk.old_count - position))


def decided_changes(
    changes: Sequence[FileChange],
    hunks: Sequence[Hunk],
    selection: Sequence[SelectedHunk] | None,
    edited: Mapping[str, bytes] | None = None,
) -> tuple[FileChange, ...]:
    """Return the changes of a decision without files of which nothing was taken.

    No selection takes everything. The bytes in `edited` win over the selection for their file.
    """
    refuse_repeated_paths(change.path for change in changes)
    edits = edited or {}
    unknown = sorted(set(edits) - {change.path for change in changes})
    if unknown:
        raise ValueError(f"{unknown[0]} is not a file of this action")
    if edits and any(change.moved_from is not None for change in changes):
        raise ValueError("a move is taken as a whole: its text cannot be edited")
    if selection is not None:
        picked_lines(hunks, selection)
    decided = [_decided_change(change, hunks, selection, edits) for change in changes]
    return tuple(change for change in decided if change is not None)


def file_plans(changes: Sequence[FileChange], keyed: KeyedDigest) -> tuple[FilePlan, ...]:
    """Return the plan of changes with keyed digests in place of bytes, and no blob references."""
    refuse_repeated_paths(change.path for change in changes)
    return tuple(
        FilePlan(
            path=change.path,
            base=image_digest(change.before, keyed),
            after=image_digest(change.after, keyed),
            mode=change.mode,
            moved_from=change.moved_from,
        )
        for change in changes
    )


def image_digest(data: bytes | None, keyed: KeyedDigest) -> str | None:
    return None if data is None else keyed(data)


def _decided_change(
    change: FileChange,
    hunks: Sequence[Hunk],
    selection: Sequence[SelectedHunk] | None,
    edits: Mapping[str, bytes],
) -> FileChange | None:
    if change.path not in edits and selection is None:
        return change
    after = edits[change.path] if change.path in edits else taken_bytes(change, hunks, selection)
    return None if after == change.before else replace(change, after=after)


class SealedBytesMissing(Exception):
    """Sealed bytes that an action needs are not there any more."""

    what = "Not decided."
    remedy = "Reject it, or let the agent propose it again."

    def __init__(self, path: str) -> None:
        self.why = f"The stored bytes of {path} are missing."
        super().__init__(self.why)


class SealedBytes(Protocol):
    """The part of the blob store that answers need."""

    def seal(self, data: bytes) -> BlobRef: ...

    def read(self, ref: BlobRef) -> bytes | None: ...

    def keyed(self, data: bytes) -> str: ...


def sealed_changes(files: Sequence[FilePlan], blobs: SealedBytes) -> tuple[FileChange, ...]:
    """Return the exact changes that a plan names, or raise `SealedBytesMissing`."""
    return tuple(
        FileChange(
            path=plan.path,
            before=_sealed_image(plan.path, plan.base, plan.base_ref, blobs),
            after=_sealed_image(plan.path, plan.after, plan.after_ref, blobs),
            mode=plan.mode,
            moved_from=plan.moved_from,
        )
        for plan in files
    )


def action_hunks(opened: ActionOpened, blobs: SealedBytes) -> tuple[Hunk, ...]:
    """Return the hunks of an action as numbered when it was opened, made from its exact bytes."""
    return make_hunks(sealed_changes(opened.files, blobs))


def approval_outcome(
    opened: ActionOpened,
    blobs: SealedBytes,
    selection: Sequence[SelectedHunk] | None,
    edited: Mapping[str, bytes] | None,
) -> tuple[tuple[FileChange, ...], str]:
    """Return what an approval writes and the result digest that names it."""
    if selection is None and not edited:
        return sealed_changes(opened.files, blobs), opened.digest
    changes = sealed_changes(opened.files, blobs)
    decided = decided_changes(changes, action_hunks(opened, blobs), selection, edited)
    return decided, result_digest(opened, decided, blobs)


def result_digest(opened: ActionOpened, decided: Sequence[FileChange], blobs: SealedBytes) -> str:
    """Return the digest of an action with the after bytes of a decision in place of those proposed."""
    rows: list[DigestRow] = [
        (
            change.path,
            image_digest(change.before, blobs.keyed),
            image_digest(change.after, blobs.keyed),
            change.mode,
        )
        for change in decided
    ]
    return action_digest(
        blobs.keyed,
        kind=opened.action_kind,
        tool=opened.tool,
        parameters=exact_parameters(opened.parameters, opened.parameters_ref, blobs),
        cwd=opened.cwd,
        files=rows,
        prompt=opened.prompt,
        choices=opened.choices,
    )


def seal_decision(
    opened: ActionOpened,
    decision: Decision,
    blobs: SealedBytes,
    edited: Mapping[str, bytes] | None = None,
) -> Decision:
    """Return a decision with the bytes of its selection or of an edit sealed and named.

    A selection that comes to everything is a plain approval. ValueError: the action changes no file, or lacks
    what is selected or edited.
    """
    selection, plain = decision.selection, replace(decision, selection=None)
    if decision.verdict == "reject" or (selection is None and not edited):
        return plain
    if not opened.files:
        raise ValueError("this action changes no file, so it has no hunks and no text to edit")
    decided, digest = approval_outcome(opened, blobs, selection, edited)
    if digest == opened.digest and not edited:
        return plain
    for change in decided:
        if change.after is not None:
            blobs.seal(change.after)
    refs = {path: blobs.seal(data) for path, data in (edited or {}).items()}
    return replace(plain, selection=selection, edited=refs or None, result_digest=digest)


def exact_parameters(recorded: JsonObject, ref: BlobRef | None, blobs: SealedBytes) -> JsonObject:
    """Return the sealed parameters as the agent wrote them, or those recorded where none were sealed."""
    if ref is None:
        return recorded
    data = blobs.read(ref)
    if data is None:
        raise SealedBytesMissing("the parameters")
    return cast("JsonObject", canonical.loads(data))


def _sealed_image(path: str, digest: str | None, ref: BlobRef | None, blobs: SealedBytes) -> bytes | None:
    if digest is None:
        return None
    data = blobs.read(ref) if ref else None
    if data is None or blobs.keyed(data) != digest:
        raise SealedBytesMissing(path)
    return data
