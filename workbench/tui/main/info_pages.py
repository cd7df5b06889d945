"""Pages to read over the main screen: keys and signs, messages, the log after an error."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from textual import events
from textual.content import Content
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Static

from workbench.render import cells
from workbench.render.cells import wrap_plain_text
from workbench.render.theme import Ink
from workbench.text.human import clock_time
from workbench.tui.conversation.completion import SLASH_COMMANDS
from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.keymap import Key
from workbench.tui.main.notifications import LoggedMessage
from workbench.tui.main.palette_commands import KEY_COMMANDS
from workbench.tui.pane import Pane
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.dialog import Dialog, ScrolledBox
from workbench.tui.widgets.pager import PagerScreen
from workbench.views.status_icons import ICONS, IconName

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext
    from workbench.tui.main.screen import MainScreen
    from workbench.views.conversation_blocks import ErrorBlock

_OUTER_SCOPES: Final[Mapping[str, str]] = {
    "list": "In every list", "app": "Everywhere", "agents": "All agents, on every screen",
}  # fmt: skip
"""Scopes whose keys count in more than one place, and their headings; all others are of the current place."""
_FIRST_GROUPS: Final = ("Decide", "Hunks and lines", "Write")
"""Groups of a place that stand before its others."""
_BY_NAME: Final = (
    *((name, words) for name, words in SLASH_COMMANDS if name[1:] not in KEY_COMMANDS),
    (": theme", "other colours, tried out"), (": config", "settings: explained, changed"),
    (": …", "every command by any word"),
)  # fmt: skip
"""What has no key: commands of the composer, and words for the palette."""
_SIGNS: Final[tuple[IconName, ...]] = (
    "waiting", "running", "todo", "ok", "failed", "partly", "rejected", "expired", "stale", "rule",
    "cancelled", "unknown", "risk", "taken", "left",
)  # fmt: skip
_SIGN_MEANINGS: Final[Mapping[str, str]] = {
    "waiting": "waits for you", "todo": "not started", "ok": "done", "cancelled": "withdrawn, skipped",
    "risk": "risk, or refused",
}  # fmt: skip
"""Longer words than those of the line mode."""
_LABELED_BY_PANE: Final = frozenset({"approvals.approve", "approvals.reject"})
_KEYS_CELLS: Final = 9
_REASON_MARGIN: Final = 2
"""Cells before a reason that several keys share; it stands out to the left of them."""
_COLUMNS_FROM: Final = {3: 108, 2: 62}
"""Cells of a page from which the groups stand in so many columns."""
_COLUMN_GAP: Final = 2
_MAX_BOX: Final = 120
_BOX_EDGES: Final = 6
"""Cells of a row of the box that are not words: its borders and the blanks beside them."""


def open_help(screen: "MainScreen") -> None:
    """Show the keys of what has the focus."""
    pane = screen.focused_pane
    name = pane.NAME if pane else "Composer"
    scopes = pane.scopes() if pane else ("composer",)
    keys = keymap.keys_of_scopes([*screen.INNER, *scopes, "app", "agents"])
    screen.context.app.push_screen(HelpScreen(name, keys, pane, screen.why_not))


class HelpScreen(Dialog, inherit_bindings=False):
    """One page of keys."""

    def __init__(
        self,
        name: str,
        keys: Sequence[Key[Any]],
        pane: Pane | None,
        why_off: Callable[[str], str] | None = None,
    ) -> None:
        """Show keys.

        Args:
            name: whose keys they are.
            keys: those of its scopes, the inner ones first.
            pane: what has the focus; says why a key of its own is off.
            why_off: says of any key why the screen does nothing with it; empty if it does.
        """
        super().__init__("help")
        self._why_off = why_off
        self._words, self._keys, self._pane = name, _unshadowed_keys(keys), pane
        self._find = ""
        self._page = Static(id="help-page")

    def make_box(self) -> Widget:
        return ScrolledBox(id=self._box_id, classes=self.BOX_CLASSES, can_focus=False)

    def compose_box(self) -> Iterable[Widget]:
        yield self._page

    def opened(self) -> None:
        self._show()

    def resized(self) -> None:
        self.box.styles.height = "auto"
        self._show()

    def reads_key(self, key: str) -> bool:
        # Letters are what is looked for.
        del key
        return True

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
            self.query_one(ScrolledBox).scroll_relative(y=3 if "down" in event.key else -3, animate=False)
        elif event.key in ("f1", "question_mark") and not self._find:
            self.dismiss()
            return
        elif event.is_printable and event.character:
            if not self._find:
                # It stands still while what is in it gets less.
                self.box.styles.height = self.box.outer_size.height
            self._find += event.character
        if not self._find:
            self.box.styles.height = "auto"
        self._show()

    def _show(self) -> None:
        hint = "esc clears it" if self._find else "type to find  esc back"
        signs = glyphs(self)
        found = f"  {signs.of('prompt')} {self._find}{signs.of('typing')}" if self._find else ""
        self.set_titles(f"Keys here: {self._words}{found}", signs.line(hint))
        self._page.update(self._made(max(30, min(self.size.width * 96 // 100, _MAX_BOX) - _BOX_EDGES)))
        self.call_after_refresh(self._say_more, hint)

    def _say_more(self, hint: str) -> None:
        """Say that there is more than is seen, once it is known how much fits."""
        box = self.box
        if self.is_attached and box.max_scroll_y > 0:
            box.border_subtitle = cells.safe_content(glyphs(self).line(f"↑ ↓ more  {hint}"))  # type: ignore[assignment]

    def _made(self, width: int) -> Content:
        most = next((count for count, least in _COLUMNS_FROM.items() if width >= least), 1)
        count = 1 if self._find else most
        cell = (width - _COLUMN_GAP * (count - 1)) // count
        parts = [part for part in self._parts(cell) if part]
        if off := self._off(cell):
            parts.append(off)
        columns: list[list[Content]] = [[] for _ in range(min(count, len(parts)))]
        for n, part in enumerate(parts):
            column = columns[n] if n < len(columns) else min(columns, key=len)
            column += [Content(""), *part] if column else part
        lines = _columns_side_by_side(columns, cell)
        if not self._find:
            lines += [Content(""), *self._signs(width)]
        return Content("\n").join(lines or [Content(f"No key does “{self._find}”.")])

    def _parts(self, width: int) -> Iterator[list[Content]]:
        """Yield what stands together: the current place first, then what counts elsewhere too."""
        own = [key for key in self._keys if key.scope not in _OUTER_SCOPES]
        groups = dict.fromkeys(key.group for key in own)
        named = sorted(groups, key=lambda group: _rank(group, _FIRST_GROUPS))
        yield self._column([(group, [key for key in own if key.group == group]) for group in named], width)
        yield self._marks(width)
        for scope, heading in _OUTER_SCOPES.items():
            yield self._column([(heading, [key for key in self._keys if key.scope == scope])], width)
        yield self._by_name(width)

    def _column(self, groups: Iterable[tuple[str, Sequence[Key[Any]]]], width: int) -> list[Content]:
        lines: list[Content] = []
        for heading, keys in groups:
            if shown := [line for key in keys if self._is_on(key) for line in self._lines(key, width)]:
                lines += [Content("")] if lines else []
                is_double = any(key.decides and len(key.keys[0]) == 1 for key in keys)
                note = f": {_PRESSED_TWICE}" if is_double and heading == _DECIDING_GROUP else ""
                title = Content.assemble((heading, ink(self).of("foreground", bold=True)), note)
                lines += [title, *shown]
        return lines

    def _marks(self, width: int) -> list[Content]:
        """Return what the marks of the place mean."""
        heading, marks = self._pane.MARKS if self._pane is not None else ("", ())
        wanted = self._find.casefold()
        rows = [(mark, words) for mark, words in marks if wanted in f"{mark} {words}".casefold()]
        lines = [line for mark, words in rows for line in self._row(mark, words, width)]
        return [Content.styled(heading, ink(self).of("foreground", bold=True)), *lines] if lines else []

    def _by_name(self, width: int) -> list[Content]:
        """Return what is done by its name; only where there is a composer to type it."""
        scopes = {key.scope for key in self._keys}
        if "replay" in scopes or not scopes & {"app", "composer"}:
            return []
        wanted = self._find.casefold()
        rows = [(name, words) for name, words in _BY_NAME if wanted in f"{name} {words}".casefold()]
        lines = [line for name, words in rows for line in self._row(name, words, width)]
        return [Content.styled("By name", ink(self).of("foreground", bold=True)), *lines] if rows else []

    def _off(self, width: int) -> list[Content]:
        """Return the keys that do nothing now, each with its reason."""
        keys = [key for key in self._keys if self._printed(key) and self._why(key) and self._is_found(key)]
        if not keys:
            return []
        lines = [Content.styled("Not now", ink(self).of("foreground", bold=True))]
        reasons = dict.fromkeys(self._why(key) for key in keys)
        for reason in sorted(reasons, key=lambda reason: sum(self._why(key) == reason for key in keys) > 1):
            same = [key for key in keys if self._why(key) == reason]
            if len(same) > 1:
                # Said once: of twelve keys that are off in a replay all are for one reason.
                words = glyphs(self).line(f"{reason.removesuffix('.')}:")
                texts = wrap_plain_text(words, max(8, width - _REASON_MARGIN))
                tone, margin = ink(self).of("muted"), " " * _REASON_MARGIN
                lines += [Content.assemble(margin, text.stylize(tone)) for text in texts]
            for key in same:
                words = (key.help or key.tooltip) if len(same) > 1 else reason
                lines += self._lines(key, width, words)
        return lines

    def _is_on(self, key: Key[Any]) -> bool:
        return bool(self._printed(key)) and not self._why(key) and self._is_found(key)

    def _why(self, key: Key[Any]) -> str:
        reason = self._pane.why_not(key.id) if self._pane and key.scope in self._pane.SCOPES else ""
        return reason or (self._why_off(key.id) if self._why_off is not None else "")

    def _now(self, key: Key[Any]) -> str:
        """Return what an answering key would do to what is under the cursor; empty for any other."""
        if self._pane is None or key.id not in _LABELED_BY_PANE:
            return ""
        return self._pane.label_of(key.id)

    def _printed(self, key: Key[Any]) -> str:
        return keymap.printed_keys(key, keymap.user_keymap(self))

    def _is_found(self, key: Key[Any]) -> bool:
        text = f"{self._printed(key)} {key.help or key.tooltip} {key.label}".casefold()
        return self._find.casefold() in text

    def _lines(self, key: Key[Any], width: int, off: str = "") -> list[Content]:
        """Return what a key does, or what is said of one that is off, on as many lines as it takes."""
        words = off or self._now(key) or key.help or key.tooltip
        return self._row(self._printed(key), words, width, is_off=bool(self._why(key)))

    def _row(self, keys: str, words: str, width: int, *, is_off: bool = False) -> list[Content]:
        colours, line = ink(self), glyphs(self).line
        shown = line(keys).rjust(_KEYS_CELLS)
        tone = colours.of("faint") if is_off else colours.of("info", bold=True)
        texts = wrap_plain_text(line(words), max(8, width - _KEYS_CELLS - 2))
        heads = [Content.styled(shown, tone), *[Content(" " * _KEYS_CELLS)] * (len(texts) - 1)]
        style = colours.of("faint" if is_off else "foreground")
        return [
            Content.assemble(head, "  ", text.stylize(style)) for head, text in zip(heads, texts, strict=True)
        ]

    def _signs(self, width: int) -> list[Content]:
        colours, signs = ink(self), glyphs(self)
        cell = 20
        items = [
            Content.assemble(
                (signs.of(name), _sign_color(name, colours)), f" {_SIGN_MEANINGS.get(name, ICONS[name].word)}"
            )
            for name in _SIGNS
        ]
        row = max(1, width // cell)
        items = [item.pad_right(max(0, cell - item.cell_length)) for item in items]
        lines = [Content("").join(items[n : n + row]) for n in range(0, len(items), row)]
        return [Content.styled("Signs", colours.of("foreground", bold=True)), *lines]


_DECIDING_GROUP: Final = "Decide"
_PRESSED_TWICE: Final = "each letter twice"


def _rank(group: str, first: Sequence[str]) -> int:
    return first.index(group) if group in first else len(first)


def _sign_color(name: IconName, colours: Ink) -> Style:
    if name in ("taken", "left"):
        return colours.of("added" if name == "taken" else "muted")
    return colours.sign(name)  # type: ignore[arg-type]  # the list above holds no other glyphs


def _unshadowed_keys(keys: Sequence[Key[Any]]) -> list[Key[Any]]:
    """Return the keys that count: an inner scope's stand before the same key of an outer one."""
    taken: set[str] = set()
    unshadowed: list[Key[Any]] = []
    for key in keys:
        if not taken & set(key.keys):
            unshadowed.append(key)
        taken |= set(key.keys)
    return unshadowed


