"""Chat completions of llama.cpp, vLLM, hosted services and others, and of Azure OpenAI's deployments.

Sources: the OpenAI API reference (chat completions); of Azure OpenAI, data plane inference and the v1 API.
"""

import json
from collections.abc import Iterator
from typing import Final, cast
from urllib.parse import quote, urlsplit, urlunsplit

from workbench.domain.messages import (
    Message,
    MessageCall,
    ModelRequest,
    ProgressPart,
    ReplyPart,
    StopPart,
    TextPart,
    ThinkingPart,
    UsagePart,
)
from workbench.domain.values import ToolDescriptor, Usage
from workbench.providers.base import Sampling
from workbench.providers.call_ids import SHORT_ID_WORDS, short_call_ids, unique_call_ids
from workbench.providers.errors import ForeignObject, json_object
from workbench.providers.reply_parts import (
    CallCollector,
    SplitCharacters,
    argument_text,
    counted_usage,
    items_of,
    repair_surrogates,
    text_or_empty,
)
from workbench.providers.server_models import server_context_tokens
from workbench.providers.server_provider import ReplyReader, RequestBody, ServerProvider
from workbench.providers.think_tags import ThinkTagReader


class OpenAICompatible(ServerProvider):
    """Asks one endpoint for chat completions."""

    def chat_url(self, model: str) -> str:
        del model
        return f"{self.endpoint.base_url}/chat/completions"

    async def request_body(self, request: ModelRequest) -> RequestBody:
        return request_body(request, self.endpoint.sampling)

    def new_reader(self, body: RequestBody, sent: int) -> ReplyReader:
        del body, sent
        return CompletionReader()

    def adapted_body(self, body: RequestBody, refusal: str) -> RequestBody | None:
        return without_refused_part(body, refusal)

    async def context_tokens(self, model: str, seconds: float) -> int | None:
        del model
        return await server_context_tokens(self.endpoint, seconds)


