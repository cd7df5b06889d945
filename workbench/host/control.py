"""Stop the host of a workspace and say what came of it.

Owns nothing that runs: a signal to the recorded pid, then the wait for its lock to be free.
"""

import os
import signal
import time

from workbench.effects.locks import is_held
from workbench.host.places import host_lock, live_host
from workbench.journal.home import Home
from workbench.journal.journal import Journal


def stop(home: Home, journal: Journal, workspace: str, timeout: float = 10.0) -> tuple[bool, str]:
    """Ask the workspace's host to end; return whether none lives any more, and that in words."""
    host = live_host(home, journal, workspace)
    if host is None:
        return True, "No host runs here."
    os.kill(host.pid, signal.SIGTERM)
    until = time.monotonic() + timeout
    while time.monotonic() < until:
        if not is_held(host_lock(home, workspace)):
            return True, f"The host (pid {host.pid}) has ended. What waits goes on waiting."
        time.sleep(0.02)
    return False, f"The host (pid {host.pid}) still runs after {timeout:.0f} s."
