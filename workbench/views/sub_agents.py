"""Which session a call that began an agent led to, and what that agent has done by a moment."""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from workbench.domain.rows import Call, Session
from workbench.text.human import counted, token_text
from workbench.text.safe import one_line

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


def is_imported_fork(session: Session) -> bool:
    """Return whether a session is what followed where a human went back in the one above it."""
    facts = session.configuration.get("import")
    return isinstance(facts, Mapping) and "fork" in facts and session.parent_id is not None


class AgentTree:
    """Which sessions of agents and forks stand below which, of those that were imported."""

    def __init__(self, sessions: Mapping[str, Session] | None = None) -> None:
        self._sessions = sessions or {}
        self._below: dict[str, list[str]] = {}
        self._under: dict[str, str] = {}
        agents = (one for one in self._sessions.values() if one.origin is not None and one.parent_id)
        for agent in sorted(agents, key=lambda one: (one.created_at, one.id)):
            parent = agent.parent_id or ""
            if parent in self._sessions and agent.id not in self._chain(parent):
                self._below.setdefault(parent, []).append(agent.id)
                self._under[agent.id] = parent

    def _chain(self, session_id: str) -> list[str]:
        """Return a session and those above it."""
        chain = [session_id]
        while chain[-1] in self._under:
            chain.append(self._under[chain[-1]])
        return chain

    def above(self, session_id: str) -> tuple[str, ...]:
        """Return the sessions above one, the nearest first."""
        return tuple(self._chain(session_id)[1:])

    def __len__(self) -> int:
        """Return how many sessions stand below another one."""
        return len(self._under)

    def is_below(self, session_id: str) -> bool:
        """Return whether a session is that of an agent which another one began."""
        return session_id in self._under

    def all_below(self, session_id: str) -> tuple[str, ...]:
        """Return the agents of a session, and theirs, each after the one that began it."""
        found: list[str] = []
        waiting = list(reversed(self._below.get(session_id, ())))
        while waiting:
            found.append(waiting.pop())
            waiting += reversed(self._below.get(found[-1], ()))
        return tuple(found)

    def forks_below(self, session_id: str) -> int:
        """Return how many of `all_below` are no agents: what followed where a human went back."""
        return sum(is_imported_fork(self._sessions[key]) for key in self.all_below(session_id))

    def depth(self, session_id: str) -> int:
        """Return how many agents stand above one, at most as many as are drawn."""
        return min(_MOST_INDENTS, len(self._chain(session_id)) - 1)

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