def request_body(request: ModelRequest, sampling: Sampling) -> RequestBody:
    body: RequestBody = {
        "model": request.model,
        "messages": [_wire_message(message) for message in unique_call_ids(request.messages)],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = [function_tool(tool) for tool in request.tools]
        if sampling.tool_choice is not None:
            body["tool_choice"] = sampling.tool_choice
    if request.answer_schema is not None:
        schema = {"name": ANSWER_NAME, "strict": True, "schema": request.answer_schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    body.update(_sampling_members(sampling))
    return body


def without_refused_part(body: RequestBody, refusal: str) -> RequestBody | None:
    """Return a body without what the server refused by name; None where nothing can be left out."""
    if "stream_options" in refusal and "stream_options" in body:
        return {name: value for name, value in body.items() if name != "stream_options"}
    if "max_completion_tokens" in refusal and "max_tokens" in body:
        renamed = {name: value for name, value in body.items() if name != "max_tokens"}
        return {**renamed, "max_completion_tokens": body["max_tokens"]}
    if any(word in refusal for word in _ANSWER_WORDS) and "response_format" in body:
        return {name: value for name, value in body.items() if name != "response_format"}
    if any(word in refusal.lower() for word in SHORT_ID_WORDS):
        messages = short_call_ids(items_of(body["messages"]))
        return None if messages == body["messages"] else {**body, "messages": messages}
    return None


def _sampling_members(sampling: Sampling) -> Iterator[tuple[str, object]]:
    for name in ("max_tokens", "temperature", "seed"):
        value = getattr(sampling, name)
        if value is not None:
            yield name, value
    if sampling.stop:
        yield "stop", list(sampling.stop)


def _wire_message(message: Message) -> RequestBody:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id or "", "content": message.content}
    if not message.calls:
        return {"role": message.role, "content": message.content}
    calls = [_wire_call(call) for call in message.calls]
    return {"role": message.role, "content": message.content or None, "tool_calls": calls}


def _wire_call(call: MessageCall) -> RequestBody:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": call.tool, "arguments": arguments}}


def function_tool(tool: ToolDescriptor) -> RequestBody:
    """Return a tool as OpenAI's and Ollama's chats have it."""
    function = {"name": tool.wire_name, "description": tool.description, "parameters": tool.input_schema}
    return {"type": "function", "function": function}


ANSWER_NAME: Final = "answer"
"""What a schema is called that the reply has to satisfy."""
_ANSWER_WORDS: Final = ("response_format", "json_schema")
"""In the error of a server that does not take a schema for its reply."""
_THINKING_KEYS: Final = ("reasoning_content", "reasoning", "thinking")


class CompletionReader:
    """Takes the chunks of one completion, or a whole one."""

    def __init__(self) -> None:
        self._calls = CallCollector()
        self._characters = SplitCharacters()
        self._usage: Usage | None = None
        self.stop: str | None = None
        self.is_reply = False
        self.is_ended = False
        """Never: the protocol ends with a mark that is no object."""
        self.is_empty = True
        self._tags = ThinkTagReader()

    def take(self, document: ForeignObject) -> Iterator[ReplyPart]:
        """Take one chunk or one whole completion and yield what can be shown at once."""
        self._usage = (
            counted_usage(document.get("usage"), "prompt_tokens", "completion_tokens") or self._usage
        )
        self.is_reply = self.is_reply or isinstance(document.get("choices"), list)
        for choice in map(json_object, items_of(document.get("choices"))):
            if choice.get("index", 0) not in (0, None):
                continue
            yield from self._message_parts(json_object(choice.get("delta") or choice.get("message")))
            reason = choice.get("finish_reason")
            self.stop = reason if isinstance(reason, str) and reason else self.stop

    def finish(self) -> Iterator[ReplyPart]:
        """Yield what is only whole at the end: calls, why it stopped, usage."""
        if self._characters:
            yield from self._text_parts(self._tags.feed("\ufffd"))
        yield from self._text_parts(self._tags.finish(has_calls=bool(self._calls)))
        yield from self._calls.whole()
        if self.stop in ("length", "content_filter"):
            yield StopPart(reason="length" if self.stop == "length" else "filtered")
        elif self._calls.has_more:
            yield StopPart(reason="calls")
        if self._usage is not None:
            yield UsagePart(usage=self._usage)

    def _message_parts(self, message: ForeignObject) -> Iterator[ReplyPart]:
        for name in _THINKING_KEYS:
            if text := self._characters.repaired(ThinkingPart, text_or_empty(message.get(name))):
                yield from self._text_parts(self._tags.end())
                yield ThinkingPart(text=text)
                break
        thinking, content = _thinking_and_text(message.get("content"))
        if thinking:
            yield from self._text_parts(self._tags.end())
            yield ThinkingPart(text=repair_surrogates(thinking))
        if text := self._characters.repaired(TextPart, content + text_or_empty(message.get("refusal"))):
            yield from self._text_parts(self._tags.feed(text))
        if size := sum(self._call(json_object(piece)) for piece in items_of(message.get("tool_calls"))):
            yield ProgressPart(received=size)

    def _text_parts(self, parts: Iterator[TextPart | ThinkingPart]) -> Iterator[ReplyPart]:
        for part in parts:
            self.is_empty = self.is_empty and not isinstance(part, TextPart)
            yield part

    def _call(self, delta: ForeignObject) -> int:
        """Take a piece of a call; return how many characters of name and arguments it has."""
        function = json_object(delta.get("function"))
        call_id, name = text_or_empty(delta.get("id")), text_or_empty(function.get("name"))
        index = delta.get("index")
        number = index if isinstance(index, int) and not isinstance(index, bool) else None
        text = argument_text(function.get("arguments"))
        call = self._calls.place(number, call_id, name)
        if call is not None:
            self.is_empty = False
            call.add(call_id, name, text)
        return len(name) + len(text)


def _thinking_and_text(value: object) -> tuple[str, str]:
    if not isinstance(value, list):
        return "", text_or_empty(value)
    parts = [json_object(part) for part in cast("list[object]", value)]
    thinking = "".join(
        _thinking_and_text(part.get("thinking"))[1] for part in parts if part.get("type") == "thinking"
    )
    return thinking, "".join(
        text_or_empty(part.get("text")) for part in parts if part.get("type") != "thinking"
    )


_V1_PATH = "/openai/v1"


class AzureOpenAI(OpenAICompatible):
    """Asks a resource; a model is the name of a deployment there."""

    def chat_url(self, model: str) -> str:
        version = self.endpoint.api_version
        if not version:
            return super().chat_url(model)
        parts = urlsplit(self.endpoint.base_url)
        resource = parts.path.removesuffix(_V1_PATH)
        path = f"{resource}/openai/deployments/{quote(model, safe='')}/chat/completions"
        return urlunsplit(parts._replace(path=path, query=f"api-version={quote(version, safe='')}"))
