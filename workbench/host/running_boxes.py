"""What boxes found closed before their commands, recorded for others that run in the same folders.

A file that the command of one box makes must not count as there before in another: when it is moved out,
the mount that keeps it read-only in the other is gone. What a crash left is dealt with in the same way.
"""

import os
import secrets
import time
import weakref
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import MsgspecError, Struct, json

from workbench.effects.file_locks import FileLock, is_lock_held, remove_unheld_lock
from workbench.effects.file_primitives import FileRefused
from workbench.effects.path_files import private_folder, read_bounded, write_at_once
from workbench.policy.paths import is_below

_CLOCK_NANOSECONDS: Final = 50_000_000
"""The clock of a file system may be behind by less."""


class BoxRecord(Struct, frozen=True, kw_only=True):
    """A box that has not ended; paths are bytes, for names may be anything."""

    workspace: bytes
    started: int
    """Nanoseconds: what was made since has a later time of change, which no command can set back."""
    before: frozenset[bytes]

    def has_new(self, path: str) -> bool:
        """Return whether a path was not there before this box, and may be of its command."""
        name = os.fsencode(path)
        if name in self.before or not is_below(path, os.fsdecode(self.workspace)):
            return False
        with suppress(OSError):
            return os.lstat(path).st_ctime_ns >= self.started
        return False


def clock_of_files() -> int:
    """Return a time, in nanoseconds, that what is made from now on does not precede."""
    return time.time_ns() - _CLOCK_NANOSECONDS


def read_records(folder: str) -> dict[Path, BoxRecord]:
    """Return the records of boxes that have not ended, those of processes that are gone too."""
    found: dict[Path, BoxRecord] = {}
    for path in sorted(Path(folder).glob("*.json")):
        with suppress(OSError, FileRefused, MsgspecError):
            if data := read_bounded(path):
                found[path] = json.decode(data, type=BoxRecord)
    return found


def is_abandoned(path: Path) -> bool:
    """Return whether nobody will end the box of this record."""
    return not is_lock_held(path.with_suffix(".lock"))


def remove_records(paths: Iterable[Path]) -> None:
    """Remove records of which what was left has been dealt with."""
    for path in paths:
        path.unlink(missing_ok=True)
        with suppress(OSError):
            remove_unheld_lock(path.with_suffix(".lock"))


class RunningBox:
    """Holds the record of a box; one that is dropped without its end is abandoned."""

    def __init__(self, folder: str, record: BoxRecord) -> None:
        """Write the record. Raises OSError and FileRefused."""
        self._path = private_folder(Path(folder)) / f"{secrets.token_hex(8)}.json"
        lock = FileLock(self._path.with_suffix(".lock"))
        lock.try_acquire()
        self._release = weakref.finalize(self, lock.release)
        self._release.atexit = False
        write_at_once(self._path, json.encode(record))

    def end(self) -> None:
        """Remove the record; twice is harmless."""
        for path in (self._path, self._path.with_suffix(".lock")):
            path.unlink(missing_ok=True)
        self._release()
