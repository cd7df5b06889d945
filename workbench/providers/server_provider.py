"""A provider that asks a server over HTTP: one request, its reply read as it comes, and why there is none.

What differs from protocol to protocol is in the subclasses: address, body, reader. Trusts no type of what
comes back, repeats only a request without what the server refused by name, and puts the key into one header.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from typing import ClassVar, Final, Protocol

from msgspec.structs import replace

from workbench.domain.messages import FailurePart, ModelRequest, ProgressPart, ReplyPart, StopPart
from workbench.effects.http import HttpFailed, HttpReply, HttpRequest, open_http
from workbench.providers import errors
from workbench.providers.base import MAX_REPLY_BYTES, Endpoint, KeyMissing, ListedModel, ProbeResult
from workbench.providers.errors import ForeignObject, json_object
from workbench.providers.event_streams import EventReader, EventTooLarge, LineReader, ServerEvent
from workbench.providers.server_models import MAX_PROBE_TOKENS, list_server_models, probe_model

_MAX_ERROR_BYTES: Final = 64 * 1024
_ERROR_SECONDS: Final = 10.0
_MAX_ADAPTIONS: Final = 2
"""How often a request is changed because a server does not know a part of it."""
_DONE_MARK: Final = "[DONE]"
RequestBody = dict[str, object]


class ReplyReader(Protocol):
    """Takes the objects of one reply in order and gives its parts."""

    is_reply: bool
    """Whether anything that came belongs to a reply at all."""
    is_empty: bool
    """Whether neither text nor a call came."""
    is_ended: bool
    """Whether the server said that nothing follows."""
    stop: str | None
    """Why the model stopped; None while it has not."""

    def take(self, document: ForeignObject) -> Iterator[ReplyPart]:
        """Take one object and yield what can be shown at once."""
        ...

    def finish(self) -> Iterator[ReplyPart]:
        """Yield what is only whole at the end: calls, why it stopped, usage."""
        ...


class ServerProvider(ABC):
    """Asks one endpoint for replies."""

    stream_type: ClassVar[str] = "text/event-stream"
    """The content type of a reply that comes in pieces."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint

    @property
    def name(self) -> str:
        return self.endpoint.name

    # --- what a protocol says ----------------------------------------------------------------------

    @abstractmethod
    def chat_url(self, model: str) -> str:
        """Return the address that replies are asked from."""

    @abstractmethod
    async def request_body(self, request: ModelRequest) -> RequestBody:
        """Return what is sent; it may have to ask the server about the model first."""

    @abstractmethod
    def new_reader(self, body: RequestBody, sent: int) -> ReplyReader:
        """Return a reader for the reply to a request, which was sent as so many bytes."""

    async def context_tokens(self, model: str, seconds: float) -> int | None:
        """Return the context that the server gives each request; None where nothing says it."""
        del model, seconds
        return None

    async def must_load(self, model: str) -> bool:
        """Return whether the server says that it has to load the model before it can answer."""
        del model
        return False

    def extra_headers(self) -> Mapping[str, str]:
        """Return headers that the protocol demands besides the key."""
        return {}

    def adapted_body(self, body: RequestBody, refusal: str) -> RequestBody | None:
        """Return a body without what the server refused by name; None where nothing can be left out."""
        del body, refusal
        return None

    def error_in(self, document: object) -> ForeignObject:
        """Return what an object of a reply says about an error; empty where it says none."""
        return errors.error_in_json(document)

    # --- what is the same everywhere -----------------------------------------------------------------

    async def reply(self, request: ModelRequest) -> AsyncGenerator[ReplyPart, None]:
        body, may_renew = None, True
        for _ in range(_MAX_ADAPTIONS + 2):
            try:
                headers = {**self.endpoint.authorized_headers(), **self.extra_headers()}
            except KeyMissing as error:
                yield errors.key_missing_failure(error)
                return
            body = body or await self.request_body(request)
            exchange = _Exchange(self, request.model, body, headers, may_renew=may_renew)
            async with aclosing(exchange.parts()) as parts:
                async for part in parts:
                    yield part
            if exchange.next_body is None:
                return
            body, may_renew = exchange.next_body, may_renew and not exchange.has_renewed_key

    async def list_models(self, seconds: float) -> tuple[ListedModel, ...]:
        return await list_server_models(self.endpoint, seconds, self.extra_headers())

    async def describe_models(self, seconds: float) -> tuple[ListedModel, ...]:
        return await self.list_models(seconds)

    async def probe(self, model: str, seconds: float) -> ProbeResult:
        limited = type(self)(self.endpoint.with_sampling(max_tokens=MAX_PROBE_TOKENS))
        result = await probe_model(limited.reply, model)
        return replace(result, context=await self.context_tokens(model, seconds))


