"""Which format a file has, by what is in it, and the reader for it: one table.

Owns the order of the tests. The name of a file is never looked at. Reading is lazy: lines are a stream.
"""

import io
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Final, TypeVar

from workbench.domain.values import Json, JsonObject
from workbench.formats import (
    acp,
    aider,
    atif,
    claude_code,
    codex,
    gemini,
    inspect_log,
    opencode,
    opencode_store,
    openhands,
    own,
    pi,
    seeds,
    swe_agent,
    unpacking,
)
from workbench.formats.fields import arr, obj
from workbench.formats.foreign import Item, Problem
from workbench.formats.lines import (
    MOST_DOCUMENT,
    MOST_LINE,
    Line,
    documents,
    raw_lines,
    rows,
    values,
)

HEAD: Final = 1 << 18
"""Bytes that are looked at."""

_MOST_ROWS: Final = 64 << 20
"""Bytes of a document that is tried as rows, which takes several times its size."""

_BOM: Final = b"\xef\xbb\xbf"
_BEGIN: Final = re.compile(rb"^[ \t]*(?:\{\s*\"|\[\s*\{)", re.MULTILINE)
"""How a document of one of the formats begins, in a line of its own."""

_SAMPLE: Final = 5
_LOOKED_AT: Final = 40

LineReader = Callable[[Iterable[Line | Problem], str], Iterator[Item]]
DocumentReader = Callable[[Json, str], Iterator[Item]]
TextReader = Callable[[Iterable[str], str], Iterator[Item]]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfLines:
    """A format of JSON lines."""

    name: str
    is_it: Callable[[list[JsonObject]], bool]
    read: LineReader


@dataclass(frozen=True, slots=True, kw_only=True)
class OfDocument:
    """A format of one JSON document."""

    name: str
    is_it: Callable[[Json], bool]
    read: DocumentReader


@dataclass(frozen=True, slots=True, kw_only=True)
class OfText:
    """A format of plain text."""

    name: str
    is_it: Callable[[str], bool]
    read: TextReader


LINES: Final = (
    OfLines(name="kaiak", is_it=seeds.is_kaiak, read=seeds.read_kaiak),
    OfLines(name="assistant", is_it=seeds.is_assistant_lines, read=seeds.read_assistant_lines),
    OfLines(name="codex", is_it=codex.is_rollout, read=codex.read),
    OfLines(name="codex-exec", is_it=codex.is_exec, read=codex.read_exec),
    OfLines(name="acp", is_it=acp.is_trace, read=acp.read),
    OfLines(name="pi", is_it=pi.is_session, read=pi.read),
    OfLines(name="openhands", is_it=openhands.is_rows, read=openhands.read_rows),
    OfLines(name="claude-code", is_it=claude_code.is_session, read=claude_code.read),
    OfLines(name="claude-code-history", is_it=claude_code.is_history, read=claude_code.read_history),
    OfLines(name="codex-history", is_it=codex.is_history, read=codex.read_history),
    OfLines(name="gemini", is_it=gemini.is_lines, read=gemini.read_lines),
)
"""In the order in which they are tried: the most particular first."""

