"""Record what people ask of a session, each request as an event; whoever holds the lease reacts.

That includes asking its agent, by a prompt of the user, to propose again what expired; each action once.
"""

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from workbench.domain.events import (
    ActionCancelled,
    CompactionRequested,
    ContinueRequested,
    Event,
    InterruptRequested,
    MarkAdded,
    PromptSubmitted,
    RefreshRequested,
    ReplyCompleted,
    SessionChanged,
    SessionCreated,
    SessionStatusChanged,
    UndoRequested,
)
from workbench.domain.machines import SESSION_MOVES, TERMINAL_SESSION_STATES
from workbench.domain.rows import Action, Session
from workbench.domain.values import SYSTEM_SESSION, Actor, Body, Json, Refused
from workbench.formats.command_log import log_id
from workbench.host import redaction
from workbench.journal.errors import SessionUnknown
from workbench.journal.imports import is_imported_session
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverIdentity, first_lease, is_lease_live
from workbench.journal.maintenance import delete_session
from workbench.journal.session_queries import asked_again_ids
from workbench.journal.transaction import TransactionTables
from workbench.text.human import sentence
from workbench.text.safe import one_line
from workbench.views.approvals import propose_again_prompt
from workbench.views.propose_again import why_not_propose_again
from workbench.views.supervised import Subject, why_not_asked


class SessionRefused(Refused):
    """A session was not started, or takes no request."""


def create_session(
    journal: Journal,
    *,
    workspace: str,
    provider: str,
    model: str,
    actor: Actor,
    title: str = "",
    system_prompt: str = "",
    configuration: Mapping[str, Json] | None = None,
    active_tools: Sequence[str] = (),
    driver: DriverIdentity | None = None,
) -> str:
    """Begin a session and return its id; SessionRefused for a bad workspace or an empty model.

    `driver`: who drives it, with its `DriverLock`; None leaves it to whoever takes it first.
    """
    _check_workspace(workspace)
    if not model.strip():
        raise SessionRefused("No session was started.", "The model is empty.", "Name one with --model.")
    session_id = journal.clock.new_id()
    prompt, ref = redaction.redact_and_seal_text(system_prompt, journal.blobs)
    body = SessionCreated(
        title=redaction.redact_line(title, 120), workspace=workspace, provider=provider, model=model,
        system_prompt=prompt, system_prompt_ref=ref, configuration=dict(configuration or {}),
        active_tools=tuple(active_tools), telemetry_id=journal.clock.new_id(),
    )  # fmt: skip
    lease = [] if driver is None else [first_lease(journal, session_id, driver)]
    journal.append([journal.event(body, session_id, actor), *lease])
    return session_id


def submit_prompt(journal: Journal, session_id: str, text: str, actor: Actor) -> None:
    """Say something to the agent; SessionRefused where it is empty or the session cannot take it."""
    if not text.strip():
        raise SessionRefused("Nothing was sent.", "The prompt is empty.", "Say what the agent should do.")
    _require_driven_here(journal, session_id, "Nothing was sent.", "prompts")
    recorded, ref = redaction.redact_and_seal_text(text, journal.blobs)
    _append_request(journal, session_id, PromptSubmitted(text=recorded, text_ref=ref), actor)


def continue_session(journal: Journal, session_id: str, actor: Actor) -> None:
    """Continue a paused session. Raises SessionRefused for one whose agent is not driven here."""
    _require_driven_here(journal, session_id, "Nothing was continued.", "turn")
    _append_request(journal, session_id, ContinueRequested(), actor)


def _require_driven_here(journal: Journal, session_id: str, what: str, subject: Subject) -> None:
    session = journal.session(session_id)
    if session is not None and (why := why_not_asked(session, subject)):
        raise SessionRefused(what, why, "Do it there.")


def compact_session(journal: Journal, session: Session, words: str, actor: Actor) -> None:
    """Ask for a summary that stands for the conversation; SessionRefused where there is none to compact.

    `words`: what the summary is to keep.
    """
    require_changeable_session(journal, session, "Nothing was compacted.")
    if not any(isinstance(event.body, ReplyCompleted) for event in journal.events(session.id)):
        raise SessionRefused("Nothing was compacted.", "Nothing was said in it yet.", "Say something first.")
    body = CompactionRequested(words=redaction.redact_line(words.strip(), 2_000))
    _append_request(journal, session.id, body, actor)


