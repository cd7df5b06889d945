"""Commands in sessions of their own: prepared behind a gate, let go, watched, and ended with all they left.

Owns the life of one command from the fork to the last of its leftovers, and the names under which others
reach the rest of process handling. It never runs anything before `Command.go`, never waits for a pipe
that a leftover holds open, and never looks at what a command means: that is the gate's work.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from workbench.effects.ending import GRACE, Hunt, end_leftovers, signal_group, target_of
from workbench.effects.environment import marked_environment, scrubbed_environment
from workbench.effects.hook import HookExit, run_hook
from workbench.effects.marks import CALL
from workbench.effects.offspring import OFFSPRING, become_subreaper, reap_later
from workbench.effects.output import Output, Outputs, readable
from workbench.effects.private import open_append
from workbench.effects.proctable import ProcessIdentity, ancestors, identify, open_pidfd, require_mark
from workbench.effects.spawn import NotStarted, pipe, spawn

__all__ = [
    "CALL",
    "GRACE",
    "Command",
    "Exit",
    "HookExit",
    "NotStarted",
    "ProcessIdentity",
    "ancestors",
    "become_subreaper",
    "end_leftovers",
    "identify",
    "prepare",
    "run_hook",
    "scrubbed_environment",
    "start_detached",
]

_GATE: Final = ("/bin/sh", "-c", 'read -r go && exec "$@" </dev/null', "workbench-gate")
_DRAIN: Final = 0.2
_KILL_WAIT: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How a command ended."""

    code: int | None
    """Exit code; None if a signal ended it, or it never ran, or could not be ended."""
    signal: int | None
    timed_out: bool
    stopped: bool
    flooded: bool
    leftovers: int
    """Processes that outlived the command itself and were ended."""
    duration: float
    """Seconds since it was let go."""


