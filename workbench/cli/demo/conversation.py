"""The person's side of a demo: lines typed at the prompt answer what waits, each at its turn.

Owns when a line is taken: only when the agent rests and something waits, so that lines from a pipe answer
in order what they were meant for. Drives nothing.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable

from workbench.cli.approvals.linemode import LineMode
from workbench.cli.typed import read_lines
from workbench.domain.rows import Action
from workbench.host.drive import Progress

TICK_SECONDS = 1.0


class Lines:
    """Lines as they are typed; in one event loop."""

    def __init__(self, descriptor: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: deque[str] = deque()
        self.has_ended = False
        self.changed = asyncio.Event()
        read_lines(descriptor, self._hear)

    def _hear(self, line: str | None) -> None:
        self._loop.call_soon_threadsafe(self._keep, line)

    def _keep(self, line: str | None) -> None:
        if line is None:
            self.has_ended = True
        elif line.strip():
            self._lines.append(line)
        self.changed.set()

    async def next(self) -> str | None:
        """Wait for the next line and return it; None when there are no more."""
        while not self._lines and not self.has_ended:
            self.changed.clear()
            await self.changed.wait()
        return self.take()

    def take(self) -> str | None:
        """Return the next line if there is one."""
        return self._lines.popleft() if self._lines else None

    def put_back(self, line: str) -> None:
        """Let a line be the next one again."""
        self._lines.appendleft(line)


class Conversation:
    """Answers by line while a session is driven."""

    def __init__(self, lines: Lines, mode: LineMode, waiting: Callable[[], list[Action]]) -> None:
        self._lines, self._mode, self._waiting = lines, mode, waiting
        self._progress: Progress | None = None

    def is_over(self, progress: Progress) -> bool:
        """Take note of where the session stands; True when its turn has ended."""
        self._progress = progress
        self._lines.changed.set()
        return progress.is_idle

    async def talk(self) -> None:
        """Talk until there are no more lines or the person leaves."""
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._lines.changed.wait(), TICK_SECONDS)
            self._lines.changed.clear()
            if self._rests() and not self._answer():
                return

    def _rests(self) -> bool:
        progress = self._progress
        return progress is not None and progress.is_resting and bool(progress.waiting)

    def _answer(self) -> bool:
        """Take lines until one of them changes what waits; False when it is time to leave."""
        before = self._ids()
        self._mode.look()
        while (line := self._lines.take()) is not None:
            if not self._mode.answer(line):
                return False
            if self._ids() != before:
                # The driver has not seen the answer yet; the next line waits until it rests again.
                self._progress = None
                return True
        return not self._lines.has_ended

    def _ids(self) -> list[str]:
        return [action.id for action in self._waiting()]
