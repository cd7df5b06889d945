"""Processes of steps on this machine: they outlive their driver, in a sandbox where a step names one."""

# What a process may not leave in the workspace is moved out by the driver that sees its end. One that takes
# over makes the box again for that: it finds the record of the one before, as any box does after a crash.

import asyncio
from collections.abc import Callable, Mapping, Sequence

from msgspec import MsgspecError, Struct, field, json
from msgspec.structs import replace

from workbench.domain.events import ProcessStarted
from workbench.domain.step_messages import StepEvent, StepId
from workbench.domain.values import WHOLE_WORKSPACE, SandboxLevel, SandboxRefusal
from workbench.effects.child_processes import HookExit, ProcessNotStarted, run_hook
from workbench.effects.command_execution import CommandExit
from workbench.effects.file_primitives import FileRefused
from workbench.effects.found_job import FoundJob, JobLost
from workbench.effects.job_files import JobUnreadable
from workbench.effects.owned_command import OwnedCommand
from workbench.effects.process_table import ProcessIdentity
from workbench.host.boxed_command import BoxedCommand, box_program, closed_refusals
from workbench.host.call_context import files_named_by_hooks
from workbench.host.command_box import BoxUnavailable, forget_box, quarantine_new_closed
from workbench.host.driver_context import DriverContext
from workbench.pipelines.artifacts import MOST_STDOUT
from workbench.pipelines.contracts import COMPILE_SECONDS, OwnProgramRunner, run_own_program
from workbench.pipelines.executor import AttemptNotReady, Requirement
from workbench.pipelines.step_files import (
    MOST_REQUIREMENT_SECONDS,
    RequirementRunner,
    run_requirement_outside,
)
from workbench.pipelines.step_process import OnBytes, ProcessEnd, ProcessLost, StepJob, StepProcess
from workbench.views.sandbox import refusals_text

UNBOUNDED_BYTES = 1 << 50
"""Bytes a step may print: what is kept is bounded, what is printed is its own affair."""
_WAITING_SECONDS = 10.0
"""Seconds that the owner of a process has to see that its driver is gone."""
_LOOK_SECONDS = 0.02
_MOST_STARTED = 32
"""Processes after which the records of those are removed whose steps have ended, and at the end of a run."""


class _BoxNote(Struct, frozen=True, kw_only=True):
    """The box of a process, for the driver that takes it over."""

    run: str
    level: SandboxLevel
    folder: str
    can_nest: bool


class LocalProcesses(Struct):
    """Starts processes in the hands of an owner, and finds those that an earlier driver started."""

    context: DriverContext
    _started: dict[str, StepId] = field(default_factory=dict[str, StepId])
    """By their marks: processes whose records are there until the end of their steps is committed."""
    _is_left: bool = False

    async def start(self, job: StepJob) -> "LocalProcess":
        context, boxed = self.context, None
        if len(self._started) >= _MOST_STARTED:
            await asyncio.to_thread(self.remove_recorded)
        mark = context.clock.new_id()
        argv: tuple[str, ...] = job.argv
        variables: Mapping[str, str] = {**context.environment, **job.environment, "PWD": job.folder}
        note = ""
        try:
            if job.sandbox not in (None, "outside"):
                box = _BoxNote(run=job.id.run, level=job.sandbox, folder=job.folder, can_nest=job.can_nest)
                boxed = await asyncio.to_thread(_box, context, box, argv, variables)
                argv, variables = boxed.argv, boxed.environment
                note = json.encode(box).decode()
            command = await context.jobs.prepare(
                job.id.run, argv, job.folder, variables, mark,
                life="outlives" if job.outlives else "with driver",
                kept_first=MOST_STDOUT if job.is_apart else 0, is_apart=job.is_apart, stdin=job.stdin,
                is_boxed=boxed is not None, note=note, held=() if boxed is None else boxed.planned.held,
            )  # fmt: skip
        except (ProcessNotStarted, BoxUnavailable, FileRefused) as error:
            _forget(boxed)
            raise AttemptNotReady(str(error)) from None
        self._started[mark] = job.id
        return LocalProcess(
            job=job, mark=mark, command=command, boxed=boxed, is_left=lambda: job.outlives and self._is_left
        )

    async def find(self, step: StepId, started: ProcessStarted | None) -> StepProcess | None:
        if started is None:
            return None
        identity = ProcessIdentity(pid=started.pid, group=started.group, start_time=started.start_time)
        self._started[started.mark] = step
        try:
            job = await asyncio.to_thread(self.context.jobs.find, step.run, started.mark, identity)
            await _no_longer_waiting(job)
        except TimeoutError:
            return LostProcess("the process that owns it does not answer")
        except (JobLost, JobUnreadable) as error:
            return LostProcess(str(error) or "there is no record of it")
        if job.end is None or job.end.how == "ended":
            return FoundProcess(context=self.context, job=job)
        job.close()
        return None if job.end.how == "never ran" else LostProcess("it was ended with its driver")

    def leave(self) -> None:
        self._is_left = True

    def remove_recorded(self) -> None:
        """Remove the records of processes whose steps have ended in the journal; blocks."""
        for mark, step in list(self._started.items()):
            row = self.context.journal.step_state(step.run, step.step)
            if row is None or row.state != "running" or row.attempt > step.attempt:
                self.context.jobs.remove(step.run, mark)
                self._started.pop(mark, None)  # several steps that start do this at once


