"""Write what a provider answers as a recording that the recorded provider plays again.

Owns the shape of that file: one exchange a reply, in the order of asking. Secrets of known forms are replaced
before anything is written; a recording is meant to be passed on.
"""

import json
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Final, cast

from workbench.domain.messages import (
    ExchangePart,
    FailurePart,
    ModelRequest,
    ReplyPart,
    StopPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UsagePart,
)
from workbench.providers.base import Provider
from workbench.providers.recording import MAX_WAIT_MS, VERSION
from workbench.text.scrub import scrub, scrub_value

_TOGETHER_S: Final = 0.05
"""Pieces of one text that come closer than this are written as one: no eye could tell."""

Write = Callable[[bytes], None]
Item = dict[str, object]


class Recorder:
    """Keeps the exchanges of one run and writes them whole after each."""

    def __init__(self, write: Write, clock: Callable[[], float] = time.monotonic) -> None:
        """Start a recording.

        Args:
            write: Puts all bytes of the file in its place.
            clock: Seconds from any start.
        """
        self._write, self._clock = write, clock
        self._exchanges: list[Item] = []

    def listening(self, provider: Provider) -> Provider:
        """Return the same provider, recorded."""
        return _Recorded(provider, self)

    async def replied(self, provider: Provider, request: ModelRequest) -> AsyncGenerator[ReplyPart, None]:
        """Pass a reply on and keep it; one that was cancelled is kept as far as it came."""
        kept = _Exchange(self._clock)
        try:
            async with aclosing(provider.reply(request)) as parts:
                async for part in parts:
                    kept.take(part)
                    yield part
        finally:
            self._exchanges.append({"reply": kept.items()})
            document = {"recording": VERSION, "model": request.model, "exchanges": self._exchanges}
            self._write(json.dumps(document, ensure_ascii=False, indent=1).encode("utf-8", "replace") + b"\n")


class _Recorded:
    """A provider whose replies are kept."""

    def __init__(self, provider: Provider, recorder: Recorder) -> None:
        self._provider, self._recorder = provider, recorder

    @property
    def name(self) -> str:
        return self._provider.name

    def reply(self, request: ModelRequest) -> AsyncGenerator[ReplyPart, None]:
        return self._recorder.replied(self._provider, request)


class _Exchange:
    """One reply as it is kept: texts in blocks of timed pieces, so that a block is scrubbed as a whole."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._last = clock()
        self._blocks: list[tuple[str, list[tuple[float, str]]]] = []
        self._others: dict[int, list[tuple[float, ReplyPart]]] = {}

    def take(self, part: ReplyPart) -> None:
        now = self._clock()
        wait, self._last = now - self._last, now
        if isinstance(part, TextPart | ThinkingPart):
            self._text("text" if isinstance(part, TextPart) else "thinking", wait, part.text)
        elif not isinstance(part, ExchangePart):
            self._others.setdefault(len(self._blocks), []).append((wait, part))

    def _text(self, name: str, wait: float, text: str) -> None:
        is_new = not self._blocks or self._blocks[-1][0] != name or len(self._blocks) in self._others
        if is_new:
            self._blocks.append((name, [(wait, text)]))
            return
        pieces = self._blocks[-1][1]
        if wait < _TOGETHER_S:
            first, before = pieces[-1]
            pieces[-1] = (first, before + text)
        else:
            pieces.append((wait, text))

    def items(self) -> list[Item]:
        found: list[Item] = [_item(part, wait) for wait, part in self._others.get(0, [])]
        for number, (name, pieces) in enumerate(self._blocks, 1):
            found += [_timed({name: text}, wait) for wait, text in _scrubbed(pieces)]
            found += [_item(part, wait) for wait, part in self._others.get(number, [])]
        return found


def _scrubbed(pieces: list[tuple[float, str]]) -> list[tuple[float, str]]:
    """Return the pieces of a text; one piece where a secret was in it, for it may have been cut."""
    whole = "".join(text for _, text in pieces)
    clean = scrub(whole).text
    return pieces if clean == whole else [(sum(wait for wait, _ in pieces), clean)]


def _item(part: ReplyPart, wait: float) -> Item:
    match part:
        case ToolCallPart():
            call = {"id": scrub(part.id).text, "name": scrub(part.name).text}
            return _timed({"tool_call": {**call, "arguments": _arguments(part.arguments)}}, wait)
        case UsagePart(usage=usage):
            counts = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
            return _timed({"usage": counts}, wait)
        case StopPart(reason=reason):
            return _timed({"stop": reason}, wait)
        case FailurePart():
            return _timed({"error": _failure(part)}, wait)
        case TextPart() | ThinkingPart() | ExchangePart():
            raise AssertionError("texts are kept in blocks, exchanges not at all")


def _arguments(text: str) -> object:
    """Return arguments as an object; as they came where they are none."""
    try:
        value: object = json.loads(text or "{}")
    except (ValueError, RecursionError):
        value = None
    is_exact = isinstance(value, dict) and json.loads(json.dumps(value)) == value
    return scrub_value(cast("object", value))[0] if is_exact else scrub(text).text


def _failure(part: FailurePart) -> Item:
    facts: Item = {
        "code": part.code, "message": scrub(part.message).text, "remedy": scrub(part.remedy).text,
        "status": part.status, "retry_after_s": part.retry_after_s, "recoverable": part.recoverable,
    }  # fmt: skip
    return {name: value for name, value in facts.items() if value is not None and value != ""}


def _timed(item: Item, wait: float) -> Item:
    milliseconds = min(round(wait * 1000), MAX_WAIT_MS)
    return {**item, "after_ms": milliseconds} if milliseconds >= 1 else item
