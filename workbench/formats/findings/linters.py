"""Readers of what ruff and pyright print, and of S2's incidents.

Each entry is read by itself, so that a broken one costs only itself.
"""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from msgspec import Raw, Struct

from workbench.domain.values import Json
from workbench.formats.findings.finding import RawFinding, severity_of
from workbench.formats.findings.report import ReadReport

_Entry = Callable[[Any], RawFinding | None]


def read_entries(
    entries: list[Raw], shape: type[Any], make: _Entry, report: ReadReport
) -> Iterator[RawFinding]:
    """Yield what each entry of a list says; one of another shape is skipped, by its number."""
    decoder = msgspec.json.Decoder(shape, strict=False)
    for number, entry in enumerate(entries, 1):
        try:
            finding = make(decoder.decode(entry))
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            report.skip(str(error), key=f"entry {number:,}")
            continue
        if finding is not None:
            yield finding


class _Place(Struct):
    row: int = 0
    column: int = 0


class RuffEntry(Struct):
    """What `ruff check --output-format json` says of one violation."""

    filename: str
    message: str = ""
    code: str | None = None
    name: str | None = None
    severity: str | None = None
    location: _Place | None = None
    end_location: _Place | None = None
    url: str | None = None


def ruff_finding(entry: RuffEntry) -> RawFinding:
    """Return the finding of an entry of ruff; a file that is no Python has no rule."""
    start, end = entry.location or _Place(), entry.end_location or _Place()
    metadata: dict[str, Json] = {"url": entry.url} if entry.url else {}
    return RawFinding(
        rule=entry.code or "invalid-syntax", location=entry.filename, line=start.row, end_line=end.row,
        column=start.column, severity=severity_of(entry.severity, "error"), description=entry.message,
        message=entry.message, category="ruff", metadata=metadata,
    )  # fmt: skip


class _Position(Struct):
    line: int = 0
    character: int = 0


class _Range(Struct):
    start: _Position
    end: _Position


class PyrightEntry(Struct):
    """One of `generalDiagnostics` of `pyright --outputjson`; lines count from 0."""

    file: str
    message: str = ""
    severity: str = "error"
    rule: str | None = None
    range: _Range | None = None


def pyright_finding(entry: PyrightEntry) -> RawFinding:
    place = entry.range
    return RawFinding(
        rule=entry.rule or "pyright", location=entry.file, line=place.start.line + 1 if place else 0,
        end_line=place.end.line + 1 if place else 0, column=place.start.character + 1 if place else 0,
        severity=severity_of(entry.severity, "error"), description=entry.message, message=entry.message,
        category="pyright",
    )  # fmt: skip


class S2Entry(Struct):
    """S2 Incident in its wire form."""

    id: str = ""
    rule_id: str = ""
    file_path: str = ""
    line_number: int | None = None
    severity: str = ""
    description: str = ""
    message: str = ""
    category: str = ""
    metadata: dict[str, Any] | None = None
    uri: str = ""
    """What later versions have in place of `file_path`."""


def s2_finding(entry: S2Entry) -> RawFinding:
    """Return the finding of an S2 incident; what S2 refuses is flagged, and the others go on."""
    return RawFinding(
        id=entry.id, rule=entry.rule_id, location=entry.file_path or entry.uri,
        line=max(0, entry.line_number or 0), severity=severity_of(entry.severity),
        description=entry.description, message=entry.message, category=entry.category,
        metadata=entry.metadata or {}, problem=_s2_problem(entry),
    )  # fmt: skip


def _s2_problem(entry: S2Entry) -> str:
    if not entry.description.strip():
        return "its description is empty"
    if not (entry.file_path or entry.uri).strip():
        return "its file_path is empty"
    if entry.line_number is not None and entry.line_number < 1:
        return f"its line_number is {entry.line_number}; lines count from 1"
    if entry.severity.casefold() not in ("error", "warning", "info", "critical"):
        return f"its severity is {entry.severity!r}, none of error, warning, info"
    return ""
