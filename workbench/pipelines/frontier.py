"""The steps of a run at which something may happen next, kept event by event.

Owns the answer to "where is there anything to look at", so that a step costs the same in a pipeline of ten
and of a thousand. What may happen there is said by `due`; it folds nothing and starts nothing.
"""

from workbench.domain.events import Event
from workbench.domain.runs import RunStarted, StepChanged
from workbench.pipelines import due
from workbench.pipelines.model import Pipeline, Step
from workbench.pipelines.state import RunState


class Frontier:
    """What is open of one run; told of every event after the run's state has taken it."""

    def __init__(self, pipeline: Pipeline, state: RunState) -> None:
        self.pipeline, self.state = pipeline, state
        self._place = {step.id: number for number, step in enumerate(pipeline.steps)}
        self._steps = {step.id: step for step in pipeline.steps}
        self._feeds: dict[str, list[str]] = {step.id: [] for step in pipeline.steps}
        for step in pipeline.steps:
            for need in set(step.needs):
                self._feeds.get(need, []).append(step.id)
        self._unmet: dict[str, int] = {}
        self._left: set[str] = set()
        self._open: set[str] = set()
        self._doomed: set[str] = set()
        self._gather()

    def _gather(self) -> None:
        """Begin from what the state says of every step."""
        self._unmet = {step.id: len(set(step.needs)) for step in self.pipeline.steps}
        self._left = {step.id for step in self.pipeline.steps if step.id in self.state.steps}
        self._open, self._doomed = set(), set()
        for step in self.pipeline.steps:
            if not step.needs or step.is_rework_only or self._state_of(step.id) != "pending":
                self._open.add(step.id)
        for name in list(self._left):
            if self.state.steps[name].has_ended:
                self._ended(name)

    def _state_of(self, name: str) -> str:
        found = self.state.steps.get(name)
        return found.state if found else "pending"

    def take(self, event: Event) -> None:
        """Take an event that the state has taken."""
        if isinstance(event.body, RunStarted):
            self._gather()
        elif isinstance(event.body, StepChanged) and event.step in self._place:
            self._open.add(event.step)
            if self.state.steps[event.step].has_ended and event.step in self._left:
                self._ended(event.step)

    def _ended(self, name: str) -> None:
        self._left.discard(name)
        self._open.discard(name)
        self._doomed.discard(name)
        for other in self._feeds[name]:
            self._unmet[other] -= 1
            if due.is_lost(name, self._steps[other], self.state):
                self._doomed.add(other)
            if not self._unmet[other]:
                self._open.add(other)

    def open(self) -> list[Step]:
        """Return the steps that run, wait, or have nothing before them that goes on, in file order."""
        steps, place = self.pipeline.steps, self._place
        return [steps[number] for number in sorted(place[name] for name in self._open & self._left)]

    def doomed(self) -> list[Step]:
        """Return the steps that need one which ended without being done, in file order."""
        steps, place = self.pipeline.steps, self._place
        return [steps[number] for number in sorted(place[name] for name in self._doomed & self._left)]

    @property
    def left(self) -> frozenset[str]:
        """Return the steps of the file that have not ended."""
        return frozenset(self._left)

    @property
    def is_over(self) -> bool:
        """Return whether every step of the file has ended."""
        return not self._left
