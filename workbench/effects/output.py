"""What a command prints: read as it comes, handed on up to a limit, the rest thrown away.

Owns the reading ends of a command's pipes. It keeps nothing, so a flood costs no memory, and it never waits
for the end of a pipe that somebody else may hold open.
"""

import asyncio
import os
import time
from collections.abc import Callable
from typing import Final

_CHUNK: Final = 65536


async def readable(file: int) -> None:
    """Wait until a descriptor has something to read, or its end."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()

    def wake() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(file, wake)
    try:
        await ready
    finally:
        loop.remove_reader(file)


class Output:
    """The output of one command."""

    def __init__(self, file: int, on_output: Callable[[bytes], None], limit: int) -> None:
        self._file = file
        self._on_output = on_output
        self._room = limit
        self._failure: Exception | None = None
        self.is_flooded = False
        self.over = asyncio.Event()
        """Set when the command has to end: it printed too much, or nobody can take what it prints."""

    async def pump(self) -> None:
        """Hand on what comes until the pipe ends; to be cancelled when nothing more is wanted."""
        while True:
            await readable(self._file)
            chunk = self._read()
            if chunk == b"":
                return
            self._accept(chunk or b"")

    def drain(self, seconds: float) -> None:
        """Hand on what is in the pipe now, for a limited time, waiting for nothing."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and (chunk := self._read()):
            self._accept(chunk)

    def raise_failure(self) -> None:
        """Raise what the receiver raised, if it did."""
        if self._failure is not None:
            raise self._failure

    def _read(self) -> bytes | None:
        try:
            return os.read(self._file, _CHUNK)
        except BlockingIOError:
            return None

    def _accept(self, chunk: bytes) -> None:
        taken = chunk[: self._room]
        if len(chunk) > self._room:
            self.is_flooded = True
            self.over.set()
        self._room -= len(taken)
        if taken and self._failure is None:
            self._hand_on(taken)

    def _hand_on(self, chunk: bytes) -> None:
        try:
            self._on_output(chunk)
        except Exception as error:  # noqa: BLE001 - raised again by `raise_failure`, once the command was ended
            self._failure = error
            self.over.set()


class Outputs:
    """Several outputs of one command, read side by side; what ends one of them ends all."""

    def __init__(self, *parts: Output) -> None:
        self._parts = parts
        self.over = asyncio.Event()
        for part in parts:
            part.over = self.over

    @property
    def is_flooded(self) -> bool:
        """Return whether one of them was too much."""
        return any(part.is_flooded for part in self._parts)

    async def pump(self) -> None:
        """Hand on what comes until every pipe ends; to be cancelled when nothing more is wanted."""
        await asyncio.gather(*(part.pump() for part in self._parts))

    def drain(self, seconds: float) -> None:
        """Hand on what is in the pipes now, for a limited time each, waiting for nothing."""
        for part in self._parts:
            part.drain(seconds)

    def raise_failure(self) -> None:
        """Raise what a receiver raised, if one did."""
        for part in self._parts:
            part.raise_failure()
