"""The filter of system calls, run as the kernel would run it, for each processor."""

import errno
import struct

import pytest

from workbench.effects.syscall_filter import filter_name, syscall_filter

ALLOWED = 0
KILLED = "killed"
X86, ARM, RISCV = 0xC000003E, 0xC00000B7, 0xC00000F3
PROCESSORS = {"x86_64": X86, "aarch64": ARM, "riscv64": RISCV}


def answer(program, number, *arguments, processor):
    """Run a filter: the few instructions that it uses, as seccomp(2) and bpf(4) define them."""
    values = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("=iIQ6Q", number, processor, 0, *values)
    instructions = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    place = loaded = 0
    while True:
        code, if_true, if_false, value = instructions[place]
        place += 1
        match code:
            case 0x20:
                (loaded,) = struct.unpack_from("=I", data, value)
            case 0x15:
                place += if_true if loaded == value else if_false
            case 0x35:
                place += if_true if loaded >= value else if_false
            case 0x45:
                place += if_true if loaded & value else if_false
            case 0x06:
                kinds = {0x7FFF0000: ALLOWED, 0x80000000: KILLED}
                return kinds[value] if value in kinds else value - 0x00050000


CALLS = [
    # number on x86_64, elsewhere; arguments; in a command's box, in an agent's
    (56, 220, (0x10000000,), errno.EPERM, ALLOWED),  # clone with a user namespace
    (56, 220, (0x10020011,), errno.EPERM, ALLOWED),
    (56, 220, (0x1200011,), ALLOWED, ALLOWED),  # fork
    (56, 220, (0x20000,), ALLOWED, ALLOWED),  # another namespace, which takes privileges
    (272, 97, (0x10000000,), errno.EPERM, ALLOWED),  # unshare
    (272, 97, (0x400,), ALLOWED, ALLOWED),
    (435, 435, (), errno.ENOSYS, ALLOWED),  # clone3
    (41, 198, (1,), ALLOWED, ALLOWED),  # sockets: Unix
    (41, 198, (2,), ALLOWED, ALLOWED),
    (41, 198, (10,), ALLOWED, ALLOWED),
    (41, 198, (16,), ALLOWED, ALLOWED),  # netlink
    (41, 198, (40,), errno.EAFNOSUPPORT, errno.EAFNOSUPPORT),  # of virtual machines
    (41, 198, (31,), errno.EAFNOSUPPORT, errno.EAFNOSUPPORT),  # Bluetooth
    (41, 198, (0,), errno.EAFNOSUPPORT, errno.EAFNOSUPPORT),
    (41, 198, (1 << 32 | 40,), errno.EAFNOSUPPORT, errno.EAFNOSUPPORT),  # the kernel reads the lower half
    (425, 425, (), errno.ENOSYS, errno.ENOSYS),  # io_uring
    (248, 217, (), errno.EPERM, errno.EPERM),
    (249, 218, (), errno.EPERM, errno.EPERM),
    (250, 219, (), errno.EPERM, errno.EPERM),
    (101, 117, (16, 1), errno.EPERM, errno.EPERM),  # ptrace of the first process
    (101, 117, (0x4206, 1), errno.EPERM, errno.EPERM),
    (101, 117, (16, 2), ALLOWED, ALLOWED),
    (101, 117, (0, 0), ALLOWED, ALLOWED),
    (16, 29, (0, 0x5412), errno.EPERM, errno.EPERM),  # TIOCSTI
    (16, 29, (0, 0x541C), errno.EPERM, errno.EPERM),
    (16, 29, (0, 1 << 32 | 0x5412), errno.EPERM, errno.EPERM),
    (16, 29, (0, 0x5413), ALLOWED, ALLOWED),
    (16, 29, (0x5412, 0), ALLOWED, ALLOWED),
    (1, 64, (1, 0, 1), ALLOWED, ALLOWED),  # write
    (437, 437, (), errno.ENOSYS, errno.ENOSYS),  # openat2
    (0x40000000 | 272, 0x40000000 | 97, (0x10000000,), KILLED, KILLED),  # by another table
]


CREATE, TEMPORARY, EXCLUSIVE_WRITE = 0o100, 0o20200000, 0o201
MODE_CALLS = [
    # number on x86_64, elsewhere; the arguments before the mode
    (90, None, (1,)),  # chmod
    (91, 52, (1,)),  # fchmod
    (268, 53, (1, 1)),  # fchmodat
    (452, 452, (1, 1)),  # fchmodat2
    (2, None, (1, CREATE | EXCLUSIVE_WRITE)),  # open
    (257, 56, (1, 1, CREATE | EXCLUSIVE_WRITE)),  # openat
    (257, 56, (1, 1, TEMPORARY | 1)),
    (85, None, (1,)),  # creat
    (133, None, (1,)),  # mknod
    (259, 33, (1, 1)),  # mknodat
]


