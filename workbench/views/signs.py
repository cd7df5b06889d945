"""The one table of signs (UX section 4), and which sign and word a row of the journal has.

A sign never stands without its word. Views name signs by meaning; `draw` picks the Unicode or ASCII glyph.
"""

from collections.abc import Mapping
from typing import Final, Literal

from workbench.domain.rows import Action, Call, Session
from workbench.records import dataclass

Meaning = Literal[
    "waiting", "running", "todo", "ok", "failed", "partly", "rejected", "expired", "stale", "rule",
    "cancelled", "unknown", "risk",
]  # fmt: skip
"""What a row means; the key of its sign and of its colour."""

GlyphName = Literal[
    "taken", "left", "cursor", "ran", "waited", "tick", "folded", "open", "retries", "times", "prompt", "gap",
    "typing", "caret", "paused", "new",
]  # fmt: skip
"""Glyphs that are no state of a row."""

SignName = Meaning | GlyphName


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """One sign: a cell wide in Unicode and in ASCII, and the word that says the same."""

    unicode: str
    ascii: str
    word: str


def _sign(unicode: str, ascii_: str, word: str) -> Sign:
    return Sign(unicode=unicode, ascii=ascii_, word=word)


SIGNS: Final[Mapping[SignName, Sign]] = {
    "waiting": _sign("◆", "*", "waiting"),
    "running": _sign("●", "@", "running"),
    "todo": _sign("○", ".", "todo"),
    "ok": _sign("✓", "v", "ok"),
    "failed": _sign("✗", "x", "failed"),
    "partly": _sign("◑", "/", "partly"),
    "rejected": _sign("⊘", "0", "rejected"),
    "expired": _sign("◌", "~", "expired"),
    "stale": _sign("≠", "%", "stale"),
    "rule": _sign("§", "S", "by rule"),
    "cancelled": _sign("–", "_", "cancelled"),
    "unknown": _sign("?", "?", "unknown"),
    "risk": _sign("!", "!", "risk"),
    "taken": _sign("■", "#", "taken"),
    "left": _sign("□", "o", "left"),
    "cursor": _sign("▌", "|", ""),
    "ran": _sign("━", "=", "ran"),
    "waited": _sign("╌", "-", "waited"),
    "tick": _sign("▏", "'", "under a cell"),
    "folded": _sign("▸", "+", "folded"),
    "open": _sign("▾", "-", "open"),
    "retries": _sign("↺", "r", "retries"),
    "times": _sign("×", "x", "times"),
    "prompt": _sign("›", ">", "prompt"),
    "gap": _sign("╱", ":", "gap"),
    "typing": _sign("▍", "|", ""),
    "caret": _sign("↑", "^", "earlier"),
    "paused": _sign("‖", '"', "paused"),
    "new": _sign("↓", "v", "new"),
}
"""Name to sign; every glyph is one cell wide and has no emoji form."""

FUSE: Final = "▁▂▃▄▅▆▇"
"""The last five minutes, emptiest first, 300 / 8 = 37.5 s a step; ASCII has none."""

LINES: Final[Mapping[str, str]] = {
    "─": "-", "│": "|", "╭": "+", "╮": "+", "╰": "+", "╯": "+", "├": "+", "┤": "+", "┬": "+", "┴": "+",
    "┼": "+", "…": "..", "−": "-", "→": "->", "“": '"', "”": '"', "’": "'", "‖": '"', "›": ">", "·": ".",
    "↓": "v", "↑": "^", "•": "-",
}  # fmt: skip
"""Lines and punctuation of our own texts in ASCII; the widths of `…` and `→` change."""


def action_sign(action: Action, call: Call | None = None, *, is_undone: bool = False) -> tuple[Meaning, str]:
    """Return what an action's row means and the word for it.

    Args:
        action: the row of the queue.
        call: what came of it, where it is known: an approved action can have failed since.
        is_undone: whether what it wrote was taken back.
    """
    if is_undone:
        return "cancelled", "undone"
    if action.state == "pending":
        return ("stale", "stale") if action.stale_paths else ("waiting", "waiting")
    if action.kind == "trust" and action.state in _TRUST:
        return _TRUST[action.state]
    if action.state == "approved":
        return _approved(action, call)
    return _ENDED[action.state]


_ENDED: Mapping[str, tuple[Meaning, str]] = {
    "rejected": ("rejected", "rejected"),
    "expired": ("expired", "expired"),
    "cancelled": ("cancelled", "withdrawn"),
    "superseded": ("cancelled", "replaced"),
}

_TRUST: Mapping[str, tuple[Meaning, str]] = {
    "approved": ("ok", "trusted"),
    "rejected": ("rejected", "not now"),
}

_AFTER: Mapping[str, tuple[Meaning, str]] = {
    "failed": ("failed", "failed"),
    "interrupted": ("unknown", "unknown"),
    "cancelled": ("cancelled", "cancelled"),
    "executing": ("running", "running"),
}


def _approved(action: Action, call: Call | None) -> tuple[Meaning, str]:
    if call is not None and call.state in _AFTER:
        return _AFTER[call.state]
    if action.selection is not None:
        return "partly", "partly"
    return "ok", "edited" if action.edited else "approved"


def call_sign(call: Call, action: Action | None = None) -> tuple[Meaning, str]:
    """Return what a call's row means and the word for it.

    Args:
        call: the call as it stands.
        action: its row of the queue, which tells a partly approved one from a whole one.
    """
    if call.state == "succeeded" and action is not None and action.selection is not None:
        return "partly", "partly"
    if call.state == "pending":
        if call.action_id is None:
            return "todo", "todo"
        return ("stale", "stale") if action is not None and action.stale_paths else ("waiting", "waiting")
    if call.state == "rejected" and call.action_id is None:
        return "failed", "not allowed"
    return _CALLS[call.state]


_CALLS: Mapping[str, tuple[Meaning, str]] = {
    "approved": ("todo", "approved"),
    "executing": ("running", "running"),
    "succeeded": ("ok", "ok"),
    "failed": ("failed", "failed"),
    "interrupted": ("unknown", "unknown"),
    "rejected": ("rejected", "rejected"),
    "expired": ("expired", "expired"),
    "cancelled": ("cancelled", "cancelled"),
}


STEP_MEANINGS: Final[Mapping[str, Meaning]] = {
    "pending": "todo", "ready": "todo", "running": "running", "retrying": "running", "waiting": "waiting",
    "completed": "ok", "completed_empty": "ok", "warned": "failed", "failed": "failed",
    "skipped": "cancelled", "cancelled": "cancelled",
}  # fmt: skip
"""What the state of a pipeline's step means."""


def session_sign(session: Session, waiting: int = 0) -> tuple[Meaning, str]:
    """Return what a session's row means and the word for it; whatever waits for a human comes first."""
    if waiting:
        return "waiting", "waiting"
    return _SESSIONS[session.status]


_SESSIONS: Mapping[str, tuple[Meaning, str]] = {
    "created": ("todo", "new"),
    "initializing": ("running", "starting"),
    "ready": ("ok", "ready"),
    "processing": ("running", "running"),
    "paused": ("cancelled", "paused"),
    "completed": ("ok", "done"),
    "failed": ("failed", "failed"),
    "terminated": ("cancelled", "ended"),
}
