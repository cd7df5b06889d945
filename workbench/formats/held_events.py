"""Events in the order of their file, some of whose places stay open until more of the file is read.

It keeps the order and the bound, and never looks into an event.
"""

from collections import deque
from collections.abc import Iterator
from typing import Final

from msgspec import Struct, field

from workbench.domain.events import Event

MOST_HELD: Final = 1_000
"""Events that wait behind an open place; with more, the first place is closed with what is known."""


class HeldPlace(Struct, eq=False):
    """Where something about a call will stand; `at` is its time, in microseconds."""

    owner: str
    at: int
    items: list[Event] = field(default_factory=list[Event])
    is_open: bool = True


class HeldEvents:
    """A queue that gives back what stands before its first open place."""

    def __init__(self) -> None:
        self._waiting: deque[Event | HeldPlace] = deque()

    def add(self, item: Event) -> None:
        self._waiting.append(item)

    def open(self, owner: str, time_us: int) -> HeldPlace:
        """Open a place at the end for the events of a call."""
        place = HeldPlace(owner=owner, at=time_us)
        self._waiting.append(place)
        return place

    def taken(self) -> Iterator[Event]:
        """Take out and yield what nothing holds up any more."""
        waiting = self._waiting
        while waiting:
            first = waiting[0]
            if not isinstance(first, HeldPlace):
                waiting.popleft()
                yield first
            elif first.is_open:
                return
            else:
                waiting.popleft()
                yield from first.items

    @property
    def is_empty(self) -> bool:
        return not self._waiting

    @property
    def owner_in_the_way(self) -> str | None:
        """The call whose open place holds up more than may be held, None if there is none."""
        first = self._waiting[0] if len(self._waiting) > MOST_HELD else None
        return first.owner if isinstance(first, HeldPlace) and first.is_open else None
