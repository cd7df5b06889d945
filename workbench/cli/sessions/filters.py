"""Which sessions a list shows: the filters of S3's log viewer, combinable, over the rows of the journal.

Pure. Owns the meaning of `--status --model --provider --search --from --to --sort --order --limit --offset`.
"""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from workbench.cli.errors import Misuse
from workbench.domain.rows import Session
from workbench.text.human import parse_iso

DEFAULT_LIMIT = 100

_KEYS: Mapping[str, Callable[[Session], int | str]] = {
    "updated": lambda session: session.updated_at,
    "created": lambda session: session.created_at,
    "title": lambda session: session.title.casefold(),
    "tokens": lambda session: session.usage.total_tokens,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a list is narrowed to and how it is ordered; empty parts narrow nothing."""

    status: str | None = None
    model: str | None = None
    provider: str | None = None
    search: str | None = None
    since: int | None = None
    until: int | None = None
    sort: str = "updated"
    is_ascending: bool = False
    limit: int = DEFAULT_LIMIT
    offset: int = 0


def add_filters(parser: ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--status", metavar="STATUS", help="only in this status, such as paused")
    parser.add_argument("--model", metavar="NAME", help="only of this model")
    parser.add_argument("--provider", metavar="NAME", help="only of this provider")
    parser.add_argument("--search", metavar="TEXT", help="only with this in the title or a tag")
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
        search=options.search,
        since=_moment(options.since, is_end=False),
        until=_moment(options.until, is_end=True),
        sort=options.sort,
        is_ascending=options.order == "asc",
        limit=options.limit,
        offset=options.offset,
    )


def filtered(sessions: Iterable[Session], filters: Filters) -> list[Session]:
    """Return the page of sessions that filters let through; past the end it is empty."""
    found = [session for session in sessions if _passes(session, filters)]
    found.sort(key=_KEYS[filters.sort], reverse=not filters.is_ascending)
    return found[filters.offset : filters.offset + filters.limit]


def _passes(session: Session, filters: Filters) -> bool:
    equal = ("status", "model", "provider")
    if any(getattr(filters, name) not in (None, getattr(session, name)) for name in equal):
        return False
    if filters.since is not None and session.updated_at < filters.since:
        return False
    if filters.until is not None and session.updated_at >= filters.until:
        return False
    wanted = (filters.search or "").casefold()
    return wanted in "\n".join((session.title, *session.tags)).casefold()


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
