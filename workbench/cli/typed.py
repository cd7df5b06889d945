"""What a person types, line by line, without holding up whoever waits for other things too.

Owns one thread that reads a descriptor. It must never use the buffered stdin object: a thread that waits
in it keeps the interpreter from ending.
"""

import codecs
import os
import threading
from collections.abc import Callable

OnLine = Callable[[str | None], None]
"""Gets each line without its end, and None once when there is no more. Called in another thread."""

_LONGEST = 65_536


def read_lines(descriptor: int, on_line: OnLine) -> threading.Thread:
    """Start to read lines of a descriptor and return the thread that does it."""
    thread = threading.Thread(target=_read, args=(descriptor, on_line), name="typed", daemon=True)
    thread.start()
    return thread


def _read(descriptor: int, on_line: OnLine) -> None:
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    rest = ""
    while data := _some(descriptor):
        *lines, rest = (rest + decode(data)).split("\n")
        for line in lines:
            on_line(line.rstrip("\r"))
        rest = rest[-_LONGEST:]
    if rest:
        on_line(rest)
    on_line(None)


def _some(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""
