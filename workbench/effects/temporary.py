"""Temporary files beside their target: written, synced and renamed into place, or removed.

Owns how new bytes reach a name without anybody ever seeing half of them. It compares nothing with what
the caller expects; that is `files`.
"""

import contextlib
import errno
import os
import secrets
import stat
from typing import Final

from workbench.effects.descent import sync, write_all
from workbench.records import dataclass

_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_TMPFILE: Final[int | None] = getattr(os, "O_TMPFILE", None)
_UNNAMED: Final = None if _TMPFILE is None else os.O_WRONLY | os.O_CLOEXEC | _TMPFILE
_NO_UNNAMED: Final = frozenset({errno.EOPNOTSUPP, errno.ENOTSUP, errno.EISDIR, errno.ENOENT, errno.EINVAL})
_NO_LINKS: Final = frozenset(
    {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """What tells one file from another and from itself after a change."""

    device: int
    inode: int
    size: int
    changed: int
    """Modification time in nanoseconds."""


def stamp(found: os.stat_result) -> Stamp:
    """Take the stamp of a file."""
    return Stamp(device=found.st_dev, inode=found.st_ino, size=found.st_size, changed=found.st_mtime_ns)


def look(here: int, name: str) -> os.stat_result | None:
    """Look at a name in a folder without following it; None if nothing is there."""
    try:
        return os.stat(name, dir_fd=here, follow_symlinks=False)
    except FileNotFoundError:
        return None


def write(here: int, data: bytes, mode: int, like: os.stat_result | None = None) -> tuple[str, Stamp]:
    """Write a synced temporary file into a folder.

    Args:
        here: Descriptor of the folder.
        data: All of it.
        mode: Permission bits; set-id bits are never given.
        like: A file whose owner and group are kept where this process may.

    Returns:
        Its name and stamp. After an error nothing is left.
    """
    name = f".workbench-{secrets.token_hex(16)}.tmp"
    return name, _written_unnamed(here, name, data, mode, like) or _written(here, name, data, mode, like)


def _written(here: int, name: str, data: bytes, mode: int, like: os.stat_result | None) -> Stamp:
    file = os.open(name, _CREATE, 0o600, dir_fd=here)
    try:
        return _fill(file, data, mode, like)
    except BaseException:
        remove(here, name)
        raise
    finally:
        os.close(file)


def _written_unnamed(
    here: int, name: str, data: bytes, mode: int, like: os.stat_result | None
) -> Stamp | None:
    """Write a file that gets its name only when it is whole, so that a death leaves no half of it.

    Returns:
        None where the system or the file system has no files without a name (Linux has: open(2), O_TMPFILE).
    """
    if _UNNAMED is None:
        return None
    try:
        file = os.open(".", _UNNAMED, 0o600, dir_fd=here)
    except OSError as error:
        if error.errno in _NO_UNNAMED:
            return None
        raise
    try:
        found = _fill(file, data, mode, like)
        return found if _is_named(file, here, name) else None
    finally:
        os.close(file)


def _is_named(file: int, here: int, name: str) -> bool:
    try:
        os.link(f"/proc/self/fd/{file}", name, dst_dir_fd=here, follow_symlinks=True)
    except OSError as error:
        if error.errno in _NO_LINKS or error.errno == errno.ENOENT:
            return False
        raise
    return True


def _fill(file: int, data: bytes, mode: int, like: os.stat_result | None) -> Stamp:
    write_all(file, data)
    if like is not None:
        _keep_owner(file, like)
    os.fchmod(file, mode & 0o777)
    sync(file)
    return stamp(os.fstat(file))


def _keep_owner(file: int, like: os.stat_result) -> None:
    mine = os.fstat(file)
    if (mine.st_uid, mine.st_gid) == (like.st_uid, like.st_gid):
        return
    for owner in (like.st_uid, -1):
        with contextlib.suppress(PermissionError):
            os.fchown(file, owner, like.st_gid)
            return


def replace(here: int, temporary: str, name: str) -> None:
    """Put a temporary file in the place of what is there."""
    os.rename(temporary, name, src_dir_fd=here, dst_dir_fd=here)


def put_new(here: int, temporary: str, name: str) -> None:
    """Put a temporary file at a name that must be free.

    A hard link fails if somebody made the name meanwhile, which a rename would overwrite.

    Raises:
        FileExistsError: It is not free any more.
    """
    try:
        os.link(temporary, name, src_dir_fd=here, dst_dir_fd=here, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        replace(here, temporary, name)
    else:
        remove(here, temporary)


def remove(here: int, name: str) -> bool:
    """Remove a name if it is there; True if it was."""
    try:
        os.unlink(name, dir_fd=here)
    except FileNotFoundError:
        return False
    return True


def is_leftover(found: os.stat_result, before: float) -> bool:
    """Whether a temporary file is a regular one of this user, last written before a moment."""
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and found.st_mtime <= before
