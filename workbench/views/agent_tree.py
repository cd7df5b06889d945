"""Imported sessions as a tree: which one started which as a sub-agent, and which are forks."""

from collections.abc import Container, Iterable, Mapping
from typing import Final

from workbench.domain.rows import Session

_MOST_INDENTS: Final = 4


def is_imported_fork(session: Session) -> bool:
    """Return whether a session is what followed where a human went back in the one above it."""
    facts = session.configuration.get("import")
    return isinstance(facts, Mapping) and "fork" in facts and session.parent_id is not None


class AgentTree:
    """The sessions of agents and forks below each imported session."""

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
        """Return the number of sessions below a session."""
        return len(self._under)

    def is_below(self, session_id: str) -> bool:
        """Return whether a session is that of an agent which another one began."""
        return session_id in self._under

    def all_below(self, session_id: str) -> tuple[str, ...]:
        """Return the agents of a session, and theirs, each after the one that began it."""
        ids: list[str] = []
        waiting = list(reversed(self._below.get(session_id, ())))
        while waiting:
            ids.append(waiting.pop())
            waiting += reversed(self._below.get(ids[-1], ()))
        return tuple(ids)

    def forks_below(self, session_id: str) -> int:
        """Return how many of `all_below` are no agents: what followed where a human went back."""
        return sum(is_imported_fork(self._sessions[key]) for key in self.all_below(session_id))

    def depth(self, session_id: str) -> int:
        """Return the number of agents above one, at most the number that is drawn."""
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
