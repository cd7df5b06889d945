"""Files by their full path, without a root: read within a limit, replaced atomically, private folders."""

import contextlib
import os
import secrets
import stat
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO, Final

from workbench.effects import file_primitives
from workbench.effects.file_primitives import (
    LARGEST_FILE,
    READ_FLAGS,
    FileRefused,
    read_all,
    require_regular,
    sync_to_disk,
    translated_os_errors,
)


def private_folder(path: Path) -> Path:
    """Make a folder private, or an existing one so; return its real path. Raises FileRefused."""
    name = str(path)
    with translated_os_errors(name):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        # A link somewhere else is the user's own choice only if the link is the user's.
        _require_own(path.lstat(), name)
        file = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            status = os.fstat(file)
            _require_own(status, name)
            if stat.S_IMODE(status.st_mode) & 0o777 != 0o700:
                os.fchmod(file, 0o700)
        finally:
            os.close(file)
        return path.resolve()


def _require_own(status: os.stat_result, path: str) -> None:
    if status.st_uid != os.geteuid():
        why = f"it belongs to user {status.st_uid}, this is user {os.geteuid()}"
        raise FileRefused(path, why, "run as its owner or choose another folder")


def write_atomic(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Replace a file so that its name shows all old or all new bytes. Raises FileRefused: it is as it was."""
    with translated_os_errors(str(path)):
        directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _require_replaceable(directory, path)
            _write_and_sync(directory, path.name, data, mode)
        finally:
            os.close(directory)


SYNCING: Final = ThreadPoolExecutor(1, thread_name_prefix="sync")
"""Brings to the disk what `write_at_once` wrote."""


def write_at_once(path: Path, data: bytes) -> None:
    """Write a new private file that appears whole; a thread brings it to the disk. Raises FileRefused."""
    with translated_os_errors(str(path)):
        temporary = path.with_suffix(".tmp")
        try:
            with os.fdopen(os.open(temporary, file_primitives.CREATE_FLAGS, 0o600), "wb") as stream:
                stream.write(data)
            temporary.rename(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    try:
        SYNCING.submit(_sync_with_folder, path)
    except RuntimeError:  # a command may have used all processes
        _sync_with_folder(path)


def _sync_with_folder(path: Path) -> None:
    for name in (path, path.parent):
        with contextlib.suppress(OSError):  # it may have been removed by now
            file = os.open(name, os.O_RDONLY | os.O_CLOEXEC)
            try:
                sync_to_disk(file)
            finally:
                os.close(file)


def write_atomic_parts(path: Path, parts: Iterable[bytes], mode: int = 0o600) -> int:
    """Replace a file as `write_atomic` does, by bytes that come one after the other; return how many came."""
    with translated_os_errors(str(path)), contextlib.ExitStack() as opened:
        directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        opened.callback(os.close, directory)
        _require_replaceable(directory, path)
        new, total = f".workbench-{secrets.token_hex(16)}.tmp", 0
        file = os.open(new, file_primitives.CREATE_FLAGS, mode, dir_fd=directory)
        try:
            with os.fdopen(file, "wb", buffering=1 << 20) as stream:
                for part in parts:
                    total += stream.write(part)
                stream.flush()
                sync_to_disk(file)
            file_primitives.replace_file(directory, new, path.name)
        except BaseException:
            file_primitives.remove_file(directory, new)
            raise
        sync_to_disk(directory)
        return total


def _require_replaceable(directory: int, path: Path) -> None:
    """Refuse a path that is not a regular file, also behind a link: a new file would replace /dev/null."""
    with contextlib.suppress(FileNotFoundError):
        require_regular(os.stat(path.name, dir_fd=directory).st_mode, str(path))


def _write_and_sync(directory: int, name: str, data: bytes, mode: int) -> None:
    new, _ = file_primitives.write_temporary(directory, data, mode)
    try:
        file_primitives.replace_file(directory, new, name)
    except BaseException:
        file_primitives.remove_file(directory, new)
        raise
    sync_to_disk(directory)


def read_bounded(path: Path, limit: int = LARGEST_FILE) -> bytes | None:
    """Read a regular file by its full path; links are followed, nothing is waited for; None if there is none.

    Raises FileRefused: it is larger than `limit`, no regular file, or cannot be read.
    """
    with translated_os_errors(str(path)):
        try:
            file = os.open(path, READ_FLAGS)
        except FileNotFoundError:
            return None
        try:
            require_regular(os.fstat(file).st_mode, str(path))
            return read_all(file, str(path), limit)
        finally:
            os.close(file)


def open_append(path: Path) -> BinaryIO:
    """Open a private file (0600) to append to, unbuffered. Raises FileRefused: a link or no regular file."""
    flags = (
        os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    )
    with translated_os_errors(str(path)):
        file = os.open(path, flags, 0o600)
        try:
            require_regular(os.fstat(file).st_mode, str(path))
            return os.fdopen(file, "wb", buffering=0)
        except BaseException:
            os.close(file)
            raise