def interrupt_session(journal: Journal, session_id: str, actor: Actor) -> None:
    """Ask the running turn to stop; SessionRefused where its agent is not driven here."""
    _require_driven_here(journal, session_id, "Nothing was stopped.", "turn")
    _append_request(journal, session_id, InterruptRequested(), actor)


def request_refresh(journal: Journal, action_id: str, actor: Actor) -> None:
    """Ask for a stale action to be proposed again."""
    _append_action_request(journal, action_id, RefreshRequested(), actor)


def request_undo(journal: Journal, action_id: str, actor: Actor) -> str:
    """Ask for an action's changes to be undone; return the request's id, which the verdict names."""
    return _append_action_request(journal, action_id, UndoRequested(), actor)


def newest_open_session(journal: Journal, workspace: str) -> Session | None:
    """Return the newest session of a workspace that can go on; None when there is none."""
    live = (s for s in journal.sessions(workspace=workspace) if s.takes_prompts)
    return next(
        (
            s
            for s in live
            if s.status not in TERMINAL_SESSION_STATES and not is_imported_session(journal, s.id)
        ),
        None,
    )


def _append_action_request(journal: Journal, action_id: str, body: Body, actor: Actor) -> str:
    action = journal.action(action_id)
    if action is None:
        raise SessionRefused("Nothing was asked for.", f"There is no action {action_id}.", "List them first.")
    return _append_request(journal, action.session_id, body, actor, action_id)


def _append_request(
    journal: Journal, session_id: str, body: Body, actor: Actor, action_id: str | None = None
) -> str:
    session = journal.session(session_id)
    if session is None:
        why = f"There is no session {session_id}."
        raise SessionRefused("Nothing was sent.", why, "workbench sessions list shows them.")
    if session.status in TERMINAL_SESSION_STATES:
        why = f"The session is {session.status}."
        raise SessionRefused("Nothing was sent.", why, "Start a new session.")
    if session.kind == "ask" and not isinstance(body, PromptSubmitted | InterruptRequested):
        # Its program is gone, and nobody else drives it.
        why = "It is a command that was made of words, and nothing of it continues."
        raise SessionRefused("Nothing was sent.", why, "Make another one: workbench ask.")
    call_id = None
    if action_id is not None and (action := journal.action(action_id)) is not None:
        call_id = action.call_id
    event = journal.event(body, session_id, actor, action_id=action_id, call_id=call_id)
    journal.append([event])
    return event.id


def _check_workspace(workspace: str) -> None:
    what, path = "No session was started.", Path(workspace)
    if not path.is_absolute():
        raise SessionRefused(what, f"{workspace} is not an absolute path.", "Give the folder from /.")
    if not path.exists():
        raise SessionRefused(what, f"{workspace} does not exist.", "Make the folder first, or name another.")
    if not path.is_dir():
        raise SessionRefused(what, f"{workspace} is not a folder.", "Name the folder that it lies in.")
    if not os.access(path, os.R_OK | os.X_OK):
        raise SessionRefused(what, f"{workspace} is not accessible.", "Check its permissions.")
    if os.statvfs(path).f_flag & os.ST_RDONLY:
        remedy = "Mount it for writing, or name a copy."
        raise SessionRefused(what, f"{workspace} is on a disk that is read-only.", remedy)
    if not os.access(path, os.W_OK):
        raise SessionRefused(what, f"{workspace} is not accessible for writing.", "Check its permissions.")


MAX_TITLE_LENGTH = 120
MAX_TAG_LENGTH = 40
MAX_TAGS = 20
AGENT_STOP_SECONDS = 10.0
"""Seconds that a driver gets to stop before its session is ended."""


def rename_session(journal: Journal, session_id: str, title: str, actor: Actor) -> str:
    """Give a session another title and return it as kept; SessionRefused where it is empty."""
    _refuse_system_session(session_id, "renamed")
    line = redaction.redact_line(title.strip(), MAX_TITLE_LENGTH)
    if not line:
        raise SessionRefused("The session was not renamed.", "The title is empty.", "Say what to call it.")
    _append_change(journal, session_id, SessionChanged(title=line), actor)
    return line


