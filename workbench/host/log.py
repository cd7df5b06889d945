"""The log of a host: what it says about itself, scrubbed, safe to look at, and never too large.

Owns the one handler of a host process. The file is the process's own stderr, opened for appending by whoever
started it; when it grows too large its older part is dropped.
"""

import logging
import os
import sys
from pathlib import Path
from typing import Final, TextIO

from workbench.text.safe import safe
from workbench.text.scrub import scrub

LARGEST: Final = 4_000_000
"""Bytes of a log; the newest quarter is kept when it grows over them."""

LONGEST: Final = 20_000
"""Characters of one entry."""


class HostLog(logging.Handler):
    """Writes entries to a stream, and keeps the file behind it small."""

    def __init__(self, stream: TextIO, path: Path | None, largest: int = LARGEST) -> None:
        """Prepare it.

        Args:
            stream: Where entries go.
            path: The file that the stream writes to the end of; None where there is none to be kept small.
            largest: Bytes that it may have.
        """
        super().__init__()
        self._stream, self._path, self._largest = stream, path, largest
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Write an entry; a log that cannot be written must not end the host."""
        try:
            text = safe(scrub(self.format(record)).text)
            cut = text if len(text) <= LONGEST else f"{text[:LONGEST]} …"
            self._stream.write(cut + "\n")
            self._stream.flush()
            self._shrink()
        except (OSError, ValueError):
            self._path = None

    def _shrink(self) -> None:
        if self._path is None:
            return
        file = self._stream.fileno()
        found = os.fstat(file)
        if found.st_size <= self._largest or not os.path.samestat(found, self._path.stat()):
            return
        with self._path.open("rb") as old:
            old.seek(-self._largest // 4, os.SEEK_END)
            kept = old.read().partition(b"\n")[2]
        os.ftruncate(file, 0)
        os.write(file, b"(what was here before was dropped: the log had grown too large)\n" + kept)


def begin(path: Path) -> None:
    """Send everything that is logged in this process to its stderr, which a file may stand behind."""
    root = logging.getLogger()
    root.setLevel(logging.INFO)
    root.handlers[:] = [HostLog(sys.stderr, path if path.is_file() else None)]
