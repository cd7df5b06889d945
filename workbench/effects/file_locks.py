"""Locks between processes: files that a process holds locked for as long as it lives."""

import contextlib
import fcntl
import os
import stat
import time
from collections.abc import Generator
from pathlib import Path
from typing import Final, Self

_FLAGS: Final = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
_ATTEMPTS: Final = 50
_PAUSE: Final = 0.002
_LONG_PAUSE: Final = 0.02


class FileLock:
    """An exclusive lock on a file, held until released or until this process is gone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: int | None = None

    @property
    def is_mine(self) -> bool:
        return self._file is not None

    @property
    def descriptors(self) -> tuple[int, ...]:
        """Return what holds the lock: it is held as long as any process has that open."""
        return () if self._file is None else (self._file,)

    def try_acquire(self) -> bool:
        """Take the lock without waiting; return whether it is held. Raises OSError: no regular file."""
        if self._file is None:
            self._file = _acquire(self.path)
        return self._file is not None

    def acquire_within(self, seconds: float) -> bool:
        """Take the lock, waiting for another holder so long at the most; return whether it is held."""
        until = time.monotonic() + seconds
        while not self.try_acquire():
            if time.monotonic() >= until:
                return False
            time.sleep(_LONG_PAUSE)
        return True

    def release(self) -> None:
        """Give the lock back; twice is harmless. The file stays."""
        if self._file is not None:
            os.ftruncate(self._file, 0)
            fcntl.flock(self._file, fcntl.LOCK_UN)  # a child just forked has it open until it executes
            os.close(self._file)
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def is_lock_held(path: Path) -> bool:
    """Ask the kernel whether any process (this one too) holds the lock; a missing file is not held."""
    with _opened_lock_file(path, os.O_RDONLY) as file:
        return file is not None and not _try_flock(file, fcntl.LOCK_SH)


def lock_holder(path: Path) -> int | None:
    """Return the pid that the holder wrote, for people; None if nobody holds the lock or it says none."""
    with _opened_lock_file(path, os.O_RDONLY) as file:
        if file is None or _try_flock(file, fcntl.LOCK_SH):
            return None
        text = os.pread(file, 20, 0).strip()
    return int(text) if text.isdigit() else None


def remove_unheld_lock(path: Path) -> bool:
    """Delete a lock file that nobody holds; True if it is gone afterwards.

    The lock is held meanwhile, and whoever opened the file in between sees that it has lost its name.
    """
    with FileLock(path) as lock:
        if lock.try_acquire():
            path.unlink(missing_ok=True)
    return not path.exists()


def _acquire(path: Path) -> int | None:
    for _ in range(_ATTEMPTS):
        file = _open_lock_file(path, os.O_RDWR | os.O_CREAT)
        if _try_flock(file, fcntl.LOCK_EX) and _is_still_named(file, path):
            os.ftruncate(file, 0)
            with contextlib.suppress(OSError):  # a full disk: only people read the pid, the lock is held
                os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
            return file
        # Somebody who only asks (`is_lock_held`) holds a shared lock for a moment: that is not being taken.
        is_only_asked = _try_flock(file, fcntl.LOCK_SH)
        os.close(file)
        if not is_only_asked:
            return None
        time.sleep(_PAUSE)
    return None


def _try_flock(file: int, kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_still_named(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.lstat())
    except FileNotFoundError:
        return False


def _open_lock_file(path: Path, flags: int) -> int:
    file = os.open(path, flags | _FLAGS, 0o600)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(f"{path} is not a regular file and cannot be a lock; remove it")
    return file


@contextlib.contextmanager
def _opened_lock_file(path: Path, flags: int) -> Generator[int | None, None, None]:
    try:
        file = _open_lock_file(path, flags)
    except FileNotFoundError:
        yield None
        return
    try:
        yield file
    finally:
        os.close(file)
