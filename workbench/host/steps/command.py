"""A command of a step: the same supervision as a command of an agent, with its output kept at both ends.

Owns the process of one attempt from the fork to the last of its leftovers. Nothing of it runs before
`process.started` is recorded, and nothing it prints can cost more memory than what is kept.
"""

import asyncio
import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from workbench.domain.runs import StepEvent, StepOutcome, StepSpec
from workbench.effects.faults import point
from workbench.effects.process import Command, Exit, prepare
from workbench.effects.spawn import NotStarted
from workbench.host.command import STREAMED, Kept
from workbench.host.kit import Kit
from workbench.host.stream import Deltas
from workbench.pipelines.artifacts import MOST_STDOUT
from workbench.pipelines.executor import OnStepEvent

UNBOUNDED: Final = 1 << 50
"""Bytes a step may print: what is kept is bounded, what is printed is its own affair."""

SHELL: Final = ("/bin/sh", "-c")
_END: Final = 2_000
"""Characters of the end of an output that stand in the event itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a process of a step ended, and what was kept of what it printed."""

    outcome: StepOutcome
    text: str = ""


async def run_command(
    kit: Kit,
    spec: StepSpec,
    argv: Sequence[str],
    on_event: OnStepEvent,
    stop: asyncio.Event,
    environment: Mapping[str, str] | None = None,
) -> Ran:
    """Run a program to its end and return how it ended."""
    added = cast("Mapping[str, str]", spec.environment) if environment is None else environment
    mark = kit.clock.new_id()
    try:
        every = {**kit.environment, **added, "PWD": spec.workspace}
        command = prepare(argv, spec.workspace, every, mark, is_apart=_is_apart(spec))
    except NotStarted as error:
        return Ran(outcome=StepOutcome(state="failed", reason=str(error), is_retryable=False))
    identity = command.identity
    started = StepEvent(
        kind="process", pid=identity.pid, group=identity.group, start_time=identity.start_time, mark=mark
    )
    try:
        await on_event(started)
    except BaseException:
        command.abandon()
        raise
    return await _followed(kit, spec, command, on_event, stop)


async def _followed(
    kit: Kit, spec: StepSpec, command: Command, on_event: OnStepEvent, stop: asyncio.Event
) -> Ran:
    kept, live, whole = Kept(), _Live(on_event), _Whole()

    def on_output(data: bytes) -> None:
        kept.feed(data)
        live.feed(data)

    def on_stdout(data: bytes) -> None:
        on_output(data)
        whole.feed(data)

    try:
        end = await command.go(on_output, spec.timeout_seconds, stop, UNBOUNDED, on_stdout=on_stdout)
    finally:
        live.close()
    await live.flushed()
    point("step.ended")
    exact, clean = await asyncio.to_thread(kept.texts) if kept.total else ("", "")
    outcome = _outcome(kit, spec, end, kept, exact, clean)
    if not _is_apart(spec):
        return Ran(outcome=outcome)
    stdout = (
        None if whole.data is None or not spec.keeps_output else kit.journal.blobs.seal(bytes(whole.data))
    )
    outcome = replace(outcome, stdout_ref=stdout, stdout_bytes=whole.total)
    return Ran(outcome=outcome, text=exact if whole.data is None else whole.data.decode("utf-8", "replace"))


def _is_apart(spec: StepSpec) -> bool:
    """Return whether what it prints on standard output is its result, which no warning may get into."""
    return spec.keeps_output or bool(spec.adapter)


def _outcome(kit: Kit, spec: StepSpec, end: Exit, kept: Kept, exact: str, clean: str) -> StepOutcome:
    blobs = kit.journal.blobs
    is_short = len(clean) <= _END and kept.total == len(exact.encode("utf-8", "replace"))
    reason = _reason(end, spec, clean)
    return StepOutcome(
        state="cancelled" if end.stopped else "failed" if reason else "completed", reason=reason,
        exit_code=end.code, output=clean[-_END:],
        output_ref=None if is_short else blobs.record(clean.encode("utf-8", "surrogatepass")),
        output_bytes=kept.total,
    )  # fmt: skip


def _reason(end: Exit, spec: StepSpec, clean: str) -> str:
    if end.stopped:
        return "it was stopped while it ran; what it did until then stays"
    if end.timed_out:
        return f"it worked longer than {(spec.timeout_seconds or 0) / 60:g} min and was ended"
    if end.signal is not None:
        return f"it was ended by signal {end.signal}{_last(clean)}"
    return "" if end.code == 0 else f"it ended with exit code {end.code}{_last(clean)}"


def _last(clean: str) -> str:
    lines = [line for line in clean.strip().splitlines()[-8:] if line.strip()]
    return ":\n" + "\n".join(lines) if lines else ""


class _Whole:
    """All of a standard output, up to a size."""

    def __init__(self) -> None:
        self.total = 0
        self.data: bytearray | None = bytearray()
        """None when it was more."""

    def feed(self, data: bytes) -> None:
        """Take a piece of it."""
        self.total += len(data)
        if self.data is not None and self.total <= MOST_STDOUT:
            self.data += data
        else:
            self.data = None


class _Live:
    """The part of the output that is streamed while it comes, in order."""

    def __init__(self, on_event: OnStepEvent) -> None:
        self._on_event = on_event
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._deltas = Deltas(self._write)
        self._left = STREAMED
        self._waiting: list[StepEvent] = []
        self._writing: asyncio.Task[None] | None = None

    def feed(self, data: bytes) -> None:
        """Take a piece of the output."""
        if self._left > 0:
            text = self._decode(data)[: self._left]
            self._left -= len(text)
            self._deltas.feed(text)

    def close(self) -> None:
        """Let go what was held back."""
        self._deltas.close()

    async def flushed(self) -> None:
        """Wait until everything is on its way into the journal."""
        if self._writing is not None:
            await self._writing

    def _write(self, offset: int, text: str) -> None:
        self._waiting.append(StepEvent(kind="output", offset=offset, text=text))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.get_running_loop().create_task(self._write_all(), name="output")

    async def _write_all(self) -> None:
        while self._waiting:
            await self._on_event(self._waiting.pop(0))
