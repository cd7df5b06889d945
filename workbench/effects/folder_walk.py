"""The names in a folder and below it, within limits."""

import contextlib
import os
from collections.abc import Generator, Iterator
from typing import BinaryIO, Final

from msgspec import Struct

from workbench.effects.file_primitives import (
    FOLDER_FLAGS,
    FileKind,
    FileStamp,
    file_stamp,
    kind_of,
    open_regular_file,
    stat_name,
)
from workbench.effects.files import Root

MOST_NAMES: Final = 100_000
"""Names of one folder that are looked at; the rest is passed over."""
DEEPEST: Final = 40
"""Folders below one another; each holds a descriptor open while it is walked."""


class WalkedFolder(Struct, kw_only=True):
    """One folder on the way; valid until the next one is asked for."""

    path: str
    """Relative to the root; empty for the root itself."""
    files: list[str]
    folders: list[str]
    """Names of folders, in order; what is taken out of the list is not entered."""
    others: int
    """Links, pipes, sockets and devices."""
    is_cut: bool
    """Whether it has more names than are looked at, or lies too deep for what is below it."""
    here: int
    """Its descriptor."""

    def below(self, name: str) -> str:
        return f"{self.path}/{name}" if self.path else name

    def stamp(self, name: str) -> FileStamp | None:
        """Return what tells a file in it from itself after a change; None if it is not there any more."""
        with contextlib.suppress(OSError):
            status = stat_name(self.here, name)
            return file_stamp(status) if status is not None else None
        return None

    def open(self, name: str) -> BinaryIO:
        """Open a regular file in it, following no link, waiting for nothing. Raises FileRefused."""
        return os.fdopen(open_regular_file(self.here, name, self.below(name)), "rb", buffering=0)


def walk_folder(root: Root, rel: str = ".") -> Iterator[WalkedFolder]:
    """Yield a folder and all below it, each before what it holds. Raises FileRefused for the first folder."""
    with root.folder(rel) as (directory, path):
        yield from _walk_below(directory, path, 1)


def _walk_below(directory: int, path: str, depth: int) -> Generator[WalkedFolder]:
    folder = _list_folder(directory, path)
    if depth >= DEEPEST and folder.folders:
        folder.folders.clear()
        folder.is_cut = True
    yield folder
    for name in folder.folders:
        try:
            below = os.open(name, FOLDER_FLAGS, dir_fd=directory)
        except OSError:
            continue
        try:
            yield from _walk_below(below, folder.below(name), depth + 1)
        finally:
            os.close(below)


def _list_folder(directory: int, path: str) -> WalkedFolder:
    files: list[str] = []
    folders: list[str] = []
    others = count = 0
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for count, entry in enumerate(entries, 1):
            if count > MOST_NAMES:
                break
            match _entry_kind(entry):
                case "file":
                    files.append(entry.name)
                case "folder":
                    folders.append(entry.name)
                case _:
                    others += 1
    is_cut = count > MOST_NAMES
    files.sort()
    folders.sort()
    return WalkedFolder(path=path, files=files, folders=folders, others=others, is_cut=is_cut, here=directory)


def _entry_kind(entry: os.DirEntry[str]) -> FileKind | None:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    if entry.is_file(follow_symlinks=False):
        return "file"
    with contextlib.suppress(OSError):
        return kind_of(entry.stat(follow_symlinks=False).st_mode)
    return None
