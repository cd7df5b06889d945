"""Drive one run in this process, under a driver's lock and a lease, and the runs below it.

Nested runs stay within depth, steps, tokens and time (S1 meta_pipeline). Writes the audit trace if asked.
"""

# A resume goes on within the run below, where that one was begun by the same name with the same input; one
# that had ended when its driver died is taken as it is. A retry and a way back start a new one.
#
# A pipeline below gets the input of the run above where its step names none, as in those files.
#
# Items of a list count their pipeline once against `meta_pipeline.max_total_steps`, and so do rounds and
# retries: the limit bounds how much a run may think up on every level below it, while the number of items
# has limits of its own. Counted each time, 20 steps would forbid any review of seven findings. Tokens are
# counted each time: they are what is paid.

import asyncio
import json
import os
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Self, cast

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.config.windows import approval_window_minutes
from workbench.domain.events import (
    ArtifactStored,
    ContinueRequested,
    Event,
    RunCancelRequested,
    RunRequested,
    SessionCreated,
    SessionStatusChanged,
    StepChanged,
)
from workbench.domain.machines import ENDED_RUN_STATES, PauseReason
from workbench.domain.rows import PipelineState, run_title
from workbench.domain.step_messages import StepOutcome, StepSpec
from workbench.domain.values import BlobRef, Json, RunLink
from workbench.host.driver_context import DriverContext, OnEvents, RunWriter, host_actor, ignore_events
from workbench.host.host_locks import SharedPlaces
from workbench.host.job_folders import remove_jobs_of_run
from workbench.host.session_driver import running_clock, session_log_name, set_on_change
from workbench.host.steps.audit_trace import AuditTrace
from workbench.host.steps.local_processes import LocalProcesses, own_program_runner, requirement_runner
from workbench.host.steps.run_requests import (
    RunRefused,
    RunRequest,
    load_requested_pipeline,
    require_runnable_pipeline,
)
from workbench.host.steps.run_start import StartedRun, start_run, take_over_steps, worker_limit
from workbench.host.steps.step_executor import EmbeddedExecutor, MachineOf
from workbench.host.workspace_trust import is_governed_file
from workbench.journal.decisions import expire_due_actions
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverIdentity, lease_guard, release_lease, take_lease
from workbench.pipelines import artifacts
from workbench.pipelines.coordinator import Coordinator
from workbench.pipelines.executor import AttemptNotReady, StepMachine
from workbench.pipelines.model import Manifest, MetaLimits
from workbench.pipelines.outcomes import MOST_LINKS
from workbench.pipelines.run_context import RunContext, RunDefinition
from workbench.pipelines.schedule import OpenSteps, StepTimers
from workbench.pipelines.state import fold_run, is_run_unanswered
from workbench.pipelines.step_files import StepFiles
from workbench.pipelines.step_order import repeated_step_sets
from workbench.pipelines.step_slots import StepSlots
from workbench.pipelines.workspaces import Workspaces


def _never(coordinator: Coordinator) -> bool:
    del coordinator
    return False


RunPath = tuple[str, ...]
"""How a run is reached from the topmost one: step and pipeline, for each level."""


class NestedRunBudget(Struct):
    """How many steps the runs below one topmost run came to."""

    steps: dict[RunPath, int] = field(default_factory=dict[RunPath, int])
    """Steps of each pipeline that a step starts. The items of a list, the rounds of a loop and what was tried
    again count once: this bounds how much a run may think up, and their number has limits of its own."""

    @classmethod
    def below(cls, journal: Journal, run_id: str) -> Self:
        """Return what is below a run already, as after a crash."""
        budget = cls()
        budget._read(journal, run_id, ())
        return budget

    def _read(self, journal: Journal, run_id: str, path: RunPath) -> None:
        for step in journal.step_states(run_id):
            child = journal.pipeline_state(step.session_id) if step.session_id else None
            if child is None:
                continue
            child_path = (*path, step.matrix or step.step_id, child.pipeline_name)
            if child_path not in self.steps:
                self.steps[child_path] = sum(
                    not step_row.matrix for step_row in journal.step_states(child.pipeline_id)
                )
            self._read(journal, child.pipeline_id, child_path)

    def with_more(self, path: RunPath, steps: int) -> int:
        """Return how many steps it would come to if that pipeline were started there."""
        return sum(self.steps.values()) - self.steps.get(path, 0) + steps


