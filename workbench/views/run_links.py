"""What came of a run for its readers: the links that its steps ended with."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from workbench.domain.events import Event, StepChanged
from workbench.domain.machines import COMPLETED_STEP_STATES
from workbench.domain.rows import StepState, step_key
from workbench.domain.values import RunLink, StepPlan
from workbench.text.safe import one_line
from workbench.views.page_lines import PageLine, icon_part, page_line


def step_links(events: Iterable[Event]) -> tuple[RunLink, ...]:
    """Return the links of a step, from its events: those of its last completed attempt, of all its items."""
    links: dict[str | None, tuple[RunLink, ...]] = {}
    for event in events:
        if isinstance(event.body, StepChanged) and event.body.state in COMPLETED_STEP_STATES:
            links[event.step] = event.body.links
    return tuple(dict.fromkeys(link for found in links.values() for link in found))


def link_lines(events: Iterable[Event]) -> Iterator[PageLine]:
    """Yield a line for each link of a step."""
    for link in step_links(events):
        label, target = one_line(link.label, 120), one_line(link.target, 500)
        yield page_line(icon_part("ok"), " ", (label, "strong"), f"   {target}")


class RunLinks:
    """What came of runs, read once for each row of a step that has ended."""

    def __init__(self, events_of: Callable[[str, str], Iterable[Event]]) -> None:
        self._events_of = events_of
        self._known: dict[str, tuple[StepState, tuple[RunLink, ...]]] = {}

    def of(self, run_id: str, plans: Sequence[StepPlan], rows: Mapping[str, StepState]) -> Iterator[RunLink]:
        """Yield the links of a run in the order of its steps; rows are by `step_key`."""
        for plan in plans:
            key = step_key(run_id, plan.id)
            row = rows.get(key) if plan.has_links else None
            if row is None or row.state not in COMPLETED_STEP_STATES:
                continue
            if key not in self._known or self._known[key][0] is not row:
                self._known[key] = (row, step_links(self._events_of(run_id, plan.id)))
            yield from self._known[key][1]
