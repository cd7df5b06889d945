"""The command palette: commands and their keys, `/commands`, and hits in sessions, files and messages.

What is in memory is found at once; files and messages are searched in a thread, each bounded.
"""

# A word behind a slash that is nearly a command is not sent to the agent; a path has a second slash, and a
# blank before it sends anything.

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.strip import Strip
from textual.widgets import Input, Static

from workbench.domain.events import Event
from workbench.domain.rows import Session
from workbench.journal import search
from workbench.journal.session_queries import listed_sessions
from workbench.render import cells
from workbench.render.cells import Column, key_hint, key_hint_row
from workbench.text.safe import one_line
from workbench.tui import keymap
from workbench.tui.conversation.completion import SLASH_COMMANDS, best_file_matches
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.line_view import RowList, RowPlacement
from workbench.views.conversation_search import MAX_SEARCH_CHARS, block_hits
from workbench.views.library import SearchTerm, fts_expression, parse_query, search_hit
from workbench.views.sessions import session_title

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext
    from workbench.tui.main.screen import MainScreen

_KEY_COMMANDS: Final = {
    "stop": "app.agent-stop", "new": "app.session-new", "help": "app.help", "quit": "app.leave",
    "library": "app.place-5", "rules": "app.place-6", "statistics": "app.place-7",
}  # fmt: skip
"""Commands that are another way to press a key."""


def is_key_command(name: str) -> bool:
    """Return whether a command is another way to press a key."""
    return name in _KEY_COMMANDS


def run_slash_command(context: "MainContext", name: str, rest: str) -> None:
    """Do what a command says."""
    if name in _KEY_COMMANDS:
        context.do_key(_KEY_COMMANDS[name])
    elif name in _COMMANDS_WITHOUT_VALUE:
        _COMMANDS_WITHOUT_VALUE[name](context)
    elif name in _COMMANDS_WITH_VALUE:
        _COMMANDS_WITH_VALUE[name](context, rest)
    else:
        context.say(f"/{name}: not there yet.")


def _open_messages(context: "MainContext") -> None:
    from workbench.tui.main.info_pages import open_messages

    open_messages(context)


def _restart_host(context: "MainContext") -> None:
    context.tasks.restart_host()


def _continue_session(context: "MainContext") -> None:
    context.tasks.ask_current(context.backend.continue_session, "Goes on.")


def _end_session(context: "MainContext") -> None:
    context.tasks.ask_current(context.backend.end_session, "The session is ended; ctrl+n begins another.")


def _set_model(context: "MainContext", rest: str) -> None:
    if not rest:
        context.widgets.composer.begin("/model ")
        return
    current = context.state.current
    session_id = current.id if current is not None else ""
    context.tasks.steer(lambda: context.backend.models.set_model(session_id, rest))


def _set_mode(context: "MainContext", rest: str) -> None:
    if not rest:
        context.widgets.composer.begin("/mode ")
        return
    current = context.state.current
    session_id = current.id if current is not None else ""
    context.tasks.steer(lambda: context.backend.models.set_mode(session_id, rest))


def _add_mark(context: "MainContext", rest: str) -> None:
    current = context.state.current
    if current is None:
        context.say("Nothing was marked: there is no session here.")
        return
    session_id = current.id
    context.tasks.steer(lambda: context.backend.models.add_bookmark(session_id, rest))


_COMMANDS_WITHOUT_VALUE: Final[dict[str, "Callable[[MainContext], None]"]] = {
    "messages": _open_messages, "restart": _restart_host, "continue": _continue_session,
    "go": _continue_session, "end": _end_session,
}  # fmt: skip
_COMMANDS_WITH_VALUE: Final[dict[str, "Callable[[MainContext, str], None]"]] = {
    "model": _set_model, "mode": _set_mode, "mark": _add_mark,
}  # fmt: skip
"""Commands with a word behind them."""


class PaletteEntry(Struct, frozen=True, kw_only=True):
    """One thing that can be done."""

    id: str
    words: str
    place: str
    keys: str
    do: Callable[[], None]
    why_off: str = ""
    """Why it would do nothing now; doing it says so."""


