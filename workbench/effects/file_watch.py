"""Touches of files, noticed by inotify."""

# On Linux the journal's change notifier asks inotify itself: one thread and a page of code, where the
# package that watches everywhere takes three threads and 0.7 MB in every screen and host. It stays for
# systems without inotify.

import contextlib
import os
import select
import struct
import sys
import threading
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Final

_TOUCHED, _TOO_MANY = 0x4, 0x4000
_EVENT_HEAD: Final = struct.Struct("iIII")
"""Watch, what happened, cookie, length of the name that follows, filled up with zeros."""
_MOST_EVENT_BYTES: Final = 64 * 1024


def watch_files(
    folder: Path, names: Collection[str], ring: Callable[[], object]
) -> Callable[[], None] | None:
    """Call `ring`, which must not raise, in another thread when a named file of a folder was touched.

    Writes do not ring: a commit is some twenty of them, and nothing can be read before the last. The files
    may come and go. Returns a function that ends the watch; None where this system has no inotify. The
    package watchfiles is not used: it polls, and at 10 ms it wakes an idle program 90 times a second.
    Raises OSError.
    """
    if sys.platform != "linux":
        return None
    source = _open_inotify(os.fsencode(folder))
    try:
        ending, end = os.pipe()
    except OSError:
        os.close(source)
        raise
    file_names = frozenset(map(os.fsencode, names))
    thread = threading.Thread(
        target=_read_events, args=(source, ending, file_names, ring), name="journal-watch", daemon=True
    )
    thread.start()

    def stop() -> None:
        os.close(end)
        thread.join()

    return stop


def _open_inotify(folder: bytes) -> int:
    import ctypes

    library: Any = ctypes.CDLL(None, use_errno=True)
    source = int(library.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK))
    if source < 0:
        raise _os_error(ctypes.get_errno())
    if library.inotify_add_watch(source, ctypes.c_char_p(folder), _TOUCHED) < 0:
        error = _os_error(ctypes.get_errno())
        os.close(source)
        raise error
    return source


def _os_error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def _read_events(source: int, ending: int, names: frozenset[bytes], ring: Callable[[], object]) -> None:
    ready = select.poll()
    ready.register(source, select.POLLIN)
    ready.register(ending, 0)
    try:
        while not any(descriptor == ending for descriptor, _ in ready.poll()):
            with contextlib.suppress(BlockingIOError):
                if is_about_names(os.read(source, _MOST_EVENT_BYTES), names):
                    ring()
    finally:
        os.close(source)
        os.close(ending)


def is_about_names(data: bytes, names: frozenset[bytes]) -> bool:
    """Return whether one of the events that were read is about a name, or whether some were lost."""
    offset = 0
    while offset + _EVENT_HEAD.size <= len(data):
        _, mask, _, length = _EVENT_HEAD.unpack_from(data, offset)
        offset += _EVENT_HEAD.size + length
        if mask & _TOO_MANY or data[offset - length : offset].rstrip(b"\0") in names:
            return True
    return False
