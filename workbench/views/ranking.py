"""Where each of ten thousand sessions stands in the library's list, and where one goes that has changed.

Pure. Owns the order, total and the same for whoever sorts anew and whoever moves one; it knows no words and
no rows. What did not change is never sorted again.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from workbench.domain.rows import Session
from workbench.records import dataclass
from workbench.views.library import BUSY, SPLIT, Order

_Rank = tuple[int | str, int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Ids in order: what is live, what rests."""

    live: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids of a list, with a line between both parts where there are both."""
        return (*self.live, SPLIT, *self.rest) if self.live and self.rest else (*self.live, *self.rest)


NOTHING: Final = Ranking()


def rank(session: Session, order: Order) -> _Rank:
    """Return what sessions are sorted by: what the order names, then the newest, then the id."""
    key = order.key(session)
    return -key if order.is_down and isinstance(key, int) else key, -session.updated_at, session.id


def ranked(sessions: Iterable[Session], waiting: Collection[str], order: Order) -> Ranking:
    """Sort sessions; `waiting` are those of which something waits."""
    found = sorted(sessions, key=lambda one: rank(one, order))
    live = [one.id for one in found if _is_live(one, waiting)]
    top = set(live)
    return Ranking(live=tuple(live), rest=tuple(one.id for one in found if one.id not in top))


def moved(
    before: Ranking,
    changed: Collection[str],
    there: Mapping[str, Session],
    waiting: Collection[str],
    order: Order,
) -> Ranking:
    """Put sessions that changed where they belong now; gives what `ranked` would.

    Args:
        before: Where all stood.
        changed: Those that may stand elsewhere, came or went.
        there: All sessions.
        waiting: Those of which something waits now.
        order: The one that `before` has.
    """
    parts = [[key for key in part if key not in changed] for part in (before.live, before.rest)]
    for key in changed:
        session = there.get(key)
        if session is not None:
            part = parts[0 if _is_live(session, waiting) else 1]
            wanted = rank(session, order)
            part.insert(bisect_left(part, wanted, key=lambda other: rank(there[other], order)), key)
    return Ranking(live=tuple(parts[0]), rest=tuple(parts[1]))


def _is_live(session: Session, waiting: Collection[str]) -> bool:
    return session.status in BUSY or session.id in waiting
