"""`workbench sessions diff`: one unified diff of everything that a session changed."""

import os
import posixpath
import shutil
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from workbench.cli.approval_display import proposal_of, recorded_hunks
from workbench.cli.arguments import add_json_option, add_session_argument
from workbench.cli.console import Console
from workbench.cli.context import find_session, open_journal
from workbench.cli.errors import EXIT_OK, Refusal, UsageError
from workbench.cli.rows import JsonFields
from workbench.domain.events import CallProposed, Event, FileChanged
from workbench.domain.rows import Session
from workbench.domain.values import Hunk
from workbench.formats.git_diff import diff_stat_lines, git_diff_lines
from workbench.formats.session_diff import (
    SCRUBBED,
    FileDiff,
    RecordedWrite,
    SessionDiff,
    is_quoted_edit,
    session_file_diffs,
)
from workbench.host.host_locks import refuse_inside_agents
from workbench.host.redaction import redact_hunks
from workbench.journal.journal import Journal
from workbench.journal.replay import file_changes
from workbench.text.human import counted
from workbench.text.safe import one_line

DIFF_EXAMPLE = """workbench sessions diff 3f2a
workbench sessions diff 3f2a --stat
workbench sessions diff 3f2a -- src/app.py
workbench sessions diff 3f2a > changes.patch"""
_PIPE_WIDTH: Final = 100
_SECRET_MARK: Final = "⟨secret: "
_COLORS: Final = {"+": "32", "-": "31", "@": "36", "#": "33"}
_HEADER_COLOR: Final = "1"
_HEADERS: Final = (
    "diff --git ", "--- ", "+++ ", "new file", "deleted file", "old mode", "new mode", "rename ",
    "similarity ", "index ", "Binary ", "GIT ",
)  # fmt: skip


def configure_diff(parser: ArgumentParser) -> None:
    add_session_argument(parser)
    parser.add_argument("paths", metavar="PATH", nargs="*", help="only these files and folders, behind --")
    parser.add_argument("--stat", action="store_true", help="a line a file instead of the diff")
    add_json_option(parser)
    parser.add_argument("--alone", action="store_true", help="without what its sub-agents and steps changed")
    parser.add_argument("--outside", action="store_true", help="also files outside its folder")
    parser.add_argument("--binary", action="store_true", help="with the bytes of binary files, to be applied")
    exact = "as the files have it, secrets too; else they are replaced, and what holds one does not apply"
    parser.add_argument("--exact", action="store_true", help=exact)


def execute_diff(options: Namespace, console: Console) -> int:
    with open_journal() as journal:
        if options.exact:
            # Sealed bytes are no agent's to read.
            refuse_inside_agents(journal, journal.home, "read exact bytes")
        session = find_session(journal, options.id)
        changed = session_diff(journal, session, is_exact=options.exact, is_alone=options.alone)
    files = [*changed.files, *(changed.outside if options.outside else ())]
    if options.paths:
        files = _files_below(files, options.paths, changed.folder)
    if options.json:
        console.json(_diff_json(session, changed, files))
        return EXIT_OK
    if options.stat:
        for line in diff_stat_lines(
            files, shutil.get_terminal_size().columns if console.is_terminal else _PIPE_WIDTH
        ):
            console.say(line)
    else:
        _print_diff(files, console, has_binary=options.binary)
    console.note_lines(_remarks(changed, files, has_outside=options.outside, has_paths=bool(options.paths)))
    return EXIT_OK


def session_diff(
    journal: Journal, session: Session, *, is_exact: bool = False, is_alone: bool = False
) -> SessionDiff:
    """Return what a session and those that it started changed, file by file.

    `is_exact`: with secrets as the files have them. `is_alone`: only the session's own changes.
    """
    family = [session] if is_alone else _family(journal, session)
    folder = posixpath.normpath(session.workspace) if session.workspace else ""
    diffs = session_file_diffs(_writes(journal, family, folder))
    if not is_exact:
        diffs = [_without_secrets(diff) for diff in diffs]
    outside = [diff for diff in diffs if posixpath.isabs(diff.path)]
    return SessionDiff(
        folder=folder, files=tuple(diff for diff in diffs if diff not in outside), outside=tuple(outside),
        sessions=len(family),
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
            path = _relative_path(event.body.path, workspace, folder)
            yield _recorded_write(journal, event, event.body, path, last)
            last[path] = event.body.after


def _relative_path(path: str, workspace: str, folder: str) -> str:
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
    except Refusal:
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


def _files_below(files: Sequence[FileDiff], paths: Sequence[str], folder: str) -> list[FileDiff]:
    """Return the files that some paths name, by themselves or by a folder above them."""
    wanted_paths = [_relative_path(path, folder, folder).rstrip("/") for path in paths]
    matching: list[FileDiff] = []
    for name, path in zip(paths, wanted_paths, strict=True):
        below = [
            file
            for file in files
            for own in {file.path, file.old_path}
            if path in (own, folder, ".") or own.startswith(f"{path}/")
        ]
        if not below:
            why = f"the session changed nothing that is named {one_line(name, 120)}"
            raise UsageError("nothing is shown", why, "workbench sessions diff ID --stat names all files")
        matching += (file for file in below if file not in matching)
    return matching


def _print_diff(files: Sequence[FileDiff], console: Console, *, has_binary: bool) -> None:
    is_colored = console.is_terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    for diff in files:
        for line in git_diff_lines(diff, has_binary=has_binary):
            if not console.is_terminal:
                # What reads it needs every character as it is in the file.
                console.exact(f"{line}\n".encode(diff.encoding, "replace"))
            elif is_colored:
                console.say_colored(line, _line_color(line))
            else:
                console.say(line)


def _line_color(line: str) -> str:
    return _HEADER_COLOR if line.startswith(_HEADERS) else _COLORS.get(line[:1], "")


def _remarks(
    changed: SessionDiff, files: Sequence[FileDiff], *, has_outside: bool, has_paths: bool
) -> Iterator[str]:
    """Yield what a reader has to know besides, on stderr."""
    if not changed.files and not changed.outside:
        yield "It changed no file that is recorded."
    if changed.outside and not has_outside and not has_paths:
        yield f"{counted(len(changed.outside), 'file')} outside its folder not shown: add --outside"
    unappliable = [file for file in files if not file.can_apply]
    if unappliable:
        names = ", ".join(one_line(file.path, 60) for file in unappliable[:3])
        more = f" and {len(unappliable) - 3} more" if len(unappliable) > 3 else ""
        reasons = "; ".join(dict.fromkeys(note for file in unappliable for note in file.notes))
        yield f"git cannot apply {counted(len(unappliable), 'file')} ({names}{more}): {reasons}"


def _diff_json(session: Session, changed: SessionDiff, files: Sequence[FileDiff]) -> JsonFields:
    return {
        "session": session.id, "folder": changed.folder, "sessions": changed.sessions,
        "files": [
            {
                "path": diff.path, "old_path": diff.old_path, "change": diff.change, "added": diff.added,
                "removed": diff.removed, "applies": diff.can_apply, "notes": list(diff.notes),
                "diff": "\n".join(git_diff_lines(diff)),
            }
            for diff in files
        ],
        "outside": [diff.path for diff in changed.outside],
    }  # fmt: skip
