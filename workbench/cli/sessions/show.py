"""`workbench sessions show`: conversation, calls, approvals and file changes of a session in one order.

Owns which events make a line. What it prints is the record, where secrets are scrubbed; sealed bytes are
not read.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.cli.lookup import session_named, short
from workbench.cli.place import opened
from workbench.cli.queue import asked
from workbench.cli.render.facts import (
    Facts,
    action_facts,
    call_facts,
    decision_facts,
    moment,
    session_facts,
)
from workbench.cli.render.rows import action_row, call_row, clock_time, session_row
from workbench.cli.sessions.naming import SESSION_HELP
from workbench.domain import events as e
from workbench.domain.events import Event
from workbench.domain.rows import Session
from workbench.journal.decide import expire_due
from workbench.journal.journal import Journal
from workbench.text.human import tokens

EXAMPLE = "workbench sessions show 3f2a --json"


def configure(parser: ArgumentParser) -> None:
    """Add the id."""
    parser.add_argument("id", metavar="ID", help=SESSION_HELP)
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def execute(options: Namespace, console: Console) -> int:
    """Show a session."""
    with opened() as (_, journal):
        expire_due(journal)
        session = session_named(journal, options.id)
        if options.json:
            console.json(facts(journal, session))
            return DONE
        for line in lines(journal, session, console):
            console.say(line)
    return DONE


def facts(journal: Journal, session: Session) -> Facts:
    """Return a session in full as JSON."""
    events = journal.events(session.id)
    actions = journal.actions(session_id=session.id)
    waiting = sum(action.state == "pending" for action in actions)
    return {
        **session_facts(session, waiting),
        "system_prompt": session.system_prompt,
        "configuration": dict(session.configuration),
        "active_tools": list(session.active_tools),
        "telemetry_id": session.telemetry_id,
        "messages": [message for event in events if (message := _message(event)) is not None],
        "calls": [call_facts(call) for call in journal.calls(session.id)],
        "actions": [{**action_facts(action), "decision": decision_facts(action)} for action in actions],
        "files": [_file(event) for event in events if isinstance(event.body, e.FileChanged)],
    }


def _message(event: Event) -> Facts | None:
    if isinstance(event.body, e.PromptSubmitted):
        return {"role": "user", "at": moment(event.at), "content": event.body.text}
    if isinstance(event.body, e.ReplyCompleted):
        calls = [call.call_id for call in event.body.calls]
        return {"role": "assistant", "at": moment(event.at), "content": event.body.text, "calls": calls}
    return None


def _file(event: Event) -> Facts:
    body = event.body
    assert isinstance(body, e.FileChanged)
    return {
        "path": body.path, "change": body.change, "added": body.added, "removed": body.removed,
        "at": moment(event.at), "call_id": event.call_id,
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class _View:
    journal: Journal
    console: Console
    now: int


def lines(journal: Journal, session: Session, console: Console) -> Iterable[str]:
    """Yield the lines that show a session to a person."""
    view = _View(journal, console, journal.now())
    waiting = sum(action.state == "pending" for action in journal.actions(session_id=session.id))
    yield session_row(session, short(journal, session.id), waiting, console.signs, view.now)
    used = f"{tokens(session.usage.total_tokens)} tokens"
    yield f"  {session.workspace}, {session.provider}, {used}, id {session.id}"
    for event in journal.events(session.id):
        tell = _TELLERS.get(type(event.body))
        line = tell(view, event) if tell else ""
        if line:
            yield f"{clock_time(event.at, view.now)}  {line}"


def _prompt(_: _View, event: Event) -> str:
    assert isinstance(event.body, e.PromptSubmitted)
    return f"› {event.body.text}"


def _reply(_: _View, event: Event) -> str:
    assert isinstance(event.body, e.ReplyCompleted)
    return event.body.text


def _action(view: _View, event: Event) -> str:
    action = view.journal.action(event.action_id or "")
    return action_row(asked(view.journal, action), view.console.signs, view.now) if action else ""


def _opened(view: _View, event: Event) -> str:
    action = view.journal.action(event.action_id or "")
    return _action(view, event) if action and action.state == "pending" else ""


def _call(view: _View, event: Event) -> str:
    call = view.journal.call(event.call_id or "")
    return call_row(call, view.console.signs) if call else ""


def _proposed(view: _View, event: Event) -> str:
    assert isinstance(event.body, e.CallProposed)
    return _call(view, event) if event.body.verdict.outcome in ("denied", "refused") else ""


def _changed(view: _View, event: Event) -> str:
    assert isinstance(event.body, e.FileChanged)
    body, signs = event.body, view.console.signs
    return f"{signs.of('ok')} wrote {body.path} ({body.change}) +{body.added} {signs.minus}{body.removed}"


def _error(view: _View, event: Event) -> str:
    assert isinstance(event.body, e.ErrorRaised)
    return f"{view.console.signs.of('failed')} {event.body.message}"


def _status(_: _View, event: Event) -> str:
    assert isinstance(event.body, e.SessionStatusChanged)
    return f"{event.body.status} ({event.body.reason})" if event.body.reason else event.body.status


_TELLERS: Mapping[type[e.Body], Callable[[_View, Event], str]] = {
    e.PromptSubmitted: _prompt,
    e.ReplyCompleted: _reply,
    e.ActionOpened: _opened,
    e.ActionApproved: _action,
    e.ActionRejected: _action,
    e.ActionExpired: _action,
    e.ActionSuperseded: _action,
    e.ActionCancelled: _action,
    e.CallProposed: _proposed,
    e.CallFinished: _call,
    e.FileChanged: _changed,
    e.ErrorRaised: _error,
    e.SessionStatusChanged: _status,
}
