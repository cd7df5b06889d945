"""What readers of replies share: events from bytes, calls in pieces, ids of calls, reasoning in tags.

Bytes may be cut anywhere (server-sent events, WHATWG HTML section 9.2, and lines of JSON); a line that
does not end is an error, not a full memory. A session may have asked several services, so ids of calls are
made unique and of the form that who is asked allows. `<think>…</think>` counts at the very start of a
reply only.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Literal, cast

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.domain.messages import Message, ReplyPart, TextPart, ThinkingPart, ToolCallPart
from workbench.domain.values import Usage
from workbench.providers.base import MAX_ARGUMENT_CHARACTERS, MAX_REPLY_CALLS
from workbench.providers.errors import json_object

_MAX_CALL_ID: Final = 256
_MAX_TOOL_NAME: Final = 256
_MAX_TOKEN_COUNT: Final = 1 << 53


class PartialCall(Struct):
    """A call of which some came."""

    index: int | None
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list[str])
    size: int = 0

    def add(self, call_id: str, name: str, arguments: str) -> None:
        self.id = self.id or call_id[:_MAX_CALL_ID]
        if name != self.name:  # some servers say the whole name each time
            self.name = (self.name + name)[:_MAX_TOOL_NAME]
        if self.size <= MAX_ARGUMENT_CHARACTERS:
            self.pieces.append(arguments)
            self.size += len(arguments)


class CallCollector:
    """The calls of one reply, in the order in which they began."""

    def __init__(self) -> None:
        self._calls: list[PartialCall] = []
        self.has_more = False
        """Whether it asked for more calls than one reply may."""

    def __bool__(self) -> bool:
        return bool(self._calls)

    def place(self, index: int | None, call_id: str, name: str) -> PartialCall | None:
        """Return the call that a piece belongs to; None where it is one too many."""
        open_calls = [call for call in self._calls if index is None or call.index == index]
        last = open_calls[-1] if open_calls else None
        is_other = last is not None and bool(call_id and last.id and call_id != last.id and name)
        if last is not None and not is_other:
            return last
        if len(self._calls) >= MAX_REPLY_CALLS:
            self.has_more = True
            return None
        self._calls.append(PartialCall(index=index))
        return self._calls[-1]

    def whole(self) -> Iterator[ToolCallPart]:
        """Yield every call; one without an id, or with that of another, gets one of its own."""
        call_ids: set[str] = set()
        for number, call in enumerate(self._calls, 1):
            call_id = repair_surrogates(call.id) or f"call_{number}"
            while call_id in call_ids:
                call_id += f"_{number}"
            call_ids.add(call_id)
            name, arguments = repair_surrogates(call.name), repair_surrogates("".join(call.pieces))
            yield ToolCallPart(id=call_id, name=name, arguments=arguments)


class SplitCharacters:
    """Halves of surrogate pairs whose other half is in the next delta, by kind of text."""

    def __init__(self) -> None:
        self._halves: dict[type[ReplyPart], str] = {}

    def __bool__(self) -> bool:
        return any(self._halves.values())

    def repaired(self, kind: type[ReplyPart], text: str) -> str:
        """Return text that can be stored; half a character at its end waits for the next delta."""
        if not text:
            return ""
        text = self._halves.pop(kind, "") + text
        if "\ud800" <= text[-1] <= "\udbff":
            self._halves[kind] = text[-1]
            text = text[:-1]
        return repair_surrogates(text)


def repair_surrogates(text: str) -> str:
    """Put surrogate pairs that came in two escapes together, and U+FFFD for half ones."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def text_or_empty(value: object) -> str:
    return value if isinstance(value, str) else ""


def argument_text(value: object) -> str:
    """Return arguments as JSON text, whether they came as text or as a value."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else text_or_empty(value)


def token_count(value: object) -> int | None:
    """Return a count of tokens; None for anything that is none."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MAX_TOKEN_COUNT:
        return value
    return None


def counted_usage(value: object, sent_name: str, received_name: str) -> Usage | None:
    """Return the usage that OpenAI's protocols tell, cached tokens among those sent."""
    counts = json_object(value)
    sent, received = (token_count(counts.get(name)) for name in (sent_name, received_name))
    if sent is None and received is None:
        return None
    cached = token_count(json_object(counts.get(f"{sent_name}_details")).get("cached_tokens"))
    return Usage(
        input_tokens=sent or 0, output_tokens=received or 0, cache_read_tokens=min(cached or 0, sent or 0)
    )


def items_of(value: object) -> list[object]:
    """Return a JSON array, an empty one for anything else."""
    return cast("list[object]", value) if isinstance(value, list) else []


