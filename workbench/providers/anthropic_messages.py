"""The Anthropic Messages API: content in blocks, results of a turn in one message, signed thinking.

Source: the API reference of Anthropic (Messages, Streaming, Errors, Prompt caching, Extended thinking).
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final, cast

from msgspec import Struct

from workbench.domain.messages import (
    Message,
    ModelRequest,
    OpaquePart,
    ProgressPart,
    ReplyPart,
    StopPart,
    TextPart,
    ThinkingPart,
    UsagePart,
)
from workbench.domain.values import ToolDescriptor, Usage
from workbench.providers import errors
from workbench.providers.base import MAX_REPLY_CHARACTERS
from workbench.providers.call_ids import unique_call_ids
from workbench.providers.errors import ForeignObject, json_object
from workbench.providers.reply_parts import (
    CallCollector,
    SplitCharacters,
    argument_text,
    items_of,
    text_or_empty,
    token_count,
)
from workbench.providers.server_provider import ReplyReader, RequestBody, ServerProvider

_API_VERSION: Final = "2023-06-01"
_DEFAULT_MAX_TOKENS: Final = 16_384
"""The protocol demands a limit; where no setting gives one it is this."""
_LEGAL_CALL_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_LEFT_OUT: Final = "(The beginning of this conversation is left out.)"
_EPHEMERAL: Final = {"type": "ephemeral"}
_STATUS_BY_TYPE: Final[Mapping[str, int]] = {
    "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
    "not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "api_error": 500,
    "timeout_error": 504, "overloaded_error": 529,
}  # fmt: skip
_TOOL_CHOICES: Final = {"auto": "auto", "required": "any", "none": "none"}
_STOP_REASONS: Final = {
    "max_tokens": "length", "model_context_window_exceeded": "length", "refusal": "filtered"
}  # fmt: skip
KIND: Final = "anthropic"
"""Whose opaque parts are sent back here."""


class AnthropicMessages(ServerProvider):
    """Asks one endpoint for messages."""

    def chat_url(self, model: str) -> str:
        del model
        return f"{self.endpoint.base_url}/messages"

    def extra_headers(self) -> Mapping[str, str]:
        return {"anthropic-version": _API_VERSION}

    async def request_body(self, request: ModelRequest) -> RequestBody:
        sampling, thinking = self.endpoint.sampling, self.endpoint.thinking_tokens
        system = "\n\n".join(message.content for message in request.messages if message.role == "system")
        body: RequestBody = {
            "model": request.model, "messages": conversation(request.messages), "stream": True,
            "max_tokens": (sampling.max_tokens or _DEFAULT_MAX_TOKENS) + (thinking or 0),
        }  # fmt: skip
        if system.strip():
            body["system"] = [{"type": "text", "text": system, "cache_control": _EPHEMERAL}]
        if request.tools:
            body["tools"] = [_wire_tool(tool) for tool in request.tools]
            if sampling.tool_choice is not None:
                body["tool_choice"] = {"type": _TOOL_CHOICES[sampling.tool_choice]}
        if thinking:
            body["thinking"] = {"type": "enabled", "budget_tokens": thinking}
        elif sampling.temperature is not None:
            body["temperature"] = min(1.0, sampling.temperature)
        if request.answer_schema is not None:
            answer = {"type": "json_schema", "schema": request.answer_schema}
            body["output_config"] = {"format": answer}
        if sampling.stop:
            body["stop_sequences"] = list(sampling.stop)
        return body

    def adapted_body(self, body: RequestBody, refusal: str) -> RequestBody | None:
        for name in ("temperature", "thinking", "output_config"):
            if name in body and name in refusal.lower():
                return {key: value for key, value in body.items() if key != name}
        return None

    def new_reader(self, body: RequestBody, sent: int) -> ReplyReader:
        del body, sent
        return MessageReader()

    def error_in(self, document: object) -> ForeignObject:
        if json_object(document).get("type") not in ("error", None):
            return {}
        error = errors.error_in_json(document)
        status = _STATUS_BY_TYPE.get(text_or_empty(error.get("type")))
        return {**error, "status": status} if status else error


# --- what is sent ----------------------------------------------------------------------------------

_Blocks = list[dict[str, object]]


def conversation(messages: tuple[Message, ...]) -> list[RequestBody]:
    """Return messages as the protocol wants them: it begins with the user, and roles take turns."""
    sent: list[RequestBody] = []
    for message in unique_call_ids(messages, lambda call_id: bool(_LEGAL_CALL_ID.fullmatch(call_id))):
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _blocks(message)
        if message.role == "system" or not blocks:
            continue
        if sent and sent[-1]["role"] == role:
            cast("_Blocks", sent[-1]["content"]).extend(blocks)
        else:
            sent.append({"role": role, "content": blocks})
    if not sent or sent[0]["role"] != "user":
        sent.insert(0, {"role": "user", "content": [{"type": "text", "text": _LEFT_OUT}]})
    for message in [one for one in sent if one["role"] == "user"][-2:]:
        cast("_Blocks", message["content"])[-1]["cache_control"] = _EPHEMERAL
    return sent


def _blocks(message: Message) -> _Blocks:
    if message.role == "tool":
        return [_result_block(message)]
    blocks = _opaque_blocks(message)
    if message.content.strip():
        blocks.append({"type": "text", "text": message.content})
    for call in message.calls:
        blocks.append({"type": "tool_use", "id": call.id, "name": call.tool, "input": call.arguments})
    return blocks


def _result_block(message: Message) -> dict[str, object]:
    block: dict[str, object] = {"type": "tool_result", "tool_use_id": message.tool_call_id or ""}
    if message.content.strip():
        block["content"] = message.content
    is_error = message.outcome not in (None, "succeeded", "partial")
    return {**block, "is_error": True} if is_error else block


def _opaque_blocks(message: Message) -> _Blocks:
    if message.opaque_kind != KIND or not message.opaque:
        return []
    return cast("_Blocks", json.loads(message.opaque))


def _wire_tool(tool: ToolDescriptor) -> RequestBody:
    return {"name": tool.wire_name, "description": tool.description, "input_schema": tool.input_schema}


# --- what comes back -------------------------------------------------------------------------------


class _ThinkingBlock(Struct):
    text: str = ""
    signature: str = ""
    redacted: str = ""

    def wire(self) -> dict[str, object]:
        if self.redacted:
            return {"type": "redacted_thinking", "data": self.redacted}
        return {"type": "thinking", "thinking": self.text, "signature": self.signature}


class MessageReader:
    """Takes the events of one message, or a whole one."""

    def __init__(self) -> None:
        self._calls = CallCollector()
        self._characters = SplitCharacters()
        self._thinking: dict[int, _ThinkingBlock] = {}
        self._thinking_size = 0
        self._counts: dict[str, int] = {}
        self.stop: str | None = None
        self.is_reply = False
        self.is_empty = True
        self.is_ended = False

    def take(self, document: ForeignObject) -> Iterator[ReplyPart]:
        match document.get("type"):
            case "message_start":
                self.is_reply = True
                self._count(json_object(document.get("message")).get("usage"))
            case "message":
                yield from self._whole(document)
            case "content_block_start":
                yield from self._block(_index(document), json_object(document.get("content_block")))
            case "content_block_delta":
                yield from self._delta(_index(document), json_object(document.get("delta")))
            case "message_delta":
                self._stopped(json_object(document.get("delta")))
                self._count(document.get("usage"))
            case "message_stop":
                self.is_ended = True
            case _:
                return  # `ping` and whatever comes in later versions

    def finish(self) -> Iterator[ReplyPart]:
        if self._characters:
            yield TextPart(text="\ufffd")
        if self._calls and any(block.signature or block.redacted for block in self._thinking.values()):
            blocks = [block.wire() for _, block in sorted(self._thinking.items())]
            yield OpaquePart(content=json.dumps(blocks, ensure_ascii=False, separators=(",", ":")))
        yield from self._calls.whole()
        if self.stop in _STOP_REASONS:
            yield StopPart(reason="length" if _STOP_REASONS[self.stop] == "length" else "filtered")
        elif self._calls.has_more:
            yield StopPart(reason="calls")
        if self._counts:
            yield UsagePart(usage=self._usage())

    def _whole(self, message: ForeignObject) -> Iterator[ReplyPart]:
        self.is_reply = self.is_ended = True
        self._stopped(message)
        self._count(message.get("usage"))
        for index, block in enumerate(map(json_object, items_of(message.get("content")))):
            yield from self._block(index, block)

    def _stopped(self, message: ForeignObject) -> None:
        self.stop = text_or_empty(message.get("stop_reason")) or self.stop

    def _block(self, index: int, block: ForeignObject) -> Iterator[ReplyPart]:
        match block.get("type"):
            case "text":
                yield from self._text(text_or_empty(block.get("text")))
            case "thinking":
                self._thinking[index] = _ThinkingBlock(signature=text_or_empty(block.get("signature")))
                yield from self._thought(index, text_or_empty(block.get("thinking")))
            case "redacted_thinking":
                self._thinking[index] = _ThinkingBlock(redacted=text_or_empty(block.get("data")))
            case "tool_use":
                yield from self._called(index, block)
            case _:
                return

    def _delta(self, index: int, delta: ForeignObject) -> Iterator[ReplyPart]:
        match delta.get("type"):
            case "text_delta":
                yield from self._text(text_or_empty(delta.get("text")))
            case "thinking_delta":
                yield from self._thought(index, text_or_empty(delta.get("thinking")))
            case "signature_delta":
                block = self._thinking.setdefault(index, _ThinkingBlock())
                block.signature += text_or_empty(delta.get("signature"))
            case "input_json_delta":
                yield from self._arguments(index, text_or_empty(delta.get("partial_json")))
            case _:
                return

    def _text(self, text: str) -> Iterator[ReplyPart]:
        if text := self._characters.repaired(TextPart, text):
            self.is_empty = False
            yield TextPart(text=text)

    def _thought(self, index: int, text: str) -> Iterator[ReplyPart]:
        block = self._thinking.setdefault(index, _ThinkingBlock())
        self._thinking_size += len(text)
        if self._thinking_size <= MAX_REPLY_CHARACTERS:
            block.text += text
        if text := self._characters.repaired(ThinkingPart, text):
            yield ThinkingPart(text=text)

    def _called(self, index: int, block: ForeignObject) -> Iterator[ReplyPart]:
        name = text_or_empty(block.get("name"))
        arguments = block.get("input")
        call = self._calls.place(index, text_or_empty(block.get("id")), name)
        if call is not None:
            self.is_empty = False
            # A stream begins with an empty object, and the arguments follow as text.
            call.add(text_or_empty(block.get("id")), name, argument_text(arguments) if arguments else "")
            yield ProgressPart(received=len(name))

    def _arguments(self, index: int, piece: str) -> Iterator[ReplyPart]:
        call = self._calls.place(index, "", "")
        if call is not None and piece:
            call.add("", call.name, piece)
            yield ProgressPart(received=len(piece))

    def _count(self, usage: object) -> None:
        """Take counts; later ones are totals and stand for earlier ones."""
        for name, value in json_object(usage).items():
            if (count := token_count(value)) is not None:
                self._counts[name] = count

    def _usage(self) -> Usage:
        new, read, written = (
            self._counts.get(name, 0)
            for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        )
        return Usage(
            input_tokens=new + read + written, output_tokens=self._counts.get("output_tokens", 0),
            cache_read_tokens=read, cache_write_tokens=written,
        )  # fmt: skip


def _index(document: ForeignObject) -> int:
    index = document.get("index")
    return index if isinstance(index, int) and not isinstance(index, bool) else 0
