"""The session of an agent that executes its own calls: how it begins, and the events that announce a call."""

import os

from workbench.domain.events import (
    Event,
    ReplyCompleted,
    SessionCreated,
    SessionStatusChanged,
    TurnStarted,
)
from workbench.domain.machines import TERMINAL_SESSION_STATES
from workbench.domain.rows import Call, Session
from workbench.domain.values import JsonObject, ReplyCall
from workbench.formats.assemble import imported_session_id
from workbench.host import redaction
from workbench.host.driver_context import SessionWriter
from workbench.journal.errors import GuardFailed
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverIdentity, first_lease
from workbench.policy.paths import is_below
from workbench.supervised.messages import Hello

SUPERVISED: str = "supervised"
"""The kind of such a session."""


class SessionNotTaken(Exception):
    """An agent cannot be supervised in this session; the message says why."""


class SessionElsewhere(SessionNotTaken):
    """An agent's session belongs to another workspace."""

    def __init__(self, workspace: str) -> None:
        super().__init__(f"this session belongs to {workspace}")
        self.workspace = workspace


def require_supervised_session(
    journal: Journal, hello: Hello, workspace: str, driver: DriverIdentity
) -> Session:
    """Return the session of an agent, made if there is none. Raises SessionNotTaken."""
    if not os.path.isabs(hello.cwd) or not is_below(os.path.realpath(hello.cwd), workspace):  # noqa: PTH117
        raise SessionNotTaken(f"{hello.cwd} is not in {workspace}")
    session_id = imported_session_id(hello.agent, hello.session)
    session = journal.session(session_id)
    if session is None:
        _create_session(journal, session_id, hello, workspace, driver)
        session = journal.session(session_id)
    if session is None or session.kind != SUPERVISED:
        raise SessionNotTaken("this session was imported from a file, and an import is not continued")
    if session.workspace != workspace:
        raise SessionElsewhere(session.workspace)
    if session.status in TERMINAL_SESSION_STATES:
        raise SessionNotTaken(f"this session is {session.status}")
    return session


def _create_session(
    journal: Journal, session_id: str, hello: Hello, workspace: str, driver: DriverIdentity
) -> None:
    created = SessionCreated(
        session_kind="supervised", workspace=workspace, provider=redaction.redact_line(hello.agent, 60),
        model=redaction.redact_line(hello.model, 200), title=redaction.redact_line(hello.agent, 60),
        telemetry_id=journal.clock.new_id(),
    )  # fmt: skip
    bodies = (SessionStatusChanged(status="initializing"), SessionStatusChanged(status="ready"))
    try:
        journal.append([
            journal.event(created, session_id, driver.actor),
            first_lease(journal, session_id, driver),
            *(journal.event(body, session_id, driver.actor) for body in bodies),
        ])  # fmt: skip
    except GuardFailed as error:  # another process made it at the same moment
        if journal.session(session_id) is None:
            raise SessionNotTaken(str(error)) from None


def announced_call(
    writer: SessionWriter, turn_id: str, number: int, *, key: str, tool: str, given: JsonObject, cwd: str,
    paths: tuple[str, ...],
) -> Call:  # fmt: skip
    """Return the row of a call that an agent asks about; `number` is its place in the turn, from 1."""
    recorded, ref = redaction.redact_parameters(given, writer.journal.blobs)
    return Call(
        id=writer.new_id(), session_id=writer.session_id, turn_id=turn_id, ordinal=number * 1000,
        provider_call_id=redaction.redact_line(key, 200), tool=tool, state="pending",
        requested_at=writer.journal.now(), parameters=recorded, parameters_ref=ref, cwd=cwd, paths=paths,
    )  # fmt: skip


def announcement(writer: SessionWriter, call: Call, *, is_first: bool) -> list[Event]:
    """Return the events that announce a call as one reply; the first of a turn begins it."""
    session = writer.session()
    begun = TurnStarted(provider=session.provider, model=session.model or session.provider)
    said = ReplyCall(
        call_id=call.id, provider_call_id=call.provider_call_id, tool=call.tool, arguments=call.parameters,
        arguments_ref=call.parameters_ref,
    )  # fmt: skip
    reply = ReplyCompleted(calls=(said,), model=session.model, round=call.ordinal // 1000)
    status = [] if session.status == "processing" else [SessionStatusChanged(status="processing")]
    start = [begun] if is_first else []
    return [writer.event(body, turn_id=call.turn_id) for body in (*status, *start, reply)]
