"""The providers that are set up, what was found on this machine, and the way to the form that adds one."""

from typing import TYPE_CHECKING, Final

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.strip import Strip
from textual.widgets import Static

from workbench.render import cells
from workbench.render.cells import Column, key_hint, key_hint_row, wrap_plain_text
from workbench.text.safe import one_line
from workbench.tui import keymap
from workbench.tui.backend import error_text
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.dialog import Dialog, PagerScreen
from workbench.tui.widgets.line_view import RowList, RowPlacement
from workbench.views.providers import FoundModel, ProviderRow
from workbench.views.welcome import LOOKING, NOTHING_FOUND, found_text

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext

_ADD: Final = "add a provider…"
_NO_SERVER: Final = "plays recordings"
_MAX_CELLS: Final = 200
_MAX_NAME_CELLS: Final = 20
_MAX_DETAIL_LINES: Final = 3
_DETAIL_FROM: Final = 14
"""Rows of the screen from which the row under the cursor is said in full."""
_FILE_TEXT: Final = """\
Models are named in one file, which you may also write by hand. Any one of these three is enough:

    {file}

llama.cpp (llama-server --jinja -m model.gguf), or any server of yours that speaks OpenAI's chat completions

    {{ "default_provider": "local", "providers": {{ "local": {{
        "kind": "openai-compatible", "base_url": "http://127.0.0.1:8080/v1", "model": "NAME" }} }} }}

Ollama

    {{ "default_provider": "ollama", "providers": {{ "ollama": {{
        "kind": "ollama", "base_url": "http://localhost:11434", "model": "qwen3-coder:30b" }} }} }}

A hosted server; key_env names the variable that holds its key, the key itself is never stored

    {{ "default_provider": "hosted", "providers": {{ "hosted": {{
        "kind": "openai-compatible", "base_url": "https://HOST/v1", "model": "NAME",
        "key_env": "MODELS_API_KEY" }} }} }}

Then          ctrl+n, write what you want done, enter. A saved file counts within a minute.
Try it        workbench doctor --provider local --probe
Once only     workbench run -p TEXT --base-url http://127.0.0.1:8080/v1
Without one   d on the first page is the demo, 5 imports sessions of other programs"""


def open_settings_file(context: "MainContext") -> None:
    """Show how config.json is written by hand."""
    text = _FILE_TEXT.format(file=f"    {context.backend.config_file()}")
    context.app.push_screen(PagerScreen("Settings", text.splitlines()))


class ProviderList(RowList):
    """Providers, what was found, and the row that opens the form; each part under a caption."""

    def __init__(self) -> None:
        super().__init__(key="providers-list")
        self.rows: dict[str, ProviderRow] = {}
        self.found: dict[str, FoundModel] = {}
        self.captions: dict[str, str] = {}

    def show_rows(
        self, rows: tuple[ProviderRow, ...] | None, found: tuple[FoundModel, ...], looked: str
    ) -> None:
        """Show providers (None: they are being read), what was found, and how the look went."""
        self.rows = {f"provider:{row.name}": row for row in rows or ()}
        self.found = {f"found:{number}": model for number, model in enumerate(found)}
        none = "Reading config.json …" if rows is None else "No provider is set up yet."
        self.captions = {
            "-providers": "Set up" if self.rows else none,
            "-found": looked, "-blank-1": "", "-blank-2": "",
        }  # fmt: skip
        self.set_ids(["-providers", *self.rows, "-blank-1", "-found", *self.found, "-blank-2", "add"])
        self.invalidate()

    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        colours, row_id = ink(self), placed.row_id
        if row_id in self.captions:
            words = cells.safe_content(f" {self.captions[row_id]}", colours.of("muted", bold=True))
            return cells.line_strip(words, width, colours.on("background"))
        bar = glyphs(self).of("cursor") if placed.is_cursor else " "
        bold = colours.of("foreground", bold=placed.is_cursor)
        head, facts, state = self._parts(row_id)
        columns = [
            Column(content=Content.styled(bar, colours.of("info")), gap=0),
            Column(
                content=cells.safe_content(head, bold, colours),
                width=self._name_cells if facts else None,
                grows=not facts,
            ),
            Column(content=cells.safe_content(facts, colours.of("muted"), colours), grows=True, gap=2),
            Column(content=state, drop=1),
            Column(content=Content(" "), gap=0),
        ]
        style = colours.cursor(has_focus=True) if placed.is_cursor else colours.on("background")
        return cells.row_strip(
            columns if facts else [*columns[:2], *columns[3:]], width, style, glyphs=glyphs(self)
        )

    @property
    def _name_cells(self) -> int:
        return min(_MAX_NAME_CELLS, max((len(row.name) for row in self.rows.values()), default=1))

    def _parts(self, row_id: str) -> tuple[str, str, Content]:
        colours = ink(self)
        if (row := self.rows.get(row_id)) is not None:
            state = Content.styled("default", colours.of("info")) if row.is_default else Content("")
            return row.name, one_line(_facts(row), _MAX_CELLS), state
        if (found := self.found.get(row_id)) is not None:
            return (
                found_text(found),
                "",
                Content.styled("add" if found.model else "choose a model", colours.of("muted")),
            )
        return _ADD, "", Content("")


