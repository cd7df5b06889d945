"""An httpcore backend that connects only to given addresses, whatever host name is asked for."""

# ruff: noqa: ARG002 -- the parameters are those of httpcore

import ssl
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import httpcore

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
