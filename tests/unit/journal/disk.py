"""A disk that fails: the system calls by which SQLite writes, failing from the n-th on or once."""

import contextlib
import ctypes
import errno
from collections.abc import Iterator

import apsw

_WRITE = ctypes.CFUNCTYPE(
    ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64, use_errno=True
)


class Disk:
    """Counts the writes of SQLite in this process and fails some of them."""

    def __init__(self, real: int) -> None:
        self._real = _WRITE(real)
        self.writes = 0
        self.fails: range = range(0)
        self.number = 0
        self.pointer = _WRITE(self._write)

    def fail(self, first: int, count: int, number: int) -> None:
        """Let writes fail from the `first` next one on, `count` of them, with an errno."""
        self.writes = 0
        self.fails, self.number = range(first, first + count), number

    def heal(self) -> None:
        """Let every write succeed again."""
        self.fails = range(0)

    def _write(self, file: int, data: int, size: int, offset: int) -> int:
        self.writes += 1
        if self.writes in self.fails:
            ctypes.set_errno(self.number)
            return -1
        ctypes.set_errno(0)
        return int(self._real(file, data, size, offset))


@contextlib.contextmanager
def failing_disk() -> Iterator[Disk]:
    """Stand between SQLite and the disk for the block."""
    vfs = apsw.VFS("journal-tests", "unix")
    name = next(name for name in ("pwrite64", "pwrite") if vfs.xGetSystemCall(name))
    real = vfs.xGetSystemCall(name)
    assert real
    disk = Disk(real)
    pointer = ctypes.cast(disk.pointer, ctypes.c_void_p).value
    assert pointer
    vfs.xSetSystemCall(name, pointer)
    try:
        yield disk
    finally:
        vfs.xSetSystemCall(name, real)
        vfs.unregister()


FULL, BROKEN = errno.ENOSPC, errno.EIO
