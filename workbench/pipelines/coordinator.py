"""The coordinator of one run: walks the steps, keeps the slots, and records what happens in the journal."""

# `run.changed` is a kind of its own (durable, by the coordinator): the status of a run is said once, with
# its working time and tokens, and not guessed from its steps. The session of a run that failed is `paused
# (failed)`, that of a cancelled one `paused (run ended)`, so that `resume` has something to continue; only
# a completed run completes its session.
#
# A later round starts steps again. `run.started` with `round` 2 names in `reset` what is left to do; no
# machine has a move out of `failed`. What a crash left running and what failed are the same to it.
#
# A step waits only when nothing of it continues. Its move to `waiting` is appended when its session rests on
# a question, not with the question itself: another call of the same turn may still run, and a clock that
# stood meanwhile would lie.
#
# A gate passes through `running` on its way to `waiting` and to `completed`, in the same transaction: SPEC
# part B knows no move from pending to waiting, and a machine with exceptions is none.

import asyncio
import contextlib
import itertools
import math
from collections.abc import Callable, Mapping

from workbench.domain.events import (
    ErrorRaised,
    Event,
    OutputStreamed,
    ProcessStarted,
    ProgressReported,
    RunChanged,
    SessionStatusChanged,
    StepChanged,
)
from workbench.domain.machines import ENDED_STEP_STATES, RunStatus, StepStateName
from workbench.domain.step_messages import StepEvent, StepOutcome, StepSpec
from workbench.effects.fault_points import fault_point
from workbench.pipelines import compaction, control_steps, lost_steps, matrix
from workbench.pipelines.attempt import (
    Attempt,
    AttemptResult,
    attempt_end_events,
    attempt_step_id,
    retry_delay,
)
from workbench.pipelines.executor import AttemptNotReady
from workbench.pipelines.model import Step
from workbench.pipelines.run_context import RunContext
from workbench.pipelines.run_journal import RunJournal
from workbench.pipelines.schedule import (
    NOTED_WAIT_SECONDS,
    StepSkip,
    ready_steps,
    unreachable_steps,
    unused_rework_steps,
)
from workbench.pipelines.state import StepRun, run_verdict
from workbench.pipelines.step_slots import StepSlots
from workbench.text.human import place_wait_text

_CANCELLED = "the run was cancelled"


