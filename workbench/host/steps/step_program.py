"""A program of a step, wherever it runs: what it prints is streamed, scrubbed, bounded and judged here.

A machine hands up exact bytes. Nothing of them is recorded, shown or given as a reason before it is scrubbed.
"""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Final, cast

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.events import Event, OutputStreamed, ProcessStarted, StepChanged
from workbench.domain.step_messages import StepEvent, StepOutcome, StepSpec
from workbench.domain.values import SandboxRefusal
from workbench.effects.fault_points import fault_point
from workbench.host.command_output import CommandOutput, abandoned_on_error
from workbench.host.driver_context import DriverContext
from workbench.host.redaction import redact_text
from workbench.host.steps.adapter_session import AdapterSession
from workbench.host.steps.stall_watch import stall_reason
from workbench.pipelines.artifacts import MOST_STDOUT
from workbench.pipelines.executor import AttemptNotReady, OnStepEvent
from workbench.pipelines.step_process import (
    OnBytes,
    ProcessEnd,
    ProcessLost,
    StepJob,
    StepProcess,
    StepProcesses,
)
from workbench.policy.sandbox_refusals import MOST_REFUSALS, read_refusals
from workbench.text.safe import one_line
from workbench.views.event_text import refusals_text

_NEVER_STARTED: Final = (126, 127)
"""Exit codes of a shell that found no program, or none that it may run: trying again changes nothing."""
_MAX_EVENT_OUTPUT: Final = 2_000
"""Characters of the end of an output that stand in the event itself."""
_MAX_REASON: Final = 2_000


class ProgramRun(Struct, frozen=True, kw_only=True):
    """How a program of a step ended, and what was kept of what it printed."""

    outcome: StepOutcome
    text: str = ""
    """Exact: of a job that `is_apart` its standard output."""


def program_job(spec: StepSpec, argv: Sequence[str]) -> StepJob:
    """Return the program of a step."""
    return StepJob(
        id=spec.id, argv=tuple(argv), folder=spec.workspace, in_project=spec.in_project,
        is_apart=spec.keeps_output,
        environment=cast("dict[str, str]", spec.environment), sandbox=spec.sandbox,
        can_nest=spec.adapter.get("nested_sandbox") is True, timeout_seconds=spec.timeout_seconds,
        stall_seconds=spec.stall_seconds, outlives=not spec.id.part,
    )  # fmt: skip


class ProgramFollower(Struct, kw_only=True):
    """Runs the program of one step on one machine."""

    context: DriverContext
    processes: StepProcesses
    spec: StepSpec
    on_event: OnStepEvent
    stop: asyncio.Event
    found: StepProcess | None = None
    """The process, where an earlier driver started it."""
    streamed: int = 0
    """Characters of its output that an earlier driver streamed."""
    session: AdapterSession | None = None
    """Reads what the program prints while it works."""

    async def run(self, job: StepJob) -> ProgramRun:
        """Run a program to its end, or follow the one that was found, and return how it ended."""
        try:
            process = self.found or await self._start(job)
            return await self._follow(job, process)
        except AttemptNotReady as error:
            why = _clean_reason(error)
            return ProgramRun(outcome=StepOutcome(state="failed", reason=why, is_retryable=False))

    async def _start(self, job: StepJob) -> StepProcess:
        process = await self.processes.start(job)
        with abandoned_on_error(process):
            await self.on_event(replace(process.started, part=self.spec.id.part))
        return process

    async def _follow(self, job: StepJob, process: StepProcess) -> ProgramRun:
        events, stdout_buffer = _OrderedEvents(self.on_event), _WholeStdout()
        output = CommandOutput(events.write, self.context.clock.monotonic, streamed=self.streamed)

        def on_stdout(data: bytes) -> None:
            stdout_buffer.feed(data)
            if self.session is None:
                output.feed(data)
            else:
                self.session.feed(data, output.feed)

        try:
            end = await _end_of(process, output.feed, on_stdout if job.is_apart else None, self.stop)
            if self.session is not None:
                await self.session.written()
        finally:
            output.close()
        await events.written()
        fault_point("step.ended")
        exact, clean = await asyncio.to_thread(output.texts) if output.total else ("", "")
        outcome = self._outcome(end, output.total, exact, clean)
        return (
            self._with_stdout(outcome, stdout_buffer, exact) if job.is_apart else ProgramRun(outcome=outcome)
        )

    def _outcome(self, end: ProcessEnd | ProcessLost, total: int, exact: str, clean: str) -> StepOutcome:
        is_short = len(clean) <= _MAX_EVENT_OUTPUT and total == len(exact.encode("utf-8", "replace"))
        record = self.context.journal.blobs.record
        outcome = StepOutcome(
            state="lost", output=clean[-_MAX_EVENT_OUTPUT:], output_bytes=total,
            output_ref=None if is_short else record(clean.encode("utf-8", "surrogatepass")),
        )  # fmt: skip
        if isinstance(end, ProcessLost):
            return replace(outcome, reason=_clean_reason(end))
        reason = _failure_reason(end, self.spec, clean)
        outcome = replace(
            outcome, state="cancelled" if end.stopped else "failed" if reason else "completed", reason=reason,
            exit_code=end.code, is_retryable=end.code not in _NEVER_STARTED,
        )  # fmt: skip
        return _with_refusals(outcome, end, self.spec)

    def _with_stdout(self, outcome: StepOutcome, stdout_buffer: "_WholeStdout", exact: str) -> ProgramRun:
        data, ref = stdout_buffer.data, None
        if data is not None and self.spec.keeps_output:
            ref = self.context.journal.blobs.seal(bytes(data))
        outcome = replace(outcome, stdout_ref=ref, stdout_bytes=stdout_buffer.total)
        return ProgramRun(outcome=outcome, text=exact if data is None else data.decode("utf-8", "replace"))


