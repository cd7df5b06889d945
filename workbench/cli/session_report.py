"""`workbench sessions show`: one session in full."""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from workbench.cli.approval_display import read_action_row
from workbench.cli.arguments import add_json_option, add_session_argument
from workbench.cli.console import Console
from workbench.cli.context import as_listed, find_session, short_id
from workbench.cli.errors import EXIT_OK
from workbench.cli.journal_access import open_journal
from workbench.cli.row_json import (
    JsonFields,
    action_json,
    call_json,
    decision_json,
    iso_time,
    row_fields,
    session_json,
)
from workbench.cli.rows import action_line, call_line, clock_time, session_line
from workbench.domain import events as e
from workbench.domain.codec import event_to_object
from workbench.domain.events import Event
from workbench.domain.machines import LOST, TERMINAL_SESSION_STATES
from workbench.domain.messages import asked_models
from workbench.domain.retired_prompts import retired_prompt_ids, without_retired_prompts
from workbench.domain.rows import Session
from workbench.journal.journal import Journal
from workbench.text.human import token_text
from workbench.text.safe import one_line
from workbench.views.agent_tree import is_imported_fork
from workbench.views.library import below_words
from workbench.views.lost_drivers import lost_sentence
from workbench.views.sandbox import refusals_text
from workbench.views.status_icons import SESSION_STATUSES

SHOW_EXAMPLE = """workbench sessions show 3f2a --json
workbench sessions show 3f2a --events"""


def configure_show(parser: ArgumentParser) -> None:
    add_session_argument(parser)
    add_json_option(parser)
    parser.add_argument(
        "--events", action="store_true", help="print each event as a line of JSON that names the telemetry id"
    )


def execute_show(options: Namespace, console: Console) -> int:
    with open_journal(expires_due=True) as journal:
        session = as_listed(journal, find_session(journal, options.id))
        if options.events:
            for event in journal.events(session.id):
                fields = {"telemetry_id": session.telemetry_id, **event_to_object(event)}
                console.json_line(json.dumps(fields, ensure_ascii=False, allow_nan=False))
            return EXIT_OK
        if options.json:
            console.json(session_report_json(journal, session))
            return EXIT_OK
        console.say_lines(session_lines(journal, session, console))
    return EXIT_OK


def session_report_json(journal: Journal, session: Session) -> JsonFields:
    """Return a session in full as JSON."""
    events = journal.events(session.id)
    models_by_call = asked_models(events)
    actions = journal.actions(session_id=session.id)
    waiting = sum(action.state == "pending" for action in actions)
    return {
        **session_json(session, waiting),
        **_agents_json(journal, session),
        "system_prompt": session.system_prompt,
        "configuration": dict(session.configuration),
        "active_tools": list(session.active_tools),
        "telemetry_id": session.telemetry_id,
        "messages": [
            message
            for event in without_retired_prompts(events)
            if (message := _message_json(event, models_by_call)) is not None
        ],
        "calls": [call_json(call, models_by_call) for call in journal.calls(session.id)],
        "actions": [{**action_json(action), "decision": decision_json(action)} for action in actions],
        "files": [_file_json(event) for event in events if isinstance(event.body, e.FileChanged)],
    }


def _message_json(event: Event, models_by_event: Mapping[str, tuple[str, str]]) -> JsonFields | None:
    if isinstance(event.body, e.PromptSubmitted):
        return {"role": "user", "at": iso_time(event.at), "content": event.body.text}
    if isinstance(event.body, e.ReplyCompleted):
        calls = [call.call_id for call in event.body.calls]
        provider, model = models_by_event[event.id]
        return {
            "role": "assistant", "at": iso_time(event.at), "content": event.body.text, "calls": calls,
            "provider": provider, "model": model,
        }  # fmt: skip
    return None


def _file_json(event: Event) -> JsonFields:
    body = event.body
    assert isinstance(body, e.FileChanged)
    facts = row_fields(body, "path change added removed")
    return {**facts, "at": iso_time(event.at), "call_id": event.call_id}


_MOST_AGENTS = 500
"""Agents of a session that are listed with it, those of its agents included."""


def agents_below(journal: Journal, session: Session) -> list[Session]:
    """Return the imported sessions of the agents that a session began, and of theirs, each after its own."""
    agents: dict[str, Session] = {}
    parent_ids = [session.id]
    while parent_ids and len(agents) < _MOST_AGENTS:
        below = journal.sessions(parent_id=parent_ids.pop(0), limit=_MOST_AGENTS)
        new_agents = [
            agent for agent in reversed(below) if agent.origin is not None and agent.id not in agents
        ]
        agents |= {agent.id: agent for agent in new_agents if agent.id != session.id}
        parent_ids += [agent.id for agent in new_agents]
    return list(agents.values())


def _agents_json(journal: Journal, session: Session) -> JsonFields:
    """Return the agents that a session began, and the tokens of all of them; nothing where it began none."""
    below = agents_below(journal, session)
    if not below:
        return {}
    every = sum(agent.usage.total_tokens for agent in (session, *below))
    listed = [
        {
            **row_fields(agent, "id title parent_id"),
            "total_tokens": agent.usage.total_tokens,
            "is_fork": is_imported_fork(agent),
        }
        for agent in below
    ]
    return {"agents": listed, "total_tokens_with_agents": every}


