"""Files of a workspace, reached only through descriptors beneath its root.

Owns reading, staging, comparing, renaming and removing inside one folder, and the names that others use
for the program's own files. It never follows a link, never leaves the root, never waits for a pipe or a
device, and never decides whether a path may be touched: that is the gate.
"""

import contextlib
import errno
import os
import stat
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final, Self

from workbench.effects import temporary
from workbench.effects.descent import (
    FOLDER,
    LARGEST,
    TEMPORARY,
    Kind,
    components,
    file_components,
    folder,
    kind_of,
    open_file,
    read_all,
    require_regular,
    sync,
)
from workbench.effects.private import open_append, private_folder, read_bounded, write_atomic
from workbench.effects.refusal import BaseMoved, FileRefused, NotDurable, NothingThere, refusing
from workbench.effects.temporary import Stamp, look, stamp
from workbench.records import dataclass

__all__ = [
    "BaseMoved",
    "Entry",
    "FileImage",
    "FileRefused",
    "FileStat",
    "Kind",
    "NotDurable",
    "NothingThere",
    "Root",
    "Staged",
    "open_append",
    "private_folder",
    "read_bounded",
    "write_atomic",
]

Expect = Callable[[bytes | None], bool]
Names = list[str]
_MOST_ENTRIES: Final = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FileImage:
    """A regular file as it was read."""

    data: bytes
    mode: int
    """Permission bits."""
    size: int
    """Bytes."""
    links: int
    """Names of the file; more than 1 means that writing in place would change it elsewhere too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStat:
    """What is at a path; `kind` None and zeros if nothing."""

    kind: Kind | None
    size: int = 0
    mode: int = 0
    links: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One name in a folder."""

    name: str
    kind: Kind
    size: int


Entries = list[Entry]


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """New bytes that wait beside their target."""

    path: str
    """The target, relative to the root."""
    temporary: str
    """Name of the file beside it."""
    created: tuple[str, ...]
    """Folders that were missing, outermost first."""
    folder: tuple[int, int]
    """Device and inode of the folder, which must still be the one at this path."""
    file: Stamp
    """The temporary file, which must still be the one that was written."""


