"""Recordings of replies (DESIGN section 9): read and check one, play it as a provider, write one.

Reading guesses nothing. The request says which exchanges were used, so any driver goes on where another
stopped. Writing replaces secrets first.
"""

# Recordings may have `stop` (`length`, `filtered`), and `remedy` and `recoverable` in an `error`, so that
# what `--record` writes plays again with the same events.

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Final, NoReturn, cast, get_args

from msgspec import Struct

from workbench.config.keys import RECORDED
from workbench.domain.messages import (
    ExchangePart,
    FailurePart,
    Message,
    ModelRequest,
    OpaquePart,
    ProgressPart,
    ReplyPart,
    ResultOutcome,
    StopPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UsagePart,
)
from workbench.domain.values import Usage
from workbench.providers.base import Endpoint, ListedModel, ProbeResult, Provider
from workbench.secrets.scrubber import scrub, scrub_value
from workbench.text.json_nodes import JsonError, parse_json_nodes
from workbench.text.located import DocumentPlace
from workbench.text.problems import ProblemReport

RECORDING_VERSION: Final = 1
MAX_RECORDING_BYTES: Final = 64 * 1024 * 1024
MAX_WAIT_MS: Final = 3_600_000
Sleep = Callable[[float], Awaitable[None]]
PlayedPart = TextPart | ThinkingPart | ToolCallPart | UsagePart | StopPart | FailurePart


class RecordingBroken(Exception):
    """A recording cannot be used: file, line (0: not read), key (empty: the whole document), and why."""

    def __init__(self, path: Path, line: int, key: str, why: str) -> None:
        location = [f"line {line}"] if line else []
        where = ", ".join([*location, key] if key else location)
        super().__init__(f"the recording {path} cannot be played: {where + ': ' if where else ''}{why}")
        self.path, self.line, self.key, self.why = path, line, key, why


class ExchangeCondition(Struct, frozen=True, kw_only=True):
    """A condition on what was sent since the last reply; every part that is given must hold."""

    tool_result_id: str | None = None
    has_tool_result: bool = False
    outcome: ResultOutcome | None = None
    contains: str | None = None
    prompt_contains: str | None = None


class TimedPart(Struct, frozen=True, kw_only=True):
    """A part of a reply and how long to wait before it."""

    part: PlayedPart
    after_ms: float = 0


class Exchange(Struct, frozen=True, kw_only=True):
    """One reply, the condition for its being the next, and what must then be so."""

    index: int
    """From 0; events name exchanges by it."""
    line: int
    reply: tuple[TimedPart, ...]
    when: ExchangeCondition | None = None
    expect: ExchangeCondition | None = None


class Recording(Struct, frozen=True, kw_only=True):
    """A whole recording."""

    path: Path
    model: str
    exchanges: tuple[Exchange, ...]
    sha256: str
    """Hex digest of the file, for the session's configuration."""


