"""The places that have the whole body and are made when they are first opened: library, rules, statistics.

Owns making them and what is done with sessions of the library. Nothing of them is loaded before.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from workbench.domain.machines import TERMINAL_SESSIONS
from workbench.domain.rows import Session
from workbench.tui import messages
from workbench.tui.messages import LineAsked, SessionChosen, SessionWish
from workbench.tui.panes.base import Pane
from workbench.tui.panes.library import LibraryPane
from workbench.tui.services import Filing
from workbench.tui.shelf import Shelf
from workbench.views.library import is_typeable
from workbench.views.sessions import slug, title_of

if TYPE_CHECKING:
    from workbench.tui.screens.main import MainScreen

_TWO: Final = 2
ONE_AT_A_TIME: Final = frozenset({"open", "replay", "go_on", "fork", "rename", "send"})
ASKING: Final = frozenset({"rename", "tag", "end", "delete", "send", "take"})
"""What needs words before it is done."""


def made(main: "MainScreen", place: int) -> Pane:
    """Return the pane of a place."""
    if place == 7:
        from workbench.tui.panes.statistics import StatisticsPane

        return StatisticsPane(main.textual.journal, main.services.price, main.state, main.workspace)
    shelf = Shelf(main.textual.journal, main.services.price, main.home, main.textual.monotonic)
    return LibraryPane(shelf, main.workspace, lambda: sorted(main.services.known_tools()))


class Deeds:
    """Does what the user wants done with sessions of the library."""

    def __init__(self, main: "MainScreen", pane: LibraryPane) -> None:
        self._main, self._pane = main, pane
        self._is_cancelled = False

    def do(self, wish: SessionWish) -> None:
        """Do it, or ask for the words that it needs."""
        if wish.what == "cancel":
            self._is_cancelled = True
        elif wish.what in ONE_AT_A_TIME and len(wish.sessions) > 1 and wish.text is None:
            self._do_one(SessionWish(wish.what, [self._pane.session or wish.sessions[0]]))
        elif wish.what in ASKING and wish.text is None:
            self._ask(wish)
        else:
            self._do_one(wish)

    def _do_one(self, wish: SessionWish) -> None:
        if wish.what in ASKING and wish.text is None:
            self._ask(wish)
        else:
            getattr(self, f"_{wish.what}")(wish.sessions, wish.text or "")

    # --- going there --------------------------------------------------------------------------------

    def _open(self, sessions: Sequence[Session], _: str) -> None:
        session = sessions[0]
        if session.origin is not None:
            self._main.say("It was imported, so it is shown as a replay. F begins a session from its end.")
            self._main.textual.open_replay(session.id)
        elif session.workspace != self._main.workspace:
            self._main.say(
                f"Shown as a replay: its agent works in {session.workspace}. Open workbench there."
            )
            self._main.textual.open_replay(session.id)
        else:
            self._show(session.id, 4 if session.kind == "pipeline" else 1)

    def _show(self, session_id: str, place: int = 1) -> None:
        self._main.post_message(SessionChosen(session_id))
        self._main.post_message(messages.GoTo(place))

    def _replay(self, sessions: Sequence[Session], _: str) -> None:
        place = self._pane.place_in(sessions[0].id)
        self._main.textual.open_replay(sessions[0].id, place.sequence_number if place else None)

    def _beside(self, sessions: Sequence[Session], _: str) -> None:
        if len(sessions) == _TWO:
            self._main.textual.open_beside(sessions[0].id, sessions[1].id)
        else:
            self._main.say("Mark two sessions with m: B shows those side by side.")

    def _go_on(self, sessions: Sequence[Session], _: str) -> None:
        session = sessions[0]
        if reason := self._why_not_on(session):
            self._main.say(reason)
            return
        self._main.requests.ask(self._main.services.go_on, session.id, "Goes on.")
        self._show(session.id)

    def _why_not_on(self, session: Session) -> str:
        if session.origin is not None:
            return "It was imported: nothing drives it. F begins a session from its end."
        if session.status in TERMINAL_SESSIONS:
            return f"It is {session.status}: it does not go on. F begins a session from its end."
        if session.workspace != self._main.workspace:
            return f"Its agent works in {session.workspace}. Open workbench there, or F for one here."
        return ""

    def _fork(self, sessions: Sequence[Session], _: str) -> None:
        def work() -> str:
            new = self._main.services.filing().fork(sessions[0].id)
            self._show(new)
            return "Forked: the conversation, and nothing else of it. Your next message goes on."

        self._thread(work, "The session is being forked.")

    # --- what is asked first --------------------------------------------------------------------------

    def _ask(self, wish: SessionWish) -> None:
        session = wish.sessions[0] if wish.sessions else None
        asked = {
            "rename": lambda: ("Title", "", "rename it", session.title if session else ""),
            "tag": lambda: ("Tags of " + _named(wish.sessions), "words with blanks between", "tag it",
                            " ".join(session.tags) if session else ""),
            "send": lambda: ("Export to", ".jsonl all of it, .md to read, .html .cast .svg", "write it",
                             f"{slug(session)}.jsonl" if session else ""),
            "take": lambda: ("Import a file or folder", "nothing in it is run", "import it", ""),
            "end": lambda: (f"End {_named(wish.sessions)} for good: what it asks is withdrawn. Type end", "",
                            "end it", ""),
            "delete": lambda: (self._deleting(wish.sessions), "", "delete it for good", ""),
        }[wish.what]()  # fmt: skip
        title, right, does, text = asked
        self._pane.asked_about = tuple(wish.sessions)
        self._main.post_message(
            LineAsked(self._pane, wish.what, title, right=right, does=does, text=text,
                      is_armed=wish.what in ("end", "delete"))
        )  # fmt: skip

    def _deleting(self, sessions: Sequence[Session]) -> str:
        weights = [self._pane.shelf.weight(one.id) for one in sessions]
        gone = [f"{sum(one.events for one in weights):,} events"]
        for count, word in (
            (sum(one.actions for one in weights), "ask"), (sum(one.kept for one in weights), "kept output"),
            (sum(one.steps for one in weights), "step"),
        ):  # fmt: skip
            gone += [f"{count:,} {word}{'' if count == 1 else 's'}"] if count else []
        return f"Delete {_named(sessions)}: {', '.join(gone)}. Type {_password(sessions)}"

    def _end(self, sessions: Sequence[Session], text: str) -> None:
        if text.casefold() != "end":
            self._main.say("Nothing was ended: end was not typed.")
            return
        self._each(lambda filing, one: filing.end(one.id), sessions, "The session is being ended.")

    def _delete(self, sessions: Sequence[Session], text: str) -> None:
        if text.casefold() != _password(sessions).casefold():
            self._main.say(f"Nothing was deleted: {_password(sessions)} was not typed.")
            return

        def work() -> str:
            said = self._main.services.filing().delete([one.id for one in sessions])
            self._pane.list.marks.clear()
            return said

        self._thread(work, "Being deleted.")

    # --- filing ---------------------------------------------------------------------------------------

    def _rename(self, sessions: Sequence[Session], text: str) -> None:
        self._each(lambda filing, one: filing.retitle(one.id, text), sessions)

    def _tag(self, sessions: Sequence[Session], text: str) -> None:
        self._each(lambda filing, one: filing.tag(one.id, text), sessions)

    def _archive(self, sessions: Sequence[Session], _: str) -> None:
        is_archived = not all(one.archived for one in sessions)
        self._each(lambda filing, one: filing.archive(one.id, is_archived=is_archived), sessions)

    def _send(self, sessions: Sequence[Session], text: str) -> None:
        if text:
            self._each(lambda filing, one: filing.send(one.id, text), sessions, "Being written.")

    def _take(self, _: Sequence[Session], text: str) -> None:
        if not text:
            return
        self._is_cancelled = False

        def work() -> str:
            try:
                return self._main.services.filing().take(text, self._goes_on)
            finally:
                self._main.textual.call_from_thread(self._progress, "")

        self._progress("Being read.")
        self._thread(work)

    def _goes_on(self, words: str) -> bool:
        self._main.textual.call_from_thread(self._progress, words)
        return not self._is_cancelled

    def _progress(self, words: str) -> None:
        self._pane.progress = words
        self._pane.say_hint()

    def _each(
        self, do: Callable[[Filing, Session], str], sessions: Sequence[Session], meanwhile: str = ""
    ) -> None:
        def work() -> str:
            filing = self._main.services.filing()
            said = [do(filing, one) for one in sessions]
            return said[0] if len(said) == 1 else f"{len(said)} sessions: {said[-1]}"

        self._thread(work, meanwhile)

    def _thread(self, work: Callable[[], str], meanwhile: str = "") -> None:
        if meanwhile:
            self._main.say(meanwhile)
        self._main.requests.file(work)


def _named(sessions: Sequence[Session]) -> str:
    return f"“{title_of(sessions[0])}”" if len(sessions) == 1 else f"{len(sessions)} sessions"


def _password(sessions: Sequence[Session]) -> str:
    """Return what has to be typed: the title where it can be, else a word."""
    if len(sessions) == 1 and is_typeable(title_of(sessions[0])):
        return title_of(sessions[0])
    return "delete" if len(sessions) == 1 else f"delete {len(sessions)}"
