"""The palette: commands with their keys, then all that holds the words; `@` files, `#` `##` sessions.

Owns the list of what can be done and what is shown of it. What is chosen is done as if its key was pressed.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widgets import Input, Static

from workbench.draw import cells
from workbench.draw.cells import Column
from workbench.draw.keyrow import key_part, key_row
from workbench.journal.library import shelf
from workbench.tui import keymap
from workbench.tui.panes.completion import COMMANDS
from workbench.tui.screens.commands import carry_out, has_key
from workbench.tui.screens.entries import Entry, doing, matches, ranked
from workbench.tui.screens.findings import Findings
from workbench.tui.theme import glyphs, ink
from workbench.tui.widgets.lines import Placed, RowList
from workbench.views.sessions import title_of

if TYPE_CHECKING:
    from workbench.tui.screens.main import MainScreen

_MOST: Final = 200


def open_palette(screen: "MainScreen") -> None:
    """Open the palette over a main screen."""
    screen.textual.push_screen(PaletteScreen(screen))


class EntryList(RowList):
    """What was found."""

    can_focus = False

    def __init__(self) -> None:
        super().__init__(key="palette-list")
        self.entries: dict[str, Entry] = {}

    def show_entries(self, entries: Sequence[Entry]) -> None:
        """Show entries; the cursor goes to the first."""
        self.entries = {entry.id: entry for entry in entries[:_MOST]}
        self.set_ids(list(self.entries))
        self.move_to_end(is_last=False)
        self.invalidate()

    def add_entries(self, entries: Sequence[Entry]) -> None:
        """Show more entries behind the others; the cursor stays where it is."""
        self.entries |= {entry.id: entry for entry in entries[: _MOST - len(self.entries)]}
        self.set_ids(list(self.entries))
        if self.cursor is None:
            self.move_to_end(is_last=False)
        self.invalidate()

    def draw_row(self, placed: Placed, width: int) -> Strip:
        """Draw an entry: words, place, key."""
        entry, colours = self.entries[placed.row_id], ink(self)
        tone = "faint" if entry.why_off else "foreground"
        bar = glyphs(self).of("cursor") if placed.is_cursor else " "
        columns = [
            Column(content=Content.styled(bar, colours.of("info")), gap=0),
            Column(
                content=cells.content(entry.words, colours.of(tone, bold=placed.is_cursor)),
                grows=True,
            ),
            Column(content=cells.content(entry.why_off or entry.place, colours.of("muted")), drop=1),
            Column(content=cells.content(entry.keys, colours.of("info", bold=True)), width=8, align="right"),
            Column(content=Content(" "), gap=0),
        ]
        style = colours.cursor(has_focus=True) if placed.is_cursor else colours.on("panel")
        return cells.row(columns, width, style, glyphs=glyphs(self))


class PaletteScreen(ModalScreen[None], inherit_bindings=False):
    """A field and what it finds."""

    def __init__(self, main: "MainScreen") -> None:
        super().__init__(id="palette-screen")
        self._main = main
        self._input, self._list = Input(id="palette-input"), EntryList()
        self._input.cursor_blink = False
        self._files: list[Entry] | None = None
        self._library: list[Entry] | None = None
        self._found_for = ""
        self._findings = Findings(main, self._show)
        self._said, self._hint = Static(id="palette-found"), Static(id="palette-hint")

    def compose(self) -> ComposeResult:
        """Yield field, list, hint."""
        with Vertical(id="palette-box"):
            yield self._input
            yield self._list
            yield self._said
            yield self._hint

    def on_mount(self) -> None:
        """Show all commands."""
        self._input.focus()
        self._find("")

    def on_resize(self) -> None:
        """Stand at the top where there is no room below; of the hint as much as fits, the way back always."""
        box = self.query_one("#palette-box")
        box.styles.margin = (max(0, min(4, self.size.height - 18)), 0, 0, 0)
        line, colours = glyphs(self).line, ink(self)
        parts = [key_part(line(keys), words, colours) for keys, words in _HINTS]
        self._hint.update(key_row(parts, self._list.size.width))

    @on(Input.Changed)
    def _changed(self, message: Input.Changed) -> None:
        self._find(message.value)

    def _find(self, text: str) -> None:
        self._found_for = text
        if text.startswith("@"):
            self._show_found([entry for entry in self._file_entries() if matches(entry.words, text[1:])])
        elif text.startswith("##"):
            found = self._everywhere()
            self._show_found([one for one in found if matches(f"{one.words} {one.place}", text[2:])])
        elif text.startswith("#"):
            self._show_found([entry for entry in self._sessions() if matches(entry.words, text[1:])])
        else:
            self._show_found([*ranked(self._commands(), text), *self._findings.near(text)])
            self._read(text)

    @work(thread=True, group="palette", exclusive=True, exit_on_error=False, description="look for words")
    def _read(self, text: str) -> None:
        found = self._findings.far(text) if text == self._found_for else []
        self._main.textual.call_from_thread(self._take, text, found)

    def _take(self, text: str, found: Sequence[Entry]) -> None:
        """Show what was read, unless something else is looked for by now."""
        if self.is_attached and text == self._found_for and found:
            self._list.add_entries(found)
            self._say_found()

    def _show_found(self, entries: Sequence[Entry]) -> None:
        self._list.show_entries(entries)
        self._say_found()

    def _say_found(self) -> None:
        """Say how many of what were found: rows below the last one are not seen."""
        typed, counts = self._found_for.lstrip("@#").strip(), Counter(map(_kind, self._list.entries.values()))
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
            self._main.call_after_refresh(entry.do)

    # --- what there is --------------------------------------------------------------------------

    def _commands(self) -> list[Entry]:
        pane = self._main.focused_pane
        entries: list[Entry] = []
        for key in keymap.of_scopes([*self._main.INNER, *(pane.scopes() if pane else ()), "app"]):
            if not key.in_palette:
                continue
            is_ours = key.scope == "app" or key.scope in self._main.INNER
            owner = self._main if is_ours or pane is None else pane
            place = "Everywhere" if is_ours else (pane.NAME if pane else "")
            words = glyphs(self).line(key.tooltip[:1].upper() + key.tooltip[1:])
            keys = keymap.shown(key, keymap.users_of(self)) or keymap.printed(key.keys[0])
            why = "" if is_ours or pane is None else pane.why_not(key.id)
            entries.append(
                Entry(
                    id=key.id, words=words, place=place, keys=keys, why_off=why,
                    do=doing(owner.action_do, key.id),
                )
            )  # fmt: skip
        return [*entries, *self._composers(), *self._themes()]

    def _composers(self) -> list[Entry]:
        """Return the commands of the composer that no key does; a replay has no composer."""
        if "replay" in self._main.INNER:
            return []
        return [
            Entry(
                id=f"composer.{name[1:]}", words=f"{name}  {words}", place="Composer", keys="",
                do=doing(lambda name: carry_out(self._main, name, ""), name[1:]),
            )
            for name, words in COMMANDS if not has_key(name[1:])
        ]  # fmt: skip

    def _themes(self) -> list[Entry]:
        app = self._main.textual
        return [
            Entry(
                id=f"theme-{name}",
                words=f"Theme: {name}",
                place="Screen",
                keys="",
                do=doing(setattr_theme(app), name),
            )
            for name in sorted(app.available_themes)
        ]

    def _sessions(self) -> list[Entry]:
        return [
            Entry(
                id=f"session-{session.id}",
                words=cells.content(session.title or session.id[:8]).plain,
                place=session.status,
                keys="",
                do=doing(self._choose, session.id),
            )
            for session in self._main.state.sessions.values()
        ]

    def _everywhere(self) -> list[Entry]:
        """Return the sessions of every workspace, read when they are first asked for."""
        if self._library is None:
            with self._main.textual.journal.reader.snapshot() as database:
                found = shelf(database)
            self._library = [
                Entry(
                    id=f"session-{session.id}",
                    words=cells.content(title_of(session)).plain,
                    place=cells.content(f"{session.status}  {session.workspace.rpartition('/')[2]}").plain,
                    keys="",
                    do=doing(self._show, session.id),
                )
                for session in found
            ]
        return self._library

    def _show(self, session_id: str) -> None:
        """Show a session of this workspace; any other, and what was imported, as a replay."""
        session = self._main.textual.journal.session(session_id)
        if session is None or session.origin is not None or session.workspace != self._main.workspace:
            self._main.textual.open_replay(session_id)
        else:
            self._choose(session_id)

    def _choose(self, session_id: str) -> None:
        self._main.state.choose(session_id)
        self._main.showing.everything()
        self._main.go_to(1)

    def _file_entries(self) -> list[Entry]:
        if self._files is None:
            self._files = [
                Entry(
                    id=f"file-{n}",
                    words=cells.content(path).plain,
                    place="",
                    keys="",
                    do=doing(self._findings.mention, path),
                )
                for n, path in enumerate(self._main.services.list_files())
            ]
        return self._files


def setattr_theme(app: object) -> Callable[[str], None]:
    """Return how a theme is put in force."""

    def put(name: str) -> None:
        app.theme = name  # type: ignore[attr-defined]

    return put


_HINTS: Final = (
    ("enter", "do it"), ("@", "files"), ("#", "sessions"), ("↑ ↓", "choose"), ("##", "anywhere"),
    ("esc", "back"),
)  # fmt: skip
_KINDS: Final = {
    "action": "approvals", "step": "steps", "session": "sessions", "file": "files", "words": "messages",
    "search": "",
}  # fmt: skip


def _kind(entry: Entry) -> str:
    """Return what an entry is, as it is counted."""
    return _KINDS.get(entry.id.partition("-")[0], "commands") if "-" in entry.id else "commands"
