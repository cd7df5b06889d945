"""What every pane is: a title row, a body, one input (`show`) and messages as output.

Owns how a pane takes its keys from the table: static bindings of all its scopes, of which those of the
scopes in force count. A key that is off says why.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget

from workbench.tui import keymap
from workbench.tui.messages import KeysChanged, Said
from workbench.tui.widgets.lines import LineView, RowList
from workbench.tui.widgets.title import PaneTitle


def _nothing(_: str) -> str:
    return ""


class Pane(Vertical):
    """A numbered place of the main screen.

    A subclass sets `PLACE`, `NAME`, `SCOPES` and `BINDINGS = keymap.bindings(*SCOPES)`, composes its body and
    implements `show`.
    """

    DEFAULT_CSS = "Pane { background: $background; }"

    PLACE: ClassVar[int] = 0
    NAME: ClassVar[str] = ""
    TAB: ClassVar[str] = ""
    """The name in the tab row, when it is shorter."""
    SCOPES: ClassVar[tuple[str, ...]] = ("list",)
    """Scopes of the key table whose keys this pane can take, inner ones first."""
    MOVING: ClassVar[frozenset[str]] = frozenset()
    """Keys that only move: what the others do stays the same, and the footer is not made anew for them."""

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(id=key)
        self.title_row = PaneTitle(self.NAME, self.PLACE)
        self.title_row.set_class(True, "-pane-title", update=False)

    def compose(self) -> ComposeResult:
        """Yield the title and the body."""
        yield self.title_row
        yield from self.compose_body()

    @abstractmethod
    def compose_body(self) -> Iterable[Widget]:
        """Yield what is below the title row."""

    @staticmethod
    def put(part: Widget, above: Widget, *, is_shown: bool) -> None:
        """Show a part over another one, or hide it; what was never shown is not among the widgets yet."""
        if part.parent is not None:
            part.display = is_shown
        elif is_shown and isinstance(above.parent, Widget):
            above.parent.mount(part, before=above)

    @abstractmethod
    def show(self, view: Any) -> None:
        """Take a new view; the pane's one input."""

    @property
    @abstractmethod
    def focus_view(self) -> Widget:
        """Return the widget that has the focus when the pane has it."""

    @property
    def has_pane_focus(self) -> bool:
        """Return whether the focus is anywhere in this pane."""
        return self.has_focus_within

    def set_title(
        self, facts: Content | None = None, right: Content | None = None, name: str | None = None
    ) -> None:
        """Say something beside the pane's name and at the right end of its title."""
        self.title_row.show(facts, right, name)

    def tick(self, now: int) -> None:
        """Be told of a new second while something is pending or runs; `now` in microseconds."""

    # --- what list keys ask for; panes override what they have -------------------------------------

    def move(self, rows: int) -> None:
        """Move the cursor by rows, or scroll by them where there is no cursor."""
        view = self.focus_view
        if isinstance(view, RowList):
            view.move(rows)
        elif isinstance(view, LineView):
            view.scroll_to_line(view.first_line + rows)

    def move_to_end(self, *, is_last: bool) -> None:
        """Go to the first or the last row."""
        view = self.focus_view
        if isinstance(view, RowList):
            view.move_to_end(is_last=is_last)
        elif isinstance(view, LineView):
            view.scroll_to_line(view.line_count if is_last else 0)

    def scroll_half(self, direction: int) -> None:
        """Scroll half a page of the pane's larger part, down (1) or up (-1)."""
        view = self.focus_view
        if isinstance(view, LineView):
            self.move(direction * max(1, view.size.height // 2))

    def move_to_problem(self, step: int) -> None:
        """Go to the next (1) or previous (-1) row that waits or failed."""
        del step

    def ask_filter(self) -> None:
        """Open the line in which the pane's rows are filtered."""

    def next_order(self) -> None:
        """Take the next order of rows and say which."""

    def open_row(self) -> None:
        """Go deeper into the row under the cursor."""

    def copy_text(self) -> str:
        """Return what `y` copies and `|` pipes: path, command or text under the cursor."""
        return ""

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        """Be told of the line that was asked for (`messages.LineAsked`), at each change and at the end."""

    def line_dropped(self, purpose: str) -> None:
        """Be told that the line was left with escape."""

    # --- keys -----------------------------------------------------------------------------------

    def scopes(self) -> tuple[str, ...]:
        """Return the scopes in force now, inner ones first; a mode adds or removes some."""
        return self.SCOPES

    def label_of(self, key_id: str) -> str:
        """Return what a key does now: the table's label unless a pane knows better (`approve 2 of 3`)."""
        return keymap.table()[key_id].label

    def why_off(self, key_id: str) -> str:
        """Return why a key does nothing now; empty when it is on."""
        del key_id
        return ""

    forbids: Callable[[str], str] = staticmethod(_nothing)
    """Returns why a screen wants none of a key, empty where it does: in a replay nothing is answered."""

    is_past: bool = False
    """Whether it shows a recording: then it does not say how something is begun or answered."""

    def why_not(self, key_id: str) -> str:
        """Return why a key does nothing now, for the screen or for the pane; empty when it is on."""
        return self.forbids(key_id) or self.why_off(key_id)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let only keys of scopes in force through, so that one key may mean another thing in a mode."""
        if action != "do":
            return super().check_action(action, parameters)
        return keymap.wins(str(parameters[0]), self.scopes())

    def action_do(self, key_id: str) -> None:
        """Do what the table says for a key, or say why it is off."""
        if reason := self.why_not(key_id):
            if not keymap.is_letter(key_id, self):
                self.post_message(Said(reason))
            return
        keymap.run(key_id, self)
        if key_id not in self.MOVING:
            self.post_message(KeysChanged())

    def on_descendant_focus(self) -> None:
        """Show in the title that the keys count here."""
        self.title_row.set_focused(True)

    def on_descendant_blur(self) -> None:
        """Show in the title that they do not any more, unless the focus only went elsewhere in here."""
        self.title_row.set_focused(self.has_pane_focus)
