"""`workbench sessions list, search`: find sessions by filters and by words, newest first."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import get_args

from msgspec import Struct
from msgspec.structs import replace

from workbench.cli.arguments import OptionHolder, add_free_words, add_json_option
from workbench.cli.console import Console
from workbench.cli.context import as_listed, short_id
from workbench.cli.errors import EXIT_OK, UsageError
from workbench.cli.journal_access import open_journal
from workbench.cli.row_json import JsonFields, iso_time, session_json
from workbench.cli.rows import clock_time, session_line
from workbench.domain.machines import LOST, SessionStatus
from workbench.domain.rows import Session
from workbench.domain.values import SYSTEM_SESSION, SessionKind
from workbench.effects.clock import SystemClock
from workbench.effects.files import workspace_path
from workbench.journal import search, session_queries
from workbench.journal.journal import Journal
from workbench.journal.search import SessionMatches
from workbench.text.human import SECOND_MICROS, counted, parse_iso_time
from workbench.text.safe import one_line
from workbench.views import library
from workbench.views.library import SearchHit, SearchQuery, search_hit
from workbench.views.session_facets import facet_filter
from workbench.views.status_icons import told_status

HYPHEN_HELP = "-la is searched for as it is, -“a phrase” and -status:paused exclude"
LIST_EXAMPLE = "workbench sessions list --status paused --json"


def configure_list(parser: ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="of every workspace")
    add_json_option(parser, "print a JSON array")
    add_filter_options(parser)


def execute_list(options: Namespace, console: Console) -> int:
    filters = parse_filters(options)
    workspace = None if options.all else workspace_path(options.directory)
    with open_journal(expires_due=True) as journal:
        page = find_sessions(journal, replace(filters, limit=filters.limit + 1), workspace)
        has_more, page = len(page) > filters.limit, page[: filters.limit]
        with journal.snapshot() as database:
            asks = Counter(session_queries.pending_action_counts(database))
        if not page:
            require_status(journal, filters)
        nothing, now = _empty_list_text(journal, workspace) if not page else "", journal.now()
        keys = {session.id: short_id(journal, session.id) for session in page}
    width = max(map(len, keys.values()), default=0)
    rows = [
        session_line(session, keys[session.id].ljust(width), asks[session.id], console.signs, now)
        for session in page
    ]
    facts = [session_json(session, asks[session.id]) for session in page]
    console.result(facts, rows or [nothing], is_json=options.json)
    if has_more and page and not options.json:
        console.note("More match: --offset and --limit show them, --search and the filters narrow it.")
    return EXIT_OK


def _empty_list_text(journal: Journal, workspace: str | None) -> str:
    if any(session.id != SYSTEM_SESSION for session in journal.sessions(workspace=workspace, limit=2)):
        return "Nothing matches."
    count = sum(session.id != SYSTEM_SESSION for session in journal.sessions())
    if not count:
        return "No session yet."
    others = "1 is elsewhere" if count == 1 else f"{count:,} are elsewhere"
    return f"No session of this workspace yet; {others}, --all shows them."


SEARCH_EXAMPLE = """workbench sessions search rename handler
workbench sessions search --here '"by hand" status:paused -status:failed since:oct tag:release'
workbench sessions search rm -rf -tool:read_file"""
PLACES_SHOWN = 3
"""Places of one session that are shown."""


def configure_search(parser: ArgumentParser) -> None:
    add_free_words(
        parser,
        "words",
        "words, “a phrase”, and status: model: provider: in: tag: since: until: origin: is: tool: asked:;"
        f" {HYPHEN_HELP}",
    )
    parser.add_argument("--here", action="store_true", help="only of this workspace")
    parser.add_argument("--limit", type=int, default=20, metavar="N", help="at most N sessions (default: 20)")
    add_json_option(parser, "print a JSON array")


def execute_search(options: Namespace, console: Console) -> int:
    query = library.parse_query(" ".join(options.words), SystemClock().now())
    if query.problems:
        raise UsageError(
            "nothing was searched", "; ".join(query.problems), "write dates as 2026-11-21, 7d, oct"
        )
    if options.limit < 1:
        raise UsageError(
            "nothing was searched",
            f"{options.limit} is not a number from 1 on",
            "see workbench sessions search --help",
        )
    workspace = workspace_path(options.directory) if options.here else None
    with open_journal() as journal:
        hits = {hit.session_id: hit for hit in _search_hits(journal, query)}
        page = _result_page(journal, query, hits, workspace, options.limit)
        rows = [(item, hits.get(item.id), search_places(journal, item.id, query)) for item in page]
        now, keys = journal.now(), [short_id(journal, item.id) for item in page]
    lines = [line for key, hit in zip(keys, rows, strict=True) for line in _hit_lines(console, key, hit, now)]
    facts = [_hit_json(session, matches, places) for session, matches, places in rows]
    return console.result(facts, lines or ["Nothing matches."], is_json=options.json)


def _search_hits(journal: Journal, query: SearchQuery) -> list[SessionMatches]:
    with journal.snapshot() as database:
        expression = library.fts_expression(query, search.word_finder(database))
        return search.matching_sessions(database, expression, options=query.options) if expression else []


def _result_page(
    journal: Journal, query: SearchQuery, hits: dict[str, SessionMatches], workspace: str | None, limit: int
) -> list[Session]:
    sessions = (session for session in _sessions_of(journal, workspace) if session.id != SYSTEM_SESSION)
    return page_of_sessions(
        sessions_with_facets(journal, query, sessions),
        SessionFilters(query=query, archived=None, limit=limit),
        hits,
    )


def search_places(
    journal: Journal, session_id: str, query: SearchQuery, most: int = PLACES_SHOWN
) -> Sequence[SearchHit]:
    """Return the newest places of a session that hold what was asked for."""
    with journal.snapshot() as database:
        expression = library.fts_expression(query, search.word_finder(database))
        if not expression:
            return ()
        numbers = search.matches_in_session(database, expression, session_id, most, query.options)
    events = [event for number in numbers for event in journal.window(session_id, number, 1)]
    return [search_hit(event, query.terms) for event in events]


def _hit_json(session: Session, matches: SessionMatches | None, places: Sequence[SearchHit]) -> JsonFields:
    return {
        **session_json(session),
        "places": matches.places if matches else 0,
        "matches": [
            {
                "sequence_number": place.sequence_number,
                "at": iso_time(place.at),
                "who": place.who,
                "text": place.text,
            }
            for place in places
        ],
    }


def _hit_lines(
    console: Console, key: str, hit: tuple[Session, SessionMatches | None, Sequence[SearchHit]], now: int
) -> Iterable[str]:
    session, matches, places = hit
    yield session_line(session, key, 0, console.signs, now)
    for place in places:
        yield f"    {place.who:<6} {clock_time(place.at, now)}  {place.text}"
    if matches is not None and matches.places > len(places):
        yield f"    and {counted(matches.places - len(places), 'more place')}"


DEFAULT_LIMIT = 100
_SORT_KEYS: Mapping[str, Callable[[Session], int | str]] = {
    "updated": lambda session: session.updated_at,
    "created": lambda session: session.created_at,
    "title": lambda session: session.title.casefold(),
    "tokens": lambda session: session.usage.total_tokens,
    "status": told_status,
    "model": lambda session: session.model.casefold(),
    "workspace": lambda session: session.workspace,
}


class SessionFilters(Struct, frozen=True, kw_only=True):
    """What a list is narrowed to and how it is ordered; empty parts narrow nothing."""

    status: str | None = None
    model: str | None = None
    provider: str | None = None
    origin: str | None = None
    kind: str | None = None
    tag: str | None = None
    archived: bool | None = False
    """None shows both."""
    query: SearchQuery = SearchQuery()
    since: int | None = None
    until: int | None = None
    sort: str = "updated"
    is_ascending: bool = False
    limit: int = DEFAULT_LIMIT
    offset: int = 0


_STATUS_HELP = "only in this status, such as paused; of imported ones also in the word of their file"


def add_filter_options(parser: OptionHolder, statuses: str = _STATUS_HELP) -> None:
    """Add the filters; `statuses` is the text of `--status`."""
    parser.add_argument(
        "--status",
        metavar="STATUS",
        help=statuses,
    )
    parser.add_argument("--model", metavar="NAME", help="only of this model")
    parser.add_argument("--provider", metavar="NAME", help="only of this provider")
    parser.add_argument(
        "--origin", metavar="NAME", help="only from this program, such as claude-code or workbench"
    )
    parser.add_argument(
        "--kind",
        choices=get_args(SessionKind),
        metavar="KIND",
        help="only of this kind, such as chat or import",
    )
    parser.add_argument("--tag", metavar="TAG", help="only with this tag")
    parser.add_argument("--archived", action="store_true", help="archived sessions only")
    parser.add_argument(
        "--search",
        metavar="TEXT",
        help=f"only with these words in title, tags, prompts, replies, commands, paths; {HYPHEN_HELP}",
    )
    parser.add_argument("--from", dest="since", metavar="DATE", help="changed at or after it, ISO 8601")
    parser.add_argument("--to", dest="until", metavar="DATE", help="changed before its end, ISO 8601")
    parser.add_argument(
        "--sort", choices=tuple(_SORT_KEYS), default="updated", help="the key to sort by (default: updated)"
    )
    parser.add_argument("--order", choices=("asc", "desc"), default="desc", help="the order (default: desc)")
    parser.add_argument(
        "--limit", type=_parse_count, default=DEFAULT_LIMIT, metavar="N", help="at most N (default: 100)"
    )
    parser.add_argument("--offset", type=_parse_count, default=0, metavar="N", help="skip the first N")


def parse_filters(options: Namespace) -> SessionFilters:
    """Return the filters that options ask for."""
    same = ("status", "model", "provider", "origin", "kind", "tag", "sort", "limit", "offset")
    return SessionFilters(
        **{name: getattr(options, name) for name in same},
        archived=bool(options.archived), is_ascending=options.order == "asc",
        query=library.parse_query(options.search or "", SystemClock().now()),
        since=_parse_time(options.since, is_end=False), until=_parse_time(options.until, is_end=True),
    )  # fmt: skip


def find_sessions(journal: Journal, filters: SessionFilters, workspace: str | None) -> list[Session]:
    """Return the page of a journal's sessions that filters let through."""
    sessions = (session for session in _sessions_of(journal, workspace) if session.id != SYSTEM_SESSION)
    candidates = sessions_with_facets(journal, filters.query, sessions)
    return page_of_sessions(candidates, filters, session_ids_holding(journal, filters.query))


