"""What may be recorded of exact text: scrubbed and bounded, with the exact bytes sealed where they differ.

The rule of the two stores (DESIGN section 2).
"""

# Thinking is not sealed. Nothing reads it back, and what is not kept need not be deleted.
#
# Exact text is sealed only where the record differs from it. Most prompts, replies and parameters hold no
# secret; sealing them all would double the writes and keep more exact bytes than anything needs.
#
# What is recorded of an output is scrubbed before it is cut. The exact part that a model saw is sealed
# beside it. The beginning of a fragment that looks like the body of a key is taken for one.

import re
from collections.abc import Mapping
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.values import BlobRef, Hunk, Json, JsonObject
from workbench.formats.sanitize import is_clean, may_hold_secret
from workbench.journal.errors import JournalFull
from workbench.journal.home import BlobStore
from workbench.secrets.scrubber import replace_registered_secrets, scrub, scrub_value
from workbench.text import canonical
from workbench.text.safe import LINE_END_SYMBOL
from workbench.tools.output_preview import preview_output

MAX_RECORDED_STRING = 4_000
"""Characters of one string in recorded parameters; what is longer is cut, and sealed whole."""
MAX_RECORDED_TEXT = 262_144
"""Characters of a recorded reply or prompt."""
_HIDDEN_LINE = "⟨secret: pem⟩"
_KEY_BLOCK_BODY = re.compile(
    r"\A(?:[A-Za-z0-9+/]{32,}={0,2}\r?(?:\n|\Z))+(?:[A-Za-z0-9+/]+={0,2}\r?\n)?(?:-----END[^\n]*(?:\n|\Z))?"
)
"""Lines at the beginning of a text that look like the body of a key block whose head was cut away."""


def redact_and_seal_text(
    exact: str, blobs: BlobStore, longest: int = MAX_RECORDED_TEXT
) -> tuple[str, BlobRef | None]:
    """Return what is recorded of a text, and where the exact one is sealed if they differ."""
    recorded = redact_and_cut_text(exact, longest)
    if recorded == exact:
        return exact, None
    return recorded, blobs.seal(exact.encode("utf-8", "surrogatepass"))


def redact_and_cut_text(exact: str, longest: int = MAX_RECORDED_TEXT) -> str:
    """Return what is recorded of a text that is kept nowhere else."""
    return _cut_text(scrub(exact).text, longest)


def redact_file_text(exact: str, longest: int | None = MAX_RECORDED_TEXT) -> str:
    """Return what is recorded of a text of a file, which has many: one look finds those with a secret."""
    clean = scrub(exact).text if may_hold_secret(exact) else replace_registered_secrets(exact)
    return clean if longest is None else _cut_text(clean, longest)


class RedactedOutput(Struct, frozen=True, kw_only=True):
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
        return {**metadata, "output": self.note} if self.note else metadata


def redact_output(
    exact: str, clean: str, limit: int, blobs: BlobStore, total_bytes: int | None = None
) -> RedactedOutput:
    """Cut an output for the model and the record; `clean` is scrubbed, `total_bytes` the full size."""
    preview = preview_output(exact, limit, total_bytes)
    recorded = preview_output(clean, limit, preview.total_bytes)
    try:
        ref = None if recorded.text == preview.text else blobs.seal(_utf8_bytes(preview.text))
        whole = blobs.record(_utf8_bytes(clean)) if preview.truncated else None
        note = ""
    except JournalFull:
        ref, whole, note = None, None, "the disk is full: what was cut is not kept"
    return RedactedOutput(
        recorded=recorded.text, ref=ref, whole=whole, total_bytes=preview.total_bytes, note=note
    )


def _utf8_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def redact_text(exact: str, *, is_fragment: bool = False) -> str:
    """Return a text without its secrets; lines at the beginning of a fragment may belong to a key block."""
    clean = scrub(exact).text
    return _KEY_BLOCK_BODY.sub(_HIDDEN_LINE + "\n", clean) if is_fragment else clean


def redact_parameters(exact: JsonObject, blobs: BlobStore) -> tuple[JsonObject, BlobRef | None]:
    """Return what is recorded of a call's parameters, and where the exact ones are sealed if they differ."""
    return _recorded_parameters(exact, scrub_value(exact)[0], blobs)


def redact_file_parameters(exact: JsonObject, blobs: BlobStore) -> tuple[JsonObject, BlobRef | None]:
    """Do as `redact_parameters`, with one look at all of it first: a file holds many calls."""
    return _recorded_parameters(exact, exact if is_clean(exact) else scrub_value(exact)[0], blobs)


def _recorded_parameters(
    exact: JsonObject, scrubbed: object, blobs: BlobStore
) -> tuple[JsonObject, BlobRef | None]:
    recorded = cast("JsonObject", _cut_strings(cast("Json", scrubbed)))
    if recorded == exact:
        return exact, None
    return recorded, blobs.seal(canonical.dumps(exact).encode())


def redact_hunks(exact: tuple[Hunk, ...]) -> tuple[tuple[Hunk, ...], bool]:
    """Return hunks with secrets replaced line by line, and whether anything was."""
    recorded = tuple(_redact_hunk(hunk) for hunk in exact)
    return recorded, recorded != exact


def _redact_hunk(hunk: Hunk) -> Hunk:
    whole = "\n".join(line for _, line in hunk.lines)
    clean = scrub(whole)
    if not clean.found:
        return hunk
    pieces = clean.text.split("\n")
    if len(pieces) != len(hunk.lines):
        # A secret that spans lines (a key block) changed their number: hide every line it may be in.
        pieces = [scrub(line).text if _is_no_key_line(line) else _HIDDEN_LINE for _, line in hunk.lines]
    return replace(
        hunk, lines=tuple((sign, piece) for (sign, _), piece in zip(hunk.lines, pieces, strict=True))
    )


def _is_no_key_line(line: str) -> bool:
    return len(line.strip()) < 16 or " " in line.strip()


def _cut_text(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    # Scrubbed once more: what the cut made of it would be found when an export is read again.
    return f"{scrub(text[:longest]).text}… ({len(text):,} characters)"


def _cut_strings(value: Json) -> Json:
    if isinstance(value, str):
        return _cut_text(value, MAX_RECORDED_STRING)
    if isinstance(value, Mapping):
        return {key: _cut_strings(item) for key, item in cast("Mapping[str, Json]", value).items()}
    if isinstance(value, list):
        return [_cut_strings(item) for item in cast("list[Json]", value)]
    return value


def redact_target(exact: str, longest: int = 500) -> str:
    """Return what a call acts on as one line; `⏎` marks a line end, as a blank would join two commands."""
    return _cut_text(scrub(exact).text.replace("\n", LINE_END_SYMBOL), longest)


def redact_line(exact: str, longest: int = 500) -> str:
    """Return a text as one recorded line: scrubbed and cut."""
    return _cut_text(scrub(" ".join(exact.split("\n"))).text, longest)
