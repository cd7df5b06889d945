"""What is found below a folder, kept by folder, and looked for again only where a folder has changed."""

import os
import stat
import threading
from array import array
from collections.abc import Callable, Container, Iterable, Mapping, Sequence, Set
from functools import partial
from typing import Final, TypeVar

from msgspec import Struct

from workbench.effects.settled_times import is_settled

MOST_NAMES: Final = 1_000_000


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
    inner: Sequence[str] = ()
    """Paths of further such folders, which are settled as a whole by what was found before."""


FolderReader = Callable[[str, Sequence[os.DirEntry[str]], bool], FolderFindings]
"""Given a folder, what is in it, and whether it was entered as an inner one; links are not followed."""
_Seen = TypeVar("_Seen")
LetIn = Callable[[str], None]
"""Given a folder."""


class _KnownFolder(Struct, frozen=True, kw_only=True):
    stamp: tuple[int, ...]
    """Its change time, inode and device; empty where it has to be read again."""
    is_inner: bool
    size: int
    numbers: "array[int]"
    """The inode numbers of all names in it."""
    found: Mapping[str, str]
    below: Sequence[tuple[str, bool]]
    """Folders to look at, and whether they are inner ones."""


class _SharedNumbers(Struct, frozen=True, kw_only=True):
    """Folders that hold some inode numbers, and those that inner ones have, at one version."""

    version: int
    asked: tuple[Set[int], Set[str] | None]
    folders: tuple[str, ...]
    wanted: Set[int]


class FolderIndex:
    """One folder and all below it; of a folder that cannot be listed or entered `unreadable` is found."""

    def __init__(self, root: str, read: FolderReader, unreadable: str, most: int = MOST_NAMES) -> None:
        self._root, self._read, self._unreadable, self._most = root, read, unreadable, most
        self._folders: dict[str, _KnownFolder] = {}
        self._version = 0
        self._shared = _SharedNumbers(
            version=-1, asked=(frozenset(), frozenset()), folders=(), wanted=frozenset()
        )
        self._lock = threading.Lock()

    def found(self, let_in: LetIn | None = None) -> dict[str, str]:
        """Return what is found now, the top first. Raises TooManyNames.

        `let_in` is called with a folder that cannot be listed or entered, before it is tried again.
        """
        with self._lock:
            folders, is_whole = self._walk(let_in)
        found: dict[str, str] = {}
        for known in folders.values():
            if known.found:
                found.update(known.found)
        if not is_whole:
            raise TooManyNames(f"{self._root} holds more than {self._most:,} names", found)
        return found

    @property
    def folders(self) -> Container[str]:
        """Return the folders that were there when they were last looked at; it does not change later."""
        return self._folders

    def names_with(self, numbers: Set[int], inner: Set[str] | None) -> list[os.DirEntry[str]]:
        """Return the names outside inner folders that have some inode numbers, as of the last look.

        With `inner`, further folders all below which is inner, also those with a number that a name in an
        inner folder has.
        """
        if not numbers and inner is None:
            return []
        with self._lock:
            shared = self._shared_numbers(numbers, inner)
        found: list[os.DirEntry[str]] = []
        for folder in shared.folders:
            try:
                with os.scandir(folder) as entries:
                    found += [entry for entry in entries if entry.inode() in shared.wanted]
            except OSError:
                continue
        return found

    def _shared_numbers(self, numbers: Set[int], inner: Set[str] | None) -> _SharedNumbers:
        if self._shared.version != self._version or self._shared.asked != (numbers, inner):
            known = self._folders
            within = {path for path, folder in known.items() if folder.is_inner or _is_in(path, inner or ())}
            wanted = set(numbers).union(*(known[path].numbers for path in within if inner is not None))
            self._shared = _SharedNumbers(
                version=self._version, asked=(numbers, inner), wanted=wanted,
                folders=tuple(
                    path
                    for path, folder in known.items()
                    if path not in within and not wanted.isdisjoint(folder.numbers)
                ),
            )  # fmt: skip
        return self._shared

    def _walk(self, let_in: LetIn | None) -> tuple[dict[str, _KnownFolder], bool]:
        """Look at all folders, level by level; return also whether these are all."""
        before, folders = self._folders, dict[str, _KnownFolder]()
        names, is_changed = 0, False
        level: list[tuple[str, bool]] = [(self._root, False)]
        while level:
            below: list[tuple[str, bool]] = []
            for folder, is_inner in level:
                known = before.get(folder)
                if known is None or not _is_unchanged(folder, is_inner, known):
                    is_changed = True
                    known = self._look(folder, is_inner, let_in)
                    if known is None:
                        continue
                folders[folder] = known
                names += known.size
                if names > self._most:
                    return folders, False
                below += known.below
            level = below
        self._folders = folders
        self._version += is_changed or len(folders) != len(before)
        return folders, True

    def _look(self, folder: str, is_inner: bool, let_in: LetIn | None) -> _KnownFolder | None:
        """Read a folder; None where none is."""
        try:
            status = _tried(os.lstat, folder, let_in, is_above=True)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except PermissionError:
            return self._unread(os.path.dirname(folder), is_inner=is_inner)  # noqa: PTH120 -- text
        except OSError:
            return self._unread(folder, is_inner=is_inner)
        if not stat.S_ISDIR(status.st_mode):
            return None
        try:
            numbers, findings = _tried(partial(self._read_folder, is_inner=is_inner), folder, let_in)
        except OSError:
            return self._unread(folder, is_inner=is_inner)
        inner = ((path, True) for path in findings.inner)
        stamp = (status.st_ctime_ns, status.st_ino, status.st_dev)
        return _KnownFolder(
            stamp=stamp if is_settled(status.st_ctime_ns) else (),
            is_inner=is_inner, size=len(numbers), numbers=numbers, found=findings.found,
            below=[*((path, is_inner) for path in findings.enter), *inner],
        )  # fmt: skip

    def _read_folder(self, folder: str, *, is_inner: bool) -> tuple["array[int]", FolderFindings]:
        with os.scandir(folder) as entries:
            listed = list(entries)
        return array("Q", [entry.inode() for entry in listed]), self._read(folder, listed, is_inner)

    def _unread(self, folder: str, *, is_inner: bool) -> _KnownFolder:
        found = {} if is_inner else {folder: self._unreadable}
        return _KnownFolder(stamp=(), is_inner=is_inner, size=0, numbers=array("Q"), found=found, below=())


def _is_unchanged(folder: str, is_inner: bool, known: _KnownFolder) -> bool:
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    stamp = (status.st_ctime_ns, status.st_ino, status.st_dev)
    return stamp == known.stamp and is_inner == known.is_inner


def _is_in(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


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
