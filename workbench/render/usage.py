"""Tokens and cost as the lines of a table. Models, folders and titles are untrusted.

The id of a line is what the library is narrowed to when it is opened, or `-…`.
"""

from collections.abc import Callable, Sequence
from typing import Final

from textual.content import Content

from workbench.render import cells
from workbench.render.cells import Column, safe_content, styled, wrap_plain_text
from workbench.render.library import StatisticsFrame, StatisticsLine, count_bar, with_unique_ids
from workbench.text.human import token_text
from workbench.views.usage import (
    UsageSum,
    UsageTable,
    active_block_text,
    block_name,
    cost_text,
    row_query,
    source_text,
)

_HEAD: Final = ("input", "output", "read", "written", "hits")
_COST_CELLS: Final = 15
_BAR_FROM: Final = 110
_BAR_CELLS: Final = 24
_CAPTIONS: Final = {
    "day": "Tokens and cost by day", "week": "Tokens and cost by week", "month": "Tokens and cost by month",
    "model": "Tokens and cost by model", "project": "Tokens and cost by project",
    "agent": "Tokens and cost by agent", "session": "Tokens and cost by session, with all below it",
    "block": "Tokens and cost by blocks of five hours",
    "pipeline": "Tokens and cost by pipeline, with all that its runs started",
}  # fmt: skip


def usage_lines(
    table: UsageTable, frame: StatisticsFrame, name_of: Callable[[str], str], now: int, prices_date: str
) -> list[StatisticsLine]:
    """Return the table: a caption, a row each, the sum, and where the cost comes from.

    `name_of`: what a row is called, by its key. `now`: microseconds; says which block is not over.
    """
    muted = frame.ink.of("muted")
    head = [styled(word, muted) for word in ("", *_HEAD, "cost")]
    caption = frame.caption("usage", _CAPTIONS[table.by], cost_text(table.total))
    lines = [caption, ("-usage-head", _columns(head, Content(""), frame, table))]
    most = max((_weight(counted) for counted in _sums(table)), default=0)
    if words := active_block_text(table.blocks, now):
        lines += _wrapped("now", f"now: {words}", frame)
    for number, block in enumerate(table.blocks):
        lines.append((f"-block-{number}", _row(block_name(block, now), block.sum, most, frame, table)))
    for row in table.rows:
        name = name_of(row.key)
        query = f'"{name}"' if table.by == "session" and '"' not in name else row_query(table.by, row.key)
        lines.append((query or f"-{table.by}-{row.key}", _row(name, row.sum, most, frame, table)))
    lines += [("-usage-sum", _row("all", table.total, 0, frame, table)), frame.blank("usage")]
    what = "input: what no cache gave or took; read, written: by a cache; hits: its share"
    source = f"{source_text(table.total)}. Prices of {prices_date}, in US dollars."
    return with_unique_ids([*lines, *_wrapped("what", what, frame), *_wrapped("source", source, frame)])


def _sums(table: UsageTable) -> Sequence[UsageSum]:
    return [part.sum for part in (*table.rows, *table.blocks)]


def _weight(counted: UsageSum) -> int:
    return counted.cost or 0


def _wrapped(name: str, text: str, frame: StatisticsFrame) -> list[StatisticsLine]:
    muted = frame.ink.of("muted")
    wrapped = wrap_plain_text(frame.glyphs.line(text), max(10, frame.width - 2))
    return [
        (f"-usage-{name}-{number}", Content(" ") + line.stylize_before(muted))
        for number, line in enumerate(wrapped)
    ]


def _row(name: str, counted: UsageSum, most: int, frame: StatisticsFrame, table: UsageTable) -> Content:
    usage, ink = counted.usage, frame.ink
    share = "–" if counted.cache_share is None else f"{counted.cache_share:.0%}"
    numbers = [
        token_text(count) if counted.replies or counted.told else "–"
        for count in (
            usage.new_input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens,
        )
    ]  # fmt: skip
    cost = cost_text(counted)
    tone = ink.of("foreground" if counted.is_whole else "waiting")
    parts = [
        safe_content(frame.glyphs.line(name), ink.of("foreground"), ink),
        *(styled(frame.glyphs.line(text)) for text in (*numbers, share)),
        styled(frame.glyphs.line(cost or "–"), tone if cost else ink.of("muted")),
    ]
    bar = Content("")
    if most and counted.cost:
        bar = count_bar(counted.cost, most, _BAR_CELLS, ink.of("info"), frame.glyphs)
    return _columns(parts, bar, frame, table)


def _columns(parts: Sequence[Content], bar: Content, frame: StatisticsFrame, table: UsageTable) -> Content:
    name, sent, received, read, written, share, cost = parts
    cut = "path" if table.by == "project" else "end"
    columns = [
        Column(content=Content(" "), width=1, gap=0),
        Column(content=name, grows=True, least=14, gap=1, cut=cut),
        Column(content=sent, width=6, align="right"),
        Column(content=received, width=6, align="right"),
        Column(content=read, width=6, align="right", drop=2),
        Column(content=written, width=7, align="right", drop=3),
        Column(content=share, width=5, align="right", drop=1),
        Column(content=cost, width=_COST_CELLS, align="right"),
    ]
    if frame.width >= _BAR_FROM:
        columns.append(Column(content=bar, width=_BAR_CELLS, gap=2))
    return cells.compose_columns([*columns, Column(content=Content(""), width=0)], frame.width, frame.glyphs)