class _SessionView(Struct, frozen=True):
    journal: Journal
    console: Console
    now: int
    retired: frozenset[str]
    """Prompts that were taken back or edited before the agent read them."""


def session_lines(journal: Journal, session: Session, console: Console) -> Iterable[str]:
    """Yield the lines that show a session to a person."""
    events = journal.events(session.id)
    view = _SessionView(journal, console, journal.now(), retired_prompt_ids(events))
    waiting = sum(action.state == "pending" for action in journal.actions(session_id=session.id))
    yield session_line(session, short_id(journal, session.id), waiting, console.signs, view.now)
    if session.status == LOST:
        yield f"  {lost_sentence(session)}"
    tokens = f"{token_text(session.usage.total_tokens)} tokens"
    yield f"  {session.workspace}, {session.provider}, {tokens}, id {session.id}"
    if worktree := session.worktree:
        yield f"  worktree of {one_line(worktree.origin, 200)}, branch {one_line(worktree.branch, 80)}"
    if session.active_tools:
        yield f"  tools: {one_line(', '.join(session.active_tools), 300)}"
    below = agents_below(journal, session)
    if below:
        every = token_text(session.usage.total_tokens + sum(agent.usage.total_tokens for agent in below))
        words = below_words(len(below), sum(map(is_imported_fork, below)))
        yield f"  {words} below it, {every} tokens with theirs:"
        for agent in below:
            own_tokens = token_text(agent.usage.total_tokens)
            yield f"    {short_id(journal, agent.id)}  {own_tokens} tokens  {one_line(agent.title, 60)}"
    for event in events:
        line_of = LINES_BY_EVENT.get(type(event.body))
        line = line_of(view, event) if line_of else ""
        if line:
            yield f"{clock_time(event.at, view.now)}  {line}"


def _prompt_line(view: _SessionView, event: Event) -> str:
    assert isinstance(event.body, e.PromptSubmitted)
    retired = "  (not sent: taken back or edited)" if event.id in view.retired else ""
    return f"› {event.body.text}{retired}"


def _reply_text(_: _SessionView, event: Event) -> str:
    assert isinstance(event.body, e.ReplyCompleted)
    return event.body.text


def _action_line(view: _SessionView, event: Event) -> str:
    action = view.journal.action(event.action_id or "")
    if action is None:
        return ""
    return action_line(read_action_row(view.journal, action), view.console.signs, view.now, is_alone=False)


def _opened_line(view: _SessionView, event: Event) -> str:
    action = view.journal.action(event.action_id or "")
    return _action_line(view, event) if action and action.state == "pending" else ""


def _call_line(view: _SessionView, event: Event) -> str:
    call = view.journal.call(event.call_id or "")
    return call_line(call, view.console.signs) if call else ""


def _refused_call_line(view: _SessionView, event: Event) -> str:
    assert isinstance(event.body, e.CallProposed)
    return _call_line(view, event) if event.body.verdict.outcome in ("denied", "refused") else ""


def _refusal_line(view: _SessionView, event: Event) -> str:
    assert isinstance(event.body, e.SandboxRefused)
    return f"{view.console.signs.of('rejected')} the sandbox refused {refusals_text(event.body.refusals)}"


def _written_file_line(view: _SessionView, event: Event) -> str:
    assert isinstance(event.body, e.FileChanged)
    body, signs = event.body, view.console.signs
    return f"{signs.of('ok')} wrote {body.path} ({body.change}) +{body.added} {signs.minus}{body.removed}"


def _error_line(view: _SessionView, event: Event) -> str:
    assert isinstance(event.body, e.ErrorRaised)
    return f"{view.console.signs.of('failed')} {event.body.message}"


def _status_line(_: _SessionView, event: Event) -> str:
    """Return the end or the pause of a session; that it starts, works or is ready is seen by the rest."""
    body = event.body
    assert isinstance(body, e.SessionStatusChanged)
    if body.status == "paused" and body.reason == "failed":
        return "failed"
    if body.status == "paused":
        return f"paused ({body.reason})" if body.reason else "paused"
    return SESSION_STATUSES[body.status][1] if body.status in TERMINAL_SESSION_STATES else ""


LINES_BY_EVENT: Mapping[type[e.Body], Callable[[_SessionView, Event], str]] = {
    e.PromptSubmitted: _prompt_line,
    e.ReplyCompleted: _reply_text,
    e.ActionOpened: _opened_line,
    e.ActionApproved: _action_line,
    e.ActionRejected: _action_line,
    e.ActionExpired: _action_line,
    e.ActionSuperseded: _action_line,
    e.ActionCancelled: _action_line,
    e.CallProposed: _refused_call_line,
    e.CallFinished: _call_line,
    e.SandboxRefused: _refusal_line,
    e.FileChanged: _written_file_line,
    e.ErrorRaised: _error_line,
    e.SessionStatusChanged: _status_line,
}
