"""The library's rows: every session without its weight, and what a glance at some of them says.

Owns these questions and their SQL. It reads no text of a conversation: ten thousand sessions are a list of
titles, and the counts beside them are asked for only where somebody looks.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Final

from workbench.domain.counting import Glance, Spans, Weight
from workbench.domain.rows import Call, Session
from workbench.domain.values import SYSTEM_SESSION, Usage
from workbench.journal import tables
from workbench.journal.sql import Database, Value

_COLUMNS: Final = (
    "id, kind, status, created_at, updated_at, reason, parent_id, title, workspace, provider, model, usage,"
    " origin, number, tags, archived"
)
_MOST_ASKED: Final = 500
"""Ids that one question names."""


def shelf(database: Database, ids: Iterable[str] | None = None) -> list[Session]:
    """Return sessions, the last changed first, without prompts, settings and tools: those stay empty.

    Steps of pipelines are left out: their run stands for them.

    Args:
        database: A connection of a reader.
        ids: Only these; None is all but the journal's own.
    """
    statement = f"SELECT {_COLUMNS} FROM session WHERE kind != 'step' AND id != ?"  # noqa: S608 ours
    if ids is None:
        found = database.execute(f"{statement} ORDER BY updated_at DESC, id", (SYSTEM_SESSION,)).fetchall()
        return [_session(row) for row in found]
    rows: list[Session] = []
    for some in _parts(ids):
        found = database.execute(f"{statement} AND id IN ({_marks(some)})", (SYSTEM_SESSION, *some))
        rows += [_session(row) for row in found]
    return rows


def elsewhere(database: Database, workspace: str) -> int:
    """Return how many sessions of other workspaces `shelf` has, archived ones left out."""
    statement = (
        "SELECT count(*) FROM session WHERE kind != 'step' AND id != ? AND workspace != ? AND NOT archived"
    )
    return int(database.execute(statement, (SYSTEM_SESSION, workspace)).get or 0)


def _session(row: Sequence[Value]) -> Session:
    key, kind, status, created, updated, reason, parent, title, place, provider, model = row[:11]
    usage, origin, number, tags, archived = row[11:]
    made: dict[str, object] = {
        "id": key, "kind": kind, "status": status, "created_at": created, "updated_at": updated,
        "reason": reason, "parent_id": parent, "title": title, "workspace": place, "provider": provider,
        "model": model, "origin": origin, "number": number, "archived": bool(archived),
    }  # fmt: skip
    if usage:
        made["usage"] = Usage(**json.loads(str(usage)))
    if tags and tags != "[]":
        made["tags"] = tuple(json.loads(str(tags)))
    return Session(**made)  # type: ignore[arg-type]


def waiting(database: Database) -> dict[str, int]:
    """Return how many questions wait, by session."""
    found = database.execute("SELECT session_id, count(*) FROM action WHERE state = 'pending' GROUP BY 1")
    return {row[0]: row[1] for row in found}


_EVENTS: Final = "event INDEXED BY event_counted WHERE session_id IN ({})"
_GLANCES: Final = (
    "SELECT session_id, sum(state = 'rejected'), sum(state = 'expired'), 0, 0, 0, 0, 0"
    " FROM action WHERE session_id IN ({}) GROUP BY 1",
    "SELECT session_id, 0, 0, count(*), 0, 0, 0, 0"
    " FROM call WHERE session_id IN ({}) AND state = 'failed' GROUP BY 1",
    f"SELECT session_id, 0, 0, 0, count(*), 0, 0, 0 FROM {_EVENTS} AND kind = 'turn.ended' GROUP BY 1",  # noqa: S608 ours
    "SELECT session_id, 0, 0, 0, 0, count(*), sum(coalesce(json_extract(body, '$.added'), 0)),"  # noqa: S608 ours
    f" sum(coalesce(json_extract(body, '$.removed'), 0)) FROM {_EVENTS} AND kind = 'file.changed' GROUP BY 1",
)
"""Columns in the order of the fields of `Glance`; each question fills its own."""


def glances(database: Database, ids: Iterable[str]) -> dict[str, Glance]:
    """Return what there is to say of some sessions in a word or two, by their ids."""
    found: dict[str, Glance] = {}
    for some in _parts(ids):
        counts = {key: [0] * 7 for key in some}
        for statement in _GLANCES:
            for key, *values in database.execute(statement.format(_marks(some)), some):
                counts[key] = [one + more for one, more in zip(counts[key], values, strict=True)]
        found |= {key: Glance(*values) for key, values in counts.items()}
    return found


def weight(database: Database, session_id: str) -> Weight:
    """Return what would go if a session were deleted, the steps of a run included."""
    whole = "(SELECT ?1 UNION SELECT id FROM session WHERE parent_id = ?1 AND kind = 'step')"
    counted = [
        database.execute(f"SELECT count(*) FROM {table} WHERE session_id IN {whole}", (session_id,)).get  # noqa: S608 ours
        for table in ("event", "call", "action", "blob_ref")
    ]
    steps = database.execute(
        "SELECT count(*) FROM session WHERE parent_id = ? AND kind = 'step'", (session_id,)
    ).get
    events, calls, actions, kept = counted
    return Weight(events, calls, actions, kept, steps)


def spans(database: Database, session_id: str) -> Spans:
    """Return when the turns of a session ran and when its questions waited, in microseconds."""
    turns: dict[str, tuple[int, int]] = {}
    moved = database.execute("SELECT updated_at FROM session WHERE id = ?", (session_id,)).get or 0
    statement = (
        "SELECT turn_id, min(at), max(at), max(kind = 'turn.ended') FROM event INDEXED BY event_counted"
        " WHERE session_id = ? AND (kind = 'turn.started' OR kind = 'turn.ended') AND turn_id IS NOT NULL"
        " GROUP BY turn_id"
    )
    for key, first, last, is_over in database.execute(statement, (session_id,)):
        turns[key] = (first, last if is_over else max(last, moved))
    asked = "SELECT created_at, decided_at FROM action WHERE session_id = ? AND decided_at IS NOT NULL"
    waits = [(row[0], row[1]) for row in database.execute(asked, (session_id,))]
    return Spans(turns=tuple(turns.values()), waits=tuple(waits))


def facets(database: Database, tools: Iterable[str], answers: Iterable[str]) -> frozenset[str]:
    """Return the sessions in which every one of some tools was called and every answer was given.

    Args:
        database: A connection of a reader.
        tools: Beginnings of their names.
        answers: Beginnings of the states of an action: `rejected`, `expired`.
    """
    asked = [
        *(("call", "tool", word) for word in tools),
        *(("action", "state", word) for word in answers),
    ]
    found: frozenset[str] | None = None
    for table, column, word in asked:
        statement = f"SELECT DISTINCT session_id FROM {table} WHERE substr({column}, 1, ?1) = ?2"  # noqa: S608
        rows = {row[0] for row in database.execute(statement, (len(word), word))}
        found = frozenset(rows) if found is None else found & rows
    return found or frozenset()


def asked_calls(database: Database, tool: str, most: int) -> list[tuple[Call, str, str]]:
    """Return the newest calls of a tool that opened an action, with workspace and title of their sessions."""
    newest = (
        "WHERE tool = ? AND action_id IS NOT NULL AND replaced_by IS NULL"
        " ORDER BY requested_at DESC, id LIMIT ?"
    )
    rows = database.execute(f"{tables.select(Call)} {newest}", (tool, most)).fetchall()
    calls: list[Call] = [tables.load(Call, row) for row in rows]
    about: dict[str, tuple[str, str]] = {}
    for some in _parts(call.session_id for call in calls):
        asked = f"SELECT id, workspace, title FROM session WHERE id IN ({_marks(some)})"  # noqa: S608
        about |= {row[0]: (row[1], row[2]) for row in database.execute(asked, some)}
    return [(call, *about.get(call.session_id, ("", ""))) for call in calls]


def _parts(ids: Iterable[str]) -> Iterable[list[str]]:
    listed = list(dict.fromkeys(ids))
    return (listed[at : at + _MOST_ASKED] for at in range(0, len(listed), _MOST_ASKED))


def _marks(some: Sequence[str]) -> str:
    return ", ".join("?" * len(some))
