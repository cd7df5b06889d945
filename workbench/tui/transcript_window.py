"""The part of a long conversation that is in memory, and how it moves."""

# A conversation is shown in windows, not from its first event. The screen folds the last 1,000 events;
# going up reads windows of 1,000 lasting events that overlap by half, so the line being read is in two of
# them and keeps its place. Heights of what is far away would have cost reading it. An open conversation is
# folded anew from its last events when it has grown threefold, and tools list the newest 500 calls: memory
# does not follow the age of a session.

from collections.abc import Iterator, Sequence
from typing import Final, Protocol, runtime_checkable

from msgspec import Struct

from workbench.domain.events import Event, ReplyCompleted, TurnEnded, TurnStarted
from workbench.views.conversation import Transcript

WINDOW_SPAN: Final = 1_000
"""Lasting events in a window."""
WINDOW_STEP: Final = 500
"""By how many of them it moves."""
_EVENTS_A_BATCH: Final = 5_000
"""Streamed pieces that are read of a reply that never came to its end."""


@runtime_checkable
class EventArchive(Protocol):
    """What a history is read from; `tui/journal_source.py:JournalSource` is one."""

    def last_number(self, session_id: str) -> int:
        """Return the number of a session's newest event."""
        ...

    def lasting(
        self, session_id: str, *, before: int | None = None, after: int = 0, limit: int
    ) -> Sequence[Event]:
        """Return events that are no pieces: the last ones before a number, or the first ones after one."""
        ...

    def between(self, session_id: str, first: int, last: int, limit: int) -> Sequence[Event]:
        """Return all events between two numbers, both included."""
        ...

    def turns_before(self, event: Event) -> int:
        """Return how many turns of its session ended before an event."""
        ...


class TranscriptWindow(Struct, frozen=True, kw_only=True):
    """A part of a session that is not its end."""

    transcript: Transcript
    first: int
    """The number of its first event."""
    last: int
    total: int
    """The number of the session's newest event when the window was read."""
    middle: int
    """The number of the event by which the next window begins or ends."""

    @property
    def words(self) -> str:
        """Return where it is: `events 1 to 1,000 of 100,000`; nothing of a whole session."""
        if self.first == 1 and self.last >= self.total:
            return ""
        return f"events {self.first:,} to {self.last:,} of {self.total:,}"


def first_window(archive: EventArchive, session_id: str) -> TranscriptWindow | None:
    """Return the first window of a session; None when it has no events."""
    return _make_window(archive, session_id, archive.lasting(session_id, limit=WINDOW_SPAN))


def window_before(archive: EventArchive, session_id: str, number: int) -> TranscriptWindow | None:
    """Return the window that reaches half its length to before a number; None when nothing is there."""
    earlier = archive.lasting(session_id, before=number, limit=WINDOW_STEP)
    if not earlier:
        return None
    later = archive.lasting(session_id, after=number - 1, limit=WINDOW_SPAN - len(earlier))
    return _make_window(archive, session_id, [*earlier, *later])


def window_around(archive: EventArchive, session_id: str, number: int) -> TranscriptWindow | None:
    """Return the window with an event in its middle; None when the session has none before or after it."""
    return window_before(archive, session_id, number + 1)


def window_after(archive: EventArchive, session_id: str, window: TranscriptWindow) -> TranscriptWindow | None:
    """Return the window that follows one, with the second half of it; None when nothing is there."""
    return _make_window(
        archive, session_id, archive.lasting(session_id, after=window.middle - 1, limit=WINDOW_SPAN)
    )


def event_batches(archive: EventArchive, session_id: str) -> Iterator[Sequence[Event]]:
    """Yield all lasting events of a session, so many at a time, the newest first."""
    number = archive.last_number(session_id) + 1
    while events := archive.lasting(session_id, before=number, limit=WINDOW_SPAN):
        yield events
        number = events[0].sequence_number


def _make_window(archive: EventArchive, session_id: str, events: Sequence[Event]) -> TranscriptWindow | None:
    if not events:
        return None
    transcript = Transcript(session_id, archive.turns_before(events[0]))
    transcript.apply_all(_with_partial_replies(archive, session_id, events))
    transcript.close()
    return TranscriptWindow(
        transcript=transcript, first=events[0].sequence_number, last=events[-1].sequence_number,
        total=archive.last_number(session_id), middle=events[len(events) // 2].sequence_number,
    )  # fmt: skip


def _with_partial_replies(archive: EventArchive, session_id: str, events: Sequence[Event]) -> list[Event]:
    """Put what was streamed of replies that never came to their end where it belongs."""
    merged: list[Event] = []
    begun: Event | None = None
    for event in events:
        if isinstance(event.body, ReplyCompleted):
            begun = None
        elif isinstance(event.body, TurnStarted | TurnEnded):
            if begun is not None:
                first, last = begun.sequence_number + 1, event.sequence_number - 1
                pieces = archive.between(session_id, first, last, _EVENTS_A_BATCH)
                merged += [piece for piece in pieces if not piece.body.DURABLE]
            begun = event if isinstance(event.body, TurnStarted) else None
        merged.append(event)
    return sorted(merged, key=lambda event: event.sequence_number)
