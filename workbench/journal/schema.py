"""The database's tables, and the named steps that lead from one version of them to the next.

The text of a step never changes once released: databases in the field were made by it. A test holds the
columns of the index tables equal to the fields of their rows in `domain.rows`.
"""

from collections.abc import Callable
from typing import Final

from workbench.journal import words
from workbench.journal.sql import Database
from workbench.records import dataclass

WAKE_KINDS: Final = (
    "prompt.submitted", "continue.requested", "interrupt.requested", "refresh.requested",
    "undo.requested", "action.approved", "action.rejected", "action.expired", "lease.released",
    "run.requested", "run.cancel_requested", "step.retry_requested",
)  # fmt: skip
"""What gives a driver something to do, and the one kind that says all before it was seen to."""

WAKE: Final = f"recorded_at IS NULL AND kind IN ({', '.join(map(repr, WAKE_KINDS))})"

_WAKE_AT_FIRST: Final = (
    "recorded_at IS NULL AND kind IN ('prompt.submitted', 'continue.requested', 'interrupt.requested',"
    " 'refresh.requested', 'undo.requested', 'action.approved', 'action.rejected', 'action.expired',"
    " 'lease.released')"
)

_FIRST: Final = f"""
CREATE TABLE event (
    position INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, session_id TEXT NOT NULL,
    sequence_number INTEGER NOT NULL, at INTEGER NOT NULL, recorded_at INTEGER, actor TEXT NOT NULL,
    turn_id TEXT, call_id TEXT, action_id TEXT, step TEXT, kind TEXT NOT NULL, body TEXT NOT NULL,
    UNIQUE (session_id, sequence_number)
);
CREATE INDEX event_wake ON event (session_id, position) WHERE {_WAKE_AT_FIRST};
CREATE INDEX event_call ON event (call_id, position) WHERE call_id IS NOT NULL;
CREATE INDEX event_tombstone ON event (json_extract(body, '$.deleted_id')) WHERE kind = 'session.deleted';
CREATE TABLE session (
    id TEXT PRIMARY KEY, kind TEXT, status TEXT, created_at INTEGER, updated_at INTEGER, reason TEXT,
    parent_id TEXT, title TEXT, workspace TEXT, provider TEXT, model TEXT, system_prompt TEXT,
    system_prompt_ref TEXT, configuration TEXT, usage TEXT, active_tools TEXT, telemetry_id TEXT,
    origin TEXT, origin_status TEXT, number INTEGER, tags TEXT, archived INTEGER, open_turn TEXT,
    last_prompt_at INTEGER
);
CREATE INDEX session_workspace ON session (workspace, updated_at);
CREATE INDEX session_parent ON session (parent_id) WHERE parent_id IS NOT NULL;
CREATE TABLE call (
    id TEXT PRIMARY KEY, session_id TEXT, turn_id TEXT, ordinal INTEGER, provider_call_id TEXT, tool TEXT,
    state TEXT, requested_at INTEGER, parameters TEXT, parameters_ref TEXT, target TEXT, proposed INTEGER,
    approval_method TEXT, rule TEXT, verdict_by TEXT, action_id TEXT, approved_until INTEGER,
    started_at INTEGER, finished_at INTEGER, detail TEXT, summary TEXT, error TEXT, exit_code INTEGER,
    duration_ms INTEGER, output_bytes INTEGER, replaced_by TEXT
);
CREATE INDEX call_session ON call (session_id, state);
CREATE TABLE action (
    id TEXT PRIMARY KEY, session_id TEXT, kind TEXT, state TEXT, target TEXT, digest TEXT,
    created_at INTEGER, opened_at INTEGER, expires_at INTEGER, call_id TEXT, turn_id TEXT, tool TEXT,
    verb TEXT, added INTEGER, removed INTEGER, warnings TEXT, stale_paths TEXT, supersedes TEXT,
    successor TEXT, extensions INTEGER, decided_at INTEGER, decided_by TEXT, reason TEXT,
    approved_until INTEGER, result_digest TEXT, selection TEXT, edited TEXT, choice TEXT, text TEXT,
    files TEXT, choices TEXT, subject TEXT
);
CREATE INDEX action_state ON action (state, expires_at);
CREATE INDEX action_session ON action (session_id, opened_at);
CREATE TABLE rule (
    id TEXT PRIMARY KEY, effect TEXT, origin TEXT, scope TEXT, tool TEXT, pattern_kind TEXT, pattern TEXT,
    description TEXT, created_at INTEGER, scope_id TEXT, expires_at INTEGER, created_from TEXT,
    external_id TEXT, use_count INTEGER, last_used_at INTEGER, revoked_at INTEGER
);
CREATE TABLE trust (
    workspace TEXT PRIMARY KEY, content_hash TEXT, read_grant INTEGER, decided_at INTEGER,
    decided_by TEXT, revoked_at INTEGER
);
CREATE TABLE lease (
    session_id TEXT PRIMARY KEY, host_id TEXT, epoch INTEGER, pid INTEGER, driver TEXT, taken_at INTEGER,
    released INTEGER
);
CREATE TABLE host (
    id TEXT PRIMARY KEY, pid INTEGER, workspace TEXT, driver TEXT, started_at INTEGER, version TEXT,
    schema INTEGER, variables TEXT, ended_at INTEGER
);
CREATE TABLE blob_ref (ref TEXT, session_id TEXT, PRIMARY KEY (ref, session_id)) WITHOUT ROWID;
CREATE INDEX blob_ref_session ON blob_ref (session_id);
"""


