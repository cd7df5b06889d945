"""One system call that walks below a folder and follows no link: Linux's openat2(2), where there is one.

Owns the call and whether this system has it. It never decides what a failure means: whoever asks walks again,
component by component, and says which one was in the way.
"""

import errno
import os
import platform
import sys
from functools import cache
from typing import Any, Final

_NUMBER: Final = 437
"""The same on every architecture that got its number after 2019; only those are asked."""

_MACHINES: Final = frozenset({"x86_64", "aarch64", "arm64", "riscv64", "ppc64le", "s390x"})
_NO_MAGICLINKS: Final = 0x02
_NO_SYMLINKS: Final = 0x04
_BENEATH: Final = 0x08
_ABSENT: Final = frozenset({errno.ENOSYS, errno.EPERM, errno.EINVAL, errno.E2BIG})
"""A kernel before 5.6, or a sandbox that does not let it through."""


def open_beneath(root: int, path: str, flags: int) -> int | None:
    """Open what stands beneath a descriptor, in one step that nothing can be swapped into.

    Args:
        root: Descriptor of a folder.
        path: Relative; no component of it may be a link.
        flags: As for `os.open`.

    Returns:
        A descriptor; None where this system has no such call.

    Raises:
        OSError: As `os.open` does; ELOOP for a link, EXDEV for a way out.
    """
    found = _library()
    if found is None:
        return None
    call, how, size = found
    opened = call(
        _NUMBER, root, os.fsencode(path), how(flags, 0, _BENEATH | _NO_SYMLINKS | _NO_MAGICLINKS), size
    )
    if opened >= 0:
        return int(opened)
    import ctypes

    number = ctypes.get_errno()
    if number in _ABSENT:
        return None
    raise OSError(number, os.strerror(number), path)


@cache
def _library() -> tuple[Any, Any, int] | None:
    if sys.platform != "linux" or platform.machine() not in _MACHINES:
        return None
    import ctypes

    class How(ctypes.Structure):
        _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))

    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long

    def how(*values: int) -> Any:
        return ctypes.byref(How(*values))

    def call(number: int, root: int, path: bytes, asked: Any, size: int) -> int:
        return int(
            library.syscall(
                ctypes.c_long(number), ctypes.c_int(root), ctypes.c_char_p(path), asked, ctypes.c_size_t(size)
            )
        )

    return call, how, ctypes.sizeof(How)
