"""Locks of hosts, screens and working steps, and the refusal to decide for an agent.

Lock names hold 16 hex digits of the SHA-256 of the workspace's real path (DESIGN sections 2 and 8). A
process that shed both signs of a driver is not recognised (docs/security.md).
"""

import hashlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

from msgspec import Struct

from workbench import __version__
from workbench.config.types import PipelineSettings
from workbench.domain.events import SecurityNoted
from workbench.domain.rows import Host
from workbench.domain.values import SYSTEM_SESSION, Actor, Refused
from workbench.effects.file_locks import is_lock_held, lock_holder
from workbench.effects.process_marks import AGENT_VARIABLE
from workbench.effects.process_table import ancestor_pids
from workbench.journal.errors import as_journal_error
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverIdentity
from workbench.journal.place_queue import HOME_QUEUE, PlaceQueues, RunPlace

_PROVIDER_VARIABLE_ENDINGS = ("_API_KEY", "_BASE_URL")


def provider_variables(named: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the sorted names, never values, of this process's provider variables and those of `key_env`."""
    key_variables = set(named)
    return tuple(
        sorted(
            name for name in os.environ if name.endswith(_PROVIDER_VARIABLE_ENDINGS) or name in key_variables
        )
    )


def driver_identity(
    journal: Journal,
    workspace: str,
    driver: Literal["host", "run"],
    host_id: str | None = None,
    named: Iterable[str] = (),
) -> DriverIdentity:
    """Return this process as a driver."""
    return DriverIdentity(
        host_id=host_id or journal.clock.new_id(),
        pid=os.getpid(),
        driver=driver,
        workspace=workspace,
        version=__version__,
        variables=provider_variables(named),
    )


def workspace_hash(workspace: str) -> str:
    """Return the short name of a workspace in lock files."""
    return hashlib.sha256(workspace.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def host_lock_path(home: Home, workspace: str) -> Path:
    """Return the lock that the workspace's host holds for its life."""
    return home.run / f"{workspace_hash(workspace)}.lock"


def screen_lock_path(home: Home, workspace: str) -> Path:
    """Return the lock that this process holds while it shows a screen on the workspace."""
    return home.run / f"{workspace_hash(workspace)}.screen-{os.getpid()}.lock"


def has_screen(home: Home, workspace: str) -> bool:
    """Return whether a screen is attached to the workspace."""
    return any(is_lock_held(path) for path in home.run.glob(f"{workspace_hash(workspace)}.screen-*.lock"))


def live_host(home: Home, journal: Journal, workspace: str) -> Host | None:
    """Return the workspace's host while it lives."""
    if not is_lock_held(host_lock_path(home, workspace)):
        return None
    hosts = [h for h in journal.hosts() if h.workspace == workspace and h.driver == "host"]
    live = [h for h in hosts if is_lock_held(home.driver_lock(h.id))]
    return live[0] if live else None


class InsideAgent(Refused):
    """A deciding command was called by something that a host had started."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"Not done: {what}.",
            "This process was started by an agent, and agents cannot answer for a human.",
            "Do it in a terminal of your own.",
        )


def refuse_inside_agents(journal: Journal | None, home: Home, what: str) -> None:
    """Raise InsideAgent, and note the attempt if the journal is open, where a driver is an ancestor."""
    ancestry = tuple(ancestor_pids())
    if AGENT_VARIABLE not in os.environ and not _is_below_driver(home, ancestry):
        return
    if journal is not None:
        actor = Actor(kind="agent", pid=os.getpid())
        body = SecurityNoted(what="decision from inside an agent", detail=what, ancestry=ancestry)
        journal.append([journal.event(body, SYSTEM_SESSION, actor)])
    raise InsideAgent(what)


def _is_below_driver(home: Home, pids: tuple[int, ...]) -> bool:
    """Return whether a process holds a driver's lock; the holder's pid is in the lock."""
    return any(lock_holder(path) in pids for path in home.run.glob("driver-*.lock"))


# A step takes a place of its workspace first and one of the home second, so nobody waits for a home's place
# who holds nothing others of the workspace want. Each has a queue of its own: a workspace that is full keeps
# nobody of another one waiting. Drivers may have other limits: each uses the places below its own, and the
# largest holds.


class _HeldPlaces(Struct):
    """What one step holds, and how it is given back."""

    releases: tuple[Callable[[], None], ...]

    def release(self) -> None:
        releases, self.releases = self.releases, ()
        for release_place in releases:
            release_place()


class SharedPlaces:
    """The places of one topmost run and the runs below it, as one driver takes them."""

    def __init__(
        self, queues: PlaceQueues, workspace: str, settings: PipelineSettings, lent: int = 0
    ) -> None:
        """`lent`: places of a step that waits for this run, which it need not take."""
        self._workspace, self._home = queues.queue(workspace_hash(workspace)), queues.queue(HOME_QUEUE)
        self._settings = settings
        self._workspace_places: dict[str, RunPlace] = {}
        """Places of the workspace of runs that wait for one of the home."""
        self._lent = lent

    def take(self, run_id: str, wake: Callable[[], None]) -> _HeldPlaces | None:
        if self._lent:
            self._lent -= 1
            return _HeldPlaces((self._give_back_lent,))
        try:
            return self._take(run_id, wake)
        except OSError as error:
            raise as_journal_error(error) or error from None

    def _take(self, run_id: str, wake: Callable[[], None]) -> _HeldPlaces | None:
        workspace_place = self._workspace_places.get(run_id) or self._workspace.take(
            run_id, self._settings.max_workspace_steps, wake
        )
        if workspace_place is None:
            return None
        home_place = self._home.take(run_id, self._settings.max_home_steps, wake)
        if home_place is None:
            self._workspace_places[run_id] = workspace_place
            return None
        self._workspace_places.pop(run_id, None)
        return _HeldPlaces((workspace_place.release, home_place.release))

    def withdraw(self, run_id: str) -> None:
        for queue in (self._workspace, self._home):
            queue.withdraw(run_id)
        workspace_place = self._workspace_places.pop(run_id, None)
        if workspace_place is not None:
            workspace_place.release()

    def before(self, run_id: str) -> int | None:
        counts = (queue.before(run_id) for queue in (self._workspace, self._home))
        return next((before for before in counts if before is not None), None)

    def is_next(self, run_id: str) -> bool:
        return self._workspace.is_next(run_id) or self._home.is_next(run_id)

    def _give_back_lent(self) -> None:
        self._lent += 1
