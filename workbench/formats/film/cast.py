r"""A film as an asciicast, version 2: what `asciinema play` shows and its players embed.

Pure. Owns the only controls that leave: those that place the cursor, choose colours and clear, written here
and never taken from a frame. Format: https://docs.asciinema.org/manual/asciicast/v2/
"""

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from workbench.formats.film.model import SECOND, Film, Frame, Look, Row, pieces
from workbench.text.safe import one_line

_BEGIN: Final = "\x1b[?25l\x1b[?7l\x1b[2J"
_END: Final = "\x1b[0m\x1b[?7h\x1b[?25h"
"""Cursor and wrapping off, all cleared; and back."""


def write(film: Film) -> Iterator[str]:
    """Yield the lines of a cast: a header, then what is painted and which events were marks, with times."""
    head = {
        "version": 2, "width": film.width, "height": film.height,
        "timestamp": film.frames[0].recorded // SECOND, "duration": film.length / SECOND,
        "title": one_line(film.title, 200), "env": {"TERM": "xterm-256color"},
    }  # fmt: skip
    yield json.dumps(head)
    found = [(frame.at, "o", text) for frame, text in _painted(film.frames)]
    found += [(mark.at, "m", f"{mark.kind}: {mark.sign}") for mark in film.marks]
    found.append((film.length, "o", _END))
    for at, code, text in sorted(found, key=lambda line: line[0]):
        yield json.dumps([at / SECOND, code, text])


def _painted(frames: Sequence[Frame]) -> Iterator[tuple[Frame, str]]:
    yield frames[0], _BEGIN + "".join(_row(row, number) for number, row in enumerate(frames[0].rows))
    for before, frame in pairwise(frames):
        changed = (
            _row(row, number)
            for number, (old, row) in enumerate(zip(before.rows, frame.rows, strict=True))
            if old != row
        )
        yield frame, "".join(changed)


def _row(row: Row, number: int) -> str:
    parts = [f"\x1b[{number + 1};1H"]
    column = 1
    for text, look in row:
        parts.append(_style(look))
        for piece, wide in pieces(text):
            parts.append(piece)
            column += wide
            # Terminals differ on the width of such a character: what follows is placed.
            parts.append("" if len(piece) > 1 and wide == len(piece) else f"\x1b[{column}G")
    return "".join([*parts, "\x1b[0m"])


def _style(look: Look) -> str:
    flags = (look.bold, "1"), (look.italic, "3"), (look.underline, "4"), (look.strike, "9")
    codes = ["0", *(code for is_on, code in flags if is_on)]
    return f"\x1b[{';'.join(codes)};38;2;{_channels(look.ink)};48;2;{_channels(look.paper)}m"


def _channels(colour: str) -> str:
    return ";".join(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5))
