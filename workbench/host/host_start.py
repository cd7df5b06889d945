"""Start the background process of a workspace, or return why it cannot start."""

import os
import time
from collections.abc import Mapping
from pathlib import Path

from workbench.domain.rows import Host
from workbench.effects.child_processes import ProcessNotStarted
from workbench.effects.file_locks import is_lock_held
from workbench.effects.own_processes import start_workbench
from workbench.effects.process_table import read_process
from workbench.host.host_locks import host_lock_path, live_host
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.text.safe import one_line


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
