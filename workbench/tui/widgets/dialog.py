"""The base of dialogs, and the pager that scrolls lines to read."""

from collections.abc import Sequence
from typing import Final

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widget import Widget

from workbench.render import cells
from workbench.render.cells import safe_lines, wrap_code
from workbench.tui.keyboard.owner import KeyDialog
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.line_view import LineView
from workbench.tui.widgets.pane_frame import PaneRule, overflow_text


class Dialog(ModalScreen[None], KeyDialog, inherit_bindings=False):
    """A box over another screen: the screen is `#NAME-screen`, the box `#NAME-box`."""

    def __init__(self, name: str) -> None:
        super().__init__(id=f"{name}-screen")
        self._box_id = f"{name}-box"
        self._subtitle = ""
        self._followed: LineView | None = None
        self.said = ""
        """A sentence for a few seconds."""

    @property
    def box(self) -> Widget:
        """Return the box that holds the dialog's widgets."""
        return self.query_one(f"#{self._box_id}")

    def set_titles(self, title: str, subtitle: str) -> None:
        """Write into the upper and the lower border of the box."""
        box = self.box
        box.border_title = cells.safe_content(title)  # type: ignore[assignment]
        self._subtitle = subtitle
        self._show_subtitle()

    def follow(self, view: LineView) -> None:
        """Say in the lower border what of a list is not on the screen."""
        self._followed = view
        view.watch_extent(self._show_subtitle)

    def say(self, text: str) -> None:
        """Say a sentence for four seconds: the box lies over where the screen says its own."""
        self.said = text
        self.show_said()
        self.set_timer(PaneRule.SECONDS, lambda: self._end_saying(text))

    def show_waiting(self, key_id: str, words: str) -> None:
        del key_id
        self.said = words and f"{words} · esc cancels"
        self.show_said()

    def _end_saying(self, text: str) -> None:
        if text == self.said:
            self.said = ""
            self.show_said()

    def show_said(self) -> None:
        """Show what is said, or that nothing is any more: in the lower border unless a dialog has a place."""
        self._show_subtitle()

    def _show_subtitle(self) -> None:
        if self.said:
            self.box.border_subtitle = cells.safe_content(self.said)  # type: ignore[assignment]
            return
        more = overflow_text(self._followed, glyphs(self)) if self._followed is not None else ""
        words = "  ".join(part for part in (more, self._subtitle) if part)
        self.box.border_subtitle = cells.safe_content(words)  # type: ignore[assignment]

    def leave(self) -> None:
        """Go back."""
        self.dismiss()

    def close(self) -> None:
        self.leave()
        if self.is_active:
            # It went back by one level of its own, as from a field.
            self.dismiss()


_LINE_STEPS: Final = {"j": 1, "down": 1, "k": -1, "up": -1}
_PAGE_STEPS: Final = {"ctrl+d": 1, "pagedown": 1, "space": 1, "ctrl+u": -1, "pageup": -1}
_LEAVE_KEYS: Final = frozenset({"escape", "q", "enter"})
_END_KEYS: Final = frozenset({"g", "home", "G", "end"})


class WrappedLines(LineView):
    """Lines, wrapped; plain text is untrusted and made safe."""

    def __init__(self, lines: Sequence[str | Content]) -> None:
        super().__init__(key="pager-lines")
        self._lines = [part for line in lines for part in _safe_contents(line)]
        self._rows: list[Content] = []

    def on_width(self, width: int) -> None:
        self._rows = wrap_code(self._lines, max(1, width - 2))
        self.set_line_count(len(self._rows))

    def draw_line(self, line: int, width: int) -> Strip:
        return cells.line_strip(Content(" ") + self._rows[line], width, ink(self).on("background"))


def _safe_contents(line: str | Content) -> list[Content]:
    return [line] if isinstance(line, Content) else [cells.safe_content(text) for text in safe_lines(line)]


class PagerScreen(Dialog, inherit_bindings=False):
    """A title and lines to read."""

    def __init__(
        self,
        title: str,
        lines: Sequence[str | Content],
        *,
        name: str = "pager",
        begins_at_end: bool = False,
        opened_by: str = "",
    ) -> None:
        """Show lines; the key it was `opened_by` closes it too."""
        super().__init__(name)
        self._leave_keys = _LEAVE_KEYS | {opened_by}
        self._title, self._view, self._begins_at_end = title, WrappedLines(lines), begins_at_end

    def compose(self) -> ComposeResult:
        with Vertical(id=self._box_id, classes="pager-box"):
            yield self._view

    def on_mount(self) -> None:
        self.set_titles(glyphs(self).line(self._title), "j k scroll  g G ends  esc back")
        self.follow(self._view)
        self._view.focus()
        if self._begins_at_end:
            self.call_after_refresh(lambda: self._view.scroll_to_line(self._view.line_count))

    def reads_key(self, key: str) -> bool:
        return key in {*self._leave_keys, *_LINE_STEPS, *_PAGE_STEPS, *_END_KEYS}

    def on_key(self, event: events.Key) -> None:
        """Scroll or leave."""
        event.stop()
        view, height = self._view, max(1, self._view.size.height - 1)
        if event.key in self._leave_keys:
            self.leave()
        elif event.key in _LINE_STEPS:
            view.scroll_to_line(view.first_line + _LINE_STEPS[event.key])
        elif event.key in _PAGE_STEPS:
            view.scroll_to_line(view.first_line + _PAGE_STEPS[event.key] * height)
        elif event.key in ("g", "home"):
            view.scroll_to_line(0)
        elif event.key in ("G", "end"):
            view.scroll_to_line(view.line_count)
