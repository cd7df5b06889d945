"""Which session a call that began an agent led to, and what that agent has done by a moment."""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from workbench.domain.rows import Call, Session
from workbench.text.human import counted, token_text
from workbench.text.safe import one_line
from workbench.views.tools import shown_tool

_EARLY: Final = 2_000_000
"""Microseconds that an agent may have begun before its call was written down."""
_TITLE_CELLS: Final = 40
_MOST_INDENTS: Final = 4


class SubAgent(Struct, frozen=True, kw_only=True):
    """An agent that another one began."""

    session_id: str
    steps: int = 0
    """Calls that it has asked for."""
    tokens: int = 0
    """That it has used; 0 while nobody knows."""

    @property
    def words(self) -> str:
        """Return `sub-agent: 6 steps, 2.1k tok`."""
        tokens = f", {token_text(self.tokens)} tok" if self.tokens else ""
        return f"sub-agent: {counted(self.steps, 'step')}{tokens}"


NO_AGENTS: Final[Mapping[str, SubAgent]] = {}


def begins_agent(call: Call) -> bool:
    """Return whether a call is of a tool that begins an agent."""
    return shown_tool(call.tool) == "agent"


def sessions_of_calls(
    calls: Sequence[Call], children: Sequence[Session], named: Mapping[str, str]
) -> dict[str, str]:
    """Return the session that each call led to, by the id of the call.

    Args:
        calls: those that begin an agent, in their order.
        children: the sessions below that of the calls.
        named: sessions that finished calls have named, by call.

    A call that named none, as it still runs, led to the session that began after it with its prompt, or to
    the only one that began while it ran.
    """
    ids = {child.id for child in children}
    led = {call.id: named[call.id] for call in calls if named.get(call.id) in ids}
    free = [child for child in children if child.id not in led.values()]
    for call in calls:
        if call.id in led:
            continue
        near = [child for child in free if _began_within(child, call)]
        same = [child for child in near if _has_prompt(child, call)]
        found = same[0] if same else near[0] if len(near) == 1 else None
        if found is not None:
            led[call.id] = found.id
            free.remove(found)
    return led


def _began_within(child: Session, call: Call) -> bool:
    until = call.finished_at if call.finished_at is not None else child.created_at
    return call.requested_at - _EARLY <= child.created_at <= until


def _has_prompt(child: Session, call: Call) -> bool:
    prompts = (call.parameters.get(name) for name in ("prompt", "message", "description"))
    title = one_line(child.title, _TITLE_CELLS).rstrip("…").strip()
    return bool(title) and any(
        isinstance(prompt, str) and one_line(prompt.lstrip(), 10 * _TITLE_CELLS).startswith(title)
        for prompt in prompts
    )


def agent_at(child: Session, calls: Iterable[Call], now: int) -> SubAgent:
    """Return what an agent has done by a moment, microseconds since the epoch.

    Its tokens are known when it is done: until then nobody has told them.
    """
    usage = child.usage
    is_over = child.updated_at <= now
    return SubAgent(
        session_id=child.id, steps=sum(call.requested_at <= now for call in calls),
        tokens=usage.input_tokens + usage.output_tokens if is_over else 0,
    )  # fmt: skip


class AgentTree:
    """Which sessions of agents stand below which, of those that were imported."""

    def __init__(self, sessions: Mapping[str, Session] | None = None) -> None:
        self._sessions = sessions or {}
        self._below: dict[str, list[str]] = {}
        for session in sorted(self._sessions.values(), key=lambda session: (session.created_at, session.id)):
            parent = session.parent_id
            if session.origin is not None and parent and parent in self._sessions and parent != session.id:
                self._below.setdefault(parent, []).append(session.id)
        self._under = {child: parent for parent, below in self._below.items() for child in below}

    def is_below(self, session_id: str) -> bool:
        """Return whether a session is that of an agent which another one began."""
        return session_id in self._under

    def all_below(self, session_id: str) -> tuple[str, ...]:
        """Return the agents of a session, and theirs, each after the one that began it."""
        found: dict[str, None] = {}
        waiting = list(reversed(self._below.get(session_id, ())))
        while waiting:
            child = waiting.pop()
            if child not in found:
                found[child] = None
                waiting += reversed(self._below.get(child, ()))
        return tuple(found)

    def depth(self, session_id: str) -> int:
        """Return how many agents stand above one, at most as many as are drawn."""
        depth, above = 0, self._under.get(session_id)
        while above is not None and depth < _MOST_INDENTS:
            depth, above = depth + 1, self._under.get(above)
        return depth

    def tokens(self, session_id: str) -> int:
        """Return the tokens of a session and of all agents below it."""
        ids = (session_id, *self.all_below(session_id))
        return sum(self._sessions[key].usage.total_tokens for key in ids if key in self._sessions)

    def with_opened(self, ids: Iterable[str], opened: Container[str]) -> tuple[str, ...]:
        """Return a list with the agents of the opened sessions below them."""
        shown: list[str] = []
        waiting = list(reversed(tuple(ids)))
        while waiting:
            key = waiting.pop()
            shown.append(key)
            if key in opened:
                waiting += reversed(self._below.get(key, ()))
        return tuple(shown)
