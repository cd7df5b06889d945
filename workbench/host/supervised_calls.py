"""The calls of a supervised session: as they are recorded, and which connections wait for their answers."""

import hashlib
from functools import partial
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.agents.reducer import apply_event
from workbench.agents.state import TurnCall, TurnState
from workbench.domain.events import ActionRejected, Event, UndoRequested
from workbench.domain.machines import SETTLED_CALL_STATES
from workbench.domain.rows import Call
from workbench.domain.values import UNDO_TOOL, JsonObject
from workbench.host import redaction
from workbench.host.agent_link import AgentConnection
from workbench.host.call_context import read_call_record
from workbench.host.driver_context import CallBytesMissing, SessionWriter
from workbench.host.transcript_follower import OpenTurn, TranscriptFollower
from workbench.supervised.machine import KnownCall
from workbench.supervised.messages import CallAnswer
from workbench.supervised.tools import SessionTools
from workbench.text import canonical

DIFFERS = "differs"
"""Detail of a call after which the files are not what was approved."""

UNNAMED = "unnamed "
"""Begins the recorded id of a call to which its agent gave none."""


class Waiter(Struct, frozen=True):
    """A connection that waits for the answer to one question."""

    connection: AgentConnection
    nonce: str
    takes_input: bool = True
    """Whether its answer may carry another input than the agent's own."""


class Waiting(Struct):
    """Who waits for the answer of one call."""

    digest: str
    handed_digest: str = ""
    """Of the input that was handed over in place of the agent's own."""
    waiters: list[Waiter] = field(default_factory=list[Waiter])
    nonces: set[str] = field(default_factory=set[str])
    left_at: float | None = None
    handed_digest: str = ""
    is_read: bool = False
    """Whether the agent said that it has read the answer."""


