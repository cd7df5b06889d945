"""Two runs of a pipeline compared, step by step."""

from typing import Literal

from msgspec import Struct

from workbench.domain.machines import ENDED_STEP_STATES
from workbench.text.safe import one_line
from workbench.views.pipeline import ContractState, PipelineRun, PipelineStep
from workbench.views.status_icons import RUN_STATUSES, StatusName

DifferenceKind = Literal["same", "outcome", "slower", "faster", "added", "gone", "open"]
"""How a step differs, its outcome before its time; `open` has not ended while its run goes on."""
_NOTICEABLE_SHARE = 0.1
_NOTICEABLE_SECONDS = 1.0
_ENDED_STATES = frozenset[str]({*ENDED_STEP_STATES, "refused", "warned"})
_GOOD_STATES = frozenset({"completed", "completed_empty", "refused", "skipped"})


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
