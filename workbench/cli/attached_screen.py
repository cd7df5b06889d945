"""A screen on this terminal, until its user leaves it or the terminal is gone.

Takes the lock of an attached screen and the terminal, follows changes of the configuration while the
screen is open, keeps what was chosen on it for the next one, ends in order on SIGHUP and SIGTERM, and
gives the terminal back.
"""

import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.backend.screen_files import settings_with_choices
from workbench.cli.console import color_depth, terminal_encoding, why_no_screen
from workbench.cli.errors import Refusal
from workbench.config.layers import USER_CONFIG_FILE, load_config
from workbench.config.types import Config
from workbench.domain.values import WORKSPACE_CONFIG_FILE
from workbench.effects.file_locks import FileLock, remove_unheld_lock
from workbench.host import workspace_trust
from workbench.host.host_locks import screen_lock_path
from workbench.journal.journal import Journal
from workbench.tui.backend import Backend

if TYPE_CHECKING:
    from workbench.config.types import LoadedConfig
    from workbench.host.pipeline_watch import PipelineWatch
    from workbench.host.workspace_config import ConfigWatch
    from workbench.tui.app import WorkbenchApp
    from workbench.tui.main.context import MainContext


OpenedScreen = Callable[["MainContext"], object]
"""What is done with a screen after its first frame."""


WATCH_DELAY_SECONDS = 2.0
"""Seconds after its first frame before a screen follows its configuration: no start waits for that."""
MAINTENANCE_DELAY_SECONDS = 20.0
"""Seconds that a screen is open before it tidies the data folder, if no host did so within the hour."""
THREAD_SWITCH_SECONDS = 0.001
"""Seconds for which a thread that reads in the background computes before a key gets its turn."""
HANG_UP_SECONDS = 5.0
"""How long a screen whose terminal is gone may take to end in order."""


@contextmanager
def exit_on_signals(end: Callable[[], None]) -> Generator[None, None, None]:
    """End the screen in order at a hang-up or a termination: the terminal is given back, agents go on."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}

    def handle(number: int, _frame: object = None) -> None:
        # Writing to a terminal that is gone may never come back.
        timer = threading.Timer(HANG_UP_SECONDS, os._exit, (128 + number,))
        timer.daemon = True
        timer.start()
        end()

    for number in before:
        signal.signal(number, handle)
    watcher = threading.Thread(target=wait_for_hang_up, args=(lambda: handle(signal.SIGHUP),), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def wait_for_hang_up(end: Callable[[], None]) -> None:
    """Wait until the other side of the terminal is gone, then call `end`.

    A terminal that controls nothing sends no signal when it goes; whoever reads it then reads nothing, at
    once, for ever. Where the system cannot wait for that (macOS), this returns at once.
    """
    poll = select.poll()
    try:
        poll.register(sys.stdin.fileno(), 0)
        events = poll.poll()
    except (OSError, ValueError):  # not a file that can be waited for
        return
    if any(flags & select.POLLHUP for _, flags in events):
        end()


def require_terminal() -> None:
    """Refuse to draw where nobody could see it."""
    if why := why_no_screen():
        remedy = "use workbench approvals watch, or workbench run in a script"
        raise Refusal("The screen was not opened", why, remedy)


def screen_config(journal: Journal, workspace: str) -> Config:
    """Return the configuration that holds for a screen on a workspace."""
    return usable_config(journal.home.path, workspace, trusted=workspace_trust.is_trusted(journal, workspace))


def usable_config(folder: Path, workspace: str, *, trusted: bool) -> Config:
    """Return the configuration that a user's folder and a workspace make together."""
    loaded = load_config(folder, Path(workspace), trusted=trusted, env=os.environ, options={})
    if not loaded.is_usable:
        problem = next(problem for problem in loaded.problems if problem.fatal)
        raise Refusal(
            "The screen was not opened",
            str(problem),
            "correct the file; workbench config validate names its errors",
        )
    return loaded.config


