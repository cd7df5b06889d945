"""Chat completions of llama.cpp, Ollama, vLLM, hosted services and others.

Trusts no type of what comes back, repeats only a request without what the server refused by name, and puts
the key into one header.
"""

import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from typing import Final, cast

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.domain.messages import (
    FailurePart,
    Message,
    MessageCall,
    ModelRequest,
    ProgressPart,
    ReplyPart,
    StopPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UsagePart,
)
from workbench.domain.values import ToolDescriptor, Usage
from workbench.effects.http import HttpFailed, HttpReply, HttpRequest, open_http
from workbench.providers import errors
from workbench.providers.base import (
    MAX_ARGUMENT_CHARACTERS,
    MAX_REPLY_BYTES,
    MAX_REPLY_CALLS,
    Endpoint,
    KeyMissing,
    ListedModel,
    ProbeResult,
    Sampling,
)
from workbench.providers.errors import ForeignObject, json_object
from workbench.providers.server_models import (
    MAX_PROBE_TOKENS,
    list_server_models,
    probe_model,
    server_context_tokens,
)
from workbench.providers.sse import EventReader, EventTooLarge, ServerEvent
from workbench.providers.think_tags import ThinkTagReader

_MAX_ERROR_BYTES: Final = 64 * 1024
_ERROR_SECONDS: Final = 10.0
_MAX_ADAPTIONS: Final = 2
"""How often a request is changed because a server does not know a part of it."""
_DONE_MARK: Final = "[DONE]"


