"""Execute commands behind a gate in sessions of their own, and end everything they left."""

# The gate of a command's process is `sh` waiting for one line, not a fork of the interpreter: forking a
# process with threads is unsafe, and an `exec` by `sh` costs a millisecond.

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from msgspec import Struct

from workbench.effects.box_start import START_SECONDS, BoxGate, BoxNotMade, has_waiter
from workbench.effects.child_processes import (
    GRACE_SECONDS,
    BoxProcesses,
    ProcessNotStarted,
    Terminator,
    behind_gate,
    box_not_started,
    gate_words,
    marked_environment,
    open_pipe,
    signal_group,
    spawn,
    termination_target,
    unnamed_file,
)
from workbench.effects.mounts import read_mounts
from workbench.effects.process_table import (
    CHILD_REGISTRY,
    open_pidfd,
    process_identity,
    reap_later,
    require_mark,
)

_GATE_SCRIPT: Final = 'read -r go && exec "$@" </dev/null'
_FEEDING_SCRIPT: Final = 'read -r go && in=$1 && shift && exec "$@" <"$in"'
"""The gate of a command that is given something to read; its first word is where that is."""
_DRAIN_SECONDS: Final = 0.2
_KILL_WAIT_SECONDS: Final = 5.0


class CommandExit(Struct, frozen=True, kw_only=True):
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
    is_stalled: bool = False
    """Whether it was ended because it printed nothing for too long."""


NEVER_RAN: Final = CommandExit(
    code=None, signal=None, timed_out=False, stopped=True, flooded=False, leftovers=0, duration=0.0
)
"""The end of a command that was stopped before it was let go."""


