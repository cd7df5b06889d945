"""Undo: what it would do to files, and the request for it.

A request for several changes names exact bytes: what is there and what will be. The driver writes all of it
or nothing, by the same call of the internal tool `undo` that takes one change back.
"""

import time
from collections.abc import Collection, Iterable, Sequence
from typing import cast

from msgspec import Struct, field

from workbench.changes.diff import FileChange, changed_line_totals, is_binary_content, make_hunks
from workbench.changes.undo import FileUndo, FileWrite, look_at_file, net_changes
from workbench.domain.events import CallProposed, FileChanged, UndoRequested
from workbench.domain.machines import SETTLED_CALL_STATES, TERMINAL_SESSION_STATES
from workbench.domain.rows import Call, Session
from workbench.domain.values import (
    REOPENS,
    UNDO_TOOL,
    Actor,
    FilePlan,
    Refused,
)
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import Root
from workbench.host.session_requests import SessionRefused
from workbench.journal.imports import is_imported_session
from workbench.journal.journal import Journal
from workbench.journal.replay import session_file_changes, session_turns
from workbench.views.undo_plan import OUTCOME_WORDS, REDO_WORDS, WHY_LEFT, UndoOutcome, UndoPlan, UndoRow

NOT_UNDONE = "Nothing was undone."
_COMMAND_TOOLS = frozenset({"run_in_terminal", "git.preparePr", "pipeline.run"})
"""Tools whose effects reach further than files whose bytes are kept."""


# --- what it would do ----------------------------------------------------------------------------


def plan_undo(
    journal: Journal, session: Session, turn_id: str | None = None, *, is_redo: bool = False
) -> UndoPlan:
    """Return what undoing the changes of a turn, or of a whole session, would do to files as they are now.

    `is_redo`: what making again would do that was undone. Raises SessionRefused: nothing of it can be undone.
    """
    require_undoable(journal, session)
    written = _written_files(journal, session.id)
    calls = [call for call in journal.calls(session.id) if turn_id is None or call.turn_id == turn_id]
    ids = _with_reopened(journal, session.id, {call.id for call in calls})
    own_writes = [write for write in written.writes if write.call_id in ids]
    sides = {
        is_undone: [w for w in own_writes if ((w.call_id, w.path) in written.undone) == is_undone]
        for is_undone in (False, True)
    }
    try:
        with Root(session.workspace) as root:
            files, other_files = (
                list(_present_files(journal, root, sides[side], is_redo=side))
                for side in (is_redo, not is_redo)
            )
    except FileRefused as error:
        raise SessionRefused(NOT_UNDONE, f"{error.path}: {error.why}.", error.remedy) from None
    touched: dict[str, set[str]] = {}
    for write in sides[is_redo]:
        touched.setdefault(write.call_id, set()).add(write.path)
    return UndoPlan(
        session_id=session.id, turn_id=turn_id, subject=_subject(journal, session, turn_id),
        is_redo=is_redo, rows=tuple(_undo_row(file, is_redo=is_redo) for file in files),
        commands=sum(call.tool in _COMMAND_TOOLS and call.started_at is not None for call in calls),
        is_working=session.status == "processing", others=len(other_files),
        touched={call_id: frozenset(paths) for call_id, paths in touched.items()},
    )  # fmt: skip


def require_undoable(journal: Journal, session: Session) -> None:
    """Raise SessionRefused unless the changes of a session can be undone by its driver."""
    if not session.is_conversation and "incident_ids" not in session.configuration:
        remedy = "Its changes are in the workspaces of its steps."
        raise SessionRefused(NOT_UNDONE, "It is a pipeline run, or a step of one.", remedy)
    if is_imported_session(journal, session.id):
        raise SessionRefused(NOT_UNDONE, "It was imported: nothing of it was written here.", "")
    if session.status in TERMINAL_SESSION_STATES:
        remedy = "Take the files from version control."
        raise SessionRefused(NOT_UNDONE, f"The session is {session.status} and takes no requests.", remedy)


def _subject(journal: Journal, session: Session, turn_id: str | None) -> str:
    if turn_id is None:
        return "the session"
    turns = session_turns(journal, session.id)
    return f"turn {turns.index(turn_id) + 1}" if turn_id in turns else "the turn"


def _with_reopened(journal: Journal, session_id: str, call_ids: set[str]) -> set[str]:
    """Return the ids of calls, with those by which a human took up their changes again."""
    ids, asked_by = set(call_ids), {action.id: action.call_id for action in journal.actions(session_id)}
    for action in journal.actions(session_id):
        if action.call_id and asked_by.get(str(action.subject.get(REOPENS, ""))) in ids:
            ids.add(action.call_id)
    return ids


class _WrittenFiles(Struct):
    """What the calls of a session wrote, and which of it counts as undone now."""

    writes: list[FileWrite] = field(default_factory=list[FileWrite])
    undone: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """(call id, path)"""


