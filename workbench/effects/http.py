"""Requests to model servers: one request, its reply in pieces, and every failure as one of a few kinds."""

# Nothing a server sends is unpacked. Requests ask for plain bytes and refuse others: a small reply could
# grow without limit.

import asyncio
import errno
import ipaddress
import logging
import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from typing import TYPE_CHECKING, Literal, cast
from urllib.parse import urlsplit

from msgspec import Struct, field

if TYPE_CHECKING:
    import httpx

FailureKind = Literal[
    "refused", "unknown_host", "unreachable", "connect_timeout", "silent", "tls", "broken", "protocol"
]
_SILENT_LOGGERS = ("httpx", "httpcore")
_WRITE_SECONDS = 60.0
_UNREACHABLE_ERRNOS = (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENETDOWN, errno.EHOSTDOWN)


class HttpFailed(Exception):
    """There is no whole reply: one of `FailureKind`, and the system's own word, never a header or a body."""

    def __init__(self, kind: FailureKind, detail: str = "") -> None:
        super().__init__(f"{kind}: {detail}" if detail else kind)
        self.kind: FailureKind = kind
        self.detail = detail


class HttpRequest(Struct, frozen=True, kw_only=True):
    """What is asked."""

    url: str
    method: Literal["GET", "POST"] = "GET"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None
    connect_seconds: float = 10.0
    """Until the connection stands, TLS included."""
    answer_seconds: float = 30.0
    """Until the head of the reply is there."""


class HttpReply:
    """The head of a reply, and its body in pieces."""

    def __init__(self, status: int, headers: Mapping[str, str], pieces: AsyncIterator[bytes]) -> None:
        self.status = status
        self.headers = headers
        """By lower-case name."""
        self._pieces = pieces

    async def piece(self, seconds: float) -> bytes:
        """Return the next bytes, none at the end. Raises HttpFailed: silence, or a broken connection."""
        with _translated_errors():
            try:
                async with asyncio.timeout(seconds):
                    return await self._next()
            except TimeoutError:
                raise HttpFailed("silent") from None

    async def _next(self) -> bytes:
        async for piece in self._pieces:
            if piece:
                return piece
        return b""

    async def whole(self, seconds: float, most: int) -> bytes:
        """Return the body, cut after `most` bytes; what came before a failure is returned as it is."""
        body = b""
        try:
            while len(body) < most and (piece := await self.piece(seconds)):
                body += piece
        except HttpFailed:
            return body[:most]
        return body[:most]


@asynccontextmanager
async def open_http(request: HttpRequest) -> AsyncGenerator[HttpReply, None]:
    """Send a request and give its reply; leaving the context closes the connection. Raises HttpFailed."""
    import httpx

    _silence_loggers()
    is_here = is_loopback(request.url)
    waits = httpx.Timeout(connect=request.connect_seconds, read=None, write=_WRITE_SECONDS, pool=None)
    verify = _tls_context() if request.url.startswith("https:") else False
    async with httpx.AsyncClient(timeout=waits, trust_env=not is_here, verify=verify) as client:
        response = await _response_head(client, request)
        try:
            # Nothing is unpacked: a small reply could grow without limit. The request asks for plain bytes.
            yield HttpReply(response.status_code, dict(response.headers), response.aiter_raw())
        finally:
            await response.aclose()


def is_loopback(url: str) -> bool:
    """Return whether an address is this machine's own."""
    host = (urlsplit(url).hostname or "").rstrip(".").lower()
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def _response_head(client: "httpx.AsyncClient", request: HttpRequest) -> "httpx.Response":
    headers = {"Accept-Encoding": "identity", **request.headers}
    with _translated_errors():
        prepared = client.build_request(request.method, request.url, headers=headers, content=request.body)
        try:
            async with asyncio.timeout(request.answer_seconds):
                return await client.send(prepared, stream=True, follow_redirects=False)
        except TimeoutError:
            raise HttpFailed("silent") from None


@contextmanager
def _translated_errors() -> Generator[None]:
    import httpx

    try:
        yield
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError) as error:
        raise _http_failure(error) from None


def _http_failure(error: Exception) -> HttpFailed:
    import httpx

    if isinstance(error, httpx.ConnectTimeout):
        return HttpFailed("connect_timeout")
    if isinstance(error, httpx.ConnectError | httpx.ProxyError):
        return _connect_failure(error)
    if "illegal status line" in str(error):  # what answers there speaks another protocol
        return HttpFailed("protocol")
    if isinstance(error, httpx.RemoteProtocolError | httpx.NetworkError | OSError):
        return HttpFailed("broken")
    return HttpFailed("protocol")


def _connect_failure(error: Exception) -> HttpFailed:
    for cause in _causes(error):
        if isinstance(cause, ConnectionRefusedError):
            return HttpFailed("refused", "connection refused")
        if isinstance(cause, socket.gaierror):
            return HttpFailed("unknown_host", cause.strerror or "")
        if isinstance(cause, ssl.SSLError):
            return HttpFailed("tls", getattr(cause, "verify_message", "") or cause.reason or "")
        if isinstance(cause, OSError) and cause.errno in _UNREACHABLE_ERRNOS:
            return HttpFailed("unreachable", cause.strerror or "")
    return HttpFailed("unreachable")


def _causes(error: BaseException | None, depth: int = 0) -> Iterator[BaseException]:
    if error is None or depth > 8:
        return
    yield error
    if isinstance(error, BaseExceptionGroup):
        for member in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _causes(member, depth + 1)
    yield from _causes(error.__cause__, depth + 1)
    if error.__context__ is not error.__cause__:
        yield from _causes(error.__context__, depth + 1)


def _silence_loggers() -> None:
    """Keep the client's own lines out of logs: they name every address."""
    for name in _SILENT_LOGGERS:
        logging.getLogger(name).setLevel(logging.ERROR)


@cache
def _tls_context() -> ssl.SSLContext:
    """Make the TLS settings once: reading the certificates takes longer than a request."""
    import httpx

    return httpx.create_ssl_context()
