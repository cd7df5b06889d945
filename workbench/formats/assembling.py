"""Events of ours out of what a reader says: one session after another, the same ids every time.

Pure but for `store`, which keeps large outputs. Owns how a foreign history becomes turns, calls, questions
and file changes that our machines allow. Everything is scrubbed here; nothing is ever run.
"""

import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from workbench.domain import events as e
from workbench.domain.events import Body, Event
from workbench.domain.machines import SessionStatus
from workbench.domain.values import Actor, Json, ReplyCall, Usage
from workbench.formats import cleaning, foreign
from workbench.formats.calls import CallLife, OpenCall, Store
from workbench.formats.foreign import Asked, Decision, Head, Item, Prompt, Reply, Result

_SPACE: Final = uuid.UUID("6f9a1a2e-5d7e-5c0b-9f36-3a1c0e5b7d11")
_TITLE: Final = 80
_JITTER: Final = 2_000_000
"""Microseconds that records may be out of order: several writers share a file."""
_AGENT: Final = Actor(kind="agent")
_USER: Final = Actor(kind="user", via="import")
_SYSTEM: Final = Actor(kind="system", via="import")

Generation = Callable[[str], str]
"""Turns the id that a session would get into the one that it gets; ids of deleted ones are not used again."""


def session_key(origin: str, key: str) -> str:
    """Return the id that a foreign session has here, the same each time."""
    return str(uuid.uuid5(_SPACE, f"{origin}\0{key}"))


@dataclass(slots=True)
class Summary:
    """What came of one session."""

    session_id: str
    key: str
    title: str = ""
    events: int = 0
    kept: int = 0
    """Records that were not understood."""
    problems: list[foreign.Problem] = field(default_factory=list[foreign.Problem])


