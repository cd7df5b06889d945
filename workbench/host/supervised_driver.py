"""Drive the session of an agent that executes its own calls: judge, ask, answer, and look at what it did.

The agent proposes a call and waits; the same gate and queue decide; the agent executes. `call.executing` is
the answer that was given, and is committed before the answer leaves. Nothing here executes or rolls back a
call of the agent: the only call that runs here is the undo that a human asked for.
"""

# | dies | found by the next driver | what it does |
# |---|---|---|
# | before the question is committed | nothing | the agent asks again, with the same nonce |
# | while the question waits | call pending | 10 s for the agent to come back, else withdrawn |
# | approved, before `call.executing` | call approved | hands it over once, if the agent is back and asks |
# | after `call.executing`, before the answer | call executing | never answered: looks at the disk |
# | after the answer | call executing | looks at the disk, when the agent says it ended or is gone |

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from math import inf
from typing import Literal

from msgspec.structs import replace

from workbench.domain.events import AgentConnected, AgentGone, Event, SessionStatusChanged, TurnEnded
from workbench.domain.machines import IllegalMoveError
from workbench.domain.rows import Call
from workbench.host.agent_link import AgentConnection, AgentLink
from workbench.host.driver_context import DriverContext, SessionWriter
from workbench.host.gate_runner import WaitingReads, replace_waiting_action
from workbench.host.screen_answers import INTERRUPTED
from workbench.host.session_driver import mark_stale_actions, running_clock, session_log_name
from workbench.host.supervised_answers import announce, attach, deny, hand_over, restack, withdraw
from workbench.host.supervised_calls import AgentCalls, Waiter, call_digest
from workbench.host.supervised_outcomes import (
    compare,
    is_as_approved,
    look_again,
    note_after_call,
    observe,
    ran_unanswered,
    record_unasked,
)
from workbench.host.supervised_requests import serve_requests, settle_own_calls
from workbench.journal.decisions import expire_due_actions
from workbench.journal.errors import GuardFailed, LeaseLost
from workbench.journal.leases import DriverIdentity, lease_guard, release_lease, take_lease
from workbench.supervised.machine import (
    HOLD_SECONDS,
    AlreadySettled,
    Announce,
    Attach,
    Compare,
    Deny,
    HandOver,
    IncomingCall,
    LookAgain,
    Observe,
    RanUnanswered,
    RefreshCall,
    RestackCall,
    Unasked,
    WithdrawCall,
    due_moves,
    due_presence,
    on_ask,
    on_done,
)
from workbench.supervised.messages import Acknowledged, AgentEnded, Ask, CallNote, Done, Hello, TurnDone
from workbench.supervised.tools import SessionTools

_MOST_HISTORY_LOOKS = 8
"""Looks at a session's file before its agent's calls are answered; what is left is read between them."""


