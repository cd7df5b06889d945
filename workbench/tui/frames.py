"""What is drawn and written for a part of the screen: the widgets that are in it, the cells that changed.

Owns the knowledge of what the terminal shows: a countdown costs its digits and not its row, which counts over
a slow line. The framework writes a changed part whole, and from the left edge of its widget on; and for every
part it asks every widget on the screen for all of its lines.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from rich.console import Console
from rich.control import Control
from rich.segment import Segment
from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip

_MOST_PARTS: Final = 16
"""With more parts that changed, the rectangle around all of them is drawn."""


class Shown:
    """What the terminal shows, as pieces of rows that were written last and not written over."""

    def __init__(self) -> None:
        self._rows: dict[int, dict[tuple[int, int], Strip]] = {}

    def forget(self) -> None:
        """Know nothing any more: the next piece of every row is written whole."""
        self._rows.clear()

    def put(self, y: int, start: int, stop: int, piece: Strip) -> tuple[int, int]:
        """Note that a piece stands in cells of a row; return which cells of it must be written."""
        row = self._rows.setdefault(y, {})
        before = row.get((start, stop))
        if before is None:
            for first, last in [key for key in row if key[0] < stop and start < key[1]]:
                del row[first, last]
        row[start, stop] = piece
        return (0, piece.cell_length) if before is None else changed_cells(before, piece)


class Parts(Compositor):
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
        parts = self._changed if 0 < len(self._changed) <= _MOST_PARTS else (whole,)
        open_parts = [part.intersection(whole) for part in parts]
        # From front to back: what widgets cover of a part, those behind them need not draw.
        for widget, (region, clip) in self.visible_widgets.items():
            shown = region.intersection(clip)
            rows = [found for part in open_parts if (found := shown.intersection(part))]
            if not rows:
                continue
            y, bottom = min(found.y for found in rows), max(found.bottom for found in rows)
            # Whole lines: a widget keeps those, and a piece of a line would be cut anew each time.
            place = Region(shown.x, y, shown.width, bottom - y)
            strips = widget.render_lines(place.translate(-region.offset))
            # One that was not yet told its size draws less than its place: what is behind it is seen then.
            if len(strips) >= place.height and all(strip.cell_length >= place.width for strip in strips):
                open_parts = [rest for part in open_parts for rest in _without(part, shown)]
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


def _without(part: Region, cover: Region) -> list[Region]:
    """Return what of a part is not covered, as at most four regions."""
    hidden = part.intersection(cover)
    if not hidden:
        return [part]
    found = (
        Region(part.x, part.y, part.width, hidden.y - part.y),
        Region(part.x, hidden.y, hidden.x - part.x, hidden.height),
        Region(hidden.right, hidden.y, part.right - hidden.right, hidden.height),
        Region(part.x, hidden.bottom, part.width, part.bottom - hidden.bottom),
    )
    return [rest for rest in found if rest]


def draw_parts(screen: Screen[Any]) -> None:
    """Have parts of a screen drawn without asking what is not in them; before it is composed."""
    screen._compositor = Parts()  # pyright: ignore[reportPrivateUsage] there is no public door


class Changes(ChopsUpdate):
    """A partial update that writes what the terminal does not show yet."""

    def __init__(self, update: ChopsUpdate, shown: Shown) -> None:
        super().__init__(update.chops, update.spans, update.chop_ends)
        self._shown = shown

    def render_segments(self, console: Console) -> str:
        """Return the escape sequences of the update; what they write is noted as shown."""
        found: list[str] = []
        for y, first, last in self.spans:
            for end, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
                start, stop = max(x, first), min(end, last)
                if strip is None or start >= stop:
                    continue
                piece = strip.crop(start - x, stop - x)
                begin, until = self._shown.put(y, start, stop, piece)
                if begin < until:
                    found.append(Control.move_to(start + begin, y).segment.text)
                    found.append(piece.crop(begin, until).render(console))
        return "".join(found)


def changed_cells(before: Strip, after: Strip) -> tuple[int, int]:
    """Return the first cell that differs and the one behind the last, by whole segments; equal if none."""
    if before.cell_length != after.cell_length:
        return 0, after.cell_length
    old, new = list(before), list(after)
    first = _alike(old, new)
    last = _alike(old[first:][::-1], new[first:][::-1])
    start = sum(segment.cell_length for segment in new[:first])
    return start, after.cell_length - sum(segment.cell_length for segment in new[len(new) - last :])


def _alike(old: Sequence[Segment], new: Sequence[Segment]) -> int:
    """Return how many segments are the same at the beginning."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(old), len(new)))
