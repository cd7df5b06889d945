"""The approval queue as rows, and the detail of an action that is no diff.

Commands are shown whole, wrapped, never cut; the table of a command's parts stands below them.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from textual.content import Content
from textual.strip import Strip
from textual.style import Style

from workbench.domain.rows import Action
from workbench.render import cells
from workbench.render.cells import (
    Column,
    hanging_lines,
    mark_hidden,
    safe_content,
    safe_lines,
    shorten_line,
    styled,
    wrap_code,
    wrap_plain_text,
)
from workbench.render.list_rows import (
    END_COLUMN,
    cursor_column,
    icon_column,
    line_counts,
    list_row_style,
    reads_as_path,
)
from workbench.render.theme import ColorName, Glyphs, Ink
from workbench.text import human
from workbench.text.human import clock_time
from workbench.text.safe import marked_spaces
from workbench.text.width import cell_width
from workbench.views.action_detail import (
    ActionDetail,
    CommandPartRow,
    CommandParts,
    NamedList,
    decider_name,
    decision_route_text,
)
from workbench.views.approvals import FOLDER_GONE, QueueRow, Urgency, waiting_elsewhere_text

BODY_INDENT: Final = 3
MAX_NAME_CELLS: Final = 20
"""Longer names of facts get a line of their own."""
CHOICE_KEYS: Final = {"reject": "r"}
TRUST_KEY: Final = "ctrl+t"
"""Answers a trust question with what is chosen; a letter could be one of a sentence."""
MAX_DETAIL_TITLE_CELLS: Final = 60
MAX_LABEL_CELLS: Final = 32
MIN_TARGET_CELLS: Final = 16
MAX_SESSION_CELLS: Final = 18
MAX_FOLDER_CELLS: Final = 16
_MAX_NARROW_FOLDER_CELLS: Final = 10
_NARROW_CELLS: Final = 72
"""Cells of a row below which its names get less room."""
ColumnCells = Mapping[str, int]
"""The width of columns that are there only where they tell rows apart, by their heads; 0 leaves one out."""
DEFAULT_CELLS: Final[ColumnCells] = {"session": MAX_SESSION_CELLS, "folder": 0}


def body_lines(
    detail: ActionDetail, width: int, ink: Ink, glyphs: Glyphs, *, choice: str | None = None
) -> list[Content]:
    """Return command, parameters, prompt, choices, facts as lines of at most `width` cells."""
    return body_and_parts_table(detail, width, ink, glyphs, choice=choice)[0]


def body_and_parts_table(
    detail: ActionDetail, width: int, ink: Ink, glyphs: Glyphs, *, choice: str | None = None
) -> tuple[list[Content], range]:
    """Return the lines of a body, and which of them are the table of parts; `choice` is under the cursor."""
    room = max(1, width - BODY_INDENT - 1)
    parts = [
        _command_lines(detail, room, ink),
        _output_lines(detail, room, ink, glyphs),
        [] if detail.parts is None else command_part_lines(detail.parts, room, ink, glyphs),
        wrap_plain_text(detail.prompt, room, ink) if detail.prompt else [],
        *(_list_lines(named, room, ink) for named in detail.acts),
        _choice_lines(detail, choice, room, ink, glyphs),
        *(_list_lines(named, room, ink) for named in detail.covers),
        _pair_lines(detail.subject, room, ink),
        _pair_lines(_fact_pairs(detail), room, ink),
    ]
    blanks = Content(" " * BODY_INDENT)
    lines: list[Content] = []
    table = range(0)
    for number, part in enumerate(parts):
        lines += [Content(""), *(blanks + line if line.plain else line for line in part)] if part else []
        table = range(len(lines) - len(part), len(lines)) if number == _PARTS_TABLE else table
    return lines, table


_PARTS_TABLE: Final = 2


def command_height(detail: ActionDetail, width: int, ink: Ink) -> int:
    """Return the row of `body_lines` on which a command ends."""
    return len(_command_lines(detail, max(1, width - BODY_INDENT - 1), ink))


def _output_lines(detail: ActionDetail, room: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    if not detail.output:
        return []
    shown, whole = len(detail.output), detail.output_lines
    rest = f", the last {shown} of {whole} lines; 3 shows all" if shown < whole else ""
    if detail.is_running:
        rest = f" so far, its last {shown} lines" if shown < whole else " so far"
    lines = [
        shorten_line(safe_content(line, ink.of("foreground"), ink), room, glyphs) for line in detail.output
    ]
    return [styled(f"output{rest}", ink.of("muted")), *lines]


def status_bar_lines(detail: ActionDetail, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    """Return what stands above the detail: stale, expired, decided; then each warning with its sentence."""
    lines: list[Content] = []
    if detail.folder.is_other or detail.folder.is_gone:
        head = styled(f" {FOLDER_GONE if detail.folder.is_gone else 'folder'}  ", ink.of("waiting"))
        lines += _sentence_lines(head, [detail.folder.path], width, ink)
    if detail.bar:
        has_when = not detail.is_pending and detail.decided_at is not None
        when = f" {clock_time(detail.decided_at)}" if has_when else ""
        head = styled(
            f" {glyphs.of(detail.decision_sign)} {detail.decision_word}{when}  ",
            ink.sign(detail.decision_sign),
        )
        lines += _sentence_lines(head, detail.bar, width, ink)
    if detail.outcome:
        sign = styled(f"{glyphs.of(detail.sign)} ", ink.sign(detail.sign))
        lines += _sentence_lines(styled(" then  ", ink.of("muted")) + sign, [detail.outcome], width, ink)
    for risk in detail.warnings:
        head = (
            styled(f" {glyphs.of('risk')} ", ink.sign("risk"))
            + safe_content(risk.word, ink.sign("risk"))
            + "  "
        )
        lines += _sentence_lines(head, [risk.sentence], width, ink)
    return lines


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


def _sentence_lines(head: Content, sentences: Sequence[str], width: int, ink: Ink) -> list[Content]:
    indent = min(head.cell_length, max(0, width - 12))
    room = max(1, width - indent - 1)
    texts = [line for sentence in sentences for line in wrap_plain_text(sentence, room, ink)]
    return hanging_lines(shorten_line(head, indent), texts, indent)


def _fact_pairs(detail: ActionDetail) -> list[tuple[str, str]]:
    facts = list(detail.parameters)
    if detail.command is not None and detail.cwd:
        facts.append(("runs in", detail.cwd))
    if detail.why_asked:
        facts.append(("why it asks", detail.why_asked))
    return facts


def _command_lines(detail: ActionDetail, room: int, ink: Ink) -> list[Content]:
    if detail.command is None:
        return []
    style = ink.of("foreground", bold=True)
    risky = [marked_spaces(row.text) for row in detail.parts.rows if row.is_risky] if detail.parts else []
    lines = [
        mark_hidden(_with_risky_parts_marked(styled(line, style), risky, ink), ink)
        for line in safe_lines(marked_spaces(detail.command.removesuffix("\n")))
    ]
    return wrap_code(lines, room)


def _with_risky_parts_marked(line: Content, risky: Sequence[str], ink: Ink) -> Content:
    style = ink.of("failed", bold=True) + Style(underline=True)
    for part in risky:
        match = re.search(rf"(?<![\w./-]){re.escape(part)}(?![\w./-])", line.plain) if part else None
        line = line.stylize(style, *match.span()) if match else line
    return line


def _choice_lines(
    detail: ActionDetail, choice: str | None, room: int, ink: Ink, glyphs: Glyphs
) -> list[Content]:
    lines: list[Content] = []
    has_letters = detail.is_pending and detail.kind != "trust"
    pad = len(TRUST_KEY) if detail.is_pending and detail.kind == "trust" else 1
    for offered in detail.choices:
        is_chosen = offered.key == choice
        sign = glyphs.of("taken" if is_chosen else "left")
        style = ink.of("info", bold=True) if is_chosen else ink.of("foreground")
        letter = CHOICE_KEYS.get(offered.key, "a" if is_chosen else " ") if has_letters else " "
        letter = TRUST_KEY if pad > 1 and is_chosen else letter
        head = styled(f"{letter:<{pad}}  ", ink.of("info", bold=True)) + styled(f"{sign} ", style)
        lines += _sentence_lines(head, [offered.label or offered.key], room, ink)
        # Of one answer at a time: the whole question has to be seen before it is answered.
        if is_chosen and (note := detail.choice_notes.get(offered.key)):
            indent = Content(" " * head.cell_length)
            lines += [line.stylize(ink.of("muted")) for line in _sentence_lines(indent, [note], room, ink)]
    return lines


def _list_lines(named: NamedList, room: int, ink: Ink) -> list[Content]:
    """Return a heading, and its rows with what each is for in a column of its own."""
    labels = [safe_content(label, ink.of("muted"), ink) for label, _ in named.rows]
    width = min(MAX_LABEL_CELLS, room // 2, max((label.cell_length for label in labels), default=0))
    lines = [styled(named.heading, ink.of("faint"))]
    for label, (_, text) in zip(labels, named.rows, strict=True):
        head = shorten_line(label, width)
        head = styled("  ") + head.pad_right(max(0, width - head.cell_length)) + styled("  ")
        code = [mark_hidden(styled(line, _BODY_STYLE), ink) for line in safe_lines(text)]
        body = wrap_code(code, max(1, room - head.cell_length))
        lines += hanging_lines(head, body, head.cell_length)
    return lines


def _pair_lines(pairs: Sequence[tuple[str, str]], room: int, ink: Ink) -> list[Content]:
    lines: list[Content] = []
    longest = max((len(name) for name, _ in pairs if len(name) <= MAX_NAME_CELLS), default=0)
    for name, text in pairs:
        label = safe_content(name, ink.of("muted"), ink)
        head = label.pad_right(max(0, longest - label.cell_length)) + "  "
        texts = safe_lines(text.removesuffix("\n"))
        if len(texts) == 1 and head.cell_length + len(texts[0]) <= room:
            lines.append(head + mark_hidden(Content(texts[0]), ink))
            continue
        body = wrap_code([mark_hidden(styled(line, _BODY_STYLE), ink) for line in texts], max(1, room - 2))
        lines += [shorten_line(head, room), *(Content("  ") + line for line in body)]
    return lines


_BODY_STYLE: Final = Style.null()
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


def session_column_cells(titles: Iterable[str], width: int) -> int:
    """Return the width of the column of sessions: none for one of them, else what the longest title needs."""
    distinct = {title for title in titles if title}
    if len(distinct) < 2:
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
    if row.waited_seconds is not None:
        return styled(human.countdown_text(row.waited_seconds).rjust(5), ink.of("waiting"))
    style = ink.of(URGENCY_COLORS[row.urgency], bold=row.urgency != "calm")
    left = human.time_left_text(row.left_seconds, in_minutes=cell.in_minutes)
    blank = "" if cell.in_minutes else " "
    bar = styled(cell.glyphs.countdown_bar(row.left_seconds), style)
    return bar + Content(blank) + styled(left.rjust(5 + cell.in_minutes), style)


QUEUE_COLUMNS: Final = (
    QueueColumn("folder", MAX_FOLDER_CELLS, _folder_cell),
    QueueColumn("what", 5, _verb_cell),
    QueueColumn("target", None, _target_cell),
    QueueColumn("lines", 8, _lines_cell, drop=2),
    QueueColumn("state", 15, _state_cell, drop=1, narrow_gap=2),
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
    elsewhere: int = 0,
) -> list[Content]:  # fmt: skip
    """Return what an empty queue says: what the filter hides, what was decided last, or what comes here.

    `elsewhere` wait in folders that are not listed. In a replay (`is_past`) it does not say what would come:
    nothing is answered there.
    """
    if is_filtered:
        words = f"Nothing matches “{is_filtered}”. esc clears the filter; / changes it."
        return [Content(""), safe_content(glyphs.line(f"   {words}"), ink.of("muted"))]
    here = " Nothing waits in this folder." if elsewhere else " Nothing waits."
    lines = [Content(""), Content.assemble("   ", (glyphs.of("ok"), ink.sign("ok")), here)]
    if elsewhere:
        sign = (glyphs.of("waiting"), ink.sign("waiting"))
        lines.append(Content.assemble("   ", sign, f" {waiting_elsewhere_text(elsewhere)}."))
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

_PART_GAP: Final = 2
_DOES_HEAD: Final = "what it does"
_MIN_MEANING_CELLS: Final = 22
"""Cells below which what a part does is not put into a column."""


def command_part_lines(parts: CommandParts, room: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    """Return the table of a command's parts, each line at most `room` cells wide."""
    columns = _part_columns(parts.rows, room, ink)
    lines: list[Content] = []
    if parts.rows and columns is not None:
        does = _DOES_HEAD if any(row.does for row in parts.rows) else ""
        heads = f"   {'part'.ljust(columns[0])}  {does.ljust(columns[1])}{'  ' if columns[1] else ''}says"
        lines.append(styled(heads, ink.of("faint")))
    for number, row in enumerate(parts.rows, 1):
        if columns is not None:
            lines += _part_row_lines(number, row, *columns, ink, glyphs)
        else:
            lines += _part_stack_lines(number, row, room, ink, glyphs)
    for note in parts.notes:
        lines += wrap_plain_text(note, room, ink)
    return lines