class Root:
    """A folder by descriptor; every path below is relative to it and stays beneath it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open a folder.

        Raises:
            FileRefused: It is missing, no folder, or may not be entered.
        """
        self.path = str(Path(path).resolve())
        """The real path."""
        with refusing(self.path):
            self._folder = os.open(self.path, FOLDER)

    def close(self) -> None:
        """Give the descriptor back; twice is harmless."""
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1

    def is_in_place(self) -> bool:
        """Return whether its path still leads to the folder that was opened."""
        try:
            return os.path.samestat(Path(self.path).stat(), os.fstat(self._folder))
        except OSError:
            return False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def image(self, rel: str, limit: int | None = None) -> FileImage | None:
        """Read a regular file.

        Args:
            rel: Relative path.
            limit: Most bytes; 256 MiB if not given.

        Returns:
            None if there is nothing at this path (a missing folder on the way included).

        Raises:
            FileRefused: It is or lies behind a link, is no regular file, too large, or cannot be read.
        """
        with contextlib.suppress(NothingThere), self._at(rel) as (here, name):
            return _read(here, name, rel, LARGEST if limit is None else limit)[0]
        return None

    def open_read(self, rel: str) -> BinaryIO:
        """Open a regular file for reading in parts, after the same checks.

        Raises:
            NothingThere: There is none.
            FileRefused: As `image`.
        """
        with self._at(rel) as (here, name):
            return os.fdopen(open_file(here, name, rel), "rb")

    def stage(self, rel: str, data: bytes, mode: int) -> Staged:
        """Write the bytes to a temporary file beside the target; missing folders are created.

        Args:
            rel: The target; it need not exist, and must be a regular file if it does.
            data: All bytes of the new file.
            mode: Its permission bits; set-id bits are dropped.

        Raises:
            FileRefused: Nothing is left of it, created folders included.
        """
        parts = file_components(rel)
        if TEMPORARY.fullmatch(parts[-1]):
            raise FileRefused(rel, "names of this form are kept for temporary files", "choose another name")
        made: list[str] = []
        try:
            with self._below(parts[:-1], rel, made) as here, refusing(rel):
                return _stage(here, parts[-1], rel, data, mode, made)
        except BaseException:
            self._unmake(made)
            raise

    def commit(self, staged: Staged, expect: Expect) -> None:
        """Rename staged bytes into place if the target is still what it should be.

        Args:
            staged: From `stage`, not committed before.
            expect: Is given the target's bytes (None = no file) and says whether they may be replaced.

        Raises:
            BaseMoved: They may not, or the folder was exchanged; the temporary file is removed.
            NotDurable: The file is in place, but syncing the folder failed.
            FileRefused: It was not renamed; the temporary file is removed.
        """
        try:
            with self._at(staged.path) as (here, name):
                _commit(here, name, staged, expect)
                _confirm(here, staged.path)
        except NotDurable:
            raise
        except BaseException:
            self.discard(staged)
            raise

    def discard(self, staged: Staged) -> None:
        """Remove the temporary file and those created folders that are empty; twice is harmless.

        Several that were staged are discarded in reverse order, so that folders are empty in time. Also
        of use after a committed file was removed again: then only folders are left to remove.
        """
        with contextlib.suppress(FileRefused), self._at(staged.path) as (here, _):
            found = look(here, staged.temporary)
            if found and (found.st_dev, found.st_ino) == (staged.file.device, staged.file.inode):
                temporary.remove(here, staged.temporary)
        self._unmake(staged.created)

    def remove(self, rel: str, expect: Expect) -> None:
        """Remove a file if it is still what it should be.

        Raises:
            BaseMoved: It is not.
            NotDurable: It is removed, but syncing the folder failed.
            FileRefused: It is no regular file, or cannot be removed.
        """
        with self._at(rel) as (here, name):
            if (found := _compare(here, name, rel, expect)) is None:
                return
            with refusing(rel):
                _require_same(here, name, rel, found)
                temporary.remove(here, name)
            _confirm(here, rel)

    def make_directory(self, rel: str) -> Names:
        """Create a folder and those on the way to it.

        Returns:
            The paths that were created, outermost first; none if it was there.

        Raises:
            FileRefused: Nothing was created.
        """
        made: list[str] = []
        try:
            with self._below(components(rel), rel, made):
                return made
        except BaseException:
            self._unmake(made)
            raise

    def stat(self, rel: str) -> FileStat:
        """Say what is at a path without following or opening it.

        Raises:
            FileRefused: It lies behind a link or something that is no folder.
        """
        parts = components(rel)
        try:
            with self._below(parts[:-1], rel) as here, refusing(rel):
                found = look(here, parts[-1] if parts else ".")
        except NothingThere:
            found = None
        if found is None:
            return FileStat(kind=None)
        mode = stat.S_IMODE(found.st_mode)
        return FileStat(kind=kind_of(found.st_mode), size=found.st_size, mode=mode, links=found.st_nlink)

    def sweep(self, folders: Iterable[str], older_than: float) -> Names:
        """Remove temporary files that a dead process left.

        Args:
            folders: Relative paths; what is missing or refused is passed over.
            older_than: Age in seconds; 0 removes all.

        Returns:
            The paths that were removed.
        """
        before = time.time() - older_than if older_than > 0 else float("inf")
        removed: list[str] = []
        for rel in folders:
            with contextlib.suppress(FileRefused), self._below(components(rel), rel) as here, refusing(rel):
                removed += ["/".join((*components(rel), name)) for name in _sweep(here, before)]
        return removed

    def list(self, rel: str) -> Entries:
        """List a folder by name; links are listed as links.

        Raises:
            NothingThere: There is no such folder.
            FileRefused: It is no folder, lies behind a link, or has more than 100,000 names.
        """
        with self._below(components(rel), rel) as here, refusing(rel), os.scandir(here) as found:
            entries: Entries = []
            for item in found:
                entries += _entry(item)
                if len(entries) > _MOST_ENTRIES:
                    raise FileRefused(
                        rel, f"it has more than {_MOST_ENTRIES} names", "name a folder below it"
                    )
        return sorted(entries, key=lambda entry: entry.name)

    @contextlib.contextmanager
    def folder(self, rel: str) -> Generator[tuple[int, str], None, None]:
        """Open a folder for as long as the block lasts: its descriptor, and its path without `.`.

        Raises:
            NothingThere: There is no such folder.
            FileRefused: It is no folder or lies behind a link.
        """
        parts = components(rel)
        with self._below(parts, rel) as here:
            yield here, "/".join(parts)

    @contextlib.contextmanager
    def _below(
        self, parts: tuple[str, ...], rel: str, made: Names | None = None
    ) -> Generator[int, None, None]:
        if self._folder < 0:
            raise ValueError("this root is closed")
        with contextlib.ExitStack() as stack:
            with refusing(rel):
                here = stack.enter_context(folder(self._folder, parts, made))
            yield here

    @contextlib.contextmanager
    def _at(self, rel: str) -> Generator[tuple[int, str], None, None]:
        parts = file_components(rel)
        with self._below(parts[:-1], rel) as here:
            yield here, parts[-1]

    def _unmake(self, made: Iterable[str]) -> None:
        for rel in reversed(tuple(made)):
            with contextlib.suppress(OSError, FileRefused), self._at(rel) as (here, name):
                os.rmdir(name, dir_fd=here)


