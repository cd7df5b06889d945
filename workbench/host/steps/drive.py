"""Drive one run in this process, under a driver's lock and a lease; and the runs below it.

Owns the life around a coordinator: take the lease, begin, drive, hand back in order. A host's supervisor and
`workbench pipeline run` both come through here.
"""

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from workbench.domain.events import ContinueRequested, Event, SessionCreated, SessionStatusChanged
from workbench.domain.machines import PauseReason
from workbench.domain.rows import PipelineState
from workbench.domain.runs import (
    ArtifactStored,
    RunCancelRequested,
    RunRequested,
    StepChanged,
    StepOutcome,
    StepSpec,
)
from workbench.domain.values import Actor
from workbench.host import watch
from workbench.host.kit import Kit
from workbench.host.runner import ringer
from workbench.host.steps.begin import Begun, begin, workers
from workbench.host.steps.executor import EmbeddedExecutor, Nested
from workbench.host.steps.ledger import RunLedger
from workbench.host.steps.requests import RunRefused, Wish, find, require_runnable
from workbench.host.steps.room import Path as Way
from workbench.host.steps.room import Room, tokens_below
from workbench.host.steps.trace import Trace
from workbench.host.trusting import is_governed
from workbench.journal.errors import JournalError
from workbench.journal.lease import DriverIdentity, guard, release, take
from workbench.pipelines import artifacts
from workbench.pipelines.attempt import NotReady, RunParts
from workbench.pipelines.coordinator import Coordinator, Options, Slots
from workbench.pipelines.definition import Definition
from workbench.pipelines.expanding import rounds
from workbench.pipelines.model import MetaLimits
from workbench.pipelines.state import fold
from workbench.pipelines.workspaces import Workspaces
from workbench.views.pipeline import run_title

SeeEvents = Callable[[Sequence[Event]], None]


def _ignore(events: Sequence[Event]) -> None:
    del events


def _never(coordinator: Coordinator) -> bool:
    del coordinator
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Driving:
    """What a driver of runs is given."""

    kit: Kit
    driver: DriverIdentity
    until: Callable[[Coordinator], bool] = field(default=_never)
    see: SeeEvents = _ignore
    """Told of the events of the run and of its steps' sessions."""
    slots: Slots | None = None
    room: Room | None = None
    """What the runs below the topmost one came to; None for the topmost one itself."""
    way: Way = ()
    """How this run is reached from the topmost one."""


async def drive_run(driving: Driving, run_id: str) -> PipelineState:
    """Drive a run until it is over, or `until` says so, and return where it stands then.

    Raises:
        Driven: another process drives it; names the pid.
        LeaseLost: another driver took it over meanwhile.
    """
    kit = driving.kit
    lease = take(kit.journal, run_id, driving.driver)
    ledger = RunLedger(kit, run_id, guard(lease))
    try:
        state = fold(kit.journal.events(run_id))
        before = state.cursor
        begun = await begin(kit, ledger, driving.driver, state)
        driving.see(kit.journal.events(run_id, after=before))
        if begun is not None:
            await _coordinated(driving, ledger, begun)
    finally:
        release(kit.journal, lease)
    return _row(kit, run_id)


def _row(kit: Kit, run_id: str) -> PipelineState:
    row = kit.journal.pipeline_state(run_id)
    if row is None:
        raise LookupError(f"run {run_id} is gone")
    return row


async def _coordinated(driving: Driving, ledger: RunLedger, begun: Begun) -> None:
    kit, rung = driving.kit, asyncio.Event()
    silence = kit.journal.on_ring(ringer(asyncio.get_running_loop(), rung))
    coordinator = _coordinator(driving, ledger, begun, rung)
    ticking = asyncio.create_task(_tick(kit, rung), name="clock of a run")
    try:
        await coordinator.run(driving.until)
    finally:
        silence()
        ticking.cancel()
        await asyncio.gather(ticking, return_exceptions=True)
        await _handed_back(ledger, coordinator)


def _coordinator(driving: Driving, ledger: RunLedger, begun: Begun, rung: asyncio.Event) -> Coordinator:
    kit, started = driving.kit, begun.state.started
    slots = driving.slots or Slots(workers(kit, begun.manifest))
    trace = Trace(started.trace if started else "", begun.manifest)

    def see(events: Sequence[Event]) -> None:
        trace.see(events)
        driving.see(events)

    meta = begun.manifest.runtime.meta if begun.manifest else MetaLimits()
    below = _Below(replace(driving, slots=slots, see=see), ledger, begun, meta)
    executor = EmbeddedExecutor(
        kit=kit, driver=driving.driver, run_id=ledger.run_id, recordings=begun.definition.recordings,
        nested=Nested(opening=below.opening, run=below.run, cancel=below.cancel), see=see,
    )  # fmt: skip
    parts = RunParts(
        ledger=ledger, definition=begun.definition, pipeline=begun.pipeline, manifest=begun.manifest,
        executor=executor, state=begun.state, row=_row(kit, ledger.run_id),
        workspaces=Workspaces(project=begun.definition.root, base=begun.base, environment=kit.environment),
        rounds=rounds(begun.pipeline.steps),
    )  # fmt: skip
    options = Options(
        slots=slots, window_minutes=kit.loaded().config.approvals.window_minutes, sleep=kit.sleep,
        on_events=see, can_ask=kit.can_ask,
    )  # fmt: skip
    return Coordinator(parts, options, rung)


