"""What is found below a folder, kept by folder, and looked for again only where a folder has changed."""

import os
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

MOST_NAMES: Final = 1_000_000
_SETTLED_NANOSECONDS: Final = 50_000_000
"""After so long the clock of the file system has moved on, and another change shows."""


class TooManyNames(Exception):
    """A folder holds more than is looked at."""


class FolderFindings(Struct, frozen=True, kw_only=True):
    """What is found in one folder."""

    found: Mapping[str, str]
    """Paths and what they are, in words of the caller."""
    enter: Sequence[str]
    """Paths of the folders in it that are looked at too."""


FolderReader = Callable[[str, Sequence[os.DirEntry[str]]], FolderFindings]
"""Given a folder and what is in it; links are not followed."""


class _KnownFolder(Struct, frozen=True, kw_only=True):
    stamp: tuple[int, int, int]
    is_settled: bool
    names: int
    findings: FolderFindings


class FolderIndex:
    """One folder and all below it; of a folder that cannot be listed `unreadable` is found."""

    def __init__(self, root: str, read: FolderReader, unreadable: str, most: int = MOST_NAMES) -> None:
        self._root, self._read, self._unreadable, self._most = root, read, unreadable, most
        self._folders: dict[str, _KnownFolder] = {}
        self._lock = threading.Lock()

    def found(self) -> dict[str, str]:
        """Return what is found now. Raises TooManyNames."""
        with self._lock:
            self._folders = dict(self._walk())
            return {
                path: kind for known in self._folders.values() for path, kind in known.findings.found.items()
            }

    def _walk(self) -> Iterator[tuple[str, _KnownFolder]]:
        due, names = [self._root], 0
        while due:
            folder = due.pop()
            known = self._look(folder)
            if known is None:
                continue
            names += known.names
            if names > self._most:
                raise TooManyNames(f"{self._root} holds more than {self._most:,} names")
            due += known.findings.enter
            yield folder, known

    def _look(self, folder: str) -> _KnownFolder | None:
        try:
            status = os.lstat(folder)
        except OSError:
            return None
        if not stat.S_ISDIR(status.st_mode):
            return None
        stamp = (status.st_ctime_ns, status.st_ino, status.st_dev)
        known = self._folders.get(folder)
        if known is not None and known.is_settled and known.stamp == stamp:
            return known
        is_settled = time.time_ns() - status.st_ctime_ns > _SETTLED_NANOSECONDS
        try:
            with os.scandir(folder) as entries:
                listed = list(entries)
            findings = self._read(folder, listed)
        except OSError:
            listed, findings = [], FolderFindings(found={folder: self._unreadable}, enter=())
        return _KnownFolder(stamp=stamp, is_settled=is_settled, names=len(listed), findings=findings)
