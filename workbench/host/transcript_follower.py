"""Follow the session file of an agent that executes its own calls: its words and tokens, each once.

Calls come from the wire. A call of the file is held until its result is read; one that the wire has announced
stays where the wire put it, and any other was made without asking here.
"""

# Events are named after their line: `SESSION.L12.0`. After a restart, and where the file was written again,
# all of it is read from its first line, and nothing is recorded up to the last line that was. Words have the
# time of the file and the order in which they were read.

import asyncio
import hashlib
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from math import inf
from pathlib import Path
from typing import Final, cast

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.domain.events import (
    CallProposed,
    ErrorRaised,
    Event,
    EventBody,
    PromptSubmitted,
    ReplyCompleted,
    SessionChanged,
    SessionStatusChanged,
    TurnEnded,
    TurnStarted,
)
from workbench.domain.rows import Call
from workbench.domain.values import Actor, Body, JsonObject, ReplyCall, Usage
from workbench.effects.file_primitives import FileRefused
from workbench.effects.growing_file import GrowingFile
from workbench.formats import records as r
from workbench.formats.assemble import is_command, session_title
from workbench.formats.detect import LINE_FORMATS
from workbench.formats.input import MOST_LINE, json_values
from workbench.formats.live_lines import LiveLines
from workbench.formats.sanitize import sanitize_line
from workbench.formats.usage_records import CountedUsage
from workbench.host import redaction
from workbench.host.calls_of_file import CallOutcome, unasked_call_bodies
from workbench.host.driver_context import CallBytesMissing, SessionWriter
from workbench.host.screen_answers import WATCHED_FORMATS, InterruptionWatch, ScreenAnswers
from workbench.journal.followed import (
    LinePlace,
    PaidElsewhere,
    has_own_title,
    last_line_event,
    line_event_id,
    payer,
    request_key,
    store_followed_events,
)
from workbench.supervised.messages import Done, Hello
from workbench.supervised.tools import SessionTools
from workbench.text import canonical

LOG = logging.getLogger("workbench.host")
FOLLOWED_FORMATS: Final = (
    "antigravity", "claude-code", "codex", "copilot", "cursor", "grok", "opencode", "pi", "qwen", "vibe",
)  # fmt: skip
"""Formats of lines that are read as they come. Of others, in which a later line changes an earlier one or
which are written whole, such as that of Gemini CLI, only the calls of the wire are recorded."""
LOOK_SECONDS: Final = 1.0
"""Between two looks at a file in which nothing is known to be new."""
LOOK_BYTES: Final = 1 << 20
"""Bytes read at once; the rest is read at the next turn of the driver's loop."""
_MOST_STORED: Final = 200
"""Events of one transaction."""
_OTHER_INPUTS: Final = frozenset({"claude-code", "codex", "qwen"})
"""Formats whose tools or inputs may have another form than on the wire: there the id alone names a call."""
_USER: Final = Actor(kind="user", via="import")
_AGENT: Final = Actor(kind="agent")
_SYSTEM: Final = Actor(kind="system", via="import")


class OpenTurn(Struct, frozen=True, kw_only=True):
    """The turn of a session that is open; an empty id means that none is."""

    id: str = ""
    round: int = 0
    """Of its last reply."""
    has_calls: bool = False
    """Whether a call of it has not ended."""


_WordBody = PromptSubmitted | ReplyCompleted | ErrorRaised | SessionChanged | TurnEnded


class _Word(Struct, frozen=True, kw_only=True):
    """Something that the file says, without its place in a turn."""

    id: str
    at: int | None
    body: _WordBody
    title: str = ""
    """What the session is called from here on."""


class _MadeCall(Struct, frozen=True, kw_only=True):
    """A call that was made without asking here, with what is recorded of it."""

    id: str
    at: int | None
    call: Call
    bodies: tuple[Body, ...]


class _HeldCall(Struct, frozen=True):
    """A call of the file whose result was not read yet."""

    call: r.ToolCall
    digest: str


class _WireCall(Struct, frozen=True):
    """A call that the wire has announced."""

    id: str
    key: str
    """The agent's id of it."""
    digest: str


