"""Sub-agents: which session works for which call of another one, and what it does now."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from workbench.domain.rows import Call, Session
from workbench.text.human import counted, token_text
from workbench.text.safe import one_line

_EARLY: Final = 2_000_000
"""Microseconds that an agent may have begun before its call was written down."""
_TITLE_CELLS: Final = 40


class SubAgent(Struct, frozen=True, kw_only=True):
    """An agent that another one began."""

    session_id: str
    steps: int = 0
    """Calls that it has asked for."""
    tokens: int = 0
    """Tokens that it has used; 0 while that is unknown."""

    @property
    def words(self) -> str:
        """Return `sub-agent: 6 steps, 2.1k tok`."""
        tokens = f", {token_text(self.tokens)} tok" if self.tokens else ""
        return f"sub-agent: {counted(self.steps, 'step')}{tokens}"


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
        child_session = same[0] if same else near[0] if len(near) == 1 else None
        if child_session is not None:
            led[call.id] = child_session.id
            free.remove(child_session)
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
