"""Reader of the YAML that Konveyor's analyzer writes: rule sets, their violations, their incidents."""

from collections.abc import Iterator, Mapping
from typing import Final, cast

from workbench.domain.values import JsonObject
from workbench.formats.findings.raw import RawFinding, ReadReport, path_of_uri, severity_of
from workbench.text.json_nodes import LocatedNode
from workbench.text.yaml_nodes import parse_yaml

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
            report.say(f"the rule {rule[:80]} did not run: {str(error.value)[:200]}")


def _violation_findings(
    ruleset: str, rule: str, violation: LocatedNode, report: ReadReport
) -> Iterator[RawFinding]:
    members = violation.members
    if members is None:
        report.skip(f"line {violation.line}: {rule[:80]} is no violation")
        return
    category, description = _text(members, "category"), _text(members, "description").strip()
    incidents = members.get("incidents")
    for node in (incidents.items if incidents else None) or ():
        if node.members is None:
            report.skip(f"line {node.line}: it is no incident")
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
