"""The sessions of the library as last read, their list, and the preview of one."""

# The library draws rows from ids. Ten thousand sessions are read without prompts and settings; what stands
# beside a title is asked for the rows on the screen, through an index of the events that are counted
# (schema 5).

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Final, TypeVar

from msgspec import Struct, field
from textual.content import Content
from textual.strip import Strip

from workbench.domain.rows import DeletionExtent, Session, SessionCounts
from workbench.journal import leases, search, session_queries
from workbench.journal.database import Database
from workbench.journal.journal import Journal
from workbench.journal.statistics_queries import StatisticsScope, statistics_facts
from workbench.journal.usage_queries import session_usage, usage_of_each
from workbench.render.library import library_strip, preview_lines, separator_strip
from workbench.text import human
from workbench.tui.list_page.page import MarkedRows
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.line_view import EMPTY_ROW_INDEX, RowIndex, RowPlacement
from workbench.tui.widgets.text_view import TextView
from workbench.views import library, statistics
from workbench.views.agent_tree import AgentTree
from workbench.views.library import (
    EMPTY_ORDER,
    LibraryRow,
    SearchHit,
    SearchQuery,
    SessionAgents,
    SessionOrder,
    resort_changed,
    search_hit,
    sort_sessions,
)
from workbench.views.lost_drivers import IsDriverGone, listed_session
from workbench.views.session_board import MAX_EVENTS, MAX_QUIET_EVENTS, activity
from workbench.views.session_facets import FacetFilter, facet_filter
from workbench.views.statistics import SessionPreview, session_statistics
from workbench.views.usage import UsagePrice, cost_text, sum_usage

_Row = TypeVar("_Row")
PREVIEW_HITS: Final = 12
"""Places of one session that the preview shows."""


class LibraryQuery(Struct, frozen=True, kw_only=True):
    """What the list is to show."""

    text: str = ""
    workspace: str | None = None
    """Only of this one; None is all."""
    order: int = 0
    opened: frozenset[str] = frozenset()
    """Sessions whose agents are listed below them."""


class LibraryResult(Struct, frozen=True, kw_only=True):
    """What a list shows."""

    rows: RowIndex = EMPTY_ROW_INDEX
    query: SearchQuery = SearchQuery()
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


class _LastSearch(Struct, frozen=True, kw_only=True):
    """What was found last, and by what: as long as nothing is typed, only what changed is looked at again."""

    wanted: LibraryQuery | None = None
    ranking: SessionOrder = EMPTY_ORDER
    waiting: frozenset[str] = frozenset()


class _AllSorted(Struct):
    """All sessions in one order, so that a letter more only leaves some of them out."""

    order: library.LibraryOrder
    ranking: SessionOrder
    waiting: frozenset[str]
    stale: set[str]
    """Sessions that changed since."""


