"""Assemble events from the records of a reader: sessions, turns, calls with their decisions and results."""

# An agent below another is a session of its own (`parent_id`), also where its lines stand between those of
# the one that began it: read in line, its orders would look like prompts of the human.
#
# Whether a human was asked about a call, and what it changed, often stands at its result only, while its
# events belong to the moment of the call. So the places of these events are held open, with all that
# follows them, until the result is read; see `HeldEvents` for what bounds that. Events are numbered when they
# are let go, in their order: a file that grew, or that an older version read otherwise, agrees with what is
# stored up to the first event that became another.

import re
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.domain import events
from workbench.domain.events import NOT_UNDERSTOOD, Event
from workbench.domain.machines import SessionStatus
from workbench.domain.values import Actor, Json, ReplyCall, Usage
from workbench.formats import records as r
from workbench.formats import sanitize
from workbench.formats.call_events import MOST_INLINE, CallEvents, OpenCall, StoreBlob
from workbench.formats.held_events import HeldEvents
from workbench.formats.usage_records import CountedUsage, IsPaid
from workbench.text.problems import Problem

_ID_NAMESPACE: Final = uuid.UUID("6f9a1a2e-5d7e-5c0b-9f36-3a1c0e5b7d11")
_MOST_TITLE: Final = 80
_MOST_TOOLS: Final = 500
_NO_TITLE: Final = re.compile(
    r"(?:New |Untitled ?)(?:session|chat|conversation)?(?: session)?(?:\W{1,3}\d[\dTZ:.,+/ )-]{0,40})?",
    re.IGNORECASE,
)
"""What agents call a session that nobody named, with its number or its time behind."""
"""What programs call a session before it has a title."""
_COMMAND: Final = re.compile(r"/[\w:.-]+(?:\s|$)")
_CLOCK_TOLERANCE: Final = 2_000_000
"""Microseconds that records may be out of order: several writers share a file."""
_AGENT: Final = Actor(kind="agent")
_TOOL: Final = Actor(kind="tool")
_USER: Final = Actor(kind="user", via="import")
_SYSTEM: Final = Actor(kind="system", via="import")
READ_AS: Final = 4
"""How events are made from records: with a higher number, a file that is imported again replaces its session.

2: calls start when they were asked for; cached tokens and costs stand apart. 3: kept records and long outputs
are whole. 4: rows of wink and kaiak are kept as they came; a file that was moved names the path that it had.
Forks of Claude Code came without another number: what was read before is right, and becomes forks when its
file changes or is read again.
"""
CurrentSessionId = Callable[[str], str]
"""Turns the id that a session would get into the one that it gets; ids of deleted ones are not used again."""


def imported_session_id(origin: str, key: str) -> str:
    """Return the id that a foreign session has here, the same each time."""
    return str(uuid.uuid5(_ID_NAMESPACE, f"{origin}\0{key}"))


class ImportSummary(Struct):
    """What came of one session."""

    session_id: str
    key: str
    title: str = ""
    events: int = 0
    kept: int = 0
    """Records that were not understood."""
    problems: list[Problem] = field(default_factory=list[Problem])


class AssemblerState(Struct, frozen=True, kw_only=True):
    """An assembler between two records, while no call is open: counts, and short texts that are scrubbed."""

    session_id: str
    count: int
    turns: int
    round: int
    calls: int
    turn: str | None
    provider: str
    model: str
    has_title: bool
    is_closed: bool
    first_command: str
    last_usage: Usage
    last: int
    newest: int
    keys: dict[str, int]
    summaries: list[ImportSummary]

    @property
    def last_event(self) -> str:
        """The id of the newest event that is numbered."""
        return f"{self.session_id}.{self.count}"


_MOST_STATE_PROBLEMS: Final = 100
"""Problems of a file with which a state is kept; with more the whole file is read again."""


