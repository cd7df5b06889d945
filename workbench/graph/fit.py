"""Choose the drawing that fits a pane: cards, one band, a wrapped band, shorter names, at last the list."""

# Different names never look the same in a picture. What is cut to the same is cut elsewhere, at last
# numbered; wide characters that ASCII makes equal are numbered too.

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from workbench.graph.band import StepLabel, band_frame, draw_band, draw_cards, draw_wrapped_band
from workbench.graph.canvas import Picture, shorten_name
from workbench.graph.compact_list import draw_list
from workbench.graph.layout import Layout
from workbench.graph.model import (
    LONGEST_NAME,
    Graph,
    GraphStep,
    as_ascii,
    badge_width,
    display_name,
    fact_line_width,
)
from workbench.text.width import cell_width

LABEL_LEVELS = ((24, True), (20, True), (16, True), (20, False), (16, False), (13, False))
"""Cells of a name, and whether room for badges is kept."""
_WHOLE_NAME = 40
"""Cells of a name where there is more room than needed."""
_CUT_AT_ONCE_FROM = 100
"""Steps from which names are cut at once: there is never more room than needed."""
_MOST_CARDS = 12
"""Steps up to which cards may be chosen."""
_MOST_ITEM_LINES = 8
"""Lines of an open matrix."""
_ITEM_WIDTH = 34
_MARK_WIDTH = 13
BadgeWidthRule = Callable[[GraphStep], int]
"""Tells how many cells to reserve for the badges of a step."""


def no_badge_width(_: GraphStep) -> int:
    """Reserve nothing: for a pipeline that does not run."""
    return 0


def fit_picture(
    layout: Layout,
    width: int,
    *,
    slots: BadgeWidthRule = badge_width,
    wanted: Literal["auto", "band", "wrapped", "list", "cards"] = "auto",
    height: int | None = None,
    is_ascii: bool = False,
) -> Picture:
    """Draw a layout so that it fits a pane of `width` cells and, if given, `height` lines.

    `slots` tells the cells to reserve for badges. What is `wanted` is drawn even if it does not fit.
    For ASCII the layout must have been arranged with `apart`.
    """
    full = step_labels(layout.graph, LABEL_LEVELS[0][0], slots, is_ascii=is_ascii)
    few = len(layout.graph.steps) <= _MOST_CARDS
    picture = None
    if wanted == "cards":
        picture = _cards_that_fit(layout, full, None, None, is_ascii=is_ascii)
    elif wanted == "auto" and height is not None and few:
        picture = _cards_that_fit(layout, full, width, height, is_ascii=is_ascii)
    if picture is None and wanted != "list":
        levels = _label_levels(layout.graph, slots, is_ascii=is_ascii)
        picture = _with_whole_names(layout, slots, width, wanted, is_ascii=is_ascii)
        picture = picture or _band_or_wrapped(layout, levels, width, wanted, is_ascii=is_ascii)
    if picture is None and wanted == "band":
        picture = draw_band(
            layout,
            step_labels(layout.graph, LABEL_LEVELS[-1][0], no_badge_width, is_ascii=is_ascii),
            is_ascii=is_ascii,
        )
    if picture is None:
        whole = step_labels(layout.graph, LONGEST_NAME, slots, is_ascii=is_ascii)
        picture = draw_list(layout, whole, width, is_ascii=is_ascii)
    return picture


def step_labels(graph: Graph, room: int, slots: BadgeWidthRule, *, is_ascii: bool = False) -> list[StepLabel]:
    marks = ["" for _ in graph.steps]
    for index, step in enumerate(graph.steps):
        if step.chooses and len(graph.feeds[index]) > 1:
            marks[index] = f"1 of {len(graph.feeds[index])}"
    for index, to in graph.back:
        marks[index] = f"{marks[index]} ← {shorten_name(display_name(graph.steps[to]), _MARK_WIDTH)}".strip()
    names = [display_name(step) for step in graph.steps]
    names = _ascii_names(names) if is_ascii else names
    return [
        _step_label(step, name, mark, room, slots(step), is_ascii=is_ascii)
        for step, name, mark in zip(graph.steps, names, marks, strict=True)
    ]


