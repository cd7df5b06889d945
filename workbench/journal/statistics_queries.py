"""Facts of sessions for statistics."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from workbench.domain.rows import ActionFact, CallFact, FileFact, SessionFact, UsageFact
from workbench.domain.values import OWN_MODE, SYSTEM_SESSION, UNDO_TOOL
from workbench.journal.database import Database, SqlValue
from workbench.journal.session_queries import CALL_NOT_COPIED, IS_FORK
from workbench.journal.usage_queries import UsageScope, usage_facts

_IN_SCOPE: Final = (
    "id != ?1 AND updated_at >= ?2 AND (?3 IS NULL OR workspace = ?3) AND (?4 IS NULL OR id = ?4)"
)


class StatisticsScope(Struct, frozen=True, kw_only=True):
    """Which sessions are counted."""

    since: int = 0
    """Microseconds: only those that moved at or after it."""
    workspace: str | None = None
    session_id: str | None = None

    @property
    def values(self) -> Sequence[SqlValue]:
        return (SYSTEM_SESSION, self.since, self.workspace, self.session_id)


class StatisticsFacts(Struct, frozen=True, kw_only=True):
    """Everything that statistics are made of."""

    calls: tuple[CallFact, ...]
    answers: tuple[ActionFact, ...]
    sessions: tuple[SessionFact, ...]
    files: tuple[FileFact, ...]
    usage: tuple[UsageFact, ...]
    """By day."""


def _usage_scope(scope: StatisticsScope) -> UsageScope:
    ids = (scope.session_id,) if scope.session_id else None
    return UsageScope(since=scope.since, workspace=scope.workspace, session_ids=ids)


def statistics_facts(database: Database, scope: StatisticsScope) -> StatisticsFacts:
    return StatisticsFacts(
        calls=tuple(_call_facts(database, scope)), answers=tuple(_action_facts(database, scope)),
        sessions=tuple(_session_facts(database, scope)), files=tuple(_file_facts(database, scope)),
        usage=tuple(usage_facts(database, "day", _usage_scope(scope))),
    )  # fmt: skip


_ANSWER_NOT_COPIED: Final = f"NOT ({IS_FORK} AND action.created_at < session.created_at)"
_UNASKED_REASON: Final = (
    f"CASE WHEN session.origin IS NOT NULL OR tool = '{UNDO_TOOL}' OR call.action_id IS NOT NULL THEN ''"
    f" WHEN verdict_by = '{OWN_MODE}' THEN 'agent'"
    " WHEN approval_method = 'config_rule' THEN 'rule' WHEN approval_method = 'auto' THEN 'grant'"
    " WHEN call.state = 'rejected' AND proposed THEN 'refused' ELSE '' END"
)
"""An undo is what a human asked for; nobody else decided it."""
_SESSIONS_IN_SCOPE: Final = f"(SELECT id FROM session WHERE {_IN_SCOPE})"  # noqa: S608 words of our own


def _call_facts(database: Database, scope: StatisticsScope) -> list[CallFact]:
    waits = (
        "SELECT call_id, sum(decided_at - created_at) / 1000 AS waited FROM action"
        " WHERE call_id IS NOT NULL AND decided_at IS NOT NULL GROUP BY call_id"
    )
    statement = (
        # How long a call ran that a crash ended, or that its agent executed, is not known.
        "SELECT tool, state, CASE WHEN started_at IS NULL OR state = 'interrupted'"  # noqa: S608
        " OR detail = 'recovered' OR grade IS NOT NULL THEN NULL ELSE duration_ms END,"
        " CASE WHEN session.origin IS NULL THEN waited END,"
        f" {_UNASKED_REASON}"
        f" FROM call JOIN session ON session.id = call.session_id LEFT JOIN ({waits}) ON call_id = call.id"
        f" WHERE call.session_id IN {_SESSIONS_IN_SCOPE} AND replaced_by IS NULL AND {CALL_NOT_COPIED}"
    )
    return [
        CallFact(
            tool=row[0], state=row[1], run_ms=row[2], waited_ms=row[3], unasked=row[4],
        )
        for row in database.execute(statement, scope.values)
    ]  # fmt: skip


def _action_facts(database: Database, scope: StatisticsScope) -> list[ActionFact]:
    statement = (
        "SELECT action.state, selection IS NOT NULL, CASE WHEN action.state IN ('approved', 'rejected')"  # noqa: S608
        " AND session.origin IS NULL THEN (decided_at - action.created_at) / 1000 END,"
        " action.tool, action.created_at"
        " FROM action JOIN session ON session.id = action.session_id"
        f" WHERE action.session_id IN {_SESSIONS_IN_SCOPE} AND action.state != 'pending'"
        f" AND {_ANSWER_NOT_COPIED}"
    )
    return [
        ActionFact(state=row[0], is_partly=bool(row[1]), took_ms=row[2], tool=row[3], asked_at=row[4] or 0)
        for row in database.execute(statement, scope.values)
    ]


def _session_facts(database: Database, scope: StatisticsScope) -> list[SessionFact]:
    status = "CASE WHEN reason = 'failed' AND status IN ('ready', 'paused') THEN 'failed' ELSE status END"
    statement = f"SELECT {status}, updated_at FROM session WHERE {_IN_SCOPE}"  # noqa: S608
    rows = database.execute(statement, scope.values)
    return [SessionFact(status=row[0], updated_at=row[1]) for row in rows]


def _file_facts(database: Database, scope: StatisticsScope) -> list[FileFact]:
    body = "coalesce(json_extract(body, '$.{}'), 0)"
    statement = (
        "SELECT json_extract(body, '$.path') AS path, count(*), "  # noqa: S608
        f"sum({body.format('added')}), sum({body.format('removed')}) FROM event INDEXED BY event_counted"
        f" WHERE session_id IN {_SESSIONS_IN_SCOPE} AND kind = 'file.changed'"
        " GROUP BY path ORDER BY 2 DESC, path"
    )
    return [
        FileFact(path=row[0], times=row[1], added=row[2], removed=row[3])
        for row in database.execute(statement, scope.values)
    ]


MOST_COUNTED_CALLS: Final = 2_000
"""Calls of the own history that are looked at, the newest."""


def undecided_calls_by_tool(database: Database, most: int = MOST_COUNTED_CALLS) -> dict[str, int]:
    """Return how many of the newest own calls no rule and no denial decided, by tool."""
    statement = (
        "SELECT tool, count(*) FROM (SELECT tool FROM call JOIN session ON session.id = call.session_id"  # noqa: S608
        " WHERE session.origin IS NULL AND proposed AND replaced_by IS NULL AND rule IS NULL"
        f" AND {CALL_NOT_COPIED} AND tool != '{UNDO_TOOL}'"
        " AND NOT (call.state = 'rejected' AND action_id IS NULL)"
        " ORDER BY call.rowid DESC LIMIT ?) GROUP BY tool"
    )
    return dict(database.execute(statement, (most,)).fetchall())
