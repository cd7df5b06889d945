"""Lines of pages of details whose parts have a tone: a status, a weight, the words of test runners."""

import re
from typing import Final, Literal, cast

from msgspec import Struct

from workbench.views.status_icons import ICONS, StatusName

LineTone = StatusName | Literal["muted", "faint", "strong"]
"""What a part of a line means: a status, or how much it weighs."""
ToneSpan = tuple[int, int, LineTone]


class PageLine(Struct, frozen=True):
    """A safe line, some parts of which have a tone."""

    text: str
    tones: tuple[ToneSpan, ...]


def page_line(*parts: str | tuple[str, LineTone | None]) -> PageLine:
    """Return a line of safe parts, some of them with a tone."""
    text, tones = "", list[ToneSpan]()
    for part in parts:
        words, tone = (part, None) if isinstance(part, str) else part
        if tone is not None and words:
            tones.append((len(text), len(text) + len(words), tone))
        text += words
    return PageLine(text, tuple(tones))


def icon_part(name: StatusName) -> tuple[str, LineTone]:
    return ICONS[name].unicode, name


_TEST_WORD: Final = re.compile(
    r"(?<![\w.])(?:(?P<ok>PASSED|PASS|XPASS)|(?P<failed>FAILED|FAIL|ERROR)|(?P<muted>SKIPPED|SKIP|XFAIL))(?![\w=])"
)
_TEST_COUNT: Final = re.compile(
    r"\b[1-9]\d* (?:(?P<ok>passed)|(?P<failed>failed|errors?)|(?P<muted>skipped|xfailed|deselected))\b"
)
_FAILED_ASSERTION: Final = re.compile(r"(?P<failed>E {2,}.*)")
_MAX_TONED_CELLS: Final = 2_000


def output_tones(line: str) -> tuple[ToneSpan, ...]:
    """Return what words of test runners in a line mean: outcomes, pytest's summary, a failed assertion."""
    line = line[:_MAX_TONED_CELLS]
    if match := _FAILED_ASSERTION.match(line):
        return ((0, match.end(), "failed"),)
    matches = (match for pattern in (_TEST_WORD, _TEST_COUNT) for match in pattern.finditer(line))
    return tuple((*match.span(), cast("LineTone", match.lastgroup)) for match in matches)