class _Announcements:
    """The calls that the wire has announced and the file was not seen to have ended."""

    def __init__(self) -> None:
        self._by_digest: dict[str, list[_WireCall]] = defaultdict(list)
        self._by_key: dict[str, list[_WireCall]] = defaultdict(list)

    def add(self, call: _WireCall) -> None:
        self._by_digest[call.digest].append(call)
        self._by_key[call.key].append(call)

    def take(self, key: str, digest: str, held: Iterable[str], *, is_id_enough: bool) -> str | None:
        """Take out the announcement of a call, and return its id; None if there is none.

        It has the same id and input, else the same input where the agent gave no id to the wire. `held`: ids
        that other calls of the file have. `is_id_enough`: whether inputs are not compared.
        """
        same = self._by_digest.get(digest, [])
        found = next((call for call in same if call.key == key), None)
        if found is None and is_id_enough:
            found = next(iter(self._by_key.get(key, [])), None)
        if found is None:
            others = frozenset(held)
            found = next((call for call in same if call.key not in others), None)
        if found is None:
            return None
        self._by_digest[found.digest].remove(found)
        self._by_key[found.key].remove(found)
        return found.id


class _Piece(Struct, kw_only=True):
    """What one look has found."""

    items: list[_Word | _MadeCall] = field(default_factory=list[_Word | _MadeCall])
    paid: list[str] = field(default_factory=list[str])
    """Keys of the requests that this session is the first to pay."""


_Maker = Callable[[str], "_Word | _MadeCall"]
"""Makes what is recorded under a name; not called where that is stored already."""


