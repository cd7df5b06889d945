"""The program's own folders and files: private to the user, written whole or not at all.

Owns files that are named by full paths (home, configuration, logs). It must not be used for paths that
an agent or a workspace names: those go through `files.Root`.
"""

import os
import stat
from pathlib import Path
from typing import BinaryIO

from workbench.effects import temporary
from workbench.effects.descent import LARGEST, READ, read_all, require_regular, sync
from workbench.effects.refusal import FileRefused, refusing


def private_folder(path: Path) -> Path:
    """Create a folder that only this user may enter, or make an existing one so.

    Returns:
        The path, links resolved.

    Raises:
        FileRefused: It belongs to somebody else, is no folder, or cannot be made.
    """
    name = str(path)
    with refusing(name):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        # A link somewhere else is the user's own choice only if the link is the user's.
        _require_mine(path.lstat(), name)
        file = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            found = os.fstat(file)
            _require_mine(found, name)
            if stat.S_IMODE(found.st_mode) & 0o777 != 0o700:
                os.fchmod(file, 0o700)
        finally:
            os.close(file)
        return path.resolve()


def _require_mine(found: os.stat_result, path: str) -> None:
    if found.st_uid != os.geteuid():
        why = f"it belongs to user {found.st_uid}, this is user {os.geteuid()}"
        raise FileRefused(path, why, "run as its owner or choose another folder")


def write_atomic(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Write a file so that its name always shows all of the old or all of the new bytes.

    Raises:
        FileRefused: It was not written; the old file is as it was.
    """
    with refusing(str(path)):
        here = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _write(here, path.name, data, mode)
        finally:
            os.close(here)


def _write(here: int, name: str, data: bytes, mode: int) -> None:
    new, _ = temporary.write(here, data, mode)
    try:
        temporary.replace(here, new, name)
    except BaseException:
        temporary.remove(here, new)
        raise
    sync(here)


def read_bounded(path: Path, limit: int = LARGEST) -> bytes | None:
    """Read a regular file by its full path; links are followed, nothing is waited for.

    Returns:
        All its bytes, or None if nothing is there.

    Raises:
        FileRefused: It is larger than `limit`, no regular file, or cannot be read.
    """
    with refusing(str(path)):
        try:
            file = os.open(path, READ)
        except FileNotFoundError:
            return None
        try:
            require_regular(os.fstat(file).st_mode, str(path))
            return read_all(file, str(path), limit)
        finally:
            os.close(file)


def open_append(path: Path) -> BinaryIO:
    """Open a private file (0600) to write at its end only, unbuffered; a link there is refused.

    Raises:
        FileRefused: It cannot be opened or is no regular file.
    """
    flags = (
        os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    )
    with refusing(str(path)):
        file = os.open(path, flags, 0o600)
        try:
            require_regular(os.fstat(file).st_mode, str(path))
            return os.fdopen(file, "wb", buffering=0)
        except BaseException:
            os.close(file)
            raise
