"""Replay of a recording: the player, two recordings in step, the bar's facts."""

# A long replay is shown before it is read. The first frame has the first 1,000 events and what two look-ups
# in an index say of the rest (how many, when the last was); a thread reads the rest as columns that the
# database makes, which keeps no other thread from running. A key that needs more than the beginning waits
# for that thread.

import functools
import math
import re
from bisect import bisect_left
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from workbench.text.human import (
    DAY_MICROS,
    MINUTE_MICROS,
    SECOND_MICROS,
    clock_time_seconds,
    countdown_text,
    duration_text,
)
from workbench.views.status_icons import IconName
from workbench.views.timeline import MarkKind, Timeline, TimelineMark

SPEEDS: Final = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, math.inf)
"""Times as fast as it was; the last is as fast as it can be shown."""
EVENTS_PER_TICK: Final = 200
AT_WORK_MICROS: Final = 10 * MINUTE_MICROS
"""How old the newest event of an imported session may be while its agent counts as at work."""


class Player:
    """Where a replay is. It begins paused, with the first event shown, where there is one."""

    def __init__(self, timeline: Timeline, speed: float = 1.0) -> None:
        self.timeline, self.speed = timeline, speed
        self.index = self.first
        self.is_playing = self.is_following = False
        self.played = 0.0
        """In played time, microseconds from the start."""

    @property
    def first(self) -> int:
        return min(1, len(self.timeline))

    @property
    def is_at_end(self) -> bool:
        return self.index >= len(self.timeline)

    @property
    def now(self) -> int:
        """Return the recorded time, microseconds since the epoch; between two events it goes on."""
        return (
            self.timeline.recorded_at(self.played)
            if self.index < len(self.timeline)
            else self.timeline.time(self.index)
        )

    @property
    def elapsed(self) -> int:
        """Return the recorded time since the first event, microseconds."""
        return max(0, self.now - self.timeline.time(0))

    # --- time goes on ---------------------------------------------------------------------------

    def passes_read_part(self, seconds: float) -> bool:
        """Return whether so much more time leads past what has been read."""
        if self.timeline.is_whole or not self.is_playing:
            return False
        return self.played + max(0.0, seconds) * SECOND_MICROS * self.speed >= self.timeline.length

    def completed(self) -> None:
        """Note that all of the recording is read: its times may have changed."""
        if self.timeline.index_played(self.played) != self.index:
            self._move_to(self.index)

    def tick(self, seconds: float) -> int:
        """Let time pass and return the moment; at the end it is paused."""
        if self.is_playing:
            if math.isinf(self.speed):
                self._move_to(min(self.index + EVENTS_PER_TICK, len(self.timeline)))
            else:
                self.played = min(
                    self.played + max(0.0, seconds) * SECOND_MICROS * self.speed, self.timeline.length
                )
                # A jump stands just after its event, which others of the same time may follow.
                self.index = max(self.index, self.timeline.index_played(self.played))
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
        index = SPEEDS.index(self.speed) + step
        self.speed = SPEEDS[max(0, min(index, len(SPEEDS) - 1))]

    # --- going somewhere --------------------------------------------------------------------------

    def _move_to(self, index: int) -> None:
        self.index = max(self.first, min(index, len(self.timeline)))
        self.played = float(self.timeline.played(self.index))

    def seek(self, index: int) -> int:
        """Go to a moment and return it; what follows a growing session stops."""
        self.is_following = False
        self._move_to(index)
        self.is_playing = self.is_playing and not self.is_at_end
        return self.index

    def skip(self, seconds: float) -> int:
        self.is_following = False
        self.played = max(0.0, min(self.played + seconds * SECOND_MICROS, float(self.timeline.length)))
        self.index = max(self.first, self.timeline.index_played(self.played)) if len(self.timeline) else 0
        self.is_playing = self.is_playing and not self.is_at_end
        return self.index

    def step(self, events: int) -> int:
        self.is_playing = False
        return self.seek(self.index + events)

    def jump(self, kind: MarkKind | None, step: int) -> TimelineMark | None:
        """Go to the next (1) or previous (-1) mark of a kind, or of any; None when there is none."""
        mark = self.timeline.jump(self.index, kind, step)
        if mark is not None:
            self.seek(mark.index)
        return mark

    def follow(self) -> int:
        """Go to the end and stay there while the recording grows."""
        self._move_to(len(self.timeline))
        self.is_playing, self.is_following = False, True
        return self.index

    def grown(self) -> int:
        """Note that events came or went; return the moment, which moves only if the end is followed."""
        if self.is_following or self.index > len(self.timeline):
            self._move_to(len(self.timeline))
        return self.index


