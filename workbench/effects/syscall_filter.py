"""The system calls that a command in a box cannot make, as the program that the kernel runs (seccomp)."""

# What namespaces do not hold back. In a user namespace of its own a command could replace a read-only mount
# through a descriptor it opened before: that mount is not in the way there. Sockets of virtual machines
# and most other families ignore network namespaces; key rings are inherited; io_uring makes sockets
# without a system call of that name.
#
# The first process of a box waits for the others, and ends them with itself. A process that attaches to it by
# ptrace stops it, and the end of the command is not noticed.
#
# A file of the workspace belongs to the user: with the setuid bit it runs with the rights of that user for
# every other one. Directories have setgid bits for a good reason, and pass them on to those below; programs
# that copy them set the bit again, and a filter cannot see what a path leads to. So the setgid bit may be set
# where the workspace itself has it.
#
# Landlock makes no namespaces. There a command gets no sockets by which it reaches others: Landlock itself
# refuses TCP alone, and a Unix socket by its path leads to programs such as Docker or tmux that act outside.
# Pairs of sockets stay, except those that can be sent elsewhere; so do pipes. What System V and POSIX queues
# and shared memory belong to is not known either. A limit of another process of the user can end it.

import errno
import platform
import stat
import struct
from typing import Final, Literal, get_args

from msgspec import Struct

FilterName = Literal["command", "command-setgid", "agent", "agent-setgid", "landlock", "landlock-setgid"]
"""With `agent` it may make namespaces, as an agent that boxes its own commands must; with `-setgid` it may
set that bit."""
_NAMES: Final[dict[str, FilterName]] = {name: name for name in get_args(FilterName)}


def filter_name(word: str) -> FilterName:
    """Return the filter that a word names; the strictest one for any other word."""
    return _NAMES.get(word, "command")


class _Refusal(Struct, frozen=True, kw_only=True):
    """One call, its numbers on x86_64 and on processors with the generic table, and what refuses it."""

    numbers: tuple[int, int | None]
    """None where the generic table has no such call."""
    error: int
    argument: int | None = None
    """Which argument decides, from 0; None refuses every call."""
    bits: int = 0
    """Refused if one of these is set."""
    equal: tuple[int, ...] = ()
    """Refused if it is one of these."""
    unlike: tuple[int, ...] = ()
    """Refused if it is none of these."""
    only_with: tuple[int, int] | None = None
    """Another argument, and bits: where none of them is set the call is allowed."""


