"""The lines of a file that another program appends to, read in pieces from where reading ended."""

import os
from typing import Final

from msgspec import Struct

from workbench.effects.file_primitives import READ_FLAGS, FileRefused, kind_of

_KNOWN_BYTES: Final = 256
"""Bytes before the place where reading ended, by which a file that was written again is noticed."""


class Growth(Struct, frozen=True, kw_only=True):
    """What a look at a file has found."""

    lines: list[bytes | int]
    """Lines that are whole, without their ends; of one that is too long its size."""
    first: int
    """The number of the first of them, from 1."""
    is_restarted: bool
    """Whether this is the beginning of another file, or of one that was written again."""
    has_more: bool
    """Whether more can be read at once."""


class GrowingFile:
    """A file that is read on where reading ended, and from its start where it became another one."""

    def __init__(self, path: str, longest_line: int) -> None:
        self.path = path
        self._longest = longest_line
        self._file: tuple[int, int] | None = None
        self._restart()

    def _restart(self) -> None:
        self._offset, self._known = 0, b""
        self._rest, self._count = b"", 0
        self._skipped = 0
        """Bytes so far of a line that is too long."""

    def read(self, most: int) -> Growth:
        """Return the lines that became whole, of at most so many bytes. Raises OSError, FileRefused."""
        descriptor = os.open(self.path, READ_FLAGS | os.O_NOFOLLOW)
        try:
            about = os.fstat(descriptor)
            if (kind := kind_of(about.st_mode)) != "file":
                raise FileRefused(self.path, f"it is a {kind}", "name the file itself")
            is_restarted = self._is_another(descriptor, (about.st_dev, about.st_ino), about.st_size)
            if is_restarted:
                self._restart()
            data = os.pread(descriptor, most, self._offset)
        finally:
            os.close(descriptor)
        self._file = (about.st_dev, about.st_ino)
        self._offset += len(data)
        self._known = (self._known + data)[-_KNOWN_BYTES:]
        first = self._count + 1
        lines = self._whole_lines(data)
        self._count += len(lines)
        has_more = len(data) == most and self._offset < about.st_size
        return Growth(lines=lines, first=first, is_restarted=is_restarted, has_more=has_more)

    def _is_another(self, descriptor: int, file: tuple[int, int], size: int) -> bool:
        if self._file != file or size < self._offset:
            return True
        return os.pread(descriptor, len(self._known), self._offset - len(self._known)) != self._known

    def _whole_lines(self, data: bytes) -> list[bytes | int]:
        *ended, self._rest = (self._rest + data).split(b"\n")
        lines: list[bytes | int] = []
        for line in ended:
            size, self._skipped = self._skipped + len(line), 0
            lines.append(line.rstrip(b"\r") if size <= self._longest and size == len(line) else size)
        if self._skipped or len(self._rest) > self._longest:
            self._skipped, self._rest = self._skipped + len(self._rest), b""
        return lines