# --- moments as people write them -----------------------------------------------------------------

_CLOCK_PATTERN: Final = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")
_SHARE_PATTERN: Final = re.compile(r"(\d{1,3}(?:\.\d{1,3})?)\s?%")
_NUMBER_PATTERN: Final = re.compile(r"#?(\d{1,12})")


def parse_replay_moment(text: str, timeline: Timeline) -> int | None:
    """Return the moment of `0:30` from the start, `12:01:31` (local time), `35 %` or `#412`; else None.

    A time is first tried as the bar writes it, from the start (`0:30`, `1:02:03`), then as a time of day; one
    that begins with two digits and has seconds (`12:01:31`), or with 0 and another digit, the other way.
    """
    words = text.strip()
    if match := _CLOCK_PATTERN.fullmatch(words):
        return _moment_at_time(timeline, match[1], match[2], match[3])
    if match := _SHARE_PATTERN.fullmatch(words):
        share = float(match[1]) / 100
        return None if share > 1 else timeline.index_played(timeline.length * share)
    if match := _NUMBER_PATTERN.fullmatch(words):
        number = int(match[1])
        return number if number <= len(timeline) else None
    return None


def _moment_at_time(timeline: Timeline, first: str, second: str, third: str | None) -> int | None:
    numbers = [int(text) for text in (first, second, third) if text is not None]
    on_clock = _moment_at_clock(timeline, *numbers)
    from_start = _moment_from_start(timeline, numbers)
    is_clock_first = len(first) == 2 and (third is not None or first.startswith("0"))
    both = (on_clock, from_start) if is_clock_first else (from_start, on_clock)
    return next((index for index in both if index is not None), None)


def _moment_from_start(timeline: Timeline, numbers: Sequence[int]) -> int | None:
    """Return the last moment at which the bar shows a time, or one before where none shows it."""
    seconds = functools.reduce(lambda whole, number: whole * 60 + number, numbers)
    is_time = all(number < 60 for number in numbers[1:])
    if not len(timeline) or not is_time or seconds > timeline.recorded // SECOND_MICROS:
        return None
    return timeline.index_at(timeline.time(0) + seconds * SECOND_MICROS + SECOND_MICROS - 1)


def replay_moment_forms(timeline: Timeline) -> str:
    """Return the moments that a recording has, as people write them; empty where it has no events."""
    if not len(timeline):
        return ""
    first, last = timeline.time(0), timeline.time(len(timeline))
    forms = [f"0:00 to {_time_text(timeline.recorded)} from its start"]
    if not timeline.is_steady and last - first < DAY_MICROS:
        forms.append(f"{clock_time_seconds(first)} to {clock_time_seconds(last)}")
    return ", ".join([*forms, "0% to 100%"]) + f" or #1 to #{len(timeline)}"


