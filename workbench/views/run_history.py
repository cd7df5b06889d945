"""When the steps of a run worked and waited, and how they went in earlier runs."""

from collections.abc import Iterable, Sequence
from typing import Final, Literal

from msgspec import Struct

from workbench.domain.events import Event, LeaseReleased, LeaseTaken, StepChanged
from workbench.domain.machines import LOST
from workbench.domain.rows import PipelineState, StepState
from workbench.text.human import SECOND_MICROS
from workbench.text.safe import one_line
from workbench.views.pipeline import PipelineRun, PipelineStep
from workbench.views.status_icons import (
    STEP_STATUSES,
    StatusName,
    step_status_name,
)

SpanKind = Literal["worked", "failed", "waited", "works", "lost", "stopped"]
"""What a step did: an attempt that was good, one that was not, a wait for a human, work that continues.

No process drove the run while it was `lost`, its driver gone without a word, or `stopped` in order.
"""
IDLE_KINDS: Final = ("lost", "stopped")


class StepSpan(Struct, frozen=True, kw_only=True):
    """A part of a step's time; `first` and `last` in microseconds."""

    first: int
    last: int
    kind: SpanKind


class StepTimes(Struct, frozen=True, kw_only=True):
    """A row: a step and its time."""

    id: str
    name: str
    sign: StatusName
    word: str
    seconds: float
    """Working time of the last attempt."""
    attempt: int
    spans: tuple[StepSpan, ...]

    @property
    def waited(self) -> float:
        """Return the seconds that it waited for a human, in all attempts."""
        return sum(span.last - span.first for span in self.spans if span.kind == "waited") / SECOND_MICROS


class RunTimes(Struct, frozen=True, kw_only=True):
    """All rows of a run, and the time that they stand in, in microseconds."""

    title: str
    first: int
    last: int
    rows: tuple[StepTimes, ...]


class EarlierStep(Struct, frozen=True, kw_only=True):
    """How a step went in an earlier run."""

    run: str
    sign: StatusName
    word: str
    seconds: float
    error: str


def run_times(run: PipelineRun, events: Iterable[Event], now: int) -> RunTimes:
    """Return the times of a run's steps from the events of the run; `now` in microseconds."""
    moves: dict[str, list[tuple[int, StepChanged]]] = {}
    undriven = _UndrivenTime()
    for event in events:
        undriven.note(event)
        if isinstance(event.body, StepChanged) and event.step is not None:
            moves.setdefault(event.step, []).append((event.at, event.body))
    idle = undriven.spans(now if run.status == LOST else None)
    rows = tuple(_step_times(step, moves.get(step.id, []), now, idle) for step in run.steps)
    spans = [span for row in rows for span in row.spans]
    first = min((span.first for span in spans), default=run.created_at)
    last = max((span.last for span in spans), default=first)
    return RunTimes(title=run.title, first=first, last=max(last, first + 1), rows=rows)


class _UndrivenTime:
    """Collects the time in which no process drove the run, from its events in order."""

    def __init__(self) -> None:
        self._spans: list[StepSpan] = []
        self._is_driven = False
        self._last = 0
        """When a driver last recorded something, or gave the run back."""

    def note(self, event: Event) -> None:
        if isinstance(event.body, LeaseTaken) and self._last:
            self._spans.append(StepSpan(first=self._last, last=event.at, kind=self._kind))
        if isinstance(event.body, LeaseTaken):
            self._is_driven = True
        elif isinstance(event.body, LeaseReleased):
            self._is_driven, self._last = False, event.at
        if self._is_driven and event.actor.kind != "user":
            self._last = event.at

    @property
    def _kind(self) -> SpanKind:
        return "lost" if self._is_driven else "stopped"

    def spans(self, lost_until: int | None) -> Sequence[StepSpan]:
        """Return the stretches; of a run that is lost the last one lasts until now."""
        spans = self._spans
        if lost_until is not None and self._is_driven:
            spans = [*spans, StepSpan(first=self._last, last=max(self._last, lost_until), kind="lost")]
        joined: list[StepSpan] = []
        for span in spans:
            # A driver that only noted that the one before it was gone did not drive the run.
            is_next = joined and span.first - joined[-1].last < SECOND_MICROS
            joined[len(joined) - bool(is_next) :] = [
                StepSpan(first=joined[-1].first, last=span.last, kind=joined[-1].kind) if is_next else span
            ]
        return joined


def _step_times(
    step: PipelineStep, moves: Sequence[tuple[int, StepChanged]], now: int, idle: Sequence[StepSpan]
) -> StepTimes:
    sign, word = step.status
    return StepTimes(
        id=step.id, name=step.name, sign=sign, word=word, seconds=step.seconds, attempt=step.attempt,
        spans=tuple(part for span in _spans(moves, now) for part in _driven_parts(span, idle)),
    )  # fmt: skip


def _driven_parts(span: StepSpan, idle: Sequence[StepSpan]) -> Iterable[StepSpan]:
    """Take the time out of a step's work in which nothing drove its run."""
    gaps = [gap for gap in idle if span.first <= gap.first < span.last]
    if span.kind == "waited" or not gaps:
        yield span
        return
    # Work that ends as soon as a driver is back was cut off: only then was it noticed.
    is_cut = span.last - gaps[-1].last < SECOND_MICROS
    kind: SpanKind = "failed" if is_cut and span.kind == "worked" else span.kind
    first = span.first
    for gap in gaps:
        yield StepSpan(first=first, last=gap.first, kind=kind)
        first = span.last if is_cut and gap is gaps[-1] else min(gap.last, span.last)
        yield StepSpan(first=gap.first, last=first, kind=gap.kind)
    if first < span.last:
        yield StepSpan(first=first, last=span.last, kind=span.kind)


def _spans(moves: Sequence[tuple[int, StepChanged]], now: int) -> Iterable[StepSpan]:
    began, state = 0, ""
    for at, body in moves:
        if state:
            yield StepSpan(first=began, last=at, kind=_kind(state, body))
        began, state = at, body.state if body.state in ("running", "waiting") else ""
    if state:
        last: SpanKind = "waited" if state == "waiting" else "works"
        yield StepSpan(first=began, last=max(now, began), kind=last)


def _kind(state: str, after: StepChanged) -> SpanKind:
    if state == "waiting":
        return "waited"
    # One attempt that follows another without a word was cut off with its driver.
    is_failed = after.has_failed or after.state in ("failed", "retrying", "cancelled", "running")
    return "failed" if is_failed else "worked"


def earlier_steps(runs: Iterable[tuple[PipelineState, StepState]], most: int = 10) -> tuple[EarlierStep, ...]:
    """Return how one step went in other runs, each with its row there, at most so many."""
    steps: list[EarlierStep] = []
    for run, row in runs:
        if len(steps) == most:
            break
        if row.started_at is None:
            continue
        sign, word = STEP_STATUSES[step_status_name(row.state, is_warned=row.is_warned)]
        number = f"#{run.number}" if run.number else one_line(run.pipeline_id, 8)
        steps.append(EarlierStep(
            run=number, sign=sign, word=word, seconds=row.duration_ms / 1000,
            error=one_line(row.error_message or "", 160),
        ))  # fmt: skip
    return tuple(steps)


def usual_seconds(earlier: Sequence[EarlierStep]) -> float | None:
    """Return the median time of those that were good; None where none was."""
    times = sorted(step.seconds for step in earlier if step.sign == "ok")
    return times[len(times) // 2] if times else None
