"""Readers of what ruff and pyright print, of S2's incidents, and of the YAML of Konveyor's analyzer.

Each entry is read by itself, so that a broken one costs only itself.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast

import msgspec
from msgspec import Raw, Struct

from workbench.domain.values import Json, JsonObject
from workbench.formats.findings.place import RawFinding, ReadReport, path_of_uri, severity_of
from workbench.text.json_nodes import LocatedNode
from workbench.text.yaml_nodes import parse_yaml

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


# --- Konveyor ---------------------------------------------------------------------------------------------

MOST_YAML: Final = 32 * 1024 * 1024
"""Bytes of such a file; its code snippets make it large."""
_MOST_VALUES: Final = 1_000_000
_Members = Mapping[str, LocatedNode]


def read_konveyor(text: str, report: ReadReport) -> Iterator[RawFinding]:
    """Yield the incidents of every violation. Raises YamlError."""
    root = parse_yaml(text, most_bytes=MOST_YAML, most_values=_MOST_VALUES)
    for ruleset in root.items or ():
        members = ruleset.members or {}
        name = _text(members, "name")
        for rule, violation in (_members(members, "violations") or {}).items():
            yield from _violation_findings(name, rule, violation, report)
        for _ in _members(members, "insights") or ():
            report.note("rules that only inform (insights) are left out")
        for rule, error in (_members(members, "errors") or {}).items():
            report.add(f"the rule {rule[:80]} did not run: {str(error.value)[:200]}")


def _violation_findings(
    ruleset: str, rule: str, violation: LocatedNode, report: ReadReport
) -> Iterator[RawFinding]:
    members = violation.members
    if members is None:
        report.skip(f"{rule[:80]} is not a violation", line=violation.line)
        return
    category, description = _text(members, "category"), _text(members, "description").strip()
    incidents = members.get("incidents")
    for node in (incidents.items if incidents else None) or ():
        if node.members is None:
            report.skip("it is not an incident", line=node.line)
            continue
        message = _text(node.members, "message").strip()
        line = node.members.get("lineNumber")
        yield RawFinding(
            rule=rule, location=path_of_uri(_text(node.members, "uri")),
            line=line.value if line is not None and type(line.value) is int and line.value > 0 else 0,
            severity=severity_of(category), category=category or ruleset,
            description=description or message or rule, message=message or description or rule,
            metadata=_metadata(ruleset, members, node.members),
        )  # fmt: skip


def _metadata(ruleset: str, violation: _Members, incident: _Members) -> JsonObject:
    told: dict[str, object] = {"ruleset": ruleset}
    for members, name in ((violation, "effort"), (violation, "labels"), (incident, "variables")):
        if name in members and members[name].value:
            told[name] = members[name].value
    return cast("JsonObject", told)


def _members(members: _Members, name: str) -> _Members | None:
    node = members.get(name)
    return node.members if node else None


def _text(members: _Members, name: str) -> str:
    node = members.get(name)
    return node.value if node is not None and isinstance(node.value, str) else ""
