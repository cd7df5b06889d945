"""What is due for the calls of an agent that executes them itself, computed from their state alone.

A call is answered at most once, never before the calls it builds on have ended, and never by anything but its
recorded state. Nothing here executes a call or puts anything back.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Literal

from msgspec import Struct

from workbench.domain.machines import SETTLED_CALL_STATES, CallState

WITHDRAWAL_SECONDS: Final = 2.0
"""Seconds that a question stays without a connection that waits for it."""
RETURN_SECONDS: Final = 10.0
"""Seconds that an agent has to connect again, after the driver was started or its question was approved."""
HOLD_SECONDS: Final = 10.0
"""Seconds that an approved call waits for the end of one it builds on, of which the agent says nothing."""


class IncomingCall(Struct, frozen=True, kw_only=True):
    """A question of an agent, as far as it names a call."""

    nonce: str
    key: str
    """The agent's id of the call; empty if it has none."""
    digest: str
    """Of tool, input and folder."""


class KnownCall(Struct, frozen=True, kw_only=True):
    """A recorded call that is not settled, or whose end or answer is awaited."""

    id: str
    key: str
    """The agent's id of the call; empty if it has none."""
    digest: str
    """Of tool, input and folder."""
    handed_digest: str = ""
    """The same of the input that it was allowed with."""
    is_end_awaited: bool = False
    """Whether it was settled by its files, and the agent has not said that it ended."""
    state: CallState
    nonces: frozenset[str] = frozenset()
    """The questions that were attached to it."""
    waiters: int = 0
    """Connections that wait for its answer."""
    unattended_for: float = 0.0
    """Seconds without a connection that waits."""
    base_states: tuple[Literal["open", "as shown", "otherwise"], ...] = ()
    """How the calls ended that it builds on."""
    handed_at: int = 0
    """When it was handed over; 0 before that."""
    is_refresh_asked: bool = False
    is_lapsed: bool = False
    """Its approval has ended."""

    @property
    def is_settled(self) -> bool:
        return self.state in SETTLED_CALL_STATES


# --- a question arrives -----------------------------------------------------------------------------


class Attach(Struct, frozen=True):
    """Let the question wait for a call that was announced before."""

    call_id: str


class Announce(Struct, frozen=True):
    """Record a new call; `interrupted` was handed under the same key, and how it ended is unknown."""

    interrupted: str | None = None


def on_ask(asked: IncomingCall, calls: Sequence[KnownCall]) -> Attach | Announce:
    """Return what becomes of a question; an answer that was given is never given again."""
    again = next((call for call in calls if asked.nonce in call.nonces), None)
    if again is not None and again.state in ("pending", "approved") and again.digest == asked.digest:
        return Attach(again.id)
    same = [call for call in calls if asked.key and call.key == asked.key and call.digest == asked.digest]
    waiting = next((call for call in same if call.state in ("pending", "approved")), None)
    if waiting is not None:
        return Attach(waiting.id)
    handed = next((call for call in (*same, *([again] if again else ())) if call.state == "executing"), None)
    return Announce(handed.id if handed is not None else None)


# --- the agent says that a call has ended -------------------------------------------------------------


class Compare(Struct, frozen=True):
    """Look at the disk: a call that was handed over has ended."""

    call_id: str


class RanUnanswered(Struct, frozen=True):
    """The agent did not wait for the answer: withdraw the question, and look at the disk."""

    call_id: str


class LookAgain(Struct, frozen=True):
    """The end of a call that counts as interrupted is said after all: look at what it wrote since."""

    call_id: str


class AlreadySettled(Struct, frozen=True):
    """The end of this call was recorded before."""

    call_id: str


class Unasked(Struct, frozen=True):
    """The agent made a call without asking: record it; `refused` is the one that it was not allowed."""

    refused: str | None = None


