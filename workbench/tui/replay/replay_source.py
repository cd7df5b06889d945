"""A recording as the screen reads it at a moment: the live source with every answer as it stood then.

Rows come from a fold with checkpoints, conversations from the same windows as live ones. Sealed bytes are
never read (DESIGN section 2).
"""

# Beside an imported session stands what was there at its time. The positions of an import say when it was
# imported; so the rows around it are those of the time of its first event, and they stand still. Around a
# session of this program stands what its own screen showed, imports included.

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Final

from workbench.domain.events import Event, MarkAdded
from workbench.domain.fold import MemoryTables
from workbench.domain.machines import TERMINAL_SESSION_STATES
from workbench.domain.rows import Action, Call, PipelineState, Session, StepState, step_key
from workbench.domain.values import SYSTEM_SESSION, Hunk, JsonObject
from workbench.journal.journal import Journal
from workbench.journal.replay import ReplayCheckpoints, ReplayReader
from workbench.tui.journal_source import MAX_CALLS, JournalSource, RunEventIndex
from workbench.views import row_snapshots
from workbench.views.event_text import event_line
from workbench.views.pipeline import matrix_item_ids
from workbench.views.replay import AT_WORK_MICROS
from workbench.views.row_snapshots import RowSnapshots
from workbench.views.timeline import FIELD_OF_EVENT_KIND, RecordingOutline, Timeline

_REQUEST_ORDER: Final = attrgetter("requested_at", "ordinal")
_MAX_CHECKED_SESSIONS: Final = 12
CHECKPOINTS_FROM_EVENTS: Final = 5_000
"""Events from which on checkpoints are stored: below, all of it is folded in a tenth of a second."""
FIRST_READ_EVENTS: Final = 1_000
"""Events that are read before the first frame where the rest may wait."""
MAX_SEARCHED_NOTES: Final = 1_000
"""Marks of humans that are looked through for words."""
MAX_FORWARD_EVENTS: Final = 500
"""Events up to which going on is folded instead of looked up."""


