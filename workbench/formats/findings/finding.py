"""A finding as a file gives it: its texts not yet bounded or scrubbed, its severity in our words."""

from collections.abc import Mapping
from typing import Final, Literal
from urllib.parse import unquote, urlsplit

from msgspec import Struct, field

from workbench.domain.incidents import IncidentSeverity
from workbench.domain.values import Json, JsonObject

FindingsFormat = Literal["", "s2", "konveyor", "sarif", "ruff", "pyright"]
"""Empty: a list with nothing in it, which does not say whose it is."""
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


def severity_of(word: object, default: IncidentSeverity = "warning") -> IncidentSeverity:
    return SEVERITY_WORDS.get(word.casefold(), default) if isinstance(word, str) else default


def path_of_uri(uri: str) -> str:
    """Return the path that a `file:` address names; any other text unchanged but percent-decoded."""
    if not uri.casefold().startswith("file:"):
        return unquote(uri)
    try:
        parts = urlsplit(uri)
    except ValueError:
        return unquote(uri[5:])
    path = unquote(parts.path)
    # file:///C:/x names C:/x; a host other than this one is not a folder of this machine.
    return path[1:] if len(path) > 2 and path[0] == "/" and path[2] == ":" else path
