"""How the host of a workspace stands: whether it lives and moves, since when, and how it differs from here.

Owns the questions that people and other processes have about a host. It asks the kernel (locks, the process
table) first and the journal second, and changes nothing.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workbench import __version__
from workbench.domain.rows import Host, Session
from workbench.effects.locks import holder, is_held
from workbench.effects.proctable import process
from workbench.host.places import host_lock, live_host, workspace_hash
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.schema import SCHEMA_VERSION

State = Literal["absent", "starting", "running", "stopped"]
"""No host; its lock is held and it has not said who it is; it acts; it is suspended and does nothing."""

_LOCK = re.compile(r"[0-9a-f]{16}\.lock")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What is known of a workspace's host."""

    workspace: str
    state: State
    pid: int | None = None
    host: Host | None = None
    """What it said about itself when it started; None while it has not."""
    sessions: tuple[Session, ...] = ()
    """Those that it drives now."""
    waiting: int = 0
    """Questions in them that wait for a human."""
    log: Path | None = None
    log_bytes: int = 0
    differences: tuple[str, ...] = ()
    """How it differs from the program that asks, a sentence each."""


def standing(home: Home, journal: Journal, workspace: str, variables: Sequence[str]) -> Standing:
    """Return how the host of a workspace stands.

    Args:
        home: The data folder.
        journal: Its journal.
        workspace: Real path.
        variables: Names of the provider variables that the asking process has.
    """
    pid = holder(host_lock(home, workspace))
    if pid is None:
        return Standing(workspace=workspace, state="absent")
    host = live_host(home, journal, workspace)
    if host is None:
        return Standing(workspace=workspace, state="starting", pid=pid)
    # Each look of a screen asks for this: not for all sessions of the workspace.
    driven = tuple(journal.reader.driven(host.id, workspace)) if is_held(home.driver_lock(host.id)) else ()
    log = home.logs / f"host-{host.id}.log"
    return Standing(
        workspace=workspace, state="stopped" if is_stopped(host.pid) else "running", pid=host.pid, host=host,
        sessions=driven, waiting=sum(len(journal.actions(one.id, states=("pending",))) for one in driven),
        log=log if log.is_file() else None, log_bytes=log.stat().st_size if log.is_file() else 0,
        differences=differences(host, variables),
    )  # fmt: skip


def is_stopped(pid: int) -> bool:
    """Return whether a process is suspended: it lives and holds its locks, and does nothing."""
    row = process(pid)
    return row is not None and row.is_stopped


def suspended(pid: int | None) -> str:
    """Say that a host does nothing, and what helps."""
    helps = f"kill -CONT {pid} lets it go on, workbench host restart replaces it"
    return f"The host (pid {pid}) is suspended and does nothing: {helps}."


def remarks(home: Home, journal: Journal, workspace: str, variables: Sequence[str]) -> tuple[str, ...]:
    """Return what whoever relies on the workspace's host should know; empty where all is well."""
    host = live_host(home, journal, workspace)
    if host is None:
        return ()
    if is_stopped(host.pid):
        return (suspended(host.pid),)
    found = differences(host, variables)
    if not found:
        return ()
    told = " ".join(found)
    return (f"The host (pid {host.pid}) differs from this program. {told} workbench host restart helps.",)


def differences(host: Host, variables: Iterable[str]) -> tuple[str, ...]:
    """Return how a host differs from this program and its environment, a sentence each."""
    found: list[str] = []
    if host.version != __version__:
        found.append(f"It runs version {host.version}, this is {__version__}.")
    if host.schema != SCHEMA_VERSION:
        found.append(f"It writes schema {host.schema}, this program {SCHEMA_VERSION}.")
    here, there = set(variables), set(host.variables)
    if missing := sorted(here - there):
        found.append(f"It was started without {', '.join(missing)}.")
    if extra := sorted(there - here):
        found.append(f"It was started with {', '.join(extra)}, which is not set here.")
    return tuple(found)


def hosted(home: Home, journal: Journal | None) -> dict[Path, str]:
    """Return the lock of every host that lives in this home, with its workspace where that is known."""
    rows = journal.hosts() if journal is not None else []
    known = {workspace_hash(host.workspace): host.workspace for host in rows if host.driver == "host"}
    locks = sorted(path for path in home.run.glob("*.lock") if _LOCK.fullmatch(path.name))
    return {path: known.get(path.stem, "") for path in locks if holder(path) is not None}
