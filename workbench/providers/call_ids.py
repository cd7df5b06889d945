"""Ids of calls that a server takes: unique, and short where it asks for that.

A session may have asked several services, whose ids may be equal or not allowed by the next one.
"""

import hashlib
from collections.abc import Callable, Iterable
from typing import Final, cast

from msgspec.structs import replace

from workbench.domain.messages import Message

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
