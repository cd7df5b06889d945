"""Begin sessions and pass on what humans ask of them: every request is an event.

Owns the checks of a new session (S0 Session). Drives nothing: whoever holds the lease reacts.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.domain.events import (
    Body,
    ContinueRequested,
    InterruptRequested,
    PromptSubmitted,
    RefreshRequested,
    SessionCreated,
    UndoRequested,
)
from workbench.domain.machines import TERMINAL_SESSIONS
from workbench.domain.rows import Session
from workbench.domain.values import Actor, Json
from workbench.host import record
from workbench.journal.importing import is_imported
from workbench.journal.journal import Journal


class SessionRefused(Exception):
    """A session was not begun, or takes no request; says what, why and what to do."""

    def __init__(self, what: str, why: str, remedy: str) -> None:
        self.what, self.why, self.remedy = what, why, remedy
        super().__init__(f"{what} {why} {remedy}")


def create(
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
) -> str:
    """Begin a session and return its id.

    Raises:
        SessionRefused: the workspace is not an absolute path of an accessible folder, or the model is empty.
    """
    _check_workspace(workspace)
    if not model.strip():
        raise SessionRefused("No session was begun.", "The model is empty.", "Name one with --model.")
    session_id = journal.clock.new_id()
    prompt, ref = record.text(system_prompt, journal.blobs)
    body = SessionCreated(
        title=record.scrubbed_line(title, 120), workspace=workspace, provider=provider, model=model,
        system_prompt=prompt, system_prompt_ref=ref, configuration=dict(configuration or {}),
        active_tools=tuple(active_tools), telemetry_id=journal.clock.new_id(),
    )  # fmt: skip
    journal.append([journal.event(body, session_id, actor)])
    return session_id


def submit(journal: Journal, session_id: str, text: str, actor: Actor) -> None:
    """Say something to the agent of a session.

    Raises:
        SessionRefused: there is nothing in it, there is no such session, or it has ended.
    """
    if not text.strip():
        raise SessionRefused("Nothing was sent.", "The prompt is empty.", "Say what the agent should do.")
    recorded, ref = record.text(text, journal.blobs)
    _request(journal, session_id, PromptSubmitted(text=recorded, text_ref=ref), actor)


def continue_(journal: Journal, session_id: str, actor: Actor) -> None:
    """Let a paused session go on."""
    _request(journal, session_id, ContinueRequested(), actor)


def interrupt(journal: Journal, session_id: str, actor: Actor) -> None:
    """Ask the running turn to stop."""
    _request(journal, session_id, InterruptRequested(), actor)


def refresh(journal: Journal, action_id: str, actor: Actor) -> None:
    """Ask for a stale action to be proposed anew."""
    _request_about(journal, action_id, RefreshRequested(), actor)


def undo(journal: Journal, action_id: str, actor: Actor) -> str:
    """Ask for what an action wrote to be taken back; return the request's id, which the verdict names."""
    return _request_about(journal, action_id, UndoRequested(), actor)


def newest(journal: Journal, workspace: str) -> Session | None:
    """Return the newest session of a workspace that can go on; None when there is none."""
    live = (s for s in journal.sessions(workspace=workspace) if s.kind == "chat")
    return next(
        (s for s in live if s.status not in TERMINAL_SESSIONS and not is_imported(journal, s.id)), None
    )


def _request_about(journal: Journal, action_id: str, body: Body, actor: Actor) -> str:
    action = journal.action(action_id)
    if action is None:
        raise SessionRefused("Nothing was asked for.", f"There is no action {action_id}.", "List them first.")
    return _request(journal, action.session_id, body, actor, action_id)


def _request(
    journal: Journal, session_id: str, body: Body, actor: Actor, action_id: str | None = None
) -> str:
    session = journal.session(session_id)
    if session is None:
        why = f"There is no session {session_id}."
        raise SessionRefused("Nothing was sent.", why, "workbench sessions list shows them.")
    if session.status in TERMINAL_SESSIONS:
        why = f"The session is {session.status}."
        raise SessionRefused("Nothing was sent.", why, "Begin a new session.")
    call_id = None
    if action_id is not None and (action := journal.action(action_id)) is not None:
        call_id = action.call_id
    event = journal.event(body, session_id, actor, action_id=action_id, call_id=call_id)
    journal.append([event])
    return event.id


def _check_workspace(workspace: str) -> None:
    what, path = "No session was begun.", Path(workspace)
    if not path.is_absolute():
        raise SessionRefused(what, f"{workspace} is no absolute path.", "Give the folder from /.")
    if not path.exists():
        raise SessionRefused(what, f"{workspace} does not exist.", "Make the folder first, or name another.")
    if not path.is_dir():
        raise SessionRefused(what, f"{workspace} is no folder.", "Name the folder that it lies in.")
    if not os.access(path, os.R_OK | os.X_OK):
        raise SessionRefused(what, f"{workspace} is not accessible.", "Check its permissions.")
    if os.statvfs(path).f_flag & os.ST_RDONLY:
        remedy = "Mount it for writing, or name a copy."
        raise SessionRefused(what, f"{workspace} is on a disk that is read-only.", remedy)
    if not os.access(path, os.W_OK):
        raise SessionRefused(what, f"{workspace} is not accessible for writing.", "Check its permissions.")
