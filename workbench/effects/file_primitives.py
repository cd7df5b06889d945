"""File primitives on directory descriptors, and the errors of file operations."""

import contextlib
import errno
import fcntl
import os
import platform
import re
import secrets
import stat
import sys
from collections.abc import Callable, Generator
from functools import cache
from typing import Any, Final, Literal

from msgspec import Struct

FileKind = Literal["file", "folder", "link", "fifo", "device", "socket"]
FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
READ_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
LARGEST_FILE: Final = 256 * 1024 * 1024
"""Bytes read into memory where the caller names no limit."""
TEMPORARY_NAME: Final = re.compile(r"\.workbench-[0-9a-f]{32}\.tmp")
"""Names of temporary files, so that leftovers can be told from the user's files."""
_LONGEST_PATH: Final = 4096
_CANNOT_SYNC: Final = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOTTY})
_FULL_SYNC: Final[int | None] = getattr(fcntl, "F_FULLFSYNC", None)
_KIND_WORDS: Final[dict[FileKind, str]] = {
    "file": "a file",
    "folder": "a folder",
    "link": "a symbolic link",
    "fifo": "a named pipe",
    "device": "a device",
    "socket": "a socket",
}


def kind_of(mode: int) -> FileKind:
    """Name the kind of thing that a mode belongs to."""
    kinds: dict[int, FileKind] = {
        stat.S_IFREG: "file",
        stat.S_IFDIR: "folder",
        stat.S_IFLNK: "link",
        stat.S_IFIFO: "fifo",
        stat.S_IFSOCK: "socket",
    }
    return kinds.get(stat.S_IFMT(mode), "device")


def path_components(rel: str) -> tuple[str, ...]:
    """Split a relative path; ``""`` and ``"."`` are the root. Raises FileRefused: it leads elsewhere."""
    if why := _path_objection(rel):
        raise FileRefused(rel[:_LONGEST_PATH], why, "name a path inside the folder, relative to it")
    return tuple(part for part in rel.split("/") if part not in ("", "."))


def file_components(rel: str) -> tuple[str, ...]:
    """Split the relative path of a file, which cannot be the root. Raises FileRefused."""
    parts = path_components(rel)
    if not parts or rel.endswith("/"):
        raise FileRefused(rel, "it names a folder", "name a file in it")
    return parts


def _path_objection(rel: str) -> str | None:
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
def open_folder(
    root: int, parts: tuple[str, ...], created: list[str] | None = None
) -> Generator[int, None, None]:
    """Open the folder at `parts` beneath a root; with `created`, make missing ones and note them there.

    Raises FileMissing for a missing folder without `created`, FileRefused for a link, no folder, or an error.
    """
    directory = _open_in_one_call(root, parts)
    if directory is None:
        directory = _open_by_steps(root, parts, created)
    try:
        yield directory
    finally:
        os.close(directory)


def _open_in_one_call(root: int, parts: tuple[str, ...]) -> int | None:
    """Open a folder that is there by one system call; None where the walk has to say what is in the way."""
    if not parts:
        return None
    with contextlib.suppress(OSError):
        return open_beneath(root, "/".join(parts), FOLDER_FLAGS)
    return None


def _open_by_steps(root: int, parts: tuple[str, ...], created: list[str] | None) -> int:
    # Not dup: a duplicate shares its position with the root, and two threads may list at once.
    directory = os.open(".", FOLDER_FLAGS, dir_fd=root)
    try:
        for depth, name in enumerate(parts, 1):
            below = _enter_folder(directory, name, "/".join(parts[:depth]), created)
            os.close(directory)
            directory = below
    except BaseException:
        os.close(directory)
        raise
    return directory


def _enter_folder(directory: int, name: str, path: str, created: list[str] | None) -> int:
    try:
        return os.open(name, FOLDER_FLAGS, dir_fd=directory)
    except FileNotFoundError:
        if created is None:
            raise FileMissing(path) from None
    except OSError as error:
        raise _obstacle(directory, name, path, error) from error
    return _create_folder(directory, name, path, created)


def _create_folder(directory: int, name: str, path: str, created: list[str]) -> int:
    with translated_os_errors(path):
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=directory)
            created.append(path)
        sync_to_disk(directory)
    try:
        return os.open(name, FOLDER_FLAGS, dir_fd=directory)
    except OSError as error:
        raise _obstacle(directory, name, path, error) from error


