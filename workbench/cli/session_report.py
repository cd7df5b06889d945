"""`workbench sessions show, stats`: one session in full, and statistics over sessions."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from workbench.cli.approval_display import read_action_row
from workbench.cli.arguments import add_json_option, add_session_argument
from workbench.cli.console import Console
from workbench.cli.context import SESSION_ID_HELP, find_session, open_journal, short_id
from workbench.cli.errors import EXIT_OK
from workbench.cli.rows import (
    JsonFields,
    action_json,
    action_line,
    call_json,
    call_line,
    clock_time,
    decision_json,
    iso_time,
    row_fields,
    session_json,
    session_line,
)
from workbench.cli.usage_report import (
    add_usage_options,
    asks_for_usage,
    configured_prices,
    execute_usage,
    usage_sum_json,
    usage_sum_lines,
)
from workbench.domain import events as e
from workbench.domain.events import Event
from workbench.domain.machines import TERMINAL_SESSION_STATES
from workbench.domain.messages import asked_models
from workbench.domain.rows import Session
from workbench.effects.files import workspace_path
from workbench.journal.journal import Journal
from workbench.journal.session_queries import StatisticsScope, statistics_facts
from workbench.journal.usage_queries import UsageScope
from workbench.text.human import DAY_MICROS, counted, duration_text, token_text
from workbench.text.safe import one_line
from workbench.views import statistics
from workbench.views.library import below_words
from workbench.views.sessions import is_imported_fork
from workbench.views.status_icons import SESSION_STATUSES
from workbench.views.usage import sum_usage

SHOW_EXAMPLE = "workbench sessions show 3f2a --json"


def configure_show(parser: ArgumentParser) -> None:
    add_session_argument(parser)
    add_json_option(parser)


def execute_show(options: Namespace, console: Console) -> int:
    with open_journal(expires_due=True) as journal:
        session = find_session(journal, options.id)
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
            message for event in events if (message := _message_json(event, models_by_call)) is not None
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


def session_lines(journal: Journal, session: Session, console: Console) -> Iterable[str]:
    """Yield the lines that show a session to a person."""
    view = _SessionView(journal, console, journal.now())
    waiting = sum(action.state == "pending" for action in journal.actions(session_id=session.id))
    yield session_line(session, short_id(journal, session.id), waiting, console.signs, view.now)
    tokens = f"{token_text(session.usage.total_tokens)} tokens"
    yield f"  {session.workspace}, {session.provider}, {tokens}, id {session.id}"
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
    for event in journal.events(session.id):
        line_of = _LINES_BY_EVENT.get(type(event.body))
        line = line_of(view, event) if line_of else ""
        if line:
            yield f"{clock_time(event.at, view.now)}  {line}"


def _prompt_line(_: _SessionView, event: Event) -> str:
    assert isinstance(event.body, e.PromptSubmitted)
    return f"› {event.body.text}"


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


_LINES_BY_EVENT: Mapping[type[e.Body], Callable[[_SessionView, Event], str]] = {
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
    e.FileChanged: _written_file_line,
    e.ErrorRaised: _error_line,
    e.SessionStatusChanged: _status_line,
}
STATS_EXAMPLE = """workbench sessions stats
workbench sessions stats --days 7 --here --json
workbench sessions stats --by month --origin claude-code
workbench sessions stats --by block --since today
workbench sessions stats 3f2a"""
_MOST_FILES_SHOWN = 20
_BAR_CELLS = 30
_TOOL_MEMBERS = "tool calls ok failed unfinished not_run success p50_ms p95_ms run_ms waited_ms"


def configure_stats(parser: ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", metavar="ID", help=f"only {SESSION_ID_HELP}")
    parser.add_argument("--days", type=int, metavar="N", help="only what moved in the last N days (else all)")
    parser.add_argument("--here", action="store_true", help="only of this workspace")
    add_usage_options(parser)
    add_json_option(parser)


def execute_stats(options: Namespace, console: Console) -> int:
    with open_journal() as journal:
        session = find_session(journal, options.id) if options.id else None
        since = max(0, journal.now() - options.days * DAY_MICROS) if options.days else 0
        workspace = workspace_path(options.directory) if options.here else None
        price = configured_prices(journal.home).cost
        if asks_for_usage(options):
            scope = UsageScope(since=since, workspace=workspace)
            return execute_usage(options, console, journal, session, scope, price)
        scope = StatisticsScope(since=since, workspace=workspace, session_id=session.id if session else None)
        with journal.snapshot() as database:
            facts = statistics_facts(database, scope)
        counts = statistics.session_statistics(
            facts.calls, facts.answers, facts.sessions, facts.files, sum_usage(facts.usage, price)
        )
    lines = _statistics_lines(counts, console)
    return console.result(statistics_json(counts, since), lines, is_json=options.json)


def statistics_json(counts: statistics.Statistics, since: int) -> JsonFields:
    """Return statistics as JSON; times in milliseconds."""
    deciding = counts.deciding
    return {
        "since": iso_time(since) if since else None,
        "sessions": {"total": counts.sessions, **dict(counts.statuses)},
        "tools": [row_fields(tool, _TOOL_MEMBERS) for tool in counts.tools],
        "actions": dict(counts.outcomes),
        "deciding": {
            "answers": deciding.answers, "p50_ms": deciding.p50_ms, "p95_ms": deciding.p95_ms,
            "buckets": [
                {"up_to_s": limit, "answers": count}
                for limit, count in zip((*statistics.DECISION_BUCKETS, None), deciding.buckets, strict=True)
            ],
        },
        "usage": usage_sum_json(counts.used),
        "files": [
            row_fields(file, "path times added removed") for file in counts.files
        ],
    }  # fmt: skip


def _statistics_lines(counts: statistics.Statistics, console: Console) -> Iterable[str]:
    if not counts.sessions:
        yield "Nothing to count yet."
        return
    states = ", ".join(f"{count} {status}" for status, count in counts.statuses)
    yield f"{counted(counts.sessions, 'session')}: {states}"
    yield from usage_sum_lines(counts.used)
    yield ""
    yield f"{'tool':<28} {'calls':>7} {'ok':>5} {'p50':>8} {'p95':>8} {'run':>10} {'waited':>10}"
    yield from (_tool_line(tool) for tool in counts.tools)
    if words := statistics.unfinished_text(counts.tools):
        yield words
    yield ""
    yield from _bar_lines("who decided", counts.outcomes)
    if counts.deciding.answers:
        p50, p95 = _duration_cell(counts.deciding.p50_ms), _duration_cell(counts.deciding.p95_ms)
        yield f"time to decide: half within {p50}, 95 % within {p95}, {counts.deciding.answers} answers"
    yield from _file_lines(counts, console)


def _tool_line(tool: statistics.ToolCount) -> str:
    share = "–" if tool.success is None else f"{tool.success:.0%}"
    name = one_line(tool.tool, 28)
    return (
        f"{name:<28} {tool.calls:>7,} {share:>5} {_duration_cell(tool.p50_ms):>8}"
        f" {_duration_cell(tool.p95_ms):>8}"
        f" {_duration_cell(tool.run_ms):>10} {_duration_cell(tool.waited_ms or None):>10}"
    )


def _duration_cell(ms: int | None) -> str:
    return "–" if ms is None else duration_text(ms / 1000)


def _bar_lines(title: str, rows: Iterable[tuple[str, int]]) -> Iterable[str]:
    counts = list(rows)
    most, total = max((count for _, count in counts), default=0), sum(count for _, count in counts)
    yield f"{title}: {total}"
    for word, count in counts:
        if count:
            bar = "=" * max(1, round(_BAR_CELLS * count / most))
            yield f"  {word:<11} {count:>7,} {count / total:>5.0%}  {bar}"


def _file_lines(counts: statistics.Statistics, console: Console) -> Iterable[str]:
    if counts.files:
        yield ""
        yield f"files changed: {len(counts.files)}"
    for file in counts.files[:_MOST_FILES_SHOWN]:
        lines = f"+{file.added} {console.signs.minus}{file.removed}"
        yield f"  {one_line(file.path, 60):<60} {file.times:>4}x  {lines}"
    if len(counts.files) > _MOST_FILES_SHOWN:
        yield f"  and {len(counts.files) - _MOST_FILES_SHOWN} more"
