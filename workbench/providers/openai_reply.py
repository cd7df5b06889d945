"""What a chat completion says, whole or in deltas, as parts of a reply.

Owns the putting together of tool calls and the mending of characters that were cut. It trusts no type: what
has another shape than the protocol gives it is left out, and nothing is executed or parsed further here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Final, cast

from workbench.domain.messages import ReplyPart, StopPart, TextPart, ThinkingPart, ToolCallPart, UsagePart
from workbench.domain.values import Usage
from workbench.providers.endpoint import MOST_ARGUMENT_CHARACTERS, MOST_CALLS
from workbench.records import dataclass

Object = Mapping[str, object]

_THINKING: Final = ("reasoning_content", "reasoning", "thinking")
_LONGEST_ID: Final = 256
_LONGEST_NAME: Final = 256
_MOST_TOKENS: Final = 1 << 53


@dataclass(slots=True)
class _Call:
    """One tool call as far as it came."""

    index: int | None
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list[str])
    size: int = 0

    def add(self, call_id: str, name: str, arguments: str) -> None:
        self.id = self.id or call_id[:_LONGEST_ID]
        if name != self.name:  # some servers say the whole name each time
            self.name = (self.name + name)[:_LONGEST_NAME]
        if self.size <= MOST_ARGUMENT_CHARACTERS:
            self.pieces.append(arguments)
            self.size += len(arguments)


class ReplyReader:
    """Takes the objects of one reply in order and gives its parts."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._halves: dict[type[ReplyPart], str] = {}
        """A first half of a surrogate pair whose second half is in the next delta, by kind of text."""
        self._usage: Usage | None = None
        self.stop: str | None = None
        """Why the model stopped; None while it has not."""
        self.has_choices = False
        """Whether anything that came was a completion at all."""
        self._has_more_calls = False
        """Whether it asked for more calls than one reply may."""
        self.is_empty = True
        """Whether neither text nor a call came."""

    def take(self, found: Object) -> Iterator[ReplyPart]:
        """Take one chunk or one whole completion and yield what can be shown at once."""
        self._usage = _usage(found.get("usage")) or self._usage
        choices = found.get("choices")
        if not isinstance(choices, list):
            return
        self.has_choices = True
        for choice in map(as_object, cast("list[object]", choices)):
            if choice.get("index", 0) not in (0, None):
                continue
            yield from self._said(as_object(choice.get("delta") or choice.get("message")))
            reason = choice.get("finish_reason")
            self.stop = reason if isinstance(reason, str) and reason else self.stop

    def finish(self) -> Iterator[ReplyPart]:
        """Yield what is only whole at the end: calls, why it stopped, usage."""
        if any(self._halves.values()):
            yield TextPart(text="\ufffd")
        yield from self._whole_calls()
        if self.stop in ("length", "content_filter"):
            yield StopPart(reason="length" if self.stop == "length" else "filtered")
        elif self._has_more_calls:
            yield StopPart(reason="calls")
        if self._usage is not None:
            yield UsagePart(usage=self._usage)

    def _said(self, message: Object) -> Iterator[ReplyPart]:
        for name in _THINKING:
            if text := self._mended(ThinkingPart, _text(message.get(name))):
                yield ThinkingPart(text=text)
                break
        thinking, content = _content(message.get("content"))
        if thinking:
            yield ThinkingPart(text=mend(thinking))
        if text := self._mended(TextPart, content + _text(message.get("refusal"))):
            self.is_empty = False
            yield TextPart(text=text)
        calls = message.get("tool_calls")
        for call in cast("list[object]", calls) if isinstance(calls, list) else ():
            self._call(as_object(call))

    def _mended(self, kind: type[ReplyPart], text: str) -> str:
        """Return text that can be stored; half a character at its end waits for the next delta."""
        if not text:
            return ""
        text = self._halves.pop(kind, "") + text
        if "\ud800" <= text[-1] <= "\udbff":
            self._halves[kind] = text[-1]
            text = text[:-1]
        return mend(text)

    # --- calls ----------------------------------------------------------------------------------

    def _call(self, delta: Object) -> None:
        function = as_object(delta.get("function"))
        call_id, name, arguments = (
            _text(delta.get("id")),
            _text(function.get("name")),
            function.get("arguments"),
        )
        call = self._place(delta.get("index"), call_id, name)
        if call is not None:
            call.add(call_id, name, _argument_text(arguments))

    def _place(self, index: object, call_id: str, name: str) -> _Call | None:
        """Return the call that a delta belongs to: by index; where there is none or it lies, by id."""
        number = index if isinstance(index, int) and not isinstance(index, bool) else None
        open_calls = [call for call in self._calls if number is None or call.index == number]
        last = open_calls[-1] if open_calls else None
        is_other = last is not None and bool(call_id and last.id and call_id != last.id and name)
        if last is not None and not is_other:
            return last
        if len(self._calls) >= MOST_CALLS:
            self._has_more_calls = True
            return None
        self.is_empty = False
        self._calls.append(_Call(index=number))
        return self._calls[-1]

    def _whole_calls(self) -> Iterator[ToolCallPart]:
        seen: set[str] = set()
        for number, call in enumerate(self._calls, 1):
            call_id = mend(call.id) or f"call_{number}"
            while call_id in seen:
                call_id += f"_{number}"
            seen.add(call_id)
            yield ToolCallPart(id=call_id, name=mend(call.name), arguments=mend("".join(call.pieces)))


def as_object(value: object) -> Object:
    """Return a JSON object, an empty one for anything else."""
    return cast("Object", value) if isinstance(value, dict) else {}


def mend(text: str) -> str:
    """Put surrogate pairs that came in two escapes together, and U+FFFD for half ones."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _argument_text(value: object) -> str:
    """Return arguments as text; some servers send the object itself."""
    import json

    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else _text(value)


def _content(value: object) -> tuple[str, str]:
    """Return thinking and text of a message's content, which is a text or a list of typed parts."""
    if not isinstance(value, list):
        return "", _text(value)
    parts = [as_object(part) for part in cast("list[object]", value)]
    thinking = "".join(_content(part.get("thinking"))[1] for part in parts if part.get("type") == "thinking")
    return thinking, "".join(_text(part.get("text")) for part in parts if part.get("type") != "thinking")


def _usage(value: object) -> Usage | None:
    found = as_object(value)
    counts = [_count(found.get(name)) for name in ("prompt_tokens", "completion_tokens")]
    if counts == [None, None]:
        return None
    return Usage(input_tokens=counts[0] or 0, output_tokens=counts[1] or 0)


def _count(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_TOKENS:
        return value
    return None