class RunDriverOptions(Struct, frozen=True, kw_only=True):
    """What a driver of runs is given."""

    context: DriverContext
    driver: DriverIdentity
    until: Callable[[Coordinator], bool] = field(default=_never)
    on_events: OnEvents = ignore_events
    """Told of the events of the run and of its steps' sessions."""
    slots: StepSlots | None = None
    budget: NestedRunBudget | None = None
    """What the runs below the topmost one came to; None for the topmost one itself."""
    path: RunPath = ()
    """How this run is reached from the topmost one."""
    machine: MachineOf = field(default=lambda here: here)
    """Names the machine that runs the programs of this run and of those below it."""


async def drive_run(options: RunDriverOptions, run_id: str) -> PipelineState:
    """Drive a run until it is over or `until` says so; return its row. Raises Driven or LeaseLost."""
    context = options.context
    lease = take_lease(context.journal, run_id, options.driver)
    writer = RunWriter(context, run_id, lease_guard(lease))
    try:
        state = fold_run(context.journal.events(run_id))
        before = state.cursor
        started_run = await start_run(context, writer, state)
        options.on_events(context.journal.events(run_id, after=before))
        if started_run is not None:
            await _drive_coordinator(options, writer, started_run)
    finally:
        release_lease(context.journal, lease)
    return _run_row(context, run_id)


def _run_row(context: DriverContext, run_id: str) -> PipelineState:
    row = context.journal.pipeline_state(run_id)
    if row is None:
        raise LookupError(f"run {run_id} is gone")
    return row


async def _drive_coordinator(options: RunDriverOptions, writer: RunWriter, started_run: StartedRun) -> None:
    options = replace(options, context=_with_budget(options.context, started_run.manifest))
    context, changed = options.context, asyncio.Event()
    hand_on, cursor = options.on_events, started_run.state.cursor
    trace = AuditTrace(_trace_of(started_run), started_run.manifest, context.journal, writer.run_id)
    options = replace(
        options, slots=options.slots or _new_slots(context, writer.run_id, started_run.manifest),
        on_events=_traced(options, trace),
    )  # fmt: skip
    processes = LocalProcesses(context)
    executor = _make_executor(options, writer, started_run, trace, processes)
    await take_over_steps(context, writer, options.driver, started_run, executor)
    hand_on(context.journal.events(writer.run_id, after=cursor))
    coordinator = _make_coordinator(options, writer, started_run, executor, changed)

    async def tick() -> None:
        if expire_due_actions(context.journal):
            changed.set()

    try:
        clock = running_clock(session_log_name(context.journal.session(writer.run_id)), tick)
        async with set_on_change(context.journal, changed), clock:
            await coordinator.run(options.until)
    finally:
        try:
            await _record_pause(writer, coordinator)
        finally:
            processes.remove_recorded()  # in this thread: a driver that is cancelled again leaves none behind
            remove_jobs_of_run(context.home, context.journal, writer.run_id)


def _with_budget(context: DriverContext, manifest: Manifest | None) -> DriverContext:
    """Return the context of a run with the smaller one of its budget and that of the run above it."""
    own = manifest.runtime.budget if manifest else 0.0
    budgets = [budget for budget in (own, context.constraints.run_budget) if budget]
    return replace(context, constraints=replace(context.constraints, run_budget=min(budgets, default=0.0)))


def _traced(options: RunDriverOptions, trace: AuditTrace) -> OnEvents:
    """Return what is told of events, and writes the trace of the run besides."""

    def see(events: Sequence[Event]) -> None:
        trace.see(events)
        options.on_events(events)

    return see


def _trace_of(started_run: StartedRun) -> str:
    started = started_run.state.started
    return started.trace if started else ""


