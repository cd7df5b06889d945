"""Who drives a session: leases with epochs, and the locks that say whether their owners live.

A lease is live while its driver's lock is held, so a dead driver needs no cleaning up. Taking over raises
the epoch, and what an earlier owner still appends is refused in its own transaction.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Self

from workbench.domain.events import Event, LeaseReleased, LeaseTaken
from workbench.domain.rows import Host, Lease, Session
from workbench.domain.values import Actor
from workbench.effects import faults
from workbench.effects.locks import FileLock, is_held, remove_unheld
from workbench.journal.errors import Driven, GuardFailed, LeaseLost
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.schema import SCHEMA_VERSION
from workbench.records import dataclass, replace

if TYPE_CHECKING:
    from workbench.journal.live import LiveTables


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverIdentity:
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
        """Return it as the actor of its events."""
        return Actor(kind="host", pid=self.pid)


class DriverLock:
    """Held by a driver for its life; the row in `host` says what it is."""

    def __init__(self, journal: Journal, driver: DriverIdentity) -> None:
        """Take the lock and write the row.

        Raises:
            GuardFailed: Another process goes by the same id.
        """
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
                remove_unheld(self._lock.path)

    def _end(self, live: "LiveTables") -> None:
        if row := live.host(self.driver.host_id):
            live.put(replace(row, ended_at=live.now))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseGuard:
    """Holds while the session's lease is still this one; what is appended under it is validated."""

    session_id: str
    host_id: str
    epoch: int

    @property
    def is_validating(self) -> bool:
        """Drivers carry what agents and tools said, so their events pass the parse boundary."""
        return True

    def check(self, live: "LiveTables") -> None:
        """Raise `LeaseLost` unless the lease stands as named."""
        lease = live.lease(self.session_id)
        mine = (self.host_id, self.epoch, False)
        if lease is None or (lease.host_id, lease.epoch, lease.released) != mine:
            owner = "nobody" if lease is None or lease.released else f"pid {lease.pid}, epoch {lease.epoch}"
            raise LeaseLost(
                "nothing was written to the journal",
                f"session {self.session_id} is driven by {owner}, not by epoch {self.epoch} any more",
                "stop driving it and end what was started for it",
            )


def guard(lease: Lease) -> LeaseGuard:
    """Return the guard of a lease that was taken."""
    return LeaseGuard(session_id=lease.session_id, host_id=lease.host_id, epoch=lease.epoch)


def is_live(home: Home, lease: Lease | None) -> bool:
    """Return whether somebody drives under this lease now."""
    return lease is not None and not lease.released and is_held(home.driver_lock(lease.host_id))


def take(journal: Journal, session_id: str, driver: DriverIdentity) -> Lease:
    """Become the owner of a session.

    Args:
        journal: Where.
        session_id: The session.
        driver: Who; it holds its `DriverLock`.

    Raises:
        Driven: Another process that lives owns it; names it.
        GuardFailed: The session does not exist or has ended.
    """

    def work(live: "LiveTables", now: int) -> Sequence[Event]:
        _refuse_imported(live, session_id)
        lease = live.lease(session_id)
        if lease and not lease.released and lease.host_id == driver.host_id:
            return ()
        if lease and is_live(journal.home, lease):
            raise Driven(session_id, lease.pid, lease.driver, lease.host_id)
        body = LeaseTaken(
            host_id=driver.host_id, epoch=(lease.epoch if lease else 0) + 1, pid=driver.pid,
            driver=driver.driver,
        )  # fmt: skip
        return (journal.event(body, session_id, driver.actor, at=now),)

    journal.transact(work)
    faults.point("lease.taken")
    lease = journal.lease(session_id)
    if lease is None or lease.host_id != driver.host_id:
        raise LeaseLost(
            f"session {session_id} was not taken", "another driver took it at once", "look who drives it"
        )
    return lease


def _refuse_imported(live: "LiveTables", session_id: str) -> None:
    """Refuse to go on with what came from a file: its words are not those of this human."""
    first = "SELECT recorded_at FROM event WHERE session_id = ? AND sequence_number = 1"
    if live.value(first, session_id) is not None:
        what, why = f"session {session_id} was not taken", "it was imported, and nothing of it is run here"
        raise GuardFailed(what, why, f"workbench sessions fork {session_id} goes on from its end")


def release(journal: Journal, lease: Lease, seen: int | None = None) -> bool:
    """Give a session back in order; nothing happens if it has another owner by now.

    Args:
        journal: Where.
        lease: As it was taken.
        seen: The position up to which the driver has read the session. If something came after it the
            session is not given back: whoever gives back says that all before was seen to.

    Returns:
        False if something came after `seen`.
    """
    mine, missed = guard(lease), list[int]()

    def work(live: "LiveTables", now: int) -> Sequence[Event]:
        missed.clear()
        try:
            mine.check(live)
        except LeaseLost:
            return ()
        if seen is not None and (last := live.last_position(lease.session_id)) > seen:
            missed.append(last)
            return ()
        body = LeaseReleased(host_id=lease.host_id, epoch=lease.epoch)
        return (journal.event(body, lease.session_id, Actor(kind="host", pid=lease.pid), at=now),)

    journal.transact(work)
    return not missed


def unfinished(journal: Journal, workspace: str) -> list[Session]:
    """Return the sessions of a workspace that nobody drives and that may have something to do.

    Something was asked or decided since the session was last given back in order, or an approved or
    executing call is open. Whether there is really something to do is said by folding the session.
    """
    return [
        session
        for session in journal.reader.awaiting(workspace)
        if not is_live(journal.home, journal.lease(session.id))
    ]
