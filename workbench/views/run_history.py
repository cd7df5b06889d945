"""When the steps of a run worked and waited, and how they went in earlier runs."""

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from workbench.domain.events import Event, StepChanged
from workbench.domain.rows import PipelineState, StepState
from workbench.text.safe import one_line
from workbench.views.pipeline import PipelineRun, PipelineStep
from workbench.views.status_icons import (
    STEP_STATUSES,
    StatusName,
    step_status_name,
)

SpanKind = Literal["worked", "failed", "waited", "works"]
"""What a step did: an attempt that was good, one that was not, a wait for a human, work that goes on."""


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
    attempt: int
    spans: tuple[StepSpan, ...]


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
    for event in events:
        if isinstance(event.body, StepChanged) and event.step is not None:
            moves.setdefault(event.step, []).append((event.at, event.body))
    rows = tuple(_step_times(step, moves.get(step.id, []), now) for step in run.steps)
    spans = [span for row in rows for span in row.spans]
    first = min((span.first for span in spans), default=run.created_at)
    last = max((span.last for span in spans), default=first)
    return RunTimes(title=run.title, first=first, last=max(last, first + 1), rows=rows)


def _step_times(step: PipelineStep, moves: Sequence[tuple[int, StepChanged]], now: int) -> StepTimes:
    sign, word = step.status
    return StepTimes(
        id=step.id, name=step.name, sign=sign, word=word, seconds=step.seconds, attempt=step.attempt,
        spans=tuple(_spans(moves, now)),
    )  # fmt: skip


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
