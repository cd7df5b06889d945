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
import hashlib
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Literal, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.agents.planner import Undo
from workbench.agents.reducer import apply_event
from workbench.agents.state import TurnCall, TurnState
from workbench.changes.decision import SealedBytesMissing, sealed_changes
from workbench.changes.diff import FileChange
from workbench.changes.digest import action_digest
from workbench.domain.events import (
    ActionCancelled,
    ActionOpened,
    AgentConnected,
    AgentGone,
    CallExecuting,
    CallFinished,
    CallProposed,
    Event,
    SessionStatusChanged,
    TurnEnded,
    UndoRequested,
)
from workbench.domain.machines import SETTLED_CALL_STATES
from workbench.domain.rows import Action, Call
from workbench.domain.values import (
    OWN_MODE,
    UNDO_TOOL,
    FilePlan,
    GateVerdict,
    Grade,
    JsonObject,
    PlannedWrite,
)
from workbench.effects.fault_points import fault_point
from workbench.effects.files import FileImage
from workbench.host import redaction
from workbench.host.approved_change import (
    HELD,
    HELD_WHY,
    ExecutionRefusal,
    alteration_detail,
    approved_changes,
    has_base_changed,
    hunks_taken_and_left,
    recheck_call,
    write_plan,
)
from workbench.host.call_context import CallRecord, read_call_record
from workbench.host.crash_recovery import recover_call
from workbench.host.driver_context import CallBytesMissing, DriverContext, SessionWriter, tool_limits
from workbench.host.executor import execute_call
from workbench.host.gate_runner import (
    WaitingReads,
    judge_and_propose,
    proposal_events,
    replace_stale_call,
    replace_waiting_action,
)
from workbench.host.observed_files import (
    ObservedFile,
    difference_words,
    found_changes,
    observe_files,
)
from workbench.host.session_driver import mark_stale_actions, running_clock, session_log_name, set_on_change
from workbench.host.supervised_session import announced_call, announcement
from workbench.host.undo_proposal import propose_undo
from workbench.journal.decisions import expire_due_actions
from workbench.journal.errors import AgentsAreHeld
from workbench.journal.leases import DriverIdentity, lease_guard, release_lease, take_lease
from workbench.policy.gate import ScreenedCall
from workbench.supervised.machine import (
    AlreadySettled,
    Announce,
    Attach,
    Compare,
    Deny,
    HandOver,
    IncomingCall,
    KnownCall,
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
from workbench.supervised.messages import AgentMessage, Ask, CallAnswer, Done, TurnDone
from workbench.supervised.tools import (
    ForeignWriteTool,
    InputNotPossible,
    SessionTools,
    patch_paths,
)
from workbench.text import canonical

FILES_FOUND = "files_found"
"""Member of an action's subject: the call after which files are not what was approved."""


class AgentConnection(Protocol):
    """One connection of an agent."""

    def send(self, answer: CallAnswer) -> bool:
        """Send an answer; False if the connection is gone."""
        ...


class AgentLink:
    """What the connections of one agent's session say, in the order in which it arrives."""

    def __init__(self) -> None:
        self.messages: asyncio.Queue[tuple[AgentConnection, AgentMessage | None]] = asyncio.Queue()
        """A message, or None where the connection has ended."""
        self.connections: set[AgentConnection] = set()
        self.changed = asyncio.Event()

    def put(self, connection: AgentConnection, message: AgentMessage | None) -> None:
        if message is None:
            self.connections.discard(connection)
        else:
            self.connections.add(connection)
        self.messages.put_nowait((connection, message))
        self.changed.set()


class _Waiter(Struct, frozen=True):
    connection: AgentConnection
    nonce: str


class _Waiting(Struct):
    """Who waits for the answer of one call."""

    digest: str
    waiters: list[_Waiter] = field(default_factory=list[_Waiter])
    nonces: set[str] = field(default_factory=set[str])
    left_at: float | None = None


class SupervisedDriver:
    """Drives one session under its lease; one thing after the other."""

    def __init__(self, writer: SessionWriter, link: AgentLink) -> None:
        tools = SessionTools(writer.context.tools)
        context = replace(writer.context, tools=tools, outside_paths="ask")
        self.writer = SessionWriter(context, writer.session_id, writer.guard)
        self.state = TurnState()
        self.cursor = 0
        self._tools, self._link = tools, link
        self._calls: dict[str, TurnCall] = {}
        """The calls of the session as they were last seen."""
        self._waiting: dict[str, _Waiting] = {}
        self._started_at = writer.context.clock.monotonic()
        self._had_agent = False
        """A connection was open since this driver was started."""
        self._left_at = self._started_at
        """When the last connection ended."""
        self._turn_id = ""
        self._round = 0
        self._reads = WaitingReads(self.writer)

    # --- the loop -------------------------------------------------------------------------------

    async def run(self, until: Callable[["SupervisedDriver"], bool]) -> None:
        """Run until `until` says so, when nothing is due. Raises LeaseLost."""
        async with set_on_change(self.writer.journal, self._link.changed):
            self._recall_turn()
            await self._settle_own_calls()
            while True:
                self._link.changed.clear()
                self._catch_up()
                await self._receive()
                if await self._move():
                    continue
                if until(self):
                    return
                await self._wait()

    def is_idle(self) -> bool:
        """Return whether nothing is open and no agent is connected, which is recorded."""
        is_left = not self._link.connections and self._link.messages.empty() and not self._open_calls()
        return is_left and self._due_presence() is None

    async def tick(self) -> None:
        """Do what time brings: rows expire and go stale, reads are released, and questions are left."""
        expire_due_actions(self.writer.journal)
        await mark_stale_actions(self.writer, lambda call_id: self._calls.get(call_id or ""))
        await self._reads.release_allowed(is_active=bool(self._link.connections))
        self._link.changed.set()

    async def _wait(self) -> None:
        await self._link.changed.wait()

    def _catch_up(self) -> None:
        journal = self.writer.journal
        while events := journal.events(self.writer.session_id, after=self.cursor, limit=2_000):
            for event in events:
                self.state = apply_event(self.state, event)
                self._calls.update((call.id, call) for call in self.state.every_call())
            self.cursor = events[-1].position

    def _recall_turn(self) -> None:
        self._catch_up()
        rows = self.writer.journal.calls(self.writer.session_id)
        self._turn_id = self.writer.session().open_turn or ""
        self._round = max((row.ordinal // 1000 for row in rows if row.turn_id == self._turn_id), default=0)
        for row in rows:
            self._tools.admit(row.tool)

    # --- what the agent says ----------------------------------------------------------------------

    async def _receive(self) -> None:
        while not self._link.messages.empty():
            connection, message = self._link.messages.get_nowait()
            match message:
                case Ask():
                    await self._asked(connection, message)
                case Done():
                    await self._done(message)
                case TurnDone():
                    await self._turn_done()
                case None:
                    self._connection_ended(connection)
                case _:
                    pass

    def _connection_ended(self, connection: AgentConnection) -> None:
        now = self._left_at = self.writer.context.clock.monotonic()
        for waiting in self._waiting.values():
            before = len(waiting.waiters)
            waiting.waiters = [each for each in waiting.waiters if each.connection is not connection]
            if before and not waiting.waiters:
                waiting.left_at = now

    async def _asked(self, connection: AgentConnection, ask: Ask) -> None:
        cwd = ask.cwd or self.writer.context.workspace
        asked = IncomingCall(nonce=ask.nonce, key=ask.call, digest=_call_digest(ask.tool, ask.input, cwd))
        waiter = _Waiter(connection, ask.nonce)
        match on_ask(asked, self._known_calls()):
            case Attach(call_id):
                self._attach(call_id, asked, waiter)
            case Announce(interrupted):
                if interrupted is not None:
                    await self._observe(interrupted, "the agent asked for it again")
                await self._announce(ask, asked, cwd, waiter)

    def _attach(self, call_id: str, asked: IncomingCall, waiter: _Waiter) -> None:
        waiting = self._waiting.setdefault(call_id, _Waiting(digest=asked.digest))
        for other in waiting.waiters:
            other.connection.send(
                _denial(other.nonce, "The same call was asked again, and is answered there.")
            )
        waiting.waiters, waiting.left_at = [waiter], None
        waiting.nonces.add(waiter.nonce)

    async def _announce(self, ask: Ask, asked: IncomingCall, cwd: str, waiter: _Waiter) -> None:
        """Record a call, its verdict and its question in one transaction."""
        if not self._tools.admit(ask.tool):
            waiter.connection.send(_denial(ask.nonce, "A tool of this name cannot be judged here."))
            return
        is_first = not self._turn_id
        turn_id = self._turn_id or self.writer.new_id()
        call = announced_call(
            self.writer, turn_id, self._round + 1, key=ask.call or ask.nonce, tool=ask.tool, given=ask.input,
            cwd=cwd, paths=patch_paths(ask.input) if ask.tool == "apply_patch" else (),
        )  # fmt: skip
        writer = self._writer_of(ask)
        verdict, proposal = await judge_and_propose(writer, call, ask.input)
        if verdict.outcome == "allowed" and proposal is None:
            verdict = replace(verdict, outcome="refused", reason="it cannot be computed what it would do")
        await self.writer.append(
            *announcement(self.writer, call, is_first=is_first),
            *await proposal_events(writer, call, verdict, proposal, ask.input),
        )
        fault_point("supervised.asked")
        self._turn_id, self._round = turn_id, self._round + 1
        self._attach(call.id, asked, waiter)
        self._catch_up()

    def _writer_of(self, ask: Ask) -> SessionWriter:
        """Return a writer whose questions end before the agent stops waiting."""
        if ask.waits is None:
            return self.writer
        context = replace(self.writer.context, most_wait_seconds=ask.waits)
        return SessionWriter(context, self.writer.session_id, self.writer.guard)

    async def _turn_done(self) -> None:
        if not self._turn_id:
            return
        for call in self._open_calls():
            if call.state in ("pending", "approved"):
                await self._withdraw(call.id, "the agent's turn ended")
        await self._end_turn()

    async def _end_turn(self, *more: Event, detail: str = "") -> None:
        ended = self.writer.event(TurnEnded(outcome="done", detail=detail), turn_id=self._turn_id)
        ready = self.writer.event(SessionStatusChanged(status="ready"))
        await self.writer.append(ended, ready, *more)
        self._turn_id, self._round = "", 0
        self._catch_up()

    async def _done(self, done: Done) -> None:
        cwd = done.cwd or self.writer.context.workspace
        digest = _call_digest(done.tool, done.input, cwd)
        match on_done(done.call, digest, [*self._known_calls(), *self._settled_calls(done.call)]):
            case Compare(call_id):
                await self._compare(call_id, done)
            case RanUnanswered(call_id):
                await self._ran_unanswered(call_id)
            case Unasked():
                await self._record_unasked(done, cwd)
            case AlreadySettled():
                pass

    # --- what is due --------------------------------------------------------------------------------

    async def _move(self) -> bool:
        """Do the first thing that is due; False if nothing is."""
        if await self._serve_requests():
            return True
        self._had_agent = self._had_agent or bool(self._link.connections)
        since = inf if self._had_agent else self.writer.context.clock.monotonic() - self._started_at
        moves = due_moves(self._known_calls(), is_agent_here=bool(self._link.connections), since_start=since)
        for move in moves:
            match move:
                case Deny(call_id):
                    self._deny(call_id)
                case HandOver(call_id):
                    await self._hand_over(call_id)
                case WithdrawCall(call_id):
                    await self._withdraw(call_id, "nobody waits for its answer any more")
                case RestackCall(call_id):
                    await self._restack(call_id)
                case RefreshCall(call_id):
                    await replace_waiting_action(self.writer, call_id, "refreshed")
                case Observe(call_id):
                    await self._observe(call_id, "the agent ended before it said what came of it")
            self._catch_up()
            return True
        return await self._record_presence()

    def _due_presence(self) -> Literal["connected", "gone", "leaving"] | None:
        return due_presence(
            is_agent_here=bool(self._link.connections),
            is_recorded_gone=self.writer.session().is_agent_gone, had_agent=self._had_agent,
            since_left=self.writer.context.clock.monotonic() - self._left_at,
        )  # fmt: skip

    async def _record_presence(self) -> bool:
        """Record that the agent is connected again, or gone, which ends its turn; False if neither is new."""
        match self._due_presence():
            case "connected":
                await self.writer.append(self.writer.event(AgentConnected()))
            case "gone" if self._turn_id:
                await self._end_turn(self.writer.event(AgentGone()), detail="the agent is gone")
            case "gone":
                await self.writer.append(self.writer.event(AgentGone()))
            case _:
                return False
        return True

    def _open_calls(self) -> list[Call]:
        states = ("pending", "approved", "executing")
        rows = self.writer.journal.calls(self.writer.session_id, states=states)
        return [row for row in rows if row.tool != UNDO_TOOL]

    def _known_calls(self) -> list[KnownCall]:
        rows = self._open_calls()
        known = {row.id for row in rows}
        settled = (self.writer.journal.call(call_id) for call_id in self._waiting if call_id not in known)
        return [self._known(row) for row in (*rows, *(row for row in settled if row is not None))]

    def _settled_calls(self, key: str) -> list[KnownCall]:
        """Return the settled calls that the agent names so."""
        rows = self.writer.journal.calls(self.writer.session_id) if key else []
        return [
            KnownCall(id=row.id, key=key, digest=self._recorded_digest(row), state=row.state)
            for row in rows
            if row.provider_call_id == key and row.state in SETTLED_CALL_STATES
        ]

    def _recorded_digest(self, row: Call) -> str:
        try:
            exact = self.writer.exact(row.parameters, row.parameters_ref)
        except CallBytesMissing:
            return ""
        return _call_digest(row.tool, exact, row.cwd)

    def _known(self, row: Call) -> KnownCall:
        waiting = self._waiting.get(row.id)
        if waiting is None:
            waiting = _Waiting(digest=self._recorded_digest(row), left_at=self._started_at)
            self._waiting[row.id] = waiting
        now = self.writer.context.clock.monotonic()
        left_at = now if waiting.waiters or waiting.left_at is None else waiting.left_at
        call = self._calls.get(row.id)
        bases = call.on_top_of if call is not None else ()
        return KnownCall(
            id=row.id, key=row.provider_call_id, digest=waiting.digest, state=row.state,
            nonces=frozenset(waiting.nonces), waiters=len(waiting.waiters), unattended_for=now - left_at,
            base_states=tuple(self._base_state(base, revision) for base, revision in bases),
            is_refresh_asked=row.action_id in self.state.refreshes and call is not None and call.is_stale,
            is_lapsed=row.approved_until is not None and self.writer.journal.now() >= row.approved_until,
        )  # fmt: skip

    def _base_state(self, base_id: str, revision: int) -> Literal["open", "as shown", "otherwise"]:
        base, row = self._calls.get(base_id), self.writer.journal.call(base_id)
        if base is None or row is None or base.revision != revision:
            return "otherwise"
        if row.state not in SETTLED_CALL_STATES:
            return "open"
        record = read_call_record(self.writer.journal, base_id)
        finished = record.finished
        is_as_shown = row.state == "succeeded" and record.is_whole and finished is not None
        return "as shown" if is_as_shown and finished and finished.detail != DIFFERS else "otherwise"

    def _deny(self, call_id: str) -> None:
        reason = self._denial_reason(call_id)
        waiting = self._waiting.pop(call_id, None)
        for waiter in waiting.waiters if waiting else ():
            waiter.connection.send(_denial(waiter.nonce, reason))

    def _denial_reason(self, call_id: str) -> str:
        row = self.writer.journal.call(call_id)
        action = self.writer.journal.action(row.action_id) if row and row.action_id else None
        if row is None:
            return "The call no longer exists."
        if action is not None and action.state == "rejected":
            said = f": {action.reason}" if action.reason else ". Ask what to do instead"
            return f"The user rejected this{said}."
        if row.state == "expired":
            return "The user did not answer in time, so it was not allowed. Do not retry it unasked."
        return row.error or row.detail or f"It is {row.state}."

    # --- handing over -----------------------------------------------------------------------------------

    async def _hand_over(self, call_id: str) -> None:
        """Check an approved call once more, commit that it was handed over, then answer: at most once."""
        record = read_call_record(self.writer.journal, call_id)
        settings = self.writer.context.read_settings()
        try:
            exact = self.writer.exact(record.row.parameters, record.row.parameters_ref)
            screened = recheck_call(self.writer, settings, record, exact)
            if isinstance(screened, ExecutionRefusal):
                await self._refuse(record, screened)
                return
            changes = approved_changes(self.writer, record)
            new_input = None if screened is None else self._chosen_input(record, screened, exact, changes)
        except (CallBytesMissing, SealedBytesMissing) as error:
            await self._cancel(record, ExecutionRefusal(detail="sealed bytes gone", error=str(error)))
            return
        except InputNotPossible as error:
            why = f"the agent's tool cannot write what was chosen: {error}"
            await self._cancel(record, ExecutionRefusal(detail="not possible", error=why))
            return
        if await asyncio.to_thread(has_base_changed, self.writer, changes):
            await self._replace(call_id, "the file changed after it was approved")
            return
        if not record.is_whole and all(change.before == change.after for change in changes):
            await self._cancel(
                record, ExecutionRefusal(detail="nothing taken", error="no part of it was approved")
            )
            return
        await self._commit_and_answer(record, changes, new_input)

    async def _commit_and_answer(
        self, record: CallRecord, changes: tuple[FileChange, ...], new_input: JsonObject | None
    ) -> None:
        plan = await asyncio.to_thread(write_plan, self.writer, changes)
        fault_point("supervised.before_executing")
        body = CallExecuting(digest=record.digest, plan=plan)
        try:
            await self.writer.append(self.writer.call_event(body, record.row))
        except AgentsAreHeld:
            await self._replace(record.row.id, HELD_WHY, HELD)
            return
        fault_point("supervised.executing")
        waiting = self._waiting[record.row.id]
        waiter, waiting.waiters = waiting.waiters[-1], []
        waiter.connection.send(CallAnswer(nonce=waiter.nonce, outcome="allow", input=new_input))
        fault_point("supervised.answered")

    def _chosen_input(
        self, record: CallRecord, screened: ScreenedCall, exact: JsonObject, changes: Sequence[FileChange]
    ) -> JsonObject | None:
        """Return the input that writes what was chosen; None where the agent's own does."""
        if record.is_whole:
            return None
        tool = self._tools.get(record.row.tool)
        if not isinstance(tool, ForeignWriteTool):
            raise InputNotPossible("it changes no file that is known")
        wanted = [change for change in changes if change.before != change.after]
        if not wanted:
            return None
        names = {file.relative: file.given for file in screened.files}
        chosen = tool.input_for(exact, wanted, names)
        own = {name: value for name, value in chosen.items() if name not in screened.targets}
        made = tool.propose({**screened.grounded, **own}, _images_before(changes).get)
        if sorted(_images(made)) != sorted(_images(wanted)):
            raise InputNotPossible("its input would write other bytes")
        return chosen

    async def _cancel(self, record: CallRecord, refusal: ExecutionRefusal) -> None:
        body = CallFinished(state="cancelled", detail=refusal.detail, error=refusal.error)
        await self.writer.append(self.writer.call_event(body, record.row))

    async def _refuse(self, record: CallRecord, refusal: ExecutionRefusal) -> None:
        """End a call that may not be made any more; one that a hold stopped is asked about."""
        if refusal.detail == HELD:
            await self._replace(record.row.id, HELD_WHY, HELD)
        else:
            await self._cancel(record, refusal)

    async def _replace(self, call_id: str, why: str, detail: Literal["stale", "held"] = "stale") -> None:
        """Propose an approved call again; those who wait for it wait for the one that replaces it."""
        await replace_stale_call(self.writer, call_id, why, detail)
        row = self.writer.journal.call(call_id)
        if row is not None and row.replaced_by is not None and call_id in self._waiting:
            self._waiting[row.replaced_by] = self._waiting.pop(call_id)

    async def _restack(self, call_id: str) -> None:
        row = self.writer.journal.call(call_id)
        if row is not None and row.state == "approved":
            await self._replace(call_id, "an earlier change that it builds on was not made as shown")
        else:
            await replace_waiting_action(self.writer, call_id, "restacked")

    async def _withdraw(self, call_id: str, why: str) -> None:
        row = self.writer.journal.call(call_id)
        if row is None or row.state not in ("pending", "approved"):
            return
        action = self.writer.journal.action(row.action_id) if row.action_id else None
        body = CallFinished(state="cancelled", detail="withdrawn", error=why)
        events = [self.writer.call_event(body, row)]
        if action is not None and action.state == "pending":
            events.insert(0, self.writer.call_event(ActionCancelled(why=why), row, action.id))
        await self.writer.append(*events)

    # --- afterwards: only looking -----------------------------------------------------------------------

    async def _compare(self, call_id: str, done: Done) -> None:
        """Record how a call ended that was handed over, by what is on the disk."""
        record = read_call_record(self.writer.journal, call_id)
        plan = record.executing.plan if record.executing else ()
        files = await asyncio.to_thread(observe_files, self.writer, plan)
        limit = tool_limits(self.writer.context.read_settings().config).tool_output_bytes
        kept = redaction.redact_output(
            done.output, redaction.redact_text(done.output), limit, self.writer.journal.blobs
        )
        is_as_approved = all(file.is_as_approved for file in files)
        grade: Grade = "on its word" if not files else "bound" if is_as_approved else "checked"
        state = "failed" if done.is_error and not (files and is_as_approved) else "succeeded"
        taken, left = hunks_taken_and_left(self.writer, record)
        finished = CallFinished(
            state=state, detail=alteration_detail(record) if is_as_approved else DIFFERS,
            summary=difference_words(files), preview=kept.recorded, output_ref=kept.whole,
            output_bytes=kept.total_bytes, hunks_taken=taken, hunks_left=left,
            files_affected=tuple(file.step.path for file in files if not file.is_untouched),
            metadata=kept.noted({"grade": grade}),
        )  # fmt: skip
        await self._append_observed(record, files, finished)

    async def _observe(self, call_id: str, why: str) -> None:
        """Record how a call ended of which nobody will say so, by what is on the disk."""
        record = read_call_record(self.writer.journal, call_id)
        if record.row.state != "executing" or record.executing is None:
            return
        files = await asyncio.to_thread(observe_files, self.writer, record.executing.plan)
        if files and all(file.is_as_approved for file in files):
            body = CallFinished(
                state="succeeded", detail="recovered", metadata={"grade": "bound"},
                files_affected=tuple(file.step.path for file in files),
            )  # fmt: skip
        elif files and all(file.is_untouched for file in files):
            body = CallFinished(state="interrupted", detail="nothing written", error=why)
        else:
            body = CallFinished(
                state="interrupted", detail="outcome unknown", error=why, summary=difference_words(files),
                metadata={"grade": "checked" if files else "on its word"},
            )  # fmt: skip
        await self._append_observed(record, files, body)
        self._waiting.pop(call_id, None)

    async def _append_observed(
        self, record: CallRecord, files: Sequence[ObservedFile], finished: CallFinished
    ) -> None:
        changed = await asyncio.to_thread(found_changes, self.writer, files)
        events = [self.writer.call_event(body, record.row) for body in (*changed, finished)]
        is_other = any(not file.is_as_approved and not file.is_untouched for file in files)
        is_partial = bool(changed) and any(not file.is_as_approved for file in files)
        if is_other or is_partial:
            events.append(self._files_found(record, difference_words(files)))
        await self.writer.append(*events)
        fault_point("supervised.observed")

    def _files_found(self, record: CallRecord, words: str) -> Event:
        """Return the question what becomes of files that are not what was approved."""
        prompt = (
            f"After {record.row.tool} the files are not what was approved: {words}. "
            "Approve to keep them; reject to put back what was there before the call."
        )
        journal, cwd = self.writer.journal, self.writer.context.workspace
        subject: JsonObject = {FILES_FOUND: record.row.id}
        opened = ActionOpened(
            action_kind="gate", tool=None, target=f"files found: {words}", verb="ask", cwd=cwd, prompt=prompt,
            digest=action_digest(
                journal.blobs.keyed, kind="gate", parameters=subject, cwd=cwd, prompt=prompt
            ),
            created_at=journal.now(), expires_at=None, subject=subject,
        )  # fmt: skip
        return self.writer.event(opened, action_id=self.writer.new_id())

    async def _ran_unanswered(self, call_id: str) -> None:
        """The agent ran a call while its question waited: withdraw it, and look at the files."""
        record = read_call_record(self.writer.journal, call_id)
        plan = await asyncio.to_thread(_proposed_plan, self.writer, record)
        await self._withdraw(call_id, "the agent did not wait for the answer")
        files = await asyncio.to_thread(observe_files, self.writer, plan)
        if any(not file.is_untouched for file in files):
            changed = await asyncio.to_thread(found_changes, self.writer, files)
            events = [self.writer.call_event(body, record.row) for body in changed]
            paths = ", ".join(file.step.path for file in files if not file.is_untouched)
            await self.writer.append(
                *events, self._files_found(record, f"{paths}: written without an answer")
            )
        waiting = self._waiting.pop(call_id, None)
        for waiter in waiting.waiters if waiting else ():
            waiter.connection.send(_denial(waiter.nonce, "The call was made without waiting for the answer."))
        self._catch_up()

    async def _record_unasked(self, done: Done, cwd: str) -> None:
        """Record a call that the agent's own mode or rules allowed: it is shown, and not asked about."""
        if not self._tools.admit(done.tool):
            return
        is_first, turn_id = not self._turn_id, self._turn_id or self.writer.new_id()
        call = announced_call(
            self.writer,
            turn_id,
            self._round + 1,
            key=done.call,
            tool=done.tool,
            given=done.input,
            cwd=cwd,
            paths=(),
        )
        verdict = GateVerdict(
            outcome="allowed", step="agent", by=OWN_MODE, reason="the agent did not ask here"
        )
        proposed = CallProposed(
            tool=call.tool, verdict=verdict, parameters=call.parameters, parameters_ref=call.parameters_ref,
            provider_call_id=call.provider_call_id, cwd=cwd, target=_target(self._tools, call),
        )  # fmt: skip
        limit = tool_limits(self.writer.context.read_settings().config).tool_output_bytes
        kept = redaction.redact_output(
            done.output, redaction.redact_text(done.output), limit, self.writer.journal.blobs
        )
        finished = CallFinished(
            state="failed" if done.is_error else "succeeded", preview=kept.recorded, output_ref=kept.whole,
            output_bytes=kept.total_bytes, metadata=kept.noted({"grade": "on its word"}),
        )  # fmt: skip
        await self.writer.append(
            *announcement(self.writer, call, is_first=is_first),
            *(self.writer.call_event(body, call) for body in (proposed, CallExecuting(), finished)),
        )
        self._turn_id, self._round = turn_id, self._round + 1
        self._catch_up()

    # --- what a human asks for --------------------------------------------------------------------------

    async def _serve_requests(self) -> bool:
        """Do the first thing that a human asked for: the undo of a change, the only call that runs here."""
        if self.state.undos:
            action_id, request_id, body = self.state.undos[0]
            await propose_undo(self.writer, Undo(action_id=action_id, request_id=request_id, body=body))
            self._catch_up()
            return True
        undo = next((call for call in self._undo_calls() if call.state == "approved"), None)
        if undo is not None:
            assert undo.tool == UNDO_TOOL
            await execute_call(self.writer, undo.id, asyncio.Event())
            self._catch_up()
            return True
        return await self._undo_rejected_files()

    def _undo_calls(self) -> list[Call]:
        rows = self.writer.journal.calls(self.writer.session_id, states=("approved", "executing"))
        return [row for row in rows if row.tool == UNDO_TOOL]

    async def _settle_own_calls(self) -> None:
        for call in self._undo_calls():
            if call.state == "executing":
                await recover_call(self.writer, call.id)
        self._catch_up()

    async def _undo_rejected_files(self) -> bool:
        """Ask for the undo of a call whose files a human does not keep."""
        journal = self.writer.journal
        rejected = journal.actions(session_id=self.writer.session_id, states=("rejected",))
        for action in rejected:
            call_id = str(action.subject.get(FILES_FOUND, ""))
            if not call_id or self._has_undo_request(action, call_id):
                continue
            record = read_call_record(journal, call_id)
            files = tuple(
                FilePlan(
                    path=change.path,
                    base=change.after,
                    after=change.before,
                    mode=change.mode,
                    after_ref=change.before_ref,
                )
                for change in record.changed
            )
            body = UndoRequested(calls=(call_id,), whole=(call_id,), files=files)
            await self.writer.append(self.writer.event(body))
            self._catch_up()
            return True
        return False

    def _has_undo_request(self, action: Action, call_id: str) -> bool:
        events = self.writer.journal.events(self.writer.session_id, after=action.opened_at)
        bodies = (event.body for event in events)
        return any(isinstance(body, UndoRequested) and call_id in body.calls for body in bodies)


DIFFERS = "differs"
"""Detail of a call after which the files are not what was approved."""


def _call_digest(tool: str, given: JsonObject, cwd: str) -> str:
    text = canonical.dumps({"tool": tool, "input": given, "cwd": cwd})
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _denial(nonce: str, reason: str) -> CallAnswer:
    return CallAnswer(nonce=nonce, outcome="deny", reason=redaction.redact_line(reason, 4_000))


def _images_before(changes: Sequence[FileChange]) -> Mapping[str, FileImage]:
    return {
        change.path: FileImage(data=change.before, mode=change.mode, size=len(change.before), links=1)
        for change in changes
        if change.before is not None
    }


def _images(changes: Sequence[FileChange]) -> list[tuple[str, bytes]]:
    return [(change.path, b"-" if change.after is None else b"+" + change.after) for change in changes]


def _proposed_plan(writer: SessionWriter, record: CallRecord) -> tuple[PlannedWrite, ...]:
    try:
        return write_plan(writer, sealed_changes(record.files, writer.journal.blobs))
    except SealedBytesMissing:
        return ()


def _target(tools: SessionTools, call: Call) -> str:
    tool = tools.get(call.tool)
    name = tool.descriptor.target_parameter if tool else None
    return redaction.redact_target(str(call.parameters.get(name, ""))) if name else ""


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
    try:
        async with running_clock(session_log_name(journal.session(session_id)), supervised.tick):
            await supervised.run(until)
    finally:
        release_lease(journal, lease)
