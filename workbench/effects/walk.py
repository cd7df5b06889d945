"""Walking through a folder by descriptors, folder by folder, names in order, following no link.

Owns the descent and its bounds: how deep, how many names in one folder. It never opens what is no regular
file or folder, and it passes over what cannot be entered instead of ending there.
"""

import contextlib
import os
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Final

from workbench.effects.descent import FOLDER, Kind, kind_of, open_file
from workbench.effects.files import Root

MOST_NAMES: Final = 100_000
"""Names of one folder that are looked at; the rest is passed over."""

DEEPEST: Final = 40
"""Folders below one another; each holds a descriptor open while it is walked."""


@dataclass(slots=True, kw_only=True)
class Folder:
    """One folder on the way; valid until the next one is asked for."""

    path: str
    """Relative to the root; empty for the root itself."""
    files: list[str]
    """Names of regular files, in order."""
    folders: list[str]
    """Names of folders, in order; what is taken out of the list is not entered."""
    others: int
    """Links, pipes, sockets and devices."""
    is_cut: bool
    """Whether it has more names than are looked at, or lies too deep for what is below it."""
    here: int = field(repr=False)

    def below(self, name: str) -> str:
        """Return the path of a name in it."""
        return f"{self.path}/{name}" if self.path else name

    def open(self, name: str) -> BinaryIO:
        """Open a regular file in it, without following a link or waiting for anything.

        Raises:
            FileRefused: It is something else by now, or cannot be read.
        """
        return os.fdopen(open_file(self.here, name, self.below(name)), "rb", buffering=0)


def walk(root: Root, rel: str = ".") -> Iterator[Folder]:
    """Yield a folder and all below it, each before what it holds.

    Raises:
        FileRefused: The first folder cannot be entered.
    """
    with root.folder(rel) as (here, path):
        yield from _walked(here, path, 1)


def _walked(here: int, path: str, depth: int) -> Generator[Folder]:
    folder = _listed(here, path)
    if depth >= DEEPEST and folder.folders:
        folder.folders.clear()
        folder.is_cut = True
    yield folder
    for name in folder.folders:
        try:
            below = os.open(name, FOLDER, dir_fd=here)
        except OSError:
            continue
        try:
            yield from _walked(below, folder.below(name), depth + 1)
        finally:
            os.close(below)


def _listed(here: int, path: str) -> Folder:
    files: list[str] = []
    folders: list[str] = []
    others = count = 0
    with contextlib.suppress(OSError), os.scandir(here) as found:
        for count, entry in enumerate(found, 1):
            if count > MOST_NAMES:
                break
            match _kind(entry):
                case "file":
                    files.append(entry.name)
                case "folder":
                    folders.append(entry.name)
                case _:
                    others += 1
    is_cut = count > MOST_NAMES
    files.sort()
    folders.sort()
    return Folder(path=path, files=files, folders=folders, others=others, is_cut=is_cut, here=here)


def _kind(entry: os.DirEntry[str]) -> Kind | None:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    if entry.is_file(follow_symlinks=False):
        return "file"
    with contextlib.suppress(OSError):
        return kind_of(entry.stat(follow_symlinks=False).st_mode)
    return None
