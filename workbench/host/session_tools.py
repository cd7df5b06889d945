"""Narrow the tools of a session while it is open; never beyond the settings, nor what it was started with."""

from collections.abc import Sequence
from typing import Final

from workbench.config.types import Config
from workbench.domain.events import SessionChanged, SessionCreated
from workbench.domain.rows import Session
from workbench.domain.tools import TOOL_GROUPS
from workbench.domain.values import Actor, ToolDescriptor
from workbench.host.session_provider import provider_kind
from workbench.host.session_requests import SessionRefused, require_changeable_session
from workbench.journal.journal import Journal
from workbench.text.human import counted
from workbench.text.nearest import nearest_name
from workbench.text.safe import one_line
from workbench.tools.registry import tool_registry

_UNCHANGED: Final = "The tools were not changed."
_MAX_NAMED: Final = 300


def narrow_tools(journal: Journal, config: Config, session: Session, text: str, actor: Actor) -> str:
    """Change which tools a session has from its next turn on, or say which it has; return what to say.

    Raises SessionRefused: the session takes no change, or a tool is not among those it may have.
    """
    started_with = _tools_at_start(journal, session)
    offered = offered_tools(config, session.provider, started_with)
    words = _words(text)
    if words == ["list"]:
        return f"This session has {_tools_text(session.active_tools, offered)}."
    require_changeable_session(journal, session, _UNCHANGED)
    tools = started_with if words == ["all"] else _selected_tools(words, offered)
    journal.append([journal.event(SessionChanged(active_tools=tools), session.id, actor)])
    start = "After this turn" if session.open_turn is not None else "From its next turn on"
    return f"{start} this session has {_tools_text(tools, offered)}."


def tools_of_next_session(config: Config, provider: str, text: str) -> tuple[tuple[str, ...], str]:
    """Return the tools that the next session is started with, and what to say. Raises SessionRefused."""
    offered = offered_tools(config, provider, ())
    words = _words(text)
    tools = () if words in (["all"], ["list"]) else _selected_tools(words, offered)
    return tools, f"The next session has {_tools_text(tools, offered)}."


def offered_tools(config: Config, provider: str, started_with: Sequence[str]) -> tuple[ToolDescriptor, ...]:
    """Return the tools that a session can have: those of the settings, and of these what it started with."""
    kind = provider_kind(provider, config)
    return tool_registry().visible(provider, started_with, kind, config.tools)


class ToolNotOffered(ValueError):
    """Raised when a word does not name an offered tool, or when there are no words."""

    def __init__(self, word: str, near: str) -> None:
        super().__init__(word)
        self.word = word
        """Empty where nothing is named."""
        self.near = near
        """The name that is most like it; empty if none is."""


def tool_words(text: str) -> list[str]:
    """Return the words of a list of tools, which commas or spaces separate."""
    return text.replace(",", " ").split()


def named_tools(words: Sequence[str], offered: Sequence[ToolDescriptor]) -> tuple[str, ...]:
    """Return the ids of the tools that words name, each once, in the order in which they are offered.

    A word is an id, the name that models use, or a group such as `reads`. Raises ToolNotOffered.
    """
    ids_by_name = {name: tool.id for tool in offered for name in (tool.id, tool.wire_name)}
    named: set[str] = set()
    for word in words:
        group = TOOL_GROUPS.get(word)
        if group is None and word not in ids_by_name:
            raise ToolNotOffered(word, nearest_name(word, (*ids_by_name, *TOOL_GROUPS)) or "")
        named |= (group or {ids_by_name[word]}) & set(ids_by_name.values())
    if not named:
        raise ToolNotOffered("", "")
    return tuple(tool.id for tool in offered if tool.id in named)


def _selected_tools(words: Sequence[str], offered: Sequence[ToolDescriptor]) -> tuple[str, ...]:
    try:
        return named_tools(words, offered)
    except ToolNotOffered as error:
        shown = one_line(error.word, 60)
        what = f"This session can have no tool {shown}." if shown else "No tool is named."
        names = ", ".join(sorted(tool.id for tool in offered))
        remedy = f"Did you mean {error.near}?" if error.near else f"Name some of {names}."
        raise SessionRefused(_UNCHANGED, what, remedy) from None


def _words(text: str) -> list[str]:
    return tool_words(text) or ["list"]


def _tools_at_start(journal: Journal, session: Session) -> tuple[str, ...]:
    """Return the tools that a session was created with; empty means all."""
    first = journal.events(session.id, limit=1)
    body = first[0].body if first else None
    return body.active_tools if isinstance(body, SessionCreated) else session.active_tools


def _tools_text(active: Sequence[str], offered: Sequence[ToolDescriptor]) -> str:
    had = [tool.id for tool in offered if not active or tool.id in active]
    if len(had) == len(offered):
        return f"all {counted(len(offered), 'tool')} that it can have"
    return one_line(f"{len(had)} of {counted(len(offered), 'tool')}: {', '.join(had)}", _MAX_NAMED)
