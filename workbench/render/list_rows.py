"""Rows of lists as strips: tool calls with their bars on a time axis, sessions, changed files, facts.

Owns the columns that all lists share (UX section 2), and what a list says that has nothing to show.
Waiting is dashed, running heavy.
"""

from collections.abc import Sequence
from math import ceil
from typing import Final

from msgspec.structs import replace
from textual.content import Content
from textual.strip import Strip
from textual.style import Style

from workbench.domain.values import Place
from workbench.render import cells
from workbench.render.cells import Column, safe_content, styled, wrap_plain_text
from workbench.render.glyphs import Glyphs
from workbench.render.theme import Ink
from workbench.text import human
from workbench.text.human import duration_text
from workbench.text.safe import LINE_END_SYMBOL
from workbench.views.conversation_blocks import GroupPlace, TurnSummary
from workbench.views.sessions import ChangedFile, SessionRow
from workbench.views.status_icons import GlyphName, StatusName
from workbench.views.tools import TimeAxis, TimeSpan, ToolRow

WATERFALL_MIN_CELLS: Final = 58
WIDE_MIN_CELLS: Final = 100
LONG_TOOL_MIN_CELLS: Final = 76
TWO_TIMES_MIN_CELLS: Final = 90
"""Cells from which the time that a call ran and the time that it waited have a column each."""
_FAR_CELLS: Final = 40
_SESSION_CELLS: Final = 26
_SHORT_SESSION_CELLS: Final = 14
_LABEL_CELLS: Final = 12
_BY_CELLS: Final = 8
_RUN_CELLS: Final = 7
END_COLUMN: Final = Column(content=Content(""), width=0)


def cursor_column(glyphs: Glyphs, ink: Ink, *, is_cursor: bool, has_focus: bool) -> Column:
    text = glyphs.of("cursor") if is_cursor else " "
    return Column(content=styled(text, ink.of("info" if has_focus else "muted")), width=1, gap=0)


def icon_column(meaning: StatusName, ink: Ink, glyphs: Glyphs, *, gap: int = 0) -> Column:
    return Column(content=styled(glyphs.of(meaning), ink.sign(meaning)), width=1, gap=gap)


def line_counts(added: int, removed: int, ink: Ink, glyphs: Glyphs) -> Content:
    parts = [styled(f"+{added}", ink.of("added"))] if added else []
    parts += [styled(glyphs.line(f"−{removed}"), ink.of("removed"))] if removed else []
    return Content(" ").join(parts)


PLACE_CELLS: Final = 8
SHORT_PLACE_CELLS: Final = 4
_PLACE_WORDS: Final[dict[GroupPlace, str]] = {
    "inside": "[inside]", "outside": "outside", "mixed": "mixed",
}  # fmt: skip
_SHORT_PLACE_WORDS: Final[dict[GroupPlace, str]] = {"inside": "[in]", "outside": "out", "mixed": "mix"}
"""The brackets are the box, also without colours."""


def place_content(
    place: GroupPlace | None, ink: Ink, *, is_short: bool = False, leaves: bool = False, is_over: bool = False
) -> Content:
    """Return the place of one or more commands; empty for calls that run no command here.

    `leaves`: it waits for an answer that lets it leave a sandbox in which it could run; `is_over`: it was
    decided, and nothing can be done about it.
    """
    if place is None:
        return Content("")
    words = (_SHORT_PLACE_WORDS if is_short else _PLACE_WORDS)[place]
    color = "muted" if is_over else "info" if place == "inside" else "waiting" if leaves else "muted"
    return styled(words, ink.of(color))


def list_row_style(ink: Ink, *, is_cursor: bool, has_focus: bool) -> Style:
    """Return the style of the cursor for the row that it is on, else that of the background."""
    return ink.cursor(has_focus=has_focus) if is_cursor else ink.on("background")


def reads_as_path(text: str) -> bool:
    """Return whether a target reads as a path, so that its end is what matters."""
    return "/" in text and " " not in text and LINE_END_SYMBOL not in text


