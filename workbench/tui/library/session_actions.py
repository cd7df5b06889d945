"""What is done with sessions of the library: open, continue, rename, tag, archive, end, delete, export.

Asks for the words that are needed and reports what came of it; the work is done by the backend in threads.
"""

# Sessions of other workspaces and imported ones open as a replay. Their agent works elsewhere, or nowhere:
# what one types here would reach nobody. `F` begins a session here from their end.
#
# Deleting wants the title typed, or `delete` where a title cannot be typed (hidden characters, other
# alphabets): what is typed must be what is read.

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from workbench.domain.machines import TERMINAL_SESSION_STATES
from workbench.domain.rows import Session
from workbench.tui import pane
from workbench.tui.backend import LibraryBackend
from workbench.tui.library.library_pane import LibraryPane
from workbench.tui.library.resume_prompt import ResumePrompt
from workbench.tui.library.session_import import ImportActions
from workbench.tui.pane import LineWanted, SessionChosen, SessionRequest, SessionVerb
from workbench.tui.places import place_number
from workbench.views.library import is_typeable_title
from workbench.views.sessions import session_slug, session_title
from workbench.views.supervised import why_not_asked

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext

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
        self.imports = ImportActions(context, pane)
        """What is done about sessions of other agents."""
        self._handlers: Mapping[SessionVerb, Callable[[Sequence[Session], str], None]] = {
            "open": self._open, "replay": self._replay, "beside": self._beside, "go_on": self._go_on,
            "fork": self._fork, "undo": self._undo, "diff": self._diff, "resume": self._resume,
            "rename": self._rename, "tag": self._tag, "archive": self._archive, "end": self._end,
            "delete": self._delete, "send": self._send, "take": self._take,
        }  # fmt: skip

    def do(self, wish: SessionRequest) -> None:
        """Do it, or ask for the words that it needs."""
        if wish.what in SINGLE_SESSION_ACTIONS and len(wish.sessions) > 1 and wish.text is None:
            wish = SessionRequest(wish.what, [self._pane.session or wish.sessions[0]])
        if wish.text is not None or wish.what not in ACTIONS_WITH_TEXT:
            self._handlers[wish.what](wish.sessions, wish.text or "")
        elif wish.what == "take":
            self.imports.look(lambda: self._ask(wish))
        else:
            self._ask(wish)

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
            self._show(session.id, "pipeline" if session.kind == "pipeline" else "conversation")

    def _show(self, session_id: str, place: str = "conversation") -> None:
        self._context.post(SessionChosen(session_id))
        self._context.post(pane.PlaceWanted(place_number(place)))

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
        if why := why_not_asked(session, "turn"):
            return f"{why} F starts a session from its end."
        if session.status in TERMINAL_SESSION_STATES:
            return f"It is {session.status}: it cannot continue. F starts a session from its end."
        if not self._context.folders.is_of_here(session):
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
            "take": lambda: (self.imports.question, "nothing in it is run", "import it", ""),
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

    def _take(self, _: Sequence[Session], text: str) -> None:
        self.imports.start(text)

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
