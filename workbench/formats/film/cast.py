r"""A film as an asciicast, version 2: what `asciinema play` shows and its players embed.

Pure. Owns the only controls that leave: those that place the cursor, choose colours and clear, written here
and never taken from a frame. Format: https://docs.asciinema.org/manual/asciicast/v2/
"""

import json
from typing import Final

from workbench.domain.values import Json
from workbench.formats.film.model import SECOND, Film, Frame, Look, Row, pieces
from workbench.text.safe import one_line

_BEGIN: Final = "\x1b[?25l\x1b[?7l\x1b[2J"
_END: Final = "\x1b[0m\x1b[?7h\x1b[?25h"
"""Cursor and wrapping off, all cleared; and back."""


class Tape:
    """The lines of a cast, made frame by frame: of the frames themselves only the last is kept."""

    def __init__(self, film: Film) -> None:
        """Begin a cast.

        Args:
            film: What is said of all of it; its frames are not looked at.
        """
        self._film = film
        self._marks = sorted(film.marks, key=lambda mark: mark.at)
        self._told = 0
        self._last: Frame | None = None
        self.lines: list[str] = []

    def add(self, frame: Frame) -> None:
        """Paint what a frame shows that the one before did not; the first clears the terminal."""
        before, self._last = self._last, frame
        if before is None:
            self.lines.append(json.dumps(self._head(frame)))
            text = _BEGIN + "".join(_row(row, number) for number, row in enumerate(frame.rows))
        else:
            pairs = enumerate(zip(before.rows, frame.rows, strict=True))
            text = "".join(_row(row, number) for number, (old, row) in pairs if old != row)
        self._mark(frame.at - 1)
        self._put(frame.at, "o", text)

    def end(self) -> list[str]:
        """Return all lines, the last of which gives the terminal back."""
        self._mark(self._film.length)
        self._put(max(self._film.length, self._last.at if self._last else 0), "o", _END)
        return self.lines

    def _head(self, first: Frame) -> dict[str, Json]:
        film = self._film
        return {
            "version": 2, "width": film.width, "height": film.height,
            "timestamp": first.recorded // SECOND, "duration": film.length / SECOND,
            "title": one_line(film.title, 200), "env": {"TERM": "xterm-256color"},
        }  # fmt: skip

    def _mark(self, until: int) -> None:
        while self._told < len(self._marks) and self._marks[self._told].at <= until:
            mark = self._marks[self._told]
            self._told += 1
            self._put(mark.at, "m", f"{mark.kind}: {mark.sign}")

    def _put(self, at: int, code: str, text: str) -> None:
        self.lines.append(json.dumps([at / SECOND, code, text]))


def write(film: Film) -> list[str]:
    """Return the lines of a cast: a header, then what is painted and which events were marks, with times."""
    tape = Tape(film)
    for frame in film.frames:
        tape.add(frame)
    return tape.end()


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
