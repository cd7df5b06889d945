"""The pipeline runs that the screen knows: what is read again after which event, and which run is on show."""

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from workbench.domain.events import ActionRejected, CallProposed, Event, RunStarted, StepChanged
from workbench.domain.machines import ENDED_RUN_STATES, LOST
from workbench.domain.rows import Action, PipelineState, Session, StepState, run_title, step_key
from workbench.domain.values import StepPlan
from workbench.views.approvals import seconds_left
from workbench.views.data_source import DataSource
from workbench.views.sessions import RunTotals
from workbench.views.status_icons import StepStatus, step_status_name

if TYPE_CHECKING:
    from workbench.views.pipeline import PipelineItem, PipelineRun, RunLinks

MAX_RUNS: Final = 50
"""Runs that are listed: the newest ones."""


def _step_duration(row: StepState, matrices: Container[str]) -> float:
    from workbench.views.pipeline import matrix_seconds

    return matrix_seconds(row, row.completed_at or 0) if row.step_id in matrices else row.duration_ms / 1000


_RUN_EVENT_KINDS: Final = ("run.", "step.", "contract.", "artifact.")


class RunStore:
    """Runs as last read."""

    def __init__(self, source: DataSource) -> None:
        self._source = source
        self.rows: dict[str, PipelineState] = {}
        """By id, the newest first."""
        self._plans: dict[str, tuple[StepPlan, ...]] = {}
        self._steps: dict[str, dict[str, StepState]] = {}
        self._touched: dict[str, dict[str, None]] = {}
        """Of each run the steps that events were about since they were read."""
        self._items: dict[str, dict[str, tuple[StepState, PipelineItem]]] = {}
        """Of each run the items of its matrices as they were last made of their rows."""
        self._listed: dict[str, dict[str, tuple[str, ...]]] = {}
        """Of each run the ids of the items of its matrices: of those that have not begun there is no row."""
        self._refused: dict[str, Mapping[str, int]] = {}
        """Of each run how many calls were refused, by the session of its step."""
        self._times_left: list[tuple[Action, float | None]] = []
        """What waits in the run on show, with the seconds left as they were drawn last."""
        self._links: RunLinks | None = None
        self._taken: dict[str, tuple[str, dict[str, float]]] = {}
        self.shown: str | None = None
        """The run that is drawn, which may be another than that of the session on show; None: the newest."""

    def load(self) -> None:
        """Read which runs there are."""
        self.rows = {run.pipeline_id: run for run in self._source.runs(MAX_RUNS)}
        # A replay may have gone back, to before a step or a plan was known.
        self._steps, self._plans, self._touched, self._listed = {}, {}, {}, {}
        self._refused = {}
        self._links = None

    def is_about(self, event: Event) -> bool:
        """Return whether an event changes a run."""
        return event.kind.startswith(_RUN_EVENT_KINDS)

    def note(self, event: Event) -> None:
        """Keep what an event says of a run's plan, and which of its steps are to be read again."""
        if isinstance(event.body, RunStarted):
            self._plans[event.session_id] = event.body.steps
            self._steps.pop(event.session_id, None)
        elif event.step is not None:
            if isinstance(event.body, StepChanged) and event.body.items is not None:
                self._listed.setdefault(event.session_id, {})[event.step] = event.body.items
            elif isinstance(event.body, StepChanged) and event.body.items_ref is not None:
                self._listed.get(event.session_id, {}).pop(event.step, None)  # read when it is drawn
            self._touched.setdefault(event.session_id, {})[event.step] = None

    def forget_refused(self, event: Event) -> str | None:
        """Count refused calls again after an event that may have refused one; return the run on show then."""
        is_refusal = isinstance(event.body, ActionRejected) or (
            isinstance(event.body, CallProposed) and event.body.verdict.outcome in ("denied", "refused")
        )
        if not is_refusal:
            return None
        self._refused = {}
        return self.current

    def refused_calls(self, run_id: str) -> Mapping[str, int]:
        """Return how many calls of a run were refused, by the session of its step."""
        if run_id not in self._refused:
            self._refused[run_id] = self._source.refused_calls(run_id)
        return self._refused[run_id]

    def totals(self, run_id: str) -> RunTotals | None:
        """Return what the steps of a run come to; None for one that is not known."""
        if run_id not in self.rows:
            return None
        from workbench.views.pipeline import count_done

        if run_id not in self._steps:
            self._read_steps(run_id)
        rows = self._steps[run_id].values()
        own: list[StepStatus] = [
            step_status_name(row.state, is_warned=row.is_warned) for row in rows if not row.matrix
        ]
        tokens = sum(row.usage.total_tokens for row in rows)
        return RunTotals(done=count_done(own), total=len(own), tokens=tokens)

    def read(self, run_ids: Iterable[str]) -> None:
        """Read changed runs again; the steps only of those that somebody has looked at."""
        for run_id in run_ids:
            row = self._source.run(run_id)
            if row is None:
                self.rows.pop(run_id, None)
                continue
            is_new = run_id not in self.rows
            self.rows = {run_id: row, **self.rows} if is_new else {**self.rows, run_id: row}
            touched = self._touched.pop(run_id, {})
            if run_id in self._steps:
                self._read_again(run_id, touched)

    def _read_again(self, run_id: str, touched: Iterable[str]) -> None:
        """Read the steps that events were about: a matrix of thousands is not read for one of its items."""
        steps = self._steps[run_id]
        for step_id in touched:
            step = self._source.run_step(run_id, step_id)
            if step is not None:
                steps[step.key] = step

    def _read_steps(self, run_id: str) -> None:
        self._steps[run_id] = {step.key: step for step in self._source.run_steps(run_id)}

    # --- what is shown --------------------------------------------------------------------------

    def choose(self, session: Session | None) -> None:
        """Show the run that a session is, is a step of or started; other sessions leave the run as it is."""
        if session is None:
            return
        run_id = session.parent_id if session.kind == "step" else session.id
        if run_id and run_id not in self.rows and session.kind in ("pipeline", "step"):
            self.read([run_id])  # one of another folder, or older than those that are listed
        for key in (session.id, session.parent_id):
            if key is not None and key in self.rows:
                self.shown = key
                return
        started = (key for key in self.rows if self._parent_of(key) == session.id)
        self.shown = next(started, self.shown)

    def _parent_of(self, run_id: str) -> str | None:
        session = self._source.session(run_id)
        return session.parent_id if session is not None else None

    def beside(self, step: int) -> None:
        """Show the run before (-1: an older one) or after."""
        ids = list(self.rows)
        if ids:
            index = ids.index(self.current or ids[0])
            self.shown = ids[max(0, min(len(ids) - 1, index - step))]

    @property
    def current(self) -> str | None:
        """Return the run on show: the chosen one, else the newest that goes on, else the newest."""
        if self.shown in self.rows:
            return self.shown
        going = (key for key, run in self.rows.items() if run.status not in ENDED_RUN_STATES)
        return next(going, next(iter(self.rows), None))

    def view(self, actions: Iterable[Action], now: int, run_id: str | None = None) -> "PipelineRun | None":
        """Return a run for the screen: the one on show unless another is named."""
        key = run_id or self.current
        row = self.rows.get(key or "")
        if key is None or row is None:
            return None
        from workbench.views.pipeline import RunLinks, pipeline_run

        if key not in self._steps:
            self._read_steps(key)
        if not self._plans.get(key):
            self._plans[key] = self._source.run_plan(key)
        known = self._items.setdefault(key, {})
        listed = self._lists(key)
        plans, steps = self._plans[key], self._steps[key]
        if self._links is None:
            self._links = RunLinks(self._source.run_events)
        links = self._links.of(key, plans, steps)
        place = self._source.place_wait(key) if row.status == "running" else ""
        refused, asked = self.refused_calls(key), tuple(actions)
        run = pipeline_run(row, plans, steps.values(), asked, now, known, listed, links, place, refused)
        if key == self.current:
            waiting = {step.action_id for step in run.steps}
            self._times_left = [(one, seconds_left(one, now)) for one in asked if one.id in waiting]
        return run

    def _lists(self, run_id: str) -> Mapping[str, tuple[str, ...]]:
        """Return the items of the matrices of a run that know theirs; what no event said is read once."""
        listed, steps = self._listed.setdefault(run_id, {}), self._steps[run_id]
        for plan in self._plans[run_id]:
            row = steps.get(step_key(run_id, plan.id))
            if plan.is_matrix and plan.id not in listed and row is not None and row.attempt:
                listed[plan.id] = self._source.run_items(run_id, plan.id)
        return listed

    def before(self, run: "PipelineRun") -> Mapping[str, float]:
        """Return the seconds that each step took in the last completed run of the same pipeline."""
        previous_id = next(
            (
                key
                for key, row in self.rows.items()
                if row.status == "completed" and row.pipeline_name == run.name and key != run.id
            ),
            None,
        )
        if previous_id is None:
            return {}
        known = self._taken.get(run.name)
        if known is None or known[0] != previous_id:
            rows = self._source.run_steps(previous_id)
            matrices = {row.matrix for row in rows}
            known = (
                previous_id,
                {row.step_id: _step_duration(row, matrices) for row in rows if not row.matrix},
            )
            self._taken[run.name] = known
        return known[1]

    def newer_than(self, run: "PipelineRun") -> str:
        """Return the title of a run that goes on and began after another one; not of one below it."""
        for key, row in self.rows.items():
            if row.created_at <= run.created_at:
                break
            is_over = row.status in ENDED_RUN_STATES or row.status == LOST
            session = None if is_over else self._source.session(key)
            if session is not None and session.parent_id is None:
                return run_title(row)
        return ""

    @property
    def running(self) -> Iterator[str]:
        """Yield the runs that a process drives, as far as was looked."""
        return (key for key, row in self.rows.items() if row.status == "running")

    @property
    def is_moving(self) -> bool:
        """Return whether the duration of the run on show changes with every second."""
        row = self.rows.get(self.current or "")
        return row is not None and row.status == "running"

    def looks_otherwise(self, now: int) -> bool:
        """Return whether the run on show has to be drawn again: it runs, or less time is left to answer."""
        row = self.rows.get(self.current or "")
        is_over = row is None or row.status in ENDED_RUN_STATES
        has_less = any(seconds_left(action, now) != left for action, left in self._times_left)
        return not is_over and (self.is_moving or has_less)
