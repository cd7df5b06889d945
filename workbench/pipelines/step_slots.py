"""Slots: how many steps run at once, over a run and the runs below it, and over all runs that share places.

A slot is taken at once or not at all. Who has to wait for a place stands in a queue, one place a run, so that
a list of thousands goes round with all others; who wants none any more has to leave it.
"""

from typing import Final, Protocol

NEXT_LOOK_SECONDS: Final = 0.05
"""Seconds until whose turn it is looks for a place again: a process that ends its step tells nobody else."""
LATER_LOOK_SECONDS: Final = 0.25
"""Seconds until anybody else in the queue does."""

NOTED_WAIT_SECONDS: Final = 1.0
"""Seconds that a step waits for a place before the record says so."""


class StepPlace(Protocol):
    """A place that a step has among all that run."""

    def release(self) -> None: ...


class StepPlaces(Protocol):
    """The places that all runs of a workspace and of a home share."""

    def take(self, run_id: str) -> StepPlace | None:
        """Take a place, or None: then the run stands in the queue until it has one or withdraws."""
        ...

    def withdraw(self, run_id: str) -> None:
        """Leave the queue; nothing happens where a run is not in it."""
        ...

    def before(self, run_id: str) -> int | None:
        """Return how many stand before a run in its queue; None where it does not wait."""
        ...


class _NoPlace:
    """The place of a step where nothing is shared."""

    def release(self) -> None:
        return


class Unshared:
    """Places without a limit."""

    def take(self, run_id: str) -> StepPlace | None:
        del run_id
        return _NoPlace()

    def withdraw(self, run_id: str) -> None:
        del run_id

    def before(self, run_id: str) -> int | None:
        del run_id
        return None


class StepSlots:
    """The slots of one run and the runs below it."""

    def __init__(self, limit: int, places: StepPlaces | None = None) -> None:
        self.limit = limit
        self._places = places or Unshared()
        self._held: list[StepPlace] = []
        self._waiting: set[str] = set()

    @property
    def is_busy(self) -> bool:
        """Return whether a step runs, or waits for a place."""
        return bool(self._held or self._waiting)

    def take(self, run_id: str) -> bool:
        """Take a slot for a step of a run; False if there is none, or the run waits for a place."""
        if len(self._held) + len(self._waiting - {run_id}) >= self.limit:
            return False
        place = self._places.take(run_id)
        if place is None:
            self._waiting.add(run_id)
            return False
        self._waiting.discard(run_id)
        self._held.append(place)
        return True

    def give(self) -> None:
        self._held.pop().release()

    def withdraw(self, run_id: str) -> None:
        """Say that a run has nothing to start any more."""
        self._waiting.discard(run_id)
        self._places.withdraw(run_id)

    def before(self, run_id: str) -> int | None:
        """Return how many stand before a run that waits for a place; None where it does not wait."""
        return self._places.before(run_id) if run_id in self._waiting else None

    def seconds_to_next_look(self, run_id: str) -> float | None:
        """Return when a run that waits looks again; None where it does not wait."""
        before = self.before(run_id)
        return None if before is None else LATER_LOOK_SECONDS if before else NEXT_LOOK_SECONDS