def _read(here: int, name: str, rel: str, limit: int) -> tuple[FileImage, Stamp]:
    file = open_file(here, name, rel)
    try:
        data = read_all(file, rel, limit)
        found = os.fstat(file)
    finally:
        os.close(file)
    mode = stat.S_IMODE(found.st_mode)
    return FileImage(data=data, mode=mode, size=len(data), links=found.st_nlink), stamp(found)


def _stage(here: int, name: str, rel: str, data: bytes, mode: int, made: Names) -> Staged:
    target = look(here, name)
    if target is not None:
        require_regular(target.st_mode, rel)
    new, written = temporary.write(here, data, mode, like=target)
    place = os.fstat(here)
    return Staged(
        path=rel, temporary=new, created=tuple(made), folder=(place.st_dev, place.st_ino), file=written
    )


def _commit(here: int, name: str, staged: Staged, expect: Expect) -> None:
    place = os.fstat(here)
    if (place.st_dev, place.st_ino) != staged.folder:
        raise BaseMoved(staged.path, "its folder was exchanged for another")
    found = _compare(here, name, staged.path, expect)
    with refusing(staged.path):
        new = look(here, staged.temporary)
        if new is None or stamp(new) != staged.file or new.st_nlink != 1:
            raise FileRefused(staged.path, "its temporary file was changed by somebody else", "do it again")
        _require_same(here, name, staged.path, found)
        try:
            put = temporary.put_new if found is None else temporary.replace
            put(here, staged.temporary, name)
        except FileExistsError:
            raise BaseMoved(staged.path) from None


def _compare(here: int, name: str, rel: str, expect: Expect) -> Stamp | None:
    image, found = None, None
    with contextlib.suppress(NothingThere):
        image, found = _read(here, name, rel, LARGEST)
    if not expect(image.data if image else None):
        raise BaseMoved(rel)
    return found


def _require_same(here: int, name: str, rel: str, found: Stamp | None) -> None:
    now = look(here, name)
    if (stamp(now) if now else None) != found:
        raise BaseMoved(rel)


def _confirm(here: int, rel: str) -> None:
    try:
        sync(here)
    except OSError as error:
        why = f"it is in place, but the disk did not confirm it ({os.strerror(error.errno or errno.EIO)})"
        raise NotDurable(rel, why, "check the disk", error.errno) from error


def _sweep(here: int, before: float) -> Iterator[str]:
    for name in sorted(filter(TEMPORARY.fullmatch, os.listdir(here))):
        found = look(here, name)
        if found and temporary.is_leftover(found, before) and temporary.remove(here, name):
            yield name


def _entry(item: os.DirEntry[str]) -> Entries:
    try:
        found = item.stat(follow_symlinks=False)
    except FileNotFoundError:
        return []
    return [Entry(name=item.name, kind=kind_of(found.st_mode), size=found.st_size)]
