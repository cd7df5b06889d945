"""The protocol through which the screen reads rows and events, live or replayed."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from workbench.domain.events import ActionOpened, Event
from workbench.domain.rows import Action, Call, PipelineState, Session, StepState
from workbench.domain.values import Hunk, JsonObject, StepPlan


class SealedContentGone(Exception):
    """Sealed bytes were deleted or are damaged."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class DataSource(Protocol):
    """Rows and events as they stand at a moment."""

    @property
    def is_live(self) -> bool:
        """Return whether answers count here; False in a replay."""
        ...

    def now(self) -> int:
        """Return the moment that is shown, in microseconds."""
        ...

    @property
    def are_agents_held(self) -> bool:
        """Return whether every call of every agent asked at this moment."""
        ...

    def position(self) -> int:
        """Return the position of the newest event that the answers below include."""
        ...

    def sessions(self, limit: int) -> Sequence[Session]: ...

    def session(self, session_id: str) -> Session | None: ...

    def actions(self, limit_decided: int) -> Sequence[Action]:
        """Return all pending actions and the newest decided ones."""
        ...

    def action(self, action_id: str) -> Action | None: ...

    def calls(self, session_id: str) -> Sequence[Call]: ...

    def call(self, call_id: str) -> Call | None: ...

    def events(self, session_id: str, after: int, limit: int) -> Sequence[Event]:
        """Return events of a session by position, from the first behind `after`."""
        ...

    def call_events(self, call_id: str) -> Sequence[Event]: ...

    def runs(self, limit: int) -> Sequence[PipelineState]: ...

    def run(self, run_id: str) -> PipelineState | None: ...

    def run_plan(self, run_id: str) -> tuple[StepPlan, ...]:
        """Return what a run was last started with; empty while it is queued."""
        ...

    def run_steps(self, run_id: str) -> Sequence[StepState]: ...

    def run_step(self, run_id: str, step_id: str) -> StepState | None: ...

    def run_items(self, run_id: str, step_id: str) -> tuple[str, ...]:
        """Return the ids of the items of a matrix step; empty as long as they are not known."""
        ...

    def run_events(self, run_id: str, step_id: str) -> Sequence[Event]:
        """Return the events of one step of a run and of its items, in order."""
        ...

    def refused_calls(self, run_id: str) -> Mapping[str, int]:
        """Count the refused calls of each session below a run, with those below it; leave zeros out."""
        ...

    def place_wait(self, run_id: str) -> str:
        """Say what a run waits for that waits for a place among all runs; empty for any other."""
        ...

    def text_of(self, ref: str) -> str | None:
        """Return a recorded blob as text; None if it is not kept."""
        ...

    def asked_again(self, session_id: str) -> Collection[str]:
        """Return the expired actions of a session that its agent was asked to propose again."""
        ...

    @property
    def has_times(self) -> bool:
        """Return whether its times were recorded, and not only those of an import."""
        ...

    def opened(self, action: Action) -> ActionOpened | None:
        """Return the proposal as it was recorded; None when its session was deleted."""
        ...

    def exact_hunks(self, action: Action) -> tuple[Hunk, ...]:
        """Return hunks: of a pending action the sealed ones, or SealedContentGone; else the recorded ones."""
        ...

    def base_lines(self, action: Action) -> Mapping[str, tuple[str, ...]]:
        """Return the present lines of the files that a live pending action would change, by path."""
        ...

    def exact_parameters(self, action: Action) -> JsonObject:
        """Return parameters as the agent wrote them, while it is pending (or raise SealedContentGone)."""
        ...
