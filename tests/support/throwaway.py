"""Run what was made at random where it can do no harm: in an own folder, with own programs, for a moment.

A program of ours writes down its name and its first word; nothing else can be found. What runs longer than a
few seconds, or writes more than a megabyte, is ended with everything that it started.
"""

import contextlib
import os
import resource
import shutil
import signal
import subprocess
from pathlib import Path

from tests.support.waits import is_readable

SECONDS = 5
REAL = ("env", "nice", "nohup", "timeout", "xargs", "setsid", "sh", "bash", "find", "tr")
"""Programs that start others: the real ones."""


def _bounds():
    resource.setrlimit(resource.RLIMIT_CPU, (2, 2))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Throwaway:
    """A folder of programs and a folder to work in."""

    def __init__(self, folder: Path, programs, *, real=False) -> None:
        self.programs, self.work, self.trace = folder / "programs", folder / "work", folder / "trace"
        self.programs.mkdir(parents=True)
        self.work.mkdir()
        shell = shutil.which("dash") or "/bin/sh"
        for name in programs:
            path = self.programs / name
            path.write_text(f'#!{shell}\nprintf "%s %s\\0" "{name}" "$1" >> "$TRACE"\nexit 0\n')
            path.chmod(0o755)
        for name in REAL if real else ():
            if found := shutil.which(name):
                (self.programs / name).symlink_to(found)
        self.ended = 0
        """How many had to be ended."""

    def run(self, *argv: str) -> tuple[list[tuple[str, str]], list[str]]:
        """Run it; return the programs that were started with their first words, and the files that appeared."""
        self.trace.write_text("")
        environment = {
            "PATH": str(self.programs),
            "TRACE": str(self.trace),
            "HOME": str(self.work),
            "LC_ALL": "C.UTF-8",
        }
        ours, theirs = os.pipe()
        child = subprocess.Popen(
            argv, cwd=self.work, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=_bounds, pass_fds=(theirs,),
        )  # fmt: skip
        os.close(theirs)
        try:
            with contextlib.suppress(BrokenPipeError):
                child.stdin.write(b"a 1\nb 2\n")
                child.stdin.close()
            # Whoever was started holds the other end: when all are gone, nothing more will happen.
            self.ended += not is_readable(ours, SECONDS)
        finally:
            os.close(ours)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        said = [line.partition(" ") for line in self.trace.read_text(errors="replace").split("\0")[:-1]]
        made = sorted(path.name for path in self.work.iterdir())
        for path in self.work.iterdir():
            shutil.rmtree(
                path, ignore_errors=True
            ) if path.is_dir() and not path.is_symlink() else path.unlink()
        return [(name, word) for name, _, word in said], made
