"""A program of its own: restrict this process by Landlock (landlock(7)), then become the command.

Run by `sandbox.boxed_argv` with our interpreter and nothing of this package. Options: `--write PATH`,
`--set NAME=VALUE`, `--chdir FOLDER`, `--filter BASE64` (a filter of system calls), then `--` and the command.
"""

import base64
import ctypes
import os
import struct
import sys

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _PATH_RULE = 1, 1
_FILE_RIGHTS = 1 << 1 | 1 << 14
"""Write and truncate."""
_DEVICE_RIGHTS = 1 << 6 | 1 << 11
"""Make devices, which is allowed nowhere."""
_FOLDER_RIGHTS = _FILE_RIGHTS | sum(1 << bit for bit in range(4, 14)) & ~_DEVICE_RIGHTS
"""Also remove and make all other kinds of files, and rename between folders."""
_DEVICE_CONTROL = 1 << 15
_CONNECT_AND_BIND = 3
_SOCKETS_AND_SIGNALS = 3
LEAST_VERSION = 6
"""Before it, processes elsewhere could be signalled, and abstract sockets of others reached."""
LEAST_KERNEL = "6.12"
_SET_DEATH_SIGNAL, _SET_NO_NEW_PRIVILEGES, _KILL = 1, 38, 9
_DROP_CAPABILITY, _SET_FILTER, _FILTER_MODE = 24, 22, 2
_CAPABILITIES_VERSION = 0x20080522
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def landlock_version() -> int:
    """Return which version of Landlock this kernel has, 0 or less for none."""
    return int(ctypes.CDLL(None, use_errno=True).syscall(_CREATE_RULESET, None, 0, _VERSION_FLAG))


def _main(words: list[str]) -> None:
    last = words.index("--")
    options, command = words[:last], words[last + 1 :]
    pairs = list(zip(options[::2], options[1::2], strict=True))
    libc = ctypes.CDLL(None, use_errno=True)
    _restrict(libc, [path for option, path in pairs if option == "--write"])
    _drop_capabilities(libc)
    for option, value in pairs:
        if option == "--set":
            name, _, text = value.partition("=")
            os.environ[name] = text
        elif option == "--chdir":
            os.chdir(value)
    _refuse_calls(libc, base64.b64decode(next(value for option, value in pairs if option == "--filter")))
    os.execvp(command[0], command)


def _restrict(libc: ctypes.CDLL, writable: list[str]) -> None:
    version = landlock_version()
    if version < LEAST_VERSION:
        sys.exit(f"Landlock has version {version} here, and {LEAST_VERSION} is needed")
    folder_rights = _FOLDER_RIGHTS | _DEVICE_CONTROL
    attributes = struct.pack("=QQQ", folder_rights | _DEVICE_RIGHTS, _CONNECT_AND_BIND, _SOCKETS_AND_SIGNALS)
    ruleset = _checked(libc, _CREATE_RULESET, attributes, len(attributes), 0)
    for path in writable:
        _allow(libc, ruleset, path, folder_rights)
    for path in filter(os.path.exists, _DEVICES):
        _allow(libc, ruleset, path, _FILE_RIGHTS)
    libc.prctl(_SET_DEATH_SIGNAL, _KILL, 0, 0, 0)
    if libc.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        sys.exit("privileges cannot be given up here")
    _checked(libc, _RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _drop_capabilities(libc: ctypes.CDLL) -> None:
    """Drop all capabilities of root; other users have none and may not drop them."""
    for number in range(64):
        if libc.prctl(_DROP_CAPABILITY, number, 0, 0, 0):
            break
    if libc.capset(struct.pack("=Ii", _CAPABILITIES_VERSION, 0), bytes(24)):
        sys.exit("capabilities cannot be given up here")


def _refuse_calls(libc: ctypes.CDLL, rules: bytes) -> None:
    kept = ctypes.create_string_buffer(rules, len(rules))
    program = struct.pack("@HP", len(rules) // 8, ctypes.addressof(kept))
    if libc.prctl(_SET_FILTER, _FILTER_MODE, program, 0, 0):
        sys.exit(f"system calls cannot be refused: {os.strerror(ctypes.get_errno())}")


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    file = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    if os.readlink(f"/proc/self/fd/{file}") != path:  # noqa: PTH115 -- pathlib takes milliseconds to load
        sys.exit(f"{path} changed while the sandbox was made")
    rule = struct.pack("=Qi", rights, file)
    _checked(libc, _ADD_RULE, ruleset, _PATH_RULE, rule, 0)
    os.close(file)


def _checked(libc: ctypes.CDLL, *arguments: object) -> int:
    result = int(libc.syscall(*arguments))
    if result < 0:
        sys.exit(f"Landlock was not set up: {os.strerror(ctypes.get_errno())}")
    return result


if __name__ == "__main__":
    _main(sys.argv[1:])