class Assembler:
    """Takes the items of one file and gives back events."""

    def __init__(
        self,
        origin: str,
        time_us: int,
        store: StoreBlob,
        generation: CurrentSessionId = lambda session_id: session_id,
        recorded_at: int | None = None,
        is_paid: IsPaid = lambda _session, _request: False,
    ) -> None:
        """Begin a file; `time_us` is the time of what has none, `recorded_at` of the import."""
        self._is_paid = is_paid
        self._origin, self._now, self._generation = origin, time_us, generation
        self._recorded_at, self._life = recorded_at, CallEvents(origin, store, recorded_at)
        self.summaries: list[ImportSummary] = []
        self._keys = Counter[str]()
        self._early: list[r.Record] = []
        self._begin("")

    def _begin(self, session_id: str) -> None:
        self._id, self._count, self._turns, self._round, self._calls = session_id, 0, 0, 0, 0
        self._turn: str | None = None
        self._open: dict[str, OpenCall] = {}
        self._held = HeldEvents()
        self._counted = CountedUsage()
        self._provider = self._model = ""
        self._has_title = self._is_closed = False
        self._first_command = ""
        self._last_usage = Usage()
        self._last = self._now
        self._newest = self._last_rows = 0

    def take(self, item: r.Record) -> list[Event]:
        """Return the events of one item; what comes before the first `SessionHead` waits for it."""
        if isinstance(item, r.SessionHead):
            closing, begun = self.finish(), self._counted_events(self._head(item))
            early, self._early = self._early, []
            return [*closing, *begun, *(event for record in early for event in self.take(record))]
        if not self._id:
            self._early.append(item)
            return []
        self._look_at_time(item)
        for event in self._record_events(item):
            self._held.add(event)
        while owner := self._held.owner_in_the_way:
            self._release(owner)
        return self._counted_events(self._held.taken())

    def _counted_events(self, events: Iterator[Event]) -> list[Event]:
        some = [event if event.id else self._numbered(event) for event in events]
        self.summaries[-1].events += len(some)
        return some

    def _numbered(self, event: Event) -> Event:
        self._count += 1
        return replace(event, id=f"{self._id}.{self._count}")

    def _look_at_time(self, item: r.Record) -> None:
        time_us, line = getattr(item, "at", None), getattr(item, "line", 0)
        if time_us is not None and time_us + _CLOCK_TOLERANCE < self._newest and line:
            self.summaries[-1].problems.append(r.file_problem(line, "its time is before what stands above"))
        self._newest = max(self._newest, time_us or 0)

    def state(self) -> AssemblerState | None:
        """Return what is needed to go on from here; None while a call is open."""
        problems = sum(len(summary.problems) for summary in self.summaries)
        is_at_rest = self._id and not self._open and not self._early and self._held.is_empty
        if not is_at_rest or not self._count or problems > _MOST_STATE_PROBLEMS:
            return None
        if any(sanitize.sanitize_line(key) != key for key in self._keys):
            return None  # it would be kept
        return AssemblerState(
            session_id=self._id, count=self._count, turns=self._turns, round=self._round, calls=self._calls,
            turn=self._turn, provider=self._provider, model=self._model, has_title=self._has_title,
            is_closed=self._is_closed, first_command=self._first_command, last_usage=self._last_usage,
            last=self._last, newest=self._newest, keys=dict(self._keys),
            summaries=[
                replace(summary, problems=[_clean_problem(problem) for problem in summary.problems])
                for summary in self.summaries
            ],
        )  # fmt: skip

    def restore(self, state: AssemblerState) -> None:
        """Stand where an assembler stood that had taken the records which are now passed over."""
        self._begin(state.session_id)
        self._count, self._turns, self._round, self._calls = (
            state.count, state.turns, state.round, state.calls,
        )  # fmt: skip
        self._turn, self._provider, self._model = state.turn, state.provider, state.model
        self._has_title, self._is_closed = state.has_title, state.is_closed
        self._first_command, self._last_usage = state.first_command, state.last_usage
        self._last, self._newest, self._keys = state.last, state.newest, Counter(state.keys)
        self.summaries[:] = [replace(summary, problems=[*summary.problems]) for summary in state.summaries]

    def pass_over(self, item: r.Record) -> None:
        """Note what a record counts whose events are there: a later one may say it again."""
        if isinstance(item, r.SessionHead):
            self._counted = CountedUsage()
        elif isinstance(item, r.Reply):
            self._counted.pass_over(item)

    @property
    def strays(self) -> list[Problem]:
        """Return the problems of a file in which no session began."""
        return [item for item in self._early if isinstance(item, Problem)]

    def events_so_far(self) -> list[Event]:
        """Return what waits for the ends of calls; of each it is told now that it runs."""
        for call in self._open.values():
            if call.places:  # else its start is told later
                self._life.released(call)
        return self._counted_events(self._held.taken())

    def finish(self) -> list[Event]:
        """Return what closes the session that is open."""
        if not self._id:
            return []
        closing = [*self.events_so_far(), *self._counted_events(self._closing())]
        self._begin("")
        return closing

    # --- events -------------------------------------------------------------------------------------

    def _event(
        self, body: events.EventBody, actor: Actor, time_us: int | None, *, call: str | None = None,
        action: str | None = None, key: str | None = None,
    ) -> Event:  # fmt: skip
        self._last = time_us if time_us is not None else self._last
        return Event(
            id=f"{self._id}.{key}" if key else "", session_id=self._id, at=self._last, actor=actor, body=body,
            turn_id=self._turn, call_id=call, action_id=action, recorded_at=self._recorded_at,
        )  # fmt: skip

    def _head(self, head: r.SessionHead) -> Iterator[Event]:
        # Files that name no session are told apart by when they begin: two of them are two sessions.
        unnamed = "unnamed" if head.at is None else f"unnamed-{head.at}"
        key = self._unique_key(head.key or unnamed)
        self._begin(self._generation(imported_session_id(self._origin, key)))
        title = session_title(head.title)
        self.summaries.append(ImportSummary(session_id=self._id, key=key, title=title))
        if head.key and key != head.key:
            why = f"another session above has the id {sanitize.sanitize_line(head.key, 80)}; both are kept"
            self.summaries[-1].problems.append(r.file_problem(len(self.summaries), why))
        self._has_title = bool(title)
        self._provider, self._model = (
            sanitize.sanitize_line(head.provider, 120),
            sanitize.sanitize_line(head.model, 120),
        )
        facts: dict[str, Json] = {
            "format": self._origin, "id": sanitize.sanitize_line(key, 200), "read_as": READ_AS,
        }  # fmt: skip
        created = events.SessionCreated(
            session_kind="import", title=title, parent_id=self._parent(head),
            workspace=sanitize.sanitize_line(head.workspace, 4_000),
            provider=self._provider, model=self._model,
            system_prompt=sanitize.sanitize_text(head.system_prompt),
            telemetry_id=sanitize.sanitize_line(head.telemetry_id, 120),
            configuration={"import": {**facts, **sanitize.sanitize_object(head.facts)}}, origin=self._origin,
            origin_status=sanitize.sanitize_line(head.status, 80) if head.status else None,
            active_tools=tuple(sanitize.sanitize_line(tool, 120) for tool in head.active_tools[:_MOST_TOOLS]),
        )  # fmt: skip
        yield self._event(created, _SYSTEM, head.at)
        yield self._status("initializing")
        yield self._status("ready", key="ready")

    def _unique_key(self, key: str) -> str:
        self._keys[key] += 1
        return key if self._keys[key] == 1 else f"{key}#{self._keys[key]}"

    def _parent(self, head: r.SessionHead) -> str | None:
        return self._generation(imported_session_id(self._origin, head.parent)) if head.parent else None

    def _status(self, status: SessionStatus, key: str | None = None) -> Event:
        return self._event(events.SessionStatusChanged(status=status), _SYSTEM, None, key=key)

    def _record_events(self, item: r.Record) -> Iterator[Event]:
        match item:
            case r.Prompt():
                yield from self._prompt(item)
            case r.Reply():
                yield from self._reply(item)
            case r.CallResult():
                yield from self._result(item)
            case r.CallStart() | r.CallQuestion() | r.CallDecision():
                self._call_moved(item)
            case r.CallProgress():
                yield from self._progress(item)
            case r.TurnStop():
                yield from self._stop_events(item)
            case Problem():
                self.summaries[-1].problems.append(item)
            case _:
                yield from self._other_record_events(item)

    def _other_record_events(self, item: r.Record) -> Iterator[Event]:
        match item:
            case r.TitleChange(title=title, at=time_us):
                yield from self._title_events(title, time_us)
            case r.UsageRecord(usage=usage, is_last=is_last):
                self._last_usage = usage if is_last else Usage()
                yield from () if is_last else self._reply_events(r.Reply(usage=usage), usage)
            case r.ErrorRecord(code=code, message=message, at=time_us):
                body = events.ErrorRaised(
                    code=sanitize.sanitize_line(code, 80), message=sanitize.sanitize_text(message)
                )
                yield self._event(body, _SYSTEM, time_us)
            case r.UnmappedRecord():
                yield self._unmapped_event(item)
            case r.KeptRows():
                yield self._kept_event(item)
            case r.SessionEnd(is_failed=is_failed):
                self._is_closed = is_failed
            case _:
                return

    def _unmapped_event(self, item: r.UnmappedRecord) -> Event:
        if not item.is_understood:
            self.summaries[-1].kept += 1
            self.summaries[-1].problems.append(
                r.file_problem(item.line, f"not understood, kept as it is: {item.kind[:80]}")
            )
        name = sanitize.sanitize_line(item.kind, 80) or "record"
        kind = name if item.is_understood else f"{NOT_UNDERSTOOD}.{name}"
        content = sanitize.sanitize_record(item.content)
        body = events.Unknown(original_kind=f"{self._origin}.{kind}", content=content)
        return self._event(body, _SYSTEM, item.at)

    def _kept_event(self, item: r.KeptRows) -> Event:
        self._last_rows += item.is_last
        content = sanitize.sanitize_record(item.rows)
        body = events.Unknown(original_kind=f"{self._origin}.{item.part}", content=content)
        return self._event(body, _SYSTEM, None, key=f"end.rows{self._last_rows}" if item.is_last else None)

    def _title_events(self, title: str, time_us: int | None) -> Iterator[Event]:
        line = session_title(title)
        if line and line != self.summaries[-1].title:
            self.summaries[-1].title, self._has_title = line, True
            yield self._event(events.SessionChanged(title=line), _SYSTEM, time_us)

    # --- turns --------------------------------------------------------------------------------------

    def _empty_message(self, kind: str, time_us: int | None, line: int) -> Event:
        """Keep a message in which nothing was found: what it said stands where nobody looked."""
        return self._unmapped_event(
            r.UnmappedRecord(f"{kind} without words", at=time_us, line=line, is_understood=False)
        )

    def _prompt(self, item: r.Prompt) -> Iterator[Event]:
        if not item.text.strip():
            yield self._empty_message("prompt", item.at, item.line)
            return
        yield from self._end_turn("done")
        text = sanitize.sanitize_text(item.text)
        if not self._has_title and is_command(text):
            self._first_command = self._first_command or text
        elif not self._has_title:
            yield from self._title_events(text, item.at)
        yield self._event(events.PromptSubmitted(text=text), _USER, item.at)

    def _reply(self, item: r.Reply) -> Iterator[Event]:
        if r.is_empty_reply(item):
            yield self._empty_message("reply", item.at, item.line)
        elif (usage := self._counted.add(item, self._id, self._is_paid)) is not None:
            yield from self._reply_events(item, usage)

    def _reply_events(self, item: r.Reply, usage: Usage, key: str | None = None) -> Iterator[Event]:
        self._last = item.at if item.at is not None else self._last
        model = sanitize.sanitize_line(item.model, 120) or self._model
        if self._turn is None:
            self._turns, self._round = self._turns + 1, 0
            self._turn = f"{self._id}.turn{self._turns}"
        self._round += 1
        started = events.TurnStarted(provider=self._provider, model=model, round=self._round)
        yield self._event(started, _AGENT, item.at, key=key and f"{key}.started")
        if self._round == 1:
            yield self._status("processing", key=f"{key or f'turn{self._turns}'}.processing")
        body = events.ReplyCompleted(
            text=sanitize.sanitize_text(item.text), thinking=sanitize.sanitize_text(item.thinking),
            usage=usage, model=model,
            calls=tuple(self._reply_call(call) for call in item.calls), round=self._round,
        )  # fmt: skip
        yield self._event(body, _AGENT, item.at, key=key)
        for call in self._open.values():
            if not call.places and not call.asked.starts_later:
                self._place(call, "proposed", self._last)

    def _reply_call(self, call: r.ToolCall) -> ReplyCall:
        self._calls += 1
        key = f"{self._id}.call{self._calls}"
        if call.id in self._open:
            # An id that comes twice names the newer call; the older one stays without a result.
            self._open[f"{call.id}\0{self._calls}"] = self._open.pop(call.id)
        # Whole in the reply, so that an export loses nothing; short where they stand once more.
        arguments = sanitize.sanitize_object(call.arguments, sanitize.MOST_TEXT)
        self._open[call.id] = OpenCall(key, call, sanitize.short_object(arguments), self._last, self._turn)
        return ReplyCall(
            call_id=key, provider_call_id=sanitize.sanitize_line(call.id, 200),
            tool=sanitize.sanitize_line(call.tool, 120),
            arguments=arguments,
        )  # fmt: skip

    def _stop_events(self, item: r.TurnStop) -> Iterator[Event]:
        for name in list(self._open):
            yield from self._result(
                r.CallResult(call=name, state="cancelled", error="the turn was stopped", at=item.at)
            )
        yield from self._end_turn(item.outcome, sanitize.sanitize_line(item.detail), item.at)

    def _end_turn(
        self, outcome: str, detail: str = "", time_us: int | None = None, key: str | None = None
    ) -> Iterator[Event]:
        if self._turn is None:
            return
        body = events.TurnEnded(outcome=outcome, detail=detail)  # type: ignore[arg-type]
        yield self._event(body, _AGENT, time_us, key=key)
        self._turn = None
        yield self._status("ready", key=f"{key or f'turn{self._turns}'}.ready")

    def _closing(self) -> Iterator[Event]:
        for call in self._open.values():
            yield from self._life.lost(call, self._last)
        self._open.clear()
        if self._last_usage != Usage():
            yield from self._reply_events(r.Reply(usage=self._last_usage), self._last_usage, key="end.usage")
        if not self._has_title and (line := session_title(self._first_command)):
            self.summaries[-1].title = line
            yield self._event(events.SessionChanged(title=line), _SYSTEM, None, key="end.title")
        yield from self._end_turn("done", key=f"end.turn{self._turns}")
        if self._is_closed:
            # Only what is at work can fail.
            yield self._status("processing", key="end.processing")
        yield self._status("failed" if self._is_closed else "completed", key="end.status")

    # --- calls --------------------------------------------------------------------------------------

    def _place(self, call: OpenCall, name: str, time_us: int | None) -> None:
        """Hold a place open for what is said of a call; a time before what stands above is none."""
        self._last = self._last if time_us is None else max(time_us, self._last)
        if name not in call.places:
            call.places[name] = self._held.open(call.id, self._last)

    def _release(self, call_id: str) -> None:
        for call in self._open.values():
            if call.id == call_id:
                self._life.released(call)

    def _call_moved(self, item: r.CallStart | r.CallQuestion | r.CallDecision) -> None:
        call = self._open.get(item.call)
        if call is None:
            return
        if not call.places:
            self._place(call, "proposed", item.at)
            call.at = self._last
        match item:
            case r.CallQuestion():
                call.question = call.question or item
                if early := call.places.pop("executing", None):
                    # It waits for an answer, so it did not run before.
                    early.is_open = False
                self._place(call, "opened", item.at)
            case r.CallDecision():
                call.decision = item
                self._place(call, "decided", item.at)
            case r.CallStart():
                self._place(call, "executing", item.at)

    def _progress(self, item: r.CallProgress) -> Iterator[Event]:
        call = self._open.get(item.call)
        if call is None:
            yield self._unmapped_event(r.UnmappedRecord(f"{item.kind}_progress", item.content, item.at))
            return
        call.progress[item.kind] += 1
        if call.question is None and item.kind != "hook":
            # It runs, so nothing about it can still be asked; hooks speak before that.
            self._life.released(call)
        if text := sanitize.sanitize_text(item.text, MOST_INLINE):
            body = events.OutputStreamed(offset=call.shown_output, text=text)
            call.shown_output += len(text)
            yield self._event(body, _TOOL, item.at, call=call.id)

    def _result(self, item: r.CallResult) -> Iterator[Event]:
        call = self._open.pop(item.call, None)
        if call is None:
            why = f"a result of {item.call[:80] or 'no call'}, which nothing asked for"
            self.summaries[-1].problems.append(r.file_problem(item.line, why))
            record = r.UnmappedRecord("result", {"call": item.call, "text": item.text}, item.at)
            yield self._unmapped_event(record)
            return
        self._last = item.at if item.at is not None else self._last
        if not call.places:
            self._place(call, "proposed", None)
        child = self._generation(imported_session_id(self._origin, item.child)) if item.child else ""
        yield from self._life.ended(call, item, self._last, child)


def _clean_problem(problem: Problem) -> Problem:
    return r.file_problem(problem.line, sanitize.sanitize_line(problem.message))


def session_title(text: str) -> str:
    """Return the title that a text gives a session: its beginning, or an empty string."""
    line = sanitize.sanitize_line(text, _MOST_TITLE)
    return "" if _NO_TITLE.fullmatch(line) else line


def is_command(prompt: str) -> bool:
    """Return whether a prompt is a command of the agent's program, not a task."""
    return bool(_COMMAND.match(prompt))
