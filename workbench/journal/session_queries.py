"""Queries over sessions for lists: rows, counts, time spans, facts.

Reads no text of a conversation. Counts beside a session are queried only for the sessions on the screen.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from workbench.domain.machines import StepStateName
from workbench.domain.rows import (
    WORKTREE_SETTING,
    WORKTREES_SUFFIX,
    ActivitySpans,
    Call,
    DeletionExtent,
    Session,
    SessionCounts,
)
from workbench.domain.values import SYSTEM_SESSION, SessionKind, Usage
from workbench.journal import storage
from workbench.journal.database import WAKES_DRIVER, Database, SqlValue
from workbench.journal.storage import id_chunks, placeholders

if TYPE_CHECKING:
    from workbench.journal.journal import Journal

_LISTED_COLUMNS: Final = (
    "id, kind, status, created_at, updated_at, reason, parent_id, title, workspace, provider, model, usage,"
    " origin, number, tags, archived, origin_status, CASE WHEN parent_id IS NOT NULL AND origin IS NOT NULL"
    " THEN json_extract(configuration, '$.import.fork') END,"
    f" CASE WHEN workspace LIKE '%{WORKTREES_SUFFIX}/%' THEN json_extract(configuration, '$.worktree') END"
)


def listed_sessions(database: Database, ids: Iterable[str] | None = None) -> list[Session]:
    """Return sessions, the last changed first, without prompts, settings and tools: those stay empty.

    Of its settings an imported fork keeps that it is one, and a session in a worktree which it is.

    Steps of pipelines are left out: their run stands for them. `ids`: only these; None is all but the
    journal's own.
    """
    statement = f"SELECT {_LISTED_COLUMNS} FROM session WHERE kind != 'step' AND id != ?"  # noqa: S608 ours
    if ids is None:
        records = database.execute(f"{statement} ORDER BY updated_at DESC, id", (SYSTEM_SESSION,)).fetchall()
        return [_listed_session(row) for row in records]
    rows: list[Session] = []
    for some in id_chunks(ids):
        records = database.execute(f"{statement} AND id IN ({placeholders(some)})", (SYSTEM_SESSION, *some))
        rows += [_listed_session(row) for row in records]
    return rows


COMMAND_SUGGESTED: Final = "command.suggested"
IMPORTED_COMMAND: Final = "cmd.iteration"
"""The kept records of an imported log of S3, one for each command."""
_ARE_COMMANDS: Final = "(kind = 'ask' OR origin = 'cmd')"
_LOG_STATUS: Final = "CASE WHEN origin_status IN ('accepted', 'rejected') THEN origin_status ELSE 'quit' END"
_LOG_ORDERS: Final = {
    "updated": "updated_at",
    "created": "created_at",
    "title": "lower(title)",
    "tokens": "coalesce(json_extract(usage, '$.input_tokens'), 0)"
    " + coalesce(json_extract(usage, '$.output_tokens'), 0)",
    "status": _LOG_STATUS,
    "model": "lower(model)",
    "workspace": "workspace",
}


class CommandLogScope(Struct, frozen=True, kw_only=True):
    """Which logs of commands are listed, and in which order; None narrows nothing."""

    workspace: str | None = None
    status: str | None = None
    """`accepted`, `rejected` or `quit`."""
    model: str | None = None
    provider: str | None = None
    origin: str | None = None
    kind: str | None = None
    tag: str | None = None
    archived: bool | None = False
    since: int | None = None
    until: int | None = None
    ids: tuple[str, ...] | None = None
    """Only these sessions."""
    sort: str = "updated"
    is_ascending: bool = False
    limit: int = -1
    offset: int = 0


def command_sessions(database: Database, scope: CommandLogScope) -> list[Session]:
    """Return the sessions of commands that were made of words, here or in the program of S3."""
    conditions = {
        "workspace = ?": scope.workspace, f"{_LOG_STATUS} = ?": scope.status, "model = ?": scope.model,
        "provider = ?": scope.provider, "coalesce(origin, 'workbench') = ?": scope.origin,
        "kind = ?": scope.kind, "EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)": scope.tag,
        "archived = ?": scope.archived, "updated_at >= ?": scope.since, "updated_at < ?": scope.until,
        "id IN (SELECT value FROM json_each(?))": None if scope.ids is None else json.dumps(scope.ids),
    }  # fmt: skip
    filters = {condition: value for condition, value in conditions.items() if value is not None}
    where = " AND ".join((_ARE_COMMANDS, *filters))
    direction = "ASC" if scope.is_ascending else "DESC"
    order = f"{_LOG_ORDERS[scope.sort]} {direction}, created_at {direction}, id"
    statement = f"SELECT {_LISTED_COLUMNS} FROM session WHERE {where} ORDER BY {order} LIMIT ? OFFSET ?"  # noqa: S608 ours
    rows = database.execute(statement, (*filters.values(), scope.limit, scope.offset))
    return [_listed_session(row) for row in rows]


def command_log_session(database: Database, log: str) -> str | None:
    """Return the id of the session whose log is called that."""
    names = ("$.ask.log", "$.import.id")
    where = " OR ".join(f"json_extract(configuration, '{name}') = ?1" for name in names)
    statement = f"SELECT id FROM session WHERE {_ARE_COMMANDS} AND ({where}) LIMIT 1"  # noqa: S608 ours
    return database.execute(statement, (log,)).get


class CommandText(Struct, frozen=True, kw_only=True):
    """What was asked and suggested in a session."""

    count: int = 0
    """Commands that were suggested."""
    query: str = ""
    """The first words."""
    last: str = ""
    words: str = ""
    """Everything that is looked through: words, commands, explanations."""


def command_texts(database: Database, ids: Iterable[str]) -> dict[str, CommandText]:
    """Return what was asked and suggested in some sessions, by their ids."""
    texts: dict[str, CommandText] = {}
    for some in id_chunks(ids):
        statement = (
            "SELECT session_id, kind, coalesce(json_extract(body, '$.text'), ''),"  # noqa: S608 ours
            " coalesce(json_extract(body, '$.command'),"
            " json_extract(body, '$.model_output.command'), ''),"
            " coalesce(json_extract(body, '$.explanation'),"
            " json_extract(body, '$.model_output.explanation'), '')"
            f" FROM event WHERE session_id IN ({placeholders(some)})"
            f" AND kind IN ('prompt.submitted', '{COMMAND_SUGGESTED}', '{IMPORTED_COMMAND}')"
            " ORDER BY session_id, sequence_number"
        )
        for key, kind, text, command, explanation in database.execute(statement, some):
            before = texts.get(key, CommandText())
            is_command = kind != "prompt.submitted"
            texts[key] = CommandText(
                count=before.count + is_command, query=before.query or text,
                last=command if is_command else before.last,
                words="\n".join(filter(None, (before.words, text, command, explanation))),
            )  # fmt: skip
    return texts


def count_in_other_workspaces(database: Database, workspace: str) -> int:
    """Return how many sessions of other workspaces the library lists, archived ones left out."""
    statement = (
        "SELECT count(*) FROM session WHERE kind != 'step' AND id != ? AND workspace != ? AND NOT archived"
    )
    return int(database.execute(statement, (SYSTEM_SESSION, workspace)).get or 0)


def workspaces_below(database: Database, folder: str) -> frozenset[str]:
    """Return the workspaces of sessions that are a folder or lie below it."""
    statement = (
        "SELECT DISTINCT workspace FROM session WHERE workspace = ?1 OR (workspace > ?2 AND workspace < ?3)"
    )
    rows = database.execute(statement, (folder, f"{folder}/", f"{folder}0"))
    return frozenset(str(row[0]) for row in rows)


def worktrees_of(database: Database, workspace: str) -> list[str]:
    """Return the workspaces in worktrees that were made from a workspace for sessions."""
    statement = (
        "SELECT DISTINCT workspace FROM session WHERE rowid IN"
        " (SELECT rowid FROM session INDEXED BY session_workspace WHERE workspace LIKE ?)"
        " AND json_extract(configuration, '$.worktree.origin') = ?"
    )
    return [str(row[0]) for row in database.execute(statement, (f"%{WORKTREES_SUFFIX}/%", workspace))]


def asked_again_ids(database: Database, session_id: str) -> frozenset[str]:
    """Return the expired actions of a session that its agent was asked to propose again."""
    statement = (
        "SELECT asked.value FROM event, json_each(event.body, '$.asks_again') AS asked"  # noqa: S608 ours
        f" WHERE session_id = ? AND {WAKES_DRIVER} AND kind = 'prompt.submitted'"
    )
    return frozenset(str(row[0]) for row in database.execute(statement, (session_id,)))


def _listed_session(row: Sequence[SqlValue]) -> Session:
    key, kind, status, created, updated, reason, parent, title, place, provider, model = row[:11]
    usage, origin, number, tags, archived, origin_status, fork, worktree = row[11:]
    members: dict[str, object] = {
        "id": key, "kind": kind, "status": status, "created_at": created, "updated_at": updated,
        "reason": reason, "parent_id": parent, "title": title, "workspace": place, "provider": provider,
        "model": model, "origin": origin, "number": number, "archived": bool(archived),
        "origin_status": origin_status,
    }  # fmt: skip
    if usage:
        members["usage"] = Usage(**json.loads(str(usage)))
    if tags and tags != "[]":
        members["tags"] = tuple(json.loads(str(tags)))
    if fork:
        members["configuration"] = {"import": {"fork": fork}}
    if worktree:
        members["configuration"] = {WORKTREE_SETTING: json.loads(str(worktree))}
    return Session(**members)  # type: ignore[arg-type]


def pending_action_counts(database: Database) -> dict[str, int]:
    """Return how many questions wait, by session; what a step asks waits in its run as well."""
    statement = (
        "WITH RECURSIVE above(id, top) AS (SELECT id, id FROM session WHERE id IN"
        " (SELECT session_id FROM action WHERE state = 'pending')"
        " UNION SELECT above.id, parent_id FROM above JOIN session ON session.id = top"
        " WHERE session.kind = 'step' AND parent_id IS NOT NULL)"
        " SELECT top, count(*) FROM action JOIN above ON above.id = session_id"
        " WHERE state = 'pending' GROUP BY 1"
    )
    return {row[0]: row[1] for row in database.execute(statement)}


class KindWeight(Struct, frozen=True, kw_only=True):
    """What the sessions of a kind take: their rows, and the bytes of their events."""

    sessions: int
    events: int
    calls: int
    actions: int
    event_bytes: int
    blobs: tuple[str, ...]
    """What they refer to; others may as well."""


def weight_of_kind(database: Database, kind: SessionKind) -> KindWeight:
    """Return what the sessions of a kind take."""
    of_kind = "session_id IN (SELECT id FROM session WHERE kind = ?)"
    events, size = database.execute(
        f"SELECT count(*), coalesce(sum(length(body)), 0) FROM event WHERE {of_kind}",  # noqa: S608
        (kind,),
    ).fetchall()[0]
    calls, actions = (
        database.execute(f"SELECT count(*) FROM {table} WHERE {of_kind}", (kind,)).get  # noqa: S608
        for table in ("call", "action")
    )
    refs = database.execute(f"SELECT DISTINCT ref FROM blob_ref WHERE {of_kind}", (kind,))  # noqa: S608
    return KindWeight(
        sessions=database.execute("SELECT count(*) FROM session WHERE kind = ?", (kind,)).get,
        events=events, calls=calls, actions=actions, event_bytes=size, blobs=tuple(row[0] for row in refs),
    )  # fmt: skip


def has_executing_call(database: Database, session_ids: Iterable[str]) -> bool:
    """Return whether a call runs in some sessions, or in those below them."""
    statement = (
        "WITH RECURSIVE tree(id) AS (SELECT value FROM json_each(?)"
        " UNION SELECT session.id FROM session JOIN tree ON session.parent_id = tree.id)"
        " SELECT 1 FROM call WHERE state = 'executing' AND session_id IN tree LIMIT 1"
    )
    return database.execute(statement, (json.dumps(list(session_ids)),)).fetchone() is not None


_COUNTED_EVENTS: Final = "event INDEXED BY event_counted WHERE session_id IN ({})"
_COUNT_STATEMENTS: Final = (
    "SELECT session_id, sum(state = 'rejected'), sum(state = 'expired'), 0, 0, 0, 0, 0,"
    " sum(state = 'approved')"
    " FROM action WHERE session_id IN ({}) GROUP BY 1",
    "SELECT session_id, 0, 0, count(*), 0, 0, 0, 0, 0"
    " FROM call WHERE session_id IN ({}) AND state = 'failed' GROUP BY 1",
    "SELECT session_id, 0, 0, 0, count(*), 0, 0, 0, 0"  # noqa: S608 ours
    f" FROM {_COUNTED_EVENTS} AND kind = 'turn.ended' GROUP BY 1",
    "SELECT session_id, 0, 0, 0, 0, count(*), sum(coalesce(json_extract(body, '$.added'), 0)),"  # noqa: S608 ours
    " sum(coalesce(json_extract(body, '$.removed'), 0)), 0"
    f" FROM {_COUNTED_EVENTS} AND kind = 'file.changed' GROUP BY 1",
)
"""Columns in the order of the fields of `SessionCounts`; each statement fills its own."""


def session_counts(database: Database, ids: Iterable[str]) -> dict[str, SessionCounts]:
    """Return what there is to say of some sessions in a word or two, by their ids."""
    counted: dict[str, SessionCounts] = {}
    for some in id_chunks(ids):
        counts = {key: [0] * 8 for key in some}
        for statement in _COUNT_STATEMENTS:
            for key, *values in database.execute(statement.format(placeholders(some)), some):
                counts[key] = [total + more for total, more in zip(counts[key], values, strict=True)]
        counted |= {key: SessionCounts(*values) for key, values in counts.items()}
    return counted


def deletion_extent(database: Database, session_id: str) -> DeletionExtent:
    """Return what would go if a session were deleted, the steps of a run included."""
    whole = "(SELECT ?1 UNION SELECT id FROM session WHERE parent_id = ?1 AND kind = 'step')"
    counted = [
        database.execute(f"SELECT count(*) FROM {table} WHERE session_id IN {whole}", (session_id,)).get  # noqa: S608 ours
        for table in ("event", "call", "action", "blob_ref")
    ]
    steps = database.execute(
        "SELECT count(*) FROM session WHERE parent_id = ? AND kind = 'step'", (session_id,)
    ).get
    events, calls, actions, blobs = counted
    return DeletionExtent(events, calls, actions, blobs, steps)


def activity_spans(database: Database, session_id: str) -> ActivitySpans:
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
    waits_statement = (
        "SELECT created_at, decided_at FROM action WHERE session_id = ? AND decided_at IS NOT NULL"
    )
    waits = [(row[0], row[1]) for row in database.execute(waits_statement, (session_id,))]
    return ActivitySpans(turns=tuple(turns.values()), waits=tuple(waits))


def sessions_with_facets(
    database: Database, tools: Mapping[str, Sequence[str]], answers: Iterable[str]
) -> frozenset[str]:
    """Return the sessions in which every one of some tools was called and every answer was given.

    `tools`: beginnings of their names, in any case, each with whole names in lower case that stand for it as
    well. `answers`: beginnings of the states of an action: `rejected`, `expired`.
    """
    facets = [
        *(("call", "tool", word, names) for word, names in tools.items()),
        *(("action", "state", word, ()) for word in answers),
    ]
    matching: frozenset[str] | None = None
    for table, column, word, names in facets:
        statement = (
            f"SELECT DISTINCT session_id FROM {table} WHERE lower(substr({column}, 1, ?)) = ?"  # noqa: S608
            f" OR lower({column}) IN ({placeholders(names)})"
        )
        rows = {row[0] for row in database.execute(statement, (len(word), word.lower(), *names))}
        matching = frozenset(rows) if matching is None else matching & rows
    return matching or frozenset()


IS_FORK: Final = "json_extract(session.configuration, '$.forked_from') IS NOT NULL"
CALL_NOT_COPIED: Final = f"NOT ({IS_FORK} AND call.requested_at < session.created_at)"
"""A fork holds copies of what happened before it began: those calls were made once, in its source."""


def calls_that_asked(database: Database, tool: str, most: int) -> list[tuple[Call, str, str]]:
    """Return the newest calls of a tool that opened an action, with workspace and title of their sessions."""
    newest = (
        "WHERE tool = ? AND action_id IS NOT NULL AND replaced_by IS NULL"  # noqa: S608
        f" AND EXISTS (SELECT 1 FROM session WHERE session.id = call.session_id AND {CALL_NOT_COPIED})"
        " ORDER BY requested_at DESC, id LIMIT ?"
    )
    rows = database.execute(f"{storage.select_statement(Call)} {newest}", (tool, most)).fetchall()
    calls: list[Call] = [storage.row_from_values(Call, row) for row in rows]
    about: dict[str, tuple[str, str]] = {}
    for some in id_chunks(call.session_id for call in calls):
        statement = f"SELECT id, workspace, title FROM session WHERE id IN ({placeholders(some)})"  # noqa: S608
        about |= {row[0]: (row[1], row[2]) for row in database.execute(statement, some)}
    return [(call, *about.get(call.session_id, ("", ""))) for call in calls]


def open_turns(journal: "Journal") -> frozenset[str]:
    """Return the ids of the turns of all sessions that are not over."""
    with journal.snapshot() as database:
        rows = database.execute("SELECT open_turn FROM session WHERE open_turn IS NOT NULL", ())
        return frozenset(str(row[0]) for row in rows)


class ItemCount(NamedTuple):
    """How many items of a matrix are in a state."""

    matrix: str
    state: StepStateName
    is_warned: bool
    size: int


def item_counts(database: Database, run_id: str) -> list[ItemCount]:
    """Return how many items of each matrix of a run are in each state, of those that have a row."""
    statement = (
        "SELECT matrix, state, is_warned, count(*) FROM step_state"
        " WHERE pipeline_id = ? AND matrix != '' GROUP BY matrix, state, is_warned ORDER BY matrix"
    )
    return [
        ItemCount(matrix, state, bool(is_warned), count)
        for matrix, state, is_warned, count in database.execute(statement, (run_id,))
    ]


def refused_calls(database: Database, session_id: str) -> dict[str, int]:
    """Count the refused calls of each child of a session, with all sessions below it; leave zeros out."""
    statement = (
        "WITH RECURSIVE below (id, child) AS (SELECT id, id FROM session WHERE parent_id = ?"
        " UNION ALL SELECT session.id, below.child FROM session JOIN below ON session.parent_id = below.id)"
        " SELECT child, count(*) FROM below JOIN call ON call.session_id = below.id"
        " AND call.state = 'rejected' GROUP BY child"
    )
    return dict(database.execute(statement, (session_id,)))


def refused_calls_by_step(database: Database, run_id: str) -> Counter[str]:
    """Count the refused calls of each step's last attempt by step id; a matrix counts those of its items."""
    counts, by_step = refused_calls(database, run_id), Counter[str]()
    for some in id_chunks(counts):
        statement = (
            "SELECT step_id, matrix, session_id FROM step_state"  # noqa: S608 ours
            f" WHERE pipeline_id = ? AND session_id IN ({placeholders(some)})"
        )
        for step, matrix, session in database.execute(statement, (run_id, *some)):
            by_step.update({name: counts[session] for name in (step, matrix) if name})
    return by_step


def steps_with_links(database: Database, run_id: str) -> list[str]:
    """Return the steps of a run that left links at any time, in the order of their first ones."""
    statement = (
        "SELECT step FROM event WHERE session_id = ? AND kind = 'step.changed'"
        " AND instr(body, '\"links\":') GROUP BY step ORDER BY min(position)"
    )
    return [row[0] for row in database.execute(statement, (run_id,))]


def session_ids_after(database: Database, after: int, until: int) -> list[str]:
    """Return the sessions that have events behind a position, up to another one."""
    statement = "SELECT DISTINCT session_id FROM event WHERE position > ? AND position <= ?"
    return [row[0] for row in database.execute(statement, (after, until))]


def pending_action_ids(journal: "Journal", session_id: str) -> tuple[str, ...]:
    """Return the ids of the actions that wait in a session and in those below it."""
    waiting = [action.id for action in journal.actions(session_id, states=("pending",))]
    for child in journal.sessions(parent_id=session_id):
        waiting += pending_action_ids(journal, child.id)
    return tuple(waiting)
