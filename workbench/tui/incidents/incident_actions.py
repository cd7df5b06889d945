"""What is done with incidents: open a list, start, end, dismiss, by the backend in threads."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.domain.events import IncidentsListed
from workbench.domain.incidents import IncidentOptions
from workbench.text.human import counted
from workbench.tui.backend import error_text
from workbench.tui.incidents.incident_dialogs import StartScreen
from workbench.tui.incidents.incidents_pane import IncidentsPane
from workbench.tui.list_page.reader import run_in_thread
from workbench.tui.pane import LineWanted

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext
    from workbench.views.incidents import IncidentRow


def again_words(listed: IncidentsListed) -> str:
    """Return what reads the findings of a list again, as it is typed."""
    if listed.source == listed.checker or not listed.checker:
        return listed.source
    return f"{listed.source} ! {listed.checker}"


class IncidentActions:
    """Asks for what is needed and says what came of it."""

    def __init__(self, context: "MainContext", pane: IncidentsPane) -> None:
        self._context, self._pane = context, pane
        self._asked_about: list[IncidentRow] = []
        """What a line asks about: another row may be under the cursor when it is answered."""

    # --- a new list -----------------------------------------------------------------------------------

    def ask_source(self) -> None:
        """Ask for a file of findings, for a checker's command, or for both."""
        right = "FILE, a checker's COMMAND, or FILE ! COMMAND"
        listed = self._pane.snapshot.listed if self._pane.snapshot is not None else None
        last = "" if listed is None else again_words(listed)

        def work() -> None:
            known = dict.fromkeys([last, self._context.backend.incidents.checker()])
            history = tuple(words for words in known if words)
            self._context.post(
                LineWanted(self._pane, "source", "Open findings", right, "read them", history=history)
            )

        run_in_thread(self._pane, work, "look which checker is set")

    def read_again(self) -> None:
        """Read the file or run the checker of the list on show again, as a new list."""
        if self._pane.snapshot is None:
            return
        listed = self._pane.snapshot.listed
        if listed.source == listed.checker:
            self.open(listed.checker)
        else:
            self.open_file(listed.source, listed.checker)

    def heard(self, purpose: str, text: str) -> None:
        """Do what a line asked for."""
        if purpose == "source" and text:
            self.open(text)
        elif purpose == "dismiss":
            if text:
                self._dismiss(text)
            else:
                self._context.say("Nothing was dismissed: it needs a reason.")

    def open(self, source: str) -> None:
        """Read what somebody typed: a file of findings, or what a checker prints; show the findings."""
        self._read(lambda goes_on: self._context.backend.incidents.open(source, goes_on))

    def open_file(self, file: str, checker: str = "") -> None:
        """Read a file of findings and show them; its name is never read as a command."""
        self._read(lambda goes_on: self._context.backend.incidents.open_file(file, checker, goes_on))

    def _read(self, read: Callable[[Callable[[str], bool]], str]) -> None:
        if self._pane.progress:
            self._context.say("Another list is being read. esc cancels it.")
            return
        if why := self._context.backend.may_answer():
            self._context.say(why, is_error=True)
            return
        self._pane.begin_work("Reading.")

        def work() -> None:
            list_id, why_not = "", ""
            try:
                list_id = read(self._pane.goes_on)
            except Exception as error:  # noqa: BLE001 whatever a backend says is told, nothing is hidden
                why_not = error_text(error)
            self._context.call_from_thread(self._opened, list_id, why_not)

        run_in_thread(self._pane, work, "read findings")

    def _opened(self, list_id: str, why_not: str) -> None:
        self._pane.show_progress("")
        if why_not:
            self._context.say(why_not, is_error=True)
        else:
            self._pane.open_list(list_id)

    # --- work -----------------------------------------------------------------------------------------

    def ask_start(self) -> None:
        """Show what would be asked of agents; nothing is started before that was seen."""
        pane = self._pane
        rows = pane.marked or pane.listed
        which = "marked" if pane.marked else "listed"

        def work() -> None:
            options = IncidentOptions()
            try:
                options = self._context.backend.incidents.options()
            except Exception as error:  # noqa: BLE001 what would be asked is shown without a model, too
                self._context.call_from_thread(self._context.say, error_text(error))
            self._context.call_from_thread(self._show_start, rows, which, options)

        run_in_thread(self._pane, work, "look what would be asked")

    def _show_start(self, rows: "list[IncidentRow]", which: str, options: IncidentOptions) -> None:
        if self._pane.snapshot is not None:
            self._context.app.push_screen(
                StartScreen(self._context, self._pane.snapshot, rows, which, options, self.start)
            )

    def start(self, list_id: str, ids: tuple[str, ...], options: IncidentOptions) -> None:
        """Have incidents worked off."""
        backend = self._context.backend.incidents
        said = f"{counted(len(ids), 'finding')} will be worked on. Edits and commands wait in the queue."
        self._ask(lambda: backend.start(list_id, ids, options), said)
        self._pane.list.marks.clear()

    def go_on(self) -> None:
        """Let paused work on the list on show continue."""
        snapshot = self._pane.snapshot
        if snapshot is not None:
            backend, list_id = self._context.backend.incidents, snapshot.session.id
            self._ask(lambda: backend.go_on(list_id), "The work continues.")

    def ask_cancel(self) -> None:
        """End the work on the list on show; a second time is not asked for."""
        snapshot = self._pane.snapshot
        if snapshot is not None:
            backend, list_id = self._context.backend.incidents, snapshot.session.id
            said = "The work is being ended; what was not started is skipped. L starts it again."
            self._ask(lambda: backend.cancel(list_id), said)

    def ask_dismissal(self) -> None:
        """Ask why findings will not be fixed, or take that back."""
        rows = self._pane.chosen
        self._asked_about = rows
        if rows and all(row.is_dismissed for row in rows):
            self._dismiss("")
            return
        count = len(rows)
        title = f"Dismiss {rows[0].place}" if count == 1 else f"Dismiss {count} findings"
        right = "why it will not be fixed; kept for this finding in later lists"
        self._context.post(LineWanted(self._pane, "dismiss", title, right, "dismiss", is_armed=True))

    def _dismiss(self, reason: str) -> None:
        snapshot, rows = self._pane.snapshot, self._asked_about
        if snapshot is None or not rows:
            return
        backend, list_id = self._context.backend.incidents, snapshot.session.id
        ids = tuple(row.incident.id for row in rows)
        done = "is skipped from now on" if reason else "is open again"
        said = f"{counted(len(rows), 'finding')} {done if len(rows) == 1 else done.replace('is', 'are')}."
        self._pane.list.marks.clear()
        self._ask(lambda: backend.dismiss(list_id, ids, reason), said)

    def _ask(self, ask: Callable[[], None], said: str) -> None:
        def asked() -> str:
            try:
                ask()
            finally:
                self._context.call_from_thread(self._pane.read)
            self._context.call_from_thread(self._context.tasks.ensure_host)
            return said

        self._context.tasks.file(asked)
