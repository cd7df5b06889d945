"""Detect the format of a session file by its content, and open it as a stream of events."""

import io
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, Final, Generic, TypeVar, cast

from msgspec import Struct, field

from workbench.domain.events import Event
from workbench.domain.values import Json, JsonObject
from workbench.formats import (
    acp,
    aider,
    amp,
    antigravity,
    assistant,
    atif,
    chat_logs,
    claude_code,
    cline,
    codex,
    command_log,
    copilot,
    cursor,
    droid,
    gemini,
    gemini_stream,
    inspect_log,
    kaiak,
    kimi,
    opencode,
    openhands,
    pi,
    qwen,
    seed_files,
    swe_agent,
    workbench_sessions,
)
from workbench.formats.assemble import (
    Assembler,
    AssemblerState,
    CurrentSessionId,
    ImportSummary,
    IsPaid,
    StoreBlob,
)
from workbench.formats.compression import COMPRESSION_MAGIC, UNSUPPORTED_MAGIC, DecompressedStream
from workbench.formats.databases import DATABASE_FORMATS, open_database
from workbench.formats.import_sources import NEIGHBOURS, ReadBeside, nothing_beside, with_neighbours
from workbench.formats.input import (
    MOST_DOCUMENT,
    MOST_LINE,
    JsonLine,
    JsonLines,
    json_documents,
    json_rows,
    json_values,
    raw_lines,
)
from workbench.formats.json_fields import as_array, as_object
from workbench.formats.line_meter import LineMeter, PrefixChanged, Seal
from workbench.formats.records import Record, file_problem
from workbench.text.problems import Problem

HEAD_BYTES: Final = 1 << 18
"""Bytes that are looked at."""
_MOST_ROWS: Final = 64 << 20
"""Bytes of a document that is tried as rows, which takes several times its size."""
_BOM: Final = b"\xef\xbb\xbf"
_DOCUMENT_BEGIN: Final = re.compile(rb"^[ \t]*(?:\{\s*\"|\[\s*\{)", re.MULTILINE)
"""How a document of one of the formats begins, in a line of its own."""
_CODE_FENCE: Final = re.compile(rb"^ {0,3}(?:```|~~~)", re.MULTILINE)
_SAMPLE_SIZE: Final = 5
_MOST_SAMPLED_LINES: Final = 40
_Sample = TypeVar("_Sample")
_Source = TypeVar("_Source")


class Format(Struct, Generic[_Sample, _Source], frozen=True):
    """A format: its name, what recognises a sample of it, and its reader, which also takes a name."""

    name: str
    is_it: Callable[[_Sample], bool]
    read: Callable[[_Source, str], Iterator[Record]]


