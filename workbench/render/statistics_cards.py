"""The cards at the top of the statistics: a value, what it counts, and its days or a note below."""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from msgspec import Struct
from textual.content import Content

from workbench.render.cells import Column, compose_columns, safe_content, styled
from workbench.render.statistics import StatisticsFrame, StatisticsLine

_CARDS_IN_A_ROW: Final = 2
_SPARKS: Final = "▁▂▃▄▅▆▇█"
_ASCII_SPARKS: Final = "_.:-=+*#"


class StatisticsCard(Struct, frozen=True, kw_only=True):
    """One number."""

    value: str
    label: str
    note: str = ""
    days: Sequence[int] = ()
    """The number of each day, shown instead of the note."""


def card_lines(name: str, cards: Sequence[StatisticsCard], frame: StatisticsFrame) -> list[StatisticsLine]:
    """Return cards side by side, two rows of text each and a blank one above."""
    lines: list[StatisticsLine] = []
    for first in range(0, len(cards), _CARDS_IN_A_ROW):
        row = cards[first : first + _CARDS_IN_A_ROW]
        room = (frame.width - 2) // _CARDS_IN_A_ROW - 1
        heads, below = [_head(card, frame) for card in row], [_below(card, room - 1, frame) for card in row]
        key = f"-card-{name}-{first}"
        lines += [(f"{key}-blank", Content("")), (key, _side_by_side(heads, room, frame))]
        lines.append((f"{key}-below", _side_by_side(below, room, frame)))
    return lines


def _side_by_side(parts: Sequence[Content], room: int, frame: StatisticsFrame) -> Content:
    columns = [Column(content=part, width=room, gap=2 if n == 0 else 1) for n, part in enumerate(parts)]
    return compose_columns(columns, frame.width, frame.glyphs)


def _head(card: StatisticsCard, frame: StatisticsFrame) -> Content:
    value = styled(frame.glyphs.line(card.value), frame.ink.of("foreground", bold=True))
    return value + styled(f"  {frame.glyphs.line(card.label)}", frame.ink.of("muted"))


def _below(card: StatisticsCard, room: int, frame: StatisticsFrame) -> Content:
    if any(card.days):
        return _sparks(card.days, room, frame)
    return safe_content(frame.glyphs.line(card.note), frame.ink.of("faint"), frame.ink)


def _sparks(days: Sequence[int], room: int, frame: StatisticsFrame) -> Content:
    line = sparkline(days, room, is_ascii=frame.glyphs.is_ascii)
    nothing = (_ASCII_SPARKS if frame.glyphs.is_ascii else _SPARKS)[0]
    parts = ((is_nothing, "".join(run)) for is_nothing, run in groupby(line, nothing.__eq__))
    return Content("").join(
        styled(text, frame.ink.of("faint" if is_nothing else "info")) for is_nothing, text in parts
    )


def sparkline(values: Sequence[int], width: int, *, is_ascii: bool = False) -> str:
    """Return values in eighths of a cell, neighbours summed where they do not fit; 0 is the baseline."""
    width = max(1, width)
    group = max(1, -(-len(values) // width))
    sums = [sum(values[start : start + group]) for start in range(0, len(values), group)]
    most, sparks = max(sums, default=0), _ASCII_SPARKS if is_ascii else _SPARKS
    last = len(sparks) - 1
    return "".join(sparks[0] if not one else sparks[max(1, round(one * last / most))] for one in sums)
