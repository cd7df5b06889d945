"""Rules as rows with their detail. Patterns are untrusted text."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace
from textual.content import Content
from textual.strip import Strip

from workbench.render import cells
from workbench.render.cells import (
    Column,
    hanging_lines,
    safe_content,
    safe_lines,
    styled,
    wrap_code,
)
from workbench.render.glyphs import Glyphs
from workbench.render.list_rows import PLACE_CELLS, cursor_column, place_content
from workbench.render.rule_backtest import FIELD_NAME_CELLS
from workbench.render.theme import ColorName, Ink
from workbench.text.human import counted
from workbench.views.rules import (
    PAST_STATES,
    RuleRow,
)

_EFFECT_COLORS: Final[dict[str, ColorName]] = {"allow": "added", "ask": "waiting", "deny": "failed"}
_EMPTY: Final = Content("")
_RULE_COLUMNS: Final = {
    "rule": Column(content=_EMPTY, width=6, gap=0),
    "effect": Column(content=_EMPTY, width=7),
    "calls it is about": Column(content=_EMPTY, grows=True, least=18),
    "where and until": Column(content=_EMPTY, width=32, drop=2, gap=2),
    "runs": Column(content=_EMPTY, width=PLACE_CELLS),
    "used": Column(content=_EMPTY, width=8, align="right"),
    "last": Column(content=_EMPTY, width=14, align="right", drop=3),
}
"""The columns of rules by their heads."""
_LAST_COLUMN: Final = Column(content=Content(" "), gap=0)


def _rule_columns(first: Column, *contents: Content) -> list[Column]:
    pairs = zip(_RULE_COLUMNS.values(), contents, strict=True)
    return [first, *(replace(column, content=content) for column, content in pairs), _LAST_COLUMN]


def rule_strip(
    row: RuleRow, width: int, ink: Ink, glyphs: Glyphs, *, is_cursor: bool, has_focus: bool
) -> Strip:
    """Draw a rule: number, effect, calls, where and until when, where its commands run, uses, last use."""
    is_off = row.state in PAST_STATES
    muted = ink.of("faint" if is_off else "muted")
    effect = row.state if is_off else row.effect
    columns = _rule_columns(
        cursor_column(glyphs, ink, is_cursor=is_cursor, has_focus=True),
        styled(f"{glyphs.of('rule')} {row.id}", ink.sign("rule")),
        styled(effect, muted if is_off else ink.of(_EFFECT_COLORS[row.effect])),
        _pattern_content(row, ink, glyphs, is_off=is_off),
        safe_content(row.holds, muted, ink),
        place_content(row.place, ink, leaves=True, is_over=is_off),
        styled(counted(row.uses, "time"), muted) if row.uses else styled("never", ink.of("faint")),
        styled(row.last_used, muted),
    )
    style = ink.cursor(has_focus=has_focus) if is_cursor else None
    return cells.row_strip(columns, width, style, glyphs=glyphs)


def _pattern_content(row: RuleRow, ink: Ink, glyphs: Glyphs, *, is_off: bool) -> Content:
    name = ink.of("faint") if is_off else None
    pattern = safe_content(row.pattern, name, ink)
    if row.tool:
        pattern = safe_content(f"{row.tool} ", name, ink) + pattern
    return styled(f"{glyphs.of('risk')} ", ink.sign("risk")) + pattern if row.has_warning else pattern


def rule_head_strip(width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    heads = (styled(name, ink.of("faint")) for name in _RULE_COLUMNS)
    columns = _rule_columns(Column(content=Content(" "), gap=0), *heads)
    return cells.row_strip(columns, width, glyphs=glyphs)


def rule_detail_lines(row: RuleRow, width: int, ink: Ink, extra: Sequence[Content] = ()) -> list[Content]:
    """Return everything that is known of a rule, wrapped; `extra` stands below."""
    room, lines = max(8, width - FIELD_NAME_CELLS - 2), list[Content]()
    for name, text in row.facts:
        below = wrap_code([cells.mark_hidden(Content(line), ink) for line in safe_lines(text)], room)
        head = styled(f" {name}".ljust(FIELD_NAME_CELLS), ink.of("muted"))
        lines += hanging_lines(head, below, FIELD_NAME_CELLS)
    return [*lines, *extra]
