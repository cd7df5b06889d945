"""What the user did in an agent's own screen, as its session file says: refuse a call, interrupt a turn.

An agent runs no hook when that happens, or none that waits. Nothing here allows a call.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct, field

from workbench.domain.rows import Call
from workbench.effects.growing_file import GrowingFile
from workbench.formats.gemini import interruption_time
from workbench.formats.input import MOST_LINE, JsonLine, json_values
from workbench.formats.records import ResultState

WATCHED_FORMATS: Final = ("gemini",)
"""Formats of which only interruptions are read, because a later line of them changes an earlier one."""
INTERRUPTED: Final = "it was interrupted in the agent's own screen"
ALLOWED_THERE: Final = "it was allowed in the agent's own screen"
_REASONS: Final[dict[ResultState, str]] = {
    "rejected": "it was refused in the agent's own program",
    "cancelled": INTERRUPTED,
    "interrupted": INTERRUPTED,
}
"""Why a call ends whose result in the file has one of these states."""

_MOST_TEXT: Final = 4_000
"""Characters of a result that are kept."""


class ScreenAnswers(Struct):
    """What the session file says so far."""

    reasons: dict[str, str] = field(default_factory=dict[str, str])
    """By the id of a call why it was not made."""
    failures: dict[str, str] = field(default_factory=dict[str, str])
    """By the id of a call that failed what its model was given; a rule of its user may have refused it."""
    announced: dict[str, str] = field(default_factory=dict[str, str])
    """The call that the agent has announced, by the id of one that replaces it."""
    interrupted_at: int = 0
    """The time of the last interruption in microseconds; 0 if there was none."""

    def note_result(self, call_id: str, state: ResultState, text: str) -> None:
        if state in _REASONS:
            self.reasons[call_id] = _REASONS[state]
        elif state == "failed":
            self.failures[call_id] = text[:_MOST_TEXT]

    def note_replacement(self, call_id: str, replaced: str) -> None:
        self.announced[call_id] = self.announced.get(replaced, replaced)

    def note_interruption(self, time_us: int | None, now: int) -> None:
        """Note when a turn was interrupted; a time after `now` counts as now, so that no later call ends."""
        self.interrupted_at = max(self.interrupted_at, min(time_us or 0, now))

    def failure(self, call_id: str) -> str | None:
        """Return what the model was given of a call that failed; None if it did not."""
        return self.failures.get(self.announced.get(call_id, call_id))

    def about(self, calls: Iterable[Call]) -> Iterator[tuple[Call, str]]:
        """Yield the calls that were refused or interrupted there, and why they end."""
        for call in calls:
            reason = self.reasons.get(self.announced.get(call.id, call.id))
            if reason is None and call.requested_at <= self.interrupted_at:
                reason = INTERRUPTED
            if reason is not None:
                yield call, reason


class InterruptionWatch:
    """Reads the interruptions in a growing session file of `WATCHED_FORMATS`."""

    def __init__(self, path: str) -> None:
        self._file = GrowingFile(path, MOST_LINE)

    def read(self, most: int, answers: ScreenAnswers, now: int) -> bool:
        """Note what at most so many new bytes say at a time; returns whether there are more.

        Raises OSError, FileRefused.
        """
        growth = self._file.read(most)
        for line in json_values(growth.lines, growth.first):
            if isinstance(line, JsonLine):
                answers.note_interruption(interruption_time(line.value), now)
        return growth.has_more
