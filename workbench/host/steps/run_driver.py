"""Drive one run in this process, under a driver's lock and a lease, and the runs below it.

Takes the lease, starts or continues the run, drives its coordinator and hands back in order. Runs that steps
start stay within depth, steps, tokens and time (S1 meta_pipeline). Writes the audit trace where the manifest
asks for one.
"""

import asyncio
import contextlib
import json
import os
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Self, cast

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.domain.codec import event_to_object
from workbench.domain.events import (
    ArtifactStored,
    CallExecuting,
    CallFinished,
    CallProposed,
    ContinueRequested,
    ContractChecked,
    Event,
    FileChanged,
    RunCancelRequested,
    RunChanged,
    RunRequested,
    RunStarted,
    SessionCreated,
    SessionStatusChanged,
    StepChanged,
)
from workbench.domain.machines import PauseReason
from workbench.domain.messages import StepOutcome, StepSpec
from workbench.domain.rows import PipelineState, run_title
from workbench.domain.values import Actor, Json
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import open_append
from workbench.effects.folders import make_folder
from workbench.host import session_driver
from workbench.host.driver_context import DriverContext, RunWriter
from workbench.host.session_driver import thread_safe_setter
from workbench.host.steps.run_requests import (
    RunRefused,
    RunRequest,
    load_requested_pipeline,
    require_runnable_pipeline,
)
from workbench.host.steps.run_start import StartedRun, start_run, worker_limit
from workbench.host.steps.step_executor import EmbeddedExecutor, NestedRunner
from workbench.host.workspace_trust import is_governed_file
from workbench.journal.errors import JournalError
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverIdentity, lease_guard, release_lease, take_lease
from workbench.pipelines import artifacts
from workbench.pipelines.attempt import AttemptNotReady
from workbench.pipelines.coordinator import Coordinator, StepSlots
from workbench.pipelines.load import RunDefinition
from workbench.pipelines.model import Manifest, MetaLimits
from workbench.pipelines.run_context import RunContext, StepTimers
from workbench.pipelines.state import OpenSteps, fold_run
from workbench.pipelines.step_order import repeated_step_sets
from workbench.pipelines.workspaces import Workspaces
from workbench.text.safe import escape_json

OnRunEvents = Callable[[Sequence[Event]], None]


def _ignore_events(events: Sequence[Event]) -> None:
    del events


def _never_stop(coordinator: Coordinator) -> bool:
    del coordinator
    return False


RunPath = tuple[str, ...]
"""How a run is reached from the topmost one: step and pipeline, for each level."""


class NestedRunBudget(Struct):
    """What the runs below one topmost run came to so far."""

    steps: dict[RunPath, int] = field(default_factory=dict[RunPath, int])
    """Steps of each pipeline that a step starts. The items of a list, the rounds of a loop and what was tried
    again count once: this bounds how much a run may think up, and their number has limits of its own."""

    @classmethod
    def below(cls, journal: Journal, run_id: str) -> Self:
        """Return what is below a run already, as after a crash."""
        room = cls()
        room._read(journal, run_id, ())
        return room

    def _read(self, journal: Journal, run_id: str, path: RunPath) -> None:
        for step in journal.step_states(run_id):
            child = journal.pipeline_state(step.session_id) if step.session_id else None
            if child is None:
                continue
            here = (*path, step.matrix or step.step_id, child.pipeline_name)
            if here not in self.steps:
                self.steps[here] = sum(not one.matrix for one in journal.step_states(child.pipeline_id))
            self._read(journal, child.pipeline_id, here)

    def with_more(self, path: RunPath, steps: int) -> int:
        """Return how many steps it would come to if that pipeline were started there."""
        return sum(self.steps.values()) - self.steps.get(path, 0) + steps


class RunDriverOptions(Struct, frozen=True, kw_only=True):
    """What a driver of runs is given."""

    kit: DriverContext
    driver: DriverIdentity
    until: Callable[[Coordinator], bool] = field(default=_never_stop)
    see: OnRunEvents = _ignore_events
    """Told of the events of the run and of its steps' sessions."""
    slots: StepSlots | None = None
    room: NestedRunBudget | None = None
    """What the runs below the topmost one came to; None for the topmost one itself."""
    way: RunPath = ()
    """How this run is reached from the topmost one."""


async def drive_run(driving: RunDriverOptions, run_id: str) -> PipelineState:
    """Drive a run until it is over, or `until` says so, and return where it stands then.

    Raises:
        Driven: another process drives it; names the pid.
        LeaseLost: another driver took it over meanwhile.
    """
    kit = driving.kit
    lease = take_lease(kit.journal, run_id, driving.driver)
    ledger = RunWriter(kit, run_id, lease_guard(lease))
    try:
        state = fold_run(kit.journal.events(run_id))
        before = state.cursor
        begun = await start_run(kit, ledger, driving.driver, state)
        driving.see(kit.journal.events(run_id, after=before))
        if begun is not None:
            await _drive_coordinator(driving, ledger, begun)
    finally:
        release_lease(kit.journal, lease)
    return _run_row(kit, run_id)