def _ascii_names(names: Sequence[str]) -> list[str]:
    """Write names in ASCII; those that only then look alike are numbered."""
    numbered: list[str] = []
    known: dict[str, dict[str, int]] = {}
    for name in names:
        plain = as_ascii(name)
        alike = known.setdefault(plain, {})
        number = alike.setdefault(name, len(alike) + 1)
        numbered.append(plain if number == 1 else _numbered_name(plain, number))
    return numbered


def _numbered_name(name: str, number: int) -> str:
    start, cross, count = name.rpartition(" x")
    return (
        f"{start}~{number}{cross}{count}" if start and not count.strip("0123456789?") else f"{name}~{number}"
    )


def _step_label(
    step: GraphStep, name: str, mark: str, room: int, reserved: int, *, is_ascii: bool
) -> StepLabel:
    count = 0 if step.many is None else len(name) - name.rindex(" ")
    kept = shorten_name(name[: len(name) - count], room, is_ascii=is_ascii) + name[len(name) - count :]
    below = min(_MOST_ITEM_LINES, len(step.items or ())) if step.is_open else 0
    return StepLabel(
        name=kept,
        slot=reserved,
        line=max(reserved, fact_line_width(step)) if reserved else 0,
        mark=as_ascii(mark) if is_ascii else mark,
        below=below,
        least=_ITEM_WIDTH if below else 0,
    )


def _label_levels(graph: Graph, slots: BadgeWidthRule, *, is_ascii: bool) -> Iterator[list[StepLabel]]:
    """Write the labels of each level, without the levels at which two different names look the same."""
    different = len({display_name(step) for step in graph.steps})
    for room, has_slots in LABEL_LEVELS:
        labels = step_labels(graph, room, slots if has_slots else no_badge_width, is_ascii=is_ascii)
        if len({label.name for label in labels}) == different:
            yield labels


def _with_whole_names(
    layout: Layout, slots: BadgeWidthRule, width: int, wanted: str, *, is_ascii: bool
) -> Picture | None:
    graph, usual = layout.graph, LABEL_LEVELS[0][0]
    if len(graph.steps) > _CUT_AT_ONCE_FROM or not any(
        usual < cell_width(display_name(step)) for step in graph.steps
    ):
        return None
    uncut, cut = (step_labels(graph, room, slots, is_ascii=is_ascii) for room in (_WHOLE_NAME, usual))
    if wanted != "wrapped" and band_frame(layout, uncut).width <= width:
        return draw_band(layout, uncut, is_ascii=is_ascii)
    if wanted == "band" or (wanted == "auto" and band_frame(layout, cut).width <= width):
        return None
    whole, other = (draw_wrapped_band(layout, labels, width, is_ascii=is_ascii) for labels in (uncut, cut))
    return whole if whole and other and whole.height <= other.height else None


def _band_or_wrapped(
    layout: Layout, levels: Iterable[list[StepLabel]], width: int, wanted: str, *, is_ascii: bool
) -> Picture | None:
    for labels in levels:
        if wanted != "wrapped" and band_frame(layout, labels).width <= width:
            return draw_band(layout, labels, is_ascii=is_ascii)
        picture = draw_wrapped_band(layout, labels, width, is_ascii=is_ascii) if wanted != "band" else None
        if picture is not None:
            return picture
    return None


def _cards_that_fit(
    layout: Layout, full: Sequence[StepLabel], width: int | None, height: int | None, *, is_ascii: bool
) -> Picture | None:
    cards = None
    for has_facts in (True, False):
        cards = draw_cards(layout, full, has_facts=has_facts, is_ascii=is_ascii)
        if cards.width <= (width or cards.width) and cards.height <= (height or cards.height):
            return cards
    return cards if width is None else None