def _box(
    context: DriverContext, box: _BoxNote, argv: tuple[str, ...], variables: Mapping[str, str]
) -> BoxedCommand:
    closed = files_named_by_hooks(context, context.recall_settings().config)
    return box_program(
        context, box.run, box.level, box.folder, argv, variables, closed, can_nest=box.can_nest
    )


async def _no_longer_waiting(job: FoundJob) -> None:
    """Wait until a process that was never let go is ended by its owner, which has seen its driver die."""
    async with asyncio.timeout(_WAITING_SECONDS):
        while job.is_waiting:
            await asyncio.sleep(_LOOK_SECONDS)
    job.has_ended()


def own_program_runner(context: DriverContext, run_id: str) -> OwnProgramRunner:
    """Return what runs programs of workspaces inside where this machine has a full sandbox.

    Commands inside can have changed such a program.
    """

    def run(words: Sequence[str], folder: str, environment: Mapping[str, str]) -> HookExit:
        sandbox = context.prove_sandbox(context.recall_settings().config.sandbox.backend)
        if sandbox.strength != "full":
            return run_own_program(words, folder, environment)
        boxed = box_program(context, run_id, "read-only", folder, words, environment, ())
        return run_hook(boxed.argv, b"", folder, boxed.environment, COMPILE_SECONDS, is_boxed=True)

    return run


def requirement_runner(context: DriverContext, run_id: str) -> RequirementRunner:
    """Return what runs the requirements of steps, each at the level of its step."""

    def run(requirement: Requirement, folder: str, environment: Mapping[str, str]) -> HookExit:
        level = requirement.sandbox
        if level in (None, "outside"):
            return run_requirement_outside(requirement, folder, environment)
        try:
            return _run_requirement(context, run_id, requirement, level, folder, environment)
        except BoxUnavailable as error:
            raise AttemptNotReady(str(error)) from None

    return run


def _run_requirement(
    context: DriverContext,
    run_id: str,
    requirement: Requirement,
    level: SandboxLevel,
    folder: str,
    environment: Mapping[str, str],
) -> HookExit:
    box = _BoxNote(run=run_id, level=level, folder=folder, can_nest=False)
    boxed = _box(context, box, ("/bin/sh", "-c", requirement.source), environment)
    try:
        end = run_hook(boxed.argv, b"", folder, boxed.environment, MOST_REQUIREMENT_SECONDS, is_boxed=True)
    finally:
        changes = quarantine_new_closed(boxed.planned)
    if refusals := closed_refusals(changes, boxed.planned.places):
        raise AttemptNotReady(f"validation: the sandbox refused {refusals_text(refusals)}")
    return end