class Command:
    """A process that waits behind a gate; made by `prepare`, used once."""

    def __init__(
        self, child: subprocess.Popen[bytes], gate: int, output: int, mark: str, apart: int | None = None
    ) -> None:
        self.identity: Final = identify(child.pid)
        """Recorded before `go`, so that whoever takes over can end what is left."""
        self._hunt = Hunt(target_of(self.identity, mark))
        self._child = child
        self._gate: int | None = gate
        self._pipes = (output,) if apart is None else (output, apart)
        self._is_settled = False

    async def go(
        self,
        on_output: Callable[[bytes], None],
        timeout: float | None,
        stop: asyncio.Event | None,
        limit_bytes: int,
        *,
        grace: float = GRACE,
        on_stdout: Callable[[bytes], None] | None = None,
    ) -> Exit:
        """Let the command go and follow it to its end and that of everything it left.

        Args:
            on_output: Given standard output and error in order, in parts of at most 64 KiB, at most
                `limit_bytes` in all.
            timeout: Seconds it may take, or None.
            stop: Ends it when set; if it is set already, nothing is executed.
            limit_bytes: A command that prints more is ended.
            grace: Seconds between SIGTERM and SIGKILL.
            on_stdout: Given standard output alone, of a command that was prepared so; `on_output` is given
                standard error then, and the order between the two is that in which they were read.

        Raises:
            RuntimeError: It was let go or abandoned before.
            Exception: What `on_output` raised, after the command was ended.
        """
        if self._gate is None:
            raise RuntimeError("a command can be let go once")
        if stop is not None and stop.is_set():
            self.abandon()
            return _exit(None, "stopped", 0, 0.0)
        begun = time.monotonic()
        receivers = (on_output, on_stdout or on_output)
        output = Outputs(
            *(Output(pipe, take, limit_bytes) for pipe, take in zip(self._pipes, receivers, strict=False))
        )
        try:
            reason, left = await self._run(output, timeout, stop, grace)
            leftovers = await self._end_rest(output, left)
        finally:
            self._close()
        reason = "flooded" if output.is_flooded else reason
        return _exit(self._child.returncode, reason, leftovers, time.monotonic() - begun)

    def abandon(self) -> None:
        """Close the gate: the helper exits without executing anything. Twice, or after `go`, is harmless."""
        if self._gate is not None:
            self._is_settled = True
            self._close()

    async def _run(
        self, output: Outputs, timeout: float | None, stop: asyncio.Event | None, grace: float
    ) -> tuple[str, float]:
        pump, ended = asyncio.create_task(output.pump()), asyncio.create_task(self._ended())
        waits = {ended: "exited", asyncio.create_task(output.over.wait()): "over"}
        if stop is not None:
            waits[asyncio.create_task(stop.wait())] = "stopped"
        try:
            self._release()
            done, _ = await asyncio.wait(waits, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            reason = "exited" if ended in done else next((waits[task] for task in done), "timed_out")
            left = grace if reason == "exited" else await self._end(ended, grace)
        finally:
            await _cancelled(pump, *waits)
        output.raise_failure()
        return reason, left

    def _release(self) -> None:
        if self._gate is not None:
            # A helper that somebody killed has closed its end; its exit says so.
            with contextlib.suppress(BrokenPipeError):
                os.write(self._gate, b"\n")
            self._close_gate()

    async def _ended(self) -> None:
        """Wait until the process has ended, without waiting *for* it: its number stays taken."""
        file = open_pidfd(self._child.pid)
        if file is None:
            await asyncio.to_thread(_wait_unreaped, self._child)
            return
        try:
            await readable(file)
        finally:
            os.close(file)

    async def _end(self, ended: asyncio.Task[None], grace: float) -> float:
        """End the group and return what is left of the grace for others."""
        deadline = time.monotonic() + grace
        # Noticed before their parent is gone: without it and without a mark nobody could tell whose they are.
        await asyncio.to_thread(self._hunt.notice)
        for number, patience in ((signal.SIGTERM, grace), (signal.SIGKILL, _KILL_WAIT)):
            signal_group(self.identity.group, number)
            signal_group(self.identity.group, signal.SIGCONT)
            if (await asyncio.wait({ended}, timeout=patience))[0]:
                break
        return max(0.0, deadline - time.monotonic())

    async def _end_rest(self, output: Outputs, grace: float) -> int:
        pump = asyncio.create_task(output.pump())
        try:
            leftovers = await asyncio.to_thread(self._hunt.end, grace)
            self._is_settled = True
        finally:
            await _cancelled(pump)
        output.drain(_DRAIN)
        output.raise_failure()
        return leftovers

    def _close(self) -> None:
        self._close_gate()
        if not self._is_settled:
            self._is_settled = True
            self._hunt.end(0.0)
        for pipe_end in self._pipes:
            os.close(pipe_end)
        try:
            self._child.wait(timeout=1)
            OFFSPRING.ended(self._child.pid)
        except subprocess.TimeoutExpired:
            signal_group(self.identity.group, signal.SIGKILL)
            reap_later(self._child)

    def _close_gate(self) -> None:
        if self._gate is not None:
            os.close(self._gate)
            self._gate = None


def _exit(status: int | None, reason: str, leftovers: int, duration: float) -> Exit:
    return Exit(
        code=status if status is not None and status >= 0 else None,
        signal=-status if status is not None and status < 0 else None,
        timed_out=reason == "timed_out",
        stopped=reason == "stopped",
        flooded=reason == "flooded",
        leftovers=leftovers,
        duration=duration,
    )


def prepare(
    argv: Sequence[str], cwd: str, env: Mapping[str, str], mark: str, *, is_apart: bool = False
) -> Command:
    """Fork a helper that will become the command when it is let go, in a session of its own.

    If this process dies first, the helper's pipe closes and it exits without executing anything.

    Args:
        argv: Program and arguments; not read by a shell.
        cwd: Real path of the folder to run in.
        env: Already scrubbed; the mark is added.
        mark: Identifies the call in the environment of all its processes.
        is_apart: Standard output and error are read from a pipe each.

    Raises:
        NotStarted: The folder is missing, an argument is too long or holds NUL, there are no processes left.
        ValueError: The mark cannot be used.
    """
    require_mark(mark)
    if not argv or argv[0].startswith("-"):
        raise NotStarted(argv[0] if argv else "", "it names no program", "give the program first")
    with contextlib.ExitStack() as opened:
        gate_out, gate_in = pipe(opened)
        output, out_end = pipe(opened)
        ends = pipe(opened) if is_apart else None
        marked = marked_environment(env, mark)
        own, errors = (out_end, None) if ends is None else (ends[1], out_end)
        child = spawn((*_GATE, *argv), cwd, marked, stdin=gate_out, output=own, errors=errors)
        try:
            command = Command(child, gate_in, output, mark, ends[0] if ends else None)
        except ProcessLookupError:
            # Whose identity is not known could not be ended after a crash. Its gate closes here.
            reap_later(child)
            raise NotStarted(argv[0], "this machine does not show its processes", "mount /proc") from None
        opened.pop_all()
        for end in {gate_out, out_end, own}:
            os.close(end)
    for one in (output, *(ends or ())[:1]):
        os.set_blocking(one, False)
    return command


def start_detached(
    argv: Sequence[str], log_path: Path, env: Mapping[str, str], cwd: str | None = None
) -> int:
    """Start a process that goes on after this one: own session, no input, output at the end of a log.

    Returns:
        Its pid.

    Raises:
        NotStarted: It could not be started.
        FileRefused: The log could not be opened.
    """
    with open_append(log_path) as log:
        child = spawn(argv, cwd, dict(env), stdin=subprocess.DEVNULL, output=log.fileno(), is_detached=True)
    reap_later(child)
    return child.pid


def _wait_unreaped(child: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "waitid"):
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    else:
        child.wait()


async def _cancelled(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
