"""A recorded session as a strip of moments: when each event was, which are marks, where nothing happened.

Pure: made from columns (positions, times, and a fact of some), it knows no event's body. Two times run
through it: *recorded* time as the clocks said, and *played* time, in which long idle gaps are short.
"""

import itertools
import operator
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import Final

from workbench.records import dataclass
from workbench.views.marks import TOLD, TURN_ENDED, Jump, Mark, Marks, mark_of

IDLE: Final = 30_000_000
"""Microseconds without an event from which on a gap is shortened."""
SHORT: Final = 2_000_000
"""What a shortened gap takes in played time."""
LATEST: Final = 253_000_000_000_000_000
"""The latest time that is taken for one, microseconds: in the year 9987, which every calendar has."""
STEADY: Final = 1_000_000
"""Microseconds between events where the recording has no times of its own."""

Entry = tuple[int, int, str, object]
"""Position, time in microseconds, kind, and a fact: see `marks.FACTS`."""
Told = tuple[int, str, object]
"""Position, kind and fact of an event that may be a mark."""
Columns = tuple[Sequence[int], Sequence[int], Sequence[Told]]
"""Positions and times of all events, in order, and those that are more than a moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A time without events that is played short."""

    index: int
    """How many events are before it."""
    begins: int
    """In played time, microseconds from the start."""
    saved: int
    """Recorded less played microseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What is known of a recording of which only the beginning was read."""

    count: int
    """Events, all together."""
    ends: int
    """When the last one was, microseconds since the epoch."""


