"""A recorded session as a timeline: times, marks and idle gaps of its events, and the frames of a film.

Made from columns, as there may be 100,000 events. Played time shortens long idle gaps.
"""

import itertools
import operator
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, overload

from msgspec import Struct

from workbench.domain.events import Event
from workbench.text.human import SECOND_MICROS
from workbench.views.status_icons import IconName

MarkKind = Literal["approval", "edit", "error", "expiry", "prompt", "step", "note"]
"""What a mark is, and what there are keys for."""
MARK_FIELDS: Final = {
    "call.finished": "state",
    "call.proposed": "verdict.outcome",
    "action.approved": "selection",
    "step.changed": "state",
}
ICONS_BY_IMPORTANCE: Final[tuple[IconName, ...]] = (
    "failed", "waiting", "expired", "rejected", "partly", "ok", "prompt", "running", "todo", "cancelled",
)  # fmt: skip
"""Of several marks on one cell the first of these is drawn (UX section 6)."""


class TimelineMark(Struct, frozen=True, kw_only=True):
    """An event worth a place on the bar."""

    index: int
    jump: MarkKind
    sign: IconName


def mark_for(kind: str, fact: object) -> tuple[MarkKind, IconName] | None:
    """Return what an event is marked as; None for most."""
    match kind:
        case "call.finished":
            return ("error", "failed") if fact in ("failed", "interrupted") else None
        case "call.proposed":
            return ("error", "failed") if fact in ("refused", "denied") else None
        case "action.approved":
            return "approval", "partly" if fact else "ok"
        case "step.changed":
            return _MARK_OF_STEP_STATE.get(str(fact))
        case _:
            return _MARK_OF_KIND.get(kind)


def mark_fact(event: Event) -> object:
    """Return the fact of an event that `mark_for` wants to know."""
    fact: object = event.body
    for name in MARK_FIELDS[event.kind].split(".") if event.kind in MARK_FIELDS else ():
        fact = getattr(fact, name, None)
    return fact if fact is not event.body else None


_MARK_OF_KIND: Final[dict[str, tuple[MarkKind, IconName]]] = {
    "prompt.submitted": ("prompt", "prompt"),
    "action.opened": ("approval", "waiting"),
    "action.rejected": ("approval", "rejected"),
    "action.expired": ("expiry", "expired"),
    "action.cancelled": ("approval", "cancelled"),
    "file.changed": ("edit", "ok"),
    "error.raised": ("error", "failed"),
    "call.repeated": ("error", "partly"),
    "mark.added": ("note", "ok"),
}
TURN_ENDED: Final = "turn.ended"
MARK_EVENT_KINDS: Final = frozenset({*_MARK_OF_KIND, *MARK_FIELDS, TURN_ENDED})
FIELD_OF_EVENT_KIND: Final[Mapping[str, str | None]] = {
    **dict.fromkeys(sorted(MARK_EVENT_KINDS)),
    **MARK_FIELDS,
}
"""What a recording is asked for: those kinds, and the field of each that matters."""
_MARK_OF_STEP_STATE: Final[dict[str, tuple[MarkKind, IconName]]] = {
    "running": ("step", "running"),
    "completed": ("step", "ok"),
    "failed": ("error", "failed"),
    "waiting": ("step", "waiting"),
}
_ALL_MARKS: Final[tuple[tuple[MarkKind, IconName], ...]] = tuple(
    sorted(
        {*_MARK_OF_KIND.values(), *_MARK_OF_STEP_STATE.values(), ("approval", "ok"), ("approval", "partly")},
        key=lambda pair: (ICONS_BY_IMPORTANCE.index(pair[1]), pair[0]),
    )
)
"""Every mark there can be, the most important first: a byte of the column is a place in this."""
_CODE_OF_MARK: Final = {pair: code for code, pair in enumerate(_ALL_MARKS)}


class TimelineMarks(Sequence[TimelineMark]):
    """The marks of a recording, in order."""

    def __init__(self) -> None:
        self._indices, self._codes = array("q"), bytearray()

    def add(self, index: int, pair: tuple[MarkKind, IconName]) -> None:
        self._indices.append(index)
        self._codes.append(_CODE_OF_MARK[pair])

    def __len__(self) -> int:
        return len(self._codes)

    @overload
    def __getitem__(self, index: int) -> TimelineMark: ...
    @overload
    def __getitem__(self, index: slice) -> list[TimelineMark]: ...
    def __getitem__(self, index: int | slice) -> TimelineMark | list[TimelineMark]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(len(self)))]
        jump, sign = _ALL_MARKS[self._codes[index]]
        return TimelineMark(index=self._indices[index], jump=jump, sign=sign)

    def of(self, kind: MarkKind) -> list[TimelineMark]:
        codes = _codes_of_kind(kind)
        return [self[index] for index, code in enumerate(self._codes) if code in codes]

    def jump(self, index: int, kind: MarkKind | None, step: int) -> TimelineMark | None:
        """Return the next (1) or previous (-1) mark of a kind, or of any; None when there is none."""
        codes = range(len(_ALL_MARKS)) if kind is None else _codes_of_kind(kind)
        if step > 0:
            first = bisect_right(self._indices, index)
            candidates = [first] if kind is None else [self._codes.find(code, first) for code in codes]
            nearest = min((candidate for candidate in candidates if 0 <= candidate < len(self)), default=-1)
        else:
            last = bisect_left(self._indices, index)
            nearest = last - 1 if kind is None else max(self._codes.rfind(code, 0, last) for code in codes)
        return self[nearest] if nearest >= 0 else None

    def best(self, after: int, until: int) -> IconName | None:
        """Return the most important sign of the marks behind one moment and up to another."""
        low, high = bisect_right(self._indices, after), bisect_right(self._indices, until)
        return _ALL_MARKS[min(self._codes[low:high])][1] if low < high else None


