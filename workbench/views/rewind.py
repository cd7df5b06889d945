"""Rows as they stood at any position: a fold with checkpoints, so that going back costs no more than forward.

A checkpoint keeps only the rows that its stretch changed, so memory grows with what happened and not with its
square. Pure: what is folded comes from a function that reads lasting events; nothing is written.
"""

import threading
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Final

from workbench.domain.events import Event
from workbench.domain.fold import Tables, apply

STRETCH: Final = 2_000
"""Lasting events between two checkpoints (DESIGN section 2)."""

Read = Callable[[int, int | None, int], Sequence[Event]]
"""After a position, up to one or to the end, at most so many: the lasting events, in order."""


class Rewind:
    """Rows of one recording at any position. One thread may build ahead while another asks."""

    def __init__(self, first: Tables, begins: int, read: Read) -> None:
        """Start from the rows as they stood at a position.

        Args:
            first: The rows before the recording; never changed.
            begins: The position they stand for.
            read: Where lasting events come from.
        """
        self._first, self._read = first, read
        self._edges = [begins]
        self._deltas: list[Tables] = []
        self._newest = _copied(first)
        self._lock = threading.RLock()

    @property
    def built(self) -> int:
        """Return the position up to which checkpoints are there."""
        return self._edges[-1]

    def build(self) -> bool:
        """Make the next checkpoint; False when fewer events than a stretch are left."""
        with self._lock:
            events = self._read(self._edges[-1], None, STRETCH)
            if len(events) < STRETCH:
                return False
            delta = Tables()
            _fold(events, self._newest, delta)
            self._deltas.append(delta)
            self._edges.append(events[-1].position)
            return True

    def at(self, position: int) -> Tables:
        """Return the rows as they stood at a position; the caller owns them."""
        with self._lock:
            while self._edges[-1] < position and self.build():
                pass
            nearest = max(0, bisect_right(self._edges, position) - 1)
            found = _copied(self._first)
            for delta in self._deltas[:nearest]:
                _merge(found, delta)
            # What is left is less than a stretch: all before is in checkpoints.
            return found.fold(self._read(self._edges[nearest], position, STRETCH))


def _fold(events: Sequence[Event], rows: Tables, delta: Tables) -> None:
    for event in events:
        for row in apply(event, rows):
            rows.put(row)
            delta.put(row)


_PARTS: Final = tuple(Tables.__dataclass_fields__)


def _copied(rows: Tables) -> Tables:
    return Tables(**{part: dict(getattr(rows, part)) for part in _PARTS})


def _merge(rows: Tables, delta: Tables) -> None:
    for part in _PARTS:
        getattr(rows, part).update(getattr(delta, part))
