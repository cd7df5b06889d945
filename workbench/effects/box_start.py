"""Start a command in a box: behind a gate inside of it, and only if the box is what was described.

The words come from `effects/sandbox.py:boxed_argv`. The gate prints a line when it is there; then the mounts
of the box are compared with those words.
"""

# A box is made from paths. Another command that writes in the same workspace could put a link where a folder
# was, between the description and the mount. What was mounted cannot be changed that way, so the kernel is
# asked before the command runs.

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from workbench.effects.mounts import MountRow, Mounts, mounted_source, read_mounts
from workbench.effects.syscall_filter import filter_name, syscall_filter

FILTER_OPTION: Final = "--seccomp"
_LAST_OPTION: Final = "--"
START_SECONDS: Final = 20.0
"""Seconds until the gate of a box has to be there."""


class BoxNotMade(Exception):
    """A box that ended before its command, or is not as described; the message says why."""


def has_waiter(argv: Sequence[str]) -> bool:
    """Return whether the first process of a box only waits for the others, and ends them with itself."""
    return FILTER_OPTION in argv[: argv.index(_LAST_OPTION)]


def with_gate(argv: Sequence[str], gate: Sequence[str]) -> tuple[str, ...]:
    """Put a gate before the command in a box."""
    at = argv.index(_LAST_OPTION) + 1
    return (*argv[:at], *gate, *argv[at:])


def box_filter(argv: Sequence[str]) -> bytes:
    """Return the filter of system calls that the words of a box name; empty if it has none."""
    if not has_waiter(argv):
        return b""
    return syscall_filter(filter_name(argv[argv.index(FILTER_OPTION) + 1]))


def with_filter(argv: Sequence[str], file: int) -> tuple[str, ...]:
    """Put the descriptor that a filter is read from in the place of its name."""
    at = argv.index(FILTER_OPTION) + 1
    return (*argv[:at], str(file), *argv[at + 1 :])


class BoxGate:
    """Reads what a box prints until the gate in it is there."""

    def __init__(self, mark: str) -> None:
        self._line = f"{mark}\n".encode()
        self.printed = b""
        """What the box printed before, such as a warning of its shell, or why it was not made."""

    def is_there(self, chunk: bytes) -> bool:
        """Accept a part of the output; return whether the gate is there. Raises BoxNotMade at the end."""
        self.printed += chunk
        if self.printed.endswith(self._line):
            self.printed = self.printed.removesuffix(self._line)
            return True
        if not chunk:
            raise BoxNotMade("it ended before its command")
        return False


def check_box(argv: Sequence[str], leader: int, ours: Mounts) -> int:
    """Compare the mounts of a box with the words that it was made by; return its first process.

    All that runs in the box has ended when that process has. `ours`: the mounts of this process, which may
    be read while the box is made. Raises BoxNotMade.
    """
    first = _first_inside(leader)
    inside = read_mounts(first)
    for place, source, is_read_only in _wanted_mounts(argv):
        mount = inside.get(place)
        is_there = mount is not None and (mount.is_read_only or not is_read_only)
        if mount is None or not is_there or not _is_mounted_from(source, mount, ours):
            raise BoxNotMade(f"{place} changed while the sandbox was made")
    return first


def _first_inside(leader: int) -> int:
    try:
        children = Path(f"/proc/{leader}/task/{leader}/children").read_text("ascii").split()
    except OSError:
        children = []
    if not children:
        raise BoxNotMade("its first process is not known")
    return int(children[0])


def _is_mounted_from(source: str, mount: MountRow, ours: Mounts) -> bool:
    return not source or mounted_source(source, ours) == (mount.device, mount.source)


def _wanted_mounts(argv: Sequence[str]) -> Iterator[tuple[str, str, bool]]:
    """Yield place, source (empty of an empty folder) and whether it is read-only."""
    words = iter(argv[1 : argv.index(_LAST_OPTION)])
    for word in words:
        if word in ("--bind", "--ro-bind"):
            source = next(words)
            yield next(words), source, word == "--ro-bind"
        elif word == "--tmpfs":
            yield next(words), "", False
