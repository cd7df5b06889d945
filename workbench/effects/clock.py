"""The clock, and identifiers."""

import itertools
import time
import uuid
from typing import Protocol


class Clock(Protocol):
    """Tell the time and make identifiers; everything that needs either is given one."""

    def now(self) -> int:
        """Return the wall clock in microseconds since the epoch, UTC."""
        ...

    def monotonic(self) -> float:
        """Return steady seconds from an arbitrary start; never goes back."""
        ...

    def new_id(self) -> str:
        """Return a new identifier as the text of a version 4 UUID."""
        ...


class SystemClock:
    """The clock of this machine, and random identifiers."""

    def now(self) -> int:
        return time.time_ns() // 1000

    def monotonic(self) -> float:
        return time.monotonic()

    def new_id(self) -> str:
        return str(uuid.uuid4())


class ManualClock:
    """A clock that moves when told to, with identifiers that count up: for tests and golden sessions."""

    def __init__(self, start: int = 1_700_000_000_000_000) -> None:
        self._start = start
        self._passed = 0
        self._ids = itertools.count(1)

    def now(self) -> int:
        return self._start + self._passed

    def monotonic(self) -> float:
        return self._passed / 1_000_000

    def new_id(self) -> str:
        """Return the next identifier: ``00000000-0000-4000-8000-000000000001``, then ``…002``."""
        return f"00000000-0000-4000-8000-{next(self._ids):012d}"

    def advance(self, seconds: float) -> None:
        """Move both clocks forward, rounded to a microsecond. Raises ValueError: the clock would go back."""
        if seconds < 0:
            raise ValueError(f"a clock does not go back ({seconds} s)")
        self._passed += round(seconds * 1_000_000)
