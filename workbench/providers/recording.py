"""The recording format (DESIGN section 9): what a file of recorded replies may say.

Owns reading and checking it. Nothing is guessed: an unknown key, a missing one or a value of another
type is an error that names file, line and key. It never plays anything.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn, cast, get_args

from workbench.domain.messages import (
    FailurePart,
    ResultOutcome,
    StopPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UsagePart,
)
from workbench.domain.values import Usage
from workbench.text.located import JsonError, Node, parse

VERSION: Final = 1
MAX_BYTES: Final = 64 * 1024 * 1024
MAX_WAIT_MS: Final = 3_600_000

Played = TextPart | ThinkingPart | ToolCallPart | UsagePart | StopPart | FailurePart


class RecordingBroken(Exception):
    """A recording cannot be used: names file, line and key and says why.

    Attributes:
        path: The file.
        line: From 1; 0 where the file could not be read at all.
        key: Where in the document, such as `exchanges[2].reply[0].text`; empty for the whole of it.
        why: The reason, without the place.
    """

    def __init__(self, path: Path, line: int, key: str, why: str) -> None:
        place = [f"line {line}"] if line else []
        where = ", ".join([*place, key] if key else place)
        super().__init__(f"the recording {path} cannot be played: {where + ': ' if where else ''}{why}")
        self.path, self.line, self.key, self.why = path, line, key, why


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A condition on what was sent since the last reply; every part that is given must hold."""

    tool_result_id: str | None = None
    has_tool_result: bool = False
    outcome: ResultOutcome | None = None
    contains: str | None = None
    prompt_contains: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedPart:
    """A part of a reply and how long to wait before it."""

    part: Played
    after_ms: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One reply, the condition for its being the next, and what must then be so."""

    index: int
    """From 0; events name exchanges by it."""
    line: int
    reply: tuple[TimedPart, ...]
    when: Match | None = None
    expect: Match | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A whole recording."""

    path: Path
    model: str
    exchanges: tuple[Exchange, ...]
    sha256: str
    """Hex digest of the file, for the session's configuration."""