class Coordinator:
    """Drives one run until it ends or its driver stops it."""

    def __init__(self, context: RunContext, slots: StepSlots) -> None:
        self.context, self._slots = context, slots
        self._journal, self.state = context.journal, context.state
        self._has_rework_steps = any(step.is_rework_only for step in context.pipeline.steps)
        self._has_control_steps = any(step.is_control for step in context.pipeline.steps)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._waited_retries: set[tuple[str, int]] = set()
        """Attempts after which the time until the next one is over."""
        self._place_wait: tuple[str, float] | None = None
        """The step that waits for a place, and since when; never again once that was said."""
        self._parked: dict[str, tuple[str, ...]] = {}
        self._answered: set[str] = set()
        """Actions whose decision was passed on."""
        self._reattached = {name for name, step in self.state.steps.items() if step.state == "running"}
        """Steps that an earlier driver started and with which the executor continues."""
        self._idle_states: Mapping[str, StepStateName] = {}
        """The states of the steps when nothing was under way, before the last look."""
        self.failure: BaseException | None = None

    # --- the loop -----------------------------------------------------------------------------------

    async def run(self, until: Callable[["Coordinator"], bool]) -> None:
        """Drive until the run ends or `until` returns True; then end the tasks that still run."""
        try:
            while self.failure is None:
                self.context.wake.clear()
                self.context.catch_up()
                if self.is_ended:
                    return
                await self._look()
                event_count = self.context.catch_up()
                if self.is_ended or until(self):
                    return
                if not event_count and not await self._fails_for_want_of_progress():
                    await self._wait()
            raise self.failure
        finally:
            self._slots.withdraw(self._journal.run_id)
            await self._end_tasks()

    async def _wait(self) -> None:
        """Wait until the journal changes; while the run waits for a place, also look from time to time."""
        seconds = self._slots.seconds_to_next_look(self._journal.run_id)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.context.wake.wait()

    async def _fails_for_want_of_progress(self) -> bool:
        """Fail a step of a run in which nothing runs, waits, is delayed or can start: it would never end.

        Returns whether there is something to look at instead of waiting.
        """
        is_busy = self._tasks or self._slots.is_busy or self.context.timers or self.state.waiting
        current = self.context.open_steps.current()
        if is_busy or not current or self.state.is_cancelled or self.state.status != "running":
            return False
        states: dict[str, StepStateName] = {name: step.state for name, step in self.state.steps.items()}
        if states != self._idle_states:  # what a look has just settled is looked at once more
            self._idle_states = states
            return True
        step = self.state.steps[current[0].id]
        why = "nothing of this run is running, waiting or ready, so this step would never start"
        await self._journal.append(*self._failed(step, step.state, max(1, step.attempt), why))
        self.context.catch_up()
        return True

    @property
    def is_ended(self) -> bool:
        return self.state.status in ("completed", "failed", "cancelled") and not self._tasks

    @property
    def is_waiting(self) -> bool:
        """Return whether all unfinished steps wait for a human."""
        return self.state.status == "waiting" and not self._tasks

    async def _look(self) -> None:
        if self.state.is_cancelled:
            self._slots.withdraw(self._journal.run_id)
            await self._cancel()
        else:
            await self._skip()
            if self._has_control_steps:
                await control_steps.settle_gates(self.context)
            if self.state.waiting:
                await lost_steps.settle_lost_steps(self.context)
            if self._has_rework_steps:
                await control_steps.settle_reworks(self.context)
            if self._has_control_steps:
                await control_steps.settle_routes(self.context)
                await matrix.settle_matrices(self.context)
            self._start_ready_steps()
        if self.context.open_steps.is_over and not self._tasks:
            await self._end()
        else:
            await self._note_waiting()

    async def _skip(self) -> None:
        while skips := unreachable_steps(self.state, self.context.open_steps.doomed()) or self._unused():
            bodies = [(skip.step, StepChanged(state="skipped", detail=skip.why)) for skip in skips]
            await self._journal.append(*(self._journal.event(body, step=step) for step, body in bodies))
            self.context.catch_up()

    def _unused(self) -> list[StepSkip]:
        if not self._has_rework_steps:
            return []
        skips = unused_rework_steps(self.state, self.context.open_steps.current())
        return skips if self.context.open_steps.ids <= {skip.step for skip in skips} else []

    async def _note_waiting(self) -> None:
        is_still = self.state.waiting and not self._tasks and not self.context.timers
        if is_still and self.state.status == "running":
            await self._move("waiting")
        elif not is_still and self.state.status == "waiting":
            await self._move("running")

    async def _move(self, status: RunStatus, detail: str = "") -> None:
        body = RunChanged(
            status=status, detail=detail, duration_ms=self._working_ms(), usage=self.state.usage
        )
        await self._journal.append(self._journal.event(body))
        self.context.catch_up()

    def _working_ms(self) -> int:
        state = self.state
        live = max(0, self._journal.now() - state.moved_at) // 1000 if state.status == "running" else 0
        return state.working_ms + live

    async def _end(self) -> None:
        fault_point("run.before_end")
        status, detail = run_verdict(self.state, self.context.pipeline)
        if self.state.status == "waiting":
            await self._move("running")
        body = RunChanged(
            status=status, detail=detail, duration_ms=self._working_ms(), usage=self.state.usage
        )
        ended = (
            SessionStatusChanged(status="completed")
            if status == "completed"
            else SessionStatusChanged(status="paused", reason="failed" if status == "failed" else "run ended")
        )
        await self._journal.append(self._journal.event(body), self._journal.event(ended))
        self.context.catch_up()

    # --- starting -----------------------------------------------------------------------------------

    def _start_ready_steps(self) -> None:
        current = self.context.open_steps.current()
        due = ready_steps(self.state, current, reworked=current if self._has_rework_steps else ())
        reattached = [self.state.steps[name] for name in sorted(self._reattached)]
        for step_run in itertools.chain(reattached, self._answered_steps(), due):
            if step_run.id in self._tasks or step_run.id in self.context.timers:
                continue
            step = self.context.step_of(step_run)
            if step.kind in ("gate", "route") or (step.matrix is not None and not step_run.matrix):
                continue
            if step_run.state == "retrying" and self._is_delayed(step, step_run):
                continue
            if step.kind != "pipeline" and not self._slots.take(self._journal.run_id, self.context.wake.set):
                self._note_place(step_run)
                return
            self._start_step(step, step_run)
        self._slots.withdraw(self._journal.run_id)

    def _note_place(self, step_run: StepRun) -> None:
        """Record once that a step waits for a place, after `NOTED_WAIT_SECONDS`."""
        if not self._slots.is_waiting(self._journal.run_id):
            return
        now = self._journal.monotonic()
        if self._place_wait is None or self._place_wait[0] != step_run.id:
            self._place_wait = (step_run.id, now)
        elif now - self._place_wait[1] >= NOTED_WAIT_SECONDS:
            self._place_wait = (step_run.id, math.inf)
            before = self._slots.before(self._journal.run_id)
            body = ProgressReported(message=place_wait_text(before or 0))
            self._journal.stream(self._journal.event(body, step=step_run.id))

    def _start_step(self, step: Step, step_run: StepRun) -> None:
        self._waited_retries.discard((step_run.id, step_run.attempt))
        task = self._perform(step, step_run)
        self._tasks[step_run.id] = asyncio.create_task(task, name=f"step {step_run.id}")

    def _answered_steps(self) -> list[StepRun]:
        """Return the steps one of whose questions was answered since they were parked or lost."""
        answered: list[StepRun] = []
        for step in self.state.waiting.values():
            if lost_steps.is_lost(self.context, step):
                answered += [step] if lost_steps.answer_to(self.context, step) else []
                continue
            if step.session_id is None or self.context.step_of(step).kind == "gate":
                continue
            pending = self._journal.pending(step.session_id)
            if (
                set(self._parked.get(step.id, ())) - set(pending)
                or not pending
                or step.id not in self._parked
            ):
                answered.append(step)
        return answered

    def _is_delayed(self, step: Step, step_run: StepRun) -> bool:
        """Return whether a retry has to wait first; its timer is then running."""
        seconds, attempt = retry_delay(step, step_run), (step_run.id, step_run.attempt)
        if seconds <= 0 or attempt in self._waited_retries:
            return False

        async def begin() -> None:
            if step.kind == "pipeline" or self._slots.take(self._journal.run_id, self.context.wake.set):
                self._start_step(step, step_run)
            else:
                self._waited_retries.add(attempt)
            self.context.wake.set()

        self.context.timers.start(step_run.id, seconds, begin)
        return True

    async def _perform(self, step: Step, step_run: StepRun) -> None:
        try:
            await self._attempt(step, step_run)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 -- a defect of one step is named; the others continue
            await self._defect(step_run, error)
        finally:
            if step.kind != "pipeline":
                self._slots.release()
            self._tasks.pop(step_run.id, None)
            self.context.wake.set()

    async def _defect(self, step_run: StepRun, error: Exception) -> None:
        """Record a defect of the program and fail the step; without a journal, stop driving the run."""
        # What says what to do (a full disk) speaks for itself; anything else is a defect and named.
        reason = str(error) if hasattr(error, "remedy") else f"{type(error).__name__}: {error}"
        words = self._journal.scrubbed(reason)
        self.context.catch_up()  # its move to running may not have been read back yet
        state = self.state.steps[step_run.id].state
        try:
            events = [self._journal.event(ErrorRaised(code="internal", message=words), step=step_run.id)]
            if state not in ENDED_STEP_STATES:
                number = max(1, step_run.attempt + (state not in ("running", "waiting")))
                events += self._failed(step_run, state, number, words)
            await self._journal.append(*events)
        except Exception as second:  # noqa: BLE001 -- whatever it is, whoever drives this run has to know
            self.failure = second

    # --- one attempt ----------------------------------------------------------------------------------

    async def _attempt(self, step: Step, step_run: StepRun) -> None:
        is_reattached = step_run.id in self._reattached
        self._reattached.discard(step_run.id)
        answer = lost_steps.answer_to(self.context, step_run)
        is_resumed = is_reattached or (step_run.state == "waiting" and answer != lost_steps.AGAIN)
        number = step_run.attempt if is_resumed else step_run.attempt + 1
        attempt = Attempt(self.context, step, step_run, number, is_last=answer == lost_steps.DONE)
        started_at = self._journal.monotonic()
        before_ms = self._spent_before(step_run) if is_resumed else 0
        if is_resumed:
            await self._pass_on_answers(attempt)
        try:
            spec = await attempt.ready(before_ms, is_resumed=is_resumed)
            running = self._running(attempt, spec, is_resumed=is_resumed, before_ms=before_ms)
        except AttemptNotReady as error:
            await self._not_ready(attempt, str(error))
            return
        fault_point("step.before_running")
        recorder = _StepRecorder(self._journal, step_run.id, running if step.kind == "command" else [])
        if step.kind != "command":
            if running:
                await self._journal.append(*running)
            fault_point("step.running")
        outcome = await self._outcome(attempt, spec, recorder, started_at)
        await recorder.flush()
        spent = before_ms + round((self._journal.monotonic() - started_at) * 1000)
        if outcome.state == "parked":
            await self._park(attempt, outcome, spent)
        elif outcome.state == "lost":
            events = lost_steps.question_events(self.context, attempt, outcome, spent)
            await self._journal.append(*events)
        elif outcome.state == "cancelled":
            why = self._journal.scrubbed(outcome.reason)
            body = StepChanged(
                state="cancelled", attempt=number, detail=why, duration_ms=spent, usage=outcome.usage
            )
            await self.context.record(step_run.id, body)
        else:
            await self._conclude(attempt, outcome, recorder, before_ms, started_at)

    async def _outcome(
        self, attempt: Attempt, spec: StepSpec, recorder: "_StepRecorder", started_at: float
    ) -> StepOutcome:
        if spec.kind == "route":  # a branch whose case runs nothing
            return StepOutcome(state="completed")
        if attempt.is_last:
            return lost_steps.done_outcome(attempt.step_run)
        outcome = await self.context.execute(spec, recorder.take)
        if not outcome.is_full:
            return outcome
        return await compaction.continue_after_compaction(
            self.context, attempt, spec, outcome, recorder.take, started_at
        )

    def _spent_before(self, step_run: StepRun) -> int:
        """Return the working time so far of an attempt that continues, in milliseconds."""
        if step_run.state != "running":
            return step_run.working_ms
        # Elsewhere it went on working while nobody was here.
        return step_run.working_ms + max(0, self._journal.now() - step_run.moved_at) // 1000

    async def _pass_on_answers(self, attempt: Attempt) -> None:
        """Pass decisions since the step was parked to the executor; after a restart, all of them again."""
        session_id = attempt.step_run.session_id
        if session_id is None or attempt.step.kind == "pipeline":  # a run below has a coordinator of its own
            return
        for decision in self._journal.decisions(session_id):
            if decision.action_id not in self._answered:
                self._answered.add(decision.action_id)
                await self.context.executor.answer(attempt.id, decision.action_id, decision)

    def _running(self, attempt: Attempt, spec: StepSpec, *, is_resumed: bool, before_ms: int) -> list[Event]:
        step_run = attempt.step_run
        if step_run.state == "running":  # reattached: the journal has it already
            return []
        opening = [] if is_resumed else list(self.context.executor.opening(spec))
        # A run below that an earlier round left is continued, and needs no opening.
        is_kept = is_resumed or spec.kind == "pipeline"
        child = opening[0].session_id if opening else step_run.session_id if is_kept else None
        body = StepChanged(
            state="running", attempt=attempt.number, workspace=attempt.workspace, session_id=child,
            duration_ms=before_ms, matrix=step_run.matrix, item=step_run.item,
        )  # fmt: skip
        attempt.step_run.session_id = child
        return [self._journal.event(body, step=step_run.id), *opening]

    async def _not_ready(self, attempt: Attempt, why: str) -> None:
        """Fail a step that cannot start; a retry would find the same."""
        step_run = attempt.step_run
        await self._journal.append(
            *self._failed(step_run, step_run.state, attempt.number, self._journal.scrubbed(why))
        )

    def _failed(self, step_run: StepRun, state: StepStateName, number: int, why: str) -> list[Event]:
        bodies = [StepChanged(state="failed", attempt=number, detail=why)]
        if state != "running":
            running = StepChanged(state="running", attempt=number, matrix=step_run.matrix, item=step_run.item)
            bodies.insert(0, running)
        return [self._journal.event(body, step=step_run.id) for body in bodies]

    async def _park(self, attempt: Attempt, outcome: StepOutcome, spent: int) -> None:
        step_run = attempt.step_run
        self._parked[step_run.id] = outcome.action_ids
        why = self._journal.scrubbed(outcome.reason)
        body = StepChanged(state="waiting", attempt=attempt.number, duration_ms=spent, detail=why)
        await self.context.record(step_run.id, body)

    async def _conclude(
        self,
        attempt: Attempt,
        outcome: StepOutcome,
        recorder: "_StepRecorder",
        before_ms: int,
        started_at: float,
    ) -> None:
        if outcome.state == "completed":
            result = await attempt.collect_outcome(outcome, recorder.take)
        else:
            reason = outcome.reason or "it failed"
            result = AttemptResult(outcome=outcome, failure=reason, is_retryable=outcome.is_retryable)
        await recorder.flush()
        spent = before_ms + round((self._journal.monotonic() - started_at) * 1000)
        fault_point("step.before_completed")
        await self._journal.append(*attempt_end_events(self._journal, attempt, result, spent))
        fault_point("step.completed")

    # --- ending -------------------------------------------------------------------------------------

    async def _cancel(self) -> None:
        tasks = list(self._tasks.items())
        for name, _ in tasks:
            step_run = self.state.steps[name]
            await self.context.executor.cancel(attempt_step_id(self._journal.run_id, step_run))
        self.context.timers.cancel()
        if tasks:
            await asyncio.wait([task for _, task in tasks], timeout=30.0)
        self.context.catch_up()
        for step_run in list(self.state.steps.values()):
            is_unstarted = step_run.matrix and step_run.state == "pending"  # it ends with its matrix
            if not step_run.has_ended and not is_unstarted and step_run.id not in self._tasks:
                await self._cancelled(step_run)
        self.context.catch_up()

    async def _cancelled(self, step_run: StepRun) -> None:
        if step_run.state == "waiting":
            await control_steps.withdraw_gate(self.context, step_run)
        if step_run.state in ("waiting", "running"):
            await self.context.executor.cancel(attempt_step_id(self._journal.run_id, step_run))
        why = self.state.cancel_reason or _CANCELLED
        if step_run.state == "running":
            why = f"{why}; what it did until then stays"
        body = StepChanged(
            state="cancelled", attempt=max(1, step_run.attempt), detail=why, duration_ms=step_run.working_ms,
            matrix=step_run.matrix, item=step_run.item,
        )  # fmt: skip
        await self.context.record(step_run.id, body)

    async def _end_tasks(self) -> None:
        """End all tasks; their steps stay `running` in the journal, for the next driver.

        Commands continue without a driver, those of a cancelled run excepted.
        """
        if self.failure is None:
            self.context.catch_up()
        if not self.state.is_cancelled:
            self.context.executor.leave()
        for task in self._tasks.values():
            task.cancel()
        tasks = [*self._tasks.values(), *self.context.timers.cancel()]
        await asyncio.gather(*tasks, return_exceptions=True)


class _StepRecorder:
    """Records the events of a running step; the first together with the step's move to running."""

    def __init__(self, journal: RunJournal, step: str, first: list[Event]) -> None:
        self._journal, self._step, self._first = journal, step, first

    async def take(self, event: StepEvent) -> None:
        if event.kind == "process":
            body = ProcessStarted(
                pid=event.pid,
                group=event.group,
                start_time=event.start_time,
                mark=event.mark,
                part=event.part,
            )
            await self.flush(self._journal.event(body, step=self._step))
            fault_point("step.running")
        elif event.kind == "progress":
            await self.flush()
        elif event.kind == "output":
            body = OutputStreamed(offset=event.offset, text=event.text)
            self._journal.stream(self._journal.event(body, step=self._step))

    async def flush(self, *more: Event) -> None:
        events, self._first = [*self._first, *more], []
        if events:
            await self._journal.append(*events)
