"""The smallest sandbox that is like ours: bubblewrap with a read-only system, no network, and `.git` read-only.

It is what the readers of needs and refusals are compared with; what ours does is tested where it is made.
"""

import shutil
import subprocess
import sys
from functools import cache


@cache
def why_no_sandbox() -> str:
    """Return why no sandbox can be made here; empty where one can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed"
    tried = subprocess.run([*_ARGV, "--", "true"], capture_output=True, text=True, check=False)
    return f"bubblewrap cannot make a sandbox: {tried.stderr.strip()}" if tried.returncode else ""


_ARGV = (
    "bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--tmpfs", "/tmp", "--unshare-all",
    "--cap-drop", "ALL", "--new-session", "--die-with-parent",
)  # fmt: skip


def sandboxed(line, workspace, *, hidden=(), is_writable=True):
    """Return the argv that runs a line in a sandbox of a workspace; what is next to the workspace is read-only.

    `hidden`: folders that are empty inside.
    """
    place, parent, git = str(workspace), str(workspace.parent), f"{workspace}/.git"
    return [
        *_ARGV, "--ro-bind", sys.prefix, sys.prefix, "--ro-bind", parent, parent, *(word for folder in hidden for word in ("--tmpfs", str(folder))),
        "--bind" if is_writable else "--ro-bind", place, place, "--ro-bind-try", git, git, "--chdir", place,
        "--", "bash", "-c", line,
    ]  # fmt: skip
