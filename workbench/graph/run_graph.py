"""The graph of a pipeline or a run: its steps, what is known of each, and the time that is left on a path.

Nothing of a status may reach the structure (`graph_steps`), so a running graph never moves.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from workbench.domain.values import StepPlan
from workbench.graph.folding import FoldedGraph, FoldMember
from workbench.graph.model import (
    PENDING_FACTS,
    STATUS_BY_SEVERITY,
    Graph,
    GraphStep,
    StatusCounts,
    StepFacts,
)
from workbench.graph.navigation import combine_facts, longest_path
from workbench.text.human import countdown_text, duration_text
from workbench.views.pipeline import ContractState, PipelineItem, PipelineRun, PipelineStep
from workbench.views.status_icons import StepStatus

_STATES_WITH_DURATION: tuple[StepStatus, ...] = (
    "running", "retrying", "completed", "completed_empty", "refused", "warned", "failed", "cancelled",
)  # fmt: skip
"""States in which a duration says something; a gate's window is said instead of its time."""


def planned_graph_steps(
    plans: Iterable[StepPlan], lists: Mapping[str, tuple[str, ...]] | None = None
) -> tuple[GraphStep, ...]:
    """Return the steps of a pipeline that does not run; `lists` has the items of matrix steps."""
    return tuple(_graph_step(plan, (lists or {}).get(plan.id)) for plan in plans)


def graph_steps(run: PipelineRun) -> tuple[GraphStep, ...]:
    """Return the structure of a run: it changes when a matrix learns its items, and never with a state."""
    return tuple(_graph_step(step, _listed_items(step)) for step in run.steps)


def _graph_step(step: StepPlan | PipelineStep, items: tuple[str, ...] | None) -> GraphStep:
    return GraphStep(
        id=step.id, needs=step.needs, name=step.name, returns=step.returns, attempts=step.attempts,
        asks=step.kind == "gate", chooses=step.kind == "route", contract=bool(step.contract),
        is_matrix=step.is_matrix, item_count=step.item_count, items=items,
    )  # fmt: skip


def _listed_items(step: PipelineStep) -> tuple[str, ...] | None:
    """Return the items of a step; None where they are too many to be shown one by one."""
    is_whole = bool(step.items) and len(step.items) == step.item_count
    return tuple(_item_key(step, item) for item in step.items) if is_whole else None


def _item_key(step: PipelineStep, item: PipelineItem) -> str:
    return item.id.removeprefix(f"{step.id}[").removesuffix("]")


def graph_step_facts(step: PipelineStep, usual: float = 0.0) -> StepFacts:
    """Return what is known of a step; `usual`: its seconds in an earlier run, 0 where none tells."""
    counts, state = None, step.state
    if step.counts is not None:
        items = step.counts
        counts = StatusCounts(
            ok=items.done, run=items.running, failed=items.failed, asks=items.waiting, todo=items.todo
        )
        if step.state in ("running", "waiting", "retrying"):
            # The worst item is what must be seen: failed before asking before running.
            state = "failed" if items.failed else "waiting" if items.waiting else step.state
    is_measured = usual > 0 and step.state in ("running", "retrying")
    return StepFacts(
        state=state, duration=_step_duration(step.state, step.seconds), attempt=max(1, step.attempt),
        contract=_contract_mark(step.contract_mark), counts=counts,
        left=_time_left(step), asks=step.asks if step.state == "waiting" else "",
        reason=step.error if step.state in ("failed", "warned") else "",
        is_queued=bool(step.place),
        share=min(1.0, step.seconds / usual) if is_measured else None,
        usual=countdown_text(round(usual)) if is_measured else "", refused=step.refused,
    )  # fmt: skip


def graph_item_facts(item: PipelineItem) -> StepFacts:
    return StepFacts(
        state=item.state, duration=_step_duration(item.state, item.seconds), attempt=max(1, item.attempt),
        contract=_contract_mark(item.contract_mark), reason=item.error, refused=item.refused,
    )  # fmt: skip


