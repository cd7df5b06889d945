"""Ollama's own chat interface (`/api/chat`), which says how large the context is to be.

Source: the API reference of Ollama. Its OpenAI-compatible interface cannot ask for a context: a server that
is left alone cuts a longer conversation without a word.
"""

import asyncio
import json
from collections.abc import Iterator
from typing import Final

from workbench.config.keys import OLLAMA
from workbench.domain.messages import (
    Message,
    ModelRequest,
    ReplyPart,
    StopPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UsagePart,
)
from workbench.domain.values import Usage
from workbench.providers import errors
from workbench.providers.base import MAX_REPLY_CALLS, ListedModel, ModelsNotListed, Sampling
from workbench.providers.errors import ForeignObject, json_object
from workbench.providers.openai_compatible import function_tool
from workbench.providers.reply_parts import (
    SplitCharacters,
    argument_text,
    items_of,
    repair_surrogates,
    text_or_empty,
    token_count,
)
from workbench.providers.server_models import ask_object, server_abilities
from workbench.providers.server_provider import ReplyReader, RequestBody, ServerProvider, encode_body
from workbench.providers.think_tags import ThinkTagReader

_MOST_UNASKED_CONTEXT: Final = OLLAMA.usual_context_tokens or 32_768
"""Tokens of context that are asked for where no setting says how many: more may not fit into memory."""
_SHOW_SECONDS: Final = 10.0
_PS_SECONDS: Final = 2.0
_MOST_MODELS: Final = 2_000
_MOST_DESCRIBED: Final = 20
"""Models of one server that are asked about one by one."""
_MOST_BYTES_PER_TOKEN: Final = 8
"""Of any text that models are asked; a reply that counts fewer tokens was made of a part of it."""
_FEWEST_BYTES_PER_TOKEN: Final = 3
"""Of code; what has more bytes than a context of such tokens may not fit into it."""
_FEWEST_COUNTED: Final = 1_000
"""Below it a count may leave out what the server had kept from the request before."""


class OllamaChat(ServerProvider):
    """Asks one Ollama server."""

    stream_type = "application/x-ndjson"

    def chat_url(self, model: str) -> str:
        del model
        return f"{self.endpoint.base_url}/api/chat"

    async def request_body(self, request: ModelRequest) -> RequestBody:
        context = await self._asked_context(request.model)
        body: RequestBody = {
            "model": request.model, "messages": list(_wire_messages(request.messages)), "stream": True,
            "truncate": False, "options": _options(self.endpoint.sampling, context),
        }  # fmt: skip
        if request.tools and self.endpoint.sampling.tool_choice != "none":
            body["tools"] = [function_tool(tool) for tool in request.tools]
        if request.answer_schema is not None:
            body["format"] = request.answer_schema
        if self.endpoint.keep_alive:
            body["keep_alive"] = keep_alive_value(self.endpoint.keep_alive)
        if self.endpoint.thinking_tokens is not None:
            body["think"] = self.endpoint.thinking_tokens > 0
        return body

    def adapted_body(self, body: RequestBody, refusal: str) -> RequestBody | None:
        for name in ("think", "truncate", "format"):
            if name in body and name in refusal.lower():
                return {key: value for key, value in body.items() if key != name}
        return None

    async def _asked_context(self, model: str) -> int:
        """Return the context to ask for: the setting's, else the model's own up to 32,768 tokens.

        Where the server does not tell the model's own it is those: left alone it may cut to far fewer, and
        it lowers by itself what is more than a model can.
        """
        if self.endpoint.context_tokens:
            return self.endpoint.context_tokens
        model_context = await self.context_tokens(model, _SHOW_SECONDS)
        return min(model_context or _MOST_UNASKED_CONTEXT, _MOST_UNASKED_CONTEXT)

    async def must_load(self, model: str) -> bool:
        loaded = await self._loaded_models(_PS_SECONDS)
        return loaded is not None and not loaded & {model, f"{model}:latest"}

    def new_reader(self, body: RequestBody, sent: int) -> ReplyReader:
        return ChatLineReader(sent, token_count(json_object(body.get("options")).get("num_ctx")) or 0)

    def error_in(self, document: object) -> ForeignObject:
        error = json_object(document).get("error")
        return {"message": error} if isinstance(error, str) and error else json_object(error)

    async def list_models(self, seconds: float) -> tuple[ListedModel, ...]:
        answer = await ask_object(self.endpoint, f"{self.endpoint.base_url}/api/tags", seconds)
        if not isinstance(answer.get("models"), list):
            why = "a list of models without models"
            raise ModelsNotListed(errors.not_a_completion_failure(self.endpoint, why))
        listed = map(json_object, items_of(answer["models"])[:_MOST_MODELS])
        names = (text_or_empty(item.get("name")) for item in listed)
        return tuple(ListedModel(id=errors.quote_server_text(name)) for name in names if name.strip())

    async def describe_models(self, seconds: float) -> tuple[ListedModel, ...]:
        listed, loaded = await self.list_models(seconds), await self._loaded_models(seconds)

        async def describe(model: ListedModel) -> ListedModel:
            description = await self._show(model.id, seconds)
            return ListedModel(
                id=model.id, context=_model_context(description), abilities=server_abilities(description),
                is_loaded=model.id in (loaded or ()),
            )  # fmt: skip

        described = await asyncio.gather(*map(describe, listed[:_MOST_DESCRIBED]))
        return (*described, *listed[_MOST_DESCRIBED:])

    async def context_tokens(self, model: str, seconds: float) -> int | None:
        return _model_context(await self._show(model, seconds))

    async def _show(self, model: str, seconds: float) -> ForeignObject:
        """Return what the server says of a model; empty where it does not."""
        url = f"{self.endpoint.base_url}/api/show"
        try:
            return await ask_object(self.endpoint, url, seconds, body=encode_body({"model": model}))
        except ModelsNotListed:
            return {}

    async def _loaded_models(self, seconds: float) -> frozenset[str] | None:
        """Return the models that are in memory; None where the server does not say."""
        try:
            answer = await ask_object(self.endpoint, f"{self.endpoint.base_url}/api/ps", seconds)
        except ModelsNotListed:
            return None
        if not isinstance(answer.get("models"), list):
            return None
        items = map(json_object, items_of(answer["models"])[:_MOST_MODELS])
        return frozenset(text_or_empty(item.get(key)) for item in items for key in ("name", "model"))


