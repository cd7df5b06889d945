"""Read findings of any known format, recognised by content: bounded, scrubbed, with ids that last.

What comes of a file is data. Nothing of it is followed, opened or run.
"""

import codecs
import itertools
from collections.abc import Callable, Iterator
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from workbench.domain.incidents import Incident
from workbench.domain.values import JsonObject
from workbench.effects.files import Root
from workbench.formats.findings.finding import FindingsFormat, RawFinding
from workbench.formats.findings.konveyor import MOST_YAML, read_konveyor
from workbench.formats.findings.linters import (
    PyrightEntry,
    RuffEntry,
    S2Entry,
    pyright_finding,
    read_entries,
    ruff_finding,
    s2_finding,
)
from workbench.formats.findings.place import MISSING, FoundPlace, Locator, line_digest
from workbench.formats.findings.report import FindingsUnreadable, ReadReport
from workbench.formats.findings.sarif import read_sarif
from workbench.formats.sanitize import sanitize_line, sanitize_object, sanitize_text
from workbench.text.safe import safe_text
from workbench.text.yaml_nodes import YamlError

MOST_BYTES: Final = 512 * 1024 * 1024
"""Bytes of a file that is read."""
MOST_INCIDENTS: Final = 50_000
"""How many incidents a list may have; the rest of a file is counted."""
_MOST_TEXT: Final = 4_000
_MOST_NAME: Final = 500
_MOST_METADATA: Final = 16
_MOST_LINE: Final = 1_000_000_000
_STEP: Final = 1_000
OnProgress = Callable[[int, int], None]
"""Told of how many findings were read, and how many there are as far as that is known."""


class FindingsFile(Struct, frozen=True, kw_only=True):
    """What a file says, with the places that it means here."""

    format: FindingsFormat
    incidents: tuple[Incident, ...] = ()
    root: str = ""
    """What was taken off in front of most paths of another machine."""
    skipped: int = 0
    problems: tuple[str, ...] = ()


def read_findings(
    data: bytes, workspace: Root, *, told_root: str = "", on_progress: OnProgress | None = None
) -> FindingsFile:
    """Return what a file says. Raises FindingsUnreadable: it is none of the known formats, or broken."""
    report = ReadReport()
    if len(data) > MOST_BYTES:
        raise FindingsUnreadable(f"it is larger than {MOST_BYTES:,} bytes")
    data = _utf8_bytes(data, report)
    kind, findings = _findings(data, report)
    maker = _IncidentMaker(Locator(workspace, told_root))
    try:
        incidents = tuple(_bounded(findings, maker.incident, report, on_progress))
    except YamlError as error:
        raise FindingsUnreadable(f"it is not YAML that is read here: {error}") from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise FindingsUnreadable(_json_reason(data, error)) from None
    if maker.is_spent:
        report.warn("it names more text than is looked at; the last findings are known without their lines")
    return FindingsFile(
        format=kind, incidents=maker.finished(incidents), root=_name(maker.root), skipped=report.skipped,
        problems=tuple(sanitize_line(safe_text(text), 300) for text in report.texts()),
    )  # fmt: skip


def _utf8_bytes(data: bytes, report: ReadReport) -> bytes:
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
        report.warn("it is not UTF-8: bytes that cannot be read show as U+FFFD")
        return data.decode("utf-8", "replace").encode()
    return data


_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip


def findings_format(head: bytes) -> FindingsFormat | None:
    """Return which format the beginning of a file has, or None; the whole of it is not read."""
    text = _utf8_bytes(head, ReadReport()).lstrip()
    if text.startswith(b"{"):
        if b'"runs"' in text and (b"sarif" in text or b'"2.1' in text):
            return "sarif"
        return "pyright" if b'"generalDiagnostics"' in text else None
    if text.startswith(b"["):
        if b'"rule_id"' in text and (b'"file_path"' in text or b'"uri"' in text):
            return "s2"
        return "ruff" if b'"filename"' in text and b'"code"' in text and b'"location"' in text else None
    return "konveyor" if text.startswith((b"- name:", b"---")) and b"violations:" in text else None


def _findings(data: bytes, report: ReadReport) -> tuple[FindingsFormat, Iterator[RawFinding]]:
    start = data[:64].lstrip()[:1] or data.lstrip()[:1]
    if start == b"{":
        return _of_object(data, report)
    if start == b"[":
        return _of_array(data, report)
    if not start:
        raise FindingsUnreadable("it is empty")
    if len(data) > MOST_YAML or b"violations:" not in data:
        raise FindingsUnreadable(_UNKNOWN)
    return "konveyor", read_konveyor(data.decode("utf-8", "replace"), report)


_UNKNOWN: Final = "it is none of SARIF, Konveyor's YAML, S2 incidents, ruff's and pyright's JSON"


class _PyrightReport(Struct, rename="camel"):
    general_diagnostics: list[Raw]


def _of_object(data: bytes, report: ReadReport) -> tuple[FindingsFormat, Iterator[RawFinding]]:
    members = _decoded(data, dict[str, Raw])
    if "runs" in members:
        return "sarif", read_sarif(data, report)
    if "generalDiagnostics" in members:
        entries = _decoded(data, _PyrightReport).general_diagnostics
        return "pyright", read_entries(entries, PyrightEntry, pyright_finding, report)
    if "incidents" in members:
        if _is_unasked(members.get("configuration")):
            report.warn("enable_tool_interception is false in it, which has no effect: every change asks")
        entries = _decoded(members["incidents"], list[Raw])
        return "s2", read_entries(entries, S2Entry, s2_finding, report)
    if "rule_id" in members:
        return "s2", read_entries([Raw(data)], S2Entry, s2_finding, report)
    raise FindingsUnreadable(_UNKNOWN)


