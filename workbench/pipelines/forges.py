"""Code hosts by the address of a repository: what `{{ forge.cli_tool }}` and its like stand for.

Pure. It asks nobody: a host that is not known by its name has no facts but its address.
"""

import re
from typing import Final

KINDS: Final[dict[str, tuple[str, str, str]]] = {
    "github": ("gh", "Pull Request", "pr"), "gitlab": ("glab", "Merge Request", "mr"),
    "gitea": ("tea", "Pull Request", "pulls"), "bitbucket": ("bb", "Pull Request", "pr"),
}  # fmt: skip
"""Kind of host to its command line, what it calls a change that is offered, and the command for those."""

NAMES: Final = frozenset({"type", "host", "owner", "repo", "cli_tool", "pr_term", "pr_command"})
"""Members of `forge` that a template may name."""

_ADDRESS: Final = re.compile(
    r"(?:[a-z+]+://)?(?:[^@/\s]+@)?(?P<host>[A-Za-z0-9.-]+)(?::\d+)?[:/](?P<owner>[^\s]+)/(?P<repo>[^/\s]+?)(?:\.git)?/?"
)


def facts(address: str) -> dict[str, str]:
    """Return what is known of the host of a repository; empty for a path or no address.

    Args:
        address: as `git remote get-url origin` prints it.
    """
    found = _ADDRESS.fullmatch(address.strip())
    if found is None or "." not in found["host"]:
        return {}
    host = found["host"].lower()
    known = {"host": host, "owner": found["owner"], "repo": found["repo"]}
    kind = next((name for name in KINDS if name in host), "gitea" if host == "codeberg.org" else "")
    return {**known, **of_kind(kind)} if kind else known


def of_kind(kind: str) -> dict[str, str]:
    """Return the facts that every host of a kind has."""
    tool, term, command = KINDS[kind]
    return {"type": kind, "cli_tool": tool, "pr_term": term, "pr_command": command}
