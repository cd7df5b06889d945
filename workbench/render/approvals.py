"""The approval queue as rows."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, Literal, NamedTuple

from textual.content import Content
from textual.strip import Strip
from textual.style import Style

from workbench.domain.rows import Action
from workbench.render import cells
from workbench.render.cells import (
    Column,
    safe_content,
    shorten_line,
    styled,
)
from workbench.render.glyphs import Glyphs
from workbench.render.list_rows import (
    END_COLUMN,
    PLACE_CELLS,
    cursor_column,
    icon_column,
    line_counts,
    list_row_style,
    place_content,
    reads_as_path,
)
from workbench.render.theme import ColorName, Ink
from workbench.text import human
from workbench.text.width import cell_width
from workbench.views.action_detail import (
    ActionDetail,
    decider_name,
    decision_route_text,
)
from workbench.views.approvals import QueueRow, Urgency, waiting_elsewhere_text

MAX_DETAIL_TITLE_CELLS: Final = 60
MIN_TARGET_CELLS: Final = 16
MAX_SESSION_CELLS: Final = 18
MAX_FOLDER_CELLS: Final = 16
_MAX_NARROW_FOLDER_CELLS: Final = 10
_NARROW_CELLS: Final = 72
"""Cells of a row below which its names get less room."""
ColumnCells = Mapping[str, int]
"""The width of columns that are there only where they tell rows apart, by their heads; 0 leaves one out."""
DEFAULT_CELLS: Final[ColumnCells] = {"session": MAX_SESSION_CELLS, "folder": 0, "runs": PLACE_CELLS}


def detail_title(detail: ActionDetail, ink: Ink, glyphs: Glyphs) -> Content:
    """Return the title of the detail: `src/shop/router.py +6 −3`, `run_in_terminal ! 3 risks`."""
    bold = ink.of("foreground", bold=True)
    name = detail.target if detail.files or detail.kind != "tool" else detail.tool or detail.verb
    if detail.kind == "trust":
        name = f"{detail.verb}  {detail.target}"
    left = shorten_line(
        safe_content(glyphs.target(name), bold, ink),
        MAX_DETAIL_TITLE_CELLS,
        glyphs,
        keeps_end=bool(detail.files),
    )
    if len(detail.files) > 1:
        left += styled(f"  {len(detail.files)} files", ink.of("muted"))
    size = line_counts(detail.added, detail.removed, ink, glyphs)
    if size.plain:
        left += Content(" ") + size
    if detail.warnings:
        count = len(detail.warnings)
        words = f" {glyphs.of('risk')} {count} risk{'s' if count > 1 else ''}"
        left += styled(words, ink.sign("risk"))
    return left


URGENCY_COLORS: Final[dict[Urgency, ColorName]] = {"calm": "foreground", "soon": "waiting", "now": "failed"}


# --- the queue ----------------------------------------------------------------------------------


class _QueueCell(NamedTuple):
    row: QueueRow
    width: int
    ink: Ink
    glyphs: Glyphs
    now: int
    is_cursor: bool
    in_minutes: bool
    is_zoomed: bool
    column_cells: ColumnCells


class QueueColumn(NamedTuple):
    """A column of the queue: its head and its width belong to the zoomed queue."""

    head: str
    width: int | None
    """Cells; None grows. A column that is never dropped is as wide as its content if that needs more."""
    cell: Callable[[_QueueCell], Content]
    """The content; beside other panes an empty one takes no room."""
    drop: int = 0
    gap: int = 1
    narrow_gap: int = 1
    """Blanks before it beside other panes."""
    align: Literal["left", "right"] = "left"


def queue_strip(
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
    column_cells: ColumnCells = DEFAULT_CELLS,
) -> Strip:
    """Return one row of the queue; `shows_marks` is the zoomed one, `in_minutes` counts without seconds."""
    cell = _QueueCell(
        row=row, width=width, ink=ink, glyphs=glyphs, now=now, is_cursor=is_cursor, in_minutes=in_minutes,
        is_zoomed=shows_marks, column_cells=column_cells,
    )  # fmt: skip
    columns = [cursor_column(glyphs, ink, is_cursor=is_cursor, has_focus=has_focus)]
    if shows_marks:
        mark = styled(glyphs.of("taken") if row.mark else " ", ink.of("info"))
        columns.append(Column(content=mark, width=1, gap=0))
    columns.append(icon_column(row.sign, ink, glyphs, gap=int(shows_marks)))
    columns += [_queue_column(column, cell) for column in QUEUE_COLUMNS if column_cells.get(column.head, 1)]
    style = list_row_style(ink, is_cursor=is_cursor, has_focus=has_focus)
    return cells.row_strip([*columns, END_COLUMN], width, style, glyphs=glyphs)


def folder_column_cells(names: Iterable[str], width: int) -> int:
    """Return the width of the column of folders: what the longest name needs, within bounds."""
    most = _MAX_NARROW_FOLDER_CELLS if width < _NARROW_CELLS else max(MAX_FOLDER_CELLS, width // 6)
    return min(max(map(cell_width, names), default=0), most)


def session_column_cells(titles: Iterable[str], width: int, *, is_needed: bool = False) -> int:
    """Return the width of the column of sessions: what the longest title needs; none for one of them.

    `is_needed`: it is shown of one as well.
    """
    distinct = {title for title in titles if title}
    if len(distinct) < 2 - is_needed:
        return 0
    return min(max(map(cell_width, distinct)), max(MAX_SESSION_CELLS, width // 4))


def queue_head_strip(
    width: int, ink: Ink, glyphs: Glyphs, column_cells: ColumnCells = DEFAULT_CELLS
) -> Strip:
    columns = [Column(content=Content(""), width=4, gap=0)]
    columns += [
        Column(
            content=styled(column.head, ink.of("faint")),
            width=column_cells.get(column.head, column.width), grows=column.width is None,
            least=MIN_TARGET_CELLS, align=column.align, drop=column.drop, gap=column.gap,
        )
        for column in QUEUE_COLUMNS if column_cells.get(column.head, 1)
    ]  # fmt: skip
    return cells.row_strip([*columns, END_COLUMN], width, ink.on("background"), glyphs=glyphs)


def _queue_column(column: QueueColumn, cell: _QueueCell) -> Column:
    content = column.cell(cell)
    if column.width is None:
        cut = "path" if not cell.row.more_files and reads_as_path(content.plain) else "end"
        least = MIN_TARGET_CELLS if cell.row.more_files else min(MIN_TARGET_CELLS, content.cell_length)
        return Column(content=content, grows=True, cut=cut, least=least)
    if not cell.is_zoomed:
        return Column(content=content, drop=column.drop, gap=column.narrow_gap)
    width = column.width if column.drop else max(column.width, content.cell_length)
    width = cell.column_cells.get(column.head, width)
    return Column(content=content, width=width, align=column.align, drop=column.drop, gap=column.gap)


def _verb_cell(cell: _QueueCell) -> Content:
    verb = safe_content(cell.row.verb, _row_style(cell))
    return verb.pad_right(5 - verb.cell_length)


def _target_cell(cell: _QueueCell) -> Content:
    row = cell.row
    target = safe_content(cell.glyphs.target(row.target), _row_style(cell), cell.ink)
    if not row.more_files:
        return target
    plural = "s" if row.more_files > 1 else ""
    return target + styled(f"  and {row.more_files} more file{plural}", cell.ink.of("muted"))


def _row_style(cell: _QueueCell) -> Style:
    return cell.ink.of("foreground" if cell.row.is_pending else "muted", bold=cell.is_cursor)


def _place_cell(cell: _QueueCell) -> Content:
    row = cell.row
    place = place_content(row.place, cell.ink, leaves=row.can_move, is_over=not row.is_pending)
    return place.pad_right(PLACE_CELLS - place.cell_length) if place.plain else place


def _lines_cell(cell: _QueueCell) -> Content:
    size = line_counts(cell.row.added, cell.row.removed, cell.ink, cell.glyphs)
    if cell.is_zoomed:
        return size
    if not cell.row.is_pending or not size.plain:
        return Content("")
    return size.pad_left(max(0, 6 - size.cell_length))


def _state_cell(cell: _QueueCell) -> Content:
    row = cell.row
    return safe_content(
        row.state_word, cell.ink.sign("risk" if row.is_pending and row.warnings else row.sign)
    )


def _session_cell(cell: _QueueCell) -> Content:
    title = safe_content(cell.row.session_title, cell.ink.of("muted"), cell.ink)
    if cell.is_zoomed:
        return title
    if not cell.row.is_pending or not title.plain:
        return Content("")
    room = cell.column_cells["session"]
    room = min(room, 16) if cell.width < _NARROW_CELLS else room
    title = shorten_line(title, room, cell.glyphs)
    return title.pad_right(room - title.cell_length)


def _folder_cell(cell: _QueueCell) -> Content:
    name, room = cell.row.folder, cell.column_cells["folder"]
    line = safe_content(name, cell.ink.of("foreground" if cell.row.is_pending else "muted"), cell.ink)
    line = shorten_line(line, room, cell.glyphs, keeps_end="/" in name)
    return line.pad_right(room - line.cell_length)


def _left_cell(cell: _QueueCell) -> Content:
    """Return the countdown of a row that waits, else when it was decided."""
    row, ink = cell.row, cell.ink
    if not row.is_pending:
        return styled(human.clock_time(row.clock, cell.now).rjust(5), ink.of("muted"))
    style = ink.of(URGENCY_COLORS[row.urgency], bold=row.urgency != "calm")
    left = human.time_left_text(row.left_seconds, in_minutes=cell.in_minutes)
    blank = "" if cell.in_minutes else " "
    bar = styled(cell.glyphs.countdown_bar(row.left_seconds), style)
    return bar + Content(blank) + styled(left.rjust(5 + cell.in_minutes), style)


QUEUE_COLUMNS: Final = (
    QueueColumn("folder", MAX_FOLDER_CELLS, _folder_cell),
    QueueColumn("what", 5, _verb_cell),
    QueueColumn("target", None, _target_cell),
    QueueColumn("runs", PLACE_CELLS, _place_cell),
    QueueColumn("lines", 8, _lines_cell, drop=2, align="right"),
    QueueColumn("state", 15, _state_cell, drop=1, gap=3, narrow_gap=2),
    QueueColumn("session", 18, _session_cell, drop=3, narrow_gap=2),
    QueueColumn("left", 7, _left_cell, gap=3, narrow_gap=3, align="right"),
)
"""All columns between icon and end; a row here is a column of the queue."""
_DECIDED_STATES: Final = ("approved", "rejected", "expired")
_FIRST_USE_LINES: Final = (
    "When an agent wants to change a file or",
    "run a command, it appears here with what",
    "exactly would happen. You answer with",
    "",
    "   a  approve",
    "   r  reject",
    "   space  take or leave a part",
    "",
    "Unanswered it expires after a while.",
    "An expired action is never done.",
)


def empty_queue_lines(
    actions: Iterable[Action], ink: Ink, glyphs: Glyphs, *, is_filtered: str = "", is_past: bool = False,
    elsewhere: int = 0, awaited: str = "",
) -> list[Content]:  # fmt: skip
    """Return what an empty queue says: what the filter hides, what was decided last, or what comes here.

    `elsewhere` wait in folders that are not listed; `awaited` says which session may ask next. In a replay
    (`is_past`) it does not say what would come: nothing is answered there.
    """
    if is_filtered:
        words = f"Nothing matches “{is_filtered}”. esc clears the filter; / changes it."
        return [Content(""), safe_content(glyphs.line(f"   {words}"), ink.of("muted"))]
    here = " Nothing waits in this folder." if elsewhere else " Nothing waits."
    lines = [Content(""), Content.assemble("   ", (glyphs.of("ok"), ink.sign("ok")), here)]
    if elsewhere:
        sign = (glyphs.of("waiting"), ink.sign("waiting"))
        lines.append(Content.assemble("   ", sign, f" {waiting_elsewhere_text(elsewhere)}."))
    if awaited and not is_past:
        lines.append(safe_content(glyphs.line(f"     {awaited}"), ink.of("muted")))
    decided = [action for action in actions if action.decided_at and action.state in _DECIDED_STATES]
    if not decided:
        coming = (Content.styled(f"   {line}", ink.of("muted")) for line in _FIRST_USE_LINES)
        return lines if is_past else [*lines, Content(""), *coming]
    last = max(decided, key=lambda action: action.decided_at or 0)
    by = f"{decider_name(last.decided_by)} " if last.state != "expired" else ""
    how = decision_route_text(last.decided_by)
    words = f"     Last: {human.clock_time(last.decided_at)}, {by}{last.state} {last.target}{how}."
    return [*lines, safe_content(words, ink.of("muted"))]


# --- the parts of a command ----------------------------------------------------------------------
