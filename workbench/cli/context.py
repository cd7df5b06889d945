"""What a command works on: workspace, data folder, acting user, and the rows that ids name.

A workspace is exactly the folder that was named (its real path), never a parent of it. A short id is accepted
only if a single row matches; otherwise the matching rows are listed.
"""

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from workbench.cli.errors import Refusal
from workbench.domain.rows import Action, Session
from workbench.domain.values import SYSTEM_SESSION, Actor
from workbench.journal.journal import Journal
from workbench.text.safe import one_line
from workbench.views.supervised import agent_title

if TYPE_CHECKING:
    from workbench.journal.search import IdTable


def user_actor() -> Actor:
    """Return the user as the author of an event."""
    return Actor(kind="user", pid=os.getpid(), via="cli")


SHORTEST_ACTION_ID: Final = 4
"""Characters of the id of an action: an answer is not given by a number that was meant for a list."""
ACTION_ID_HELP: Final = f"the action, or at least the first {SHORTEST_ACTION_ID} characters of its id"
_MOST_MATCHES_SHOWN: Final = 8
_LIST_COMMANDS: Final[dict["IdTable", str]] = {
    "action": "workbench approvals list --decided",
    "session": "workbench sessions list --all",
}
_Row = TypeVar("_Row", Action, Session)


def short_id(journal: Journal, key: str, table: "IdTable" = "session") -> str:
    """Return as much of an id as names it alone, at least 8 characters."""
    from workbench.journal.search import unique_id_prefix

    with journal.snapshot() as database:
        return unique_id_prefix(database, table, key)


def _row_by_id(
    journal: Journal, word: str, thing: "IdTable", read_row: Callable[[str], _Row | None],
    describe: Callable[[_Row], str], least: int,
) -> _Row:  # fmt: skip
    from workbench.journal.search import ids_with_prefix, unique_id_prefix

    word = word.encode("utf-8", "replace").decode()
    if word and (row := read_row(word)) is not None:
        return row
    named, where = one_line(word, 80), f"{_LIST_COMMANDS[thing]} shows them"
    not_found = f"there is no {thing} “{named}”"
    if len(word) < least:
        count = "a character" if least == 1 else f"{least} characters"
        raise Refusal(not_found, f"a short id has at least {count}", where)
    with journal.snapshot() as database:
        ids = [
            key
            for key in ids_with_prefix(database, thing, word, _MOST_MATCHES_SHOWN + 2)
            if key != SYSTEM_SESSION
        ]
        rows = [(unique_id_prefix(database, thing, key), read_row(key)) for key in ids[:_MOST_MATCHES_SHOWN]]
    if not ids:
        raise Refusal(not_found, "no id starts with that", where)
    if len(ids) > 1:
        listed = "; ".join(f"{key} {describe(row)}".strip() for key, row in rows if row is not None)
        many, more = (
            (f"over {_MOST_MATCHES_SHOWN}", "; …") if len(ids) > _MOST_MATCHES_SHOWN else (str(len(ids)), "")
        )
        raise Refusal(
            f"“{named}” names no single {thing}", f"{many} match: {listed}{more}", "type more of it"
        )
    row = read_row(ids[0])
    if row is None:
        raise Refusal(not_found, "it was deleted", where)
    return row


def find_action(journal: Journal, word: str) -> Action:
    """Return the action that an id or the beginning of one names."""
    return _row_by_id(
        journal, word, "action", journal.action,
        lambda action: f"{action.verb} {one_line(action.target, 40)}", SHORTEST_ACTION_ID,
    )  # fmt: skip


def find_session(journal: Journal, word: str) -> Session:
    """Return the session that an id, any beginning that only one id has, or a telemetry id names."""

    def read_row(key: str) -> Session | None:
        session = journal.session(key)
        if session is None and len(key) == _TELEMETRY_ID_LENGTH:
            return journal.session_of_telemetry(key)
        return session

    return _row_by_id(
        journal, word, "session", read_row, lambda session: f"“{one_line(session.title, 40)}”", 1
    )


_TELEMETRY_ID_LENGTH: Final = 36
"""Characters of a UUID."""
SESSION_ID_HELP = (
    "the session: its id, or a beginning of it that no other session has, or its whole telemetry id"
)


def session_label(journal: Journal, session: Session) -> str:
    """Return a session in a sentence: `“rename handler” (3f2a0000)`."""
    title, key = agent_title(session, one_line(session.title, 60)), short_id(journal, session.id)
    return f"“{title}” ({key})" if title else key


def as_listed(journal: Journal, session: Session) -> Session:
    """Return a session as lists show it: `lost` where the process that drove it is gone."""
    from workbench.journal.leases import is_driver_gone
    from workbench.views.lost_drivers import listed_session

    return listed_session(session, partial(is_driver_gone, journal))


def is_driven(journal: Journal, session_id: str) -> bool:
    """Return whether a live process drives a session."""
    from workbench.journal.leases import is_lease_live

    return is_lease_live(journal.home, journal.lease(session_id))
