"""The coordinator of one run: walks the DAG, keeps the slots, and says in the journal what happens.

Owns which step begins when, and the commits P1 to P4 of JOURNAL section 3. It looks at nothing that it has
not read back, keeps nothing that its events do not say, and never knows where a step runs.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from workbench.domain.events import ErrorRaised, Event, OutputStreamed, ProcessStarted, SessionStatusChanged
from workbench.domain.machines import ENDED_STEPS, RunStatus, StepStateName
from workbench.domain.runs import RunChanged, StepChanged, StepEvent, StepOutcome, StepSpec
from workbench.effects.faults import point
from workbench.pipelines import aggregating, due, failing, gates, matrix, relaying, routes
from workbench.pipelines.attempt import Attempt, NotReady, Result, RunParts
from workbench.pipelines.executor import PAGE, Ledger
from workbench.pipelines.frontier import Frontier
from workbench.pipelines.model import Step
from workbench.pipelines.state import StepRun


class Slots:
    """How many steps run at once, over a run and the runs below it."""

    def __init__(self, limit: int) -> None:
        self.limit, self.taken = limit, 0

    def take(self) -> bool:
        """Take a slot; False if there is none."""
        if self.taken >= self.limit:
            return False
        self.taken += 1
        return True

    def give(self) -> None:
        """Give a slot back."""
        self.taken -= 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a coordinator is given besides the run."""

    slots: Slots
    window_minutes: float = 15.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    on_events: Callable[[Sequence[Event]], None] | None = None
    can_ask: bool = True


