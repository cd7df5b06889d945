"""The command palette: commands and their keys, and hits in sessions, files and messages.

What is in memory is found at once; files and messages are searched in a thread, each bounded.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace
from textual import events, on, work
from textual.content import Content
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.journal.session_queries import listed_sessions
from workbench.render import cells
from workbench.render.cells import Column
from workbench.tui.main.palette_commands import (
    PaletteCommands,
    PaletteEntry,
    PaletteSources,
    call_with,
    counting_words,
    every_command,
    holds_all_words,
    matching_aliases,
    ranked_entries,
)
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.dialog import ListDialog
from workbench.tui.widgets.line_view import RowList, RowPlacement
from workbench.views.sessions import session_title

if TYPE_CHECKING:
    from workbench.tui.main.screen import MainScreen
    from workbench.tui.rules.rules_screen import RulesScreen


_MAX_ENTRIES: Final = 200


def open_palette(screen: "MainScreen", page: "RulesScreen | None" = None) -> None:
    """Open the palette over a main screen, or over a page with keys of its own that lies on it."""
    screen.context.app.push_screen(PaletteScreen(screen, page))


class EntryList(RowList):
    """What can be done, under the headings of its groups, or what was found, the best first."""

    can_focus = False

    def __init__(self) -> None:
        super().__init__(key="palette-list")
        self.entries: dict[str, PaletteEntry] = {}
        self._typed = ""

    def show_entries(self, entries: Sequence[PaletteEntry], typed: str) -> None:
        """Show what was found for the typed words; the cursor goes to the first."""
        self._typed = typed
        self.entries = {entry.id: entry for entry in entries[:_MAX_ENTRIES]}
        self._show_groups()
        self.move_to_end(is_last=False)
        self.scroll_to_line(0)
        self.invalidate()

    def add_entries(self, entries: Sequence[PaletteEntry]) -> None:
        """Show more entries behind the others; the cursor stays where it is."""
        self.entries |= {entry.id: entry for entry in entries[: _MAX_ENTRIES - len(self.entries)]}
        self._show_groups()
        if self.cursor is None:
            self.move_to_end(is_last=False)
        self.invalidate()

    def _show_groups(self) -> None:
        """Show groups while nothing is typed; what was found is in the order of its score."""
        if self._typed.strip():
            self.set_ids(list(self.entries))
            return
        groups: dict[str, list[str]] = {}
        for entry in self.entries.values():
            groups.setdefault(entry.group, []).append(entry.id)
        self.set_ids([row for group, rows in groups.items() for row in (f"-{group}", *rows)])

    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        """Draw an entry: words, what state it is in, key."""
        colours = ink(self)
        if placed.row_id.startswith("-"):
            heading = Content.styled(f" {placed.row_id[1:]}", colours.of("muted", bold=True))
            return cells.line_strip(heading, width, colours.on("background"))
        entry = self.entries[placed.row_id]
        bar = glyphs(self).of("cursor") if placed.is_cursor else " "
        state = Content.styled("in use", colours.of("info")) if entry.theme and entry.state else None
        columns = [
            Column(content=Content.styled(bar, colours.of("info")), gap=0),
            Column(content=self._words(entry, is_cursor=placed.is_cursor), grows=True),
            Column(content=state or cells.safe_content(self._state(entry), colours.of("muted")), drop=1),
            Column(
                content=cells.safe_content(entry.keys, colours.of("info", bold=True)), width=8, align="right"
            ),
            Column(content=Content(" "), gap=0),
        ]
        style = colours.cursor(has_focus=True) if placed.is_cursor else colours.on("background")
        return cells.row_strip(columns, width, style, glyphs=glyphs(self))

    def _state(self, entry: PaletteEntry) -> str:
        """Return the state of an entry; where no heading says it, the place in which its key counts."""
        return entry.state or (entry.group if entry.keys and self._typed.strip() else "")

    def _words(self, entry: PaletteEntry, *, is_cursor: bool) -> Content:
        colours = ink(self)
        tone = colours.of("faint" if entry.why_off else "foreground", bold=is_cursor)
        parts = [self._underlined(entry.words, tone)]
        if entry.about:
            parts.append(self._underlined(entry.about, colours.of("muted")))
        if aliases := matching_aliases(entry, self._typed):
            parts.append(self._underlined(aliases, colours.of("muted")))
        if entry.why_off:
            parts.append(cells.safe_content(entry.why_off, colours.of("muted")))
        return Content("  ").join(parts)

    def _underlined(self, words: str, style: Style) -> Content:
        text = cells.safe_content(words, style)
        for typed in counting_words(self._typed):
            for hit in re.finditer(re.escape(typed), text.plain, re.IGNORECASE):
                text = text.stylize(ink(self).hit(), *hit.span())
        return text


class PaletteScreen(ListDialog, inherit_bindings=False):
    """A field and what it finds."""

    def __init__(self, main: "MainScreen", page: "RulesScreen | None" = None) -> None:
        self._entries = EntryList()
        super().__init__("palette", self._entries)
        self._commands = PaletteCommands(main.context, main.INNER, main.focused_pane, page)
        self._screen_below, self._main = main, main.context
        self._before = main.context.app.guarded.words_before_field()
        """What was typed in one go before it opened: then what comes is text too, and no command."""
        self._input = Input(placeholder="a command, file, session or word", id="palette-input")
        self._input.cursor_blink = False
        self._files: list[PaletteEntry] | None = None
        self._library: list[PaletteEntry] | None = None
        self._found_for = ""
        self._theme = self._main.app.theme
        """The theme in force when nothing is tried out."""
        self._findings = PaletteSources(main.context, self._show)
        self._said, self._hint = Static(id="palette-found"), Static(id="palette-hint")

    def compose_box(self) -> Iterable[Widget]:
        yield self._input
        yield self._list
        yield self._said
        yield self._hint

    def opened(self) -> None:
        self.set_titles("Find and do", "")
        self._main.app.theme_changed_signal.subscribe(self, lambda _: self._show_hint())
        self.follow(self._list)
        self._input.focus()
        self._find("")

    def resized(self) -> None:
        """Stand at the top where there is no room below."""
        self.box.styles.margin = (max(0, min(4, self.size.height - _ROWS)), 0, 0, 0)
        self._show_hint()

    def _show_hint(self) -> None:
        """Say of the keys as much as fits, the way back always."""
        hints = ((glyphs(self).line(keys), words) for keys, words in _HINTS)
        self._hint.update(self.hint_row(hints, self._list.size.width))

    @on(Input.Changed)
    def _changed(self, message: Input.Changed) -> None:
        self._find(message.value)

    def _find(self, text: str) -> None:
        self._found_for = text
        self._try_theme("")
        if text.startswith("@"):
            self._show_found(
                [entry for entry in self._file_entries() if holds_all_words(entry.words, text[1:])],
            )
        elif text.startswith("##"):
            entries = self._everywhere()
            self._show_found(
                [entry for entry in entries if holds_all_words(f"{entry.words} {entry.state}", text[2:])]
            )
        elif text.startswith("#"):
            self._show_found([entry for entry in self._sessions() if holds_all_words(entry.words, text[1:])])
        else:
            self._show_found(
                [
                    *ranked_entries(self._drawable(every_command(self._commands, text)), text),
                    *self._findings.near(text),
                ]
            )
            self._read(text)

    @work(thread=True, group="palette", exclusive=True, exit_on_error=False, description="look for words")
    def _read(self, text: str) -> None:
        entries = self._findings.far(text) if text == self._found_for else []
        self._main.app.call_from_thread(self._take, text, entries)

    def _take(self, text: str, entries: Sequence[PaletteEntry]) -> None:
        """Show what was read, unless something else is looked for by now."""
        if self.is_attached and text == self._found_for and entries:
            self._entries.add_entries(entries)
            self._say_found()

    def _drawable(self, entries: Iterable[PaletteEntry]) -> Iterator[PaletteEntry]:
        """Yield entries in characters that the terminal has."""
        line = glyphs(self).line
        for entry in entries:
            yield replace(entry, words=line(entry.words), about=line(entry.about))

    def _show_found(self, entries: Sequence[PaletteEntry]) -> None:
        self._entries.show_entries(entries, self._found_for.lstrip("@#"))
        self._say_found()

    def _say_found(self) -> None:
        """Say how many of what were found: rows below the last one are not seen."""
        typed, counts = (
            self._found_for.lstrip("@#").strip(),
            Counter(map(_kind_of_entry, self._entries.entries.values())),
        )
        said = ", ".join(f"{n} {kind[:-1] if n == 1 else kind}" for kind, n in counts.items() if kind)
        words = (said or "Nothing here matches.") if typed else ""
        self._said.update(Content(glyphs(self).line(f" {words}")))

    def on_key(self, event: events.Key) -> None:
        """Choose, do, leave."""
        if event.key in ("down", "up"):
            event.stop()
            self._list.move(1 if event.key == "down" else -1)
            chosen = self._entries.entries.get(self._list.cursor or "")
            self._try_theme(chosen.theme if chosen is not None else "")
        elif event.key in ("escape", "ctrl+p"):
            event.stop()
            self._return_text()
            self.leave()
        elif event.key == "enter":
            event.stop()
            if self._main.app.guarded.follows_text() and self._return_text():
                self.leave()
                return
            if self._found_for != self._input.value:
                # Enter came together with the last characters: the list does not know them yet.
                self._find(self._input.value)
            self.do(self._list.cursor)

    def _return_text(self) -> bool:
        """Return whether a text was typed here that began before the palette opened; the composer gets it."""
        text = self._before + self._input.value
        if not self._before or len(self._input.value.strip()) < _LEAST_TEXT:
            return False
        self._main.app.call_later(self._main.app.guarded.return_text, text)
        return True

    def row_opened(self, row_id: str) -> None:
        self.do(row_id)

    @on(RowList.Clicked)
    def _clicked(self, message: RowList.Clicked) -> None:
        self.do(message.row_id)

    def do(self, entry_id: str | None) -> None:
        """Leave, then do what was chosen."""
        entry = self._entries.entries.get(entry_id or "")
        if entry is not None:
            self._theme = entry.theme or self._theme
            self.leave()
            self._screen_below.call_after_refresh(entry.do)

    def leave(self) -> None:
        self._try_theme("")
        super().leave()

    def _try_theme(self, name: str) -> None:
        """Show everything in a theme that may be taken; without one in the theme that is in force."""
        app = self._main.app
        self.set_class(bool(name), "-tries-theme")
        if app.theme != (name or self._theme):
            app.show_theme(name or self._theme)

    # --- what there is --------------------------------------------------------------------------

    def _sessions(self) -> list[PaletteEntry]:
        return [
            PaletteEntry(
                id=f"session-{session.id}",
                words=cells.safe_content(session.title or session.id[:8]).plain,
                group="Sessions",
                state=session.status,
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
                    group="Sessions everywhere",
                    state=cells.safe_content(
                        f"{session.status}  {session.workspace.rpartition('/')[2]}"
                    ).plain,
                    do=call_with(self._show, session.id),
                )
                for session in sessions
            ]
        return self._library

    def _show(self, session_id: str) -> None:
        """Show a session whose folder is listed; any other, and what was imported, as a replay."""
        session = self._main.app.journal.session(session_id)
        if session is None or session.origin is not None or not self._main.folders.is_listed(session):
            self._main.app.open_replay(session_id)
        else:
            self._choose(session_id)

    def _choose(self, session_id: str) -> None:
        self._main.show_session(session_id)
        self._main.go_to(self._main.widgets.conversation.PLACE)

    def _file_entries(self) -> list[PaletteEntry]:
        if self._files is None:
            self._files = [
                PaletteEntry(
                    id=f"file-{n}",
                    words=cells.safe_content(path).plain,
                    group="Files",
                    do=call_with(self._findings.mention, path),
                )
                for n, path in enumerate(self._main.folders.backend.list_files())
            ]
        return self._files


_ROWS: Final = 24
_LEAST_TEXT: Final = 3
"""Characters from which on words are worth keeping."""
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