def _columns_side_by_side(columns: Sequence[Sequence[Content]], width: int) -> list[Content]:
    rows = max((len(column) for column in columns), default=0)
    lines: list[Content] = []
    for n in range(rows):
        parts = [column[n] if n < len(column) else Content("") for column in columns]
        fitted = [part.truncate(width, ellipsis=True) for part in parts]
        gap = Content(" " * _COLUMN_GAP)
        lines.append(gap.join(part.pad_right(width - part.cell_length) for part in fitted))
    return lines


def open_messages(context: "MainContext") -> None:
    """Show what the screen said so far, from the newest up."""
    lines = [_message_line(context, message) for message in context.app.main.notifications.kept]
    title, nothing = "Messages of this screen", ["Nothing was said yet."]
    context.app.push_screen(PagerScreen(title, lines or nothing, name="messages", begins_at_end=True))


def _message_line(context: "MainContext", message: LoggedMessage) -> Content:
    colours = ink(context.widgets.rule)
    sign = f"{glyphs(context.widgets.rule).of('failed')} " if message.is_error else "  "
    time = Content.styled(f"{clock_time(message.at)}  ", colours.of("faint"))
    tone = colours.of("failed" if message.is_error else "foreground")
    return time + cells.safe_content(f"{sign}{message.text}", tone)


def open_log(context: "MainContext", error: "ErrorBlock") -> None:
    """Show what is known of an error, and the host's log."""
    facts = (("code", error.code), ("what", error.message), ("why", error.details), ("to do", error.remedy))
    lines = [f"{name:<6} {text}" for name, text in facts if text]
    log = context.backend.host_log() or ("No background process has written a log.",)
    context.app.push_screen(PagerScreen("The log", [*lines, "", *log], opened_by="l"))
