"""Sentences about a session itself, and the keys that answer them.

Owns words only: which event says something, and what.
"""

from collections.abc import Mapping
from typing import Final

from workbench.domain.events import (
    Body,
    ContinueRequested,
    MarkAdded,
    SessionChanged,
    SessionStatusChanged,
    Unknown,
    WorkspaceTrusted,
)
from workbench.domain.machines import PauseReason
from workbench.text.human import spoken
from workbench.text.safe import one_line
from workbench.views.blocks import NoticeKind
from workbench.views.eventwords import steered

Keys = tuple[tuple[str, str], ...]

PAUSE_KEYS: Final[Keys] = (("c", "go on"), ("i", "say something first"))
ERROR_KEYS: Final[Keys] = (("r", "ask again"), ("p", "other model"), ("l", "the log"))

_PAUSES: Final[Mapping[PauseReason, str]] = {
    "user": "You stopped the agent.",
    "parked": "The host has ended. It waits for your answers and goes on after the last of them.",
    "run ended": "The run that drove it has ended.",
    "host lost": "The host ended in the middle of it. Nothing was run again.",
    "unattended": "Nobody answered in time. Nothing was done.",
    "limit reached": "The limit of this session is reached.",
}
_ENDS: Final[Mapping[str, str]] = {
    "completed": "The session is completed.",
    "failed": "The session failed and cannot go on.",
    "terminated": "The session was ended.",
}


def notice_of(
    body: Body, *, was_stopped: bool, window_seconds: float | None = None
) -> tuple[NoticeKind, str, Keys] | None:
    """Return the notice that an event is, None if it is none.

    Args:
        body: what happened.
        was_stopped: the last block says already that a human stopped the agent.
        window_seconds: how long the last question that expired had waited; None if none did.
    """
    match body:
        case SessionStatusChanged(status="paused", reason=reason):
            return None if reason == "user" and was_stopped else _paused(reason, window_seconds)
        case SessionStatusChanged(status=status) if status in _ENDS:
            return ("ended", _ENDS[status], ())
        case ContinueRequested():
            return ("continued", "You let it go on.", ())
        case MarkAdded(label=label):
            return ("mark", one_line(label, 200), ())
        case SessionChanged() as changed if words := steered(changed):
            return ("changed", one_line(f"{words[:1].upper()}{words[1:]}.", 200), ())
        case WorkspaceTrusted():
            return ("trust", "You trusted this workspace.", ())
        case Unknown(original_kind=kind):
            return ("unknown", f"Something that this version does not know: {one_line(kind, 80)}", ())
        case _:
            return None


def _paused(reason: PauseReason | None, window: float | None) -> tuple[NoticeKind, str, Keys]:
    if reason == "unattended" and window:
        return ("paused", f"Nobody answered for {spoken(window)}. Nothing was done.", PAUSE_KEYS)
    return ("paused", _PAUSES.get(reason, "It is paused.") if reason else "It is paused.", PAUSE_KEYS)