_NEW_USER: Final = 0x10000000
_NAMESPACES: Final = (
    _Refusal(numbers=(56, 220), error=errno.EPERM, argument=0, bits=_NEW_USER),  # clone
    _Refusal(numbers=(272, 97), error=errno.EPERM, argument=0, bits=_NEW_USER),  # unshare
    # clone3, whose flags are in memory; without it the C library uses clone.
    _Refusal(numbers=(435, 435), error=errno.ENOSYS),
)
_FEW_SOCKETS: Final = (
    _Refusal(numbers=(41, 198), error=errno.EAFNOSUPPORT, argument=0, unlike=(1, 2, 10, 16)),  # socket
)
_DATAGRAM, _CLOSE_ON_EXEC, _NO_WAITING = 2, 0o2000000, 0o4000
_NO_SOCKETS: Final = (
    _Refusal(numbers=(41, 198), error=errno.ENETUNREACH, argument=0, unlike=(16,)),  # socket, but netlink
    # socketpair of datagrams, whose ends can be connected again.
    _Refusal(numbers=(53, 199), error=errno.EPERM, argument=1, equal=(
        _DATAGRAM, _DATAGRAM | _CLOSE_ON_EXEC, _DATAGRAM | _NO_WAITING,
        _DATAGRAM | _CLOSE_ON_EXEC | _NO_WAITING,
    )),
    *(
        _Refusal(numbers=numbers, error=errno.ENOSYS)
        for numbers in (
            (30, 196), (65, 193), (220, 192),  # shmat, semop, semtimedop
            (69, 189), (70, 188), (240, 180),  # msgsnd, msgrcv, mq_open
            (31, 195), (66, 191), (71, 187), (241, 181),  # shmctl, semctl, msgctl, mq_unlink
        )
    ),
    _Refusal(numbers=(302, 261), error=errno.EPERM, argument=0, unlike=(0,)),  # prlimit64 of another process
)  # fmt: skip
_ALWAYS: Final = (
    _Refusal(numbers=(425, 425), error=errno.ENOSYS),  # io_uring_setup
    _Refusal(numbers=(248, 217), error=errno.EPERM),  # add_key
    _Refusal(numbers=(249, 218), error=errno.EPERM),  # request_key
    _Refusal(numbers=(250, 219), error=errno.EPERM),  # keyctl
    _Refusal(numbers=(101, 117), error=errno.EPERM, argument=1, equal=(1,)),  # ptrace of the first process
    # ioctl with TIOCSTI or TIOCLINUX: what types into a terminal.
    _Refusal(numbers=(16, 29), error=errno.EPERM, argument=1, equal=(0x5412, 0x541C)),
)
_CREATE: Final = 0o100 | 0o20000000
"""O_CREAT and O_TMPFILE: without them the mode of an opened file counts for nothing."""
_MODE_CALLS: Final[tuple[tuple[int, int | None, int, tuple[int, int] | None], ...]] = (
    (90, None, 1, None),  # chmod
    (91, 52, 1, None),  # fchmod
    (268, 53, 2, None),  # fchmodat
    (452, 452, 2, None),  # fchmodat2
    (2, None, 2, (1, _CREATE)),  # open
    (257, 56, 3, (2, _CREATE)),  # openat
    (85, None, 1, None),  # creat
    (133, None, 1, None),  # mknod
    (259, 33, 2, None),  # mknodat
)
"""Numbers, the argument that is a mode, and when it counts. `mkdir` sets no such bit."""


def _mode_refusals(bits: int) -> tuple[_Refusal, ...]:
    calls = (
        _Refusal(numbers=(x86, other), error=errno.EPERM, argument=mode, bits=bits, only_with=flags)
        for x86, other, mode, flags in _MODE_CALLS
    )
    # openat2, whose mode is in memory; without it programs use openat.
    return (*calls, _Refusal(numbers=(437, 437), error=errno.ENOSYS))


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
    program = [
        _instruction(_LOAD, _PROCESSOR_OFFSET),
        # Programs of another processor, such as 32-bit ones, number their calls otherwise.
        _instruction(_IF_EQUAL, number, 1, 0), _instruction(_RETURN, _KILL),
        _instruction(_LOAD, _NUMBER_OFFSET),
        _instruction(_IF_AT_LEAST, _OTHER_TABLE, 0, 1), _instruction(_RETURN, _KILL),
    ]  # fmt: skip
    for refusal in _refusals(name):
        program += _refuse(refusal, column)
    return b"".join([*program, _instruction(_RETURN, _ALLOW)])


def _refusals(name: FilterName) -> tuple[_Refusal, ...]:
    bits = stat.S_ISUID if name.endswith("-setgid") else stat.S_ISUID | stat.S_ISGID
    namespaces = () if name.startswith("agent") else _NAMESPACES
    sockets = _NO_SOCKETS if name.startswith("landlock") else _FEW_SOCKETS
    return (*namespaces, *sockets, *_ALWAYS, *_mode_refusals(bits))


def _refuse(refusal: _Refusal, column: int) -> list[bytes]:
    number, answer = refusal.numbers[column], _instruction(_RETURN, _REFUSE | refusal.error)
    if number is None:
        return []
    if refusal.argument is None:
        return [_instruction(_IF_EQUAL, number, 0, 1), answer]
    body = [_load_argument(refusal.argument), *_tests(refusal)]
    if refusal.only_with is not None:
        argument, bits = refusal.only_with
        body = [_load_argument(argument), _instruction(_IF_BITS, bits, 0, len(body)), *body]
    return [
        _instruction(_IF_EQUAL, number, 0, len(body) + 2), *body, _instruction(_RETURN, _ALLOW), answer
    ]  # fmt: skip


def _load_argument(number: int) -> bytes:
    return _instruction(_LOAD, _ARGUMENTS_OFFSET + 8 * number)


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
