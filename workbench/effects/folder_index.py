"""What is found below a folder, kept by folder, and looked for again only where a folder has changed."""

import os
import stat
import threading
import time
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Final, TypeVar

from msgspec import Struct

MOST_NAMES: Final = 1_000_000
_SETTLED_NANOSECONDS: Final = 50_000_000
"""After so long the clock of the file system has moved on, and another change shows."""


class TooManyNames(Exception):
    """A folder holds more than is looked at; `found` is what was found until then, the top first."""

    def __init__(self, why: str, found: Mapping[str, str]) -> None:
        super().__init__(why)
        self.found = found


class FolderFindings(Struct, frozen=True, kw_only=True):
    """What is found in one folder."""

    found: Mapping[str, str]
    """Paths and what they are, in words of the caller."""
    enter: Sequence[str]
    """Paths of the folders in it that are looked at too."""


FolderReader = Callable[[str, Sequence[os.DirEntry[str]]], FolderFindings]
"""Given a folder and what is in it; links are not followed."""
_Seen = TypeVar("_Seen")
LetIn = Callable[[str], None]
"""Given a folder."""


class _KnownFolder(Struct, frozen=True, kw_only=True):
    stamp: tuple[int, int, int]
    is_settled: bool
    names: int
    findings: FolderFindings


class FolderIndex:
    """One folder and all below it; of a folder that cannot be listed or entered `unreadable` is found."""

    def __init__(self, root: str, read: FolderReader, unreadable: str, most: int = MOST_NAMES) -> None:
        self._root, self._read, self._unreadable, self._most = root, read, unreadable, most
        self._folders: dict[str, _KnownFolder] = {}
        self._lock = threading.Lock()

    def found(self, let_in: LetIn | None = None) -> dict[str, str]:
        """Return what is found now, the top first. Raises TooManyNames.

        `let_in` is called with a folder that cannot be listed or entered, before it is tried again.
        """
        with self._lock:
            folders, is_whole = self._walk(let_in)
        found: dict[str, str] = {}
        for known in folders.values():
            if known.findings.found:
                found.update(known.findings.found)
        if not is_whole:
            raise TooManyNames(f"{self._root} holds more than {self._most:,} names", found)
        return found

    @property
    def folders(self) -> Container[str]:
        """Return the folders that were there when they were last looked at; it does not change later."""
        return self._folders

    def _walk(self, let_in: LetIn | None) -> tuple[dict[str, _KnownFolder], bool]:
        """Look at all folders, level by level; return also whether these are all."""
        folders: dict[str, _KnownFolder] = {}
        due, names = [self._root], 0
        for folder in due:
            known = self._look(folder, let_in)
            if known is None:
                continue
            folders[folder] = known
            names += known.names
            if names > self._most:
                return folders, False
            due += known.findings.enter
        self._folders = folders
        return folders, True

    def _look(self, folder: str, let_in: LetIn | None) -> _KnownFolder | None:
        try:
            status = _tried(os.lstat, folder, let_in, is_above=True)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except PermissionError:
            return self._unread(os.path.dirname(folder))  # noqa: PTH120 -- text
        except OSError:
            return self._unread(folder)
        known = self._folders.get(folder)
        stamp = (status.st_ctime_ns, status.st_ino, status.st_dev)
        if known is not None and known.stamp == stamp and known.is_settled:
            return known
        if not stat.S_ISDIR(status.st_mode):
            return None
        is_settled = time.time_ns() - status.st_ctime_ns > _SETTLED_NANOSECONDS
        try:
            names, findings = _tried(self._read_folder, folder, let_in)
        except OSError:
            return self._unread(folder)
        return _KnownFolder(stamp=stamp, is_settled=is_settled, names=names, findings=findings)

    def _read_folder(self, folder: str) -> tuple[int, FolderFindings]:
        with os.scandir(folder) as entries:
            listed = list(entries)
        return len(listed), self._read(folder, listed)

    def _unread(self, folder: str) -> _KnownFolder:
        findings = FolderFindings(found={folder: self._unreadable}, enter=())
        return _KnownFolder(stamp=(0, 0, 0), is_settled=False, names=0, findings=findings)


def _tried(look: Callable[[str], _Seen], path: str, let_in: LetIn | None, *, is_above: bool = False) -> _Seen:
    """Look at a path; if permission is denied, let the user in and retry. Raises OSError.

    `is_above`: permission of the folder above is needed.
    """
    try:
        return look(path)
    except PermissionError:
        if let_in is None:
            raise
        let_in(os.path.dirname(path) if is_above else path)  # noqa: PTH120 -- text
        return look(path)