def _model_context(description: ForeignObject) -> int | None:
    info = json_object(description.get("model_info"))
    sizes = (token_count(size) for name, size in info.items() if name.endswith(".context_length"))
    return next((size for size in sizes if size), None)


def keep_alive_value(text: str) -> str | int:
    """Return a duration as Ollama takes it: `30m` as a text, bare seconds and -1 (for ever) as a number."""
    return int(text) if text.removeprefix("-").isdecimal() else text


def _options(sampling: Sampling, context: int) -> RequestBody:
    options: RequestBody = {
        "num_ctx": context, "num_predict": sampling.max_tokens, "temperature": sampling.temperature,
        "seed": sampling.seed, "stop": list(sampling.stop) or None,
    }  # fmt: skip
    return {name: value for name, value in options.items() if value is not None}


def _wire_messages(messages: tuple[Message, ...]) -> Iterator[RequestBody]:
    names: dict[str, str] = {}
    for message in messages:
        names.update((call.id, call.tool) for call in message.calls)
        if message.role == "tool":
            yield {
                "role": "tool", "content": message.content,
                "tool_name": names.get(message.tool_call_id or "", ""),
            }  # fmt: skip
        elif message.calls:
            calls = [{"function": {"name": call.tool, "arguments": call.arguments}} for call in message.calls]
            yield {"role": message.role, "content": message.content, "tool_calls": calls}
        else:
            yield {"role": message.role, "content": message.content}


class ChatLineReader:
    """Takes the lines of one reply."""

    def __init__(self, sent: int, context: int = 0) -> None:
        """Start with the bytes sent and the tokens asked for, to tell whether the server read all of them."""
        self._sent, self._context = sent, context
        self._characters = SplitCharacters()
        self._tags = ThinkTagReader()
        self._calls: list[ToolCallPart] = []
        self._has_more_calls = False
        self._usage: Usage | None = None
        self.stop: str | None = None
        self.is_reply = False
        self.is_empty = True
        self.is_ended = False

    def take(self, document: ForeignObject) -> Iterator[ReplyPart]:
        self.is_reply = self.is_reply or "message" in document
        yield from self._message_parts(json_object(document.get("message")))
        if document.get("done") is True:
            self.is_ended = True
            self.stop = text_or_empty(document.get("done_reason")) or "stop"
            sent, received = (token_count(document.get(f"{name}_count")) for name in ("prompt_eval", "eval"))
            if sent is not None or received is not None:
                self._usage = Usage(input_tokens=sent or 0, output_tokens=received or 0)

    def finish(self) -> Iterator[ReplyPart]:
        if self._characters:
            yield from self._text_parts(self._tags.feed("\ufffd"))
        yield from self._text_parts(self._tags.finish(has_calls=bool(self._calls)))
        yield from self._calls
        if self.stop == "length":
            yield StopPart(reason="length")
        elif self._has_more_calls:
            yield StopPart(reason="calls")
        elif self._was_input_cut():
            yield StopPart(reason="input")
        if self._usage is not None:
            yield UsagePart(usage=self._usage)

    def _was_input_cut(self) -> bool:
        counted = self._usage.input_tokens if self._usage else 0
        if counted < _FEWEST_COUNTED:
            return False
        # A server that cuts may keep half of its context: text of 3 to 4 bytes a token looks then as if it
        # had 6 to 8.
        may_not_fit = self._sent > self._context * _FEWEST_BYTES_PER_TOKEN
        is_halved = may_not_fit and counted * 2 <= self._context
        return is_halved or counted * _MOST_BYTES_PER_TOKEN < self._sent

    def _message_parts(self, message: ForeignObject) -> Iterator[ReplyPart]:
        if thinking := self._characters.repaired(ThinkingPart, text_or_empty(message.get("thinking"))):
            yield from self._text_parts(self._tags.end())
            yield ThinkingPart(text=thinking)
        if text := self._characters.repaired(TextPart, text_or_empty(message.get("content"))):
            yield from self._text_parts(self._tags.feed(text))
        for call in map(json_object, items_of(message.get("tool_calls"))):
            self._call(text_or_empty(call.get("id")), json_object(call.get("function")))

    def _text_parts(self, parts: Iterator[TextPart | ThinkingPart]) -> Iterator[ReplyPart]:
        for part in parts:
            self.is_empty = self.is_empty and not isinstance(part, TextPart)
            yield part

    def _call(self, call_id: str, function: ForeignObject) -> None:
        self.is_empty = False
        if len(self._calls) >= MAX_REPLY_CALLS:
            self._has_more_calls = True
            return
        self._calls.append(
            ToolCallPart(
                id=repair_surrogates(call_id)[:256] or f"call_{len(self._calls) + 1}",
                name=repair_surrogates(text_or_empty(function.get("name"))[:256]),
                arguments=repair_surrogates(argument_text(function.get("arguments"))) or json.dumps({}),
            )
        )
