"""The door to the web: one GET to an address that somebody else has judged, within bytes and seconds.

Owns name lookups, connections and reading. A connection goes to the given internet addresses only, while TLS
checks the certificate of the host's name. It follows no redirect, keeps no connection or cookie, obeys no
proxy variable, and never decides which address may be reached: that is `policy.urls`.
"""

import queue
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import httpcore

_CONNECT_SECONDS: Final = 8.0
"""Most that one of several addresses gets before the next is tried."""
_SLICE: Final = 0.2
"""Seconds between two looks at whether the call was stopped."""
_CHUNK: Final = 65_536
_ENCODINGS: Final = "gzip, deflate"


class NetFailed(Exception):
    """Nothing was fetched; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a fetch may take."""

    until: float
    """On the monotonic clock, in seconds."""
    is_stopped: Callable[[], bool]

    def left(self) -> float:
        """Return the seconds that are left.

        Raises:
            NetFailed: None are, or the call was stopped.
        """
        if self.is_stopped():
            raise NetFailed("it was stopped")
        left = self.until - time.monotonic()
        if left <= 0:
            raise NetFailed("it took too long")
        return left


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case; of one that comes twice the last."""
    body: bytes
    """Decoded, at most as much as was asked for."""
    is_cut: bool
    """Whether there was more."""


def lookup(host: str, patience: Patience) -> tuple[str, ...]:
    """Return the internet addresses of a name, in the system's order.

    Raises:
        OSError: There are none.
        NetFailed: The name server took too long.
    """
    # getaddrinfo knows no time limit; a thread that it keeps waiting is left behind and ends by itself.
    found: queue.SimpleQueue[tuple[str, ...] | OSError] = queue.SimpleQueue()

    def ask() -> None:
        try:
            rows = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
            found.put(tuple(dict.fromkeys(str(row[4][0]) for row in rows)))
        except UnicodeError:
            found.put(OSError("the name cannot be looked up"))
        except OSError as error:
            found.put(error)

    threading.Thread(target=ask, name="lookup", daemon=True).start()
    while True:
        try:
            answer = found.get(timeout=min(_SLICE, patience.left()))
        except queue.Empty:
            continue
        if isinstance(answer, OSError):
            raise answer
        return answer


def get(ask: Ask, patience: Patience, most_bytes: int, context: ssl.SSLContext | None = None) -> Answer:
    """Send one GET and read its answer.

    Args:
        ask: What and where.
        patience: For all of it.
        most_bytes: Of the decoded body; reading stops there.
        context: For TLS; the system's and certifi's authorities if not given.

    Raises:
        NetFailed: With the reason; nothing is kept open.
    """
    import httpcore

    url = httpcore.URL(
        scheme=ask.scheme.encode(), host=ask.host.encode(), port=ask.port, target=ask.target.encode()
    )
    headers = {"Host": ask.authority, "Accept-Encoding": _ENCODINGS, "Connection": "close", **ask.headers}
    backend = _backend(ask.addresses, patience)
    tls = context if context is not None or ask.scheme == "http" else _authorities()
    try:
        with (
            httpcore.ConnectionPool(ssl_context=tls, network_backend=backend, max_connections=1) as pool,
            pool.stream("GET", url, headers=list(headers.items())) as response,
        ):
            return _answer(response, most_bytes)
    except (httpcore.TimeoutException, TimeoutError):
        raise NetFailed("it took too long") from None
    except httpcore.ConnectError as error:
        raise NetFailed(f"no connection: {_cause(error)}") from None
    except (httpcore.NetworkError, httpcore.ProtocolError, OSError, zlib.error) as error:
        raise NetFailed(f"the answer broke off or is no HTTP: {_cause(error)}") from None


@cache
def _authorities() -> ssl.SSLContext:
    import certifi

    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


def _cause(error: BaseException) -> str:
    inner: BaseException = error
    while inner.__cause__ or inner.__context__:
        inner = inner.__cause__ or inner.__context__ or inner
    if isinstance(inner, ssl.SSLCertVerificationError):
        return f"its certificate is not valid for it ({inner.verify_message})"
    return str(inner) or str(error) or type(inner).__name__


def _answer(response: "httpcore.Response", most_bytes: int) -> Answer:
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
    body, is_cut = _bounded(_decoded(response.iter_stream(), headers.get("content-encoding", "")), most_bytes)
    return Answer(status=response.status, headers=headers, body=body, is_cut=is_cut)


def _bounded(chunks: Iterable[bytes], most: int) -> tuple[bytes, bool]:
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
        raise NetFailed(f"its content is encoded as {encoding[:40]!r}, which was not asked for")


def _inflated(chunks: Iterable[bytes], *, is_gzip: bool) -> Iterator[bytes]:
    inflate: Any = None
    for chunk in chunks:
        if inflate is None:
            inflate = zlib.decompressobj(_window(chunk, is_gzip=is_gzip))
        rest = chunk
        while rest and not inflate.eof:
            yield inflate.decompress(rest, _CHUNK)
            rest = inflate.unconsumed_tail
    if inflate is not None and not inflate.eof:
        raise NetFailed("its compressed content ends too early")


def _window(beginning: bytes, *, is_gzip: bool) -> int:
    """Return what zlib has to expect; `deflate` comes with and without a zlib header."""
    if is_gzip:
        return 16 + zlib.MAX_WBITS
    has_header = len(beginning) > 1 and beginning[0] & 0x0F == 8 and int.from_bytes(beginning[:2]) % 31 == 0
    return zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS


def _backend(addresses: Sequence[str], patience: Patience) -> "httpcore.NetworkBackend":
    from workbench.effects.pinned import Pinned

    return Pinned(addresses, patience.left, _CONNECT_SECONDS, _SLICE)
