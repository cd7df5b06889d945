"""Follows a file that is replayed while its agent writes it: a thread that imports it again when it changed.

It writes into the journal of the replay only, which is gone with it.
"""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from workbench.formats.detect import UnknownFormat
from workbench.journal.errors import JournalError
from workbench.journal.imports import SessionImport, import_turn
from workbench.journal.journal import Journal
from workbench.views.replay import AT_WORK_MICROS

_LOOK_SECONDS: Final = 1.0
_REST_SHARE: Final = 4
"""How many times as long as its last reading a file rests before it is read again."""
_CLOSE_SECONDS: Final = 3.0
FileStamp = tuple[int, int, int]


def file_stamp(path: str) -> FileStamp | None:
    """Return what changes with a file; None where there is none."""
    try:
        status = Path(path).expanduser().stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def is_at_work(stamp: FileStamp | None) -> bool:
    """Return whether a file was written so lately that its agent counts as at work."""
    return stamp is not None and time.time_ns() - stamp[0] < AT_WORK_MICROS * 1_000


class FileFollower:
    """Imports a file again each time it was changed."""

    def __init__(
        self, journal: Journal, path: str, before: FileStamp | None, read: Callable[[SessionImport], object],
        look_seconds: float = _LOOK_SECONDS,
    ) -> None:  # fmt: skip
        """Begin; `before` is the file as it was imported, `read` takes it into an import once more."""
        self._journal, self._path, self._stamp, self._read = journal, path, before, read
        self._is_open = is_at_work(before)
        self._look_seconds = look_seconds
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="file follower", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Follow no more; what is being read is waited for."""
        self._over.set()
        self._thread.join(_CLOSE_SECONDS)

    def _work(self) -> None:
        rest = 0.0
        while not self._over.wait(max(self._look_seconds, rest)):
            now = file_stamp(self._path)
            has_ended = self._is_open and now is not None and not is_at_work(now)
            if now is None or (now == self._stamp and not has_ended):
                continue
            self._stamp, self._is_open, begin = now, is_at_work(now), time.monotonic()
            try:
                self._take_in()
            except (JournalError, OSError, UnknownFormat):
                continue  # what was shown stays; the next change may be whole
            rest = (time.monotonic() - begin) * _REST_SHARE

    def _take_in(self) -> None:
        with import_turn(self._journal, self._stop_waiting):
            session_import = SessionImport(self._journal, leaves_open=self._is_open)
            try:
                self._read(session_import)
                session_import.finish(is_durable=False)
            except BaseException:
                session_import.cancel()
                raise

    def _stop_waiting(self) -> None:
        if self._over.is_set():
            raise UnknownFormat("the replay is over")