def _run_row(kit: DriverContext, run_id: str) -> PipelineState:
    row = kit.journal.pipeline_state(run_id)
    if row is None:
        raise LookupError(f"run {run_id} is gone")
    return row


async def _drive_coordinator(driving: RunDriverOptions, ledger: RunWriter, begun: StartedRun) -> None:
    kit, rung = driving.kit, asyncio.Event()
    silence = kit.journal.on_ring(thread_safe_setter(asyncio.get_running_loop(), rung))
    coordinator = _make_coordinator(driving, ledger, begun, rung)
    ticking = asyncio.create_task(_run_clock(kit, rung), name="clock of a run")
    try:
        await coordinator.run(driving.until)
    finally:
        silence()
        ticking.cancel()
        await asyncio.gather(ticking, return_exceptions=True)
        await _record_pause(ledger, coordinator)


def _make_coordinator(
    driving: RunDriverOptions, ledger: RunWriter, begun: StartedRun, rung: asyncio.Event
) -> Coordinator:
    kit, started = driving.kit, begun.state.started
    slots = driving.slots or StepSlots(worker_limit(kit, begun.manifest))
    trace = AuditTrace(started.trace if started else "", begun.manifest)

    def see(events: Sequence[Event]) -> None:
        trace.see(events)
        driving.see(events)

    meta = begun.manifest.runtime.meta if begun.manifest else MetaLimits()
    below = _NestedRuns(replace(driving, slots=slots, see=see), ledger, begun, meta)
    executor = EmbeddedExecutor(
        kit=kit, driver=driving.driver, run_id=ledger.run_id, recordings=begun.definition.recordings,
        nested=NestedRunner(opening=below.opening, run=below.run, cancel=below.cancel), see=see,
    )  # fmt: skip
    context = RunContext(
        journal=ledger, definition=begun.definition, pipeline=begun.pipeline, manifest=begun.manifest,
        executor=executor, state=begun.state, row=_run_row(kit, ledger.run_id),
        workspaces=Workspaces(project=begun.definition.root, base=begun.base, environment=kit.environment),
        repeated_sets=repeated_step_sets(begun.pipeline.steps), timers=StepTimers(kit.sleep), wake=rung,
        open_steps=OpenSteps(begun.pipeline, begun.state), on_events=see, can_ask=kit.can_ask,
        window_minutes=kit.loaded().config.approvals.window_minutes,
    )  # fmt: skip
    return Coordinator(context, slots)


async def _run_clock(kit: DriverContext, rung: asyncio.Event) -> None:
    """Let windows run out while nothing else rings."""
    while True:
        try:
            if session_driver.expire_actions(kit.journal):
                rung.set()
        except JournalError:
            pass  # a disk that is full for a moment must not stop the clock
        await asyncio.sleep(session_driver.CLOCK_TICK_SECONDS)


async def _record_pause(ledger: RunWriter, coordinator: Coordinator) -> None:
    """Say why a run that is not over stands still."""
    if coordinator.failure is not None:
        return
    coordinator.context.catch_up()
    state = coordinator.state
    if state.session_status != "processing":
        return
    reason: PauseReason = "parked" if state.status == "waiting" else "host lost"
    await ledger.append(ledger.event(SessionStatusChanged(status="paused", reason=reason)))


