"""What came of the steps of a run, in a line or two: what each handed on, and its last words."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from workbench.domain.events import ArtifactStored, Event, OutputStreamed, StepChanged
from workbench.text.human import size_text
from workbench.text.safe import one_line
from workbench.views.pipeline import PipelineRun, PipelineStep

_MOST_CELLS = 120


class EndedSteps:
    """Results of ended steps, read once for each attempt."""

    def __init__(self, events_of: Callable[[str, str], Sequence[Event]]) -> None:
        self._events_of = events_of
        self._known: dict[tuple[str, str], tuple[object, tuple[str, ...]]] = {}

    def of(self, run: PipelineRun) -> Mapping[str, tuple[str, ...]]:
        """Return the lines of each step that has ended, by its id."""
        return {step.id: self._lines(run.id, step) for step in run.steps if step.completed_at is not None}

    def _lines(self, run_id: str, step: PipelineStep) -> tuple[str, ...]:
        stamp: object = (step.state, step.attempt, step.completed_at)
        known = self._known.get((run_id, step.id))
        if known is None or known[0] != stamp:
            lines = step_result_lines(self._events_of(run_id, step.id), has_items=step.is_matrix)
            known = self._known[run_id, step.id] = stamp, lines
        return known[1]


def step_result_lines(events: Sequence[Event], *, has_items: bool) -> tuple[str, ...]:
    """Return what a step handed on and the last line that it wrote; of a step with items the first alone."""
    lines = (_artifacts_text(events), "" if has_items else _last_line(events))
    return tuple(line for line in lines if line)


def _artifacts_text(events: Iterable[Event]) -> str:
    stored = {event.body.path or event.body.name: event.body for event in events
              if isinstance(event.body, ArtifactStored)}  # fmt: skip
    if not stored:
        return ""
    path, newest = list(stored.items())[-1]
    name = one_line(path.rpartition("/")[2] or path, _MOST_CELLS)
    return f"{name} {size_text(newest.size_bytes)}" if len(stored) == 1 else f"{len(stored)} artifacts"


def _last_line(events: Sequence[Event]) -> str:
    for event in reversed(events):
        text = ""
        if isinstance(event.body, StepChanged):
            text = event.body.output
        elif isinstance(event.body, OutputStreamed):
            text = event.body.text
        lines = [line for line in text.splitlines() if line.strip()]
        if lines:
            return one_line(lines[-1], _MOST_CELLS)
    return ""
