"""Programs of the user in this terminal: editors, pagers and agents."""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import threading
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path

from workbench.effects.file_primitives import FileRefused
from workbench.effects.path_files import private_folder, read_bounded, write_atomic
from workbench.effects.search_path import own_environment, own_search_path

NOT_FOUND = 127
"""What a shell and `run` say where there is no such program."""


def run_in_terminal(argv: Sequence[str], cwd: str | None = None, env: Mapping[str, str] | None = None) -> int:
    """Run a program in the terminal of this process and return its exit code; 127 if there is none.

    A name is not looked for in a workspace, where commands of agents could have put it.
    """
    path = own_search_path((os.environ if env is None else env).get("PATH", os.defpath))
    program = argv[0] if "/" in argv[0] else shutil.which(argv[0], path=path)
    if program is None:
        return NOT_FOUND
    try:
        return subprocess.run(
            [program, *argv[1:]], cwd=cwd, env=None if env is None else dict(env), check=False
        ).returncode
    except OSError:
        return NOT_FOUND


@contextlib.contextmanager
def interrupts_ignored() -> Generator[None, None, None]:
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


def run_with_input(command: str, data: bytes, cwd: str) -> int:
    """Run the user's shell command in this terminal with bytes as its input; return its exit code."""
    try:
        with interrupts_ignored():
            code = subprocess.run(["/bin/sh", "-c", command], input=data, cwd=cwd, check=False).returncode
        return code if code >= 0 else 128 - code
    except (OSError, BrokenPipeError):
        return NOT_FOUND


def capture_output(argv: Sequence[str], cwd: str, seconds: float, most: int = 4_000_000) -> bytes | None:
    """Return what a program prints, at most `most` bytes; None if it fails, is missing or takes too long.

    Neither it nor what it starts is looked for in a workspace.
    """
    try:
        completed = subprocess.run(
            list(argv), cwd=cwd, env=own_environment(os.environ), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=seconds, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return completed.stdout[:most]


class EditorFailed(Exception):
    """An editor did not do its work; the message says why, and what to do."""


def edit_in_editor(command: str, folder: Path, name: str, data: bytes) -> bytes | None:
    """Let the user edit bytes in a private file; return what was saved, None if the file is gone.

    `command` holds the words of `$EDITOR`; the last part of `name` tells the editor the kind of file. Raises
    EditorFailed: the editor is not there or failed, or its file cannot be written or read.
    """
    try:
        argv = shlex.split(command)
    except ValueError:
        raise EditorFailed(f"EDITOR is {command}, which is not a command. Fix its quotes.") from None
    try:
        return _edited_bytes(argv, private_folder(folder / "edit") / name.rpartition("/")[2], data)
    except FileRefused as error:
        raise EditorFailed(str(error)) from None


def _edited_bytes(argv: Sequence[str], path: Path, data: bytes) -> bytes | None:
    write_atomic(path, data)
    try:
        with interrupts_ignored():
            code = run_in_terminal([*argv, str(path)])
        if code == NOT_FOUND:
            raise EditorFailed(f"there is no editor “{argv[0]}”. Set EDITOR to one.")
        if code != 0:
            raise EditorFailed(f"the editor “{argv[0]}” ended with {code}.")
        return read_bounded(path, 64_000_000)
    finally:
        with contextlib.suppress(OSError):
            path.unlink()
