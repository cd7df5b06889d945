"""What is done with sessions: open, rename, tag, archive, end, delete, import, fork, export.

Asks for the words that are needed and reports what came of it; the work is done by the backend in threads.
"""

# Sessions of other workspaces and imported ones open as a replay. Their agent works elsewhere, or nowhere:
# what one types here would reach nobody. `F` begins a session here from their end.
#
# Deleting wants the title typed, or `delete` where a title cannot be typed (hidden characters, other
# alphabets): what is typed must be what is read.

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from textual.app import SuspendNotSupported

from workbench.domain.machines import TERMINAL_SESSION_STATES
from workbench.domain.rows import Session
from workbench.text.human import clock_time
from workbench.tui import pane, transcript_window
from workbench.tui.backend import BackendError, ExportRequest, ForkRequest, LibraryBackend
from workbench.tui.library.library_pane import LibraryPane
from workbench.tui.pane import LineWanted, SessionChosen, SessionRequest, SessionVerb, StatusMessage
from workbench.views.conversation_search import last_block_id, last_event_of_block
from workbench.views.library import is_typeable_title
from workbench.views.sessions import session_slug, session_title

if TYPE_CHECKING:
    from workbench.formats.agent_folders import AgentCommand
    from workbench.tui.main.context import MainContext
    from workbench.tui.main.tasks import BackgroundTasks
    from workbench.views.conversation_blocks import Block
    from workbench.views.data_source import DataSource
    from workbench.views.welcome import ImportOffer

_WORKTREE_PREFIX = "git "


class ForkPrompt:
    """Asks for the folder of a fork and has it made; a line hears of what is typed as a pane does."""

    def __init__(
        self,
        tasks: "BackgroundTasks",
        session_id: str,
        position: Callable[[], int],
    ) -> None:
        """Keep what is forked.

        Args:
            tasks: those of the screen where it is asked; their backend makes the fork.
            session_id: whose conversation goes on.
            position: returns the moment, as a position of the journal; called in a thread.
        """
        self._tasks, self._session_id, self._position = tasks, session_id, position

    def ask(self, title: str) -> None:
        """Ask for a folder."""
        right, does = "FOLDER for a copy, git FOLDER for a worktree", "fork; without a folder the talk only"
        self._tasks.post(LineWanted(self, "fork", title, right, does))

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        del purpose
        if not is_final:
            return
        words = text.strip()
        is_worktree = words.startswith(_WORKTREE_PREFIX)
        folder = words.removeprefix(_WORKTREE_PREFIX).strip() if is_worktree else words

        def fork() -> str:
            wanted = ForkRequest(
                session_id=self._session_id, position=self._position(), is_worktree=is_worktree, folder=folder
            )
            return self._tasks.backend.fork(wanted)

        self._tasks.tell(fork, "Forking.", "fork a session")

    def line_dropped(self, purpose: str) -> None:
        del purpose


def ask_fork(context: "MainContext", session_id: str | None, block: "Block | None") -> None:
    """Ask for a fork of a session (None: the one on show), from its end or from a block of it."""
    session = context.state.sessions.get(session_id) if session_id else context.state.current
    if session is None:
        context.say("There is no session here to fork.")
        return
    source = context.state.source
    title = f"Fork “{session_title(session)}”"
    if block is None:
        ForkPrompt(context.tasks, session.id, source.position).ask(f"{title} as it is now")
        return
    asked = ForkPrompt(context.tasks, session.id, lambda: fork_position(source, session.id, block))
    asked.ask(f"{title} as it was at {clock_time(block.at)}")


def fork_position(source: "DataSource", session_id: str, block: "Block") -> int:
    """Return the position up to which a session is as it was when a block of it was done.

    Raises:
        NotDone: It is not done yet, or not there any more.
    """
    last_event = None
    if isinstance(source, transcript_window.EventArchive):
        last_event = last_event_of_block(
            transcript_window.event_batches(source, session_id), last_block_id(block)
        )
    if last_event is None:
        raise BackendError("No session was forked: this is not done yet, or it is gone. G goes to the end.")
    return last_event.position


