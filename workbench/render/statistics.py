"""Statistics as lines: calls, decisions, tokens, files; tokens and cost as a table. Names are untrusted.

Each line has an id: what the library is narrowed to when it is opened, or `-…` for captions.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec import Struct
from textual.content import Content

from workbench.render import cells, list_rows
from workbench.render.cells import Column, safe_content, styled, wrap_plain_text
from workbench.render.glyphs import Glyphs
from workbench.render.library import count_bar
from workbench.render.theme import Ink
from workbench.text.human import duration_text, token_text
from workbench.views.statistics import (
    OUTCOME_ICONS,
    DecisionTimes,
    Insight,
    Statistics,
    ToolCount,
    unfinished_text,
)
from workbench.views.status_icons import SESSION_STATUSES, StatusName
from workbench.views.usage import (
    UsageSum,
    UsageTable,
    active_block_text,
    block_name,
    cost_text,
    row_query,
    source_text,
)

StatisticsLine = tuple[str, Content]
_BAR_STEPS: Final = " ▁▂▃▄▅▆▇█"
_QUERY_OF_OUTCOME: Final = {
    "approved": "asked:approved", "partly": "asked:approved", "rejected": "asked:rejected",
    "expired": "asked:expired", "withdrawn": "asked:cancelled",
}  # fmt: skip
_MAX_FILES: Final = 12
_MIN_BAR_CELLS: Final = 12
_RUN_TIME_CELLS: Final = 8
"""Cells of the value behind a bar."""
_DECISION_ROWS: Final = 4
_SCALE_CELLS: Final = 8
"""Cells of the scale at the left of a chart."""
_CHART_ROWS: Final = 5
_DECISION_TIME_LABELS: Final = (
    "1 s",
    "2 s",
    "5 s",
    "10 s",
    "20 s",
    "1 min",
    "2 min",
    "5 min",
    "15 min",
    "more",
)
_SHORT_DECISION_TIME_LABELS: Final = ("1s", "2s", "5s", "10s", "20s", "1m", "2m", "5m", "15m", ">")
_LONGEST_LABEL_CELLS: Final = 6


class StatisticsFrame(Struct, frozen=True, kw_only=True):
    """What lines are drawn with."""

    width: int
    ink: Ink
    glyphs: Glyphs

    def caption(self, name: str, text: str, right: str = "") -> StatisticsLine:
        rule, line = self.ink.of("rule"), self.glyphs.line("─")
        tail = styled(f" {right} ", self.ink.of("muted")) if right else Content("")
        head = Content.assemble((line, rule), " ", (text, self.ink.of("foreground", bold=True)), " ")
        room = max(0, self.width - head.cell_length - tail.cell_length - 1)
        return f"-{name}", Content.assemble(head, (line * room, rule), tail, (line, rule))

    def blank(self, name: str) -> StatisticsLine:
        return f"-{name}-blank", Content("")

    def plain(self, name: str, text: str) -> StatisticsLine:
        return f"-{name}", styled(f" {self.glyphs.line(text)}", self.ink.of("muted"))


def tool_count_lines(tools: Sequence[ToolCount], frame: StatisticsFrame) -> list[StatisticsLine]:
    """Return the calls by tool: how many, the share of those that ran which succeeded, how long."""
    if not tools:
        return [frame.blank("tools"), frame.plain("no-tools", "No tool was called in this period.")]
    muted = frame.ink.of("muted")
    words = ("tool", "calls", "ok", "p50", "p95", "waited", "run time")
    head = _tool_columns([styled(word, muted) for word in words], frame)
    most = max(tool.run_ms for tool in tools)
    return [
        frame.blank("tools"),
        ("-tools-head", head),
        *((f"tool:{tool.tool}", _tool_line(tool, most, frame)) for tool in tools),
        *([frame.plain("unfinished", words)] if (words := unfinished_text(tools)) else []),
    ]


def _tool_line(tool: ToolCount, most: int, frame: StatisticsFrame) -> Content:
    ink = frame.ink
    share = "–" if tool.success is None else f"{tool.success:.0%}"
    is_poor = tool.success is not None and tool.success < 0.9
    waited = styled(
        _milliseconds_text(tool.waited_ms or None), ink.of("waiting" if tool.waited_ms else "muted")
    )
    room = _bar_room(frame)
    return _tool_columns(
        [
            safe_content(tool.tool, ink.of("foreground"), ink), styled(f"{tool.calls:,}"),
            styled(share, ink.of("waiting" if is_poor else "foreground")),
            styled(_milliseconds_text(tool.p50_ms)),
            styled(_milliseconds_text(tool.p95_ms)), waited,
            _run_time(tool.run_ms, most, room, frame),
        ],
        frame,
    )  # fmt: skip


def _run_time(run_ms: int, most: int, room: int, frame: StatisticsFrame) -> Content:
    """Return how long a tool ran in all as a linear bar with its value; less than half a cell has no bar."""
    length = round(max(0, room - _RUN_TIME_CELLS) * run_ms / most) if most else 0
    bar = styled(frame.glyphs.of("ran") * length, frame.ink.of("info"))
    value = styled(f"{' ' if length else ''}{_milliseconds_text(run_ms or None)}", frame.ink.of("muted"))
    return bar + value


def _bar_room(frame: StatisticsFrame) -> int:
    room = frame.width - 76
    return min(30, room) if room >= _MIN_BAR_CELLS else 0


def _tool_columns(parts: Sequence[Content], frame: StatisticsFrame) -> Content:
    name, calls, ok, p50, p95, waited, run = parts
    columns = [
        Column(content=name, grows=True, least=18, gap=2),
        Column(content=calls, width=7, align="right"),
        Column(content=ok, width=5, align="right"),
        Column(content=p50, width=8, align="right", drop=2),
        Column(content=p95, width=8, align="right", drop=1),
        Column(content=waited, width=11, align="right"),
    ]
    if room := _bar_room(frame):
        columns.append(Column(content=run, width=room, gap=2, drop=3))
    return cells.compose_columns([*columns, list_rows.END_COLUMN], frame.width, frame.glyphs)


def _milliseconds_text(ms: int | None) -> str:
    return "–" if ms is None else duration_text(ms / 1000)


def outcome_lines(counts: Statistics, frame: StatisticsFrame) -> list[StatisticsLine]:
    """Return who decided calls and how questions ended; expired is never rejected."""
    total = sum(count for _, count in counts.outcomes)
    lines = [frame.blank("asks"), frame.caption("asks", "Who decided", f"{total:,}")]
    if not total:
        return [*lines, frame.plain("no-asks", "Nothing was decided in this period.")]
    for name, count in counts.outcomes:
        sign = OUTCOME_ICONS[name]
        head = _count_head(frame, sign, name, count, f"{count / total:>5.0%}")
        line = head + count_bar(
            count, total, max(4, frame.width - head.cell_length - 2), frame.ink.sign(sign), frame.glyphs
        )
        lines.append((_QUERY_OF_OUTCOME.get(name) or f"-{name.replace(' ', '-')}", line))
    return with_unique_ids(lines)


def with_unique_ids(lines: Iterable[StatisticsLine]) -> list[StatisticsLine]:
    """Return lines of which no two share an id: a repeated one gets a blank behind it."""
    taken: set[str] = set()
    unique: list[StatisticsLine] = []
    for name, line in lines:
        while name in taken:
            name += " "
        taken.add(name)
        unique.append((name, line))
    return unique


def _count_head(frame: StatisticsFrame, sign: StatusName, word: str, count: int, share: str = "") -> Content:
    ink = frame.ink
    return Content.assemble(
        "  ", (frame.glyphs.of(sign), ink.sign(sign)), f" {frame.glyphs.line(word):<11}", f"{count:>7,}",
        (f" {share}", ink.of("muted")), "  ",
    )  # fmt: skip


def decision_time_lines(
    deciding: DecisionTimes, frame: StatisticsFrame, more_rows: int = 0
) -> list[StatisticsLine]:
    """Return how long people took, as a bar for every step of time; `more_rows` make it higher."""
    right = (
        f"median {_milliseconds_text(deciding.p50_ms)}, 95 % in {_milliseconds_text(deciding.p95_ms)}"
        if deciding.answers
        else ""
    )
    lines = [frame.blank("time"), frame.caption("time", "Your time to decide", right)]
    if not deciding.answers:
        return [*lines, frame.plain("no-time", "Nobody answered in this period.")]
    cell = max(4, min(9, (frame.width - 3) // len(_DECISION_TIME_LABELS)))
    drawn = column_chart(deciding.buckets, cell - 1, _DECISION_ROWS + more_rows, frame)
    lines += [
        (f"-time-{index}", styled(f"   {text}", frame.ink.of("info"))) for index, text in enumerate(drawn)
    ]
    words = _DECISION_TIME_LABELS if cell > _LONGEST_LABEL_CELLS else _SHORT_DECISION_TIME_LABELS
    labels = "".join(word.ljust(cell) for word in words)
    return [*lines, ("-time-labels", styled(f"   {labels}", frame.ink.of("muted")))]


def column_chart(
    values: Sequence[int], cell: int, height: int, frame: StatisticsFrame, gap: int = 1
) -> list[str]:
    most = max(values, default=0) or 1
    steps = [max(1, round(value * height * 8 / most)) if value else 0 for value in values]
    lines: list[str] = []
    for row in range(height - 1, -1, -1):
        marks = [_BAR_STEPS[max(0, min(8, step - row * 8))] for step in steps]
        if frame.glyphs.is_ascii:
            marks = ["#" if mark != " " else " " for mark in marks]
        lines.append("".join(mark * cell + " " * gap for mark in marks))
    return lines


def token_lines(
    days: Sequence[int],
    labels: tuple[str, str],
    counts: Statistics,
    frame: StatisticsFrame,
    more_rows: int = 0,
) -> list[StatisticsLine]:
    """Return tokens by day, grouped where the days do not fit; `more_rows` make the chart higher."""
    usage, cost = counts.used.usage, cost_text(counts.used)
    right = token_text(usage.total_tokens) + (f"   {cost}" if cost else "")
    lines = [frame.caption("tokens", "Tokens by day", right)]
    if not any(days):
        return [*lines, frame.plain("no-tokens", "No token was counted in this period.")]
    room = max(7, frame.width - 2 - _SCALE_CELLS)
    group = -(-len(days) // room)
    grouped = [sum(days[start : start + group]) for start in range(0, len(days), group)]
    cell = max(1, min(5, room // len(grouped)))
    gap = 1 if cell > 2 else 0
    height = _CHART_ROWS + more_rows
    drawn = column_chart(grouped, cell - gap, height, frame, gap)
    scale = [token_text(max(grouped)), *[""] * (height - 2), "0"]
    ink = frame.ink
    lines += [
        (
            f"-tokens-{row}",
            styled(mark.rjust(_SCALE_CELLS - 1) + " ", ink.of("faint")) + styled(text, ink.of("info")),
        )
        for row, (mark, text) in enumerate(zip(scale, drawn, strict=True))
    ]
    wide = max(len(labels[0]) + len(labels[1]) + 1, min(room, cell * len(grouped)))
    text = labels[0] + labels[1].rjust(wide - len(labels[0]))
    return [
        *lines,
        ("-tokens-labels", styled(f"{' ' * _SCALE_CELLS}{text}", ink.of("muted"))),
        frame.plain(
            "tokens-note",
            f" sent {token_text(usage.input_tokens)}, received {token_text(usage.output_tokens)}",
        ),
    ]


def session_status_lines(counts: Statistics, frame: StatisticsFrame) -> list[StatisticsLine]:
    lines = [frame.blank("sessions"), frame.caption("sessions", "Sessions", f"{counts.sessions:,}")]
    most = max((count for _, count in counts.statuses), default=0)
    for status, count in counts.statuses:
        sign, word = SESSION_STATUSES[status]
        head = _count_head(frame, sign, word, count)
        line = head + count_bar(
            count, most, max(3, frame.width - head.cell_length - 2), frame.ink.sign(sign), frame.glyphs
        )
        lines.append((f"status:{status}", line))
    return lines


def changed_file_lines(counts: Statistics, frame: StatisticsFrame) -> list[StatisticsLine]:
    files = counts.files
    lines = [
        frame.blank("files"),
        frame.caption("files", "Most changed", _file_count_text(len(files))),
    ]
    if not files:
        return [*lines, frame.plain("no-files", "No file was changed in this period.")]
    for file in files[:_MAX_FILES]:
        times = styled(frame.glyphs.line(f"{file.times:,}x"), frame.ink.of("muted"))
        sizes = list_rows.line_counts(file.added, file.removed, frame.ink, frame.glyphs)
        line = [
            Column(content=safe_content(file.path, None, frame.ink), grows=True, cut="path", gap=2),
            Column(content=times, width=6, align="right"), Column(content=sizes, width=13, align="right"),
            list_rows.END_COLUMN,
        ]  # fmt: skip
        lines.append((f'"{file.path}"', cells.compose_columns(line, frame.width, frame.glyphs)))
    return lines


def _file_count_text(count: int) -> str:
    return "" if not count else "1 file" if count == 1 else f"{count:,} files"


def insight_lines(insights: Iterable[Insight], frame: StatisticsFrame) -> list[StatisticsLine]:
    lines: list[StatisticsLine] = []
    for index, insight in enumerate(insights):
        sign = styled(f"  {frame.glyphs.of(insight.sign)} ", frame.ink.sign(insight.sign))
        for row, text in enumerate(wrap_plain_text(insight.words, max(10, frame.width - 5))):
            head = sign if row == 0 else Content("    ")
            lines.append((f"-remark-{index}-{row}", head + text.stylize_before(frame.ink.of("foreground"))))
    return [frame.blank("remarks"), frame.caption("remarks", "Worth a look"), *lines] if lines else []


_USAGE_HEAD: Final = ("input", "output", "read", "written", "hits")
_COST_CELLS: Final = 15
_USAGE_BAR_MIN_CELLS: Final = 110
_USAGE_BAR_CELLS: Final = 24
_USAGE_CAPTIONS: Final = {
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
    head = [styled(word, muted) for word in ("", *_USAGE_HEAD, "cost")]
    caption = frame.caption("usage", _USAGE_CAPTIONS[table.by], cost_text(table.total))
    lines = [caption, ("-usage-head", _usage_columns(head, Content(""), frame, table))]
    most = max((part.sum.cost or 0 for part in (*table.rows, *table.blocks)), default=0)
    if words := active_block_text(table.blocks, now):
        lines += _note_lines("now", f"now: {words}", frame)
    for number, block in enumerate(table.blocks):
        lines.append((f"-block-{number}", _usage_row(block_name(block, now), block.sum, most, frame, table)))
    for row in table.rows:
        name = name_of(row.key)
        query = f'"{name}"' if table.by == "session" and '"' not in name else row_query(table.by, row.key)
        lines.append((query or f"-{table.by}-{row.key}", _usage_row(name, row.sum, most, frame, table)))
    lines += [("-usage-sum", _usage_row("all", table.total, 0, frame, table)), frame.blank("usage")]
    what = "input: what no cache gave or took; read, written: by a cache; hits: its share"
    source = f"{source_text(table.total)}. Prices of {prices_date}, in US dollars."
    return with_unique_ids([*lines, *_note_lines("what", what, frame), *_note_lines("source", source, frame)])


def _note_lines(name: str, text: str, frame: StatisticsFrame) -> list[StatisticsLine]:
    muted = frame.ink.of("muted")
    wrapped = wrap_plain_text(frame.glyphs.line(text), max(10, frame.width - 2))
    return [
        (f"-usage-{name}-{number}", Content(" ") + line.stylize_before(muted))
        for number, line in enumerate(wrapped)
    ]


def _usage_row(name: str, counted: UsageSum, most: int, frame: StatisticsFrame, table: UsageTable) -> Content:
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
        bar = count_bar(counted.cost, most, _USAGE_BAR_CELLS, ink.of("info"), frame.glyphs)
    return _usage_columns(parts, bar, frame, table)


def _usage_columns(
    parts: Sequence[Content], bar: Content, frame: StatisticsFrame, table: UsageTable
) -> Content:
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
    if frame.width >= _USAGE_BAR_MIN_CELLS:
        columns.append(Column(content=bar, width=_USAGE_BAR_CELLS, gap=2))
    return cells.compose_columns([*columns, list_rows.END_COLUMN], frame.width, frame.glyphs)