def _sessions_of(journal: Journal, workspace: str | None) -> list[Session]:
    """Return the sessions of a workspace, those in worktrees made from it too, or all; newest first."""
    listed = partial(as_listed, journal)
    own = [listed(session) for session in journal.sessions(workspace=workspace)]
    if workspace is None:
        return own
    with journal.snapshot() as database:
        worktrees = session_queries.worktrees_of(database, workspace)
    others = [listed(session) for folder in worktrees for session in journal.sessions(workspace=folder)]
    every = [*own, *(session for session in others if session.listed_in == workspace)]
    return sorted(every, key=lambda session: (-session.updated_at, session.id)) if others else own


def sessions_with_facets(
    journal: Journal, query: SearchQuery, sessions: Iterable[Session]
) -> Iterable[Session]:
    """Return the sessions that pass `tool:` and `asked:`, which no row of a session says."""
    with journal.snapshot() as database:
        passing = facet_filter(query, partial(session_queries.sessions_with_facets, database))
    return sessions if passing is None else (session for session in sessions if session.id in passing)


def require_status(journal: Journal, filters: SessionFilters) -> None:
    """Refuse a status that no session can have, and none has."""
    known = (*get_args(SessionStatus), LOST)
    foreign = {session.origin_status for session in journal.sessions()}
    if filters.status is not None and filters.status not in (*known, *foreign):
        why = f"“{one_line(filters.status, 40)}” is not a status"
        raise UsageError("nothing was listed", why, f"there is {', '.join(known)}")


