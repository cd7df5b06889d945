"""The graph of a pipeline or a run: its steps, what is known of each, and the time that is left on a path.

Nothing of a status may reach the structure (`graph_steps`), so a running graph never moves.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from workbench.domain.values import StepPlan
from workbench.graph.model import (
    PENDING_FACTS,
    STATUS_BY_SEVERITY,
    GraphStep,
    StatusCounts,
    StepFacts,
    short_duration,
)
from workbench.graph.navigation import FoldedGraph, FoldMember, combine_facts
from workbench.text.human import countdown_text
from workbench.views.pipeline import ContractState, PipelineItem, PipelineRun, PipelineStep
from workbench.views.status_icons import StepStatus

_STATES_WITH_DURATION: tuple[StepStatus, ...] = (
    "running", "retrying", "completed", "completed_empty", "warned", "failed", "cancelled",
)  # fmt: skip
"""States in which a duration says something; a gate's window is said instead of its time."""


def planned_graph_steps(
    plans: Iterable[StepPlan], lists: Mapping[str, tuple[str, ...]] | None = None
) -> tuple[GraphStep, ...]:
    """Return the steps of a pipeline that does not run; `lists` has the items of matrix steps."""
    return tuple(
        GraphStep(
            id=plan.id, needs=plan.needs, name=plan.name, returns=plan.returns, attempts=plan.attempts,
            asks=plan.kind == "gate", chooses=plan.kind == "route", contract=bool(plan.contract),
            is_matrix=plan.is_matrix, item_count=plan.item_count, items=(lists or {}).get(plan.id),
        )
        for plan in plans
    )  # fmt: skip


def graph_steps(run: PipelineRun) -> tuple[GraphStep, ...]:
    """Return the structure of a run: it changes when a matrix learns its items, and never with a state."""
    return tuple(
        GraphStep(
            id=step.id, needs=step.needs, name=step.name, returns=step.returns, attempts=step.attempts,
            asks=step.kind == "gate", chooses=step.kind == "route", contract=bool(step.contract),
            is_matrix=step.is_matrix, item_count=step.item_count,
            items=tuple(_item_key(step, item) for item in step.items) if step.items else None,
        )
        for step in run.steps
    )  # fmt: skip


def _item_key(step: PipelineStep, item: PipelineItem) -> str:
    return item.id.removeprefix(f"{step.id}[").removesuffix("]")


def graph_step_facts(step: PipelineStep) -> StepFacts:
    counts, state = None, step.state
    if step.counts is not None:
        items = step.counts
        counts = StatusCounts(
            ok=items.done, run=items.running, failed=items.failed, asks=items.waiting, todo=items.todo
        )
        if step.state in ("running", "waiting", "retrying"):
            # The worst item is what must be seen: failed before asking before running.
            state = "failed" if items.failed else "waiting" if items.waiting else step.state
    return StepFacts(
        state=state, duration=_duration_text(step.state, step.seconds), attempt=max(1, step.attempt),
        contract=_contract_mark(step.contract_mark), note=_step_note(step), counts=counts,
    )  # fmt: skip


def graph_item_facts(item: PipelineItem) -> StepFacts:
    return StepFacts(
        state=item.state, duration=_duration_text(item.state, item.seconds), attempt=max(1, item.attempt),
        contract=_contract_mark(item.contract_mark), note=item.error,
    )  # fmt: skip


def _contract_mark(mark: ContractState) -> Literal["", "kept", "broken"]:
    return "" if mark == "unchecked" else mark


def _duration_text(state: StepStatus, seconds: float) -> str:
    has_worked = seconds > 0 or state != "cancelled"  # what never began took no time
    return short_duration(seconds) if state in _STATES_WITH_DURATION and has_worked else ""


def _step_note(step: PipelineStep) -> str:
    if step.state != "waiting":
        return ""
    return "asks you" if step.left is None else f"ask {countdown_text(_floor_to_tens(step.left))}"


_ENDED_STATES: tuple[StepStatus, ...] = ("completed", "completed_empty", "warned", "failed")
_STATE_ORDER = {state: rank for rank, state in enumerate(STATUS_BY_SEVERITY)}
_UNSEEN_ITEMS = {state: FoldMember(name="", facts=StepFacts(state=state)) for state in STATUS_BY_SEVERITY}


