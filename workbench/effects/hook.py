"""Hooks: short commands of the user's own, fed with bytes, given a time, their output bounded.

Owns one blocking run of a hook and the end of everything it started. What its exit code means is decided
by whoever runs it.
"""

import contextlib
import os
import selectors
import subprocess
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from workbench.effects.ending import GRACE, end_all, target_of
from workbench.effects.environment import marked_environment
from workbench.effects.offspring import OFFSPRING, reap_later
from workbench.effects.proctable import identify, open_pidfd
from workbench.effects.spawn import pipe, spawn

OUTPUT_LIMIT: Final = 65536
"""Bytes of a hook's output that are kept; the rest is read and thrown away."""

_CHUNK: Final = 65536
_POLL: Final = 0.02
_DRAIN: Final = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class HookExit:
    """How a hook ended."""

    code: int | None
    """Exit code; None if a signal ended it (also ours, at its time limit)."""
    output: bytes
    """Standard output and error in order, at most 64 KiB."""
    timed_out: bool


def run_hook(
    command: str | Sequence[str],
    stdin: bytes,
    cwd: str,
    env: Mapping[str, str],
    timeout: float,
    *,
    grace: float = GRACE,
    keep: int = OUTPUT_LIMIT,
    errors: int | None = None,
) -> HookExit:
    """Run a hook to its end, blocking; call it from a thread where a loop is running.

    Args:
        command: A shell command, or program and arguments.
        stdin: Written to it; a hook that does not read it is no error.
        cwd: Folder to run in.
        env: Already scrubbed.
        timeout: Seconds until it and all it started are ended.
        grace: Seconds between SIGTERM and SIGKILL.
        keep: Bytes of output that are kept.
        errors: Descriptor for standard error, if it is to stay out of the output.

    Raises:
        NotStarted: The program or folder is missing, or the like.
    """
    argv = ("/bin/sh", "-c", command) if isinstance(command, str) else command
    mark = f"hook-{uuid.uuid4()}"
    with contextlib.ExitStack() as opened:
        hook_in, our_in = pipe(opened)
        our_out, hook_out = pipe(opened)
        marked = marked_environment(env, mark)
        child = spawn(argv, cwd, marked, stdin=hook_in, output=hook_out, errors=errors)
        opened.pop_all()
    os.close(hook_in)
    os.close(hook_out)
    return _follow(child, _Exchange(child, our_in, our_out, stdin, keep), mark, timeout, grace)


def _follow(
    child: subprocess.Popen[bytes], exchange: "_Exchange", mark: str, timeout: float, grace: float
) -> HookExit:
    target = target_of(identify(child.pid), mark)
    try:
        with exchange:
            has_ended = exchange.run(time.monotonic() + timeout)
            end_all(target, grace)
            exchange.drain()
    except BaseException:
        end_all(target, 0.0)
        _status(child)
        raise
    status = _status(child)
    return HookExit(
        code=status if has_ended else None, output=bytes(exchange.output), timed_out=not has_ended
    )


def _status(child: subprocess.Popen[bytes]) -> int | None:
    try:
        status = child.wait(timeout=1)
    except subprocess.TimeoutExpired:
        reap_later(child)
        return None
    OFFSPRING.ended(child.pid)
    return status if status >= 0 else None


class _Exchange:
    """Feeds a hook and takes what it prints, until it has ended."""

    def __init__(
        self, child: subprocess.Popen[bytes], stdin: int, stdout: int, data: bytes, keep: int
    ) -> None:
        self.output = bytearray()
        self._keep = keep
        self._child = child
        self._stdin = stdin
        self._stdout = stdout
        self._rest = memoryview(data)
        self._ended = open_pidfd(child.pid)
        self._selector = selectors.DefaultSelector()
        for file in (stdin, stdout):
            os.set_blocking(file, False)
        self._selector.register(stdin, selectors.EVENT_WRITE, self._feed)
        self._selector.register(stdout, selectors.EVENT_READ, self._take)

    def __enter__(self) -> "_Exchange":
        if self._ended is not None:
            self._selector.register(self._ended, selectors.EVENT_READ)
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()
        self._close_stdin()
        os.close(self._stdout)
        if self._ended is not None:
            os.close(self._ended)

    def run(self, deadline: float) -> bool:
        """Go on until the hook has ended (True) or the time is over (False)."""
        while (left := deadline - time.monotonic()) > 0:
            ready = self._selector.select(left if self._ended is not None else min(left, _POLL))
            for key, _ in ready:
                if key.data is not None:
                    key.data()
            if self._has_ended([key.fd for key, _ in ready]):
                return True
        return False

    def _has_ended(self, ready: list[int]) -> bool:
        if self._ended is not None:
            return self._ended in ready
        return self._child.poll() is not None

    def drain(self) -> None:
        """Take what is in the pipe now; a leftover that holds it open is not waited for."""
        deadline = time.monotonic() + _DRAIN
        while time.monotonic() < deadline and self._read():
            pass

    def _take(self) -> None:
        if self._read() is False:
            self._selector.unregister(self._stdout)

    def _read(self) -> bool | None:
        """Take one part; False at the end, None if there is nothing now."""
        try:
            chunk = os.read(self._stdout, _CHUNK)
        except BlockingIOError:
            return None
        self.output += chunk[: self._keep - len(self.output)]
        return bool(chunk)

    def _feed(self) -> None:
        try:
            self._rest = self._rest[os.write(self._stdin, self._rest[:_CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._rest = self._rest[:0]
        if not self._rest:
            self._selector.unregister(self._stdin)
            self._close_stdin()

    def _close_stdin(self) -> None:
        if self._stdin >= 0:
            os.close(self._stdin)
            self._stdin = -1
