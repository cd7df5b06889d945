"""Which expired actions can be proposed again, and why others cannot."""

from collections.abc import Collection, Iterable
from typing import Final

from msgspec import Struct

from workbench.domain.machines import TERMINAL_SESSION_STATES
from workbench.domain.rows import Action, Session
from workbench.views.supervised import why_not_asked

MAX_ASKED_AGAIN: Final = 50
"""Expired actions that one prompt asks for, the newest ones."""
_RUN_REMEDY: Final = "its run does: 4 shows it, R there tries the step again (workbench pipeline retry)"
_FORK_REMEDY: Final = "a new session can start from its end: F in the library (workbench sessions fork)"


class ProposeAgain(Struct, frozen=True, kw_only=True):
    """What can be asked for of an expired action and of the others of its session."""

    why_not: str = ""
    """Why it cannot be asked for, and what works instead; empty when it can."""
    ids: tuple[str, ...] = ()
    """All of the session that can be asked for at once, oldest first."""


def why_not_propose_again(session: Session | None, action: Action) -> str:
    """Return why an action cannot be proposed again, and what works instead; empty if it can."""
    if action.state != "expired":
        state = "waiting still" if action.state == "pending" else action.state
        return f"it is {state}; only what expired can be proposed again"
    if session is not None and (why := why_not_asked(session)):
        return f"{why.rstrip('.')}; say there that it is to propose it again"
    if session is None or not session.takes_prompts or action.kind == "gate":
        return f"no prompt reaches a pipeline run; {_RUN_REMEDY}"
    if session.origin is not None:
        return f"its session came from a file and nobody works in it; {_FORK_REMEDY}"
    if session.status in TERMINAL_SESSION_STATES:
        return f"its session has ended; {_FORK_REMEDY}"
    return "" if action.kind == "tool" else "only a call of a tool can be proposed again"


def propose_again_of(
    session: Session | None, action: Action, others: Iterable[Action], asked: Collection[str]
) -> ProposeAgain:
    """Return what can be asked for of an expired action.

    Args:
        session: The one that it belongs to.
        action: It.
        others: Actions of any session, in any order.
        asked: Ids of those that were asked for already.
    """
    if why := why_not_propose_again(session, action):
        return ProposeAgain(why_not=why)
    expired = [
        other
        for other in others
        if other.session_id == action.session_id and other.state == "expired"
        and other.kind == "tool" and other.id not in asked
    ]  # fmt: skip
    expired.sort(key=lambda other: other.opened_at)
    why_not = "the agent was asked for it already" if action.id in asked else ""
    return ProposeAgain(why_not=why_not, ids=tuple(other.id for other in expired[-MAX_ASKED_AGAIN:]))
