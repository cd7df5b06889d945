"""Drive one session in this process, under a driver's lock and a lease.

`SessionRunner` folds the session's events and starts the effects that are due, each once. Around it: the
lease, the clock (expiry, staleness, time of a turn), and handing back in order.
"""

# Orderly hand-over. A driver that stops in the middle of a turn leaves the session `paused (parked)` when
# the turn waits for its human, so that the last decision lets it go on, and `paused (host lost)` otherwise,
# so that no model is called because a host came back.
#
# A turn's time is working time: it stands while everything left waits for a human, in a pause, and while
# nobody drives. When it is over the driver says so with `interrupt.requested {why}`, the same stop that a
# human asks for; the turn ends with `limit`. The machine itself has no clock.

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from typing import Final

from msgspec import Struct

from workbench.agents.planner import (
    CallModel,
    Compact,
    Effect,
    EndTurn,
    Execute,
    Gate,
    Initialize,
    NoteRepetition,
    Pause,
    ProposePatch,
    RecoverCall,
    Refresh,
    Reopen,
    Restack,
    StopCall,
    StopModel,
    TurnLimits,
    Undo,
    Withdraw,
    due_effects,
    end_of_stopped_turn,
)
from workbench.agents.reducer import PAUSE_AFTER_OUTCOME, apply_event, worked_microseconds
from workbench.agents.state import TurnCall, TurnState
from workbench.changes.apply import stale_paths
from workbench.config.types import Config
from workbench.domain.events import (
    ActionBecameStale,
    ActionCancelled,
    CallFinished,
    CallRepeated,
    ErrorRaised,
    Event,
    InterruptRequested,
    SessionStatusChanged,
    TurnEnded,
)
from workbench.domain.machines import IllegalMoveError, PauseReason
from workbench.domain.rows import Action, Call, Lease, Session
from workbench.domain.values import Body
from workbench.effects.fault_points import fault_point
from workbench.host.compaction_call import CompactionCall
from workbench.host.crash_recovery import recover_call
from workbench.host.driver_context import DriverContext, OnEvents, SessionWriter, ignore_events
from workbench.host.executor import execute_call
from workbench.host.gate_runner import WaitingReads, gate_call, replace_stale_call, replace_waiting_action
from workbench.host.governed_settings import GovernedSettings
from workbench.host.model_call import ModelCall
from workbench.host.patch_proposal import propose_patch
from workbench.host.reopening import propose_reopening
from workbench.host.session_provider import known_context_tokens, told_context_tokens
from workbench.host.spend_limits import ask_beyond_limit
from workbench.host.undo_proposal import propose_undo
from workbench.journal.decisions import expire_due_actions
from workbench.journal.errors import GuardFailed, JournalError, LeaseLost
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverIdentity, lease_guard, release_lease, take_lease
from workbench.text.human import duration_text
from workbench.tools.base import CommitTool

_FEWEST_TOKENS_TO_COMPACT: Final = 2_000
"""Below it no server is asked for its context: no conversation is that near its end."""


@contextlib.asynccontextmanager
async def set_on_change(journal: Journal, event: asyncio.Event) -> AsyncGenerator[None]:
    """Set an event of this loop whenever the journal has changed."""
    loop = asyncio.get_running_loop()

    def set_event() -> None:
        with contextlib.suppress(RuntimeError):  # the loop may be gone by now
            loop.call_soon_threadsafe(event.set)

    unsubscribe = journal.on_change(set_event)
    try:
        yield
    finally:
        unsubscribe()


class _KeptEffects(Struct, frozen=True, kw_only=True):
    """What is due at a position of the journal under the limits of some settings."""

    cursor: int
    settings: GovernedSettings
    effects: tuple[Effect, ...]


