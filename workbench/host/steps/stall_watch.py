"""The end of an agent of this program that produces no event for too long (`runtime.stall_timeout`)."""

# A program of a step is held by the process that owns it, also while no driver follows it.

import asyncio
from collections.abc import Callable
from typing import Self

from msgspec.structs import replace

from workbench.domain.step_messages import StepOutcome
from workbench.text.human import duration_text


class StallWatch:
    """Stops a step once no event of it was noted for some seconds; with 0 it never does."""

    def __init__(
        self, seconds: float, stop: Callable[[], None], loop: asyncio.AbstractEventLoop | None = None
    ) -> None:
        """Watch with the clock of a loop, by default the running one; `stop` is called at most once."""
        self._seconds, self._stop = seconds, stop
        self._loop = loop or asyncio.get_running_loop()
        self._last = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self._is_stalled = False

    def __enter__(self) -> Self:
        self.note()
        self._wait()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def note(self) -> None:
        """Note that the step produced something."""
        self._last = self._loop.time()

    @property
    def _due(self) -> float:
        return self._last + self._seconds

    def _wait(self) -> None:
        if self._seconds > 0:
            self._timer = self._loop.call_at(self._due, self._look)

    def _look(self) -> None:
        if self._loop.time() < self._due:
            self._wait()
            return
        self._is_stalled = True
        self._stop()

    def outcome(self, outcome: StepOutcome) -> StepOutcome:
        """Return how the step ended: one that was stopped here has failed and may be tried again."""
        if not self._is_stalled or outcome.state != "cancelled":
            return outcome
        return replace(outcome, state="failed", reason=stall_reason(self._seconds), is_retryable=True)


def stall_reason(seconds: float) -> str:
    """Return why a step was ended that produced nothing for some seconds."""
    return f"it produced nothing for {duration_text(seconds)} and was ended (runtime.stall_timeout)"
