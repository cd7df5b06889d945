"""Import of sessions from outside: one at a time, each event once; a file is kept or undone whole.

An imported event touches its own session only. A file that grew adds what is new; a file that contradicts the
stored session replaces it from there on, unless the file is older or the session is another file's.
"""

# Imports of one home take turns: two that store the same session at once each took for new what the other
# had stored, and undid what it did not know.
#
# What an import stores carries its one moment, and a lock file names that moment while it runs: whoever
# opens the journal after it was killed takes back exactly that. A file that says something else than before
# (a chat that its program rewrites) brings its session back to what both agree on; what a human did to the
# session here stays.
#
# An import touches its own session only. It may not name calls or questions of others, a rule or trust in
# it is kept and grants nothing, no driver takes what was imported (`leases.take_lease`), and its open
# questions are withdrawn. Going on is a fork.
#
# A deleted session that is imported again gets the next id: ids of deleted sessions are never used again.
#
# Of two files that contradict one another the later one counts, by the times inside of them, not by their
# names or when they were imported: a session stays as it is where a file says something else and ends
# earlier, and the report says so.

import contextlib
import os
import time
import uuid
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Final, cast

from msgspec.structs import replace

from workbench.domain.events import (
    Event,
    MarkAdded,
    PromptSubmitted,
    ReplyCompleted,
    SessionChanged,
    SessionCreated,
)
from workbench.domain.rows import Session
from workbench.domain.values import SYSTEM_SESSION, BlobRef, Json, JsonObject
from workbench.effects.fault_points import fault_point
from workbench.effects.file_locks import FileLock, is_lock_held
from workbench.journal.errors import GuardFailed
from workbench.journal.journal import Journal
from workbench.journal.maintenance import (
    cut_session,
    remove_session,
    remove_session_events,
    remove_session_remains,
    remove_session_rows,
    remove_unused_blobs,
)
from workbench.journal.replay import delete_replay_checkpoints
from workbench.journal.transaction import TransactionTables
from workbench.journal.write_queue import (
    GROUP_BYTES,
    PreparedEvent,
    prepare_event,
    store_events,
    store_new_events,
)

MOST_CHUNK_EVENTS: Final = 600
MOST_CHUNK_BYTES: Final = 1_600_000
"""What one transaction takes; other processes wait for it, some 20 ms."""
_TURN_FILE: Final = "import.lock"
"""Who holds it may import; `import-MOMENT-PID.lock` beside it names what is not whole yet."""
_CLOSING: Final = ".end."
"""In the ids of events that a reader makes at the end of a file, which does not say so itself."""
_ID_NAMESPACE: Final = uuid.UUID("0b6e9c1e-7c59-5a50-8c0c-64b7a2f8a3d0")


class SessionIdTaken(Exception):
    """A file names a session by the id of another one that is stored; the file is to be read again."""

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id)
        self.session_id = session_id


class SessionIdChoices:
    """The ids for the sessions of a file whose own ids are taken; it is read again until each is free."""

    def __init__(self, is_in_another_file: Callable[[str], bool]) -> None:
        """`is_in_another_file`: whether another file that exists holds a session."""
        self.is_in_another_file = is_in_another_file
        self._next: dict[str, str] = {}

    def id_of(self, session_id: str) -> str:
        """Return the id to store a session under, as far as that is known."""
        while session_id in self._next:
            session_id = self._next[session_id]
        return session_id

    def add(self, taken: SessionIdTaken) -> None:
        """Note that an id is taken: the next one is tried, the same each time."""
        key = taken.session_id
        self._next[key] = str(uuid.uuid5(_ID_NAMESPACE, f"{key}\0another"))

    @property
    def ids(self) -> frozenset[str]:
        """Return the ids that were given in place of others."""
        return frozenset(self._next.values())