class _Transcript:
    """The reading of one file: what is known of its lines so far."""

    def __init__(
        self, writer: SessionWriter, tools: SessionTools, hello: Hello, answers: ScreenAnswers
    ) -> None:
        self._writer, self._tools, self._hello, self._answers = writer, tools, hello, answers
        self._file = GrowingFile(hello.transcript, MOST_LINE)
        self._read = next(form.read for form in LINE_FORMATS if form.name == hello.format)
        self.left_out = 0
        """Lines that are too long."""
        self.made: dict[str, list[str]] = defaultdict(list)
        """The calls that are recorded from the file, by digest, oldest first."""
        self._restart()

    def _restart(self) -> None:
        journal, session_id = self._writer.journal, self._writer.session_id
        self._live = LiveLines(self._read, self._hello.transcript)
        self._counted, self._held = CountedUsage(), dict[str, _HeldCall]()
        self._announced, self._indexed = _Announcements(), 0
        self._last = last_line_event(journal, session_id)
        self._has_own_title = has_own_title(journal, session_id)
        self._has_title, self._first_key, self._is_ours = self._has_own_title, "", True
        self._place: LinePlace = (0, 0)
        self._at: int | None = None
        self._payers: dict[str, str] = {}
        self._paid: list[str] = []

    def read(self, wire_calls: Sequence[_WireCall]) -> tuple[_Piece, bool]:
        """Return what some more of the file says, and whether there is still more.

        `wire_calls`: every call that the wire has announced. Raises OSError, FileRefused.
        """
        growth = self._file.read(LOOK_BYTES)
        if growth.is_restarted:
            self._restart()
        for call in wire_calls[self._indexed :]:
            self._announced.add(call)
        self._indexed = len(wire_calls)
        self.left_out += sum(isinstance(line, int) for line in growth.lines)
        items: list[_Word | _MadeCall] = []
        for record in self._live.read(json_values(growth.lines, growth.first)):
            place, make = self._next_place(), self._taken(record)
            if make is not None and place > self._last:
                items.append(make(line_event_id(self._writer.session_id, place)))
        paid, self._paid = self._paid, []
        return _Piece(items=items, paid=paid), growth.has_more

    def _next_place(self) -> LinePlace:
        line, part = self._place
        self._place = (self._live.number, part + 1 if self._live.number == line else 0)
        return self._place

    def _taken(self, record: r.Record) -> _Maker | None:
        """Note what a record says, and return what makes the events of it; None where it makes none."""
        time_us: int | None = getattr(record, "at", None)
        self._at = self._at if time_us is None else time_us  # what has no time has that of what is above
        if isinstance(record, r.SessionHead):
            self._is_ours = self._is_head_of_ours(record.key)
            return self._title(record.title) if self._is_ours else None
        if not self._is_ours:
            return None
        match record:
            case r.Prompt(text=text):
                return self._prompt(text)
            case r.Reply():
                return self._reply(record)
            case r.UsageRecord(usage=usage):
                return self._word(lambda: ReplyCompleted(usage=usage))
            case r.CallResult():
                return self._result(record)
            case r.TitleChange(title=title):
                return self._title(title)
            case r.TurnStop():
                return self._stop(record)
            case r.ErrorRecord(code=code, message=message):
                return self._word(lambda: _error(code, message))
            case _:
                return None

    def _word(self, body: Callable[[], _WordBody], title: str = "") -> _Maker:
        return lambda name: _Word(id=name, at=self._at, body=body(), title=title)

    def _is_head_of_ours(self, key: str) -> bool:
        """Return whether what follows belongs to this session, not to an agent below it or to another one."""
        self._first_key = self._first_key or key
        return key in (self._first_key, self._hello.session) or key.startswith(f"{self._first_key}/fork")

    def _stop(self, record: r.TurnStop) -> _Maker:
        if record.outcome == "interrupted":
            self._answers.note_interruption(record.at, self._writer.journal.now())
        return self._word(lambda: TurnEnded(outcome=record.outcome, detail=sanitize_line(record.detail)))

    def _prompt(self, text: str) -> _Maker | None:
        if not text.strip():
            return None
        title = "" if self._has_title or is_command(text) else session_title(text)
        self._has_title = self._has_title or bool(title)
        return self._word(lambda: PromptSubmitted(text=redaction.redact_file_text(text)), title)

    def _title(self, text: str) -> _Maker | None:
        title = session_title(text)
        if self._has_own_title or not title:
            return None
        self._has_title = True
        return self._word(lambda: SessionChanged(title=title))

    def _reply(self, record: r.Reply) -> _Maker | None:
        usage = self._counted.add(record, self._writer.session_id, self._is_paid)
        for call in record.calls:
            self._held[call.id] = _HeldCall(call, call_digest(call.tool, call.arguments))
        if usage is None or not (record.text.strip() or record.thinking or usage != Usage()):
            return None
        return self._word(lambda: ReplyCompleted(
            text=redaction.redact_file_text(record.text),
            thinking=redaction.redact_file_text(record.thinking),
            usage=usage, model=sanitize_line(record.model, 200),
        ))  # fmt: skip

    def _is_paid(self, session_id: str, request: str) -> bool:
        key = request_key(self._writer.journal, request)
        if key not in self._payers:
            owner = payer(self._writer.journal, key)
            if owner is None:
                self._paid.append(key)
            self._payers[key] = owner or session_id
        return self._payers[key] != session_id

    def _result(self, record: r.CallResult) -> _Maker | None:
        held = self._held.pop(record.call, None)
        if held is None:
            return None
        is_id_enough = self._hello.format in _OTHER_INPUTS
        announced = self._announced.take(held.call.id, held.digest, self._held, is_id_enough=is_id_enough)
        if announced is not None:
            self._answers.note_result(announced, record.state, record.text or record.error)
            return None
        if not self._tools.admit(held.call.tool):
            return None
        name = line_event_id(self._writer.session_id, self._place)
        self.made[held.digest].append(_call_id(name))
        return lambda name: self._made_call(name, held.call, record)

    def _made_call(self, name: str, asked: r.ToolCall, result: r.CallResult) -> _MadeCall:
        parameters, ref = redaction.redact_file_parameters(asked.arguments, self._writer.journal.blobs)
        call = Call(
            id=_call_id(name), session_id=self._writer.session_id, turn_id=None, ordinal=0,
            provider_call_id=sanitize_line(asked.id, 200), tool=asked.tool, state="pending",
            requested_at=self._at or 0, parameters=parameters, parameters_ref=ref,
            cwd=self._writer.context.workspace,
        )  # fmt: skip
        outcome = CallOutcome(
            state=result.state, output=result.text, clean=redaction.redact_file_text(result.text, None),
            error=result.error or result.reason,
        )  # fmt: skip
        bodies = unasked_call_bodies(self._writer, self._tools, call, outcome)
        return _MadeCall(id=name, at=self._at, call=call, bodies=bodies)


def _call_id(name: str) -> str:
    return f"{name}.call"


def call_digest(tool: str, given: JsonObject) -> str:
    """Return what a call is known by on the wire and in a file."""
    text = canonical.dumps({"tool": tool, "input": given})
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _error(code: str, message: str) -> ErrorRaised:
    return ErrorRaised(code=sanitize_line(code, 80), message=redaction.redact_file_text(message))