def _moment_at_clock(timeline: Timeline, hours: int, minutes: int, seconds: int = 0) -> int | None:
    if not len(timeline) or hours > 23 or minutes > 59 or seconds > 59:
        return None
    begun = datetime.fromtimestamp(timeline.time(0) // SECOND_MICROS)
    then = begun.replace(hour=hours, minute=minutes, second=seconds)
    if then < begun:
        then += timedelta(days=1)
    # The whole second counts: what happened in it is shown.
    moment = int(then.timestamp()) * SECOND_MICROS + SECOND_MICROS - 1
    return (
        timeline.index_at(moment) if moment - timeline.time(0) <= timeline.recorded + SECOND_MICROS else None
    )


_PROMPT_MARK: Final = "prompt"


class SyncedReplay:
    """A player, and a second recording that follows it."""

    def __init__(self, player: Player, other: Timeline) -> None:
        self.player, self.other = player, other
        self._ahead = 0.0
        """Played microseconds that the second one is ahead."""

    @property
    def index(self) -> int:
        """Return the moment of the second recording."""
        if not len(self.other):
            return 0
        return max(1, self.other.index_played(self.played))

    @property
    def played(self) -> float:
        return min(max(0.0, self.player.played + self._ahead), float(self.other.length))

    def to_prompt(self, step: int) -> bool:
        """Go to the next (1) or previous (-1) prompt, the other recording too; False where there is none."""
        mark = self.player.jump(_PROMPT_MARK, step)
        if mark is None:
            return False
        number = sum(
            earlier.jump == _PROMPT_MARK and earlier.index <= mark.index
            for earlier in self.player.timeline.marks
        )
        same_prompt = [earlier for earlier in self.other.marks if earlier.jump == _PROMPT_MARK][
            number - 1 : number
        ]
        if same_prompt:
            self._ahead = self.other.played(same_prompt[0].index) - self.player.played
        return True


_GAP_REACH: Final = 1
"""Cells on each side of a gap's middle that are drawn as gap."""


class ReplayStatus(Struct, frozen=True, kw_only=True):
    """What the bar shows at a moment. Texts are one safe line each."""

    speed: str
    is_playing: bool
    is_live: bool
    share: float
    elapsed: str
    length: str
    event: str
    next_sign: IconName | None
    next_words: str
    next_in: str
    saved: str


def replay_status(player: Player, next_words: str = "") -> ReplayStatus:
    """Return what the bar says; `next_words` say what the next mark is."""
    timeline, mark = player.timeline, player.timeline.jump(player.index, None, 1)
    away = (timeline.played(mark.index) - player.played) / SECOND_MICROS if mark else 0.0
    return ReplayStatus(
        speed="max" if math.isinf(player.speed) else f"{player.speed:g}",
        is_playing=player.is_playing,
        is_live=player.is_following and player.is_at_end,
        share=_played_share(player),
        elapsed=_time_text(player.elapsed),
        length=_time_text(timeline.recorded),
        event=f"event {player.index:,} of {timeline.count:,}" if len(timeline) else "no events",
        next_sign=mark.sign if mark else None,
        next_words=next_words if mark else "",
        next_in=duration_text(round(max(0.0, away))) if away >= 0.5 else "now",
        saved=_saved_text(timeline),
    )


def _played_share(player: Player) -> float:
    timeline = player.timeline
    if not timeline.is_whole:
        return min(1.0, player.played / timeline.recorded) if timeline.recorded else 0.0
    return min(1.0, player.played / timeline.length) if timeline.length else float(player.is_at_end)


def _time_text(micros: int) -> str:
    return countdown_text(micros // SECOND_MICROS)


def _saved_text(timeline: Timeline) -> str:
    if not timeline.is_whole:
        return "its marks are being read"
    if timeline.is_steady:
        return "no times recorded: a second an event"
    parts = [back] if (back := times_went_back_text(timeline)) else []
    if timeline.gaps:
        gaps = "1 idle gap" if len(timeline.gaps) == 1 else f"{len(timeline.gaps)} idle gaps"
        parts.append(f"{gaps} shortened, {_time_text(timeline.saved)} saved")
    return ", ".join(parts)


def times_went_back_text(timeline: Timeline) -> str:
    """Return how many recorded times were before the one before them; empty where none was."""
    if not timeline.went_back:
        return ""
    return "1 time went back" if timeline.went_back == 1 else f"{timeline.went_back:,} times went back"


# --- cells ----------------------------------------------------------------------------------------


def bar_cell(played: float, timeline: Timeline, width: int) -> int:
    """Return the cell of a bar of `width` cells at which a played time is."""
    share = played / timeline.length if timeline.length else 0.0
    return min(width - 1, max(0, round(share * (width - 1))))


def mark_cells(timeline: Timeline, width: int) -> dict[int, IconName]:
    """Return which sign stands on which cell; of several on one cell the most important."""
    icons: dict[int, IconName] = {}
    if not timeline.is_whole:
        return icons
    moments, before = range(1, len(timeline) + 1), 0
    for cell in range(width):
        # Cells go up with the moments, so that each has a stretch of them.
        until = bisect_left(
            moments, cell + 1, lo=before, key=lambda played: _moment_cell(timeline, played, width)
        )
        sign = timeline.marks.best(before, until)
        if sign is not None:
            icons[cell] = sign
        before = until
    return icons


def _moment_cell(timeline: Timeline, index: int, width: int) -> int:
    return bar_cell(timeline.played(index), timeline, width)


def gap_cells(timeline: Timeline, width: int) -> frozenset[int]:
    """Return the cells at which time was shortened."""
    if not timeline.is_whole:
        return frozenset()
    middles = {bar_cell(timeline.played(gap.index + 1), timeline, width) for gap in timeline.gaps}
    reach = _GAP_REACH if len(middles) * 8 < width else 0
    return frozenset(
        cell for middle in middles for cell in range(middle - reach, middle + reach + 1) if 0 <= cell < width
    )
