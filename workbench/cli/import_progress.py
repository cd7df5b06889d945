"""The line on stderr that says how far an import is: files, bytes, rate, time to go; only on a terminal."""

import time
from pathlib import Path
from typing import BinaryIO, Final

from workbench.cli.console import Console
from workbench.formats.detect import counting_stream
from workbench.text.human import counted, duration_text, size_text
from workbench.text.safe import one_line

_PROGRESS_SECONDS: Final = 0.2


class ProgressLine:
    """One line on stderr that says how far it is; only on a terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._begin = self._last = time.monotonic()
        self._bytes = self._all_bytes = self._files = self._all_files = 0
        self._is_shown = False

    def begin(self, files: int, size: int) -> None:
        self._begin, self._all_files, self._all_bytes = time.monotonic(), files, size

    def counted(self, stream: BinaryIO, name: str) -> BinaryIO:
        return counting_stream(stream, lambda count: self._note(count, name))

    def file_done(self) -> None:
        self._files += 1

    def _note(self, count: int, name: str) -> None:
        self._bytes += count
        now = time.monotonic()
        if now - self._last < _PROGRESS_SECONDS:
            return
        self._last, self._is_shown = now, True
        self._console.status(self._words(now - self._begin, name))

    def _words(self, seconds: float, name: str) -> str:
        speed = self._bytes / max(0.001, seconds)
        words = f"{size_text(int(speed))}/s"
        if not self._all_files:
            return f"{size_text(self._bytes)} read, {words}  {one_line(Path(name).name, 40)}"
        left = max(0, self._all_bytes - self._bytes) / max(1.0, speed)
        done = f"{self._files:,} of {counted(self._all_files, 'file')}"
        size = f"{size_text(self._bytes)} of {size_text(max(self._all_bytes, self._bytes))}"
        return f"{done}, {size}, {words}, {duration_text(left, counts_on=True)} to go"

    def wait(self) -> None:
        if not self._is_shown:
            self._is_shown = True
            self._console.status("Waiting for another import to end.")

    def clear(self) -> None:
        """Take the line away."""
        self._console.clear_status()
        self._is_shown = False