def _facts(row: ProviderRow) -> str:
    parts = [row.model or ("" if row.has_server else _NO_SERVER), row.base_url]
    parts += [row.key_words] if row.key != "none" else []
    return ", ".join(part for part in parts if part)


class ProviderScreen(Dialog, inherit_bindings=False):
    """A box over the main screen: the list, the row under the cursor in full, keys."""

    AUTO_FOCUS = ""
    BINDINGS = keymap.bindings("providers")

    def __init__(self, context: "MainContext") -> None:
        super().__init__("providers")
        self._main, self._list = context, ProviderList()
        self._detail, self._keys = Static(id="providers-detail"), Static(id="providers-keys")
        self._rows: tuple[ProviderRow, ...] | None = None
        self._said, self._is_error = "", False
        self._said_before = context.providers.said
        """The last change that was said here."""
        self._has_moved = False

    def compose(self) -> ComposeResult:
        with Vertical(id="providers-box"):
            yield self._list
            yield self._detail
            yield self._keys

    def on_mount(self) -> None:
        self.set_titles("Models and providers", "")
        self.follow(self._list)
        self._list.focus()
        self._show()
        self._read()
        self._main.providers.look(self._looked)

    def on_resize(self) -> None:
        """Wrap anew."""
        self.call_after_refresh(self._say)

    def on_screen_resume(self) -> None:
        """Read again what the form may have changed, and say what it did."""
        if self._rows is None:
            return
        if self._main.providers.said != self._said_before:
            self._done("")

    # --- what is shown --------------------------------------------------------------------------

    def _read(self) -> None:
        """Read the providers in a thread."""
        main = self._main

        def work() -> None:
            try:
                rows, why_not = tuple(main.backend.providers.rows()), ""
            except Exception as error:  # noqa: BLE001 whatever a backend says is told, nothing is hidden
                rows, why_not = (), error_text(error)
            main.call_from_thread(self._take_rows, rows, why_not)

        self.run_worker(
            work, group="providers", description="read the providers", thread=True, exit_on_error=False
        )

    def _take_rows(self, rows: tuple[ProviderRow, ...], why_not: str) -> None:
        if not self.is_attached:
            return
        self._rows = rows
        if why_not:
            self._said, self._is_error = why_not, True
        self._show()

    def _looked(self) -> None:
        if self.is_attached:
            self._show()

    def _show(self) -> None:
        search = self._main.status.search
        found = self._main.providers.found
        if search is None or not search.is_over:
            looked = LOOKING
        elif search.why_not:
            looked = search.why_not
        else:
            looked = "Found, not set up yet" if found else self._nothing_found()
        self._list.show_rows(self._rows, found, looked)
        if not self._has_moved:
            self._list.move_to_end(is_last=False)
        self._say()

    def _nothing_found(self) -> str:
        return "Nothing else was found on this machine." if self._rows else NOTHING_FOUND

    def _say(self) -> None:
        """Say what was refused, or the row under the cursor in full; then the keys."""
        self._detail.display = self.size.height >= _DETAIL_FROM or bool(self._said)
        width, colours = max(8, self.box.size.width - 2), ink(self)
        text, shade = (
            (self._said, "failed") if self._is_error else (self._said or self._row_in_full(), "muted")
        )
        lines = wrap_plain_text(glyphs(self).line(text), width)[:_MAX_DETAIL_LINES]
        shown = Content("\n").join([Content(" ") + line for line in lines])
        self._detail.update(shown.stylize(colours.of(shade)))  # type: ignore[arg-type]
        self._keys.update(self._key_line())
        below = len(lines) + 1 if self._detail.display else 0
        room = self.size.height - self.box.gutter.height - below - 1
        self._list.styles.height = max(1, min(len(self._list.ids), room))

    def _row_in_full(self) -> str:
        cursor = self._list.cursor or ""
        if (row := self._list.rows.get(cursor)) is not None:
            where = "" if row.is_own else f" It is set in {row.file}."
            note = "New sessions use it." if row.is_default else "enter lets new sessions use it."
            return f"{one_line(f'{row.name}, {row.kind}, {_facts(row)}', _MAX_CELLS)}. {note}{where}"
        if (found := self._list.found.get(cursor)) is not None:
            does = "adds it to config.json and uses it" if found.model else "opens the form to choose a model"
            return f"{found_text(found)}. enter {does}."
        return "A form asks for address, model and key variable, tries them and saves config.json."

    def _key_line(self) -> Content:
        cursor = self._list.cursor or ""
        enter = (
            "add it"
            if cursor.startswith("found:")
            else "use it"
            if cursor.startswith("provider:")
            else "open the form"
        )
        rows = sorted(keymap.keys_of_scopes(["providers"]), key=lambda key: key.footer)
        users, can_undo = keymap.user_keymap(self), self._main.backend.providers.can_undo()
        hints = [
            key_hint(
                glyphs(self).line(keymap.printed_keys(key, users)),
                enter if key.id == "providers.take" else key.label, ink(self),
            )
            for key in rows if key.footer and (key.id != "providers.undo" or can_undo)
        ]  # fmt: skip
        return key_hint_row(hints, max(8, self._keys.size.width), keeps=0)

    @on(RowList.Moved)
    def _moved(self) -> None:
        self._say()

    # --- what keys ask for ----------------------------------------------------------------------

    def move(self, rows: int) -> None:
        """Go to another row."""
        self._has_moved, self._said, self._is_error = True, "", False
        self._list.move(rows)
        self._say()

    def add(self) -> None:
        """Open the form."""
        self._main.providers.open_form()

    def take(self) -> None:
        """Use the provider under the cursor, add what was found, or open the form."""
        kind, _, rest = (self._list.cursor or "").partition(":")
        if kind == "provider":
            self._main.providers.make_default(rest, self._done)
        elif kind == "found" and self._list.found[f"found:{rest}"].model:
            self._main.providers.take(int(rest), self._done)
        elif kind == "found":
            self._main.providers.take(int(rest))
        else:
            self.add()

    def _done(self, why_not: str) -> None:
        """Show what a change came to."""
        if not self.is_attached:
            return
        self._said_before = self._main.providers.said
        self._said, self._is_error = why_not or self._said_before, bool(why_not)
        self._read()
        self._main.providers.look(self._looked)

    def undo(self) -> None:
        """Undo the last change."""
        self._main.providers.undo(self._done)

    def look(self) -> None:
        """Look for models again."""
        self._main.providers.look(self._looked)
        self._show()

    def show_file(self) -> None:
        """Show how the file is written by hand."""
        open_settings_file(self._main)
