"""Everything the screen knows of the journal at a moment: sessions, actions, calls, runs, the conversation.

Owns what is read again after which event, so that new events cost what they change and no more. Knows no
widget and writes nothing.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from heapq import merge
from typing import Final, Literal, cast

from msgspec import Struct, field

from workbench.domain.events import (
    AgentsHeld,
    AgentsReleased,
    CallFinished,
    CallProposed,
    ErrorRaised,
    Event,
    FileChanged,
    ReplyCompleted,
    RuleAdded,
    RuleRevoked,
    SessionDeleted,
    StepChanged,
    TurnEnded,
    WorkspaceTrusted,
    WorkspaceTrustRevoked,
)
from workbench.domain.rows import Action, Call, Session
from workbench.domain.values import SYSTEM_SESSION, UNDO_TOOL, JsonObject
from workbench.tui import transcript_window
from workbench.tui.call_store import CallStore
from workbench.tui.journal_source import LISTED_KINDS, MAX_CALLS, JournalSource
from workbench.tui.run_store import RunStore
from workbench.tui.transcript_window import TranscriptWindow
from workbench.views.approvals import blocking_call, queue_summary
from workbench.views.conversation import Transcript
from workbench.views.data_source import DataSource
from workbench.views.propose_again import ProposeAgain, propose_again_of
from workbench.views.reopening import Reopening, reopening_of
from workbench.views.sandbox import is_allowed_by_sandbox
from workbench.views.sessions import BUSY_STATUSES, RunTotals, listed_id

_HOLD_EVENTS: Final = (AgentsHeld, AgentsReleased)
_GRANT_EVENTS: Final = (RuleAdded, RuleRevoked, WorkspaceTrusted, WorkspaceTrustRevoked, *_HOLD_EVENTS)
TranscriptPart = Literal["first", "earlier", "later", "end"]
MAX_SESSIONS: Final = 200
MAX_DECIDED: Final = 40
TAIL_EVENTS: Final = 1_000
"""Events of a session that are read when it is shown; older ones when they are asked for."""
_STEP_EVENTS: Final = 300
"""Events of the session of one step that are read where its run is shown."""
_MAX_STEP_SESSIONS: Final = 40
_ROW_KINDS: Final = (
    "agent.",
    "call.",
    "action.",
    "session.",
    "turn.",
    "reply.",
    "prompt.",
    "refresh.",
    "undo.",
)


class StateChange(Struct):
    """What is different since the last look."""

    actions: set[str] = field(default_factory=set[str])
    blocks: set[str] = field(default_factory=set[str])
    calls: set[str] = field(default_factory=set[str])
    """Those of the session on show."""
    has_calls: bool = False
    has_sessions: bool = False
    runs: set[str] = field(default_factory=set[str])
    """Pipeline runs, by id."""
    has_first: bool = False
    """Whether a session is shown now where none was."""
    has_grants: bool = False
    """Whether what agents may do without asking is different."""
    has_hold: bool = False
    """Whether all agents were held or released."""
    troubles: list[Event] = field(default_factory=list[Event])
    """Errors that were raised and calls that failed, for the toast."""


class ScreenState:
    """Rows and the conversation, as last read."""

    def __init__(self, source: DataSource, *, is_wide: bool = False) -> None:
        """Begin with nothing read; `is_wide` lists what waits in all folders of the home."""
        self.source, self.is_wide = source, is_wide
        """Where rows come from, and whether what waits in all folders of the home is listed."""
        if isinstance(source, JournalSource):
            source.is_wide = is_wide
        self.runs = RunStore(source)
        self.sessions: dict[str, Session] = {}
        self.are_agents_held = False
        """Whether every call of every agent asks."""
        self.actions: dict[str, Action] = {}
        self.workspaces: dict[str, str] = {}
        """By the id of an action that is listed: the workspace whose driver acts on its answer."""
        self.elsewhere: dict[str, Action] = {}
        """What waits in other folders and is not listed."""
        self.calls: list[Call] = []
        self.action_calls: dict[str, Call] = {}
        """What came of approved actions, by the id of their call, whichever session is on show."""
        self.undone: set[str] = set()
        """Ids of actions whose changes were taken back, as far as their sessions were looked at."""
        self.current: Session | None = None
        self.transcript = Transcript("")
        self.file_events: list[Event] = []
        self.window: TranscriptWindow | None = None
        """The earlier part of the conversation that is shown instead of its end."""
        self.earlier_calls: int = 0
        """Calls of the session that are not listed any more."""
        self.every_call = CallStore(source)
        """The calls of all listed sessions; read while a pane shows them."""
        self.all_sessions: frozenset[str] = frozenset()
        """The places that show every session instead of the one on show: `tools`, `pipeline`."""
        self._first, self._folded = 1, 0
        self._is_left = False
        """Whether the user left the session on show: the next message begins one, events choose none."""

    # --- reading --------------------------------------------------------------------------------

    def load(self, session_id: str | None = None, tail: int = TAIL_EVENTS) -> None:
        """Read everything that a first frame shows.

        Args:
            session_id: Which session is on show; None is the one of what waits first, else the newest.
            tail: Of how many of its last events its conversation is.
        """
        self._load_rows()
        self.runs.load()
        self.show_all_sessions(self.all_sessions)
        shown = session_id or self._first_waiting_session() or next(iter(self.sessions), None)
        if shown is not None:
            self.choose(shown, tail)

    def _load_rows(self) -> None:
        source = self.source
        self.sessions = {session.id: session for session in source.sessions(MAX_SESSIONS)}
        self.are_agents_held = source.are_agents_held
        self.actions = {}
        for action in source.actions(MAX_DECIDED):
            self._list_action(action)
        is_live = isinstance(source, JournalSource)
        self.elsewhere = {action.id: action for action in source.waiting_elsewhere()} if is_live else {}

    def show_all_sessions(self, places: Iterable[str]) -> None:
        """Have these places show every session, and the others the one on show."""
        self.all_sessions = frozenset(places)
        if "tools" in self.all_sessions:
            self.every_call.load(self.sessions.values())

    def listed_call(self, call_id: str | None) -> Call | None:
        """Return a call that a pane lists; None for any other."""
        return next((call for call in (*self.calls, *self.listed_calls) if call.id == call_id), None)

    @property
    def listed_calls(self) -> list[Call]:
        """Return the calls in the tools pane: of the session on show, or of all sessions."""
        return self.every_call.rows if "tools" in self.all_sessions else self.calls

    def _list_action(self, action: Action) -> None:
        self.actions[action.id] = action
        if isinstance(self.source, JournalSource) and action.id not in self.workspaces:
            self.workspaces[action.id] = self.source.workspace_of(action)
        self._know_session(action.session_id)
        self._read_call(action)

    def list_folders(self, *, is_wide: bool) -> None:
        """List what waits in all folders of the home, or in this workspace only; who is on show stays."""
        if isinstance(self.source, JournalSource):
            self.is_wide = self.source.is_wide = is_wide
        self._load_rows()
        if self.current is not None and self.current.kind != "step":
            self.sessions.setdefault(self.current.id, self.current)

    def _first_waiting_session(self) -> str | None:
        """Return the session of what waits first; None where nothing does, or the question has none."""
        first = self.first_waiting()
        return first.session_id if first is not None and first.session_id != SYSTEM_SESSION else None

    def choose(self, session_id: str, tail: int = TAIL_EVENTS) -> None:
        """Show a session: fold its last events."""
        self.current, self._is_left = self.source.session(session_id), False
        if self.current is not None and self.current.kind != "step":
            self.sessions.setdefault(session_id, self.current)  # one that is older than those that were read
        self.runs.choose(self.current)
        self.window = None
        events = self._tail(session_id, tail)
        self._fold(session_id, events)
        self.file_events = [event for event in events if isinstance(event.body, FileChanged)]
        calls = [call for key in (session_id, *self._step_sessions()) for call in self.source.calls(key)]
        self.calls = sorted(calls, key=lambda call: (call.requested_at, call.ordinal))[-MAX_CALLS:]
        self._note_undone(self.calls)
        source = self.source
        is_long = len(self.calls) == MAX_CALLS
        self.earlier_calls = 0
        if is_long and isinstance(source, JournalSource):
            self.earlier_calls = source.call_count(session_id) - MAX_CALLS

    def _fold(self, session_id: str, events: Sequence[Event]) -> None:
        before, source = 0, self.source
        if events and isinstance(source, JournalSource):
            before = source.turns_before(events[0])
        self.transcript = Transcript(session_id, before)
        self.transcript.apply_all(self._with_steps(events))
        self.count_refused(self.transcript)
        self._first, self._folded = events[0].sequence_number if events else 1, len(events)

    def _with_steps(self, events: Sequence[Event]) -> Iterable[Event]:
        """Return the events of a run with those of its agents between them."""
        sessions = {
            event.body.session_id: None
            for event in events
            if isinstance(event.body, StepChanged) and event.body.session_id
        }
        if not sessions:
            return events
        below = (self._tail(key, _STEP_EVENTS) for key in list(sessions)[-_MAX_STEP_SESSIONS:])
        return merge(events, *below, key=lambda event: event.position)

    def _step_sessions(self) -> list[str]:
        return list(self.transcript.step_sessions)[-_MAX_STEP_SESSIONS:]

    def trim(self) -> bool:
        """Fold the last events only, if many came since; False when nothing changed.

        Not while something streams: its beginning would be lost.
        """
        if self.current is None or self._folded < 3 * TAIL_EVENTS or self.transcript.is_streaming:
            return False
        self._fold(self.current.id, self._tail(self.current.id, TAIL_EVENTS))
        return True

    # --- earlier parts --------------------------------------------------------------------------

    @property
    def shown(self) -> Transcript:
        """Return the part of the conversation that is on the screen."""
        return self.transcript if self.window is None else self.window.transcript

    def look_back(self, where: TranscriptPart) -> bool:
        """Show another part of the conversation; False when that is what is shown already."""
        source, current = self.source, self.current
        if current is None or not isinstance(source, transcript_window.EventArchive):
            return False
        was, window = self.window, self.window
        first = self._first if was is None else was.first
        match where:
            case "end":
                window = None
            case "later":
                # What is read is in the last events too as soon as its window reaches into them.
                is_far = was is not None and was.last < self._first
                window = transcript_window.window_after(source, current.id, was) if was and is_far else None
            case "first" if first > 1:
                window = transcript_window.first_window(source, current.id)
            case "earlier" if first > 1:
                window = transcript_window.window_before(source, current.id, first) or was
            case _:
                pass
        self.window = window
        return window is not was

    def look_at(self, number: int) -> bool:
        """Show the part of the conversation that an event is in; False when it is shown already."""
        source, current, was = self.source, self.current, self.window
        if current is None or not isinstance(source, transcript_window.EventArchive):
            return False
        self.window = (
            None if number >= self._first else transcript_window.window_around(source, current.id, number)
        )
        return self.window is not was

    def _tail(self, session_id: str, count: int) -> Sequence[Event]:
        if isinstance(self.source, JournalSource):
            return self.source.tail(session_id, count)
        return self.source.events(session_id, 0, 1_000_000)

    def apply(self, events: Sequence[Event]) -> StateChange:
        """Take in what came: fold the conversation, read changed rows again."""
        changed = StateChange()
        touched: set[str] = set()
        for event in events:
            self._note(event, changed, touched)
        changed.has_grants = any(isinstance(event.body, _GRANT_EVENTS) for event in events)
        changed.has_hold = any(isinstance(event.body, _HOLD_EVENTS) for event in events)
        if changed.has_hold:
            self.are_agents_held = self.source.are_agents_held
        for action_id in changed.actions:
            self._read_action(action_id)
        for session_id in touched:
            self._read_session(session_id)
        self.runs.read(filter(self._is_run_listed, changed.runs))
        if changed.runs:
            changed.blocks |= self.count_refused(self.transcript)
        is_run = self.current is not None and self.current.id in changed.runs
        changed.has_sessions = bool(touched) or is_run
        if changed.has_calls and self.current is not None:
            self._read_calls(changed.calls)
        if "tools" in self.all_sessions and self.every_call.read():
            changed.has_calls = True
        if self.current is None and self.sessions and not self._is_left:
            self.choose(next(iter(self.sessions)))
            changed.has_first = True
        return changed

    def look_at_drivers(self) -> set[str]:
        """Read again what is under way though no process drives it any more; return its ids.

        No event tells of that.
        """
        is_gone = partial(is_driver_gone, self)
        working = (key for key, session in self.sessions.items() if session.status in BUSY_STATUSES)
        lost_sessions, lost_runs = set(filter(is_gone, working)), set(filter(is_gone, self.runs.running))
        for session_id in lost_sessions:
            self._read_session(session_id)
        self.runs.read(lost_runs)
        return lost_sessions | lost_runs

    @property
    def is_anything_driven(self) -> bool:
        """Return whether a session or a run is under way, as far as was looked."""
        sessions = self.sessions.values()
        return any(session.status in BUSY_STATUSES for session in sessions) or any(self.runs.running)

    def count_refused(self, transcript: Transcript) -> set[str]:
        """Count the refused calls of steps in the conversation of a run; return the blocks that changed."""
        if self.current is None or self.current.kind != "pipeline":
            return set()
        return transcript.know_refused(self.runs.refused_calls(self.current.id))

    def _note_shown(self, event: Event, changed: StateChange) -> None:
        """Fold an event of the session on show, or of an agent in a step of the run on show."""
        is_current = self.current is not None and event.session_id == self.current.id
        if not is_current and event.session_id not in self.transcript.step_sessions:
            return
        changed.blocks |= self.transcript.apply(event)
        self._folded += is_current
        self._note_calls(event, changed)
        if is_current and isinstance(event.body, FileChanged):
            self.file_events.append(event)

    def _note(self, event: Event, changed: StateChange, touched: set[str]) -> None:
        self._note_shown(event, changed)
        if "tools" in self.all_sessions and self._is_session_listed(event.session_id):
            action = self.actions.get(event.action_id or "")
            self.every_call.note(event, action.call_id if action is not None else None)
        if event.action_id:
            changed.actions.add(event.action_id)
        if isinstance(event.body, SessionDeleted):
            self._forget(event.body.deleted_id)
            changed.has_first = True
        if event.call_id and event.kind.startswith("call."):
            changed.actions |= {
                action.id for action in self.actions.values() if action.call_id == event.call_id
            }
        if event.kind.startswith(_ROW_KINDS) and event.session_id != SYSTEM_SESSION:
            touched.add(event.session_id)
        if self.runs.is_about(event):
            self.runs.note(event)
            changed.runs.add(event.session_id)
        if run := self.runs.forget_refused(event):
            changed.runs.add(run)
        if isinstance(event.body, ErrorRaised | CallFinished):
            changed.troubles.append(event)
        if isinstance(event.body, CallFinished) and (call := self.source.call(event.call_id or "")):
            changed.actions |= self._note_undone((call,))

    def _forget(self, session_id: str) -> None:
        """Show nothing of a session that was deleted."""
        self.sessions.pop(session_id, None)
        for actions in (self.actions, self.elsewhere):
            for key in [key for key, action in actions.items() if action.session_id == session_id]:
                del actions[key]
        if self.current is not None and self.current.id == session_id:
            self.leave()
            self._is_left = False

    def _note_calls(self, event: Event, changed: StateChange) -> None:
        if isinstance(event.body, ReplyCompleted):
            changed.calls |= {call.call_id for call in event.body.calls}
        elif event.kind.startswith(("call.", "action.")):
            action = self.actions.get(event.action_id or "")
            replaced = event.body.replaces if isinstance(event.body, CallProposed) else None
            changed.calls |= {key for key in (event.call_id, action and action.call_id, replaced) if key}
        elif isinstance(event.body, TurnEnded):
            changed.calls |= {call.id for call in self.calls if call.finished_at is None}
        changed.has_calls = bool(changed.calls)

    def _read_calls(self, keys: Iterable[str]) -> None:
        """Read changed calls again, and nothing of the others: a session may have thousands."""
        known = {call.id: call for call in self.calls}
        for key in keys:
            call = self.source.call(key)
            if call is not None:
                known[key] = call
                self._note_undone((call,))
        calls = sorted(known.values(), key=lambda call: (call.requested_at, call.ordinal))
        self.earlier_calls += max(0, len(calls) - MAX_CALLS)
        self.calls = calls[-MAX_CALLS:]

    def propose_again(self, action: Action) -> ProposeAgain | None:
        """Return what the agent of an expired action can be asked for; None of any other."""
        if action.state != "expired" or not self.source.is_live:
            return None
        session_id, source = action.session_id, self.source
        session = self.sessions.get(session_id) or source.session(session_id)
        return propose_again_of(session, action, self.actions.values(), source.asked_again(session_id))

    def reopening(self, action: Action) -> Reopening | None:
        """Return what of an approved action can be proposed again without its agent; None of any other."""
        if not self.source.is_live:
            return None
        session = self.sessions.get(action.session_id) or self.source.session(action.session_id)
        return reopening_of(session, action, self.actions.values(), self.undone)

    def _note_undone(self, calls: Iterable[Call]) -> set[str]:
        """Note which actions calls have undone; return their ids."""
        noted: set[str] = set()
        for call in calls:
            if call.tool == UNDO_TOOL and call.state == "succeeded":
                action_ids = self._undone_actions(call.parameters)
                noted |= action_ids
                is_redo = bool(call.parameters.get("redo"))
                self.undone = self.undone - action_ids if is_redo else self.undone | action_ids
        return noted

    def _undone_actions(self, parameters: JsonObject) -> set[str]:
        """Return the actions of which an undo left nothing, or that it restored."""
        if one := parameters.get("call"):  # as a fork names it
            return {action.id for action in self.actions.values() if action.call_id == one}
        several = parameters.get("calls" if parameters.get("redo") else "whole")
        if not isinstance(several, list):
            return {str(parameters.get("action", ""))}
        ids = set(cast("list[str]", several))
        return {action.id for action in self.actions.values() if action.call_id in ids}

    def _read_action(self, action_id: str) -> None:
        action = self.source.action(action_id)
        if action is None:
            return
        source = self.source
        if action_id in self.actions or not isinstance(source, JournalSource) or source.is_listed(action):
            self._list_action(action)
        elif action.state == "pending":
            self.elsewhere[action_id] = action
        else:
            self.elsewhere.pop(action_id, None)

    def _read_call(self, action: Action) -> None:
        call = self.source.call(action.call_id) if action.call_id and action.state == "approved" else None
        if call is not None:
            self.action_calls[call.id] = call

    def _read_session(self, session_id: str) -> None:
        session = self.source.session(session_id)
        if session is None:
            self.sessions.pop(session_id, None)
        elif session_id in self.sessions or self._is_ours(session):
            # The last changed first, as the journal lists them.
            self.sessions.pop(session_id, None)
            self.sessions = {session_id: session, **self.sessions}
        if self.current is not None and session_id == self.current.id:
            self.current = session or self.current

    def _is_ours(self, session: Session) -> bool:
        if not isinstance(self.source, JournalSource):
            return True
        return session.listed_in == self.source.workspace and session.kind in LISTED_KINDS

    def _is_session_listed(self, session_id: str) -> bool:
        session = self.sessions.get(session_id) or self.source.session(session_id)
        if session is None or not isinstance(self.source, JournalSource):
            return session is not None
        return self.is_wide or self.workspace_of(session) == self.source.workspace

    def _is_run_listed(self, run_id: str) -> bool:
        """Return whether a run is one of this workspace, or one of another that was looked at."""
        if run_id in self.runs.rows:
            return True
        session = self.sessions.get(run_id) or self.source.session(run_id)
        return session is None or self._is_ours(session)

    def _know_session(self, session_id: str) -> None:
        """List a session that an action is of, and of a step its run, which stands for it in lists."""
        if session_id not in self.sessions and session_id != SYSTEM_SESSION:
            session = self.source.session(session_id)
            if session is not None:
                self.sessions[session.id] = session
                if session.kind == "step" and session.parent_id:
                    self._know_session(session.parent_id)

    def workspace_of(self, session: Session | None) -> str:
        """Return the workspace whose driver acts for a session: of a step that of its run; empty for none."""
        if session is None:
            return ""
        if session.kind == "step" and session.parent_id:
            run = self.sessions.get(session.parent_id) or self.source.session(session.parent_id)
            return self.workspace_of(run) if run is not None else session.workspace
        return session.workspace

    # --- what follows from it -------------------------------------------------------------------

    @property
    def run_totals(self) -> RunTotals | None:
        """Return what the steps of the run on show come to; None where no run is on show."""
        current = self.current
        return self.runs.totals(current.id) if current is not None and current.kind == "pipeline" else None

    @property
    def used_tokens(self) -> int | None:
        """Return the tokens of the session on show, of a run with all its steps; None without a session."""
        if self.current is None:
            return None
        run = self.run_totals
        return self.current.usage.total_tokens if run is None else run.tokens

    @property
    def pending(self) -> list[Action]:
        """Return what waits."""
        return [action for action in self.actions.values() if action.state == "pending"]

    def is_own(self, session_id: str | None) -> bool:
        """Return whether a session is the one on show, its run, or a step or run below either of them."""
        current = self.current
        if current is None or session_id is None:
            return False
        if session_id in (current.id, listed_id(current)):
            return True
        session = self.sessions.get(session_id) or self.source.session(session_id)
        above = session.parent_id if session is not None else None
        return above is not None and above in (current.id, listed_id(current))

    def first_waiting(self) -> Action | None:
        """Return what waits first in the session on show, else in any; None where nothing waits."""
        own = [action for action in self.pending if self.is_own(action.session_id)]
        return self.actions.get(queue_summary(own or self.pending, self.source.now()).first_id or "")

    def blockers(self) -> dict[str, Call]:
        """Return by action the call that has to end before what was approved runs."""
        approved = {call.action_id: call for call in self.action_calls.values() if call.state == "approved"}
        found: dict[str, Call] = {}
        for action_id, call in approved.items():
            blocker = blocking_call(call, self.source.calls(call.session_id))
            if action_id is not None and blocker is not None:
                found[action_id] = blocker
        return found

    def is_due(self, now: int) -> bool:
        """Return whether the window of something has closed, here or in another folder."""
        waiting = (*self.pending, *self.elsewhere.values())
        return any(action.expires_at is not None and action.expires_at <= now for action in waiting)

    @property
    def ruled(self) -> list[Call]:
        """Return the newest calls of the session on show that a rule or the sandbox let pass."""
        passed = (call for call in reversed(self.calls) if call.rule or is_allowed_by_sandbox(call))
        return [call for call in passed if not call.action_id][:3]

    def leave(self) -> None:
        """Show no session: the next message begins one."""
        self.current, self.transcript, self.window, self._is_left = None, Transcript(""), None, True
        self.calls, self.file_events = [], []


def is_session_driven(state: ScreenState, session_id: str) -> bool:
    """Return whether a living process drives a session; one that died says nothing any more."""
    source = state.source
    return not isinstance(source, JournalSource) or source.is_driven(session_id)


def is_driver_gone(state: ScreenState, session_id: str) -> bool:
    """Return whether a process drove a session and none does now; in a replay no driver is gone."""
    source = state.source
    return isinstance(source, JournalSource) and source.is_driver_gone(session_id)
