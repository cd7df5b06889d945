"""What a replay reads: one session's timeline, the rows around it as of a position, and stored checkpoints.

Checkpoints are files with the rows that each stretch of a recording changed. They hold nothing that the
events do not; a damaged or outdated file is deleted.
"""

# Checkpoints of a replay are files, not a table: they hold nothing that the events do not, so no migration,
# no transaction and no backup is spent on them. A file names the fold that made it, each line the stretch
# it follows and the event it ends with; anything that does not fit is thrown away. Deleting any session
# removes all of them, and a writer that is under way writes into a file without a name.

import base64
import binascii
import contextlib
import hashlib
import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from workbench.domain import fold, machines
from workbench.domain.events import Event, FileChanged
from workbench.domain.fold import MemoryTables
from workbench.domain.rows import Action, Call, Session
from workbench.domain.values import SYSTEM_SESSION
from workbench.effects.file_primitives import FileRefused
from workbench.effects.path_files import open_append, private_folder
from workbench.journal import storage
from workbench.journal.database import Database, SqlValue
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.storage import SELECT_EVENTS, STREAMED_KINDS, decode_event

MOST_OTHER_SESSIONS: Final = 200
"""Other sessions of the workspace that are shown beside a recording: the newest ones of then."""
_SESSIONS_WITH_DECIDED: Final = 12
"""Of so many of them, the newest, decided actions are shown too; pending ones of all."""
_FIRST_OF: Final = "FROM event WHERE session_id = session.id ORDER BY sequence_number LIMIT 1"
_LAST_OF: Final = "FROM event WHERE session_id = family.id ORDER BY sequence_number DESC LIMIT 1"
_FAMILY: Final = f"""
WITH RECURSIVE family(id) AS (
    SELECT ? UNION SELECT session.id FROM session JOIN family ON session.parent_id = family.id
    WHERE session.origin IS NULL OR (SELECT position {_FIRST_OF}) < (SELECT position {_LAST_OF})
        OR (SELECT at {_FIRST_OF}) >= (SELECT at {_LAST_OF})
) SELECT id FROM family"""  # noqa: S608 ours
"""A session and those below it. An agent that was imported behind the end of the session that it worked for,
and began before that end, is replayed alone: its times would go back."""
_SELECT_COLUMNS: Final = """
SELECT json_group_array(position), json_group_array(at), json_group_array(position) FILTER ({told}),
    json_group_array(kind) FILTER ({told}), json_group_array({fact}) FILTER ({told})
FROM (SELECT * FROM event WHERE {where} ORDER BY {order} LIMIT ?)"""
TimelineColumns = tuple[list[int], list[int], list[tuple[int, str, Any]]]
"""Positions, times, and position, kind and fact of those that are told."""
_LASTING: Final = f"kind NOT IN ({', '.join(repr(kind) for kind in STREAMED_KINDS)})"


