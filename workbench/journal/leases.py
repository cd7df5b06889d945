"""Who drives a session: leases with epochs, and the driver locks that say whether their owners live.

A lease is live while its driver's lock is held. Taking over raises the epoch, and later appends of the
earlier owner are refused.
"""

# A session is given back only when everything asked of it was seen to: the release names the position that
# was read, and is refused if something came after it. Otherwise a word between the last look and the
# release is lost until the next event.

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, Literal, Self

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.events import Event, LeaseReleased, LeaseTaken
from workbench.domain.rows import Host, Lease, Session
from workbench.domain.values import Actor
from workbench.effects import fault_points
from workbench.effects.file_locks import FileLock, is_lock_held, remove_unheld_lock
from workbench.journal.database import SCHEMA_VERSION
from workbench.journal.errors import GuardFailed, LeaseLost, SessionDriven
from workbench.journal.home import Home
from workbench.journal.journal import Journal

if TYPE_CHECKING:
    from workbench.journal.transaction import TransactionTables


class DriverIdentity(Struct, frozen=True, kw_only=True):
    """A process that drives sessions."""

    host_id: str
    pid: int
    driver: Literal["host", "run"] = "host"
    workspace: str = ""
    version: str = ""
    variables: tuple[str, ...] = ()
    """Names, never values, of the provider variables it was started with."""

    @property
    def actor(self) -> Actor:
        return Actor(kind="host", pid=self.pid)


class DriverLock:
    """Held by a driver for its life; the row in `host` says what it is."""

    def __init__(self, journal: Journal, driver: DriverIdentity) -> None:
        """Take the lock and write the row. Raises GuardFailed: another process goes by the same id."""
        self._journal, self.driver = journal, driver
        self._lock = FileLock(journal.home.driver_lock(driver.host_id))
        if not self._lock.try_acquire():
            why = f"driver {driver.host_id} is held by another process"
            raise GuardFailed("the driver was not started", why, "start it under a new id")
        try:
            journal.change(lambda live: live.put(self._row(live.now)))
        except BaseException:
            self._lock.release()
            raise

    def _row(self, now: int) -> Host:
        driver = self.driver
        return Host(
            id=driver.host_id, pid=driver.pid, workspace=driver.workspace, driver=driver.driver,
            started_at=now, version=driver.version, schema=SCHEMA_VERSION, variables=driver.variables,
        )  # fmt: skip

    def close(self) -> None:
        """Note the end and give the lock back; twice is harmless."""
        if self._lock.is_mine:
            try:
                self._journal.change(self._end)
            finally:
                self._lock.release()
                remove_unheld_lock(self._lock.path)

    def _end(self, live: "TransactionTables") -> None:
        if row := live.host(self.driver.host_id):
            live.put(replace(row, ended_at=live.now))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class LeaseGuard(Struct, frozen=True, kw_only=True):
    """Holds while the session's lease is still this one; what is appended under it is validated."""

    session_id: str
    host_id: str
    epoch: int

    @property
    def is_validating(self) -> bool:
        """Drivers carry what agents and tools said, so their events pass the parse boundary."""
        return True

    def check(self, live: "TransactionTables") -> None:
        """Raise `LeaseLost` unless the lease stands as named."""
        lease = live.lease(self.session_id)
        mine = (self.host_id, self.epoch, False)
        if lease is None or (lease.host_id, lease.epoch, lease.released) != mine:
            owner = "nobody" if lease is None or lease.released else f"pid {lease.pid}, epoch {lease.epoch}"
            raise LeaseLost(
                "nothing was written to the journal",
                f"session {self.session_id} is run by {owner}, not by epoch {self.epoch} any more",
                "stop driving it and end what was started for it",
            )


def lease_guard(lease: Lease) -> LeaseGuard:
    return LeaseGuard(session_id=lease.session_id, host_id=lease.host_id, epoch=lease.epoch)


def is_lease_live(home: Home, lease: Lease | None) -> bool:
    """Return whether somebody drives under this lease now."""
    return lease is not None and not lease.released and is_lock_held(home.driver_lock(lease.host_id))


