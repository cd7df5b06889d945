"""A session of the board as two lines: facts and its time axis; what it said last, or the bar of a run."""

from collections.abc import Mapping
from itertools import groupby
from typing import Final, cast

from textual.content import Content
from textual.strip import Strip
from textual.style import Style

from workbench.render import cells, list_rows
from workbench.render.approvals import URGENCY_COLORS
from workbench.render.cells import Column, safe_content, styled
from workbench.render.glyphs import Glyphs
from workbench.render.theme import ColorName, Ink
from workbench.text.human import clock_time, countdown_text, duration_text, time_left_text, token_text
from workbench.views.session_board import Activity, BoardAxis, BoardCell, BoardRow, axis_cells
from workbench.views.status_icons import StatusName

_INDENT: Final = 3
_RUN_BAR_CELLS: Final = 40
_DOES_COLORS: Final[dict[str, ColorName]] = {
    "waits": "waiting", "asks": "waiting", "runs": "info", "works": "info", "ended": "failed",
}  # fmt: skip
_NARROW: Final = {"title": 16, "axis": 14, "does": 7, "what": 0, "left": 8, "asks": 7}
_MEDIUM: Final = {
    "title": 18, "turn": 4, "axis": 24, "does": 7, "what": 0, "left": 8, "files": 9, "asks": 8, "tokens": 6,
}  # fmt: skip
_WIDE: Final = {**_MEDIUM, "title": 26, "axis": 46, "files": 11, "asks": 11, "tokens": 7}
_MIN_WHAT_CELLS, _WIDE_WHAT_CELLS = 20, 26
_MIN_AXIS_CELLS: Final = 10
_CLOCK_CELLS: Final = 5
_ROOMY: Final = frozenset({"turn", "tokens"})
_RIGHT: Final = frozenset({"turn", "left", "tokens"})


