"""The state of the background process of a workspace, and its differences from this program."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from workbench import __version__
from workbench.domain.rows import Host, Session
from workbench.effects.file_locks import is_lock_held, lock_holder
from workbench.effects.process_table import read_process, variable_names
from workbench.host.host_locks import host_lock_path, live_host, provider_variables, workspace_hash
from workbench.journal.database import SCHEMA_VERSION
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.text.safe import one_line

if TYPE_CHECKING:
    from workbench.config.types import Config


HostState = Literal["absent", "starting", "running", "stopped"]
"""No host; its lock is held and it has not said who it is; it acts; it is suspended and does nothing."""
_HOST_LOCK_NAME = re.compile(r"[0-9a-f]{16}\.lock")


class HostStatus(Struct, frozen=True, kw_only=True):
    """What is known of a workspace's host."""

    workspace: str
    state: HostState
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
    executing: str = ""
    """A call or a command of a step that it executes now, in a few words; empty where it executes none."""


def host_status(home: Home, journal: Journal, workspace: str, variables: Sequence[str]) -> HostStatus:
    """Return how a workspace's host is; `variables` are the asking process's provider variables."""
    pid = lock_holder(host_lock_path(home, workspace))
    if pid is None:
        return HostStatus(workspace=workspace, state="absent")
    host = live_host(home, journal, workspace)
    if host is None:
        return HostStatus(workspace=workspace, state="starting", pid=pid)
    # Each look of a screen asks for this: not for all sessions of the workspace.
    driven = tuple(journal.driven(host.id, workspace)) if is_lock_held(home.driver_lock(host.id)) else ()
    log = home.logs / f"host-{host.id}.log"
    return HostStatus(
        workspace=workspace, state="stopped" if is_suspended(host.pid) else "running", pid=host.pid,
        host=host,
        sessions=driven,
        waiting=sum(len(journal.actions(session.id, states=("pending",))) for session in driven),
        log=log if log.is_file() else None, log_bytes=log.stat().st_size if log.is_file() else 0,
        differences=host_differences(host, variables), executing=_executing_words(journal, driven),
    )  # fmt: skip


def _executing_words(journal: Journal, sessions: Iterable[Session]) -> str:
    for session in sessions:
        if calls := journal.calls(session.id, states=("executing",)):
            return one_line(calls[0].target or calls[0].tool, 60)
        steps = journal.step_states(session.id) if session.kind == "pipeline" else ()
        if running := [step for step in steps if step.state == "running" and step.kind == "command"]:
            return f"step {one_line(running[0].step_id, 60)}"
    return ""


def has_variable(host: Host, name: str) -> bool:
    """Return whether a host has a variable: by its process where the system tells, else by what it said."""
    names = variable_names(host.pid)
    return name in (host.variables if names is None else names)


def missing_key_variables(host: Host, config: "Config", env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the variables with keys of the configuration that `env` has and a host does not."""
    from workbench.host.provider_keys import key_variables

    named = dict.fromkeys(key_variables(config))
    return tuple(name for name in named if env.get(name, "").strip() and not has_variable(host, name))


def missing_keys_sentence(names: Sequence[str]) -> str:
    """Say that the background process does not have some variables."""
    return f"The background process of this folder does not have {', '.join(names)}."


def is_suspended(pid: int) -> bool:
    """Return whether a process is suspended: it holds its locks and does nothing."""
    row = read_process(pid)
    return row is not None and row.is_stopped


def suspended_host_sentence(pid: int | None) -> str:
    """Say that a host does nothing, and what helps."""
    helps = f"kill -CONT {pid} continues it, workbench host restart replaces it"
    return f"The background process (pid {pid}) is suspended and does nothing: {helps}."


def inherited_variables(home: Home, journal: Journal, workspace: str) -> tuple[str, ...]:
    """Return the names of the provider variables that a host started by this process would inherit."""
    from workbench.host.provider_keys import key_variables
    from workbench.host.workspace_config import WorkspaceSettings
    from workbench.host.workspace_trust import is_trusted

    settings = WorkspaceSettings(home, workspace, {})
    return provider_variables(key_variables(settings.loaded(trusted=is_trusted(journal, workspace)).config))


def host_warnings(
    home: Home, journal: Journal, workspace: str, variables: Sequence[str] | None = None
) -> tuple[str, ...]:
    """Return how the workspace's host is unfit; empty where nothing is wrong.

    Args:
        home: The data folder.
        journal: Its journal.
        workspace: The real path.
        variables: Provider variables that the host should have; None: those of this process.
    """
    host = live_host(home, journal, workspace)
    if host is None:
        return ()
    if is_suspended(host.pid):
        return (suspended_host_sentence(host.pid),)
    expected = inherited_variables(home, journal, workspace) if variables is None else variables
    differences = host_differences(host, expected)
    if not differences:
        return ()
    sentences = " ".join(differences)
    return (
        f"The background process (pid {host.pid}) differs from this program. {sentences}"
        " workbench host restart helps.",
    )


def host_differences(host: Host, variables: Iterable[str]) -> tuple[str, ...]:
    """Return how a host differs from this program and its environment, a sentence each."""
    differences: list[str] = []
    if host.version != __version__:
        differences.append(f"It runs version {host.version}, this is {__version__}.")
    if host.schema != SCHEMA_VERSION:
        differences.append(f"It writes schema {host.schema}, this program {SCHEMA_VERSION}.")
    own_variables, host_variables = set(variables), set(host.variables)
    if missing := sorted(name for name in own_variables - host_variables if not has_variable(host, name)):
        differences.append(f"It was started without {', '.join(missing)}.")
    if extra := sorted(host_variables - own_variables):
        differences.append(f"It was started with {', '.join(extra)}, which is not set here.")
    return tuple(differences)


def living_host_locks(home: Home, journal: Journal | None) -> dict[Path, str]:
    """Return the lock of every host that lives in this home, with its workspace where that is known."""
    rows = journal.hosts() if journal is not None else []
    workspaces = {workspace_hash(host.workspace): host.workspace for host in rows if host.driver == "host"}
    locks = sorted(path for path in home.run.glob("*.lock") if _HOST_LOCK_NAME.fullmatch(path.name))
    return {path: workspaces.get(path.stem, "") for path in locks if lock_holder(path) is not None}
