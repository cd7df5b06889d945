"""Rows of lists as strips: the queue, tool calls, sessions, changed files.

Owns the rhythm of UX section 2: cursor bar, sign, blank, verb, target, numbers at the right, last column
blank; and the drop order: session, size, state word, middle of the path.
"""

from collections.abc import Sequence
from typing import Final

from textual.content import Content
from textual.strip import Strip
from textual.style import Style

from workbench.draw import cells, waterfall, words
from workbench.draw.cells import Column, content, styled
from workbench.draw.glyphs import Glyphs
from workbench.draw.tokens import Ink, TokenName
from workbench.text.human import duration
from workbench.text.safe import LINE_END
from workbench.views.queue import QueueRow, Urgency
from workbench.views.sessions import ChangedFile, SessionRow
from workbench.views.signs import Meaning
from workbench.views.tools import Axis, Span, ToolRow

WATERFALL_FROM: Final = 58
"""Cells from which tool rows have a bar."""
WIDE_FROM: Final = 100
"""Cells from which tool rows have every column."""
LONG_TOOL_FROM: Final = 76
"""Cells from which the longest name of a tool of ours has room."""

URGENT: Final[dict[Urgency, TokenName]] = {"calm": "foreground", "soon": "waiting", "now": "failed"}
_FAR: Final = 40
"""Cells of a row across which no eye finds the words of a label."""
_LABEL: Final = 12
_END: Final = Column(content=Content(""), width=0)
"""The last column of a row, blank."""


def bar(glyphs: Glyphs, ink: Ink, *, is_cursor: bool, has_focus: bool) -> Column:
    """Return the cursor's column, the first of every row."""
    text = glyphs.of("cursor") if is_cursor else " "
    return Column(content=styled(text, ink.of("info" if has_focus else "muted")), width=1, gap=0)


def sign(meaning: Meaning, ink: Ink, glyphs: Glyphs, *, gap: int = 0) -> Column:
    """Return a sign's column."""
    return Column(content=styled(glyphs.of(meaning), ink.sign(meaning)), width=1, gap=gap)


def sizes(added: int, removed: int, ink: Ink, glyphs: Glyphs) -> Content:
    """Return `+6 −3`, empty for neither."""
    parts = [styled(f"+{added}", ink.of("added"))] if added else []
    parts += [styled(glyphs.line(f"−{removed}"), ink.of("removed"))] if removed else []
    return Content(" ").join(parts)


def _style(ink: Ink, *, is_cursor: bool, has_focus: bool) -> Style:
    return ink.cursor(has_focus=has_focus) if is_cursor else ink.on("background")


def is_path(text: str) -> bool:
    """Return whether a target reads as a path, so that its end is what matters."""
    return "/" in text and " " not in text and LINE_END not in text


def _target(text: str, style: Style, ink: Ink, *, least: int) -> Column:
    cut = "path" if is_path(text) else "end"
    line = content(text, style, ink)
    return Column(content=line, grows=True, cut=cut, least=min(least, line.cell_length))


# --- the queue ----------------------------------------------------------------------------------


def queue_row(
    row: QueueRow,
    width: int,
    ink: Ink,
    glyphs: Glyphs,
    now: int,
    *,
    is_cursor: bool = False,
    has_focus: bool = False,
    shows_marks: bool = False,
    in_minutes: bool = False,
) -> Strip:
    """Return one row of the queue.

    Args:
        row: what it says.
        width: cells.
        ink: colours.
        glyphs: signs.
        now: for the day of decided ones, in microseconds.
        is_cursor: whether the cursor is on it.
        has_focus: whether the pane has focus.
        in_minutes: countdowns without seconds, for screens without motion.
        shows_marks: the zoomed queue: a column for batch marks, columns of fixed width.
    """
    mark = styled(glyphs.of("taken") if row.mark else " ", ink.of("info"))
    columns = [bar(glyphs, ink, is_cursor=is_cursor, has_focus=has_focus)]
    columns += [Column(content=mark, width=1, gap=0)] if shows_marks else []
    columns.append(sign(row.sign, ink, glyphs, gap=int(shows_marks)))
    columns += _what(row, ink, glyphs, is_cursor=is_cursor)
    left = _left(row, ink, glyphs, in_minutes=in_minutes) if row.is_pending else []
    columns += (
        _zoomed(row, ink, glyphs, now, left) if shows_marks else _usual(row, width, ink, glyphs, now, left)
    )
    style = _style(ink, is_cursor=is_cursor, has_focus=has_focus)
    return cells.row([*columns, _END], width, style, glyphs=glyphs)


