"""Two runs of a pipeline side by side: `comparison(earlier, later)` -> rows with outcomes, times and tokens.

Pure. Steps are matched by id: one that only the other run has stands there alone.
"""

from typing import Literal

from workbench.domain.machines import ENDED_STEPS
from workbench.records import dataclass
from workbench.text.safe import one_line
from workbench.views.pipeline import ContractMark, PipelineRun, PipelineStep
from workbench.views.signs import Meaning
from workbench.views.step import step_sign, step_word

Kind = Literal["same", "outcome", "slower", "faster", "added", "gone", "open"]
"""How a step differs: its outcome before its time; `added` and `gone` are in one of the runs only, `open`
has not ended while its run goes on."""

_NOTICED = 0.1
"""Part of the earlier time from which a difference is called one."""
_LEAST_SECONDS = 1.0

_ENDED = frozenset[str]({*ENDED_STEPS, "warned"})
_GOOD = frozenset({"completed", "completed_empty", "skipped"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A step in one of the runs."""

    sign: Meaning
    word: str
    seconds: float
    tokens: int
    attempt: int
    attempts: int
    contract: ContractMark
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareRow:
    """A step in both runs."""

    id: str
    name: str
    kind: Kind
    is_worse: bool
    """It went well before and does not now."""
    earlier: Side | None
    later: Side | None

    @property
    def seconds(self) -> float:
        """Return how much longer it took."""
        return (self.later.seconds if self.later else 0.0) - (self.earlier.seconds if self.earlier else 0.0)

    @property
    def tokens(self) -> int:
        """Return how many more tokens it took."""
        return (self.later.tokens if self.later else 0) - (self.earlier.tokens if self.earlier else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two runs of one pipeline."""

    earlier: PipelineRun
    later: PipelineRun
    rows: tuple[CompareRow, ...]
    """In the order of the later run's file; what only the earlier has, last."""

    @property
    def outcomes(self) -> int:
        """Return how many steps ended otherwise, or are in one of the runs only."""
        return sum(row.kind in ("outcome", "added", "gone") for row in self.rows)

    @property
    def has_same_input(self) -> bool:
        """Return whether both worked on the same."""
        return self.earlier.input == self.later.input


def comparison(earlier: PipelineRun, later: PipelineRun) -> Comparison:
    """Compare two runs, step by step."""
    before = {step.id: step for step in earlier.steps}
    now = {step.id for step in later.steps}
    are_over = earlier.finished_at is not None and later.finished_at is not None
    rows = [_row(before.get(step.id), step, are_over=are_over) for step in later.steps]
    rows += [_row(step, None, are_over=are_over) for step in earlier.steps if step.id not in now]
    return Comparison(earlier=earlier, later=later, rows=tuple(rows))


def _row(earlier: PipelineStep | None, later: PipelineStep | None, *, are_over: bool) -> CompareRow:
    step = later or earlier
    assert step is not None
    return CompareRow(
        id=step.id, name=one_line(step.name, 120), kind=_kind(earlier, later, are_over=are_over),
        is_worse=bool(earlier and later and earlier.state in _GOOD and later.state in ("failed", "warned")),
        earlier=_side(earlier), later=_side(later),
    )  # fmt: skip


def _side(step: PipelineStep | None) -> Side | None:
    if step is None:
        return None
    return Side(
        sign=step_sign(step), word="taken over" if _is_taken_over(step) else step_word(step),
        seconds=step.seconds, tokens=step.tokens,
        attempt=step.attempt, attempts=step.attempts, contract=step.contract_mark, error=step.error,
    )  # fmt: skip


def _is_taken_over(step: PipelineStep) -> bool:
    """Return whether a run from a step on has it from an earlier run."""
    return step.attempt == 0 and step.state in ("completed", "completed_empty")


def _kind(earlier: PipelineStep | None, later: PipelineStep | None, *, are_over: bool) -> Kind:
    if earlier is None or later is None:
        return "added" if earlier is None else "gone"
    if not are_over and not {earlier.state, later.state} <= _ENDED:
        return "open"
    if _is_taken_over(earlier) or _is_taken_over(later):
        return "same" if earlier.state == later.state else "outcome"
    if (earlier.state, earlier.contract_mark) != (later.state, later.contract_mark):
        return "outcome"
    change = later.seconds - earlier.seconds
    if abs(change) < max(_LEAST_SECONDS, earlier.seconds * _NOTICED):
        return "same"
    return "slower" if change > 0 else "faster"
