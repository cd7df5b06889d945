"""Notices in a conversation: which events are one, what it says and which keys it names."""

from collections.abc import Mapping
from typing import Final

from workbench.domain import events as e
from workbench.domain.events import Event
from workbench.domain.machines import PauseReason
from workbench.domain.rows import WORKTREE_SETTING
from workbench.domain.values import JsonObject
from workbench.text.human import spoken_duration
from workbench.text.safe import one_line
from workbench.views.conversation_blocks import NoticeKind
from workbench.views.event_text import incident_text, session_settings_text

NoticeBody = (
    e.SessionCreated | e.SessionStatusChanged | e.SessionChanged | e.ContinueRequested | e.CompactionRequested
    | e.ConversationCompacted | e.MarkAdded | e.AgentConnected | e.AgentGone | e.WorkspaceTrusted
    | e.IncidentBody | e.Unknown
)  # fmt: skip
"""The kinds of events that may be a notice."""
KeyHints = tuple[tuple[str, str], ...]
PAUSE_KEYS: Final[KeyHints] = (("c", "continue"), ("i", "say something first"))
LOOP_KEYS: Final[KeyHints] = (("c", "continue"), ("x", "stop"), ("i", "say something first"))
ERROR_KEYS: Final[KeyHints] = (("r", "ask again"), ("p", "other model"), ("l", "the log"))
_PAUSE_SENTENCES: Final[Mapping[PauseReason, str]] = {
    "user": "You stopped the agent.",
    "parked": "The background process has ended. It continues when you have answered everything.",
    "run ended": "The command that ran this session has ended.",
    "host lost": "The background process stopped here. Nothing was repeated.",
    "unattended": "Nobody answered in time. Nothing was done.",
    "limit reached": "The limit of this session is reached.",
    "loop": "The agent repeats the same call and gets the same result. It is paused.",
    "failed": "It ended with an error.",
}
_SESSION_END_SENTENCES: Final[Mapping[str, str]] = {
    "completed": "The session is completed.",
    "failed": "The session failed and cannot continue.",
    "terminated": "The session was ended.",
}


def is_bookkeeping(event: Event) -> bool:
    """Return whether an event is a record of another agent that was understood and says nothing here."""
    return (
        isinstance(event.body, e.Unknown)
        and event.recorded_at is not None
        and f".{e.NOT_UNDERSTOOD}." not in event.body.original_kind
    )


_ConversationChange = (
    e.SessionCreated | e.CompactionRequested | e.ConversationCompacted | e.AgentConnected | e.AgentGone
)  # fmt: skip


def _conversation_change(body: _ConversationChange) -> str:
    match body:
        case e.SessionCreated(configuration=configuration):
            return " ".join(filter(None, (_worktree_text(configuration), _instructions_text(configuration))))
        case e.AgentConnected():
            return "The agent is connected again."
        case e.AgentGone():
            return "The agent has ended or lost its connection."
        case e.CompactionRequested():
            return "You asked for a summary of the conversation."
        case e.ConversationCompacted():
            why = "" if body.is_asked else "The context was nearly full. "
            size = f"{body.tokens:,} tokens" if body.tokens else "The conversation"
            return (
                f"{why}{size} became this summary by {one_line(body.model, 80)}. The model gets it instead."
            )


def _worktree_text(configuration: JsonObject) -> str:
    match configuration.get(WORKTREE_SETTING):
        case {"folder": str(folder), "branch": str(branch)}:
            return f"It works in a git worktree: {one_line(folder, 160)}, branch {one_line(branch, 80)}."
        case _:
            return ""


def _instructions_text(configuration: JsonObject) -> str:
    match configuration.get("instructions"):
        case [*names] if names:
            files = ", ".join(one_line(str(name), 100) for name in names[:_MOST_NAMED])
            return f"It started with the instructions of {files}."
        case _:
            return ""


_MOST_NAMED: Final = 12
"""Instruction files that are named."""
_INCIDENT_KEYS: Final = (("8", "findings"),)
_LIST_PAUSE_KEYS: Final = (("c", "continue"), *_INCIDENT_KEYS)


def _incident_notice(body: e.IncidentBody) -> str:
    """Return what a list of incidents says in its conversation; of work in between, its agents' say more."""
    if isinstance(body, e.IncidentStarted | e.IncidentChecked):
        return ""
    words = incident_text(body)
    return f"Ended: {words}." if isinstance(body, e.IncidentEnded) else f"{words[:1].upper()}{words[1:]}."


def notice_of(
    body: NoticeBody, *, was_stopped: bool, window_seconds: float | None = None, is_list: bool = False
) -> tuple[NoticeKind, str, KeyHints] | None:
    """Return the notice that an event is, None if it is none.

    `was_stopped`: the last block tells of the stop. `window_seconds`: how long the last expired one waited.
    `is_list`: it is of a list of findings, which reads no messages.
    """
    match body:
        case e.SessionStatusChanged(status="paused", reason=reason):
            keys = _LIST_PAUSE_KEYS if is_list else LOOP_KEYS if reason == "loop" else PAUSE_KEYS
            words = _pause_words(reason, window_seconds)
            return None if reason == "user" and was_stopped else ("paused", words, keys)
        case e.SessionStatusChanged(status=status) if status in _SESSION_END_SENTENCES:
            return ("ended", _SESSION_END_SENTENCES[status], ())
        case e.ContinueRequested():
            return ("continued", "You resumed it.", ())
        case e.MarkAdded(label=label):
            return ("mark", one_line(label, 200), ())
        case (
            e.SessionCreated() | e.CompactionRequested() | e.ConversationCompacted() | e.AgentConnected()
            | e.AgentGone()
        ):  # fmt: skip
            words = _conversation_change(body)
            return ("changed", words, ()) if words else None
        case e.SessionChanged() as changed if words := session_settings_text(changed):
            return ("changed", one_line(f"{words[:1].upper()}{words[1:]}.", 200), ())
        case e.SessionStatusChanged() | e.SessionChanged():
            return None
        case e.WorkspaceTrusted():
            return ("trust", "You trusted this workspace.", ())
        case e.Unknown(original_kind=kind):
            return ("unknown", f"Something that this version does not know: {one_line(kind, 80)}", ())
        case _:
            words = _incident_notice(body)
            return ("changed", one_line(words, 200), _INCIDENT_KEYS) if words else None


def _pause_words(reason: PauseReason | None, window: float | None) -> str:
    if reason == "unattended" and window:
        return f"Nobody answered for {spoken_duration(window)}. Nothing was done."
    return _PAUSE_SENTENCES.get(reason, "It is paused.") if reason else "It is paused."
