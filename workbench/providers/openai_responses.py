"""OpenAI's Responses: a conversation as items, reasoning that is sealed and sent back, nothing kept there.

Source: the API reference of OpenAI (Responses, Streaming events).
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final, cast

from workbench.config.keys import OPENAI_RESPONSES
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
from workbench.providers.openai_compatible import ANSWER_NAME
from workbench.providers.reply_parts import (
    CallCollector,
    SplitCharacters,
    counted_usage,
    items_of,
    text_or_empty,
)
from workbench.providers.server_models import server_context_tokens
from workbench.providers.server_provider import ReplyReader, RequestBody, ServerProvider

_LONGEST_CALL_ID: Final = 64
_SEALED_REASONING: Final = "reasoning.encrypted_content"
_ANSWER_WORDS: Final = re.compile(r"""\btext\.format\b|json_schema|(["'`])text\\?\1""")
"""In the error of a server that takes no schema for its reply; other errors have some “text” in them too."""
_STATUS_BY_CODE: Final[Mapping[str, int]] = {
    "server_error": 500, "rate_limit_exceeded": 429, "invalid_prompt": 400, "server_overloaded": 503,
}  # fmt: skip


class OpenAIResponses(ServerProvider):
    """Asks one endpoint for responses."""

    def chat_url(self, model: str) -> str:
        del model
        return f"{self.endpoint.base_url}/responses"

    async def request_body(self, request: ModelRequest) -> RequestBody:
        sampling = self.endpoint.sampling
        instructions = "\n\n".join(
            message.content for message in request.messages if message.role == "system"
        )
        body: RequestBody = {
            "model": request.model, "input": list(input_items(request.messages)),
            "stream": True, "store": False,
        }  # fmt: skip
        if instructions.strip():
            body["instructions"] = instructions
        if self.endpoint.thinking_tokens != 0:
            body |= {"reasoning": {"summary": "auto"}, "include": [_SEALED_REASONING]}
        if request.tools:
            body["tools"] = [_wire_tool(tool) for tool in request.tools]
            if sampling.tool_choice is not None:
                body["tool_choice"] = sampling.tool_choice
        if sampling.max_tokens is not None:
            body["max_output_tokens"] = sampling.max_tokens
        if sampling.temperature is not None:
            body["temperature"] = sampling.temperature
        if request.answer_schema is not None:
            schema = {"name": ANSWER_NAME, "strict": True, "schema": request.answer_schema}
            body["text"] = {"format": {"type": "json_schema", **schema}}
        return body

    def adapted_body(self, body: RequestBody, refusal: str) -> RequestBody | None:
        refusal = refusal.lower()
        if "text" in body and _ANSWER_WORDS.search(refusal):
            return {name: value for name, value in body.items() if name != "text"}
        if "temperature" in body and "temperature" in refusal:
            return {name: value for name, value in body.items() if name != "temperature"}
        if "reasoning" in body and ("summar" in refusal or "'reasoning'" in refusal):
            return {name: value for name, value in body.items() if name != "reasoning"}
        if "include" in body and ("encrypted" in refusal or "include" in refusal or "reasoning" in refusal):
            rest = {name: value for name, value in body.items() if name not in ("include", "reasoning")}
            inputs = map(json_object, items_of(body["input"]))
            return {**rest, "input": [item for item in inputs if item.get("type") != "reasoning"]}
        return None

    def new_reader(self, body: RequestBody, sent: int) -> ReplyReader:
        del body, sent
        return ResponseReader()

    def error_in(self, document: object) -> ForeignObject:
        top = json_object(document)
        kind = text_or_empty(top.get("type"))
        if kind == "error":
            error = json_object(top.get("error")) or top
        elif kind in ("", "response.failed"):
            error = errors.error_in_json(top.get("response") or top)
        else:
            return {}
        status = _STATUS_BY_CODE.get(text_or_empty(error.get("code")))
        return {**error, "status": status} if status else error

    async def context_tokens(self, model: str, seconds: float) -> int | None:
        del model
        return await server_context_tokens(self.endpoint, seconds)


# --- what is sent ----------------------------------------------------------------------------------


def input_items(messages: tuple[Message, ...]) -> Iterator[RequestBody]:
    """Yield a conversation as items; what a system says is no item."""
    for message in unique_call_ids(messages, lambda call_id: 0 < len(call_id) <= _LONGEST_CALL_ID):
        if message.role == "tool":
            call_id = message.tool_call_id or ""
            yield {"type": "function_call_output", "call_id": call_id, "output": message.content}
            continue
        if message.opaque and message.opaque_kind == OPENAI_RESPONSES.name:
            yield from cast("list[RequestBody]", json.loads(message.opaque))
        if message.content.strip() and message.role != "system":
            yield {"type": "message", "role": message.role, "content": message.content}
        for call in message.calls:
            arguments = json.dumps(call.arguments, ensure_ascii=False)
            yield {"type": "function_call", "call_id": call.id, "name": call.tool, "arguments": arguments}


def _wire_tool(tool: ToolDescriptor) -> RequestBody:
    return {
        "type": "function", "name": tool.wire_name, "description": tool.description,
        "parameters": tool.input_schema, "strict": False,
    }  # fmt: skip


# --- what comes back -------------------------------------------------------------------------------


class ResponseReader:
    """Takes the events of one response, or a whole one."""

    def __init__(self) -> None:
        self._calls = CallCollector()
        self._characters = SplitCharacters()
        self._reasoning: list[ForeignObject] = []
        self._reasoning_size = 0
        self._numbers: dict[str, int] = {}
        """By place or id of an item its number among those that came."""
        self._thought_part: object = None
        """Which item and part of it the newest thought belongs to."""
        self._streamed: set[int] = set()
        """Items of which something came before they were whole."""
        self._usage: Usage | None = None
        self.stop: str | None = None
        self.is_reply = False
        self.is_empty = True
        self.is_ended = False

    def take(self, document: ForeignObject) -> Iterator[ReplyPart]:
        kind = text_or_empty(document.get("type"))
        self.is_reply = self.is_reply or kind.startswith("response.")
        match kind.removeprefix("response."):
            case "output_item.added":
                yield from self._started(document)
            case "output_text.delta" | "refusal.delta":
                yield from self._text(self._number(document), text_or_empty(document.get("delta")))
            case "reasoning_summary_text.delta" | "reasoning_text.delta":
                part = document.get("summary_index", document.get("content_index"))
                yield from self._thought(self._number(document), part, text_or_empty(document.get("delta")))
            case "function_call_arguments.delta":
                yield from self._arguments(self._number(document), text_or_empty(document.get("delta")))
            case "output_item.done":
                yield from self._item(self._number(document), json_object(document.get("item")))
            case "completed" | "incomplete":
                yield from self._whole(json_object(document.get("response")))
            case "" if document.get("object") == "response":
                yield from self._whole(document)
            case _:
                return  # ends of parts, tools of the service, whatever comes in later versions

    def finish(self) -> Iterator[ReplyPart]:
        if self._characters:
            yield TextPart(text="\ufffd")
        if self._calls and self._reasoning:
            yield OpaquePart(content=json.dumps(self._reasoning, ensure_ascii=False, separators=(",", ":")))
        yield from self._calls.whole()
        if self.stop not in (None, "completed"):
            yield StopPart(reason="filtered" if self.stop == "content_filter" else "length")
        elif self._calls.has_more:
            yield StopPart(reason="calls")
        if self._usage is not None:
            yield UsagePart(usage=self._usage)

    def _number(self, document: ForeignObject) -> int:
        """Return the number of the item that an event is about, by its place, where none is told by its id.

        llama.cpp tells ids only; with others an item may end with another id than it began with.
        """
        item = json_object(document.get("item"))
        key = document.get("output_index")
        if key is None:
            key = document.get("item_id") or item.get("id")
        return self._numbers.setdefault(str(key), len(self._numbers))

    def _whole(self, response: ForeignObject) -> Iterator[ReplyPart]:
        """Take a response that is all there: its items where none was streamed, why it ended, its counts."""
        self.is_reply = self.is_ended = True
        for index, item in enumerate(items_of(response.get("output")) if not self._streamed else ()):
            yield from self._item(index, json_object(item))
        reason = json_object(response.get("incomplete_details")).get("reason")
        is_whole = response.get("status") != "incomplete"
        self.stop = "completed" if is_whole else text_or_empty(reason) or "max_output_tokens"
        self._usage = counted_usage(response.get("usage"), "input_tokens", "output_tokens") or self._usage

    def _started(self, document: ForeignObject) -> Iterator[ReplyPart]:
        item = json_object(document.get("item"))
        if item.get("type") == "function_call":
            yield from self._called(self._number(document), item, "")

    def _item(self, number: int, item: ForeignObject) -> Iterator[ReplyPart]:
        """Take an item that is whole; of one that was streamed only what comes with its end."""
        is_new = number not in self._streamed
        self._streamed.add(number)
        match item.get("type"):
            case "message" if is_new:
                for part in map(json_object, items_of(item.get("content"))):
                    text = text_or_empty(part.get("text")) or text_or_empty(part.get("refusal"))
                    yield from self._text(number, text)
            case "function_call" if is_new:
                yield from self._called(number, item, text_or_empty(item.get("arguments")))
            case "reasoning":
                yield from self._reasoned(number, item, is_new=is_new)
            case _:
                return

    def _reasoned(self, number: int, item: ForeignObject, *, is_new: bool) -> Iterator[ReplyPart]:
        if is_new:
            for index, part in enumerate(items_of(item.get("summary")) or items_of(item.get("content"))):
                yield from self._thought(number, index, text_or_empty(json_object(part).get("text")))
        sealed = text_or_empty(item.get("encrypted_content"))
        is_known = any(known.get("id") == item.get("id") for known in self._reasoning)
        if sealed and not is_known and self._reasoning_size + len(sealed) <= MAX_REPLY_CHARACTERS:
            self._reasoning_size += len(sealed)
            self._reasoning.append(item)

    def _text(self, number: int, text: str) -> Iterator[ReplyPart]:
        self._streamed.add(number)
        if text := self._characters.repaired(TextPart, text):
            self.is_empty = False
            yield TextPart(text=text)

    def _thought(self, number: int, part: object, text: str) -> Iterator[ReplyPart]:
        self._streamed.add(number)
        if text := self._characters.repaired(ThinkingPart, text):
            is_later_part = self._thought_part not in (None, (number, part))
            self._thought_part = (number, part)
            yield ThinkingPart(text=f"\n\n{text}" if is_later_part else text)

    def _called(self, number: int, item: ForeignObject, arguments: str) -> Iterator[ReplyPart]:
        call_id, name = text_or_empty(item.get("call_id")), text_or_empty(item.get("name"))
        call = self._calls.place(number, call_id, name)
        if call is not None:
            self.is_empty = False
            call.add(call_id, name, arguments)
            yield ProgressPart(received=len(name) + len(arguments))

    def _arguments(self, number: int, piece: str) -> Iterator[ReplyPart]:
        self._streamed.add(number)
        call = self._calls.place(number, "", "")
        if call is not None and piece:
            call.add("", call.name, piece)
            yield ProgressPart(received=len(piece))
