"""When the steps of a run worked and waited, how they went in earlier runs, and two runs compared."""

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from workbench.domain.events import Event, StepChanged
from workbench.domain.machines import ENDED_STEP_STATES
from workbench.domain.rows import PipelineState, StepState
from workbench.text.safe import one_line
from workbench.views.pipeline import ContractState, PipelineRun, PipelineStep
from workbench.views.status_icons import (
    RUN_STATUSES,
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


DifferenceKind = Literal["same", "outcome", "slower", "faster", "added", "gone", "open"]
"""How a step differs, its outcome before its time; `open` has not ended while its run goes on."""
_NOTICEABLE_SHARE = 0.1
_NOTICEABLE_SECONDS = 1.0
_ENDED_STATES = frozenset[str]({*ENDED_STEP_STATES, "warned"})
_GOOD_STATES = frozenset({"completed", "completed_empty", "skipped"})


class ComparedStep(Struct, frozen=True, kw_only=True):
    """A step in one of the runs."""

    sign: StatusName
    word: str
    seconds: float
    tokens: int
    attempt: int
    attempts: int
    contract: ContractState
    error: str


class ComparisonRow(Struct, frozen=True, kw_only=True):
    """A step in both runs."""

    id: str
    name: str
    kind: DifferenceKind
    is_worse: bool
    earlier: ComparedStep | None
    later: ComparedStep | None

    @property
    def seconds(self) -> float:
        """Return how much longer it took."""
        return (self.later.seconds if self.later else 0.0) - (self.earlier.seconds if self.earlier else 0.0)

    @property
    def tokens(self) -> int:
        return (self.later.tokens if self.later else 0) - (self.earlier.tokens if self.earlier else 0)


class RunComparison(Struct, frozen=True, kw_only=True):
    """Two runs of one pipeline."""

    earlier: PipelineRun
    later: PipelineRun
    rows: tuple[ComparisonRow, ...]
    """In the order of the later run's file; what only the earlier has, last."""
    total: ComparisonRow
    """Both runs as wholes: how they ended, and the sums of their steps."""

    @property
    def outcomes(self) -> int:
        """Return how many steps ended otherwise, or are in one of the runs only."""
        return sum(row.kind in ("outcome", "added", "gone") for row in self.rows)

    @property
    def has_same_input(self) -> bool:
        """Return whether both worked on the same."""
        return self.earlier.input == self.later.input


def compare_runs(earlier: PipelineRun, later: PipelineRun) -> RunComparison:
    """Compare two runs, step by step."""
    before = {step.id: step for step in earlier.steps}
    now = {step.id for step in later.steps}
    are_over = earlier.finished_at is not None and later.finished_at is not None
    rows = [_comparison_row(before.get(step.id), step, are_over=are_over) for step in later.steps]
    rows += [_comparison_row(step, None, are_over=are_over) for step in earlier.steps if step.id not in now]
    return RunComparison(
        earlier=earlier, later=later, rows=tuple(rows), total=_total_row(earlier, later, are_over=are_over)
    )


def _total_row(earlier: PipelineRun, later: PipelineRun, *, are_over: bool) -> ComparisonRow:
    sums = _summed_steps(earlier), _summed_steps(later)
    kind: DifferenceKind = "outcome" if earlier.status != later.status else _time_difference(*sums)
    return ComparisonRow(
        id="", name="all of it", kind=kind if are_over else "open",
        is_worse=earlier.status == "completed" and later.status == "failed",
        earlier=sums[0], later=sums[1],
    )  # fmt: skip


def _summed_steps(run: PipelineRun) -> ComparedStep:
    sign, word = RUN_STATUSES[run.status]
    return ComparedStep(
        sign=sign, word=word, seconds=sum(step.seconds for step in run.steps), tokens=run.tokens, attempt=0,
        attempts=0, contract="", error=run.error,
    )  # fmt: skip


def _comparison_row(
    earlier: PipelineStep | None, later: PipelineStep | None, *, are_over: bool
) -> ComparisonRow:
    step = later or earlier
    assert step is not None
    return ComparisonRow(
        id=step.id, name=one_line(step.name, 120), kind=_difference_kind(earlier, later, are_over=are_over),
        is_worse=bool(
            earlier and later and earlier.state in _GOOD_STATES and later.state in ("failed", "warned")
        ),
        earlier=_compared_step(earlier), later=_compared_step(later),
    )  # fmt: skip


def _compared_step(step: PipelineStep | None) -> ComparedStep | None:
    if step is None:
        return None
    sign, word = step.status
    return ComparedStep(
        sign=sign, word="taken over" if _is_from_earlier_run(step) else word,
        seconds=step.seconds, tokens=step.tokens,
        attempt=step.attempt, attempts=step.attempts, contract=step.contract_mark, error=step.error,
    )  # fmt: skip


def _is_from_earlier_run(step: PipelineStep) -> bool:
    """Return whether a run from a step on has it from an earlier run."""
    return step.attempt == 0 and step.state in ("completed", "completed_empty")


def _difference_kind(
    earlier: PipelineStep | None, later: PipelineStep | None, *, are_over: bool
) -> DifferenceKind:
    if earlier is None or later is None:
        return "added" if earlier is None else "gone"
    if not are_over and not {earlier.state, later.state} <= _ENDED_STATES:
        return "open"
    if _is_from_earlier_run(earlier) or _is_from_earlier_run(later):
        return "same" if earlier.state == later.state else "outcome"
    if (earlier.state, earlier.contract_mark) != (later.state, later.contract_mark):
        return "outcome"
    return _time_difference(earlier, later)


def _time_difference(
    earlier: PipelineStep | ComparedStep, later: PipelineStep | ComparedStep
) -> DifferenceKind:
    change = later.seconds - earlier.seconds
    if abs(change) < max(_NOTICEABLE_SECONDS, earlier.seconds * _NOTICEABLE_SHARE):
        return "same"
    return "slower" if change > 0 else "faster"
