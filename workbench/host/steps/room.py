"""How much room is left for pipelines below pipelines: their steps and tokens, over every level of a run.

Owns what counts as a step of a pipeline that another one starts. It starts nothing and ends nothing.
"""

from dataclasses import dataclass, field
from typing import Self

from workbench.journal.journal import Journal

Path = tuple[str, ...]
"""How a run is reached from the topmost one: step and pipeline, for each level."""


@dataclass(slots=True)
class Room:
    """What the runs below one topmost run came to so far."""

    steps: dict[Path, int] = field(default_factory=dict[Path, int])
    """Steps of each pipeline that a step starts. The items of a list, the rounds of a loop and what was tried
    again count once: this bounds how much a run may think up, and their number has limits of its own."""

    @classmethod
    def below(cls, journal: Journal, run_id: str) -> Self:
        """Return what is below a run already, as after a crash."""
        room = cls()
        room._read(journal, run_id, ())
        return room

    def _read(self, journal: Journal, run_id: str, path: Path) -> None:
        for step in journal.step_states(run_id):
            child = journal.pipeline_state(step.session_id) if step.session_id else None
            if child is None:
                continue
            here = (*path, step.matrix or step.step_id, child.pipeline_name)
            if here not in self.steps:
                self.steps[here] = sum(not one.matrix for one in journal.step_states(child.pipeline_id))
            self._read(journal, child.pipeline_id, here)

    def with_more(self, path: Path, steps: int) -> int:
        """Return how many steps it would come to if that pipeline were started there."""
        return sum(self.steps.values()) - self.steps.get(path, 0) + steps


def tokens_below(journal: Journal, run_id: str) -> dict[str, int]:
    """Return the tokens of each run that a run has started, those of failed attempts too."""
    below = journal.sessions(parent_id=run_id, kinds=("pipeline",))
    rows = (journal.pipeline_state(one.id) for one in below)
    return {row.pipeline_id: row.usage.total_tokens for row in rows if row is not None}