def ranked_entries(entries: Iterable[PaletteEntry], wanted: str) -> list[PaletteEntry]:
    """Return the entries that hold every typed word: what begins with them first, what is off last."""
    text = wanted.casefold().strip()

    def rank(entry: PaletteEntry) -> int:
        words = entry.words.casefold()
        place = 0 if words.startswith(text) else 1 if f" {text}" in words else 2
        return place + 3 * bool(entry.why_off)

    return sorted(
        (entry for entry in entries if holds_all_words(f"{entry.words} {entry.place}", text)), key=rank
    )


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
                    id=f"action-{action.id}", words=_safe_text(words), place=f"{said}  Approvals", keys="",
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
                    id=f"step-{step.id}", words=step.name, place=f"{step.state}  Pipeline", keys="",
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
                    place=f"{session.status}  Sessions", keys="", do=call_with(self._show, session.id),
                )  # fmt: skip

    # --- what is read -----------------------------------------------------------------------------

    def _found_files(self, text: str) -> Iterator[PaletteEntry]:
        if self._files is None:
            self._files = tuple(self._context.backend.list_files())
        for path in best_file_matches(self._files, text.strip())[:_MAX_PER_SOURCE]:
            yield PaletteEntry(
                id=f"file-{path}",
                words=_safe_text(path),
                place="Files",
                keys="",
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
            id=f"words-{event.id}", words=said.text,
            place=f"{said.who}  {one_line(session_title(session), _TITLE_CELLS)}", keys="", do=go,
        )  # fmt: skip

    def _library(self, text: str) -> PaletteEntry:
        def go() -> None:
            self._context.open_library(text)

        words = f"Search all sessions for “{one_line(text, 40)}”"
        return PaletteEntry(id="search-all", words=words, place="Library", keys="5", do=go)


def _safe_text(text: str) -> str:
    return cells.safe_content(text).plain


_MAX_ENTRIES: Final = 200


def open_palette(screen: "MainScreen") -> None:
    """Open the palette over a main screen."""
    screen.context.app.push_screen(PaletteScreen(screen))


class EntryList(RowList):
    """What was found."""

    can_focus = False

    def __init__(self) -> None:
        super().__init__(key="palette-list")
        self.entries: dict[str, PaletteEntry] = {}

    def show_entries(self, entries: Sequence[PaletteEntry]) -> None:
        """Show entries; the cursor goes to the first."""
        self.entries = {entry.id: entry for entry in entries[:_MAX_ENTRIES]}
        self.set_ids(list(self.entries))
        self.move_to_end(is_last=False)
        self.invalidate()

    def add_entries(self, entries: Sequence[PaletteEntry]) -> None:
        """Show more entries behind the others; the cursor stays where it is."""
        self.entries |= {entry.id: entry for entry in entries[: _MAX_ENTRIES - len(self.entries)]}
        self.set_ids(list(self.entries))
        if self.cursor is None:
            self.move_to_end(is_last=False)
        self.invalidate()

    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        """Draw an entry: words, place, key."""
        entry, colours = self.entries[placed.row_id], ink(self)
        tone = "faint" if entry.why_off else "foreground"
        bar = glyphs(self).of("cursor") if placed.is_cursor else " "
        columns = [
            Column(content=Content.styled(bar, colours.of("info")), gap=0),
            Column(
                content=cells.safe_content(entry.words, colours.of(tone, bold=placed.is_cursor)),
                grows=True,
            ),
            Column(content=cells.safe_content(entry.why_off or entry.place, colours.of("muted")), drop=1),
            Column(
                content=cells.safe_content(entry.keys, colours.of("info", bold=True)), width=8, align="right"
            ),
            Column(content=Content(" "), gap=0),
        ]
        style = colours.cursor(has_focus=True) if placed.is_cursor else colours.on("panel")
        return cells.row_strip(columns, width, style, glyphs=glyphs(self))


