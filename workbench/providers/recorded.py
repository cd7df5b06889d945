"""The recorded provider: answers with what a recording says, so that no model is needed.

Owns which exchange is next. Which ones are used is not remembered here but told by the request, a
fold of the session's events, so any driver goes on where another stopped.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator

from workbench.domain.messages import ExchangePart, FailurePart, Message, ModelRequest, ReplyPart
from workbench.providers.recording import Exchange, Match, Recording, RecordingBroken, load

__all__ = ["RecordedProvider", "Recording", "RecordingBroken", "load"]

_SHOWN = 200


class RecordedProvider:
    """Plays one recording."""

    def __init__(
        self, recording: Recording, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self.recording = recording
        self._sleep = sleep

    @property
    def name(self) -> str:
        """Return the provider's name."""
        return "recorded"

    async def reply(self, request: ModelRequest) -> AsyncGenerator[ReplyPart, None]:
        """Yield the next unused exchange whose `when` holds; see DESIGN section 9."""
        exchange = self._next(request)
        if exchange is None:
            yield self._exhausted(request)
            return
        yield ExchangePart(exchange=exchange.index)
        if exchange.expect is not None and not holds(exchange.expect, request.fresh):
            yield self._mismatch(exchange, exchange.expect, request.fresh)
            return
        for timed in exchange.reply:
            if timed.after_ms:
                await self._sleep(timed.after_ms / 1000)
            yield timed.part

    def _next(self, request: ModelRequest) -> Exchange | None:
        unused = (e for e in self.recording.exchanges if e.index not in request.used_exchanges)
        return next((e for e in unused if e.when is None or holds(e.when, request.fresh)), None)

    def _exhausted(self, request: ModelRequest) -> FailurePart:
        total = len(self.recording.exchanges)
        used = sum(exchange.index in request.used_exchanges for exchange in self.recording.exchanges)
        unmatched = f"; no other exchange is for {_sent(request.fresh)}" if used < total else ""
        return FailurePart(
            code="recording_exhausted",
            message=f"recording exhausted ({used} of {total}){unmatched}",
            remedy=f"add an exchange to {self.recording.path}, or start a new session",
            recoverable=False,
        )

    def _mismatch(self, exchange: Exchange, expected: Match, fresh: tuple[Message, ...]) -> FailurePart:
        return FailurePart(
            code="recording_mismatch",
            message=f"the recording expected {_described(expected)}, but was sent {_sent(fresh)}",
            remedy=f"see exchange {exchange.index + 1} in line {exchange.line} of {self.recording.path}",
            recoverable=False,
        )


def holds(match: Match, fresh: tuple[Message, ...]) -> bool:
    """Return whether a condition holds for what was sent since the last reply."""
    if match.has_tool_result and not any(_is_result(match, message) for message in fresh):
        return False
    wanted = match.prompt_contains
    return wanted is None or any(m.role == "user" and wanted in m.content for m in fresh)


def _is_result(match: Match, message: Message) -> bool:
    return (
        message.role == "tool"
        and match.tool_result_id in (None, message.tool_call_id)
        and match.outcome in (None, message.outcome)
        and (match.contains is None or match.contains in message.content)
    )


def _described(match: Match) -> str:
    return " and ".join(_conditions(match))


def _conditions(match: Match) -> Iterator[str]:
    if match.has_tool_result:
        facts = ["a result", f"of call {match.tool_result_id}" if match.tool_result_id else ""]
        facts += [f"that is {match.outcome}" if match.outcome else ""]
        facts += [f'containing "{match.contains}"' if match.contains is not None else ""]
        yield " ".join(fact for fact in facts if fact)
    if match.prompt_contains is not None:
        yield f'a prompt containing "{match.prompt_contains}"'


def _sent(fresh: tuple[Message, ...]) -> str:
    return "; ".join(map(_message, fresh)) or "nothing new"


def _message(message: Message) -> str:
    content = message.content if len(message.content) <= _SHOWN else f"{message.content[:_SHOWN]}…"
    if message.role == "tool":
        return f'the result of call {message.tool_call_id} that is {message.outcome}: "{content}"'
    return f'the prompt "{content}"'
