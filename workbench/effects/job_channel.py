"""The connection between the driver and the owner of a command: frames on a socket, in both directions."""

# Output comes over this connection as well as in the folder of the job. A driver that lives reads no file
# that another process could have changed, sees every byte in order, and slows a command down that prints
# faster than it is read, as a pipe does.

import asyncio
import contextlib
import socket
import struct
from typing import Final, TypeVar

import msgspec
from msgspec import Struct

from workbench.effects.job_files import JobLife

_HEAD: Final = struct.Struct("!cI")
_CHUNK: Final = 262_144
_MOST_WAITING: Final = 524_288
"""Bytes that wait for the other end before `room` is taken away."""
_MOST_FRAME: Final = 4 * 1024 * 1024
MOST_DESCRIPTORS: Final = 8
"""Descriptors that go with a request."""

READY: Final = b"R"
"""The command waits behind its gate: a ProcessIdentity."""
FAILED: Final = b"F"
"""It was not started: a StartFailure."""
GO: Final = b"G"
"""Let it go: a Release."""
STOP: Final = b"S"
"""Ask it to end, then end it."""
KILL: Final = b"K"
"""End it at once."""
OUTPUT: Final = b"O"
"""Bytes of its output, or of its standard error where both are apart."""
APART: Final = b"A"
"""Bytes of a standard output that is apart."""
ENDED: Final = b"E"
"""It has ended: a JobEnd."""


class JobRequest(Struct, frozen=True, kw_only=True):
    """What an owner is to run, and where it writes what becomes of it."""

    root: str
    session: str
    mark: str
    key: bytes
    argv: tuple[str, ...]
    cwd: str
    environment: dict[str, str]
    stdin: bytes
    is_apart: bool
    is_boxed: bool
    life: JobLife
    kept_first: int
    """Bytes of the beginning of standard output that are kept in any case."""
    note: str


class Release(Struct, frozen=True, kw_only=True):
    """How a command is let go."""

    timeout: float | None
    limit_bytes: int
    grace: float
    stall_seconds: float


class StartFailure(Struct, frozen=True, kw_only=True):
    """Why a command was not started."""

    what: str
    why: str
    remedy: str


_Message = TypeVar("_Message", bound=Struct)


class ChannelBroken(Exception):
    """The other end sent what is not a frame."""


def encode(message: Struct) -> bytes:
    return msgspec.msgpack.encode(message)


def decode(data: bytes, kind: type[_Message]) -> _Message:
    """Decode the content of a frame. Raises ChannelBroken."""
    try:
        return msgspec.msgpack.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise ChannelBroken(str(error)) from None


class JobChannel:
    """One end of the connection; its methods are called in the thread of the loop."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._socket = connection
        self._received = bytearray()
        self._waiting = bytearray()
        self._is_sending = False
        self._readable: asyncio.Future[None] | None = None
        """Of who waits for a frame; while it is there, the loop watches the socket for it."""
        self.is_gone = False
        """Whether the other end was found closed."""
        self.room = asyncio.Event()
        """Set while little is waiting to be sent, and for ever once the other end is gone."""
        self.room.set()

    async def receive(self) -> tuple[bytes, bytes] | None:
        """Return the next frame, kind and content; None at the end. Raises ChannelBroken."""
        while (frame := self._next_frame()) is None:
            await self._wait_readable()
            if not self._read():
                return None
        return frame

    async def _wait_readable(self) -> None:
        loop = asyncio.get_running_loop()
        self._readable = readable = loop.create_future()
        loop.add_reader(self._socket.fileno(), self._stop_reading)
        try:
            await readable
        finally:
            if self._readable is readable:
                self._stop_reading()

    def _stop_reading(self) -> None:
        """End the wait for something to read.

        Never after the socket is closed: the loop could already watch another one with its number.
        """
        readable, self._readable = self._readable, None
        if readable is not None:
            readable.get_loop().remove_reader(self._socket.fileno())
            if not readable.done():
                readable.set_result(None)

    def send(self, kind: bytes, content: bytes = b"") -> None:
        """Send a frame, later where the other end is slow; where it is gone, nothing."""
        if self.is_gone:
            return
        if self._waiting:
            self._waiting += _HEAD.pack(kind, len(content))
            self._waiting += content
        else:
            self._send_now(_HEAD.pack(kind, len(content)), content)
        if self._waiting and not self._is_sending:
            self._is_sending = True
            asyncio.get_running_loop().add_writer(self._socket.fileno(), self._send_waiting)
        if len(self._waiting) > _MOST_WAITING:
            self.room.clear()

    async def flush(self) -> None:
        """Wait until all was sent, or the other end is gone."""
        while self._waiting and not self.is_gone:
            self.room.clear()
            await self.room.wait()

    def close(self) -> None:
        """Close this end, and end what waits for a frame; twice is harmless."""
        self._stop_sending()
        self._stop_reading()
        self.is_gone = True
        self.room.set()
        self._socket.close()

    def ended_within(self, seconds: float) -> bool:
        """Wait for the end of the other side, blocking, and throw away what it still sends."""
        self._socket.settimeout(seconds)
        with contextlib.suppress(OSError):
            while self._socket.recv(_CHUNK):
                pass
            return True
        return False

    def _next_frame(self) -> tuple[bytes, bytes] | None:
        if len(self._received) < _HEAD.size:
            return None
        kind, length = _HEAD.unpack_from(self._received)
        if length > _MOST_FRAME:
            raise ChannelBroken(f"a frame of {length} bytes")
        end = _HEAD.size + length
        if len(self._received) < end:
            return None
        content = bytes(self._received[_HEAD.size : end])
        del self._received[:end]
        return kind, content

    def _read(self) -> bool:
        try:
            data = self._socket.recv(_CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._received += data
        return bool(data)

    def _send_now(self, *parts: bytes) -> None:
        total = sum(map(len, parts))
        try:
            sent = self._socket.sendmsg(parts)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._lose()
            return
        if sent < total:
            self._waiting += b"".join(parts)[sent:]

    def _send_waiting(self) -> None:
        try:
            sent = self._socket.send(self._waiting)
        except BlockingIOError:
            return
        except OSError:
            self._lose()
            return
        del self._waiting[:sent]
        if len(self._waiting) <= _MOST_WAITING // 2:
            self.room.set()
        if not self._waiting:
            self._stop_sending()

    def _lose(self) -> None:
        self.is_gone = True
        self._waiting.clear()
        self._stop_sending()
        self.room.set()

    def _stop_sending(self) -> None:
        if self._is_sending:
            self._is_sending = False
            asyncio.get_running_loop().remove_writer(self._socket.fileno())
