"""The status vocabulary of screen, graph and command line: the icon and word of every status.

An icon never stands without its word. `render.theme` and `cli.console` pick the Unicode or ASCII character.
"""

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from workbench.domain.incidents import IncidentState
from workbench.domain.machines import (
    COMPLETED_STEP_STATES,
    TERMINAL_SESSION_STATES,
    ActionState,
    CallState,
    ListedRunStatus,
    StepStateName,
)
from workbench.domain.rows import Action, Call, Session, is_released
from workbench.text.human import counted

StatusName = Literal[
    "waiting", "running", "todo", "ok", "failed", "partly", "rejected", "expired", "stale", "rule",
    "cancelled", "unknown", "risk",
]  # fmt: skip
"""What a row means; the key of its icon and of its colour."""
GlyphName = Literal[
    "taken", "left", "cursor", "ran", "waited", "tick", "folded", "open", "prompt", "gap",
    "typing", "caret", "playing", "paused", "new", "thumb", "change", "unseen",
    "shown", "agent",
]  # fmt: skip
"""Glyphs that are no state of a row."""
IconName = StatusName | GlyphName
Status = tuple[StatusName, str]
"""An icon and the word beside it."""
StepStatus = Literal[
    "pending", "ready", "running", "waiting", "retrying", "completed", "completed_empty", "refused", "warned",
    "failed", "skipped", "cancelled",
]  # fmt: skip
"""`ready` is pending with nothing left to wait for, `warned` failed, and its run continues; `refused` is
completed, although calls of its agent were refused."""


class Icon(Struct, frozen=True, kw_only=True):
    """One cell wide in Unicode and in ASCII, and the word that says the same."""

    unicode: str
    ascii: str
    word: str


def _icon(unicode: str, ascii_: str, word: str) -> Icon:
    return Icon(unicode=unicode, ascii=ascii_, word=word)


