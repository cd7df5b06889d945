"""What a session changed, file by file, from the journal."""

import posixpath
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from workbench.domain.events import CallProposed, Event, FileChanged
from workbench.domain.rows import Session
from workbench.domain.values import Hunk
from workbench.formats.session_diff import (
    SCRUBBED,
    FileDiff,
    RecordedWrite,
    SessionDiff,
    is_quoted_edit,
    session_file_diffs,
)
from workbench.host.redaction import redact_hunks
from workbench.journal.journal import Journal
from workbench.journal.proposals import ProposalMissing, proposal_of, recorded_hunks
from workbench.journal.replay import file_changes

_SECRET_MARK: Final = "⟨secret: "


def session_diff(
    journal: Journal, session: Session, *, is_exact: bool = False, is_alone: bool = False
) -> SessionDiff:
    """Return what a session and those that it started changed, file by file.

    `is_exact`: with secrets as the files have them. `is_alone`: only the session's own changes.
    """
    family = [session] if is_alone else _family(journal, session)
    folder = posixpath.normpath(session.workspace) if session.workspace else ""
    writes = list(_writes(journal, family, folder))
    diffs = session_file_diffs(writes)
    different = {path for diff in diffs for path in (diff.path, diff.old_path)}
    if not is_exact:
        diffs = [_without_secrets(diff) for diff in diffs]
    outside = [diff for diff in diffs if posixpath.isabs(diff.path)]
    return SessionDiff(
        folder=folder, files=tuple(diff for diff in diffs if diff not in outside), outside=tuple(outside),
        sessions=len(family), reverted=tuple(sorted({write.path for write in writes} - different)),
    )  # fmt: skip


def _family(journal: Journal, session: Session) -> list[Session]:
    family, seen = [session], {session.id}
    for member in family:
        below = [child for child in journal.sessions(parent_id=member.id) if child.id not in seen]
        seen |= {child.id for child in below}
        family += below
    return family


def _writes(journal: Journal, family: Sequence[Session], folder: str) -> Iterator[RecordedWrite]:
    """Yield what was written, in the order in which it was; within a session that is the record's order."""
    timed: list[tuple[int, int, Event, str]] = []
    for member in family:
        newest = 0
        for event in file_changes(journal, member.id):
            newest = max(newest, event.at)
            timed.append((newest, len(timed), event, member.workspace))
    timed.sort(key=lambda row: row[:2])
    last: dict[str, str | None] = {}
    for _, _, event, workspace in timed:
        if isinstance(event.body, FileChanged):
            path = relative_path(event.body.path, workspace, folder)
            yield _recorded_write(journal, event, event.body, path, last)
            last[path] = event.body.after


def relative_path(path: str, workspace: str, folder: str) -> str:
    """Return a path of a workspace from a folder; absolute where it is outside."""
    whole = posixpath.normpath(path if posixpath.isabs(path) else posixpath.join(workspace, path))
    if not folder or not posixpath.isabs(whole):
        return whole
    inside = whole.removeprefix(f"{folder.rstrip('/')}/")
    return inside if inside != whole else whole


def _recorded_write(
    journal: Journal, event: Event, body: FileChanged, path: str, last: dict[str, str | None]
) -> RecordedWrite:
    before, has_before = _image(journal, body.before, body.before_ref)
    after, has_after = _image(journal, body.after, body.after_ref)
    recorded = body.hunks
    if not recorded and not (has_before and has_after):
        # Sealed bytes go after their time; what was shown of the change stays.
        recorded = _approved_hunks(journal, event.call_id or "", body.path)
    hunks = tuple(replace(hunk, path=path) for hunk in recorded)
    return RecordedWrite(
        path=path, change=body.change, call_id=event.call_id or "", before=before, after=after,
        has_before=has_before and not hunks, has_after=has_after and not hunks,
        is_continued=path not in last or last[path] == body.before, mode=body.mode, hunks=hunks,
        is_placed=not body.hunks or not _is_quoted(journal, event.call_id or "", body),
    )  # fmt: skip


def _approved_hunks(journal: Journal, call_id: str, path: str) -> tuple[Hunk, ...]:
    """Return what a human was shown of a file and approved in whole; nothing where they changed it."""
    call = journal.call(call_id)
    action = journal.action(call.action_id) if call is not None and call.action_id else None
    if action is None or action.selection is not None or action.edited:
        return ()
    try:
        hunks = recorded_hunks(journal, proposal_of(journal, action))
    except ProposalMissing:
        return ()
    return tuple(hunk for hunk in hunks if hunk.path == path)


def _image(journal: Journal, digest: str | None, ref: str | None) -> tuple[bytes | None, bool]:
    """Return the bytes of a file, and whether they are known; of an import the digests are empty."""
    if digest is None:
        return None, True
    data = journal.blobs.read(ref) if ref else None
    return data, data is not None


def _is_quoted(journal: Journal, call_id: str, body: FileChanged) -> bool:
    call = journal.call(call_id)
    if call is None:
        return False
    proposed = next((e.body for e in journal.call_events(call_id) if isinstance(e.body, CallProposed)), None)
    return is_quoted_edit(call.tool, proposed.parameters if proposed else call.parameters, body.hunks)


def _without_secrets(diff: FileDiff) -> FileDiff:
    hunks, was_scrubbed = redact_hunks(diff.hunks)
    is_marked = any(_SECRET_MARK in text for hunk in hunks for _, text in hunk.lines)
    if not was_scrubbed and not is_marked:
        return diff
    return replace(diff, hunks=hunks, notes=(*diff.notes, SCRUBBED), can_apply=False)