DOCUMENTS: Final = (
    OfDocument(name="atif", is_it=atif.is_trajectory, read=atif.read),
    OfDocument(name="wink", is_it=seeds.is_wink, read=seeds.read_wink),
    OfDocument(name="cmd", is_it=seeds.is_command_log, read=seeds.read_command_log),
    OfDocument(name="assistant", is_it=seeds.is_assistant, read=seeds.read_assistant),
    OfDocument(name="kaiak", is_it=seeds.is_kaiak_document, read=seeds.read_kaiak_document),
    OfDocument(name="gemini", is_it=gemini.is_chat, read=gemini.read),
    OfDocument(name="gemini-log", is_it=gemini.is_log, read=gemini.read_log),
    OfDocument(name="gemini-checkpoint", is_it=gemini.is_checkpoint, read=gemini.read_checkpoint),
    OfDocument(name="opencode", is_it=opencode.is_export, read=opencode.read),
    OfDocument(name="inspect", is_it=inspect_log.is_log, read=inspect_log.read),
    OfDocument(name="openhands", is_it=openhands.is_trajectory, read=openhands.read),
    OfDocument(name="mini-swe-agent", is_it=swe_agent.is_mini, read=swe_agent.read_mini),
    OfDocument(name="swe-agent", is_it=swe_agent.is_swe_agent, read=swe_agent.read),
)
TEXTS: Final = (
    OfText(name="aider", is_it=aider.is_history, read=aider.read),
    OfText(name="aider-input", is_it=aider.is_input, read=aider.read_input),
    OfText(name="aider-llm", is_it=aider.is_llm, read=aider.read_llm),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognised:
    """A file whose format is known; `items` reads it, once."""

    format: str
    items: Iterator[Item] = field(default_factory=lambda: iter(()))
    lines: Iterator[Line | Problem] | None = None
    """Of a session of this program, which needs no reader: its lines are events."""


class NotRecognised(ValueError):
    """A file has no format that is known here; says why."""


def names() -> list[str]:
    """Return every format by name."""
    return sorted({one.name for one in (*LINES, *DOCUMENTS, *TEXTS)} | {own.NAME})


def recognise(stream: BinaryIO, name: str, wanted: str | None = None) -> Recognised:
    """Find out what a file is and return it ready to be read.

    Args:
        stream: Its bytes, from the start.
        name: How it is called in problems and where a session has no id of its own.
        wanted: A format that the user named; the others are not tried.

    Raises:
        NotRecognised: It is none of the formats.
    """
    head = _beginning(stream)
    if wide := _wide(head):
        return _transcoded(_Replayed(head, stream), wide, name, wanted)
    whole = _Replayed(head, stream)
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n\0\x1e")
    if not start:
        raise NotRecognised("it holds NUL bytes only" if head.strip() else "it is empty")
    if command := next((how for magic, how in unpacking.OTHERS.items() if head.startswith(magic)), ""):
        raise NotRecognised(f"it is compressed: {command} {name} unpacks it, then import what is in it")
    if packed := next((what for magic, what in unpacking.MAGIC.items() if head.startswith(magic)), ""):
        return _unpacked(whole, packed, name, wanted)
    if start[:4] == b"PK\x03\x04":
        return _packed(whole, name, "inspect", "zip", inspect_log.read_zip)
    if start.startswith(opencode_store.MAGIC):
        return _packed(whole, name, "opencode", "database", opencode_store.read_database)
    if start[:1] in (b"{", b"["):
        return _json(whole, head, name, wanted)
    return _text(whole, head, name, wanted)


def _beginning(stream: BinaryIO) -> bytes:
    """Return the first bytes, with the first line whole: one image in it may be larger than all the rest."""
    head = stream.read(HEAD)
    while b"\n" not in head and len(head) < MOST_LINE and (more := stream.read(HEAD * 4)):
        head += more
    return head


def _wide(head: bytes) -> str:
    """Return the encoding of a text whose characters have two bytes; empty for all others (RFC 4627, 3)."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    zeros = bytes(not byte for byte in head[:4])
    return {b"\0\1\0\1": "utf-16-le", b"\1\0\1\0": "utf-16-be"}.get(zeros, "")


def _transcoded(whole: "_Replayed", encoding: str, name: str, wanted: str | None) -> Recognised:
    data = whole.read(MOST_DOCUMENT + 1)
    if len(data) > MOST_DOCUMENT:
        raise NotRecognised(f"it is UTF-16, and over {MOST_DOCUMENT >> 20} MB")
    text = data.decode(encoding, "replace").encode("utf-8", "replace")
    return recognise(io.BytesIO(text), name, wanted)


def _unpacked(whole: "_Replayed", kind: str, name: str, wanted: str | None) -> Recognised:
    """Recognise what is in a compressed file; what is wrong with its packing is told behind what was read."""
    raw = unpacking.Unpacked(whole, kind)
    stream = io.BufferedReader(raw, HEAD)
    if any(stream.peek(8).startswith(magic) for magic in (*unpacking.MAGIC, *unpacking.OTHERS)):
        raise NotRecognised(f"it is compressed twice: unpack it ({kind}), then import what is in it")
    try:
        found = recognise(stream, name, wanted)
    except NotRecognised as error:
        raise NotRecognised(raw.why or str(error)) from None
    lines = None if found.lines is None else _told_behind(found.lines, raw)
    return Recognised(format=found.format, items=_told_behind(found.items, raw), lines=lines)


_Found = TypeVar("_Found")


def _told_behind(found: Iterator[_Found], raw: unpacking.Unpacked) -> Iterator[_Found | Problem]:
    yield from found
    if raw.why:
        yield Problem(line=raw.line, why=raw.why)


def _packed(
    whole: "_Replayed", name: str, form: str, what: str, read: Callable[[bytes, str], Iterator[Item]]
) -> Recognised:
    data = whole.read(MOST_DOCUMENT + 1)
    if len(data) > MOST_DOCUMENT:
        raise NotRecognised(f"it is a {what} of over {MOST_DOCUMENT >> 20} MB")
    try:
        return Recognised(format=form, items=read(data, name))
    except ValueError as error:
        raise NotRecognised(str(error)) from None


def _json(whole: "_Replayed", head: bytes, name: str, wanted: str | None) -> Recognised:
    sample = _sample(head)
    if wanted in (None, own.NAME) and own.is_session(sample):
        return Recognised(format=own.NAME, lines=values(raw_lines(whole)))
    if found := _of_lines(sample, wanted):
        return Recognised(format=found.name, items=found.read(values(raw_lines(whole)), name))
    data = whole.read(MOST_DOCUMENT + 1)
    if len(data) > MOST_DOCUMENT:
        raise NotRecognised(f"it is one document of over {MOST_DOCUMENT >> 20} MB")
    found, problems = documents(data)
    for one in DOCUMENTS:
        if wanted in (None, one.name) and found and one.is_it(found[0].value):
            return Recognised(format=one.name, items=_with(problems, _each(one, found, name)))
    # Lines that a tool has laid out anew: one array of them, each over several lines, or one that breaks off.
    several = rows(data) if len(data) <= _MOST_ROWS else []
    if not any(isinstance(line, Line) for line in several):
        several = [*_members(found), *problems]
    sample = [value for line in several[:_SAMPLE] if isinstance(line, Line) and (value := obj(line.value))]
    if one := _of_lines(sample, wanted):
        return Recognised(format=one.name, items=one.read(several, name))
    raise NotRecognised("its keys are those of no format that is known" if found else "it is no JSON")


def _members(found: list[Line]) -> list[Line]:
    """Return what stands in an array, by its place; else the document itself."""
    if len(found) == 1 and (members := arr(found[0].value)):
        return [Line(number, value) for number, value in enumerate(members, 1)]
    return found


def _each(one: OfDocument, found: list[Line], name: str) -> Iterator[Item]:
    """Yield the sessions of all documents of a file; one that stands there again is taken once."""
    for at, line in enumerate(found):
        if at and line.value in (found[0].value, found[at - 1].value):
            yield Problem(line=line.number, why="the same document again, which is taken once")
        elif at and not one.is_it(line.value):
            yield Problem(line=line.number, why=f"a document that is not of the format {one.name}: left out")
        else:
            yield from one.read(line.value, name)


def _with(problems: list[Problem], items: Iterator[Item]) -> Iterator[Item]:
    yield from problems
    yield from items


def _sample(head: bytes) -> list[JsonObject]:
    """Return the first objects that stand alone in a line; none for a document over several lines."""
    found: list[JsonObject] = []
    lines = head.split(b"\n")
    for line in values(iter(lines[:_LOOKED_AT])):
        if isinstance(line, Line) and (value := obj(line.value)):
            found.append(value)
        if len(found) == _SAMPLE:
            break
    return found


def _of_lines(sample: list[JsonObject], wanted: str | None) -> OfLines | None:
    return next((one for one in LINES if sample and wanted in (None, one.name) and one.is_it(sample)), None)


def _text(whole: "_Replayed", head: bytes, name: str, wanted: str | None) -> Recognised:
    beginning = head.removeprefix(_BOM).decode("utf-8", "replace")
    for one in TEXTS:
        if wanted in (None, one.name) and one.is_it(beginning):
            told: list[Problem] = []
            read = one.read(_lines_of_text(whole, told), name)
            return Recognised(format=one.name, items=itertools.chain(read, _Later(told)))
    if (sample := _sample(head)) and (found := _of_lines(sample, wanted)):
        return Recognised(format=found.name, items=found.read(values(raw_lines(whole)), name))
    if found := _behind_words(whole, head, name, wanted):
        return found
    raise NotRecognised("it is neither JSON nor a history in text that is known")


def _behind_words(whole: "_Replayed", head: bytes, name: str, wanted: str | None) -> Recognised | None:
    """Recognise a document before which a program has printed something else; None if there is none."""
    begin = _BEGIN.search(head)
    if begin is None:
        return None
    whole.read(begin.start())
    rest = head[begin.start() :]
    # Blank lines stand for what is left out, so that the numbers of lines stay what they are.
    blank = b"\n" * head.count(b"\n", 0, begin.start())
    try:
        found = _json(_Replayed(blank, whole), rest, name, wanted)
    except NotRecognised:
        return None
    why = Problem(line=1, why="words stand before the document; they were left out")
    lines = None if found.lines is None else itertools.chain([why], found.lines)
    return Recognised(format=found.format, items=_with([why], found.items), lines=lines)


class _Later:
    """Problems that are known once the lines before them were read."""

    def __init__(self, told: list[Problem]) -> None:
        self._told = told

    def __iter__(self) -> Iterator[Problem]:
        """Yield what was told so far."""
        yield from self._told


def _lines_of_text(whole: "_Replayed", told: list[Problem]) -> Iterator[str]:
    for number, line in enumerate(raw_lines(whole, MOST_LINE), 1):
        if isinstance(line, int):
            told.append(Problem(line=number, why=f"the line has {line} bytes: it was left out"))
            yield ""
            continue
        text = (line.removeprefix(_BOM) if number == 1 else line).decode("utf-8", "replace")
        if "\ufffd" in text and "\ufffd".encode() not in line:
            told.append(Problem(line=number, why="it is not UTF-8: what was no character reads as U+FFFD"))
        yield text


class _Replayed(io.BufferedReader):
    """A stream that begins again with what was read of it."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        super().__init__(_Joined(head, rest), 1 << 18)


class _Joined(io.RawIOBase):
    """Bytes in memory, and a stream behind them."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head, self._rest = io.BytesIO(head), rest

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: "memoryview[int]") -> int:  # type: ignore[override]
        """Fill a buffer with what comes next."""
        data = self._head.read(len(buffer)) or self._rest.read(len(buffer)) or b""
        buffer[: len(data)] = data
        return len(data)
