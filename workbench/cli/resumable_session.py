"""The session that is to continue: the one that is named, else the newest of the workspace."""

from workbench.cli.context import find_session, session_label, short_id
from workbench.cli.errors import Refusal
from workbench.domain.machines import TERMINAL_SESSION_STATES
from workbench.domain.rows import Session
from workbench.domain.values import SYSTEM_SESSION
from workbench.effects.files import workspace_path
from workbench.host import session_requests
from workbench.journal.imports import is_imported_session
from workbench.journal.journal import Journal


def session_to_resume(journal: Journal, word: str | None, directory: str | None) -> Session:
    """Return the session that a screen is to open on."""
    if word is not None:
        session = find_session(journal, word)
        _require_resumable(journal, session)
        return session
    workspace = workspace_path(directory)
    newest = session_requests.newest_open_session(journal, workspace)
    if newest is None:
        others = sum(session.id != SYSTEM_SESSION for session in journal.sessions())
        where = f"; workbench sessions list --all shows all {others:,}" if others else ""
        why = f"no session of {workspace} can continue"
        raise Refusal("nothing was resumed", why, f"workbench {workspace} starts one{where}")
    return newest


def _require_resumable(journal: Journal, session: Session) -> None:
    what, key = f"{session_label(journal, session)} was not resumed", short_id(journal, session.id)
    fork = f"workbench sessions fork {key} starts one from its end"
    if session.kind == "pipeline":
        raise Refusal(what, "it is the run of a pipeline", f"workbench pipeline resume {key} continues it")
    if session.kind == "step":
        raise Refusal(what, "it is a step of a run", f"workbench sessions show {key} shows it")
    if is_imported_session(journal, session.id):
        raise Refusal(what, "it was imported, so no agent works on it", fork)
    if session.status in TERMINAL_SESSION_STATES:
        raise Refusal(what, f"it is {session.status}", fork)