class ReplaySource(JournalSource):
    """One session and its workspace at a moment of its recording."""

    def __init__(self, journal: Journal, session: Session, *, is_whole: bool = True) -> None:
        """Read a recording.

        Args:
            journal: Where it is.
            session: Whose.
            is_whole: Whether all of it is read at once; else a beginning, until `read` and `complete`.
        """
        super().__init__(journal, session.workspace)
        self.session_id = session.id
        self._from = ReplayReader(journal, session.id)
        self._reading = threading.Lock()
        self._whole: Timeline | None = None
        self.timeline = (
            Timeline(columns=self._from.columns(FIELD_OF_EVENT_KIND)) if is_whole else self._beginning()
        )
        begins = self.timeline.position(0)
        self.checkpoints = ReplayCheckpoints(journal, session.id, begins, row_snapshots.SNAPSHOT_EVENTS)
        self.rewind = self._rewound(begins)
        self.index = 0
        self._rows = self.rewind.at(begins)
        self._now = self.timeline.time(0)

    def _beginning(self) -> Timeline:
        columns = self._from.columns(FIELD_OF_EVENT_KIND, limit=FIRST_READ_EVENTS)
        if len(columns[0]) < FIRST_READ_EVENTS:
            return Timeline(columns=columns)
        count, ends = self._from.outlook()
        return Timeline(columns=columns, outlook=RecordingOutline(count=count, ends=ends))

    def read(self) -> None:
        """Read all of the recording, if it was not yet; any thread may, and a second one waits."""
        with self._reading:
            if self._whole is None and not self.timeline.is_whole:
                self._whole = Timeline(columns=self._from.columns(FIELD_OF_EVENT_KIND))

    def complete(self) -> bool:
        """Take over what was read; False if it was there before. Not while another thread asks something."""
        self.read()
        whole, self._whole = self._whole, None
        if whole is not None:
            self.timeline.replace_with(whole)
        return whole is not None

    def _rewound(self, begins: int) -> RowSnapshots:
        stored = self.checkpoints.load() if self.is_long else []
        first = self._from.before(begins, self.timeline.time(0))
        keep = self.checkpoints.keep if self.is_long else None
        return RowSnapshots(first, begins, self._lasting, stored=stored, keep=keep)

    @property
    def is_long(self) -> bool:
        """Return whether its checkpoints are stored."""
        return self.timeline.count >= CHECKPOINTS_FROM_EVENTS

    def store(self) -> None:
        """Store the checkpoints of a long recording as they are made; `close` ends that."""
        if self.is_long:
            self.checkpoints.begin()

    def close(self) -> None:
        """Store no more checkpoints."""
        self.checkpoints.close()

    def _lasting(self, after: int, until: int | None, limit: int) -> Sequence[Event]:
        end = self.timeline.position(len(self.timeline)) if until is None else until
        return self._from.lasting(after, end, limit)

    # --- the moment -----------------------------------------------------------------------------

    @property
    def is_live(self) -> bool:
        """Return False: nothing can be answered in the past."""
        return False

    @property
    def are_agents_held(self) -> bool:
        row = self._rows.agent_hold()
        return row is not None and row.is_in_force

    @property
    def has_times(self) -> bool:
        return not self.timeline.is_steady

    def seek(self, index: int) -> None:
        """Go to a moment, whichever way."""
        self.index = max(0, min(index, len(self.timeline)))
        self._rows = self.rewind.at(self.position())
        self._now = self.timeline.time(self.index)

    def go_on(self, index: int) -> list[Event]:
        """Go to a later moment and return the events until then, of the whole workspace."""
        before, self.index = self.position(), max(self.index, min(index, len(self.timeline)))
        events = self._from.between(before, self.position(), -1)
        self._rows.fold(events)
        self._now = self.timeline.time(self.index)
        return events

    def set_clock(self, now: int) -> None:
        """Say what time it is between two events, microseconds since the epoch."""
        self._now = now

    def journal_now(self) -> int:
        """Return what time it is now, for a replay that has come to the end of a session at work."""
        return super().now()

    def event_at(self, index: int) -> Event | None:
        """Return the event of a moment; None if it is not there any more."""
        return self._journal.event_at(self.timeline.position(index))

    def words_at(self, index: int) -> str:
        """Return what the event of a moment was, in one safe line."""
        event = self.event_at(index)
        if event is None:
            return ""
        action = super().action(event.action_id) if event.action_id else None
        return event_line(event, action, super().call(event.call_id) if event.call_id else None)

    def noted(self, text: str) -> int | None:
        """Return the moment that a human marked with these words; None where nobody did."""
        wanted = text.strip().casefold()
        for mark in self.timeline.marks.of("note")[:MAX_SEARCHED_NOTES] if wanted else ():
            event = self.event_at(mark.index)
            if (
                event is not None
                and isinstance(event.body, MarkAdded)
                and wanted in event.body.label.casefold()
            ):
                return mark.index
        return None

    @property
    def may_grow(self) -> bool:
        """Return whether more may come: not to what has ended, nor to a run that is over.

        To what was imported it may while its agent is at work, which its newest event tells.
        """
        now = super().session(self.session_id)
        if now is None:
            return False
        if now.origin is not None:
            return self.journal_now() - now.updated_at < AT_WORK_MICROS
        if now.status in TERMINAL_SESSION_STATES:
            return False
        return now.reason != "run ended" and (now.kind, now.reason) != ("pipeline", "failed")

    def grow(self) -> int:
        """Take in what the session recorded since; return how many events came, below 0 if some went.

        A file that grew and is imported again takes back what closed its session before, and what it said
        otherwise: then all is read anew, and the moment stays as far as it is still there.
        """
        last = self.timeline.position(len(self.timeline))
        if last and self._journal.event_at(last) is None:
            before = len(self.timeline)
            self.timeline.replace_with(Timeline(columns=self._from.columns(FIELD_OF_EVENT_KIND)))
            self.checkpoints.close()
            begins = self.timeline.position(0)
            self.checkpoints = ReplayCheckpoints(
                self._journal, self.session_id, begins, row_snapshots.SNAPSHOT_EVENTS
            )
            self.rewind = self._rewound(begins)
            self.seek(self.index)
            return len(self.timeline) - before or -1
        return self.timeline.extend(columns=self._from.columns(FIELD_OF_EVENT_KIND, last))

    def now(self) -> int:
        return self._now

    def is_driven(self, session_id: str) -> bool:
        """Return True: what was under way at a moment is measured up to it."""
        del session_id
        return True

    def position(self) -> int:
        return self.timeline.position(self.index)

    # --- rows as they stood -----------------------------------------------------------------------

    def sessions(self, limit: int) -> Sequence[Session]:
        in_workspace = (
            session
            for session in self._rows.sessions.values()
            if self.workspace in (session.workspace, session.listed_in)
        )
        listed = [
            session for session in in_workspace if not session.archived or session.id == self.session_id
        ]
        return sorted(listed, key=lambda session: (-session.updated_at, session.id))[:limit]

    def session(self, session_id: str) -> Session | None:
        return self._rows.sessions.get(session_id)

    def actions(self, limit_decided: int) -> Sequence[Action]:
        every = sorted(self._rows.actions.values(), key=lambda action: action.opened_at)
        newest = {SYSTEM_SESSION, *(session.id for session in self.sessions(_MAX_CHECKED_SESSIONS))}
        # Steps may work in folders of their own.
        newest |= {session.id for session in self._rows.sessions.values() if session.parent_id in newest}
        decided = [
            action
            for action in every
            if action.session_id in newest
            and action.state not in ("pending", "superseded")
            and self.is_listed(action)
        ]
        decided.sort(key=lambda action: -(action.decided_at or 0))
        return [
            *(action for action in every if action.state == "pending" and self.is_listed(action)),
            *decided[:limit_decided],
        ]

    def waiting_elsewhere(self) -> Sequence[Action]:
        """Return nothing: a replay shows one folder."""
        return ()

    def is_listed(self, action: Action) -> bool:
        if action.session_id == SYSTEM_SESSION:
            return action.subject.get("workspace") in (self.workspace, None)
        return action.session_id in self._rows.sessions

    def action(self, action_id: str) -> Action | None:
        return self._rows.actions.get(action_id)

    def calls(self, session_id: str) -> Sequence[Call]:
        calls = [call for call in self._rows.calls.values() if call.session_id == session_id]
        times = [call.requested_at for call in calls]
        if len(calls) > MAX_CALLS and times == sorted(times):
            # Thousands are in their order, but for those of one moment: only the end is sorted.
            del calls[: bisect_left(times, times[-MAX_CALLS])]
        calls.sort(key=_REQUEST_ORDER)
        return calls[-MAX_CALLS:]

    def call_count(self, session_id: str) -> int:
        return sum(call.session_id == session_id for call in self._rows.calls.values())

    def call(self, call_id: str) -> Call | None:
        return self._rows.calls.get(call_id)

    def runs(self, limit: int) -> Sequence[PipelineState]:
        every = (self.run(run.pipeline_id) for run in super().runs(limit))
        return [run for run in every if run is not None]

    def run(self, run_id: str) -> PipelineState | None:
        known = self._rows.pipeline_states.get(run_id)
        return known if known is not None else self._settled(super().run(run_id))

    def _settled(self, run: PipelineState | None) -> PipelineState | None:
        return run if run is not None and run.updated_at < self.timeline.time(0) else None

    def run_steps(self, run_id: str) -> Sequence[StepState]:
        if run_id not in self._rows.pipeline_states:
            return super().run_steps(run_id) if self.run(run_id) is not None else ()
        steps = (step for step in self._rows.step_states.values() if step.pipeline_id == run_id)
        return sorted(steps, key=lambda step: (step.ordinal, step.matrix != ""))

    def run_step(self, run_id: str, step_id: str) -> StepState | None:
        if run_id not in self._rows.pipeline_states:
            return super().run_step(run_id, step_id) if self.run(run_id) is not None else None
        return self._rows.step_states.get(step_key(run_id, step_id))

    def refused_calls(self, run_id: str) -> Mapping[str, int]:
        if run_id not in self._rows.pipeline_states:
            return super().refused_calls(run_id) if self.run(run_id) is not None else {}
        refused = (call.session_id for call in self._rows.calls.values() if call.state == "rejected")
        children = (self._child_of(run_id, session_id) for session_id in refused)
        return Counter(child for child in children if child)

    def _child_of(self, run_id: str, session_id: str) -> str:
        """Return the session below a run that is a session or above it; empty if it is not below the run."""
        seen = set[str]()
        while session_id not in seen and (session := self._rows.sessions.get(session_id)) is not None:
            if session.parent_id == run_id:
                return session_id
            seen.add(session_id)
            session_id = session.parent_id or ""
        return ""

    def place_wait(self, run_id: str) -> str:
        del run_id
        return ""

    def run_items(self, run_id: str, step_id: str) -> tuple[str, ...]:
        return matrix_item_ids(
            self._until(self._journal.step_events(run_id, step_id)), self._journal.blobs.read
        )

    def run_events(self, run_id: str, step_id: str) -> Sequence[Event]:
        return RunEventIndex(self.events).of(run_id, step_id)

    # --- events until then ------------------------------------------------------------------------

    def events(self, session_id: str, after: int, limit: int) -> Sequence[Event]:
        return self._until(super().events(session_id, after, limit))

    def tail(self, session_id: str, count: int) -> Sequence[Event]:
        return self._until(super().tail(session_id, min(count, max(1, self.last_number(session_id)))))

    def turns_before(self, event: Event) -> int:
        if event.session_id == self.session_id:
            return self.timeline.turns_before(event.session_id, event.sequence_number)
        return super().turns_before(event)

    def last_number(self, session_id: str) -> int:
        return self._from.number_at(session_id, self.position())

    def lasting(
        self, session_id: str, *, before: int | None = None, after: int = 0, limit: int
    ) -> list[Event]:
        return self._until(super().lasting(session_id, before=before, after=after, limit=limit))

    def between(self, session_id: str, first: int, last: int, limit: int) -> list[Event]:
        return self._until(super().between(session_id, first, last, limit))

    def call_events(self, call_id: str) -> Sequence[Event]:
        return self._until(super().call_events(call_id))

    def _until(self, events: Iterable[Event]) -> list[Event]:
        position = self.position()
        return [event for event in events if event.position <= position]

    # --- proposals ------------------------------------------------------------------------------

    def exact_hunks(self, action: Action) -> tuple[Hunk, ...]:
        opened = self.opened(action)
        return opened.hunks if opened else ()

    def exact_parameters(self, action: Action) -> JsonObject:
        opened = self.opened(action)
        return opened.parameters if opened else {}

    def base_lines(self, action: Action) -> Mapping[str, tuple[str, ...]]:
        """Return nothing: what stands around a change is only in sealed bytes."""
        del action
        return {}

    @property
    def rows(self) -> MemoryTables:
        """Return every row as it stood, for what prints a moment."""
        return self._rows
