"""Parts of a reply that arrive in pieces: calls, split characters, counts of tokens."""

import json
from collections.abc import Iterator
from typing import Final, cast

from msgspec import Struct, field

from workbench.domain.messages import ReplyPart, ToolCallPart
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
