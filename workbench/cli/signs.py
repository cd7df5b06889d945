"""The signs of states and their words; UX section 4.

Owns which sign and which word a state of an action or a call has, in Unicode and in ASCII. A sign never
stands without its word.
"""

from collections.abc import Mapping
from typing import Final, Literal

from workbench.domain.rows import Action, Call
from workbench.records import dataclass

Meaning = Literal[
    "waiting", "running", "todo", "ok", "failed", "partly", "rejected", "expired", "stale", "rule",
    "cancelled", "unknown",
]  # fmt: skip

_UNICODE: Final[Mapping[Meaning, str]] = {
    "waiting": "◆", "running": "●", "todo": "○", "ok": "✓", "failed": "✗", "partly": "◑", "rejected": "⊘",
    "expired": "◌", "stale": "≠", "rule": "§", "cancelled": "–", "unknown": "?",
}  # fmt: skip
_ASCII: Final[Mapping[Meaning, str]] = {
    "waiting": "*", "running": "@", "todo": ".", "ok": "v", "failed": "x", "partly": "/", "rejected": "0",
    "expired": "~", "stale": "%", "rule": "S", "cancelled": "_", "unknown": "?",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """The signs that a stream can show."""

    table: Mapping[Meaning, str]
    minus: str
    has_unicode: bool = True

    def of(self, meaning: Meaning) -> str:
        """Return the sign of a meaning, one cell wide."""
        return self.table[meaning]


def signs_for(encoding: str | None) -> Signs:
    """Return the signs for a stream by its encoding: ASCII for all but UTF."""
    if (encoding or "").lower().replace("-", "").startswith("utf"):
        return Signs(table=_UNICODE, minus="−")
    return Signs(table=_ASCII, minus="-", has_unicode=False)


def action_meaning(action: Action, call: Call | None = None) -> tuple[Meaning, str]:
    """Return what an action's row means and the word for it."""
    if action.state == "pending":
        return ("stale", "stale") if action.stale_paths else ("waiting", "waiting")
    if action.state == "approved":
        return _approved(action, call)
    ended: Mapping[str, tuple[Meaning, str]] = {
        "rejected": ("rejected", "rejected"),
        "expired": ("expired", "expired"),
        "cancelled": ("cancelled", "withdrawn"),
        "superseded": ("cancelled", "replaced"),
    }
    return ended[action.state]


def _approved(action: Action, call: Call | None) -> tuple[Meaning, str]:
    after: Mapping[str, tuple[Meaning, str]] = {
        "failed": ("failed", "approved, failed"),
        "interrupted": ("unknown", "approved, outcome unknown"),
        "cancelled": ("cancelled", "approved, then cancelled"),
        "executing": ("running", "approved, running"),
    }
    if call is not None and call.state in after:
        return after[call.state]
    if action.selection is not None:
        return "partly", "partly approved"
    return "ok", "approved, edited" if action.edited else "approved"


def call_meaning(call: Call) -> tuple[Meaning, str]:
    """Return what a call's row means and the word for it."""
    words: Mapping[str, tuple[Meaning, str]] = {
        "pending": ("waiting", "waiting") if call.action_id else ("todo", "todo"),
        "approved": ("todo", "approved"),
        "executing": ("running", "running"),
        "succeeded": ("ok", "ok"),
        "failed": ("failed", "failed"),
        "interrupted": ("unknown", "unknown"),
        "rejected": ("rejected", "rejected") if call.action_id else ("failed", "not allowed"),
        "expired": ("expired", "expired"),
        "cancelled": ("cancelled", "cancelled"),
    }
    return words[call.state]
