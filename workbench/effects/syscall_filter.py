"""The system calls that a command in a box cannot make, as the program that the kernel runs (seccomp)."""

# What namespaces do not hold back. In a user namespace of its own a command could replace a read-only mount
# through a descriptor it opened before: that mount is not in the way there. Sockets of virtual machines
# and most other families ignore network namespaces; key rings are inherited; io_uring makes sockets
# without a system call of that name.

import errno
import platform
import struct
from typing import Final, Literal

from msgspec import Struct

FilterName = Literal["command", "agent"]
"""An agent may make namespaces, since it boxes its own commands; a command may not."""


class _Refusal(Struct, frozen=True, kw_only=True):
    """One call, its numbers on x86_64 and on processors with the generic table, and what refuses it."""

    numbers: tuple[int, int]
    error: int
    argument: int | None = None
    """Which argument decides, from 0; None refuses every call."""
    bits: int = 0
    """Refused if one of these is set."""
    equal: tuple[int, ...] = ()
    """Refused if it is one of these."""
    unlike: tuple[int, ...] = ()
    """Refused if it is none of these."""


_NEW_USER: Final = 0x10000000
_NAMESPACES: Final = (
    _Refusal(numbers=(56, 220), error=errno.EPERM, argument=0, bits=_NEW_USER),  # clone
    _Refusal(numbers=(272, 97), error=errno.EPERM, argument=0, bits=_NEW_USER),  # unshare
    # clone3, whose flags are in memory; without it the C library uses clone.
    _Refusal(numbers=(435, 435), error=errno.ENOSYS),
)
_ALWAYS: Final = (
    _Refusal(numbers=(41, 198), error=errno.EAFNOSUPPORT, argument=0, unlike=(1, 2, 10, 16)),  # socket
    _Refusal(numbers=(425, 425), error=errno.ENOSYS),  # io_uring_setup
    _Refusal(numbers=(248, 217), error=errno.EPERM),  # add_key
    _Refusal(numbers=(249, 218), error=errno.EPERM),  # request_key
    _Refusal(numbers=(250, 219), error=errno.EPERM),  # keyctl
    # ioctl with TIOCSTI or TIOCLINUX: what types into a terminal.
    _Refusal(numbers=(16, 29), error=errno.EPERM, argument=1, equal=(0x5412, 0x541C)),
)
_PROCESSORS: Final = {
    "x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1), "riscv64": (0xC00000F3, 1),
}  # fmt: skip
"""The kernel's number of each processor, and the column of its system calls."""
_NUMBER_OFFSET, _PROCESSOR_OFFSET, _ARGUMENTS_OFFSET = 0, 4, 16
_LOAD, _IF_EQUAL, _IF_BITS, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_ALLOW, _KILL, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
_OTHER_TABLE: Final = 0x40000000
"""From this number on x86_64 counts calls by another table (x32)."""


def syscall_filter(name: FilterName, processor: str = "") -> bytes:
    """Return the filter for this machine. Raises LookupError: none is known for its processor."""
    processor = processor or platform.machine()
    if processor not in _PROCESSORS:
        raise LookupError(f"system calls of {processor} are not known")
    number, column = _PROCESSORS[processor]
    refusals = (*_NAMESPACES, *_ALWAYS) if name == "command" else _ALWAYS
    program = [
        _instruction(_LOAD, _PROCESSOR_OFFSET),
        # Programs of another processor, such as 32-bit ones, number their calls otherwise.
        _instruction(_IF_EQUAL, number, 1, 0), _instruction(_RETURN, _KILL),
        _instruction(_LOAD, _NUMBER_OFFSET),
        _instruction(_IF_AT_LEAST, _OTHER_TABLE, 0, 1), _instruction(_RETURN, _KILL),
    ]  # fmt: skip
    for refusal in refusals:
        program += _refuse(refusal, column)
    return b"".join([*program, _instruction(_RETURN, _ALLOW)])


def _refuse(refusal: _Refusal, column: int) -> list[bytes]:
    number, answer = refusal.numbers[column], _instruction(_RETURN, _REFUSE | refusal.error)
    if refusal.argument is None:
        return [_instruction(_IF_EQUAL, number, 0, 1), answer]
    body = [_instruction(_LOAD, _ARGUMENTS_OFFSET + 8 * refusal.argument), *_tests(refusal)]
    return [
        _instruction(_IF_EQUAL, number, 0, len(body) + 2), *body, _instruction(_RETURN, _ALLOW), answer
    ]  # fmt: skip


def _tests(refusal: _Refusal) -> list[bytes]:
    """Return jumps over the next instruction, which allows, for values that are refused."""
    if refusal.bits:
        return [_instruction(_IF_BITS, refusal.bits, 1, 0)]
    if refusal.equal:
        count = len(refusal.equal)
        return [_instruction(_IF_EQUAL, value, count - place, 0) for place, value in enumerate(refusal.equal)]
    count = len(refusal.unlike)
    allowed = [
        _instruction(_IF_EQUAL, value, count - 1 - place, 0) for place, value in enumerate(refusal.unlike)
    ]
    # The last one is turned around: what is not equal jumps over the instruction that allows.
    return [*allowed[:-1], _instruction(_IF_EQUAL, refusal.unlike[-1], 0, 1)]


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
