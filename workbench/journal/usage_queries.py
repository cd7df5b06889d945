"""Sums of tokens and cost from the table of token use, by time, project, agent, model and session."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from workbench.domain.rows import OWN_AGENT, UsageFact, UsageGroup
from workbench.domain.values import Usage
from workbench.journal.database import Database, SqlValue
from workbench.journal.storage import id_chunks, placeholders


class UsageScope(Struct, frozen=True, kw_only=True):
    """Which replies are summed."""

    since: int = 0
    """Microseconds: quarters of an hour that begin at or after it; a moment within one takes it whole."""
    until: int | None = None
    """Microseconds: quarters of an hour that begin before it."""
    workspace: str | None = None
    session_ids: tuple[str, ...] | None = None
    origin: str | None = None
    """The agent whose file a session came from; `OWN_AGENT` are those that were made here."""
    model: str = ""
    """Part of the model's name, in any case."""
    project: str = ""
    """Part of the folder's path, in any case."""


_QUARTER: Final = 900_000_000
_AGENT: Final = (
    "CASE session.kind WHEN 'supervised' THEN session.provider"
    f" ELSE coalesce(session.origin, '{OWN_AGENT}') END"
)
"""The same as `Session.agent`."""
_DAY: Final = "date(token_use.at / 1000000, 'unixepoch', 'localtime')"
_GROUPS: Final[dict[UsageGroup, tuple[str, str]]] = {
    "time": ("''", "token_use.at"), "day": (_DAY, "min(token_use.at)"), "model": ("token_use.model", "0"),
    "project": ("session.workspace", "0"), "agent": (_AGENT, "0"), "session": ("token_use.session_id", "0"),
    "provider": ("token_use.provider", "0"),
}  # fmt: skip
"""What replies are grouped by, and the time that is told apart."""
_SUMS: Final = ", ".join(f"sum({name})" for name in Usage.__struct_fields__)


def usage_facts(database: Database, group: UsageGroup, scope: UsageScope) -> list[UsageFact]:
    """Return the sums of what a scope holds, by group and by what they are priced by."""
    if scope.session_ids is None:
        return _facts(database, group, scope, ())
    return [fact for ids in id_chunks(scope.session_ids) for fact in _facts(database, group, scope, ids)]


def _facts(database: Database, group: UsageGroup, scope: UsageScope, ids: Sequence[str]) -> list[UsageFact]:
    group_column, time_column = _GROUPS[group]
    group_by = "1, 2" if group == "time" else "1"
    where, values = _conditions(scope, ids)
    statement = (
        f"SELECT {group_column}, {time_column}, token_use.provider, token_use.model, context,"  # noqa: S608 words of our own
        f" min(first_at), max(last_at), sum(replies), sum(uncounted), {_SUMS}"
        " FROM token_use JOIN session ON session.id = token_use.session_id"
        f" WHERE {where} GROUP BY {group_by}, 3, 4, context, is_told ORDER BY 2, 1"
    )
    return [
        UsageFact(
            group=row[0] or "", at=row[1], provider=row[2], model=row[3], context=row[4], first_at=row[5],
            last_at=row[6], replies=row[7], uncounted=row[8],
            usage=Usage(**dict(zip(Usage.__struct_fields__, row[9:], strict=True))),
        )
        for row in database.execute(statement, values)
    ]  # fmt: skip


