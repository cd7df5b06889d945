"""A run as the graph that is drawn of it: structure in one function, paint in another.

Owns which facts of a run are structure (ids, dependencies, what is reserved for badges) and which are paint.
Nothing of a state may reach `steps_of`: a running graph never moves because of one.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from workbench.domain.runs import StepPlan
from workbench.graph.facts import PENDING, WORST, Counts, Facts, State, short_duration
from workbench.graph.fold import Folded, Item, together
from workbench.graph.model import Step
from workbench.text.human import countdown
from workbench.views.pipeline import ContractMark, PipelineItem, PipelineRun, PipelineStep

_BEGUN: tuple[State, ...] = (
    "running", "retrying", "completed", "completed_empty", "warned", "failed", "cancelled",
)  # fmt: skip
"""States in which a duration says something; a gate's window is said instead of its time."""


def planned_steps(
    plans: Iterable[StepPlan], lists: Mapping[str, tuple[str, ...]] | None = None
) -> tuple[Step, ...]:
    """Return the steps of a pipeline that does not run.

    Args:
        plans: its steps.
        lists: by matrix step the items that its definition names.
    """
    return tuple(
        Step(
            id=plan.id, needs=plan.needs, name=plan.name, returns=plan.returns, attempts=plan.attempts,
            asks=plan.kind == "gate", chooses=plan.kind == "route", contract=bool(plan.contract),
            is_matrix=plan.is_matrix, item_count=plan.item_count, items=(lists or {}).get(plan.id),
        )
        for plan in plans
    )  # fmt: skip


def steps_of(run: PipelineRun) -> tuple[Step, ...]:
    """Return the structure of a run: it changes when a matrix learns its items, and never with a state."""
    return tuple(
        Step(
            id=step.id, needs=step.needs, name=step.name, returns=step.returns, attempts=step.attempts,
            asks=step.kind == "gate", chooses=step.kind == "route", contract=bool(step.contract),
            is_matrix=step.is_matrix, item_count=step.item_count,
            items=tuple(_key(step, item) for item in step.items) if step.items else None,
        )
        for step in run.steps
    )  # fmt: skip


def _key(step: PipelineStep, item: PipelineItem) -> str:
    return item.id.removeprefix(f"{step.id}[").removesuffix("]")


def step_facts(step: PipelineStep) -> Facts:
    """Return the paint of one step; a matrix is the sum of its items."""
    counts, state = None, step.state
    if step.counts is not None:
        found = step.counts
        counts = Counts(
            ok=found.done, run=found.running, failed=found.failed, asks=found.waiting, todo=found.todo
        )
        if step.state in ("running", "waiting", "retrying"):
            # The worst item is what must be seen: failed before asking before running.
            state = "failed" if found.failed else "waiting" if found.waiting else step.state
    return Facts(
        state=state, duration=_duration(step.state, step.seconds), attempt=max(1, step.attempt),
        contract=_mark(step.contract_mark), note=_note(step), counts=counts,
    )  # fmt: skip


def item_facts(item: PipelineItem) -> Facts:
    """Return the paint of one item of a matrix."""
    return Facts(
        state=item.state, duration=_duration(item.state, item.seconds), attempt=max(1, item.attempt),
        contract=_mark(item.contract_mark), note=item.error,
    )  # fmt: skip


def _mark(mark: ContractMark) -> Literal["", "kept", "broken"]:
    return "" if mark == "unchecked" else mark


def _duration(state: State, seconds: float) -> str:
    has_worked = seconds > 0 or state != "cancelled"  # what never began took no time
    return short_duration(seconds) if state in _BEGUN and has_worked else ""


def _note(step: PipelineStep) -> str:
    if step.state != "waiting":
        return ""
    return "asks you" if step.left is None else f"ask {countdown(_in_tens(step.left))}"


_ENDED: tuple[State, ...] = ("completed", "completed_empty", "warned", "failed")
_RANK = {state: rank for rank, state in enumerate(WORST)}
_UNSEEN = {state: Item(name="", facts=Facts(state=state)) for state in WORST}


def _in_tens(left: float) -> float:
    """Round the time for an answer down to 10 s: a graph does not count seconds; the queue's row does."""
    return left // 10 * 10