class LibraryModel:
    """The library of a journal. `read`, `find` and what they ask are called in threads, one at a time."""

    def __init__(
        self,
        journal: Journal,
        price: UsagePrice,
        home: str = "",
        monotonic: Callable[[], float] = time.monotonic,
        is_driver_gone: IsDriverGone | None = None,
    ) -> None:
        self._monotonic = monotonic
        self._is_driver_gone = is_driver_gone or partial(leases.is_driver_gone, journal)
        self._journal, self._price, self._home = journal, price, home
        self.sessions: dict[str, Session] = {}
        self._seen: dict[str, str] = {}
        self.waiting: dict[str, int] = {}
        self.glances: dict[str, SessionCounts] = {}
        self.said: dict[str, str] = {}
        """What sessions said last, as far as it was looked at."""
        self.costs: dict[str, str] = {}
        """What sessions cost with all below them, in words, as far as it is known and was looked at."""
        self.tree = AgentTree()
        self._is_read = False
        self._found, self._rows = _LastSearch(), EMPTY_ROW_INDEX
        self._stale: set[str] = set()
        self._sorted: _AllSorted | None = None
        self._archived: frozenset[str] = frozenset()

    @property
    def now(self) -> int:
        """Return the journal's time."""
        return self._journal.now()

    def _listed(self, session: Session) -> Session:
        return listed_session(session, self._is_driver_gone)

    def read(self, changed: Collection[str] | None = None) -> None:
        """Read the rows again.

        Args:
            changed: Sessions that something happened to; None reads all.
        """
        with self._journal.snapshot() as database:
            if changed is None or not self._is_read:
                self.sessions = {
                    session.id: self._listed(session) for session in session_queries.listed_sessions(database)
                }
                self._found, self._stale, self._sorted = _LastSearch(), set(), None
                self.glances, self.costs, self.said = {}, {}, {}
                self._seen = {key: library.title_and_tags(session) for key, session in self.sessions.items()}
            else:
                fresh = {
                    session.id: self._listed(session)
                    for session in session_queries.listed_sessions(database, changed)
                }
                self._seen = {
                    **self._seen,
                    **{key: library.title_and_tags(session) for key, session in fresh.items()},
                }
                self.sessions = {**_without_keys(self.sessions, changed), **fresh}
                # Asked again at once: until then a row would say less than it did.
                again = session_queries.session_counts(
                    database, [key for key in changed if key in self.glances]
                )
                self.glances = {**_without_keys(self.glances, changed), **again}
                self.said = _without_keys(self.said, changed)
                above = {*changed, *(top for key in changed for top in self.tree.above(key))}
                self._read_costs(database, [key for key in above if key in self.glances])
                self._stale |= set(changed)
                if self._sorted is not None:
                    self._sorted.stale |= set(changed)
            self._archived = frozenset(key for key, session in self.sessions.items() if session.archived)
            self.waiting = session_queries.pending_action_counts(database)
        self.tree = AgentTree(self.sessions)
        self._is_read = True

    def find(self, wanted: LibraryQuery) -> LibraryResult:
        """Return what the list is to show."""
        begin = self._monotonic()
        asked = library.parse_query(wanted.text, self._journal.now())
        hits, narrowed = self._holding(asked)
        sieve = library.SessionFilter(asked, hits, narrowed)
        there = wanted.workspace
        tree, is_folded = self.tree, not wanted.text
        total = len(self.sessions) - (len(tree) if is_folded else 0)
        if there is not None:
            total = sum(
                there in (session.workspace, session.listed_in)
                and not (is_folded and tree.is_below(session.id))
                for session in self.sessions.values()
            )
        ids, rows = self._ranked(wanted, sieve).ids, self._rows
        if is_folded and wanted.opened:
            folded, ids = len(ids), tree.with_opened(ids, wanted.opened)
            total += len(ids) - folded
        if ids != rows.ids:
            self._rows = rows = RowIndex.of(ids)
        return LibraryResult(
            rows=rows,
            query=asked,
            hits=hits,
            total=total,
            seconds=self._monotonic() - begin,
            is_capped=sum(hits.values()) >= search.MOST_HITS,
        )

    def _ranked(self, wanted: LibraryQuery, sieve: library.SessionFilter) -> SessionOrder:
        """Sort what passes; where nothing is typed, and nothing else is wanted, only move what changed."""
        last, waiting, seen, tree = self._found, frozenset(self.waiting), self._seen, self.tree
        order = library.LIBRARY_ORDERS[wanted.order % len(library.LIBRARY_ORDERS)]

        def passes(session: Session) -> bool:
            if wanted.workspace not in (None, session.workspace, session.listed_in):
                return False
            # Where words are looked for, what an agent said is found by itself.
            is_folded = not wanted.text and tree.is_below(session.id)
            return not is_folded and sieve.passes(session, seen[session.id])

        if last.wanted == wanted and not wanted.text:
            changed = self._stale | (last.waiting ^ waiting)
            fresh = {key: session for key in changed if (session := self.sessions.get(key)) is not None}
            gone = {key for key, session in fresh.items() if not passes(session)}
            ranking = resort_changed(
                last.ranking, changed, _without_keys(self.sessions, gone), waiting, order
            )
        elif wanted.text and wanted.workspace is None:
            whole = self._all_sorted(order, waiting)
            live, rest = (
                tuple(sieve.passing(part, self.sessions, seen, self._archived))
                for part in (whole.live, whole.rest)
            )
            ranking = SessionOrder(live=live, rest=rest)
        else:
            whole = self._all_sorted(order, waiting)
            live, rest = (
                tuple(key for key in part if passes(self.sessions[key])) for part in (whole.live, whole.rest)
            )
            ranking = SessionOrder(live=live, rest=rest)
        self._found, self._stale = _LastSearch(wanted=wanted, ranking=ranking, waiting=waiting), set()
        return ranking

    def _all_sorted(self, order: library.LibraryOrder, waiting: frozenset[str]) -> SessionOrder:
        known = self._sorted
        if known is None or known.order is not order:
            ranking = sort_sessions(self.sessions.values(), waiting, order)
        elif changed := known.stale | (known.waiting ^ waiting):
            ranking = resort_changed(known.ranking, changed, self.sessions, waiting, order)
        else:
            return known.ranking
        self._sorted = _AllSorted(order, ranking, waiting, set())
        return ranking

    def _holding(self, asked: SearchQuery) -> tuple[dict[str, int], FacetFilter | None]:
        with self._journal.snapshot() as database:
            expression = library.fts_expression(asked, search.word_finder(database))
            hits = (
                search.hits_by_session(database, expression, search.MOST_HITS, asked.options)
                if expression
                else {}
            )
            return hits, facet_filter(asked, partial(session_queries.sessions_with_facets, database))

    def look(self, ids: Iterable[str]) -> None:
        """Read what is said beside the titles of some sessions."""
        missing = [key for key in ids if key not in self.glances]
        if missing:
            with self._journal.snapshot() as database:
                self._read_costs(database, missing)
                self.glances = {**self.glances, **session_queries.session_counts(database, missing)}

    def look_at_said(self, ids: Iterable[str]) -> None:
        """Read what some sessions said last: those on the screen."""
        missing = [key for key in ids if key not in self.said]
        if missing:
            read = {key: self._journal.lasting(key, limit=MAX_QUIET_EVENTS) for key in missing}
            self.said = {**self.said, **{key: activity(events).said for key, events in read.items()}}

    def _read_costs(self, database: Database, ids: Sequence[str]) -> None:
        sums = {key: sum_usage(facts, self._price) for key, facts in usage_of_each(database, ids).items()}
        known = {key: cost_text(used) for key, used in sums.items() if used.cost}
        self.costs = {**_without_keys(self.costs, ids), **known}

    def preview(
        self, session_id: str, asked: SearchQuery, when: Callable[[int, int], str]
    ) -> statistics.SessionPreview | None:
        """Return what is said of a session; None if it is not there any more."""
        session = self.sessions.get(session_id)
        if session is None:
            return None
        with self._journal.snapshot() as database:
            facts = statistics_facts(database, StatisticsScope(session_id=session_id))
            spans = session_queries.activity_spans(database, session_id)
            whole = session_usage(database, session_id)
            made = session_queries.command_texts(database, [session_id]) if session.kind == "ask" else {}
        used = sum_usage(facts.usage, self._price)
        counts = session_statistics(facts.calls, facts.answers, facts.sessions, facts.files, used)
        places, count = self._places(session_id, asked)
        return statistics.session_preview(
            session, self.waiting.get(session_id, 0), counts, spans, home=self._home, when=when,
            places=places, place_count=count, family=sum_usage(whole, self._price),
            agents=len(self.tree.all_below(session_id)), forks=self.tree.forks_below(session_id),
            command=made[session_id].last if session_id in made else "",
            answers=statistics.answers_in_order(facts.answers),
            events=self._journal.lasting(session_id, limit=MAX_EVENTS),
        )  # fmt: skip

    def _places(self, session_id: str, asked: SearchQuery) -> tuple[Sequence[SearchHit], int]:
        with self._journal.snapshot() as database:
            expression = library.fts_expression(asked, search.word_finder(database))
            if not expression:
                return (), 0
            numbers = search.matches_in_session(
                database, expression, session_id, search.MOST_HITS, asked.options
            )
        events = [
            event
            for number in numbers[:PREVIEW_HITS]
            for event in self._journal.window(session_id, number, 1)
        ]
        return [search_hit(event, asked.terms) for event in events], len(numbers)

    def weight(self, session_id: str) -> DeletionExtent:
        """Return what would go with a session."""
        with self._journal.snapshot() as database:
            return session_queries.deletion_extent(database, session_id)


