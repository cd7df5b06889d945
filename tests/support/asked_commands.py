"""Histories of commands that a human was asked about, written straight into a journal."""

from workbench.domain.events import ActionOpened, CallProposed, SessionCreated
from workbench.domain.values import Actor, GateVerdict

HOST = Actor(kind="host", pid=43)


def session(journal, workspace="/w", *, kind="chat", origin=None, configuration=None):
    """Create a session and return its id."""
    key = journal.clock.new_id()
    body = SessionCreated(
        session_kind=kind, title="t", workspace=workspace, provider="p", model="m", origin=origin,
        configuration=configuration or {},
    )  # fmt: skip
    journal.append([journal.event(body, key, HOST)])
    return key


def ask(
    journal, key, command, *, tool="run_in_terminal", by="default", rule=None, cwd="", replaces=None, **more
):
    """Record that a human was asked about a command, with more parameters; return the id of the call."""
    given = {"command": command, **more}
    verdict = GateVerdict(outcome="ask", step="grants" if rule else "ask", by=by, rule=rule)
    proposed = CallProposed(tool=tool, verdict=verdict, parameters=given, cwd=cwd, replaces=replaces)
    opened = ActionOpened(
        action_kind="tool", tool=tool, target="t", digest="d", created_at=journal.now(), expires_at=None,
        parameters=given,
    )  # fmt: skip
    call, action = journal.clock.new_id(), journal.clock.new_id()
    journal.append([
        journal.event(proposed, key, HOST, call_id=call),
        journal.event(opened, key, HOST, call_id=call, action_id=action),
    ])  # fmt: skip
    return call


def decide(journal, key, command, outcome, by):
    """Record a command about which nobody was asked."""
    body = CallProposed(
        tool="run_in_terminal",
        verdict=GateVerdict(outcome=outcome, step="grants", by=by),
        parameters={"command": command},
    )
    journal.append([journal.event(body, key, HOST, call_id=journal.clock.new_id())])
