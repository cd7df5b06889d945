"""How many equal lines around changes fill the view of an action; fixed once they were drawn."""

from collections.abc import Hashable

from workbench.render.diff import HUNK_CONTEXT_LINES
from workbench.tui.keyboard.rule import ARM_SECONDS


class ContextFit:
    """How many equal lines around changes fill the view, for one arrangement of one action.

    Once it has stood on the screen it stays: a row that comes to the queue moves no line under the eye.
    """

    def __init__(self) -> None:
        self.lines = HUNK_CONTEXT_LINES
        self._what: Hashable = None
        self._drawn_at: float | None = None

    def is_open(self, what: Hashable, now: float) -> bool:
        """Return whether the lines may be counted anew."""
        if what != self._what:
            self._what, self._drawn_at = what, None
        return self._drawn_at is None or now - self._drawn_at < ARM_SECONDS

    def was_drawn(self, now: float) -> None:
        """Note that a frame with it is out."""
        if self._drawn_at is None:
            self._drawn_at = now