def _without_keys(rows: Mapping[str, _Row], keys: Iterable[str]) -> dict[str, _Row]:
    """Return a copy without some: the screen may be reading the rows that there were."""
    kept = dict(rows)
    for key in keys:
        kept.pop(key, None)
    return kept


_Said = tuple[LibraryRow, str, bool, str]
_MOST_SAID: Final = 1_000
"""Rows of which it is known what they said; with more all are drawn again."""


class LibraryList(MarkedRows):
    """The sessions; rows are made when they are drawn."""

    def __init__(self, shelf: LibraryModel) -> None:
        super().__init__(key="library-list")
        self._shelf = shelf
        self.shown = LibraryResult()
        self.opened: frozenset[str] = frozenset()
        self.now = 0
        self._said: dict[str, _Said] = {}
        """What was drawn of rows: what reads as before is not drawn again."""

    def take(self, shown: LibraryResult) -> None:
        """Show another list; the cursor stays on its session."""
        self.shown, self.now = shown, self._shelf.now
        changed = {key for key, was in self._said.items() if was != self._words_of(key)}
        if len(self._said) > _MOST_SAID:
            self._said.clear()
        self.set_ids(shown.rows, changed if self._said else None)

    def _words_of(self, key: str) -> _Said | None:
        """Return all that is drawn of a session; None if it is not there any more."""
        session = self._shelf.sessions.get(key)
        if session is None:
            return None
        row = library.library_row(
            session, self._shelf.waiting.get(session.id, 0), self._shelf.glances.get(session.id),
            self.shown.query.terms, is_marked=session.id in self.marks,
            agents=self._agents_of(key), is_opened=key in self.opened,
            depth=self._shelf.tree.depth(key) if self.shown.query.is_empty else 0,
            cost=self._shelf.costs.get(key, ""),
        )  # fmt: skip
        said = self._shelf.said.get(key, "")
        return row, human.clock_time(row.when, self.now), bool(self._shelf.costs), said

    def _agents_of(self, key: str) -> SessionAgents | None:
        """Return what is said of the agents that a session began; None where it began none."""
        tree = self._shelf.tree
        below = tree.all_below(key)
        if not below:
            return None
        return SessionAgents(count=len(below), tokens=tree.tokens(key), forks=tree.forks_below(key))

    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        said = self._words_of(placed.row_id)
        if said is None:
            return separator_strip(width, ink(self), glyphs(self))
        self._said[placed.row_id] = said
        return library_strip(
            said[0],
            width,
            ink(self),
            glyphs(self),
            self.now,
            is_cursor=placed.is_cursor,
            has_focus=placed.is_focused,
            has_costs=said[2],
            said=said[3],
        )


