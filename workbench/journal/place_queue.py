"""Places that steps of all runs of a home share, and the queue before them, as locked files.

A place is a locked file, and so is a ticket of the queue: both are free when their process is gone, whatever
ended it. What runs is never more than the limit; who is first in the queue is next. Anybody may look.
"""

import time
from collections.abc import Iterator
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


class PlaceQueue:
    """The places of one limit, and the queue before them."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder, self.limit = folder, limit
        self._tickets: dict[str, FileLock] = {}

    def take(self, run_id: str) -> FileLock | None:
        """Take a place; else stand in the queue for one."""
        private_folder(self.folder)
        ticket = self._tickets.get(run_id)
        if next(self._earlier(ticket), None) is None and (place := self._free_place()) is not None:
            try:
                fault_point("place.taken")
                self.withdraw(run_id)
            except BaseException:
                place.release()
                raise
            return place
        if ticket is None:
            self._tickets[run_id] = self._new_ticket(run_id)
            fault_point("place.waits")
        return None

    def _free_place(self) -> FileLock | None:
        for number in range(self.limit):
            place = FileLock(self.folder / f"{_PLACE}{number}")
            if place.try_acquire():
                return place
        return None

    def _new_ticket(self, run_id: str) -> FileLock:
        # Names sort by the time; of two at once the smaller id is first.
        ticket = FileLock(self.folder / f"{_TICKET}{time.time_ns():020d}-{run_id}")
        if not ticket.try_acquire():
            raise OSError(f"{ticket.path} is held by another process")
        return ticket

    def _earlier(self, ticket: FileLock | None) -> Iterator[Path]:
        """Yield the tickets before one, or all, whose owners live; those of dead ones are removed."""
        for path in sorted(self.folder.glob(f"{_TICKET}*")):
            if ticket is not None and path.name >= ticket.path.name:
                return
            if is_lock_held(path):
                yield path
            else:
                remove_unheld_lock(path)

    def before(self, run_id: str) -> int | None:
        """Return how many stand before a run; None where it has no ticket."""
        ticket = self._tickets.get(run_id)
        return None if ticket is None else sum(1 for _ in self._earlier(ticket))

    def withdraw(self, run_id: str) -> None:
        ticket = self._tickets.pop(run_id, None)
        if ticket is not None:
            ticket.path.unlink(missing_ok=True)
            ticket.release()


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
        live = [path.name for path in sorted(queue.glob(f"{_TICKET}*")) if is_lock_held(path)]
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
