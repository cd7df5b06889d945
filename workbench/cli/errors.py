"""Errors as messages for people (what failed, why, what to do), and the exit codes.

The only place where an exception becomes text. A traceback is printed only with `WORKBENCH_DEBUG=1`;
an unknown exception is logged in the data folder, with secrets removed.
"""

import errno
import os
import sys
import traceback
from pathlib import Path
from typing import Final

from workbench.cli.console import Console
from workbench.text.human import error_sentence

EXIT_OK: Final = 0
EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_PARKED: Final = 3
EXIT_UNANSWERED: Final = 4
EXIT_INTERRUPTED: Final = 130


_SHORTAGES: Final = {
    errno.EMFILE: "raise the limit on open files (ulimit -n)",
    errno.ENFILE: "end some programs and do it again",
    errno.ENOMEM: "end some programs and do it again",
    errno.EFBIG: "raise the limit on the size of files (ulimit -f)",
    errno.ENOSPC: "make room on the disk",
    errno.EDQUOT: "make room on the disk",
}
"""What helps where the machine lacks something."""


class Refusal(Exception):
    """Something that a command did not do, why, and what the reader can do; with the exit code."""

    code = EXIT_FAILED

    def __init__(self, what: str, why: str, remedy: str) -> None:
        super().__init__(f"{what}: {why}; {remedy}")
        self.what, self.why, self.remedy = what, why, remedy


class UsageError(Refusal):
    """The command line itself makes no sense."""

    code = EXIT_USAGE


def error_lines(error: BaseException) -> tuple[str, ...] | None:
    """Return the lines for an error that explains itself; None for any other."""
    remedy = getattr(error, "remedy", None)
    if isinstance(error, OSError) and error.errno in _SHORTAGES:
        lines = ("it was not done", os.strerror(error.errno), _SHORTAGES[error.errno])
        return tuple(map(error_sentence, lines))
    if not isinstance(remedy, str):
        return _own_message(error)
    what = _text_attribute(error, "what") or _text_attribute(error, "path")
    why = _text_attribute(error, "why")
    lines = (what, why, remedy) if what and why else (what or why or str(error), remedy)
    return tuple(error_sentence(line) for line in lines if line)


def _own_message(error: BaseException) -> tuple[str, ...] | None:
    """Return the message of an error of this program that has no parts; its authors wrote it for people."""
    is_ours = type(error).__module__.startswith("workbench.")
    return (error_sentence(str(error)),) if is_ours and isinstance(error, Exception) and str(error) else None


def report_error(error: BaseException, console: Console) -> int:
    """Say on stderr what went wrong and return the exit code."""
    if isinstance(error, KeyboardInterrupt):
        return EXIT_INTERRUPTED
    explained = error_lines(error)
    if explained is None and os.environ.get("WORKBENCH_DEBUG") == "1":
        explained = (_scrubbed_trace(error).rstrip(),)
    console.note_lines(explained or (_unknown_error_line(error),))
    return _exit_code(error)


def report_explained_error(error: Exception, console: Console) -> int:
    """Say what went wrong and return the exit code; an error that does not explain itself is raised again."""
    if error_lines(error) is None:
        raise error
    return report_error(error, console)


def silence_output(console: Console) -> int:
    """Make stdout harmless after its reader went away, and return the exit code."""
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (console.out, console.err):
        try:
            os.dup2(null, stream.fileno())
        except (OSError, ValueError):
            continue
    os.close(null)
    return EXIT_FAILED


def _exit_code(error: BaseException) -> int:
    code = getattr(error, "code", None)
    return code if isinstance(error, Refusal) and isinstance(code, int) else EXIT_FAILED


def _text_attribute(error: BaseException, name: str) -> str:
    value = getattr(error, name, "")
    return value if isinstance(value, str) else ""


def _unknown_error_line(error: BaseException) -> str:
    problem = error_sentence(f"Something failed that should not: {type(error).__name__}")
    path = _write_log(_scrubbed_trace(error))
    if path is None:
        return f"{problem} No log could be written; WORKBENCH_DEBUG=1 shows the details."
    return f"{problem} The log is {path}"


def _scrubbed_trace(error: BaseException) -> str:
    from workbench.secrets.scrubber import scrub

    return scrub("".join(traceback.format_exception(error))).text


def _write_log(text: str) -> Path | None:
    from workbench.effects.path_files import open_append
    from workbench.journal.home import Home
    from workbench.secrets.scrubber import scrub
    from workbench.text.human import iso_time

    try:
        path = Home.open().logs / "cli.log"
        head = f"{iso_time(_now())} pid {os.getpid()} workbench {' '.join(sys.argv[1:3])}\n"
        with open_append(path) as file:
            file.write(scrub(head + text).text.encode("utf-8", "backslashreplace"))
    except Exception:  # noqa: BLE001 -- the log is the last resort; failing to write it must not hide the cause
        return None
    return path


def _now() -> int:
    from workbench.effects.clock import SystemClock

    return SystemClock().now()