class OpenAICompatible:
    """Asks one endpoint for replies."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint

    @property
    def name(self) -> str:
        return self.endpoint.name

    async def reply(self, request: ModelRequest) -> AsyncGenerator[ReplyPart, None]:
        body = request_body(request, self.endpoint.sampling)
        try:
            headers = self.endpoint.authorized_headers()
        except KeyMissing as error:
            yield errors.key_missing_failure(error)
            return
        for _ in range(_MAX_ADAPTIONS + 1):
            exchange = _ChatExchange(self.endpoint, request.model, body, headers)
            async with aclosing(exchange.parts()) as parts:
                async for part in parts:
                    yield part
            if exchange.next_body is None:
                return
            body = exchange.next_body

    async def list_models(self, seconds: float) -> tuple[ListedModel, ...]:
        return await list_server_models(self.endpoint, seconds)

    async def probe(self, model: str, seconds: float) -> ProbeResult:
        limited = OpenAICompatible(self.endpoint.with_sampling(max_tokens=MAX_PROBE_TOKENS))
        result = await probe_model(limited.reply, model)
        return replace(result, context=await server_context_tokens(self.endpoint, seconds))


RequestBody = dict[str, object]


class _ChatExchange:
    def __init__(self, endpoint: Endpoint, model: str, body: RequestBody, headers: dict[str, str]) -> None:
        self._endpoint, self._model, self._body = endpoint, model, body
        self._headers = {"Accept": "text/event-stream, application/json", **headers}
        self._reader = ReplyReader()
        self._has_begun = False
        self._is_over = False
        self.next_body: RequestBody | None = None
        """What to send instead, where the server did not know a part of this one."""

    async def parts(self) -> AsyncGenerator[ReplyPart, None]:
        endpoint, body = self._endpoint, encode_body(self._body)
        yield ProgressPart(sent=len(body))
        request = HttpRequest(
            url=f"{endpoint.base_url}/chat/completions", method="POST", headers=self._headers,
            body=body, connect_seconds=endpoint.connect_seconds,
            answer_seconds=endpoint.first_token_seconds,
        )  # fmt: skip
        try:
            async with open_http(request) as reply, aclosing(self._read(reply)) as parts:
                async for part in parts:
                    yield part
        except HttpFailed as error:
            yield errors.connection_failure(endpoint, error, has_begun=self._has_begun)
        except EventTooLarge:
            yield _reply_too_large()

    async def _read(self, reply: HttpReply) -> AsyncGenerator[ReplyPart, None]:
        if reply.status != 200:
            failure = await self._refused(reply)
            if failure is not None:
                yield failure
            return
        kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
        packed = reply.headers.get("content-encoding", "identity").strip().lower()
        if packed not in ("", "identity"):
            yield errors.not_a_completion_failure(self._endpoint, f"content-encoding {packed}")
            return
        read = self._whole(reply, kind) if kind != "text/event-stream" else self._streamed(reply)
        async with aclosing(read) as parts:
            async for part in parts:
                yield part

    async def _refused(self, reply: HttpReply) -> FailurePart | None:
        body = await reply.whole(_ERROR_SECONDS, _MAX_ERROR_BYTES)
        if reply.status in (400, 422):
            self.next_body = without_refused_part(self._body, body.decode("utf-8", "replace"))
            if self.next_body is not None:
                return None
        return errors.status_failure(self._endpoint, self._model, reply.status, reply.headers, body)

    # --- a reply in one piece ---------------------------------------------------------------------

    async def _whole(self, reply: HttpReply, kind: str) -> AsyncGenerator[ReplyPart, None]:
        """Read a reply that is no stream by its name; one that is a stream all the same is read as one."""
        first = await reply.piece(self._endpoint.first_token_seconds)
        if first.lstrip(b"\xef\xbb\xbf\r\n\t ")[:5] in (b"data:", b"event"):
            async with aclosing(self._streamed(reply, first)) as parts:
                async for part in parts:
                    yield part
            return
        data = bytearray(first)
        while len(data) <= MAX_REPLY_BYTES and (piece := await reply.piece(self._endpoint.silence_seconds)):
            data += piece
        if len(data) > MAX_REPLY_BYTES:
            yield _reply_too_large()
            return
        for part in self._object(data.decode("utf-8", "replace"), kind):
            yield part
            if isinstance(part, FailurePart):
                return
        for part in self._finished(is_said=True):
            yield part

    # --- a stream ---------------------------------------------------------------------------------

    async def _streamed(self, reply: HttpReply, first: bytes = b"") -> AsyncGenerator[ReplyPart, None]:
        events, size = EventReader(MAX_REPLY_BYTES), 0
        piece = first or await self._piece(reply)
        while piece:
            size += len(piece)
            if size > MAX_REPLY_BYTES:
                for part in self._cut():
                    yield part
                return
            for part in self._parts_of(events.feed(piece)):
                yield part
            if self._is_over:
                return
            piece = await self._piece(reply)
        for part in self._parts_of(events.finish()):
            yield part
        if not self._is_over:
            for part in self._finished():
                yield part

    async def _piece(self, reply: HttpReply) -> bytes:
        """Wait long for the first word, for a server may load its model, and less between two."""
        waits = self._endpoint
        return await reply.piece(waits.silence_seconds if self._has_begun else waits.first_token_seconds)

    def _parts_of(self, events: Iterator[ServerEvent]) -> Iterator[ReplyPart]:
        for event in events:
            if event.data.strip() == _DONE_MARK:
                yield from self._finished(is_said=True)
                return
            for part in self._object(event.data, is_error=event.kind == "error"):
                yield part
                if isinstance(part, FailurePart):
                    self._is_over = True
                    return

    def _object(self, text: str, kind: str = "", *, is_error: bool = False) -> Iterator[ReplyPart]:
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            yield errors.not_a_completion_failure(self._endpoint, text, kind)
            return
        error = errors.error_in_json(document) or (json_object(document) if is_error else {})
        if error:
            yield errors.error_object_failure(
                self._endpoint, self._model, errors.status_in_error(error), error
            )
            return
        yield from self._taken(json_object(document))

    def _taken(self, chunk: ForeignObject) -> Iterator[ReplyPart]:
        for part in self._reader.take(chunk):
            self._has_begun = True
            yield part
        self._has_begun = self._has_begun or not self._reader.is_empty

    def _finished(self, *, is_said: bool = False) -> Iterator[ReplyPart]:
        """Yield the end of a reply, or why it is none; `is_said`: the server itself said that it is all."""
        self._is_over = True
        reader = self._reader
        if not reader.has_choices:
            yield errors.not_a_completion_failure(self._endpoint, "a reply without choices")
        elif reader.stop is None and not is_said:
            yield errors.broken_off_failure(self._endpoint)
        else:
            yield from reader.finish()
            if reader.is_empty:
                yield errors.empty_reply_failure(reader.stop)

    def _cut(self) -> Iterator[ReplyPart]:
        """Yield what came of a reply that is too large, and that it was cut; without a word, a failure."""
        if self._reader.is_empty:
            yield _reply_too_large()
            return
        yield from self._reader.finish()
        yield StopPart(reason="size")


def _reply_too_large() -> FailurePart:
    return errors.too_large_failure("the reply", f"{MAX_REPLY_BYTES // 1024 // 1024} MB")


def request_body(request: ModelRequest, sampling: Sampling) -> RequestBody:
    body: RequestBody = {
        "model": request.model,
        "messages": [_wire_message(message) for message in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = [_wire_tool(tool) for tool in request.tools]
        if sampling.tool_choice is not None:
            body["tool_choice"] = sampling.tool_choice
    body.update(_sampling_members(sampling))
    return body


def without_refused_part(body: RequestBody, said: str) -> RequestBody | None:
    """Return a body without what the server refused by name; None where nothing can be left out."""
    if "stream_options" in said and "stream_options" in body:
        return {name: value for name, value in body.items() if name != "stream_options"}
    if "max_completion_tokens" in said and "max_tokens" in body:
        renamed = {name: value for name, value in body.items() if name != "max_tokens"}
        return {**renamed, "max_completion_tokens": body["max_tokens"]}
    return None


def encode_body(body: Mapping[str, object]) -> bytes:
    """Return a body as bytes; what no server could read (half a character) is replaced."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _sampling_members(sampling: Sampling) -> Iterator[tuple[str, object]]:
    for name in ("max_tokens", "temperature", "seed"):
        value = getattr(sampling, name)
        if value is not None:
            yield name, value
    if sampling.stop:
        yield "stop", list(sampling.stop)


