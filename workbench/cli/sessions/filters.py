"""Which sessions a list shows: the filters of S3's log viewer, combinable, over the rows of the journal.

Owns the meaning of `--status --model --provider --origin --kind --tag --search --from --to --sort --order
--limit --offset`, and the one question to the index that `--search` asks.
"""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import get_args

from workbench.cli.errors import Misuse
from workbench.domain.machines import SessionStatus
from workbench.domain.rows import Session
from workbench.domain.values import SYSTEM_SESSION, SessionKind
from workbench.journal import library, search
from workbench.journal.journal import Journal
from workbench.text.human import parse_iso
from workbench.text.safe import one_line
from workbench.views import query
from workbench.views.query import Query

DEFAULT_LIMIT = 100

_KEYS: Mapping[str, Callable[[Session], int | str]] = {
    "updated": lambda session: session.updated_at,
    "created": lambda session: session.created_at,
    "title": lambda session: session.title.casefold(),
    "tokens": lambda session: session.usage.total_tokens,
    "status": lambda session: session.status,
    "model": lambda session: session.model.casefold(),
    "workspace": lambda session: session.workspace,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a list is narrowed to and how it is ordered; empty parts narrow nothing."""

    status: str | None = None
    model: str | None = None
    provider: str | None = None
    origin: str | None = None
    kind: str | None = None
    tag: str | None = None
    archived: bool | None = False
    """None shows both."""
    query: Query = Query()
    since: int | None = None
    until: int | None = None
    sort: str = "updated"
    is_ascending: bool = False
    limit: int = DEFAULT_LIMIT
    offset: int = 0


def add_filters(parser: ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--status",
        metavar="STATUS",
        help="only in this status, such as paused; of imported ones also in the word of their file",
    )
    parser.add_argument("--model", metavar="NAME", help="only of this model")
    parser.add_argument("--provider", metavar="NAME", help="only of this provider")
    parser.add_argument(
        "--origin", metavar="NAME", help="only from there, such as claude-code; ours: workbench"
    )
    parser.add_argument(
        "--kind",
        choices=get_args(SessionKind),
        metavar="KIND",
        help="only of this kind, such as chat or import",
    )
    parser.add_argument("--tag", metavar="TAG", help="only with this tag")
    parser.add_argument("--archived", action="store_true", help="those that were put out of the way")
    parser.add_argument(
        "--search",
        metavar="TEXT",
        help="only with these words in title, tags, prompts, replies, commands, paths",
    )
    parser.add_argument("--from", dest="since", metavar="DATE", help="changed at or after it, ISO 8601")
    parser.add_argument("--to", dest="until", metavar="DATE", help="changed before its end, ISO 8601")
    parser.add_argument("--sort", choices=tuple(_KEYS), default="updated", help="by what (else: updated)")
    parser.add_argument("--order", choices=("asc", "desc"), default="desc", help="which first (else: desc)")
    parser.add_argument(
        "--limit", type=_count, default=DEFAULT_LIMIT, metavar="N", help="at most so many (100)"
    )
    parser.add_argument("--offset", type=_count, default=0, metavar="N", help="leave so many out first")


def filters_of(options: Namespace) -> Filters:
    """Return the filters that options ask for.

    Raises:
        Misuse: A date is none.
    """
    return Filters(
        status=options.status,
        model=options.model,
        provider=options.provider,
        origin=options.origin,
        kind=options.kind,
        tag=options.tag,
        archived=bool(options.archived),
        query=query.parse(options.search or "", _now()),
        since=_moment(options.since, is_end=False),
        until=_moment(options.until, is_end=True),
        sort=options.sort,
        is_ascending=options.order == "asc",
        limit=options.limit,
        offset=options.offset,
    )


def found(journal: Journal, filters: Filters, workspace: str | None) -> list[Session]:
    """Return the page of a journal's sessions that filters let through.

    Args:
        journal: Where.
        filters: What to let through.
        workspace: Only of this one; None for all.
    """
    sessions = (one for one in journal.sessions(workspace=workspace) if one.id != SYSTEM_SESSION)
    kept = facets(journal, filters.query, sessions)
    return filtered(kept, filters, holding(journal, filters.query))


def facets(journal: Journal, asked: Query, sessions: Iterable[Session]) -> Iterable[Session]:
    """Return the sessions that pass `tool:` and `asked:`, which no row of a session says."""
    tools, answers = (asked.narrowed.get(key, ()) for key in query.ELSEWHERE)
    if not tools and not answers:
        return sessions
    with journal.reader.snapshot() as database:
        there = library.facets(database, tools, answers)
    return (one for one in sessions if one.id in there)


def require_status(journal: Journal, filters: Filters) -> None:
    """Refuse a status that no session can have, and none has.

    Raises:
        Misuse: It is no word for a status.
    """
    known = get_args(SessionStatus)
    foreign = {session.origin_status for session in journal.sessions()}
    if filters.status is not None and filters.status not in (*known, *foreign):
        why = f"“{one_line(filters.status, 40)}” is no status"
        raise Misuse("nothing was listed", why, f"there is {', '.join(known)}")


def holding(journal: Journal, asked: Query) -> frozenset[str]:
    """Return the ids of the sessions that hold the words of a query."""
    with journal.reader.snapshot() as database:
        expression = query.match(asked, search.inside(database))
        found = search.sessions(database, expression) if expression else []
    return frozenset(one.session_id for one in found)


def filtered(
    sessions: Iterable[Session], filters: Filters, holders: Collection[str] = frozenset()
) -> list[Session]:
    """Return the page of sessions that filters let through; past the end it is empty.

    Args:
        sessions: Any.
        filters: What to let through.
        holders: Ids of the sessions that hold the words anywhere; title and tags are looked at here.
    """
    found = [one for one in sessions if _passes(one, filters, holders)]
    found.sort(key=_KEYS[filters.sort], reverse=not filters.is_ascending)
    return found[filters.offset : filters.offset + filters.limit]


def _passes(session: Session, filters: Filters, holders: Collection[str]) -> bool:
    if filters.status not in (None, session.status, session.origin_status):
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
    asked = filters.query
    if not query.fits(session, asked):
        return False
    return not asked.terms or session.id in holders or query.title_fits(session, asked)


def _is_tagged(session: Session, filters: Filters) -> bool:
    if filters.origin not in (None, session.origin or "workbench"):
        return False
    return filters.tag is None or filters.tag in session.tags


def _now() -> int:
    from workbench.effects.clock import SystemClock

    return SystemClock().now()


def _moment(text: str | None, *, is_end: bool) -> int | None:
    """Read a date (local, whole day) or a time."""
    if text is None:
        return None
    try:
        if len(text) == len("2026-11-21"):
            day = datetime.strptime(text, "%Y-%m-%d").astimezone()
            return int((day + timedelta(days=int(is_end))).timestamp() * 1_000_000)
        return parse_iso(text)
    except ValueError as error:
        raise Misuse(
            "nothing was listed", str(error), "write it as 2026-11-21 or 2026-11-21T12:00:00Z"
        ) from None


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ArgumentTypeError(f"{text!r} is no number from 0 on")
    return int(text)
