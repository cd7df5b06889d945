"""The executor of steps: agents and pipelines in this process's event loop, programs on a machine.

What is said here of spend limits, prices, sessions and outcomes holds wherever the programs run.
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.config.model_prices import PriceList
from workbench.domain.events import Event, ProcessStarted
from workbench.domain.rows import StepState
from workbench.domain.step_messages import StepId, StepOutcome, StepSpec
from workbench.domain.values import Decision, Usage
from workbench.host.boxed_command import require_full_sandbox
from workbench.host.command_box import BoxUnavailable
from workbench.host.driver_context import DriverContext, OnEvents
from workbench.host.spend_limits import held_back_step
from workbench.host.steps import agent_step, step_session
from workbench.host.steps.adapter_session import AdapterSession, adapter_session_events
from workbench.host.steps.adapter_step import run_adapter_step
from workbench.host.steps.audit_trace import AuditTrace
from workbench.host.steps.stall_watch import StallWatch
from workbench.host.steps.step_program import ProgramFollower, program_job, streamed_characters
from workbench.journal.leases import DriverIdentity
from workbench.journal.usage_queries import session_usage
from workbench.pipelines.executor import AttemptNotReady, OnStepEvent, StepMachine
from workbench.pipelines.step_process import ProcessLost, StepProcess
from workbench.views.usage import sum_usage


class NestedRunner(Protocol):
    """Begins and drives the runs that pipeline steps start; the driver of the run above is one."""

    def opening(self, spec: StepSpec) -> list[Event]:
        """Return the events that begin a run, or raise AttemptNotReady."""
        ...

    async def run(self, spec: StepSpec) -> StepOutcome: ...

    def cancel(self, run_id: str) -> bool:
        """Ask for a run to end; return whether it has not ended yet."""
        ...

    async def end(self, run_id: str) -> None:
        """End a run that is not driven, with all that an earlier driver left of it."""
        ...


class EmbeddedExecutor(Struct, kw_only=True):
    """Runs the steps of one run: agents and pipelines in this process, programs on a machine."""

    context: DriverContext
    driver: DriverIdentity
    run_id: str
    recordings: str
    nested: NestedRunner
    on_events: OnEvents
    trace: AuditTrace
    machine: StepMachine
    _stops: dict[StepId, asyncio.Event] = field(default_factory=dict[StepId, asyncio.Event])
    _sessions: dict[StepId, str] = field(default_factory=dict[StepId, str])
    _found: dict[StepId, StepProcess] = field(default_factory=dict[StepId, StepProcess])
    """Processes that an earlier driver started, until they are followed."""

    def opening(self, spec: StepSpec) -> Sequence[Event]:
        if spec.kind == "pipeline":
            return self.nested.opening(spec)
        if spec.kind != "prompt":
            return ()
        if spec.adapter:
            return adapter_session_events(self.context, spec, self.run_id)
        try:
            spec = self._local_spec(spec)
            return step_session.child_session_events(self.context, spec, self.run_id, self.recordings)
        except step_session.RecordingMissing as error:
            raise AttemptNotReady(str(error)) from None

    def _local_spec(self, spec: StepSpec) -> StepSpec:
        """Return what an agent of this program is given: its folder is on this machine's disk."""
        folder = self.machine.workspaces.local_folder(spec)
        if folder is None:
            raise AttemptNotReady("its workspace is on another machine, where only other agents work")
        return replace(spec, workspace=folder)

    async def run(self, spec: StepSpec, on_event: OnStepEvent) -> StepOutcome:
        stop = self._stops[spec.id] = asyncio.Event()
        try:
            return await self._run(spec, on_event, stop)
        finally:
            if self._stops.get(spec.id) is stop:
                del self._stops[spec.id]

    async def reattach(self, step: StepId, process: ProcessStarted | None, session_id: str | None) -> bool:
        """Find the process of an attempt; a model's reply is lost with the driver that read it."""
        found = await self.machine.processes.find(step, process)
        if found is not None:
            self._found[step] = found
            return True
        is_run = session_id is not None and self.context.journal.pipeline_state(session_id) is not None
        if session_id is not None and not is_run:
            await agent_step.close_child_session(self.context, self.driver, session_id, is_done=False)
        return False

    async def answer(self, step: StepId, action_id: str, decision: Decision) -> None:
        """Do nothing: agents in this process read decisions in the journal."""
        del step, action_id, decision

    async def _run(self, spec: StepSpec, on_event: OnStepEvent, stop: asyncio.Event) -> StepOutcome:
        if spec.kind == "aggregate":
            return await self.machine.workspaces.write_aggregate(spec)
        if spec.kind == "command":
            async with self.trace.command_files(spec, self.machine.workspaces):
                job = program_job(spec, (*SHELL, spec.source))
                return (await self._follower(spec, on_event, stop).run(job)).outcome
        self._sessions.pop(spec.id, None)
        self._sessions[spec.id] = spec.session_id or ""
        if spec.kind == "pipeline":
            outcome = await self.nested.run(spec)
            is_cancelled = stop.is_set() and outcome.state != "completed"
            return replace(outcome, state="cancelled") if is_cancelled else outcome
        if spec.adapter:
            async with self.trace.command_files(spec, self.machine.workspaces):
                outcome = await self._run_adapter(self._follower(spec, on_event, stop))
        else:
            outcome = await self._run_agent(spec, stop)
        outcome = replace(outcome, usage=_with_cost(self.context, spec.session_id, outcome.usage))
        if (outcome.state != "parked" or outcome.is_full) and spec.session_id:
            is_done = outcome.state == "completed" or outcome.is_full
            await agent_step.close_child_session(self.context, self.driver, spec.session_id, is_done=is_done)
        return outcome

    def _follower(self, spec: StepSpec, on_event: OnStepEvent, stop: asyncio.Event) -> ProgramFollower:
        found, streamed = self._found.pop(spec.id, None), 0
        if found is not None:
            streamed = streamed_characters(self.context.journal.step_events(spec.id.run, spec.id.step))
        return ProgramFollower(
            context=self.context, processes=self.machine.processes, spec=spec, on_event=on_event, stop=stop,
            found=found, streamed=streamed,
        )  # fmt: skip

    def _stop_now(self, stop: asyncio.Event) -> None:
        stop.set()
        self.context.journal.notifier.wake()

    async def _run_agent(self, spec: StepSpec, stop: asyncio.Event) -> StepOutcome:
        try:
            spec = self._local_spec(spec)
            if spec.sandbox not in (None, "outside"):
                await asyncio.to_thread(require_full_sandbox, self.context, spec.sandbox)
        except (AttemptNotReady, BoxUnavailable) as error:
            return StepOutcome(state="failed", reason=str(error), is_retryable=False)
        with StallWatch(spec.stall_seconds, lambda: self._stop_now(stop)) as watch:

            def see(events: Sequence[Event]) -> None:
                watch.note()
                self.on_events(events)

            outcome = await agent_step.run_agent_step(self.context, self.driver, spec, see, stop)
        return watch.outcome(outcome)

    async def _run_adapter(self, follower: ProgramFollower) -> StepOutcome:
        if follower.spec.session_id is None:
            return await run_adapter_step(follower)
        is_new = follower.found is None
        session = AdapterSession(
            self.context, self.driver, follower.spec, self.on_events, is_read_again=not is_new
        )
        try:
            if is_new and (held_back := await held_back_step(session.writer)) is not None:
                return held_back
            follower.session = session
            return await run_adapter_step(follower)
        finally:
            session.release()

    async def cancel(self, step: StepId) -> None:
        stops = [stop for other, stop in self._stops.items() if _is_part(other, step)]
        for stop in stops:
            stop.set()
        row = self.context.journal.step_state(step.run, step.step) if not step.part else None
        if row is not None and row.kind == "pipeline":
            await self._cancel_nested(row.session_id, is_driven=bool(stops))
        elif stops:
            self.context.journal.notifier.wake()
        else:
            await self._cancel_left(step, row)

    async def _cancel_nested(self, run_id: str | None, *, is_driven: bool) -> None:
        if run_id is not None and is_driven:
            self.nested.cancel(run_id)
        elif run_id is not None:
            await self.nested.end(run_id)

    async def _cancel_left(self, step: StepId, row: StepState | None) -> None:
        """End the process, or the child session, of a step that is not under way in this process."""
        for other in [other for other in self._found if _is_part(other, step)]:
            await _end_process(self._found.pop(other))
        ids = [session_id for other, session_id in self._sessions.items() if _is_part(other, step)]
        child_id = next(filter(None, reversed(ids)), None) or (row.session_id if row else None)
        if child_id is not None:
            await agent_step.close_child_session(self.context, self.driver, child_id, is_done=False)

    def leave(self) -> None:
        self.machine.processes.leave()


def _is_part(other: StepId, step: StepId) -> bool:
    """Return whether an id is that of an attempt or of a part of it."""
    return step in (other, other.with_part(""))


async def _end_process(process: StepProcess) -> None:
    stop = asyncio.Event()
    stop.set()
    with contextlib.suppress(ProcessLost, AttemptNotReady):
        await process.follow(_ignore, _ignore, stop)


def _ignore(data: bytes) -> None:
    del data


MachineOf = Callable[[StepMachine], StepMachine]
"""Returns the machine that runs the programs of a run, given this one: itself, or another one."""
SHELL: Final = ("/bin/sh", "-c")


def _with_cost(context: DriverContext, session_id: str | None, usage: Usage) -> Usage:
    """Return usage with its cost: as the program told it, else by the prices of the models asked."""
    if session_id is None or usage.cost_microdollars or not usage.total_tokens:
        return usage
    with context.journal.snapshot() as database:
        facts = session_usage(database, session_id, with_children=False)
    cost = sum_usage(facts, PriceList.of(context.recall_settings().config).cost).cost
    return replace(usage, cost_microdollars=cost or 0)