def change_tags(
    journal: Journal, session: Session, add: Sequence[str], remove: Sequence[str], actor: Actor
) -> tuple[str, ...]:
    """Change a session's tags and return them; SessionRefused above 20."""
    _refuse_system_session(session.id, "tagged")
    lines = (redaction.redact_line(word.strip(), MAX_TAG_LENGTH) for word in add)
    remaining = [word for word in session.tags if word not in remove]
    tags = tuple(dict.fromkeys((*remaining, *(line for line in lines if line))))
    if len(tags) > MAX_TAGS:
        why = f"It would have {len(tags)} tags."
        raise SessionRefused("The session was not tagged.", why, f"Keep to {MAX_TAGS}.")
    if tags != session.tags:
        _append_change(journal, session.id, SessionChanged(tags=tags), actor)
    return tags


def archive_session(journal: Journal, session: Session, is_archived: bool, actor: Actor) -> None:
    """Put a session out of the way, or back; nothing of it is lost."""
    _refuse_system_session(session.id, "archived")
    if session.archived != is_archived:
        _append_change(journal, session.id, SessionChanged(archived=is_archived), actor)


def end_session(
    journal: Journal, session: Session, actor: Actor, stop_seconds: float = AGENT_STOP_SECONDS
) -> str:
    """End a session for good and return its status: `completed`, or `terminated` if it never worked.

    Raises SessionRefused where it has ended or its agent did not stop in time.
    """
    _refuse_system_session(session.id, "ended")
    if session.status in TERMINAL_SESSION_STATES:
        why = f"It is {session.status}."
        raise SessionRefused("The session was not ended.", why, "Nothing is left to do.")
    if why := why_not_asked(session, "end"):
        raise SessionRefused("The session was not ended.", why, "Archive it to put it out of the way.")
    _stop_agent(journal, session, actor, stop_seconds)
    journal.transact(lambda live, now: _ending_events(journal, live, session.id, actor, now))
    if session.kind == "incidents":  # what worked on it has nobody left who ends it
        for child in journal.sessions(parent_id=session.id, kinds=("step",)):
            _end_child(journal, child.id, actor)
    row = journal.session(session.id)
    return row.status if row else "deleted"


def _end_child(journal: Journal, session_id: str, actor: Actor) -> None:
    journal.transact(lambda live, now: _ending_events(journal, live, session_id, actor, now))


def _stop_agent(journal: Journal, session: Session, actor: Actor, stop_seconds: float) -> None:
    deadline = time.monotonic() + stop_seconds
    is_asked = False
    while (
        (current := journal.session(session.id))
        and current.status == "processing"
        and _is_driven(journal, current)
    ):
        if not is_asked:
            interrupt_session(journal, session.id, actor)
            is_asked = True
        seconds_left = deadline - time.monotonic()
        if seconds_left <= 0:
            why = f"Its agent has not stopped for {stop_seconds:.0f} s."
            raise SessionRefused("The session was not ended.", why, "Look with workbench host status.")
        journal.wait(journal.last_position(), min(seconds_left, 0.5))


def _is_driven(journal: Journal, session: Session) -> bool:
    return is_lease_live(journal.home, journal.lease(session.id))


def _ending_events(
    journal: Journal, live: TransactionTables, session_id: str, actor: Actor, now: int
) -> list[Event]:
    session = live.session(session_id)
    if session is None:
        raise SessionUnknown(f"session {session_id} was not ended", "it was deleted", "nothing is left to do")
    if session.status in TERMINAL_SESSION_STATES:
        return []
    status = "completed" if "completed" in SESSION_MOVES[session.status] else "terminated"
    pending = live.all(
        "SELECT id, call_id FROM action WHERE session_id = ? AND state = 'pending'", session_id
    )
    cancellations = [
        journal.event(ActionCancelled(why="the session was ended"), session_id, actor, action_id=row[0],
                      call_id=row[1], at=now)
        for row in pending
    ]  # fmt: skip
    return [*cancellations, journal.event(SessionStatusChanged(status=status), session_id, actor, at=now)]


def delete_with_steps(journal: Journal, session: Session, actor: Actor) -> int:
    """Delete a session with the steps of its run; return how many. Raises Driven or GuardFailed."""
    steps = journal.sessions(parent_id=session.id, kinds=("step",))
    below = sum(delete_with_steps(journal, step, actor) for step in steps)
    # What a file says of a log is the name of no file here.
    has_log = session.kind == "ask" and not is_imported_session(journal, session.id)
    delete_session(journal, session.id, actor)
    if has_log:
        (journal.home.ask_logs / f"{log_id(session)}.json").unlink(missing_ok=True)
    return below + 1