class RunPaint:
    """The facts of everything that may be drawn of one run, by id."""

    def __init__(self, run: PipelineRun) -> None:
        self.run = run
        self.steps = {step.id: step for step in run.steps}
        self._facts = {step.id: step_facts(step) for step in run.steps}
        self._items: dict[str, PipelineItem] = {}
        for step in run.steps:
            self._items.update((item.id, item) for item in step.items)

    def step_of(self, drawn: str, folded: Folded) -> PipelineStep | None:
        """Return the step of the file behind what is drawn: of an item its matrix, of a fold the worst."""
        if drawn in self.steps:
            return self.steps[drawn]
        if drawn in self._items:
            return self.steps.get(drawn.partition("[")[0])
        members = [one for one in folded.members.get(drawn, ()) if one in self.steps]
        worst = together([self._facts[one] for one in members]).state
        return next((self.steps[one] for one in members if self._facts[one].state == worst), None)

    def item(self, drawn: str) -> PipelineItem | None:
        """Return the item of a matrix that is drawn as a step."""
        return self._items.get(drawn)

    def of(self, drawn: str, folded: Folded) -> Facts:
        """Return how something drawn stands."""
        if drawn in self._facts:
            return self._facts[drawn]
        if drawn in self._items:
            return item_facts(self._items[drawn])
        return together([self._facts.get(one, PENDING) for one in folded.members.get(drawn, ())])

    def members(self, drawn: str, folded: Folded, first: int, lines: int) -> tuple[list[Item], str]:
        """Return what an open fold lists, and how long those took that are only counted.

        What is not seen of it has its state only.

        Args:
            drawn: the fold.
            folded: what stands for what.
            first: items that are scrolled past, the worst state first.
            lines: how many are seen.
        """
        ids = folded.members.get(drawn, ())
        states = [self._state(one) for one in ids]
        order = sorted(range(len(ids)), key=[_RANK[state] for state in states].__getitem__)
        found = [_UNSEEN[state] for state in states]
        for at in order[first : first + lines]:
            found[at] = Item(name=self._name(ids[at]), facts=self._fact(ids[at]))
        return found, self._spread([ids[at] for at in order[first + lines - 1 :]])

    def _spread(self, rest: Sequence[str]) -> str:
        """Return the shortest and the longest time of items that have ended: `12s…58s`."""
        known = (self._items.get(one) for one in rest)
        took = [one.seconds for one in known if one is not None and one.state in _ENDED]
        if not took:
            return ""
        least, most = short_duration(min(took)), short_duration(max(took))
        return least if least == most else f"{least}…{most}"

    def _state(self, drawn: str) -> State:
        item = self._items.get(drawn)
        return item.state if item is not None else self._facts.get(drawn, PENDING).state

    def _fact(self, drawn: str) -> Facts:
        item = self._items.get(drawn)
        return item_facts(item) if item is not None else self._facts.get(drawn, PENDING)

    def _name(self, drawn: str) -> str:
        item = self._items.get(drawn)
        return item.label if item else self.steps[drawn].name if drawn in self.steps else drawn


def expected_seconds(
    paint: RunPaint, folded: Folded, drawn: Sequence[Step], before: Mapping[str, float]
) -> list[float]:
    """Return what each drawn step took or is expected to take.

    Args:
        paint: how the run stands.
        folded: what is drawn.
        drawn: the steps of the layout.
        before: seconds by step id of an earlier run of the same pipeline.
    """
    found: list[float] = []
    for step in drawn:
        ids = folded.members.get(step.id) or (step.id,)
        steps = [paint.steps[one] for one in ids if one in paint.steps]
        if not steps and step.id in paint.steps:
            steps = [paint.steps[step.id]]
        found.append(max((_either(one, before) for one in steps), default=0.0))
    return found


def _either(step: PipelineStep, before: Mapping[str, float]) -> float:
    is_over = step.completed_at is not None
    return step.seconds if is_over else max(step.seconds, before.get(step.id, 0.0))


def to_go(paint: RunPaint, path: Iterable[str], before: Mapping[str, float]) -> float | None:
    """Return the seconds that are left on a path; None where nobody knows how long a step of it takes."""
    left = 0.0
    for key in path:
        step = paint.steps.get(key)
        if step is None or step.completed_at is not None or step.kind == "gate":
            continue
        if key not in before:
            return None
        left += max(0.0, before[key] - step.seconds)
    return left
