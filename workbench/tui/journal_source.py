"""Reads the live journal for the screen: rows, run events, sub-agents, and the event feed.

Looks at most 30 times a second, and not at all while the journal is silent. It never writes.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, TypeVar, get_args

from workbench.changes.decision import SealedBytesMissing, action_hunks, exact_parameters, sealed_changes
from workbench.changes.diff import decode_content
from workbench.domain.events import ActionOpened, CallFinished, Event
from workbench.domain.rows import (
    WORKTREES_SUFFIX,
    Action,
    Call,
    PipelineState,
    Session,
    SessionCounts,
    StepState,
)
from workbench.domain.values import SYSTEM_SESSION, Hunk, JsonObject, SessionKind, StepPlan
from workbench.journal.journal import Journal
from workbench.journal.leases import is_driver_gone, is_lease_live
from workbench.journal.place_queue import wait_of_run
from workbench.text.human import SECOND_MICROS
from workbench.views.conversation import Transcript
from workbench.views.data_source import DataSource, SealedContentGone
from workbench.views.lost_drivers import listed_run, listed_session
from workbench.views.sessions import NO_AGENTS
from workbench.views.sub_agents import SubAgent, agent_at, sessions_of_calls

LISTED_KINDS: Final = tuple(kind for kind in get_args(SessionKind) if kind != "ask")
"""What a screen lists by itself; a command that was made of words is shown where somebody chooses it."""
_EVENTS_A_READ: Final = 10_000
_MAX_INDEXED_RUNS: Final = 2
ReadEventsAfter = Callable[[str, int, int], Sequence[Event]]
"""Session, position, limit: the events behind a position."""


class RunEventIndex:
    """Events of runs, by step of the file; those of the items of a matrix are with their step."""

    def __init__(self, read: ReadEventsAfter) -> None:
        self._read = read
        self._runs: dict[str, dict[str, list[Event]]] = {}
        self._last: dict[str, int] = {}

    def of(self, run_id: str, step_id: str) -> Sequence[Event]:
        """Return the events of one step and of its items, in order."""
        steps = self._runs.pop(run_id, {})
        self._runs[run_id] = steps
        while len(self._runs) > _MAX_INDEXED_RUNS:
            oldest = next(iter(self._runs))
            del self._runs[oldest]
            self._last.pop(oldest, None)
        while self._more(run_id, steps):
            pass
        return tuple(steps.get(step_id, ()))

    def _more(self, run_id: str, steps: dict[str, list[Event]]) -> bool:
        """Read a page of what is new; False when there is no more."""
        events = self._read(run_id, self._last.get(run_id, 0), _EVENTS_A_READ)
        for event in events:
            if event.step:
                steps.setdefault(event.step.partition("[")[0], []).append(event)
        if events:
            self._last[run_id] = events[-1].position
        return len(events) == _EVENTS_A_READ


MAX_FRAMES_PER_SECOND: Final = 30
"""Looks at the journal a second, at most."""
_MAX_CHECKED_SESSIONS: Final = 12
"""Sessions whose decided actions are listed: the newest ones."""
MAX_CHILDREN: Final = 500
"""Agents of one session that are known of."""
MAX_CALLS: Final = 500
"""Calls of a session that are listed: the newest ones."""
_MAX_CACHED: Final = 64
"""Proposals and hunks kept; an action never changes."""
_FIRST_RUN_EVENTS: Final = 100
"""Events of a run among which its plan is found."""
CachedValue = TypeVar("CachedValue")


class JournalSource:
    """A workspace's part of a journal, as a `DataSource`."""

    is_wide = False
    """Whether actions of all folders of the home are listed, not of this workspace only."""

    def __init__(self, journal: Journal, workspace: str) -> None:
        self._journal, self.workspace = journal, workspace
        self._opened: OrderedDict[str, ActionOpened] = OrderedDict()
        self._hunks: OrderedDict[str, tuple[Hunk, ...]] = OrderedDict()
        self._run_events = RunEventIndex(self.events)

    @property
    def is_live(self) -> bool:
        """Return True: answers count."""
        return True

    @property
    def are_agents_held(self) -> bool:
        return self._journal.are_agents_held

    def now(self) -> int:
        return self._journal.now()

    def position(self) -> int:
        return self._journal.last_position()

    def sessions(self, limit: int) -> Sequence[Session]:
        return [self._listed(session) for session in self._newest(limit, LISTED_KINDS)]

    def _listed(self, session: Session) -> Session:
        return listed_session(session, self.is_driver_gone)

    def _newest(self, limit: int, kinds: Iterable[SessionKind] | None = None) -> list[Session]:
        """Return the last changed sessions of the workspace and of the worktrees made from it."""
        from workbench.journal.session_queries import worktrees_of

        own = self._journal.sessions(self.workspace, kinds=kinds, archived=False, limit=limit)
        with self._journal.snapshot() as database:
            worktrees = worktrees_of(database, self.workspace)
        others = [
            session
            for folder in worktrees
            for session in self._journal.sessions(folder, kinds=kinds, archived=False, limit=limit)
            if session.listed_in == self.workspace
        ]
        if not others:
            return own
        return sorted((*own, *others), key=lambda session: (-session.updated_at, session.id))[:limit]

    def session(self, session_id: str) -> Session | None:
        session = self._journal.session(session_id)
        return None if session is None else self._listed(session)

    def actions(self, limit_decided: int) -> Sequence[Action]:
        pending = [action for action in self._journal.actions(states=("pending",)) if self.is_listed(action)]
        if self.is_wide:
            newest = self._journal.sessions(archived=False, limit=_MAX_CHECKED_SESSIONS)
        else:
            newest = self._newest(_MAX_CHECKED_SESSIONS)
        # Steps may work in folders of their own.
        steps = [
            step
            for session in newest
            if session.kind == "pipeline"
            for step in self._journal.sessions(parent_id=session.id, limit=_MAX_CHECKED_SESSIONS)
        ]
        decided = [
            action
            for session_id in {session.id for session in (*newest, *steps)} | {SYSTEM_SESSION}
            for action in self._journal.actions(session_id)
            if action.state not in ("pending", "superseded") and self.is_listed(action)
        ]
        decided.sort(key=lambda action: -(action.decided_at or 0))
        return [*pending, *decided[:limit_decided]]

    def is_listed(self, action: Action) -> bool:
        """Return whether an action is about this workspace, or about any where all are listed."""
        return self.is_wide or self.is_of_here(self.workspace_of(action))

    def is_of_here(self, workspace: str) -> bool:
        """Return whether a folder is the workspace, or a worktree that was made from it for a session."""
        if workspace == self.workspace:
            return True
        newest = self._journal.sessions(workspace, limit=1) if WORKTREES_SUFFIX in workspace else ()
        return any(session.listed_in == self.workspace for session in newest)

    def waiting_elsewhere(self) -> Sequence[Action]:
        """Return the pending actions that are not listed: those of other folders."""
        return [action for action in self._journal.actions(states=("pending",)) if not self.is_listed(action)]

    def workspace_of(self, action: Action) -> str:
        """Return the workspace whose driver acts on an answer; empty when its session was deleted."""
        if action.session_id == SYSTEM_SESSION:
            return str(action.subject.get("workspace") or self.workspace)
        session = self._journal.driving_session(action.session_id)
        return session.workspace if session is not None else ""

    def is_driven(self, session_id: str) -> bool:
        """Return whether a process that lives drives a session."""
        return is_lease_live(self._journal.home, self._journal.lease(session_id))

    def is_driver_gone(self, session_id: str) -> bool:
        """Return whether a process drove a session and none does now."""
        return is_driver_gone(self._journal, session_id)

    def action(self, action_id: str) -> Action | None:
        return self._journal.action(action_id)

    def asked_again(self, session_id: str) -> Collection[str]:
        from workbench.journal.session_queries import asked_again_ids

        with self._journal.snapshot() as database:
            return asked_again_ids(database, session_id)

    def calls(self, session_id: str) -> Sequence[Call]:
        """Return the last calls of a session in their order: as many as somebody looks at."""
        return self._journal.last_calls(session_id, MAX_CALLS)

    def children(self, session_id: str) -> Sequence[Session]:
        """Return the sessions below one, as they stand now: those of its agents."""
        return self._journal.sessions(parent_id=session_id, limit=MAX_CHILDREN)

    def recorded_calls(self, session_id: str) -> Sequence[Call]:
        """Return the calls of a session as they stand now, whatever the moment."""
        return self._journal.last_calls(session_id, MAX_CALLS)

    def call_count(self, session_id: str) -> int:
        """Return how many calls a session has, listed or not."""
        return self._journal.call_count(session_id)

    def call(self, call_id: str) -> Call | None:
        return self._journal.call(call_id)

    def events(self, session_id: str, after: int, limit: int) -> Sequence[Event]:
        return self._journal.events(session_id, after, limit)

    def tail(self, session_id: str, count: int) -> Sequence[Event]:
        """Return the last events of a session, so that a long one is shown as fast as a short one.

        Where most of them are pieces of something streamed, lasting ones before them are added.
        """
        first = max(1, self.last_number(session_id) - count + 1)
        events = self._journal.window(session_id, first, count)
        lasting = sum(event.body.DURABLE for event in events)
        if first > 1 and lasting < count // 4:
            events = [*self.lasting(session_id, before=first, limit=count // 4), *events]
        return events

    def turns_before(self, event: Event) -> int:
        """Return how many turns of a session ended before an event of it."""
        if event.sequence_number == 1:
            return 0
        return self._journal.turns_before(event.session_id, event.sequence_number)

    def last_number(self, session_id: str) -> int:
        """Return the number of a session's newest event."""
        return self._journal.last_sequence(session_id)

    def lasting(
        self, session_id: str, *, before: int | None = None, after: int = 0, limit: int
    ) -> list[Event]:
        """Return events that are no pieces: the last ones before a number, or the first ones after one."""
        return self._journal.lasting(session_id, before=before, after=after, limit=limit)

    def between(self, session_id: str, first: int, last: int, limit: int) -> list[Event]:
        """Return all events between two numbers, both included."""
        count = min(limit, last - first + 1)
        return self._journal.window(session_id, first, count) if count > 0 else []

    def counts(self, session_id: str) -> SessionCounts:
        """Return what the whole of a session counts: turns, lines changed, answers."""
        from workbench.journal.session_queries import session_counts

        with self._journal.snapshot() as database:
            return session_counts(database, [session_id]).get(session_id, SessionCounts())

    def call_events(self, call_id: str) -> Sequence[Event]:
        return self._journal.call_events(call_id)

    def runs(self, limit: int) -> Sequence[PipelineState]:
        runs = self._journal.pipeline_states(self.workspace, limit)
        return [listed_run(run, self.is_driver_gone) for run in runs]

    def run(self, run_id: str) -> PipelineState | None:
        run = self._journal.pipeline_state(run_id)
        return None if run is None else listed_run(run, self.is_driver_gone)

    def run_plan(self, run_id: str) -> tuple[StepPlan, ...]:
        from workbench.views.pipeline import last_started_step_plans

        return last_started_step_plans(self.events(run_id, 0, _FIRST_RUN_EVENTS))

    def run_steps(self, run_id: str) -> Sequence[StepState]:
        return self._journal.step_states(run_id)

    def run_step(self, run_id: str, step_id: str) -> StepState | None:
        return self._journal.step_state(run_id, step_id)

    def refused_calls(self, run_id: str) -> Mapping[str, int]:
        from workbench.journal.session_queries import refused_calls

        with self._journal.snapshot() as database:
            return refused_calls(database, run_id)

    def place_wait(self, run_id: str) -> str:
        wait = wait_of_run(self._journal.home, run_id)
        return wait.text if wait is not None else ""

    def run_items(self, run_id: str, step_id: str) -> tuple[str, ...]:
        from workbench.views.pipeline import matrix_item_ids

        return matrix_item_ids(self._journal.step_events(run_id, step_id), self._journal.blobs.read)

    def run_events(self, run_id: str, step_id: str) -> Sequence[Event]:
        return self._run_events.of(run_id, step_id)

    def text_of(self, ref: str) -> str | None:
        data = self._journal.blobs.read(ref)
        return None if data is None else data.decode("utf-8", "replace")

    @property
    def has_times(self) -> bool:
        """Return True: what happens here has its time."""
        return True

    def opened(self, action: Action) -> ActionOpened | None:
        opened = self._opened.get(action.id)
        if opened is None:
            event = self._journal.event_at(action.opened_at)
            if event is None or not isinstance(event.body, ActionOpened):
                return None
            opened = _cached(self._opened, action.id, event.body)
        return opened

    def exact_hunks(self, action: Action) -> tuple[Hunk, ...]:
        """Return the hunks: of a pending action from its sealed bytes, else as recorded.

        Raises:
            Gone: the bytes of a pending action are not there any more.
        """
        opened = self.opened(action)
        if opened is None:
            return ()
        if action.state != "pending":
            return opened.hunks
        hunks = self._hunks.get(action.id)
        if hunks is None:
            try:
                hunks = _cached(self._hunks, action.id, action_hunks(opened, self._journal.blobs))
            except SealedBytesMissing as error:
                raise SealedContentGone(error.why) from None
        return hunks

    def base_lines(self, action: Action) -> Mapping[str, tuple[str, ...]]:
        opened = self.opened(action)
        if opened is None or action.state != "pending":
            return {}
        try:
            changes = sealed_changes(opened.files, self._journal.blobs)
        except SealedBytesMissing:
            return {}
        return {
            change.path: tuple(decode_content(change.before)[0].removesuffix("\n").split("\n"))
            for change in changes
            if change.before
        }

    def exact_parameters(self, action: Action) -> JsonObject:
        """Return the parameters: of a pending action as the agent wrote them, else as recorded.

        Raises:
            Gone: the sealed parameters of a pending action are not there any more.
        """
        opened = self.opened(action)
        if opened is None:
            return {}
        if action.state != "pending":
            return opened.parameters
        try:
            return exact_parameters(opened.parameters, opened.parameters_ref, self._journal.blobs)
        except SealedBytesMissing as error:
            raise SealedContentGone(error.why) from None


def _cached(cache: "OrderedDict[str, CachedValue]", key: str, value: CachedValue) -> CachedValue:
    cache[key] = value
    if len(cache) > _MAX_CACHED:
        cache.popitem(last=False)
    return value


class SubAgentReader:
    """What the agents have done that calls of a conversation began; a journal is asked once a second."""

    def __init__(self, source: DataSource) -> None:
        self._source = source
        self.known: Mapping[str, SubAgent] = NO_AGENTS
        """By the id of the call."""
        self._asked: tuple[object, ...] = ()
        self._children: Sequence[Session] = ()
        self._calls: dict[str, Sequence[Call]] = {}
        self._named: dict[str, str] = {}
        """The session that a finished call has named, by call; empty where it named none."""

    def read(self, transcript: Transcript) -> frozenset[str]:
        """Read what they have done by now, and return the blocks that say something else."""
        calls, self.known = tuple(transcript.agent_calls.values()), NO_AGENTS
        if not calls or not isinstance(self._source, JournalSource):
            return frozenset()
        source, now = self._source, self._source.now()
        self._ask(source, transcript.session_id, now)
        begun = {child.id: child for child in self._children if child.created_at <= now}
        named = {call.id: self._name_of(source, call) for call in calls}
        led = sessions_of_calls(calls, tuple(begun.values()), named)
        self.known = {
            call: agent_at(begun[child], self._calls_of(source, child), now) for call, child in led.items()
        }
        return frozenset(transcript.know_agents(self.known))

    def _ask(self, source: JournalSource, session_id: str, now: int) -> None:
        asked = (session_id, now // SECOND_MICROS if source.is_live else None)
        if asked != self._asked:
            self._asked, self._calls = asked, {}
            self._children = sorted(source.children(session_id), key=lambda child: child.created_at)

    def _calls_of(self, source: JournalSource, session_id: str) -> Sequence[Call]:
        if session_id not in self._calls:
            self._calls[session_id] = source.recorded_calls(session_id)
        return self._calls[session_id]

    def _name_of(self, source: JournalSource, call: Call) -> str:
        if call.finished_at is None:
            return ""
        if call.id not in self._named:
            bodies = [event.body for event in source.call_events(call.id)]
            told = [body.metadata.get("child_session") for body in bodies if isinstance(body, CallFinished)]
            self._named[call.id] = next((name for name in told if isinstance(name, str)), "")
        return self._named[call.id]


class JournalFeed:
    """What came since the last look; one message a ring, however often it rings before the look."""

    def __init__(self, journal: Journal, tell: Callable[[], object]) -> None:
        """Begin behind the newest event; `tell` is called in the notifier's thread."""
        self._journal, self._tell = journal, tell
        self.cursor = journal.last_position()
        self._is_told = False
        self._unsubscribe: Callable[[], None] | None = None

    def start(self) -> None:
        """Listen from now on."""
        self._unsubscribe = self._journal.on_change(self._rung)

    def stop(self) -> None:
        """Listen no more; twice is harmless."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None

    def _rung(self) -> None:
        if not self._is_told:
            self._is_told = True
            self._tell()

    def fresh(self, limit: int = 5_000) -> list[Event]:
        """Return the events since the last look, of all sessions; more than `limit` come at the next."""
        # First the flag: a ring between the two is told once more, never lost.
        self._is_told = False
        events = self._journal.events(None, self.cursor, limit)
        if events:
            self.cursor = events[-1].position
        if len(events) == limit:
            self._rung()
        return events