def _wire_message(message: Message) -> RequestBody:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id or "", "content": message.content}
    if not message.calls:
        return {"role": message.role, "content": message.content}
    calls = [_wire_call(call) for call in message.calls]
    return {"role": message.role, "content": message.content or None, "tool_calls": calls}


def _wire_call(call: MessageCall) -> RequestBody:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": call.tool, "arguments": arguments}}


def _wire_tool(tool: ToolDescriptor) -> RequestBody:
    function = {"name": tool.wire_name, "description": tool.description, "parameters": tool.input_schema}
    return {"type": "function", "function": function}


_THINKING_KEYS: Final = ("reasoning_content", "reasoning", "thinking")
_MAX_CALL_ID: Final = 256
_MAX_TOOL_NAME: Final = 256
_MAX_TOKEN_COUNT: Final = 1 << 53


class _PartialCall(Struct):
    index: int | None
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list[str])
    size: int = 0

    def add(self, call_id: str, name: str, arguments: str) -> None:
        self.id = self.id or call_id[:_MAX_CALL_ID]
        if name != self.name:  # some servers say the whole name each time
            self.name = (self.name + name)[:_MAX_TOOL_NAME]
        if self.size <= MAX_ARGUMENT_CHARACTERS:
            self.pieces.append(arguments)
            self.size += len(arguments)


