"""Playing a recording: which moment is shown after so much time, at a speed, from wherever one went.

Pure: it is told how much time has passed and asked for the moment. What is shown there is the source's.
"""

import math
import re
from datetime import datetime, timedelta
from typing import Final

from workbench.views.marks import Jump, Mark
from workbench.views.reel import Reel

SPEEDS: Final = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, math.inf)
"""Times as fast as it was; the last is as fast as it can be shown."""
AT_ONCE: Final = 200
"""Events a tick at the highest speed."""
_SECOND: Final = 1_000_000


class Player:
    """Where a replay is. It begins paused, with the first event shown, where there is one."""

    def __init__(self, reel: Reel, speed: float = 1.0) -> None:
        """Stand at the beginning of a recording; `speed` is one of `SPEEDS`."""
        self.reel, self.speed = reel, speed
        self.index = self.first
        self.is_playing = self.is_following = False
        self.played = 0.0
        """In played time, microseconds from the start."""

    @property
    def first(self) -> int:
        """Return the earliest moment: the first event, 0 in a recording without any."""
        return min(1, len(self.reel))

    @property
    def is_at_end(self) -> bool:
        """Return whether every event is shown."""
        return self.index >= len(self.reel)

    @property
    def now(self) -> int:
        """Return the recorded time, microseconds since the epoch; between two events it goes on."""
        return (
            self.reel.recorded_at(self.played) if self.index < len(self.reel) else self.reel.time(self.index)
        )

    @property
    def elapsed(self) -> int:
        """Return the recorded time since the first event, microseconds."""
        return max(0, self.now - self.reel.time(0))

    # --- time goes on ---------------------------------------------------------------------------

    def outruns(self, seconds: float) -> bool:
        """Return whether so much more time leads behind what was read of the recording so far."""
        if self.reel.is_whole or not self.is_playing:
            return False
        return self.played + max(0.0, seconds) * _SECOND * self.speed >= self.reel.length

    def completed(self) -> None:
        """Be told that all of the recording is read: its times may turn out to be others."""
        if self.reel.index_played(self.played) != self.index:
            self._stand(self.index)

    def tick(self, seconds: float) -> int:
        """Let time pass and return the moment; at the end it is paused."""
        if self.is_playing:
            if math.isinf(self.speed):
                self._stand(min(self.index + AT_ONCE, len(self.reel)))
            else:
                self.played = min(self.played + max(0.0, seconds) * _SECOND * self.speed, self.reel.length)
                # A jump stands just after its event, which others of the same time may follow.
                self.index = max(self.index, self.reel.index_played(self.played))
            self.is_playing = not self.is_at_end
        return self.index

    def toggle(self) -> None:
        """Play or pause; at the end from the beginning again."""
        if not self.is_playing and self.is_at_end:
            self.seek(self.first)
        self.is_playing = not self.is_playing and not self.is_at_end
        self.is_following = False

    def faster(self, step: int) -> None:
        """Take the next higher (1) or lower (-1) speed, if there is one."""
        at = SPEEDS.index(self.speed) + step
        self.speed = SPEEDS[max(0, min(at, len(SPEEDS) - 1))]

    # --- going somewhere --------------------------------------------------------------------------

    def _stand(self, index: int) -> None:
        self.index = max(self.first, min(index, len(self.reel)))
        self.played = float(self.reel.played(self.index))

    def seek(self, index: int) -> int:
        """Go to a moment and return it; what follows a growing session stops."""
        self.is_following = False
        self._stand(index)
        self.is_playing = self.is_playing and not self.is_at_end
        return self.index

    def skip(self, seconds: float) -> int:
        """Go on, or back, by played seconds."""
        self.is_following = False
        self.played = max(0.0, min(self.played + seconds * _SECOND, float(self.reel.length)))
        self.index = max(self.first, self.reel.index_played(self.played)) if len(self.reel) else 0
        self.is_playing = self.is_playing and not self.is_at_end
        return self.index

    def step(self, events: int) -> int:
        """Go on, or back, by events, and pause there."""
        self.is_playing = False
        return self.seek(self.index + events)

    def jump(self, kind: Jump | None, step: int) -> Mark | None:
        """Go to the next (1) or previous (-1) mark of a kind, or of any; None when there is none."""
        found = self.reel.jump(self.index, kind, step)
        if found is not None:
            self.seek(found.index)
        return found

    def follow(self) -> int:
        """Go to the end and stay there while the recording grows."""
        self._stand(len(self.reel))
        self.is_playing, self.is_following = False, True
        return self.index

    def grown(self) -> int:
        """Be told that events came; return the moment, which moves only if the end is followed."""
        if self.is_following:
            self._stand(len(self.reel))
        return self.index


# --- moments as people write them -----------------------------------------------------------------

_CLOCK: Final = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")
_SHARE: Final = re.compile(r"(\d{1,3}(?:\.\d{1,3})?)\s?%")
_NUMBER: Final = re.compile(r"#?(\d{1,12})")


def moment(text: str, reel: Reel) -> int | None:
    """Return the moment that `12:01:31` (local time), `35 %` or `#412` names; None if it names none.

    A time of day is the first one since the recording began; a share is one of its played time.
    """
    words = text.strip()
    if found := _CLOCK.fullmatch(words):
        return _at_clock(reel, int(found[1]), int(found[2]), int(found[3] or 0))
    if found := _SHARE.fullmatch(words):
        share = float(found[1]) / 100
        return None if share > 1 else reel.index_played(reel.length * share)
    if found := _NUMBER.fullmatch(words):
        number = int(found[1])
        return number if number <= len(reel) else None
    return None


def _at_clock(reel: Reel, hours: int, minutes: int, seconds: int) -> int | None:
    if not len(reel) or hours > 23 or minutes > 59 or seconds > 59:
        return None
    begun = datetime.fromtimestamp(reel.time(0) // _SECOND)
    then = begun.replace(hour=hours, minute=minutes, second=seconds)
    if then < begun:
        then += timedelta(days=1)
    # The whole second counts: what happened in it is shown.
    at = int(then.timestamp()) * _SECOND + _SECOND - 1
    return reel.index_at(at) if at - reel.time(0) <= reel.recorded + _SECOND else None
