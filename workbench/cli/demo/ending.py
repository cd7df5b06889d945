"""What a demo says at its end: what was written, how the tests went, how to go on.

Pure but for reading the journal.
"""

from collections.abc import Iterable

from workbench.cli.demo.bundle import Place
from workbench.domain.events import FileChanged
from workbench.domain.rows import Call, Session
from workbench.journal.journal import Journal


def ending_lines(place: Place, journal: Journal, workspace: str) -> Iterable[str]:
    """Yield the last words of a demo."""
    session = next(iter(journal.sessions(workspace=workspace)), None)
    if session is None:
        return
    yield written_line(journal, session)
    yield tests_line(journal.calls(session.id))
    waiting = len(journal.actions(session.id, states=("pending",)))
    if waiting:
        yield f"Parked: {waiting} {'waits' if waiting == 1 else 'wait'} for an answer."
    if waiting or session.open_turn is not None or session.reason in ("unattended", "user", "host lost"):
        yield f"workbench demo --at {place.folder} goes on."
    else:
        yield f"All of it is in {place.folder}; delete that folder when you are done."


def written_line(journal: Journal, session: Session) -> str:
    """Return which files were written, with their lines."""
    bodies = [event.body for event in journal.events(session.id) if isinstance(event.body, FileChanged)]
    if not bodies:
        return "Written: nothing."
    files = (f"{body.path} (plus {body.added} minus {body.removed})" for body in bodies)
    return f"Written: {', '.join(files)}."


def tests_line(calls: Iterable[Call]) -> str:
    """Return how the test run went."""
    runs = [call for call in calls if call.tool == "run_in_terminal" and call.started_at is not None]
    if not runs:
        return "Tests: not run."
    last = runs[-1]
    return "Tests: green." if last.state == "succeeded" else f"Tests: red (exit {last.exit_code})."