def _floor_to_tens(left: float) -> float:
    """Round the time for an answer down to 10 s: a graph does not count seconds; the queue's row does."""
    return left // 10 * 10


class RunFacts:
    """The facts of everything that may be drawn of one run, by id."""

    def __init__(self, run: PipelineRun) -> None:
        self.run = run
        self.steps = {step.id: step for step in run.steps}
        self._facts = {step.id: graph_step_facts(step) for step in run.steps}
        self._items: dict[str, PipelineItem] = {}
        for step in run.steps:
            self._items.update((item.id, item) for item in step.items)

    def step_of(self, drawn: str, folded: FoldedGraph) -> PipelineStep | None:
        """Return the step of the file behind what is drawn: of an item its matrix, of a fold the worst."""
        if drawn in self.steps:
            return self.steps[drawn]
        if drawn in self._items:
            return self.steps.get(drawn.partition("[")[0])
        members = [member for member in folded.members.get(drawn, ()) if member in self.steps]
        worst = combine_facts([self._facts[member] for member in members]).state
        return next((self.steps[member] for member in members if self._facts[member].state == worst), None)

    def item(self, drawn: str) -> PipelineItem | None:
        return self._items.get(drawn)

    def of(self, drawn: str, folded: FoldedGraph) -> StepFacts:
        if drawn in self._facts:
            return self._facts[drawn]
        if drawn in self._items:
            return graph_item_facts(self._items[drawn])
        return combine_facts(
            [self._facts.get(member, PENDING_FACTS) for member in folded.members.get(drawn, ())]
        )

    def members(
        self, drawn: str, folded: FoldedGraph, first: int, lines: int
    ) -> tuple[list[FoldMember], str]:
        """Return what an open fold lists, the worst first, and how long those took that are only counted.

        `first` items are scrolled past; those not among the `lines` seen have only a status.
        """
        ids = folded.members.get(drawn, ())
        states = [self._state(member) for member in ids]
        order = sorted(range(len(ids)), key=[_STATE_ORDER[state] for state in states].__getitem__)
        members = [_UNSEEN_ITEMS[state] for state in states]
        for index in order[first : first + lines]:
            members[index] = FoldMember(name=self._name(ids[index]), facts=self._fact(ids[index]))
        return members, self._spread([ids[index] for index in order[first + lines - 1 :]])

    def _spread(self, rest: Sequence[str]) -> str:
        known = (self._items.get(item) for item in rest)
        took = [item.seconds for item in known if item is not None and item.state in _ENDED_STATES]
        if not took:
            return ""
        least, most = short_duration(min(took)), short_duration(max(took))
        return least if least == most else f"{least}…{most}"

    def _state(self, drawn: str) -> StepStatus:
        item = self._items.get(drawn)
        return item.state if item is not None else self._facts.get(drawn, PENDING_FACTS).state

    def _fact(self, drawn: str) -> StepFacts:
        item = self._items.get(drawn)
        return graph_item_facts(item) if item is not None else self._facts.get(drawn, PENDING_FACTS)

    def _name(self, drawn: str) -> str:
        item = self._items.get(drawn)
        return item.label if item else self.steps[drawn].name if drawn in self.steps else drawn


def expected_seconds(
    paint: RunFacts, folded: FoldedGraph, drawn: Sequence[GraphStep], before: Mapping[str, float]
) -> list[float]:
    """Return what each drawn step took or is expected to take, by the seconds of an earlier run."""
    expected: list[float] = []
    for step in drawn:
        ids = folded.members.get(step.id) or (step.id,)
        steps = [paint.steps[step_id] for step_id in ids if step_id in paint.steps]
        if not steps and step.id in paint.steps:
            steps = [paint.steps[step.id]]
        expected.append(max((_expected_step_seconds(step_id, before) for step_id in steps), default=0.0))
    return expected


def _expected_step_seconds(step: PipelineStep, before: Mapping[str, float]) -> float:
    is_over = step.completed_at is not None
    return step.seconds if is_over else max(step.seconds, before.get(step.id, 0.0))


def seconds_to_go(paint: RunFacts, path: Iterable[str], before: Mapping[str, float]) -> float | None:
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
