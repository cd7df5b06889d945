"""Which approved changes can be taken up again, and why others cannot."""

from collections.abc import Collection, Iterable
from typing import Final

from msgspec import Struct

from workbench.domain.machines import TERMINAL_SESSION_STATES
from workbench.domain.rows import Action, Session
from workbench.domain.values import REOPENS
from workbench.views.supervised import why_not_asked

WRITE_VERBS: Final = ("edit", "write")
"""Verbs of actions that change files of the workspace and nothing else."""
_FORK_REMEDY: Final = "a new session can start from its end: F in the library (workbench sessions fork)"


class Reopening(Struct, frozen=True, kw_only=True):
    """What an approved action can be asked for again."""

    label: str
    """What the key does: `take the rest`, `propose it again`."""
    why_not: str = ""
    """Why it cannot be done; empty where it can."""


def why_not_reopen(session: Session | None, action: Action, *, is_waiting: bool) -> str:
    """Return why what files lack of an action cannot be proposed, and what works instead; empty if it can."""
    if action.state != "approved" or action.kind != "tool":
        return "only a change that was approved can be proposed again; ask the agent for anything else"
    if not action.files or action.verb not in WRITE_VERBS:
        return "it changed no file here; ask the agent for it"
    if session is not None and (why := why_not_asked(session, "changes")):
        return f"{why.rstrip('.')}; ask it in its own terminal to make this one"
    if session is None or not session.takes_prompts:
        return "its agent works in a step of a run; 4 shows the run, R there tries the step again"
    if session.status in TERMINAL_SESSION_STATES:
        return f"its session has ended; {_FORK_REMEDY}"
    return "it waits already; answer the row that proposes it" if is_waiting else ""


def reopening_of(
    session: Session | None, action: Action, others: Iterable[Action], undone: Collection[str]
) -> Reopening | None:
    """Return what can be asked for of an approved action; None where all of it was written and kept.

    `undone`: ids of actions of whose changes nothing is left.
    """
    is_undone = action.id in undone
    if action.state != "approved" or not action.files or not (is_undone or action.selection is not None):
        return None  # so it is with an edit: what its human wrote is in the file
    label = "propose it again" if is_undone else "take the rest"
    later = [other for other in others if other.subject.get(REOPENS) == action.id and other.id not in undone]
    is_waiting = any(other.state == "pending" for other in later)
    if why := why_not_reopen(session, action, is_waiting=is_waiting):
        return Reopening(label=label, why_not=why)
    is_done = any(other.state == "approved" for other in later)
    return Reopening(label=label, why_not="a later row did that; what it left is there" if is_done else "")
