"""A finding as a file tells it, before its place is looked for, and the report of what could not be read."""

import codecs
from collections.abc import Iterator, Mapping
from typing import Final, Literal
from urllib.parse import unquote, urlsplit

from msgspec import Struct, field

from workbench.domain.incidents import IncidentSeverity
from workbench.domain.values import Json, JsonObject

FindingsFormat = Literal["", "s2", "konveyor", "sarif", "ruff", "pyright"]
"""Empty: a list with nothing in it, which does not say whose it is."""
MOST_PROBLEMS: Final = 20
SEVERITY_WORDS: Final[Mapping[str, IncidentSeverity]] = {
    "critical": "critical", "fatal": "critical", "blocker": "critical", "mandatory": "error",
    "error": "error", "warning": "warning", "optional": "warning", "potential": "info", "info": "info",
    "information": "info", "note": "info", "none": "info", "hint": "info",
}  # fmt: skip
"""What the formats say, in lower case. Konveyor's categories are how much a change is needed."""


class RawFinding(Struct, kw_only=True):
    """One finding with texts as they were found: not bounded, not scrubbed."""

    rule: str
    location: str
    """A path or a `file:` address."""
    id: str = ""
    base: str = ""
    """What a relative location is relative to; empty for the folder that was analyzed."""
    line: int = 0
    end_line: int = 0
    column: int = 0
    offset: int = -1
    """Characters before it, where the file tells no line."""
    severity: IncidentSeverity = "warning"
    description: str = ""
    message: str = ""
    category: str = ""
    metadata: JsonObject = field(default_factory=dict[str, Json])
    problem: str = ""


class ReadReport(Struct):
    """What was wrong with a file, entry by entry."""

    problems: list[str] = field(default_factory=list[str])
    skipped: int = 0
    notes: dict[str, int] = field(default_factory=dict[str, int])
    """How many entries were left out for a reason that is no fault."""

    def skip(self, why: str) -> None:
        """Count an entry that could not be read, and keep the first reasons."""
        self.skipped += 1
        self.say(why)

    def say(self, why: str) -> None:
        if len(self.problems) < MOST_PROBLEMS and why not in self.problems:
            self.problems.append(why)

    def note(self, why: str) -> None:
        self.notes[why] = self.notes.get(why, 0) + 1

    def words(self) -> Iterator[str]:
        """Yield everything there is to say."""
        yield from self.problems
        yield from (f"{count:,} {why}" for why, count in self.notes.items())


class FindingsUnreadable(Exception):
    """A file cannot be read as findings; says why."""


def severity_of(word: object, default: IncidentSeverity = "warning") -> IncidentSeverity:
    return SEVERITY_WORDS.get(word.casefold(), default) if isinstance(word, str) else default


def path_of_uri(uri: str) -> str:
    """Return the path that a `file:` address names; anything else as it stands, percent-decoded."""
    if not uri.casefold().startswith("file:"):
        return unquote(uri)
    try:
        parts = urlsplit(uri)
    except ValueError:
        return unquote(uri[5:])
    path = unquote(parts.path)
    # file:///C:/x names C:/x; a host other than this one is no folder of ours.
    return path[1:] if len(path) > 2 and path[0] == "/" and path[2] == ":" else path


def utf8_bytes(data: bytes, report: ReadReport) -> bytes:
    """Return text as UTF-8 without a mark at its beginning, whatever Unicode encoding it has."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            if encoding == "utf-8":
                return data[len(mark) :]
            return data.decode(encoding, "replace").encode("utf-8", "replace")
    head = data[: 1 << 16]
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head, False)
    except UnicodeDecodeError:
        report.say("it is not UTF-8: bytes that cannot be read show as U+FFFD")
        return data.decode("utf-8", "replace").encode()
    return data


_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