def streamed_characters(events: Iterable[Event]) -> int:
    """Return how much of the output of a step's last attempt was streamed; its parts do not count."""
    count, is_own = 0, False
    for event in events:
        match event.body:
            case StepChanged(state="running"):
                count, is_own = 0, True
            case ProcessStarted(part=part):
                is_own = not part
            case OutputStreamed(offset=offset, text=text) if is_own:
                count = offset + len(text)
            case _:
                pass
    return count


async def _end_of(
    process: StepProcess, on_output: OnBytes, on_stdout: OnBytes | None, stop: asyncio.Event
) -> ProcessEnd | ProcessLost:
    try:
        return await process.follow(on_output, on_stdout, stop)
    except ProcessLost as error:
        return error


def _with_refusals(outcome: StepOutcome, end: ProcessEnd, spec: StepSpec) -> StepOutcome:
    """Return how a program in the sandbox ended: what was moved out of its workspace fails it."""
    if not end.boxed_folder or spec.sandbox is None:
        return outcome
    read = read_refusals(outcome.output, outcome.exit_code, spec.sandbox, end.boxed_folder)
    closed = [_clean_refusal(refusal) for refusal in end.refusals[: MOST_REFUSALS + 1]]
    is_moved = any(refusal.kind == "closed" for refusal in closed)
    is_told = bool(closed or read) and (outcome.state != "completed" or is_moved)
    if not is_told or outcome.state == "cancelled":
        return outcome
    why = f"the sandbox refused {refusals_text((*closed, *read))}"
    reason = f"{outcome.reason}\n{why}" if outcome.reason else why
    return replace(outcome, state="failed", reason=reason)


def _clean_refusal(refusal: SandboxRefusal) -> SandboxRefusal:
    target, remark = (redact_text(one_line(text, 300)) for text in (refusal.target, refusal.remark))
    return replace(refusal, target=target, remark=remark)


def _clean_reason(error: Exception) -> str:
    return redact_text(str(error))[:_MAX_REASON]


def _failure_reason(end: ProcessEnd, spec: StepSpec, clean: str) -> str:
    if end.stopped:
        return "it was stopped while it ran; what it did until then stays"
    if end.timed_out:
        return f"it worked longer than {(spec.timeout_seconds or 0) / 60:g} min and was ended"
    if end.stalled:
        return stall_reason(spec.stall_seconds)
    if end.signal is not None:
        return f"it was ended by signal {end.signal}{_last_lines(clean)}"
    return "" if end.code == 0 else f"it ended with exit code {end.code}{_last_lines(clean)}"


def _last_lines(clean: str) -> str:
    lines = [line for line in clean.strip().splitlines()[-8:] if line.strip()]
    return ":\n" + "\n".join(lines) if lines else ""


class _WholeStdout:
    """All of a standard output, up to a size."""

    def __init__(self) -> None:
        self.total = 0
        self.data: bytearray | None = bytearray()
        """None when it was more."""

    def feed(self, data: bytes) -> None:
        self.total += len(data)
        if self.data is not None and self.total <= MOST_STDOUT:
            self.data += data
        else:
            self.data = None


class _OrderedEvents:
    """Passes on the streamed output of a step, one event after the other."""

    def __init__(self, on_event: OnStepEvent) -> None:
        self._on_event = on_event
        self._waiting: list[StepEvent] = []
        self._writing: asyncio.Task[None] | None = None

    async def written(self) -> None:
        if self._writing is not None:
            await self._writing

    def write(self, offset: int, text: str) -> None:
        self._waiting.append(StepEvent(kind="output", offset=offset, text=text))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.get_running_loop().create_task(self._write_all(), name="output")

    async def _write_all(self) -> None:
        while self._waiting:
            await self._on_event(self._waiting.pop(0))