def _column_widths(width: int) -> dict[str, int]:
    """Return the cells of each column: what a session does grows, its axis gives way to it, then goes."""
    widths = dict(_NARROW if width < 100 else _MEDIUM if width < 140 else _WIDE)
    if width < 110:
        widths = {name: cells for name, cells in widths.items() if name not in _ROOMY}
    widths["axis"] += min(60 - widths["axis"], max(0, width - 160) // 2)
    over = (
        sum(widths.values())
        + len(widths)
        + 5
        + (_MIN_WHAT_CELLS if width < 140 else _WIDE_WHAT_CELLS)
        - width
    )
    axis = widths.pop("axis") - max(0, over)
    return {**widths, "axis": axis} if axis >= _MIN_AXIS_CELLS else widths


def _board_strip(content: Mapping[str, Content], width: int, style: Style, glyphs: Glyphs) -> Strip:
    widths = _column_widths(width)
    columns = [Column(content=content["sign"], width=2, gap=0)]
    columns += [
        Column(
            content=content[name], width=widths[name], grows=name == "what", least=_MIN_WHAT_CELLS,
            align="right" if name in _RIGHT else "left",
            cut="path" if name == "what" and _ends_in_path(content[name].plain) else "end",
            gap=2 if name in ("axis", "does", "files") else 1,
        )
        for name in _WIDE if name in widths and (name != "left" or content[name].plain)
    ]  # fmt: skip
    return cells.row_strip([*columns, list_rows.END_COLUMN], width, style, glyphs=glyphs)


def _ends_in_path(what: str) -> bool:
    """Return whether a verb is followed by a path, of which the end matters."""
    return list_rows.reads_as_path(what.partition(" ")[2])


def board_head_strip(width: int, ink: Ink, glyphs: Glyphs, axis: BoardAxis) -> Strip:
    """Return the heads over the rows, with the scale of the axis."""
    scale = _scale(axis, _column_widths(width).get("axis", 0))
    heads = {"sign": "", "title": "session", "what": "", "left": "", "axis": scale}
    content = {name: styled(heads.get(name, name), ink.of("faint")) for name in ("sign", *_WIDE)}
    return _board_strip(content, width, ink.on("background"), glyphs)


def _scale(axis: BoardAxis, width: int) -> str:
    """Return whole minutes over their cells, and `now` over the last ones."""
    room = width - len("now") - 1
    text = ""
    for moment in axis.ticks(width, _CLOCK_CELLS):
        at = axis.cell_of(moment, width)
        if len(text) <= at <= room - _CLOCK_CELLS:
            text = text.ljust(at) + clock_time(moment)
    return text.ljust(room + 1) + "now" if width else ""


def board_strip(
    row: BoardRow, width: int, ink: Ink, glyphs: Glyphs, now: int, *, is_cursor: bool, has_focus: bool
) -> Strip:
    """Return the first line of a session."""
    bar = list_rows.cursor_column(glyphs, ink, is_cursor=is_cursor, has_focus=has_focus).content
    tone, muted = ink.of("muted" if row.is_muted else "foreground"), ink.of("muted")
    name = ink.of("muted" if row.is_muted else "foreground", bold=row.is_current or is_cursor)
    does = ink.of(_DOES_COLORS.get(row.does, "added" if row.sign == "ok" else "muted"))
    content = {
        "sign": Content.assemble(bar, (glyphs.of(row.sign), ink.sign(row.sign))),
        "title": Content.assemble(
            list_rows.shown_mark(ink, glyphs, is_shown=row.is_current),
            " " if row.is_current else "",
            list_rows.folder_prefix(row.folder, ink),
            list_rows.agent_sign(ink, glyphs, is_supervised=row.is_supervised),
            safe_content(row.title, name, ink),
        ),
        "turn": styled(str(row.turn or ""), muted),
        "axis": axis_line(
            row.activity, row.axis, now, _column_widths(width).get("axis", 0), ink, glyphs, begun=row.begun
        ),
        "does": styled(row.does, does),
        "what": safe_content(glyphs.target(row.what), tone, ink),
        "left": _time(row, ink),
        "files": list_rows.line_counts(row.counts.added, row.counts.removed, ink, glyphs),
        "asks": _asks(row, ink, glyphs),
        "tokens": styled(token_text(row.tokens) if row.tokens else "", muted),
    }
    style = list_rows.list_row_style(ink, is_cursor=is_cursor, has_focus=has_focus)
    return _board_strip(content, width, style, glyphs)


def axis_line(
    shown: Activity, axis: BoardAxis, now: int, width: int, ink: Ink, glyphs: Glyphs, *, begun: int = 0
) -> Content:
    """Return the marks of a session on a time axis."""
    runs = groupby(axis_cells(shown, axis, now, width, begun))
    return Content("").join(_axis_cells(cell, len(list(run)), ink, glyphs) for cell, run in runs)


def _axis_cells(cell: BoardCell | None, cells: int, ink: Ink, glyphs: Glyphs) -> Content:
    if cell is None:
        return Content(" " * cells)
    match cell.sign:
        case "rests":
            return styled(glyphs.line("─") * cells, ink.of("rule"))
        case "ran" | "waited":
            return styled(glyphs.of(cell.sign) * cells, ink.of("info" if cell.sign == "ran" else "waiting"))
        case "prompt":
            style = ink.of("info")
        case _:
            style = ink.sign(cast("StatusName", cell.sign))
    shown = glyphs.of(cell.sign) if cell.count == 1 else str(cell.count) if cell.count < 10 else "+"
    return styled(shown * cells, style)


def _time(row: BoardRow, ink: Ink) -> Content:
    """Return the time that is left to answer, or for how long it does this."""
    if row.left is not None:
        return styled(
            time_left_text(row.left), ink.of(URGENCY_COLORS[row.urgency], bold=row.urgency != "calm")
        )
    return styled("" if row.elapsed is None else duration_text(row.elapsed), ink.of("muted"))


def _asks(row: BoardRow, ink: Ink, glyphs: Glyphs) -> Content:
    counts: tuple[tuple[StatusName, int], ...] = (
        ("waiting", row.waiting), ("ok", row.counts.approved), ("rejected", row.counts.rejected),
        ("expired", row.counts.expired),
    )  # fmt: skip
    parts = [
        Content.assemble(
            (glyphs.of(name), ink.sign(name)),
            (f" {count}", ink.of("waiting" if name == "waiting" else "muted", bold=name == "waiting")),
        )
        for name, count in counts
        if count
    ]
    return Content(" ").join(parts)


def board_second_strip(
    row: BoardRow, width: int, ink: Ink, glyphs: Glyphs, *, is_cursor: bool, has_focus: bool
) -> Strip:
    """Return the second line of a session: how far its run is, or what it said last."""
    bar = list_rows.cursor_column(glyphs, ink, is_cursor=is_cursor, has_focus=has_focus).content
    line = bar.pad_right(_INDENT - 1)
    room = max(0, width - _INDENT - 1)
    if row.run is not None:
        line += _run_line(row, min(_RUN_BAR_CELLS, room // 3), ink, glyphs)
    elif row.activity.said:
        quoted = safe_content(glyphs.line(f"“{row.activity.said}”"), ink.of("muted", italic=True), ink)
        line += cells.shorten_line(quoted, room, glyphs)
    style = list_rows.list_row_style(ink, is_cursor=is_cursor, has_focus=has_focus)
    return cells.line_strip(line, width, style)


def _run_line(row: BoardRow, width: int, ink: Ink, glyphs: Glyphs) -> Content:
    run = row.run
    assert run is not None
    done = run.done * width // run.total if run.total else 0
    words = f"  {run.done} of {run.total} steps, {countdown_text(run.seconds)}"
    words += f", about {countdown_text(run.to_go)} to go" if run.to_go is not None else ""
    return Content.assemble(
        (glyphs.of("ran") * done, ink.of("added")), (glyphs.of("waited") * (width - done), ink.of("rule")),
        (words, ink.of("muted")),
    )  # fmt: skip