def _contract_mark(mark: ContractState) -> Literal["", "kept", "broken"]:
    return "" if mark == "unchecked" else mark


def _step_duration(state: StepStatus, seconds: float) -> str:
    """Write how long a step took; of one that is at work, minutes and seconds."""
    is_at_work = state in ("running", "retrying")
    if state not in _STATES_WITH_DURATION or (seconds <= 0 and not is_at_work):
        return ""
    if is_at_work:
        return countdown_text(int(seconds))
    return duration_text(seconds)


def _time_left(step: PipelineStep) -> str:
    if step.state != "waiting" or step.left is None:
        return ""
    return countdown_text(step.left)


_ENDED_STATES: tuple[StepStatus, ...] = ("completed", "completed_empty", "refused", "warned", "failed")
_STATE_ORDER = {state: rank for rank, state in enumerate(STATUS_BY_SEVERITY)}
_UNSEEN_ITEMS = {state: FoldMember(name="", facts=StepFacts(state=state)) for state in STATUS_BY_SEVERITY}


class RunFacts:
    """The facts of everything that may be drawn of one run, by id."""

    def __init__(self, run: PipelineRun, usual: Mapping[str, float] | None = None) -> None:
        """Take a run, and the seconds by step id of an earlier one."""
        usual = usual or {}
        self.run = run
        self.steps = {step.id: step for step in run.steps}
        self._facts = {step.id: graph_step_facts(step, usual.get(step.id, 0.0)) for step in run.steps}
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

    def seconds_of(self, step_id: str) -> float:
        """Return how long a step took or has been at work; 0 for what is no step of the file."""
        step = self.steps.get(step_id)
        return step.seconds if step is not None else 0.0

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
        items = (self._items.get(item) for item in rest)
        durations = [item.seconds for item in items if item is not None and item.state in _ENDED_STATES]
        if not durations:
            return ""
        least, most = duration_text(min(durations)), duration_text(max(durations))
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
    run_facts: RunFacts, folded: FoldedGraph, drawn: Sequence[GraphStep], before: Mapping[str, float]
) -> list[float]:
    """Return what each drawn step took or is expected to take, by the seconds of an earlier run."""
    expected: list[float] = []
    for step in drawn:
        ids = folded.members.get(step.id) or (step.id,)
        steps = [run_facts.steps[step_id] for step_id in ids if step_id in run_facts.steps]
        if not steps and step.id in run_facts.steps:
            steps = [run_facts.steps[step.id]]
        expected.append(max((_expected_step_seconds(step_id, before) for step_id in steps), default=0.0))
    return expected


def _expected_step_seconds(step: PipelineStep, before: Mapping[str, float]) -> float:
    is_over = step.completed_at is not None
    return step.seconds if is_over else max(step.seconds, before.get(step.id, 0.0))


def seconds_to_go(
    run_facts: RunFacts, folded: FoldedGraph, graph: Graph, before: Mapping[str, float]
) -> float | None:
    """Return the seconds that the longest of what is still to be done takes by an earlier run.

    None where there is none, the run has ended, or a step on that path has no time in it.
    """
    if not before or run_facts.run.finished_at is not None:
        return None
    remaining: list[float] = []
    unknown: set[int] = set()
    for v, drawn in enumerate(graph.steps):
        ids = folded.members.get(drawn.id) or (drawn.id,)
        steps = [run_facts.steps[step_id] for step_id in ids if step_id in run_facts.steps]
        steps = steps or [step for step in [run_facts.steps.get(drawn.id)] if step is not None]
        open_steps = [step for step in steps if step.completed_at is None and step.kind != "gate"]
        if any(step.id not in before for step in open_steps):
            unknown.add(v)
        remaining.append(
            max((max(0.0, before.get(step.id, 0.0) - step.seconds) for step in open_steps), default=0.0)
        )
    path = longest_path(graph, remaining)
    return None if unknown.intersection(path) else sum(remaining[v] for v in path)