class PaletteScreen(Dialog, inherit_bindings=False):
    """A field and what it finds."""

    def __init__(self, main: "MainScreen") -> None:
        super().__init__("palette")
        self._screen_below, self._main = main, main.context
        self._input, self._list = Input(id="palette-input"), EntryList()
        self._input.cursor_blink = False
        self._files: list[PaletteEntry] | None = None
        self._library: list[PaletteEntry] | None = None
        self._found_for = ""
        self._findings = PaletteSources(main.context, self._show)
        self._said, self._hint = Static(id="palette-found"), Static(id="palette-hint")

    def compose(self) -> ComposeResult:
        with Vertical(id="palette-box"):
            yield self._input
            yield self._list
            yield self._said
            yield self._hint

    def on_mount(self) -> None:
        self.follow(self._list)
        self._input.focus()
        self._find("")

    def on_resize(self) -> None:
        """Stand at the top where there is no room below; of the hint as much as fits, the way back always."""
        box = self.query_one("#palette-box")
        box.styles.margin = (max(0, min(4, self.size.height - 18)), 0, 0, 0)
        line, colours = glyphs(self).line, ink(self)
        parts = [key_hint(line(keys), words, colours) for keys, words in _HINTS]
        self._hint.update(key_hint_row(parts, self._list.size.width))

    @on(Input.Changed)
    def _changed(self, message: Input.Changed) -> None:
        self._find(message.value)

    def _find(self, text: str) -> None:
        self._found_for = text
        if text.startswith("@"):
            self._show_found(
                [entry for entry in self._file_entries() if holds_all_words(entry.words, text[1:])]
            )
        elif text.startswith("##"):
            entries = self._everywhere()
            self._show_found(
                [entry for entry in entries if holds_all_words(f"{entry.words} {entry.place}", text[2:])]
            )
        elif text.startswith("#"):
            self._show_found([entry for entry in self._sessions() if holds_all_words(entry.words, text[1:])])
        else:
            self._show_found([*ranked_entries(self._commands(), text), *self._findings.near(text)])
            self._read(text)

    @work(thread=True, group="palette", exclusive=True, exit_on_error=False, description="look for words")
    def _read(self, text: str) -> None:
        entries = self._findings.far(text) if text == self._found_for else []
        self._main.app.call_from_thread(self._take, text, entries)

    def _take(self, text: str, entries: Sequence[PaletteEntry]) -> None:
        """Show what was read, unless something else is looked for by now."""
        if self.is_attached and text == self._found_for and entries:
            self._list.add_entries(entries)
            self._say_found()

    def _show_found(self, entries: Sequence[PaletteEntry]) -> None:
        self._list.show_entries(entries)
        self._say_found()

    def _say_found(self) -> None:
        """Say how many of what were found: rows below the last one are not seen."""
        typed, counts = (
            self._found_for.lstrip("@#").strip(),
            Counter(map(_kind_of_entry, self._list.entries.values())),
        )
        said = ", ".join(f"{n} {kind[:-1] if n == 1 else kind}" for kind, n in counts.items() if kind)
        words = (said or "Nothing here matches.") if typed else ""
        self._said.update(Content(glyphs(self).line(f" {words}")))

    def on_key(self, event: events.Key) -> None:
        """Choose, do, leave."""
        if event.key in ("down", "up"):
            event.stop()
            self._list.move(1 if event.key == "down" else -1)
        elif event.key in ("escape", "ctrl+p"):
            event.stop()
            self.dismiss()
        elif event.key == "enter":
            event.stop()
            if self._found_for != self._input.value:
                # Enter came together with the last characters: the list does not know them yet.
                self._find(self._input.value)
            self.do(self._list.cursor)

    @on(RowList.Opened)
    @on(RowList.Clicked)
    def _picked(self, message: RowList.Opened | RowList.Clicked) -> None:
        self.do(message.row_id)

    def do(self, entry_id: str | None) -> None:
        """Leave, then do what was chosen."""
        entry = self._list.entries.get(entry_id or "")
        if entry is not None:
            self.dismiss()
            self._screen_below.call_after_refresh(entry.do)

    # --- what there is --------------------------------------------------------------------------

    def _commands(self) -> list[PaletteEntry]:
        pane = self._screen_below.focused_pane
        entries: list[PaletteEntry] = []
        for key in keymap.keys_of_scopes(
            [*self._screen_below.INNER, *(pane.scopes() if pane else ()), "app"]
        ):
            if not key.in_palette:
                continue
            is_ours = key.scope == "app" or key.scope in self._screen_below.INNER
            owner = self._screen_below if is_ours or pane is None else pane
            place = "Everywhere" if is_ours else (pane.NAME if pane else "")
            words = glyphs(self).line(key.tooltip[:1].upper() + key.tooltip[1:])
            keys = keymap.printed_keys(key, keymap.user_keymap(self)) or keymap.printed_key(key.keys[0])
            why = "" if is_ours or pane is None else pane.why_not(key.id)
            entries.append(
                PaletteEntry(
                    id=key.id, words=words, place=place, keys=keys, why_off=why,
                    do=call_with(owner.action_do, key.id),
                )
            )  # fmt: skip
        return [*entries, *self._composers(), *self._themes()]

    def _composers(self) -> list[PaletteEntry]:
        """Return the commands of the composer that no key does; a replay has no composer."""
        if "replay" in self._screen_below.INNER:
            return []
        return [
            PaletteEntry(
                id=f"composer.{name[1:]}", words=f"{name}  {words}", place="Composer", keys="",
                do=call_with(lambda name: run_slash_command(self._main, name, ""), name[1:]),
            )
            for name, words in SLASH_COMMANDS if not is_key_command(name[1:])
        ]  # fmt: skip

    def _themes(self) -> list[PaletteEntry]:
        app = self._main.app
        return [
            PaletteEntry(
                id=f"theme-{name}",
                words=f"Theme: {name}",
                place="Screen",
                keys="",
                do=call_with(theme_setter(app), name),
            )
            for name in sorted(app.available_themes)
        ]

    def _sessions(self) -> list[PaletteEntry]:
        return [
            PaletteEntry(
                id=f"session-{session.id}",
                words=cells.safe_content(session.title or session.id[:8]).plain,
                place=session.status,
                keys="",
                do=call_with(self._choose, session.id),
            )
            for session in self._main.state.sessions.values()
        ]

    def _everywhere(self) -> list[PaletteEntry]:
        """Return the sessions of every workspace, read when they are first asked for."""
        if self._library is None:
            with self._main.app.journal.snapshot() as database:
                sessions = listed_sessions(database)
            self._library = [
                PaletteEntry(
                    id=f"session-{session.id}",
                    words=cells.safe_content(session_title(session)).plain,
                    place=cells.safe_content(
                        f"{session.status}  {session.workspace.rpartition('/')[2]}"
                    ).plain,
                    keys="",
                    do=call_with(self._show, session.id),
                )
                for session in sessions
            ]
        return self._library

    def _show(self, session_id: str) -> None:
        """Show a session of this workspace; any other, and what was imported, as a replay."""
        session = self._main.app.journal.session(session_id)
        if session is None or session.origin is not None or session.workspace != self._main.status.workspace:
            self._main.app.open_replay(session_id)
        else:
            self._choose(session_id)

    def _choose(self, session_id: str) -> None:
        self._main.state.choose(session_id)
        self._main.presenter.everything()
        self._main.go_to(1)

    def _file_entries(self) -> list[PaletteEntry]:
        if self._files is None:
            self._files = [
                PaletteEntry(
                    id=f"file-{n}",
                    words=cells.safe_content(path).plain,
                    place="",
                    keys="",
                    do=call_with(self._findings.mention, path),
                )
                for n, path in enumerate(self._main.backend.list_files())
            ]
        return self._files


def theme_setter(app: object) -> Callable[[str], None]:
    """Return how a theme is put in force."""

    def put(name: str) -> None:
        app.theme = name  # type: ignore[attr-defined]

    return put


_HINTS: Final = (
    ("enter", "do it"), ("@", "files"), ("#", "sessions"), ("↑ ↓", "choose"), ("##", "anywhere"),
    ("esc", "back"),
)  # fmt: skip
_KIND_NAMES: Final = {
    "action": "approvals", "step": "steps", "session": "sessions", "file": "files", "words": "messages",
    "search": "",
}  # fmt: skip


def _kind_of_entry(entry: PaletteEntry) -> str:
    """Return what an entry is, as it is counted."""
    return _KIND_NAMES.get(entry.id.partition("-")[0], "commands") if "-" in entry.id else "commands"
