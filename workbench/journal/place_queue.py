"""Places that steps of all runs of a home share, and the queue before them, as locked files.

A place is a locked file, and so is a ticket of the queue: both are free when their process is gone, whatever
ended it. What runs is never more than the limit; who is first in the queue is next. Anybody may look.
"""

# Of the runs that wait in one process only the first looks for a place: at once when a place of this process
# is given back, and from time to time for those of other processes. When it has one, it wakes the next.

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from workbench.effects.fault_points import fault_point
from workbench.effects.file_locks import FileLock, is_lock_held, remove_unheld_lock
from workbench.effects.path_files import private_folder
from workbench.journal.home import Home
from workbench.text.human import place_wait_text

PLACES_FOLDER: Final = "places"
HOME_QUEUE: Final = "home"
_PLACE: Final = "place-"
_TICKET: Final = "ticket-"


class _Ticket(Struct):
    """A run of this process that is queued."""

    lock: FileLock
    wake: Callable[[], None]


class RunPlace(Struct):
    """A place that a step has."""

    queue: "PlaceQueue"
    lock: FileLock

    def release(self) -> None:
        """Give it back, and have the first run of this process look. Twice is harmless."""
        if self.lock.is_mine:
            self.lock.release()
            self.queue.wake_next()


class PlaceQueue:
    """The places of one limit, and the queue before them, as one process takes them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._tickets: dict[str, _Ticket] = {}
        """By the ids of runs, in the order of the queue."""

    def take(self, run_id: str, limit: int, wake: Callable[[], None]) -> RunPlace | None:
        """Take a place; else queue for one. `wake` is then called when it is worth trying again."""
        is_queued = run_id in self._tickets
        if self.is_next(run_id) or not self._tickets:
            place = self._free_place(run_id, limit)
            if place is not None:
                try:
                    fault_point("place.taken")
                    self.withdraw(run_id)
                except BaseException:
                    place.release()
                    raise
                return place
        if not is_queued:
            self._add(run_id, _Ticket(lock=self._new_ticket(run_id), wake=wake))
            fault_point("place.waits")
        return None

    def is_next(self, run_id: str) -> bool:
        """Return whether a run is the first of this process: it looks for places, the others are woken."""
        return run_id == next(iter(self._tickets), None)

    def wake_next(self) -> None:
        """Have the first run of this process look for a place."""
        for ticket in self._tickets.values():
            ticket.wake()
            return

    def _free_place(self, run_id: str, limit: int) -> RunPlace | None:
        """Take a place where more are free than runs of other processes wait before this one."""
        paths = [self.folder / f"{_PLACE}{number}" for number in range(limit)]
        if earlier := sum(1 for _ in self._earlier(run_id)):
            # The lowest are left to them: they may be of drivers with a lower limit.
            paths = [path for path in reversed(paths) if not is_lock_held(path)]
            paths = paths if len(paths) > earlier else []
        for path in paths:
            lock = FileLock(path)
            if self._try_acquire(lock):
                return RunPlace(self, lock)
        return None

    def _try_acquire(self, lock: FileLock) -> bool:
        try:
            return lock.try_acquire()
        except FileNotFoundError:
            private_folder(self.folder)
            return lock.try_acquire()

    def _new_ticket(self, run_id: str) -> FileLock:
        # Names sort by the time; of two at once the smaller id is first.
        ticket = FileLock(self.folder / f"{_TICKET}{time.time_ns():020d}-{run_id}")
        if not self._try_acquire(ticket):
            raise OSError(f"{ticket.path} is held by another process")
        return ticket

    def _add(self, run_id: str, ticket: _Ticket) -> None:
        # Sorted as other processes sort them: a clock may have been set back meanwhile.
        tickets = sorted({**self._tickets, run_id: ticket}.items(), key=lambda item: item[1].lock.path.name)
        self._tickets = dict(tickets)

    def _earlier(self, run_id: str) -> Iterator[Path]:
        """Yield the tickets before that of a run, or all, of living owners; remove those of dead ones."""
        own = self._tickets.get(run_id)
        for name in _ticket_names(self.folder):
            if own is not None and name >= own.lock.path.name:
                return
            path = self.folder / name
            if is_lock_held(path):
                yield path
            else:
                remove_unheld_lock(path)

    def before(self, run_id: str) -> int | None:
        """Return how many stand before a run; None where it has no ticket."""
        return sum(1 for _ in self._earlier(run_id)) if run_id in self._tickets else None

    def withdraw(self, run_id: str) -> None:
        """Leave the queue; nothing happens where a run is not in it."""
        ticket = self._tickets.pop(run_id, None)
        if ticket is not None:
            ticket.lock.path.unlink(missing_ok=True)
            ticket.lock.release()
            self.wake_next()


class PlaceQueues:
    """The queues of a home, as one driver takes places."""

    def __init__(self, home: Home) -> None:
        self._folder = home.run / PLACES_FOLDER
        self._queues: dict[str, PlaceQueue] = {}

    def queue(self, name: str) -> PlaceQueue:
        """Return the queue of a workspace, or of the home."""
        return self._queues.setdefault(name, PlaceQueue(self._folder / name))


def _ticket_names(folder: Path) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.startswith(_TICKET))  # noqa: PTH208 -- each step
    except FileNotFoundError:
        return []


class PlaceWait(Struct, frozen=True, kw_only=True):
    """A run that waits for a place."""

    run_id: str
    before: int
    is_home: bool
    """Whether the home has no place for it; else its workspace has none."""
    since_ns: int

    @property
    def text(self) -> str:
        """Return it as it is shown."""
        return place_wait_text(self.before)


def waiting_runs(home: Home) -> dict[str, PlaceWait]:
    """Return the runs of a home that wait for a place, by id."""
    waits: dict[str, PlaceWait] = {}
    folder = home.run / PLACES_FOLDER
    for queue in sorted(folder.iterdir()) if folder.is_dir() else ():
        live = [name for name in _ticket_names(queue) if is_lock_held(queue / name)]
        for before, name in enumerate(live):
            since, _, run_id = name.removeprefix(_TICKET).partition("-")
            waits[run_id] = PlaceWait(
                run_id=run_id, before=before, is_home=queue.name == HOME_QUEUE, since_ns=int(since)
            )
    return waits


def wait_of_run(home: Home, run_id: str) -> PlaceWait | None:
    """Return what a run waits for, if it waits for a place: read for every drawing of a run that goes on."""
    is_waiting = next((home.run / PLACES_FOLDER).glob(f"*/{_TICKET}*{run_id}"), None) is not None
    return waiting_runs(home).get(run_id) if is_waiting else None


def places_taken(home: Home, queue: str = HOME_QUEUE) -> int:
    """Return how many steps run now that have a place of a queue."""
    folder = home.run / PLACES_FOLDER / queue
    return sum(1 for path in folder.glob(f"{_PLACE}*") if is_lock_held(path))
