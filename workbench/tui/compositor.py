"""Compositors that tell each widget of its first layout, and draw only what changed and is seen."""

# Of a part that changed only what is seen in it is drawn. The framework asks every widget for all of its
# lines at every change, containers behind others included; `tui/compositor.py` asks from front to back and
# stops where a part is covered. A line view hands out its strips without the cache that the framework keeps
# for CSS. A test puts the parts together in a terminal of its own and compares them with the whole after
# every key.
#
# A request for the place of a widget may make the framework build a new map at once. The framework compares
# the next layout with that map. A widget that was mounted or displayed in between is in it already and would
# get no `Resize` and no `Show`. The compositors of all screens compare with the previous layout instead.

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from textual._compositor import ChopsUpdate, Compositor, CompositorMap, ReflowResult
from textual.geometry import Region, Size
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

_MAX_REGIONS: Final = 16
"""With more parts that changed, the rectangle around all of them is drawn."""


class LayoutCompositor(Compositor):
    """A compositor that compares a layout with the one before, not with places asked for in between."""

    def __init__(self) -> None:
        super().__init__()
        self._laid_out: CompositorMap = {}
        """The map of the last layout."""

    def clear(self) -> None:
        """Remove all references to widgets."""
        super().clear()
        self._laid_out = {}

    def reflow(self, parent: Widget, size: Size) -> ReflowResult:
        """Lay out and return the widgets that are hidden, shown and resized since the layout before."""
        before, asked = self._laid_out, self._full_map
        result = super().reflow(parent, size)
        self._laid_out = now = self._full_map
        if asked is before:
            return result
        places = (place.region.intersection(place.clip) for _, place in now.items() ^ before.items())
        self._dirty_regions.update(region for region in places if region)
        resized = {
            widget
            for widget in now.keys() & before.keys()
            if now[widget].region.size != before[widget].region.size
        }
        return ReflowResult(hidden=result.hidden, shown=now.keys() - before.keys(), resized=resized)


class DirtyCompositor(LayoutCompositor):
    """A compositor that asks only the widgets that are seen in what changed, and only for lines of it."""

    _changed: Sequence[Region] = ()

    def render_partial_update(self) -> ChopsUpdate | None:
        """Return what is to be written of the parts that changed."""
        self._changed = tuple(self._dirty_regions)
        try:
            return super().render_partial_update()
        finally:
            self._changed = ()

    def _get_renders(self, crop: Region | None = None) -> Iterable[tuple[Region, Region, list[Strip]]]:
        whole = crop or self.size.region
        parts = self._changed if 0 < len(self._changed) <= _MAX_REGIONS else (whole,)
        open_parts = [part.intersection(whole) for part in parts]
        # From front to back: what widgets cover of a part, those behind them need not draw.
        for widget, (region, clip) in self.visible_widgets.items():
            shown = region.intersection(clip)
            rows = [overlap for part in open_parts if (overlap := shown.intersection(part))]
            if not rows:
                continue
            y, bottom = min(overlap.y for overlap in rows), max(overlap.bottom for overlap in rows)
            # Whole lines: a widget keeps those, and a piece of a line would be cut anew each time.
            place = Region(shown.x, y, shown.width, bottom - y)
            strips = widget.render_lines(place.translate(-region.offset))
            # One that was not yet told its size draws less than its place: what is behind it is seen then.
            if len(strips) >= place.height and all(strip.cell_length >= place.width for strip in strips):
                open_parts = [rest for part in open_parts for rest in _uncovered_regions(part, shown)]
            yield place, place, strips

    def _render_chops(
        self, crop: Region, is_rendered_line: Callable[[int], bool]
    ) -> Sequence[Mapping[int, Strip]]:
        chops = super()._render_chops(crop, is_rendered_line)
        if self._changed:
            return chops
        # All of the screen is written: where nobody draws, it is blank.
        return [
            {x: strip or Strip.blank(end - x) for (x, strip), end in zip(line.items(), cuts[1:], strict=True)}
            for line, cuts in zip(chops, self.cuts, strict=True)
        ]


def _uncovered_regions(part: Region, cover: Region) -> list[Region]:
    """Return what of a part is not covered, as at most four regions."""
    hidden = part.intersection(cover)
    if not hidden:
        return [part]
    regions = (
        Region(part.x, part.y, part.width, hidden.y - part.y),
        Region(part.x, hidden.y, hidden.x - part.x, hidden.height),
        Region(hidden.right, hidden.y, part.right - hidden.right, hidden.height),
        Region(part.x, hidden.bottom, part.width, part.bottom - hidden.bottom),
    )
    return [rest for rest in regions if rest]


class DirtyScreen(Screen[None], inherit_bindings=False):
    """A screen whose parts are drawn without asking what is not in them, and once for its first frame."""

    has_frame: bool = False
    """Whether the first frame is on the screen."""

    def __init__(self, id: str) -> None:  # noqa: A002 the framework's word
        super().__init__(id=id)
        self._compositor = DirtyCompositor()

    @property
    def is_held(self) -> bool:
        """Return whether what is drawn goes nowhere, as while the app starts."""
        return False

    def before_first_frame(self) -> None:
        """Be told before each drawing until the first frame is out."""

    def first_frame_drawn(self) -> None:
        """Be told that the first frame is out."""

    def _compositor_refresh(self) -> None:
        if self.is_held:
            self._repaint_required = True
            return
        if not self.has_frame:
            self.before_first_frame()
        super()._compositor_refresh()
        if not self.has_frame and self.is_current:
            self.has_frame = True
            self.first_frame_drawn()

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        # The terminal says its size three times while the app starts, and it is the same.
        is_again = size is not None and size == self._compositor.size
        if self.has_frame or not is_again or not self.is_held:
            super()._refresh_layout(size, scroll)

    def update_node_styles(self, animate: bool = True) -> None:
        """Apply the styles anew, but not to what was just made with them."""
        if self.has_frame:
            super().update_node_styles(animate)