class ReplayReader:
    """Reads the recording of one session."""

    def __init__(self, journal: Journal, session_id: str) -> None:
        self._reader, self.session_id = journal, session_id
        session = journal.session(session_id)
        self._workspace = session.workspace if session else ""
        # What was imported has the positions of its import: what was beside it then, only times say.
        self._is_imported = session is not None and session.origin is not None

    def columns(self, facts: Mapping[str, str | None], after: int = 0, limit: int = -1) -> TimelineColumns:
        """Return positions and times of the recording's events, in order, and a fact of some of them.

        The database writes each column as one text: a row an event would take four times as long, and no
        other thread could run meanwhile. The fact of `turn.ended` is its number and its session. `facts`: the
        kinds of which a fact is wanted, and the field of the body that is it; None for none. `after`: only
        events behind this position. `limit`: at most so many events; negative for all.
        """
        with self._reader.snapshot() as database:
            ids = [key for (key,) in database.execute(_FAMILY, (self.session_id,))]
            where, order, bindings = _events_of(database, ids, after)
            statement = _SELECT_COLUMNS.format(where=where, order=order, **_fact_cases(facts))
            cursor = database.execute(statement, (*bindings, limit))
            positions, times, *told_columns = [json.loads(column) for column in cursor.fetchone() or ()]
        return positions, times, list(zip(*told_columns, strict=True))

    def outlook(self) -> tuple[int, int]:
        """Return how many events the recording has, and when the last of them was."""
        with self._reader.snapshot() as database:
            ids = [key for (key,) in database.execute(_FAMILY, (self.session_id,))]
            lasts = [database.execute(_SELECT_LAST, (key,)).fetchone() or (0, 0) for key in ids]
        return sum(count for count, _ in lasts), max(last_at for _, last_at in lasts)

    def lasting(self, after: int, until: int, limit: int) -> list[Event]:
        """Return what changes rows in the workspace: events between two positions that are no pieces."""
        return self._read(_LASTING, after, until, limit)

    def between(self, after: int, until: int, limit: int) -> list[Event]:
        """Return every event of the workspace between two positions, pieces of streams too."""
        return self._read("true", after, until, limit)

    def _read(self, which: str, after: int, until: int, limit: int) -> list[Event]:
        where = f"position > ? AND position <= ? AND {which}"
        # Agents of a run's steps have folders of their own.
        scope, bindings = f"+session_id IN ({_FAMILY})", [self.session_id]
        if not self._is_imported:
            others = "+session_id = ? OR +session_id IN (SELECT id FROM session WHERE workspace = ?)"
            scope, bindings = f"{scope} OR {others}", [*bindings, SYSTEM_SESSION, self._workspace]
        where = f"{where} AND ({scope}) ORDER BY position LIMIT ?"
        return self._events(where, after, until, *bindings, limit)

    def number_at(self, session_id: str, position: int) -> int:
        """Return the number of a session's last event up to a position; 0 if it had none then."""
        with self._reader.snapshot() as database:
            newest = "SELECT max(sequence_number) FROM event WHERE session_id = ?"
            last = database.execute(newest, (session_id,)).get
            low, high = 0, last or 0
            while low < high:
                middle = (low + high + 1) // 2
                candidate = database.execute(_SELECT_POSITION, (session_id, middle)).get
                low, high = (
                    (middle, high) if candidate is not None and candidate <= position else (low, middle - 1)
                )
        return low

    def before(self, position: int, time: int) -> MemoryTables:
        """Return the rows of the workspace as they stood at a position, and at its time.

        Around what was imported they are those of the time.
        """
        rows = MemoryTables()
        moment, bound = ("at", time) if self._is_imported else ("position", position)
        others = "WHERE workspace = ? AND created_at <= ? ORDER BY updated_at DESC LIMIT ?"
        with self._reader.snapshot() as database:
            family = {key for (key,) in database.execute(_FAMILY, (self.session_id,))}
            session_rows = database.execute(
                f"{storage.select_statement(Session)} {others}", (self._workspace, time, MOST_OTHER_SESSIONS)
            ).fetchall()
            spans: list[str] = [SYSTEM_SESSION]
            for rank, values in enumerate(session_rows):
                session: Session = storage.row_from_values(Session, values)
                if session.id in family or _session_edge(database, session.id, moment, "ASC") > bound:
                    continue
                if _session_edge(database, session.id, moment, "DESC") > bound:
                    spans.append(session.id)
                else:
                    _put_unchanged_session(rows, database, session, has_decided=rank < _SESSIONS_WITH_DECIDED)
        for session_id in spans:
            where = f"session_id = ? AND {moment} <= ? AND {_LASTING} ORDER BY sequence_number"
            rows.fold(self._events(where, session_id, bound))
        return rows

    def _events(self, where: str, *bindings: SqlValue) -> list[Event]:
        with self._reader.snapshot() as database:
            return list(map(decode_event, database.execute(f"{SELECT_EVENTS} WHERE {where}", bindings)))


def _fact_cases(facts: Mapping[str, str | None]) -> dict[str, str]:
    # Which turn ended is told by its number and session, whatever else there is to say.
    ended = "WHEN 'turn.ended' THEN sequence_number || ' ' || session_id"
    cases = (f"WHEN '{kind}' THEN json_extract(body, '$.{name}')" for kind, name in facts.items() if name)
    condition = f"WHERE kind IN ({', '.join(map(repr, facts))})"
    return {"told": condition, "fact": f"CASE kind {ended} {' '.join(cases)} END"}


def _events_of(database: Database, ids: Sequence[str], after: int) -> tuple[str, str, tuple[SqlValue, ...]]:
    if len(ids) > 1:
        # Few are behind what was read; of all, the sessions' own indexes are read and sorted.
        plus = "+" if after else ""
        return (
            f"position > ? AND {plus}session_id IN ({storage.placeholders(ids)})",
            "position",
            (after, *ids),
        )
    if not after:
        return "session_id = ?", "sequence_number", tuple(ids)
    # Alone, the session's own index is walked from there, and nothing of others is read or sorted.
    number = database.execute(_SELECT_NUMBER, (ids[0], after)).get or 0
    return "session_id = ? AND sequence_number > ?", "sequence_number", (*ids, number)


def workspace_file_changes(journal: Journal, workspace: str) -> Iterator[tuple[int, FileChanged]]:
    """Yield what was written in a workspace with the position of each, in order, but of imports."""
    condition = (
        "recorded_at IS NULL AND session_id IN (SELECT id FROM session WHERE workspace = ?) ORDER BY position"
    )
    for event in _select_file_changes(journal, condition, workspace):
        if isinstance(event.body, FileChanged):
            yield event.position, event.body