class SessionImport:
    """One import of any number of sessions."""

    def __init__(
        self, journal: Journal, *, returns_deleted: bool = True,
        leaves_out: Callable[[SessionCreated], bool] = lambda _: False, leaves_open: bool = False,
        id_choices: "SessionIdChoices | None" = None,
    ) -> None:  # fmt: skip
        """Begin; `returns_deleted` and `leaves_out` say which sessions stay outside.

        `returns_deleted`: whether sessions that were deleted here are imported under the next id.
        `leaves_out`: asked once a session, about its beginning. `leaves_open`: whether what only closes a
        file is left away, because its agent is still writing it. `id_choices`: gives a session another id
        where its own is taken; without it the later of two replaces the other.
        """
        self._leaves_open, self._id_choices = leaves_open, id_choices
        self._openings: dict[str, list[Event]] = {}
        """The beginnings of sessions that are there, until it is known whether they are the same."""
        self._same_reader: dict[str, bool] = {}
        """Whether a session was read by the same reader as now."""
        self._journal, self._returns_deleted, self._leaves_out = journal, returns_deleted, leaves_out
        self.now = journal.now()
        """When what is taken in is recorded: one moment for all of it."""
        self._marks: dict[str, dict[str, int]] = {}
        """Of each session the events that are there, in order, with a mark of what they say."""
        self._earlier_events: dict[str, list[Event]] = {}
        """Sessions that were brought back, as they had been."""
        self._replaced: dict[str, tuple[list[Event], int]] = {}
        """What the file that is being read contradicts: a session as it was, and how many events it got."""
        self._latest: dict[str, int] = {}
        """The latest time of each session in that file."""
        self._initial_ids: dict[str, frozenset[str]] = {}
        """Of each session that a file held what was there before the first of them."""
        self._reopened: set[str] = set()
        self._lock = FileLock(journal.home.run / f"import-{self.now}-{os.getpid()}.lock")
        self._waiting: list[PreparedEvent] = []
        self._size = 0
        self._under_way: Future[None] | None = None
        self._payers: dict[str, str] = {}
        """By digest of a request the session in which it counts."""
        self._new_payments: list[tuple[str, str]] = []
        """What of it is not stored yet."""
        self._stored_calls: set[str] = set()
        """Calls of new sessions that were stored."""
        self._refs: list[BlobRef] = []
        self.new_sessions: list[str] = []
        """Sessions that were not there before."""
        self.left_out: set[str] = set()
        """Sessions that stay outside; nothing of them is stored."""
        self.deleted: set[str] = set()
        """Those of them that were here and were deleted."""
        self.followed: set[str] = set()
        """Those of them that are followed while their agent works."""
        self.rewritten: set[str] = set()
        """Those of which a part was replaced, though the same reader had read it."""
        self.added: dict[str, int] = {}

    def current_id(self, session_id: str) -> str:
        """Return the id to use for a session: the next one if sessions of this id were deleted here."""
        candidate = session_id
        with self._journal.snapshot() as database:
            for number in range(1, 1000):
                tombstones = "SELECT 1 FROM event WHERE kind = 'session.deleted'"
                where = "json_extract(body, '$.deleted_id') = ?"
                if not database.execute(f"{tombstones} AND {where}", (candidate,)).fetchone():
                    break
                if not self._returns_deleted:
                    self.left_out.add(candidate)
                    self.deleted.add(candidate)
                    break
                candidate = str(uuid.uuid5(_ID_NAMESPACE, f"{session_id}\0{number}"))
        return self._id_choices.id_of(candidate) if self._id_choices else candidate

    def resume(self, session_id: str, last: str) -> bool:
        """Go on with an imported session behind its event `last`; False if that is not there.

        What stands before it is not looked at: the caller knows that it is what the file says.
        """
        behind = "SELECT sequence_number FROM event WHERE id = ? AND session_id = ?"
        statement = (
            "SELECT id, sequence_number > ?2, kind, CASE WHEN sequence_number > ?2 THEN body END"
            " FROM event WHERE session_id = ?1 ORDER BY sequence_number"
        )
        with self._journal.snapshot() as database:
            number = database.execute(behind, (last, session_id)).get
            if number is None or not is_imported_session(self._journal, session_id):
                return False
            rows = database.execute(statement, (session_id, number))
            self._marks[session_id] = {row[0]: _content_hash(row[2], row[3]) if row[1] else 0 for row in rows}
        self._lock.try_acquire()
        return True

    def is_elsewhere(self, event_id: str, session_id: str) -> bool:
        """Return whether an event of this id is stored and belongs to another session."""
        with self._journal.snapshot() as database:
            row = database.execute("SELECT session_id FROM event WHERE id = ?", (event_id,)).fetchone()
        return row is not None and row[0] != session_id

    def store(self, data: bytes) -> BlobRef:
        """Keep scrubbed bytes beside the events."""
        ref = self._journal.blobs.record(data)
        self._refs.append(ref)
        return ref

    def is_paid(self, session_id: str, request: str) -> bool:
        """Return whether another session has paid a request; else it is this one's, once it is stored."""
        if session_id in self.left_out:
            return False
        key = self._journal.blobs.keyed(request.encode("utf-8", "surrogatepass"))[:32]
        if (owner := self._payers.get(key)) is None:
            with self._journal.snapshot() as database:
                row = database.execute("SELECT session_id FROM paid_request WHERE key = ?", (key,)).fetchone()
            owner = self._payers[key] = row[0] if row else session_id
            if row is None:
                self._new_payments.append((key, session_id))
        return owner != session_id

    def seal(self, digest: bytes) -> str:
        """Return what is kept of a digest: it says nothing without the home's key."""
        return self._journal.blobs.keyed(digest)

    def add(self, event: Event) -> None:
        """Take an event; it is committed with others.

        Raises GuardFailed: it belongs to a session that was made here, or touches another one; JournalError:
        it was not stored.
        """
        if isinstance(event.body, SessionCreated):
            self._look_at_beginning(event.session_id, event.body)
        if event.session_id in self.left_out or (self._leaves_open and _CLOSING in event.id):
            return
        if event.recorded_at is None:
            event = replace(event, recorded_at=self.now)
        if event.session_id not in self._marks:
            self._begin(event.session_id)
        if event.session_id in self._openings:
            self._compare(event)
        else:
            self._take(event)

    def _look_at_beginning(self, session_id: str, created: SessionCreated) -> None:
        """Note that a session stays outside: as asked for, or because its agent's file is followed."""
        if is_followed(self._journal.session(session_id)):
            self.followed.add(session_id)
        if session_id in self.followed or self._leaves_out(created):
            self.left_out.add(session_id)

    def _compare(self, event: Event) -> None:
        """Hold the beginning of a session back until its first prompt; raises SessionIdTaken."""
        early = self._openings[event.session_id]
        early.append(event)
        if isinstance(event.body, PromptSubmitted):
            prompt = self._first_prompt(event.session_id)
            self._same_reader[event.session_id] = self._is_read_alike(early)
            if prompt not in (None, event.body.text) and self._same_reader[event.session_id]:
                raise SessionIdTaken(event.session_id)
            self._release_early(event.session_id)

    def _release_early(self, session_id: str) -> None:
        for event in self._openings.pop(session_id, ()):
            self._take(event)

    def _first_prompt(self, session_id: str) -> str | None:
        query = (
            "SELECT json_extract(body, '$.text') FROM event WHERE session_id = ?"
            " AND kind = 'prompt.submitted' ORDER BY sequence_number LIMIT 1"
        )
        with self._journal.snapshot() as database:
            row = database.execute(query, (session_id,)).fetchone()
        return row[0] if row else None

    def _is_read_alike(self, events: Iterable[Event]) -> bool:
        """Return whether what is stored of a session was made of its file as these events are."""
        created = next((event for event in events if isinstance(event.body, SessionCreated)), None)
        stored = self._journal.session(created.session_id) if created else None
        if created is None or stored is None or not isinstance(created.body, SessionCreated):
            return False
        # Events of an own export say nothing of a reader: they are as they were.
        return _read_as(stored.configuration) == _read_as(created.body.configuration)

    def _take(self, event: Event) -> None:
        latest = self._latest.get(event.session_id, 0)
        self._latest[event.session_id] = max(latest, event.at) if _has_foreign_time(event) else latest
        prepared = prepare_event(event)
        if self._is_there(prepared):
            return
        self._waiting.append(prepared)
        self._size += len(prepared.body)
        if len(self._waiting) >= MOST_CHUNK_EVENTS or self._size >= MOST_CHUNK_BYTES:
            self._commit()

    def finish(self, *, is_durable: bool = True) -> None:
        """Store the rest, and where `is_durable` so that a power loss takes nothing back."""
        for session_id in list(self._openings):
            self._release_early(session_id)
        self.flush()
        if is_durable:
            make_imports_durable(self._journal)
        self._unlock()

    def end_file(self) -> tuple[str, ...]:
        """Settle what the file that was just read says of its sessions; another file may hold them as well.

        Returns the sessions that stay as they were, because this file contradicts them and ends earlier.
        """
        for session_id in list(self._openings):
            self._release_early(session_id)
        replaced, latest = self._replaced, self._latest
        self._replaced, self._latest = {}, {}
        unchanged = tuple(
            key for key, (before, _) in replaced.items() if latest.get(key, 0) < _newest_time(before)
        )
        self.rewritten.update(key for key in replaced if key not in unchanged and self._same_reader.get(key))
        for session_id in unchanged:
            before, added = replaced[session_id]
            self.flush()
            _store_session_anew(self._journal, session_id, before)
            self.added[session_id] = added
            if not added:
                del self.added[session_id]
        for session_id in latest:
            self._initial_ids.setdefault(session_id, frozenset(self._marks.pop(session_id)))
            self._reopened.discard(session_id)
        if self.left_out:
            self.flush()
            remove_unused_blobs(self._journal, self._refs)
        return unchanged

    def drop(self, earlier_count: int) -> None:
        """Take back the sessions that began after so many others: their file was refused."""
        self._waiting = [
            prepared
            for prepared in self._waiting
            if prepared.event.session_id not in self.new_sessions[earlier_count:]
        ]
        self._new_payments = [
            row for row in self._new_payments if row[1] not in self.new_sessions[earlier_count:]
        ]
        with contextlib.suppress(GuardFailed):
            self._settle()
        for session_id in self.new_sessions[earlier_count:]:
            self._discard(session_id)
            self.added.pop(session_id, None)
            self._marks.pop(session_id, None)
            self._latest.pop(session_id, None)
        del self.new_sessions[earlier_count:]

    def flush(self) -> None:
        """Store what was taken so far, and say what was refused of it. Raises GuardFailed: see `add`."""
        self._commit()
        self._settle()

    def _is_there(self, prepared: PreparedEvent) -> bool:
        event, marks = prepared.event, self._marks[prepared.event.session_id]
        if not marks:
            return False
        mark = marks.get(event.id)
        if mark == _content_hash(prepared.event.kind, prepared.body):
            return True
        if mark is not None:
            self._contradict(event)
        elif event.session_id not in self._reopened:
            self._reopen(event.session_id)
        return False

    def _contradict(self, event: Event) -> None:
        key = event.session_id
        if self._id_choices and self._same_reader.get(key) and self._id_choices.is_in_another_file(key):
            raise SessionIdTaken(key)
        if key not in self._replaced:
            self._commit()
            self._settle()
            self._replaced[key] = (list(self._journal.events(key)), self.added.get(key, 0))
        self._bring_back(key, event.id)

    def _reopen(self, session_id: str) -> None:
        """Take out what closed a file that was shorter: from a status that ends it none leads on."""
        self._reopened.add(session_id)
        closing = [key for key in self._marks[session_id] if key.startswith(f"{session_id}.end.")]
        if closing:
            self._bring_back(session_id, closing[0])
            # They come again at the end, and are nothing new.
            self.added[session_id] = self.added.get(session_id, 0) - len(closing)

    def _bring_back(self, session_id: str, first: str) -> None:
        """Take out what was imported from an event on; what was done to the session here stays."""
        self._commit()
        self._settle()
        events = list(self._journal.events(session_id))
        self._earlier_events.setdefault(session_id, events)
        cut = next((index for index, event in enumerate(events) if event.id == first), len(events))
        local_events = [prepare_event(event) for event in events[cut:] if event.recorded_at is None]
        cut_session(self._journal, session_id, events[:cut])
        if local_events:
            self._journal.change(lambda live: store_events(local_events, live, strict=False))
        remaining = {event.id for event in events[:cut]}
        self._marks[session_id] = {
            event_id: mark for event_id, mark in self._marks[session_id].items() if event_id in remaining
        }

    def _unlock(self) -> None:
        self._lock.release()
        self._lock.path.unlink(missing_ok=True)

    def _settle(self) -> None:
        under_way, self._under_way = self._under_way, None
        if under_way is not None:
            under_way.result()

    def _commit(self) -> None:
        """Hand what was taken so far to the writer; one chunk is written while the next is read."""
        waiting, size, self._waiting, self._size = self._waiting, self._size, [], 0
        paying, self._new_payments = self._new_payments, []
        if not waiting and not paying:
            return
        fresh = self._fresh_calls(waiting)
        sessions = {prepared.event.session_id for prepared in waiting} | {row[1] for row in paying}

        def work(live: TransactionTables) -> None:
            for key in fresh:
                live.expect_call(key)
            # Its agent may have connected since the session was begun here.
            followed = {key for key in sessions if is_followed(live.session(key))}
            taken = [prepared for prepared in waiting if prepared.event.session_id not in followed]
            for prepared in taken:
                _require_own_session(prepared.event, live)
            if taken:
                store_new_events(taken, live)
            live.database.executemany(_STORE_PAID, (row for row in paying if row[1] not in followed))

        self._settle()
        self._under_way = self._journal.change_later(work, max(size, GROUP_BYTES))
        for prepared in waiting:
            key = prepared.event.session_id
            self.added[key] = self.added.get(key, 0) + 1

    def _fresh_calls(self, waiting: list[PreparedEvent]) -> list[str]:
        """Return calls that nobody can know: met for the first time, with ids below that of a new session."""
        new = set(self.new_sessions)
        fresh = [
            key
            for prepared in waiting
            for key in _called(prepared.event)
            if key not in self._stored_calls
            and prepared.event.session_id in new
            and key.startswith(f"{prepared.event.session_id}.")
        ]
        self._stored_calls.update(fresh)
        return fresh

    def cancel(self) -> None:
        """Take everything back that this import stored."""
        self._waiting, self._new_payments = [], []
        with contextlib.suppress(Exception):
            self._settle()
        for session_id in self.new_sessions:
            self._discard(session_id)
        for session_id in (self.added.keys() | self._earlier_events.keys()) - set(self.new_sessions):
            self._take_back(session_id)
        remove_unused_blobs(self._journal, self._refs)
        self._unlock()

    def _begin(self, session_id: str) -> None:
        session = self._journal.session(session_id)
        if session_id == SYSTEM_SESSION or (
            session is not None and not is_imported_session(self._journal, session_id)
        ):
            why = f"session {session_id} was made here, and an import changes none of those"
            raise GuardFailed("the session was not imported", why, "it is there as it is; nothing is missing")
        self._lock.try_acquire()
        if session_id in self._initial_ids:
            self.flush()
        statement = "SELECT id, kind, body FROM event WHERE session_id = ? ORDER BY sequence_number"
        with self._journal.snapshot() as database:
            rows = database.execute(statement, (session_id,))
            self._marks[session_id] = {row[0]: _content_hash(row[1], row[2]) for row in rows}
        if not self._marks[session_id] and session_id not in self._initial_ids:
            self.new_sessions.append(session_id)
        elif self._id_choices and self._marks[session_id]:
            self._openings.setdefault(session_id, [])

    def _discard(self, session_id: str) -> None:
        """Remove a session that this import began, unless its agent connected before any of it was stored."""
        if not is_followed(self._journal.session(session_id)):
            discard_import(self._journal, session_id)

    def _take_back(self, session_id: str) -> None:
        before = self._earlier_events.get(session_id)
        initial_ids = self._initial_ids.get(session_id)
        if before is None:
            before, initial_ids = (
                self._journal.events(session_id),
                initial_ids or frozenset(self._marks[session_id]),
            )
        _store_session_anew(
            self._journal,
            session_id,
            [event for event in before if initial_ids is None or event.id in initial_ids],
        )


