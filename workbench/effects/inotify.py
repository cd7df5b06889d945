"""Hears of writes to files of one folder from Linux itself: inotify(7), in one thread of its own.

Owns the descriptor, the thread and which names count. It never says what was written, and where the system
has no inotify it says so and watches nothing.
"""

import contextlib
import os
import select
import struct
import sys
import threading
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Final

_MODIFIED, _TOUCHED, _TOO_MANY = 0x2, 0x4, 0x4000
_HEAD: Final = struct.Struct("iIII")
"""Watch, what happened, cookie, length of the name that follows, filled up with zeros."""
_MOST: Final = 64 * 1024


def watch(folder: Path, names: Collection[str], ring: Callable[[], object]) -> Callable[[], None] | None:
    """Call `ring` in another thread whenever one of the named files was written to or touched.

    Args:
        folder: Where they are; they may come and go.
        names: Of the files, without their folder.
        ring: Must not raise.

    Returns:
        What ends it; None where this system has no inotify.

    Raises:
        OSError: The system watches no more folders, or this one cannot be watched.
    """
    if sys.platform != "linux":
        return None
    source = _source(os.fsencode(folder))
    try:
        ending, end = os.pipe()
    except OSError:
        os.close(source)
        raise
    wanted = frozenset(map(os.fsencode, names))
    thread = threading.Thread(
        target=_listen, args=(source, ending, wanted, ring), name="journal-watch", daemon=True
    )
    thread.start()

    def stop() -> None:
        os.close(end)
        thread.join()

    return stop


def _source(folder: bytes) -> int:
    import ctypes

    library: Any = ctypes.CDLL(None, use_errno=True)
    source = int(library.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK))
    if source < 0:
        raise _failure(ctypes.get_errno())
    if library.inotify_add_watch(source, ctypes.c_char_p(folder), _MODIFIED | _TOUCHED) < 0:
        error = _failure(ctypes.get_errno())
        os.close(source)
        raise error
    return source


def _failure(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def _listen(source: int, ending: int, names: frozenset[bytes], ring: Callable[[], object]) -> None:
    ready = select.poll()
    ready.register(source, select.POLLIN)
    ready.register(ending, 0)
    try:
        while not any(at == ending for at, _ in ready.poll()):
            with contextlib.suppress(BlockingIOError):
                if is_about(os.read(source, _MOST), names):
                    ring()
    finally:
        os.close(source)
        os.close(ending)


def is_about(data: bytes, names: frozenset[bytes]) -> bool:
    """Return whether one of the events that were read is about a name, or whether some were lost."""
    at = 0
    while at + _HEAD.size <= len(data):
        _, what, _, length = _HEAD.unpack_from(data, at)
        at += _HEAD.size + length
        if what & _TOO_MANY or data[at - length : at].rstrip(b"\0") in names:
            return True
    return False