class Coordinator:
    """Drives one run until it is over or its driver stops it."""

    def __init__(self, parts: RunParts, options: Options, rung: asyncio.Event) -> None:
        self.parts, self.options, self._rung = parts, options, rung
        self.ledger, self.state, self.pipeline = parts.ledger, parts.state, parts.pipeline
        self.frontier = Frontier(self.pipeline, self.state)
        self._has_menders = any(step.is_rework_only for step in self.pipeline.steps)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._parked: dict[str, tuple[str, ...]] = {}
        self._delays: dict[str, asyncio.Task[None]] = {}
        self.failure: BaseException | None = None

    # --- the loop -----------------------------------------------------------------------------------

    async def run(self, until: Callable[["Coordinator"], bool]) -> None:
        """Drive until the run is over or `until` says so; then end what still runs."""
        try:
            while self.failure is None:
                self._rung.clear()
                self.catch_up()
                if self.is_ended:
                    return
                await self._look()
                seen = self.catch_up()
                if self.is_ended or until(self):
                    return
                if not seen:
                    await self._rung.wait()
            raise self.failure
        finally:
            await self._end_tasks()

    def catch_up(self) -> int:
        """Read back and fold what is in the journal by now; return how many events that were."""
        seen = 0
        while events := self.ledger.events(self.state.cursor):
            for event in events:
                self.state.take(event)
                self.frontier.take(event)
            if self.options.on_events:
                self.options.on_events(events)
            seen += len(events)
            if len(events) < PAGE:
                break
        return seen

    @property
    def is_ended(self) -> bool:
        """Return whether the run is over."""
        return self.state.status in ("completed", "failed", "cancelled") and not self._tasks

    @property
    def is_waiting(self) -> bool:
        """Return whether everything that is left waits for a human."""
        return self.state.status == "waiting" and not self._tasks

    async def _look(self) -> None:
        if self.state.is_cancelled:
            await self._cancel()
        else:
            await self._skip()
            await gates.settle(self)
            await routes.settle(self)
            await matrix.settle(self)
            self._start()
        if self.frontier.is_over and not self._tasks:
            await self._end()
        else:
            await self._note_waiting()

    async def _skip(self) -> None:
        while found := due.skips(self.state, self.frontier.doomed()) or self._unused():
            bodies = [(skip.step, StepChanged(state="skipped", detail=skip.why)) for skip in found]
            await self.ledger.append(*(self.ledger.event(body, step=step) for step, body in bodies))
            self.catch_up()

    def _unused(self) -> list[due.Skip]:
        """Return the steps that only mend others when nothing else is left."""
        if not self._has_menders:
            return []
        found = due.unused(self.state, self.frontier.open())
        return found if self.frontier.left <= {skip.step for skip in found} else []

    async def _note_waiting(self) -> None:
        """Say that the run waits when nothing of it goes on without a human, and that it goes on again."""
        is_still = self.state.waiting and not self._tasks and not self._delays
        if is_still and self.state.status == "running":
            await self._move("waiting")
        elif not is_still and self.state.status == "waiting":
            await self._move("running")

    async def _move(self, status: RunStatus, detail: str = "") -> None:
        body = RunChanged(
            status=status, detail=detail, duration_ms=self._working_ms(), usage=self.state.usage
        )
        await self.ledger.append(self.ledger.event(body))
        self.catch_up()

    def _working_ms(self) -> int:
        state = self.state
        live = max(0, self.ledger.now() - state.moved_at) // 1000 if state.status == "running" else 0
        return state.working_ms + live

    async def _end(self) -> None:
        point("run.before_end")
        status, detail = due.verdict(self.state, self.pipeline)
        if self.state.status == "waiting":
            await self._move("running")
        body = RunChanged(
            status=status, detail=detail, duration_ms=self._working_ms(), usage=self.state.usage
        )
        ended = (
            SessionStatusChanged(status="completed")
            if status == "completed"
            else SessionStatusChanged(status="paused", reason="run ended")
        )
        await self.ledger.append(self.ledger.event(body), self.ledger.event(ended))
        self.catch_up()

    # --- starting -----------------------------------------------------------------------------------

    def _start(self) -> None:
        for found in [*self._awake(), *due.ready(self.state, self.frontier.open())]:
            if found.id in self._tasks or found.id in self._delays:
                continue
            step = self.pipeline.step(due.base(found.id, self.state))
            if step.kind in ("gate", "route") or (step.matrix is not None and not found.matrix):
                continue
            if found.state == "retrying" and self._is_delayed(step, found):
                continue
            if step.kind != "pipeline" and not self.options.slots.take():
                return
            self._tasks[found.id] = asyncio.create_task(self._perform(step, found), name=f"step {found.id}")

    def _awake(self) -> list[StepRun]:
        """Return the agent steps one of whose questions was answered since they were parked."""
        found: list[StepRun] = []
        for step in self.state.waiting.values():
            if step.session_id is None or self.pipeline.step(due.base(step.id, self.state)).kind == "gate":
                continue
            pending = self.ledger.pending(step.session_id)
            if (
                set(self._parked.get(step.id, ())) - set(pending)
                or not pending
                or step.id not in self._parked
            ):
                found.append(step)
        return found

    def _is_delayed(self, step: Step, found: StepRun) -> bool:
        """Begin to wait before the next attempt, once."""
        seconds = failing.delay(step, found)
        if seconds <= 0 or found.id in self._delays:
            return found.id in self._delays

        async def wait() -> None:
            await self.options.sleep(seconds)
            self._delays.pop(found.id, None)
            await self._begin_late(step, found)

        self._delays[found.id] = asyncio.create_task(wait(), name=f"delay {found.id}")
        return True

    def wait_for(self, name: str, seconds: float, attempt: int) -> None:
        """Complete a step that only waits when its time is over; it holds no slot."""

        async def wait() -> None:
            await self.options.sleep(seconds)
            body = StepChanged(state="completed", attempt=attempt, duration_ms=round(seconds * 1000))
            await self.ledger.append(self.ledger.event(body, step=name))
            self._delays.pop(name, None)
            self._rung.set()

        self._delays[name] = asyncio.create_task(wait(), name=f"timer {name}")

    async def _begin_late(self, step: Step, found: StepRun) -> None:
        while step.kind != "pipeline" and not self.options.slots.take():
            await self.options.sleep(0.05)
        self._tasks[found.id] = asyncio.create_task(self._perform(step, found), name=f"step {found.id}")
        self._rung.set()

    async def _perform(self, step: Step, found: StepRun) -> None:
        try:
            await self._attempt(step, found)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 -- a defect of one step is named; the others go on
            await self._defect(found, error)
        finally:
            if step.kind != "pipeline":
                self.options.slots.give()
            self._tasks.pop(found.id, None)
            self._rung.set()

    async def _defect(self, found: StepRun, error: Exception) -> None:
        """Say what went wrong inside; a journal that takes nothing more ends the run's driving."""
        # What says what to do (a full disk) speaks for itself; anything else is a defect and named.
        said = str(error) if hasattr(error, "remedy") else f"{type(error).__name__}: {error}"
        words = self.ledger.scrubbed(said)
        self.catch_up()  # its move to running may not have been read back yet
        state = self.state.steps[found.id].state
        try:
            events = [self.ledger.event(ErrorRaised(code="internal", message=words), step=found.id)]
            if state not in ENDED_STEPS:
                number = max(1, found.attempt + (state not in ("running", "waiting")))
                events += self._failed(found, state, number, words)
            await self.ledger.append(*events)
        except Exception as second:  # noqa: BLE001 -- whatever it is, whoever drives this run has to know
            self.failure = second

    # --- one attempt ----------------------------------------------------------------------------------

    async def _attempt(self, step: Step, found: StepRun) -> None:
        is_resumed = found.state == "waiting"
        number = found.attempt if is_resumed else found.attempt + 1
        attempt = Attempt(self.parts, step, found, number)
        begun = self.ledger.monotonic()
        before_ms = found.working_ms if is_resumed else 0
        try:
            spec = await attempt.ready(before_ms, is_resumed=is_resumed)
            running = self._running(attempt, spec, is_resumed=is_resumed, before_ms=before_ms)
        except NotReady as error:
            await self._not_ready(attempt, str(error))
            return
        point("step.before_running")
        recorder = _Recorder(self.ledger, found.id, running if step.kind == "command" else [])
        if step.kind != "command":
            await self.ledger.append(*running)
            point("step.running")
        if spec.kind in ("route", "aggregate"):
            outcome = await aggregating.done_here(spec, step.aggregate.into if step.aggregate else "")
        else:
            outcome = await self.executed(spec, recorder.take)
        if outcome.is_full:
            outcome = await relaying.relayed(self, attempt, spec, outcome, recorder.take, begun)
        await recorder.flush()
        spent = before_ms + round((self.ledger.monotonic() - begun) * 1000)
        if outcome.state == "parked":
            await self._park(attempt, outcome, spent)
        elif outcome.state == "cancelled":
            body = StepChanged(
                state="cancelled", attempt=number, detail=outcome.reason, duration_ms=spent,
                usage=outcome.usage,
            )  # fmt: skip
            await self.ledger.append(self.ledger.event(body, step=found.id))
        else:
            await self._conclude(attempt, outcome, recorder, before_ms, begun)

    def _running(self, attempt: Attempt, spec: StepSpec, *, is_resumed: bool, before_ms: int) -> list[Event]:
        found = attempt.found
        opening = [] if is_resumed else list(self.parts.executor.opening(spec))
        # A run below that an earlier round left is gone on with, and needs no opening.
        is_kept = is_resumed or spec.kind == "pipeline"
        child = opening[0].session_id if opening else found.session_id if is_kept else None
        body = StepChanged(
            state="running", attempt=attempt.number, workspace=attempt.workspace, session_id=child,
            duration_ms=before_ms, matrix=found.matrix, item=found.item,
        )  # fmt: skip
        attempt.found.session_id = child
        return [self.ledger.event(body, step=found.id), *opening]

    async def executed(self, spec: StepSpec, on_event: Callable[[StepEvent], Awaitable[None]]) -> StepOutcome:
        """Run an attempt, or a part of it, within its working time."""
        spec = failing.with_session(spec, self.state.steps.get(spec.id.step))
        try:
            async with asyncio.timeout(
                None if spec.kind in ("command", "pipeline") else spec.timeout_seconds
            ):
                return await self.parts.executor.run(spec, on_event)
        except TimeoutError:
            await self.parts.executor.cancel(spec.id)
            return StepOutcome(state="failed", reason=failing.too_long(spec))

    async def _not_ready(self, attempt: Attempt, why: str) -> None:
        """Fail a step that cannot even begin; it is not tried again, for nothing would be different."""
        found = attempt.found
        await self.ledger.append(*self._failed(found, found.state, attempt.number, self.ledger.scrubbed(why)))

    def _failed(self, found: StepRun, state: StepStateName, number: int, why: str) -> list[Event]:
        """Return what fails a step that has not ended; one that had not begun begins first."""
        bodies = [StepChanged(state="failed", attempt=number, detail=why)]
        if state != "running":
            begun = StepChanged(state="running", attempt=number, matrix=found.matrix, item=found.item)
            bodies.insert(0, begun)
        return [self.ledger.event(body, step=found.id) for body in bodies]

    async def _park(self, attempt: Attempt, outcome: StepOutcome, spent: int) -> None:
        found = attempt.found
        self._parked[found.id] = outcome.action_ids
        body = StepChanged(state="waiting", attempt=attempt.number, duration_ms=spent, detail=outcome.reason)
        await self.ledger.append(self.ledger.event(body, step=found.id))

    async def _conclude(
        self, attempt: Attempt, outcome: StepOutcome, recorder: "_Recorder", before_ms: int, begun: float
    ) -> None:
        if outcome.state == "completed":
            result = await attempt.concluded(outcome, recorder.take)
        else:
            reason = outcome.reason or "it failed"
            result = Result(outcome=outcome, failure=reason, is_retryable=outcome.is_retryable)
        await recorder.flush()
        spent = before_ms + round((self.ledger.monotonic() - begun) * 1000)
        point("step.before_completed")
        await self.ledger.append(*failing.ending(self.ledger, attempt, result, spent))
        point("step.completed")

    # --- ending -------------------------------------------------------------------------------------

    async def _cancel(self) -> None:
        tasks = list(self._tasks.items())
        for name, _ in tasks:
            found = self.state.steps[name]
            await self.parts.executor.cancel(failing.step_id(self.ledger.run_id, found))
        for task in self._delays.values():
            task.cancel()
        self._delays.clear()
        if tasks:
            await asyncio.wait([task for _, task in tasks], timeout=30.0)
        self.catch_up()
        for found in list(self.state.steps.values()):
            if not found.has_ended and found.id not in self._tasks:
                await self._cancelled(found)
        self.catch_up()

    async def _cancelled(self, found: StepRun) -> None:
        if found.state == "waiting":
            await gates.withdraw(self, found)
            await self.parts.executor.cancel(failing.step_id(self.ledger.run_id, found))
        why = self.state.cancel_reason or "the run was cancelled"
        # An item that never began has no row yet: what it is an item of makes one.
        body = StepChanged(
            state="cancelled", attempt=max(1, found.attempt), detail=why, duration_ms=found.working_ms,
            matrix=found.matrix, item=found.item,
        )  # fmt: skip
        await self.ledger.append(self.ledger.event(body, step=found.id))

    async def _end_tasks(self) -> None:
        """End what runs; what was begun stays `running` in the journal, for the next driver to see."""
        tasks = [*self._tasks.values(), *self._delays.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _Recorder:
    """Writes what a running step tells; the first of it together with the step's move to running."""

    def __init__(self, ledger: Ledger, step: str, first: list[Event]) -> None:
        self._ledger, self._step, self._first = ledger, step, first

    async def take(self, event: StepEvent) -> None:
        """Record an event of the step."""
        if event.kind == "process":
            body = ProcessStarted(
                pid=event.pid, group=event.group, start_time=event.start_time, mark=event.mark
            )
            await self.flush(self._ledger.event(body, step=self._step))
            point("step.running")
        elif event.kind == "output":
            body = OutputStreamed(offset=event.offset, text=event.text)
            self._ledger.stream(self._ledger.event(body, step=self._step))

    async def flush(self, *more: Event) -> None:
        """Write what has waited."""
        events, self._first = [*self._first, *more], []
        if events:
            await self._ledger.append(*events)