def _newest_time(events: Iterable[Event]) -> int:
    return max((event.at for event in events if _has_foreign_time(event)), default=0)


def _has_foreign_time(event: Event) -> bool:
    """Say whether the time of an event stood in a file: what closes a file has the time of the file."""
    return event.recorded_at is not None and _CLOSING not in event.id


def _read_as(configuration: Mapping[str, Json]) -> Json:
    facts = configuration.get("import")
    return cast("JsonObject", facts).get("read_as") if isinstance(facts, dict) else None


def _content_hash(kind: str, body: str) -> int:
    return hash((kind, body))


def _store_session_anew(journal: Journal, session_id: str, events: Iterable[Event]) -> None:
    prepared_events = [prepare_event(event) for event in events]
    journal.change(lambda live: remove_session_rows(live, session_id))
    remove_session_events(journal, session_id)
    for start in range(0, len(prepared_events), MOST_CHUNK_EVENTS):
        some = prepared_events[start : start + MOST_CHUNK_EVENTS]
        journal.change(lambda live, some=some: store_events(some, live, strict=False))


_TURN_SECONDS: Final = 0.2
"""Between two looks whether the import that is under way is over."""


@contextlib.contextmanager
def import_turn(journal: Journal, on_wait: Callable[[], None]) -> Generator[None]:
    """Hold the one turn to import into this home, and undo what a killed import left.

    While another process has it, waits and calls `on_wait` five times a second; what that raises ends it.
    """
    with FileLock(journal.home.run / _TURN_FILE) as turn:
        while not turn.try_acquire():
            on_wait()
            time.sleep(_TURN_SECONDS)
        _undo_unfinished(journal)
        yield


