"""Which part of a change an answer takes: `--hunks 1,3`, `--hunks 1:2-4`, `--file PATH`.

Pure. Owns the notation. Whether a hunk or a line is there is checked by the package `changes`, but for
paths, which only this notation names.
"""

import re
from collections.abc import Sequence
from typing import Final

from workbench.cli.errors import Misuse
from workbench.domain.values import Hunk, Taken

_PART: Final = re.compile(r"(\d{1,6})(?::([\d+-]{1,200}))?", re.ASCII)
_RANGE: Final = re.compile(r"(\d{1,7})(?:-(\d{1,7}))?", re.ASCII)
_MOST_LINES: Final = 100_000


def taken_of(text: str) -> tuple[Taken, ...]:
    """Read a list of hunks: `1,3`, and `1:2-4` or `1:2+5-7` for lines of a hunk.

    Raises:
        Misuse: It is no such list.
    """
    parts = [part.strip() for part in text.split(",")]
    if not text.strip() or not all(_PART.fullmatch(part) for part in parts):
        raise _unreadable(text)
    return tuple(_taken(part, text) for part in parts)


def of_file(hunks: Sequence[Hunk], path: str) -> tuple[Taken, ...]:
    """Take all hunks of one file of an action.

    Raises:
        Misuse: The action changes no lines of such a file.
    """
    taken = tuple(Taken(hunk=hunk.index) for hunk in hunks if hunk.path == path)
    if not taken:
        paths = ", ".join(dict.fromkeys(hunk.path for hunk in hunks)) or "no line of any file"
        raise Misuse(f"nothing of {path} was taken", f"the action changes {paths}", "name one of these")
    return taken


def _taken(part: str, text: str) -> Taken:
    found = _PART.fullmatch(part)
    if found is None:
        raise _unreadable(text)
    lines = _lines(found[2], text) if found[2] else None
    return Taken(hunk=int(found[1]), lines=lines)


def _lines(text: str, whole: str) -> tuple[int, ...]:
    numbers: list[int] = []
    for piece in text.split("+"):
        found = _RANGE.fullmatch(piece)
        if found is None:
            raise _unreadable(whole)
        first, last = int(found[1]), int(found[2] or found[1])
        if not 0 < first <= last <= _MOST_LINES:
            raise _unreadable(whole)
        numbers += range(first, last + 1)
    return tuple(numbers)


def _unreadable(text: str) -> Misuse:
    return Misuse(
        f"“{text[:80]}” names no hunks",
        "hunks are numbers such as 1,3, with lines such as 1:2-4",
        "see workbench approvals show ID",
    )
