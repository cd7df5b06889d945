"""`workbench sessions search`: every session that holds some words, newest first, with the places.

Owns what is printed of a place. The question itself is the index's, the language `views.query`'s.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from workbench.cli.console import Console
from workbench.cli.errors import DONE, Misuse
from workbench.cli.lookup import short
from workbench.cli.place import opened, workspace_of
from workbench.cli.render.facts import Facts, moment, session_facts
from workbench.cli.render.rows import clock_time, session_row
from workbench.cli.sessions.filters import Filters, facets, filtered
from workbench.domain.rows import Session
from workbench.domain.values import SYSTEM_SESSION
from workbench.effects.clock import SystemClock
from workbench.journal import search
from workbench.journal.journal import Journal
from workbench.journal.search import Found
from workbench.views import query
from workbench.views.places import Place, place
from workbench.views.query import Query

EXAMPLE = """workbench sessions search rename handler
workbench sessions search --here '"by hand" status:paused since:oct tag:release -draft'"""

PLACES = 3
"""Places of one session that are shown."""


def configure(parser: ArgumentParser) -> None:
    """Add the words and how much is shown."""
    parser.add_argument(
        "words",
        nargs="+",
        metavar="TEXT",
        help="words, “a phrase”, -without, and status: model: provider: in: tag: since: until: origin: is:"
        " tool: asked:",
    )
    parser.add_argument("--here", action="store_true", help="only of this workspace")
    parser.add_argument("--limit", type=int, default=20, metavar="N", help="at most so many sessions (20)")
    parser.add_argument("--json", action="store_true", help="print a JSON array")


def execute(options: Namespace, console: Console) -> int:
    """Search."""
    asked = query.parse(" ".join(options.words), SystemClock().now())
    if asked.problems:
        raise Misuse("nothing was searched", "; ".join(asked.problems), "write dates as 2026-11-21, 7d, oct")
    if options.limit < 1:
        raise Misuse("nothing was searched", f"{options.limit} is no number from 1 on", "see --help")
    workspace = workspace_of(options.directory) if options.here else None
    with opened() as (_, journal):
        hits = {one.session_id: one for one in _hits(journal, asked)}
        page = _page(journal, asked, hits, workspace, options.limit)
        shown = [(one, hits.get(one.id), places_of(journal, one.id, asked)) for one in page]
        now, keys = journal.now(), [short(journal, one.id) for one in page]
    if options.json:
        console.json([_facts(one, found, places) for one, found, places in shown])
        return DONE
    for key, one in zip(keys, shown, strict=True):
        _tell(console, key, one, now)
    if not shown:
        console.say("Nothing matches.")
    return DONE


def _hits(journal: Journal, asked: Query) -> list[Found]:
    with journal.reader.snapshot() as database:
        expression = query.match(asked, search.inside(database))
        return search.sessions(database, expression) if expression else []


def _page(
    journal: Journal, asked: Query, hits: dict[str, Found], workspace: str | None, limit: int
) -> list[Session]:
    sessions = (one for one in journal.sessions(workspace=workspace) if one.id != SYSTEM_SESSION)
    return filtered(facets(journal, asked, sessions), Filters(query=asked, archived=None, limit=limit), hits)


def places_of(journal: Journal, session_id: str, asked: Query, most: int = PLACES) -> Sequence[Place]:
    """Return the newest places of a session that hold what was asked for."""
    with journal.reader.snapshot() as database:
        expression = query.match(asked, search.inside(database))
        if not expression:
            return ()
        numbers = search.places(database, expression, session_id, most)
    events = [event for number in numbers for event in journal.window(session_id, number, 1)]
    return [place(event, asked.terms) for event in events]


def _facts(session: Session, found: Found | None, places: Sequence[Place]) -> Facts:
    return {
        **session_facts(session),
        "places": found.places if found else 0,
        "matches": [
            {"sequence_number": one.sequence_number, "at": moment(one.at), "who": one.who, "text": one.text}
            for one in places
        ],
    }


def _tell(console: Console, key: str, shown: tuple[Session, Found | None, Sequence[Place]], now: int) -> None:
    session, found, places = shown
    console.say(session_row(session, key, 0, console.signs, now))
    for one in places:
        console.say(f"    {one.who:<6} {clock_time(one.at, now)}  {one.text}")
    if found is not None and found.places > len(places):
        console.say(f"    and {found.places - len(places)} more places")
