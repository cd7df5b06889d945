"""Which runs of a workspace have something to do and nobody who drives them.

Owns the looking; a host's supervisor asks once a second and drives what is named. A run that lost its driver
is not among them until a human says a word.
"""

from workbench.domain.rows import Session
from workbench.host.kit import Kit
from workbench.host.steps.begin import way
from workbench.host.steps.ledger import pending_below
from workbench.journal.journal import Journal
from workbench.journal.lease import is_live
from workbench.pipelines.state import StepRun, fold

_MOST = 50


def has_work(kit: Kit, session: Session) -> bool:
    """Return whether a run may be begun or go on now."""
    journal = kit.journal
    if session.parent_id is not None:
        return False  # a run below another is driven by the one above
    state = fold(journal.events(session.id))
    how = way(state, len(pending_below(journal, session.id)))
    if how != "on":
        return how in ("new", "again")
    return state.is_cancelled or any(_is_answered(journal, step) for step in state.steps.values())


def _is_answered(journal: Journal, step: StepRun) -> bool:
    if step.state != "waiting":
        return False
    if step.action_id is not None:
        action = journal.action(step.action_id)
        while action is not None and action.state == "superseded" and action.successor:
            action = journal.action(action.successor)
        return action is not None and action.state != "pending"
    if step.session_id is None:
        return True
    return not pending_below(journal, step.session_id) or any(
        (action.decided_at or 0) > step.moved_at and action.state != "superseded"
        for action in journal.actions(step.session_id)
    )


def waiting_runs(kit: Kit) -> list[Session]:
    """Return the runs of this workspace that wait, are driven by nobody, and were answered."""
    journal = kit.journal
    found: list[Session] = []
    for run in journal.pipeline_states(kit.workspace, _MOST):
        if run.status != "waiting" or is_live(kit.home, journal.lease(run.pipeline_id)):
            continue
        session = journal.session(run.pipeline_id)
        if session is not None and has_work(kit, session):
            found.append(session)
    return found