def target_column(text: str, style: Style, ink: Ink, *, least: int) -> Column:
    """Return a growing column with what a call acts on, cut as a path if it reads as one."""
    cut = "path" if reads_as_path(text) else "end"
    line = safe_content(text, style, ink)
    return Column(content=line, grows=True, cut=cut, least=min(least, line.cell_length))


# --- tools --------------------------------------------------------------------------------------


def tool_strip(
    row: ToolRow,
    width: int,
    ink: Ink,
    glyphs: Glyphs,
    *,
    span: TimeSpan | None = None,
    clock: str = "",
    is_cursor: bool = False,
    has_focus: bool = False,
    is_moment: bool = False,
    session: str = "",
    has_places: bool = False,
) -> Strip:
    """Return one tool call; with a span and enough cells also its bar on the time axis.

    `session` is the title of its session, where calls of several are listed. `has_places`: some of the calls
    are commands that ran inside or outside the sandbox. `clock` is the time of a command
    that runs, with its limit. The call of the moment of a replay is marked where the cursor stands on another
    one.
    """
    style = ink.of("foreground", bold=is_cursor)
    columns = [
        cursor_column(glyphs, ink, is_cursor=is_cursor, has_focus=has_focus)
        if is_cursor or not is_moment
        else Column(content=styled(glyphs.of("prompt"), ink.of("info")), width=1, gap=0),
        icon_column(row.sign, ink, glyphs),
        Column(content=safe_content(row.tool, style, ink), width=_tool_name_cells(width)),
        target_column(glyphs.target(row.target), ink.of("muted"), ink, least=6 if session else 10),
        *([_session_column(session, width, ink.of("foreground"), ink)] if session else []),
        *([_place_column(row.call.place, width, ink)] if has_places else []),
        *_time_columns(row, clock or row.right, width, ink, glyphs),
    ]
    if width >= WATERFALL_MIN_CELLS and not session:
        room = _bar_cells(width)
        drawn = waterfall_bar(span, room, ink, glyphs) if span else Content("")
        columns.append(Column(content=drawn, width=room, gap=2))
    return cells.row_strip(
        [*columns, END_COLUMN],
        width,
        list_row_style(ink, is_cursor=is_cursor, has_focus=has_focus),
        glyphs=glyphs,
    )


def _session_column(title: str, width: int, style: Style, ink: Ink) -> Column:
    room = _SESSION_CELLS if width >= LONG_TOOL_MIN_CELLS else _SHORT_SESSION_CELLS
    return Column(content=safe_content(title, style, ink), width=room)


def _place_column(place: Place | None, width: int, ink: Ink) -> Column:
    is_short = width < LONG_TOOL_MIN_CELLS
    content = place_content(place, ink, is_short=is_short)
    return Column(content=content, width=SHORT_PLACE_CELLS if is_short else PLACE_CELLS)


def _tool_name_cells(width: int) -> int:
    return 22 if width >= LONG_TOOL_MIN_CELLS else 15


def _bar_cells(width: int) -> int:
    return width * 3 // 10 if width >= WIDE_MIN_CELLS else width // 4


