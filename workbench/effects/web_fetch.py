"""Fetch a web page: one GET to addresses that the policy approved, limited in bytes and seconds.

Follows no redirect, uses no proxy, and never decides itself which address may be reached. Connects only to
the given addresses, whatever host name is asked for.
"""

import queue
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

import httpcore
from msgspec import Struct

# ruff: noqa: ARG002 -- the parameters are those of httpcore


_HANDSHAKE_SECONDS: Final = 8.0
SecondsLeft = Callable[[], float]
"""Returns the seconds that are left, and raises when there are none."""


class PinnedBackend(httpcore.NetworkBackend):
    """Connects to the first of its addresses that answers."""

    def __init__(
        self, addresses: Sequence[str], left: SecondsLeft, most_seconds: float, slice_seconds: float
    ) -> None:
        self._addresses, self._left = addresses, left
        self._most, self._slice = most_seconds, slice_seconds
        self._backend = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to an address of ours; `host` is not looked at."""
        failure: Exception = httpcore.ConnectError("there is no address to connect to")
        for address in self._addresses:
            seconds = min(self._most, self._left())
            try:
                return _DeadlineStream(
                    self._backend.connect_tcp(address, port, seconds), self._left, self._slice
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure


class _DeadlineStream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, left: SecondsLeft, slice_seconds: float) -> None:
        self._stream, self._left, self._slice = stream, left, slice_seconds

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        while True:
            try:
                return self._stream.read(max_bytes, min(self._slice, self._left()))
            except httpcore.ReadTimeout:
                continue

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._left())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        inner = self._stream.start_tls(ssl_context, server_hostname, min(_HANDSHAKE_SECONDS, self._left()))
        return _DeadlineStream(inner, self._left, self._slice)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


_CONNECT_SECONDS: Final = 8.0
"""Most that one of several addresses gets before the next is tried."""
_SLICE: Final = 0.2
"""Seconds between two looks at whether the call was stopped."""
_CHUNK: Final = 65_536
_ENCODINGS: Final = "gzip, deflate"


class FetchFailed(Exception):
    """Nothing was fetched; the message says why."""


class FetchDeadline(Struct, frozen=True, kw_only=True):
    """How long a fetch may take."""

    until: float
    """On the monotonic clock, in seconds."""
    is_stopped: Callable[[], bool]

    def left(self) -> float:
        """Return the seconds that are left. Raises FetchFailed: none are, or the call was stopped."""
        if self.is_stopped():
            raise FetchFailed("it was stopped")
        seconds = self.until - time.monotonic()
        if seconds <= 0:
            raise FetchFailed("it took too long")
        return seconds


class FetchRequest(Struct, frozen=True, kw_only=True):
    """One request."""

    scheme: str
    host: str
    """Name for the certificate, lower case ASCII; an IPv6 address without brackets."""
    port: int
    authority: str
    target: str
    addresses: tuple[str, ...]
    """Where the connection may go, nowhere else."""
    headers: Mapping[str, str]


class FetchResponse(Struct, frozen=True, kw_only=True):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case; of one that comes twice the last."""
    body: bytes
    """Decoded, at most as much as was asked for."""
    is_cut: bool


def resolve_host(host: str, deadline: FetchDeadline) -> tuple[str, ...]:
    """Return the addresses of a name in the system's order. Raises OSError: none; FetchFailed: too slow."""
    # getaddrinfo knows no time limit; a thread that it keeps waiting is left behind and ends by itself.
    answers: queue.SimpleQueue[tuple[str, ...] | OSError] = queue.SimpleQueue()

    def ask() -> None:
        try:
            rows = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
            answers.put(tuple(dict.fromkeys(str(row[4][0]) for row in rows)))
        except UnicodeError:
            answers.put(OSError("the name cannot be looked up"))
        except OSError as error:
            answers.put(error)

    threading.Thread(target=ask, name="lookup", daemon=True).start()
    while True:
        try:
            answer = answers.get(timeout=min(_SLICE, deadline.left()))
        except queue.Empty:
            continue
        if isinstance(answer, OSError):
            raise answer
        return answer


