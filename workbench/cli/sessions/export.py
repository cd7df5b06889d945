"""`workbench sessions export`: a session as the events it is made of, or in the words of another system.

Owns the choice of the format; the formats are `workbench.formats`. Only recorded text leaves the machine.
"""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator

from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.cli.lookup import session_named
from workbench.cli.place import opened
from workbench.domain.codec import to_object
from workbench.domain.rows import Session
from workbench.domain.values import Json
from workbench.formats import assistant, kaiak, wink
from workbench.journal.journal import Journal

EXAMPLE = "workbench sessions export 3f2a --format wink > session.json"

_Lines = Iterator[Json]


def configure(parser: ArgumentParser) -> None:
    """Add the id and the format."""
    parser.add_argument("id", metavar="ID", help="the session, or at least the first 4 characters of its id")
    parser.add_argument(
        "--format",
        choices=sorted(_FORMATS),
        default="events",
        help="events, one a line (default); wink, a session file; kaiak, messages; assistant, turns",
    )


def execute(options: Namespace, console: Console) -> int:
    """Print a session."""
    with opened() as (_, journal):
        session = session_named(journal, options.id)
        for value in _FORMATS[options.format](journal, session):
            console.json_line(json.dumps(value, ensure_ascii=False))
    return DONE


def _events(journal: Journal, session: Session) -> _Lines:
    yield from map(to_object, journal.events(session.id))


def _wink(journal: Journal, session: Session) -> _Lines:
    yield wink.write(session, journal.events(session.id), journal.calls(session.id))


def _kaiak(journal: Journal, session: Session) -> _Lines:
    yield {"session": kaiak.session(session)}
    for call in journal.calls(session.id):
        yield {"tool_call": kaiak.tool_call(call, journal.action(call.action_id) if call.action_id else None)}
    yield from kaiak.messages(journal.events(session.id))


def _assistant(journal: Journal, session: Session) -> _Lines:
    actions = journal.actions(session_id=session.id)
    yield assistant.session(session, journal.events(session.id), actions)
    yield from map(assistant.record, journal.calls(session.id))


_FORMATS: dict[str, Callable[[Journal, Session], _Lines]] = {
    "events": _events,
    "wink": _wink,
    "kaiak": _kaiak,
    "assistant": _assistant,
}
