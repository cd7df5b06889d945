"""Folders of this user by descriptors: entered whatever their mode, and removed whatever their depth."""

import os
import secrets
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Final

from workbench.effects.file_primitives import FOLDER_FLAGS

_NAME_ONLY: Final[int | None] = getattr(os, "O_PATH", None)
"""Opens what may not be read; only Linux has it."""


@contextmanager
def opened(name: str, flags: int = FOLDER_FLAGS, directory: int | None = None) -> Generator[int, None, None]:
    """Open a file, a folder if not said otherwise, for a block. Raises OSError."""
    file = os.open(name, flags, 0o600, dir_fd=directory)
    try:
        yield file
    finally:
        os.close(file)


def set_mode(directory: int | None, name: str, mode: int) -> None:
    """Change the mode of what may be closed to its owner; links are not followed. Raises OSError."""
    if _NAME_ONLY is None:
        os.chmod(name, mode, dir_fd=directory, follow_symlinks=False)
        return
    with opened(name, _NAME_ONLY | os.O_NOFOLLOW | os.O_CLOEXEC, directory) as file:
        os.chmod(f"/proc/self/fd/{file}", mode)  # noqa: PTH101 -- beside the call above


def let_owner_in(directory: int | None, name: str) -> None:
    """Let this user list, enter and change a folder that it owns; anything else stays. Raises OSError."""
    status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    if stat.S_ISDIR(status.st_mode) and _is_shut(status):
        set_mode(directory, name, stat.S_IMODE(status.st_mode) | stat.S_IRWXU)


@contextmanager
def writable(folder: int) -> Generator[None, None, None]:
    """Let this user change an open folder that it owns for a block. Raises OSError."""
    status = os.fstat(folder)
    if not _is_shut(status):
        yield
        return
    os.fchmod(folder, stat.S_IMODE(status.st_mode) | stat.S_IRWXU)
    try:
        yield
    finally:
        os.fchmod(folder, stat.S_IMODE(status.st_mode))


def _is_shut(status: os.stat_result) -> bool:
    return status.st_uid == os.geteuid() and status.st_mode & stat.S_IRWXU != stat.S_IRWXU


def remove_at(directory: int, name: str) -> None:
    """Remove what is at a name in an open folder, links themselves. Raises OSError.

    Folders in it are first moved to its top, so that no depth is too much for the stack, the descriptors or
    the length of a path.
    """
    if not stat.S_ISDIR(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode):
        os.unlink(name, dir_fd=directory)
        return
    let_owner_in(directory, name)
    with opened(name, directory=directory) as top:
        due = list(_emptied(top, top))
        while due:
            with opened(due[-1], directory=top) as folder:
                below = list(_emptied(folder, top))
            os.rmdir(due.pop(), dir_fd=top)
            due += below
    os.rmdir(name, dir_fd=directory)


def _emptied(folder: int, top: int) -> Iterator[str]:
    """Remove the files in a folder and move its folders to the top; yield their names there."""
    with os.scandir(folder) as entries:
        listed = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in listed:
        if not is_folder:
            os.unlink(name, dir_fd=folder)
            continue
        let_owner_in(folder, name)
        new = secrets.token_hex(16)
        os.rename(name, new, src_dir_fd=folder, dst_dir_fd=top)
        yield new