class ConfigFollower:
    """Lets a screen follow its configuration while it is open; everything but the making is in a thread."""

    def __init__(self, journal: Journal, workspace: str, app: "WorkbenchApp") -> None:
        self._home, self._journal, self._workspace, self._app = journal.home, journal, workspace, app
        self._watches: list[ConfigWatch | PipelineWatch] = []

    def begin(self) -> None:
        """Follow from now on, or rather from when the start is well over."""
        from workbench.host.pipeline_watch import PipelineWatch
        from workbench.host.workspace_config import ConfigWatch

        files = (self._home.path / USER_CONFIG_FILE, Path(self._workspace) / WORKSPACE_CONFIG_FILE)
        self._watches = [
            ConfigWatch(files, self._changed, WATCH_DELAY_SECONDS, on_start=self._load),
            PipelineWatch(self._journal, self._workspace, self._said, WATCH_DELAY_SECONDS),
        ]

    def close(self) -> None:
        """Follow no more."""
        for watch in self._watches:
            watch.close()

    def _said(self, words: str, is_error: bool) -> None:
        with suppress(RuntimeError):  # it may be closing
            self._app.call_from_thread(self._app.main.say_unasked, words, is_error=is_error)

    def _load(self) -> None:
        from workbench.host.workspace_config import WorkspaceSettings

        self._settings = WorkspaceSettings(self._home, self._workspace, {})
        loaded = self._settings.loaded(trusted=workspace_trust.is_trusted(self._journal, self._workspace))
        if loaded.config.approvals.allow:
            self._say_what_is_wide(loaded)

    def _say_what_is_wide(self, loaded: "LoadedConfig") -> None:
        from workbench.host import driver_context
        from workbench.tools.registry import tool_registry

        notes = driver_context.wide_allow_pattern_notes(loaded, tool_registry().descriptors())
        if notes:
            more = f" And {len(notes) - 1} more; workbench config validate names them." if notes[1:] else ""
            self._said(f"{notes[0]}{more}", is_error=False)

    def _changed(self) -> None:
        change = self._settings.read_again(trusted=workspace_trust.is_trusted(self._journal, self._workspace))

        ui = settings_with_choices(self._home, change.loaded.config.ui)
        with suppress(RuntimeError):  # it may be closing
            self._app.call_from_thread(self._app.configure, ui, change.words)


def raise_unrequested_end(app: "WorkbenchApp") -> None:
    """Raise the error that ended a screen; also where a screen ended without an error and without a request.

    Args:
        app: What was run.
    """
    if app.failure is not None:
        raise app.failure
    if app.return_code is None:
        raise RuntimeError("the screen ended, and nothing had asked it to")


def show_screen(
    journal: Journal, workspace: str, backend: Backend, config: Config,
    session_id: str | None = None, then: OpenedScreen | None = None,
) -> int | None:  # fmt: skip
    """Show the screen, on a session if one is named; return what it was left for, None for nothing.

    What is to be done `then` is done once, after the first frame.
    """
    from workbench.tui.app import WorkbenchApp

    lock = FileLock(screen_lock_path(journal.home, workspace))
    lock.try_acquire()
    ui = settings_with_choices(journal.home, config.ui)
    app = WorkbenchApp(
        journal,
        backend,
        workspace,
        ui=ui,
        theme=ui.theme,
        home=str(Path.home()),
        depth=color_depth(),
        encoding=terminal_encoding(),
    )
    app.opens_on = session_id
    app.opening_mode = workspace_trust.asked_tools(journal, workspace, config)
    following = ConfigFollower(journal, workspace, app)
    call_off: list[Callable[[], None]] = []

    def begin() -> None:
        from workbench.host.data_folder_cleanup import tidy_data_folder_later

        following.begin()
        call_off.append(
            tidy_data_folder_later(
                journal.home, journal, config.retention.sealed_days, MAINTENANCE_DELAY_SECONDS
            )
        )
        if then is not None:
            then(app.main.context)

    app.when_drawn = begin
    sys.setswitchinterval(THREAD_SWITCH_SECONDS)
    try:
        with exit_on_signals(app.end_soon):
            code = app.run()
        raise_unrequested_end(app)
        return code
    finally:
        backend.keep_draft(app.draft)
        backend.keep_left()
        following.close()
        for call in call_off:
            call()
        lock.release()
        remove_unheld_lock(lock.path)
