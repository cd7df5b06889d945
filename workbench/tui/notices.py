"""When the bell rings, and what was said lately.

Pure but for the moments it is told: once a burst when the queue was empty and something waits, and when
something comes under a minute.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from workbench.views.queue import QueueSummary

BURST_SECONDS: Final = 2.0
_KEPT: Final = 100


@dataclass(slots=True)
class Notices:
    """What the user was told."""

    kept: deque[str] = field(default_factory=lambda: deque[str](maxlen=_KEPT))
    rings: bool = False
    """Whether the bell is to ring for what was looked at last."""
    _waiting: int | None = None
    _urgency: str = "calm"
    _rang_at: float = -BURST_SECONDS

    def look(self, summary: QueueSummary, at: float) -> None:
        """Note what waits now."""
        begins = self._waiting == 0 and summary.waiting > 0
        presses = summary.urgency == "now" and self._urgency != "now"
        self.rings = (begins or presses) and at - self._rang_at >= BURST_SECONDS
        if self.rings:
            self._rang_at = at
        self._waiting, self._urgency = summary.waiting, summary.urgency