LineFormat = Format[list[JsonObject], JsonLines]
DocumentFormat = Format[Json, Json]
TextFormat = Format[str, Iterable[str]]
LINE_FORMATS: Final[tuple[LineFormat, ...]] = (
    Format("kaiak", kaiak.is_lines, kaiak.read_lines),
    Format("assistant", assistant.is_assistant_lines, assistant.read_assistant_lines),
    Format("codex", codex.is_rollout, codex.read),
    Format("codex-exec", codex.is_exec, codex.read_exec),
    Format("acp", acp.is_trace, acp.read),
    Format("copilot", copilot.is_session, copilot.read),
    Format("pi", pi.is_session, pi.read),
    Format("openhands", openhands.is_rows, openhands.read_rows),
    Format("droid", droid.is_store, droid.read_store),
    Format("droid-stream", droid.is_stream, droid.read_stream),
    Format("cursor", cursor.is_transcript, cursor.read_transcript),
    Format("antigravity", antigravity.is_transcript, antigravity.read),
    Format("kimi", kimi.is_wire, kimi.read),
    Format("vibe", chat_logs.is_vibe, chat_logs.read_vibe),
    Format("grok", chat_logs.is_grok, chat_logs.read_grok),
    Format("openai", chat_logs.is_log, chat_logs.read_log),
    Format("opencode", opencode.is_run, opencode.read_run),
    Format("qwen", qwen.is_session, qwen.read),
    Format("claude-code", claude_code.is_session, claude_code.read),
    Format("claude-code-history", claude_code.is_history, claude_code.read_history),
    Format("codex-history", codex.is_history, codex.read_history),
    Format("gemini", gemini.is_lines, gemini.read_lines),
    Format(gemini_stream.NAME, gemini_stream.is_stream, gemini_stream.read),
)
"""In the order in which they are tried: the most particular first."""
DOCUMENT_FORMATS: Final[tuple[DocumentFormat, ...]] = (
    Format("atif", atif.is_trajectory, atif.read),
    Format("wink", seed_files.is_wink, seed_files.read_wink),
    Format("cmd", command_log.is_command_log, command_log.read_command_log),
    Format("assistant", assistant.is_assistant, assistant.read_assistant),
    Format("kaiak", kaiak.is_document, kaiak.read_document),
    Format("gemini", gemini.is_chat, gemini.read),
    Format("gemini-log", gemini.is_log, gemini.read_log),
    Format("gemini-checkpoint", gemini.is_checkpoint, gemini.read_checkpoint),
    Format("opencode", opencode.is_export, opencode.read_export),
    Format("amp", amp.is_thread, amp.read),
    Format("hermes", chat_logs.is_hermes, chat_logs.read_hermes),
    Format("openai", chat_logs.is_log_document, chat_logs.read_log_document),
    Format("roo", cline.is_roo_task, cline.read),
    Format("roo", cline.is_roo_screen, cline.read_screen),
    Format("cline", cline.is_task, cline.read),
    Format("cline", cline.is_screen, cline.read_screen),
    Format("cline", cline.is_session, cline.read),
    Format("inspect", inspect_log.is_log, inspect_log.read),
    Format("openhands", openhands.is_trajectory, openhands.read),
    Format("mini-swe-agent", swe_agent.is_mini, swe_agent.read_mini),
    Format("swe-agent", swe_agent.is_swe_agent, swe_agent.read),
)
TEXT_FORMATS: Final[tuple[TextFormat, ...]] = (
    Format("aider", aider.is_history, aider.read),
    Format("aider-input", aider.is_input_history, aider.read_input_history),
    Format("aider-llm", aider.is_llm_log, aider.read_llm_log),
)


class DetectedFile(Struct, frozen=True, kw_only=True):
    """A file whose format is known; `items` reads it, once."""

    format: str
    items: Iterator[Record] = field(default_factory=lambda: iter(()))
    lines: Iterator[JsonLine | Problem] | None = None
    """Of a session of this program, which needs no reader: its lines are events."""
    meter: LineMeter | None = None
    """Of a file of lines that begins with its first one."""


class UnknownFormat(ValueError):
    """A file has no format that is known here; says why."""


def format_names() -> list[str]:
    return sorted(
        {one.name for one in (*LINE_FORMATS, *DOCUMENT_FORMATS, *TEXT_FORMATS, *DATABASE_FORMATS)}
        | {workbench_sessions.FORMAT_NAME}
    )


def detect_format(stream: BinaryIO, name: str, wanted_format: str | None = None) -> DetectedFile:
    """Find out what a file is and return it ready to be read. Raises UnknownFormat."""
    head = _head_bytes(stream)
    if wide := _utf16_encoding(head):
        return _detect_transcoded(_ReplayedStream(head, stream), wide, name, wanted_format)
    whole = _ReplayedStream(head, stream)
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n\0\x1e")
    if not start:
        raise UnknownFormat("it holds NUL bytes only" if head.strip() else "it is empty")
    if command := next((how for magic, how in UNSUPPORTED_MAGIC.items() if head.startswith(magic)), ""):
        raise UnknownFormat(f"it is compressed: {command} {name} unpacks it, then import what is in it")
    if packed := next(
        (compression for magic, compression in COMPRESSION_MAGIC.items() if head.startswith(magic)), ""
    ):
        return _detect_decompressed(whole, packed, name, wanted_format)
    if start[:4] == b"PK\x03\x04":
        return _read_container(whole, "zip", lambda data: ("inspect", inspect_log.read_zip(data, name)))
    if start.startswith(opencode.SQLITE_MAGIC):
        return _read_container(whole, "database", lambda data: open_database(data, name, wanted_format))
    if start[:1] in (b"{", b"["):
        return _detect_json(whole, head, name, wanted_format)
    return _detect_text(whole, head, name, wanted_format)


def _head_bytes(stream: BinaryIO) -> bytes:
    head = stream.read(HEAD_BYTES)
    while b"\n" not in head and len(head) < MOST_LINE and (more := stream.read(HEAD_BYTES * 4)):
        head += more
    return head