ICONS: Final[Mapping[IconName, Icon]] = {
    "waiting": _icon("◆", "*", "waiting"),
    "running": _icon("●", "@", "running"),
    "todo": _icon("◯", ".", "todo"),
    "ok": _icon("✓", "v", "ok"),
    "failed": _icon("×", "x", "failed"),
    "partly": _icon("◧", "/", "partly"),
    "rejected": _icon("∅", "0", "rejected"),
    "expired": _icon("◇", "~", "expired"),
    "stale": _icon("≠", "%", "stale"),
    "rule": _icon("§", "S", "by rule"),
    "cancelled": _icon("–", "_", "cancelled"),
    "unknown": _icon("?", "?", "unknown"),
    "risk": _icon("!", "!", "risk"),
    "taken": _icon("■", "#", "taken"),
    "left": _icon("□", "o", "left"),
    "cursor": _icon("▌", ">", ""),
    "ran": _icon("━", "=", "ran"),
    "waited": _icon("╌", ",", "waited"),
    "tick": _icon("▏", "'", "under a cell"),
    "folded": _icon("►", "+", "folded"),
    "open": _icon("▼", "-", "open"),
    "prompt": _icon("›", ":", "prompt"),
    "gap": _icon("╱", "\\", "gap"),
    "typing": _icon("▍", "|", ""),
    "caret": _icon("↑", "^", "earlier"),
    "playing": _icon("»", ")", "playing"),
    "paused": _icon("║", '"', "paused"),
    "new": _icon("↓", "V", "new"),
    "thumb": _icon("┃", "I", "place in the list"),
    "change": _icon("▐", "]", "change"),
    "unseen": _icon("▒", "&", "unseen"),
    "shown": _icon("◄", "<", "on show"),
    "agent": _icon("◎", "A", "supervised agent"),
}
"""Every glyph is one cell wide, has no emoji form and one meaning, in ASCII too.

JetBrains Mono, DejaVu Sans Mono, Fira Code and Hack have them all, as a terminal would borrow a missing one
from another font, often too wide. Only Hack has no `✓`; the four have `√`, too wide in Fira Code.
"""
COUNTDOWN_BARS: Final = "▁▂▃▄▅▆▇"
"""The last five minutes, emptiest first, 300 / 8 = 37.5 s a step; ASCII has none."""
ASCII_EQUIVALENTS: Final[Mapping[str, str]] = {
    "─": "-", "│": "|", "╭": "+", "╮": "+", "╰": "+", "╯": "+", "├": "+", "┤": "+", "┬": "+", "┴": "+",
    "┼": "+", "…": "..", "−": "-", "→": "->", "“": '"', "”": '"', "’": "'", "·": ".", "•": "-",
}  # fmt: skip
"""Lines and punctuation of our own texts in ASCII; the widths of `…` and `→` change."""
ACTION_STATUSES: Final[Mapping[ActionState, Status]] = {
    "pending": ("waiting", "waiting"),
    "approved": ("ok", "approved"),
    "rejected": ("rejected", "rejected"),
    "expired": ("expired", "expired"),
    "cancelled": ("cancelled", "withdrawn"),
    "superseded": ("cancelled", "replaced"),
}
_TRUST_STATUSES: Final[Mapping[ActionState, Status]] = {
    "approved": ("ok", "trusted"),
    "rejected": ("rejected", "not now"),
}
_FILES_STATUSES: Final[Mapping[ActionState, Status]] = {
    "approved": ("ok", "kept"),
    "rejected": ("rejected", "not kept"),
}
CALL_STATUSES: Final[Mapping[CallState, Status]] = {
    "pending": ("waiting", "waiting"),
    "approved": ("todo", "approved"),
    "executing": ("running", "running"),
    "succeeded": ("ok", "ok"),
    "failed": ("failed", "failed"),
    "interrupted": ("unknown", "outcome unknown"),
    "rejected": ("rejected", "rejected"),
    "expired": ("expired", "expired"),
    "cancelled": ("cancelled", "cancelled"),
}
SESSION_STATUSES: Final[Mapping[str, Status]] = {
    "created": ("todo", "new"),
    "initializing": ("running", "starting"),
    "ready": ("ok", "ready"),
    "processing": ("running", "running"),
    "paused": ("cancelled", "paused"),
    "completed": ("ok", "done"),
    "failed": ("failed", "failed"),
    "terminated": ("cancelled", "ended"),
    "lost": ("unknown", "lost"),
}
RUN_STATUSES: Final[Mapping[ListedRunStatus, Status]] = {
    "queued": ("todo", "queued"),
    "running": ("running", "running"),
    "waiting": ("waiting", "waiting"),
    "completed": ("ok", "completed"),
    "failed": ("failed", "failed"),
    "cancelled": ("cancelled", "cancelled"),
    "lost": ("unknown", "lost"),
}
STEP_STATUSES: Final[Mapping[StepStatus, Status]] = {
    "pending": ("todo", "pending"),
    "ready": ("todo", "ready"),
    "running": ("running", "running"),
    "waiting": ("waiting", "waiting"),
    "retrying": ("running", "retrying"),
    "completed": ("ok", "completed"),
    "completed_empty": ("ok", "completed, empty"),
    "refused": ("risk", "completed"),
    "warned": ("failed", "failed, allowed"),
    "failed": ("failed", "failed"),
    "skipped": ("cancelled", "skipped"),
    "cancelled": ("cancelled", "cancelled"),
}
INCIDENT_STATUSES: Final[Mapping[IncidentState, Status]] = {
    "open": ("todo", "open"),
    "working": ("running", "working"),
    "waiting": ("waiting", "waiting"),
    "fixed": ("ok", "fixed"),
    "changed": ("partly", "changed"),
    "unchanged": ("stale", "unchanged"),
    "rejected": ("rejected", "rejected"),
    "skipped": ("cancelled", "skipped"),
    "failed": ("failed", "failed"),
}
_STALE: Final[Status] = ("stale", "stale")
_ALLOWED: Final[Status] = ("ok", "allowed")
_CALLS_AFTER_APPROVAL: Final = frozenset({"failed", "interrupted", "cancelled", "executing"})