class Reel:
    """The moments of one recording. A moment is an index: how many of its events are shown, 0 to `len`."""

    def __init__(
        self, entries: Iterable[Entry] = (), *, columns: Columns | None = None, outlook: Outlook | None = None
    ) -> None:
        """Make it from entries, or from columns, which a long recording is read as.

        Args:
            entries: Its events.
            columns: The same, instead.
            outlook: What is known of the rest, where these are only the first ones.
        """
        self._outlook = outlook
        self._positions, self._times = array("q"), array("q")
        self._played = array("q")
        self.marks = Marks()
        self.gaps: list[Gap] = []
        self.is_steady = False
        """Whether the recording has no times, so that its events are played a second apart."""
        self.went_back = 0
        """How many events have a time before the one above them; they are shown at its time."""
        self._turn_ends: dict[str, array[int]] = {}
        positions, times, told = columns or _columns(entries)
        self.extend(columns=(positions, _in_order(times) if _is_late(times) else times, told))
        if len(self) > 1 and self._times[-1] == self._times[0]:
            self._make_steady()

    def extend(self, entries: Iterable[Entry] = (), *, columns: Columns | None = None) -> int:
        """Add events that came since; return how many. Times that go back stand still instead."""
        positions, times, told = columns or _columns(entries)
        if not positions:
            return 0
        # A long recording is opened while somebody waits: whole columns instead of a step an event.
        self._positions.extend(positions)
        self._add_times(times)
        for position, kind, fact in told:
            self._note(position, kind, fact)
        return len(positions)

    def _add_times(self, given: Sequence[int]) -> None:
        """Add recorded times, and the played ones, in which long gaps are short."""
        last = self._times[-1] if self._times else given[0]
        if self.is_steady:
            given = range(last + STEADY, last + STEADY * (len(given) + 1), STEADY)
        elif min(given) < 0 or max(given) > LATEST:
            given = [max(0, min(at, LATEST)) for at in given]
        last = max(0, min(last, LATEST))
        times = list(itertools.accumulate(given, max, initial=last))
        self.went_back += sum(map(operator.ne, times[1:], given))
        shift = (self._played[-1] if self._played else 0) - last
        passed = list(map(operator.sub, times[1:], times))
        begins, before = 1, len(self._times)
        for at in [at for at, one in enumerate(passed) if one > IDLE]:
            self._played.extend([time + shift for time in times[begins : at + 1]])
            saved = passed[at] - SHORT
            self.gaps.append(Gap(index=before + at, begins=times[at] + shift, saved=saved))
            shift, begins = shift - saved, at + 1
        self._played.extend([time + shift for time in times[begins:]])
        self._times.extend(times[1:])

    def _note(self, position: int, kind: str, fact: object) -> None:
        if kind == TURN_ENDED:
            number, _, session_id = str(fact).partition(" ")
            self._turn_ends.setdefault(session_id, array("q")).append(int(number or 0))
        elif (pair := mark_of(kind, fact)) is not None:
            # How many events there are up to this one.
            self.marks.add(bisect_right(self._positions, position), pair)

    def turns_before(self, session_id: str, number: int) -> int:
        """Return how many turns of a session of the recording ended before its event of a number."""
        return bisect_left(self._turn_ends.get(session_id, ()), number)

    def _make_steady(self) -> None:
        self.is_steady = True
        first = self._times[0]
        for index in range(len(self)):
            self._times[index] = first + index * STEADY
            self._played[index] = index * STEADY

    def __len__(self) -> int:
        """Return how many events there are."""
        return len(self._positions)

    # --- a beginning, until all of it is read ---------------------------------------------------

    @property
    def is_whole(self) -> bool:
        """Return whether all of it was read."""
        return self._outlook is None

    def become(self, whole: "Reel") -> None:
        """Take over what was read of the whole recording meanwhile."""
        self.__dict__.update(whole.__dict__)

    @property
    def count(self) -> int:
        """Return how many events there are, read or not."""
        return len(self) if self._outlook is None else self._outlook.count

    @property
    def ends(self) -> int:
        """Return when the last event was, microseconds since the epoch."""
        return (
            self.time(len(self))
            if self._outlook is None
            else max(self.time(0), min(self._outlook.ends, LATEST))
        )

    # --- where a moment is ------------------------------------------------------------------------

    def position(self, index: int) -> int:
        """Return the position in the journal up to which events are shown at a moment."""
        if not self._positions:
            return 0
        return self._positions[index - 1] if index else self._positions[0] - 1

    def index_of(self, position: int) -> int:
        """Return the moment at which everything up to a position in the journal is shown."""
        return bisect_right(self._positions, position)

    def time(self, index: int) -> int:
        """Return when a moment was, in microseconds since the epoch; at 0 that of the first event."""
        return self._times[max(0, index - 1)] if self._times else 0

    def played(self, index: int) -> int:
        """Return when a moment comes in played time, microseconds from the start."""
        return self._played[max(0, index - 1)] if self._played else 0

    @property
    def length(self) -> int:
        """Return the whole in played time, microseconds."""
        return self._played[-1] if self._played else 0

    @property
    def recorded(self) -> int:
        """Return the whole in recorded time, microseconds."""
        return self.ends - self.time(0)

    @property
    def saved(self) -> int:
        """Return what shortened gaps save, microseconds."""
        return sum(gap.saved for gap in self.gaps)

    # --- which moment ---------------------------------------------------------------------------

    def index_played(self, played: float) -> int:
        """Return the moment at a played time: how many events were until then, at least the first."""
        return bisect_right(self._played, int(played))

    def index_at(self, at: int) -> int:
        """Return the moment at a recorded time: how many events were until then."""
        return bisect_right(self._times, at)

    def recorded_at(self, played: float) -> int:
        """Return the recorded time at a played one, microseconds since the epoch; straight between events."""
        if not self._times:
            return 0
        index = self.index_played(played)
        if index == 0 or index == len(self):
            return self.time(index)
        past, span = played - self._played[index - 1], self._played[index] - self._played[index - 1]
        passed = self._times[index] - self._times[index - 1]
        return self._times[index - 1] + int(passed * past / span)

    def jump(self, index: int, kind: Jump | None, step: int) -> Mark | None:
        """Return the next (1) or previous (-1) mark of a kind, or of any; None when there is none."""
        return self.marks.jump(index, kind, step)


def _columns(entries: Iterable[Entry]) -> Columns:
    found = list(entries)
    told = [(position, kind, fact) for position, _, kind, fact in found if kind in TOLD]
    return [entry[0] for entry in found], [entry[1] for entry in found], told


def _is_late(times: Sequence[int]) -> bool:
    """Return whether most times are before one above: then a few early ones are wrong, not all the rest."""
    if all(map(operator.le, times, itertools.islice(times, 1, None))):
        return False
    newest = list(itertools.accumulate(times, max))
    return sum(map(operator.ne, times, newest)) * 2 > len(times)


def _in_order(times: Sequence[int]) -> list[int]:
    """Return times none of which is after one that follows."""
    return list(itertools.accumulate(reversed(times), min))[::-1]
