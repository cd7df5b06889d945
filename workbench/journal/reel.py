"""What a replay reads of the journal: one session's moments, and the rows around it as they stood before.

Owns which sessions belong to a recording: the session and what it began (steps of a run); around it the other
sessions of its workspace, which the queue and the rail show too. It reads, and never writes.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from workbench.domain.events import Event, FileChanged
from workbench.domain.fold import Tables
from workbench.domain.rows import Action, Call, Session
from workbench.domain.values import SYSTEM_SESSION
from workbench.journal import tables
from workbench.journal.journal import Journal
from workbench.journal.read import EVENTS, STREAMED, decode
from workbench.journal.sql import Database, Value

MOST_SESSIONS: Final = 200
"""Other sessions of the workspace that are shown beside a recording: the newest ones of then."""
_ACTIONS_OF: Final = 12
"""Of so many of them, the newest, decided actions are shown too; pending ones of all."""

_FAMILY: Final = """
WITH RECURSIVE family(id) AS (
    SELECT ? UNION SELECT session.id FROM session JOIN family ON session.parent_id = family.id
) SELECT id FROM family"""
_COLUMNS: Final = """
SELECT json_group_array(position), json_group_array(at), json_group_array(position) FILTER ({told}),
    json_group_array(kind) FILTER ({told}), json_group_array({fact}) FILTER ({told})
FROM (SELECT * FROM event WHERE {where} ORDER BY {order} LIMIT ?)"""
Columns = tuple[list[int], list[int], list[tuple[int, str, Any]]]
"""Positions, times, and position, kind and fact of those that are told."""
_LASTING: Final = f"kind NOT IN ({', '.join(repr(kind) for kind in STREAMED)})"


class ReelReader:
    """Reads the recording of one session."""

    def __init__(self, journal: Journal, session_id: str) -> None:
        self._reader, self.session_id = journal.reader, session_id
        session = journal.session(session_id)
        self._workspace = session.workspace if session else ""
        # What was imported has the positions of its import: what was beside it then, only times say.
        self._is_imported = session is not None and session.origin is not None

    def columns(self, facts: Mapping[str, str | None], after: int = 0, limit: int = -1) -> Columns:
        """Return positions and times of the recording's events, in order, and a fact of some of them.

        The database writes each column as one text: a row an event would take four times as long, and no
        other thread could run meanwhile. The fact of `turn.ended` is its number and its session.

        Args:
            facts: The kinds of which a fact is wanted, and the field of the body that is it; None for none.
            after: Only events behind this position.
            limit: At most so many events; negative for all.
        """
        with self._reader.snapshot() as database:
            ids = [key for (key,) in database.execute(_FAMILY, (self.session_id,))]
            where, order, given = _events_of(database, ids, after)
            statement = _COLUMNS.format(where=where, order=order, **_cases(facts))
            found = database.execute(statement, (*given, limit))
            positions, times, *told = [json.loads(column) for column in found.fetchone() or ()]
        return positions, times, list(zip(*told, strict=True))

    def outlook(self) -> tuple[int, int]:
        """Return how many events the recording has, and when the last of them was."""
        with self._reader.snapshot() as database:
            ids = [key for (key,) in database.execute(_FAMILY, (self.session_id,))]
            lasts = [database.execute(_LAST, (key,)).fetchone() or (0, 0) for key in ids]
        return sum(count for count, _ in lasts), max(at for _, at in lasts)

    def lasting(self, after: int, until: int, limit: int) -> list[Event]:
        """Return what changes rows in the workspace: events between two positions that are no pieces."""
        return self._read(_LASTING, after, until, limit)

    def between(self, after: int, until: int, limit: int) -> list[Event]:
        """Return every event of the workspace between two positions, pieces of streams too."""
        return self._read("true", after, until, limit)

    def _read(self, which: str, after: int, until: int, limit: int) -> list[Event]:
        where = f"position > ? AND position <= ? AND {which}"
        here = "+session_id = ? OR +session_id IN (SELECT id FROM session WHERE workspace = ?)"
        given: tuple[Value, ...] = (SYSTEM_SESSION, self._workspace)
        if self._is_imported:
            here, given = f"+session_id IN ({_FAMILY})", (self.session_id,)
        where = f"{where} AND ({here}) ORDER BY position LIMIT ?"
        return self._events(where, after, until, *given, limit)

    def number_at(self, session_id: str, position: int) -> int:
        """Return the number of a session's last event up to a position; 0 if it had none then."""
        with self._reader.snapshot() as database:
            last = _value(database, "SELECT max(sequence_number) FROM event WHERE session_id = ?", session_id)
            low, high = 0, last or 0
            while low < high:
                middle = (low + high + 1) // 2
                found = _value(database, _POSITION, session_id, middle)
                low, high = (middle, high) if found is not None and found <= position else (low, middle - 1)
        return low

    def before(self, position: int, at: int) -> Tables:
        """Return the rows of the workspace as they stood at a position, whose time is given.

        Around what was imported they are those of the time.
        """
        rows = Tables()
        moment, bound = ("at", at) if self._is_imported else ("position", position)
        others = "WHERE workspace = ? AND created_at <= ? ORDER BY updated_at DESC LIMIT ?"
        with self._reader.snapshot() as database:
            family = {key for (key,) in database.execute(_FAMILY, (self.session_id,))}
            found = database.execute(
                f"{tables.select(Session)} {others}", (self._workspace, at, MOST_SESSIONS)
            ).fetchall()
            spans: list[str] = [SYSTEM_SESSION]
            for rank, values in enumerate(found):
                session: Session = tables.load(Session, values)
                if session.id in family or _edge(database, session.id, moment, "ASC") > bound:
                    continue
                if _edge(database, session.id, moment, "DESC") > bound:
                    spans.append(session.id)
                else:
                    _put_settled(rows, database, session, has_decided=rank < _ACTIONS_OF)
        for session_id in spans:
            where = f"session_id = ? AND {moment} <= ? AND {_LASTING} ORDER BY sequence_number"
            rows.fold(self._events(where, session_id, bound))
        return rows

    def _events(self, where: str, *given: Value) -> list[Event]:
        with self._reader.snapshot() as database:
            return [decode(values) for values in database.execute(f"{EVENTS} WHERE {where}", given)]


