"""Sessions of agents that execute their own calls: name, state, and how a call was judged, in words."""

from collections.abc import Mapping
from typing import Final, Literal

from workbench.domain.rows import Call, Session
from workbench.domain.values import OWN_MODE, Grade
from workbench.text.safe import one_line

_AGENT_NAMES: Final[Mapping[str, str]] = {
    "claude": "Claude Code", "claude-code": "Claude Code", "codex": "Codex", "gemini": "Gemini CLI",
    "gemini-cli": "Gemini CLI", "qwen": "Qwen Code", "qwen-code": "Qwen Code", "opencode": "OpenCode",
}  # fmt: skip
"""Display names of known programs, by the name that they connect with."""
MAX_NAME_CELLS: Final = 24
BY_OWN_MODE: Final = "by its own mode"
_GRADE_SENTENCES: Final[Mapping[Grade, str]] = {
    "bound": "Bound: the files are byte for byte what was approved.",
    "checked": "Checked: the files are not what was approved.",
    "on its word": "On its word: what it did cannot be compared with what was approved.",
}
Subject = Literal["prompts", "turn", "settings", "changes", "end"]
_OWN_TERMINAL: Final[Mapping[Subject, str]] = {
    "prompts": "reads its prompts in its own terminal",
    "turn": "is stopped and continued in its own terminal",
    "settings": "has its own model, tools and context, which are set in its own terminal",
    "changes": "makes its changes itself",
    "end": "ends in its own terminal, and may come back to this session",
}


def agent_name(session: Session) -> str:
    """Return the display name of a supervised session's agent, one safe line; empty for other sessions."""
    if not session.is_supervised:
        return ""
    name = one_line(session.provider, MAX_NAME_CELLS)
    return _AGENT_NAMES.get(name.casefold(), name or "an agent")


def agent_title(session: Session, title: str) -> str:
    """Return the title of a supervised session behind the name of its agent; any other title as it is."""
    name = agent_name(session)
    if not name:
        return title
    return f"{name}: {title}" if title and session.title != session.provider else name


def why_not_asked(session: Session, subject: Subject = "prompts") -> str:
    """Return why a supervised agent is asked for nothing from here, as a sentence; empty for other sessions.

    `subject`: what it would be asked for.
    """
    name = agent_name(session)
    return f"{name} {_OWN_TERMINAL[subject]}." if name else ""


def call_judgement(call: Call) -> str:
    """Return how far a call of such an agent was judged, for the end of its row; empty for other calls."""
    return BY_OWN_MODE if call.verdict_by == OWN_MODE else call.grade or ""


ASKS_ITSELF: Final = "allowed here, the agent asks itself"
ASKS_TOO: Final = "agent asks too"


def own_question(call: Call | None) -> str:
    """Return that an agent asks its own user about a call also after an allow, as a sentence; else empty."""
    if call is None or not call.asks_itself or call.state in ("rejected", "expired", "cancelled"):
        return ""
    if call.state == "pending":
        return "The agent asks itself too, by its own rules: an approval here does not answer that question."
    return f"{ASKS_ITSELF[:1].upper()}{ASKS_ITSELF[1:]}."


def judgement_sentence(call: Call) -> str:
    """Return the same as a sentence, for the last line of the call in full."""
    if call.verdict_by == OWN_MODE:
        return "By its own mode: the agent did not ask here, and what it did is not compared."
    return _GRADE_SENTENCES[call.grade] if call.grade else ""