def session_file_changes(journal: Journal, session_id: str) -> list[Event]:
    """Return what was written in a session here, in order, without what a fork or an import brought."""
    condition = "session_id = ? AND recorded_at IS NULL ORDER BY sequence_number"
    return list(_select_file_changes(journal, condition, session_id))


def last_file_change(journal: Journal, session_id: str, path: str) -> FileChanged | None:
    """Return the last change of a file in a session, without what a fork or an import brought."""
    condition = (
        "session_id = ? AND recorded_at IS NULL AND json_extract(body, '$.path') = ?"
        " ORDER BY sequence_number DESC LIMIT 1"
    )
    bodies = [event.body for event in _select_file_changes(journal, condition, session_id, path)]
    return next((body for body in bodies if isinstance(body, FileChanged)), None)


def file_changes(journal: Journal, session_id: str) -> Iterator[Event]:
    """Return what was written in a session in order, also what an import says of it."""
    return _select_file_changes(journal, "session_id = ? ORDER BY sequence_number", session_id)


def _select_file_changes(journal: Journal, condition: str, *keys: str) -> Iterator[Event]:
    statement = f"{SELECT_EVENTS} WHERE kind = 'file.changed' AND {condition}"
    with journal.snapshot() as database:
        yield from map(decode_event, database.execute(statement, keys))


def session_turns(journal: Journal, session_id: str) -> list[str]:
    """Return the ids of the turns of a session, in the order in which they began."""
    statement = (
        "SELECT turn_id FROM event WHERE session_id = ? AND kind = 'turn.started' AND turn_id IS NOT NULL"
        " GROUP BY turn_id ORDER BY min(sequence_number)"
    )
    with journal.snapshot() as database:
        return [str(row[0]) for row in database.execute(statement, (session_id,))]


def _put_unchanged_session(
    rows: MemoryTables, database: Database, session: Session, *, has_decided: bool
) -> None:
    rows.put(session)
    state = "state != 'superseded'" if has_decided else "state = 'pending'"
    action_rows = database.execute(
        f"{storage.select_statement(Action)} WHERE session_id = ? AND {state}", (session.id,)
    )
    actions: Iterable[Action] = [storage.row_from_values(Action, values) for values in action_rows]
    for action in actions:
        rows.put(action)
        call = database.execute(
            f"{storage.select_statement(Call)} WHERE id = ?", (action.call_id,)
        ).fetchone()
        if call is not None:
            rows.put(storage.row_from_values(Call, call))


_SELECT_NUMBER: Final = (
    "SELECT sequence_number FROM event WHERE +session_id = ? AND position <= ? ORDER BY position DESC LIMIT 1"
)
_SELECT_LAST: Final = (
    "SELECT sequence_number, at FROM event WHERE session_id = ? ORDER BY sequence_number DESC LIMIT 1"
)
_SELECT_POSITION: Final = "SELECT position FROM event WHERE session_id = ? AND sequence_number = ?"


def _session_edge(database: Database, session_id: str, column: str, order: str) -> int:
    where = f"session_id = ? ORDER BY sequence_number {order} LIMIT 1"
    statement = f"SELECT {column} FROM event WHERE {where}"  # noqa: S608 our own names
    return database.execute(statement, (session_id,)).get or 0


CHECKPOINT_FOLDER: Final = "replay"
MOST_CHECKPOINT_FILES: Final = 40
"""Recordings whose checkpoints are kept: those looked at last."""
LARGEST_CHECKPOINT_FILE: Final = 64_000_000
"""Bytes of a file that is read; a larger one is thrown away."""
_CHECKPOINT_FORMAT: Final = 1
_CHECKPOINT_ROWS: Final = storage.INDEX_ROW_TYPES
StoredCheckpoint = tuple[int, Callable[[], MemoryTables]]
"""A position and what reads the rows that changed in the stretch up to it."""


class CheckpointDamaged(ValueError):
    """A stored checkpoint does not hold what it should."""


