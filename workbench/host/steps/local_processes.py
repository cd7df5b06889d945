"""Processes of steps on this machine: children of this process, in a sandbox where a step names one."""

import asyncio
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.events import ProcessStarted
from workbench.domain.step_messages import StepEvent, StepId
from workbench.effects.child_processes import ProcessNotStarted, terminate_leftovers
from workbench.effects.command_execution import Command, prepare_command
from workbench.effects.file_primitives import FileRefused
from workbench.effects.process_table import ProcessIdentity
from workbench.host.boxed_command import BoxedCommand, box_program, closed_refusals
from workbench.host.call_context import files_named_by_hooks
from workbench.host.command_box import BoxUnavailable, forget_box, quarantine_new_closed
from workbench.host.driver_context import DriverContext
from workbench.pipelines.executor import AttemptNotReady
from workbench.pipelines.step_process import OnBytes, ProcessEnd, ProcessLost, StepJob

UNBOUNDED_BYTES = 1 << 50
"""Bytes a step may print: what is kept is bounded, what is printed is its own affair."""


class LocalProcesses(Struct):
    """Starts processes as children of this one; they end with it."""

    context: DriverContext

    async def start(self, job: StepJob) -> "LocalProcess":
        context, boxed = self.context, None
        mark = context.clock.new_id()
        argv: tuple[str, ...] = job.argv
        variables: Mapping[str, str] = {**context.environment, **job.environment, "PWD": job.folder}
        try:
            if job.sandbox not in (None, "outside"):
                closed = files_named_by_hooks(context, context.recall_settings().config)
                boxed = await asyncio.to_thread(
                    box_program, context, job.id.run, job.sandbox, job.folder, argv, variables, closed,
                    can_nest=job.can_nest,
                )  # fmt: skip
                argv, variables = boxed.argv, boxed.environment
            command = prepare_command(
                argv, job.folder, variables, mark, is_apart=job.is_apart, stdin=job.stdin,
                is_boxed=boxed is not None,
            )  # fmt: skip
        except (ProcessNotStarted, BoxUnavailable, FileRefused) as error:
            _forget(boxed)
            raise AttemptNotReady(str(error)) from None
        return LocalProcess(job=job, mark=mark, command=command, boxed=boxed)

    async def find(self, step: StepId, started: ProcessStarted | None) -> "LostProcess | None":
        """End what a process left: its pipes are lost with the driver that read them."""
        del step
        if started is None:
            return None
        identity = ProcessIdentity(pid=started.pid, group=started.group, start_time=started.start_time)
        await asyncio.to_thread(terminate_leftovers, identity, started.mark)
        return LostProcess()


class LocalProcess(Struct, frozen=True, kw_only=True):
    """A child of this process."""

    job: StepJob
    mark: str
    command: Command
    boxed: BoxedCommand | None

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
                on_output, self.job.timeout_seconds, stop, UNBOUNDED_BYTES, on_stdout=on_stdout
            )
        except ProcessNotStarted as error:
            _forget(self.boxed)
            raise AttemptNotReady(str(error)) from None
        plain = ProcessEnd(code=end.code, signal=end.signal, timed_out=end.timed_out, stopped=end.stopped)
        return plain if self.boxed is None else await asyncio.to_thread(_with_refusals, plain, self.boxed)

    def abandon(self) -> None:
        self.command.abandon()


class LostProcess:
    """A process of which it is not known how it ended."""

    started = StepEvent(kind="progress")

    async def follow(self, on_output: OnBytes, on_stdout: OnBytes | None, stop: asyncio.Event) -> ProcessEnd:
        del on_output, on_stdout, stop
        raise ProcessLost("the process that ran it ended first")

    def abandon(self) -> None: ...


def _forget(boxed: BoxedCommand | None) -> None:
    if boxed is not None:
        forget_box(boxed.planned)


def _with_refusals(end: ProcessEnd, boxed: BoxedCommand) -> ProcessEnd:
    """Move out of the workspace what a program in the sandbox may not leave there, and name it."""
    places = boxed.planned.places
    refusals = closed_refusals(quarantine_new_closed(boxed.planned), places)
    return replace(end, boxed_folder=places.workspace, refusals=refusals)