@pytest.mark.parametrize("machine", PROCESSORS)
@pytest.mark.parametrize(("x86", "other", "before"), MODE_CALLS)
@pytest.mark.parametrize(
    ("mode", "in_shared"),
    [(0o4755, errno.EPERM), (0o6755, errno.EPERM), (0o104000, errno.EPERM), (0o2755, ALLOWED), (0o2010, ALLOWED)],
)  # fmt: skip
def test_a_mode_with_the_bits_of_another_user(machine, x86, other, before, mode, in_shared):
    number = x86 if machine == "x86_64" else other
    if number is None:
        return
    for name in ("command", "agent"):
        for given, refused in ((mode, errno.EPERM), (mode & ~0o6000, ALLOWED), (0o1777, ALLOWED)):
            program = syscall_filter(name, machine)
            assert answer(program, number, *before, given, processor=PROCESSORS[machine]) == refused
        program = syscall_filter(f"{name}-setgid", machine)
        assert answer(program, number, *before, mode, processor=PROCESSORS[machine]) == in_shared


@pytest.mark.parametrize("machine", PROCESSORS)
def test_the_mode_of_a_file_that_is_only_opened_counts_for_nothing(machine):
    """Programs leave there what was in the register before."""
    program = syscall_filter("command", machine)
    assert (
        answer(program, 257 if machine == "x86_64" else 56, 1, 1, 1, 0o6755, processor=PROCESSORS[machine])
        == 0
    )


def test_a_word_that_names_no_filter_gets_the_strictest_one():
    assert [filter_name(word) for word in ("agent", "command-setgid", "agents", "")] == [
        "agent", "command-setgid", "command", "command",
    ]  # fmt: skip


@pytest.mark.parametrize("machine", PROCESSORS)
@pytest.mark.parametrize(("x86", "other", "arguments", "command", "agent"), CALLS)
def test_each_call(machine, x86, other, arguments, command, agent):
    number = x86 if machine == "x86_64" else other
    for name, expected in (("command", command), ("agent", agent)):
        program = syscall_filter(name, machine)
        assert answer(program, number, *arguments, processor=PROCESSORS[machine]) == expected


def test_calls_of_another_processor_end_the_process():
    i386 = 0x40000003
    assert answer(syscall_filter("command", "x86_64"), 1, processor=i386) == KILLED


def test_a_processor_that_is_not_known_has_no_filter():
    with pytest.raises(LookupError):
        syscall_filter("command", "pdp11")


CLOSE_ON_EXEC, NO_WAITING = 0o2000000, 0o4000
LANDLOCK_CALLS = [
    *((41, 198, (family, 1), errno.ENETUNREACH) for family in (0, 1, 2, 10, 40, 1 << 32 | 1)),
    (41, 198, (16, 3), ALLOWED),  # netlink
    *((53, 199, (1, kind), ALLOWED) for kind in (1, 1 | CLOSE_ON_EXEC, 5)),  # socketpair
    *(
        (53, 199, (1, kind), errno.EPERM)
        for kind in (2, 2 | CLOSE_ON_EXEC, 2 | NO_WAITING, 2 | CLOSE_ON_EXEC | NO_WAITING)
    ),
    *((x86, other, (), errno.ENOSYS) for x86, other in ((30, 196), (65, 193), (69, 189), (240, 180))),
    *((x86, other, (), errno.ENOSYS) for x86, other in ((31, 195), (66, 191), (71, 187), (241, 181))),
    *((302, 261, (process, 7), errno.EPERM if process else ALLOWED) for process in (0, 1, 4000)),  # prlimit64
    (272, 97, (0x10000000,), errno.EPERM),  # unshare
    (16, 29, (0, 0x5412), errno.EPERM),  # TIOCSTI
    (90, 52, (1, 0o4755), errno.EPERM),  # chmod, fchmod
]


@pytest.mark.parametrize("machine", PROCESSORS)
@pytest.mark.parametrize(("x86", "other", "arguments", "expected"), LANDLOCK_CALLS)
def test_each_call_where_landlock_holds_files_alone(machine, x86, other, arguments, expected):
    number = x86 if machine == "x86_64" else other
    program = syscall_filter("landlock", machine)
    assert answer(program, number, *arguments, processor=PROCESSORS[machine]) == expected