async def _tick(kit: Kit, rung: asyncio.Event) -> None:
    """Let windows run out while nothing else rings."""
    while True:
        try:
            if watch.expire(kit.journal):
                rung.set()
        except JournalError:
            pass  # a disk that is full for a moment must not stop the clock
        await asyncio.sleep(watch.TICK)


async def _handed_back(ledger: RunLedger, coordinator: Coordinator) -> None:
    """Say why a run that is not over stands still."""
    if coordinator.failure is not None:
        return
    coordinator.catch_up()
    state = coordinator.state
    if state.session_status != "processing":
        return
    reason: PauseReason = "parked" if state.status == "waiting" else "host lost"
    await ledger.append(ledger.event(SessionStatusChanged(status="paused", reason=reason)))


class _Below:
    """Runs that steps of a run start: within depth, steps, tokens and time (S1 meta_pipeline)."""

    def __init__(self, driving: Driving, ledger: RunLedger, begun: Begun, limits: MetaLimits) -> None:
        self._driving, self._ledger, self._begun, self._limits = driving, ledger, begun, limits

    @cached_property
    def _room(self) -> Room:
        return self._driving.room or Room.below(self._driving.kit.journal, self._ledger.run_id)

    @cached_property
    def _tokens(self) -> dict[str, int]:
        return tokens_below(self._driving.kit.journal, self._ledger.run_id)

    def opening(self, spec: StepSpec) -> list[Event]:
        """Return the events that begin a run below; NotReady if a limit or the pipeline forbids it."""
        depth = self._begun.definition.depth + 1
        if depth > self._limits.max_depth:
            raise NotReady(
                f"pipelines may start pipelines {self._limits.max_depth} deep (meta_pipeline.max_depth)"
            )
        journal, workspace = self._driving.kit.journal, self._driving.kit.workspace
        given = str(spec.environment.get("input", ""))
        if (going_on := self._going_on(spec, given)) is not None:
            return going_on
        try:
            loaded = find(
                workspace, Wish(name=spec.source, manifest=self._begun.definition.manifest_file or None)
            )
            require_runnable(loaded)
        except RunRefused as error:
            raise NotReady(str(error)) from None
        assert loaded.pipeline is not None
        if spec.environment.get("is_computed") and not is_governed(loaded.file, workspace):
            raise NotReady(
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
        before = fold(self._driving.kit.journal.events(run_id)).request
        if before is None:
            return False
        exact = self._ledger.unseal(before.input_ref) if before.input_ref else b""
        names = (before.pipeline, before.file, Path(before.file).stem)
        return name in names and (exact or b"").decode("utf-8", "surrogatepass") == given

    def _was_cut_off(self, step: str) -> bool:
        events = self._driving.kit.journal.events(self._ledger.run_id)
        moves = [one.body.state for one in events if one.step == step and isinstance(one.body, StepChanged)]
        return bool(moves) and moves[-1] == "running"

    def _way(self, spec: StepSpec, name: str) -> Way:
        found = self._begun.state.steps.get(spec.id.step)
        return (*self._driving.way, (found.matrix if found else "") or spec.id.step, name)

    def _take_room(self, way: Way, steps: int) -> None:
        limits, total = self._limits, self._room.with_more(way, steps)
        if self._is_spent():
            raise NotReady(self._spent())
        if total > limits.max_total_steps:
            raise NotReady(
                f"it would come to {total} steps; "
                f"meta_pipeline.max_total_steps is {limits.max_total_steps}; "
                "the manifest's runtime may allow more"
            )
        self._room.steps[way] = steps

    async def run(self, spec: StepSpec) -> StepOutcome:
        """Drive a run below until it is over, or until nothing of it goes on without a human."""
        run_id, limits = spec.session_id or "", self._limits
        row = _row(self._driving.kit, run_id)
        way = self._way(spec, row.pipeline_name)
        driving = replace(self._driving, until=self._stops_at, room=self._room, way=way)
        try:
            async with asyncio.timeout(limits.timeout_minutes * 60):
                row = row if row.status == "completed" else await drive_run(driving, run_id)
        except TimeoutError:
            why = f"it took longer than meta_pipeline.timeout_minutes, {limits.timeout_minutes} min"
            return await self._ended(run_id, why)
        self._tokens[run_id] = fold(driving.kit.journal.events(run_id)).usage.total_tokens
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
        row = await drive_run(replace(self._driving, until=_never), run_id)
        return StepOutcome(state="failed", reason=why, is_retryable=False, usage=row.usage)

    def _handed_on(self, run_id: str) -> tuple[ArtifactStored, ...]:
        """Return what a run below hands on: its named outputs, or the artifacts of its steps."""
        state = fold(self._driving.kit.journal.events(run_id))
        started = state.started
        data = self._ledger.unseal(started.definition_ref) if started and started.definition_ref else None
        named = Definition.from_bytes(data).read()[0].outputs if data else ()
        if not named:
            every = (
                one for step in state.steps.values() if not step.matrix for one in step.artifacts.values()
            )
            return tuple({one.name: one for one in every}.values())
        found = ((output, state.steps.get(output.step)) for output in named)
        return tuple(
            artifacts.selected(self._ledger, step.artifacts[output.artifact], output)
            for output, step in found
            if step and output.artifact in step.artifacts
        )

    def _stops_at(self, coordinator: Coordinator) -> bool:
        self._tokens[coordinator.parts.ledger.run_id] = coordinator.state.usage.total_tokens
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
