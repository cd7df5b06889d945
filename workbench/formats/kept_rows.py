"""Rows of a file that are kept as they came, so that an export in the same format gives them back.

It knows no format. Rows are kept once, in batches of bounded size, as records that nothing shows.
"""

# Facts of a format for which no event has a place (metadata, ids, members that came later) are one class:
# with the row itself all of them stay, in their order, and what is absent stays absent.

from collections.abc import Iterable, Iterator
from typing import Final

from workbench.domain import events as e
from workbench.domain.rows import Session
from workbench.domain.values import Json
from workbench.formats import json_fields as j
from workbench.formats import records as r

MOST_ROWS: Final = 256
MOST_CHARACTERS: Final = 200_000
"""Of the rows of one batch; the row that exceeds it is the last one."""


class RowBatches:
    """Collects the rows of a part of a file."""

    def __init__(self, part: str) -> None:
        self._part = part
        self._rows: list[Json] = []
        self._size = 0

    def add(self, row: Json) -> Iterator[r.KeptRows]:
        """Add a row, and yield the batch that it completes."""
        self._rows.append(row)
        self._size += len(str(row))
        if len(self._rows) >= MOST_ROWS or self._size >= MOST_CHARACTERS:
            yield from self._batch(is_last=False)

    def rest(self) -> Iterator[r.KeptRows]:
        """Yield what is not in a batch yet; a longer file has more rows in it."""
        if self._rows:
            yield from self._batch(is_last=True)

    def _batch(self, *, is_last: bool) -> Iterator[r.KeptRows]:
        rows, self._rows, self._size = self._rows, [], 0
        yield r.KeptRows(part=self._part, rows=rows, is_last=is_last)


def kept_rows(session: Session, events: Iterable[e.Event], origin: str, part: str) -> list[Json]:
    """Return the rows of a part of the file that a session was imported from; none for other sessions."""
    kind = f"{origin}.{part}"
    if session.origin != origin:
        return []
    return [
        row
        for event in events
        if isinstance(event.body, e.Unknown) and event.body.original_kind == kind
        for row in j.as_array(event.body.content)
    ]


def local_events(events: Iterable[e.Event]) -> list[e.Event]:
    """Return what happened to an imported session here."""
    return [event for event in events if event.recorded_at is None]
