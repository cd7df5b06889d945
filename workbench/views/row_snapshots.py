"""The rows of any moment of a session, from snapshots and the events between.

Snapshots keep only the rows that their stretch changed, so that going back costs no more than forward.
"""

import threading
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Final

from workbench.domain.events import Event
from workbench.domain.fold import MemoryTables, apply_event

SNAPSHOT_EVENTS: Final = 500
"""Lasting events between two snapshots: what a seek folds, at most."""
ReadEvents = Callable[[int, int | None, int], Sequence[Event]]
StoredSnapshot = tuple[int, Callable[[], MemoryTables]]
"""A position and what reads the rows that changed in the stretch up to it."""


class RowSnapshots:
    """Rows of one recording at any position. One thread may build ahead while another asks."""

    def __init__(
        self,
        first: MemoryTables,
        begins: int,
        read: ReadEvents,
        *,
        stored: Sequence[StoredSnapshot] = (),
        keep: Callable[[int, int, MemoryTables], None] | None = None,
    ) -> None:
        """Start from the rows as they stood at position `begins`.

        `read` returns lasting events; `stored` are snapshots from earlier, read when needed; `keep` is given
        each new snapshot with the positions before and after its stretch.
        """
        self._first, self._read, self._keep = first, read, keep
        self._edges = [begins, *(edge for edge, _ in stored)]
        self._deltas: list[MemoryTables | Callable[[], MemoryTables]] = [rows for _, rows in stored]
        self._newest: MemoryTables | None = None
        self._lock = threading.RLock()

    @property
    def built(self) -> int:
        """Return the position up to which there are snapshots."""
        return self._edges[-1]

    def build(self) -> bool:
        """Read or make the next snapshot; False when fewer events than a stretch are left."""
        with self._lock:
            number = next(
                (n for n, delta in enumerate(self._deltas) if not isinstance(delta, MemoryTables)), None
            )
            if number is None:
                return self._extend(self._read(self._edges[-1], None, SNAPSHOT_EVENTS))
            try:
                self._delta(number)
            except ValueError:
                self._drop_stored()
            return True

    def _extend(self, events: Sequence[Event]) -> bool:
        if len(events) < SNAPSHOT_EVENTS:
            return False
        newest = self._newest or self._merged(len(self._deltas))
        delta = MemoryTables()
        _fold_events(events, newest, delta)
        self._newest = newest
        self._deltas.append(delta)
        self._edges.append(events[-1].position)
        if self._keep is not None:
            self._keep(self._edges[-2], self._edges[-1], delta)
        return True

    def at(self, position: int) -> MemoryTables:
        """Return the rows as they stood at a position; the caller owns them."""
        with self._lock:
            try:
                return self._at(position)
            except ValueError:
                self._drop_stored()
                return self._at(position)

    def _at(self, position: int) -> MemoryTables:
        while self._edges[-1] < position:
            events = self._read(self._edges[-1], position, SNAPSHOT_EVENTS)
            if not self._extend(events):
                return self._merged(len(self._deltas)).fold(events)
        nearest = max(0, bisect_right(self._edges, position) - 1)
        # What is left is less than a stretch: all before is in checkpoints.
        return self._merged(nearest).fold(self._read(self._edges[nearest], position, SNAPSHOT_EVENTS))

    def _merged(self, count: int) -> MemoryTables:
        """Return the rows after so many snapshots; ValueError if a stored one is damaged."""
        rows = _copy_rows(self._first)
        for number in range(count):
            _merge_rows(rows, self._delta(number))
        return rows

    def _delta(self, number: int) -> MemoryTables:
        delta = self._deltas[number]
        if not isinstance(delta, MemoryTables):
            delta = self._deltas[number] = delta()
        return delta

    def _drop_stored(self) -> None:
        whole = next((n for n, delta in enumerate(self._deltas) if not isinstance(delta, MemoryTables)), 0)
        del self._deltas[whole:], self._edges[whole + 1 :]
        self._newest = None


def _fold_events(events: Sequence[Event], rows: MemoryTables, delta: MemoryTables) -> None:
    for event in events:
        for row in apply_event(event, rows):
            rows.put(row)
            delta.put(row)


_TABLE_NAMES: Final = MemoryTables.__struct_fields__


def _copy_rows(rows: MemoryTables) -> MemoryTables:
    return MemoryTables(**{part: dict(getattr(rows, part)) for part in _TABLE_NAMES})


def _merge_rows(rows: MemoryTables, delta: MemoryTables) -> None:
    for part in _TABLE_NAMES:
        getattr(rows, part).update(getattr(delta, part))