def _make_executor(
    options: RunDriverOptions,
    writer: RunWriter,
    started_run: StartedRun,
    trace: AuditTrace,
    processes: LocalProcesses,
) -> EmbeddedExecutor:
    context, definition = options.context, started_run.definition
    meta = started_run.manifest.runtime.meta if started_run.manifest else MetaLimits()
    workspaces = Workspaces(
        project=definition.root, base=started_run.base, environment=context.environment,
        trace_folder=str(Path(trace.path).parent) if trace.path else "",
        is_over=lambda run_id: _is_over(context.journal, run_id),
    )  # fmt: skip
    files = StepFiles(
        blobs=writer, files=definition.files(), workspaces=workspaces,
        run_own=own_program_runner(context, writer.run_id),
        run_requirement=requirement_runner(context, writer.run_id),
    )  # fmt: skip
    here = StepMachine(workspaces=files, processes=processes)
    return EmbeddedExecutor(
        context=context, driver=options.driver, run_id=writer.run_id, recordings=definition.recordings,
        nested=_NestedRuns(options, writer, started_run, meta), on_events=options.on_events, trace=trace,
        machine=options.machine(here),
    )  # fmt: skip


def _make_coordinator(
    options: RunDriverOptions,
    writer: RunWriter,
    started_run: StartedRun,
    executor: EmbeddedExecutor,
    changed: asyncio.Event,
) -> Coordinator:
    context, definition = options.context, started_run.definition
    assert options.slots is not None
    parts = RunContext(
        journal=writer, definition=definition, pipeline=started_run.pipeline, manifest=started_run.manifest,
        executor=executor, workspaces=executor.machine.workspaces, state=started_run.state,
        row=_run_row(context, writer.run_id), workspace_base=started_run.base,
        timers=StepTimers(context.sleep), wake=changed,
        repeated_sets=repeated_step_sets(started_run.pipeline.steps),
        open_steps=OpenSteps(started_run.pipeline, started_run.state), on_events=options.on_events,
        can_ask=context.can_ask,
        window_minutes=approval_window_minutes(
            context.recall_settings().config.approvals, "gate", definition.root
        ),
    )  # fmt: skip
    return Coordinator(parts, options.slots)


def _new_slots(context: DriverContext, run_id: str, manifest: Manifest | None) -> StepSlots:
    """Return the slots of a topmost run; one that an agent's step started has that step's place."""
    session = context.journal.session(run_id)
    above = context.journal.session(session.parent_id) if session and session.parent_id else None
    settings = context.recall_settings().config.pipelines
    lent = 1 if above is not None and above.kind == "step" else 0
    places = SharedPlaces(context.places, context.governing_workspace, settings, lent)
    return StepSlots(worker_limit(context, manifest), places)


def _is_over(journal: Journal, run_id: str) -> bool:
    row = journal.pipeline_state(run_id)
    return row is None or row.status in ENDED_RUN_STATES


async def _record_pause(writer: RunWriter, coordinator: Coordinator) -> None:
    if coordinator.failure is not None:
        return
    coordinator.context.catch_up()
    state = coordinator.state
    if state.session_status != "processing":
        return
    reason: PauseReason = "parked" if state.status == "waiting" else "host lost"
    await writer.append(writer.event(SessionStatusChanged(status="paused", reason=reason)))


