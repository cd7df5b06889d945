"""Frames that nobody looks at are not drawn: a test of the screen asks for what is on it when it wants to know.

What is asked for is drawn then, whole and from what the widgets hold (`Compositor.render_strips`, `render_line`), so
a test that looks sees what a terminal would show. A frame still happens: its layout is done, what waits for it is
called, and the parts that note what was drawn (the receipts of an action) note the lines that nothing covers. Only
its cells are not put together.
"""

from textual._compositor import Compositor, LayoutUpdate
from textual._context import visible_screen_stack
from textual.geometry import Region

from workbench.tui.approvals.action_detail import DetailView
from workbench.tui.compositor import _uncovered_regions

NOTES_WHAT_IS_DRAWN = (DetailView,)
"""Widgets that keep which of their lines were drawn."""


_render_update, _render_strips = Compositor.render_update, Compositor.render_strips


def _frame_without_cells(compositor, full=False, screen_stack=None, simplify=False):
    """Let the widgets that note what is drawn note it, and return a frame with nothing in it."""
    if full:  # a picture, which somebody looks at
        return _render_update(compositor, full, screen_stack, simplify)
    visible_screen_stack.set([] if screen_stack is None else screen_stack)
    parts = list(compositor._dirty_regions)
    compositor._dirty_regions.clear()
    if not parts:
        return None
    widgets = list(compositor.visible_widgets.items())
    if any(isinstance(widget, NOTES_WHAT_IS_DRAWN) for widget, _ in widgets):
        # From front to back, as the compositor does it: what is covered is not drawn.
        for widget, (region, clip) in widgets:
            shown = region.intersection(clip)
            rows = [overlap for part in parts if (overlap := shown.intersection(part))]
            if rows and isinstance(widget, NOTES_WHAT_IS_DRAWN):
                y, bottom = min(row.y for row in rows), max(row.bottom for row in rows)
                _note_rows(widget, range(y - region.y, bottom - region.y))
            parts = [rest for part in parts for rest in _uncovered_regions(part, shown)]
    return LayoutUpdate([], Region())


def _note_rows(widget, rows):
    """Note the lines in rows of a widget, as drawing them does."""
    for row in rows:
        if row + widget.first_line < widget.line_count:
            widget.note_drawn(row + widget.first_line)


def _seen_strips(compositor, size=None):
    """Return what is on a screen, with the screens that are seen through it behind it, as in a frame."""
    widget = next(iter(compositor.visible_widgets), None)
    if widget is not None and widget.app.screen._compositor is compositor:
        visible_screen_stack.set(widget.app._background_screens)
    return _render_strips(compositor, size)


def leave_undrawn(monkeypatch):
    """Let apps under test put no frame together."""
    monkeypatch.setattr(Compositor, "render_update", _frame_without_cells)
    monkeypatch.setattr(Compositor, "render_strips", _seen_strips)