def _append_change(journal: Journal, session_id: str, body: SessionChanged, actor: Actor) -> None:
    journal.append([journal.event(body, session_id, actor)])


def _refuse_system_session(session_id: str, word: str) -> None:
    if session_id == SYSTEM_SESSION:
        why = "It holds rules, trust and what was deleted."
        raise SessionRefused(f"The session was not {word}.", why, "Name another one.")


# `/mode reads` holds for that session only and is not taken over by a fork; `/mode every` is.
APPROVAL_MODES: Final[Mapping[str, str]] = {
    "every": "asks before every call",
    "reads": "asks before all except reads",
    "settings": "as the settings and the answer to the trust question say",
}
MAX_BOOKMARK_LENGTH: Final = 120
"""Characters of a mark's name."""


def approval_mode_named(word: str) -> str:
    """Return the mode that a human means, or raise SessionRefused."""
    name = word.strip().casefold()
    if name in APPROVAL_MODES:
        return name
    known = ", ".join(APPROVAL_MODES)
    why = f"There is no mode “{one_line(name, 40)}”." if name else "No mode is named."
    raise SessionRefused("The mode was not changed.", why, f"Write /mode and one of: {known}.")


def approval_mode_setting(name: str) -> dict[str, Json]:
    """Return what a mode is in a session's configuration."""
    return {"reads": None if name == "settings" else name}


def set_approval_mode(journal: Journal, session: Session, word: str, actor: Actor) -> str:
    """Change what a session asks about from its next call on; return what to say, or raise SessionRefused."""
    name = approval_mode_named(word)
    require_open_session(journal, session, "The mode was not changed.")
    body = SessionChanged(configuration=approval_mode_setting(name))
    journal.append([journal.event(body, session.id, actor)])
    waits = "Reads that wait run now; all else still waits." if name == "reads" else "What waits still waits."
    return f"This session: {APPROVAL_MODES[name]}. {waits}"


# What `/sandbox` loosens holds for that session only and is not taken over by a fork; what it tightens is.
SANDBOX_WORDS: Final[Mapping[str, tuple[dict[str, Json], str]]] = {
    "read-only": ({"sandbox": "read-only"}, "commands inside can write nothing"),
    "workspace": ({"sandbox": "workspace"}, "commands can write in the workspace"),
    "outside": ({"sandbox": "outside"}, "commands run outside, as you"),
    "ask": ({"sandboxed": "ask"}, "commands that nothing allows ask"),
    "auto": ({"sandboxed": "auto"}, "commands inside run without asking"),
    "settings": ({"sandbox": None, "sandboxed": None}, "as settings and trust say"),
}  # fmt: skip
"""The words of `/sandbox`: what each changes in a session's configuration, and what is said of it.

What is said has room in a row of 80 cells.
"""
_SANDBOX_UNCHANGED: Final = "The sandbox was not changed."


def sandbox_setting(word: str) -> dict[str, Json]:
    """Return what a word of `/sandbox` is in a session's configuration, or raise SessionRefused."""
    name = word.strip().casefold()
    if name not in SANDBOX_WORDS:
        why = f"“{one_line(name, 40)}” says nothing about the sandbox." if name else "Nothing is named."
        remedy = f"Write /sandbox and one of: {', '.join(SANDBOX_WORDS)}."
        raise SessionRefused(_SANDBOX_UNCHANGED, why, remedy)
    return dict(SANDBOX_WORDS[name][0])


def set_sandbox(journal: Journal, session: Session, word: str, actor: Actor) -> str:
    """Change the sandbox of a session from its next call on; return what to say, or raise SessionRefused.

    Only a human does: an agent could otherwise let its own commands run with more.
    """
    setting = sandbox_setting(word)
    if actor.kind != "user":
        raise SessionRefused(_SANDBOX_UNCHANGED, f"{actor.kind} cannot change it.", "Let a human do it.")
    require_changeable_session(journal, session, _SANDBOX_UNCHANGED)
    journal.append([journal.event(SessionChanged(configuration=setting), session.id, actor)])
    return f"This session: {SANDBOX_WORDS[word.strip().casefold()][1]}. What waits still waits."


