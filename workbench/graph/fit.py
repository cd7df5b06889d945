"""Choose the drawing that fits: boxes, a band, a wrapped one, shorter names, a list; in a pane the strip."""

# Different names never look the same in a picture. What is cut to the same is cut elsewhere, at last
# numbered; wide characters that ASCII makes equal are numbered too.

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from workbench.graph.band import (
    BandFrame,
    StepLabel,
    band_frame,
    box_frame,
    draw_band,
    draw_boxes,
    draw_wrapped_band,
)
from workbench.graph.canvas import Picture
from workbench.graph.compact_list import draw_list
from workbench.graph.layout import GraphLayout
from workbench.graph.model import LONGEST_NAME, Graph, GraphStep, display_name
from workbench.graph.short_names import shorten_name
from workbench.graph.step_text import HEAD_WIDTH, as_ascii, badge_width
from workbench.graph.strip import NamesRoom, fit_strip
from workbench.text.width import cell_width

LABEL_LEVELS = ((24, True), (20, True), (16, True), (20, False), (16, False), (13, False))
"""Cells of a name, and whether room for badges is kept."""
_WHOLE_NAME = 40
"""Cells of a name where there is more room than needed."""
_CUT_AT_ONCE_FROM = 100
"""Steps from which names are cut at once: there is never more room than needed."""
_MOST_BOXES = 60
"""Steps up to which boxes may be chosen."""
_DETAIL_LEVELS = ((_WHOLE_NAME, 22), (_WHOLE_NAME, 18), (24, 16), (24, 13), (20, 12), (16, 10))
"""Cells of a name, and cells at least of the second line of a box."""
_TALL_LINES = 3
"""Lines below the name of a tall box: its measure, what it handed on, its last words."""
_WIDE_GAP = 5
_TALL_LEVELS = (
    (_WHOLE_NAME, 34, _WIDE_GAP), (_WHOLE_NAME, 28, _WIDE_GAP), (_WHOLE_NAME, 22, _WIDE_GAP),
    (_WHOLE_NAME, 22, 0), (_WHOLE_NAME, 18, _WIDE_GAP), (_WHOLE_NAME, 18, 0), (_WHOLE_NAME, 15, 0),
)  # fmt: skip
"""Cells of a name, cells at least of the other lines of a tall box, and of the gap between columns."""
_MOST_ITEM_LINES = 8
"""Lines of an open matrix."""
_ITEM_WIDTH = 34
_MARK_WIDTH = 13
PictureKind = Literal["auto", "boxes", "band", "wrapped", "list"]
GraphKind = PictureKind | Literal["strip"]
GRAPH_KINDS: tuple[GraphKind, ...] = ("auto", "boxes", "band", "wrapped", "list", "strip")
_STACKED_LEVELS = (
    (_WHOLE_NAME, 14),
    (_WHOLE_NAME, 12),
    (_WHOLE_NAME, 11),
    (_WHOLE_NAME, 10),
    (24, 8),
    (16, 8),
)
"""The same where nothing stands beside a name, and all that is said on the second line."""
BadgeWidthRule = Callable[[GraphStep], int]
"""Tells how many cells to reserve for the badges of a step."""


def no_badge_width(_: GraphStep) -> int:
    """Reserve nothing: for a pipeline that does not run."""
    return 0


def fit_picture(
    layout: GraphLayout,
    width: int,
    *,
    slots: BadgeWidthRule = badge_width,
    wanted: PictureKind = "auto",
    is_ascii: bool = False,
) -> Picture:
    """Draw a layout so that it fits `width` cells, with as many lines as it takes.

    `slots` tells the cells to reserve for badges. What is `wanted` is drawn even if it does not fit.
    For ASCII the layout must have been arranged with `apart`.
    """
    picture = None
    if wanted == "boxes":
        picture = _boxes_that_fit(layout, slots, width, None, is_ascii=is_ascii)
        picture = picture or _narrow_boxes(layout, slots, is_ascii=is_ascii)
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


class FittedGraph(Struct, frozen=True, kw_only=True):
    """What a pane shows of a graph."""

    picture: Picture
    names: NamesRoom | None = None
    """Where the names of what needs a look stand, if the picture has none."""


def fit_pane(
    layout: GraphLayout,
    width: int,
    height: int,
    *,
    wanted: GraphKind = "auto",
    may_scroll: bool = False,
    is_tall: bool = False,
    is_ascii: bool = False,
) -> FittedGraph:
    """Draw a layout for a pane.

    Args:
        layout: what to draw.
        width: cells of the pane.
        height: lines of the pane.
        wanted: what the user chose is drawn even if it does not fit.
        may_scroll: a graph may be larger than the pane; else it becomes a strip.
        is_tall: boxes may have lines for what came of their steps.
        is_ascii: for a terminal without our signs.
    """
    if wanted not in ("auto", "strip"):
        return FittedGraph(picture=fit_picture(layout, width, wanted=wanted, is_ascii=is_ascii))
    few = len(layout.graph.steps) <= _MOST_BOXES
    if wanted == "auto":
        picture = _tall_boxes(layout, width, height, is_ascii=is_ascii) if few and is_tall else None
        if picture is None and few:
            picture = _boxes_that_fit(layout, badge_width, width, height, is_ascii=is_ascii)
        picture = picture or _chips_that_fit(layout, width, height, is_ascii=is_ascii)
        if picture is None and may_scroll and few:
            picture = _narrow_boxes(layout, badge_width, is_ascii=is_ascii)
        if picture is not None:
            return FittedGraph(picture=picture)
    strip = fit_strip(layout, width, height, is_ascii=is_ascii)
    if wanted == "auto" and may_scroll and strip.is_crowded:
        return FittedGraph(picture=fit_picture(layout, width, wanted="list", is_ascii=is_ascii))
    return FittedGraph(picture=strip.picture, names=strip.names)


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
    """Return names in ASCII; different ones that become equal are numbered."""
    numbered: list[str] = []
    numbers_by_name: dict[str, dict[str, int]] = {}
    for name in names:
        plain = as_ascii(name)
        alike = numbers_by_name.setdefault(plain, {})
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
    short_name = shorten_name(name[: len(name) - count], room, is_ascii=is_ascii) + name[len(name) - count :]
    below = min(_MOST_ITEM_LINES, len(step.items or ())) if step.is_open else 0
    return StepLabel(
        name=short_name,
        slot=reserved,
        mark=as_ascii(mark) if is_ascii else mark,
        below=below,
        least=_ITEM_WIDTH if below else 0,
    )