class OutputPipe:
    """The output of one command."""

    def __init__(
        self,
        file: int,
        on_output: Callable[[bytes], None],
        limit: int,
        room: asyncio.Event | None = None,
    ) -> None:
        self._file = file
        self._on_output = on_output
        self._has_room = room
        self._room = limit
        self._failure: Exception | None = None
        self.is_flooded = False
        self.over = asyncio.Event()
        """Set when the command has to end: it printed too much, or nobody can take what it prints."""
        self._last_read = time.monotonic()
        self._is_held = False
        """Whether it is not read now, so that its silence says nothing."""

    async def pump(self) -> None:
        """Hand on what comes until the pipe ends; to be cancelled when nothing more is wanted."""
        while True:
            if self._has_room is not None:
                self._is_held = True
                await self._has_room.wait()
                self._is_held = False
            self._last_read = time.monotonic()
            await wait_readable(self._file)
            chunk = self._read()
            if chunk == b"":
                return
            self._accept(chunk or b"")

    def drain(self, seconds: float) -> None:
        """Hand on what is in the pipe now, for a limited time, waiting for nothing."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and (chunk := self._read()):
            self._accept(chunk)

    def silent_since(self) -> float:
        """Return the monotonic time since which nothing came."""
        return time.monotonic() if self._is_held else self._last_read

    def raise_failure(self) -> None:
        """Raise what the receiver raised, if it did."""
        if self._failure is not None:
            raise self._failure

    def _read(self) -> bytes | None:
        try:
            return os.read(self._file, _CHUNK)
        except BlockingIOError:
            return None

    def _accept(self, chunk: bytes) -> None:
        accepted = chunk[: self._room]
        if len(chunk) > self._room:
            self.is_flooded = True
            self.over.set()
        self._room -= len(accepted)
        if accepted and self._failure is None:
            self._hand_on(accepted)

    def _hand_on(self, chunk: bytes) -> None:
        try:
            self._on_output(chunk)
        except Exception as error:  # noqa: BLE001 - raised again by `raise_failure`, once the command was ended
            self._failure = error
            self.over.set()


class CommandOutputs:
    """Several outputs of one command, read side by side; what ends one of them ends all."""

    def __init__(self, *parts: OutputPipe) -> None:
        self._parts = parts
        self.over = asyncio.Event()
        for part in parts:
            part.over = self.over

    @property
    def is_flooded(self) -> bool:
        return any(part.is_flooded for part in self._parts)

    async def pump(self) -> None:
        await asyncio.gather(*(part.pump() for part in self._parts))

    async def silence(self, seconds: float) -> None:
        """Wait until nothing came for some seconds."""
        while (left := max(part.silent_since() for part in self._parts) + seconds - time.monotonic()) > 0:
            await asyncio.sleep(left)

    def drain(self, seconds: float) -> None:
        for part in self._parts:
            part.drain(seconds)

    def raise_failure(self) -> None:
        for part in self._parts:
            part.raise_failure()


class Command:
    """A process that waits behind a gate; made by `prepare_command`, used once."""

    def __init__(
        self,
        child: subprocess.Popen[bytes],
        gate: int,
        output: int,
        mark: str,
        apart: int | None = None,
        box: Sequence[str] = (),
    ) -> None:
        self.identity: Final = process_identity(child.pid)
        """Recorded before `go`, so that whoever takes over can end what is left."""
        self._terminator = Terminator(termination_target(self.identity, mark))
        self._child = child
        self._gate: int | None = gate
        self._pipes = (output,) if apart is None else (output, apart)
        self._mark = mark
        self._box = box
        self._inside: BoxProcesses | None = None
        self._is_settled = False

    async def go(
        self,
        on_output: Callable[[bytes], None],
        timeout: float | None,
        stop: asyncio.Event | None,
        limit_bytes: int,
        *,
        grace: float = GRACE_SECONDS,
        on_stdout: Callable[[bytes], None] | None = None,
        room: asyncio.Event | None = None,
        stall_seconds: float = 0.0,
    ) -> CommandExit:
        """Let the command go and follow it to its end and that of everything it left.

        `on_output`: given standard output and error in order, in parts of at most 64 KiB. `timeout`: seconds
        it may take, or None. `stop`: ends it when set; if it is set already, nothing is executed.
        `limit_bytes`: A command that prints more is ended; no more is handed on. `grace`: seconds between
        SIGTERM and SIGKILL. `on_stdout`: given standard output of a command prepared with two pipes;
        `on_output` then gets standard error, and the order between the two is that in which they were read.
        `room`: nothing is read while it is not set, and the command waits as soon as its pipe is full.
        `stall_seconds`: A command that prints nothing for so long is ended; 0 sets no limit.
        Raises RuntimeError if it was let go or abandoned before, ProcessNotStarted where its box was not
        made as described, and what `on_output` raised after it was ended.
        """
        if self._gate is None:
            raise RuntimeError("a command can be let go once")
        if self._box:
            await self._enter_box()
        if stop is not None and stop.is_set():
            self.abandon()
            return NEVER_RAN
        started = time.monotonic()
        receivers = (on_output, on_stdout or on_output)
        output = CommandOutputs(
            *(
                OutputPipe(pipe, take, limit_bytes, room)
                for pipe, take in zip(self._pipes, receivers, strict=False)
            )
        )
        try:
            reason, grace_left = await self._run(output, timeout, stop, grace, stall_seconds)
            leftovers = await self._end_rest(output, grace_left)
        finally:
            self._close()
        reason = "flooded" if output.is_flooded else reason
        return _command_exit(self._child.returncode, reason, leftovers, time.monotonic() - started)

    def abandon(self) -> None:
        """Close the gate: the helper exits without executing anything. Twice, or after `go`, is harmless."""
        if self._gate is not None:
            self._is_settled = True
            self._close()

    async def _enter_box(self) -> None:
        gate, ours = BoxGate(self._mark), read_mounts()
        try:
            async with asyncio.timeout(START_SECONDS):
                while not gate.is_there(await self._printed_by_box()):
                    pass
            if has_waiter(self._box):
                self._inside = BoxProcesses(self._box, self._child.pid, ours)
        except (BoxNotMade, TimeoutError) as error:
            failure = box_not_started(error, gate.printed or self._read_errors())
            self.abandon()
            raise failure from None
        except BaseException:
            self.abandon()
            raise

    async def _printed_by_box(self) -> bytes:
        await wait_readable(self._pipes[-1])
        return os.read(self._pipes[-1], _CHUNK)

    def _read_errors(self) -> bytes:
        """Return what is on standard error where it has a pipe of its own."""
        with contextlib.suppress(BlockingIOError):
            return os.read(self._pipes[0], _CHUNK)
        return b""

    async def _run(
        self, output: CommandOutputs, timeout: float | None, stop: asyncio.Event | None, grace: float,
        stall_seconds: float,
    ) -> tuple[str, float]:  # fmt: skip
        pump, ended = asyncio.create_task(output.pump()), asyncio.create_task(self._ended())
        waits = {ended: "exited", asyncio.create_task(output.over.wait()): "over"}
        if stop is not None:
            waits[asyncio.create_task(stop.wait())] = "stopped"
        if stall_seconds > 0:
            waits[asyncio.create_task(output.silence(stall_seconds))] = "stalled"
        try:
            self._release()
            finished, _ = await asyncio.wait(waits, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            reason = "exited" if ended in finished else next((waits[task] for task in finished), "timed_out")
            grace_left = grace if reason == "exited" else await self._end(ended, grace)
        finally:
            await _cancel_tasks(pump, *waits)
        output.raise_failure()
        return reason, grace_left

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
            await wait_readable(file)
        finally:
            os.close(file)

    async def _end(self, ended: asyncio.Task[None], grace: float) -> float:
        deadline = time.monotonic() + grace
        if self._inside is None:
            # Noticed before their parent is gone: later, only a mark could say whose they are.
            await _in_thread(self._terminator.notice)
            self._signal_group(signal.SIGTERM)
        else:
            await _in_thread(self._terminator.ask_inside)
        if not (await asyncio.wait({ended}, timeout=grace))[0]:
            self._signal_group(signal.SIGKILL)
            await asyncio.wait({ended}, timeout=_KILL_WAIT_SECONDS)
        return max(0.0, deadline - time.monotonic())

    def _signal_group(self, number: signal.Signals) -> None:
        signal_group(self.identity.group, number)
        signal_group(self.identity.group, signal.SIGCONT)

    async def _end_rest(self, output: CommandOutputs, grace: float) -> int:
        if self._inside is None and self._terminator.has_left_nothing():
            leftovers, self._is_settled = 0, True
        else:
            leftovers = await self._end_leftovers(output, grace)
        output.drain(_DRAIN_SECONDS)
        output.raise_failure()
        return leftovers

    async def _end_leftovers(self, output: CommandOutputs, grace: float) -> int:
        pump = asyncio.create_task(output.pump())
        try:
            if self._inside is not None and await _is_readable_within(self._inside.file, _KILL_WAIT_SECONDS):
                leftovers = 0
            else:
                leftovers = await _in_thread(lambda: self._terminator.end(grace))
            self._is_settled = True
        finally:
            await _cancel_tasks(pump)
        return leftovers

    def _close(self) -> None:
        self._close_gate()
        if not self._is_settled:
            self._is_settled = True
            self._terminator.end(0.0)
        for pipe_end in self._pipes:
            os.close(pipe_end)
        if self._inside is not None:
            self._inside.close()
        try:
            self._child.wait(timeout=1)
            CHILD_REGISTRY.ended(self._child.pid)
        except subprocess.TimeoutExpired:
            signal_group(self.identity.group, signal.SIGKILL)
            reap_later(self._child)

    def _close_gate(self) -> None:
        if self._gate is not None:
            os.close(self._gate)
            self._gate = None


def _command_exit(status: int | None, reason: str, leftovers: int, duration: float) -> CommandExit:
    return CommandExit(
        code=status if status is not None and status >= 0 else None,
        signal=-status if status is not None and status < 0 else None,
        timed_out=reason == "timed_out",
        stopped=reason == "stopped",
        flooded=reason == "flooded",
        leftovers=leftovers,
        duration=duration,
        is_stalled=reason == "stalled",
    )


def prepare_command(
    argv: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    mark: str,
    *,
    is_apart: bool = False,
    stdin: bytes = b"",
    is_boxed: bool = False,
) -> Command:
    """Fork a helper that becomes the command when it is let go; it exits if this process dies first.

    No shell reads `argv`; `env` is scrubbed already, and the mark, which identifies the call, is added. With
    `is_apart` standard output and error have a pipe each. `stdin` is what it can read there, of any length:
    the words of a command line have a limit. `is_boxed`: `argv` comes from `sandbox.boxed_argv`; the box is
    made at once, and dies with the thread that calls this. Raises ProcessNotStarted, and ValueError for the
    mark.
    """
    require_mark(mark)
    if not argv or argv[0].startswith("-"):
        raise ProcessNotStarted(argv[0] if argv else "", "it names no program", "give the program first")
    with contextlib.ExitStack() as opened, unnamed_file(stdin) as source:
        gate_out, gate_in = open_pipe(opened)
        output, out_end = open_pipe(opened)
        ends = open_pipe(opened) if is_apart else None
        marked = marked_environment(env, mark)
        own, errors = (out_end, None) if ends is None else (ends[1], out_end)
        gate = (
            gate_words(_GATE_SCRIPT) if source is None else gate_words(_FEEDING_SCRIPT, f"/dev/fd/{source}")
        )
        with behind_gate(argv, gate, is_boxed=is_boxed) as (words, filters):
            inherited = filters if source is None else (*filters, source)
            child = spawn(
                words, cwd, marked, stdin=gate_out, output=own, errors=errors, inherited=inherited
            )  # fmt: skip
        try:
            box = argv if is_boxed else ()
            command = Command(child, gate_in, output, mark, ends[0] if ends else None, box)
        except ProcessLookupError:
            # Whose identity is not known could not be ended after a crash. Its gate closes here.
            reap_later(child)
            raise ProcessNotStarted(
                argv[0], "this machine does not show its processes", "mount /proc"
            ) from None
        opened.pop_all()
        for end in {gate_out, out_end, own}:
            os.close(end)
    for pipe_end in (output, *(ends or ())[:1]):
        os.set_blocking(pipe_end, False)
    return command


def _wait_unreaped(child: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "waitid"):
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    else:
        child.wait()


_Result = TypeVar("_Result")


async def _in_thread(work: Callable[[], _Result]) -> _Result:
    """Do something in a thread, or here where none can be started: a command may have used all processes."""
    try:
        return await asyncio.to_thread(work)
    except RuntimeError as error:
        if "start new thread" not in str(error):
            raise
        return work()


async def _is_readable_within(file: int, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await wait_readable(file)
    except TimeoutError:
        return False
    return True


async def _cancel_tasks(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


_CHUNK: Final = 65536


async def wait_readable(file: int) -> None:
    """Wait until a descriptor has something to read, or its end."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()

    def wake() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(file, wake)
    try:
        await ready
    finally:
        loop.remove_reader(file)
