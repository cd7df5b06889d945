"""Writers of findings with what came of them: SARIF 2.1.0 and JUnit's XML. Pure: rows in, text out."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from msgspec import Struct

from workbench import __version__
from workbench.domain.incidents import Incident, IncidentSeverity, IncidentState
from workbench.domain.values import Json, JsonObject
from workbench.text.safe import safe_text

SARIF_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Final[Mapping[IncidentSeverity, str]] = {
    "critical": "error", "error": "error", "warning": "warning", "info": "note",
}  # fmt: skip
_GONE: Final[IncidentState] = "fixed"
_FAILURES: Final = frozenset({"unchanged", "rejected", "open", "working", "waiting"})
"""Outcomes in which the finding is still there."""


class ExportedIncident(Struct, frozen=True, kw_only=True):
    """An incident with what came of it."""

    incident: Incident
    state: IncidentState
    line: int
    """Where it is now; 0 means the whole file."""
    reason: str = ""
    is_dismissed: bool = False
    files: tuple[str, ...] = ()
    duration_ms: int = 0
    prompts: int = 0


def sarif_log(rows: Sequence[ExportedIncident], source: str = "", status: str = "") -> JsonObject:
    """Return findings as a SARIF log; a fixed one is `absent`, a dismissed one is suppressed with its reason.

    `source`: the file or the command that they came from. `status`: of the work on them (S2).
    """
    rules = list(dict.fromkeys(row.incident.rule for row in rows))
    numbers = {rule: number for number, rule in enumerate(rules)}
    described = {row.incident.rule: row.incident for row in reversed(rows)}
    driver = {
        "name": "workbench",
        "version": __version__,
        "rules": [_rule(described[rule]) for rule in rules],
    }
    run: dict[str, Json] = {
        "tool": {"driver": driver}, "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"SRCROOT": {"description": {"text": "the folder that was worked in"}}},
        "results": [_result(row, numbers[row.incident.rule]) for row in rows],
    }  # fmt: skip
    facts = {"source": source, "status": status}
    if facts_by_name := {name: text for name, text in facts.items() if text}:
        run["properties"] = facts_by_name
    return {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(incident: Incident) -> JsonObject:
    rule: dict[str, Json] = {
        "id": incident.rule,
        "defaultConfiguration": {"level": _LEVELS[incident.severity]},
    }
    if incident.description:
        rule["shortDescription"] = {"text": incident.description}
    if incident.category:
        rule["properties"] = {"category": incident.category}
    return rule


def _result(row: ExportedIncident, rule: int) -> JsonObject:
    incident = row.incident
    place: dict[str, Json] = {"artifactLocation": {"uri": quote(incident.path), "uriBaseId": "SRCROOT"}}
    if row.line:
        place["region"] = _region(row)
    result: dict[str, Json] = {
        "ruleId": incident.rule, "ruleIndex": rule, "level": _LEVELS[incident.severity],
        "message": {"text": incident.message or incident.description or incident.rule},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"workbenchFingerprint/v1": incident.fingerprint},
        "baselineState": "absent" if row.state == _GONE else "unchanged",
        "properties": _properties(row),
    }  # fmt: skip
    if row.is_dismissed:
        suppression = {"kind": "external", "status": "accepted", "justification": row.reason}
        result["suppressions"] = [suppression]
    return result


def _region(row: ExportedIncident) -> JsonObject:
    incident = row.incident
    region: dict[str, Json] = {"startLine": row.line}
    if incident.column:
        region["startColumn"] = incident.column
    if incident.end_line > incident.line:
        region["endLine"] = row.line + incident.end_line - incident.line
    return region


def _properties(row: ExportedIncident) -> JsonObject:
    facts_by_name = {
        "id": row.incident.id, "outcome": row.state, "reason": row.reason, "severity": row.incident.severity,
        "files": list(row.files), "prompts": row.prompts, "duration_ms": row.duration_ms,
    }  # fmt: skip
    return {name: value for name, value in facts_by_name.items() if value}


def junit_xml(rows: Sequence[ExportedIncident], name: str = "incidents") -> str:
    """Return findings as JUnit's XML, a suite a file: what is still there failed, what broke is an error.

    Changed with nothing to check it passes, and says so; skipped is skipped.
    """
    suites: dict[str, list[ExportedIncident]] = {}
    for row in rows:
        suites.setdefault(row.incident.path, []).append(row)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites {_counts(rows, name)}>"]
    for path, members in suites.items():
        lines.append(f"  <testsuite {_counts(members, path)}>")
        for row in members:
            lines += _case(row)
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>", ""])


def _counts(rows: Sequence[ExportedIncident], name: str) -> str:
    facts = {
        "name": name, "tests": len(rows), "failures": sum(row.state in _FAILURES for row in rows),
        "errors": sum(row.state == "failed" for row in rows),
        "skipped": sum(row.state == "skipped" for row in rows), "time": _seconds(rows),
    }  # fmt: skip
    return " ".join(f"{key}={_attribute(value)}" for key, value in facts.items())


def _seconds(rows: Iterable[ExportedIncident]) -> str:
    return f"{sum(row.duration_ms for row in rows) / 1000:.3f}"


def _case(row: ExportedIncident) -> list[str]:
    incident = row.incident
    place = f"{incident.path}:{row.line}" if row.line else incident.path
    facts = {
        "classname": incident.path, "name": f"{incident.rule} {place} {incident.id}",
        "time": _seconds([row]),
    }  # fmt: skip
    head = "    <testcase " + " ".join(f"{key}={_attribute(value)}" for key, value in facts.items())
    inner = _outcome(row)
    return [f"{head}>", f"      {inner}", "    </testcase>"] if inner else [f"{head}/>"]


def _outcome(row: ExportedIncident) -> str:
    incident = row.incident
    text = incident.message or incident.description
    why = row.reason or text
    if row.state == "skipped":
        return f"<skipped message={_attribute(why)}/>"
    if row.state == "failed":
        return f"<error type={_attribute(incident.severity)} message={_attribute(why)}>{_text(text)}</error>"
    if row.state in _FAILURES:
        words = f"{row.state}: {why}"
        return (
            f"<failure type={_attribute(incident.severity)} message={_attribute(words)}>"
            f"{_text(text)}</failure>"
        )
    return "<system-out>changed, and nothing checked it</system-out>" if row.state == "changed" else ""


def _attribute(value: object) -> str:
    return quoteattr(safe_text(str(value), keep_newlines=False))


def _text(value: str) -> str:
    return escape(safe_text(value))
