"""The list of agents whose calls can come here: which are connected, and what is wrong with that."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from workbench.render import cells
from workbench.render.cells import Column, key_hint, key_hint_row, wrap_plain_text
from workbench.render.list_rows import icon_column
from workbench.render.theme import ColorName
from workbench.tui.backend import error_text
from workbench.tui.keyboard import keymap
from workbench.tui.list_page.reader import ListReader
from workbench.tui.list_page.screen import ListScreen
from workbench.tui.places import place_number
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.line_view import RowList, RowPlacement
from workbench.views.agent_connections import AgentRow, ConnectionChange

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext

_NAME_CELLS: Final = 14
_MOST_DETAIL_LINES: Final = 10
_NONE: Final = "No agent was found here whose calls can come to workbench."
_WHAT: Final = (
    "Claude Code, Codex, Gemini CLI, Qwen Code and OpenCode can ask here before they edit or run something."
)


class AgentList(RowList):
    """Agents and how they are connected."""

    def __init__(self) -> None:
        super().__init__(key="connections-list")
        self.rows: dict[str, AgentRow] = {}

    def show_rows(self, rows: Iterable[AgentRow]) -> None:
        self.rows = {row.id: row for row in rows}
        self.set_ids(list(self.rows), set(self.rows))
        self.invalidate()

    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        """Draw a row: name, sign, state."""
        row, colours, signs = self.rows[placed.row_id], ink(self), glyphs(self)
        bar = signs.of("cursor") if placed.is_cursor else " "
        name = cells.safe_content(row.name, colours.of("foreground", bold=placed.is_cursor), colours)
        columns = [
            Column(content=Content.styled(bar, colours.of("info")), gap=0),
            Column(content=name, width=_NAME_CELLS),
            icon_column(row.sign, colours, signs, gap=2),
            Column(content=Content.styled(row.state, colours.of("muted")), grows=True),
        ]
        style = colours.cursor(has_focus=True) if placed.is_cursor else colours.on("background")
        return cells.row_strip(columns, width, style, glyphs=signs)


class AgentScreen(ListScreen, inherit_bindings=False):
    """A box over the main screen: the agents, the one under the cursor in full, keys."""

    PLACE = place_number("providers")
    BINDINGS = keymap.bindings("connections")

    def __init__(self, context: "MainContext") -> None:
        self._agents = AgentList()
        super().__init__("connections", context, self._agents)
        self._reader = ListReader(
            self, self._read_rows, self._take_rows, lambda error: self._tell(error_text(error), is_error=True)
        )
        self._detail, self._keys = Static(id="connections-detail"), Static(id="connections-keys")
        self._said, self._is_error, self._is_read = "", False, False
        self._told_at: str | None = None
        """The row under the cursor when something was said."""

    def compose_box(self) -> Iterable[Widget]:
        yield self._list
        yield self._detail
        yield self._keys

    def opened(self) -> None:
        self.set_titles("Agents of this machine", "")
        super().opened()
        self._reader.read()

    def _read_rows(self) -> tuple[AgentRow, ...]:
        return tuple(self._main.backend.agents.agent_rows())

    def _take_rows(self, rows: tuple[AgentRow, ...]) -> None:
        self._is_read = True
        cursor = self._list.cursor
        self._agents.show_rows(rows)
        if rows and cursor not in self._agents.rows:
            self._list.put_cursor(rows[0].id)
        self.fill()

    def fill(self) -> None:
        """Say what was done, or the row under the cursor in full; then the keys."""
        width, colours, line = max(8, self.box.size.width - 4), ink(self), glyphs(self).line
        lines = [
            (Content(" ") + part).stylize(colours.of(shade))  # type: ignore[arg-type]
            for text, shade in self._texts() for part in wrap_plain_text(line(text), width)
        ]  # fmt: skip
        self._detail.update(Content("\n").join(lines[:_MOST_DETAIL_LINES]))
        self._keys.update(self._key_line())
        self._list.styles.height = max(1, len(self._agents.rows))

    def _texts(self) -> Iterator[tuple[str, ColorName]]:
        row = self._row
        if self._said:
            yield self._said, "failed" if self._is_error else "muted"
        elif row is not None:
            for text in row.details:
                yield text, "muted"
            if not row.is_connected:
                yield f"enter shows what would be written into the settings of {row.name}.", "muted"
        elif self._is_read:
            yield _NONE, "muted"
        if row is None:
            yield _WHAT, "muted"

    def _key_line(self) -> Content:
        rows = sorted(keymap.keys_of_scopes(["connections"]), key=lambda key: key.footer)
        users, row = keymap.user_keymap(self), self._row
        hints = [
            key_hint(glyphs(self).line(keymap.printed_keys(key, users)), key.label, ink(self))
            for key in rows
            if key.footer
            and (row is not None or key.id == "connections.leave")
            and (key.id != "connections.remove" or (row is not None and row.is_connected))
        ]
        return key_hint_row(hints, max(8, self._keys.size.width), keeps=0)

    @property
    def _row(self) -> AgentRow | None:
        return self._agents.rows.get(self._list.cursor or "")

    def row_moved(self, message: RowList.Moved) -> None:
        del message
        if self._agents.cursor != self._told_at:
            self._said, self._is_error = "", False
        self.fill()

    def row_opened(self, row_id: str) -> None:
        del row_id
        self.open_change()

    def open_change(self, *, is_removal: bool = False) -> None:
        """Show what connecting or disconnecting the agent under the cursor would change."""
        row = self._row
        if row is not None:
            self._main.agents.read_change(
                row.id, row.answers, self._show, self._refuse, is_removal=is_removal
            )

    def _show(self, change: ConnectionChange) -> None:
        from workbench.tui.providers.connection_dialog import ConnectionDialog

        row = self._agents.rows.get(change.agent)
        if self.is_attached and self.is_active and row is not None:
            self._main.app.push_screen(ConnectionDialog(self._main, row, change, self._written))

    def _refuse(self, why: str) -> None:
        self._tell(why, is_error=True)

    def _written(self, text: str, is_error: bool) -> None:
        self._tell(text, is_error=is_error)
        if self.is_attached:
            self._reader.read()

    def _tell(self, text: str, *, is_error: bool) -> None:
        if self.is_attached:
            self._said, self._is_error, self._told_at = text, is_error, self._list.cursor
            self.fill()