def _conditions(scope: UsageScope, ids: Sequence[str]) -> tuple[str, list[SqlValue]]:
    parts: list[str] = ["token_use.at >= ?"]
    values: list[SqlValue] = [scope.since // _QUARTER * _QUARTER]
    optional: list[tuple[str, SqlValue]] = [
        ("token_use.at < ?", scope.until), ("session.workspace = ?", scope.workspace),
        (f"{_AGENT} = ?", scope.origin), ("instr(lower(token_use.model), ?)", scope.model.lower() or None),
        ("instr(lower(session.workspace), ?)", scope.project.lower() or None),
    ]  # fmt: skip
    for part, value in optional:
        if value is not None:
            parts.append(part)
            values.append(value)
    if scope.session_ids is not None:
        parts.append(f"token_use.session_id IN ({placeholders(ids)})")
        values += ids
    return " AND ".join(parts), values


_FAMILY: Final = (
    "WITH RECURSIVE family(id) AS (SELECT ?1 UNION"
    " SELECT session.id FROM family JOIN session ON session.parent_id = family.id)"
    " SELECT id FROM family"
)


def session_family(database: Database, session_id: str) -> tuple[str, ...]:
    """Return a session and all below it: its sub-agents, theirs, and the steps of a run."""
    return tuple(row[0] for row in database.execute(_FAMILY, (session_id,)))


_FAMILIES: Final = (
    "WITH RECURSIVE family(top, id) AS (SELECT id, id FROM session WHERE id IN ({0}) UNION"
    " SELECT family.top, session.id FROM family JOIN session ON session.parent_id = family.id)"
    " SELECT top, id FROM family"
)


def usage_of_each(database: Database, ids: Sequence[str]) -> dict[str, list[UsageFact]]:
    """Return what each of some sessions used together with all below it, as `session_usage` does of one."""
    tops: dict[str, list[str]] = {}
    for some in id_chunks(ids):
        for top, key in database.execute(_FAMILIES.format(placeholders(some)), some):
            tops.setdefault(key, []).append(top)
    used: dict[str, list[UsageFact]] = {key: [] for key in ids}
    for fact in usage_facts(database, "session", UsageScope(session_ids=tuple(tops))):
        for top in tops[fact.group]:
            used[top].append(fact)
    return used


def session_usage(database: Database, session_id: str, *, with_children: bool = True) -> list[UsageFact]:
    """Return what a session used, by what it is priced by; by default together with all below it."""
    ids = session_family(database, session_id) if with_children else (session_id,)
    return usage_facts(database, "session", UsageScope(session_ids=ids))


_SESSIONS_BY_PROVIDER: Final = (
    "SELECT token_use.provider, count(DISTINCT token_use.session_id)"
    " FROM token_use JOIN session ON session.id = token_use.session_id"
    " WHERE session.origin IS NULL GROUP BY 1"
)


def sessions_by_provider(database: Database) -> dict[str, int]:
    """Return how many sessions that were made here asked each provider."""
    return dict(database.execute(_SESSIONS_BY_PROVIDER).fetchall())


def top_sessions(database: Database) -> dict[str, str]:
    """Return of each session that stands below another one the topmost above it, by its id."""
    parents: dict[str, str] = dict(
        database.execute(
            "SELECT id, parent_id FROM session WHERE parent_id IN (SELECT id FROM session)"
        ).fetchall()
    )
    return {key: _topmost(key, parents) for key in parents}


def pipeline_names(database: Database) -> dict[str, str]:
    """Return of each session within a run the name of its pipeline: the outermost where runs start runs."""
    runs: dict[str, str] = dict(
        database.execute("SELECT pipeline_id, pipeline_name FROM pipeline_state").fetchall()
    )
    parents: dict[str, str | None] = dict(database.execute("SELECT id, parent_id FROM session").fetchall())
    names: dict[str, str] = {}
    for key in parents:
        above = [ancestor for ancestor in _line_of(key, parents) if ancestor in runs]
        if above:
            names[key] = runs[above[-1]]
    return names


def _line_of(key: str, parents: Mapping[str, str | None]) -> list[str]:
    """Return a session and all above it, itself first."""
    line: dict[str, None] = {}
    above: str | None = key
    while above is not None and above in parents and above not in line:
        line[above] = None
        above = parents[above]
    return list(line)


def row_tops(database: Database, by: str) -> dict[str, str]:
    """Return in whose row of a table a session is counted, for tables by session and by pipeline."""
    if by == "pipeline":
        return pipeline_names(database)
    return top_sessions(database) if by == "session" else {}


def _topmost(key: str, parents: dict[str, str]) -> str:
    visited: set[str] = set()
    while key in parents and key not in visited:
        visited.add(key)
        key = parents[key]
    return key


def session_names(database: Database, ids: Iterable[str]) -> dict[str, str]:
    """Return the titles of some sessions, by their ids; a title may be empty."""
    names: dict[str, str] = {}
    for some in id_chunks(ids):
        statement = f"SELECT id, title FROM session WHERE id IN ({placeholders(some)})"  # noqa: S608 only marks
        names |= dict(database.execute(statement, some).fetchall())
    return names