def _utf16_encoding(head: bytes) -> str:
    """Return the encoding of a text whose characters have two bytes; empty for all others (RFC 4627, 3)."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    zeros = bytes(not byte for byte in head[:4])
    return {b"\0\1\0\1": "utf-16-le", b"\1\0\1\0": "utf-16-be"}.get(zeros, "")


def _detect_transcoded(
    whole: "_ReplayedStream", encoding: str, name: str, wanted_format: str | None
) -> DetectedFile:
    data = whole.read(MOST_DOCUMENT + 1)
    if len(data) > MOST_DOCUMENT:
        raise UnknownFormat(f"it is UTF-16, and over {MOST_DOCUMENT >> 20} MB")
    text = data.decode(encoding, "replace").encode("utf-8", "replace")
    return detect_format(io.BytesIO(text), name, wanted_format)


def _detect_decompressed(
    whole: "_ReplayedStream", kind: str, name: str, wanted_format: str | None
) -> DetectedFile:
    """Recognise what is in a compressed file; what is wrong with its packing is told behind what was read."""
    raw = DecompressedStream(whole, kind)
    stream = io.BufferedReader(raw, HEAD_BYTES)
    if any(stream.peek(8).startswith(magic) for magic in (*COMPRESSION_MAGIC, *UNSUPPORTED_MAGIC)):
        raise UnknownFormat(f"it is compressed twice: unpack it ({kind}), then import what is in it")
    try:
        detected = detect_format(stream, name, wanted_format)
    except UnknownFormat as error:
        raise UnknownFormat(raw.why or str(error)) from None
    lines = None if detected.lines is None else _with_decompression_problem(detected.lines, raw)
    return DetectedFile(
        format=detected.format, items=_with_decompression_problem(detected.items, raw), lines=lines
    )


_Item = TypeVar("_Item")


def _with_decompression_problem(items: Iterator[_Item], raw: DecompressedStream) -> Iterator[_Item | Problem]:
    yield from items
    if raw.why:
        yield file_problem(raw.line, raw.why)


def _read_container(
    whole: "_ReplayedStream", container: str, read: Callable[[bytes], tuple[str, Iterator[Record]]]
) -> DetectedFile:
    data = whole.read(MOST_DOCUMENT + 1)
    if len(data) > MOST_DOCUMENT:
        raise UnknownFormat(f"it is a {container} of over {MOST_DOCUMENT >> 20} MB")
    try:
        form, items = read(data)
    except ValueError as error:
        raise UnknownFormat(str(error)) from None
    return DetectedFile(format=form, items=items)


def _detect_json(whole: "_ReplayedStream", head: bytes, name: str, wanted_format: str | None) -> DetectedFile:
    sample = _sample_objects(head)
    if wanted_format in (None, workbench_sessions.FORMAT_NAME) and workbench_sessions.is_workbench_session(
        sample
    ):
        return DetectedFile(format=workbench_sessions.FORMAT_NAME, lines=json_values(raw_lines(whole)))
    if line_format := _matching_line_format(sample, wanted_format):
        meter = LineMeter(raw_lines(whole))
        return DetectedFile(
            format=line_format.name, items=line_format.read(json_values(meter), name), meter=meter
        )
    data = whole.read(MOST_DOCUMENT + 1)
    if len(data) > MOST_DOCUMENT:
        raise UnknownFormat(f"it is one document of over {MOST_DOCUMENT >> 20} MB")
    documents, problems = json_documents(data)
    for document_format in DOCUMENT_FORMATS:
        is_wanted = wanted_format in (None, document_format.name)
        if is_wanted and documents and document_format.is_it(documents[0].value):
            return DetectedFile(
                format=document_format.name,
                items=_problems_first(problems, _read_documents(document_format, documents, name)),
            )
    # Lines that a tool has laid out anew: one array of them, each over several lines, or one that breaks off.
    several = json_rows(data) if len(data) <= _MOST_ROWS else []
    if not any(isinstance(line, JsonLine) for line in several):
        several = [*_array_members(documents), *problems]
    sample = [
        value
        for line in several[:_SAMPLE_SIZE]
        if isinstance(line, JsonLine) and (value := as_object(line.value))
    ]
    if line_format := _matching_line_format(sample, wanted_format):
        return DetectedFile(format=line_format.name, items=line_format.read(several, name))
    raise UnknownFormat("its keys are those of no format that is known" if documents else "it is not JSON")


def _array_members(documents: list[JsonLine]) -> list[JsonLine]:
    if len(documents) == 1 and (members := as_array(documents[0].value)):
        return [JsonLine(number, value) for number, value in enumerate(members, 1)]
    return documents


def _read_documents(
    document_format: DocumentFormat, documents: list[JsonLine], name: str
) -> Iterator[Record]:
    for index, line in enumerate(documents):
        if index and line.value in (documents[0].value, documents[index - 1].value):
            yield file_problem(line.number, "the same document again, which is taken once")
        elif index and not document_format.is_it(line.value):
            yield file_problem(
                line.number, f"a document that is not of the format {document_format.name}: left out"
            )
        else:
            yield from document_format.read(line.value, name)


def _problems_first(problems: list[Problem], items: Iterator[Record]) -> Iterator[Record]:
    yield from problems
    yield from items


def _sample_objects(head: bytes) -> list[JsonObject]:
    objects: list[JsonObject] = []
    lines = head.split(b"\n")
    for line in json_values(iter(lines[:_MOST_SAMPLED_LINES])):
        if isinstance(line, JsonLine) and (value := as_object(line.value)):
            objects.append(value)
        if len(objects) == _SAMPLE_SIZE:
            break
    return objects


def _matching_line_format(sample: list[JsonObject], wanted_format: str | None) -> LineFormat | None:
    return next(
        (
            line_format
            for line_format in LINE_FORMATS
            if sample and wanted_format in (None, line_format.name) and line_format.is_it(sample)
        ),
        None,
    )


def _detect_text(whole: "_ReplayedStream", head: bytes, name: str, wanted_format: str | None) -> DetectedFile:
    beginning = head.removeprefix(_BOM).decode("utf-8", "replace")
    for text_format in TEXT_FORMATS:
        if wanted_format in (None, text_format.name) and text_format.is_it(beginning):
            problems: list[Problem] = []
            read = text_format.read(_text_lines(whole, problems), name)
            return DetectedFile(format=text_format.name, items=itertools.chain(read, _LateProblems(problems)))
    if _begins_in_example(head):
        raise UnknownFormat("it is neither JSON nor a history; what its blocks of code hold are examples")
    if (sample := _sample_objects(head)) and (line_format := _matching_line_format(sample, wanted_format)):
        return DetectedFile(
            format=line_format.name, items=line_format.read(json_values(raw_lines(whole)), name)
        )
    if detected := _detect_after_words(whole, head, name, wanted_format):
        return detected
    raise UnknownFormat("it is neither JSON nor a history in text that is known")


def _begins_in_example(head: bytes) -> bool:
    """Return whether the first document of a text stands in a block of code (spec.commonmark.org, 4.5)."""
    begin = _DOCUMENT_BEGIN.search(head)
    return begin is not None and len(_CODE_FENCE.findall(head, 0, begin.start())) % 2 == 1


def _detect_after_words(
    whole: "_ReplayedStream", head: bytes, name: str, wanted_format: str | None
) -> DetectedFile | None:
    """Recognise a document before which a program has printed something else; None if there is none."""
    begin = _DOCUMENT_BEGIN.search(head)
    if begin is None:
        return None
    whole.read(begin.start())
    rest = head[begin.start() :]
    # Blank lines stand for what is left out, so that the numbers of lines stay what they are.
    blank = b"\n" * head.count(b"\n", 0, begin.start())
    try:
        detected = _detect_json(_ReplayedStream(blank, whole), rest, name, wanted_format)
    except UnknownFormat:
        return None
    why = file_problem(1, "words stand before the document; they were left out")
    lines = None if detected.lines is None else itertools.chain([why], detected.lines)
    return DetectedFile(format=detected.format, items=_problems_first([why], detected.items), lines=lines)


class _LateProblems:
    def __init__(self, problems: list[Problem]) -> None:
        self._told = problems

    def __iter__(self) -> Iterator[Problem]:
        yield from self._told


def _text_lines(whole: "_ReplayedStream", problems: list[Problem]) -> Iterator[str]:
    for number, line in enumerate(raw_lines(whole, MOST_LINE), 1):
        if isinstance(line, int):
            problems.append(file_problem(number, f"the line has {line} bytes: it was left out"))
            yield ""
            continue
        text = (line.removeprefix(_BOM) if number == 1 else line).decode("utf-8", "replace")
        if "\ufffd" in text and "\ufffd".encode() not in line:
            problems.append(file_problem(number, "it is not UTF-8: what was no character reads as U+FFFD"))
        yield text


class _ReplayedStream(io.BufferedReader):
    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        super().__init__(_JoinedStream(head, rest), 1 << 18)


class _JoinedStream(io.RawIOBase):
    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head, self._rest = io.BytesIO(head), rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview[int]") -> int:  # type: ignore[override]
        data = self._head.read(len(buffer)) or self._rest.read(len(buffer)) or b""
        buffer[: len(data)] = data
        return len(data)


class ResumePoint(Struct, frozen=True, kw_only=True):
    """A place in a file of lines from which it is assembled on when it has grown, if it begins as it did."""

    lines: int
    digest: str
    """Of these lines, under the home's key."""
    state: AssemblerState


