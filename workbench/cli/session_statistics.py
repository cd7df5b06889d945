"""`workbench sessions stats`: calls, decisions, times, tokens and files of sessions."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable

from workbench.cli.arguments import add_json_option
from workbench.cli.console import Console
from workbench.cli.context import SESSION_ID_HELP, find_session
from workbench.cli.journal_access import open_journal
from workbench.cli.row_json import JsonFields, iso_time, row_fields
from workbench.cli.usage_report import (
    add_usage_options,
    asks_for_usage,
    configured_prices,
    execute_usage,
    usage_sum_json,
    usage_sum_lines,
)
from workbench.effects.files import workspace_path
from workbench.journal.statistics_queries import StatisticsScope, statistics_facts
from workbench.journal.usage_queries import UsageScope
from workbench.text.human import DAY_MICROS, counted, duration_text
from workbench.text.safe import one_line
from workbench.views import statistics
from workbench.views.usage import sum_usage

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
