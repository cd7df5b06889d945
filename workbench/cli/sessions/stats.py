"""`workbench sessions stats`: calls by tool, how asks ended, time to decide, tokens, cost, files.

Owns the period that is counted and the table that is printed; the counting is `views.statistics`.
"""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from pathlib import Path

from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.cli.lookup import session_named
from workbench.cli.place import opened, workspace_of
from workbench.cli.render.facts import Facts, moment
from workbench.cli.sessions.naming import SESSION_HELP
from workbench.config.layers import load
from workbench.config.pricing import cost
from workbench.domain.values import Usage
from workbench.journal.counting import Scope, counted
from workbench.journal.home import Home
from workbench.text.human import duration, tokens
from workbench.text.safe import one_line
from workbench.views.statistics import BUCKETS, Price, Statistics, ToolCount, statistics, unfinished_words

EXAMPLE = """workbench sessions stats
workbench sessions stats --days 7 --here --json
workbench sessions stats 3f2a"""

_DAY = 86_400_000_000
_FILES = 20
_BAR = 30


def configure(parser: ArgumentParser) -> None:
    """Add what is counted."""
    parser.add_argument("id", nargs="?", metavar="ID", help=f"only {SESSION_HELP}")
    parser.add_argument("--days", type=int, metavar="N", help="only what moved in the last N days (else all)")
    parser.add_argument("--here", action="store_true", help="only of this workspace")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def execute(options: Namespace, console: Console) -> int:
    """Count."""
    with opened() as (home, journal):
        session = session_named(journal, options.id) if options.id else None
        since = max(0, journal.now() - options.days * _DAY) if options.days else 0
        workspace = workspace_of(options.directory) if options.here else None
        scope = Scope(since=since, workspace=workspace, session_id=session.id if session else None)
        with journal.reader.snapshot() as database:
            found = counted(database, scope)
        counts = statistics(found.calls, found.answers, found.sessions, found.files, _price(home))
    if options.json:
        console.json(facts(counts, since))
        return DONE
    for line in _lines(counts, console):
        console.say(line)
    return DONE


def _price(home: Home) -> Price:
    """Return what tokens cost by the user's own configuration."""
    config = load(Path(home.path), None, trusted=False, env=os.environ, options={}).config
    return lambda provider, sent, received: cost(
        config, provider, Usage(input_tokens=sent, output_tokens=received)
    )


def facts(counts: Statistics, since: int) -> Facts:
    """Return statistics as JSON; times in milliseconds."""
    deciding = counts.deciding
    return {
        "since": moment(since) if since else None,
        "sessions": {"total": counts.sessions, **dict(counts.statuses)},
        "tools": [_tool_facts(one) for one in counts.tools],
        "actions": dict(counts.outcomes),
        "deciding": {
            "answers": deciding.answers, "p50_ms": deciding.p50_ms, "p95_ms": deciding.p95_ms,
            "buckets": [
                {"up_to_s": limit, "answers": count}
                for limit, count in zip((*BUCKETS, None), deciding.buckets, strict=True)
            ],
        },
        "usage": {
            "input_tokens": counts.input_tokens, "output_tokens": counts.output_tokens,
            "total_tokens": counts.input_tokens + counts.output_tokens, "cost": counts.cost,
        },
        "files": [
            {"path": one.path, "times": one.times, "added": one.added, "removed": one.removed}
            for one in counts.files
        ],
    }  # fmt: skip


def _tool_facts(one: ToolCount) -> Facts:
    return {
        "tool": one.tool, "calls": one.calls, "ok": one.ok, "failed": one.failed,
        "unfinished": one.unfinished, "not_run": one.not_run,
        "success": one.success, "p50_ms": one.p50_ms, "p95_ms": one.p95_ms, "run_ms": one.run_ms,
        "waited_ms": one.waited_ms,
    }  # fmt: skip


def _lines(counts: Statistics, console: Console) -> Iterable[str]:
    if not counts.sessions:
        yield "Nothing to count yet."
        return
    states = ", ".join(f"{count} {status}" for status, count in counts.statuses)
    yield f"{counts.sessions} sessions: {states}"
    money = "" if counts.cost is None else f", cost {counts.cost:.2f}"
    yield f"{tokens(counts.input_tokens)} tokens in, {tokens(counts.output_tokens)} out{money}"
    yield ""
    yield f"{'tool':<28} {'calls':>7} {'ok':>5} {'p50':>8} {'p95':>8} {'run':>10} {'waited':>10}"
    yield from (_tool_line(one) for one in counts.tools)
    if words := unfinished_words(counts.tools):
        yield words
    yield ""
    yield from _bars("who decided", counts.outcomes)
    if counts.deciding.answers:
        p50, p95 = _took(counts.deciding.p50_ms), _took(counts.deciding.p95_ms)
        yield f"time to decide: half within {p50}, 95 % within {p95}, {counts.deciding.answers} answers"
    yield from _files(counts, console)


def _tool_line(one: ToolCount) -> str:
    share = "–" if one.success is None else f"{one.success:.0%}"
    name = one_line(one.tool, 28)
    return (
        f"{name:<28} {one.calls:>7,} {share:>5} {_took(one.p50_ms):>8} {_took(one.p95_ms):>8}"
        f" {_took(one.run_ms):>10} {_took(one.waited_ms or None):>10}"
    )


def _took(ms: int | None) -> str:
    return "–" if ms is None else duration(ms / 1000)


def _bars(title: str, rows: Iterable[tuple[str, int]]) -> Iterable[str]:
    found = list(rows)
    most, total = max((count for _, count in found), default=0), sum(count for _, count in found)
    yield f"{title}: {total}"
    for word, count in found:
        if count:
            bar = "=" * max(1, round(_BAR * count / most))
            yield f"  {word:<11} {count:>7,} {count / total:>5.0%}  {bar}"


def _files(counts: Statistics, console: Console) -> Iterable[str]:
    if counts.files:
        yield ""
        yield f"files changed: {len(counts.files)}"
    for one in counts.files[:_FILES]:
        lines = f"+{one.added} {console.signs.minus}{one.removed}"
        yield f"  {one_line(one.path, 60):<60} {one.times:>4}×  {lines}"
    if len(counts.files) > _FILES:
        yield f"  and {len(counts.files) - _FILES} more"
