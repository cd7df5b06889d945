"""Make the Decision of a human's answer: seal what it comes to and name it by digest.

Used by whatever asks the human (JOURNAL section 2, step 4) and, to check that nothing else is written, by
the host that executes (step 6). Decides nothing and appends nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol, cast

from workbench.changes.digest import DigestRow, action_digest
from workbench.changes.model import FileChange
from workbench.changes.result import digest_of, selected
from workbench.domain.events import ActionOpened
from workbench.domain.values import Approval, BlobRef, Decision, FilePlan, Hunk, JsonObject, Taken
from workbench.text import canonical


class ImagesGone(Exception):
    """Sealed bytes that an action needs are not there any more."""

    what = "Not decided."
    remedy = "Reject it, or let the agent propose it again."

    def __init__(self, path: str) -> None:
        self.why = f"The sealed bytes of {path} are not there any more."
        super().__init__(self.why)


class Images(Protocol):
    """The part of the blob store that answers need."""

    def seal(self, data: bytes) -> BlobRef:
        """Store exact bytes and return their reference."""
        ...

    def read(self, ref: BlobRef) -> bytes | None:
        """Return stored bytes, None if they are gone."""
        ...

    def keyed(self, data: bytes) -> str:
        """Return the keyed digest of bytes."""
        ...


def images(files: Sequence[FilePlan], blobs: Images) -> tuple[FileChange, ...]:
    """Return the exact changes that a plan names.

    Raises:
        ImagesGone: sealed bytes are missing or damaged.
    """
    return tuple(
        FileChange(
            path=plan.path,
            before=_image(plan.path, plan.base, plan.base_ref, blobs),
            after=_image(plan.path, plan.after, plan.after_ref, blobs),
            mode=plan.mode,
        )
        for plan in files
    )


def action_hunks(opened: ActionOpened, blobs: Images) -> tuple[Hunk, ...]:
    """Return the hunks of an action as they were numbered when it was opened, made from its exact bytes."""
    from workbench.changes.hunks import hunks

    return hunks(images(opened.files, blobs))


def outcome(
    opened: ActionOpened,
    blobs: Images,
    selection: Sequence[Taken] | None,
    edited: Mapping[str, bytes] | None,
) -> tuple[tuple[FileChange, ...], str]:
    """Return what an approval writes and the result digest that names it.

    Raises:
        ValueError: the selection or `edited` names something that the action does not have.
        ImagesGone: sealed bytes are missing.
    """
    if selection is None and not edited:
        return images(opened.files, blobs), opened.digest
    changes = images(opened.files, blobs)
    decided = selected(changes, action_hunks(opened, blobs), selection, edited)
    return decided, result_digest(opened, decided, blobs)


def result_digest(opened: ActionOpened, decided: Sequence[FileChange], blobs: Images) -> str:
    """Return the digest of an action with the after bytes of a decision in place of those proposed.

    Raises:
        ImagesGone: the exact parameters are missing.
    """
    rows: list[DigestRow] = [
        (
            change.path,
            digest_of(change.before, blobs.keyed),
            digest_of(change.after, blobs.keyed),
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


def decision(
    opened: ActionOpened,
    action_id: str,
    verdict: Approval,
    *,
    blobs: Images,
    selection: Sequence[Taken] | None = None,
    edited: Mapping[str, bytes] | None = None,
    reason: str | None = None,
    choice: str | None = None,
    text: str | None = None,
) -> Decision:
    """Return the decision of an answer, with the bytes of a selection or an edit sealed and named.

    A selection that comes to everything is a plain approval: nothing was left.

    Raises:
        ValueError: the selection or `edited` names something that the action does not have, or the action
            changes no file.
        ImagesGone: sealed bytes are missing.
    """
    plain = Decision(action_id=action_id, verdict=verdict, reason=reason, choice=choice, text=text)
    if verdict == "reject" or (selection is None and not edited):
        return plain
    if not opened.files:
        raise ValueError("this action changes no file, so it has no hunks and no text to edit")
    decided, digest = outcome(opened, blobs, selection, edited)
    if digest == opened.digest and not edited:
        return plain
    for change in decided:
        if change.after is not None:
            blobs.seal(change.after)
    refs = {path: blobs.seal(data) for path, data in (edited or {}).items()}
    return replace(
        plain,
        selection=None if selection is None else tuple(selection),
        edited=refs or None,
        result_digest=digest,
    )


def exact_parameters(recorded: JsonObject, ref: BlobRef | None, blobs: Images) -> JsonObject:
    """Return the parameters as the agent wrote them; the recorded ones are those unless sealed ones differ.

    Raises:
        ImagesGone: the sealed ones are missing.
    """
    if ref is None:
        return recorded
    data = blobs.read(ref)
    if data is None:
        raise ImagesGone("the parameters")
    return cast("JsonObject", canonical.loads(data))


def _image(path: str, digest: str | None, ref: BlobRef | None, blobs: Images) -> bytes | None:
    if digest is None:
        return None
    data = blobs.read(ref) if ref else None
    if data is None or blobs.keyed(data) != digest:
        raise ImagesGone(path)
    return data