def _part_columns(rows: Sequence[CommandPartRow], room: int, ink: Ink) -> tuple[int, int] | None:
    """Return the cells of text and meaning; None where a part would not stand on one line beside it."""
    says = max((len(row.says) + 2 for row in rows), default=0)
    left = room - 3 - says - 2 * _PART_GAP
    first = max((_part_text(row, ink).cell_length for row in rows), default=0)
    second = max((len(row.does) for row in rows), default=0)
    first, second = max(first, len("part")), max(second, len(_DOES_HEAD)) if second else 0
    if first + min(second, _MIN_MEANING_CELLS) > left:
        return None
    return first, min(second, left - first)


def _part_row_lines(
    number: int, row: CommandPartRow, first: int, second: int, ink: Ink, glyphs: Glyphs
) -> list[Content]:
    text = _part_text(row, ink)
    does = wrap_plain_text(row.does, second, ink) if row.does else [Content("")]
    head = styled(f"{number:>2} ", ink.of("faint")) + text.pad_right(first - text.cell_length + _PART_GAP)
    head += does[0].stylize(ink.of("muted"))
    says_at = 3 + first + _PART_GAP + (second + _PART_GAP if second else 0)
    lines = [head.pad_right(says_at - head.cell_length) + _part_verdict(row, ink, glyphs)]
    blanks = Content(" " * (3 + first + _PART_GAP))
    return lines + [blanks + line.stylize(ink.of("muted")) for line in does[1:]]


def _part_stack_lines(number: int, row: CommandPartRow, room: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    texts = wrap_code([_part_text(row, ink)], max(8, room - 3))
    lines = hanging_lines(styled(f"{number:>2} ", ink.of("faint")), texts, 3)
    said = _part_verdict(row, ink, glyphs)
    if row.does:
        said += styled("  ", None) + safe_content(row.does, ink.of("muted"), ink)
    return lines + [Content("     ") + line for line in wrap_code([said], max(8, room - 5))]


def _part_text(row: CommandPartRow, ink: Ink) -> Content:
    return safe_content(
        marked_spaces(row.text), ink.of("failed", bold=True) if row.is_risky else ink.of("foreground"), ink
    )


def _part_verdict(row: CommandPartRow, ink: Ink, glyphs: Glyphs) -> Content:
    return styled(f"{glyphs.of(row.sign)} {row.says}", ink.sign(row.sign))
