"""Why a file operation was refused, in words: the path, the reason, the remedy.

Owns the translation of operating system errors into sentences. It opens nothing and decides nothing.
"""

import contextlib
import errno
import os
from collections.abc import Generator
from typing import Final


class FileRefused(Exception):
    """A file operation that was not done.

    Attributes:
        path: What it was about, as the caller named it.
        why: The reason, without the path.
        remedy: What the reader can do.
        errno: The operating system's number, or None.
    """

    def __init__(self, path: str, why: str, remedy: str, number: int | None = None) -> None:
        super().__init__(f"{path}: {why}; {remedy}")
        self.path = path
        self.why = why
        self.remedy = remedy
        self.errno = number


class NothingThere(FileRefused):
    """There is no file or folder of that name."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "there is nothing of that name", "check the path", errno.ENOENT)


class NotDurable(FileRefused):
    """The file is in place, but the disk did not confirm that it will still be there after a power loss."""


class BaseMoved(Exception):
    """What is on disk is not what the caller expected, so nothing was replaced."""

    def __init__(self, path: str, why: str = "it was changed by somebody else") -> None:
        super().__init__(f"{path}: {why}; look at it again before you write")
        self.path = path
        self.why = why


_WORDS: Final[dict[int, tuple[str, str]]] = {
    errno.ENOSPC: ("the disk is full", "free some space and do it again"),
    errno.EDQUOT: ("the disk quota is used up", "free some space and do it again"),
    errno.EFBIG: ("the file would be larger than this system allows", "raise the limit or write less"),
    errno.EIO: ("the disk reported an input/output error", "check the disk before you go on"),
    errno.EROFS: ("the file system is read-only", "mount it for writing or work elsewhere"),
    errno.EACCES: ("this user may not do that there", "change the permissions of the file or its folder"),
    errno.EPERM: (
        "this user may not do that there",
        "change the owner or attributes of the file or its folder",
    ),
    errno.ENAMETOOLONG: ("the name is too long", "use a shorter one"),
    errno.ELOOP: ("it is a symbolic link", "name what it points to"),
    errno.ENOTDIR: ("a part of the path is not a folder", "check the path"),
    errno.EISDIR: ("it is a folder", "name a file"),
    errno.ENOENT: ("the folder is gone", "make it again"),
    errno.ENXIO: ("it is not a regular file", "name a regular file"),
    errno.EEXIST: ("there is already something of that name", "choose another name"),
    errno.EMFILE: ("too many files are open", "raise the limit on open files (ulimit -n)"),
    errno.ENFILE: ("too many files are open on this machine", "close other programs"),
    errno.EBUSY: ("it is in use by the system", "unmount it or wait"),
    errno.ESTALE: ("the file server has lost it", "mount it again"),
}


def refusal(path: str, error: OSError) -> FileRefused:
    """Put an operating system error into words."""
    number = error.errno or 0
    why, remedy = _WORDS.get(number, (os.strerror(number) if number else str(error), "check the path"))
    return FileRefused(path, why, remedy, error.errno)


@contextlib.contextmanager
def refusing(path: str) -> Generator[None, None, None]:
    """Turn every OSError of the block into a `FileRefused` about this path."""
    try:
        yield
    except OSError as error:
        raise refusal(path, error) from error


def too_large(path: str, size: int, limit: int) -> FileRefused:
    """Say how large a file is and how large it may be."""
    return FileRefused(path, f"it has {size} bytes, the limit is {limit}", "read a part of it", errno.EFBIG)