def is_driver_gone(journal: Journal, session_id: str) -> bool:
    """Return whether a process drove a session and none does now."""
    lease = journal.lease(session_id)
    return lease is not None and not is_lease_live(journal.home, lease)


def take_lease(journal: Journal, session_id: str, driver: DriverIdentity) -> Lease:
    """Become the owner of a session.

    `driver`: who; it holds its `DriverLock`. Raises SessionDriven: another process that lives owns it; names
    it; GuardFailed: the session does not exist or has ended.
    """
    journal.transact(lambda live, _: next_lease(journal, live, session_id, driver))
    fault_points.fault_point("lease.taken")
    lease = journal.lease(session_id)
    if lease is None or lease.host_id != driver.host_id:
        raise LeaseLost(
            f"session {session_id} was not taken", "another driver took it at once", "see who runs it"
        )
    return lease


def next_lease(
    journal: Journal, live: "TransactionTables", session_id: str, driver: DriverIdentity
) -> Sequence[Event]:
    """Return the event that makes a driver the owner of a session, for a transaction; none if it is already.

    Raises SessionDriven: another process that lives owns it; GuardFailed: it was imported.
    """
    _refuse_imported(live, session_id)
    lease = live.lease(session_id)
    if lease and not lease.released and lease.host_id == driver.host_id:
        return ()
    if lease and is_lease_live(journal.home, lease):
        raise SessionDriven(session_id, lease.pid, lease.driver, lease.host_id)
    body = LeaseTaken(
        host_id=driver.host_id, epoch=(lease.epoch if lease else 0) + 1, pid=driver.pid, driver=driver.driver
    )
    return (journal.event(body, session_id, driver.actor, at=live.now),)


def first_lease(journal: Journal, session_id: str, driver: DriverIdentity) -> Event:
    """Return the event by which a driver owns a new session; it goes with the one that creates it."""
    body = LeaseTaken(host_id=driver.host_id, epoch=1, pid=driver.pid, driver=driver.driver)
    return journal.event(body, session_id, driver.actor)


def _refuse_imported(live: "TransactionTables", session_id: str) -> None:
    """Refuse to go on with what came from a file: its words are not those of this human."""
    first = "SELECT recorded_at FROM event WHERE session_id = ? AND sequence_number = 1"
    if live.value(first, session_id) is not None:
        why = "it was imported, and nothing of it is run here"
        raise GuardFailed(
            f"session {session_id} was not taken",
            why,
            f"workbench sessions fork {session_id} continues from its end",
        )


def release_lease(journal: Journal, lease: Lease, read_position: int | None = None) -> bool:
    """Give a session back in order; nothing happens if it has another owner by now.

    `read_position`: up to where the driver has read the session. If something came after it the session is
    not given back, because whoever gives back says that all before was seen to. Returns False then.
    """
    mine, missed = lease_guard(lease), list[int]()

    def work(live: "TransactionTables", now: int) -> Sequence[Event]:
        missed.clear()
        try:
            mine.check(live)
        except LeaseLost:
            return ()
        if read_position is not None and (last := live.last_position(lease.session_id)) > read_position:
            missed.append(last)
            return ()
        body = LeaseReleased(host_id=lease.host_id, epoch=lease.epoch)
        return (journal.event(body, lease.session_id, Actor(kind="host", pid=lease.pid), at=now),)

    journal.transact(work)
    return not missed


def unfinished_sessions(journal: Journal, workspace: str, driven_here: Container[str] = ()) -> list[Session]:
    """Return the sessions of a workspace that nobody drives and that may have something to do.

    Something was asked or decided since the session was last given back in order, or an approved or
    executing call is open. Whether there is really something to do is said by folding the session.
    `driven_here`: ids of sessions that the caller drives, which need not be looked at.
    """
    return [
        session
        for session in journal.awaiting(workspace)
        if session.id not in driven_here and not is_lease_live(journal.home, journal.lease(session.id))
    ]