def _cases(facts: Mapping[str, str | None]) -> dict[str, str]:
    """Return the SQL of which events are told, and of the fact of each; names are our own."""
    # Which turn ended is told by its number and session, whatever else there is to say.
    ended = "WHEN 'turn.ended' THEN sequence_number || ' ' || session_id"
    cases = (f"WHEN '{kind}' THEN json_extract(body, '$.{name}')" for kind, name in facts.items() if name)
    told = f"WHERE kind IN ({', '.join(map(repr, facts))})"
    return {"told": told, "fact": f"CASE kind {ended} {' '.join(cases)} END"}


def _events_of(database: Database, ids: Sequence[str], after: int) -> tuple[str, str, tuple[Value, ...]]:
    """Return condition, order and values for the events of sessions behind a position."""
    marks = ", ".join("?" * len(ids))
    if len(ids) > 1:
        # Few are behind what was read; of all, the sessions' own indexes are read and sorted.
        plus = "+" if after else ""
        return f"position > ? AND {plus}session_id IN ({marks})", "position", (after, *ids)
    if not after:
        return "session_id = ?", "sequence_number", tuple(ids)
    # Alone, the session's own index is walked from there, and nothing of others is read or sorted.
    number = _value(database, _NUMBER, ids[0], after) or 0
    return "session_id = ? AND sequence_number > ?", "sequence_number", (*ids, number)


def file_changes(journal: Journal, workspace: str) -> Iterator[tuple[int, FileChanged]]:
    """Yield what was written in a workspace with the position of each, in order, but of imports."""
    where = (
        "kind = 'file.changed' AND recorded_at IS NULL"
        " AND session_id IN (SELECT id FROM session WHERE workspace = ?) ORDER BY position"
    )
    with journal.reader.snapshot() as database:
        for values in database.execute(f"{EVENTS} WHERE {where}", (workspace,)):
            event = decode(values)
            if isinstance(event.body, FileChanged):
                yield event.position, event.body


def _put_settled(rows: Tables, database: Database, session: Session, *, has_decided: bool) -> None:
    rows.put(session)
    state = "state != 'superseded'" if has_decided else "state = 'pending'"
    found = database.execute(f"{tables.select(Action)} WHERE session_id = ? AND {state}", (session.id,))
    actions: Iterable[Action] = [tables.load(Action, values) for values in found]
    for action in actions:
        rows.put(action)
        call = database.execute(f"{tables.select(Call)} WHERE id = ?", (action.call_id,)).fetchone()
        if call is not None:
            rows.put(tables.load(Call, call))


_NUMBER: Final = (
    "SELECT sequence_number FROM event WHERE +session_id = ? AND position <= ? ORDER BY position DESC LIMIT 1"
)
_LAST: Final = (
    "SELECT sequence_number, at FROM event WHERE session_id = ? ORDER BY sequence_number DESC LIMIT 1"
)
_POSITION: Final = "SELECT position FROM event WHERE session_id = ? AND sequence_number = ?"


def _edge(database: Database, session_id: str, column: str, order: str) -> int:
    """Return position or time of a session's first (ASC) or last (DESC) event."""
    where = f"session_id = ? ORDER BY sequence_number {order} LIMIT 1"
    statement = f"SELECT {column} FROM event WHERE {where}"  # noqa: S608 our own names
    return _value(database, statement, session_id) or 0


def _value(database: Database, statement: str, *given: Value) -> Any:
    found = database.execute(statement, given).fetchone()
    return found[0] if found else None
