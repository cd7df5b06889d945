"""Hosts from outside: start one, say how it is, stop it, and tidy what processes leave in the data folder.

Stopping needs no journal, so that a host of another version can be ended before a migration.
"""

# `host stop` asks whoever holds the host's lock: a migration waits until every host has ended, and the
# command that ends them must not wait for the migration.

import logging
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from workbench import __version__
from workbench.domain.rows import Host, Session
from workbench.effects.child_processes import ProcessNotStarted
from workbench.effects.command_execution import start_workbench
from workbench.effects.process_table import read_process, variable_names
from workbench.effects.runtime import FileLock, is_lock_held, lock_holder, remove_unheld_lock
from workbench.host.host_locks import host_lock_path, live_host, provider_variables, workspace_hash
from workbench.journal import storage
from workbench.journal.database import SCHEMA_VERSION
from workbench.journal.errors import JournalError
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.transaction import TransactionTables
from workbench.text.human import DAY_MICROS
from workbench.text.safe import one_line

if TYPE_CHECKING:
    from workbench.config.types import Config

STOP_TIMEOUT_SECONDS = 10.0
"""Seconds that a host has to end what it runs: more than the grace of a command."""


class StopResult(Struct, frozen=True, kw_only=True):
    """What came of asking a host to end."""

    pid: int | None
    """None: there was none."""
    is_gone: bool
    was_killed: bool = False

    @property
    def words(self) -> str:
        if self.pid is None:
            return "No background process runs here."
        if not self.is_gone:
            return f"The background process (pid {self.pid}) still runs."
        how = "was killed" if self.was_killed else "has ended"
        return f"The background process (pid {self.pid}) {how}. What waits keeps waiting."


def stop_host(
    home: Home, workspace: str, timeout: float = STOP_TIMEOUT_SECONDS, *, force: bool = False
) -> StopResult:
    """Ask the workspace's host to end and wait `timeout` seconds; `force` kills it then."""
    return stop_lock_holder(host_lock_path(home, workspace), timeout, force=force)


def stop_lock_holder(lock: Path, timeout: float = STOP_TIMEOUT_SECONDS, *, force: bool = False) -> StopResult:
    """Do as `stop_host` for the host that holds a lock."""
    pid = lock_holder(lock)
    if pid is None:
        return StopResult(pid=None, is_gone=True)
    # A suspended process hears the request only once it goes on.
    _send_signal(pid, signal.SIGTERM)
    _send_signal(pid, signal.SIGCONT)
    if _has_released_lock(lock, pid, timeout):
        return StopResult(pid=pid, is_gone=True)
    if not force:
        return StopResult(pid=pid, is_gone=False)
    _send_signal(pid, signal.SIGKILL)
    return StopResult(pid=pid, is_gone=_has_released_lock(lock, pid, timeout), was_killed=True)


def _send_signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _has_released_lock(lock: Path, pid: int, timeout: float) -> bool:
    until = time.monotonic() + timeout
    while lock_holder(lock) == pid:
        if time.monotonic() >= until:
            return False
        time.sleep(0.02)
    return True


def folder_problem(workspace: str) -> str:
    """Return why nothing can be done in a workspace, as a sentence; empty while its folder is in place.

    A workspace is kept by its real path: a link in its place leads to another folder.
    """
    path = Path(workspace)
    try:
        if path.is_symlink():
            return f"{workspace} is not the same folder any more: a link is there."
        if not path.exists():
            return f"{workspace} is gone."
        if not path.is_dir():
            return f"{workspace} is not a folder any more: a file is there."
        if not os.access(workspace, os.R_OK | os.X_OK):
            return f"{workspace} cannot be read: its permissions do not allow it."
    except OSError as error:
        return f"{workspace} cannot be read: {error.strerror}."
    return ""


START_TIMEOUT_SECONDS = 15.0
"""Seconds that a host may take until it holds its lock."""
_LOG_TAIL_BYTES = 4_000
"""Bytes at the end of a log that are looked at."""


def ensure_host(
    home: Home, journal: Journal, workspace: str, env: Mapping[str, str] = os.environ
) -> Host | None:
    """Return the workspace's host, started if none lives; None when it could not be started (see its log)."""
    host = live_host(home, journal, workspace)
    if host is not None:
        return host
    host_id = journal.clock.new_id()
    words = ["host", "serve", os.path.abspath(workspace), "--id", host_id]  # noqa: PTH100 -- links stay
    try:
        pid = start_workbench(words, home.path, home.logs / f"host-{host_id}.log", env)
    except ProcessNotStarted:
        return None
    until = time.monotonic() + START_TIMEOUT_SECONDS
    while time.monotonic() < until:
        is_coming = _is_process_alive(pid) or is_lock_held(host_lock_path(home, workspace))
        if (host := live_host(home, journal, workspace)) is not None or not is_coming:
            return host
        journal.wait(journal.last_position(), 0.1)
    return None


