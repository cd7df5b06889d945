"""The library as it was last read: rows of all sessions, what waits, and what was found by the filter.

Owns what is read again after which event and the questions that are asked in threads. It knows no widget and
writes nothing.
"""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Final, TypeVar

from workbench.domain.counting import Glance, Weight
from workbench.domain.rows import Session
from workbench.journal import library, search
from workbench.journal.counting import Scope, counted
from workbench.journal.journal import Journal
from workbench.records import dataclass
from workbench.tui.widgets.indexed import NO_ROWS, Indexed
from workbench.views import library as views
from workbench.views import query as queries
from workbench.views.places import Place, place
from workbench.views.query import Query
from workbench.views.ranking import NOTHING, Ranking, moved, ranked
from workbench.views.statistics import Price, statistics

_Row = TypeVar("_Row")

PLACES: Final = 12
"""Places of one session that the preview shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the list is to show."""

    text: str = ""
    workspace: str | None = None
    """Only of this one; None is all."""
    order: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a list shows."""

    rows: Indexed = NO_ROWS
    query: Query = Query()
    hits: Mapping[str, int] = field(default_factory=dict[str, int])
    """Places that hold the words, by session."""
    total: int = 0
    """Sessions that there are where the list looks, out of the way or not."""
    seconds: float = 0.0
    is_capped: bool = False
    """The words are in more places than are counted while somebody types: older ones are left out."""

    @property
    def count(self) -> int:
        """Return how many sessions are shown."""
        return len(self.rows.ids) - len(self.rows.captions)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What was found last, and by what: as long as nothing is typed, only what changed is looked at again."""

    wanted: Wanted | None = None
    ranking: Ranking = NOTHING
    waiting: frozenset[str] = frozenset()


class Shelf:
    """The library of a journal. `read`, `find` and what they ask are called in threads, one at a time."""

    def __init__(
        self, journal: Journal, price: Price, home: str = "", monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._monotonic = monotonic
        self._journal, self._price, self._home = journal, price, home
        self.sessions: dict[str, Session] = {}
        self._seen: dict[str, str] = {}
        self.waiting: dict[str, int] = {}
        self.glances: dict[str, Glance] = {}
        self._is_read = False
        self._found, self._rows = _Found(), NO_ROWS
        self._stale: set[str] = set()

    @property
    def now(self) -> int:
        """Return the journal's time."""
        return self._journal.now()

    def read(self, changed: Collection[str] | None = None) -> None:
        """Read the rows again.

        Args:
            changed: Sessions that something happened to; None reads all.
        """
        with self._journal.reader.snapshot() as database:
            if changed is None or not self._is_read:
                self.sessions = {one.id: one for one in library.shelf(database)}
                self._found, self._stale = _Found(), set()
                self.glances = {}
                self._seen = {key: views.seen_of(one) for key, one in self.sessions.items()}
            else:
                fresh = {one.id: one for one in library.shelf(database, changed)}
                self._seen = {**self._seen, **{key: views.seen_of(one) for key, one in fresh.items()}}
                self.sessions = {**_without(self.sessions, changed), **fresh}
                # Asked again at once: until then a row would say less than it did.
                again = library.glances(database, [key for key in changed if key in self.glances])
                self.glances = {**_without(self.glances, changed), **again}
                self._stale |= set(changed)
            self.waiting = library.waiting(database)
        self._is_read = True

    def find(self, wanted: Wanted) -> Shown:
        """Return what the list is to show."""
        begin = self._monotonic()
        asked = queries.parse(wanted.text, self._journal.now())
        hits, narrowed = self._holding(asked)
        sieve = views.Sieve(asked, hits, narrowed)
        there = wanted.workspace
        total = sum(there == one.workspace for one in self.sessions.values()) if there else len(self.sessions)
        ids, rows = self._ranked(wanted, sieve).ids, self._rows
        if ids != rows.ids:
            self._rows = rows = Indexed.of(ids)
        return Shown(
            rows=rows,
            query=asked,
            hits=hits,
            total=total,
            seconds=self._monotonic() - begin,
            is_capped=sum(hits.values()) >= search.MOST_HITS,
        )

    def _ranked(self, wanted: Wanted, sieve: views.Sieve) -> Ranking:
        """Sort what passes; where nothing is typed, and nothing else is wanted, only move what changed."""
        last, waiting, seen = self._found, frozenset(self.waiting), self._seen
        order = views.ORDERS[wanted.order % len(views.ORDERS)]

        def passes(one: Session) -> bool:
            return wanted.workspace in (None, one.workspace) and sieve.passes(one, seen[one.id])

        if last.wanted == wanted and not wanted.text:
            changed = self._stale | (last.waiting ^ waiting)
            fresh = {key: one for key in changed if (one := self.sessions.get(key)) is not None}
            gone = {key for key, one in fresh.items() if not passes(one)}
            found = moved(last.ranking, changed, _without(self.sessions, gone), waiting, order)
        else:
            found = ranked(filter(passes, self.sessions.values()), waiting, order)
        self._found, self._stale = _Found(wanted=wanted, ranking=found, waiting=waiting), set()
        return found

    def _holding(self, asked: Query) -> tuple[dict[str, int], frozenset[str] | None]:
        tools, answers = asked.narrowed.get("tool", ()), asked.narrowed.get("asked", ())
        with self._journal.reader.snapshot() as database:
            expression = queries.match(asked, search.inside(database))
            found = search.sessions(database, expression, search.MOST_HITS) if expression else []
            narrowed = library.facets(database, tools, answers) if tools or answers else None
        return {one.session_id: one.places for one in found}, narrowed

    def look(self, ids: Iterable[str]) -> None:
        """Read what is said beside the titles of some sessions."""
        missing = [key for key in ids if key not in self.glances]
        if missing:
            with self._journal.reader.snapshot() as database:
                self.glances = {**self.glances, **library.glances(database, missing)}

    def preview(self, session_id: str, asked: Query, when: Callable[[int, int], str]) -> views.Preview | None:
        """Return what is said of a session; None if it is not there any more."""
        session = self.sessions.get(session_id)
        if session is None:
            return None
        with self._journal.reader.snapshot() as database:
            facts = counted(database, Scope(session_id=session_id))
            spans = library.spans(database, session_id)
        counts = statistics(facts.calls, facts.answers, facts.sessions, facts.files, self._price)
        places, count = self._places(session_id, asked)
        return views.preview(
            session, self.waiting.get(session_id, 0), counts, spans, home=self._home, when=when,
            places=places, place_count=count,
        )  # fmt: skip

    def _places(self, session_id: str, asked: Query) -> tuple[Sequence[Place], int]:
        with self._journal.reader.snapshot() as database:
            expression = queries.match(asked, search.inside(database))
            if not expression:
                return (), 0
            numbers = search.places(database, expression, session_id, search.MOST_HITS)
        events = [
            event for number in numbers[:PLACES] for event in self._journal.window(session_id, number, 1)
        ]
        return [place(event, asked.terms) for event in events], len(numbers)

    def weight(self, session_id: str) -> Weight:
        """Return what would go with a session."""
        with self._journal.reader.snapshot() as database:
            return library.weight(database, session_id)


def _without(rows: Mapping[str, _Row], keys: Iterable[str]) -> dict[str, _Row]:
    """Return a copy without some: the screen may be reading the rows that there were."""
    found = dict(rows)
    for key in keys:
        found.pop(key, None)
    return found