class _NestedRuns:
    """Runs that steps of a run start: within depth, steps, tokens and time (S1 meta_pipeline)."""

    def __init__(
        self, driving: RunDriverOptions, ledger: RunWriter, begun: StartedRun, limits: MetaLimits
    ) -> None:
        self._driving, self._ledger, self._begun, self._limits = driving, ledger, begun, limits

    @cached_property
    def _room(self) -> NestedRunBudget:
        return self._driving.room or NestedRunBudget.below(self._driving.kit.journal, self._ledger.run_id)

    @cached_property
    def _tokens(self) -> dict[str, int]:
        return nested_run_tokens(self._driving.kit.journal, self._ledger.run_id)

    def opening(self, spec: StepSpec) -> list[Event]:
        """Return the events that begin a run below; NotReady if a limit or the pipeline forbids it."""
        depth = self._begun.definition.depth + 1
        if depth > self._limits.max_depth:
            raise AttemptNotReady(
                f"pipelines may start pipelines {self._limits.max_depth} deep (meta_pipeline.max_depth)"
            )
        journal, workspace = self._driving.kit.journal, self._driving.kit.workspace
        given = str(spec.environment.get("input", ""))
        if (going_on := self._going_on(spec, given)) is not None:
            return going_on
        try:
            loaded = load_requested_pipeline(
                workspace, RunRequest(name=spec.source, manifest=self._begun.definition.manifest_file or None)
            )
            require_runnable_pipeline(loaded)
        except RunRefused as error:
            raise AttemptNotReady(str(error)) from None
        assert loaded.pipeline is not None
        if spec.environment.get("is_computed") and not is_governed_file(loaded.file, workspace):
            raise AttemptNotReady(
                f"{spec.source} comes from a template and does not lie where trust covers it; "
                "put it into .workbench/pipelines or .wave/pipelines, or name it in the step"
            )
        run_id, name = journal.clock.new_id(), loaded.pipeline.name
        self._take_room(self._way(spec, name), len(loaded.pipeline.steps))
        numbers = [r.number or 0 for r in journal.pipeline_states(workspace) if r.pipeline_name == name]
        number = max(numbers, default=0) + 1
        actor = Actor(kind="host", pid=os.getpid())
        created = SessionCreated(
            session_kind="pipeline", parent_id=self._ledger.run_id, title=f"{name} #{number}"[:120],
            workspace=workspace, number=number, telemetry_id=journal.clock.new_id(),
        )  # fmt: skip
        wanted = RunRequested(
            pipeline=name, file=os.path.relpath(loaded.file, workspace), manifest=loaded.manifest_file or "",
            input=self._ledger.scrubbed(given), grants=spec.grants, depth=depth,
            recordings=self._begun.definition.recordings,
            input_ref=self._ledger.seal(given.encode("utf-8", "surrogatepass")) if given else None,
        )  # fmt: skip
        return [journal.event(body, run_id, actor) for body in (created, wanted)]

    def _going_on(self, spec: StepSpec, given: str) -> list[Event] | None:
        """Return what lets the run below go on that this step began in an earlier round; None to begin anew.

        Only where a human resumed, and what it was begun with is the same: a retry and a way back begin anew.
        """
        journal, state = self._driving.kit.journal, self._begun.state
        step, started = state.steps.get(spec.id.step), state.started
        is_human = started is not None and started.round > 1 and not started.returned_by
        if step is None or not is_human or step.failures or step.session_id is None:
            return None
        row = journal.pipeline_state(step.session_id)
        if row is None or not self._is_same(step.session_id, spec.source, given):
            return None
        if row.status == "completed":
            # Its end was not recorded above: it is taken as it is. A step that failed after it begins anew.
            return [] if self._was_cut_off(spec.id.step) else None
        actor = Actor(kind="host", pid=os.getpid())
        return [journal.event(ContinueRequested(), step.session_id, actor)]

    def _is_same(self, run_id: str, name: str, given: str) -> bool:
        """Return whether a run below was begun by this name with this input."""
        before = fold_run(self._driving.kit.journal.events(run_id)).request
        if before is None:
            return False
        exact = self._ledger.unseal(before.input_ref) if before.input_ref else b""
        names = (before.pipeline, before.file, Path(before.file).stem)
        return name in names and (exact or b"").decode("utf-8", "surrogatepass") == given

    def _was_cut_off(self, step: str) -> bool:
        events = self._driving.kit.journal.events(self._ledger.run_id)
        moves = [one.body.state for one in events if one.step == step and isinstance(one.body, StepChanged)]
        return bool(moves) and moves[-1] == "running"

    def _way(self, spec: StepSpec, name: str) -> RunPath:
        found = self._begun.state.steps.get(spec.id.step)
        return (*self._driving.way, (found.matrix if found else "") or spec.id.step, name)

    def _take_room(self, way: RunPath, steps: int) -> None:
        limits, total = self._limits, self._room.with_more(way, steps)
        if self._is_spent():
            raise AttemptNotReady(self._spent())
        if total > limits.max_total_steps:
            raise AttemptNotReady(
                f"it would come to {total} steps; "
                f"meta_pipeline.max_total_steps is {limits.max_total_steps}; "
                "the manifest's runtime may allow more"
            )
        self._room.steps[way] = steps

    async def run(self, spec: StepSpec) -> StepOutcome:
        """Drive a run below until it is over, or until nothing of it goes on without a human."""
        run_id, limits = spec.session_id or "", self._limits
        row = _run_row(self._driving.kit, run_id)
        way = self._way(spec, row.pipeline_name)
        driving = replace(self._driving, until=self._stops_at, room=self._room, way=way)
        try:
            async with asyncio.timeout(limits.timeout_minutes * 60):
                row = row if row.status == "completed" else await drive_run(driving, run_id)
        except TimeoutError:
            why = f"it took longer than meta_pipeline.timeout_minutes, {limits.timeout_minutes} min"
            return await self._ended(run_id, why)
        self._tokens[run_id] = fold_run(driving.kit.journal.events(run_id)).usage.total_tokens
        if row.status == "completed":
            return StepOutcome(
                state="completed", usage=row.usage, output=f"{run_title(row)} completed",
                artifacts=self._handed_on(run_id),
            )  # fmt: skip
        if self._is_spent():
            return await self._ended(run_id, self._spent())
        pending = self._ledger.pending(run_id)
        if row.status in ("waiting", "running") and pending:
            return StepOutcome(state="parked", reason=f"{run_title(row)} waits", action_ids=pending)
        why = f"{run_title(row)}: {row.error_message or row.status}"
        return StepOutcome(state="failed", reason=why, usage=row.usage)

    async def _ended(self, run_id: str, why: str) -> StepOutcome:
        """End a run below that went over a limit, so that nothing of it waits or runs on."""
        self.cancel(run_id, why)
        row = await drive_run(replace(self._driving, until=_never_stop), run_id)
        return StepOutcome(state="failed", reason=why, is_retryable=False, usage=row.usage)

    def _handed_on(self, run_id: str) -> tuple[ArtifactStored, ...]:
        """Return what a run below hands on: its named outputs, or the artifacts of its steps."""
        state = fold_run(self._driving.kit.journal.events(run_id))
        started = state.started
        data = self._ledger.unseal(started.definition_ref) if started and started.definition_ref else None
        named = RunDefinition.from_bytes(data).read()[0].outputs if data else ()
        if not named:
            every = (
                one for step in state.steps.values() if not step.matrix for one in step.artifacts.values()
            )
            return tuple({one.name: one for one in every}.values())
        found = ((output, state.steps.get(output.step)) for output in named)
        return tuple(
            artifacts.select_output(self._ledger, step.artifacts[output.artifact], output)
            for output, step in found
            if step and output.artifact in step.artifacts
        )

    def _stops_at(self, coordinator: Coordinator) -> bool:
        self._tokens[coordinator.context.journal.run_id] = coordinator.state.usage.total_tokens
        return coordinator.is_waiting or self._is_spent()

    def _is_spent(self) -> bool:
        return sum(self._tokens.values()) > self._limits.max_total_tokens

    def _spent(self) -> str:
        most = self._limits.max_total_tokens
        return f"the pipelines below it used more than meta_pipeline.max_total_tokens, {most}"

    def cancel(self, run_id: str, why: str = "the run above it was cancelled") -> None:
        """Ask a run below to end."""
        journal = self._driving.kit.journal
        row = journal.pipeline_state(run_id)
        if row is not None and row.status in ("queued", "running", "waiting"):
            body = RunCancelRequested(reason=why)
            actor = Actor(kind="host", pid=os.getpid())
            journal.append([journal.event(body, run_id, actor)])