class ExportPrompt:
    """Asks for the file and has it written; a line hears of what is typed as a pane does."""

    def __init__(
        self,
        tasks: "BackgroundTasks",
        session: Session,
        index: int,
        size: tuple[int, int],
        theme: str,
    ) -> None:
        """Keep what is filmed.

        Args:
            tasks: those of the screen where it is asked; their backend writes it.
            session: which.
            index: the moment of a picture: how many events have happened.
            size: cells across and down.
            theme: the name of the colours.
        """
        self._tasks, self._session, self._index = tasks, session, index
        self._size, self._theme = size, theme

    def ask(self) -> None:
        """Ask for the file."""
        title, right = "Write to", ".svg this moment, .html and .cast all of it"
        text = f"{session_slug(self._session)}.html"
        self._tasks.post(LineWanted(self, "film", title, right, "write it", text=text))

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        """Have it written in a thread, and say what came of it."""
        del purpose
        if not is_final or not text.strip():
            return
        wanted = ExportRequest(
            session_id=self._session.id, path=text.strip(), index=self._index, theme=self._theme,
            size=self._size,
        )  # fmt: skip
        film = self._tasks.backend.export_film
        self._tasks.tell(lambda: film(wanted, self._told), "Being filmed.", "film")

    def _told(self, words: str) -> None:
        if words:
            self._tasks.post(StatusMessage(words, is_kept=False))

    def line_dropped(self, purpose: str) -> None:
        """Write nothing."""
        del purpose


class ResumePrompt:
    """Shows the command that continues a session elsewhere, and runs or copies it when that is confirmed."""

    def __init__(self, context: "MainContext", command: "AgentCommand") -> None:
        self._context, self._command = context, command

    def ask(self) -> None:
        """Ask what is to be done with it."""
        command = self._command
        if command.problem:
            title, right = f"{command.words}: {command.problem}", "nothing can be run here"
            does = "copy the command"
        else:
            title, right = f"Run {command.words} in {command.folder}", "c enter copies it instead"
            does = "run it in this terminal"
        self._context.post(LineWanted(self, "resume", title, right=right, does=does, is_armed=True))

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        del purpose
        if not is_final:
            return
        answer = text.strip().casefold()
        if self._command.problem or answer == "c":
            is_copied = self._context.backend.copy_to_clipboard(self._command.shell_line)
            self._context.say("Copied." if is_copied else f"Not copied: {self._command.shell_line}")
        elif answer in ("", "y", "yes"):
            self._run()
        else:
            self._context.say("Nothing was run.")

    def _run(self) -> None:
        said: list[str] = []
        try:
            with self._context.app.suspend():
                # The framework takes the terminal back only from what raises nothing.
                try:
                    said.append(self._context.backend.run_agent(self._command))
                except BackendError as error:
                    said.append(str(error))
        except SuspendNotSupported:
            said.append(f"It needs a terminal of its own: {self._command.shell_line}")
        self._context.say(said[0])

    def line_dropped(self, purpose: str) -> None:
        """Run nothing."""
        del purpose


_TWO: Final = 2
SINGLE_SESSION_ACTIONS: Final[frozenset[SessionVerb]] = frozenset(
    {"open", "replay", "go_on", "fork", "rename", "send", "undo", "diff", "resume"}
)
ACTIONS_WITH_TEXT: Final[frozenset[SessionVerb]] = frozenset(
    {"rename", "tag", "end", "delete", "send", "take"}
)
"""What needs words before it is done."""


