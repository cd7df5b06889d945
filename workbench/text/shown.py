"""How untrusted text is shown in each kind of place, and whether whoever decides has to be warned of it.

Owns what goes beyond single characters: floods of combining marks, padding that pushes text out of sight,
very long lines. Nothing is dropped without a visible mark in its place, and showing twice changes nothing.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Final, Literal, cast, get_args

from workbench.records import dataclass
from workbench.text.safe import has_hidden, safe
from workbench.text.scripts import has_mixed_scripts

Where = Literal["approval_command", "tool_output", "diff_preview", "file_name", "tool_title", "log_line"]
PLACES: Final = get_args(Where)

Oddity = Literal["hidden", "padding", "long", "mixed scripts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What a place bears; numbers of characters and lines."""

    is_line: bool
    """One line only: a line end there is an oddity itself."""
    blanks: int
    """Blanks in a row, with text behind them, that are still layout."""
    empty: int
    """Empty lines in a row, with text behind them."""
    longest: int
    """Characters of a line."""
    cuts: bool
    """Whether a longer line is cut; where bytes are approved, it never is."""
    warns_long: bool = True
    has_programs: bool = False
    """What stands there runs or is reached by its name, which must not look like another one."""
    has_files: bool = False
    """What stands there are lines of files, which may all end in CRLF."""


_PLACES: Final[dict[Where, Place]] = {
    "approval_command": Place(is_line=False, blanks=19, empty=5, longest=1000, cuts=False, has_programs=True),
    "tool_output": Place(is_line=False, blanks=160, empty=60, longest=4000, cuts=True, warns_long=False),
    "diff_preview": Place(is_line=False, blanks=80, empty=24, longest=2000, cuts=False, has_files=True),
    "file_name": Place(is_line=True, blanks=7, empty=0, longest=255, cuts=True),
    "tool_title": Place(is_line=True, blanks=7, empty=0, longest=200, cuts=True),
    "log_line": Place(is_line=True, blanks=40, empty=0, longest=2000, cuts=True),
}
_BLANK: Final = "[ \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]"
_INDENT: Final = 60
_SLACK: Final = 40
"""Characters that a mark may take beyond the longest line, so that a cut line is not cut again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A text as it is shown."""

    text: str
    oddities: tuple[Oddity, ...]
    """What whoever decides has to be warned of; none for ordinary text."""

    @property
    def warn(self) -> bool:
        """Say whether there is anything to be warned of."""
        return bool(self.oddities)


def show(text: str, where: Where) -> Shown:
    """Return a text as it is shown in a place.

    Args:
        text: Anything, lone surrogates included.
        where: The kind of place.
    """
    place = _PLACES[where]
    if where == "tool_output" or (place.has_files and has_crlf(text)):
        text = text.replace("\r\n", "\n")
    found = dict.fromkeys(_oddities(text, place))
    shown = safe(text, keep_newlines=not place.is_line)
    shown = _empty_lines(_padding(shown, place), place)
    if place.cuts:
        shown = "\n".join(_cut(line, place.longest) for line in shown.split("\n"))
    return Shown(text=shown, oddities=tuple(found))


def oddities(text: str, where: Where) -> tuple[Oddity, ...]:
    """Return what whoever decides about a text has to be warned of; none for ordinary text."""
    return tuple(dict.fromkeys(_oddities(text, _PLACES[where])))


def strings(value: object) -> Iterator[str]:
    """Yield every string of a JSON value, the keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in cast("Mapping[str, object]", value).items():
            yield key
            yield from strings(item)
    elif isinstance(value, list | tuple):
        for item in cast("list[object]", value):
            yield from strings(item)


def has_crlf(text: str) -> bool:
    r"""Say whether every line of a text ends in CRLF: a property of the text, and nothing hidden in it."""
    count = text.count("\r\n")
    return 0 < count == text.count("\r") == text.count("\n")


def _oddities(text: str, place: Place) -> Iterator[Oddity]:
    if place.has_files and has_crlf(text):
        text = text.replace("\r\n", "\n")
    if has_hidden(text) or (place.is_line and ("\n" in text or "\t" in text)):
        yield "hidden"
    if _blanks(place).search(text) or _has_gap(text, place):
        yield "padding"
    if place.warns_long and len(text) > place.longest and max(map(len, text.split("\n"))) > place.longest:
        yield "long"
    if place.has_programs and has_mixed_scripts(text):
        yield "mixed scripts"


def _blanks(place: Place) -> re.Pattern[str]:
    """Blanks with text behind them: in a line more than the place bears, before it more than an indent."""
    inner = rf"(?<=[^\s]){_BLANK}{{{place.blanks + 1},}}+(?=[^\s])"
    return re.compile(rf"{inner}|^{_BLANK}{{{max(_INDENT, place.blanks) + 1},}}+(?=[^\s])", re.MULTILINE)


def _padding(text: str, place: Place) -> str:
    return _blanks(place).sub(lambda found: f" ⟨{len(found.group())} blanks⟩ ", text)


def _empty_lines(text: str, place: Place) -> str:
    if not _has_gap(text, place):
        return text
    out: list[str] = []
    for is_empty, lines in groupby(text.split("\n"), lambda line: not line.strip()):
        kept = list(lines)
        is_gap = is_empty and len(kept) > place.empty
        out += [f"⟨{len(kept)} empty lines⟩"] if is_gap else kept
    return "\n".join(out)


def _has_gap(text: str, place: Place) -> bool:
    """Say whether there are more empty lines in a row, with text behind them, than the place bears."""
    if place.is_line or text.count("\n") <= place.empty:
        return False
    count = 0
    for line in text.split("\n"):
        if line.strip():
            if count > place.empty:
                return True
            count = 0
        else:
            count += 1
    return False


def _cut(line: str, longest: int) -> str:
    if len(line) <= longest + _SLACK:
        return line
    return f"{line[:longest]}…⟨{len(line) - longest} more characters⟩"
