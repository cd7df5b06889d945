"""`workbench sessions export`: a session as events, in the words of another system, or as a film.

Owns which formats there are; what they say is `workbench.formats`, films are made by `moments`. Only recorded
text leaves the machine, and nothing that steers a terminal.
"""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator

from workbench.cli.console import Console
from workbench.cli.errors import DONE
from workbench.cli.lookup import session_named
from workbench.cli.place import opened
from workbench.cli.sessions import moments
from workbench.cli.sessions.naming import SESSION_HELP
from workbench.domain.rows import Session
from workbench.domain.values import Json
from workbench.formats import assistant, atif, kaiak, markdown, own, wink
from workbench.journal.journal import Journal
from workbench.text.safe import escaped_json, safe

EXAMPLE = """workbench sessions export 3f2a > session.jsonl
workbench sessions export 3f2a --format markdown
workbench sessions export 3f2a --format html --output session.html
workbench sessions export 3f2a --format svg --at 12:01:31 --output moment.svg"""

_Texts = Iterator[str]


def configure(parser: ArgumentParser) -> None:
    """Add the id and the format."""
    parser.add_argument("id", metavar="ID", help=SESSION_HELP)
    parser.add_argument(
        "--format",
        choices=sorted([*_FORMATS, *moments.FORMATS]),
        default="events",
        help="events, without loss, to be imported again (default); wink, a session file; kaiak, messages;"
        " assistant, turns and records; atif, a trajectory; markdown, to be read;"
        " html, a page that plays it; cast, for asciinema; svg, a picture of a moment",
    )
    parser.add_argument("--output", metavar="FILE", help="write there instead of printing")
    moments.configure(parser)


def execute(options: Namespace, console: Console) -> int:
    """Print a session."""
    with opened() as (_, journal):
        session = session_named(journal, options.id)
        if options.format in moments.FORMATS:
            return moments.execute(options, journal, session, console)
        texts = printed(journal, session, options.format)
        if options.output is not None:
            moments.deliver((f"{text}\n" for text in texts), options.output, console)
            return DONE
        for text in texts:
            console.say(text)
    return DONE


def printed(journal: Journal, session: Session, form: str) -> _Texts:
    """Yield the texts of a session in a format, each of which is a line or a block."""
    if form == "markdown":
        yield from (safe(f"{block}\n") for block in _markdown(journal, session))
    else:
        yield from map(escaped_json, _FORMATS[form](journal, session))


def _events(journal: Journal, session: Session) -> _Texts:
    yield from own.lines(journal.events(session.id), journal.blobs.read)


def _wink(journal: Journal, session: Session) -> _Texts:
    yield _text(wink.write(session, journal.events(session.id), journal.calls(session.id)))


def _kaiak(journal: Journal, session: Session) -> _Texts:
    yield _text({"session": kaiak.session(session)})
    for call in journal.calls(session.id):
        action = journal.action(call.action_id) if call.action_id else None
        yield _text({"tool_call": kaiak.tool_call(call, action)})
    yield from map(_text, kaiak.messages(journal.events(session.id)))


def _assistant(journal: Journal, session: Session) -> _Texts:
    actions = journal.actions(session_id=session.id)
    yield _text(assistant.session(session, journal.events(session.id), actions))
    yield from map(_text, map(assistant.record, journal.calls(session.id)))


def _atif(journal: Journal, session: Session) -> _Texts:
    yield _text(atif.write(session, journal.events(session.id), journal.calls(session.id)))


def _markdown(journal: Journal, session: Session) -> _Texts:
    events, calls = journal.events(session.id), journal.calls(session.id)
    yield from markdown.write(session, events, calls, journal.actions(session_id=session.id))


def _text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


_FORMATS: dict[str, Callable[[Journal, Session], _Texts]] = {
    "events": _events,
    "wink": _wink,
    "kaiak": _kaiak,
    "assistant": _assistant,
    "atif": _atif,
    "markdown": _markdown,
}
