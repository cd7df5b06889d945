"""Taking in sessions from outside: in chunks, each once, and all of it gone again when it is cancelled.

Owns what an imported event may touch: its own session, nothing else. What is there already is not written
again, so that the same file twice is one session, and a file that grew brings only what is new.
"""

import contextlib
import uuid
from collections.abc import Iterable
from concurrent.futures import Future
from typing import Final

from workbench.domain.events import Event, ReplyCompleted
from workbench.domain.rows import Action, Call, Lease, PipelineState, Session, StepState
from workbench.domain.values import SYSTEM_SESSION, BlobRef
from workbench.journal import search, tables
from workbench.journal.checkpoints import forget_checkpoints
from workbench.journal.delete import CHUNK, SEARCHED, remove_unused
from workbench.journal.entry import Prepared, enter, enter_all, prepare
from workbench.journal.errors import GuardFailed
from workbench.journal.journal import Journal
from workbench.journal.live import LiveTables
from workbench.journal.writer import GROUP_BYTES

CHUNK_EVENTS: Final = 150
CHUNK_BYTES: Final = 400_000
"""What one transaction takes; other processes wait for it."""

_SPACE: Final = uuid.UUID("0b6e9c1e-7c59-5a50-8c0c-64b7a2f8a3d0")


class Intake:
    """One import of any number of sessions."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.now = journal.now()
        """When what is taken in is recorded: one moment for all of it."""
        self._known: dict[str, frozenset[str]] = {}
        self._waiting: list[Prepared] = []
        self._size = 0
        self._under_way: Future[None] | None = None
        self._refs: list[BlobRef] = []
        self.begun: list[str] = []
        """Sessions that were not there before."""
        self.added: dict[str, int] = {}
        """How many events each session got."""

    def current_id(self, session_id: str) -> str:
        """Return the id to use for a session: the next one if sessions of this id were deleted here."""
        found = session_id
        with self._journal.reader.snapshot() as database:
            for number in range(1, 1000):
                stone = "SELECT 1 FROM event WHERE kind = 'session.deleted'"
                where = "json_extract(body, '$.deleted_id') = ?"
                if not database.execute(f"{stone} AND {where}", (found,)).fetchone():
                    break
                found = str(uuid.uuid5(_SPACE, f"{session_id}\0{number}"))
        return found

    def store(self, data: bytes) -> BlobRef:
        """Keep scrubbed bytes beside the events."""
        ref = self._journal.blobs.record(data)
        self._refs.append(ref)
        return ref

    def add(self, event: Event) -> None:
        """Take an event; it is committed with others.

        Raises:
            GuardFailed: It belongs to a session that was made here, or touches another one.
            JournalError: It was not stored.
        """
        if event.session_id not in self._known:
            self._begin(event.session_id)
        if event.id in self._known[event.session_id]:
            return
        one = prepare(event)
        self._waiting.append(one)
        self._size += len(one.body)
        if len(self._waiting) >= CHUNK_EVENTS or self._size >= CHUNK_BYTES:
            self._commit()

    def finish(self) -> None:
        """Store the rest, so that a power loss takes nothing back."""
        self._commit()
        self._settle()
        self._journal.change(_touch)

    def _settle(self) -> None:
        under_way, self._under_way = self._under_way, None
        if under_way is not None:
            under_way.result()

    def _commit(self) -> None:
        """Hand what was taken so far to the writer; one chunk is written while the next is read."""
        waiting, size, self._waiting, self._size = self._waiting, self._size, [], 0
        if not waiting:
            return

        def work(live: LiveTables) -> None:
            for one in waiting:
                _require_own(one.event, live)
            live.hold()
            for one in waiting:
                enter(one, live, strict=False, is_new=True)
            live.flush()

        self._settle()
        self._under_way = self._journal.change_later(work, max(size, GROUP_BYTES))
        for one in waiting:
            key = one.event.session_id
            self.added[key] = self.added.get(key, 0) + 1

    def cancel(self) -> None:
        """Take everything back that this import stored."""
        self._waiting = []
        with contextlib.suppress(Exception):
            self._settle()
        for session_id in self.begun:
            discard(self._journal, session_id)
        for session_id in self.added.keys() - set(self.begun):
            self._take_back(session_id)
        remove_unused(self._journal, self._refs)

    def _begin(self, session_id: str) -> None:
        session = self._journal.session(session_id)
        if session_id == SYSTEM_SESSION or (
            session is not None and not is_imported(self._journal, session_id)
        ):
            why = f"session {session_id} was made here, and an import changes none of those"
            raise GuardFailed("the session was not imported", why, "it is there as it is; nothing is missing")
        if session is None:
            self.begun.append(session_id)
        with self._journal.reader.snapshot() as database:
            found = database.execute("SELECT id FROM event WHERE session_id = ?", (session_id,))
            self._known[session_id] = frozenset(row[0] for row in found)

    def _take_back(self, session_id: str) -> None:
        """Bring a session that grew back to what it was, its rows made anew from its events."""
        known = self._known[session_id]
        events = self._journal.events(session_id)
        forget_checkpoints(self._journal.home)
        self._journal.change(lambda live: _remove_rows(live, session_id))
        while self._journal.change(lambda live: _remove_events(live, session_id)):
            pass
        kept = [prepare(event) for event in events if event.id in known]
        for at in range(0, len(kept), CHUNK_EVENTS):
            some = kept[at : at + CHUNK_EVENTS]
            self._journal.change(lambda live, some=some: enter_all(some, live, strict=False))


def _touch(live: LiveTables) -> None:
    """Make a durable transaction of nothing: it makes those before it durable."""
    live.database.execute("UPDATE session SET archived = archived WHERE id = ''")


def is_imported(journal: Journal, session_id: str) -> bool:
    """Return whether a session came from a file: its first event was recorded, not made here."""
    first = journal.window(session_id, 1, 1)
    return bool(first) and first[0].recorded_at is not None


def discard(journal: Journal, session_id: str) -> None:
    """Remove an imported session without a tombstone, so that it can be imported again."""
    forget_checkpoints(journal.home)
    journal.change(lambda live: _remove_rows(live, session_id))
    while journal.change(lambda live: _remove_events(live, session_id)):
        pass
    refs = journal.change(
        lambda live: live.all("DELETE FROM blob_ref WHERE session_id = ? RETURNING ref", session_id)
    )
    remove_unused(journal, [row[0] for row in refs])


def _require_own(event: Event, live: LiveTables) -> None:
    """Refuse an event that names a call or a question of another session."""
    body = event.body
    calls: Iterable[str] = (call.call_id for call in body.calls) if isinstance(body, ReplyCompleted) else ()
    for key in (*calls, event.call_id):
        if key and (call := live.call(key)) and call.session_id != event.session_id:
            raise _reaches(event, f"call {key}")
    if event.action_id and (action := live.action(event.action_id)) and action.session_id != event.session_id:
        raise _reaches(event, f"action {event.action_id}")


def _reaches(event: Event, what: str) -> GuardFailed:
    why = f"its event {event.id} names {what}, which belongs to another session"
    return GuardFailed("the session was not imported", why, "import the file that it was exported to")


def _remove_rows(live: LiveTables, session_id: str) -> None:
    live.has_written = True
    tables.delete(live.database, Session, "id = ?", session_id)
    for row in (Call, Action, Lease):
        tables.delete(live.database, row, "session_id = ?", session_id)
    for row in (PipelineState, StepState):
        tables.delete(live.database, row, "pipeline_id = ?", session_id)
    live.forget()


def _remove_events(live: LiveTables, session_id: str) -> int:
    live.has_written = True
    if removed := search.remove(live.database, session_id, SEARCHED):
        return removed
    search.forget(live.database, session_id)
    some = "SELECT position FROM event WHERE session_id = ? LIMIT ?"
    statement = f"DELETE FROM event WHERE position IN ({some}) RETURNING 1"  # noqa: S608 no values in it
    return len(live.all(statement, session_id, CHUNK))