class Assembler:
    """Takes the items of one file and gives back events."""

    def __init__(
        self,
        origin: str,
        at: int,
        store: Store,
        generation: Generation = lambda session_id: session_id,
        recorded_at: int | None = None,
    ) -> None:
        """Begin a file.

        Args:
            origin: The name of its format.
            at: The time of what has none, microseconds.
            store: Keeps the bytes of a large output; None where nothing is to be kept.
            generation: See `Generation`.
            recorded_at: When this is taken in, microseconds; None leaves it to the journal.
        """
        self._origin, self._now, self._generation = origin, at, generation
        self._recorded_at, self._life = recorded_at, CallLife(origin, store)
        self.summaries: list[Summary] = []
        self._keys = Counter[str]()
        self._early: list[Item] = []
        self._begin("")

    def _begin(self, session_id: str) -> None:
        self._id, self._count, self._turns, self._round, self._calls = session_id, 0, 0, 0, 0
        self._turn: str | None = None
        self._open: dict[str, OpenCall] = {}
        self._counted: dict[str, Usage] = {}
        self._provider = self._model = ""
        self._has_title = self._is_closed = False
        self._last = self._now
        self._newest = 0

    def take(self, item: Item) -> list[Event]:
        """Return the events of one item; what comes before the first `Head` waits for it."""
        if isinstance(item, Head):
            made = [*self.finish(), *self._head(item)]
            early, self._early = self._early, []
            return [*made, *(event for one in early for event in self.take(one))]
        if not self._id:
            self._early.append(item)
            return []
        self._look_at_time(item)
        return list(self._taken(item))

    def _look_at_time(self, item: Item) -> None:
        at, line = getattr(item, "at", None), getattr(item, "line", 0)
        if at is not None and at + _JITTER < self._newest and line:
            self.summaries[-1].problems.append(
                foreign.Problem(line=line, why="its time is before what stands above")
            )
        self._newest = max(self._newest, at or 0)

    @property
    def strays(self) -> list[foreign.Problem]:
        """Return the problems of a file in which no session began."""
        return [item for item in self._early if isinstance(item, foreign.Problem)]

    def finish(self) -> list[Event]:
        """Return what closes the session that is open."""
        if not self._id:
            return []
        made = list(self._closing())
        self._begin("")
        return made

    # --- events -------------------------------------------------------------------------------------

    def _event(
        self, body: Body, actor: Actor, at: int | None, *, call: str | None = None,
        action: str | None = None, key: str | None = None,
    ) -> Event:  # fmt: skip
        self._count += key is None
        self._last = at if at is not None else self._last
        self.summaries[-1].events += 1
        return Event(
            id=f"{self._id}.{key or self._count}", session_id=self._id, at=self._last, actor=actor, body=body,
            turn_id=self._turn, call_id=call, action_id=action, recorded_at=self._recorded_at,
        )  # fmt: skip

    def _head(self, head: Head) -> Iterator[Event]:
        key = self._alone(head.key or "unnamed")
        self._begin(self._generation(session_key(self._origin, key)))
        title = cleaning.line(head.title, _TITLE)
        self.summaries.append(Summary(session_id=self._id, key=key, title=title))
        if head.key and key != head.key:
            why = f"another session above has the id {cleaning.line(head.key, 80)}; both are kept"
            self.summaries[-1].problems.append(foreign.Problem(line=len(self.summaries), why=why))
        self._has_title = bool(title)
        self._provider, self._model = cleaning.line(head.provider, 120), cleaning.line(head.model, 120)
        facts: dict[str, Json] = {"format": self._origin, "id": cleaning.line(key, 200)}
        created = e.SessionCreated(
            session_kind="import", title=title, parent_id=self._parent(head),
            workspace=cleaning.line(head.workspace, 4_000),
            provider=self._provider, model=self._model, system_prompt=cleaning.clean(head.system_prompt),
            configuration={"import": {**facts, **cleaning.members(head.facts)}}, origin=self._origin,
            origin_status=cleaning.line(head.status, 80) if head.status else None,
        )  # fmt: skip
        yield self._event(created, _SYSTEM, head.at)
        yield self._status("initializing")
        yield self._status("ready", key="ready")

    def _alone(self, key: str) -> str:
        """Return a key that no session above in this file has: attempts of one task may share theirs."""
        self._keys[key] += 1
        return key if self._keys[key] == 1 else f"{key}#{self._keys[key]}"

    def _parent(self, head: Head) -> str | None:
        return self._generation(session_key(self._origin, head.parent)) if head.parent else None

    def _status(self, status: SessionStatus, key: str | None = None) -> Event:
        return self._event(e.SessionStatusChanged(status=status), _SYSTEM, None, key=key)

    def _taken(self, item: Item) -> Iterator[Event]:
        match item:
            case Prompt():
                yield from self._prompt(item)
            case Reply():
                yield from self._reply(item)
            case Result():
                yield from self._result(item)
            case Decision():
                self._decided(item)
            case foreign.Stopped():
                yield from self._stopped(item)
            case foreign.Problem():
                self.summaries[-1].problems.append(item)
            case _:
                yield from self._aside(item)

    def _aside(self, item: Item) -> Iterator[Event]:
        match item:
            case foreign.Titled(title=title, at=at):
                yield from self._titled(title, at)
            case foreign.Spent(usage=usage):
                yield from self._spoken(Reply(usage=usage), usage)
            case foreign.Failure(code=code, message=message, at=at):
                body = e.ErrorRaised(code=cleaning.line(code, 80), message=cleaning.clean(message, 8_000))
                yield self._event(body, _SYSTEM, at)
            case foreign.Kept():
                yield self._kept(item)
            case foreign.Closed(is_failed=is_failed):
                self._is_closed = is_failed
            case _:
                return

    def _kept(self, item: foreign.Kept) -> Event:
        if not item.is_understood:
            self.summaries[-1].kept += 1
            self.summaries[-1].problems.append(
                foreign.Problem(line=item.line, why=f"not understood, kept as it is: {item.kind[:80]}")
            )
        body = e.Unknown(
            original_kind=f"{self._origin}.{cleaning.line(item.kind, 80) or 'record'}",
            content=cleaning.value(item.content),
        )
        return self._event(body, _SYSTEM, item.at)

    def _titled(self, title: str, at: int | None) -> Iterator[Event]:
        found = cleaning.line(title, _TITLE)
        if found and found != self.summaries[-1].title:
            self.summaries[-1].title, self._has_title = found, True
            yield self._event(e.SessionChanged(title=found), _SYSTEM, at)

    # --- turns --------------------------------------------------------------------------------------

    def _prompt(self, item: Prompt) -> Iterator[Event]:
        yield from self._end_turn("done")
        text = cleaning.clean(item.text)
        if not self._has_title:
            yield from self._titled(text, item.at)
        yield self._event(e.PromptSubmitted(text=text), _USER, item.at)

    def _reply(self, item: Reply) -> Iterator[Event]:
        usage = item.usage
        if item.key:
            before = self._counted.get(item.key, Usage())
            usage = Usage(
                input_tokens=max(0, usage.input_tokens - before.input_tokens),
                output_tokens=max(0, usage.output_tokens - before.output_tokens),
            )
            self._counted[item.key] = before.plus(usage)
        yield from self._spoken(item, usage)

    def _spoken(self, item: Reply, usage: Usage) -> Iterator[Event]:
        self._last = item.at if item.at is not None else self._last
        model = cleaning.line(item.model, 120) or self._model
        if self._turn is None:
            self._turns, self._round = self._turns + 1, 0
            self._turn = f"{self._id}.turn{self._turns}"
        self._round += 1
        started = e.TurnStarted(provider=self._provider, model=model, round=self._round)
        yield self._event(started, _AGENT, item.at)
        if self._round == 1:
            yield self._status("processing", key=f"turn{self._turns}.processing")
        body = e.ReplyCompleted(
            text=cleaning.clean(item.text), thinking=cleaning.clean(item.thinking), usage=usage, model=model,
            calls=tuple(self._asked(call) for call in item.calls), round=self._round,
        )  # fmt: skip
        yield self._event(body, _AGENT, item.at)

    def _asked(self, asked: Asked) -> ReplyCall:
        self._calls += 1
        key = f"{self._id}.call{self._calls}"
        if asked.id in self._open:
            # An id that comes twice names the newer call; the older one stays without a result.
            self._open[f"{asked.id}\0{self._calls}"] = self._open.pop(asked.id)
        arguments = cleaning.members(asked.arguments)
        self._open[asked.id] = OpenCall(key, asked, arguments, self._last)
        return ReplyCall(
            call_id=key, provider_call_id=cleaning.line(asked.id, 200), tool=cleaning.line(asked.tool, 120),
            arguments=arguments,
        )  # fmt: skip

    def _stopped(self, item: foreign.Stopped) -> Iterator[Event]:
        for name in list(self._open):
            yield from self._result(
                Result(call=name, state="cancelled", error="the turn was stopped", at=item.at)
            )
        yield from self._end_turn(item.outcome, cleaning.line(item.detail), item.at)

    def _end_turn(
        self, outcome: str, detail: str = "", at: int | None = None, key: str | None = None
    ) -> Iterator[Event]:
        if self._turn is None:
            return
        body = e.TurnEnded(outcome=outcome, detail=detail)  # type: ignore[arg-type]
        yield self._event(body, _AGENT, at, key=key)
        self._turn = None
        yield self._status("ready", key=f"{key or f'turn{self._turns}'}.ready")

    def _closing(self) -> Iterator[Event]:
        for name, call in list(self._open.items()):
            lost = Result(call=name, state="interrupted", error="the file holds no result of this call")
            yield from self._answered(call, lost, prefix=f"end.{call.id.rpartition('.')[2]}")
        self._open.clear()
        yield from self._end_turn("done", key=f"end.turn{self._turns}")
        if self._is_closed:
            # Only what is at work can fail.
            yield self._status("processing", key="end.processing")
        yield self._status("failed" if self._is_closed else "completed", key="end.status")

    # --- calls --------------------------------------------------------------------------------------

    def _decided(self, item: Decision) -> None:
        if call := self._open.get(item.call):
            call.decision = item

    def _result(self, item: Result) -> Iterator[Event]:
        call = self._open.pop(item.call, None)
        if call is None:
            why = f"a result of {item.call[:80] or 'no call'}, which nothing asked for"
            self.summaries[-1].problems.append(foreign.Problem(line=item.line, why=why))
            kept = foreign.Kept(kind="result", content={"call": item.call, "text": item.text}, at=item.at)
            yield self._kept(kept)
            return
        yield from self._answered(call, item)

    def _answered(self, call: OpenCall, item: Result, prefix: str = "") -> Iterator[Event]:
        made = list(self._life.of(call, item))
        for number, (body, actor, action) in enumerate(made):
            key = f"{prefix}.{number}" if prefix else None
            is_end = isinstance(body, e.CallFinished)
            yield self._event(body, actor, item.at if is_end else None, call=call.id, action=action, key=key)