def turn_caption_strip(turn: TurnSummary | None, count: int, width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    """Return the row over the calls of a turn; without one, over those of turns before what was read."""
    number = f"turn {turn.number}" if turn is not None else "an earlier turn"
    title = safe_content(turn.title if turn is not None else "", ink.of("muted"), ink)
    calls = f"{count} call{'' if count == 1 else 's'}" if count else ""
    columns = [
        Column(content=styled(number, ink.of("foreground", bold=True))),
        Column(content=title, grows=True, gap=2),
        Column(content=styled(calls, ink.of("muted")), align="right"),
        END_COLUMN,
    ]
    return cells.row_strip(columns, width, ink.on("background"), glyphs=glyphs)


def refusal_caption_strip(words: str, width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    """Return what the sandbox refused to a command, below its row."""
    line = styled(f"{glyphs.of('rejected')} {words}", ink.sign("rejected"))
    columns = [Column(content=line, grows=True, gap=3), END_COLUMN]
    return cells.row_strip(columns, width, ink.on("background"), glyphs=glyphs)


def output_caption_strip(line: str, width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    """Return what a command that runs wrote last, below its row."""
    words = safe_content(glyphs.line(line), ink.of("muted"), ink)
    columns = [Column(content=words, grows=True, gap=3), END_COLUMN]
    return cells.row_strip(columns, width, ink.on("background"), glyphs=glyphs)


def _time_columns(row: ToolRow, right: str, width: int, ink: Ink, glyphs: Glyphs) -> list[Column]:
    color = ink.sign(row.sign) if row.sign in ("failed", "running", "waiting", "stale") else ink.of("muted")
    if width < TWO_TIMES_MIN_CELLS:
        return [Column(content=styled(right, color), align="right")]
    waited = _waited_column(row, ink)
    if width < WIDE_MIN_CELLS:
        return [_ran_column(row, right, color, ink, glyphs), waited]
    by_style = ink.of("info" if row.by.startswith("§") else "muted")
    if row.judged:
        words = ", ".join(filter(None, ("" if row.by == "auto" else row.by, row.judged)))
        cells_of_words = _BY_CELLS + 1 + _RUN_CELLS
        return [Column(content=safe_content(glyphs.line(words), by_style), width=cells_of_words), waited]
    by = Column(content=safe_content(glyphs.line(row.by), by_style), width=_BY_CELLS, drop=2)
    return [by, _ran_column(row, right, color, ink, glyphs), waited]


def _ran_column(row: ToolRow, right: str, color: Style, ink: Ink, glyphs: Glyphs) -> Column:
    """Return how long a call ran; a dash for one that has not begun."""
    run = duration_text(row.run_ms / 1000) if row.run_ms is not None and row.sign != "running" else right
    if row.sign in ("waiting", "stale") or not run:
        return Column(content=styled(glyphs.line("–"), ink.of("faint")), align="right", width=_RUN_CELLS)
    width = max(_RUN_CELLS, len(run) if row.sign == "running" else 0)
    return Column(content=styled(run, color), align="right", width=width)


def _waited_column(row: ToolRow, ink: Ink) -> Column:
    """Return how long a call waited for an answer, amber only while it does."""
    text = duration_text(round(row.wait_ms / 1000), counts_on=True) if row.wait_ms is not None else ""
    style = ink.of("waiting" if row.sign == "waiting" else "muted")
    return Column(content=styled(text, style), width=6, align="right", drop=1)


def tool_head_strip(
    width: int,
    ink: Ink,
    glyphs: Glyphs,
    axis: TimeAxis,
    *,
    has_sessions: bool = False,
    has_places: bool = False,
) -> Strip:
    """Return the column heads over tool rows of the same width, with the marks of the axis.

    `has_sessions`: each row has the title of its session, and no bar: no axis fits several sessions.
    """
    faint = ink.of("faint")
    columns = [
        Column(content=Content(""), width=2, gap=0),
        Column(content=styled("tool", faint), width=_tool_name_cells(width)),
        Column(content=styled("target" if width >= WIDE_MIN_CELLS else "", faint), grows=True, least=10),
        *([_session_column("session", width, faint, ink)] if has_sessions else []),
        *([replace(_place_column(None, width, ink), content=styled("runs", faint))] if has_places else []),
    ]
    if width >= WIDE_MIN_CELLS:
        columns.append(Column(content=styled("by", faint), width=_BY_CELLS, drop=2))
    if width >= TWO_TIMES_MIN_CELLS:
        columns += [
            Column(content=styled("ran", faint), width=_RUN_CELLS, align="right"),
            Column(content=styled("waited", faint), width=6, align="right", drop=1),
        ]
    else:
        columns.append(Column(content=styled("time", faint), align="right"))
    if width >= WATERFALL_MIN_CELLS and not has_sessions:
        room = _bar_cells(width)
        columns.append(Column(content=axis_marks(axis, room, ink), width=room, gap=2))
    return cells.row_strip([*columns, END_COLUMN], width, ink.on("background"), glyphs=glyphs)


# --- the sidebar ------------------------------------------------------------------------------------


def session_strip(
    row: SessionRow,
    width: int,
    ink: Ink,
    glyphs: Glyphs,
    now: int,
    *,
    is_cursor: bool = False,
    has_focus: bool = False,
) -> Strip:
    style = ink.of("muted" if row.is_muted else "foreground", bold=row.is_current or is_cursor)
    count = styled(str(row.waiting), ink.of("waiting", bold=True)) if row.waiting else Content("")
    when = styled(human.clock_time(row.when, now), ink.of("muted"))
    if row.seconds is not None:
        when = styled(human.countdown_text(row.seconds), ink.of("info", bold=True))
    elif row.is_supervised:
        when = styled(row.word, ink.of("muted"))
    title = Content.assemble(
        folder_prefix(row.folder, ink), agent_sign(ink, glyphs, is_supervised=row.is_supervised),
        safe_content(row.title, style, ink),
    )  # fmt: skip
    columns = [
        cursor_column(glyphs, ink, is_cursor=is_cursor, has_focus=has_focus),
        icon_column(row.sign, ink, glyphs),
        Column(content=title, grows=True, least=8),
        Column(content=count if row.waiting else when, align="right", drop=0 if row.waiting else 1),
        Column(content=shown_mark(ink, glyphs, is_shown=row.is_current), width=1),
    ]
    line = list_row_style(ink, is_cursor=is_cursor, has_focus=has_focus)
    return cells.row_strip(columns, width, line, glyphs=glyphs)


def shown_mark(ink: Ink, glyphs: Glyphs, *, is_shown: bool) -> Content:
    """Return the mark of the session on show, in whatever list it stands."""
    return styled(glyphs.of("shown"), ink.of("info")) if is_shown else Content("")


def folder_prefix(name: str, ink: Ink) -> Content:
    """Return what stands before the title of a session of another folder; empty without a name."""
    return safe_content(f"{name}: ", ink.of("muted"), ink) if name else Content("")


def agent_sign(ink: Ink, glyphs: Glyphs, *, is_supervised: bool) -> Content:
    """Return the sign before the name of an agent that executes its own calls; empty for other sessions."""
    return styled(f"{glyphs.of('agent')} ", ink.of("info")) if is_supervised else Content("")


def changed_file_strip(
    file: ChangedFile,
    width: int,
    ink: Ink,
    glyphs: Glyphs,
    *,
    is_cursor: bool = False,
    has_focus: bool = False,
) -> Strip:
    path = safe_content(file.path, ink.of("foreground", bold=is_cursor), ink)
    columns = [
        cursor_column(glyphs, ink, is_cursor=is_cursor, has_focus=has_focus),
        icon_column(file.sign, ink, glyphs),
        Column(content=path, grows=True, cut="path", least=8),
        Column(content=line_counts(file.added, file.removed, ink, glyphs), align="right", drop=1),
    ]
    return _sidebar_strip(columns, width, ink, glyphs, is_cursor=is_cursor, has_focus=has_focus)


def fact_strip(label: str, fact: str, width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    """Return a label and its words: at the right, or beside the label where that would be far."""
    is_far = width > _FAR_CELLS
    columns = [
        Column(content=Content(""), width=2, gap=0),
        Column(content=safe_content(label, ink.of("muted")), width=_LABEL_CELLS if is_far else None),
        Column(
            content=safe_content(fact, ink.of("foreground"), ink),
            grows=True,
            align="left" if is_far else "right",
        ),
    ]
    return _sidebar_strip(columns, width, ink, glyphs, is_cursor=False, has_focus=False)


def _sidebar_strip(
    columns: Sequence[Column], width: int, ink: Ink, glyphs: Glyphs, *, is_cursor: bool, has_focus: bool
) -> Strip:
    style = list_row_style(ink, is_cursor=is_cursor, has_focus=has_focus)
    return cells.row_strip([*columns, END_COLUMN], width, style, glyphs=glyphs)


_ROUND_STEPS = (1, 2, 4, 5, 8, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)


def waterfall_bar(span: TimeSpan, width: int, ink: Ink, glyphs: Glyphs) -> Content:
    """Return a bar of exactly `width` cells."""
    cells: list[GlyphName | None] = [None] * width
    _fill_cells(cells, span.waited, "waited")
    _fill_cells(cells, span.ran, "ran")
    line = Content("")
    style = ink.of("failed") if span.sign == "failed" else ink.of("info")
    styles = {"ran": style, "tick": style, "waited": ink.of("waiting")}
    for name in cells:
        line += styled(glyphs.of(name), styles[name]) if name else Content(" ")
    return line


def _fill_cells(cells: list[GlyphName | None], piece: tuple[float, float] | None, glyph: GlyphName) -> None:
    if piece is None or not cells:
        return
    low, high = (share * len(cells) for share in piece)
    first = min(len(cells) - 1, int(low))
    last = min(len(cells), ceil(high))
    if glyph == "ran" and high - low < 1:
        cells[first] = "tick" if high - low < 0.5 else glyph
        return
    for cell in range(first, max(first + 1, last)):
        cells[cell] = glyph


def axis_marks(axis: TimeAxis, width: int, ink: Ink) -> Content:
    """Return the marks over the bars: `0`, a few round times, and the whole as the title says it."""
    end = duration_text(axis.seconds)
    if width < len(end) + 3:
        return styled(end.rjust(width)[:width], ink.of("faint"))
    cells = ["0", *" " * (width - 1)]
    cells[width - len(end) :] = end
    for seconds in _round_times(axis.seconds, width):
        cell = int(seconds / axis.seconds * width)
        words = axis_time_text(seconds)
        if "".join(cells[cell - 2 : cell + len(words) + 2]).strip():
            continue
        cells[cell : cell + len(words)] = words
    return styled("".join(cells), ink.of("faint"))


def axis_time_text(seconds: float) -> str:
    """Return a mark of the axis: `8 s`, `1:20`, `400 ms`."""
    return duration_text(seconds, counts_on=seconds >= 1)


def _round_times(seconds: float, width: int) -> list[int]:
    if seconds <= 0 or width < 30:
        return []
    step = next((step for step in _ROUND_STEPS if seconds / step * 9 <= width), None)
    return [step * n for n in range(1, int(seconds / step) + 1)] if step else []


_MARGIN: Final = 3
"""Cells left of the words."""
_MAX_WIDTH: Final = 72
"""Cells after which a sentence goes on in the next row."""


def empty_page_lines(
    heading: str, sentence: str, keys: Sequence[tuple[str, str]], width: int, ink: Ink, glyphs: Glyphs
) -> list[Content]:
    """Return the rows of the page.

    Args:
        heading: What is not there, in bold.
        sentence: What would be here; wrapped.
        keys: Keys that lead on, each with what it does.
        width: Cells of the pane.
        ink: The colours.
        glyphs: The signs of the terminal.
    """
    margin, room = Content(" " * _MARGIN), max(1, min(_MAX_WIDTH, width - _MARGIN))
    column = max((len(key) for key, _ in keys), default=0) + 3
    bold, muted = ink.of("foreground", bold=True), ink.of("muted")
    rows = [
        *(row.stylize(bold) for row in wrap_plain_text(glyphs.line(heading), room)),
        *(row.stylize(muted) for row in wrap_plain_text(glyphs.line(sentence), room)),
        *([Content("")] if keys else []),
        *(
            styled(key.ljust(column), ink.of("info", bold=True))
            + styled(glyphs.line(label), ink.of("foreground"))
            for key, label in keys
        ),
    ]
    return [Content(""), *(margin + row for row in rows)]