def start_failure_reason(home: Home) -> str:
    """Return what the newest host that did not start logged last."""
    logs = sorted(home.logs.glob("host-*.log"), key=lambda path: path.stat().st_mtime)
    lines = (logs[-1].read_bytes()[-_LOG_TAIL_BYTES:].decode("utf-8", "replace") if logs else "").splitlines()
    errors = [line for line in lines if " ERROR " in line]
    if errors or any("Traceback" in line for line in lines):
        last = (errors or lines)[-1]
        return one_line(last.partition(" ERROR ")[2] or last, 200)
    # A refusal says in a line each what was not done, why, and what helps.
    return one_line(" ".join(lines[-3:]), 300) or "it said nothing"


def _is_process_alive(pid: int) -> bool:
    row = read_process(pid)
    return row is not None and row.is_alive


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


TIDY_INTERVAL_SECONDS: Final = 3600.0
MAX_KEPT_DAYS: Final = 30
"""Days that the log and the row of a driver are kept after its end."""
LOG = logging.getLogger("workbench.host")


def tidy_data_folder_if_due(
    home: Home, journal: Journal, sealed_days: int, every: float = TIDY_INTERVAL_SECONDS
) -> bool:
    """Tidy unless that was done in the last `every` seconds or is being done; return whether it was done."""
    path = home.run / "upkeep.lock"
    if _seconds_since_write(path) < every:
        return False
    try:
        with FileLock(path) as lock:
            if not lock.try_acquire():
                return False
            tidy_data_folder(home, journal, sealed_days)
    except (JournalError, OSError) as error:
        LOG.warning("the data folder was not tidied: %s", error)
        return False
    return True


def tidy_data_folder_later(
    home: Home, journal: Journal, sealed_days: int, delay: float
) -> Callable[[], None]:
    """Tidy in a thread after some seconds, if due; returns the function that cancels it."""
    cancelled = threading.Event()

    def work() -> None:
        if not cancelled.wait(delay):
            tidy_data_folder_if_due(home, journal, sealed_days)

    threading.Thread(target=work, name="upkeep", daemon=True).start()
    return cancelled.set


def tidy_data_folder(home: Home, journal: Journal, sealed_days: int) -> None:
    """Tidy now; the modules are loaded here, as most processes end before."""
    from workbench.journal.imports import undo_unfinished_imports
    from workbench.journal.maintenance import finish_deletions, remove_expired_blobs, sweep_unused_blobs

    deleted = finish_deletions(journal)
    undo_unfinished_imports(journal)
    sealed = remove_expired_blobs(journal, sealed_days)
    unused = sweep_unused_blobs(journal)
    _remove_old_locks(home)
    _remove_old_logs(home)
    journal.change(lambda live: _remove_old_host_rows(home, live))
    if deleted or sealed or unused:
        LOG.info("tidied: %d deleted sessions, %d sealed, %d unused files", len(deleted), sealed, unused)


def _remove_old_locks(home: Home) -> None:
    for pattern in ("driver-*.lock", "*.screen-*.lock"):
        for path in home.run.glob(pattern):
            with suppress(OSError):
                if _seconds_since_write(path) > TIDY_INTERVAL_SECONDS:
                    remove_unheld_lock(path)


def _remove_old_logs(home: Home) -> None:
    for path in home.logs.glob("host-*.log"):
        host_id = path.stem.removeprefix("host-")
        if _seconds_since_write(path) > MAX_KEPT_DAYS * 86_400 and not is_lock_held(
            home.driver_lock(host_id)
        ):
            path.unlink(missing_ok=True)


def _remove_old_host_rows(home: Home, live: TransactionTables) -> None:
    """Forget drivers that ended long ago; one that was killed has only a lock that nobody holds."""
    before = live.now - MAX_KEPT_DAYS * DAY_MICROS
    old = live.all("SELECT id FROM host WHERE coalesce(ended_at, started_at) < ?", before)
    for (host_id,) in old:
        if not is_lock_held(home.driver_lock(str(host_id))):
            storage.delete_rows(live.database, Host, "id = ?", str(host_id))
            live.has_written = True


def _seconds_since_write(path: Path) -> float:
    try:
        return max(0.0, time.time() - path.stat().st_mtime)
    except FileNotFoundError:
        return float("inf")
