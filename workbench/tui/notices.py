"""When the bell rings, and what was said lately.

Pure but for the moments it is told: once a burst when the queue was empty and something waits, and when
something comes under a minute.
"""

from collections import deque
from dataclasses import field
from typing import Final

from workbench.config.values import Notify
from workbench.records import dataclass
from workbench.views.queue import QueueSummary

BURST_SECONDS: Final = 2.0
_KEPT: Final = 100


@dataclass(frozen=True, slots=True)
class Kept:
    """One sentence that the screen said, and when, in microseconds."""

    at: int
    text: str
    is_error: bool = False


@dataclass(slots=True)
class Notices:
    """What the user was told."""

    wishes: Notify | None = None
    """What the user wants to be told of; None is bell and title."""
    kept: deque[Kept] = field(default_factory=lambda: deque[Kept](maxlen=_KEPT))
    rings: bool = False
    """Whether the bell is to ring for what was looked at last."""
    begins: bool = False
    """Whether something waits where nothing waited before."""
    _waiting: int | None = None
    _urgency: str = "calm"
    _rang_at: float = -BURST_SECONDS

    def look(self, summary: QueueSummary, at: float) -> None:
        """Note what waits now."""
        self.begins = self._waiting == 0 and summary.waiting > 0
        presses = summary.urgency == "now" and self._urgency != "now"
        wants = self.wishes is None or self.wishes.bell
        self.rings = wants and (self.begins or presses) and at - self._rang_at >= BURST_SECONDS
        if self.rings:
            self._rang_at = at
        self._waiting, self._urgency = summary.waiting, summary.urgency

    @property
    def has_title(self) -> bool:
        """Return whether the terminal's title says what waits."""
        return self.wishes is None or self.wishes.title

    def goes_out(self, *, has_terminal_focus: bool) -> bool:
        """Return whether a notice leaves the terminal for what was looked at last."""
        wish = "off" if self.wishes is None else self.wishes.desktop
        return self.begins and (wish == "always" or (wish == "away" and not has_terminal_focus))