class SessionRunner:
    """Drives one session under its lease until told to stop or the lease is lost."""

    def __init__(self, writer: SessionWriter, on_events: OnEvents = ignore_events) -> None:
        self.writer = writer
        self.state = TurnState()
        self.failure: BaseException | None = None
        self.cursor = 0
        """The position up to which the session was read back."""
        self.last_outcome: str | None = None
        """Of the newest `turn.ended` that was read back."""
        self._on_events = on_events
        self._running: dict[Effect, asyncio.Task[None]] = {}
        self._idle: dict[Effect, int] = {}
        """Effects that changed nothing, with the cursor at which they did not: not tried again there."""
        self._stops: dict[str, asyncio.Event] = {}
        self._model: ModelCall | None = None
        self._told_tokens: dict[tuple[str, str], int | None] = {}
        """Tokens of context by provider and model, as their servers said."""
        self._changed = asyncio.Event()
        self._due: _KeptEffects | None = None

    # --- the loop -------------------------------------------------------------------------------

    async def run(self, until: Callable[["SessionRunner"], bool]) -> None:
        """Run until `until` says so, then end what still runs; LeaseLost where another driver took over."""
        try:
            async with set_on_change(self.writer.journal, self._changed):
                while self.failure is None:
                    self._changed.clear()
                    self.catch_up()
                    self._start_due()
                    if until(self):
                        return
                    await self._changed.wait()
                raise self.failure
        finally:
            await self._end_all()

    def is_busy(self) -> bool:
        """Return whether an effect runs or is due."""
        return bool(self._running) or any(
            self._idle.get(effect) != self.cursor for effect in self.due_effects()
        )

    def due_effects(self) -> tuple[Effect, ...]:
        """Return what is due, computed once for a position of the journal and a reading of the settings.

        Limits are recalled, not read: `governed_settings` says what they may lag behind.
        """
        settings = self.writer.context.recall_settings()
        kept = self._due
        if kept is None or kept.cursor != self.cursor or kept.settings is not settings:
            effects = due_effects(self.state, self._turn_limits(settings.config))
            self._due = kept = _KeptEffects(cursor=self.cursor, settings=settings, effects=effects)
        return kept.effects

    def catch_up(self) -> None:
        """Read back and fold what is in the journal by now."""
        journal = self.writer.journal
        while events := journal.events(self.writer.session_id, after=self.cursor, limit=2_000):
            for event in events:
                self.state = apply_event(self.state, event)
                if isinstance(event.body, TurnEnded):
                    self.last_outcome = event.body.outcome
            self.cursor = events[-1].position
            self._on_events(events)

    def _turn_limits(self, config: Config) -> TurnLimits:
        session_rounds = configured_number(self.state, "max_turns")
        return TurnLimits(
            max_rounds=min(
                config.limits.max_turns, int(session_rounds) if session_rounds else config.limits.max_turns
            ),
            on_expiry=config.approvals.on_expiry,
            read_only_tools=self.writer.context.tools.read_only_names(),
            repeats_noted=config.limits.repeats_noted,
            repeats_paused=config.limits.repeats_paused,
            most_tokens=self.writer.context.constraints.most_tokens,
            compact_at=self._compaction_limit(config),
        )

    def _compaction_limit(self, config: Config) -> int:
        """Return the tokens at which a conversation is compacted; 0 for a step, which is relayed instead."""
        if self.writer.context.constraints.run_id:
            return 0
        return self._context_tokens(config) * config.limits.compact_percent // 100

    def _start_due(self) -> None:
        due = self.due_effects()
        for effect, task in self._running.items():
            if isinstance(effect, Compact) and effect not in due:
                task.cancel()
        is_stopping = any(isinstance(effect, StopModel) for effect in due)
        for effect in due:
            if effect in self._running or self._idle.get(effect) == self.cursor:
                continue
            if is_stopping and isinstance(effect, EndTurn):
                continue
            self._running[effect] = asyncio.create_task(self._perform(effect), name=type(effect).__name__)

    async def _perform(self, effect: Effect) -> None:
        before = self.cursor
        try:
            await self._handler(effect)
        except asyncio.CancelledError:
            raise
        except LeaseLost as error:
            self.failure = error
        except (IllegalMoveError, GuardFailed) as error:
            await self._look_again(effect, error, before)
        except JournalError as error:
            self.failure = error
        except Exception as error:  # noqa: BLE001 -- a defect ends this session's run, named, never the host
            await self._record_defect(effect, error)
        finally:
            if self.failure is None:
                self.catch_up()
            if self.cursor == before:
                self._idle[effect] = before
            self._running.pop(effect, None)
            self._changed.set()

    async def _look_again(self, effect: Effect, error: Exception, before: int) -> None:
        """Look again after a refused append: somebody else's event came first."""
        self.catch_up()
        if self.cursor == before:
            await self._record_defect(effect, error)

    async def _record_defect(self, effect: Effect, error: Exception) -> None:
        body = ErrorRaised(
            code="internal", message=f"{type(effect).__name__} failed: {type(error).__name__}: {error}",
            remedy="Continue the session to try again; the log of the background process has the details.",
        )  # fmt: skip
        try:
            with contextlib.suppress(JournalError):  # the first failure is the one to tell
                await self.writer.append(self.writer.event(body))
        finally:
            self.failure = error  # not before it is named: whoever drives ends with it

    async def _end_all(self) -> None:
        for stop in self._stops.values():
            stop.set()
        tasks = [task for effect, task in self._running.items() if not isinstance(effect, Execute)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    # --- effects --------------------------------------------------------------------------------

    def _handler(self, effect: Effect) -> Awaitable[object]:  # noqa: C901 -- one flat table of effects
        match effect:
            case Initialize():
                return self._initialize()
            case CallModel():
                return self._call_model(effect)
            case Compact():
                return self._compact(effect)
            case Gate():
                return gate_call(self.writer, effect.call_id)
            case Execute():
                return self._execute(effect.call_id)
            case RecoverCall():
                return recover_call(self.writer, effect.call_id)
            case NoteRepetition():
                return self._note_repetition(effect)
            case StopCall():
                return self._stop_call(effect.call_id)
            case StopModel():
                return self._stop_model()
            case Withdraw():
                return self._withdraw(effect.call_id)
            case Restack():
                return self._restack(effect.call_id)
            case Refresh():
                return self._refresh(effect.action_id)
            case Undo():
                return propose_undo(self.writer, effect)
            case Reopen():
                return propose_reopening(self.writer, effect)
            case ProposePatch():
                return propose_patch(self.writer, effect)
            case EndTurn():
                return self._end_turn(effect)
            case Pause():
                return self.pause(effect.reason)

    async def _initialize(self) -> None:
        session = self.writer.session()
        steps = [] if session.status == "initializing" else [SessionStatusChanged(status="initializing")]
        await self._append(*steps, SessionStatusChanged(status="ready"))

    async def _call_model(self, effect: CallModel) -> None:
        if await self._learn_context() and effect not in self.due_effects():
            return  # the conversation is compacted first
        if await ask_beyond_limit(self.writer, effect.turn_id):
            return
        if effect not in self.due_effects():
            return  # a queued prompt was taken back meanwhile
        self._model = ModelCall(self.writer, lambda: self.state, effect.turn_id, effect.round, self.cursor)
        await self._model.run()
        self._model = None

    async def _compact(self, effect: Compact) -> None:
        await self._learn_context()
        context_tokens = self._context_tokens(self.writer.context.recall_settings().config)
        await CompactionCall(self.writer, lambda: self.state, effect, context_tokens).run()

    def _context_tokens(self, config: Config) -> int:
        """Return the tokens of the session's context; 0 where nothing says it."""
        session = self.writer.session()
        server_tokens = self._told_tokens.get((session.provider, session.model))
        return known_context_tokens(config, session.provider, server_tokens) or 0

    async def _learn_context(self) -> bool:
        """Ask the server once how large its context is, before it begins to matter; say whether it told."""
        session, reply = self.writer.session(), self.state.reply
        model_key = (session.provider, session.model)
        used = reply.body.usage.total_tokens if reply else 0
        if model_key in self._told_tokens or used < _FEWEST_TOKENS_TO_COMPACT:
            return False
        context = self.writer.context
        config = context.refresh_settings().config
        server_tokens = await told_context_tokens(context.provider, config, session)
        self._told_tokens[model_key] = server_tokens
        self._due = None  # what is due depends on it
        return server_tokens is not None

    async def _stop_model(self) -> None:
        for effect, task in list(self._running.items()):
            if isinstance(effect, CallModel):
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        self.catch_up()
        if self.state.turn is None or self.state.turn.phase != "calling":
            return
        partial_reply = await self._model.stopped_reply_events() if self._model else []
        self._model = None
        await self.writer.append(*partial_reply, *self._turn_end_events(end_of_stopped_turn(self.state.turn)))

    async def _execute(self, call_id: str) -> None:
        stop = self._stops.setdefault(call_id, asyncio.Event())
        try:
            await execute_call(self.writer, call_id, stop)
        finally:
            self._stops.pop(call_id, None)

    async def _note_repetition(self, effect: NoteRepetition) -> None:
        fault_point("call.before_repeated")
        await self.writer.append(self._call_event(CallRepeated(times=effect.times), effect.call_id))
        fault_point("call.repeated")

    async def _stop_call(self, call_id: str) -> None:
        stop = self._stops.get(call_id)
        if stop is None:
            await recover_call(self.writer, call_id)
            return
        stop.set()
        task = self._running.get(Execute(call_id=call_id))
        if task is not None:
            await asyncio.wait([task])

    async def _withdraw(self, call_id: str) -> None:
        call = self.writer.journal.call(call_id)
        if call is None or call.state not in ("pending", "approved"):
            return
        events = [self._call_event(CallFinished(state="cancelled", detail="withdrawn"), call_id)]
        action = self.writer.journal.action(call.action_id) if call.action_id else None
        if action is not None and action.state == "pending":
            body = ActionCancelled(why="the turn was stopped")
            events.insert(0, self._call_event(body, call_id, action.id))
        await self.writer.append(*events)

    def _call_event(self, body: Body, call_id: str, action_id: str | None = None) -> Event:
        turn_id = self.state.turn.id if self.state.turn else None
        return self.writer.event(body, turn_id=turn_id, call_id=call_id, action_id=action_id)

    async def _restack(self, call_id: str) -> None:
        call = self.writer.journal.call(call_id)
        if call is not None and call.state == "approved":
            await replace_stale_call(
                self.writer, call_id, "an earlier change that it builds on was not taken as shown"
            )
        else:
            await replace_waiting_action(self.writer, call_id, "restacked")

    async def _refresh(self, action_id: str) -> None:
        action = self.writer.journal.action(action_id)
        if action is not None and action.call_id is not None:
            await replace_waiting_action(self.writer, action.call_id, "refreshed")

    async def _end_turn(self, effect: EndTurn) -> None:
        fault_point("turn.before_end")
        await self.writer.append(*self._turn_end_events(effect))

    def _turn_end_events(self, effect: EndTurn) -> list[Event]:
        turn_id = self.state.turn.id if self.state.turn else None
        ended = self.writer.event(TurnEnded(outcome=effect.outcome, detail=effect.detail), turn_id=turn_id)
        status = _status_after_turn(self.writer.session(), effect)
        return [ended, *(self.writer.event(body) for body in status)]

    async def pause(self, reason: PauseReason) -> None:
        session = self.writer.session()
        if (session.status, session.reason) != ("paused", reason):
            await self._append(SessionStatusChanged(status="paused", reason=reason))

    async def _append(self, *bodies: Body) -> None:
        await self.writer.append(*(self.writer.event(body) for body in bodies))


def _status_after_turn(session: Session, effect: EndTurn) -> list[SessionStatusChanged]:
    if "incident_ids" in session.configuration:
        return []  # one turn an incident: the driver of the list says when the session is over (S2)
    reason = PAUSE_AFTER_OUTCOME.get(effect.outcome)
    if reason is not None:
        return [SessionStatusChanged(status="paused", reason=reason)]
    return [] if session.status == "ready" else [SessionStatusChanged(status="ready")]


LOG = logging.getLogger("workbench.host")


class SessionProgress(Struct, frozen=True, kw_only=True):
    """Where a driven session stands, for whoever decides how long to drive it."""

    session: Session
    waiting: tuple[Action, ...]
    calls: tuple[Call, ...]
    is_idle: bool
    """Nothing runs, nothing is due and no turn is open."""
    is_resting: bool
    """Nothing runs and nothing is due; a turn may be open and wait for its human."""
    open_turn: str | None
    last_outcome: str | None
    """Of the newest `turn.ended` that this driver has read back."""


async def drive_session(
    context: DriverContext,
    driver: DriverIdentity,
    session_id: str,
    *,
    until: Callable[[SessionProgress], bool],
    on_events: OnEvents = ignore_events,
) -> SessionProgress:
    """Drive a session until `until` says so and return where it stands then.

    Raises Driven (another process drives it) or LeaseLost.
    """
    lease = take_lease(context.journal, session_id, driver)
    runner = SessionRunner(SessionWriter(context, session_id, lease_guard(lease)), on_events)
    reads = WaitingReads(runner.writer)

    async def tick() -> None:
        expire_due_actions(context.journal)
        await mark_stale_actions(runner.writer, runner.state.call)
        await stop_long_turn(runner.writer, runner.state)
        await reads.release_allowed(is_active=runner.state.is_active)

    try:
        expire_due_actions(context.journal)
        async with running_clock(session_log_name(context.journal.session(session_id)), tick):
            await _run_until_given_back(runner, lease, lambda driven: until(_session_progress(driven)))
    finally:
        release_lease(context.journal, lease)
    return _session_progress(runner)


async def _run_until_given_back(
    runner: SessionRunner, lease: Lease, until: Callable[[SessionRunner], bool]
) -> None:
    """Run until no request came in between the end of the work and the return of the lease."""
    is_given_back = False
    while not is_given_back:
        try:
            await runner.run(until)
        finally:
            await _record_pause(runner)
        runner.catch_up()
        is_given_back = until(runner) and release_lease(runner.writer.journal, lease, runner.cursor)


@contextlib.asynccontextmanager
async def running_clock(name: str, tick: Callable[[], Awaitable[None]]) -> AsyncGenerator[None]:
    """Call `tick` every `CLOCK_TICK_SECONDS`; `name` is that of the session in the log."""
    clock = asyncio.create_task(_run_clock(name, tick), name="clock")
    try:
        yield
    finally:
        clock.cancel()
        await asyncio.gather(clock, return_exceptions=True)


def session_log_name(session: Session | None) -> str:
    """Return how lines of a log name a session: by its id and its telemetry id."""
    return f"session {session.id} (telemetry {session.telemetry_id})" if session else "a deleted session"


async def _run_clock(name: str, tick: Callable[[], Awaitable[None]]) -> None:
    while True:
        try:
            await tick()
        except (JournalError, IllegalMoveError) as error:
            # Neither a disk that is full for a moment nor an answer that came first may stop the clock.
            LOG.warning("%s: %s", name, error)
        await asyncio.sleep(CLOCK_TICK_SECONDS)


async def _record_pause(runner: SessionRunner) -> None:
    if runner.failure is not None:
        return
    runner.catch_up()
    session = runner.writer.session()
    if runner.state.turn is None or session.status != "processing":
        return
    is_waiting = any(not call.is_settled for call in runner.state.calls)
    await runner.pause("parked" if is_waiting else "host lost")


def _session_progress(runner: SessionRunner) -> SessionProgress:
    journal, session_id = runner.writer.journal, runner.writer.session_id
    turn, is_busy = runner.state.turn, runner.is_busy()
    return SessionProgress(
        session=runner.writer.session(),
        waiting=tuple(journal.actions(session_id=session_id, states=("pending",))),
        calls=tuple(journal.calls(session_id)),
        is_idle=turn is None and not is_busy,
        is_resting=not is_busy,
        open_turn=turn.id if turn else None,
        last_outcome=runner.last_outcome,
    )


CLOCK_TICK_SECONDS = 1.0
_MICROSECONDS = 1_000_000


# The clock looks at base files itself: a watch of them would not replace it. It ticks in any case, for expiry
# and time limits; a look at twenty waiting files of 100 KB takes 2 ms. A watch tells of a change after 1.6 s,
# needs a thread whose folders change with what waits, and where the system refuses one (too many inotify
# watches) the clock has to look all the same, as a moved base is to be noticed within two seconds.


async def mark_stale_actions(writer: SessionWriter, calls: Callable[[str | None], TurnCall | None]) -> None:
    """Append `action.became_stale` for waiting actions of a session whose base moved.

    `calls` returns a call of the session by its id.
    """
    for action in _actions_to_watch(writer, calls):
        paths = await asyncio.to_thread(
            stale_paths, writer.context.root, action.files, writer.journal.blobs.keyed
        )
        if paths and paths != action.stale_paths:
            body = ActionBecameStale(paths=paths)
            event = writer.event(body, turn_id=action.turn_id, call_id=action.call_id, action_id=action.id)
            await writer.append(event)


async def stop_long_turn(writer: SessionWriter, state: TurnState) -> None:
    """Ask the turn to stop when it has worked as long as it may (S2 configuration, timeout)."""
    seconds, turn = configured_number(state, "timeout"), state.turn
    if seconds is None or turn is None or turn.is_interrupted:
        return
    if worked_microseconds(turn, writer.journal.now()) >= seconds * _MICROSECONDS:
        body = InterruptRequested(why=f"It worked for {duration_text(seconds)}, its time limit.")
        await writer.append(writer.event(body, turn_id=turn.id))


def configured_number(state: TurnState, key: str) -> float | None:
    """Return a number above zero of a session's configuration; None where there is none."""
    value = state.created.configuration.get(key) if state.created else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if value > 0 else None


def _actions_to_watch(
    writer: SessionWriter, calls: Callable[[str | None], TurnCall | None]
) -> Iterable[Action]:
    """Yield waiting file changes, except those built on a call that is still open."""
    for action in writer.journal.actions(session_id=writer.session_id, states=("pending",)):
        call = calls(action.call_id)
        is_commit = isinstance(writer.context.tools.get(action.tool or ""), CommitTool)
        if not action.files or call is None or is_commit:
            continue
        bases = [calls(base) for base, _ in call.on_top_of]
        if not any(base is not None and not base.is_settled for base in bases):
            yield action