class _NestedRuns:
    """The runs that steps of a run start, within the limits of S1 meta_pipeline."""

    def __init__(
        self, options: RunDriverOptions, writer: RunWriter, started_run: StartedRun, limits: MetaLimits
    ) -> None:
        self._options, self._writer, self._started_run, self._limits = options, writer, started_run, limits

    @property
    def _journal(self) -> Journal:
        return self._writer.journal

    @cached_property
    def _budget(self) -> NestedRunBudget:
        return self._options.budget or NestedRunBudget.below(self._journal, self._writer.run_id)

    @cached_property
    def _tokens(self) -> dict[str, int]:
        return nested_run_tokens(self._journal, self._writer.run_id)

    def opening(self, spec: StepSpec) -> list[Event]:
        """Return the events that begin a nested run, or raise AttemptNotReady."""
        depth = self._started_run.definition.depth + 1
        if depth > self._limits.max_depth:
            raise AttemptNotReady(
                f"pipelines may start pipelines {self._limits.max_depth} deep (meta_pipeline.max_depth)"
            )
        journal, workspace = self._journal, self._options.context.workspace
        input_text = str(spec.environment.get("input", ""))
        if (continuation := self._continuation_events(spec, input_text)) is not None:
            return continuation
        above = self._started_run.definition
        handed = tuple(map(str, cast("list[Json]", spec.environment.get("handed", []))))
        try:
            request = RunRequest(name=spec.source, manifest=above.manifest_file or None, handed=handed)
            loaded = load_requested_pipeline(workspace, request)
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
        self._reserve_steps(self._nested_path(spec, name), len(loaded.pipeline.steps))
        numbers = [r.number or 0 for r in journal.pipeline_states(workspace) if r.pipeline_name == name]
        number = max(numbers, default=0) + 1
        actor = host_actor()
        created = SessionCreated(
            session_kind="pipeline", parent_id=self._writer.run_id, title=f"{name} #{number}"[:120],
            workspace=workspace, number=number, telemetry_id=journal.clock.new_id(),
        )  # fmt: skip
        requested = RunRequested(
            mounted_ref=self._sealed_json(spec.environment.get("mounted")),
            values_ref=self._sealed_json(spec.environment.get("values")),
            pipeline=name, file=os.path.relpath(loaded.file, workspace), manifest=loaded.manifest_file or "",
            input=self._writer.scrubbed(input_text), grants=spec.grants, depth=depth,
            recordings=above.recordings, handed=handed, accepted=above.accepted,
            input_ref=self._writer.seal(input_text.encode("utf-8", "surrogatepass")) if input_text else None,
        )  # fmt: skip
        return [journal.event(body, run_id, actor) for body in (created, requested)]

    def _sealed_json(self, value: Json) -> BlobRef | None:
        return None if value is None else self._writer.seal(json.dumps(value).encode())

    def _continuation_events(self, spec: StepSpec, input_text: str) -> list[Event] | None:
        """Return what continues the nested run of an earlier round; None to begin a new one.

        Only after a human resumed and with the same input: a retry and a way back begin a new one.
        """
        journal, state = self._journal, self._started_run.state
        step, started = state.steps.get(spec.id.step), state.started
        is_human = started is not None and started.round > 1 and not started.returned_by
        if step is None or not is_human or step.failures or step.session_id is None:
            return None
        row = journal.pipeline_state(step.session_id)
        if row is None or not self._is_same(step.session_id, spec.source, input_text):
            return None
        if row.status == "completed":
            # Its end was not recorded above: it is taken as it is. A step that failed later starts a new one.
            return [] if self._was_cut_off(spec.id.step) else None
        actor = host_actor()
        return [journal.event(ContinueRequested(reads_files=state.reads_files), step.session_id, actor)]

    def _is_same(self, run_id: str, name: str, input_text: str) -> bool:
        before = fold_run(self._journal.events(run_id)).request
        if before is None:
            return False
        input_bytes = self._writer.unseal(before.input_ref) if before.input_ref else b""
        names = (before.pipeline, before.file, Path(before.file).stem)
        return name in names and (input_bytes or b"").decode("utf-8", "surrogatepass") == input_text

    def _was_cut_off(self, step: str) -> bool:
        events = self._journal.events(self._writer.run_id)
        moves = [
            event.body.state for event in events if event.step == step and isinstance(event.body, StepChanged)
        ]
        return bool(moves) and moves[-1] == "running"

    def _nested_path(self, spec: StepSpec, name: str) -> RunPath:
        step = self._started_run.state.steps.get(spec.id.step)
        return (*self._options.path, (step.matrix if step else "") or spec.id.step, name)

    def _reserve_steps(self, path: RunPath, steps: int) -> None:
        limits, total = self._limits, self._budget.with_more(path, steps)
        if self._is_spent():
            raise AttemptNotReady(self._spent_reason())
        if total > limits.max_total_steps:
            raise AttemptNotReady(
                f"it would come to {total} steps; "
                f"meta_pipeline.max_total_steps is {limits.max_total_steps}; "
                "the manifest's runtime may allow more"
            )
        self._budget.steps[path] = steps

    async def run(self, spec: StepSpec) -> StepOutcome:
        run_id, limits = spec.session_id or "", self._limits
        await self._end_earlier_runs(spec)
        row = _run_row(self._options.context, run_id)
        path = self._nested_path(spec, row.pipeline_name)
        options = replace(self._options, until=self._stops_at, budget=self._budget, path=path)
        try:
            async with asyncio.timeout(limits.timeout_minutes * 60):
                row = row if row.status == "completed" else await drive_run(options, run_id)
        except TimeoutError:
            why = f"it took longer than meta_pipeline.timeout_minutes, {limits.timeout_minutes} min"
            return await self._end_over_limit(run_id, why)
        state = fold_run(options.context.journal.events(run_id))
        self._tokens[run_id] = state.usage.total_tokens
        if row.status == "completed":
            return StepOutcome(
                state="completed", usage=row.usage, output=f"{run_title(row)} completed",
                artifacts=self._outputs(run_id), links=self._step_links(run_id),
            )  # fmt: skip
        if self._is_spent():
            return await self._end_over_limit(run_id, self._spent_reason())
        pending = self._writer.pending(run_id)
        if row.status in ("waiting", "running") and pending:
            return StepOutcome(state="parked", reason=f"{run_title(row)} waits", action_ids=pending)
        why = f"{run_title(row)}: {row.error_message or row.status}"
        is_unanswered = row.status == "failed" and is_run_unanswered(state)
        return StepOutcome(state="failed", reason=why, usage=row.usage, is_unanswered=is_unanswered)

    async def _end_over_limit(self, run_id: str, why: str) -> StepOutcome:
        """End a nested run that exceeded a limit."""
        await self.end(run_id, why)
        usage = _run_row(self._options.context, run_id).usage
        return StepOutcome(state="failed", reason=why, is_retryable=False, usage=usage)

    async def end(self, run_id: str, why: str = "the run above it was cancelled") -> None:
        if self.cancel(run_id, why):
            await drive_run(replace(self._options, until=_never), run_id)

    async def _end_earlier_runs(self, spec: StepSpec) -> None:
        """End the runs that the step began before and does not continue, with what still runs of them."""
        events = self._journal.step_events(spec.id.run, spec.id.step)
        started = (event.body.session_id for event in events if isinstance(event.body, StepChanged))
        for run_id in dict.fromkeys(started):
            if run_id not in (None, spec.session_id):
                await self.end(run_id, "its step starts again")

    def _step_links(self, run_id: str) -> tuple[RunLink, ...]:
        steps = fold_run(self._journal.events(run_id)).steps.values()
        return tuple(dict.fromkeys(link for step in steps for link in step.links))[:MOST_LINKS]

    def _outputs(self, run_id: str) -> tuple[ArtifactStored, ...]:
        """Return a nested run's named outputs, or the artifacts of its steps."""
        state = fold_run(self._journal.events(run_id))
        started = state.started
        data = self._writer.unseal(started.definition_ref) if started and started.definition_ref else None
        outputs = RunDefinition.from_bytes(data).read()[0].outputs if data else ()
        if not outputs:
            artifacts_of_steps = (
                artifact
                for step in state.steps.values()
                if not step.matrix
                for artifact in step.artifacts.values()
            )
            return tuple({artifact.name: artifact for artifact in artifacts_of_steps}.values())
        steps = ((output, state.steps.get(output.step)) for output in outputs)
        return tuple(
            artifacts.select_output(self._writer, step.artifacts[output.artifact], output)
            for output, step in steps
            if step and output.artifact in step.artifacts
        )

    def _stops_at(self, coordinator: Coordinator) -> bool:
        self._tokens[coordinator.context.journal.run_id] = coordinator.state.usage.total_tokens
        return coordinator.is_waiting or self._is_spent()

    def _is_spent(self) -> bool:
        return sum(self._tokens.values()) > self._limits.max_total_tokens

    def _spent_reason(self) -> str:
        most = self._limits.max_total_tokens
        return f"the pipelines below it used more than meta_pipeline.max_total_tokens, {most}"

    def cancel(self, run_id: str, why: str = "the run above it was cancelled") -> bool:
        """Ask for a run to end; return whether it has not ended yet."""
        journal = self._journal
        row = journal.pipeline_state(run_id)
        is_open = row is not None and row.status not in ENDED_RUN_STATES
        if is_open:
            journal.append([journal.event(RunCancelRequested(reason=why), run_id, host_actor())])
        return is_open


def nested_run_tokens(journal: Journal, run_id: str) -> dict[str, int]:
    """Return the tokens of each run that a run has started, those of failed attempts too."""
    below = journal.sessions(parent_id=run_id, kinds=("pipeline",))
    rows = (journal.pipeline_state(child.id) for child in below)
    return {row.pipeline_id: row.usage.total_tokens for row in rows if row is not None}
