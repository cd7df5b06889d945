"""How untrusted text is displayed in each kind of place, and which warnings an approver needs."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import groupby
from typing import Final, Literal, cast, get_args
from urllib.parse import urlsplit

from msgspec import Struct

from workbench.text.safe import has_hidden_characters, has_odd_spaces, marked_spaces, safe_text

DisplayPlace = Literal[
    "approval_command", "tool_output", "diff_preview", "file_name", "tool_title", "log_line"
]
DISPLAY_PLACES: Final = get_args(DisplayPlace)
TextWarning = Literal["hidden", "padding", "long", "mixed scripts", "odd spaces"]


class PlaceLimits(Struct, frozen=True, kw_only=True):
    """What a place bears; numbers of characters and lines."""

    is_line: bool
    """One line only: a line end there is an oddity itself."""
    blanks: int
    """Blanks in a row, with text behind them, that are still layout."""
    empty: int
    """Empty lines in a row, with text behind them."""
    longest: int
    cuts: bool
    """Whether a longer line is cut; where bytes are approved, it never is."""
    warns_long: bool = True
    has_programs: bool = False
    """What stands there runs or is reached by its name, which must not look like another one."""
    marks_spaces: bool = False
    """Whether a space that is not the plain one is marked: it separates no words there."""
    has_files: bool = False
    """What stands there are lines of files, which may all end in CRLF."""


_PLACE_LIMITS: Final[dict[DisplayPlace, PlaceLimits]] = {
    "approval_command": PlaceLimits(
        is_line=False, blanks=19, empty=5, longest=1000, cuts=False, has_programs=True, marks_spaces=True
    ),
    "tool_output": PlaceLimits(
        is_line=False, blanks=160, empty=60, longest=4000, cuts=True, warns_long=False
    ),
    "diff_preview": PlaceLimits(is_line=False, blanks=80, empty=24, longest=2000, cuts=False, has_files=True),
    "file_name": PlaceLimits(is_line=True, blanks=7, empty=0, longest=255, cuts=True, marks_spaces=True),
    "tool_title": PlaceLimits(is_line=True, blanks=7, empty=0, longest=200, cuts=True),
    "log_line": PlaceLimits(is_line=True, blanks=40, empty=0, longest=2000, cuts=True),
}
_BLANK: Final = "[ \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]"
_INDENT: Final = 60
_SLACK: Final = 40
"""Characters that a mark may take beyond the longest line, so that a cut line is not cut again."""


class DisplayedText(Struct, frozen=True, kw_only=True):
    """A text as it is shown."""

    text: str
    oddities: tuple[TextWarning, ...]
    """What whoever decides has to be warned of; none for ordinary text."""

    @property
    def warn(self) -> bool:
        return bool(self.oddities)


def displayed_text(text: str, where: DisplayPlace) -> DisplayedText:
    place = _PLACE_LIMITS[where]
    if where == "tool_output" or (place.has_files and has_crlf(text)):
        text = text.replace("\r\n", "\n")
    warnings = dict.fromkeys(_text_warnings(text, place))
    displayed = safe_text(text, keep_newlines=not place.is_line)
    displayed = _with_gap_marks(_with_padding_marks(displayed, place), place)
    displayed = marked_spaces(displayed) if place.marks_spaces else displayed
    if place.cuts:
        displayed = "\n".join(_cut_line(line, place.longest) for line in displayed.split("\n"))
    return DisplayedText(text=displayed, oddities=tuple(warnings))


def text_warnings(text: str, where: DisplayPlace) -> tuple[TextWarning, ...]:
    """Return what whoever decides about a text has to be warned of; none for ordinary text."""
    return tuple(dict.fromkeys(_text_warnings(text, _PLACE_LIMITS[where])))


def json_strings(value: object) -> Iterator[str]:
    """Yield every string of a JSON value, the keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in cast("Mapping[str, object]", value).items():
            yield key
            yield from json_strings(item)
    elif isinstance(value, list | tuple):
        for item in cast("list[object]", value):
            yield from json_strings(item)


def has_crlf(text: str) -> bool:
    r"""Say whether every line of a text ends in CRLF: a property of the text, and nothing hidden in it."""
    count = text.count("\r\n")
    return 0 < count == text.count("\r") == text.count("\n")


def _text_warnings(text: str, place: PlaceLimits) -> Iterator[TextWarning]:
    if place.has_files and has_crlf(text):
        text = text.replace("\r\n", "\n")
    if has_hidden_characters(text) or (place.is_line and ("\n" in text or "\t" in text)):
        yield "hidden"
    if _blanks(place).search(text) or _has_gap(text, place):
        yield "padding"
    if place.warns_long and len(text) > place.longest and max(map(len, text.split("\n"))) > place.longest:
        yield "long"
    if place.has_programs and has_mixed_scripts(text):
        yield "mixed scripts"
    if place.marks_spaces and has_odd_spaces(text):
        yield "odd spaces"


def _blanks(place: PlaceLimits) -> re.Pattern[str]:
    """Blanks with text behind them: in a line more than the place bears, before it more than an indent."""
    inner = rf"(?<=[^\s]){_BLANK}{{{place.blanks + 1},}}+(?=[^\s])"
    return re.compile(rf"{inner}|^{_BLANK}{{{max(_INDENT, place.blanks) + 1},}}+(?=[^\s])", re.MULTILINE)


def _with_padding_marks(text: str, place: PlaceLimits) -> str:
    return _blanks(place).sub(lambda match: f" ⟨{len(match.group())} blanks⟩ ", text)


def _with_gap_marks(text: str, place: PlaceLimits) -> str:
    if not _has_gap(text, place):
        return text
    out: list[str] = []
    for is_empty, lines in groupby(text.split("\n"), lambda line: not line.strip()):
        group = list(lines)
        is_gap = is_empty and len(group) > place.empty
        out += [f"⟨{len(group)} empty lines⟩"] if is_gap else group
    return "\n".join(out)


def _has_gap(text: str, place: PlaceLimits) -> bool:
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


def _cut_line(line: str, longest: int) -> str:
    if len(line) <= longest + _SLACK:
        return line
    return f"{line[:longest]}…⟨{len(line) - longest} more characters⟩"


_LATIN_LETTERS: Final = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"
_LOOKALIKE_LETTERS: Final = (
    "\u0400-\u052f\u0531-\u0587\u13a0-\u13fd\uff21-\uff3a\uff41-\uff5a"
    "\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
    "\u03b1\u03b9\u03ba\u03bd\u03bf\u03c1\u03c5\u03c7"
)
"""Cyrillic, Armenian, Cherokee, wide letters, and the Greek ones that are drawn like Latin ones."""


@cache
def _mixed_word() -> re.Pattern[str]:
    return re.compile(
        rf"[{_LATIN_LETTERS}][0-9_]{{0,8}}[{_LOOKALIKE_LETTERS}]|[{_LOOKALIKE_LETTERS}][0-9_]{{0,8}}[{_LATIN_LETTERS}]"
    )


def has_mixed_scripts(text: str) -> bool:
    """Say whether a word of a text holds letters of Latin and of an alphabet that looks like it."""
    return not text.isascii() and bool(_mixed_word().search(text))


def has_mixed_script_host(address: str) -> bool:
    """Say whether the host of an address holds letters of both, in whichever of its parts."""
    if address.isascii():
        return False
    try:
        host = urlsplit(address).netloc
    except ValueError:
        return True
    letters = "".join(sign for sign in host if sign.isalpha())
    return has_mixed_scripts(letters)