SHORT_ID_WORDS: Final = ("tool call id", "tool_call_id", "tool_call id")
"""A refusal that names ids of calls: Mistral takes nine letters and digits only."""
_SHORT_ID_LENGTH: Final = 9


def unique_call_ids(
    messages: Iterable[Message], is_legal: Callable[[str], bool] = bool
) -> tuple[Message, ...]:
    """Return the messages with another id for each call whose own is not legal or was there before.

    The ids of a conversation that grows stay the same from request to request.
    """
    used: set[str] = set()
    sent_as: dict[str, str] = {}
    """By the id as it came, the one that the newest call with it is sent with."""
    changed: list[Message] = []
    for message in messages:
        for call in message.calls:
            sent_as[call.id] = _free_id(call.id, used, is_legal)
            used.add(sent_as[call.id])
        changed.append(_with_ids(message, sent_as))
    return tuple(changed)


def _free_id(call_id: str, used: set[str], is_legal: Callable[[str], bool]) -> str:
    if is_legal(call_id) and call_id not in used:
        return call_id
    return f"call_{len(used) + 1}_{_short_id(f'{len(used)} {call_id}')}"


def _with_ids(message: Message, sent_as: dict[str, str]) -> Message:
    if message.calls:
        calls = tuple(replace(call, id=sent_as[call.id]) for call in message.calls)
        return replace(message, calls=calls)
    if message.tool_call_id is not None:
        return replace(message, tool_call_id=sent_as.get(message.tool_call_id, message.tool_call_id))
    return message


def _short_id(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:_SHORT_ID_LENGTH]


def short_call_ids(messages: list[object]) -> list[object]:
    """Return messages of the OpenAI protocol with ids of nine letters and digits."""
    return [_with_short_ids(cast("dict[str, object]", message)) for message in messages]


def _with_short_ids(message: dict[str, object]) -> dict[str, object]:
    if isinstance(message.get("tool_call_id"), str):
        return {**message, "tool_call_id": _short_id(str(message["tool_call_id"]))}
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return message
    return {**message, "tool_calls": [
        {**call, "id": _short_id(str(call["id"]))} for call in cast("list[dict[str, object]]", calls)
    ]}  # fmt: skip


_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"
_MOST_SPACE: Final = 1_000
"""White characters before a tag; more of them begin an answer."""


class ThinkTagReader:
    """The text of one reply, in pieces, as thoughts and answer."""

    def __init__(self) -> None:
        self._state: Literal["start", "thought", "gap", "answer"] = "start"
        self._held = ""
        """What may be the beginning of a tag, or of a thought or an answer that begins with white space."""
        self._thought: list[str] = []

    def end(self) -> Iterator[TextPart | ThinkingPart]:
        """Take all that follows as the answer: the server tells the reasoning itself."""
        if self._state == "start":
            self._state = "answer"
            yield from self._answer("")

    def feed(self, text: str) -> Iterator[TextPart | ThinkingPart]:
        """Take a piece and yield what can be told by now."""
        if self._state == "start":
            yield from self._start(text)
        elif self._state == "thought":
            yield from self._think(text)
        else:
            yield from self._answer(text)

    def finish(self, *, has_calls: bool) -> Iterator[TextPart | ThinkingPart]:
        """Yield what is left; a thought that was never closed may be the answer, so it is told as one."""
        if self._state == "thought":
            rest = self._thinking(self._held)
            yield from rest
            if self._thought and not has_calls:
                yield TextPart(text="".join(self._thought))
        elif self._state == "start":
            self._state = "answer"
            yield from self._answer("")

    def _start(self, text: str) -> Iterator[TextPart | ThinkingPart]:
        self._held += text
        beginning = self._held.lstrip()
        if beginning.startswith(_OPEN):
            self._state, self._held = "thought", ""
            yield from self._think(beginning[len(_OPEN) :])
        elif not _OPEN.startswith(beginning) or len(self._held) > _MOST_SPACE:
            self._state = "answer"
            yield from self._answer("")

    def _think(self, text: str) -> Iterator[TextPart | ThinkingPart]:
        thought, close, answer = (self._held + text).partition(_CLOSE)
        self._held = "" if close else _tag_beginning(thought)
        yield from self._thinking(thought[: len(thought) - len(self._held)])
        if close:
            self._state = "gap"
            yield from self._answer(answer)

    def _thinking(self, text: str) -> Iterator[ThinkingPart]:
        visible = text if self._thought else text.lstrip()
        if visible:
            self._thought.append(visible)
            yield ThinkingPart(text=visible)

    def _answer(self, text: str) -> Iterator[TextPart]:
        text, self._held = self._held + text, ""
        if self._state == "gap":
            text = text.lstrip()
            self._state = "answer" if text else "gap"
        if text:
            yield TextPart(text=text)