def _codes_of_kind(kind: MarkKind) -> tuple[int, ...]:
    return tuple(code for code, pair in enumerate(_ALL_MARKS) if pair[0] == kind)


IDLE_MICROS: Final = 30_000_000
"""Microseconds without an event from which on a gap is shortened."""
SHORTENED_MICROS: Final = 2_000_000
LATEST_MICROS: Final = 253_000_000_000_000_000
"""In the year 9987; later times are not taken for one."""
STEADY_MICROS: Final = SECOND_MICROS
"""Microseconds between events where the recording has no times of its own."""
TimelineEntry = tuple[int, int, str, object]
"""Position, time in microseconds, kind, and the field named by `FIELD_OF_EVENT_KIND`."""
MarkedEvent = tuple[int, str, object]
TimelineColumns = tuple[Sequence[int], Sequence[int], Sequence[MarkedEvent]]


class IdleGap(Struct, frozen=True, kw_only=True):
    """A time without events that is played short."""

    index: int
    begins: int
    """In played time, microseconds from the start."""
    saved: int


class RecordingOutline(Struct, frozen=True, kw_only=True):
    """What is known of a recording of which only the beginning was read."""

    count: int
    ends: int
    """When the last one was, microseconds since the epoch."""


class Timeline:
    """The moments of one recording. A moment is how many of its events are shown, 0 to `len`."""

    def __init__(
        self,
        entries: Iterable[TimelineEntry] = (),
        *,
        columns: TimelineColumns | None = None,
        outlook: RecordingOutline | None = None,
    ) -> None:
        """Make it from entries or columns; `outlook` describes the rest if only the first were read."""
        self._outlook = outlook
        self._positions, self._times = array("q"), array("q")
        self._played = array("q")
        self.marks = TimelineMarks()
        self.gaps: list[IdleGap] = []
        self.is_steady = False
        """Whether the recording has no times, so that its events are played a second apart."""
        self.went_back = 0
        """How many events have a time before the one above them; they are shown at its time."""
        self._turn_ends: dict[str, array[int]] = {}
        positions, times, events = columns or _to_columns(entries)
        self.extend(
            columns=(positions, _without_late_times(times) if _mostly_goes_back(times) else times, events)
        )
        if len(self) > 1 and self._times[-1] == self._times[0]:
            self._make_steady()

    def extend(self, entries: Iterable[TimelineEntry] = (), *, columns: TimelineColumns | None = None) -> int:
        positions, times, events = columns or _to_columns(entries)
        if not positions:
            return 0
        # A long recording is opened while somebody waits: whole columns instead of a step an event.
        self._positions.extend(positions)
        self._add_times(times)
        for position, kind, fact in events:
            self._note(position, kind, fact)
        return len(positions)

    def _add_times(self, recorded: Sequence[int]) -> None:
        last = self._times[-1] if self._times else recorded[0]
        if self.is_steady:
            recorded = range(last + STEADY_MICROS, last + STEADY_MICROS * (len(recorded) + 1), STEADY_MICROS)
        elif min(recorded) < 0 or max(recorded) > LATEST_MICROS:
            recorded = [max(0, min(moment, LATEST_MICROS)) for moment in recorded]
        last = max(0, min(last, LATEST_MICROS))
        times = list(itertools.accumulate(recorded, max, initial=last))
        self.went_back += sum(map(operator.ne, times[1:], recorded))
        shift = (self._played[-1] if self._played else 0) - last
        passed = list(map(operator.sub, times[1:], times))
        begins, before = 1, len(self._times)
        for moment in [moment for moment, idle in enumerate(passed) if idle > IDLE_MICROS]:
            self._played.extend([time + shift for time in times[begins : moment + 1]])
            saved = passed[moment] - SHORTENED_MICROS
            self.gaps.append(IdleGap(index=before + moment, begins=times[moment] + shift, saved=saved))
            shift, begins = shift - saved, moment + 1
        self._played.extend([time + shift for time in times[begins:]])
        self._times.extend(times[1:])

    def _note(self, position: int, kind: str, fact: object) -> None:
        if kind == TURN_ENDED:
            number, _, session_id = str(fact).partition(" ")
            self._turn_ends.setdefault(session_id, array("q")).append(int(number or 0))
        elif (pair := mark_for(kind, fact)) is not None:
            # How many events there are up to this one.
            self.marks.add(bisect_right(self._positions, position), pair)

    def turns_before(self, session_id: str, number: int) -> int:
        """Return how many turns of a session of the recording ended before its event of a number."""
        return bisect_left(self._turn_ends.get(session_id, ()), number)

    def _make_steady(self) -> None:
        self.is_steady = True
        first = self._times[0]
        for index in range(len(self)):
            self._times[index] = first + index * STEADY_MICROS
            self._played[index] = index * STEADY_MICROS

    def __len__(self) -> int:
        return len(self._positions)

    # --- a beginning, until all of it is read ---------------------------------------------------

    @property
    def is_whole(self) -> bool:
        """Return whether all of it was read."""
        return self._outlook is None

    def replace_with(self, whole: "Timeline") -> None:
        """Take over what was read of the whole recording meanwhile."""
        self.__dict__.update(whole.__dict__)

    @property
    def count(self) -> int:
        return len(self) if self._outlook is None else self._outlook.count

    @property
    def ends(self) -> int:
        """Return when the last event was, microseconds since the epoch."""
        return (
            self.time(len(self))
            if self._outlook is None
            else max(self.time(0), min(self._outlook.ends, LATEST_MICROS))
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
        return sum(gap.saved for gap in self.gaps)

    # --- which moment ---------------------------------------------------------------------------

    def index_played(self, played: float) -> int:
        """Return the moment at a played time: how many events were until then, at least the first."""
        return bisect_right(self._played, int(played))

    def index_at(self, recorded: int) -> int:
        """Return the moment at a recorded time: how many events were until then."""
        return bisect_right(self._times, recorded)

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

    def jump(self, index: int, kind: MarkKind | None, step: int) -> TimelineMark | None:
        """Return the next (1) or previous (-1) mark of a kind, or of any; None when there is none."""
        return self.marks.jump(index, kind, step)


def _to_columns(entries: Iterable[TimelineEntry]) -> TimelineColumns:
    listed = list(entries)
    events = [(position, kind, fact) for position, _, kind, fact in listed if kind in MARK_EVENT_KINDS]
    return [entry[0] for entry in listed], [entry[1] for entry in listed], events


def _mostly_goes_back(times: Sequence[int]) -> bool:
    """Return whether most times are before an earlier one: then a few early ones are wrong."""
    if all(map(operator.le, times, itertools.islice(times, 1, None))):
        return False
    newest = list(itertools.accumulate(times, max))
    return sum(map(operator.ne, times, newest)) * 2 > len(times)


def _without_late_times(times: Sequence[int]) -> list[int]:
    """Return times none of which is after one that follows."""
    return list(itertools.accumulate(reversed(times), min))[::-1]


MIN_FRAME_MICROS: Final = 100_000
COUNTDOWN_FRAME_MICROS: Final = SECOND_MICROS
MAX_FRAMES: Final = 2_000


class FramePlan(Struct, frozen=True, kw_only=True):
    """Moments in order, and how they were chosen."""

    indices: tuple[int, ...]
    apart: int
    has_marks: bool

    @property
    def is_thinned(self) -> bool:
        """Return whether moments were left out that a shorter recording would have shown."""
        return self.apart > MIN_FRAME_MICROS or not self.has_marks


def plan_frames(timeline: Timeline, first: int, most: int = MAX_FRAMES) -> FramePlan:
    """Choose at most `most` moments of a film from `first` on, always with the first and the last."""
    marks = {_last_of_same_time(timeline, mark.index) for mark in timeline.marks if mark.index > first}
    if len(marks) > most // 2:
        marks = set[int]()
    apart = MIN_FRAME_MICROS
    while True:
        moments = _sampled_moments(timeline, first, apart) | marks
        if len(moments) <= most or apart > timeline.length:
            break
        apart = apart * 5 // 4
    moments = {first, len(timeline)} if len(moments) > most else moments
    has_marks = all(
        _last_of_same_time(timeline, mark.index) in moments for mark in timeline.marks if mark.index > first
    )
    return FramePlan(indices=tuple(sorted(moments)), apart=apart, has_marks=has_marks)


def _sampled_moments(timeline: Timeline, first: int, apart: int) -> set[int]:
    moments = {first, len(timeline)}
    index = first
    while index < len(timeline):
        # What comes within a stretch is shown together, at its end.
        index = max(index + 1, timeline.index_played(timeline.played(index + 1) // apart * apart + apart - 1))
        moments.add(index)
    return moments


def _last_of_same_time(timeline: Timeline, index: int) -> int:
    """Return the moment when all events of the same time have happened."""
    return timeline.index_played(timeline.played(index))


def countdown_times(begins: int, ends: int) -> range:
    """Return the played times between two moments at which countdowns are shown anew."""
    return range(
        (begins // COUNTDOWN_FRAME_MICROS + 1) * COUNTDOWN_FRAME_MICROS, ends, COUNTDOWN_FRAME_MICROS
    )
