"""What the coordinator, attempts, control steps and compaction of one run share, and its timers."""

import asyncio
from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.events import Event
from workbench.domain.messages import StepOutcome, StepSpec
from workbench.domain.rows import PipelineState
from workbench.domain.values import Body
from workbench.pipelines.executor import EVENT_PAGE_SIZE, OnStepEvent, RunJournal, StepExecutor
from workbench.pipelines.load import RunDefinition
from workbench.pipelines.model import Manifest, Pipeline, Step
from workbench.pipelines.schedule import OpenSteps, StepTimers
from workbench.pipelines.state import RunState, StepRun


class RunContext(Struct, frozen=True, kw_only=True):
    """One run as everything that drives it sees it."""

    journal: RunJournal
    definition: RunDefinition
    pipeline: Pipeline
    manifest: Manifest | None
    executor: StepExecutor
    workspace_base: str
    """Names the folder of the run's workspaces."""
    state: RunState
    open_steps: OpenSteps
    row: PipelineState
    timers: StepTimers
    wake: asyncio.Event
    """Set when the coordinator has to look again."""
    repeated_sets: tuple[frozenset[str], ...] = ()
    """Steps that a way back does again, one set for each."""
    window_minutes: float = 15.0
    """How long a gate waits for an answer where it names no time."""
    on_events: Callable[[Sequence[Event]], None] | None = None
    can_ask: bool = True

    def catch_up(self) -> int:
        """Read back and fold what is in the journal by now; return how many events that were."""
        count = 0
        while events := self.journal.events(self.state.cursor):
            for event in events:
                self.state.take(event)
                self.open_steps.take(event)
            if self.on_events:
                self.on_events(events)
            count += len(events)
            if len(events) < EVENT_PAGE_SIZE:
                break
        return count

    def step_events(self, step_id: str, *bodies: Body) -> list[Event]:
        return [self.journal.event(body, step=step_id) for body in bodies]

    def step_of(self, step_run: StepRun) -> Step:
        """Return the step of the pipeline that a step of the run, or an item of a matrix, carries out."""
        return self.pipeline.step(step_run.matrix or step_run.id)

    async def execute(self, spec: StepSpec, on_event: OnStepEvent) -> StepOutcome:
        """Run an attempt, or a part of it, within its working time."""
        step_run = self.state.steps.get(spec.id.step)
        if step_run and step_run.session_id:
            spec = replace(spec, session_id=step_run.session_id)
        seconds = None if spec.kind in ("command", "pipeline") else spec.timeout_seconds
        try:
            async with asyncio.timeout(seconds):
                return await self.executor.run(spec, on_event)
        except TimeoutError:
            await self.executor.cancel(spec.id)
            minutes = (spec.timeout_seconds or 0) / 60
            why = f"it worked longer than it may ({minutes:g} min left at its start) and was ended"
            return StepOutcome(state="failed", reason=why)