def _tag_beginning(text: str) -> str:
    """Return the end of a text that may be the beginning of the closing tag."""
    sizes = range(min(len(text), len(_CLOSE) - 1), 0, -1)
    return next((text[-size:] for size in sizes if _CLOSE.startswith(text[-size:])), "")


_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class EventTooLarge(Exception):
    """One event is larger than the limit."""


class ServerEvent(Struct, frozen=True, kw_only=True):
    """One event: its type (empty: a message) and its data lines joined by line feeds."""

    kind: str
    data: str


class EventReader:
    """Turns pieces of a stream into events."""

    def __init__(self, most: int) -> None:
        """Start a stream; one event may have so many bytes."""
        self._most = most
        self._buffer = bytearray()
        self._scanned = 0
        """Where in the buffer to look for the next line end: before it there is none."""
        self._is_first_line = True
        self._after_return = False
        """The last piece ended with CR: a LF that follows belongs to it."""
        self._kind = ""
        self._data: list[str] = []
        self._size = 0

    def feed(self, piece: bytes) -> Iterator[ServerEvent]:
        """Take a piece and yield the events that are whole now. Raises EventTooLarge."""
        if self._after_return and piece:
            piece = piece.removeprefix(b"\n")
            self._after_return = False
        self._buffer += piece
        for line in self._lines():
            event = self._line(line)
            if event is not None:
                yield event
        self._check(len(self._buffer))

    def finish(self) -> Iterator[ServerEvent]:
        """Yield what a server left without its last blank line; the standard would drop it."""
        if self._buffer:
            event = self._line(bytes(self._buffer))
            self._buffer.clear()
            if event is not None:
                yield event
        event = self._dispatched()
        if event is not None:
            yield event

    def _lines(self) -> Iterator[bytes]:
        start = 0
        while line_end := _LINE_END.search(self._buffer, max(start, self._scanned)):
            yield bytes(self._buffer[start : line_end.start()])
            start = self._scanned = line_end.end()
            self._after_return = line_end.group() == b"\r" and start == len(self._buffer)
        del self._buffer[:start]
        self._scanned = len(self._buffer)

    def _line(self, line: bytes) -> ServerEvent | None:
        if self._is_first_line:
            line = line.removeprefix(_BYTE_ORDER_MARK)
            self._is_first_line = False
        if not line:
            return self._dispatched()
        name, _, value = line.partition(b":")
        self._field(name, value.removeprefix(b" "))
        return None

    def _field(self, name: bytes, value: bytes) -> None:
        if name == b"data":
            self._check(self._size + len(value))
            self._size += len(value) + 1
            self._data.append(value.decode("utf-8", "replace"))
        elif name == b"event":
            self._kind = value.decode("utf-8", "replace")
        elif name == b"error" and value:
            # llama.cpp of old put errors into a field of their own.
            self._kind = "error"
            self._data.append(value.decode("utf-8", "replace"))

    def _dispatched(self) -> ServerEvent | None:
        event = ServerEvent(kind=self._kind, data="\n".join(self._data)) if self._data else None
        self._kind, self._data, self._size = "", [], 0
        return event

    def _check(self, size: int) -> None:
        if size > self._most:
            raise EventTooLarge


class LineReader:
    """Turns pieces of a stream of JSON lines (NDJSON) into events."""

    def __init__(self, most: int) -> None:
        """Start a stream; one line may have so many bytes."""
        self._most = most
        self._buffer = bytearray()
        self._scanned = 0

    def feed(self, piece: bytes) -> Iterator[ServerEvent]:
        """Take a piece and yield the lines that are whole now. Raises EventTooLarge."""
        self._buffer += piece
        start = 0
        while (end := self._buffer.find(b"\n", max(start, self._scanned))) >= 0:
            yield from _line_event(bytes(self._buffer[start:end]))
            start = self._scanned = end + 1
        del self._buffer[:start]
        self._scanned = len(self._buffer)
        if self._scanned > self._most:
            raise EventTooLarge

    def finish(self) -> Iterator[ServerEvent]:
        """Yield a last line without its line end."""
        yield from _line_event(bytes(self._buffer))
        self._buffer.clear()


def _line_event(line: bytes) -> Iterator[ServerEvent]:
    text = line.removeprefix(_BYTE_ORDER_MARK).strip()
    if text:
        yield ServerEvent(kind="", data=text.decode("utf-8", "replace"))
