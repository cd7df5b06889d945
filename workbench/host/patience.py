"""How long a model call that failed is tried again: what passes by itself, how often, after which wait.

Owns those numbers and the words for them. It never waits by itself, and never tries again what a human
must mend.
"""

import random
from typing import Final

from workbench.domain.messages import FailurePart
from workbench.providers.failures import LOADING

RETRIES: Final = 3
"""How often a call is repeated that a provider refused for the moment (408, 409, 425, 429, 5xx)."""
LONGEST_WAIT: Final = 120.0
"""Seconds that are waited because a provider asks for it; for more a human is told instead."""
LOADING_SECONDS: Final = 900.0
"""Seconds that are waited for a server that says it is loading its model."""

_LONGEST_BACKOFF: Final = 30.0
_LOADING_STEP: Final = 3.0
_PASSING: Final = (408, 409, 425, 429)


class Patience:
    """What one model call has waited so far."""

    def __init__(self, seed: str) -> None:
        """Start a call.

        Args:
            seed: Differs from call to call: who was refused together must not come back together.
        """
        self.tries = 0
        self.loading = 0.0
        self._draw = random.Random(seed)

    def wait(self, failure: FailurePart) -> float | None:
        """Return the seconds until the next try; None when there is none."""
        asked = failure.retry_after_s
        if not is_momentary(failure) or (asked is not None and asked > LONGEST_WAIT):
            return None
        if failure.code == LOADING:
            step = asked or _LOADING_STEP
            self.loading += step
            return step if self.loading <= LOADING_SECONDS else None
        if self.tries == RETRIES:
            return None
        self.tries += 1
        return asked or min(2.0 ** (self.tries - 1), _LONGEST_BACKOFF) * self._draw.uniform(0.75, 1.0)

    def words(self, failure: FailurePart, wait: float) -> str:
        """Say what happens next, after `wait` has counted it."""
        if failure.code == LOADING:
            return f"Waiting up to {LOADING_SECONDS / 60:.0f} minutes for it."
        return f"Trying again in {_seconds(wait)} (try {self.tries} of {RETRIES})."

    def last_words(self, failure: FailurePart) -> str:
        """Say why it is not tried again, where that is not plain."""
        asked = failure.retry_after_s
        if is_momentary(failure) and asked is not None and asked > LONGEST_WAIT:
            return f"It asks to come back in {_seconds(asked)}."
        return f"{self.tries} more tries did not help." if self.tries > 1 else ""


def is_momentary(failure: FailurePart) -> bool:
    """Return whether a failure may pass by itself."""
    status = failure.status
    return failure.recoverable and status is not None and (status in _PASSING or status >= 500)


def _seconds(wait: float) -> str:
    if wait < 90:
        return f"{wait:.0f} s" if wait >= 10 else f"{wait:.1f} s"
    return f"{wait / 60:.0f} minutes"