class _Turns(Struct):
    """In which turn the file speaks: as of the events of the session, and of those that are being made."""

    open: OpenTurn = OpenTurn()
    ended: OpenTurn = OpenTurn()
    """The last one, if no prompt came since: words that come late belong to it."""
    spoken: str = ""
    """The turn in which the file has spoken: a prompt ends that, and joins one that only the wire knows."""

    def note(self, event: Event, *, is_of_file: bool) -> None:
        """Note an event of the session, of the wire or of the file."""
        turn = event.turn_id or ""
        match event.body:
            case TurnStarted():
                self.open = OpenTurn(id=turn)
            case TurnEnded():
                self.ended, self.open = OpenTurn(id=turn, round=self.open.round), OpenTurn()
            case PromptSubmitted():
                self.ended = OpenTurn()
                self.spoken = self.open.id if is_of_file else self.spoken
            case ReplyCompleted(round=number):
                if turn == self.ended.id:
                    self.ended = OpenTurn(id=turn, round=number)
                else:
                    self.open = OpenTurn(id=turn, round=number)
                self.spoken = turn if is_of_file else self.spoken
            case _:
                pass


class _EventMaker:
    """Makes the events of what a file says, each in its turn."""

    def __init__(self, writer: SessionWriter, turns: _Turns) -> None:
        self._writer, self._turns = writer, turns
        self._session = writer.session()
        self._now = self._at = writer.journal.now()

    def events_of(self, item: _Word | _MadeCall) -> Iterator[Event]:
        self._at = self._now if item.at is None else item.at
        if isinstance(item, _MadeCall):
            yield from self._made_call(item)
            return
        if item.title:
            yield self._event(f"{item.id}.title", SessionChanged(title=item.title), _SYSTEM)
        match item.body:
            case PromptSubmitted() as body:
                yield from self._prompt(item.id, body)
            case ReplyCompleted() as body:
                yield from self._reply(item.id, body)
            case TurnEnded() as body:
                yield from self._end_turn(item.id, body)
            case body:
                yield self._event(item.id, body, _SYSTEM, turn=self._turns.open.id)

    def _prompt(self, name: str, body: PromptSubmitted) -> Iterator[Event]:
        turns = self._turns
        if turns.open.id == turns.spoken and not turns.open.has_calls:
            yield from self._end_turn(f"{name}.before", TurnEnded(outcome="done"))
        turns.ended, turns.spoken = OpenTurn(), turns.open.id
        yield self._event(name, body, _USER)

    def _reply(self, name: str, body: ReplyCompleted) -> Iterator[Event]:
        """Yield a reply in the turn that is open, or that has just ended; else it begins one."""
        turns = self._turns
        if not turns.open.id and turns.ended.id:
            turns.ended = turn = replace(turns.ended, round=turns.ended.round + 1)
        else:
            if not turns.open.id:
                yield from self._begin_turn(name, body.model)
            turns.open = turn = replace(turns.open, round=turns.open.round + 1)
            turns.spoken = turn.id
        yield self._event(name, replace(body, round=turn.round), _AGENT, turn=turn.id)

    def _begin_turn(self, name: str, model: str) -> Iterator[Event]:
        turn = self._turns.open = OpenTurn(id=f"{name}.turn")
        model = model or self._session.model or self._session.provider
        started = TurnStarted(provider=self._session.provider, model=model)
        yield self._event(f"{name}.started", started, _AGENT, turn=turn.id)
        yield self._event(f"{name}.processing", SessionStatusChanged(status="processing"), _SYSTEM)

    def _end_turn(self, name: str, body: TurnEnded) -> Iterator[Event]:
        turns = self._turns
        if not turns.open.id:
            return
        yield self._event(name, body, _AGENT, turn=turns.open.id)
        turns.ended, turns.open = turns.open, OpenTurn()
        yield self._event(f"{name}.ready", SessionStatusChanged(status="ready"), _SYSTEM)

    def _made_call(self, item: _MadeCall) -> Iterator[Event]:
        call = item.call
        said = ReplyCall(
            call_id=call.id, provider_call_id=call.provider_call_id, tool=call.tool,
            arguments=call.parameters, arguments_ref=call.parameters_ref,
        )  # fmt: skip
        events = list(self._reply(item.id, ReplyCompleted(calls=(said,))))
        yield from events
        for number, body in enumerate(item.bodies, 1):
            yield self._event(
                f"{item.id}.{number}", body, _AGENT, turn=events[-1].turn_id or "", call=call.id
            )

    def _event(
        self, name: str, body: Body, actor: Actor, *, turn: str = "", call: str | None = None
    ) -> Event:
        return Event(
            id=name, session_id=self._writer.session_id, at=self._at, recorded_at=self._now, actor=actor,
            body=cast("EventBody", body), turn_id=turn or None, call_id=call,
        )  # fmt: skip


