"""What the palette finds beside commands: actions, steps, sessions, files, and words in every conversation.

Owns which of each are shown, and what choosing one does. Rows that are in memory come at once; files and
words are looked for in a thread, each bounded, so that no key waits for a disk.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

from workbench.domain.events import Event
from workbench.domain.rows import Session
from workbench.draw import cells
from workbench.journal import search
from workbench.text.safe import one_line
from workbench.tui.messages import HitWanted, LibraryWanted
from workbench.tui.panes.completion import best
from workbench.tui.screens.entries import Entry, doing, matches
from workbench.views.finding import LONGEST, hits_of
from workbench.views.places import place
from workbench.views.query import Term, match, parse
from workbench.views.sessions import title_of

if TYPE_CHECKING:
    from workbench.tui.screens.main import MainScreen

LEAST: Final = 2
"""Characters from which on more than commands is looked for: one letter is everywhere."""
_EACH: Final = 6
"""Rows of a kind, where all kinds are looked for at once."""
_TITLE: Final = 24
_WORDS: Final = 72


class Findings:
    """Looks for what is typed, on behalf of the palette over a main screen."""

    def __init__(self, main: "MainScreen", show: Callable[[str], None]) -> None:
        """Remember who is asked; `show` shows a session, of this workspace or another."""
        self._main, self._show = main, show
        self._files: Sequence[str] | None = None

    def near(self, text: str) -> list[Entry]:
        """Return what the screen knows already: what waits and was decided, steps, sessions."""
        if len(text.strip()) < LEAST:
            return []
        return [
            *islice(self._actions(text), _EACH),
            *islice(self._steps(text), _EACH),
            *islice(self._sessions(text), _EACH),
        ]

    def far(self, text: str) -> list[Entry]:
        """Return what has to be read: files, words of conversations. Called in a thread."""
        if len(text.strip()) < LEAST:
            return []
        return [*self._found_files(text), *self._messages(text[:LONGEST]), self._library(text)]

    # --- what is known ----------------------------------------------------------------------------

    def _actions(self, text: str) -> Iterator[Entry]:
        state = self._main.state
        rows = sorted(
            state.actions.values(), key=lambda one: (one.state != "pending", -one.created_at, one.id)
        )
        for action in rows:
            session = state.sessions.get(action.session_id)
            words = f"{action.verb} {action.target}"
            if matches(f"{words} {session.title if session else ''}", text):
                said = "waits" if action.state == "pending" else action.state
                yield Entry(
                    id=f"action-{action.id}", words=_safe(words), place=f"{said}  Approvals", keys="",
                    do=doing(self._to_action, action.id),
                )  # fmt: skip

    def _to_action(self, action_id: str) -> None:
        self._main.go_to(2)
        self._main.approvals.queue.put_cursor(action_id)

    def _steps(self, text: str) -> Iterator[Entry]:
        state = self._main.state
        run = state.runs.view(state.actions.values(), state.source.now())
        for step in run.steps if run is not None else ():
            if matches(f"{step.name} {step.id} {step.persona}", text):
                yield Entry(
                    id=f"step-{step.id}", words=step.name, place=f"{step.state}  Pipeline", keys="",
                    do=doing(self._to_step, step.id),
                )  # fmt: skip

    def _to_step(self, step_id: str) -> None:
        self._main.go_to(4)
        self._main.pipeline.graph.put_cursor(step_id)

    def _sessions(self, text: str) -> Iterator[Entry]:
        for session in self._main.state.sessions.values():
            if matches(session.title, text):
                yield Entry(
                    id=f"session-{session.id}", words=_safe(title_of(session)),
                    place=f"{session.status}  Sessions", keys="", do=doing(self._show, session.id),
                )  # fmt: skip

    # --- what is read -----------------------------------------------------------------------------

    def _found_files(self, text: str) -> Iterator[Entry]:
        if self._files is None:
            self._files = tuple(self._main.services.list_files())
        for path in best(self._files, text.strip())[:_EACH]:
            yield Entry(
                id=f"file-{path}", words=_safe(path), place="Files", keys="", do=doing(self.mention, path)
            )

    def mention(self, path: str) -> None:
        """Name a file in the composer."""
        composer = self._main.composer
        composer.focus_input()
        composer.input.insert(f"@{path} ")

    def _messages(self, text: str) -> Iterator[Entry]:
        query = parse(text)
        expression = match(query)
        if not expression:
            return
        journal = self._main.textual.journal
        with journal.reader.snapshot() as database:
            found = search.newest(database, expression, _EACH)
        for session_id, number in found:
            session, events = journal.session(session_id), journal.window(session_id, number, 1)
            if session is not None and events:
                yield self._message(session, events[0], query.terms)

    def _message(self, session: Session, event: Event, terms: Sequence[Term]) -> Entry:
        said = place(event, terms, _WORDS)

        def go() -> None:
            self._show(session.id)
            hits = [hit for term in terms for hit in hits_of(event, term.text)]
            if hits and self._main.state.current is not None and self._main.state.current.id == session.id:
                self._main.post_message(HitWanted(hits[0]))

        return Entry(
            id=f"words-{event.id}", words=said.text,
            place=f"{said.who}  {one_line(title_of(session), _TITLE)}", keys="", do=go,
        )  # fmt: skip

    def _library(self, text: str) -> Entry:
        def go() -> None:
            self._main.post_message(LibraryWanted(text))

        words = f"Search all sessions for “{one_line(text, 40)}”"
        return Entry(id="search-all", words=words, place="Library", keys="5", do=go)


def _safe(text: str) -> str:
    return cells.content(text).plain