def _is_unasked(configuration: Raw | None) -> bool:
    """Return whether an S2 session wants changes to be written without a question."""
    try:
        settings = msgspec.json.decode(configuration, type=dict[str, Any]) if configuration else {}
    except (msgspec.DecodeError, RecursionError):
        return False
    return settings.get("enable_tool_interception") is False


def _of_array(data: bytes, report: ReadReport) -> tuple[FindingsFormat, Iterator[RawFinding]]:
    entries = _decoded(data, list[Raw])
    if not entries:
        return "", iter(())
    for entry in entries[:100]:
        try:
            members = msgspec.json.decode(entry, type=dict[str, Raw])
        except (msgspec.DecodeError, RecursionError):
            continue
        if "filename" in members and "message" in members:
            return "ruff", read_entries(entries, RuffEntry, ruff_finding, report)
        if "rule_id" in members:
            return "s2", read_entries(entries, S2Entry, s2_finding, report)
    raise FindingsUnreadable(_UNKNOWN)


def _decoded(data: bytes | Raw, shape: Any) -> Any:
    try:
        return msgspec.json.decode(data, type=shape)
    except (msgspec.DecodeError, RecursionError) as error:
        raise FindingsUnreadable(_json_reason(data, error)) from None


def _json_reason(data: bytes | Raw, error: Exception) -> str:
    """Return what is wrong with JSON, with the line instead of the byte."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if "truncated" in str(error):
        return "it is cut off: its end is missing"
    words, _, byte = str(error).rpartition("(byte ")
    number = byte.rstrip(")")
    if number.isdigit():
        line = bytes(data).count(b"\n", 0, int(number)) + 1
        return f"{words.strip()} in line {line:,}"
    return str(error)


def _bounded(
    findings: Iterator[RawFinding], make: Callable[[RawFinding], Incident], report: ReadReport,
    on_progress: OnProgress | None,
) -> Iterator[Incident]:  # fmt: skip
    for number, finding in enumerate(itertools.islice(findings, MOST_INCIDENTS), 1):
        yield make(finding)
        if on_progress is not None and number % _STEP == 0:
            on_progress(number, 0)
    if beyond := sum(1 for _ in findings):
        report.skipped += beyond
        report.lead(
            f"it has {MOST_INCIDENTS + beyond:,} findings; the first {MOST_INCIDENTS:,} are listed, "
            f"{beyond:,} are left out"
        )


class _IncidentMaker:
    """Makes incidents of findings, one after the other, with ids that are unique in their list."""

    def __init__(self, locator: Locator) -> None:
        self._locator = locator
        self._ids: dict[str, int] = {}

    @property
    def root(self) -> str:
        common = self._locator.roots.most_common(1)
        return common[0][0] if common else ""

    @property
    def is_spent(self) -> bool:
        return self._locator.is_spent

    def incident(self, raw: RawFinding) -> Incident:
        place = self._locator.find(raw.location, raw.base)
        if not place.problem and sanitize_text(place.path) != place.path:
            place = FoundPlace(place.path, "its name holds a secret")
        line = raw.line
        if not line and raw.offset >= 0 and not place.problem:
            line = self._locator.line_of_offset(place.path, raw.offset)
        rule, message = _name(raw.rule), _text(raw.message)
        path = _name(place.path) if place.problem else place.path
        lines = () if place.problem else self._locator.lines(place.path)
        fingerprint = _fingerprint(rule, path, message, lines[line - 1] if 0 < line <= len(lines) else b"")
        return Incident(
            id=self._unique(_name(raw.id) or fingerprint[:12]), fingerprint=fingerprint, rule=rule,
            path=path, line=_place_number(line), end_line=_place_number(raw.end_line),
            column=_place_number(raw.column),
            severity=raw.severity, description=_text(raw.description), message=message,
            category=_name(raw.category), problem=raw.problem or place.problem,
            location="" if raw.location == place.path else _name(_told(raw)),
            metadata=_metadata(raw),
        )  # fmt: skip

    def _unique(self, key: str) -> str:
        count = self._ids[key] = self._ids.get(key, 0) + 1
        return key if count == 1 else self._unique(f"{key}-{count}")

    def finished(self, incidents: tuple[Incident, ...]) -> tuple[Incident, ...]:
        """Return the incidents with the common root taken off paths that are not here, too."""
        if not self.root:
            return incidents
        return tuple(
            replace(i, path=self._locator.inside(i.path)) if i.problem.startswith(MISSING) else i
            for i in incidents
        )


def _told(raw: RawFinding) -> str:
    return f"{raw.base.rstrip('/')}/{raw.location}" if raw.base else raw.location


def _name(text: str) -> str:
    return safe_text(sanitize_line(text, _MOST_NAME), keep_newlines=False).strip() if text else ""


def _place_number(number: int) -> int:
    return min(max(number, 0), _MOST_LINE)


@lru_cache(maxsize=256)  # rules describe all their findings in the same words
def _text(text: str) -> str:
    return safe_text(sanitize_text(text.strip(), _MOST_TEXT)) if text else ""


def _metadata(raw: RawFinding) -> JsonObject:
    if not raw.metadata:
        return {}
    kept = dict(itertools.islice(raw.metadata.items(), _MOST_METADATA))
    return sanitize_object(kept, _MOST_NAME)


def _fingerprint(rule: str, path: str, message: str, line: bytes) -> str:
    """Return the digest of what lasts of a finding: its line's text counts, the line's number does not."""
    parts = (rule, path, message, line_digest(line) if line.strip() else "")
    return blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=16).hexdigest()
