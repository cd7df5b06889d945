"""What a decision comes to: the after-images of a selection and of edits, and the plan to write them.

Pure. Never asks whether the decision was allowed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from workbench.changes.model import FileChange, refuse_repeated
from workbench.changes.take import picked_lines, take
from workbench.domain.values import FilePlan, Hunk, Taken


def selected(
    changes: Sequence[FileChange],
    hunks: Sequence[Hunk],
    selection: Sequence[Taken] | None,
    edited: Mapping[str, bytes] | None = None,
) -> tuple[FileChange, ...]:
    """Return the changes of a decision; files of which nothing was taken drop out.

    Args:
        changes: all files of the action.
        hunks: all hunks of the action.
        selection: None takes everything.
        edited: path -> the bytes a user wrote instead; they win over the selection for that file.

    Raises:
        ValueError: the selection or `edited` names something that the action does not have.
    """
    refuse_repeated(change.path for change in changes)
    edits = edited or {}
    unknown = sorted(set(edits) - {change.path for change in changes})
    if unknown:
        raise ValueError(f"{unknown[0]} is not a file of this action")
    if selection is not None:
        picked_lines(hunks, selection)
    decided = [_decided(change, hunks, selection, edits) for change in changes]
    return tuple(change for change in decided if change is not None)


def plan(changes: Sequence[FileChange], keyed: Callable[[bytes], str]) -> tuple[FilePlan, ...]:
    """Return the plan of changes with keyed digests in place of bytes; blob references are left open."""
    refuse_repeated(change.path for change in changes)
    return tuple(
        FilePlan(
            path=change.path,
            base=digest_of(change.before, keyed),
            after=digest_of(change.after, keyed),
            mode=change.mode,
        )
        for change in changes
    )


def digest_of(data: bytes | None, keyed: Callable[[bytes], str]) -> str | None:
    """Return the keyed digest of an image; no file has none."""
    return None if data is None else keyed(data)


def _decided(
    change: FileChange,
    hunks: Sequence[Hunk],
    selection: Sequence[Taken] | None,
    edits: Mapping[str, bytes],
) -> FileChange | None:
    if change.path not in edits and selection is None:
        return change
    after = edits[change.path] if change.path in edits else take(change, hunks, selection)
    return None if after == change.before else replace(change, after=after)
