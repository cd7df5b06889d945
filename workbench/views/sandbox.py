"""Where a command runs and what the sandbox refused to it, in words."""

from collections.abc import Mapping, Sequence
from typing import Final

from workbench.domain.rows import Call
from workbench.domain.values import (
    SANDBOX_SPEAKER,
    Place,
    RefusalKind,
    SandboxLevel,
    SandboxRefusal,
    SandboxUse,
)
from workbench.text.safe import one_line

_MAX_TARGET_CELLS: Final = 120
_MOST_NAMED: Final = 4
_REFUSAL_WORDS: Final[Mapping[RefusalKind, str]] = {
    "write": "to write {}",
    "read": "to read {}",
    "network": "to reach {}",
    "closed": "to create {}, which controls the workspace",
    "privilege": "to use {}",
}
LEVEL_SENTENCES: Final[Mapping[SandboxLevel, str]] = {
    "read-only": "it can write nothing, and has no network",
    "workspace": "it can write only in the workspace, and has no network",
    "outside": "it can do all that you can",
}
"""What a command of a level can do."""


def refusals_text(refusals: Sequence[SandboxRefusal]) -> str:
    """Return what a sandbox refused in words, such as `to write /etc/hosts, to reach example.com:443`."""
    named = [
        _REFUSAL_WORDS[each.kind].format(one_line(each.target, _MAX_TARGET_CELLS))
        for each in refusals[:_MOST_NAMED]
    ]
    more = len(refusals) - _MOST_NAMED
    return ", ".join([*named, *([f"and {more} more"] if more > 0 else [])])


def refusals_sentence(call: Call) -> str:
    """Return what the sandbox refused to a call, as a clause; empty where it refused nothing."""
    return f"the sandbox refused {refusals_text(call.refusals)}" if call.refusals else ""


def is_allowed_by_sandbox(call: Call) -> bool:
    """Return whether a call ran without a question because it ran inside the sandbox."""
    return call.verdict_by == SANDBOX_SPEAKER and call.action_id is None


def sandbox_use_text(use: SandboxUse) -> str:
    """Return where a process ran: `inside the sandbox, level workspace (bubblewrap)`."""
    if use.place == "outside":
        return "outside the sandbox"
    return f"inside the sandbox, level {use.level} ({use.backend})"


def place_fact(place: Place, level: SandboxLevel | None) -> str:
    """Return where a command would run, and what it can do there."""
    if place == "inside" and level is not None:
        return f"inside the sandbox: {LEVEL_SENTENCES[level]}"
    return f"outside the sandbox: {LEVEL_SENTENCES['outside']}"