class _Exchange:
    def __init__(
        self, provider: ServerProvider, model: str, body: RequestBody, headers: dict[str, str],
        *, may_renew: bool,
    ) -> None:  # fmt: skip
        self._provider, self._endpoint = provider, provider.endpoint
        self._model, self._body, self._data = model, body, encode_body(body)
        self._headers = {"Accept": f"{provider.stream_type}, application/json", **headers}
        self._reader = provider.new_reader(body, len(self._data))
        self._has_begun = False
        self._is_over = False
        self.next_body: RequestBody | None = None
        """What to send next, where the server did not know a part of this one or refused the key."""
        self._may_renew = may_renew
        self.has_renewed_key = False

    async def parts(self) -> AsyncGenerator[ReplyPart, None]:
        endpoint = self._endpoint
        yield ProgressPart(sent=len(self._data), is_loading=await self._provider.must_load(self._model))
        request = HttpRequest(
            url=self._provider.chat_url(self._model), method="POST", headers=self._headers,
            body=self._data, connect_seconds=endpoint.connect_seconds,
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
            failure = await self._refusal(reply)
            if failure is not None:
                yield failure
            return
        kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
        packed = reply.headers.get("content-encoding", "identity").strip().lower()
        if packed not in ("", "identity"):
            yield errors.not_a_completion_failure(self._endpoint, f"content-encoding {packed}")
            return
        is_stream = kind == self._provider.stream_type
        read = self._streamed(reply) if is_stream else self._whole(reply, kind)
        async with aclosing(read) as parts:
            async for part in parts:
                yield part

    async def _refusal(self, reply: HttpReply) -> FailurePart | None:
        body = await reply.whole(_ERROR_SECONDS, _MAX_ERROR_BYTES)
        if reply.status == 401 and self._may_renew and self._endpoint.forget_key():
            self.has_renewed_key, self.next_body = True, self._body
            return None
        if reply.status in (400, 422):
            self.next_body = self._provider.adapted_body(self._body, body.decode("utf-8", "replace"))
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
        for part in self._end_parts(is_said=True):
            yield part

    # --- a stream ---------------------------------------------------------------------------------

    async def _streamed(self, reply: HttpReply, first: bytes = b"") -> AsyncGenerator[ReplyPart, None]:
        reads_lines = self._provider.stream_type != "text/event-stream"
        events = LineReader(MAX_REPLY_BYTES) if reads_lines else EventReader(MAX_REPLY_BYTES)
        size, piece = 0, first or await self._piece(reply)
        while piece:
            size += len(piece)
            if size > MAX_REPLY_BYTES:
                for part in self._cut_parts():
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
            for part in self._end_parts():
                yield part

    async def _piece(self, reply: HttpReply) -> bytes:
        """Wait long for the first word, for a server may load its model, and less between two."""
        waits = self._endpoint
        return await reply.piece(waits.silence_seconds if self._has_begun else waits.first_token_seconds)

    def _parts_of(self, events: Iterator[ServerEvent]) -> Iterator[ReplyPart]:
        for event in events:
            if event.data.strip() == _DONE_MARK:
                yield from self._end_parts(is_said=True)
                return
            for part in self._object(event.data, is_error=event.kind == "error"):
                yield part
                if isinstance(part, FailurePart):
                    self._is_over = True
                    return
            if self._reader.is_ended:
                yield from self._end_parts(is_said=True)
                return

    def _object(self, text: str, kind: str = "", *, is_error: bool = False) -> Iterator[ReplyPart]:
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            yield errors.not_a_completion_failure(self._endpoint, text, kind)
            return
        error = self._provider.error_in(document) or (json_object(document) if is_error else {})
        if error:
            yield errors.error_object_failure(
                self._endpoint, self._model, errors.status_in_error(error), error
            )
            return
        yield from self._chunk_parts(json_object(document))

    def _chunk_parts(self, chunk: ForeignObject) -> Iterator[ReplyPart]:
        for part in self._reader.take(chunk):
            self._has_begun = True
            yield part
        self._has_begun = self._has_begun or not self._reader.is_empty

    def _end_parts(self, *, is_said: bool = False) -> Iterator[ReplyPart]:
        """Yield the end of a reply, or why it is none; `is_said`: the server itself said that it is all."""
        self._is_over = True
        reader = self._reader
        if not reader.is_reply:
            yield errors.not_a_completion_failure(self._endpoint, "a reply without choices")
        elif reader.stop is None and not is_said:
            yield errors.broken_off_failure(self._endpoint)
        else:
            yield from reader.finish()
            if reader.is_empty:
                yield errors.empty_reply_failure(reader.stop)

    def _cut_parts(self) -> Iterator[ReplyPart]:
        """Yield what came of a reply that is too large, and that it was cut; without a word, a failure."""
        if self._reader.is_empty:
            yield _reply_too_large()
            return
        yield from self._reader.finish()
        yield StopPart(reason="size")


def _reply_too_large() -> FailurePart:
    return errors.too_large_failure("the reply", f"{MAX_REPLY_BYTES // 1024 // 1024} MB")


def encode_body(body: Mapping[str, object]) -> bytes:
    """Return a body as bytes; what no server could read (half a character) is replaced."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