def _written_files(journal: Journal, session_id: str) -> _WrittenFiles:
    calls = {call.id: call for call in journal.calls(session_id)}
    actions = {action.id: action.call_id for action in journal.actions(session_id)}
    written = _WrittenFiles()
    for event in session_file_changes(journal, session_id):
        call, body = calls.get(event.call_id or ""), event.body
        if call is None or not isinstance(body, FileChanged):
            continue
        if call.tool != UNDO_TOOL:
            written.writes.append(_file_write(call, body))
            continue
        pairs = {(key, body.path) for key in _undone_calls(call, actions)}
        written.undone = written.undone - pairs if call.parameters.get("redo") else written.undone | pairs
    return written


def _file_write(call: Call, body: FileChanged) -> FileWrite:
    return FileWrite(
        call_id=call.id, path=body.path, before=body.before, after=body.after, before_ref=body.before_ref,
        after_ref=body.after_ref, mode=body.mode,
    )  # fmt: skip


def _undone_calls(undo: Call, actions: dict[str, str | None]) -> Iterable[str]:
    """Return the calls that a call of the undo tool took back, or made again."""
    several, action = undo.parameters.get("calls"), undo.parameters.get("action")
    if isinstance(several, list):
        return cast("list[str]", several)
    return [key] if (key := actions.get(str(action))) else []


def _present_files(
    journal: Journal, root: Root, writes: Sequence[FileWrite], *, is_redo: bool
) -> Iterable[FileUndo]:
    blobs = journal.blobs
    for net in net_changes(writes, is_redo=is_redo):
        file = look_at_file(net, root.image, blobs.keyed, blobs.read)
        if file is not None:
            yield file


def _undo_row(file: FileUndo, *, is_redo: bool) -> UndoRow:
    change = FileChange(path=file.net.path, before=file.now, after=file.wanted, mode=file.mode)
    outcome: UndoOutcome = (
        "remove" if file.net.wanted is None else "bring back" if file.now is None else "restore"
    )
    is_binary = is_binary_content(file.now) or is_binary_content(file.wanted)
    hunks = make_hunks([change]) if file.can_be_taken and not is_binary else ()
    added, removed = changed_line_totals(hunks)
    note = "" if hunks else "binary" if is_binary else "no lines to show"
    return UndoRow(
        path=file.net.path, outcome=outcome, word=(REDO_WORDS if is_redo else OUTCOME_WORDS)[outcome],
        state=file.state, why=WHY_LEFT[file.state], calls=file.net.calls, added=added, removed=removed,
        hunks=hunks, note=note if file.can_be_taken else WHY_LEFT[file.state],
        plan=FilePlan(
            path=file.net.path, base=file.present, after=file.net.wanted, mode=file.mode,
            after_ref=file.net.wanted_ref,
        ),
    )  # fmt: skip


# --- the request ---------------------------------------------------------------------------------


def request_undo_of_files(journal: Journal, plan: UndoPlan, paths: Collection[str], actor: Actor) -> str:
    """Ask for files of a plan to be written as it shows them, all or none; return the request's id."""
    rows = plan.taken(paths)
    if not rows:
        raise SessionRefused(NOT_UNDONE, "No file is taken.", "Take one.")
    session = journal.session(plan.session_id)
    if session is None:
        raise SessionRefused(NOT_UNDONE, "The session no longer exists.", "")
    require_undoable(journal, session)
    paths_taken = {row.path for row in rows}
    calls = tuple(dict.fromkeys(key for row in rows for key in row.calls))
    body = UndoRequested(
        calls=calls, whole=tuple(key for key in calls if plan.touched.get(key, frozenset()) <= paths_taken),
        files=tuple(row.plan for row in rows), is_redo=plan.is_redo,
    )  # fmt: skip
    event = journal.event(body, session.id, actor)
    journal.append([event])
    return event.id


# --- the call --------------------------------------------------------------------------------------


UNDO_WAIT_SECONDS = 20.0
"""Seconds that a host may take, its start included."""


def wait_until_undone(journal: Journal, session_id: str, request: str, start: int, what: str) -> None:
    """Wait for the host and refuse what it did not undo; `what` says that it was not done."""
    until = time.monotonic() + UNDO_WAIT_SECONDS
    while (left := until - time.monotonic()) > 0:
        cursor = journal.last_position()
        call = _undo_call(journal, session_id, request, start)
        if call is not None and call.state == "succeeded":
            return
        if call is not None and call.state in SETTLED_CALL_STATES:
            why = call.error or call.detail or call.state
            raise Refused(what, why, "correct the files by hand, or undo the later change first")
        journal.wait(cursor, min(left, 1.0))
    why = f"no background process has answered for {UNDO_WAIT_SECONDS:.0f} s"
    raise Refused(what, why, "it is asked for all the same; see workbench host status")


def _undo_call(journal: Journal, session_id: str, request: str, start: int) -> Call | None:
    for event in journal.events(session_id, after=start):
        if isinstance(event.body, CallProposed) and event.body.verdict.by == request:
            return journal.call(event.call_id or "")
    return None
