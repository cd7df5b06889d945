"""Unrolls a `for` loop over literal words or file names, so that each round is judged by its own words.

`for f in a b; do cat $f; done` runs `cat a` and `cat b`. The variable is first replaced by a word that occurs
nowhere else. What the readers make of that line holds for every value, because a value is one word without
any sign that a shell would expand or split.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

_HEADER: Final = re.compile(
    r"(?<![\w$-])for[ \t]+(?P<name>[A-Za-z_]\w*)[ \t]+in(?P<words>(?:[ \t]+[A-Za-z0-9_./@%+,:*?-]+)+)"
    r"[ \t]*(?:;|\n)[ \t\n]*do(?=[ \t\n])"
)
_NOT_READ: Final = re.compile(r"['\\`]|<<|\$'")
"""Signs with which a `$` may be text."""
_END: Final = re.compile(r"\bdone\b")
_VALUE: Final = re.compile(r"[A-Za-z0-9_./@%+,:-]+")
_MOST_VALUES: Final = 50
ROUND_WORD: Final = "qvx7round"
"""Takes the place of the variable."""


class ShellLoop(Struct, frozen=True, kw_only=True):
    """A loop whose rounds are known."""

    command: str
    """The line with `ROUND_WORD` for its variable."""
    start: int
    """Place of the word `for`, in bytes."""
    values: tuple[str, ...]


def read_loop(command: str, folder: str | None) -> ShellLoop | None:
    """Return the loop of a line, None where the line has none or its rounds are not known.

    Args:
        command: The line.
        folder: Real path of the folder in which it runs; without one no pattern of file names is expanded.
    """
    header = _HEADER.search(command) if "$" in command else None
    if header is None or _NOT_READ.search(command) or ROUND_WORD in command:
        return None
    name = re.escape(header["name"])
    uses = re.compile(rf"\$(?:{name}(?![A-Za-z0-9_\[])|\{{{name}\}})")
    end = _END.search(command, header.end())
    places = [use.start() for use in uses.finditer(command)]
    if end is None or not places or not all(header.end() <= place < end.start() for place in places):
        return None
    if re.search(
        rf"(?<![\w$]){name}\+?=|\bfor[ \t]+{name}\b", command[header.end() :] + command[: header.start()]
    ):
        return None
    values = _values(header["words"].split(), folder)
    if values is None:
        return None
    start = len(command[: header.start()].encode("utf-8", "surrogatepass"))
    body = uses.sub(ROUND_WORD, command[header.end("words") :])
    line = f"{command[: header.start('words')]} {' '.join(values)}{body}"
    return ShellLoop(command=line, start=start, values=values)


def _values(words: Sequence[str], folder: str | None) -> tuple[str, ...] | None:
    values: dict[str, None] = {}
    for word in words:
        found = _names(word, folder) if "*" in word or "?" in word else [word]
        values.update(dict.fromkeys(found))
        if not found or len(values) > _MOST_VALUES or not all(map(_VALUE.fullmatch, found)):
            return None
    return tuple(values)


def _names(pattern: str, folder: str | None) -> list[str]:
    """Return the names that a pattern matches, as a shell writes them; none where that is not certain."""
    if (
        folder is None
        or pattern.startswith("/")
        or "**" in pattern
        or {".", "..", ""} & set(pattern.split("/"))
    ):
        return []
    found: list[str] = []
    for path in Path(folder).glob(pattern):
        name = path.relative_to(folder).as_posix()
        # A shell matches a leading dot only with a dot of the pattern.
        if all(
            part.startswith(".") <= form.startswith(".")
            for part, form in zip(name.split("/"), pattern.split("/"), strict=True)
        ):
            found.append(name)
        if len(found) > _MOST_VALUES:
            return []
    return found
