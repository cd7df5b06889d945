"""Run the screen on a journal: lock it as attached, take the terminal, give it back.

Owns the screen's life as a process. What it shows is `workbench.tui`.
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

from workbench.cli.errors import Refusal
from workbench.cli.screen.terminal import colours, encoding, why_not_drawable
from workbench.config.layers import USER_FILE, WORKSPACE_FILE, load
from workbench.config.values import Config
from workbench.effects.locks import FileLock, remove_unheld
from workbench.host import trusting
from workbench.host.places import screen_lock
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.services import Services

if TYPE_CHECKING:
    from workbench.config.values import Loaded
    from workbench.host.config_watch import ConfigWatch
    from workbench.host.pipeline_watch import PipelineWatch
    from workbench.tui.app import WorkbenchApp

WATCH_AFTER = 2.0
"""Seconds after its first frame before a screen follows its configuration: no start waits for that."""

TIDY_AFTER = 20.0
"""Seconds that a screen is open before it tidies the data folder, if no host did so within the hour."""


TURN = 0.001
"""Seconds for which a thread that reads in the background computes before a key gets its turn."""

HANG_UP_SECONDS = 5.0
"""How long a screen whose terminal is gone may take to end in order."""


@contextmanager
def ended_by_signals(end: Callable[[], None]) -> Generator[None, None, None]:
    """End the screen in order at a hang-up or a termination: the terminal is given back, agents go on."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}

    def hear(number: int, _frame: object = None) -> None:
        # Writing to a terminal that is gone may never come back.
        last = threading.Timer(HANG_UP_SECONDS, os._exit, (128 + number,))
        last.daemon = True
        last.start()
        end()

    for number in before:
        signal.signal(number, hear)
    watch = threading.Thread(target=when_hung_up, args=(lambda: hear(signal.SIGHUP),), daemon=True)
    watch.start()
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def when_hung_up(end: Callable[[], None]) -> None:
    """Wait until the other side of the terminal is gone, then call `end`.

    A terminal that controls nothing sends no signal when it goes; whoever reads it then reads nothing, at
    once, for ever. Where the system cannot wait for that (macOS), this returns at once.
    """
    gone = select.poll()
    try:
        gone.register(sys.stdin.fileno(), 0)
        found = gone.poll()
    except (OSError, ValueError):  # not a file that can be waited for
        return
    if any(what & select.POLLHUP for _, what in found):
        end()


def require_terminal() -> None:
    """Refuse to draw where nobody could see it.

    Raises:
        Refusal: standard input or output is no terminal, or one that cannot be drawn on.
    """
    if why := why_not_drawable():
        remedy = "use workbench approvals watch, or workbench run in a script"
        raise Refusal("The screen was not opened", why, remedy)


def settings(home: Home, journal: Journal, workspace: str) -> Config:
    """Return the configuration that holds for a screen on a workspace.

    Raises:
        Refusal: a file cannot be used; names it.
    """
    return settings_in(home.path, workspace, trusted=trusting.is_trusted(journal, workspace))


def settings_in(folder: Path, workspace: str, *, trusted: bool) -> Config:
    """Return the configuration that a user's folder and a workspace make together.

    Raises:
        Refusal: a file cannot be used; names it.
    """
    loaded = load(folder, Path(workspace), trusted=trusted, env=os.environ, options={})
    if not loaded.is_usable:
        problem = next(problem for problem in loaded.problems if problem.fatal)
        raise Refusal("The screen was not opened", str(problem), "mend the file; workbench config validate")
    return loaded.config


class Following:
    """Lets a screen follow its configuration while it is open; everything but the making is in a thread."""

    def __init__(self, home: Home, journal: Journal, workspace: str, app: "WorkbenchApp") -> None:
        self._home, self._journal, self._workspace, self._app = home, journal, workspace, app
        self._watches: list[ConfigWatch | PipelineWatch] = []

    def begin(self) -> None:
        """Follow from now on, or rather from when the start is well over."""
        from workbench.host.config_watch import ConfigWatch
        from workbench.host.pipeline_watch import PipelineWatch

        files = (self._home.path / USER_FILE, Path(self._workspace) / WORKSPACE_FILE)
        self._watches = [
            ConfigWatch(files, self._changed, WATCH_AFTER, on_start=self._load),
            PipelineWatch(self._journal, self._workspace, self._said, WATCH_AFTER),
        ]

    def close(self) -> None:
        """Follow no more."""
        for watch in self._watches:
            watch.close()

    def _said(self, words: str, is_error: bool) -> None:
        with suppress(RuntimeError):  # it may be closing
            self._app.call_from_thread(self._app.main.say, words, is_error=is_error)

    def _load(self) -> None:
        from workbench.host.settings import Settings

        self._settings = Settings(self._home, self._workspace, {})
        loaded = self._settings.loaded(trusted=trusting.is_trusted(self._journal, self._workspace))
        if loaded.config.approvals.allow:
            self._say_what_is_wide(loaded)

    def _say_what_is_wide(self, loaded: "Loaded") -> None:
        from workbench.host import config_rules
        from workbench.tools.registry import catalogue

        wide = config_rules.notes(loaded, catalogue().descriptors())
        if wide:
            more = f" And {len(wide) - 1} more; workbench config validate names them." if wide[1:] else ""
            self._said(f"{wide[0]}{more}", is_error=False)

    def _changed(self) -> None:
        found = self._settings.read_again(trusted=trusting.is_trusted(self._journal, self._workspace))
        with suppress(RuntimeError):  # it may be closing
            self._app.call_from_thread(self._app.configure, found.loaded.config.ui, found.words)


def show(
    home: Home, journal: Journal, workspace: str, services: Services, config: Config,
    session_id: str | None = None, then: Callable[[], object] | None = None,
) -> int | None:  # fmt: skip
    """Show the screen, on a session if one is named; return what it was left for, None for nothing.

    What is to be done `then` is done once, after the first frame.
    """
    from workbench.tui.app import WorkbenchApp

    lock = FileLock(screen_lock(home, workspace))
    lock.try_acquire()
    app = WorkbenchApp(
        journal,
        services,
        workspace,
        ui=config.ui,
        home=str(Path.home()),
        depth=colours(),
        encoding=encoding(),
    )
    app.opens_on = session_id
    following = Following(home, journal, workspace, app)
    call_off: list[Callable[[], None]] = []

    def begin() -> None:
        from workbench.host.upkeep import tidy_later

        following.begin()
        call_off.append(tidy_later(home, journal, config.retention.sealed_days, TIDY_AFTER))
        if then is not None:
            then()

    app.when_drawn = begin
    sys.setswitchinterval(TURN)
    try:
        with ended_by_signals(app.end_soon):
            code = app.run()
        if app.failure is not None:
            raise app.failure
        return code
    finally:
        services.keep_draft(app.draft)
        following.close()
        for call in call_off:
            call()
        lock.release()
        remove_unheld(lock.path)