def undo_unfinished_imports(journal: Journal) -> int:
    """Take everything back that imports stored which were killed; returns of how many sessions.

    Nothing while an import is under way: the next one begins with it.
    """
    with FileLock(journal.home.run / _TURN_FILE) as turn:
        return _undo_unfinished(journal) if turn.try_acquire() else 0


def _undo_unfinished(journal: Journal) -> int:
    """Undo what was recorded at the moments that lock files name which nobody holds."""
    session_count = 0
    for path in journal.home.run.glob("import-*.lock"):
        moment = path.name.split("-")[1]
        if is_lock_held(path) or not moment.isdigit():
            continue
        stored = (
            "SELECT session_id, min(sequence_number) FROM event WHERE recorded_at = ? GROUP BY session_id"
        )
        with journal.snapshot() as database:
            rows = database.execute(stored, (int(moment),)).fetchall()
        for session_id, first in rows:
            _undo_import(journal, session_id, int(moment), is_new=first == 1)
        session_count += len(rows)
        path.unlink(missing_ok=True)
    return session_count


def _undo_import(journal: Journal, session_id: str, moment: int, *, is_new: bool) -> None:
    if is_new:
        discard_import(journal, session_id)
    else:
        events = journal.events(session_id)
        _store_session_anew(journal, session_id, [event for event in events if event.recorded_at != moment])


