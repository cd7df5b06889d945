"""The code host of a project, as `{{ forge.type }}` and the like name it: known kinds, and how one is found.

The manifest's `metadata.forge` counts first, then the host in the address of the remote `origin`.
"""

import re
from collections.abc import Callable, Container
from typing import Final

from msgspec import Struct, field

from workbench.pipelines.templates import fill_templates, template_names
from workbench.text.safe import one_line

CODE_HOSTS: Final[dict[str, tuple[str, str, str, str]]] = {
    "github": ("gh", "Pull Request", "pr", "gh"), "gitlab": ("glab", "Merge Request", "mr", "gl"),
    "gitea": ("tea", "Pull Request", "pulls", "gt"), "forgejo": ("tea", "Pull Request", "pulls", "gt"),
    "codeberg": ("tea", "Pull Request", "pulls", "gt"), "bitbucket": ("bb", "Pull Request", "pr", "bb"),
    "local": ("", "", "", "local"),
}  # fmt: skip
"""Kind of host to its command line, its term for a pull request, the command for those, and the prefix of
its pipelines."""
CODE_HOST_MEMBERS: Final = frozenset(
    {"type", "host", "owner", "repo", "cli_tool", "pr_term", "pr_command", "prefix"}
)
"""Members of `forge` that a template may name."""
_LOCAL: Final = "local"
_OTHER_NAMES: Final = {"none": _LOCAL}
_BUILT_ON: Final = {"codeberg": ("forgejo", "gitea"), "forgejo": ("gitea",)}
"""Kinds whose personas serve a kind that has none of its own."""
_REPOSITORY_ADDRESS: Final = re.compile(
    r"(?:[a-z+]+://)?(?:[^@/\s]+@)?(?P<host>[A-Za-z0-9.-]+)(?::\d+)?[:/](?P<owner>[^\s]+)/(?P<repo>[^/\s]+?)(?:\.git)?/?"
)


class CodeHost(Struct, frozen=True, kw_only=True):
    """The code host of a project, and where it was found."""

    facts: dict[str, str] = field(default_factory=dict[str, str])
    """Members of `forge` to their values; one that is missing is empty."""
    origin: str = ""
    """Where it was found, or why not."""

    @property
    def kind(self) -> str:
        """Return a key of `CODE_HOSTS`; empty where none is known."""
        return self.facts.get("type", "")

    def summary(self) -> str:
        """Return `github (metadata.forge of the manifest)`, or why no code host is known."""
        return f"{self.kind or 'unknown'} ({self.origin})"


def known_kind(word: str) -> str:
    """Return the kind of code host that a manifest names; empty where it is not a known one."""
    name = word.strip().lower()
    name = _OTHER_NAMES.get(name, name)
    return name if name in CODE_HOSTS else ""


def find_code_host(word: str, address: str) -> CodeHost:
    """Return the code host of a project.

    Args:
        word: `metadata.forge` of the manifest; what is not a known kind does not count.
        address: That of the remote `origin`; empty without one.
    """
    kind, origin = known_kind(word), "metadata.forge of the manifest"
    if kind == _LOCAL:
        return CodeHost(facts=facts_of_kind(kind), origin=origin)
    facts = _repository_facts(address)
    host = facts.get("host", "")
    if not kind:
        kind = next((name for name in CODE_HOSTS if name in host and name != _LOCAL), "")
        shown = one_line(host, 80)
        origin = f"host {shown} of the remote origin" if host else "the remote origin names no server"
    return CodeHost(facts={**facts, **(facts_of_kind(kind) if kind else {})}, origin=origin)


def _repository_facts(address: str) -> dict[str, str]:
    match = _REPOSITORY_ADDRESS.fullmatch(address.strip())
    if match is None or "." not in match["host"]:
        return {}
    return {"host": match["host"].lower(), "owner": match["owner"], "repo": match["repo"]}


def facts_of_kind(kind: str) -> dict[str, str]:
    tool, term, command, prefix = CODE_HOSTS[kind]
    return {"type": kind, "cli_tool": tool, "pr_term": term, "pr_command": command, "prefix": prefix}


def names_code_host(text: str) -> bool:
    """Return whether a template of a text names the code host."""
    return "{{" in text and any(name.startswith("forge.") for name in template_names(text))


def filled_with(text: str, kind: str) -> str:
    """Return a text with its templates filled for one kind of code host; empty for those of no member."""
    facts = {f"forge.{key}": fact for key, fact in facts_of_kind(kind).items()} if kind else {}
    return fill_templates(text, lambda name: facts.get(name, ""))


def code_host_forms(text: str) -> list[str]:
    """Return what a text fills to, for each kind of code host; nothing if it names anything else."""
    if "{{" not in text:
        return [text]
    known = {f"forge.{key}" for key in facts_of_kind(_LOCAL)}
    if not known.issuperset(template_names(text)) or "{{" in filled_with(text, _LOCAL):
        return []
    return [filled_with(text, kind) for kind in CODE_HOSTS]


def persona_name(text: str, kind: str, fill: Callable[[str], str], personas: Container[str]) -> str:
    """Return the persona that a text names.

    Where the code host has none of its own, that of the host which it is built on: `gitea-reviewer` serves
    Codeberg.
    """
    name = fill(text)
    if name in personas or not names_code_host(text):
        return name
    forms = (filled_with(text, other) for other in _BUILT_ON.get(kind, ()))
    return next((form for form in forms if form in personas), name)
