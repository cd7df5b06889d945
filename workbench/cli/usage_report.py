"""`workbench sessions stats --by`: tokens and cost as a table, by time, model, project or pipeline."""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from workbench.cli.console import Console
from workbench.cli.context import short_id
from workbench.cli.errors import Refusal
from workbench.cli.row_json import JsonFields, iso_time, row_fields
from workbench.config.layers import load_config
from workbench.config.model_prices import PRICES_DATE, PriceList
from workbench.domain.rows import OWN_AGENT, Session
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.usage_queries import (
    UsageScope,
    row_tops,
    session_family,
    session_names,
    usage_facts,
)
from workbench.text.human import SECOND_MICROS, home_as_tilde, token_text
from workbench.text.safe import one_line
from workbench.views.library import parse_moment
from workbench.views.usage import (
    USAGE_ROWS,
    UsageBlock,
    UsageBy,
    UsagePrice,
    UsageSum,
    UsageTable,
    active_block_text,
    block_name,
    cost_text,
    group_of,
    row_name,
    source_text,
    usage_table,
)

_FILTERS: Final = ("since", "until", "origin", "model", "project")
_NAME_CELLS: Final = 30
_MOST_LINES: Final = 60


def add_usage_options(parser: ArgumentParser) -> None:
    """Add the options that ask for a table of tokens and cost."""
    group = parser.add_argument_group("tokens and cost")
    rows = ", ".join(USAGE_ROWS)
    group.add_argument(
        "--by", choices=USAGE_ROWS, metavar="WHAT", help=f"a table by {rows}; a block is five hours"
    )
    group.add_argument("--since", metavar="DATE", help="used since then: 2026-11-21, today, 7d, oct")
    group.add_argument("--until", metavar="DATE", help="used until then, that day included")
    group.add_argument("--origin", metavar="AGENT", help=f"only of this agent; {OWN_AGENT} is this program")
    group.add_argument("--model", metavar="TEXT", help="only of models with this in their name")
    group.add_argument("--project", metavar="TEXT", help="only of folders with this in their path")


def asks_for_usage(options: Namespace) -> bool:
    """Return whether a table was asked for; one of the filters alone asks for days."""
    return bool(options.by) or any(getattr(options, name) for name in _FILTERS)


def configured_prices(home: Home) -> PriceList:
    """Return the prices that hold under the user's configuration."""
    return PriceList.of(load_config(Path(home.path), None, trusted=False, env=os.environ, options={}).config)


def execute_usage(
    options: Namespace, console: Console, journal: Journal, session: Session | None, scope: UsageScope,
    price: UsagePrice,
) -> int:  # fmt: skip
    """Print a table of tokens and cost, of a session together with all below it."""
    by: UsageBy = options.by or "day"
    scope = replace(
        scope, origin=options.origin, model=options.model or "", project=options.project or "",
        since=_moment(options.since, "--since", journal.now(), is_end=False) or scope.since,
        until=_moment(options.until, "--until", journal.now(), is_end=True),
    )  # fmt: skip
    with journal.snapshot() as database:
        if session is not None:
            scope = replace(scope, session_ids=session_family(database, session.id))
        facts = usage_facts(database, group_of(by), scope)
        tops = row_tops(database, by)
        table = usage_table(by, facts, price, tops=tops)
        names = session_names(database, [row.key for row in table.rows]) if by == "session" else {}
    now = journal.now()
    lines = _table_lines(table, now, lambda key: _row_name(journal, by, key, names))
    return console.result(_table_json(table, scope, now, names), lines, is_json=options.json)


def _moment(text: str | None, option: str, now: int, *, is_end: bool) -> int | None:
    if text is None:
        return None
    moment = parse_moment(text, now, is_end=is_end)
    if moment is None:
        why = f"“{one_line(text, 40)}” is not a date"
        raise Refusal(f"{option} was not understood", why, "write 2026-11-21, today, 7d or oct")
    return moment


def _row_name(journal: Journal, by: UsageBy, key: str, names: dict[str, str]) -> str:
    if by == "session":
        return f"{short_id(journal, key)} {one_line(names.get(key, ''), 60)}"
    if by == "project" and key:
        return _path_end(home_as_tilde(key, str(Path.home())))
    return row_name(by, key)


def _path_end(path: str) -> str:
    """Return as much of the end of a path as a name has room for."""
    path = one_line(path, 4096)
    return path if len(path) <= _NAME_CELLS else f"…{path[1 - _NAME_CELLS :]}"


# --- text -------------------------------------------------------------------------------------------