def session_ids_holding(journal: Journal, query: SearchQuery) -> frozenset[str]:
    """Return the ids of the sessions that hold the words of a query."""
    with journal.snapshot() as database:
        expression = library.fts_expression(query, search.word_finder(database))
        matches = search.matching_sessions(database, expression, options=query.options) if expression else []
    return frozenset(match.session_id for match in matches)


def page_of_sessions(
    sessions: Iterable[Session], filters: SessionFilters, holders: Collection[str] = frozenset()
) -> list[Session]:
    """Return the page that filters let through; `holders` hold the words outside title and tags."""
    matching = [session for session in sessions if _passes_filters(session, filters, holders)]
    matching.sort(key=_SORT_KEYS[filters.sort], reverse=not filters.is_ascending)
    return matching[filters.offset : filters.offset + filters.limit]


def _passes_filters(session: Session, filters: SessionFilters, holders: Collection[str]) -> bool:
    if filters.status not in (None, session.status, told_status(session), session.origin_status):
        return False
    equal = ("model", "provider", "kind")
    if any(getattr(filters, name) not in (None, getattr(session, name)) for name in equal):
        return False
    if filters.archived not in (None, session.archived) or not _is_tagged(session, filters):
        return False
    if filters.since is not None and session.updated_at < filters.since:
        return False
    if filters.until is not None and session.updated_at >= filters.until:
        return False
    query = filters.query
    if not library.session_fits(session, query):
        return False
    return not query.terms or session.id in holders or library.title_fits(session, query)


def _is_tagged(session: Session, filters: SessionFilters) -> bool:
    if filters.origin not in (None, session.origin or "workbench"):
        return False
    return filters.tag is None or filters.tag in session.tags


def _parse_time(text: str | None, *, is_end: bool) -> int | None:
    if text is None:
        return None
    try:
        if len(text) == len("2026-11-21"):
            day = datetime.strptime(text, "%Y-%m-%d").astimezone()
            return int((day + timedelta(days=int(is_end))).timestamp() * SECOND_MICROS)
        return parse_iso_time(text)
    except ValueError as error:
        raise UsageError(
            "nothing was listed", str(error), "write it as 2026-11-21 or 2026-11-21T12:00:00Z"
        ) from None


def _parse_count(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ArgumentTypeError(f"{text!r} is not a number from 0 on")
    return int(text)
