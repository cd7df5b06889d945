"""The events of pipeline runs by step, read once and then only what is new.

Owns which runs are kept: the last two that somebody looked at. A run may have tens of thousands of events,
and the step on show is asked for with every one of them.
"""

from collections.abc import Callable, Sequence
from typing import Final

from workbench.domain.events import Event

_PAGE: Final = 10_000
_KEPT: Final = 2

EventsAfter = Callable[[str, int, int], Sequence[Event]]
"""Session, position, limit: the events behind a position."""


class RunEvents:
    """Events of runs, by step of the file; those of the items of a matrix are with their step."""

    def __init__(self, read: EventsAfter) -> None:
        self._read = read
        self._runs: dict[str, dict[str, list[Event]]] = {}
        self._last: dict[str, int] = {}

    def of(self, run_id: str, step_id: str) -> Sequence[Event]:
        """Return the events of one step and of its items, in order."""
        steps = self._runs.pop(run_id, {})
        self._runs[run_id] = steps
        while len(self._runs) > _KEPT:
            oldest = next(iter(self._runs))
            del self._runs[oldest]
            self._last.pop(oldest, None)
        while self._more(run_id, steps):
            pass
        return tuple(steps.get(step_id, ()))

    def _more(self, run_id: str, steps: dict[str, list[Event]]) -> bool:
        """Read a page of what is new; False when there is no more."""
        found = self._read(run_id, self._last.get(run_id, 0), _PAGE)
        for event in found:
            if event.step:
                steps.setdefault(event.step.partition("[")[0], []).append(event)
        if found:
            self._last[run_id] = found[-1].position
        return len(found) == _PAGE
