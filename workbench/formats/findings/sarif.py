"""Reader of SARIF 2.1.0: results with their rules, levels, messages, places and suppressions.

Results stay undecoded until each is read, so that a log of 100 MB takes little more than its own size.
"""

# Suppression (3.27.23, 3.35.3): a result is left out if any suppression is accepted or has no status.
# `rejected` or `underReview` alone leave it visible.

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct, field

from workbench.domain.incidents import IncidentSeverity
from workbench.domain.values import Json
from workbench.formats.findings.finding import RawFinding, path_of_uri, severity_of
from workbench.formats.findings.linters import read_entries
from workbench.formats.findings.report import ReadReport

_PLACEHOLDER: Final = re.compile(r"\{(\d{1,3})\}|(\{\{|\}\})")
_MOST_BASES: Final = 16
"""How many folders a chain of `originalUriBaseIds` may have."""
_MOST_FILLED: Final = 16_384
"""Characters of a message with its arguments: few bytes in a file can stand for gigabytes."""


class _Message(Struct):
    text: str | None = None
    markdown: str | None = None
    id: str | None = None
    arguments: list[str] = field(default_factory=list[str])


class _Configuration(Struct):
    level: str | None = None


class _Rule(Struct, rename="camel"):
    id: str = ""
    name: str | None = None
    short_description: _Message | None = None
    full_description: _Message | None = None
    default_configuration: _Configuration | None = None
    message_strings: dict[str, _Message] = field(default_factory=dict[str, _Message])
    properties: dict[str, Any] = field(default_factory=dict[str, Any])


class _Component(Struct, rename="camel"):
    name: str = ""
    rules: list[_Rule] = field(default_factory=list[_Rule])
    global_message_strings: dict[str, _Message] = field(default_factory=dict[str, _Message])


class _Tool(Struct):
    driver: _Component = field(default_factory=_Component)
    extensions: list[_Component] = field(default_factory=list[_Component])


class _ArtifactLocation(Struct, rename="camel"):
    uri: str | None = None
    uri_base_id: str | None = None
    index: int = -1


class _Region(Struct, rename="camel"):
    start_line: int = 0
    end_line: int = 0
    start_column: int = 0
    char_offset: int = -1


class _PhysicalLocation(Struct, rename="camel"):
    artifact_location: _ArtifactLocation | None = None
    region: _Region | None = None


class _Location(Struct, rename="camel"):
    physical_location: _PhysicalLocation | None = None


class _Index(Struct):
    index: int = -1


class _RuleReference(Struct, rename="camel"):
    id: str | None = None
    index: int = -1
    tool_component: _Index | None = None


class _Suppression(Struct):
    status: str | None = None


class _Result(Struct, rename="camel"):
    rule_id: str | None = None
    rule: _RuleReference | None = None
    rule_index: int = -1
    level: str | None = None
    kind: str = "fail"
    message: _Message = field(default_factory=_Message)
    locations: list[_Location] = field(default_factory=list[_Location])
    suppressions: list[_Suppression] | None = None
    baseline_state: str | None = None
    rank: float | None = None


class _Artifact(Struct):
    location: _ArtifactLocation | None = None


class _Run(Struct, rename="camel"):
    tool: _Tool = field(default_factory=_Tool)
    results: list[Raw] | None = None
    artifacts: list[_Artifact] = field(default_factory=list[_Artifact])
    original_uri_base_ids: dict[str, _ArtifactLocation] = field(default_factory=dict[str, _ArtifactLocation])


class SarifLog(Struct):
    """The document; each run is read by itself."""

    runs: list[Raw]
    version: str = ""


def read_sarif(data: bytes, report: ReadReport) -> Iterator[RawFinding]:
    """Yield the results of every run that are not suppressed. Raises msgspec.DecodeError."""
    log = msgspec.json.decode(data, type=SarifLog)
    if log.version and not log.version.startswith("2.1"):
        report.warn(f"it is SARIF {log.version[:20]}; 2.1.0 is what is read here")
    for number, entry in enumerate(log.runs, 1):
        try:
            run = msgspec.json.decode(entry, type=_Run, strict=False)
        except (msgspec.DecodeError, RecursionError) as error:
            report.skip(str(error), key=f"run {number}")
            continue
        reader = _RunReader(run, report)
        yield from read_entries(run.results or [], _Result, reader.finding, report)