def add_bookmark(journal: Journal, session: Session, label: str, actor: Actor) -> str:
    """Mark this moment of a session; return what to say, or raise SessionRefused."""
    require_open_session(journal, session, "Nothing was marked.")
    line = one_line(redaction.redact_line(label.strip(), MAX_BOOKMARK_LENGTH), MAX_BOOKMARK_LENGTH)
    journal.append([journal.event(MarkAdded(label=line), session.id, actor)])
    return f"Marked: {line}. In its replay m goes there." if line else "Marked. In its replay m goes there."


def require_changeable_session(journal: Journal, session: Session, what: str) -> None:
    """Raise SessionRefused unless the session is an open chat whose agent is driven here."""
    if why := why_not_asked(session, "settings"):
        raise SessionRefused(what, why, "Change it there.")
    require_open_session(journal, session, what)


def require_open_session(journal: Journal, session: Session, what: str) -> None:
    """Raise SessionRefused unless it is the open session of one agent, which was not imported."""
    if session.status in TERMINAL_SESSION_STATES:
        raise SessionRefused(what, f"The session is {session.status}.", "ctrl+n starts another.")
    if not session.is_conversation:
        raise SessionRefused(what, "It is a step of a pipeline, which says how it works.", "Change it there.")
    if is_imported_session(journal, session.id):
        raise SessionRefused(what, "It came from a file; nobody works in it.", "F starts one from its end.")


_NOT_ASKED: Final = "Nothing was asked for."
_ALREADY_ASKED: Final = "The agent was asked for it already."
_ALREADY_ASKED_REMEDY: Final = "Its answer is in the conversation; say it there once more if you want."


def propose_again(journal: Journal, action_ids: Sequence[str], actor: Actor) -> list[Action]:
    """Ask for expired actions of one session by one prompt, and return those that it names.

    What was asked for before is left out. One transaction looks and writes, so that of two who ask at the
    same time one prompts and the other is refused.

    Raises:
        SessionRefused: Nobody can be asked, or all of it was asked for already.
    """
    actions = _named_actions(journal, action_ids)
    session_id = actions[0].session_id
    with journal.snapshot() as database:
        asked_before = asked_again_ids(database, session_id)
    unasked = [action for action in actions if action.id not in asked_before]
    if not unasked:
        raise SessionRefused(_NOT_ASKED, _ALREADY_ASKED, _ALREADY_ASKED_REMEDY)
    text, ref = redaction.redact_and_seal_text(propose_again_prompt(unasked), journal.blobs)
    ids = tuple(action.id for action in unasked)
    body = PromptSubmitted(text=text, text_ref=ref, asks_again=ids)

    def work(live: TransactionTables, now: int) -> list[Event]:
        if asked_again_ids(live.database, session_id) & set(ids):
            return []
        return [journal.event(body, session_id, actor, at=now)]

    if not journal.transact(work):
        raise SessionRefused(_NOT_ASKED, _ALREADY_ASKED, _ALREADY_ASKED_REMEDY)
    return unasked


def _named_actions(journal: Journal, action_ids: Sequence[str]) -> list[Action]:
    """Return the actions with these ids; all are of one session and can be asked for."""
    actions: list[Action] = []
    for action_id in action_ids:
        action = journal.action(action_id)
        if action is None:
            raise SessionRefused(_NOT_ASKED, f"There is no action {action_id}.", "List them first.")
        if is_imported_session(journal, action.session_id):
            why = "Its session came from a file and nobody works in it."
            raise SessionRefused(_NOT_ASKED, why, "workbench sessions fork starts one from its end.")
        if why := why_not_propose_again(journal.session(action.session_id), action):
            reason, _, remedy = why.partition("; ")
            raise SessionRefused(_NOT_ASKED, sentence(reason), sentence(remedy))
        actions.append(action)
    if len({action.session_id for action in actions}) != 1:
        why = "They are of several sessions, or none is named."
        raise SessionRefused(_NOT_ASKED, why, "Ask for one session at a time.")
    return actions


def sessions_naming(journal: Journal, provider: str) -> list[Session]:
    """Return the sessions of all folders that can continue and ask a provider, the last changed first."""
    chats = journal.sessions(kinds=("chat",))
    return [
        session
        for session in chats
        if session.provider == provider and session.status not in TERMINAL_SESSION_STATES
    ]
