"""The graph of a run under keys and mouse: along edges, to problems, folds and other drawings."""

from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Literal

from msgspec.structs import replace
from textual import events
from textual.geometry import Offset

from workbench.graph.fit import GRAPH_KINDS
from workbench.graph.folding import MOST_OPEN_ITEMS
from workbench.graph.navigation import follow_edge, step_beside, urgent_steps
from workbench.graph.pane_picture import GraphStructure
from workbench.tui.pipeline.graph_picture import GraphPicture
from workbench.tui.widgets.line_view import JumpTarget


class GraphView(GraphPicture):
    """The picture, with everything that keys and mouse do to it."""

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self._dragged_from: Offset | None = None
        self._has_dragged = False
        self._is_held = False

    def changed(self) -> None:
        if self.follows_run:
            self._follow()

    def hold_cursor(self, *, is_held: bool) -> None:
        """Let the cursor follow nothing while its step is answered; then go on."""
        self._is_held = is_held
        self.changed()

    # --- the cursor -----------------------------------------------------------------------------

    def put_cursor(self, step: str | None) -> None:
        self.follows_run = False
        super().put_cursor(step)

    def go(self, way: Literal["left", "right", "up", "down"]) -> None:
        """Move along the edges, or among steps beside each other; the way back is remembered."""
        index, picture, drawing = self._at, self.picture, self.drawing
        self.follows_run = False
        if index is None or picture is None or drawing is None:
            return
        if way in ("left", "right"):
            to, self._trail = follow_edge(picture, index, "onward" if way == "right" else "back", self._trail)
        else:
            to = step_beside(picture, index, 1 if way == "down" else -1, self._trail)
        self.put_cursor(drawing.layout.graph.steps[to].id)

    def go_to_end(self, *, is_last: bool) -> None:
        """Go to the first or the last layer."""
        drawing = self.drawing
        if drawing is not None and drawing.index:
            layer, ids = drawing.layout.net.layer, list(drawing.index)
            ends = (max if is_last else min)(layer[: len(ids)])
            self.put_cursor(next(key for index, key in enumerate(ids) if layer[index] == ends))

    def go_to_problem(self, step: int) -> bool:
        """Go to the next or previous step that failed, asks or runs; False without one."""
        drawing = self.drawing
        order = urgent_steps(drawing.layout, self._facts) if drawing is not None else []
        if drawing is None or not order:
            return False
        index, ids = self._at, list(drawing.index)
        here = order.index(index) + step if index in order else (0 if step > 0 else -1)
        self.put_cursor(ids[order[here % len(order)]])
        return True

    def find(self, text: str, *, is_again: bool) -> bool:
        """Go to the next step whose id or name holds a text; False without one."""
        drawing, paint = self.drawing, self.paint
        if drawing is None or paint is None or not text:
            return False
        ids, wanted = list(drawing.index), text.casefold()
        names = {step.id: f"{step.id} {step.name}" for step in drawing.layout.graph.steps}
        hits = [key for key in ids if wanted in self._said(key, names[key]).casefold()]
        if not hits:
            return False
        if self.cursor in hits and is_again:
            self.put_cursor(hits[(hits.index(self.cursor) + 1) % len(hits)])
        elif self.cursor not in hits:
            self.put_cursor(hits[0])
        return True

    def _said(self, key: str, name: str) -> str:
        """Return what a drawn step is found by: a fold by the names of its members too."""
        folded = self.drawing.folded.members.get(key, ()) if self.drawing is not None else ()
        return " ".join((name, *folded))

    def follow(self) -> bool:
        """Keep the cursor on what is most urgent until a key moves it, or stop that."""
        self.follows_run = not self.follows_run
        if self.follows_run:
            self._follow()
        return self.follows_run

    def _follow(self) -> None:
        if self.drawing is not None and not self._is_held:
            super().put_cursor(self.most_urgent(self.drawing, self._facts))

    # --- folds and views --------------------------------------------------------------------------

    def toggle_fold(self) -> bool:
        """Open or close the fold under the cursor; False where there is none."""
        drawing, paint, cursor = self.drawing, self.paint, self.cursor
        if drawing is None or paint is None or cursor is None:
            return False
        key = cursor
        if key not in drawing.folded.members:
            key = cursor.partition("[")[0]
            opened = self._structure.opened
            if key not in opened:
                key = next((fold_id for fold_id in opened if self._is_member(cursor, fold_id)), "")
            if not key:
                return False
        self._open(self._structure.opened ^ {key})
        if self.drawing is not None and cursor not in self.drawing.index:
            inside = next((step_id for step_id in self.drawing.index if step_id.startswith(f"{key}[")), key)
            self.put_cursor(inside)
        return True

    def _is_member(self, step: str, fold_id: str) -> bool:
        name, _, first = fold_id.rpartition(" x")
        return bool(first) and (step == first or step.startswith(name))

    def toggle_folds(self) -> None:
        """Open all folds, or close all of them."""
        drawing = self.drawing
        if drawing is None:
            return
        closed = {key for key in drawing.folded.members if key not in self._structure.opened}
        self._open(frozenset(closed | self._structure.opened) if closed else frozenset())

    def _open(self, opened: frozenset[str]) -> None:
        if self.paint is not None:
            self._opened[self.paint.run.name] = opened
            self._change(replace(self._structure, opened=opened))

    def toggle_implied(self) -> bool:
        """Draw edges that others imply, or hide them; return whether they are drawn."""
        self._change(replace(self._structure, implied=not self._structure.implied))
        return self._structure.implied

    def next_kind(self) -> str:
        """Take the next kind of drawing and return its name."""
        self._wanted = GRAPH_KINDS[(GRAPH_KINDS.index(self._wanted) + 1) % len(GRAPH_KINDS)]
        self._arrange()
        return self._wanted

    @property
    def focus_step(self) -> str | None:
        """Return the step of which only the way is drawn."""
        return self._structure.focus

    @property
    def hops(self) -> int | None:
        """Return how many edges away from it steps are drawn; None is all."""
        return self._structure.hops

    def toggle_focus(self) -> None:
        """Draw only what the cursor's step needs and feeds, or everything again."""
        focus = None if self._structure.focus else self.cursor
        self._change(replace(self._structure, focus=focus, hops=None))

    def change_hops(self, step: int) -> None:
        """Draw more or fewer edges around the step in focus."""
        hops = (self._structure.hops or 3) + step
        self._change(replace(self._structure, hops=max(1, hops)))

    def _change(self, structure: GraphStructure) -> None:
        self._structure = structure
        self._arrange()

    def scroll_items(self, lines: int) -> bool:
        """Scroll the list of the open fold under the cursor; False where there is none."""
        drawing, paint, index = self.drawing, self.paint, self._at
        if drawing is None or paint is None or index is None or index not in self._items:
            return False
        key = drawing.layout.graph.steps[index].id
        last = max(0, len(drawing.folded.members.get(key, ())) - MOST_OPEN_ITEMS)
        self._scrolled[key] = max(0, min(last, self._scrolled.get(key, 0) + lines))
        self._repaint()
        return True

    def jump_targets(self) -> Iterator[JumpTarget]:
        picture, corner = self.picture, self.scroll_offset
        if picture is None:
            return
        left, right = corner.x, corner.x + self.size.width
        for y in self.visible_lines:
            for index in picture.seen(y, left, right):
                x = picture.places[index].sign_x
                if picture.places[index].y == y and left <= x < right:
                    step = picture.layout.graph.steps[index].id
                    yield JumpTarget(Offset(max(0, x - 1 - left), y - corner.y), partial(self._jump_to, step))

    def _jump_to(self, step: str) -> None:
        self.follows_run = False
        self.put_cursor(step)

    # --- the mouse ------------------------------------------------------------------------------

    def _hit(self, event: events.MouseEvent) -> str | None:
        """Return the step under the pointer; the border of a card belongs to it."""
        picture = self.picture
        if picture is None:
            return None
        x, y = event.x + self.scroll_offset.x, event.y + self.scroll_offset.y
        named = (span.step for span in self._names_on(y) if span.x <= x < span.x + len(span.text))
        indices = chain(picture.seen(y, x, x + 1), (step for step in named if step is not None))
        return next((picture.layout.graph.steps[index].id for index in indices), None)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Begin to pull the picture."""
        self._dragged_from, self._has_dragged = event.screen_offset + self.scroll_offset, False
        self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Pull the picture with the pointer."""
        if self._dragged_from is not None and event.button:
            to = self._dragged_from - event.screen_offset
            self._has_dragged = self._has_dragged or to != self.scroll_offset
            self._scroll(to)

    def on_mouse_up(self) -> None:
        """Let go of it."""
        self._dragged_from = None
        self.release_mouse()

    def on_click(self, event: events.Click) -> None:
        """Move to the clicked step; a second click opens it. A pull is no click."""
        step = None if self._has_dragged else self._hit(event)
        if step is not None:
            self.put_cursor(step)
            if event.chain >= 2:
                self.post_message(self.Opened(step))
