"""How the queue is put in order: by what, filtered for which words, with or without what is decided.

Owns when rows may be sorted anew; until then what is shown keeps its place. It draws nothing.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Final

from workbench.tui.panes import waiting
from workbench.tui.panes.shown import QueueShown
from workbench.views import queue
from workbench.views.queue import Order, QueueRow

_ORDERS: Final[tuple[Order, ...]] = ("time", "new", "session")


class Ordering:
    """Order, filter and what is left out of one queue."""

    def __init__(self) -> None:
        self.order: Order = "time"
        self.text_filter = ""
        self.shows_decided = True
        self._must_sort = True
        self._made: queue.Made = {}

    @property
    def words(self) -> str:
        """Return what the title says of it: the filter, else the order."""
        return f"filter “{self.text_filter}”" if self.text_filter else queue.ORDER_WORDS[self.order]

    def next(self) -> str:
        """Take the next order, by time left, newest first, by session; return what it is called."""
        self.order = _ORDERS[(_ORDERS.index(self.order) + 1) % len(_ORDERS)]
        return queue.ORDER_WORDS[self.order]

    def sort_anew(self) -> None:
        """Let the next rows take their places by order, wherever they stood."""
        self._must_sort = True

    def rows(
        self, view: QueueShown, marks: Collection[str], lingering: Collection[str]
    ) -> Sequence[QueueRow]:
        """Return the rows of a view, in the order they would have.

        Args:
            view: the queue as it stands.
            marks: ids that are marked for a batch.
            lingering: ids of decided rows that are not hidden yet.
        """
        return queue.rows(
            view.actions,
            view.sessions,
            view.now,
            order=self.order,
            text_filter=self.text_filter,
            shows_decided=self.shows_decided,
            marks=marks,
            calls=view.calls,
            hunk_sizes=view.hunk_sizes,
            lingering=lingering,
            ruled=view.ruled,
            undone=view.undone,
            made=self._made,
        )

    def held(
        self,
        found: Sequence[QueueRow],
        before: Sequence[str],
        cursor: str | None,
        can_hold_above: Callable[[int], bool],
    ) -> Sequence[QueueRow]:
        """Keep the order that is shown; what is new stands above the cursor only if the list can scroll."""
        if self._must_sort or not before:
            self._must_sort = False
            return found
        return waiting.below_cursor(queue.hold(found, before), set(before), cursor, can_hold_above)