class AgentCalls:
    """The calls of one session as its driver knows them; each is read back from the journal."""

    def __init__(self, writer: SessionWriter, tools: SessionTools) -> None:
        self.writer, self.tools = writer, tools
        self.state = TurnState()
        self.cursor = 0
        self.turn_calls: dict[str, TurnCall] = {}
        """The calls of the session as they were last seen."""
        self.waiting: dict[str, Waiting] = {}
        self.unreported: dict[str, KnownCall] = {}
        """Calls that were settled by their files; the agent may still say that they ended."""
        self.started_at = writer.context.clock.monotonic()
        self.turn_id = ""
        """The open turn; empty between two turns."""
        self.round = 0
        """Number of the last call of the turn."""
        self.rejected: list[str] = []
        """Actions that a human rejected and that were not looked at for what has to be put back."""
        self.follower = TranscriptFollower(writer, tools)
        self.put_back: dict[str, str] = {}
        """The request by which this driver, or an earlier one, had the files of a call put back."""

    def catch_up(self) -> None:
        journal = self.writer.journal
        while events := journal.events(self.writer.session_id, after=self.cursor, limit=2_000):
            for event in events:
                self.state = apply_event(self.state, event)
                self.turn_calls.update((call.id, call) for call in self.state.every_call())
                self._note_answers(event)
                self.follower.note(event)
            self.cursor = events[-1].position

    def _note_answers(self, event: Event) -> None:
        match event.body:
            case ActionRejected():
                self.rejected.append(event.action_id or "")
            case UndoRequested(calls=of) if event.actor.kind != "user":
                self.put_back.update((call_id, event.id) for call_id in of)
            case _:
                pass

    def recall_turn(self) -> None:
        """Read where the turn is at which an earlier driver ended."""
        self.catch_up()
        rows = self.writer.journal.calls(self.writer.session_id)
        self.turn_id = self.writer.session().open_turn or ""
        replied = self.state.turn.round if self.state.turn and self.turn_id else 0
        self.round = max((replied, *(row.ordinal // 1000 for row in rows if row.turn_id == self.turn_id)))
        for row in rows:
            self.tools.admit(row.tool)

    async def follow(self) -> None:
        """Record what the agent's session file says since the last look."""
        turn = OpenTurn(id=self.turn_id, round=self.round, has_calls=bool(self.open_calls()))
        turn = await self.follower.look(turn)
        self.turn_id, self.round = turn.id, turn.round
        self.catch_up()

    def open_calls(self) -> list[Call]:
        states = ("pending", "approved", "executing")
        rows = self.writer.journal.calls(self.writer.session_id, states=states)
        return [row for row in rows if row.tool != UNDO_TOOL]

    def known_calls(self) -> list[KnownCall]:
        rows = self.open_calls()
        is_open = {row.id for row in rows}
        self.waiting = {key: each for key, each in self.waiting.items() if key in is_open or each.waiters}
        settled = (self.writer.journal.call(call_id) for call_id in self.waiting if call_id not in is_open)
        return [self._known(row) for row in (*rows, *(row for row in settled if row is not None))]

    def note_read_answer(self, nonce: str) -> None:
        for waiting in self.waiting.values():
            if nonce in waiting.nonces:
                waiting.is_read = True

    def handed_calls(self) -> list[str]:
        """Return the calls that the agent was allowed and that have not ended."""
        return [row.id for row in self.open_calls() if row.state == "executing"]

    def awaited_bases(self) -> set[str]:
        """Return the calls that the agent makes and that approved calls build on."""
        built = [self.turn_calls.get(row.id) for row in self.open_calls() if row.state == "approved"]
        bases = {base_id for call in built if call is not None for base_id, _ in call.on_top_of}
        return bases.intersection(self.handed_calls())

    def ended_calls(self, key: str, tool: str) -> list[KnownCall]:
        """Return the settled calls that the end of a call of a tool may belong to.

        They have the agent's id of it, were not reported, or have no id and were refused in this turn.
        """
        find = partial(self.writer.journal.calls, self.writer.session_id)
        named = find(SETTLED_CALL_STATES, provider_call_id=key) if key else []
        refused = find(("rejected", "expired"), turn_id=self.turn_id)
        rows = [
            *(row for row in named if row.id not in self.unreported),
            *(row for row in refused if not agent_key(row)),
        ]
        settled = [
            KnownCall(id=row.id, key=agent_key(row), digest=self._recorded_digest(row), state=row.state)
            for row in rows
            if row.tool == tool
        ]
        return [*settled, *self.unreported.values()]

    def note_unreported(self, row: Call) -> None:
        """Note that a call was settled by its files."""
        known = self._known(row)
        self.unreported[row.id] = replace(known, state="succeeded", is_end_awaited=True)

    def _recorded_digest(self, row: Call) -> str:
        try:
            exact = self.writer.exact(row.parameters, row.parameters_ref)
        except CallBytesMissing:
            return ""
        return call_digest(row.tool, exact, row.cwd)

    def _known(self, row: Call) -> KnownCall:
        waiting = self.waiting.get(row.id)
        if waiting is None:
            waiting = Waiting(digest=self._recorded_digest(row), left_at=self.started_at)
            self.waiting[row.id] = waiting
        now = self.writer.context.clock.monotonic()
        left_at = now if waiting.waiters or waiting.left_at is None else waiting.left_at
        call = self.turn_calls.get(row.id)
        bases = call.on_top_of if call is not None else ()
        return KnownCall(
            id=row.id, key=agent_key(row), digest=waiting.digest, handed_digest=waiting.handed_digest,
            state=row.state,
            nonces=frozenset(waiting.nonces), waiters=len(waiting.waiters), unattended_for=now - left_at,
            handed_at=row.started_at or 0,
            base_states=tuple(self._base_state(base, revision) for base, revision in bases),
            is_refresh_asked=row.action_id in self.state.refreshes and call is not None and call.is_stale,
            is_lapsed=row.approved_until is not None and self.writer.journal.now() >= row.approved_until,
        )  # fmt: skip

    def _base_state(self, base_id: str, revision: int) -> Literal["open", "as shown", "otherwise"]:
        base, row = self.turn_calls.get(base_id), self.writer.journal.call(base_id)
        if base is None or row is None or base.revision != revision:
            return "otherwise"
        if row.state not in SETTLED_CALL_STATES:
            return "open"
        record = read_call_record(self.writer.journal, base_id)
        finished = record.finished
        is_as_shown = row.state == "succeeded" and record.is_whole and finished is not None
        return "as shown" if is_as_shown and finished and finished.detail != DIFFERS else "otherwise"


def agent_key(row: Call) -> str:
    """Return the agent's id of a call; empty where the question had none, and its nonce is recorded."""
    return "" if row.provider_call_id.startswith(UNNAMED) else row.provider_call_id


def call_digest(tool: str, given: JsonObject, cwd: str) -> str:
    text = canonical.dumps({"tool": tool, "input": given, "cwd": cwd})
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def denial(nonce: str, reason: str) -> CallAnswer:
    return CallAnswer(nonce=nonce, outcome="deny", reason=redaction.redact_line(reason, 4_000))