def make_imports_durable(journal: Journal) -> None:
    """Store what was imported so far so that a power loss takes nothing back."""
    journal.change(_commit_durably)


def _commit_durably(live: TransactionTables) -> None:
    """Make a durable transaction of nothing: it makes those before it durable."""
    live.database.execute("UPDATE session SET archived = archived WHERE id = ''")


def is_followed(session: Session | None) -> bool:
    """Return whether a session is recorded while its agent works, so that no import may touch it."""
    return session is not None and session.kind == "supervised"


def is_imported_session(journal: Journal, session_id: str) -> bool:
    """Return whether a session came from a file: its first event was recorded, not made here."""
    first = journal.window(session_id, 1, 1)
    return bool(first) and first[0].recorded_at is not None


def discard_import(journal: Journal, session_id: str) -> None:
    """Remove an imported session without a tombstone, so that it can be imported again."""
    delete_replay_checkpoints(journal.home)
    journal.change(lambda live: remove_session_rows(live, session_id))
    remove_session_remains(journal, session_id)


_KEPT: Final = (SessionChanged, MarkAdded)
"""What a human did to an imported session here."""


def replace_import(journal: Journal, session_id: str, events: Sequence[Event]) -> None:
    """Put a session that is made here in the place of an imported one, under its id, in one transaction.

    `events`: how it begins; what a human did to the import follows them. The caller has the turn to import.
    """
    fault_point("import.before_replaced")
    human_events = [
        event
        for event in journal.events(session_id)
        if event.recorded_at is None and isinstance(event.body, _KEPT)
    ]
    prepared = [prepare_event(event) for event in (*events, *human_events)]
    delete_replay_checkpoints(journal.home)

    def work(live: TransactionTables) -> list[BlobRef]:
        refs = remove_session(live, session_id)
        store_events(prepared, live, strict=True)
        return refs

    refs = journal.change(work)
    fault_point("import.replaced")
    remove_unused_blobs(journal, refs)


_STORE_PAID: Final = "INSERT OR IGNORE INTO paid_request (key, session_id) VALUES (?, ?)"


def _called(event: Event) -> tuple[str, ...]:
    """Return the ids of the calls that an event is about."""
    own = (event.call_id,) if event.call_id else ()
    return (*own, *(c.call_id for c in event.body.calls)) if isinstance(event.body, ReplyCompleted) else own


def _require_own_session(event: Event, live: TransactionTables) -> None:
    for key in _called(event):
        if (call := live.call(key)) and call.session_id != event.session_id:
            raise _belongs_elsewhere(event, f"call {key}")
    if event.action_id and (action := live.action(event.action_id)) and action.session_id != event.session_id:
        raise _belongs_elsewhere(event, f"action {event.action_id}")


def _belongs_elsewhere(event: Event, target: str) -> GuardFailed:
    why = f"its event {event.id} names {target}, which belongs to another session"
    return GuardFailed("the session was not imported", why, "import the file that it was exported to")