class ReplayCheckpoints:
    """The stored checkpoints of one recording."""

    def __init__(self, journal: Journal, session_id: str, begins: int, stretch: int) -> None:
        """Name the file; nothing is opened.

        `begins`: the position before its first event. `stretch`: lasting events between two checkpoints.
        """
        self._journal = journal
        name = journal.blobs.keyed(f"checkpoints {session_id}".encode())[:32]
        self._path = journal.home.path / CHECKPOINT_FOLDER / name
        self._head = json.dumps([_format_fingerprint(), begins, stretch]).encode()
        self._begins = begins
        self._file: BinaryIO | None = None

    def load(self) -> list[StoredCheckpoint]:
        """Return the checkpoints there are, in order; none if the file is not of this recording as it is."""
        try:
            data = self._path.read_bytes() if self._path.stat().st_size <= LARGEST_CHECKPOINT_FILE else b""
        except OSError:
            return []
        lines = data.split(b"\n")
        checkpoints = self._chain(lines[1:]) if lines[0] == self._head else []
        if not checkpoints:
            _delete_file(self._path)
        return checkpoints

    def _chain(self, lines: Sequence[bytes]) -> list[StoredCheckpoint]:
        """Return what the lines hold; nothing if one is broken, as a crash leaves it, or follows on none."""
        checkpoints: list[StoredCheckpoint] = []
        edge, name = self._begins, ""
        for line in lines[:-1]:
            parts = line.split(b" ")
            if len(parts) != 5 or _line_checksum(*parts[:3], parts[4]) != parts[3]:
                return []
            if int(parts[1]) <= edge:
                continue  # two replays of one recording have both written it
            if int(parts[0]) != edge:
                return []
            edge, name = int(parts[1]), parts[2].decode("ascii", "replace")
            checkpoints.append((edge, _row_loader(parts[4])))
        event = self._journal.event_at(edge) if checkpoints and not lines[-1] else None
        # A database that was put back from a backup gives the same positions to other events.
        return checkpoints if event is not None and event_fingerprint(event.id) == name else []

    def keep(self, before: int, edge: int, rows: MemoryTables) -> None:
        """Store what a stretch between two positions changed; a disk that takes no more is no trouble."""
        with contextlib.suppress(OSError, FileRefused):
            file, event = self._file, self._journal.event_at(edge)
            if file is None or event is None:
                return
            payload = base64.b64encode(zlib.compress(_encoded_rows(rows), 1))
            head = (str(before).encode(), str(edge).encode(), event_fingerprint(event.id).encode())
            file.write(b" ".join((*head, _line_checksum(*head, payload), payload)) + b"\n")

    def begin(self) -> None:
        """Store what is kept from now on; call it before rows are read, and `close` at the end.

        A file that is removed because a session is deleted takes along what is written to it afterwards.
        """
        with contextlib.suppress(OSError, FileRefused):
            private_folder(self._path.parent)
            self._file = open_append(self._path)
            if os.fstat(self._file.fileno()).st_size == 0:
                self._file.write(self._head + b"\n")
                _delete_oldest_files(self._path.parent)

    def close(self) -> None:
        """Let the file go; twice is harmless."""
        file, self._file = self._file, None
        if file is not None:
            file.close()


def delete_replay_checkpoints(home: Home) -> None:
    """Remove every stored checkpoint: rows of a session that is deleted may be in those of others."""
    with contextlib.suppress(OSError):
        for path in (home.path / CHECKPOINT_FOLDER).iterdir():
            _delete_file(path)


def _delete_oldest_files(folder: Path) -> None:
    paths = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in paths[MOST_CHECKPOINT_FILES:]:
        _delete_file(path)


def _delete_file(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


# --- lines ------------------------------------------------------------------------------------------


def event_fingerprint(event_id: str) -> str:
    """Return what an event is called in a line: ids of imported ones may hold anything."""
    return hashlib.sha256(event_id.encode()).hexdigest()[:16]


def _format_fingerprint() -> str:
    names = [[row.__name__, *storage.column_names(row)] for row in _CHECKPOINT_ROWS]
    digest = hashlib.sha256(json.dumps([_CHECKPOINT_FORMAT, names]).encode())
    for module in (fold, machines):
        with contextlib.suppress(OSError, TypeError):
            digest.update(Path(module.__file__ or "").read_bytes())
    return digest.hexdigest()[:16]


def _line_checksum(*parts: bytes) -> bytes:
    return f"{zlib.crc32(b' '.join(parts)):08x}".encode()


def _encoded_rows(rows: MemoryTables) -> bytes:
    parts = (rows.sessions, rows.calls, rows.actions, rows.rules, rows.trusts, rows.agent_holds,
             rows.pipeline_states, rows.step_states)  # fmt: skip
    tables = [[storage.row_to_values(row) for row in part.values()] for part in parts]
    return json.dumps(tables, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _row_loader(payload: bytes) -> Callable[[], MemoryTables]:
    def read() -> MemoryTables:
        """Return the rows. Raises CheckpointDamaged: they are not what was written."""
        rows = MemoryTables()
        try:
            data = zlib.decompress(base64.b64decode(payload))
            tables = cast("list[list[list[Any]]]", json.loads(data.decode("utf-8", "surrogatepass")))
            for kind, part in zip(_CHECKPOINT_ROWS, tables, strict=True):
                for values in part:
                    rows.put(storage.row_from_values(kind, values))
        except (zlib.error, binascii.Error, ValueError, TypeError, KeyError) as error:
            raise CheckpointDamaged(str(error)) from None
        return rows

    return read
