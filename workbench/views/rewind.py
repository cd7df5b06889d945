"""Rows as they stood at any position: a fold with checkpoints, so that going back costs no more than forward.

A checkpoint keeps only the rows that its stretch changed, so memory grows with what happened and not with its
square. Pure: what is folded, and checkpoints that were stored, come from functions; nothing is written.
"""

import threading
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Final

from workbench.domain.events import Event
from workbench.domain.fold import Tables, apply

STRETCH: Final = 500
"""Lasting events between two checkpoints: what a seek folds, at most."""

Read = Callable[[int, int | None, int], Sequence[Event]]
"""After a position, up to one or to the end, at most so many: the lasting events, in order."""

Stored = tuple[int, Callable[[], Tables]]
"""A position and what reads the rows that changed in the stretch up to it."""


class Rewind:
    """Rows of one recording at any position. One thread may build ahead while another asks."""

    def __init__(
        self,
        first: Tables,
        begins: int,
        read: Read,
        *,
        stored: Sequence[Stored] = (),
        keep: Callable[[int, int, Tables], None] | None = None,
    ) -> None:
        """Start from the rows as they stood at a position.

        Args:
            first: The rows before the recording; never changed.
            begins: The position they stand for.
            read: Where lasting events come from.
            stored: Checkpoints from earlier, in order; each is read when it is needed.
            keep: Is given every checkpoint that is made, and the positions before and after its stretch.
        """
        self._first, self._read, self._keep = first, read, keep
        self._edges = [begins, *(edge for edge, _ in stored)]
        self._deltas: list[Tables | Callable[[], Tables]] = [rows for _, rows in stored]
        self._newest: Tables | None = None
        """The rows at the last checkpoint, from when one is made."""
        self._lock = threading.RLock()

    @property
    def built(self) -> int:
        """Return the position up to which checkpoints are there."""
        return self._edges[-1]

    def build(self) -> bool:
        """Read or make the next checkpoint; False when fewer events than a stretch are left."""
        with self._lock:
            number = next((n for n, delta in enumerate(self._deltas) if not isinstance(delta, Tables)), None)
            if number is None:
                return self._extend(self._read(self._edges[-1], None, STRETCH))
            try:
                self._delta(number)
            except ValueError:
                self._drop_stored()
            return True

    def _extend(self, events: Sequence[Event]) -> bool:
        """Make a checkpoint of the stretch behind the last one; False when these are too few events."""
        if len(events) < STRETCH:
            return False
        newest = self._newest or self._merged(len(self._deltas))
        delta = Tables()
        _fold(events, newest, delta)
        self._newest = newest
        self._deltas.append(delta)
        self._edges.append(events[-1].position)
        if self._keep is not None:
            self._keep(self._edges[-2], self._edges[-1], delta)
        return True

    def at(self, position: int) -> Tables:
        """Return the rows as they stood at a position; the caller owns them."""
        with self._lock:
            try:
                return self._at(position)
            except ValueError:
                self._drop_stored()
                return self._at(position)

    def _at(self, position: int) -> Tables:
        while self._edges[-1] < position:
            events = self._read(self._edges[-1], position, STRETCH)
            if not self._extend(events):
                return self._merged(len(self._deltas)).fold(events)
        nearest = max(0, bisect_right(self._edges, position) - 1)
        # What is left is less than a stretch: all before is in checkpoints.
        return self._merged(nearest).fold(self._read(self._edges[nearest], position, STRETCH))

    def _merged(self, count: int) -> Tables:
        """Return the rows after so many checkpoints.

        Raises:
            ValueError: A stored one does not hold what it should.
        """
        found = _copied(self._first)
        for number in range(count):
            _merge(found, self._delta(number))
        return found

    def _delta(self, number: int) -> Tables:
        delta = self._deltas[number]
        if not isinstance(delta, Tables):
            delta = self._deltas[number] = delta()
        return delta

    def _drop_stored(self) -> None:
        """Forget the stored checkpoints that were not read yet, and make them anew."""
        whole = next((n for n, delta in enumerate(self._deltas) if not isinstance(delta, Tables)), 0)
        del self._deltas[whole:], self._edges[whole + 1 :]
        self._newest = None


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
