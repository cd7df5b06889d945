"""Run one session: read its events back, fold them, start what is due.

Owns the loop between the journal and the turn machine. An effect that runs is never started again; when
it is done, its events have been read back before the next look at what is due.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence

from workbench.agents.due import stopping
from workbench.agents.effects import (
    CallModel,
    Effect,
    EndTurn,
    Execute,
    Gate,
    Initialize,
    Pause,
    Refresh,
    Restack,
    Settle,
    StopCall,
    StopModel,
    Undo,
    Withdraw,
)
from workbench.agents.state import TurnState
from workbench.agents.turn import TurnLimits, apply, todo
from workbench.domain.events import (
    ActionCancelled,
    Body,
    CallFinished,
    ErrorRaised,
    Event,
    SessionStatusChanged,
    TurnEnded,
)
from workbench.domain.machines import IllegalMoveError, PauseReason
from workbench.domain.rows import Session
from workbench.effects.faults import point
from workbench.host.desk import Desk
from workbench.host.executor import execute
from workbench.host.gatekeeping import gate, propose_anew, reopen
from workbench.host.model_call import ModelCall
from workbench.host.settling import settle_call
from workbench.host.undoing import undo
from workbench.host.watch import number_of
from workbench.journal.errors import GuardFailed, JournalError, LeaseLost


def _ignore(events: Sequence[Event]) -> None:
    del events


_PAUSES: dict[str, PauseReason] = {
    "unattended": "unattended",
    "limit": "limit reached",
    "interrupted": "user",
}


def ringer(loop: asyncio.AbstractEventLoop, bell: asyncio.Event) -> Callable[[], None]:
    """Return a callback for other threads that sets an event of a loop."""

    def ring() -> None:
        with contextlib.suppress(RuntimeError):  # the loop may be gone by now
            loop.call_soon_threadsafe(bell.set)

    return ring


class Runner:
    """Drives one session under its lease until told to stop or the lease is lost."""

    def __init__(self, desk: Desk, on_events: Callable[[Sequence[Event]], None] | None = None) -> None:
        self.desk = desk
        self.state = TurnState()
        self.failure: BaseException | None = None
        self.cursor = 0
        """The position up to which the session was read back."""
        self._on_events = on_events or _ignore
        self._running: dict[Effect, asyncio.Task[None]] = {}
        self._idle: dict[Effect, int] = {}
        """Effects that changed nothing, with the cursor at which they did not: not tried again there."""
        self._stops: dict[str, asyncio.Event] = {}
        self._model: ModelCall | None = None
        self._rung = asyncio.Event()

    # --- the loop -------------------------------------------------------------------------------

    async def run(self, until: Callable[["Runner"], bool]) -> None:
        """Run until `until` says so; then end what still runs.

        Raises:
            LeaseLost: another driver took the session over; everything of ours was ended.
        """
        loop = asyncio.get_running_loop()
        silence = self.desk.kit.journal.on_ring(ringer(loop, self._rung))
        try:
            while self.failure is None:
                self._rung.clear()
                self.catch_up()
                self._start_due()
                if until(self):
                    return
                await self._rung.wait()
            raise self.failure
        finally:
            silence()
            await self._end_all()

    @property
    def is_busy(self) -> bool:
        """Return whether anything runs or is due now."""
        return bool(self._running) or any(
            self._idle.get(effect) != self.cursor for effect in todo(self.state, self._limits())
        )

    def catch_up(self) -> None:
        """Read back and fold everything that is in the journal by now."""
        journal = self.desk.kit.journal
        while events := journal.events(self.desk.session_id, after=self.cursor, limit=2_000):
            for event in events:
                self.state = apply(self.state, event)
            self.cursor = events[-1].position
            self._on_events(events)

    def _limits(self) -> TurnLimits:
        config, tools = self.desk.kit.loaded().config, self.desk.kit.tools
        wanted = number_of(self.state, "max_turns")
        reading = {name for name, found in tools.descriptors().items() if found.capability == "read"}
        return TurnLimits(
            max_rounds=min(config.limits.max_turns, int(wanted) if wanted else config.limits.max_turns),
            on_expiry=config.approvals.on_expiry,
            read_only_tools=frozenset(reading),
            most_tokens=self.desk.kit.charge.most_tokens,
        )

    def _start_due(self) -> None:
        due = todo(self.state, self._limits())
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
            await self._overtaken(effect, error, before)
        except JournalError as error:
            self.failure = error
        except Exception as error:  # noqa: BLE001 -- a defect ends this session's run, named, never the host
            await self._defect(effect, error)
        finally:
            if self.failure is None:
                self.catch_up()
            if self.cursor == before:
                self._idle[effect] = before
            self._running.pop(effect, None)
            self._rung.set()

    async def _overtaken(self, effect: Effect, error: Exception, before: int) -> None:
        """Take a refused append for what it is: somebody else's event came first, so look again."""
        self.catch_up()
        if self.cursor == before:
            await self._defect(effect, error)

    async def _defect(self, effect: Effect, error: Exception) -> None:
        body = ErrorRaised(
            code="internal", message=f"{type(effect).__name__} failed: {type(error).__name__}: {error}",
            remedy="Continue the session to try again; the log of the host has the details.",
        )  # fmt: skip
        try:
            with contextlib.suppress(JournalError):  # the first failure is the one to tell
                await self.desk.append(self.desk.event(body))
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

    def _handler(self, effect: Effect) -> Awaitable[None]:  # noqa: C901 -- one flat table of effects
        match effect:
            case Initialize():
                return self._initialize()
            case CallModel():
                return self._call_model(effect)
            case Gate():
                return gate(self.desk, effect.call_id)
            case Execute():
                return self._execute(effect.call_id)
            case Settle():
                return settle_call(self.desk, effect.call_id)
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
                return undo(self.desk, effect.action_id, effect.request_id)
            case EndTurn():
                return self._end_turn(effect)
            case Pause():
                return self.pause(effect.reason)

    async def _initialize(self) -> None:
        session = self.desk.session()
        steps = [] if session.status == "initializing" else [SessionStatusChanged(status="initializing")]
        await self._append(*steps, SessionStatusChanged(status="ready"))

    async def _call_model(self, effect: CallModel) -> None:
        self._model = ModelCall(self.desk, lambda: self.state, effect.turn_id, effect.round)
        await self._model.run()
        self._model = None

    async def _stop_model(self) -> None:
        for effect, task in list(self._running.items()):
            if isinstance(effect, CallModel):
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        self.catch_up()
        if self.state.turn is None or self.state.turn.phase != "calling":
            return
        kept = await self._model.stopped() if self._model else []
        self._model = None
        await self.desk.append(*kept, *self._ending(stopping(self.state.turn)))

    async def _execute(self, call_id: str) -> None:
        stop = self._stops.setdefault(call_id, asyncio.Event())
        try:
            await execute(self.desk, call_id, stop)
        finally:
            self._stops.pop(call_id, None)

    async def _stop_call(self, call_id: str) -> None:
        stop = self._stops.get(call_id)
        if stop is None:
            await settle_call(self.desk, call_id)
            return
        stop.set()
        task = self._running.get(Execute(call_id=call_id))
        if task is not None:
            await asyncio.wait([task])

    async def _withdraw(self, call_id: str) -> None:
        call = self.desk.kit.journal.call(call_id)
        if call is None or call.state not in ("pending", "approved"):
            return
        events = [self._call_event(CallFinished(state="cancelled", detail="withdrawn"), call_id)]
        action = self.desk.kit.journal.action(call.action_id) if call.action_id else None
        if action is not None and action.state == "pending":
            body = ActionCancelled(why="the turn was stopped")
            events.insert(0, self._call_event(body, call_id, action.id))
        await self.desk.append(*events)

    def _call_event(self, body: Body, call_id: str, action_id: str | None = None) -> Event:
        turn_id = self.state.turn.id if self.state.turn else None
        return self.desk.event(body, turn_id=turn_id, call_id=call_id, action_id=action_id)

    async def _restack(self, call_id: str) -> None:
        call = self.desk.kit.journal.call(call_id)
        if call is not None and call.state == "approved":
            await propose_anew(
                self.desk, call_id, "an earlier change that it builds on was not taken as shown"
            )
        else:
            await reopen(self.desk, call_id, "restacked")

    async def _refresh(self, action_id: str) -> None:
        action = self.desk.kit.journal.action(action_id)
        if action is not None and action.call_id is not None:
            await reopen(self.desk, action.call_id, "refreshed")

    async def _end_turn(self, effect: EndTurn) -> None:
        point("turn.before_end")
        await self.desk.append(*self._ending(effect))

    def _ending(self, effect: EndTurn) -> list[Event]:
        turn_id = self.state.turn.id if self.state.turn else None
        ended = self.desk.event(TurnEnded(outcome=effect.outcome, detail=effect.detail), turn_id=turn_id)
        status = _status_after(self.desk.session(), effect)
        return [ended, *(self.desk.event(body) for body in status)]

    async def pause(self, reason: PauseReason) -> None:
        """Append that the session is paused, unless it is so already."""
        session = self.desk.session()
        if (session.status, session.reason) != ("paused", reason):
            await self._append(SessionStatusChanged(status="paused", reason=reason))

    async def _append(self, *bodies: Body) -> None:
        await self.desk.append(*(self.desk.event(body) for body in bodies))


def _status_after(session: Session, effect: EndTurn) -> list[SessionStatusChanged]:
    reason = _PAUSES.get(effect.outcome)
    if reason is not None:
        return [SessionStatusChanged(status="paused", reason=reason)]
    return [] if session.status == "ready" else [SessionStatusChanged(status="ready")]
