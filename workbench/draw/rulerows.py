"""Rows and the detail of place 6, the rules. Pure; patterns are untrusted and pass `text.safe`."""

from collections.abc import Sequence
from typing import Final

from textual.content import Content
from textual.strip import Strip

from workbench.draw import cells
from workbench.draw.cells import Column, content, styled
from workbench.draw.glyphs import Glyphs
from workbench.draw.tokens import Ink, TokenName
from workbench.draw.wrapping import hard_wrap, safe_lines
from workbench.views.rulelist import RuleRow

NAME: Final = 10
_EFFECT: Final[dict[str, TokenName]] = {"allow": "added", "ask": "waiting", "deny": "failed"}


def rule_strip(
    row: RuleRow, width: int, ink: Ink, glyphs: Glyphs, *, is_cursor: bool, has_focus: bool
) -> Strip:
    """Draw a rule: number, effect, pattern, where, origin, uses, last use, end."""
    is_off = row.state in ("expired", "revoked")
    muted = ink.of("faint" if is_off else "muted")
    effect = row.state if is_off else row.effect
    bar = glyphs.of("cursor") if is_cursor else " "
    columns = [
        Column(content=styled(bar, ink.of("info")), gap=0),
        Column(content=styled(f"{glyphs.of('rule')} {row.id}", ink.sign("rule")), width=6, gap=0),
        Column(content=styled(effect, muted if is_off else ink.of(_EFFECT[row.effect])), width=7),
        Column(content=_pattern(row, ink, glyphs, is_off=is_off), grows=True, least=18),
        Column(content=content(row.tool, muted, ink), width=16, drop=5),
        Column(content=content(row.where, muted, ink), width=16, drop=2),
        Column(content=styled(row.origin, muted), width=6, drop=4),
        Column(
            content=styled(f"{row.uses} use{'' if row.uses == 1 else 's'}", muted), width=8, align="right"
        ),
        Column(content=styled(row.last_used or "never", muted), width=15, align="right", drop=3),
        Column(content=styled(row.until, muted), width=16, align="right", drop=1),
        Column(content=Content(" "), gap=0),
    ]
    style = ink.cursor(has_focus=has_focus) if is_cursor else None
    return cells.row(columns, width, style, glyphs=glyphs)


def _pattern(row: RuleRow, ink: Ink, glyphs: Glyphs, *, is_off: bool) -> Content:
    """Return a rule's pattern, behind a mark where something is wrong with it."""
    pattern = content(row.pattern, ink.of("faint") if is_off else None, ink)
    return styled(f"{glyphs.of('risk')} ", ink.sign("risk")) + pattern if row.has_warning else pattern


def rule_heads(width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    """Return the column heads over rules of the same width."""
    faint = ink.of("faint")
    columns = [
        Column(content=Content(" "), gap=0),
        Column(content=styled("rule", faint), width=6, gap=0),
        Column(content=styled("effect", faint), width=7),
        Column(content=styled("calls it is about", faint), grows=True, least=18),
        Column(content=styled("tool", faint), width=16, drop=5),
        Column(content=styled("where", faint), width=16, drop=2),
        Column(content=styled("by", faint), width=6, drop=4),
        Column(content=styled("used", faint), width=8, align="right"),
        Column(content=styled("last", faint), width=15, align="right", drop=3),
        Column(content=styled("until", faint), width=16, align="right", drop=1),
        Column(content=Content(" "), gap=0),
    ]
    return cells.row(columns, width, glyphs=glyphs)


def rule_detail(row: RuleRow, width: int, ink: Ink, extra: Sequence[Content] = ()) -> list[Content]:
    """Return everything that is known of a rule, wrapped."""
    room, lines = max(8, width - NAME - 2), list[Content]()
    for name, text in row.facts:
        below = hard_wrap([cells.mark_hidden(Content(line), ink) for line in safe_lines(text)], room)
        head, blanks = styled(f" {name}".ljust(NAME), ink.of("muted")), Content(" " * NAME)
        lines += [(blanks if at else head) + line for at, line in enumerate(below)]
    return [*lines, *extra]