def load(path: str | Path) -> Recording:
    """Read and check a recording.

    Raises:
        RecordingBroken: The file cannot be read or is no recording.
    """
    path = Path(path)
    data = _bytes(path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RecordingBroken(path, line, "", "the file is not UTF-8") from None
    try:
        root = parse(text)
    except JsonError as error:
        raise RecordingBroken(path, error.line, "", error.reason) from None
    top = _Value(path=path, node=root, key="").members(("recording", "exchanges"), ("model",))
    if top["recording"].whole() != VERSION:
        top["recording"].refuse(f"this version reads recordings of version {VERSION}")
    return Recording(
        path=path,
        model=top["model"].text() if "model" in top else "recorded",
        exchanges=tuple(_exchange(number, item) for number, item in enumerate(top["exchanges"].items())),
        sha256=hashlib.sha256(data).hexdigest(),
    )


def _bytes(path: Path) -> bytes:
    try:
        if not path.is_file():
            raise RecordingBroken(
                path, 0, "", "there is no such file" if not path.exists() else "it is no file"
            )
        if path.stat().st_size > MAX_BYTES:
            raise RecordingBroken(path, 0, "", f"it is larger than {MAX_BYTES // 1024 // 1024} MB")
        return path.read_bytes()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise RecordingBroken(path, 0, "", f"it cannot be read: {why}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Value:
    """A value of the document that knows its place; every reader refuses another type."""

    path: Path
    node: Node
    key: str

    def refuse(self, why: str) -> NoReturn:
        raise RecordingBroken(self.path, self.node.key_line or self.node.line, self.key, why)

    def members(self, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, "_Value"]:
        if self.node.members is None:
            self.refuse("an object is needed here")
        found = {name: self._member(name, node) for name, node in self.node.members.items()}
        known = (*required, *optional)
        for name, value in found.items():
            if name not in known:
                value.refuse(f"unknown key; known here: {', '.join(known)}")
        for name in required:
            if name not in found:
                self.refuse(f'the key "{name}" is missing')
        return found

    def _member(self, name: str, node: Node) -> "_Value":
        return _Value(path=self.path, node=node, key=f"{self.key}.{name}" if self.key else name)

    def items(self) -> Iterator["_Value"]:
        if self.node.items is None:
            self.refuse("an array is needed here")
        for number, node in enumerate(self.node.items):
            yield _Value(path=self.path, node=node, key=f"{self.key}[{number}]")

    def text(self) -> str:
        value = self.node.value
        return value if isinstance(value, str) else self.refuse("a text is needed here")

    def name(self) -> str:
        return self.text() or self.refuse("the text is empty")

    def number(self, largest: float | None = None) -> float:
        value = self.node.value
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            self.refuse("a number from 0 is needed here")
        if largest is not None and value > largest:
            self.refuse(f"{largest} is the largest number here")
        return value

    def flag(self) -> bool:
        value = self.node.value
        return value if isinstance(value, bool) else self.refuse("true or false is needed here")

    def whole(self) -> int:
        value = self.node.value
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            self.refuse("a whole number from 0 is needed here")
        return value


def _exchange(number: int, value: _Value) -> Exchange:
    found = value.members(("reply",), ("when", "expect"))
    parts = list(found["reply"].items())
    reply = tuple(_timed(part, is_last=part is parts[-1]) for part in parts)
    _refuse_repeated_ids(parts, reply)
    return Exchange(
        index=number,
        line=value.node.line,
        reply=reply,
        when=_match(found["when"]) if "when" in found else None,
        expect=_match(found["expect"]) if "expect" in found else None,
    )


def _refuse_repeated_ids(values: list[_Value], reply: tuple[TimedPart, ...]) -> None:
    seen: set[str] = set()
    for value, timed in zip(values, reply, strict=True):
        if not isinstance(timed.part, ToolCallPart):
            continue
        if timed.part.id in seen:
            value.refuse(f'the call id "{timed.part.id}" is there twice in one reply')
        seen.add(timed.part.id)


def _match(value: _Value) -> Match:
    found = value.members((), ("tool_result", "prompt_contains"))
    if not found:
        value.refuse("a condition is needed here: tool_result or prompt_contains")
    prompt = found["prompt_contains"].text() if "prompt_contains" in found else None
    if "tool_result" not in found:
        return Match(prompt_contains=prompt)
    facts = found["tool_result"].members((), ("id", "outcome", "contains"))
    return Match(
        has_tool_result=True,
        tool_result_id=facts["id"].name() if "id" in facts else None,
        outcome=_outcome(facts["outcome"]) if "outcome" in facts else None,
        contains=facts["contains"].text() if "contains" in facts else None,
        prompt_contains=prompt,
    )


def _outcome(value: _Value) -> ResultOutcome:
    known = get_args(ResultOutcome)
    if value.text() not in known:
        value.refuse(f"unknown outcome; known: {', '.join(known)}")
    return cast("ResultOutcome", value.text())


def _timed(value: _Value, *, is_last: bool) -> TimedPart:
    found = value.members((), (*_PARTS, "after_ms"))
    kinds = [name for name in found if name in _PARTS]
    if len(kinds) != 1:
        value.refuse(f"exactly one of {', '.join(_PARTS)} is needed here")
    if kinds[0] == "error" and not is_last:
        found["error"].refuse("nothing can follow an error")
    wait = found["after_ms"].number(MAX_WAIT_MS) if "after_ms" in found else 0
    return TimedPart(part=_PARTS[kinds[0]](found[kinds[0]]), after_ms=wait)


def _tool_call(value: _Value) -> ToolCallPart:
    found = value.members(("id", "name"), ("arguments",))
    return ToolCallPart(
        id=found["id"].name(),
        name=found["name"].name(),
        arguments=_arguments(found["arguments"]) if "arguments" in found else "{}",
    )


def _arguments(value: _Value) -> str:
    """Return arguments as a model writes them; a string is taken as it is, so it may be malformed."""
    if isinstance(value.node.value, str):
        return value.node.value
    if value.node.members is None:
        value.refuse("an object or a text is needed here")
    return json.dumps(value.node.value, ensure_ascii=False)


def _usage(value: _Value) -> UsagePart:
    found = value.members((), ("input_tokens", "output_tokens"))
    return UsagePart(usage=Usage(**{name: count.whole() for name, count in found.items()}))


def _failure(value: _Value) -> FailurePart:
    found = value.members(("message",), ("status", "retry_after_s", "code", "remedy", "recoverable"))
    status = found["status"].whole() if "status" in found else None
    return FailurePart(
        code=found["code"].name() if "code" in found else f"http_{status}" if status else "provider_error",
        message=found["message"].text(),
        remedy=found["remedy"].text() if "remedy" in found else "",
        status=status,
        retry_after_s=found["retry_after_s"].number() if "retry_after_s" in found else None,
        recoverable=found["recoverable"].flag() if "recoverable" in found else _may_pass(status),
    )


def _may_pass(status: int | None) -> bool:
    return status is None or status in (408, 409, 425, 429) or status >= 500


_STOPS: Final = {
    "length": StopPart(reason="length"), "filtered": StopPart(reason="filtered"),
    "calls": StopPart(reason="calls"), "size": StopPart(reason="size"), "time": StopPart(reason="time"),
}  # fmt: skip


def _stop(value: _Value) -> StopPart:
    found = _STOPS.get(value.text())
    return found or value.refuse("unknown reason; known: length, filtered")


_PARTS: Final[dict[str, Callable[[_Value], Played]]] = {
    "thinking": lambda value: ThinkingPart(text=value.text()),
    "text": lambda value: TextPart(text=value.text()),
    "tool_call": _tool_call,
    "usage": _usage,
    "stop": _stop,
    "error": _failure,
}
