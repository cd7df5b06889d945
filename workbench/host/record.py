"""What may be recorded of exact text: scrubbed and bounded, with the exact bytes sealed where they differ.

Owns the rule of the two stores (DESIGN section 2). Never appends events.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol, cast

from workbench.domain.values import BlobRef, Hunk, Json, JsonObject
from workbench.journal.errors import JournalFull
from workbench.records import dataclass
from workbench.text import canonical
from workbench.text.safe import LINE_END
from workbench.text.scrub import scrub, scrub_value
from workbench.tools.preview import preview

LONGEST_STRING = 4_000
"""Characters of one string in recorded parameters; what is longer is cut, and sealed whole."""

LONGEST_TEXT = 262_144
"""Characters of a recorded reply or prompt."""

_HIDDEN_LINE = "⟨secret: pem⟩"

_KEY_BODY = re.compile(
    r"\A(?:[A-Za-z0-9+/]{32,}={0,2}\r?(?:\n|\Z))+(?:[A-Za-z0-9+/]+={0,2}\r?\n)?(?:-----END[^\n]*(?:\n|\Z))?"
)
"""Lines at the beginning of a text that look like the body of a key block whose head was cut away."""


class Sealer(Protocol):
    """The part of the blob store that recording needs."""

    def record(self, data: bytes) -> BlobRef:
        """Store scrubbed bytes and return their reference."""
        ...

    def seal(self, data: bytes) -> BlobRef:
        """Store exact bytes and return their reference."""
        ...


def text(exact: str, blobs: Sealer, longest: int = LONGEST_TEXT) -> tuple[str, BlobRef | None]:
    """Return what is recorded of a text, and where the exact one is sealed if they differ."""
    recorded = shown(exact, longest)
    if recorded == exact:
        return exact, None
    return recorded, blobs.seal(exact.encode("utf-8", "surrogatepass"))


def shown(exact: str, longest: int = LONGEST_TEXT) -> str:
    """Return what is recorded of a text of which nothing else is kept."""
    return _cut(scrub(exact).text, longest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The part of an output that the model sees, and what is recorded of it."""

    recorded: str
    ref: BlobRef | None
    """The exact part, when the recorded one differs from it."""
    whole: BlobRef | None
    """The whole scrubbed output, when it was cut."""
    total_bytes: int
    note: str = ""
    """Why something of it is not kept: an outcome is written in any case."""

    def noted(self, metadata: dict[str, Json]) -> dict[str, Json]:
        """Return metadata of a call with the note, if there is one."""
        return {**metadata, "output": self.note} if self.note else metadata


def output(exact: str, clean: str, limit: int, blobs: Sealer, total_bytes: int | None = None) -> Shown:
    """Cut an output for the model and for the record; what is cut for the record was scrubbed whole before.

    Args:
        exact: the output, or what was kept of it.
        clean: the same, scrubbed.
        limit: bytes that are shown.
        blobs: where the exact part goes if it differs.
        total_bytes: size of the whole, where `exact` is only what was kept.
    """
    shown = preview(exact, limit, total_bytes)
    recorded = preview(clean, limit, shown.total_bytes)
    try:
        ref = None if recorded.text == shown.text else blobs.seal(_bytes(shown.text))
        whole = blobs.record(_bytes(clean)) if shown.truncated else None
        note = ""
    except JournalFull:
        ref, whole, note = None, None, "the disk is full: what was cut is not kept"
    return Shown(recorded=recorded.text, ref=ref, whole=whole, total_bytes=shown.total_bytes, note=note)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def scrubbed(exact: str, *, is_fragment: bool = False) -> str:
    """Return a text without its secrets; lines at the beginning of a fragment may belong to a key block."""
    clean = scrub(exact).text
    return _KEY_BODY.sub(_HIDDEN_LINE + "\n", clean) if is_fragment else clean


def parameters(exact: JsonObject, blobs: Sealer) -> tuple[JsonObject, BlobRef | None]:
    """Return what is recorded of a call's parameters, and where the exact ones are sealed if they differ."""
    scrubbed, _ = scrub_value(exact)
    recorded = cast("JsonObject", _bounded(scrubbed))
    if recorded == exact:
        return exact, None
    return recorded, blobs.seal(canonical.dumps(exact).encode())


def hunks(exact: tuple[Hunk, ...]) -> tuple[tuple[Hunk, ...], bool]:
    """Return hunks with secrets replaced line by line, and whether anything was."""
    recorded = tuple(_scrubbed_hunk(hunk) for hunk in exact)
    return recorded, recorded != exact


def _scrubbed_hunk(hunk: Hunk) -> Hunk:
    whole = "\n".join(line for _, line in hunk.lines)
    clean = scrub(whole)
    if not clean.found:
        return hunk
    pieces = clean.text.split("\n")
    if len(pieces) != len(hunk.lines):
        # A secret that spans lines (a key block) changed their number: hide every line it may be in.
        pieces = [scrub(line).text if _is_short(line) else _HIDDEN_LINE for _, line in hunk.lines]
    return replace(
        hunk, lines=tuple((sign, piece) for (sign, _), piece in zip(hunk.lines, pieces, strict=True))
    )


def _is_short(line: str) -> bool:
    """Return whether a line is too short, or too much like prose, to be a part of a key block."""
    return len(line.strip()) < 16 or " " in line.strip()


def _cut(found: str, longest: int) -> str:
    if len(found) <= longest:
        return found
    return f"{found[:longest]}… ({len(found):,} characters)"


def _bounded(value: Json) -> Json:
    if isinstance(value, str):
        return _cut(value, LONGEST_STRING)
    if isinstance(value, Mapping):
        return {key: _bounded(item) for key, item in cast("Mapping[str, Json]", value).items()}
    if isinstance(value, list):
        return [_bounded(item) for item in cast("list[Json]", value)]
    return value


def target(exact: str, longest: int = 500) -> str:
    """Return what a call acts on as one recorded line; where a line ended stands `⏎`, never a blank.

    The line after it is another command: a blank would make it look like an argument of the first.
    """
    return _cut(scrub(exact).text.replace("\n", LINE_END), longest)


def scrubbed_line(exact: str, longest: int = 500) -> str:
    """Return a text as one recorded line: scrubbed and cut."""
    return _cut(scrub(" ".join(exact.split("\n"))).text, longest)
