"""How a session is filed: its title, its tags, out of the way, ended, deleted.

Owns what a human may do to a session as a whole. Everything here is an event of the session but deleting,
which is the journal's own exception; nothing here drives a session.
"""

import time
from collections.abc import Sequence

from workbench.domain.events import ActionCancelled, Event, SessionChanged, SessionStatusChanged
from workbench.domain.machines import SESSION_MOVES, TERMINAL_SESSIONS
from workbench.domain.rows import Session
from workbench.domain.values import SYSTEM_SESSION, Actor
from workbench.host import record, sessions
from workbench.host.sessions import SessionRefused
from workbench.journal.delete import delete_session
from workbench.journal.errors import SessionUnknown
from workbench.journal.journal import Journal
from workbench.journal.lease import is_live
from workbench.journal.live import LiveTables

LONGEST_TITLE = 120
LONGEST_TAG = 40
MOST_TAGS = 20
PATIENCE = 10.0
"""Seconds that a driver gets to stop before its session is ended."""


def retitle(journal: Journal, session_id: str, title: str, actor: Actor) -> str:
    """Give a session another title and return it as it was kept: one line, scrubbed.

    Raises:
        SessionRefused: The title is empty or the session is the journal's own.
    """
    _refuse_own(session_id, "renamed")
    line = record.scrubbed_line(title.strip(), LONGEST_TITLE)
    if not line:
        raise SessionRefused("The session was not renamed.", "The title is empty.", "Say what to call it.")
    _change(journal, session_id, SessionChanged(title=line), actor)
    return line


def tag(
    journal: Journal, session: Session, add: Sequence[str], remove: Sequence[str], actor: Actor
) -> tuple[str, ...]:
    """Change the tags of a session and return them.

    Raises:
        SessionRefused: There would be more than 20, or the session is the journal's own.
    """
    _refuse_own(session.id, "tagged")
    lines = (record.scrubbed_line(word.strip(), LONGEST_TAG) for word in add)
    kept = [word for word in session.tags if word not in remove]
    tags = tuple(dict.fromkeys((*kept, *(line for line in lines if line))))
    if len(tags) > MOST_TAGS:
        why = f"It would have {len(tags)} tags."
        raise SessionRefused("The session was not tagged.", why, f"Keep to {MOST_TAGS}.")
    if tags != session.tags:
        _change(journal, session.id, SessionChanged(tags=tags), actor)
    return tags


def archive(journal: Journal, session: Session, is_archived: bool, actor: Actor) -> None:
    """Put a session out of the way, or back; nothing of it is lost."""
    _refuse_own(session.id, "archived")
    if session.archived != is_archived:
        _change(journal, session.id, SessionChanged(archived=is_archived), actor)


def end(journal: Journal, session: Session, actor: Actor, patience: float = PATIENCE) -> str:
    """End a session for good: what it asks is withdrawn, nothing can be said to it any more.

    Returns:
        The status it has now: `completed`, or `terminated` where it never began to work.

    Raises:
        SessionRefused: It has ended, is the journal's own, or its agent did not stop in time.
    """
    _refuse_own(session.id, "ended")
    if session.status in TERMINAL_SESSIONS:
        why = f"It is {session.status}."
        raise SessionRefused("The session was not ended.", why, "Nothing is left to do.")
    _stop(journal, session, actor, patience)
    journal.transact(lambda live, now: _ending(journal, live, session.id, actor, now))
    found = journal.session(session.id)
    return found.status if found else "deleted"


def _stop(journal: Journal, session: Session, actor: Actor, patience: float) -> None:
    """Ask the agent of a session that works to stop, and wait until it has."""
    until = time.monotonic() + patience
    is_asked = False
    while (now := journal.session(session.id)) and now.status == "processing" and _is_driven(journal, now):
        if not is_asked:
            sessions.interrupt(journal, session.id, actor)
            is_asked = True
        left = until - time.monotonic()
        if left <= 0:
            why = f"Its agent has not stopped for {patience:.0f} s."
            raise SessionRefused("The session was not ended.", why, "Look with workbench host status.")
        journal.wait(journal.last_position(), min(left, 0.5))


def _is_driven(journal: Journal, session: Session) -> bool:
    return is_live(journal.home, journal.lease(session.id))


def _ending(journal: Journal, live: LiveTables, session_id: str, actor: Actor, now: int) -> list[Event]:
    session = live.session(session_id)
    if session is None:
        raise SessionUnknown(f"session {session_id} was not ended", "it was deleted", "nothing is left to do")
    if session.status in TERMINAL_SESSIONS:
        return []
    status = "completed" if "completed" in SESSION_MOVES[session.status] else "terminated"
    open_ones = live.all(
        "SELECT id, call_id FROM action WHERE session_id = ? AND state = 'pending'", session_id
    )
    closing = [
        journal.event(ActionCancelled(why="the session was ended"), session_id, actor, action_id=row[0],
                      call_id=row[1], at=now)
        for row in open_ones
    ]  # fmt: skip
    return [*closing, journal.event(SessionStatusChanged(status=status), session_id, actor, at=now)]


def delete(journal: Journal, session: Session, actor: Actor) -> int:
    """Delete a session with everything that belongs to it, the steps of a pipeline run included.

    Returns:
        How many sessions were deleted.

    Raises:
        Driven: A living process drives it.
        GuardFailed: It is the session of the journal itself.
    """
    steps = journal.sessions(parent_id=session.id, kinds=("step",))
    below = sum(delete(journal, step, actor) for step in steps)
    delete_session(journal, session.id, actor)
    return below + 1


def _change(journal: Journal, session_id: str, body: SessionChanged, actor: Actor) -> None:
    journal.append([journal.event(body, session_id, actor)])


def _refuse_own(session_id: str, word: str) -> None:
    if session_id == SYSTEM_SESSION:
        why = "It holds rules, trust and what was deleted."
        raise SessionRefused(f"The session was not {word}.", why, "Name another one.")
