"""The one place where a child process is made.

Owns the fork: always a session of its own, no inherited descriptors, one pipe for what is printed. It
knows nothing of gates, marks or limits.
"""

import contextlib
import errno
import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import Final

from workbench.effects.offspring import OFFSPRING


class NotStarted(Exception):
    """A process that was not started.

    Attributes:
        what: The program or folder it failed on.
        why: The reason.
        remedy: What the reader can do.
    """

    def __init__(self, what: str, why: str, remedy: str) -> None:
        super().__init__(f"{what}: not started, {why}; {remedy}")
        self.what = what
        self.why = why
        self.remedy = remedy


_WORDS: Final[dict[int, tuple[str, str]]] = {
    errno.ENOENT: ("there is nothing of that name", "check the path"),
    errno.ENOTDIR: ("it is not a folder", "check the path"),
    errno.EACCES: ("this user may not run or enter it", "change its permissions"),
    errno.E2BIG: ("its arguments and environment are too long", "put the long part into a file"),
    errno.ENOEXEC: ("it is not a program", "check its first line or its format"),
    errno.EAGAIN: ("this user has too many processes", "end some and do it again"),
    errno.ENOMEM: ("there is not enough memory", "end some programs and do it again"),
    errno.EMFILE: ("too many files are open", "raise the limit on open files (ulimit -n)"),
}


def spawn(
    argv: Sequence[str],
    cwd: str | None,
    env: Mapping[str, str],
    *,
    stdin: int,
    output: int,
    errors: int | None = None,
    is_detached: bool = False,
) -> subprocess.Popen[bytes]:
    """Start a process in a session of its own.

    Args:
        argv: Program and arguments.
        cwd: Folder to run in, or None for ours.
        env: All of its environment.
        stdin: Descriptor (or `subprocess.DEVNULL`, `subprocess.PIPE`).
        output: Descriptor (or `subprocess.PIPE`) for both standard output and error.
        errors: Descriptor for standard error, if it is to go elsewhere.
        is_detached: It is to outlive us, so it does not count as a running command.

    Raises:
        NotStarted: With the reason.
    """
    try:
        with OFFSPRING.making(is_detached=is_detached) as made:
            made.append(
                subprocess.Popen(
                    list(argv),
                    cwd=cwd,
                    env=dict(env),
                    stdin=stdin,
                    stdout=output,
                    stderr=subprocess.STDOUT if errors is None else errors,
                    start_new_session=True,
                    bufsize=0,
                )
            )
            return made[0]
    except OSError as error:
        raise _not_started(argv[0], error) from error
    except ValueError as error:
        why = "an argument or variable holds a character that cannot be passed on"
        raise NotStarted(argv[0], f"{why} ({error})", "take it out") from error


def pipe(opened: contextlib.ExitStack) -> tuple[int, int]:
    """Make a pipe (reading end, writing end) that the stack closes unless it is relieved of it."""
    ends = os.pipe()
    for end in ends:
        opened.callback(os.close, end)
    return ends


def _not_started(program: str, error: OSError) -> NotStarted:
    number = error.errno or 0
    why, remedy = _WORDS.get(number, (os.strerror(number), "check the program and its folder"))
    return NotStarted(str(error.filename or program), why, remedy)
