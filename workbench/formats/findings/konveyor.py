"""Reader of the YAML of Konveyor's analyzer: the incidents of every violation, problems at their lines."""

from collections.abc import Iterable, Iterator
from typing import Final, cast

from workbench.domain.values import JsonObject
from workbench.formats.findings.finding import RawFinding, path_of_uri, severity_of
from workbench.formats.findings.report import ReadReport
from workbench.text.located import DocumentPlace
from workbench.text.yaml_nodes import parse_yaml

MOST_YAML: Final = 32 * 1024 * 1024
"""Bytes of such a file; its code snippets make it large."""
_MOST_VALUES: Final = 1_000_000


def read_konveyor(text: str, report: ReadReport) -> Iterator[RawFinding]:
    """Yield the incidents of every violation. Raises YamlError."""
    root = parse_yaml(text, most_bytes=MOST_YAML, most_values=_MOST_VALUES)
    for ruleset in DocumentPlace(report=report, file="", node=root).items():
        for rule, violation in _members(ruleset, "violations"):
            yield from _violation_findings(_text(ruleset, "name"), rule, violation, report)
        for _ in _members(ruleset, "insights"):
            report.note("rules that only inform (insights) are left out")
        for rule, error in _members(ruleset, "errors"):
            report.warn(f"the rule {rule[:80]} did not run: {str(error.node.value)[:200]}")


def _violation_findings(
    ruleset: str, rule: str, violation: DocumentPlace, report: ReadReport
) -> Iterator[RawFinding]:
    if violation.node.members is None:
        name = rule[:80].replace("\n", " ")
        report.skip_at(violation, f"{name} is not a violation")
        return
    category, description = _text(violation, "category"), _text(violation, "description").strip()
    incidents = violation.member("incidents")
    for incident in incidents.items() if incidents else ():
        if incident.node.members is None:
            report.skip_at(incident, "it is not an incident")
            continue
        message = _text(incident, "message").strip()
        line = incident.value("lineNumber")
        yield RawFinding(
            rule=rule, location=path_of_uri(_text(incident, "uri")),
            line=line if type(line) is int and line > 0 else 0,
            severity=severity_of(category), category=category or ruleset,
            description=description or message or rule, message=message or description or rule,
            metadata=_metadata(ruleset, violation, incident),
        )  # fmt: skip


def _metadata(ruleset: str, violation: DocumentPlace, incident: DocumentPlace) -> JsonObject:
    facts: dict[str, object] = {"ruleset": ruleset}
    for place, name in ((violation, "effort"), (violation, "labels"), (incident, "variables")):
        if value := place.value(name):
            facts[name] = value
    return cast("JsonObject", facts)


def _members(place: DocumentPlace, name: str) -> Iterable[tuple[str, DocumentPlace]]:
    member = place.member(name)
    return member.members() if member else ()


def _text(place: DocumentPlace, name: str) -> str:
    value = place.value(name)
    return value if isinstance(value, str) else ""