class _RunReader:
    """Knows the rules, artifacts and base folders of one run."""

    def __init__(self, run: _Run, report: ReadReport) -> None:
        self._run, self._report = run, report
        self._components = (run.tool.driver, *run.tool.extensions)
        self._by_id = {rule.id: rule for part in reversed(self._components) for rule in part.rules}

    def finding(self, result: _Result) -> RawFinding | None:
        """Return what a result says; None for one that is no finding any more."""
        if left_out := _left_out(result):
            self._report.note(left_out)
            return None
        rule = self._rule(result)
        rule_id = result.rule_id or (result.rule.id if result.rule else None) or rule.id
        location, base, region = self._place(result)
        message = self._message(result.message, rule)
        return RawFinding(
            rule=rule_id or "unnamed", location=location, base=base, line=region.start_line,
            end_line=region.end_line, column=region.start_column, offset=region.char_offset,
            severity=_severity(result, rule), message=message, category=self._run.tool.driver.name,
            description=_text(rule.short_description) or _text(rule.full_description) or message,
            metadata=_metadata(rule),
            problem="" if location else "it names no file",
        )  # fmt: skip

    def _rule(self, result: _Result) -> _Rule:
        reference = result.rule or _RuleReference()
        index = result.rule_index if result.rule_index >= 0 else reference.index
        part = self._run.tool.driver
        if reference.tool_component and 0 <= reference.tool_component.index < len(self._run.tool.extensions):
            part = self._run.tool.extensions[reference.tool_component.index]
        if 0 <= index < len(part.rules):
            return part.rules[index]
        name = result.rule_id or reference.id or ""
        # `CA2101/1` is a kind of CA2101 (3.27.5).
        return self._by_id.get(name) or self._by_id.get(name.rpartition("/")[0]) or _Rule()

    def _place(self, result: _Result) -> tuple[str, str, _Region]:
        physical = next((at.physical_location for at in result.locations if at.physical_location), None)
        if physical is None:
            return "", "", _Region()
        artifact = physical.artifact_location or _ArtifactLocation()
        if artifact.uri is None and 0 <= artifact.index < len(self._run.artifacts):
            artifact = self._run.artifacts[artifact.index].location or artifact
        base = self._base(artifact.uri_base_id)
        return path_of_uri(artifact.uri or ""), base, physical.region or _Region()

    def _base(self, name: str | None) -> str:
        """Return the folder that a name stands for; a base without an address is the analyzed folder."""
        parts: list[str] = []
        for _ in range(_MOST_BASES):
            at = self._run.original_uri_base_ids.get(name or "")
            if at is None:
                break
            parts.append(path_of_uri(at.uri or ""))
            name = at.uri_base_id
        whole = ""
        for part in parts:
            whole = part if not whole else whole if whole.startswith("/") else f"{part.rstrip('/')}/{whole}"
        return whole

    def _message(self, message: _Message, rule: _Rule) -> str:
        text = message.text or message.markdown
        if text is None and message.id is not None:
            known = rule.message_strings.get(message.id)
            for part in self._components:
                known = known or part.global_message_strings.get(message.id)
            text = _text(known)
        return _filled(text or _text(rule.short_description) or rule.id, message.arguments)


def _left_out(result: _Result) -> str:
    if result.kind in ("pass", "notApplicable"):
        return "results that passed or do not apply are left out"
    if result.baseline_state == "absent":
        return "results that are gone since an earlier run are left out"
    for suppression in result.suppressions or ():
        if suppression.status in (None, "accepted"):
            return "suppressed results are left out"
    return ""


def _severity(result: _Result, rule: _Rule) -> IncidentSeverity:
    if result.kind != "fail":
        return "info"
    configured = rule.default_configuration.level if rule.default_configuration else None
    return severity_of(result.level or configured or "warning")


def _text(message: _Message | None) -> str:
    return (message.text or message.markdown or "") if message else ""


def _filled(text: str, arguments: list[str]) -> str:
    if not arguments:
        return text
    parts, length, place = list[str](), 0, 0
    for match in _PLACEHOLDER.finditer(text):
        parts += (text[place : match.start()], _value(match, arguments)[:_MOST_FILLED])
        place = match.end()
        length += len(parts[-2]) + len(parts[-1])
        if length > _MOST_FILLED:
            return "".join(parts)[:_MOST_FILLED]
    return "".join((*parts, text[place:]))


def _value(match: re.Match[str], arguments: list[str]) -> str:
    if match[2]:
        return match[2][0]
    number = int(match[1])
    return arguments[number] if number < len(arguments) else match[0]


def _metadata(rule: _Rule) -> dict[str, Json]:
    return {"rule_name": rule.name} if rule.name else {}
