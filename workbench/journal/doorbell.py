"""The doorbell: wakes the readers of every process when something was committed.

A watch on the home folder, filtered to the database's WAL, rings within a millisecond; the database's own
change counter, looked at every 250 ms, rings where there is no watch. It never says what has changed, and
it never rings when nothing has.
"""

import contextlib
import logging
import os
import threading
from collections.abc import Callable
from typing import Final

import apsw

from workbench.journal import sql
from workbench.journal.home import DATABASE, Home

LOOK_SECONDS: Final = 0.25
"""How often the change counter is looked at in any case."""

_FILES: Final = (DATABASE, f"{DATABASE}-wal")

_log: Final = logging.getLogger(__name__)

# It warns on stderr of a race with its own end, which a reader of the terminal can do nothing about.
logging.getLogger("watchdog").addHandler(logging.NullHandler())
logging.getLogger("watchdog").propagate = False


class Doorbell:
    """One per process: a thread that sleeps until the journal changes."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._wal = home.path / f"{DATABASE}-wal"
        self._rung = threading.Event()
        self._changed = threading.Condition()
        self._rings = 0
        self._callbacks: list[Callable[[], None]] = []
        self._thread: threading.Thread | None = None
        self._is_closed = False

    @property
    def rings(self) -> int:
        """How often it has rung so far; changes when something was committed."""
        return self._rings

    def announce(self) -> None:
        """Ring everywhere: called after a commit of this process.

        The WAL was written before the commit could be seen, so watchers that woke at the write may have
        looked too early; the touch wakes them once more.
        """
        with contextlib.suppress(OSError):
            os.utime(self._wal)
        if self._thread is not None:
            self._rung.set()

    def on_ring(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back, in another thread, whenever something was committed; returns the way out."""
        with self._changed:
            self._callbacks.append(callback)
            self._start()

        def unsubscribe() -> None:
            with self._changed, contextlib.suppress(ValueError):
                self._callbacks.remove(callback)

        return unsubscribe

    def wait(self, rings: int, timeout: float) -> bool:
        """Wait until it has rung more often than `rings`; False when the time is over first.

        Args:
            rings: From the property, read before looking at the journal.
            timeout: Seconds.
        """
        with self._changed:
            self._start()
            return self._changed.wait_for(lambda: self._rings != rings or self._is_closed, timeout)

    def close(self) -> None:
        """End the thread and the watch; whoever waits is let go."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
            thread, self._thread = self._thread, None
        if thread is not None:
            self._rung.set()
            thread.join()

    def _start(self) -> None:
        if self._thread is None and not self._is_closed:
            self._thread = threading.Thread(target=self._listen, name="journal-doorbell", daemon=True)
            self._thread.start()

    def _listen(self) -> None:
        with contextlib.closing(sql.connect(self._home.database, query_only=True)) as database:
            stop_watching = _watch(self._home, self._rung.set)
            try:
                self._loop(database)
            finally:
                stop_watching()

    def _loop(self, database: sql.Database) -> None:
        # Rung once at the start: what was committed before the watch began has no event of its own.
        seen = None
        while not self._is_closed:
            self._rung.clear()
            version = _version(database, seen)
            if version != seen:
                seen = version
                self._ring()
            self._rung.wait(LOOK_SECONDS)

    def _ring(self) -> None:
        with self._changed:
            self._rings += 1
            callbacks = tuple(self._callbacks)
            self._changed.notify_all()
        for callback in callbacks:
            try:
                callback()
            except Exception:  # noqa: BLE001 one listener must not deafen the others
                _log.exception("a listener of the doorbell failed")


def _version(database: sql.Database, seen: int | None) -> int | None:
    try:
        return database.execute("PRAGMA data_version").get
    except apsw.Error:
        return seen


def _watch(home: Home, ring: Callable[[], None]) -> Callable[[], None]:
    """Watch the home folder for writes to the WAL; returns how to stop."""
    from workbench.effects import inotify

    try:
        # The folder, not the file: the WAL is removed and made again.
        return inotify.watch(home.path, _FILES, ring) or _observed(home, ring)
    except OSError:
        _log.warning("no watch on %s; looking every %s s", home.path, LOOK_SECONDS)
        return lambda: None


def _observed(home: Home, ring: Callable[[], None]) -> Callable[[], None]:
    """Watch by what a system without inotify has; three threads and a package that Linux does not need."""
    from watchdog import events
    from watchdog.observers import Observer

    class Handler(events.FileSystemEventHandler):
        def dispatch(self, event: events.FileSystemEvent) -> None:
            if os.fsdecode(event.src_path).endswith(_FILES):
                ring()

    # The touch of `announce` is a modification to watchdog 6, and a class of its own from 7 on.
    touched: type[events.FileSystemEvent] = getattr(events, "FileAttribEvent", events.FileModifiedEvent)
    observer = Observer()
    observer.schedule(Handler(), str(home.path), event_filter=[events.FileModifiedEvent, touched])
    observer.start()

    def stop() -> None:
        observer.stop()
        observer.join()

    return stop
