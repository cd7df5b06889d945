"""The rules by which an agent asks its own user although a call was allowed here, as permissions of ours.

What an agent's settings say is not believed further than for what is shown: no rule here allows anything.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

from workbench.bridge.agent_modes import permission_rules
from workbench.supervised.messages import OwnRule

MOST_RULES: Final = 200
"""Rules that a call is compared with: a folder's files can hold any number."""
_LONGEST: Final = 500
_OPENCODE_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "bash": ("Bash",), "edit": ("Edit", "Write"), "read": ("Read",), "glob": ("Glob",), "grep": ("Grep",),
    "list": ("LS",), "webfetch": ("WebFetch",),
    "*": ("Bash", "Edit", "Write", "Read", "Glob", "Grep", "LS", "WebFetch"),
}  # fmt: skip
"""Permissions of ours, by OpenCode's names of its own."""


def opencode_rules(permission: object) -> tuple[OwnRule, ...]:
    """Return the last rules of OpenCode's `permission` in their order: the last that matches counts."""
    return tuple(_opencode_rules(permission))[-MOST_RULES:]


def _opencode_rules(permission: object) -> Iterator[OwnRule]:
    for (name, pattern), action in permission_rules(permission):
        for ours in _OPENCODE_NAMES.get(name, ()):
            text = ours if pattern == "*" else f"{ours}({pattern})"
            if len(text) <= _LONGEST:
                yield OwnRule(pattern=text, asks=action == "ask")


def claude_rules(settings: Sequence[object]) -> tuple[OwnRule, ...]:
    """Return the `ask` rules of Claude Code's settings files: each of them asks, whatever a hook allowed."""
    return tuple(
        OwnRule(pattern=pattern, asks=True)
        for values in settings
        for pattern in _items(_member(_member(values, "permissions"), "ask"))
        if isinstance(pattern, str) and 0 < len(pattern) <= _LONGEST
    )[:MOST_RULES]


def _member(value: object, name: str) -> object:
    return cast("Mapping[str, object]", value).get(name) if isinstance(value, Mapping) else None


def _items(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, list | tuple) else ()
