"""The Textual app of one workspace: it composes the main screen, themes, key handling and drawing.

Owns the colors in force, the clock that arms keys, and how ctrl+c and ctrl+q leave dialogs without answering.
"""

# The first frame draws the question, not the colours. The diff is in it; the readers of markdown and of
# code are loaded in a thread and what they change is drawn again.
#
# Nothing runs beside the first frame. Threads that load modules begin when a frame was really sent
# (`MainScreen._compositor_refresh`): the framework starts in a batch in which everything is drawn and
# thrown away, and "after the refresh" came before any. The main screen is the app's first screen, styles
# are read once with the theme's colours and applied once; dialogs and places have theirs read after that
# frame.
#
# No garbage is looked for before the first frame, and what a start made is left out of every later
# collection (`gc.freeze`): importing makes much and throws nothing away, and looking was a seventh of the
# start.
#
# A thread computes for one millisecond before a key gets its turn, not for five: a key passes the loop
# several times, and at each pass it would wait for whatever reads ten thousand rows in the background.

import asyncio
import gc
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from rich.console import RenderableType
from textual import on
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.driver import Driver
from textual.filter import LineFilter, Monochrome, NoColor
from textual.screen import Screen
from textual.theme import Theme
from textual.widget import AwaitMount

from workbench.config.types import UiSettings
from workbench.journal.journal import Journal
from workbench.render import markdown
from workbench.render.encoding_filter import EncodingFilter
from workbench.render.glyphs import Glyphs, glyphs_for, is_unicode_encoding
from workbench.render.syntax import SyntaxHighlighter
from workbench.render.theme import (
    OWN_THEMES_256,
    ColorDepth,
    Ink,
    colors_at_depth,
    css_variables_at_depth,
    own_theme,
    theme_name_at_depth,
    theme_problem,
)
from workbench.tui.backend import Backend
from workbench.tui.journal_source import JournalFeed, JournalSource
from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.dialog_keys import (
    DIALOG_BINDINGS,
    has_open_dialog,
    leave_all_dialogs,
    stop_agent_or_go_back,
)
from workbench.tui.keyboard.keyboard_app import KeyboardApp
from workbench.tui.keyboard.table import CHAINS
from workbench.tui.main.agent_hold import AgentHoldController
from workbench.tui.main.context import WorkspaceStatus
from workbench.tui.main.screen import MainScreen
from workbench.tui.pane import JumpWanted, SourceChanged
from workbench.tui.state import ScreenState
from workbench.tui.terminal_contents import ChangedCellsUpdate, FullUpdate, TerminalContents
from workbench.tui.widgets.line_view import LineView
from workbench.views.data_source import DataSource

if TYPE_CHECKING:
    from workbench.tui.approvals.decision_writer import DecisionHandler

_APP_FILE: Final = Path(__file__).resolve()
_FIRST_DEFERRED_STYLE: Final = "80"
"""The first stylesheet of those that the first frame does without: dialogs, other places."""


def style_files(*, is_later: bool = False) -> list[Path]:
    """Return the stylesheets in order: beside the package in a checkout, inside it in a wheel.

    Args:
        is_later: Those that are read after the first frame.
    """
    inside = _APP_FILE.parents[1] / "styles"
    folder = inside if inside.is_dir() else _APP_FILE.parents[2] / "styles"
    return [
        path for path in sorted(folder.glob("*.tcss")) if (path.name >= _FIRST_DEFERRED_STYLE) == is_later
    ]


def prepare_first_keys() -> None:
    """Load what the first keys, answers and events take, so that none waits for it; in any thread."""
    from workbench.tui.approvals import approval_actions
    from workbench.tui.approvals.decision_writer import DecisionWriter
    from workbench.tui.keyboard import dispatch, guard, queue
    from workbench.tui.main import notifications

    del dispatch, guard, queue, approval_actions, notifications
    DecisionWriter.prepare()


_NO_COLOR_FILTER: Final = NoColor()


