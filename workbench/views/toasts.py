"""Toasts: what did not happen, why, and the pane that shows it; and answers given elsewhere."""

from typing import Final

from msgspec import Struct

from workbench.domain import events as e
from workbench.domain.events import Event
from workbench.domain.rows import Action, Session
from workbench.text.safe import one_line
from workbench.views.supervised import agent_title

SESSIONS_PANE, CONVERSATION_PANE, APPROVALS_PANE = "sessions", "conversation", "approvals"
"""Names of places of the screen."""
_MAX_TOAST_CELLS: Final = 400
_WRITE_VERBS: Final = ("edit", "write", "move", "del")


class Toast(Struct, frozen=True, kw_only=True):
    """What did not happen, why, and where to look."""

    what: str
    why: str = ""
    place: str | None = None
    """The place that shows it; None if none does."""
    row_id: str = ""

    @property
    def words(self) -> str:
        """Return all of it as one line, as it is kept among the messages."""
        return f"{self.what} {self.why}".rstrip()


def toast_of(
    event: Event, session: Session | None, action: Action | None, *, is_current: bool
) -> Toast | None:
    """Return what is told of an event; None when it is no trouble, or nobody here asked for it."""
    match event.body:
        case e.ErrorRaised():
            return _error_toast(event.body, session, is_current=is_current)
        case e.CallFinished(state="failed") if action is not None and action.verb in _WRITE_VERBS:
            return Toast(
                what=one_line(f"Not written: {action.target}", _MAX_TOAST_CELLS),
                why=_toast_line(event.body.error),
                place=APPROVALS_PANE, row_id=action.id,
            )  # fmt: skip
        case _:
            return None


def answered_elsewhere_text(event: Event, action: Action | None, pid: int) -> str:
    """Return what is said of an answer that came from another screen or a command; else empty."""
    actor = event.actor
    is_copied = event.recorded_at is not None  # by a fork or an import
    if action is None or actor.kind != "user" or actor.pid == pid or is_copied:
        return ""
    if not isinstance(event.body, e.ActionApproved | e.ActionRejected):
        return ""
    word = "approved" if isinstance(event.body, e.ActionApproved) else "rejected"
    where = "on another screen" if actor.via == "screen" else "by workbench approvals"
    return one_line(f"{action.verb} {action.target} was {word} {where}.", _MAX_TOAST_CELLS)


def _error_toast(body: e.ErrorRaised, session: Session | None, *, is_current: bool) -> Toast:
    why = _toast_line(body.details or body.remedy)
    if is_current:
        return Toast(what=_toast_line(body.message), why=why, place=CONVERSATION_PANE)
    if session is None:
        return Toast(what=_toast_line(body.message), why=why)
    return Toast(
        what=one_line(f"{agent_title(session, session.title)}: {body.message}", _MAX_TOAST_CELLS),
        why=why,
        place=SESSIONS_PANE,
    )


def _toast_line(text: str) -> str:
    return one_line(text.strip(), _MAX_TOAST_CELLS)
