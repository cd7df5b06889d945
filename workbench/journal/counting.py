"""The facts of statistics, read from the index tables in four questions, and one a session of several days.

Owns their SQL. Times of questions in imported sessions are foreign and are not taken for a human's here.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from workbench.domain.counting import AnswerFact, CallFact, FileFact, SessionFact
from workbench.domain.values import SYSTEM_SESSION, UNDO_TOOL, Json
from workbench.journal.sql import Database, Value

_SCOPE: Final = "id != ?1 AND updated_at >= ?2 AND (?3 IS NULL OR workspace = ?3) AND (?4 IS NULL OR id = ?4)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which sessions are counted."""

    since: int = 0
    """Microseconds: only those that moved at or after it."""
    workspace: str | None = None
    session_id: str | None = None

    @property
    def values(self) -> Sequence[Value]:
        """Return the values that every question is given."""
        return (SYSTEM_SESSION, self.since, self.workspace, self.session_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Everything that statistics are made of."""

    calls: tuple[CallFact, ...]
    answers: tuple[AnswerFact, ...]
    sessions: tuple[SessionFact, ...]
    files: tuple[FileFact, ...]


def counted(database: Database, scope: Scope) -> Counted:
    """Read the facts of some sessions."""
    return Counted(
        calls=tuple(_calls(database, scope)), answers=tuple(_answers(database, scope)),
        sessions=tuple(_sessions(database, scope)), files=tuple(_files(database, scope)),
    )  # fmt: skip


_OWN: Final = (
    "NOT (json_extract(session.configuration, '$.forked_from') IS NOT NULL"
    " AND call.requested_at < session.created_at)"
)
"""A fork holds copies of what happened before it began: those calls were made once, in its source."""
_UNASKED: Final = (
    f"CASE WHEN session.origin IS NOT NULL OR tool = '{UNDO_TOOL}' OR call.action_id IS NOT NULL THEN ''"
    " WHEN approval_method = 'config_rule' THEN 'rule' WHEN approval_method = 'auto' THEN 'grant'"
    " WHEN call.state = 'rejected' AND proposed THEN 'refused' ELSE '' END"
)
"""An undo is what a human asked for; nobody else decided it."""
_IN: Final = f"(SELECT id FROM session WHERE {_SCOPE})"  # noqa: S608 words of our own


def _calls(database: Database, scope: Scope) -> list[CallFact]:
    asked = (
        "SELECT call_id, sum(decided_at - created_at) / 1000 AS waited FROM action"
        " WHERE call_id IS NOT NULL AND decided_at IS NOT NULL GROUP BY call_id"
    )
    statement = (
        # How long a call ran that a crash ended is not known.
        "SELECT tool, state, CASE WHEN started_at IS NULL OR state = 'interrupted'"  # noqa: S608
        " OR detail = 'recovered' THEN NULL ELSE duration_ms END,"
        " CASE WHEN session.origin IS NULL THEN waited END,"
        f" {_UNASKED}"
        f" FROM call JOIN session ON session.id = call.session_id LEFT JOIN ({asked}) ON call_id = call.id"
        f" WHERE call.session_id IN {_IN} AND replaced_by IS NULL AND {_OWN}"
    )
    return [
        CallFact(
            tool=row[0], state=row[1], run_ms=row[2], waited_ms=row[3], unasked=row[4],
        )
        for row in database.execute(statement, scope.values)
    ]  # fmt: skip


def _answers(database: Database, scope: Scope) -> list[AnswerFact]:
    statement = (
        "SELECT action.state, selection IS NOT NULL, CASE WHEN action.state IN ('approved', 'rejected')"  # noqa: S608
        " AND session.origin IS NULL THEN (decided_at - action.created_at) / 1000 END,"
        " action.tool, action.created_at"
        " FROM action JOIN session ON session.id = action.session_id"
        f" WHERE action.session_id IN {_IN} AND action.state != 'pending'"
    )
    return [
        AnswerFact(state=row[0], is_partly=bool(row[1]), took_ms=row[2], tool=row[3], asked_at=row[4] or 0)
        for row in database.execute(statement, scope.values)
    ]


def _sessions(database: Database, scope: Scope) -> list[SessionFact]:
    forked = "json_extract(configuration, '$.forked_from') IS NOT NULL"
    columns = f"status, provider, model, usage, updated_at, created_at, id, {forked}"
    statement = f"SELECT {columns} FROM session WHERE {_SCOPE}"  # noqa: S608
    found: list[SessionFact] = []
    for row in database.execute(statement, scope.values).fetchall():
        since = row[5] if row[7] else 0
        spent = _spent(database, str(row[6]), since) if _day(row[5]) != _day(row[4]) else ()
        usage = _used(database, str(row[6]), since) if row[7] else json.loads(row[3] or "{}")
        found.append(_session(row, usage, spent))
    return found


def _day(at: int | None) -> date:
    return datetime.fromtimestamp(max(0, at or 0) / 1_000_000).date()


_SPENT: Final = (
    "SELECT at / 900000000 * 900000000, sum(coalesce(json_extract(body, '$.usage.input_tokens'), 0)"
    " + coalesce(json_extract(body, '$.usage.output_tokens'), 0)) FROM event"
    " WHERE session_id = ? AND kind = 'reply.completed' AND at >= ? GROUP BY 1"
)
_USED: Final = (
    "SELECT sum(coalesce(json_extract(body, '$.usage.input_tokens'), 0)),"
    " sum(coalesce(json_extract(body, '$.usage.output_tokens'), 0)) FROM event"
    " WHERE session_id = ? AND kind = 'reply.completed' AND at >= ?"
)


def _used(database: Database, session_id: str, since: int) -> dict[str, int]:
    """Return the tokens of a fork's own replies: those that it took over were paid once, in its source."""
    sent, received = database.execute(_USED, (session_id, since)).fetchone() or (0, 0)
    return {"input_tokens": sent or 0, "output_tokens": received or 0}


def _spent(database: Database, session_id: str, since: int) -> tuple[tuple[int, int], ...]:
    """Return what the replies of a session used, by quarters of an hour: no zone is off by less."""
    return tuple((row[0], row[1]) for row in database.execute(_SPENT, (session_id, since)))


def _session(
    row: Sequence[Json], usage: Mapping[str, int], spent: tuple[tuple[int, int], ...]
) -> SessionFact:
    return SessionFact(
        status=row[0], provider=row[1], model=row[2], input_tokens=usage.get("input_tokens", 0),
        output_tokens=usage.get("output_tokens", 0), updated_at=row[4], spent=spent,
    )  # fmt: skip


def _files(database: Database, scope: Scope) -> list[FileFact]:
    body = "coalesce(json_extract(body, '$.{}'), 0)"
    statement = (
        "SELECT json_extract(body, '$.path') AS path, count(*), "  # noqa: S608
        f"sum({body.format('added')}), sum({body.format('removed')}) FROM event INDEXED BY event_counted"
        f" WHERE session_id IN {_IN} AND kind = 'file.changed' GROUP BY path ORDER BY 2 DESC, path"
    )
    return [
        FileFact(path=row[0], times=row[1], added=row[2], removed=row[3])
        for row in database.execute(statement, scope.values)
    ]
