"""What is told in a corner of the screen because the pane that it belongs to is not to be seen.

Owns which events are told, their words, and the place that shows all of it. Knows no widths and no time.
"""

from typing import Final

from workbench.domain.events import ActionApproved, ActionRejected, CallFinished, ErrorRaised, Event
from workbench.domain.rows import Action, Session
from workbench.records import dataclass
from workbench.text.safe import one_line

SESSIONS, CONVERSATION, APPROVALS = 0, 1, 2
"""Places, as the titles of their panes number them."""

_LONGEST: Final = 400
_WRITES: Final = ("edit", "write")


@dataclass(frozen=True, slots=True, kw_only=True)
class Toast:
    """What did not happen, why, and where to look."""

    what: str
    """One safe line."""
    why: str = ""
    """One safe line."""
    place: int | None = None
    """0 to 2: the pane that shows it; None if no pane does."""
    row_id: str = ""
    """In the approvals: the action."""

    @property
    def words(self) -> str:
        """Return all of it as one line, as it is kept among the messages."""
        return f"{self.what} {self.why}".rstrip()


def toast_of(
    event: Event, session: Session | None, action: Action | None, *, is_current: bool
) -> Toast | None:
    """Return what is told of an event; None when it is no trouble, or nobody here asked for it.

    Args:
        event: any event.
        session: its session, if the screen knows it.
        action: what was answered before it happened, if anything was.
        is_current: whether its session is on show.
    """
    match event.body:
        case ErrorRaised():
            return _of_error(event.body, session, is_current=is_current)
        case CallFinished(state="failed") if action is not None and action.verb in _WRITES:
            return Toast(
                what=one_line(f"Not written: {action.target}", _LONGEST), why=_line(event.body.error),
                place=APPROVALS, row_id=action.id,
            )  # fmt: skip
        case _:
            return None


def answered_elsewhere(event: Event, action: Action | None, pid: int) -> str:
    """Return what is said of an answer that a human gave on another screen or with a command; else empty.

    Args:
        event: any event.
        action: what it answers, as it is now.
        pid: the process of this screen.
    """
    actor = event.actor
    if action is None or actor.kind != "user" or actor.pid == pid:
        return ""
    if not isinstance(event.body, ActionApproved | ActionRejected):
        return ""
    word = "approved" if isinstance(event.body, ActionApproved) else "rejected"
    where = "on another screen" if actor.via == "screen" else "by workbench approvals"
    return one_line(f"{action.verb} {action.target} was {word} {where}.", _LONGEST)


def _of_error(body: ErrorRaised, session: Session | None, *, is_current: bool) -> Toast:
    why = _line(body.details or body.remedy)
    if is_current:
        return Toast(what=_line(body.message), why=why, place=CONVERSATION)
    if session is None:
        return Toast(what=_line(body.message), why=why)
    return Toast(what=one_line(f"{session.title}: {body.message}", _LONGEST), why=why, place=SESSIONS)


def _line(text: str) -> str:
    return one_line(text.strip(), _LONGEST)