_POINT_LINES: Final = 100
"""Lines from one such place to the next, at least."""


class OpenedFile(Struct, kw_only=True):
    """A file that was recognised; the rest fills while `events` is read."""

    format: str
    events: Iterator[Event]
    summaries: list[ImportSummary] = field(default_factory=list[ImportSummary])
    strays: list[Problem] = field(default_factory=list[Problem])
    """Problems of a file in which no session was found."""
    point: ResumePoint | None = None
    """The last place from which the file can be gone on with; of formats that are read from lines alone."""


def open_file(
    stream: BinaryIO,
    name: str,
    time_us: int,
    wanted_format: str | None,
    *,
    store: StoreBlob,
    current_id: CurrentSessionId,
    recorded_at: int | None = None,
    is_elsewhere: workbench_sessions.IsElsewhere = workbench_sessions.never_elsewhere,
    beside: ReadBeside = nothing_beside,
    seal: Seal = bytes.hex,
    point: ResumePoint | None = None,
    is_paid: IsPaid = lambda _session, _request: False,
) -> OpenedFile:
    """Recognise a file and return it ready to be read. Raises UnknownFormat.

    `seal` makes digests that are kept. `point`: where to go on, as it was found when the file was shorter;
    what stands before is read and not assembled. Reading raises PrefixChanged where it begins otherwise.
    `is_paid` tells what another session has paid.

    `time_us` is for what has no time, `wanted_format` what the user named, `recorded_at` when this is taken
    in. `is_elsewhere` tells whether another session has an event of an id; only our own files ask.
    `beside` reads what lies beside the file.
    """
    detected = detect_format(stream, name, wanted_format)
    if detected.lines is not None:
        ours = OpenedFile(format=detected.format, events=iter(()))
        reading = workbench_sessions.SessionReader(store, current_id, ours.summaries, is_elsewhere)
        ours.events, ours.strays = reading.events(detected.lines), reading.strays
        return ours
    assembler = Assembler(detected.format, time_us, store, current_id, recorded_at, is_paid)
    opened = OpenedFile(format=detected.format, events=iter(()), summaries=assembler.summaries)
    items = with_neighbours(detected.format, detected.items, name, beside)
    meter = detected.meter if detected.format not in NEIGHBOURS else None
    if meter is None and point is not None:
        raise PrefixChanged
    if meter is not None:
        _watch_lines(meter, assembler, opened, seal, point)
    opened.events = _assembled_events(items, assembler, opened, meter)
    return opened


