"""The items of one matrix of a run, counted as they move: what is next is known without walking all of them.

An item that nothing was said of yet needs no more than its id and its value.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct, field

from workbench.domain.values import Json

ItemState = Literal["pending", "again", "at work", "ended", "broken"]
"""Not begun; failed and to be tried again; running or waiting; over; over in a way that ends a matrix whose
items come one after the other."""
_OPEN: tuple[ItemState, ...] = ("pending", "again")


class MatrixItems(Struct):
    """The items of a matrix, in their order."""

    ids: tuple[str, ...]
    values: Sequence[Json] = ()
    """What each item is; empty as long as this driver has not read the list."""
    counts: dict[ItemState, int] = field(default_factory=dict[ItemState, int])
    """Of all but those of which nothing was said: they are pending."""
    _places: dict[str, int] = field(default_factory=dict[str, int])
    _states: dict[str, ItemState] = field(default_factory=dict[str, ItemState])
    _next: int = 0
    """All before it have begun."""
    _again: list[int] = field(default_factory=list[int])
    """Those before it that may start again, in order."""

    @property
    def is_known(self) -> bool:
        return len(self.values) >= len(self.ids)

    @property
    def at_work(self) -> int:
        return self.counts.get("at work", 0)

    @property
    def is_broken(self) -> bool:
        return self.counts.get("broken", 0) > 0

    def value(self, item_id: str) -> Json:
        place = self._place(item_id)
        return self.values[place] if place is not None and place < len(self.values) else None

    def _place(self, item_id: str) -> int | None:
        if not self._places:
            self._places = {name: number for number, name in enumerate(self.ids)}
        return self._places.get(item_id)

    def note(self, item_id: str, state: ItemState) -> None:
        """Take where an item stands now."""
        place, before = self._place(item_id), self._states.get(item_id)
        if place is None or state == before:
            return
        self._states[item_id] = state
        self.counts[state] = self.counts.get(state, 0) + 1
        if before is not None:
            self.counts[before] -= 1
        if place < self._next:
            self._list_again(place, is_open=state in _OPEN)

    def _list_again(self, place: int, *, is_open: bool) -> None:
        where = bisect_left(self._again, place)
        is_there = where < len(self._again) and self._again[where] == place
        if is_open and not is_there:
            insort(self._again, place)
        elif is_there and not is_open:
            del self._again[where]

    def count_anew(self, states: Mapping[str, ItemState]) -> None:
        """Take where all items stand, as after a later round began."""
        self.counts, self._states, self._again, self._next = {}, {}, [], 0
        for item_id, state in states.items():
            self.note(item_id, state)

    def open_ids(self) -> Iterator[str]:
        """Yield the items that may start, in order; whoever asks stops when it has enough."""
        while self._next < len(self.ids) and not self._is_open(self._next):
            self._next += 1
        for place in list(self._again):
            yield self.ids[place]
        for place in range(self._next, len(self.ids)):
            if self._is_open(place):
                yield self.ids[place]

    def _is_open(self, place: int) -> bool:
        return self._states.get(self.ids[place], "pending") in _OPEN

    def has_ended(self, *, is_stopping: bool) -> bool:
        """Return whether no item goes on; of one that stops at a failure none of the others begins."""
        over = self.counts.get("ended", 0) + self.counts.get("broken", 0)
        going_on = self.at_work + self.counts.get("again", 0)
        return over == len(self.ids) or (is_stopping and self.is_broken and not going_on)