def _what(row: QueueRow, ink: Ink, glyphs: Glyphs, *, is_cursor: bool) -> list[Column]:
    color = "foreground" if row.is_pending else "muted"
    style = ink.of(color, bold=is_cursor)
    target = _target(glyphs.target(row.target), style, ink, least=16)
    if row.more_files:
        plural = "s" if row.more_files > 1 else ""
        more = styled(f"  and {row.more_files} more file{plural}", ink.of("muted"))
        target = Column(content=target.content + more, grows=True, least=16)
    return [Column(content=content(row.verb, style), width=5), target]


def _usual(
    row: QueueRow, width: int, ink: Ink, glyphs: Glyphs, now: int, left: Sequence[Column]
) -> list[Column]:
    state = content(row.state_word, ink.sign(_word_meaning(row)))
    if not row.is_pending:
        return [Column(content=state, align="right", gap=2, drop=1), _clock(row, ink, now, gap=3)]
    title = content(row.session_title, ink.of("muted"), ink)
    size = sizes(row.added, row.removed, ink, glyphs)
    room = max(6, size.cell_length) if size.plain else None
    return [
        Column(content=size, width=room, align="right", drop=2),
        Column(content=state, drop=1, gap=2),
        Column(content=title, width=_title_cells(width) if title.plain else None, drop=3, gap=2),
        *left,
    ]


def _title_cells(width: int) -> int:
    return 16 if width < 72 else 18


def _zoomed(row: QueueRow, ink: Ink, glyphs: Glyphs, now: int, left: Sequence[Column]) -> list[Column]:
    state = content(row.state_word, ink.sign(_word_meaning(row)))
    columns = [
        Column(content=sizes(row.added, row.removed, ink, glyphs), width=8, drop=2),
        Column(content=state, width=13, drop=1),
        Column(content=content(row.session_title, ink.of("muted"), ink), width=18, drop=3),
    ]
    return columns + (list(left) if row.is_pending else [_clock(row, ink, now, gap=5)])


def _word_meaning(row: QueueRow) -> Meaning:
    return "risk" if row.is_pending and row.warnings else row.sign


def _left(row: QueueRow, ink: Ink, glyphs: Glyphs, *, in_minutes: bool) -> list[Column]:
    color = ink.of(URGENT[row.urgency], bold=row.urgency != "calm")
    left = words.left(row.left_seconds, in_minutes=in_minutes)
    return [
        Column(content=styled(glyphs.fuse(row.left_seconds), color), width=1, gap=3),
        Column(
            content=styled(left, color),
            width=max(5 + in_minutes, len(left)),
            align="right",
            gap=int(not in_minutes),
        ),
    ]


def _clock(row: QueueRow, ink: Ink, now: int, *, gap: int) -> Column:
    when = words.clock(row.clock, now)
    return Column(content=styled(when, ink.of("muted")), width=max(5, len(when)), align="right", gap=gap)