def _watch_lines(
    meter: LineMeter, assembler: Assembler, opened: OpenedFile, seal: Seal, point: ResumePoint | None
) -> None:
    """Note places from which the file can be gone on with, and begin at one that is known."""
    opened.point = point

    def between() -> None:
        since = meter.count - (opened.point.lines if opened.point else 0)
        if since >= _POINT_LINES and (state := assembler.state()):
            opened.point = ResumePoint(lines=meter.count, digest=meter.digest, state=state)

    meter.watch(seal, between, (point.lines, point.digest) if point else (0, ""))
    if point is not None:
        assembler.restore(point.state)


def _assembled_events(
    items: Iterator[Record], assembler: Assembler, opened: OpenedFile, meter: LineMeter | None
) -> Iterator[Event]:
    for item in items:
        if meter is not None and meter.is_known:
            assembler.pass_over(item)
            continue
        yield from assembler.take(item)
    yield from assembler.finish()
    opened.strays.extend(assembler.strays)


class CountingStream(io.RawIOBase):
    """A stream that tells how much is read of it."""

    def __init__(self, stream: BinaryIO, note: Callable[[int], None]) -> None:
        self._stream, self._note = stream, note

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview[int]") -> int:  # type: ignore[override]
        data = self._stream.read(len(buffer)) or b""
        buffer[: len(data)] = data
        self._note(len(data))
        return len(data)


def counting_stream(stream: BinaryIO, note: Callable[[int], None]) -> BinaryIO:
    """Return a stream that tells how many bytes of it each read took."""
    return cast("BinaryIO", CountingStream(stream, note))