_PIPELINES: Final = f"""
DROP INDEX event_wake;
CREATE INDEX event_wake ON event (session_id, position) WHERE {WAKE};
CREATE TABLE pipeline_state (
    pipeline_id TEXT PRIMARY KEY, pipeline_name TEXT, status TEXT, created_at INTEGER, updated_at INTEGER,
    input TEXT, file TEXT, number INTEGER, round INTEGER, started_at INTEGER, finished_at INTEGER,
    moved_at INTEGER, duration_ms INTEGER, error_message TEXT, usage TEXT
);
CREATE INDEX pipeline_state_name ON pipeline_state (pipeline_name, number);
CREATE TABLE step_state (
    key TEXT PRIMARY KEY, pipeline_id TEXT, step_id TEXT, state TEXT, ordinal INTEGER, kind TEXT,
    persona TEXT, matrix TEXT, attempt INTEGER, retry_count INTEGER, is_warned INTEGER, contract TEXT,
    started_at INTEGER, completed_at INTEGER, moved_at INTEGER, duration_ms INTEGER, workspace_path TEXT,
    session_id TEXT, action_id TEXT, exit_code INTEGER, error_message TEXT, usage TEXT,
    UNIQUE (pipeline_id, step_id)
);
"""
_WORDS: Final = """CASE kind
    WHEN 'session.created' THEN json_extract(body, '$.title')
    WHEN 'session.changed' THEN concat_ws(' ', json_extract(body, '$.title'), json_extract(body, '$.tags'))
    WHEN 'call.proposed' THEN concat_ws(' ', json_extract(body, '$.target'),
        json_extract(body, '$.parameters.command'), json_extract(body, '$.parameters.path'))
    WHEN 'file.changed' THEN json_extract(body, '$.path')
    WHEN 'action.rejected' THEN json_extract(body, '$.reason')
    ELSE json_extract(body, '$.text') END"""

_SEARCH: Final = f"""
CREATE TABLE search_session (number INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL UNIQUE);
CREATE VIEW search_text AS SELECT number * {1 << 24} + sequence_number AS id,
    substr(coalesce({_WORDS}, ''), 1, 65536) AS words, event.session_id AS session_id, sequence_number
    FROM event JOIN search_session ON search_session.session_id = event.session_id
    WHERE kind IN ('session.created', 'session.changed', 'prompt.submitted', 'reply.completed',
    'call.proposed', 'file.changed', 'action.rejected');
CREATE VIRTUAL TABLE search USING fts5 (words, content = 'search_text', content_rowid = 'id',
    columnsize = 0, tokenize = "unicode61 remove_diacritics 2");
INSERT INTO search (search, rank) VALUES ('secure-delete', 1);
INSERT INTO search_session (session_id)
    SELECT session_id FROM event GROUP BY session_id ORDER BY min(position);
INSERT INTO search (search) VALUES ('rebuild');
"""  # noqa: S608 words of our own
_COMPOUNDS: Final = f"""
DROP TABLE search;
DROP VIEW search_text;
CREATE VIEW search_text AS SELECT number * {1 << 24} + sequence_number AS id,
    with_parts(substr(coalesce({_WORDS}, ''), 1, 65536)) AS words, event.session_id AS session_id,
    sequence_number
    FROM event JOIN search_session ON search_session.session_id = event.session_id
    WHERE kind IN ('session.created', 'session.changed', 'prompt.submitted', 'reply.completed',
    'call.proposed', 'file.changed', 'action.rejected');
CREATE VIRTUAL TABLE search USING fts5 (words, content = 'search_text', content_rowid = 'id',
    columnsize = 0, tokenize = "unicode61 remove_diacritics 2");
INSERT INTO search (search, rank) VALUES ('secure-delete', 1);
INSERT OR IGNORE INTO search_session (session_id)
    SELECT session_id FROM event GROUP BY session_id ORDER BY min(position);
INSERT INTO search (search) VALUES ('rebuild');
"""  # noqa: S608 words of our own
"""`with_parts` is `text.compounds.with_parts`, which every connection knows (`journal.sql`)."""

_COUNTED: Final = """
CREATE INDEX event_counted ON event (session_id, kind)
    WHERE kind = 'file.changed' OR kind = 'turn.started' OR kind = 'turn.ended';
"""
"""What lists and statistics count: without it they would read every event, streamed text included."""


def _vocabulary(database: Database) -> None:
    database.execute("CREATE TABLE search_word (word TEXT PRIMARY KEY) WITHOUT ROWID")
    words.rebuild(database)


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One step; `change` is SQL, or a function of the database, run inside a transaction."""

    version: int
    """The schema version after it; it follows `version - 1`."""
    name: str
    change: str | Callable[[Database], None]

    def run(self, database: Database) -> None:
        """Apply the step and note its version."""
        if isinstance(self.change, str):
            database.execute(self.change)
        else:
            self.change(database)
        database.execute(f"PRAGMA user_version = {self.version}")


MIGRATIONS: Final = (
    Migration(version=1, name="events and index tables", change=_FIRST),
    Migration(version=2, name="pipeline runs", change=_PIPELINES),
    Migration(version=3, name="full text search", change=_SEARCH),
    Migration(version=4, name="search within words of code", change=_COMPOUNDS),
    Migration(version=5, name="events that are counted", change=_COUNTED),
    Migration(version=6, name="search within all words", change=_vocabulary),
    Migration(version=7, name="how much was seen", change="ALTER TABLE action ADD COLUMN seen TEXT"),
)
SCHEMA_VERSION: Final = MIGRATIONS[-1].version
