"""Find the host of a workspace, or start it.

Owns the start of a host process and the wait until it holds its lock.
"""

import os
import time
from collections.abc import Mapping

from workbench.domain.rows import Host
from workbench.effects.locks import is_held
from workbench.effects.own_process import start_own
from workbench.effects.process import NotStarted
from workbench.effects.proctable import process
from workbench.host.places import host_lock, live_host
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.text.safe import one_line

PATIENCE = 15.0
"""Seconds that a host may take until it holds its lock."""

_TAIL = 4_000
"""Bytes at the end of a log that are looked at."""


def ensure_host(
    home: Home, journal: Journal, workspace: str, env: Mapping[str, str] = os.environ
) -> Host | None:
    """Return the workspace's host, started if none lives; None when it could not be started (see its log)."""
    found = live_host(home, journal, workspace)
    if found is not None:
        return found
    host_id = journal.clock.new_id()
    words = ["host", "serve", os.path.abspath(workspace), "--id", host_id]  # noqa: PTH100 -- links stay
    try:
        pid = start_own(words, home.path, home.logs / f"host-{host_id}.log", env)
    except NotStarted:
        return None
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        is_coming = _is_running(pid) or is_held(host_lock(home, workspace))
        if (found := live_host(home, journal, workspace)) is not None or not is_coming:
            return found
        journal.wait(journal.last_position(), 0.1)
    return None


def why_not(home: Home) -> str:
    """Return what the newest host that did not start said last, for an error message."""
    logs = sorted(home.logs.glob("host-*.log"), key=lambda path: path.stat().st_mtime)
    said = (logs[-1].read_bytes()[-_TAIL:].decode("utf-8", "replace") if logs else "").splitlines()
    errors = [line for line in said if " ERROR " in line]
    if errors or any("Traceback" in line for line in said):
        last = (errors or said)[-1]
        return one_line(last.partition(" ERROR ")[2] or last, 200)
    # A refusal says in a line each what was not done, why, and what helps.
    return one_line(" ".join(said[-3:]), 300) or "it said nothing"


def _is_running(pid: int) -> bool:
    row = process(pid)
    return row is not None and row.is_alive
