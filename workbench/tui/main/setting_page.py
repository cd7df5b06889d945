"""Settings on the screen: all with their values, and one explained; those of the screen are set here.

All others are set in config.json: the page names the file, the value now and what it may be.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, get_args, get_origin

from textual import events, on
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget

from workbench.config.describe import plain_json
from workbench.config.keys import kind_parts, kind_words
from workbench.config.types import CONFIG_KEYS, KEYS_BY_PATH
from workbench.render import cells
from workbench.render.cells import Column
from workbench.text.canonical import dumps
from workbench.text.human import sentence
from workbench.tui.backend import SettingValue, setting_value_text
from workbench.tui.render_context import glyphs, ink
from workbench.tui.widgets.dialog import LINE_KEYS, PAGE_KEYS, ListDialog
from workbench.tui.widgets.line_view import LineView, RowList, RowPlacement
from workbench.tui.widgets.pager import WrappedLines

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext

SETTING_ALIASES: Final[Mapping[str, str]] = {
    "default_model": "llm", "default_provider": "llm server", "api_timeout_seconds": "slow connection wait",
    "max_session_messages": "context window history length", "output_format": "json",
    "auto_approval_rules": "auto approve yolo", "approvals.window_minutes": "timeout expiry expire deadline",
    "approvals.read_only": "reads auto approve", "approvals.allow": "auto approve yolo allowlist whitelist",
    "approvals.deny": "block denylist blacklist forbid", "approvals.on_expiry": "timeout expire",
    "limits.command_seconds": "timeout", "limits.max_turns": "loop limit",
    "ui.density": "compact blank spacing",
    "ui.glyphs": "icons ascii unicode symbols", "ui.motion": "animation flash", "ui.theme": "colours colors",
    "ui.keymap": "keys shortcuts bindings remap vim", "ui.notify.bell": "sound beep notifications",
    "ui.notify.title": "notifications window", "ui.notify.desktop": "notifications popup",
    "hooks.PreToolUse": "script", "hooks.PostToolUse": "script", "fetch.allow_loopback": "localhost web",
    "fetch.allowed_hosts": "web internet domains", "retention.sealed_days": "delete keep cleanup",
    "pipelines.max_concurrent_workers": "parallel concurrency",
    "tools": "disable enable allowlist whitelist",
    "ask.preferences_dir": "style instructions", "ask.terminal_lines": "scrollback tmux privacy",
}  # fmt: skip
"""What people call a setting who know it from elsewhere."""
SET_HERE: Final = (
    "ui.theme", "ui.density", "ui.motion", "ui.notify.bell", "ui.notify.title", "ui.notify.desktop",
)  # fmt: skip
"""Settings that count at once and are remembered beside the configuration."""


def open_settings(context: "MainContext") -> None:
    """Show all settings."""
    context.app.push_screen(SettingsScreen(context))


def open_setting(context: "MainContext", path: str) -> None:
    """Explain one setting."""
    context.app.push_screen(SettingScreen(context, path))


def setting_choices(path: str, themes: Sequence[str]) -> Sequence[str | bool]:
    """Return what a setting can be set to on the screen; none where it is set in the file."""
    if path not in SET_HERE:
        return ()
    if path == "ui.theme":
        return themes
    base, _ = kind_parts(KEYS_BY_PATH[path].kind)
    return tuple(get_args(base)) if get_origin(base) is Literal else (True, False)


class SettingList(RowList):
    """All settings: name, value, where from."""

    def __init__(self) -> None:
        super().__init__(key="settings-list")
        self.values: dict[str, SettingValue] = {}

    def show_values(self, values: Mapping[str, SettingValue]) -> None:
        """Show what settings are, by their dotted names; the cursor stays where it is."""
        self.values = dict(values)
        self.set_ids(list(self.values))
        self.invalidate()

    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        colours, value = ink(self), self.values[placed.row_id]
        tone = colours.of("muted" if value.is_default else "foreground", bold=not value.is_default)
        where = "" if value.is_default else value.where
        columns = [
            Column(content=_bar(self, placed), gap=0),
            Column(content=cells.safe_content(placed.row_id, colours.of("foreground")), width=34),
            Column(content=cells.safe_content(setting_value_text(value.value), tone), grows=True, least=12),
            Column(content=cells.safe_content(where, colours.of("muted")), width=34, drop=1, cut="path"),
            Column(content=Content(" "), gap=0),
        ]
        style = colours.cursor(has_focus=True) if placed.is_cursor else colours.on("background")
        return cells.row_strip(columns, width, style, glyphs=glyphs(self))


def _bar(view: RowList, placed: RowPlacement) -> Content:
    return Content.styled(glyphs(view).of("cursor") if placed.is_cursor else " ", ink(view).of("info"))


class SettingChoiceList(RowList):
    """What a setting can be."""

    def __init__(self) -> None:
        super().__init__(key="setting-choices")
        self.choices: dict[str, str | bool] = {}
        self.current = ""

    def show_choices(self, choices: Sequence[str | bool], current: object) -> None:
        """Show choices; the cursor goes to the one in force."""
        self.choices = {setting_value_text(choice): choice for choice in choices}
        self.current = setting_value_text(current)
        self.set_ids(list(self.choices))
        if self.current in self.choices:
            self.put_cursor(self.current)
        self.invalidate()

    def draw_row(self, placed: RowPlacement, width: int) -> Strip:
        colours = ink(self)
        is_now = placed.row_id == self.current
        words = Content.assemble(
            _bar(self, placed), f" {glyphs(self).of('taken' if is_now else 'left')} ",
            (placed.row_id, colours.of("foreground", bold=is_now)),
            ("   now" if is_now else "", colours.of("muted")),
        )  # fmt: skip
        style = colours.cursor(has_focus=True) if placed.is_cursor else colours.on("background")
        return cells.line_strip(words, width, style)


_READ_KEYS: Final = frozenset({*LINE_KEYS, *PAGE_KEYS, "g", "G", "q"})


class _SettingDialog(ListDialog, inherit_bindings=False):
    """A page of settings: its keys are those of every list, and enter."""

    BOX_CLASSES = "dialog-box pager-box"

    def reads_key(self, key: str) -> bool:
        return key in _READ_KEYS

    def on_key(self, event: events.Key) -> None:
        """Move, choose, leave."""
        event.stop()
        if event.key in ("escape", "q"):
            self.leave()
        elif event.key == "enter":
            self.enter()
        else:
            self.move_by_key(event.key)

    def enter(self) -> None:
        """Do what enter does."""
        raise NotImplementedError


class SettingsScreen(_SettingDialog, inherit_bindings=False):
    """All settings; enter explains the one under the cursor."""

    def __init__(self, context: "MainContext") -> None:
        self._settings = SettingList()
        super().__init__("settings", self._settings)
        self._main = context

    def compose_box(self) -> Iterable[Widget]:
        yield self._list

    def opened(self) -> None:
        self.set_titles("Settings", glyphs(self).line("enter explains, sets  j k  esc back"))
        super().opened()
        self._read()

    def on_screen_resume(self) -> None:
        """Show what was set meanwhile."""
        self._read()

    def _read(self) -> None:
        backend = self._main.backend
        self._settings.show_values({key.path: backend.setting(key.path) for key in CONFIG_KEYS})

    def enter(self) -> None:
        if self._list.cursor:
            open_setting(self._main, self._list.cursor)

    def row_opened(self, row_id: str) -> None:
        open_setting(self._main, row_id)


class SettingScreen(_SettingDialog, inherit_bindings=False):
    """One setting: what it does, its value, where that is from, and what it can be."""

    def __init__(self, context: "MainContext", path: str) -> None:
        self._values = SettingChoiceList()
        super().__init__("setting", self._values)
        self._main, self._path = context, path
        self._choices = setting_choices(path, context.app.theme_names)
        self._about = WrappedLines(self._lines(context.backend.setting(path)))

    def compose_box(self) -> Iterable[Widget]:
        yield self._about
        if self._choices:
            yield self._list

    @property
    def moved_view(self) -> LineView:
        return self._list if self._choices else self._about

    def opened(self) -> None:
        hint = "enter sets it  j k  esc back" if self._choices else "j k scroll  esc back"
        self.set_titles(f"Setting: {self._path}", glyphs(self).line(hint))
        self._about.styles.height = "auto" if self._choices else "1fr"
        self._values.show_choices(self._choices, self._value)
        super().opened()

    @property
    def _value(self) -> object:
        """Return what is in force here: that of this screen, else that of the configuration."""
        if self._path == "ui.theme":
            return self._main.app.theme
        if self._choices:
            value: Any = self._main.app.settings
            for name in self._path.split(".")[1:]:
                value = getattr(value, name)
            return value
        return self._main.backend.setting(self._path).value

    def _lines(self, value: SettingValue) -> list[str]:
        key = KEYS_BY_PATH[self._path]
        file = self._main.backend.config_file()
        facts = [
            ("now", setting_value_text(value.value)),
            ("from", value.where),
            ("default", setting_value_text(plain_json(key.default))),
            ("can be", kind_words(key.kind)),
            ("file", file),
        ]
        lines = [sentence(key.meaning), "", *(f"{name:<9}{text}" for name, text in facts), ""]
        if self._choices:
            return [*lines, "What is chosen here counts at once and on the next screens, until the file",
                    "says something else.", ""]  # fmt: skip
        return [*lines, *_how_to_set(self._path, value.value)]

    def enter(self) -> None:
        self._set()

    @on(RowList.Clicked)
    def _clicked(self) -> None:
        self._set()

    def _set(self) -> None:
        choice = self._values.choices.get(self._list.cursor or "")
        if choice is None:
            self.leave()
            return
        app = self._main.app
        if self._path == "ui.theme":
            app.keep_theme(str(choice))
        else:
            app.set_setting(self._path, choice)
        self.leave()


def _how_to_set(path: str, value: object) -> list[str]:
    """Return how a setting stands in the file."""
    json = _nested(path.split("."), "…" if value is None else value)
    return ["It is set in that file:", "", f"    {json}", "",
            "workbench config validate checks the file; config show prints everything."]  # fmt: skip


def _nested(names: Sequence[str], value: object) -> str:
    inner = dumps(value)
    for name in reversed(names):
        inner = f'{{ "{name}": {inner} }}'
    return inner
