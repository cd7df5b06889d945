"""Whether the files of an action are still what it was proposed on, where no driver may be watching them.

Owns that question for answers from the command line. It decides and changes nothing: a driver asks again
before anything is written.
"""

from workbench.changes.stale import moved
from workbench.domain.events import CallProposed
from workbench.domain.rows import Action
from workbench.effects.files import FileRefused, Root
from workbench.journal.journal import Journal


def moved_now(journal: Journal, action: Action) -> tuple[str, ...]:
    """Return the paths that changed since an action was proposed; all of them where the workspace is gone."""
    session = journal.session(action.session_id)
    if (
        session is None
        or not action.files
        or action.state != "pending"
        or _builds_on_another(journal, action)
    ):
        return ()
    try:
        with Root(session.workspace) as root:
            return moved(root, action.files, journal.blobs.keyed)
    except FileRefused:
        return tuple(plan.path for plan in action.files)


def _builds_on_another(journal: Journal, action: Action) -> bool:
    """Return whether its base is what an earlier change will leave behind, which is not on the disk yet."""
    events = journal.call_events(action.call_id) if action.call_id else []
    bodies = [event.body for event in events if isinstance(event.body, CallProposed)]
    return bool(bodies and bodies[-1].on_top_of)