def fetch_page(
    request: FetchRequest, deadline: FetchDeadline, most_bytes: int, context: ssl.SSLContext | None = None
) -> FetchResponse:
    """Send one GET and read at most `most_bytes` of the decoded answer, all within the deadline.

    TLS trusts the system's and certifi's authorities if no context is given. Raises FetchFailed.
    """
    import httpcore

    url = httpcore.URL(
        scheme=request.scheme.encode(),
        host=request.host.encode(),
        port=request.port,
        target=request.target.encode(),
    )
    headers = {
        "Host": request.authority,
        "Accept-Encoding": _ENCODINGS,
        "Connection": "close",
        **request.headers,
    }
    backend = _pinned_backend(request.addresses, deadline)
    tls = context if context is not None or request.scheme == "http" else _tls_context()
    try:
        with (
            httpcore.ConnectionPool(ssl_context=tls, network_backend=backend, max_connections=1) as pool,
            pool.stream("GET", url, headers=list(headers.items())) as response,
        ):
            return _read_response(response, most_bytes)
    except (httpcore.TimeoutException, TimeoutError):
        raise FetchFailed("it took too long") from None
    except httpcore.ConnectError as error:
        raise FetchFailed(f"no connection: {_failure_text(error)}") from None
    except (httpcore.NetworkError, httpcore.ProtocolError, OSError, zlib.error) as error:
        raise FetchFailed(f"the answer broke off or is not HTTP: {_failure_text(error)}") from None


@cache
def _tls_context() -> ssl.SSLContext:
    import certifi

    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


def _failure_text(error: BaseException) -> str:
    inner: BaseException = error
    while inner.__cause__ or inner.__context__:
        inner = inner.__cause__ or inner.__context__ or inner
    if isinstance(inner, ssl.SSLCertVerificationError):
        return f"its certificate is not valid for it ({inner.verify_message})"
    return str(inner) or str(error) or type(inner).__name__


def _read_response(response: "httpcore.Response", most_bytes: int) -> FetchResponse:
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
    body, is_cut = _read_bounded(
        _decoded(response.iter_stream(), headers.get("content-encoding", "")), most_bytes
    )
    return FetchResponse(status=response.status, headers=headers, body=body, is_cut=is_cut)


def _read_bounded(chunks: Iterable[bytes], most: int) -> tuple[bytes, bool]:
    body = bytearray()
    for chunk in chunks:
        body += chunk[: most - len(body)]
        if len(chunk) and len(body) >= most:
            return bytes(body), True
    return bytes(body), False


def _decoded(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Yield a body in small pieces, so that a bomb is noticed before it goes off."""
    name = encoding.strip().lower().removeprefix("x-")
    if name in ("", "identity"):
        yield from chunks
    elif name in ("gzip", "deflate"):
        yield from _inflated(chunks, is_gzip=name == "gzip")
    else:
        raise FetchFailed(f"its content is encoded as {encoding[:40]!r}, which was not asked for")


def _inflated(chunks: Iterable[bytes], *, is_gzip: bool) -> Iterator[bytes]:
    inflate: Any = None
    for chunk in chunks:
        if inflate is None:
            inflate = zlib.decompressobj(_zlib_window(chunk, is_gzip=is_gzip))
        rest = chunk
        while rest and not inflate.eof:
            yield inflate.decompress(rest, _CHUNK)
            rest = inflate.unconsumed_tail
    if inflate is not None and not inflate.eof:
        raise FetchFailed("its compressed content ends too early")


def _zlib_window(beginning: bytes, *, is_gzip: bool) -> int:
    if is_gzip:
        return 16 + zlib.MAX_WBITS
    has_header = len(beginning) > 1 and beginning[0] & 0x0F == 8 and int.from_bytes(beginning[:2]) % 31 == 0
    return zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS


def _pinned_backend(addresses: Sequence[str], deadline: FetchDeadline) -> "httpcore.NetworkBackend":

    return PinnedBackend(addresses, deadline.left, _CONNECT_SECONDS, _SLICE)