def on_done(
    key: str, digest: str, calls: Sequence[KnownCall]
) -> Compare | RanUnanswered | LookAgain | AlreadySettled | Unasked:
    """Return what the end of a call means; calls of one key end in the order in which they were handed."""
    same = [call for call in calls if _is_end_of(call, key, digest)]
    equal = [call for call in same if digest in (call.digest, call.handed_digest)]
    exact = [call for call in equal or same if not call.is_settled]
    handed = [call for call in exact if call.state == "executing"]
    if handed:
        return Compare(min(handed, key=lambda call: call.handed_at).id)
    if exact:
        return RanUnanswered(exact[0].id)
    named = [call for call in equal if key and call.key == key]
    if named and named[-1].state == "interrupted":
        return LookAgain(named[-1].id)
    ended = [call for call in equal if call.state in ("succeeded", "failed")]
    known = next((call for call in ended if call.is_end_awaited or (key and call.key == key)), None)
    if known is not None:
        return AlreadySettled(known.id)
    refused = next((call for call in reversed(equal) if call.state in ("rejected", "expired")), None)
    return Unasked(refused.id if refused is not None else None)


def _is_end_of(call: KnownCall, key: str, digest: str) -> bool:
    """Return whether an end may be that of a call: by its id, or by what it does where one has no id."""
    if key and call.key:
        return call.key == key
    return digest in (call.digest, call.handed_digest)


# --- what is due ----------------------------------------------------------------------------------------


class Deny(Struct, frozen=True):
    """Answer that the call may not be made: it is settled."""

    call_id: str


class HandOver(Struct, frozen=True):
    """Check an approved call again, commit `call.executing`, then answer."""

    call_id: str


class WithdrawCall(Struct, frozen=True):
    """Cancel a call that is not handed over and that no connection waits for any more."""

    call_id: str


class RestackCall(Struct, frozen=True):
    """Propose a call again: what it was computed on was not done as shown."""

    call_id: str


class RefreshCall(Struct, frozen=True):
    """Propose the call of a stale question again, because a human asked."""

    call_id: str


class Observe(Struct, frozen=True):
    """Look at what became of a call whose agent is gone; write nothing."""

    call_id: str


Move = Deny | HandOver | WithdrawCall | RestackCall | RefreshCall | Observe


def due_moves(calls: Iterable[KnownCall], *, is_agent_here: bool, since_start: float) -> tuple[Move, ...]:
    """Return what is due for some calls, in their order.

    `is_agent_here`: a connection of the agent is open. `since_start`: seconds since the driver was started
    without a connection; until `RETURN_SECONDS` an agent of an earlier driver may come back.
    """
    has_returned = is_agent_here or since_start >= RETURN_SECONDS
    due = (_due_move(call, is_agent_here=is_agent_here, has_returned=has_returned) for call in calls)
    return tuple(move for move in due if move is not None)


def _due_move(call: KnownCall, *, is_agent_here: bool, has_returned: bool) -> Move | None:
    if call.is_settled:
        return Deny(call.id) if call.waiters else None
    if call.state == "executing":
        return Observe(call.id) if has_returned and not is_agent_here else None
    if not call.waiters:
        return WithdrawCall(call.id) if has_returned and _is_left(call, is_agent_here) else None
    if "otherwise" in call.base_states:
        return RestackCall(call.id)
    if call.state == "pending":
        return RefreshCall(call.id) if call.is_refresh_asked else None
    return None if "open" in call.base_states else HandOver(call.id)


def due_presence(
    *, is_agent_here: bool, is_recorded_gone: bool, had_agent: bool, since_left: float
) -> Literal["connected", "gone", "leaving"] | None:
    """Return what is to be recorded of an agent's connection; None if it is as recorded.

    `had_agent`: a connection was open since the driver was started. `since_left`: seconds since the last one
    ended, else since the start. `leaving`: it may still come back.
    """
    if is_agent_here:
        return "connected" if is_recorded_gone else None
    if is_recorded_gone:
        return None
    patience = WITHDRAWAL_SECONDS if had_agent else RETURN_SECONDS
    return "gone" if since_left >= patience else "leaving"


def _is_left(call: KnownCall, is_agent_here: bool) -> bool:
    """Return whether no connection will take an answer any more; an approved call is kept longer."""
    if call.state == "approved" and is_agent_here:
        return call.is_lapsed or call.unattended_for >= RETURN_SECONDS
    return call.unattended_for >= WITHDRAWAL_SECONDS