def load_recording(path: str | Path) -> Recording:
    """Read and check a recording. Raises RecordingBroken: the file cannot be read or is no recording."""
    path = Path(path)
    data = _recording_bytes(path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RecordingBroken(path, line, "", "the file is not UTF-8") from None
    try:
        root = parse_json_nodes(text)
    except JsonError as error:
        raise RecordingBroken(path, error.line, "", error.reason) from None
    place = DocumentPlace(report=ProblemReport(), file=str(path), node=root)
    top = _members(place, ("recording", "exchanges"), ("model",))
    if _whole(top["recording"]) != RECORDING_VERSION:
        _refuse(top["recording"], f"this version reads recordings of version {RECORDING_VERSION}")
    return Recording(
        path=path,
        model=_text(top["model"]) if "model" in top else RECORDED.name,
        exchanges=tuple(_read_exchange(number, item) for number, item in enumerate(_items(top["exchanges"]))),
        sha256=hashlib.sha256(data).hexdigest(),
    )


def _recording_bytes(path: Path) -> bytes:
    try:
        if not path.is_file():
            raise RecordingBroken(
                path, 0, "", "there is no such file" if not path.exists() else "it is no file"
            )
        if path.stat().st_size > MAX_RECORDING_BYTES:
            raise RecordingBroken(path, 0, "", f"it is larger than {MAX_RECORDING_BYTES // 1024 // 1024} MB")
        return path.read_bytes()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise RecordingBroken(path, 0, "", f"it cannot be read: {why}") from None


def _refuse(place: DocumentPlace, why: str) -> NoReturn:
    raise RecordingBroken(Path(place.file), place.own_key().node.line, place.path, why)


def _members(
    place: DocumentPlace, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> dict[str, DocumentPlace]:
    if place.node.members is None:
        _refuse(place, "an object is needed here")
    members = dict(place.members())
    known = (*required, *optional)
    for name, member in members.items():
        if name not in known:
            _refuse(member, f"unknown key; known here: {', '.join(known)}")
    for name in required:
        if name not in members:
            _refuse(place, f'the key "{name}" is missing')
    return members


def _items(place: DocumentPlace) -> list[DocumentPlace]:
    if place.node.items is None:
        _refuse(place, "an array is needed here")
    return list(place.items())


def _text(place: DocumentPlace) -> str:
    value = place.node.value
    return value if isinstance(value, str) else _refuse(place, "a text is needed here")


def _name(place: DocumentPlace) -> str:
    return _text(place) or _refuse(place, "the text is empty")


def _number(place: DocumentPlace, largest: float | None = None) -> float:
    value = place.node.value
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        _refuse(place, "a number from 0 is needed here")
    if largest is not None and value > largest:
        _refuse(place, f"{largest} is the largest number here")
    return value


def _flag(place: DocumentPlace) -> bool:
    value = place.node.value
    return value if isinstance(value, bool) else _refuse(place, "true or false is needed here")


def _whole(place: DocumentPlace) -> int:
    value = place.node.value
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        _refuse(place, "a whole number from 0 is needed here")
    return value


def _read_exchange(number: int, place: DocumentPlace) -> Exchange:
    members = _members(place, ("reply",), ("when", "expect"))
    parts = _items(members["reply"])
    reply = tuple(_read_timed_part(part, is_last=part is parts[-1]) for part in parts)
    _refuse_repeated_ids(parts, reply)
    return Exchange(
        index=number,
        line=place.node.line,
        reply=reply,
        when=_read_condition(members["when"]) if "when" in members else None,
        expect=_read_condition(members["expect"]) if "expect" in members else None,
    )


def _refuse_repeated_ids(places: list[DocumentPlace], reply: tuple[TimedPart, ...]) -> None:
    ids: set[str] = set()
    for place, timed in zip(places, reply, strict=True):
        if not isinstance(timed.part, ToolCallPart):
            continue
        if timed.part.id in ids:
            _refuse(place, f'the call id "{timed.part.id}" is there twice in one reply')
        ids.add(timed.part.id)


def _read_condition(place: DocumentPlace) -> ExchangeCondition:
    members = _members(place, (), ("tool_result", "prompt_contains"))
    if not members:
        _refuse(place, "a condition is needed here: tool_result or prompt_contains")
    prompt = _text(members["prompt_contains"]) if "prompt_contains" in members else None
    if "tool_result" not in members:
        return ExchangeCondition(prompt_contains=prompt)
    facts = _members(members["tool_result"], (), ("id", "outcome", "contains"))
    return ExchangeCondition(
        has_tool_result=True,
        tool_result_id=_name(facts["id"]) if "id" in facts else None,
        outcome=_read_outcome(facts["outcome"]) if "outcome" in facts else None,
        contains=_text(facts["contains"]) if "contains" in facts else None,
        prompt_contains=prompt,
    )


def _read_outcome(place: DocumentPlace) -> ResultOutcome:
    known = get_args(ResultOutcome)
    if _text(place) not in known:
        _refuse(place, f"unknown outcome; known: {', '.join(known)}")
    return cast("ResultOutcome", _text(place))


def _read_timed_part(place: DocumentPlace, *, is_last: bool) -> TimedPart:
    members = _members(place, (), (*_PART_READERS, "after_ms"))
    kinds = [name for name in members if name in _PART_READERS]
    if len(kinds) != 1:
        _refuse(place, f"exactly one of {', '.join(_PART_READERS)} is needed here")
    if kinds[0] == "error" and not is_last:
        _refuse(members["error"], "nothing can follow an error")
    wait = _number(members["after_ms"], MAX_WAIT_MS) if "after_ms" in members else 0
    return TimedPart(part=_PART_READERS[kinds[0]](members[kinds[0]]), after_ms=wait)


def _read_tool_call(place: DocumentPlace) -> ToolCallPart:
    members = _members(place, ("id", "name"), ("arguments",))
    return ToolCallPart(
        id=_name(members["id"]),
        name=_name(members["name"]),
        arguments=_read_arguments(members["arguments"]) if "arguments" in members else "{}",
    )


def _read_arguments(place: DocumentPlace) -> str:
    if isinstance(place.node.value, str):
        return place.node.value
    if place.node.members is None:
        _refuse(place, "an object or a text is needed here")
    return json.dumps(place.node.value, ensure_ascii=False)


def _read_usage(place: DocumentPlace) -> UsagePart:
    members = _members(place, (), ("input_tokens", "output_tokens"))
    return UsagePart(usage=Usage(**{name: _whole(count) for name, count in members.items()}))


def _read_failure(place: DocumentPlace) -> FailurePart:
    members = _members(place, ("message",), ("status", "retry_after_s", "code", "remedy", "recoverable"))
    status = _whole(members["status"]) if "status" in members else None
    return FailurePart(
        code=_name(members["code"])
        if "code" in members
        else f"http_{status}"
        if status
        else "provider_error",
        message=_text(members["message"]),
        remedy=_text(members["remedy"]) if "remedy" in members else "",
        status=status,
        retry_after_s=_number(members["retry_after_s"]) if "retry_after_s" in members else None,
        recoverable=_flag(members["recoverable"])
        if "recoverable" in members
        else _is_recoverable_status(status),
    )


def _is_recoverable_status(status: int | None) -> bool:
    return status is None or status in (408, 409, 425, 429) or status >= 500


_STOP_PARTS: Final = {
    "length": StopPart(reason="length"), "filtered": StopPart(reason="filtered"),
    "calls": StopPart(reason="calls"), "size": StopPart(reason="size"), "time": StopPart(reason="time"),
    "input": StopPart(reason="input"),
}  # fmt: skip


def _read_stop(place: DocumentPlace) -> StopPart:
    stop = _STOP_PARTS.get(_text(place))
    return stop or _refuse(place, "unknown reason; known: length, filtered")


_PART_READERS: Final[dict[str, Callable[[DocumentPlace], PlayedPart]]] = {
    "thinking": lambda place: ThinkingPart(text=_text(place)),
    "text": lambda place: TextPart(text=_text(place)),
    "tool_call": _read_tool_call,
    "usage": _read_usage,
    "stop": _read_stop,
    "error": _read_failure,
}
_MAX_QUOTE = 200


class RecordedProvider:
    """Plays one recording."""

    def __init__(self, recording: Recording, sleep: Sleep = asyncio.sleep) -> None:
        self.recording = recording
        self._sleep = sleep

    @property
    def name(self) -> str:
        return RECORDED.name

    @property
    def endpoint(self) -> None:
        return None

    async def list_models(self, seconds: float) -> tuple[ListedModel, ...]:
        del seconds
        return (ListedModel(id=self.recording.model),)

    async def describe_models(self, seconds: float) -> tuple[ListedModel, ...]:
        return await self.list_models(seconds)

    async def context_tokens(self, model: str, seconds: float) -> int | None:
        del model, seconds
        return None

    async def probe(self, model: str, seconds: float) -> ProbeResult:
        del model, seconds
        why = f"the provider {self.name} plays a recording and asks no model"
        return ProbeResult(failure=FailurePart(code="no_model", message=why, recoverable=False))

    async def reply(self, request: ModelRequest) -> AsyncGenerator[ReplyPart, None]:
        exchange = self._next(request)
        if exchange is None:
            yield self._exhausted(request)
            return
        yield ExchangePart(exchange=exchange.index)
        if exchange.expect is not None and not is_condition_met(exchange.expect, request.fresh):
            yield self._mismatch(exchange, exchange.expect, request.fresh)
            return
        for timed in exchange.reply:
            if timed.after_ms:
                await self._sleep(timed.after_ms / 1000)
            yield timed.part

    def _next(self, request: ModelRequest) -> Exchange | None:
        unused = (e for e in self.recording.exchanges if e.index not in request.used_exchanges)
        return next((e for e in unused if e.when is None or is_condition_met(e.when, request.fresh)), None)

    def _exhausted(self, request: ModelRequest) -> FailurePart:
        total = len(self.recording.exchanges)
        used = sum(exchange.index in request.used_exchanges for exchange in self.recording.exchanges)
        unmatched = f"; no other exchange is for {_messages_in_words(request.fresh)}" if used < total else ""
        return FailurePart(
            code="recording_exhausted",
            message=f"recording exhausted ({used} of {total}){unmatched}",
            remedy=f"add an exchange to {self.recording.path}, or start a new session",
            recoverable=False,
        )

    def _mismatch(
        self, exchange: Exchange, expected: ExchangeCondition, fresh: tuple[Message, ...]
    ) -> FailurePart:
        return FailurePart(
            code="recording_mismatch",
            message=f"the recording expected {' and '.join(_condition_clauses(expected))},"
            f" but was sent {_messages_in_words(fresh)}",
            remedy=f"see exchange {exchange.index + 1} in line {exchange.line} of {self.recording.path}",
            recoverable=False,
        )


def is_condition_met(match: ExchangeCondition, fresh: tuple[Message, ...]) -> bool:
    """Return whether a condition holds for what was sent since the last reply."""
    if match.has_tool_result and not any(_is_matching_result(match, message) for message in fresh):
        return False
    expected = match.prompt_contains
    return expected is None or any(m.role == "user" and expected in m.content for m in fresh)


def _is_matching_result(match: ExchangeCondition, message: Message) -> bool:
    return (
        message.role == "tool"
        and match.tool_result_id in (None, message.tool_call_id)
        and match.outcome in (None, message.outcome)
        and (match.contains is None or match.contains in message.content)
    )


def _condition_clauses(match: ExchangeCondition) -> Iterator[str]:
    if match.has_tool_result:
        facts = ["a result", f"of call {match.tool_result_id}" if match.tool_result_id else ""]
        facts += [f"that is {match.outcome}" if match.outcome else ""]
        facts += [f'containing "{match.contains}"' if match.contains is not None else ""]
        yield " ".join(fact for fact in facts if fact)
    if match.prompt_contains is not None:
        yield f'a prompt containing "{match.prompt_contains}"'


def _messages_in_words(fresh: tuple[Message, ...]) -> str:
    return "; ".join(map(_message_in_words, fresh)) or "nothing new"


def _message_in_words(message: Message) -> str:
    content = message.content if len(message.content) <= _MAX_QUOTE else f"{message.content[:_MAX_QUOTE]}…"
    if message.role == "tool":
        return f'the result of call {message.tool_call_id} that is {message.outcome}: "{content}"'
    return f'the prompt "{content}"'


_JOIN_SECONDS: Final = 0.05
"""Pieces of one text that come closer than this are written as one: no eye could tell."""
WriteBytes = Callable[[bytes], None]
RecordedItem = dict[str, object]


class ReplyRecorder:
    """Keeps the exchanges of one run and writes them whole after each."""

    def __init__(
        self, write: WriteBytes, clock: Callable[[], float] = time.monotonic, *, has_sessions: bool = False
    ) -> None:
        """Start a recording; `write` puts all bytes of the file in its place, `clock` gives seconds.

        `has_sessions`: several sessions are recorded, each of which plays the file from its beginning, so
        every exchange says what it answers.
        """
        self._write, self._clock, self._has_sessions = write, clock, has_sessions
        self._exchanges: list[RecordedItem] = []
        self._session_by_call: dict[str, str] = {}
        """The session that used the id of a call first."""

    def recorded_provider(self, provider: Provider) -> Provider:
        return _RecordingProvider(provider, self)

    async def replied(self, provider: Provider, request: ModelRequest) -> AsyncGenerator[ReplyPart, None]:
        """Pass a reply on and keep it; one that was cancelled is kept as far as it came."""
        recorder = _ExchangeRecorder(self._clock, lambda call: self._unique_call(request.session_id, call))
        try:
            async with aclosing(provider.reply(request)) as parts:
                async for part in parts:
                    recorder.take(part)
                    yield part
        finally:
            self._exchanges.append({**self._condition(request), "reply": recorder.items()})
            self._exchanges.sort(key=lambda exchange: self._has_sessions and "when" not in exchange)
            document = {"recording": RECORDING_VERSION, "model": request.model, "exchanges": self._exchanges}
            self._write(json.dumps(document, ensure_ascii=False, indent=1).encode("utf-8", "replace") + b"\n")

    def _unique_call(self, session_id: str, call: str) -> str:
        """Return an id of a call that no other session of the recording has."""
        text = scrub(call).text
        if not self._has_sessions or self._session_by_call.setdefault(text, session_id) == session_id:
            return text
        return f"{text}-{session_id[-8:]}"

    def _condition(self, request: ModelRequest) -> RecordedItem:
        """Return what an exchange answers: the last result of a call, else the prompt."""
        if not self._has_sessions or not request.fresh:
            return {}
        results = [message for message in request.fresh if message.role == "tool"]
        if results and (call := results[-1].tool_call_id):
            return {"when": {"tool_result": {"id": self._unique_call(request.session_id, call)}}}
        prompts = [message.content for message in request.fresh if message.role == "user"]
        return {"when": {"prompt_contains": _text_without_secrets(prompts[-1])}} if prompts else {}


def _text_without_secrets(prompt: str) -> str:
    """Return a prompt, or the longest line of one in which secrets are replaced: it has to match again."""
    if scrub(prompt).text == prompt:
        return prompt
    return max((line for line in prompt.splitlines() if scrub(line).text == line), key=len, default="")


class _RecordingProvider:
    def __init__(self, provider: Provider, recorder: ReplyRecorder) -> None:
        self._provider, self._recorder = provider, recorder

    @property
    def name(self) -> str:
        return self._provider.name

    @property
    def endpoint(self) -> Endpoint | None:
        return self._provider.endpoint

    async def list_models(self, seconds: float) -> tuple[ListedModel, ...]:
        return await self._provider.list_models(seconds)

    async def describe_models(self, seconds: float) -> tuple[ListedModel, ...]:
        return await self._provider.describe_models(seconds)

    async def context_tokens(self, model: str, seconds: float) -> int | None:
        return await self._provider.context_tokens(model, seconds)

    async def probe(self, model: str, seconds: float) -> ProbeResult:
        return await self._provider.probe(model, seconds)

    def reply(self, request: ModelRequest) -> AsyncGenerator[ReplyPart, None]:
        return self._recorder.replied(self._provider, request)


class _ExchangeRecorder:
    """One reply as it is kept: texts in blocks of timed pieces, so that a block is scrubbed as a whole."""

    def __init__(self, clock: Callable[[], float], call_id: Callable[[str], str]) -> None:
        self._clock, self._call_id = clock, call_id
        self._last = clock()
        self._blocks: list[tuple[str, list[tuple[float, str]]]] = []
        self._others: dict[int, list[tuple[float, ReplyPart]]] = {}

    def take(self, part: ReplyPart) -> None:
        if isinstance(part, ProgressPart | OpaquePart):
            return
        now = self._clock()
        wait, self._last = now - self._last, now
        if isinstance(part, TextPart | ThinkingPart):
            self._text("text" if isinstance(part, TextPart) else "thinking", wait, part.text)
        elif not isinstance(part, ExchangePart):
            self._others.setdefault(len(self._blocks), []).append((wait, part))

    def _text(self, name: str, wait: float, text: str) -> None:
        is_new = not self._blocks or self._blocks[-1][0] != name or len(self._blocks) in self._others
        if is_new:
            self._blocks.append((name, [(wait, text)]))
            return
        pieces = self._blocks[-1][1]
        if wait < _JOIN_SECONDS:
            first, before = pieces[-1]
            pieces[-1] = (first, before + text)
        else:
            pieces.append((wait, text))

    def items(self) -> list[RecordedItem]:
        items: list[RecordedItem] = [self._written(part, wait) for wait, part in self._others.get(0, [])]
        for number, (name, pieces) in enumerate(self._blocks, 1):
            items += [_with_wait({name: text}, wait) for wait, text in _scrubbed_pieces(pieces)]
            items += [self._written(part, wait) for wait, part in self._others.get(number, [])]
        return items

    def _written(self, part: ReplyPart, wait: float) -> RecordedItem:
        return _written_part(part, wait, self._call_id)


def _scrubbed_pieces(pieces: list[tuple[float, str]]) -> list[tuple[float, str]]:
    """Return the pieces of a text; one piece where a secret was in it, for it may have been cut."""
    whole = "".join(text for _, text in pieces)
    clean = scrub(whole).text
    return pieces if clean == whole else [(sum(wait for wait, _ in pieces), clean)]


def _written_part(part: ReplyPart, wait: float, call_id: Callable[[str], str]) -> RecordedItem:
    match part:
        case ToolCallPart():
            call = {"id": call_id(part.id), "name": scrub(part.name).text}
            return _with_wait({"tool_call": {**call, "arguments": _written_arguments(part.arguments)}}, wait)
        case UsagePart(usage=usage):
            counts = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
            return _with_wait({"usage": counts}, wait)
        case StopPart(reason=reason):
            return _with_wait({"stop": reason}, wait)
        case FailurePart():
            return _with_wait({"error": _written_failure(part)}, wait)
        case TextPart() | ThinkingPart() | ExchangePart() | ProgressPart() | OpaquePart():
            raise AssertionError("texts are kept in blocks, exchanges, progress and signatures not at all")


def _written_arguments(text: str) -> object:
    try:
        value: object = json.loads(text or "{}")
    except (ValueError, RecursionError):
        value = None
    is_exact = isinstance(value, dict) and json.loads(json.dumps(value)) == value
    return scrub_value(cast("object", value))[0] if is_exact else scrub(text).text


def _written_failure(part: FailurePart) -> RecordedItem:
    facts: RecordedItem = {
        "code": part.code, "message": scrub(part.message).text, "remedy": scrub(part.remedy).text,
        "status": part.status, "retry_after_s": part.retry_after_s, "recoverable": part.recoverable,
    }  # fmt: skip
    return {name: value for name, value in facts.items() if value is not None and value != ""}


def _with_wait(item: RecordedItem, wait: float) -> RecordedItem:
    milliseconds = min(round(wait * 1000), MAX_WAIT_MS)
    return {**item, "after_ms": milliseconds} if milliseconds >= 1 else item
