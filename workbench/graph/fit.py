"""The drawing that fits a pane: one band, wrapped bands, shorter names, at last the compact list.

Owns the ladder. Labels are shortened only as long as no two of them become equal, and never below 13
cells in a band.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from workbench.graph.band import Label, band, frame
from workbench.graph.cards import cards
from workbench.graph.compact import listed
from workbench.graph.facts import as_ascii, line_slot, slot
from workbench.graph.layout import Layout
from workbench.graph.model import LONGEST_NAME, Graph, Step, shown
from workbench.graph.picture import Picture, cut_name
from workbench.graph.wrap import wrapped
from workbench.text.width import cells

LEVELS = ((24, True), (20, True), (16, True), (20, False), (16, False), (13, False))
"""Cells of a name, and whether room for badges is kept."""
_WHOLE = 40
"""Cells of a name where there is more room than needed."""
_LARGE = 100
"""Steps from which names are cut at once: there is never more room than needed."""
_CARDS = 12
"""Steps up to which cards may be chosen."""
_ITEMS = 8
"""Lines of an open matrix."""
_ITEM_CELLS = 34
_MARK = 13

Slots = Callable[[Step], int]
"""Tells how many cells to reserve for the badges of a step."""


def no_slots(_: Step) -> int:
    """Reserve nothing: for a pipeline that does not run."""
    return 0


def fit(
    layout: Layout,
    width: int,
    *,
    slots: Slots = slot,
    wanted: Literal["auto", "band", "wrapped", "list", "cards"] = "auto",
    height: int | None = None,
    is_ascii: bool = False,
) -> Picture:
    """Draw a layout so that it fits a pane.

    Args:
        layout: What to draw.
        width: Cells of the pane.
        slots: Cells to reserve for badges; by default what a step may need while it lives.
        wanted: A kind of drawing that the user chose. It is drawn even if it does not fit.
        height: Lines of the pane; given, few steps become cards where there is room.
        is_ascii: Draw in ASCII; the layout must have been arranged with `apart`.
    """
    full = labels(layout.graph, LEVELS[0][0], slots, is_ascii=is_ascii)
    few = len(layout.graph.steps) <= _CARDS
    found = None
    if wanted == "cards":
        found = _cards(layout, full, None, None, is_ascii=is_ascii)
    elif wanted == "auto" and height is not None and few:
        found = _cards(layout, full, width, height, is_ascii=is_ascii)
    if found is None and wanted != "list":
        rungs = _rungs(layout.graph, slots, is_ascii=is_ascii)
        found = _whole(layout, slots, width, wanted, is_ascii=is_ascii)
        found = found or _in_bands(layout, rungs, width, wanted, is_ascii=is_ascii)
    if found is None and wanted == "band":
        found = band(
            layout, labels(layout.graph, LEVELS[-1][0], no_slots, is_ascii=is_ascii), is_ascii=is_ascii
        )
    if found is None:
        whole = labels(layout.graph, LONGEST_NAME, slots, is_ascii=is_ascii)
        found = listed(layout, whole, width, is_ascii=is_ascii)
    return found


def labels(graph: Graph, room: int, slots: Slots, *, is_ascii: bool = False) -> list[Label]:
    """Write the labels of all steps in at most `room` cells each, plus what is reserved for badges."""
    marks = ["" for _ in graph.steps]
    for at, step in enumerate(graph.steps):
        if step.chooses and len(graph.feeds[at]) > 1:
            marks[at] = f"1 of {len(graph.feeds[at])}"
    for at, to in graph.back:
        marks[at] = f"{marks[at]} ↩ {cut_name(shown(graph.steps[to]), _MARK)}".strip()
    names = [shown(step) for step in graph.steps]
    names = _in_ascii(names) if is_ascii else names
    return [
        _label(step, name, mark, room, slots(step), is_ascii=is_ascii)
        for step, name, mark in zip(graph.steps, names, marks, strict=True)
    ]


def _in_ascii(names: Sequence[str]) -> list[str]:
    """Write names in ASCII; those that only then look alike are numbered."""
    found: list[str] = []
    known: dict[str, dict[str, int]] = {}
    for name in names:
        plain = as_ascii(name)
        alike = known.setdefault(plain, {})
        number = alike.setdefault(name, len(alike) + 1)
        found.append(plain if number == 1 else _numbered(plain, number))
    return found


def _numbered(name: str, number: int) -> str:
    """Put a number behind a name, before the count of a fold."""
    start, cross, count = name.rpartition(" x")
    return (
        f"{start}~{number}{cross}{count}" if start and not count.strip("0123456789?") else f"{name}~{number}"
    )


def _label(step: Step, name: str, mark: str, room: int, reserved: int, *, is_ascii: bool) -> Label:
    count = 0 if step.many is None else len(name) - name.rindex(" ")
    kept = cut_name(name[: len(name) - count], room, is_ascii=is_ascii) + name[len(name) - count :]
    below = min(_ITEMS, len(step.items or ())) if step.is_open else 0
    return Label(
        name=kept,
        slot=reserved,
        line=max(reserved, line_slot(step)) if reserved else 0,
        mark=as_ascii(mark) if is_ascii else mark,
        below=below,
        least=_ITEM_CELLS if below else 0,
    )


def _rungs(graph: Graph, slots: Slots, *, is_ascii: bool) -> Iterator[list[Label]]:
    """Write the labels of each level, without the levels at which two different names look the same."""
    different = len({shown(step) for step in graph.steps})
    for room, has_slots in LEVELS:
        found = labels(graph, room, slots if has_slots else no_slots, is_ascii=is_ascii)
        if len({label.name for label in found}) == different:
            yield found


def _whole(layout: Layout, slots: Slots, width: int, wanted: str, *, is_ascii: bool) -> Picture | None:
    """Draw long names whole, where that takes no more lines than with names that are cut."""
    graph, usual = layout.graph, LEVELS[0][0]
    if len(graph.steps) > _LARGE or not any(usual < cells(shown(step)) for step in graph.steps):
        return None
    found, cut = (labels(graph, room, slots, is_ascii=is_ascii) for room in (_WHOLE, usual))
    if wanted != "wrapped" and frame(layout, found).width <= width:
        return band(layout, found, is_ascii=is_ascii)
    if wanted == "band" or (wanted == "auto" and frame(layout, cut).width <= width):
        return None
    whole, other = (wrapped(layout, one, width, is_ascii=is_ascii) for one in (found, cut))
    return whole if whole and other and whole.height <= other.height else None


def _in_bands(
    layout: Layout, rungs: Iterable[list[Label]], width: int, wanted: str, *, is_ascii: bool
) -> Picture | None:
    for rung in rungs:
        if wanted != "wrapped" and frame(layout, rung).width <= width:
            return band(layout, rung, is_ascii=is_ascii)
        found = wrapped(layout, rung, width, is_ascii=is_ascii) if wanted != "band" else None
        if found is not None:
            return found
    return None


def _cards(
    layout: Layout, full: Sequence[Label], width: int | None, height: int | None, *, is_ascii: bool
) -> Picture | None:
    """Draw cards, with facts if there is room; None where even the small ones are too large."""
    found = None
    for has_facts in (True, False):
        found = cards(layout, full, has_facts=has_facts, is_ascii=is_ascii)
        if found.width <= (width or found.width) and found.height <= (height or found.height):
            return found
    return found if width is None else None
