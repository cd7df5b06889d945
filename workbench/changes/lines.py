r"""Lines as bytes: how a file is cut into lines, and which line end it uses.

A line ends at `\n` and keeps it; only the last one may lack it. `\r` is part of a line, so CRLF and lone
CR survive untouched. Never decodes.
"""

from io import BytesIO


def split_lines(data: bytes | None) -> list[bytes]:
    r"""Cut bytes behind every `\n` and nowhere else; joined again they are the same. None has no lines."""
    return BytesIO(data or b"").readlines()


def line_end(*images: bytes | None) -> bytes:
    r"""Return the line end of the first image that has any: CRLF if more than half of its lines do."""
    for image in images:
        total = image.count(b"\n") if image else 0
        if image and total:
            return b"\r\n" if image.count(b"\r\n") * 2 > total else b"\n"
    return b"\n"


def ended(line: bytes, end: bytes) -> bytes:
    r"""Return a line that surely ends in `\n`, using `end` where it has none."""
    if line.endswith(b"\n"):
        return line
    return line + (b"\n" if line.endswith(b"\r") else end)