class SessionActions:
    """Does what the user wants done with sessions of the library."""

    def __init__(self, context: "MainContext", pane: LibraryPane) -> None:
        self._context, self._pane = context, pane
        self._is_cancelled = False
        self._offer: ImportOffer | None = None
        self._handlers: Mapping[SessionVerb, Callable[[Sequence[Session], str], None]] = {
            "open": self._open, "replay": self._replay, "beside": self._beside, "go_on": self._go_on,
            "fork": self._fork, "undo": self._undo, "diff": self._diff, "resume": self._resume,
            "rename": self._rename, "tag": self._tag, "archive": self._archive, "end": self._end,
            "delete": self._delete, "send": self._send, "take": self._take, "watch": self._watch,
            "cancel": self._cancel,
        }  # fmt: skip

    def do(self, wish: SessionRequest) -> None:
        """Do it, or ask for the words that it needs."""
        if wish.what == "take" and wish.text is None:
            self._ask_import(wish)
        elif wish.what in SINGLE_SESSION_ACTIONS and len(wish.sessions) > 1 and wish.text is None:
            self._do_one(SessionRequest(wish.what, [self._pane.session or wish.sessions[0]]))
        elif wish.what in ACTIONS_WITH_TEXT and wish.text is None:
            self._ask(wish)
        else:
            self._do_one(wish)

    def _do_one(self, wish: SessionRequest) -> None:
        if wish.what in ACTIONS_WITH_TEXT and wish.text is None:
            self._ask(wish)
        else:
            self._handlers[wish.what](wish.sessions, wish.text or "")

    def _cancel(self, _: Sequence[Session], __: str) -> None:
        self._is_cancelled = True

    # --- going there --------------------------------------------------------------------------------

    def _open(self, sessions: Sequence[Session], _: str) -> None:
        session = sessions[0]
        if session.origin is not None:
            self._context.say("It was imported, so it is shown as a replay. F starts a session from its end.")
            self._context.app.open_replay(session.id)
        elif not self._context.folders.is_listed(session):
            self._context.say(
                f"Shown as a replay: its agent works in {session.workspace}. Open workbench there, or press w"
                " in Approvals for all folders."
            )
            self._context.app.open_replay(session.id)
        else:
            self._show(session.id, 4 if session.kind == "pipeline" else 1)

    def _show(self, session_id: str, place: int = 1) -> None:
        self._context.post(SessionChosen(session_id))
        self._context.post(pane.PlaceWanted(place))

    def _replay(self, sessions: Sequence[Session], _: str) -> None:
        place = self._pane.place_in(sessions[0].id)
        self._context.app.open_replay(sessions[0].id, place.sequence_number if place else None)

    def _beside(self, sessions: Sequence[Session], _: str) -> None:
        if len(sessions) == _TWO:
            self._context.app.open_beside(sessions[0].id, sessions[1].id)
        else:
            self._context.say("Mark two sessions with m: B shows those side by side.")

    def _go_on(self, sessions: Sequence[Session], _: str) -> None:
        session = sessions[0]
        if reason := self._why_not_on(session):
            self._context.say(reason)
            return
        self._context.tasks.ask(self._context.backend.continue_session, session.id, "Continues.")
        self._show(session.id)

    def _why_not_on(self, session: Session) -> str:
        if session.origin is not None:
            return "It was imported: nothing runs it. F starts a session from its end."
        if session.status in TERMINAL_SESSION_STATES:
            return f"It is {session.status}: it cannot continue. F starts a session from its end."
        if session.workspace != self._context.status.workspace:
            return f"Its agent works in {session.workspace}. Open workbench there, or F for one here."
        return ""

    def _fork(self, sessions: Sequence[Session], _: str) -> None:
        def work() -> str:
            new = self._context.backend.library.fork(sessions[0].id)
            self._show(new)
            return "Forked: the conversation, and nothing else of it. Your next message continues it."

        self._thread(work, "The session is being forked.")

    def _undo(self, sessions: Sequence[Session], _: str) -> None:
        self._context.ask_undo(sessions[0].id)

    def _diff(self, sessions: Sequence[Session], _: str) -> None:
        self._context.show_session_diff(sessions[0])

    def _resume(self, sessions: Sequence[Session], _: str) -> None:
        session = sessions[0]
        if session.origin is None:
            self._go_on(sessions, "")
            return

        def work() -> str:
            command = self._context.backend.agent_command(session.id)
            self._context.call_from_thread(ResumePrompt(self._context, command).ask)
            return ""

        self._context.tasks.file(work)

    # --- what is asked first --------------------------------------------------------------------------

    def _ask(self, wish: SessionRequest) -> None:
        session = wish.sessions[0] if wish.sessions else None
        asked = {
            "rename": lambda: ("Title", "", "rename it", session.title if session else ""),
            "tag": lambda: ("Tags of " + _sessions_in_words(wish.sessions), "separate by spaces",
                            "tag it", " ".join(session.tags) if session else ""),
            "send": lambda: ("Export to", ".jsonl all, .md .page.html to read, .html .cast .svg", "write it",
                             f"{session_slug(session)}.jsonl" if session else ""),
            "take": lambda: (self._offer.question if self._offer else "Import a file or folder",
                             "nothing in it is run", "import it", ""),
            "end": lambda: (f"End {_sessions_in_words(wish.sessions)} for good: what it asks is withdrawn."
                            " Type end", "", "end it", ""),
            "delete": lambda: (self._deleting(wish.sessions), "", "delete it for good", ""),
        }[wish.what]()  # fmt: skip
        title, right, does, text = asked
        self._pane.asked_about = tuple(wish.sessions)
        self._context.post(
            LineWanted(self._pane, wish.what, title, right=right, does=does, text=text,
                      is_armed=wish.what in ("end", "delete"))
        )  # fmt: skip

    def _deleting(self, sessions: Sequence[Session]) -> str:
        weights = [self._pane.shelf.weight(session.id) for session in sessions]
        gone = [f"{sum(weight.events for weight in weights):,} events"]
        for count, word in (
            (sum(weight.actions for weight in weights), "ask"),
            (sum(weight.kept for weight in weights), "kept output"),
            (sum(weight.steps for weight in weights), "step"),
        ):  # fmt: skip
            gone += [f"{count:,} {word}{'' if count == 1 else 's'}"] if count else []
        return (
            f"Delete {_sessions_in_words(sessions)}: {', '.join(gone)}. Type {_confirmation_text(sessions)}"
        )

    def _end(self, sessions: Sequence[Session], text: str) -> None:
        if text.casefold() != "end":
            self._context.say("Nothing was ended: end was not typed.")
            return
        self._each(lambda library, session: library.end(session.id), sessions, "The session is being ended.")

    def _delete(self, sessions: Sequence[Session], text: str) -> None:
        if text.casefold() != _confirmation_text(sessions).casefold():
            self._context.say(f"Nothing was deleted: {_confirmation_text(sessions)} was not typed.")
            return

        def work() -> str:
            said = self._context.backend.library.delete([session.id for session in sessions])
            self._pane.list.marks.clear()
            return said

        self._thread(work, "Being deleted.")

    # --- filing ---------------------------------------------------------------------------------------

    def _rename(self, sessions: Sequence[Session], text: str) -> None:
        self._each(lambda library, session: library.retitle(session.id, text), sessions)

    def _tag(self, sessions: Sequence[Session], text: str) -> None:
        self._each(lambda library, session: library.tag(session.id, text), sessions)

    def _archive(self, sessions: Sequence[Session], _: str) -> None:
        is_archived = not all(session.archived for session in sessions)
        self._each(lambda library, session: library.archive(session.id, is_archived=is_archived), sessions)

    def _send(self, sessions: Sequence[Session], text: str) -> None:
        if text:
            self._each(lambda library, session: library.export(session.id, text), sessions, "Being written.")

    def _ask_import(self, wish: SessionRequest) -> None:
        """Look in a thread at what other agents have here, then ask."""

        def ask(offer: "ImportOffer | None") -> None:
            self._progress("")
            self._offer = offer
            self._ask(wish)

        def look() -> str:
            offer = None
            try:
                offer = self._context.backend.library.import_offer()
            finally:
                self._context.app.call_from_thread(ask, offer)
            return ""

        self._progress("Looking for sessions of other agents.")
        self._thread(look)

    def look_at_watch(self) -> None:
        """Read in a thread whether what other agents write is imported by itself."""

        def look() -> str:
            is_on = self._context.backend.library.is_watching()
            self._context.app.call_from_thread(self._show_watch, is_on)
            return ""

        self._thread(look)

    def _show_watch(self, is_on: bool) -> None:
        if self._pane.is_watching != is_on:
            self._pane.is_watching = is_on
            self._pane.title()

    def _watch(self, _: Sequence[Session], __: str) -> None:
        def work() -> str:
            said = self._context.backend.library.toggle_watch()
            self.look_at_watch()
            return said

        self._thread(work)

    def _take(self, _: Sequence[Session], text: str) -> None:
        if not text and not (self._offer and self._offer.files):
            return
        self._is_cancelled = False

        def work() -> str:
            library = self._context.backend.library
            try:
                return (
                    library.import_path(text, self._goes_on) if text else library.import_found(self._goes_on)
                )
            finally:
                self._context.app.call_from_thread(self._progress, "")

        self._progress("Being read.")
        self._thread(work)

    def _goes_on(self, words: str) -> bool:
        self._context.app.call_from_thread(self._progress, words)
        return not self._is_cancelled

    def _progress(self, words: str) -> None:
        self._pane.progress = words
        self._pane.say_hint()

    def _each(
        self,
        do: Callable[[LibraryBackend, Session], str],
        sessions: Sequence[Session],
        meanwhile: str = "",
    ) -> None:
        def work() -> str:
            library = self._context.backend.library
            said = [do(library, session) for session in sessions]
            return said[0] if len(said) == 1 else f"{len(said)} sessions: {said[-1]}"

        self._thread(work, meanwhile)

    def _thread(self, work: Callable[[], str], meanwhile: str = "") -> None:
        if meanwhile:
            self._context.say(meanwhile)
        self._context.tasks.file(work)


def _sessions_in_words(sessions: Sequence[Session]) -> str:
    return f"“{session_title(sessions[0])}”" if len(sessions) == 1 else f"{len(sessions)} sessions"


def _confirmation_text(sessions: Sequence[Session]) -> str:
    """Return what has to be typed: the title where it can be, else a word."""
    if len(sessions) == 1 and is_typeable_title(session_title(sessions[0])):
        return session_title(sessions[0])
    return "delete" if len(sessions) == 1 else f"delete {len(sessions)}"
