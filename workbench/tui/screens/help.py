"""The keys of the pane that has the focus, in groups, with those that are off and why; and the signs.

Owns nothing but the page: what keys there are is the key table's. Typing finds.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.style import Style
from textual.widgets import Static

from workbench.draw import cells
from workbench.draw.tokens import Ink
from workbench.draw.wrapping import plain_wrap
from workbench.tui import keymap
from workbench.tui.keymap import Key
from workbench.tui.panes.base import Pane
from workbench.tui.theme import glyphs, ink
from workbench.views.signs import SIGNS, SignName

if TYPE_CHECKING:
    from workbench.tui.screens.main import MainScreen

_COLUMNS: Final = (("Decide", "Hunks and lines", "Write", "Read", "Start"), ("Move", "Many"), ("Everywhere",))
_SIGNS: Final[tuple[SignName, ...]] = (
    "waiting", "running", "todo", "ok", "failed", "partly", "rejected", "expired", "stale", "rule",
    "cancelled", "unknown", "risk", "taken", "left",
)  # fmt: skip
_MEANS: Final[Mapping[str, str]] = {
    "waiting": "waits for you", "todo": "not started", "ok": "done", "cancelled": "withdrawn",
}  # fmt: skip
"""Longer words than those of the line mode."""
_SAID_BY_PANE: Final = frozenset({"approvals.approve", "approvals.reject"})
_KEYS_CELLS: Final = 9
_REASON_MARGIN: Final = 2
"""Cells before a reason that several keys share; it stands out to the left of them."""
_THREE_FROM: Final = 90
"""Cells from which the groups stand in three columns."""


def open_help(screen: "MainScreen") -> None:
    """Show the keys of what has the focus."""
    pane = screen.focused_pane
    name = pane.NAME if pane else "Composer"
    scopes = pane.scopes() if pane else ("composer",)
    keys = keymap.of_scopes([*screen.INNER, *scopes, "app"])
    screen.textual.push_screen(HelpScreen(name, keys, pane, screen.why_off))


class HelpScreen(ModalScreen[None], inherit_bindings=False):
    """One page of keys."""

    def __init__(
        self, name: str, keys: Sequence[Key], pane: Pane | None, why_off: Callable[[str], str] | None = None
    ) -> None:
        """Show keys.

        Args:
            name: whose keys they are.
            keys: those of its scopes, the inner ones first.
            pane: what has the focus; says why a key of its own is off.
            why_off: says of any key why the screen does nothing with it; empty if it does.
        """
        super().__init__(id="help-screen")
        self._why_off = why_off
        self._words, self._keys, self._pane = name, _unshadowed(keys), pane
        self._find = ""
        self._page = Static(id="help-page")

    def compose(self) -> ComposeResult:
        """Yield the page."""
        with VerticalScroll(id="help-box", can_focus=False):
            yield self._page

    def on_mount(self) -> None:
        """Show all keys."""
        self._show()

    def on_resize(self) -> None:
        """Lay out in another width."""
        self._show()

    def on_key(self, event: events.Key) -> None:
        """Find what is typed; escape clears it, then leaves."""
        event.stop()
        if event.key == "escape":
            if not self._find:
                self.dismiss()
                return
            self._find = ""
        elif event.key == "backspace":
            self._find = self._find[:-1]
        elif event.key in ("down", "up", "pagedown", "pageup"):
            self.query_one(VerticalScroll).scroll_relative(y=3 if "down" in event.key else -3, animate=False)
        elif event.key in ("f1", "question_mark") and not self._find:
            self.dismiss()
            return
        elif event.is_printable and event.character:
            self._find += event.character
        self._show()

    def _show(self) -> None:
        box = self.query_one("#help-box")
        found = f"“{self._find}”  esc clears it" if self._find else "type to find  esc back"
        box.border_title = cells.content(f"Keys here: {self._words}")  # type: ignore[assignment]
        box.border_subtitle = cells.content(glyphs(self).line(found))  # type: ignore[assignment]
        self._page.update(self._made(max(30, min(self.size.width - 8, 116))))
        self.call_after_refresh(self._say_more, found)

    def _say_more(self, found: str) -> None:
        """Say that there is more than is seen, once it is known how much fits."""
        box = self.query_one("#help-box")
        if self.is_attached and box.max_scroll_y > 0:
            box.border_subtitle = cells.content(glyphs(self).line(f"↑ ↓ more  {found}"))  # type: ignore[assignment]

    def _made(self, width: int) -> Content:
        is_one = bool(self._find) or width < _THREE_FROM
        cell = width if is_one else width // len(_COLUMNS)
        columns = [column for groups in _COLUMNS if (column := self._column(groups, cell - 1))]
        off = self._off(cell - 1)
        if is_one:
            columns = [[line for column in (*columns, off) for line in (*column, Content(""))]]
        elif off and len(columns) < len(_COLUMNS):
            columns.append(off)
        elif off and columns:
            min(columns, key=len).extend([Content(""), *off])
        lines = _beside(columns, cell)
        if not self._find:
            lines += [Content(""), *self._signs(width)]
        return Content("\n").join(lines or [Content(f"No key does “{self._find}”.")])

    def _column(self, groups: Iterable[str], width: int) -> list[Content]:
        lines: list[Content] = []
        for group in groups:
            keys = [key for key in self._keys if key.group == group and self._is_on(key)]
            if keys:
                lines += [Content("")] if lines else []
                lines.append(Content.styled(group, ink(self).of("foreground", bold=True)))
                lines += [line for key in keys for line in self._lines(key, width)]
        return lines

    def _off(self, width: int) -> list[Content]:
        """Return the keys that do nothing now, each with its reason."""
        keys = [key for key in self._keys if self._printed(key) and self._why(key) and self._is_found(key)]
        if not keys:
            return []
        lines = [Content.styled("Not now", ink(self).of("foreground", bold=True))]
        reasons = dict.fromkeys(self._why(key) for key in keys)
        for reason in sorted(reasons, key=lambda one: sum(self._why(key) == one for key in keys) > 1):
            same = [key for key in keys if self._why(key) == reason]
            if len(same) > 1:
                # Said once: of twelve keys that are off in a replay all are for one reason.
                words = glyphs(self).line(f"{reason.removesuffix('.')}:")
                texts = plain_wrap(words, max(8, width - _REASON_MARGIN))
                tone, margin = ink(self).of("muted"), " " * _REASON_MARGIN
                lines += [Content.assemble(margin, text.stylize(tone)) for text in texts]
            for key in same:
                words = (key.help or key.tooltip) if len(same) > 1 else reason
                lines += self._lines(key, width, words)
        return lines

    def _is_on(self, key: Key) -> bool:
        return bool(self._printed(key)) and not self._why(key) and self._is_found(key)

    def _why(self, key: Key) -> str:
        found = self._pane.why_not(key.id) if self._pane and key.scope in self._pane.SCOPES else ""
        return found or (self._why_off(key.id) if self._why_off is not None else "")

    def _now(self, key: Key) -> str:
        """Return what an answering key would do to what is under the cursor; empty for any other."""
        if self._pane is None or key.id not in _SAID_BY_PANE:
            return ""
        return self._pane.label_of(key.id)

    def _printed(self, key: Key) -> str:
        return keymap.shown(key, keymap.users_of(self))

    def _is_found(self, key: Key) -> bool:
        text = f"{self._printed(key)} {key.help or key.tooltip} {key.label}".casefold()
        return self._find.casefold() in text

    def _lines(self, key: Key, width: int, off: str = "") -> list[Content]:
        """Return what a key does, or what is said of one that is off, on as many lines as it takes."""
        colours, line, why = ink(self), glyphs(self).line, self._why(key)
        words = off or self._now(key) or key.help or key.tooltip
        shown = line(self._printed(key)).rjust(_KEYS_CELLS)
        tone = colours.of("faint") if why else colours.of("info", bold=True)
        texts = plain_wrap(line(words), max(8, width - _KEYS_CELLS - 2))
        heads = [Content.styled(shown, tone), *[Content(" " * _KEYS_CELLS)] * (len(texts) - 1)]
        style = colours.of("faint" if why else "foreground")
        return [
            Content.assemble(head, "  ", text.stylize(style)) for head, text in zip(heads, texts, strict=True)
        ]

    def _signs(self, width: int) -> list[Content]:
        colours, signs = ink(self), glyphs(self)
        cell = 20
        items = [
            Content.assemble((signs.of(name), _tone(name, colours)), f" {_MEANS.get(name, SIGNS[name].word)}")
            for name in _SIGNS
        ]
        row = max(1, width // cell)
        items = [item.pad_right(max(0, cell - item.cell_length)) for item in items]
        lines = [Content("").join(items[n : n + row]) for n in range(0, len(items), row)]
        return [Content.styled("Signs", colours.of("foreground", bold=True)), *lines]


def _tone(name: SignName, colours: Ink) -> Style:
    if name in ("taken", "left"):
        return colours.of("added" if name == "taken" else "muted")
    return colours.sign(name)  # type: ignore[arg-type]  # the list above holds no other glyphs


def _unshadowed(keys: Sequence[Key]) -> list[Key]:
    """Return the keys that count: an inner scope's stand before the same key of an outer one."""
    taken: set[str] = set()
    found: list[Key] = []
    for key in keys:
        if not taken & set(key.keys):
            found.append(key)
        taken |= set(key.keys)
    return found


def _beside(columns: Sequence[Sequence[Content]], width: int) -> list[Content]:
    rows = max((len(column) for column in columns), default=0)
    lines: list[Content] = []
    for n in range(rows):
        parts = [column[n] if n < len(column) else Content("") for column in columns]
        fitted = [part.truncate(width - 1, ellipsis=True) for part in parts]
        lines.append(Content("").join(part.pad_right(width - part.cell_length) for part in fitted))
    return lines