class LocalProcess(Struct, frozen=True, kw_only=True):
    """A process that this driver started."""

    job: StepJob
    mark: str
    command: OwnedCommand
    boxed: BoxedCommand | None
    is_left: Callable[[], bool]

    @property
    def started(self) -> StepEvent:
        identity = self.command.identity
        return StepEvent(
            kind="process", pid=identity.pid, group=identity.group, start_time=identity.start_time,
            mark=self.mark,
        )  # fmt: skip

    async def follow(self, on_output: OnBytes, on_stdout: OnBytes | None, stop: asyncio.Event) -> ProcessEnd:
        try:
            end = await self.command.go(
                on_output, self.job.timeout_seconds, stop, UNBOUNDED_BYTES, on_stdout=on_stdout,
                is_left=self.is_left, stall_seconds=self.job.stall_seconds,
            )  # fmt: skip
        except ProcessNotStarted as error:
            _forget(self.boxed)
            raise AttemptNotReady(str(error)) from None
        except JobLost as error:
            raise ProcessLost(str(error)) from None
        plain = _plain_end(end)
        return plain if self.boxed is None else await asyncio.to_thread(_with_refusals, plain, self.boxed)

    def abandon(self) -> None:
        self.command.abandon()


class FoundProcess(Struct, frozen=True, kw_only=True):
    """A process that an earlier driver started, and that runs or has ended."""

    context: DriverContext
    job: FoundJob

    started = StepEvent(kind="progress")

    async def follow(self, on_output: OnBytes, on_stdout: OnBytes | None, stop: asyncio.Event) -> ProcessEnd:
        printed = _Result(on_stdout or on_output)
        try:
            end = await self.job.follow(
                on_output, stop, on_stdout=printed.feed, on_gap=lambda size: on_output(_gap(size)),
                on_stdout_gap=printed.skip,
            )  # fmt: skip
        except JobLost as error:
            raise ProcessLost(str(error)) from None
        if self.job.end is not None and self.job.end.how == "never ran":
            raise ProcessLost("it was not let go before its driver died")
        note = self.job.record.note
        plain = _plain_end(end)
        return await asyncio.to_thread(self._with_refusals, plain, note) if note else plain

    def abandon(self) -> None:
        self.job.close()

    def _with_refusals(self, end: ProcessEnd, note: str) -> ProcessEnd:
        try:
            box = json.decode(note, type=_BoxNote)
            return _with_refusals(end, _box(self.context, box, ("true",), {}))
        except (MsgspecError, BoxUnavailable, FileRefused) as error:
            unseen = SandboxRefusal(
                kind="closed", target=WHOLE_WORKSPACE, remark=f"could not be looked through: {error}"
            )
            return replace(end, refusals=(unseen,))


class _Result:
    """A standard output that is a result; a part of it may only be missing where it is too long for one."""

    def __init__(self, take: OnBytes) -> None:
        self._take, self._total = take, 0

    def feed(self, data: bytes) -> None:
        self._total += len(data)
        self._take(data)

    def skip(self, size: int) -> None:
        if self._total < MOST_STDOUT:
            raise ProcessLost(f"{size:,} bytes of what it printed could not be kept")
        self._total += size


class LostProcess:
    """A process whose result is unknown."""

    started = StepEvent(kind="progress")

    def __init__(self, why: str) -> None:
        self._why = why

    async def follow(self, on_output: OnBytes, on_stdout: OnBytes | None, stop: asyncio.Event) -> ProcessEnd:
        del on_output, on_stdout, stop
        raise ProcessLost(self._why)

    def abandon(self) -> None: ...


def _plain_end(end: CommandExit) -> ProcessEnd:
    return ProcessEnd(
        code=end.code, signal=end.signal, timed_out=end.timed_out, stalled=end.is_stalled,
        stopped=end.stopped,
    )  # fmt: skip


def _gap(size: int) -> bytes:
    return f"\n… {size} bytes left out …\n".encode()


def _forget(boxed: BoxedCommand | None) -> None:
    if boxed is not None:
        forget_box(boxed.planned)


def _with_refusals(end: ProcessEnd, boxed: BoxedCommand) -> ProcessEnd:
    """Move out of the workspace what a program in the sandbox may not leave there, and name it."""
    places = boxed.planned.places
    refusals = closed_refusals(quarantine_new_closed(boxed.planned), places)
    return replace(end, boxed_folder=places.workspace, refusals=refusals)