class PreviewView(TextView):
    """What is said of the session under the cursor."""

    can_focus = False

    def __init__(self) -> None:
        super().__init__(key="library-preview")
        self._view: SessionPreview | None = None
        self._chosen = 0

    @property
    def place(self) -> SearchHit | None:
        """Return the place that is chosen of those that hold what was typed; the newest at first."""
        return self._view.places[self._chosen] if self._view is not None and self._view.places else None

    def choose(self, step: int) -> str:
        """Choose the next place or the one before, and show it.

        Returns:
            Which it is, in words; empty if there is none.
        """
        if self._view is None or self.place is None:
            return ""
        last = len(self._view.places) - 1
        self._chosen = min(last, max(0, self._chosen + step))
        self.on_width(self.width)
        line = len(self._lines) - 1 - last + self._chosen
        if not self.first_line <= line < self.first_line + self.size.height:
            self.scroll_to_line(max(0, line - self.size.height // 2))
        count, shown = self._view.place_count, self._view.places[self._chosen]
        return f"Match {self._chosen + 1} of {count:,}: {shown.text}"

    @property
    def view(self) -> SessionPreview | None:
        """Return what is shown."""
        return self._view

    def show(self, view: SessionPreview | None) -> None:
        """Show a preview; of the same session the lines keep their place."""
        is_same = view is not None and self._view is not None and view.id == self._view.id
        if view is None or self._view is None or not is_same or self._view.places != view.places:
            self._chosen = 0
        self._view = view
        self.on_width(self.width)
        if not is_same:
            self.scroll_to_line(0)

    def lines_for(self, width: int) -> list[Content]:
        view = self._view
        return [] if view is None else preview_lines(view, width, ink(self), glyphs(self), self._chosen)