class FileRefused(Exception):
    """A file operation that was not done: `path` as the caller named it, `why`, `remedy`, `errno` or None."""

    def __init__(self, path: str, why: str, remedy: str, number: int | None = None) -> None:
        super().__init__(f"{path}: {why}; {remedy}")
        self.path = path
        self.why = why
        self.remedy = remedy
        self.errno = number


def _obstacle(directory: int, name: str, path: str, error: OSError) -> FileRefused:
    try:
        kind = kind_of(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode)
    except OSError:
        return file_refusal(path, error)
    if kind == "folder":
        return file_refusal(path, error)
    return FileRefused(
        path, f"it is {_KIND_WORDS[kind]}, not a folder", "name a path through real folders", error.errno
    )


def require_regular(mode: int, path: str) -> None:
    """Refuse everything that is not a regular file."""
    if (kind := kind_of(mode)) != "file":
        raise FileRefused(path, f"it is {_KIND_WORDS[kind]}, not a regular file", "name a regular file")


def open_regular_file(directory: int, name: str, path: str) -> int:
    """Open a regular file, following no link and waiting for nothing. Raises FileMissing, FileRefused."""
    with translated_os_errors(path), _missing_as_refusal(path):
        # Looked at first, because opening a device can already do something.
        require_regular(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode, path)
        file = os.open(name, READ_FLAGS | os.O_NOFOLLOW, dir_fd=directory)
    try:
        require_regular(os.fstat(file).st_mode, path)
    except BaseException:
        os.close(file)
        raise
    return file


@contextlib.contextmanager
def _missing_as_refusal(path: str) -> Generator[None, None, None]:
    try:
        yield
    except FileNotFoundError:
        raise FileMissing(path) from None


def read_all(file: int, path: str, limit: int) -> bytes:
    """Read an open regular file to its end. Raises FileRefused: over `limit` bytes, or not readable."""
    chunks: list[bytes] = []
    total = 0
    with translated_os_errors(path):
        if (size := os.fstat(file).st_size) > limit:
            raise too_large_refusal(path, size, limit)
        while chunk := os.read(file, max(size - total, 65536) + 1):
            chunks.append(chunk)
            if (total := total + len(chunk)) > limit:
                raise too_large_refusal(path, max(total, os.fstat(file).st_size), limit)
    return b"".join(chunks)