class ReplyReader:
    """Takes the objects of one reply in order and gives its parts."""

    def __init__(self) -> None:
        self._calls: list[_PartialCall] = []
        self._halves: dict[type[ReplyPart], str] = {}
        """A first half of a surrogate pair whose second half is in the next delta, by kind of text."""
        self._usage: Usage | None = None
        self.stop: str | None = None
        """Why the model stopped; None while it has not."""
        self.has_choices = False
        """Whether anything that came was a completion at all."""
        self._has_more_calls = False
        """Whether it asked for more calls than one reply may."""
        self.is_empty = True
        self._tags = ThinkTagReader()

    def take(self, chunk: ForeignObject) -> Iterator[ReplyPart]:
        """Take one chunk or one whole completion and yield what can be shown at once."""
        self._usage = _reply_usage(chunk.get("usage")) or self._usage
        choices = chunk.get("choices")
        if not isinstance(choices, list):
            return
        self.has_choices = True
        for choice in map(json_object, cast("list[object]", choices)):
            if choice.get("index", 0) not in (0, None):
                continue
            yield from self._said(json_object(choice.get("delta") or choice.get("message")))
            reason = choice.get("finish_reason")
            self.stop = reason if isinstance(reason, str) and reason else self.stop

    def finish(self) -> Iterator[ReplyPart]:
        """Yield what is only whole at the end: calls, why it stopped, usage."""
        if any(self._halves.values()):
            yield from self._answered(self._tags.feed("\ufffd"))
        yield from self._answered(self._tags.finish(has_calls=bool(self._calls)))
        yield from self._whole_calls()
        if self.stop in ("length", "content_filter"):
            yield StopPart(reason="length" if self.stop == "length" else "filtered")
        elif self._has_more_calls:
            yield StopPart(reason="calls")
        if self._usage is not None:
            yield UsagePart(usage=self._usage)

    def _said(self, message: ForeignObject) -> Iterator[ReplyPart]:
        for name in _THINKING_KEYS:
            if text := self._mended(ThinkingPart, _text_or_empty(message.get(name))):
                yield from self._answered(self._tags.end())
                yield ThinkingPart(text=text)
                break
        thinking, content = _thinking_and_text(message.get("content"))
        if thinking:
            yield from self._answered(self._tags.end())
            yield ThinkingPart(text=mend_surrogates(thinking))
        if text := self._mended(TextPart, content + _text_or_empty(message.get("refusal"))):
            yield from self._answered(self._tags.feed(text))
        calls = message.get("tool_calls")
        pieces = cast("list[object]", calls) if isinstance(calls, list) else []
        if size := sum(self._call(json_object(piece)) for piece in pieces):
            yield ProgressPart(received=size)

    def _answered(self, parts: Iterator[TextPart | ThinkingPart]) -> Iterator[ReplyPart]:
        for part in parts:
            self.is_empty = self.is_empty and not isinstance(part, TextPart)
            yield part

    def _mended(self, kind: type[ReplyPart], text: str) -> str:
        """Return text that can be stored; half a character at its end waits for the next delta."""
        if not text:
            return ""
        text = self._halves.pop(kind, "") + text
        if "\ud800" <= text[-1] <= "\udbff":
            self._halves[kind] = text[-1]
            text = text[:-1]
        return mend_surrogates(text)

    # --- calls ----------------------------------------------------------------------------------

    def _call(self, delta: ForeignObject) -> int:
        """Take a piece of a call; return how many characters of name and arguments it has."""
        function = json_object(delta.get("function"))
        call_id, name, arguments = (
            _text_or_empty(delta.get("id")),
            _text_or_empty(function.get("name")),
            function.get("arguments"),
        )
        call = self._place(delta.get("index"), call_id, name)
        text = _argument_text(arguments)
        if call is not None:
            call.add(call_id, name, text)
        return len(name) + len(text)

    def _place(self, index: object, call_id: str, name: str) -> _PartialCall | None:
        number = index if isinstance(index, int) and not isinstance(index, bool) else None
        open_calls = [call for call in self._calls if number is None or call.index == number]
        last = open_calls[-1] if open_calls else None
        is_other = last is not None and bool(call_id and last.id and call_id != last.id and name)
        if last is not None and not is_other:
            return last
        if len(self._calls) >= MAX_REPLY_CALLS:
            self._has_more_calls = True
            return None
        self.is_empty = False
        self._calls.append(_PartialCall(index=number))
        return self._calls[-1]

    def _whole_calls(self) -> Iterator[ToolCallPart]:
        call_ids: set[str] = set()
        for number, call in enumerate(self._calls, 1):
            call_id = mend_surrogates(call.id) or f"call_{number}"
            while call_id in call_ids:
                call_id += f"_{number}"
            call_ids.add(call_id)
            yield ToolCallPart(
                id=call_id, name=mend_surrogates(call.name), arguments=mend_surrogates("".join(call.pieces))
            )


def mend_surrogates(text: str) -> str:
    """Put surrogate pairs that came in two escapes together, and U+FFFD for half ones."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _text_or_empty(value: object) -> str:
    return value if isinstance(value, str) else ""


def _argument_text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else _text_or_empty(value)


def _thinking_and_text(value: object) -> tuple[str, str]:
    if not isinstance(value, list):
        return "", _text_or_empty(value)
    parts = [json_object(part) for part in cast("list[object]", value)]
    thinking = "".join(
        _thinking_and_text(part.get("thinking"))[1] for part in parts if part.get("type") == "thinking"
    )
    return thinking, "".join(
        _text_or_empty(part.get("text")) for part in parts if part.get("type") != "thinking"
    )


def _reply_usage(value: object) -> Usage | None:
    usage_counts = json_object(value)
    counts = [_token_count(usage_counts.get(name)) for name in ("prompt_tokens", "completion_tokens")]
    if counts == [None, None]:
        return None
    return Usage(input_tokens=counts[0] or 0, output_tokens=counts[1] or 0)


def _token_count(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MAX_TOKEN_COUNT:
        return value
    return None