class WorkbenchApp(KeyboardApp, inherit_bindings=False):
    """The screen of one workspace."""

    ENABLE_COMMAND_PALETTE = False
    TITLE = "workbench"
    BINDINGS: ClassVar = [*DIALOG_BINDINGS, *keymap.bindings("agents", is_first=True)]
    CSS_PATH = style_files()  # type: ignore[assignment]  # Textual takes lists of paths

    def __init__(
        self,
        journal: Journal,
        backend: Backend,
        workspace: str,
        *,
        ui: UiSettings | None = None,
        theme: str = "",
        home: str = "",
        source: DataSource | None = None,
        glyphs: Glyphs | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        depth: ColorDepth = "full",
        encoding: str | None = None,
    ) -> None:
        """Compose the screen of a workspace.

        Args:
            journal: An open journal; the caller closes it after `run`.
            backend: What reaches outside.
            workspace: The real path of the folder.
            ui: The settings of the screen; None takes the defaults.
            theme: The theme to begin with; empty takes that of the settings.
            home: The user's home folder, shown as `~`.
            source: What is shown instead of the live journal.
            glyphs: The signs; None follows the settings and the terminal.
            monotonic: The clock that arms keys.
            depth: How many colours the terminal shows.
            encoding: Which characters it has; None believes standard output.
        """
        self._theme: Theme | None = None
        self._has_colors = False
        self._depth: ColorDepth = depth
        super().__init__(monotonic)
        if self.no_color and depth == "256":
            # Greys are made of the colours, and the 256 have no grey for a dark blue row.
            self._depth = depth = "full"
        # Two widgets less on every screen: toasts are our own, and the last row says what keys do.
        self._disable_tooltips = self._disable_notifications = True
        self._ui = ui
        self._shown = TerminalContents()
        self._life: asyncio.AbstractEventLoop | None = None
        self._must_end = self._has_frame = False
        wish = ui.glyphs if ui else "auto"
        if encoding is None or wish == "unicode":
            encoding = getattr(sys.__stdout__, "encoding", None)
        self._encodable = None if is_unicode_encoding(encoding) else EncodingFilter(encoding or "ascii")
        self.glyphs = glyphs or glyphs_for(wish, encoding)  # type: ignore[arg-type]
        self.set_class(self.glyphs.is_ascii, "-ascii")
        self.painter: SyntaxHighlighter | None = None
        self.when_drawn: Callable[[], object] | None = None
        """Called once, after the first frame."""
        self._wrong: Sequence[str] = ()
        self.has_motion = ui is None or ui.motion != "none"
        self._take_colors(theme or (ui.theme if ui else "workbench-dark"), depth)
        self.opening_mode = "every call"
        """What is asked about, as it was before the first frame; read again from time to time."""
        self.opens_on: str | None = None
        """The session that is on show first; None is the newest."""
        self._live = source or JournalSource(journal, workspace)
        self._journal, self._backend, self.workspace, self._home = journal, backend, workspace, home
        self._agent_hold = AgentHoldController(self, journal, backend)

    def get_driver_class(self) -> type[Driver]:
        """Return what reads and writes the terminal, ours where the framework would take its own."""
        driver_class = super().get_driver_class()
        if driver_class.__name__ != "LinuxDriver":
            return driver_class
        from workbench.tui.driver import FrameDriver

        return FrameDriver

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return what everything passes on its way to the terminal."""
        filters = super().get_line_filters()
        if self.no_color and self.native_ansi_color:
            # The framework chose before there was a theme: a terminal's own colours make no greys but black.
            filters = [
                _NO_COLOR_FILTER if isinstance(line_filter, Monochrome) else line_filter
                for line_filter in filters
            ]
        return filters if self._encodable is None else [*filters, self._encodable]

    @property
    def journal(self) -> Journal:
        """Return the journal, for places that read more of it than the workspace's sessions."""
        return self._journal

    # --- colours --------------------------------------------------------------------------------

    def _take_colors(self, wanted: str, depth: ColorDepth) -> None:
        for name in ("workbench-dark", "workbench-light"):
            self.register_theme(own_theme(name) if depth == "full" else own_theme(name, OWN_THEMES_256[name]))
        self._theme_problem = theme_problem(wanted)
        known = self.available_themes
        self.theme = theme_name_at_depth(known.get(wanted, known["workbench-dark"]), depth)
        self._has_colors = True
        self.ink = Ink(tokens=colors_at_depth(self.current_theme, self._depth), no_colour=self.no_color)

    def get_css_variables(self) -> dict[str, str]:
        if not self._has_colors:  # asked while the framework has its own theme, which nothing is shown in
            return {}
        # Ours last: styles and what is drawn must agree, and a theme's own panel may hide its texts.
        return {**super().get_css_variables(), **css_variables_at_depth(self.current_theme, self._depth)}

    @property
    def theme_names(self) -> list[str]:
        """Return the themes that this terminal can show, ours first."""
        known = self.available_themes.values()
        shown = [theme.name for theme in known if self._depth != "16" or theme.ansi]
        return sorted(shown, key=lambda name: (name not in OWN_THEMES_256, name))

    def show_theme(self, name: str) -> None:
        """Put a theme in force, as far as this terminal has its colours."""
        self.theme = theme_name_at_depth(self.available_themes[name], self._depth)

    def keep_theme(self, name: str) -> None:
        """Put a theme in force on this screen and those to come."""
        self.show_theme(name)
        self.keep_setting("ui.theme", name)

    def keep_setting(self, path: str, value: str | bool) -> None:
        """Remember a setting of the screen for those to come; the caller has put it in force here."""
        self.main.context.tasks.file(lambda: self._backend.keep_setting(path, value))

    def set_setting(self, path: str, value: str | bool) -> None:
        """Put a setting of the screen in force here and on those to come; `path` is dotted."""
        self.configure(self.settings.with_value(path.removeprefix("ui."), value))
        self.keep_setting(path, value)

    @property
    def settings(self) -> UiSettings:
        """Return the settings of this screen as they are in force."""
        return self._ui or UiSettings()

    @property
    def current_theme(self) -> Theme:
        """The theme in force; the framework looks for it among all themes at every line that it draws."""
        theme = self._theme
        if theme is None or theme.name != self.theme:
            self._theme = theme = super().current_theme
        return theme

    def _watch_theme(self, theme_name: str) -> None:
        if self._has_frame:
            super()._watch_theme(theme_name)

    def _theme_changed(self, theme: Theme) -> None:
        self.ink = Ink(tokens=colors_at_depth(theme, self._depth), no_colour=self.no_color)
        # Titles and rows hold finished colours, so they are made again and not only painted again.
        for screen in self._mains():
            screen.presenter.everything()
        for screen in self.screen_stack:
            for view in screen.query(LineView):
                view.restyle()
        self.screen.refresh(repaint=True, layout=True)

    # --- life -----------------------------------------------------------------------------------

    def on_load(self) -> None:
        """Put colours and the user's keys in force before there is anything to draw with them."""
        self._life = asyncio.get_running_loop()
        # What the framework does when a theme is set, without reading and applying all styles once more.
        theme = self.current_theme
        known = {f"-theme-{theme.name}": True, "-dark-mode": theme.dark, "-light-mode": not theme.dark}
        self.update_classes(known, update=False)
        self._refresh_truecolor_filter(self.ansi_theme)
        self.stylesheet.set_variables(self.get_css_variables())
        self.ink = Ink(tokens=colors_at_depth(self.current_theme, self._depth), no_colour=self.no_color)
        self.theme_changed_signal.subscribe(self, self._theme_changed)
        users = dict(self._ui.keymap) if self._ui else {}
        # Without keys of the user there is nothing to find: a test looks through the table itself.
        self._wrong = keymap.keymap_errors(users, CHAINS) if users else ()
        if not self._wrong:
            self.user_keys = users

    def get_default_screen(self) -> Screen[None]:
        """Return the main screen: another one below it would be made, styled and laid out for nothing."""
        self.key_screen = self.main = self.make_main()
        is_compact = self._ui is not None and self._ui.density == "compact"
        self.main.conversation.set_compact(is_compact=is_compact)
        return self.main

    async def on_mount(self) -> None:
        if self._must_end:
            self.exit()
        if self.user_keys:
            self.set_keymap(self.user_keys)
        theme = [" ".join(self._theme_problem)] if self._theme_problem else []
        for sentence in (*theme, *self._wrong):
            self.main.call_after_refresh(self.main.say, sentence, is_error=True)
        await AwaitMount(self.main, [self.main])
        self.call_later(self.main.refresh, layout=True)

    def make_main(self) -> MainScreen:
        """Return the screen that is there for as long as the app is."""
        state = ScreenState(self._live, is_wide=self._backend.is_wide)
        state.all_sessions = frozenset(self._backend.all_sessions)
        return MainScreen(
            state,
            self._backend,
            self._decision_writer,
            JournalFeed(self._journal, lambda: self.main.post_message(SourceChanged())),
            WorkspaceStatus(workspace=self.workspace, home=self._home, asks=(self.opening_mode, 0)),
            self._ui.notify if self._ui else None,
        )

    def _decision_writer(self) -> "DecisionHandler":
        from workbench.tui.approvals.decision_writer import DecisionWriter

        return DecisionWriter(self._journal)

    def open_replay(self, session_id: str, number: int | None = None) -> None:
        """Show a session again, over the live screen, which goes on under it.

        Args:
            session_id: Which.
            number: The event at which it stands, paused; None plays it from its beginning.
        """
        from workbench.tui.replay.replay_screen import replay_screen_for

        session = self._journal.session(session_id)
        if session is None:
            self.main.say("It no longer exists.", is_error=True)
        elif not isinstance(self.screen, MainScreen) or self.screen.INNER:
            self.main.say("A replay is on the screen already.")
        else:
            screen = replay_screen_for(self._journal, session, self._home, self._backend, number)
            screen.conversation.set_compact(is_compact=self.main.conversation.view.is_compact)
            self.push_screen(screen)

    def open_sub_agent(self, session_id: str, at: int) -> None:
        """Show the recording of an agent over the screen of the one that began it; leaving goes back.

        Args:
            session_id: Which.
            at: The time that it shows, in microseconds since the epoch.
        """
        from workbench.tui.replay.replay_screen import replay_screen_at

        session = self._journal.session(session_id)
        if session is None:
            self.main.say("It no longer exists.", is_error=True)
        elif isinstance(self.screen, MainScreen):
            above = self.screen
            screen = replay_screen_at(self._journal, session, self._home, self.backend_of_replays, at)
            screen.conversation.set_compact(is_compact=above.conversation.view.is_compact)
            self.push_screen(screen)

    @property
    def backend_of_replays(self) -> Backend | None:
        """Return what reaches outside for a replay over this screen."""
        return self._backend

    def open_beside(self, one: str, other: str) -> None:
        """Show two sessions of the journal side by side."""
        from workbench.tui.replay.side_by_side import SideBySideScreen

        sessions = [self._journal.session(key) for key in (one, other)]
        sides = [(self._journal, session) for session in sessions if session is not None]
        if len(sides) < len(sessions):
            self.main.say("One of the two no longer exists.", is_error=True)
        else:
            self.push_screen(SideBySideScreen(sides[0], sides[1], live=self._backend))

    def _mains(self) -> list[MainScreen]:
        return [screen for screen in self.screen_stack if isinstance(screen, MainScreen)]

    def configure(self, ui: UiSettings, words: str = "") -> None:
        """Take other settings of the screen over while it is shown.

        Args:
            ui: All of them.
            words: What is said about the change.
        """
        is_new_theme = self._ui is None or ui.theme != self._ui.theme
        self._ui = ui
        self._backend.configuration_changed()
        self.has_motion = ui.motion != "none"
        self.main.notifications.wishes = ui.notify
        users = dict(ui.keymap)
        wrong = keymap.keymap_errors(users, CHAINS)
        if not wrong:
            self.set_keymap(users)
        if is_new_theme and ui.theme in self.available_themes:
            self.show_theme(ui.theme)
        for screen in self._mains():
            screen.conversation.set_compact(is_compact=ui.density == "compact")
            screen.presenter.everything()
        for sentence in wrong or [words]:
            # What this screen changed itself it has said itself, with more words.
            if sentence and (wrong or not self.main.context.providers.has_just_changed):
                self.main.say(sentence, is_error=bool(wrong))

    def _after_first_frame(self) -> None:
        """Collect garbage again, but not among what a start has made, which stays; then load the painter."""
        if not gc.isenabled():
            gc.freeze()
            gc.enable()
        for path in style_files(is_later=True):
            self.stylesheet.add_source(path.read_text("utf-8"), (str(path), ""))
        self.show_hold()
        self._load_painter()
        if self.when_drawn is not None:
            self.when_drawn()

    def _load_painter(self) -> None:
        """Colour code from the second frame on: what paints it, and what answers, takes longer to load."""
        self.run_worker(self._paint, thread=True, group="painter", description="load the painter")

    def _paint(self) -> None:
        painter = SyntaxHighlighter()
        prepare_first_keys()
        markdown.load_markdown()
        painter.lines("code.py", ("pass",))
        self.call_from_thread(self._painted, painter)

    def _painted(self, painter: SyntaxHighlighter) -> None:
        self.painter = painter
        for screen in self._mains():
            screen.approvals.detail_view.invalidate()
            screen.conversation.view.redraw()

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        # Textual leaves the type of a screen's result open; nothing here depends on it.
        display = cast("Callable[[object, object], None]", super()._display)  # type: ignore[misc]
        if type(renderable) is ChopsUpdate:
            renderable = ChangedCellsUpdate(renderable, self._shown)
        elif type(renderable) is LayoutUpdate:
            renderable = FullUpdate(renderable, self._shown)
        elif renderable is not None:
            self._shown.forget()
        display(screen, renderable)
        if renderable is not None and not self._has_frame and not self.is_held:
            self._has_frame = True
            self.call_later(self._after_first_frame)

    @property
    def is_held(self) -> bool:
        """Return whether what is drawn now goes nowhere, as in the batch in which the framework starts."""
        return self._batch_count > 0

    @property
    def can_suspend(self) -> bool:
        """Return whether a shell waits for this process to stop: it has put it in a group of its own."""
        return self._driver is not None and self._driver.can_suspend and os.getpgrp() != os.getsid(0)

    @on(Driver.SignalResume)
    def _come_back(self) -> None:
        """Write everything after `fg`: the terminal shows nothing of what is known to stand there."""
        self.refresh(layout=True)

    @on(JumpWanted)
    def _jump(self) -> None:
        from workbench.tui.main.jump import open_jump

        open_jump(self)

    # --- the end --------------------------------------------------------------------------------

    def end_soon(self) -> None:
        """Leave, as at a signal; any thread may ask, and one that comes before the first frame counts."""
        self._must_end = True
        loop = self._life
        if loop is not None:
            loop.call_soon_threadsafe(self.exit)

    @property
    def draft(self) -> str:
        """Return what was written on the screen and not sent."""
        return self.main.composer.draft if self._has_frame else ""

    @property
    def failure(self) -> Exception | None:
        """Return the error that ended the screen, None if it ended in order."""
        return self._exception

    def _fatal_error(self) -> None:
        # Textual prints a traceback with the values of all variables: prompts, files, secrets. The command
        # line writes a scrubbed one into a log instead.
        self._close_messages_no_wait()

    # --- keys -----------------------------------------------------------------------------------

    def has_start_focus(self) -> bool:
        return not (self.main.composer.is_awaited and self.main.is_current)

    def set_terminal_title(self, title: str) -> None:
        """Say in the terminal's title what waits."""
        if title != getattr(self, "_said_title", ""):
            self._said_title = title
            if self._encodable is not None:
                title = self._encodable.text(title)
            driver = self._driver
            if driver is not None and not self.is_headless:
                driver.write(f"\x1b]2;{title}\x07")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Take `ctrl+c` and `ctrl+q` from dialogs only: elsewhere they are of the table of keys.

        No dialog releases agents: the same key may have a meaning in it.
        """
        if action in ("stop_or_back", "leave_all"):
            return has_open_dialog(self)
        if action == "do" and parameters == ("agents.release",):
            return not has_open_dialog(self)
        return super().check_action(action, parameters)

    def action_do(self, key_id: str) -> None:
        """Do what a key of every screen does."""
        keymap.key_of(key_id).action(self)

    def hold_agents(self) -> None:
        """Have every call of every agent ask; again changes nothing."""
        self._agent_hold.hold()

    def release_agents(self) -> None:
        """Let rules, modes and trust count again, once it was drawn long enough that agents are held."""
        self._agent_hold.release()

    @property
    def are_agents_held(self) -> bool:
        """Return whether all agents were held when it was looked at last."""
        return self._agent_hold.is_in_force

    def show_hold(self) -> None:
        """Look whether all agents are held, and show it on every screen."""
        self._agent_hold.look()

    def action_stop_or_back(self) -> None:
        """Stop the agent on show, or go back from a dialog."""
        stop_agent_or_go_back(self)

    def action_leave_all(self) -> None:
        """Go back from every dialog, and leave as the key does without one."""
        leave_all_dialogs(self)
