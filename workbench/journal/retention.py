"""Let exact bytes go when their time is over: some days after the sessions that need them have ended.

Owns `retention.sealed_days` (DESIGN section 2). Events and tables stay as they are, so a crash at any moment
leaves nothing to be mended: a file is there or gone, and what is left goes the next time.
"""

from collections.abc import Iterable
from typing import Final

from workbench.domain.machines import TERMINAL_SESSIONS
from workbench.domain.values import BlobRef
from workbench.journal.delete import SWEPT_AFTER
from workbench.journal.journal import Journal
from workbench.journal.live import LiveTables

CHUNK: Final = 200
"""Files that one transaction removes."""

DAY: Final = 86_400_000_000
"""Microseconds."""

_ENDED: Final = ", ".join(repr(status) for status in sorted(TERMINAL_SESSIONS))
_OVER: Final = (  # nothing but our own words in it, and so below
    "SELECT DISTINCT ref FROM blob_ref JOIN session ON session.id = blob_ref.session_id"  # noqa: S608
    f" WHERE ref GLOB 'sealed:*' AND status IN ({_ENDED}) AND updated_at <= ?"
)
_NEEDED: Final = (
    "SELECT 1 FROM blob_ref LEFT JOIN session ON session.id = blob_ref.session_id"  # noqa: S608
    f" WHERE ref = ? AND (status IS NULL OR status NOT IN ({_ENDED}) OR updated_at > ?) LIMIT 1"
)


def let_go(journal: Journal, days: int, older_than: float = SWEPT_AFTER) -> int:
    """Remove sealed bytes that only sessions need which ended so many days ago.

    Args:
        journal: Where.
        days: Whole days since the end; 0 removes them at once.
        older_than: Seconds since the bytes were stored last: somebody may be about to refer to newer ones.

    Returns:
        How many files were removed.
    """
    before = journal.now() - days * DAY
    with journal.reader.snapshot() as database:
        over = {row[0] for row in database.execute(_OVER, (before,))}
    waiting = [ref for ref in journal.blobs.stale(older_than) if ref in over] if over else []
    removed = 0
    while waiting:
        some, waiting = waiting[:CHUNK], waiting[CHUNK:]
        removed += journal.change(lambda live, some=some: _remove(journal, live, some, before))
    return removed


def _remove(journal: Journal, live: LiveTables, refs: list[BlobRef], before: int) -> int:
    return sum(journal.blobs.remove(ref) for ref in refs if live.value(_NEEDED, ref, before) is None)


def may_be_gone(journal: Journal, refs: Iterable[BlobRef]) -> set[BlobRef]:
    """Return those of some sealed bytes that no session needs any more, so that missing they are no loss."""
    with journal.reader.snapshot() as database:
        return {
            ref
            for ref in refs
            if ref.startswith("sealed:") and not database.execute(_NEEDED, (ref, journal.now())).fetchall()
        }