def _label_levels(graph: Graph, slots: BadgeWidthRule, *, is_ascii: bool) -> Iterator[list[StepLabel]]:
    """Yield the labels of each level at which different names look different."""
    different = len({display_name(step) for step in graph.steps})
    for room, has_slots in LABEL_LEVELS:
        labels = step_labels(graph, room, slots if has_slots else no_badge_width, is_ascii=is_ascii)
        if len({label.name for label in labels}) == different:
            yield labels


def _with_whole_names(
    layout: GraphLayout, slots: BadgeWidthRule, width: int, wanted: str, *, is_ascii: bool
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
    layout: GraphLayout, levels: Iterable[list[StepLabel]], width: int, wanted: str, *, is_ascii: bool
) -> Picture | None:
    for labels in levels:
        if wanted != "wrapped" and band_frame(layout, labels).width <= width:
            return draw_band(layout, labels, is_ascii=is_ascii)
        picture = draw_wrapped_band(layout, labels, width, is_ascii=is_ascii) if wanted != "band" else None
        if picture is not None:
            return picture
    return None


def _chips_that_fit(layout: GraphLayout, width: int, height: int, *, is_ascii: bool) -> Picture | None:
    """Draw a band, wrapped if need be, that fits with badges and names as long as possible."""
    if layout.height > height:
        return None
    for labels in _label_levels(layout.graph, badge_width, is_ascii=is_ascii):
        if not all(label.slot for label in labels):
            return None
        frame = band_frame(layout, labels)
        if frame.width <= width and frame.height <= height:
            return draw_band(layout, labels, is_ascii=is_ascii)
        if frame.width > width * height:
            continue
        picture = draw_wrapped_band(layout, labels, width, is_ascii=is_ascii)
        if picture is not None and picture.height <= height:
            return picture
    return None


def _tall_boxes(layout: GraphLayout, width: int, height: int, *, is_ascii: bool) -> Picture | None:
    """Draw boxes with lines for what came of their steps, the widest that fit; None where none do."""
    for room, detail, gap in _TALL_LEVELS:
        labels = step_labels(layout.graph, room, badge_width, is_ascii=is_ascii)
        lined = [_with_detail(label, detail) for label in labels]
        frame = box_frame(layout, lined, lines=_TALL_LINES, least_gap=gap)
        if frame.height > height:
            return None
        if frame.width <= width:
            return draw_boxes(frame, lines=_TALL_LINES, is_ascii=is_ascii)
    return None


def _boxes_that_fit(
    layout: GraphLayout, slots: BadgeWidthRule, width: int, height: int | None, *, is_ascii: bool
) -> Picture | None:
    """Draw boxes that fit, those with a second line first, then those with the longest names."""
    for frame, lines in _box_frames(layout, slots, is_ascii=is_ascii):
        if frame.width <= width and (height is None or frame.height <= height):
            return draw_boxes(frame, lines=lines, is_ascii=is_ascii)
    return None


def _box_frames(
    layout: GraphLayout, slots: BadgeWidthRule, *, is_ascii: bool
) -> Iterator[tuple[BandFrame, int]]:
    """Yield frames with the lines of their boxes below the name."""
    different = len({display_name(step) for step in layout.graph.steps})
    for room, detail in _DETAIL_LEVELS:
        labels = step_labels(layout.graph, room, slots, is_ascii=is_ascii)
        if len({label.name for label in labels}) == different:
            lined = [_with_detail(label, detail) for label in labels]
            yield box_frame(layout, lined, lines=1), 1
    for room, detail in _STACKED_LEVELS:
        labels = step_labels(layout.graph, room, slots, is_ascii=is_ascii)
        if len({label.name for label in labels}) == different:
            stacked = [replace(_with_detail(label, detail), slot=0) for label in labels]
            yield box_frame(layout, stacked, lines=1), 1
    for labels in _label_levels(layout.graph, slots, is_ascii=is_ascii):
        if all(label.slot for label in labels):
            yield box_frame(layout, labels, lines=0), 0


def _with_detail(label: StepLabel, detail: int) -> StepLabel:
    """Return a label whose badges have a line of their own."""
    if not label.slot:
        return label
    return replace(label, slot=HEAD_WIDTH, least=max(label.least, 2 + detail))


def _narrow_boxes(layout: GraphLayout, slots: BadgeWidthRule, *, is_ascii: bool) -> Picture:
    """Draw boxes of one line, to be scrolled."""
    labels = step_labels(layout.graph, LABEL_LEVELS[0][0], slots, is_ascii=is_ascii)
    return draw_boxes(box_frame(layout, labels, lines=0), lines=0, is_ascii=is_ascii)
