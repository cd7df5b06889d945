"""Walking down from a folder by descriptors, one component at a time, following no link.

Owns the checks that keep a path beneath its root: every component is opened relative to the descriptor
of the one above it, so nothing that is swapped between check and use leads outside. It never blocks on
what it finds (pipes, devices) and never gives out anything but folders and regular files.
"""

import contextlib
import errno
import fcntl
import os
import re
import stat
from collections.abc import Generator
from typing import Final, Literal

from workbench.effects.openat2 import open_beneath
from workbench.effects.refusal import FileRefused, NothingThere, refusal, refusing, too_large

Kind = Literal["file", "folder", "link", "fifo", "device", "socket"]

FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
READ: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
LARGEST: Final = 256 * 1024 * 1024
"""Bytes read into memory where the caller names no limit."""

TEMPORARY: Final = re.compile(r"\.workbench-[0-9a-f]{32}\.tmp")
"""Names of temporary files, so that leftovers can be told from the user's files."""

_LONGEST_PATH: Final = 4096
_CANNOT_SYNC: Final = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOTTY})
_FULL_SYNC: Final[int | None] = getattr(fcntl, "F_FULLFSYNC", None)

_WORDS: Final[dict[Kind, str]] = {
    "file": "a file",
    "folder": "a folder",
    "link": "a symbolic link",
    "fifo": "a named pipe",
    "device": "a device",
    "socket": "a socket",
}


def kind_of(mode: int) -> Kind:
    """Name the kind of thing that a mode belongs to."""
    kinds: dict[int, Kind] = {
        stat.S_IFREG: "file",
        stat.S_IFDIR: "folder",
        stat.S_IFLNK: "link",
        stat.S_IFIFO: "fifo",
        stat.S_IFSOCK: "socket",
    }
    return kinds.get(stat.S_IFMT(mode), "device")


def components(rel: str) -> tuple[str, ...]:
    """Split a relative path; ``""`` and ``"."`` are the root itself.

    Raises:
        FileRefused: It is absolute, holds ``..`` or NUL, cannot be encoded, or is too long.
    """
    if why := _objection(rel):
        raise FileRefused(rel[:_LONGEST_PATH], why, "name a path inside the folder, relative to it")
    return tuple(part for part in rel.split("/") if part not in ("", "."))


def file_components(rel: str) -> tuple[str, ...]:
    """Split the relative path of a file: the same, and it cannot be the root.

    Raises:
        FileRefused: As `components`, or there is no name in it.
    """
    parts = components(rel)
    if not parts or rel.endswith("/"):
        raise FileRefused(rel, "it names a folder", "name a file in it")
    return parts


def _objection(rel: str) -> str | None:
    try:
        length = len(os.fsencode(rel))
    except UnicodeEncodeError:
        return "the path holds characters that no file name can have"
    tests = {
        "the path is too long": length > _LONGEST_PATH,
        "the path holds a NUL byte": "\0" in rel,
        "the path is absolute": rel.startswith("/"),
        "the path leads upwards (..)": ".." in rel.split("/"),
    }
    return next((why for why, is_so in tests.items() if is_so), None)


@contextlib.contextmanager
def folder(root: int, parts: tuple[str, ...], made: list[str] | None = None) -> Generator[int, None, None]:
    """Open the folder at `parts` beneath a root descriptor.

    Args:
        root: Descriptor of the root folder.
        parts: As `components` returned them.
        made: If given, missing folders are created and their paths appended.

    Raises:
        NothingThere: A folder is missing and was not to be created.
        FileRefused: A component is a link or no folder, or cannot be opened.
    """
    here = _at_once(root, parts)
    if here is None:
        here = _walked(root, parts, made)
    try:
        yield here
    finally:
        os.close(here)


def _at_once(root: int, parts: tuple[str, ...]) -> int | None:
    """Open a folder that is there by one system call; None where the walk has to say what is in the way."""
    if not parts:
        return None
    with contextlib.suppress(OSError):
        return open_beneath(root, "/".join(parts), FOLDER)
    return None


def _walked(root: int, parts: tuple[str, ...], made: list[str] | None) -> int:
    # Not dup: a duplicate shares its position with the root, and two threads may list at once.
    here = os.open(".", FOLDER, dir_fd=root)
    try:
        for depth, name in enumerate(parts, 1):
            below = _enter(here, name, "/".join(parts[:depth]), made)
            os.close(here)
            here = below
    except BaseException:
        os.close(here)
        raise
    return here


def _enter(here: int, name: str, path: str, made: list[str] | None) -> int:
    try:
        return os.open(name, FOLDER, dir_fd=here)
    except FileNotFoundError:
        if made is None:
            raise NothingThere(path) from None
    except OSError as error:
        raise _obstacle(here, name, path, error) from error
    return _create(here, name, path, made)


def _create(here: int, name: str, path: str, made: list[str]) -> int:
    with refusing(path):
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=here)
            made.append(path)
        sync(here)
    try:
        return os.open(name, FOLDER, dir_fd=here)
    except OSError as error:
        raise _obstacle(here, name, path, error) from error


def _obstacle(here: int, name: str, path: str, error: OSError) -> FileRefused:
    try:
        kind = kind_of(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode)
    except OSError:
        return refusal(path, error)
    if kind == "folder":
        return refusal(path, error)
    return FileRefused(
        path, f"it is {_WORDS[kind]}, not a folder", "name a path through real folders", error.errno
    )


def require_regular(mode: int, path: str) -> None:
    """Refuse everything that is not a regular file."""
    if (kind := kind_of(mode)) != "file":
        raise FileRefused(path, f"it is {_WORDS[kind]}, not a regular file", "name a regular file")


def open_file(here: int, name: str, path: str) -> int:
    """Open a regular file in a folder for reading, without following a link or waiting for anything.

    Raises:
        NothingThere: There is none.
        FileRefused: It is something else, or cannot be read.
    """
    with refusing(path), _missing(path):
        # Looked at first, because opening a device can already do something.
        require_regular(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode, path)
        file = os.open(name, READ | os.O_NOFOLLOW, dir_fd=here)
    try:
        require_regular(os.fstat(file).st_mode, path)
    except BaseException:
        os.close(file)
        raise
    return file


@contextlib.contextmanager
def _missing(path: str) -> Generator[None, None, None]:
    try:
        yield
    except FileNotFoundError:
        raise NothingThere(path) from None


def read_all(file: int, path: str, limit: int) -> bytes:
    """Read an open regular file to its end.

    Raises:
        FileRefused: It is larger than `limit` (also if it grew meanwhile), or cannot be read.
    """
    chunks: list[bytes] = []
    total = 0
    with refusing(path):
        if (size := os.fstat(file).st_size) > limit:
            raise too_large(path, size, limit)
        while chunk := os.read(file, max(size - total, 65536) + 1):
            chunks.append(chunk)
            if (total := total + len(chunk)) > limit:
                raise too_large(path, max(total, os.fstat(file).st_size), limit)
    return b"".join(chunks)


def write_all(file: int, data: bytes) -> None:
    """Write everything; a short write goes on with the rest."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]


def sync(file: int) -> None:
    """Bring a file or folder to the disk, through the drive's own cache where the system offers that."""
    try:
        if _FULL_SYNC is None:
            os.fsync(file)
        else:
            fcntl.fcntl(file, _FULL_SYNC)
    except OSError as error:
        # Some file systems cannot sync a folder; their renames are as durable as they get.
        if error.errno not in _CANNOT_SYNC or not stat.S_ISDIR(os.fstat(file).st_mode):
            raise
