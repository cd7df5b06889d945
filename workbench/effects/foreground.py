"""Programs of the user's own that run in the user's terminal or for it: an editor, a pager, a notice.

Owns starting them and waiting. What an agent asks for never comes through here: see `process`.
"""

import contextlib
import shlex
import signal
import subprocess
import threading
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path

from workbench.effects.private import private_folder, read_bounded, write_atomic
from workbench.effects.refusal import FileRefused

_MISSING = 127
"""What a shell and `run` say where there is no such program."""


def run(argv: Sequence[str], cwd: str | None = None, env: Mapping[str, str] | None = None) -> int:
    """Run a program in the terminal of this process and return its exit code; 127 if there is none."""
    try:
        return subprocess.run(
            list(argv), cwd=cwd, env=None if env is None else dict(env), check=False
        ).returncode
    except OSError:
        return _MISSING


@contextlib.contextmanager
def ctrl_c_is_theirs() -> Generator[None, None, None]:
    """Let `ctrl+c` in the terminal reach the program that runs there, and not end this one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # A handler, and not "ignore": that would be handed on to the program.
    before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def feed(command: str, data: bytes, cwd: str) -> int:
    """Run the user's shell command in this terminal with bytes as its input; return its exit code."""
    try:
        with ctrl_c_is_theirs():
            code = subprocess.run(["/bin/sh", "-c", command], input=data, cwd=cwd, check=False).returncode
        return code if code >= 0 else 128 - code
    except (OSError, BrokenPipeError):
        return 127


def capture(argv: Sequence[str], cwd: str, seconds: float, most: int = 4_000_000) -> bytes | None:
    """Return what a program prints, at most `most` bytes; None if it fails, is missing or takes too long."""
    try:
        done = subprocess.run(
            list(argv), cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            timeout=seconds, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout[:most]


class EditorFailed(Exception):
    """An editor did not do its work; the message says why, and what to do."""


def edit(command: str, folder: Path, name: str, data: bytes) -> bytes | None:
    """Let the user edit bytes in a private file; return what was saved, None if the file is gone.

    Args:
        command: the editor's words as in `$EDITOR`; the path is put behind them.
        folder: a private folder for the file.
        name: last part of the file's name, so that the editor knows its kind.
        data: what it starts with.

    Raises:
        EditorFailed: it is not there or ended with an error, or its file cannot be written or read.
    """
    try:
        argv = shlex.split(command)
    except ValueError:
        raise EditorFailed(f"EDITOR is {command}, which is no command. Mend its quotes.") from None
    try:
        return _edited(argv, private_folder(folder / "edit") / name.rpartition("/")[2], data)
    except FileRefused as error:
        raise EditorFailed(str(error)) from None


def _edited(argv: Sequence[str], path: Path, data: bytes) -> bytes | None:
    write_atomic(path, data)
    try:
        with ctrl_c_is_theirs():
            code = run([*argv, str(path)])
        if code == _MISSING:
            raise EditorFailed(f"there is no editor “{argv[0]}”. Set EDITOR to one.")
        if code != 0:
            raise EditorFailed(f"the editor “{argv[0]}” ended with {code}.")
        return read_bounded(path, 64_000_000)
    finally:
        with contextlib.suppress(OSError):
            path.unlink()
