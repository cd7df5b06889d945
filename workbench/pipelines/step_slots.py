"""Slots: how many steps a run and the runs below it may have at once.

Each slot also takes a place among all runs. A run without a place waits in a queue, where it stands once,
however many of its steps are ready.
"""

from collections.abc import Callable
from typing import Final, Protocol

NEXT_LOOK_SECONDS: Final = 0.03
"""Seconds until the next run in the queue looks for a place again: other processes report no ended step."""
LATER_LOOK_SECONDS: Final = 1.0
"""Seconds until any other run in the queue looks, which is woken when it is next."""


class StepPlace(Protocol):
    """A place that a step has among all that run."""

    def release(self) -> None: ...


class StepPlaces(Protocol):
    """The places that all runs of a workspace and of a home share."""

    def take(self, run_id: str, wake: Callable[[], None]) -> StepPlace | None:
        """Take a place; None if there is none: the run is then queued until it has one or withdraws.

        `wake` is called when it is worth trying again.
        """
        ...

    def withdraw(self, run_id: str) -> None:
        """Leave the queue; nothing happens where a run is not in it."""
        ...

    def before(self, run_id: str) -> int | None:
        """Return how many runs are queued before a run; None if it does not wait."""
        ...

    def is_next(self, run_id: str) -> bool:
        """Return whether a run that waits has to look for places that other processes give back."""
        ...


class StepSlots:
    """The slots of one run and the runs below it."""

    def __init__(self, limit: int, places: StepPlaces) -> None:
        self.limit, self._places = limit, places
        self._held: list[StepPlace] = []
        self._waiting: set[str] = set()

    @property
    def is_busy(self) -> bool:
        """Return whether a step runs, or waits for a place."""
        return bool(self._held or self._waiting)

    def take(self, run_id: str, wake: Callable[[], None]) -> bool:
        """Take a slot for a step of a run; False if there is none, or the run waits for a place.

        `wake` is called when a run that waits has to try again.
        """
        if len(self._held) + len(self._waiting - {run_id}) >= self.limit:
            return False
        place = self._places.take(run_id, wake)
        if place is None:
            self._waiting.add(run_id)
            return False
        self._waiting.discard(run_id)
        self._held.append(place)
        return True

    def release(self) -> None:
        self._held.pop().release()

    def withdraw(self, run_id: str) -> None:
        """Say that a run has nothing to start any more."""
        self._waiting.discard(run_id)
        self._places.withdraw(run_id)

    def before(self, run_id: str) -> int | None:
        """Return how many runs wait for a place before a run; None if it does not wait."""
        return self._places.before(run_id) if run_id in self._waiting else None

    def is_waiting(self, run_id: str) -> bool:
        """Return whether a run waits for a place."""
        return run_id in self._waiting

    def seconds_to_next_look(self, run_id: str) -> float | None:
        """Return when a run that waits looks again; None where it does not wait."""
        if not self.is_waiting(run_id):
            return None
        return NEXT_LOOK_SECONDS if self._places.is_next(run_id) else LATER_LOOK_SECONDS
