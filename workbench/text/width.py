"""Count the terminal cells of a text, and cut it to a width."""

import unicodedata
from collections.abc import Iterator
from functools import cache

_EMOJI_PRESENTATION = "\ufe0f"
_ELLIPSIS = "…"


def cell_width(text: str) -> int:
    """Count the cells that a terminal gives to the text.

    Wide and full-width characters take two, combining marks none; an emoji presentation selector
    makes the narrow symbol before it wide.
    """
    if text.isascii():
        return len(text)
    return sum(_cell_steps(text))


def cut_to_width(text: str, cells: int) -> str:
    """Shorten the text to at most `cells` cells; the last is … if something was left out."""
    if _fits(text, cells):
        return text
    return "" if cells <= 0 else _head(text, cells - 1) + _ELLIPSIS


def cut_path_to_width(path: str, cells: int) -> str:
    """Shorten a path to at most `cells` cells and keep its end.

    The first folder stays where there is room (`src/…/router.py`), then whole folders at the end,
    at last the end of the file name.
    """
    if _fits(path, cells):
        return path
    parts = path.split("/")
    for start in (parts[0] + "/…", _ELLIPSIS):
        for first in range(1, len(parts)):
            candidate = "/".join([start, *parts[first:]])
            if _fits(candidate, cells):
                return candidate
    return "" if cells <= 0 else _ELLIPSIS + _tail(path, cells - 1)


def _fits(text: str, limit: int) -> bool:
    if text.isascii() and text.isprintable():
        return len(text) <= limit and limit >= 0
    used = 0
    for step in _cell_steps(text):
        used += step
        if used > limit:
            return False
    return limit >= 0


def _cell_steps(text: str) -> Iterator[int]:
    before = 0
    for character in text:
        step = 1 if character == _EMOJI_PRESENTATION and before == 1 else _cell(character)
        yield step
        before = step


@cache
def _cell(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf", "Cc") and character != "\t":
        return 0
    if "\u1160" <= character <= "\u11ff" or "\ud7b0" <= character <= "\ud7fb":
        return 0  # medial and final Hangul letters draw into the cell of the first
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _head(text: str, room: int) -> str:
    used = 0
    for index, step in enumerate(_cell_steps(text)):
        used += step
        if used > room:
            return text[:index]
    return text


def _tail(text: str, room: int) -> str:
    end = text[-16 * (room + 1) :]
    steps = list(_cell_steps(end))
    used = sum(steps)
    start = 0
    while start < len(end) and (used > room or steps[start] == 0):
        used -= steps[start]
        start += 1
    return end[start:]
