"""The openai-compatible provider: chat completions of llama.cpp, Ollama, vLLM, hosted services and others.

Owns one request and the reading of its reply, streamed or not. It repeats nothing by itself (whoever calls
decides that), and puts the key into one header and nowhere else.
"""

import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Final

from workbench.domain.messages import FailurePart, ModelRequest, ReplyPart, StopPart
from workbench.effects.http import HttpFailed, HttpReply, HttpRequest, open_http
from workbench.providers import failures
from workbench.providers.endpoint import MOST_REPLY_BYTES, Endpoint, NoKey
from workbench.providers.openai_reply import Object, ReplyReader, as_object
from workbench.providers.openai_wire import Body, adapted, body_of, encoded
from workbench.providers.sse import EventReader, EventTooLarge, ServerEvent

_ERROR_BYTES: Final = 64 * 1024
_ERROR_SECONDS: Final = 10.0
_ADAPTIONS: Final = 2
"""How often a request is changed because a server does not know a part of it."""
_DONE: Final = "[DONE]"


class OpenAICompatible:
    """Asks one endpoint for replies."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint

    @property
    def name(self) -> str:
        """Return the provider's name."""
        return self.endpoint.name

    async def reply(self, request: ModelRequest) -> AsyncGenerator[ReplyPart, None]:
        """Yield one reply; closing the generator closes the connection."""
        body = body_of(request, self.endpoint.sampling)
        try:
            headers = headers_of(self.endpoint)
        except NoKey as error:
            yield failures.no_key(error)
            return
        for _ in range(_ADAPTIONS + 1):
            exchange = _Exchange(self.endpoint, request.model, body, headers)
            async with aclosing(exchange.parts()) as parts:
                async for part in parts:
                    yield part
            if exchange.next_body is None:
                return
            body = exchange.next_body


def headers_of(endpoint: Endpoint) -> dict[str, str]:
    """Return the headers of every request, the key among them.

    Raises:
        NoKey: The key should be there and is not.
    """
    key = endpoint.key()
    authorization = {"Authorization": f"Bearer {key}"} if key else {}
    return {
        "User-Agent": "workbench", "Content-Type": "application/json", **authorization, **endpoint.headers
    }  # fmt: skip


class _Exchange:
    """One request and its reply."""

    def __init__(self, endpoint: Endpoint, model: str, body: Body, headers: dict[str, str]) -> None:
        self._endpoint, self._model, self._body = endpoint, model, body
        self._headers = {"Accept": "text/event-stream, application/json", **headers}
        self._reader = ReplyReader()
        self._has_begun = False
        self._is_over = False
        self.next_body: Body | None = None
        """What to send instead, where the server did not know a part of this one."""

    async def parts(self) -> AsyncGenerator[ReplyPart, None]:
        """Yield what comes, and a failure where it fails."""
        endpoint = self._endpoint
        request = HttpRequest(
            url=f"{endpoint.base_url}/chat/completions", method="POST", headers=self._headers,
            body=encoded(self._body), connect_seconds=endpoint.connect_seconds,
            answer_seconds=endpoint.first_token_seconds,
        )  # fmt: skip
        try:
            async with open_http(request) as reply, aclosing(self._read(reply)) as found:
                async for part in found:
                    yield part
        except HttpFailed as error:
            yield failures.unreached(endpoint, error, has_begun=self._has_begun)
        except EventTooLarge:
            yield _whole_reply_too_large()

    async def _read(self, reply: HttpReply) -> AsyncGenerator[ReplyPart, None]:
        if reply.status != 200:
            failure = await self._refused(reply)
            if failure is not None:
                yield failure
            return
        kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
        packed = reply.headers.get("content-encoding", "identity").strip().lower()
        if packed not in ("", "identity"):
            yield failures.garbage(self._endpoint, f"content-encoding {packed}")
            return
        read = self._whole(reply, kind) if kind != "text/event-stream" else self._streamed(reply)
        async with aclosing(read) as found:
            async for part in found:
                yield part

    async def _refused(self, reply: HttpReply) -> FailurePart | None:
        seen = await reply.whole(_ERROR_SECONDS, _ERROR_BYTES)
        if reply.status in (400, 422):
            self.next_body = adapted(self._body, seen.decode("utf-8", "replace"))
            if self.next_body is not None:
                return None
        return failures.refused(self._endpoint, self._model, reply.status, reply.headers, seen)

    # --- a reply in one piece ---------------------------------------------------------------------

    async def _whole(self, reply: HttpReply, kind: str) -> AsyncGenerator[ReplyPart, None]:
        """Read a reply that is no stream by its name; one that is a stream all the same is read as one."""
        first = await reply.piece(self._endpoint.first_token_seconds)
        if first.lstrip(b"\xef\xbb\xbf\r\n\t ")[:5] in (b"data:", b"event"):
            async with aclosing(self._streamed(reply, first)) as found:
                async for part in found:
                    yield part
            return
        data = bytearray(first)
        while len(data) <= MOST_REPLY_BYTES and (piece := await reply.piece(self._endpoint.silence_seconds)):
            data += piece
        if len(data) > MOST_REPLY_BYTES:
            yield _whole_reply_too_large()
            return
        for part in self._object(data.decode("utf-8", "replace"), kind):
            yield part
            if isinstance(part, FailurePart):
                return
        for part in self._finished(is_said=True):
            yield part

    # --- a stream ---------------------------------------------------------------------------------

    async def _streamed(self, reply: HttpReply, first: bytes = b"") -> AsyncGenerator[ReplyPart, None]:
        events, size = EventReader(MOST_REPLY_BYTES), 0
        piece = first or await self._piece(reply)
        while piece:
            size += len(piece)
            if size > MOST_REPLY_BYTES:
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
            if event.data.strip() == _DONE:
                yield from self._finished(is_said=True)
                return
            for part in self._object(event.data, is_error=event.kind == "error"):
                yield part
                if isinstance(part, FailurePart):
                    self._is_over = True
                    return

    def _object(self, text: str, kind: str = "", *, is_error: bool = False) -> Iterator[ReplyPart]:
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            yield failures.garbage(self._endpoint, text, kind)
            return
        error = failures.error_in(found) or (as_object(found) if is_error else {})
        if error:
            yield failures.told(self._endpoint, self._model, failures.status_in(error), error)
            return
        yield from self._taken(as_object(found))

    def _taken(self, found: Object) -> Iterator[ReplyPart]:
        for part in self._reader.take(found):
            self._has_begun = True
            yield part
        self._has_begun = self._has_begun or not self._reader.is_empty

    def _finished(self, *, is_said: bool = False) -> Iterator[ReplyPart]:
        """Yield the end of a reply: what was put together, or why it is none.

        Args:
            is_said: The server said itself that this was all.
        """
        self._is_over = True
        reader = self._reader
        if not reader.has_choices:
            yield failures.garbage(self._endpoint, "a reply without choices")
        elif reader.stop is None and not is_said:
            yield failures.broken_off(self._endpoint)
        else:
            yield from reader.finish()
            if reader.is_empty:
                yield failures.empty(reader.stop)

    def _cut(self) -> Iterator[ReplyPart]:
        """Yield what came of a reply that is too large, and that it was cut; without a word, a failure."""
        if self._reader.is_empty:
            yield _whole_reply_too_large()
            return
        yield from self._reader.finish()
        yield StopPart(reason="size")


def _whole_reply_too_large() -> FailurePart:
    return failures.too_large("the reply", f"{MOST_REPLY_BYTES // 1024 // 1024} MB")
