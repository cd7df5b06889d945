"""Lines of a file that grows: counted, with a seal over the part that was read."""

import hashlib
from collections.abc import Callable, Iterable, Iterator


class PrefixChanged(Exception):
    """A file does not begin as it did when it was read last; all of it is to be read."""


Seal = Callable[[bytes], str]
"""Makes of a digest one that says nothing to who does not have the key."""


class LineMeter:
    """Counts the lines of a file that were read and digests them, so that one that grew is known again.

    `between` is called when a line is there and all before it were taken.
    """

    def __init__(self, lines: Iterable[bytes | int]) -> None:
        self._lines, self.count = lines, 0
        self._digest = hashlib.blake2b(digest_size=32)
        self._known = (0, "")
        self._seal: Seal = bytes.hex
        self._between: Callable[[], None] = lambda: None

    def watch(self, seal: Seal, between: Callable[[], None], known: tuple[int, str] = (0, "")) -> None:
        """Begin; `known`: how many lines are passed over, and the digest that they have to have."""
        self._seal, self._between, self._known = seal, between, known

    @property
    def is_known(self) -> bool:
        """Whether the line that was read last is passed over."""
        return self._known[0] > 0 and self.count <= self._known[0]

    @property
    def digest(self) -> str:
        """Of all lines so far."""
        return self._seal(self._digest.copy().digest())

    def __iter__(self) -> Iterator[bytes | int]:
        """Yield the lines. Raises PrefixChanged."""
        most, digest = self._known
        for line in self._lines:
            if most and self.count == most and self.digest != digest:
                raise PrefixChanged
            self._between()
            self.count += 1
            self._digest.update(b"%d\n" % line if isinstance(line, int) else line + b"\n")
            yield line
        if self.count <= most:
            raise PrefixChanged