class SupervisedDriver:
    """Drives one session under its lease; one thing after the other."""

    def __init__(self, writer: SessionWriter, link: AgentLink) -> None:
        tools = SessionTools(writer.context.tools)
        context = replace(writer.context, tools=tools, outside_paths="ask")
        self.writer = SessionWriter(context, writer.session_id, writer.guard)
        self._calls = AgentCalls(self.writer, tools)
        self._link = link
        self._had_agent = False
        """The agent was here since this driver was started."""
        self._left_at = self._calls.started_at
        """When the agent was last seen here."""
        self._reads = WaitingReads(self.writer)
        self._is_ticked = False
        self._held_since: dict[str, float] = {}
        """Since when approved calls wait for the end of the calls they build on."""
        self._written: set[str] = set()
        """Calls whose files were as approved at the last tick."""
        self._is_turn_over = False
        """Whether the agent has ended its turn, and its file is not read up to there."""

    async def run(self, until: Callable[["SupervisedDriver"], bool]) -> None:
        """Run until `until` says so, when nothing is due. Raises LeaseLost."""
        with self._following_own_events():
            self._calls.recall_turn()
            await settle_own_calls(self._calls)
            while True:
                self._link.changed.clear()
                self._calls.catch_up()
                await self._receive()
                await self._follow()
                if await self._unless_overtaken(self._move):
                    continue
                if until(self):
                    return
                await self._link.changed.wait()

    @property
    def cursor(self) -> int:
        """Position of the journal up to which the session was read."""
        return self._calls.cursor

    def is_idle(self) -> bool:
        """Return whether nothing is open and the agent is gone, which is recorded."""
        is_left = not self._link.is_busy() and not self._calls.open_calls()
        return is_left and self._due_presence(is_agent_here=False) is None

    async def tick(self) -> None:
        """Do what time brings: rows expire and go stale, reads are released, and questions are left."""
        expire_due_actions(self.writer.journal)
        await mark_stale_actions(self.writer, lambda call_id: self._calls.turn_calls.get(call_id or ""))
        await self._reads.release_allowed(is_active=self._link.is_agent_here())
        self._is_ticked = True
        self._link.changed.set()

    @contextmanager
    def _following_own_events(self) -> Generator[None]:
        """Ring for events of this session only: the drivers of twenty sessions hear every commit."""
        journal, loop = self.writer.journal, asyncio.get_running_loop()

        def ring_if_behind() -> None:
            if journal.events(self.writer.session_id, after=self._calls.cursor, limit=1):
                self._link.changed.set()

        def on_change() -> None:
            with suppress(RuntimeError):  # the loop may be gone by now
                loop.call_soon_threadsafe(ring_if_behind)

        unsubscribe = journal.on_change(on_change)
        try:
            yield
        finally:
            unsubscribe()

    async def _unless_overtaken(self, act: Callable[[], Awaitable[bool | None]]) -> bool | None:
        """Do something, and again where the event of another process came first. Raises LeaseLost."""
        while True:
            before = self._calls.cursor
            try:
                return await act()
            except LeaseLost:
                raise
            except (IllegalMoveError, GuardFailed):
                self._calls.catch_up()
                if self._calls.cursor == before:
                    raise

    async def _receive(self) -> None:
        while (received := self._link.next_message()) is not None:
            connection, message = received
            match message:
                case Ask():
                    await self._unless_overtaken(partial(self._asked, connection, message))
                case Done():
                    await self._unless_overtaken(partial(self._done, connection, message))
                case TurnDone():
                    await self._unless_overtaken(partial(self._turn_done, message))
                case Acknowledged():
                    self._calls.note_read_answer(message.nonce)
                case AgentEnded():
                    self._link.processes.clear()
                case None:
                    self._connection_ended(connection)
                case Hello():
                    if self._calls.follower.follow(message):
                        await self._read_history()

    def _connection_ended(self, connection: AgentConnection) -> None:
        now = self.writer.context.clock.monotonic()
        for waiting in self._calls.waiting.values():
            before = len(waiting.waiters)
            waiting.waiters = [each for each in waiting.waiters if each.connection is not connection]
            if before and not waiting.waiters:
                waiting.left_at = now

    async def _read_history(self) -> None:
        """Read what the agent's session file says already, before the calls that come after it."""
        for _ in range(_MOST_HISTORY_LOOKS):
            await self._read_file()
            if not self._calls.follower.has_more:
                return

    async def _follow(self) -> None:
        """Record what the agent's session file says since the last look, if it is time for one."""
        if self._calls.follower.is_due():
            await self._read_file()
            if self._calls.follower.has_more:
                self._link.changed.set()
        if self._is_turn_over and not self._calls.follower.has_more:
            await self._unless_overtaken(self._settle_turn)

    async def _read_file(self) -> None:
        """Read on in the agent's session file, and settle what its user refused or interrupted there."""
        await self._calls.follow()
        await self._unless_overtaken(self._settle_screen_answers)

    async def _settle_screen_answers(self) -> None:
        for call, why in self._calls.follower.answers.about(self._calls.open_calls()):
            await self._settle_call(call, why, why)
            self._calls.catch_up()

    async def _asked(self, connection: AgentConnection, ask: Ask) -> None:
        if self._is_turn_over:
            await self._settle_turn()
        cwd = ask.cwd or self.writer.context.workspace
        asked = IncomingCall(nonce=ask.nonce, key=ask.call, digest=call_digest(ask.tool, ask.input, cwd))
        waiter = Waiter(connection, ask.nonce, ask.takes_input, ask.is_asked_there)
        match on_ask(asked, self._calls.known_calls()):
            case Attach(call_id):
                attach(self._calls, call_id, asked, waiter)
            case Announce(interrupted):
                if interrupted is not None:
                    await observe(self._calls, interrupted, "the agent asked for it again")
                await announce(self._calls, ask, asked, cwd, waiter)

    async def _turn_done(self, said: TurnDone) -> None:
        if said.is_interrupted:
            for call in self._calls.open_calls():
                await self._settle_call(call, INTERRUPTED, INTERRUPTED)
        await self._read_file()
        self._is_turn_over = True
        if not self._calls.follower.has_more:
            await self._settle_turn()

    async def _settle_turn(self) -> None:
        """Settle the calls of a turn that the agent has ended, and end it."""
        self._is_turn_over = False
        if not self._calls.turn_id:
            return
        why = "the agent's turn ended"
        for call in self._calls.open_calls():
            failure = self._calls.follower.answers.failure(call.id)
            if failure is not None and call.state == "executing":
                done = Done(tool=call.tool, input={}, is_error=True, output=failure)
                await compare(self._calls, call.id, done)
            else:
                await self._settle_call(call, why, f"{why} before it said what came of it")
        await self._end_turn()

    async def _settle_call(self, call: Call, why: str, why_unknown: str) -> None:
        """Withdraw a call that is not handed over; look at the files of one that is."""
        if call.state == "executing":
            await observe(self._calls, call.id, why_unknown)
        else:
            await withdraw(self._calls, call.id, why)

    async def _end_turn(self, *more: Event, detail: str = "") -> None:
        ended = self.writer.event(TurnEnded(outcome="done", detail=detail), turn_id=self._calls.turn_id)
        ready = self.writer.event(SessionStatusChanged(status="ready"))
        await self.writer.append(ended, ready, *more)
        self._calls.turn_id, self._calls.round = "", 0
        self._calls.unreported.clear()
        self._calls.catch_up()

    async def _done(self, connection: AgentConnection, done: Done) -> None:
        cwd = done.cwd or self.writer.context.workspace
        digest, note = call_digest(done.tool, done.input, cwd), ""
        ended = self._calls.ended_calls(done.call, done.tool)
        match on_done(done.call, digest, [*self._calls.known_calls(), *ended]):
            case Compare(call_id):
                await compare(self._calls, call_id, done)
                note = note_after_call(self._calls, call_id)
            case RanUnanswered(call_id):
                await ran_unanswered(self._calls, call_id, digest)
            case LookAgain(call_id):
                await look_again(self._calls, call_id)
            case Unasked(refused):
                recorded = self._calls.follower.recorded_call(done)
                await record_unasked(self._calls, done, cwd, refused, recorded)
            case AlreadySettled(call_id):
                self._calls.unreported.pop(call_id, None)
                if (recorded := self._calls.follower.recorded_call(done)) is not None:
                    await record_unasked(self._calls, done, cwd, None, recorded)
                note = note_after_call(self._calls, call_id)
        self._calls.follower.hurry()
        if done.nonce:
            connection.send(CallNote(nonce=done.nonce, note=note))

    async def _move(self) -> bool:
        """Do the first thing that is due; False if nothing is."""
        if await serve_requests(self._calls) or await self._settle_silent_calls():
            return True
        is_agent_here = self._link.is_agent_here()
        if is_agent_here:
            self._had_agent, self._left_at = True, self.writer.context.clock.monotonic()
        since = inf if self._had_agent else self.writer.context.clock.monotonic() - self._calls.started_at
        moves = due_moves(self._calls.known_calls(), is_agent_here=is_agent_here, since_start=since)
        for move in moves:
            match move:
                case Deny(call_id):
                    deny(self._calls, call_id)
                case HandOver(call_id):
                    await hand_over(self._calls, call_id)
                case WithdrawCall(call_id):
                    await withdraw(self._calls, call_id, "no connection waits for its answer")
                case RestackCall(call_id):
                    await restack(self._calls, call_id)
                case RefreshCall(call_id):
                    await replace_waiting_action(self.writer, call_id, "refreshed")
                case Observe(call_id):
                    await observe(self._calls, call_id, "the agent ended before it said what came of it")
            self._calls.catch_up()
            return True
        return await self._record_presence(is_agent_here=is_agent_here)

    def _due_presence(self, *, is_agent_here: bool) -> Literal["connected", "gone", "leaving"] | None:
        return due_presence(
            is_agent_here=is_agent_here, is_recorded_gone=self.writer.session().is_agent_gone,
            had_agent=self._had_agent, since_left=self.writer.context.clock.monotonic() - self._left_at,
        )  # fmt: skip

    async def _record_presence(self, *, is_agent_here: bool) -> bool:
        """Record that the agent is connected again, or gone, which ends its turn; False if neither is new."""
        match self._due_presence(is_agent_here=is_agent_here):
            case "connected":
                await self.writer.append(self.writer.event(AgentConnected()))
            case "gone" if self._calls.turn_id:
                await self._end_turn(self.writer.event(AgentGone()), detail="the agent is gone")
            case "gone":
                await self.writer.append(self.writer.event(AgentGone()))
            case _:
                return False
        return True

    async def _settle_silent_calls(self) -> bool:
        """Settle a call whose end the agent did not report; looked at once a tick.

        Codex reports none of its patches. A call has ended where its files were as approved at two ticks in a
        row; where they are not, the agent may still write them. A call that an approved one builds on has
        `HOLD_SECONDS` to do so.
        """
        if not self._is_ticked:
            return False
        self._is_ticked = False
        now = self.writer.context.clock.monotonic()
        self._held_since = {base: self._held_since.get(base, now) for base in self._calls.awaited_bases()}
        late = {base for base, since in self._held_since.items() if now - since >= HOLD_SECONDS}
        before, self._written = self._written, set[str]()
        for call_id in self._calls.handed_calls():
            if await is_as_approved(self._calls, call_id):
                self._written.add(call_id)
            if call_id in late or call_id in before & self._written:
                await observe(self._calls, call_id, "the agent did not say what came of it")
                self._calls.catch_up()
                return True
        return False


async def drive_supervised(
    context: DriverContext,
    driver: DriverIdentity,
    session_id: str,
    link: AgentLink,
    until: Callable[[SupervisedDriver], bool] = SupervisedDriver.is_idle,
) -> None:
    """Drive a supervised session until `until` says so. Raises SessionDriven or LeaseLost."""
    journal = context.journal
    lease = take_lease(journal, session_id, driver)
    supervised = SupervisedDriver(SessionWriter(context, session_id, lease_guard(lease)), link)
    is_given_back = False
    try:
        async with running_clock(session_log_name(journal.session(session_id)), supervised.tick):
            while not is_given_back:
                await supervised.run(until)
                is_given_back = release_lease(journal, lease, supervised.cursor)
    finally:
        if not is_given_back:
            release_lease(journal, lease)