def usage_sum_lines(usage_sum: UsageSum) -> Iterable[str]:
    """Yield the tokens and the cost of a sum, and where the cost comes from."""
    usage = usage_sum.usage
    share = "" if not usage_sum.cache_share else f" ({usage_sum.cache_share:.0%} of it from the cache)"
    cost = cost_text(usage_sum)
    yield (
        f"{token_text(usage.input_tokens)} tokens in{share}, {token_text(usage.output_tokens)} out"
        f"{f', cost {cost}' if cost else ''}"
    )
    if source := source_text(usage_sum):
        yield f"  {source}"


def _table_lines(table: UsageTable, now: int, name_of: Callable[[str], str]) -> Iterable[str]:
    if not table.total.replies and not table.total.told:
        yield "No tokens were counted: nothing in the library fits, or its files tell none."
        return
    yield f"{table.by:<{_NAME_CELLS}} {'input':>8} {'output':>8} {'read':>8} {'written':>8} {'hits':>5}  cost"
    if table.by == "block":
        for block in table.blocks[:_MOST_LINES]:
            yield _sum_line(block_name(block, now), block.sum)
        if words := active_block_text(table.blocks, now):
            yield f"  now: {words}"
    for row in table.rows[:_MOST_LINES]:
        yield _sum_line(name_of(row.key), row.sum)
    more = max(len(table.rows), len(table.blocks)) - _MOST_LINES
    if more > 0:
        yield f"and {more:,} more; --json prints all"
    yield _sum_line("all", table.total)
    yield ""
    yield "input: what no cache gave or took; read, written: by a cache; hits: its share of all input"
    yield f"{source_text(table.total)}. Prices of {PRICES_DATE} and of your configuration, in US dollars."


def _sum_line(name: str, usage_sum: UsageSum) -> str:
    usage = usage_sum.usage
    share = "–" if usage_sum.cache_share is None else f"{usage_sum.cache_share:.0%}"
    return (
        f"{one_line(name, _NAME_CELLS):<{_NAME_CELLS}} {token_text(usage.new_input_tokens):>8}"
        f" {token_text(usage.output_tokens):>8} {token_text(usage.cache_read_tokens):>8}"
        f" {token_text(usage.cache_write_tokens):>8} {share:>5}  {cost_text(usage_sum) or '–'}"
    )


# --- JSON -------------------------------------------------------------------------------------------


def usage_sum_json(usage_sum: UsageSum) -> JsonFields:
    """Return a sum as JSON; costs in US dollars, null where nothing of it is known."""
    usage = usage_sum.usage
    return {
        "replies": usage_sum.replies, "uncounted_replies": usage_sum.uncounted,
        **row_fields(
            usage, "input_tokens output_tokens total_tokens new_input_tokens cache_read_tokens "
            "cache_write_tokens cache_write_1h_tokens",
        ),
        "cache_hit_share": None if usage_sum.cache_share is None else round(usage_sum.cache_share, 4),
        "cost": _dollars(usage_sum.cost), "cost_told": _dollars(usage_sum.told),
        "cost_computed": _dollars(usage_sum.computed), "unpriced_tokens": usage_sum.unpriced_tokens,
        "unpriced_models": list(usage_sum.unpriced_models),
    }  # fmt: skip


def _dollars(microdollars: float | None) -> float | None:
    return None if microdollars is None else round(microdollars / 1_000_000, 6)


def _table_json(table: UsageTable, scope: UsageScope, now: int, names: dict[str, str]) -> JsonFields:
    rows = [
        {"key": row.key, **({"title": names.get(row.key, "")} if names else {}), **usage_sum_json(row.sum)}
        for row in table.rows
    ]
    return {
        "by": table.by, "since": iso_time(scope.since) if scope.since else None,
        "until": iso_time(scope.until) if scope.until else None, "prices_date": PRICES_DATE,
        "rows": [_block_json(block, now) for block in table.blocks] if table.by == "block" else rows,
        "total": usage_sum_json(table.total),
    }  # fmt: skip


def _block_json(block: UsageBlock, now: int) -> JsonFields:
    is_active = block.is_active(now)
    rate = block.tokens_per_minute()
    return {
        "start": iso_time(block.start), "end": iso_time(block.end), **row_fields(block, "first_at last_at"),
        "is_active": is_active,
        "seconds_left": (block.end - now) // SECOND_MICROS if is_active else 0,
        "tokens_per_minute": None if rate is None else round(rate, 1),
        "cost_per_hour": _dollars(block.cost_per_hour()),
        "projected_cost": _dollars(block.projected_cost(now)) if is_active else None,
        **usage_sum_json(block.sum),
    }  # fmt: skip