def action_status(action: Action, call: Call | None = None, *, is_undone: bool = False) -> Status:
    """Return the status of an action, or of its call if that has begun or failed since the approval."""
    if is_undone:
        return "cancelled", "undone"
    if action.state == "pending" and action.stale_paths:
        return _STALE
    if action.kind == "trust" and action.state in _TRUST_STATUSES:
        return _TRUST_STATUSES[action.state]
    if action.kind == "files" and action.state in _FILES_STATUSES:
        return _FILES_STATUSES[action.state]
    is_allowed = is_released(action)
    if action.state == "approved" or is_allowed:
        if call is not None and call.state in _CALLS_AFTER_APPROVAL:
            return CALL_STATUSES[call.state]
        if is_allowed:
            return _ALLOWED
        if action.selection is not None:
            return "partly", "partly"
        if action.edited:
            return "ok", "edited"
    return ACTION_STATUSES[action.state]


def call_status(call: Call, action: Action | None = None) -> Status:
    """Return the status of a call; its action, where known, tells a partly approved one from a whole one."""
    is_partly = call.detail == "partial" if action is None else action.selection is not None
    if call.state == "succeeded" and is_partly:
        return "partly", "partly"
    if call.state == "succeeded" and call.grade == "checked":
        return "risk", "differs"
    if call.state == "pending" and call.action_id is None:
        return "todo", "todo"
    if call.state == "pending" and action is not None and action.stale_paths:
        return _STALE
    if call.state == "rejected" and call.action_id is None:
        answer = answer_in_verdict(call)
        return CALL_STATUSES[answer] if answer else ("failed", "not allowed")
    return CALL_STATUSES[call.state]


_ANSWERS_IN_VERDICTS: Final[Mapping[str, Literal["rejected", "expired"]]] = {
    "the human": "rejected",
    "nobody": "expired",
}


def answer_in_verdict(call: Call) -> Literal["rejected", "expired"] | None:
    """Return the answer of a human, or the lack of one, where a verdict records it and no event of its own.

    Forks of earlier versions hold their answers so.
    """
    return _ANSWERS_IN_VERDICTS.get(call.verdict_by) if call.action_id is None else None


def session_status(session: Session, waiting: int = 0) -> Status:
    """Return the status of a session; whatever waits for a human comes first."""
    if session.is_supervised and session.status not in TERMINAL_SESSION_STATES:
        return _supervised_status(session, waiting)
    if waiting:
        return "waiting", "waiting"
    if session.reason == "unattended" and session.status == "paused":
        return "expired", "expired"
    return SESSION_STATUSES[told_status(session)]


def _supervised_status(session: Session, waiting: int) -> Status:
    if waiting:
        return "waiting", "waits for you"
    if session.is_agent_gone:
        return "cancelled", "gone"
    return ("running", "working") if session.status == "processing" else ("ok", "idle")


def told_status(session: Session) -> str:
    """Return the status that is told, listed and counted: `failed` also where its last turn failed.

    A list of findings that has nothing asked for rests in the state of a session that can be continued: it is
    ready.
    """
    if session.reason == "failed" and session.status in ("ready", "paused"):
        return "failed"
    is_worked_off = session.kind == "incidents" and session.reason == "run ended"
    return "ready" if is_worked_off and session.status == "paused" else session.status


def step_status_name(state: StepStateName, *, is_warned: bool, refused: int = 0) -> StepStatus:
    """Return the status of a step; `refused` is the number of calls of its last attempt that were refused."""
    if state not in COMPLETED_STEP_STATES:
        return state
    return "warned" if is_warned else "refused" if refused else state


def step_status(name: StepStatus, refused: int = 0) -> Status:
    """Return the icon and word of a step: `completed, 2 calls refused`."""
    icon, word = STEP_STATUSES[name]
    return icon, f"{word}, {refused_calls_text(refused)}" if refused else word


def refused_calls_text(count: int) -> str:
    """Return `2 calls refused`; empty for none."""
    return f"{counted(count, 'call')} refused" if count else ""
