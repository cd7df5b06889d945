"""What the command palette finds: entries, their order, and the sources that are looked through.

What is in memory is found at once; files and messages are searched in a thread, each bounded.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from workbench.domain.events import Event
from workbench.domain.rows import Session
from workbench.journal import search
from workbench.render import cells
from workbench.text.safe import one_line
from workbench.tui.conversation.completion import best_file_matches
from workbench.views.conversation_search import MAX_SEARCH_CHARS, block_hits
from workbench.views.library import SearchTerm, fts_expression, parse_query, search_hit
from workbench.views.sessions import session_title

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext


class PaletteEntry(Struct, frozen=True, kw_only=True):
    """One thing that can be done."""

    id: str
    words: str
    group: str
    """The heading under which it stands."""
    do: Callable[[], None]
    state: str = ""
    keys: str = ""
    aliases: str = ""
    """Other words by which people look for it."""
    why_off: str = ""
    """Why it would do nothing now; doing it says so."""
    about: str = ""
    """A sentence about it that stands behind its words."""
    weight: int = 0
    """The less it is, the further up it stands among those that match as well."""
    theme: str = ""
    """The theme that it puts in force, shown while the cursor is on it."""


def ranked_entries(entries: Iterable[PaletteEntry], wanted: str) -> list[PaletteEntry]:
    """Return the entries that hold every typed word, the best first.

    That is what is called exactly so, then what begins so, holds a word that begins so, or is known by it;
    of equals what can be done here and now.
    """
    text = wanted.casefold().strip()

    def rank(entry: PaletteEntry) -> tuple[bool, int, int]:
        words, aliases = entry.words.casefold(), f" {entry.aliases} "
        names = words.split(maxsplit=1)[0].lstrip("/") if words else ""
        places = (
            f" {text} " in aliases or text in (words, names), words.startswith(text), f" {text}" in words,
            f" {text}" in aliases, True,
        )  # fmt: skip
        match = places.index(True) if text else 0
        # What is off is called so all the same: the reason stands beside it. Guessed words are not enough.
        is_last = bool(entry.why_off) and (match > 0 or not text)
        return is_last, match, entry.weight

    return sorted((entry for entry in entries if _matches(entry, text)), key=rank)


def _matches(entry: PaletteEntry, text: str) -> bool:
    """Return whether an entry has every typed word; of a sentence about it only words that begin so."""
    names = f"{entry.words} {entry.group} {entry.aliases}".casefold()
    about = f" {entry.about.casefold()}"
    return all(word in names or f" {word}" in about for word in text.split())


def matching_aliases(entry: PaletteEntry, wanted: str) -> str:
    """Return the other words of an entry that are looked for and that its own words do not say."""
    typed = [word for word in wanted.casefold().split() if word not in entry.words.casefold()]
    return " ".join(alias for alias in entry.aliases.split() if any(word in alias for word in typed))


def holds_all_words(words: str, wanted: str) -> bool:
    """Return whether words hold every typed word, whatever the case."""
    text = words.casefold()
    return all(word in text for word in wanted.casefold().split())


def call_with(do: Callable[[str], object], argument: str) -> Callable[[], None]:
    """Return how something is done with an argument."""

    def done() -> None:
        do(argument)

    return done


MIN_QUERY_LETTERS: Final = 2
"""Characters from which on more than commands is looked for: one letter is everywhere."""
_MAX_PER_SOURCE: Final = 6
"""Rows of a kind, where all kinds are looked for at once."""
_TITLE_CELLS: Final = 24
_EXCERPT_CELLS: Final = 72


class PaletteSources:
    """Looks for what is typed, on behalf of the palette over a main screen."""

    def __init__(self, context: "MainContext", show: Callable[[str], None]) -> None:
        """Remember who is asked; `show` shows a session, of this workspace or another."""
        self._context, self._show = context, show
        self._files: Sequence[str] | None = None

    def near(self, text: str) -> list[PaletteEntry]:
        """Return what the screen knows already: what waits and was decided, steps, sessions."""
        if len(text.strip()) < MIN_QUERY_LETTERS:
            return []
        return [
            *islice(self._actions(text), _MAX_PER_SOURCE),
            *islice(self._steps(text), _MAX_PER_SOURCE),
            *islice(self._sessions(text), _MAX_PER_SOURCE),
        ]

    def far(self, text: str) -> list[PaletteEntry]:
        """Return what has to be read: files, words of conversations. Called in a thread."""
        if len(text.strip()) < MIN_QUERY_LETTERS:
            return []
        return [*self._found_files(text), *self._messages(text[:MAX_SEARCH_CHARS]), self._library(text)]

    # --- what is known ----------------------------------------------------------------------------

    def _actions(self, text: str) -> Iterator[PaletteEntry]:
        state = self._context.state
        rows = sorted(
            state.actions.values(),
            key=lambda action: (action.state != "pending", -action.created_at, action.id),
        )
        for action in rows:
            session = state.sessions.get(action.session_id)
            words = f"{action.verb} {action.target}"
            if holds_all_words(f"{words} {session.title if session else ''}", text):
                said = "waits" if action.state == "pending" else action.state
                yield PaletteEntry(
                    id=f"action-{action.id}", words=_safe_text(words), group="What was asked", state=said,
                    do=call_with(self._to_action, action.id),
                )  # fmt: skip

    def _to_action(self, action_id: str) -> None:
        self._context.show_action(action_id)

    def _steps(self, text: str) -> Iterator[PaletteEntry]:
        state = self._context.state
        run = state.runs.view(state.actions.values(), state.source.now())
        for step in run.steps if run is not None else ():
            if holds_all_words(f"{step.name} {step.id} {step.persona}", text):
                yield PaletteEntry(
                    id=f"step-{step.id}", words=step.name, group="Steps", state=step.state,
                    do=call_with(self._to_step, step.id),
                )  # fmt: skip

    def _to_step(self, step_id: str) -> None:
        self._context.go_to(4)
        self._context.widgets.pipeline.graph.put_cursor(step_id)

    def _sessions(self, text: str) -> Iterator[PaletteEntry]:
        for session in self._context.state.sessions.values():
            if holds_all_words(session.title, text):
                yield PaletteEntry(
                    id=f"session-{session.id}", words=_safe_text(session_title(session)),
                    group="Sessions", state=session.status, do=call_with(self._show, session.id),
                )  # fmt: skip

    # --- what is read -----------------------------------------------------------------------------

    def _found_files(self, text: str) -> Iterator[PaletteEntry]:
        if self._files is None:
            self._files = tuple(self._context.folders.backend.list_files())
        for path in best_file_matches(self._files, text.strip())[:_MAX_PER_SOURCE]:
            yield PaletteEntry(
                id=f"file-{path}",
                words=_safe_text(path),
                group="Files",
                do=call_with(self.mention, path),
            )

    def mention(self, path: str) -> None:
        """Name a file in the composer."""
        composer = self._context.widgets.composer
        composer.focus_input()
        composer.input.insert(f"@{path} ")

    def _messages(self, text: str) -> Iterator[PaletteEntry]:
        query = parse_query(text)
        expression = fts_expression(query)
        if not expression:
            return
        journal = self._context.app.journal
        with journal.snapshot() as database:
            matches = search.newest_matches(database, expression, _MAX_PER_SOURCE)
        for session_id, number in matches:
            session, events = journal.session(session_id), journal.window(session_id, number, 1)
            if session is not None and events:
                yield self._message(session, events[0], query.terms)

    def _message(self, session: Session, event: Event, terms: Sequence[SearchTerm]) -> PaletteEntry:
        said = search_hit(event, terms, _EXCERPT_CELLS)

        def go() -> None:
            self._show(session.id)
            hits = [hit for term in terms for hit in block_hits(event, term.text)]
            if (
                hits
                and self._context.state.current is not None
                and self._context.state.current.id == session.id
            ):
                self._context.widgets.conversation.show_place_of(hits[0])

        return PaletteEntry(
            id=f"words-{event.id}", words=said.text, group="What was said",
            state=f"{said.who}  {one_line(session_title(session), _TITLE_CELLS)}", do=go,
        )  # fmt: skip

    def _library(self, text: str) -> PaletteEntry:
        def go() -> None:
            self._context.open_library(text)

        words = f"Search all sessions for “{one_line(text, 40)}”"
        return PaletteEntry(id="search-all", words=words, group="Library", keys="5", do=go)


def _safe_text(text: str) -> str:
    return cells.safe_content(text).plain
