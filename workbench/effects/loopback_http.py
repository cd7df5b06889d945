"""Short answers of servers on this machine, read without httpx, within limits of bytes and time."""

import http.client
import io
import socket
import time
from typing import Final, cast

LOOPBACK_ADDRESSES: Final = ("127.0.0.1", "::1")
MAX_ANSWER_BYTES: Final = 1_048_576
_PIECE_BYTES: Final = 65_536


def loopback_get(address: str, port: int, path: str, seconds: float) -> bytes | None:
    """Return the body of a 200 answer; None for anything else, and when time or bytes run out.

    `address` is one of `LOOPBACK_ADDRESSES`. No name is looked up, no proxy is used, no redirect is followed,
    no key is sent.
    """
    if address not in LOOPBACK_ADDRESSES:
        raise ValueError(f"{address} is not this machine")
    until = time.monotonic() + seconds
    host = f"[{address}]" if ":" in address else address
    request = (
        f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nAccept: application/json\r\nConnection: close\r\n\r\n"
    )
    try:
        with socket.create_connection((address, port), timeout=seconds) as connection:
            connection.sendall(request.encode("ascii"))
            return _ok_body(_received(connection, until))
    except OSError:
        return None


def _received(connection: socket.socket, until: float) -> bytes:
    """Return what comes until the end, until the answer is whole, or until time or bytes run out."""
    data = b""
    while (seconds_left := until - time.monotonic()) > 0 and len(data) <= MAX_ANSWER_BYTES:
        connection.settimeout(seconds_left)
        try:
            piece = connection.recv(_PIECE_BYTES)
        except TimeoutError:
            break
        data += piece
        if not piece or _is_whole(data):
            break
    return data


def _is_whole(data: bytes) -> bool:
    """Return whether an answer that says its length is there; others end with the connection."""
    head, separator, body = data.partition(b"\r\n\r\n")
    for line in head.split(b"\r\n")[1:] if separator else ():
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit():
            return len(body) >= int(value[:20])
    return bool(separator) and body.endswith(b"0\r\n\r\n") and b"chunked" in head.lower()


def _ok_body(data: bytes) -> bytes | None:
    response = http.client.HTTPResponse(cast("socket.socket", _Received(data)))
    try:
        response.begin()
        return response.read(MAX_ANSWER_BYTES) if response.status == http.client.OK else None
    except (http.client.HTTPException, OSError, ValueError):
        return None


class _Received:
    """Stands where the parser of the standard library wants a socket: the answer is there already."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, *_: object) -> io.BytesIO:
        return io.BytesIO(self._data)
