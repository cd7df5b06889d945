"""Rows and the preview of the library, and the statistics as lines. Titles and paths are untrusted.

Each statistics line has an id: what the library is narrowed to when it is opened, or `-…` for captions.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct
from textual.content import Content, Span
from textual.strip import Strip
from textual.style import Style

from workbench.render import cells, list_rows
from workbench.render.cells import Column, safe_content, styled, wrap_code, wrap_plain_text
from workbench.render.theme import Glyphs, Ink
from workbench.text import human
from workbench.text.human import duration_text, token_text
from workbench.text.width import cell_width
from workbench.views.library import LibraryRow, SearchHit
from workbench.views.statistics import (
    DecisionTimes,
    Insight,
    Outcome,
    PreviewFile,
    SessionPreview,
    Statistics,
    ToolCount,
    unfinished_text,
)
from workbench.views.status_icons import SESSION_STATUSES, StatusName
from workbench.views.usage import cost_text

OUTCOME_ICONS: Final[dict[Outcome, StatusName]] = {
    "by rule": "rule", "by grant": "ok", "approved": "ok", "partly": "partly", "rejected": "rejected",
    "expired": "expired", "withdrawn": "cancelled", "replaced": "cancelled", "not allowed": "failed",
}  # fmt: skip
MAX_PREVIEW_FILES: Final = 8
_FACT_NAME_CELLS: Final = 13


def library_strip(
    row: LibraryRow, width: int, ink: Ink, glyphs: Glyphs, now: int, *, is_cursor: bool, has_focus: bool,
    has_costs: bool = False,
) -> Strip:  # fmt: skip
    """Draw a session: sign, title, folder, when, cost where any is known, what is to be said of it."""
    muted = ink.of("muted")
    title = underline_hits(safe_content(row.title, ink.of("foreground", bold=is_cursor), ink), row.hits, ink)
    note = list_rows.line_counts(row.added, row.removed, ink, glyphs)
    if row.note:
        note = safe_content(row.note, ink.sign(row.tone) if row.tone else muted)
    mark = glyphs.of("taken") if row.is_marked else " "
    if row.agents:
        sign = glyphs.of("open" if row.is_opened else "folded")
        title = styled(f"{sign} ", muted) + title
    title = styled("  " * row.depth) + title
    columns = [
        list_rows.cursor_column(glyphs, ink, is_cursor=is_cursor, has_focus=has_focus),
        list_rows.icon_column(row.sign, ink, glyphs),
        Column(content=styled(mark, ink.of("info")), width=1, gap=0),
        Column(content=title, grows=True, least=20, gap=0),
        Column(content=safe_content(row.folder, muted, ink), width=14, drop=2),
        Column(
            content=styled(human.clock_time(row.when, now) or "now", muted), width=6, align="right", drop=1
        ),
        *([Column(content=styled(row.cost, muted), width=8, align="right", drop=3)] if has_costs else []),
        Column(content=note, width=16, align="right", drop=0),
        Column(content=Content(""), width=0),
    ]
    style = ink.cursor(has_focus=has_focus) if is_cursor else ink.on("background")
    return cells.row_strip(columns, width, style, glyphs=glyphs)


def underline_hits(line: Content, hits: Iterable[tuple[int, int]], ink: Ink) -> Content:
    """Return a line with what was found in it underlined."""
    spans = [Span(first, last, ink.hit()) for first, last in hits]
    return line.add_spans(spans) if spans else line


def separator_strip(width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    return cells.line_strip(
        styled(f" {glyphs.line('─') * max(0, width - 2)} ", ink.of("rule")), width, ink.on("background")
    )


def time_range(begin: int, end: int, now: int) -> str:
    """Write when a session was: `today 09:12 to 09:41, 29 min`."""
    day, last = human.clock_time(begin, now), human.clock_time(end, now)
    if day == human.clock_time(begin) and last == human.clock_time(end):
        first, last = f"today {human.clock_time(begin)}", human.clock_time(end)
    elif day == last:
        first, last = f"{day} {human.clock_time(begin)}", human.clock_time(end)
    else:
        first, last = f"{day} {human.clock_time(begin)}", f"{last} {human.clock_time(end)}"
    return (
        f"{first} to {last}, {duration_text((end - begin) / 1_000_000)}"
        if end - begin >= 1_000_000
        else first
    )


def preview_lines(
    view: SessionPreview, width: int, ink: Ink, glyphs: Glyphs, chosen: int = 0
) -> list[Content]:
    """Return everything that is said of a session; `chosen` is the hit at which a replay would begin."""
    lines = [Content(""), *_fact_lines(view, width, ink, glyphs)]
    lines += _asked_lines(view, width, ink, glyphs)
    lines += _call_lines(view, ink, glyphs)
    lines += _file_lines(view.files, view.changed, width, ink, glyphs)
    return lines + _hit_lines(view, width, ink, glyphs, chosen)


def _fact_lines(view: SessionPreview, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    lines: list[Content] = []
    for name, text in view.facts:
        head = styled(f"  {glyphs.line(name)}".ljust(_FACT_NAME_CELLS), ink.of("muted"))
        below = wrap_code(
            [safe_content(text, ink.of("foreground"), ink)], max(8, width - _FACT_NAME_CELLS - 2)
        )[:3]
        lines += [
            (Content(" " * _FACT_NAME_CELLS) if index else head) + line for index, line in enumerate(below)
        ]
    return lines


def _asked_lines(view: SessionPreview, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    if not view.asked and not view.outcomes:
        return []
    most = view.asked + view.unasked
    digits = len(f"{most:,}")
    room = max(4, width - 20 - digits)
    waits = f", {view.waiting:,} wait{'s' if view.waiting == 1 else ''}" if view.waiting else ""
    unasked = f", {view.unasked:,} not asked" if view.unasked else ""
    lines = [Content(""), _heading(f"asked {view.asked:,}{waits}{unasked}", ink)]
    for name, count in view.outcomes:
        sign = OUTCOME_ICONS[name]
        head = Content.assemble("  ", (glyphs.of(sign), ink.sign(sign)), f" {count:>{digits},} ")
        word = styled(f"{name:<11} ", ink.of("muted"))
        lines.append(head + word + count_bar(count, most, room, ink.sign(sign), glyphs))
    return lines


def count_bar(count: int, most: int, room: int, style: Style, glyphs: Glyphs) -> Content:
    """Return a bar on a scale on which `most` takes the room; whatever is there is at least a cell."""
    length = max(1, round(room * count / most)) if count and most else 0
    return styled(glyphs.of("ran") * length, style)


def _call_lines(view: SessionPreview, ink: Ink, glyphs: Glyphs) -> list[Content]:
    if not view.calls:
        return []
    line = _heading(f"{view.calls:,} call{'' if view.calls == 1 else 's'}", ink)
    if view.failed_calls:
        line += styled(f"   {glyphs.of('failed')} {view.failed_calls:,} failed", ink.of("failed"))
    return [Content(""), line]


def _file_lines(
    files: Sequence[PreviewFile], changed: int, width: int, ink: Ink, glyphs: Glyphs
) -> list[Content]:
    if not changed:
        return []
    lines = [Content(""), _heading(f"changed {changed:,} file{'' if changed == 1 else 's'}", ink)]
    for file in files[:MAX_PREVIEW_FILES]:
        columns = [
            Column(content=safe_content(file.path, ink.of("foreground"), ink), grows=True, cut="path", gap=2),
            Column(content=list_rows.line_counts(file.added, file.removed, ink, glyphs), align="right"),
        ]
        lines.append(cells.compose_columns(columns, width - 2, glyphs))
    if changed > MAX_PREVIEW_FILES:
        lines.append(styled(f"  and {changed - MAX_PREVIEW_FILES:,} more", ink.of("muted")))
    return lines


def _hit_lines(view: SessionPreview, width: int, ink: Ink, glyphs: Glyphs, chosen: int) -> list[Content]:
    if not view.place_count:
        return []
    matches = "1 place matches" if view.place_count == 1 else f"{view.place_count:,} places match"
    marked = chosen if len(view.places) > 1 else None
    drawn = (
        _hit_line(hit, width, ink, glyphs, is_chosen=index == marked) for index, hit in enumerate(view.places)
    )
    return [Content(""), _heading(matches, ink), *drawn]


def _hit_line(hit: SearchHit, width: int, ink: Ink, glyphs: Glyphs, *, is_chosen: bool) -> Content:
    is_prompt = hit.who == "you"
    sign = styled(glyphs.of("prompt") if is_prompt else " ", ink.of("info"))
    line = underline_hits(safe_content(hit.text, ink.of("foreground", bold=is_chosen), ink), hit.hits, ink)
    bar = styled(glyphs.of("cursor") if is_chosen else " ", ink.of("info"))
    head = Content.assemble(bar, " ", sign, (f" {hit.who:<6}", ink.of("muted")))
    return head + cells.shorten_line(line, max(4, width - cell_width(head.plain) - 1), glyphs)


def _heading(text: str, ink: Ink) -> Content:
    return styled(f"  {text}", ink.of("muted"))


StatisticsLine = tuple[str, Content]
_BAR_STEPS: Final = " ▁▂▃▄▅▆▇█"
_QUERY_OF_OUTCOME: Final = {
    "approved": "asked:approved", "partly": "asked:approved", "rejected": "asked:rejected",
    "expired": "asked:expired", "withdrawn": "asked:cancelled",
}  # fmt: skip
_MAX_FILES: Final = 12
_MIN_BAR_CELLS: Final = 8
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


# --- tools ------------------------------------------------------------------------------------------


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
            count_bar(tool.run_ms, most, room, ink.of("info"), frame.glyphs),
        ],
        frame,
    )  # fmt: skip


def _bar_room(frame: StatisticsFrame) -> int:
    room = frame.width - 74
    return min(30, room) if room >= _MIN_BAR_CELLS else 0


def _tool_columns(parts: Sequence[Content], frame: StatisticsFrame) -> Content:
    name, calls, ok, p50, p95, waited, run = parts
    columns = [
        Column(content=name, grows=True, least=18, gap=2),
        Column(content=calls, width=7, align="right"),
        Column(content=ok, width=5, align="right"),
        Column(content=p50, width=8, align="right", drop=2),
        Column(content=p95, width=8, align="right", drop=1),
        Column(content=waited, width=9, align="right"),
    ]
    if room := _bar_room(frame):
        columns.append(Column(content=run, width=room, gap=2, drop=3))
    return cells.compose_columns([*columns, Column(content=Content(""), width=0)], frame.width, frame.glyphs)


def _milliseconds_text(ms: int | None) -> str:
    return "–" if ms is None else duration_text(ms / 1000)


# --- asks -------------------------------------------------------------------------------------------


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


def decision_time_lines(deciding: DecisionTimes, frame: StatisticsFrame) -> list[StatisticsLine]:
    """Return how long people took, as a bar for every step of time."""
    right = (
        f"median {_milliseconds_text(deciding.p50_ms)}, 95 % in {_milliseconds_text(deciding.p95_ms)}"
        if deciding.answers
        else ""
    )
    lines = [frame.blank("time"), frame.caption("time", "Your time to decide", right)]
    if not deciding.answers:
        return [*lines, frame.plain("no-time", "Nobody answered in this period.")]
    cell = max(4, min(7, (frame.width - 3) // len(_DECISION_TIME_LABELS)))
    drawn = column_chart(deciding.buckets, cell - 1, 4, frame)
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


# --- the right side ---------------------------------------------------------------------------------


def token_lines(
    days: Sequence[int], labels: tuple[str, str], counts: Statistics, frame: StatisticsFrame
) -> list[StatisticsLine]:
    """Return tokens by day, grouped where the days do not fit."""
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
    drawn = column_chart(grouped, cell - gap, _CHART_ROWS, frame, gap)
    scale = [token_text(max(grouped)), *[""] * (_CHART_ROWS - 2), "0"]
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
        sign, _ = SESSION_STATUSES[status]
        head = _count_head(frame, sign, status, count)
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
            Column(content=Content(""), width=0),
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
