"""Run one command to its end, with its process recorded before the first byte of it runs.

Owns steps 8 and 9 of an approval for commands: prepare, `process.started`, let go, stream, outcome. Memory
stays flat whatever the command prints: the first and the last part are kept.
"""

import asyncio
import codecs
from collections.abc import Coroutine
from typing import Literal

from workbench.domain.events import CallFinished, OutputStreamed, ProcessStarted
from workbench.domain.rows import Call
from workbench.effects.faults import point
from workbench.effects.process import Exit, prepare
from workbench.host import record
from workbench.host.desk import Desk
from workbench.host.dossier import Dossier
from workbench.host.stream import Deltas
from workbench.tools.base import CommandSpec

KEPT = 1_048_576
"""Bytes kept of each end of an output."""

STREAMED = 262_144
"""Characters of output that are streamed live; what follows is only counted until the end."""


class Kept:
    """The first and the last part of an output, and its size."""

    def __init__(self) -> None:
        self.total = 0
        self._head = bytearray()
        self._tail = bytearray()

    def feed(self, data: bytes) -> None:
        """Take a piece of the output."""
        self.total += len(data)
        room = KEPT - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * KEPT:
            del self._tail[:-KEPT]

    def texts(self) -> tuple[str, str]:
        """Return what was kept, with a line that names what is missing, and the same without its secrets.

        Where something is missing both parts end at a line end, so that no half of a secret is left over.
        """
        head, tail = bytes(self._head), bytes(self._tail[-KEPT:])
        if self.total == len(head) + len(tail):
            whole = (head + tail).decode("utf-8", "replace")
            return whole, record.scrubbed(whole)
        head, tail = head[: head.rfind(b"\n") + 1], tail[tail.find(b"\n") + 1 :]
        gap = f"… {self.total - len(head) - len(tail)} bytes left out …\n"
        first, last = head.decode("utf-8", "replace"), tail.decode("utf-8", "replace")
        clean = record.scrubbed(first) + gap + record.scrubbed(last, is_fragment=True)
        return first + gap + last, clean


async def run_command(desk: Desk, file: Dossier, spec: CommandSpec, stop: asyncio.Event) -> CallFinished:
    """Run a command in its own process group and return how it ended."""
    environment = dict(desk.kit.environment)
    command = prepare(spec.argv, desk.kit.workspace, environment, file.row.id)
    point("call.started")
    identity = command.identity
    started = ProcessStarted(
        pid=identity.pid, group=identity.group, start_time=identity.start_time, mark=file.row.id
    )
    try:
        await desk.append(desk.call_event(started, file.row))
        point("call.process_recorded")
    except BaseException:
        command.abandon()
        raise
    kept, live = Kept(), _Live(desk, file.row)
    limits = desk.kit.limits()

    def on_output(data: bytes) -> None:
        kept.feed(data)
        live.feed(data)

    end = await _followed(command.go(on_output, spec.timeout_seconds, stop, limits.output_blob_bytes))
    live.close()
    return _finished(desk, kept, end, spec)


async def _followed(running: Coroutine[None, None, Exit]) -> Exit:
    """Follow a command to its end; its first step, without waiting for anything, lets it go."""
    following = asyncio.create_task(running)
    await asyncio.sleep(0)
    try:
        point("call.released")
        return await following
    finally:
        following.cancel()


class _Live:
    """The part of the output that is streamed while it comes."""

    def __init__(self, desk: Desk, call: Call) -> None:
        self._desk, self._call = desk, call
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._deltas = Deltas(self._write)
        self._left = STREAMED

    def feed(self, data: bytes) -> None:
        if self._left <= 0:
            return
        text = self._decode(data)[: self._left]
        self._left -= len(text)
        self._deltas.feed(text)

    def close(self) -> None:
        self._deltas.close()

    def _write(self, offset: int, text: str) -> None:
        body = OutputStreamed(offset=offset, text=text)
        self._desk.stream([self._desk.call_event(body, self._call)])


def _finished(desk: Desk, kept: Kept, end: Exit, spec: CommandSpec) -> CallFinished:
    exact, clean = (f"{text}{_left(end.leftovers)}" for text in kept.texts())
    limit, blobs = desk.kit.limits().tool_output_bytes, desk.kit.journal.blobs
    shown = record.output(exact, clean, limit, blobs, kept.total)
    detail, error = _ending(end, spec)
    return CallFinished(
        state=_state(end), detail=detail, error=error, summary=detail or "exit 0", preview=shown.recorded,
        result_ref=shown.ref, output_ref=shown.whole,
        output_bytes=kept.total, exit_code=end.code, duration_ms=round(end.duration * 1000),
        metadata=shown.noted({"leftovers_ended": end.leftovers} if end.leftovers else {}),
    )  # fmt: skip


def _left(count: int) -> str:
    """Return what the agent is told of processes that outlived the command."""
    if not count:
        return ""
    what = (
        "1 process that it left running was" if count == 1 else f"{count} processes that it left running were"
    )
    return f"\n[{what} ended with it]\n"


def _state(end: Exit) -> Literal["cancelled", "succeeded", "failed"]:
    if end.stopped:
        return "cancelled"
    return "succeeded" if end.code == 0 and not (end.timed_out or end.flooded) else "failed"


def _ending(end: Exit, spec: CommandSpec) -> tuple[str, str]:
    if end.stopped:
        return "stopped", "it was stopped while it ran; what it did until then stays"
    if end.timed_out:
        return "timeout", f"it ran longer than {spec.timeout_seconds:g} s and was ended"
    if end.flooded:
        return "flood", "it printed more than is kept and was ended"
    if end.signal is not None:
        return "signal", f"it was ended by signal {end.signal}"
    return ("", "") if end.code == 0 else (f"exit {end.code}", f"it ended with exit code {end.code}")
