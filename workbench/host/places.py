"""Where a workspace's host and screens leave their locks, and which host lives.

Owns the names (DESIGN sections 2 and 8): the hash of a workspace is the first 16 hex digits of the SHA-256
of its real path. A lock that is held means a process that lives.
"""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from workbench import __version__
from workbench.domain.rows import Host
from workbench.effects.locks import is_held
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.lease import DriverIdentity

_PROVIDER_ENDINGS = ("_API_KEY", "_BASE_URL")


def provider_variables(named: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the names of the provider variables that this process has, sorted; never a value.

    Args:
        named: Those that the configuration names (`key_env`), whatever they are called.
    """
    wanted = set(named)
    return tuple(sorted(name for name in os.environ if name.endswith(_PROVIDER_ENDINGS) or name in wanted))


def identity(
    journal: Journal,
    workspace: str,
    driver: Literal["host", "run"],
    host_id: str | None = None,
    named: Iterable[str] = (),
) -> DriverIdentity:
    """Return this process as a driver, with the names of the provider variables it has."""
    return DriverIdentity(
        host_id=host_id or journal.clock.new_id(),
        pid=os.getpid(),
        driver=driver,
        workspace=workspace,
        version=__version__,
        variables=provider_variables(named),
    )


def workspace_of(path: str | os.PathLike[str]) -> str:
    """Return the real path that a workspace is known by."""
    return os.path.realpath(path)


def workspace_hash(workspace: str) -> str:
    """Return the short name of a workspace in lock files."""
    return hashlib.sha256(workspace.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def host_lock(home: Home, workspace: str) -> Path:
    """Return the lock that the workspace's host holds for its life."""
    return home.run / f"{workspace_hash(workspace)}.lock"


def screen_lock(home: Home, workspace: str) -> Path:
    """Return the lock that this process holds while it shows a screen on the workspace."""
    return home.run / f"{workspace_hash(workspace)}.screen-{os.getpid()}.lock"


def has_screen(home: Home, workspace: str) -> bool:
    """Return whether a screen is attached to the workspace."""
    return any(is_held(path) for path in home.run.glob(f"{workspace_hash(workspace)}.screen-*.lock"))


def live_host(home: Home, journal: Journal, workspace: str) -> Host | None:
    """Return the host of a workspace while it lives."""
    if not is_held(host_lock(home, workspace)):
        return None
    mine = [h for h in journal.hosts() if h.workspace == workspace and h.driver == "host"]
    living = [h for h in mine if is_held(home.driver_lock(h.id))]
    return living[0] if living else None