def queue_heads(width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    """Return the column heads of the zoomed queue."""
    faint = ink.of("faint")
    columns = [
        Column(content=Content(""), width=4, gap=0),
        Column(content=styled("what", faint), width=5),
        Column(content=styled("target", faint), grows=True, least=16),
        Column(content=styled("lines", faint), width=8, drop=2),
        Column(content=styled("state", faint), width=13, drop=1),
        Column(content=styled("session", faint), width=18, drop=3),
        Column(content=styled("left", faint), width=7, gap=3, align="right"),
        _END,
    ]
    return cells.row(columns, width, ink.on("background"), glyphs=glyphs)


# --- tools --------------------------------------------------------------------------------------


def tool_row(
    row: ToolRow,
    width: int,
    ink: Ink,
    glyphs: Glyphs,
    *,
    span: Span | None = None,
    is_cursor: bool = False,
    has_focus: bool = False,
) -> Strip:
    """Return one tool call; with a span and 58 cells or more its bar on the time axis as well.

    From 100 cells it has columns for who let it pass, run and wait.
    """
    style = ink.of("foreground", bold=is_cursor)
    columns = [
        bar(glyphs, ink, is_cursor=is_cursor, has_focus=has_focus),
        sign(row.sign, ink, glyphs),
        Column(content=content(row.tool, style, ink), width=_tool_cells(width)),
        _target(glyphs.target(row.target), ink.of("muted"), ink, least=10),
        *_times(row, width, ink, glyphs),
    ]
    if width >= WATERFALL_FROM:
        room = _bar_cells(width)
        drawn = waterfall.bar(span, room, ink, glyphs) if span else Content("")
        columns.append(Column(content=drawn, width=room, gap=2))
    return cells.row(
        [*columns, _END], width, _style(ink, is_cursor=is_cursor, has_focus=has_focus), glyphs=glyphs
    )


def _tool_cells(width: int) -> int:
    return 22 if width >= LONG_TOOL_FROM else 15


def _bar_cells(width: int) -> int:
    return width * 3 // 10 if width >= WIDE_FROM else width // 4


def _times(row: ToolRow, width: int, ink: Ink, glyphs: Glyphs) -> list[Column]:
    color = ink.sign(row.sign) if row.sign in ("failed", "running", "waiting", "stale") else ink.of("muted")
    if width < WIDE_FROM:
        return [Column(content=styled(row.right, color), align="right")]
    run = duration(row.run_ms / 1000) if row.run_ms is not None and row.sign != "running" else row.right
    wait = f"{round(row.wait_ms / 1000)} s" if row.wait_ms is not None else ""
    by = content(glyphs.line(row.by), ink.of("info" if row.by.startswith("§") else "muted"))
    return [
        Column(content=by, width=8, drop=2),
        Column(
            content=styled("" if row.sign in ("waiting", "stale") else run, color), width=7, align="right"
        ),
        Column(content=styled(wait, ink.of("waiting")), width=6, align="right", drop=1),
    ]


def tool_heads(width: int, ink: Ink, glyphs: Glyphs, axis: Axis) -> Strip:
    """Return the column heads over tool rows of the same width, with the marks of the axis."""
    faint = ink.of("faint")
    columns = [
        Column(content=Content(""), width=2, gap=0),
        Column(content=styled("tool", faint), width=_tool_cells(width)),
        Column(content=styled("target" if width >= WIDE_FROM else "", faint), grows=True, least=10),
    ]
    if width >= WIDE_FROM:
        columns += [
            Column(content=styled("by", faint), width=8, drop=2),
            Column(content=styled("run", faint), width=7, align="right"),
            Column(content=styled("wait", faint), width=6, align="right", drop=1),
        ]
    else:
        columns.append(Column(content=styled("time", faint), align="right"))
    if width >= WATERFALL_FROM:
        room = _bar_cells(width)
        columns.append(Column(content=waterfall.marks(axis, room, ink), width=room, gap=2))
    return cells.row([*columns, _END], width, ink.on("background"), glyphs=glyphs)


# --- the rail -----------------------------------------------------------------------------------


def session_row(
    row: SessionRow,
    width: int,
    ink: Ink,
    glyphs: Glyphs,
    now: int,
    *,
    is_cursor: bool = False,
    has_focus: bool = False,
) -> Strip:
    """Return one session of the rail."""
    style = ink.of("muted" if row.is_muted else "foreground", bold=row.is_current or is_cursor)
    count = styled(str(row.waiting), ink.of("waiting", bold=True)) if row.waiting else Content("")
    when = styled(words.clock(row.when, now), ink.of("muted"))
    columns = [
        bar(glyphs, ink, is_cursor=is_cursor, has_focus=has_focus),
        sign(row.sign, ink, glyphs),
        Column(content=content(row.title, style, ink), grows=True, least=8),
        Column(content=count if row.waiting else when, align="right", drop=0 if row.waiting else 1),
    ]
    return _rail(columns, width, ink, glyphs, is_cursor=is_cursor, has_focus=has_focus)


def changed_row(
    file: ChangedFile,
    width: int,
    ink: Ink,
    glyphs: Glyphs,
    *,
    is_cursor: bool = False,
    has_focus: bool = False,
) -> Strip:
    """Return one changed file of the rail."""
    path = content(file.path, ink.of("foreground", bold=is_cursor), ink)
    columns = [
        bar(glyphs, ink, is_cursor=is_cursor, has_focus=has_focus),
        sign(file.sign, ink, glyphs),
        Column(content=path, grows=True, cut="path", least=8),
        Column(content=sizes(file.added, file.removed, ink, glyphs), align="right", drop=1),
    ]
    return _rail(columns, width, ink, glyphs, is_cursor=is_cursor, has_focus=has_focus)


def fact_row(label: str, fact: str, width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    """Return a label and its words: at the right of a rail, beside the label where that would be far."""
    is_far = width > _FAR
    columns = [
        Column(content=Content(""), width=2, gap=0),
        Column(content=content(label, ink.of("muted")), width=_LABEL if is_far else None),
        Column(
            content=content(fact, ink.of("foreground"), ink), grows=True, align="left" if is_far else "right"
        ),
    ]
    return _rail(columns, width, ink, glyphs, is_cursor=False, has_focus=False)


def _rail(
    columns: Sequence[Column], width: int, ink: Ink, glyphs: Glyphs, *, is_cursor: bool, has_focus: bool
) -> Strip:
    style = _style(ink, is_cursor=is_cursor, has_focus=has_focus)
    return cells.row([*columns, _END], width, style, glyphs=glyphs)