class TranscriptFollower:
    """Records what the session file of an agent says, in the session that its driver writes."""

    def __init__(self, writer: SessionWriter, tools: SessionTools) -> None:
        self._writer, self._tools = writer, tools
        self._hello: Hello | None = None
        self._transcript: _Transcript | None = None
        self._watch: InterruptionWatch | None = None
        self._turns = _Turns()
        self._wire_calls: list[_WireCall] = []
        self.answers = ScreenAnswers()
        """What the user of the agent did in the agent's own screen."""
        self._looked_at = -inf
        self.has_more = False
        """Whether more of the file can be read at once."""

    def follow(self, hello: Hello) -> bool:
        """Follow the file that a connection names; False if it names none, or the same one as before."""
        is_new = self._hello is None or hello.transcript != self._hello.transcript
        is_there = Path(hello.transcript).is_absolute()
        if not is_new or not is_there or hello.format not in (*FOLLOWED_FORMATS, *WATCHED_FORMATS):
            return False
        self._hello = hello
        if hello.format in WATCHED_FORMATS:
            self._watch = InterruptionWatch(hello.transcript)
        else:
            self._transcript = _Transcript(self._writer, self._tools, hello, self.answers)
        self._looked_at = -inf
        return True

    def note(self, event: Event) -> None:
        """Note an event of the session: in which turn it is, and which calls the wire has announced."""
        is_of_file = event.id.startswith(f"{event.session_id}.L")
        self._turns.note(event, is_of_file=is_of_file)
        if isinstance(event.body, CallProposed) and event.body.replaces:
            self.answers.note_replacement(event.call_id or "", event.body.replaces)
        if isinstance(event.body, ReplyCompleted) and not is_of_file:
            self._wire_calls += [
                _WireCall(call.call_id, call.provider_call_id, self._digest(call))
                for call in event.body.calls
            ]

    def _digest(self, call: ReplyCall) -> str:
        try:
            return call_digest(call.tool, self._writer.exact(call.arguments, call.arguments_ref))
        except CallBytesMissing:
            return ""

    def recorded_call(self, done: Done) -> str | None:
        """Return the call that was recorded from the file before the agent said that it ended; once each."""
        digest = call_digest(done.tool, done.input)
        made = self._transcript.made.get(digest) if self._transcript is not None else None
        return made.pop(0) if made else None

    def hurry(self) -> None:
        """Let the next look come at once."""
        self._looked_at = -inf

    def is_due(self) -> bool:
        """Return whether it is time for a look."""
        now = self._writer.context.clock.monotonic()
        is_followed = self._transcript is not None or self._watch is not None
        return is_followed and (self.has_more or now - self._looked_at >= LOOK_SECONDS)

    async def look(self, turn: OpenTurn) -> OpenTurn:
        """Record what the file says since the last look; returns the turn that is open then."""
        self._looked_at = self._writer.context.clock.monotonic()
        self._turns.open = turn
        if self._transcript is not None:
            await self._record(self._transcript)
        if self._watch is not None:
            await self._look_for_interruptions(self._watch)
        return self._turns.open

    async def _look_for_interruptions(self, watch: InterruptionWatch) -> None:
        try:
            now = self._writer.journal.now()
            self.has_more = await asyncio.to_thread(watch.read, LOOK_BYTES, self.answers, now)
        except (OSError, FileRefused) as error:
            self.has_more = False
            LOG.debug("the session file of an agent cannot be read: %s", error)

    async def _record(self, transcript: _Transcript) -> None:
        try:
            piece, self.has_more = await asyncio.to_thread(transcript.read, self._wire_calls)
        except (OSError, FileRefused) as error:
            self.has_more = False
            LOG.debug("the session file of an agent cannot be read: %s", error)
            return
        before = copy(self._turns)
        try:
            await self._store(piece)
        except PaidElsewhere:
            assert self._hello is not None
            self._turns, self.has_more = before, True
            self._transcript = _Transcript(self._writer, self._tools, self._hello, self.answers)

    async def _store(self, piece: _Piece) -> None:
        """Store what was found; the events of one item are never in two transactions."""
        maker, events, paid = _EventMaker(self._writer, self._turns), list[Event](), piece.paid
        for item in piece.items:
            events += maker.events_of(item)
            if len(events) >= _MOST_STORED:
                await self._append(events, paid)
                events, paid = [], []
        if events or paid:
            await self._append(events, paid)

    async def _append(self, events: Sequence[Event], paid: Sequence[str]) -> None:
        stored = store_followed_events(self._writer.journal, events, self._writer.guard, paid)
        await asyncio.wrap_future(stored)