def nested_run_tokens(journal: Journal, run_id: str) -> dict[str, int]:
    """Return the tokens of each run that a run has started, those of failed attempts too."""
    below = journal.sessions(parent_id=run_id, kinds=("pipeline",))
    rows = (journal.pipeline_state(one.id) for one in below)
    return {row.pipeline_id: row.usage.total_tokens for row in rows if row is not None}


_STEP_EVENTS = (StepChanged, ContractChecked, ArtifactStored, RunChanged, RunStarted)
_CALL_EVENTS = (CallProposed, CallExecuting, CallFinished)


class AuditTrace:
    """The trace of one run; without a path it writes nothing."""

    def __init__(self, path: str, manifest: Manifest | None) -> None:
        self.path = path
        runtime = manifest.runtime if manifest else None
        self._kinds = (
            *_STEP_EVENTS, *(_CALL_EVENTS if runtime and runtime.log_calls else ()),
            *((FileChanged,) if runtime and runtime.log_files else ()),
        )  # fmt: skip

    def see(self, events: Sequence[Event]) -> None:
        """Write what the trace is to hold of some events; a trace that cannot be written stops nothing."""
        if not self.path:
            return
        lines = [_trace_line(event) for event in events if isinstance(event.body, self._kinds)]
        if not lines:
            return
        with contextlib.suppress(FileRefused, OSError):
            make_folder(str(Path(self.path).parent))
            with open_append(Path(self.path)) as file:
                file.write("".join(lines).encode())


def _trace_line(event: Event) -> str:
    found = event_to_object(event)
    body = found.get("body")
    if isinstance(body, dict):
        kept = cast("dict[str, Json]", body).items()
        found["body"] = {key: value for key, value in kept if not key.endswith(("_ref", "_refs"))}
    return escape_json(json.dumps(found, ensure_ascii=False, separators=(",", ":"))) + "\n"
