"""The queue of this folder or of all folders: which is shown, and which folders are gone.

Answers from here reach the background process of the row's own folder. It writes nothing but the choice.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.domain.machines import TERMINAL_SESSION_STATES
from workbench.domain.rows import Session
from workbench.views.sessions import why_takes_no_message

if TYPE_CHECKING:
    from workbench.tui.backend import Backend
    from workbench.tui.main.context import MainContext


class FolderController:
    """Knows the folders of a main screen."""

    def __init__(self, context: "MainContext") -> None:
        self._context, self._state = context, context.state

    # --- this folder, or all ----------------------------------------------------------------------

    def toggle(self) -> None:
        """Show what waits in all folders, or in this one only, and remember it for the next screens."""
        context, is_wide = self._context, not self._state.is_wide
        self._state.list_folders(is_wide=is_wide)
        context.widgets.approvals.ordering.sort_anew()
        context.first_page.follow()
        context.presenter.everything()
        context.presenter.detail(context.widgets.approvals.queue.cursor)
        context.say("All folders." if is_wide else "This folder only.")
        context.tasks.file(lambda: self._keep(is_wide=is_wide))
        self.look()
        context.tasks.read_asks()

    def _keep(self, *, is_wide: bool) -> str:
        self._context.backend.keep_folders(is_wide=is_wide)
        return ""

    # --- whose folder -----------------------------------------------------------------------------

    @property
    def wants_host(self) -> bool:
        """Return whether something of the screen's own folder waits, or is due."""
        waits = any(self.of_action(action.id) == self.here for action in self._state.pending)
        return waits or self._context.decisions.awaits(self.here)

    @property
    def here(self) -> str:
        """Return the workspace of the screen."""
        return self._context.status.workspace

    def of_action(self, action_id: str) -> str:
        """Return the workspace whose background process acts on an answer."""
        return self._state.workspaces.get(action_id) or self.here

    def of_session(self, session: Session | None) -> str:
        """Return the workspace whose background process drives a session; without one that of the screen."""
        return self._state.workspace_of(session) or self.here

    def is_listed(self, session: Session) -> bool:
        """Return whether a session is of a folder that the screen shows."""
        return self._state.is_wide or self.is_of_here(session)

    def is_of_here(self, session: Session) -> bool:
        """Return whether a session works in the folder of the screen, or in a worktree made from it."""
        return self.here in (self.of_session(session), session.listed_in)

    def of(self, key: str) -> str:
        """Return the workspace of an action or a session, by its id."""
        session = self._state.sessions.get(key) or self._state.source.session(key)
        return self.of_session(session) if session is not None else self.of_action(key)

    @property
    def backend(self) -> "Backend":
        """Return the backend of the folder in which the agent of the session on show works."""
        return self._context.backend.of(self.of_session(self._state.current))

    def why_no_message(self, session: Session) -> str:
        """Return why a session takes no message now, as sentences; empty when it does. In a thread."""
        if why := why_takes_no_message(session):
            return why
        return self._context.backend.folder_problem(self.of_session(session))

    def why_not_approved(self, action_id: str) -> str:
        """Return why nothing of an action can be approved now: its folder is gone. In a thread."""
        return self._context.backend.folder_problem(self.of_action(action_id))

    @property
    def worktrees(self) -> Sequence[str]:
        """Return the worktrees of the listed sessions that have not ended."""
        sessions = self._state.sessions.values()
        open_sessions = (session for session in sessions if session.status not in TERMINAL_SESSION_STATES)
        return sorted({session.workspace for session in open_sessions if session.worktree is not None})

    # --- which are gone ---------------------------------------------------------------------------

    def look(self) -> None:
        """Look in a thread which of the listed folders are gone, and mark their rows."""
        listed = self._state.workspaces
        paths = {listed.get(action.id, "") for action in self._state.pending} - {""}
        self._context.tasks.read_folders(sorted(paths), self._marked)

    def _marked(self, gone: Sequence[str]) -> None:
        if self._context.presenter.folders.mark_gone(gone):
            self._context.presenter.queue_again()