def write_all(file: int, data: bytes) -> None:
    """Write everything; a short write goes on with the rest."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]


def sync_to_disk(file: int) -> None:
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


_OPENAT2_NUMBER: Final = 437
"""The same on every architecture that got its number after 2019; only those are asked."""
_OPENAT2_MACHINES: Final = frozenset({"x86_64", "aarch64", "arm64", "riscv64", "ppc64le", "s390x"})
_NO_MAGICLINKS: Final = 0x02
_NO_SYMLINKS: Final = 0x04
_BENEATH: Final = 0x08
_OPENAT2_ABSENT: Final = frozenset({errno.ENOSYS, errno.EPERM, errno.EINVAL, errno.E2BIG})
"""A kernel before 5.6, or a sandbox that does not let it through."""


def open_beneath(root: int, path: str, flags: int) -> int | None:
    """Open a relative path beneath a descriptor in one step that nothing can be swapped into (openat2).

    Returns None where this system has no such call. Raises OSError: ELOOP for a link, EXDEV for a way out.
    """
    system_call = _libc()
    if system_call is None:
        return None
    call, how, size = system_call
    opened = call(
        _OPENAT2_NUMBER,
        root,
        os.fsencode(path),
        how(flags, 0, _BENEATH | _NO_SYMLINKS | _NO_MAGICLINKS),
        size,
    )
    if opened >= 0:
        return int(opened)
    import ctypes

    number = ctypes.get_errno()
    if number in _OPENAT2_ABSENT:
        return None
    raise OSError(number, os.strerror(number), path)


@cache
def _libc() -> tuple[Any, Any, int] | None:
    if sys.platform != "linux" or platform.machine() not in _OPENAT2_MACHINES:
        return None
    import ctypes

    class How(ctypes.Structure):
        _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))

    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long

    def how(*values: int) -> Any:
        return ctypes.byref(How(*values))

    def call(number: int, root: int, path: bytes, how: Any, size: int) -> int:
        return int(
            library.syscall(
                ctypes.c_long(number), ctypes.c_int(root), ctypes.c_char_p(path), how, ctypes.c_size_t(size)
            )
        )

    return call, how, ctypes.sizeof(How)


CREATE_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_TMPFILE: Final[int | None] = getattr(os, "O_TMPFILE", None)
_UNNAMED_FLAGS: Final = None if _TMPFILE is None else os.O_WRONLY | os.O_CLOEXEC | _TMPFILE
_UNNAMED_UNSUPPORTED: Final = frozenset(
    {errno.EOPNOTSUPP, errno.ENOTSUP, errno.EISDIR, errno.ENOENT, errno.EINVAL}
)
_LINKS_UNSUPPORTED: Final = frozenset(
    {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV}
)
_NO_REPLACE: Final = 1
"""RENAME_NOREPLACE of Linux."""
_RENAME_UNSUPPORTED: Final = frozenset(
    {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}
)
_LOOK_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_ACCESS_LIST: Final = "system.posix_acl_access"
_NO_ATTRIBUTE: Final = frozenset({errno.ENODATA, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})
_CONTENT_ATTRIBUTES: Final = frozenset({"security.capability", "security.ima", "security.evm", _ACCESS_LIST})
"""The first three vouch for bytes: the kernel takes them away when a file is written. The list is apart."""


class FileStamp(Struct, frozen=True, kw_only=True):
    """What tells one file from another and from itself after a change."""

    device: int
    inode: int
    size: int
    changed: int
    """Modification time in nanoseconds."""


def file_stamp(status: os.stat_result) -> FileStamp:
    return FileStamp(
        device=status.st_dev, inode=status.st_ino, size=status.st_size, changed=status.st_mtime_ns
    )


def stat_name(directory: int, name: str) -> os.stat_result | None:
    """Look at a name in a folder without following it; None if nothing is there."""
    try:
        return os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None


def write_temporary(directory: int, data: bytes, mode: int, like: str | None = None) -> tuple[str, FileStamp]:
    """Write a synced temporary file into a folder; return its name and stamp. After an error nothing is left.

    Set-id bits of `mode` are dropped. Of the file `like` there, owner, group, access list and attributes are
    kept where this process may; nobody may do more with the new file than with that one.
    """
    name = f".workbench-{secrets.token_hex(16)}.tmp"
    with contextlib.ExitStack() as opened:
        old = None
        if like is not None:
            old = os.open(like, _LOOK_FLAGS, dir_fd=directory)
            opened.callback(os.close, old)
        return name, _write_unnamed(directory, name, data, mode, old) or _write_named(
            directory, name, data, mode, old
        )


def _write_named(directory: int, name: str, data: bytes, mode: int, like: int | None) -> FileStamp:
    file = os.open(name, CREATE_FLAGS, 0o600, dir_fd=directory)
    try:
        return _fill_file(file, data, mode, like)
    except BaseException:
        remove_file(directory, name)
        raise
    finally:
        os.close(file)


def _write_unnamed(directory: int, name: str, data: bytes, mode: int, like: int | None) -> FileStamp | None:
    """Write a file that gets its name only when it is whole; None where O_TMPFILE is not offered."""
    if _UNNAMED_FLAGS is None:
        return None
    try:
        file = os.open(".", _UNNAMED_FLAGS, 0o600, dir_fd=directory)
    except OSError as error:
        if error.errno in _UNNAMED_UNSUPPORTED:
            return None
        raise
    try:
        stamp = _fill_file(file, data, mode, like)
        return stamp if _is_linked(file, directory, name) else None
    finally:
        os.close(file)


def _is_linked(file: int, directory: int, name: str) -> bool:
    try:
        os.link(f"/proc/self/fd/{file}", name, dst_dir_fd=directory, follow_symlinks=True)
    except OSError as error:
        if error.errno in _LINKS_UNSUPPORTED or error.errno == errno.ENOENT:
            return False
        raise
    return True


def _fill_file(file: int, data: bytes, mode: int, like: int | None) -> FileStamp:
    write_all(file, data)
    if like is not None:
        old = os.fstat(like)
        _keep_owner(file, old)
        _keep_attributes(file, like)
        mode &= _widest_mode(file, old, has_access_list=_keep_access_list(file, like))
    os.fchmod(file, mode & 0o777)  # also the mask of an access list, so it comes last
    sync_to_disk(file)
    return file_stamp(os.fstat(file))


def _keep_owner(file: int, like: os.stat_result) -> None:
    mine = os.fstat(file)
    if (mine.st_uid, mine.st_gid) == (like.st_uid, like.st_gid):
        return
    for owner in (like.st_uid, -1):
        with contextlib.suppress(PermissionError):
            os.fchown(file, owner, like.st_gid)
            return


def _widest_mode(file: int, old: os.stat_result, *, has_access_list: bool) -> int:
    """Return the bits that give nobody more than the old file did; whoever may read may also execute."""
    most = stat.S_IMODE(old.st_mode)
    most |= (most & 0o444) >> 2
    if not has_access_list:
        return most & 0o700
    if os.fstat(file).st_gid != old.st_gid:
        most &= ~0o070 | (most & 0o007) << 3  # another group: to the old file its members were others
    return most


def _keep_access_list(file: int, like: int) -> bool:
    if not hasattr(os, "getxattr"):
        return True
    try:
        os.setxattr(file, _ACCESS_LIST, os.getxattr(like, _ACCESS_LIST))
    except OSError as error:
        if error.errno not in _NO_ATTRIBUTE:
            return False
    else:
        return True
    try:
        # The folder may give each new file a list of its own, which the old one did not have.
        os.removexattr(file, _ACCESS_LIST)
    except OSError as error:
        return error.errno in _NO_ATTRIBUTE
    return True


def _keep_attributes(file: int, like: int) -> None:
    if not hasattr(os, "listxattr"):
        return
    names: list[str] = []
    with contextlib.suppress(OSError):
        names = os.listxattr(like)
    for name in names:
        if name not in _CONTENT_ATTRIBUTES:
            with contextlib.suppress(OSError):
                os.setxattr(file, name, os.getxattr(like, name))


def replace_file(directory: int, temporary: str, name: str) -> None:
    os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)


def put_new_file(directory: int, temporary: str, name: str) -> None:
    """Put a temporary file at a name that must be free. Raises FileExistsError.

    A hard link fails if somebody made the name meanwhile, which a plain rename would overwrite. Where links
    are not possible Linux has a rename that fails too; only without both is the name overwritten.
    """
    try:
        os.link(temporary, name, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _LINKS_UNSUPPORTED:
            raise
        if not _rename_to_free_name(directory, temporary, name):
            replace_file(directory, temporary, name)
    else:
        remove_file(directory, temporary)


def _rename_to_free_name(directory: int, temporary: str, name: str) -> bool:
    """Rename a file unless the name is there; False where this system or file system cannot.

    Raises FileExistsError.
    """
    rename = _rename_call()
    if rename is None:
        return False
    if rename(directory, os.fsencode(temporary), directory, os.fsencode(name), _NO_REPLACE) == 0:
        return True
    import ctypes

    number = ctypes.get_errno()
    if number in _RENAME_UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), name)


@cache
def _rename_call() -> Callable[[int, bytes, int, bytes, int], int] | None:
    """Return renameat2 of the C library; None where there is none, as on macOS."""
    if sys.platform != "linux":
        return None
    import ctypes

    call: Any = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is not None:
        call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    return call


def remove_file(directory: int, name: str) -> bool:
    try:
        os.unlink(name, dir_fd=directory)
    except FileNotFoundError:
        return False
    return True


def is_leftover_temporary(status: os.stat_result, before: float) -> bool:
    """Whether a temporary file is a regular one of this user, last written before a moment."""
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and status.st_mtime <= before


class FileMissing(FileRefused):
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


_ERROR_WORDS: Final[dict[int, tuple[str, str]]] = {
    errno.ENOSPC: ("the disk is full", "free some space and do it again"),
    errno.EDQUOT: ("the disk quota is used up", "free some space and do it again"),
    errno.EFBIG: ("the file would be larger than this system allows", "raise the limit or write less"),
    errno.EIO: ("the disk reported an input/output error", "check the disk before you continue"),
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


def file_refusal(path: str, error: OSError) -> FileRefused:
    """Put an operating system error into words."""
    number = error.errno or 0
    why, remedy = _ERROR_WORDS.get(number, (os.strerror(number) if number else str(error), "check the path"))
    return FileRefused(path, why, remedy, error.errno)


@contextlib.contextmanager
def translated_os_errors(path: str) -> Generator[None, None, None]:
    """Turn every OSError of the block into a `FileRefused` about this path."""
    try:
        yield
    except OSError as error:
        raise file_refusal(path, error) from error


def too_large_refusal(path: str, size: int, limit: int) -> FileRefused:
    return FileRefused(path, f"it has {size} bytes, the limit is {limit}", "read a part of it", errno.EFBIG)
