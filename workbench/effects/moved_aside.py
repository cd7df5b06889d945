"""Move something out of a folder: to another file system as a bounded copy, else shut in its place."""

import errno
import os
import secrets
import stat
from contextlib import suppress
from itertools import count
from typing import Final

from workbench.effects.file_primitives import (
    LARGEST_FILE,
    READ_FLAGS,
    FileMissing,
    FileRefused,
    open_folder,
    stat_name,
    translated_os_errors,
)
from workbench.effects.files import Root
from workbench.effects.folders import make_folder
from workbench.effects.owned_folders import let_owner_in, opened, remove_at, set_mode, writable

_MOST_NAMES: Final = 100_000
_MOST_BYTES: Final = LARGEST_FILE
_MOST_DEPTH: Final = 64
_PART_BYTES: Final = 1024 * 1024
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def move_aside(root: Root, path: str, folder: str) -> str:
    """Move what is at a path below a root to a new numbered folder; return where it is.

    On another file system it becomes a copy, without pipes, sockets and devices. What cannot be copied stays
    where it is, under a name that controls nothing, and no user but root can read it. Raises FileMissing, and
    FileRefused for what cannot be moved at all.
    """
    parent, _, name = path.rpartition("/")
    with (
        translated_os_errors(path),
        root.folder(parent or ".") as (directory, place),
        writable(directory),
    ):
        if stat_name(directory, name) is None:
            raise FileMissing(path)
        let_owner_in(directory, name)
        target = _new_target(folder, name)
        with suppress(OSError):
            os.rename(name, target, src_dir_fd=directory)
            return target
        shut = _rename_and_copy(directory, name, target)
        return os.path.normpath(f"{root.path}/{place}/{shut}") if shut else target


def _rename_and_copy(directory: int, name: str, target: str) -> str:
    """Move what is at a name as a copy; else shut it in its folder and return its new name."""
    shut = f".workbench-moved-{secrets.token_hex(8)}"
    os.rename(name, shut, src_dir_fd=directory, dst_dir_fd=directory)
    with suppress(OSError, FileRefused):
        _move_as_copy(directory, shut, target)
        return ""
    with suppress(OSError):  # a link has no mode
        set_mode(directory, shut, 0)
    return shut


def _new_target(folder: str, name: str) -> str:
    """Return a path in a new numbered folder; where none can be made, one where nothing can be moved to."""
    with suppress(OSError, FileRefused):
        return f"{_new_numbered_folder(folder)}/{name}"
    return f"{folder}/none/{name}"


def _new_numbered_folder(folder: str) -> str:
    """Make the next folder that no other process has made."""
    make_folder(folder)
    numbers = (int(name) for name in os.listdir(folder) if name.isdecimal())  # noqa: PTH208 -- text
    for number in count(1 + max(numbers, default=0)):
        with suppress(FileExistsError):
            os.mkdir(f"{folder}/{number}", 0o700)  # noqa: PTH102 -- text
            return f"{folder}/{number}"
    raise AssertionError


def _move_as_copy(directory: int, name: str, target: str) -> None:
    """Copy and remove what is at a name. Raises OSError and FileRefused, with nothing left of the copy."""
    with opened(os.path.dirname(target)) as folder:  # noqa: PTH120 -- text
        copied = os.path.basename(target)  # noqa: PTH119 -- text
        try:
            _Copy().whole(directory, name, folder, copied)
        except (OSError, FileRefused):
            with suppress(FileNotFoundError):
                remove_at(folder, copied)
            raise
    try:
        remove_at(directory, name)
    except OSError:
        set_mode(directory, name, 0)


class _Copy:
    """One copy under way, with bounds on what it may still hold."""

    def __init__(self) -> None:
        self._names, self._bytes = _MOST_NAMES, _MOST_BYTES

    def whole(self, source: int, name: str, target: int, new: str) -> None:
        """Copy a folder, a regular file or a link; of anything else nothing is made. Raises OSError."""
        if not stat.S_ISDIR(os.stat(name, dir_fd=source, follow_symlinks=False).st_mode):
            self._entry(source, name, target, new)
            return
        os.mkdir(new, 0o700, dir_fd=target)
        with opened(name, directory=source) as top, opened(new, directory=target) as copy:
            due: list[tuple[str, ...]] = [()]
            while due:
                parts = due.pop()
                if len(parts) > _MOST_DEPTH:
                    raise OSError(errno.ENAMETOOLONG, "its folders are too deep to be copied")
                with open_folder(top, parts) as folder, open_folder(copy, parts) as made:
                    due += [(*parts, below) for below in self._files(folder, made)]

    def _files(self, folder: int, made: int) -> list[str]:
        """Copy what is in a folder but its folders, which are only made; return their names."""
        with os.scandir(folder) as entries:
            listed = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        self._names = _spent(self._names, len(listed))
        for name, is_folder in listed:
            if is_folder:
                let_owner_in(folder, name)
                os.mkdir(name, 0o700, dir_fd=made)
            else:
                self._entry(folder, name, made, name)
        return [name for name, is_folder in listed if is_folder]

    def _entry(self, folder: int, name: str, made: int, new: str) -> None:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            os.symlink(os.readlink(name, dir_fd=folder), new, dir_fd=made)
        elif stat.S_ISREG(mode):
            with (
                opened(name, READ_FLAGS | os.O_NOFOLLOW, folder) as source,
                opened(new, _NEW_FILE, made) as target,
            ):
                self._file(source, target)

    def _file(self, source: int, target: int) -> None:
        """Copy the bytes, the holes as holes, the mode and the times of a file."""
        status, at = os.fstat(source), 0
        while (start := _next_data(source, at)) is not None:
            end = at = os.lseek(source, start, os.SEEK_HOLE)
            self._bytes = _spent(self._bytes, end - start)
            while start < end and (part := os.pread(source, min(_PART_BYTES, end - start), start)):
                start += os.pwrite(target, part, start)
        os.ftruncate(target, status.st_size)
        os.fchmod(target, stat.S_IMODE(status.st_mode) & 0o777)
        os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))


def _next_data(file: int, at: int) -> int | None:
    """Return the offset of the next data of a sparse file."""
    try:
        return os.lseek(file, at, os.SEEK_DATA)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
    return None


def _spent(left: int, used: int) -> int:
    if used > left:
        raise OSError(errno.EFBIG, "it is too large to be copied")
    return left - used
