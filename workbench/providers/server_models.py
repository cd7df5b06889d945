"""The models of a server: which it lists, and what one can do."""

import json
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing
from typing import Final, cast
from urllib.parse import urlsplit, urlunsplit

from msgspec.structs import replace

from workbench.domain.messages import (
    FailurePart,
    Message,
    ModelRequest,
    ReplyPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UsagePart,
)
from workbench.domain.values import ToolDescriptor
from workbench.effects.http import HttpFailed, HttpReply, HttpRequest, open_http
from workbench.providers import errors
from workbench.providers.base import Endpoint, KeyMissing, ListedModel, ModelsNotListed, ProbeResult
from workbench.providers.errors import ForeignObject, json_object
from workbench.providers.reply_parts import items_of

_MAX_LIST_BYTES: Final = 4 * 1024 * 1024
_MAX_MODELS: Final = 2_000
_CONTEXT_KEYS: Final = (
    "n_ctx", "loaded_context_length", "max_model_len", "context_length", "context_window",
    "max_context_length", "n_ctx_train",
)  # fmt: skip
_MAX_ABILITIES: Final = 12
_MAX_ABILITY: Final = 24
_UNSAID_ABILITIES: Final = ("completion", "chat_completion", "inference")
"""What every model of a chat does."""
MAX_PROBE_TOKENS: Final = 256
"""Of each of the two replies; some of it may go into thinking."""
_PROBE_TOOL: Final = ToolDescriptor(
    id="report_ready", wire_name="report_ready", description="Report that you are ready.", capability="read",
    risk_level="read_only",
    input_schema={
        "type": "object", "properties": {"ready": {"type": "boolean"}}, "required": ["ready"],
        "additionalProperties": False,
    },
)  # fmt: skip


async def list_server_models(
    endpoint: Endpoint, seconds: float, headers: Mapping[str, str] | None = None
) -> tuple[ListedModel, ...]:
    answer = await ask_object(endpoint, f"{endpoint.base_url}/models", seconds, headers)
    listed = answer.get("data") if isinstance(answer.get("data"), list) else answer.get("models")
    if not isinstance(listed, list):
        raise ModelsNotListed(errors.not_a_completion_failure(endpoint, "a list of models without data"))
    items = map(json_object, cast("list[object]", listed)[:_MAX_MODELS])
    return tuple(model for item in items if (model := _listed_model(item)) is not None)


async def server_context_tokens(endpoint: Endpoint, seconds: float) -> int | None:
    """Return the context that a llama.cpp server gives each request; None where nothing says it."""
    parts = urlsplit(endpoint.base_url)
    path = parts.path.rstrip("/").removesuffix("/v1")
    try:
        answer = await ask_object(endpoint, urlunsplit(parts._replace(path=f"{path}/props")), seconds)
    except ModelsNotListed:
        return None
    return _context_tokens(json_object(answer.get("default_generation_settings")))


Reply = Callable[[ModelRequest], AsyncGenerator[ReplyPart, None]]


async def probe_model(reply: Reply, model: str) -> ProbeResult:
    greeting = await _reply_parts(reply, model, "Say hello.", ())
    pieces = [part for part in greeting if isinstance(part, TextPart | ThinkingPart)]
    result = ProbeResult(
        streams=len(pieces) > 1,
        thinks=any(isinstance(part, ThinkingPart) for part in pieces),
        counts_tokens=any(isinstance(part, UsagePart) for part in greeting),
        failure=None if pieces else _first_failure(greeting),
    )
    if result.failure is not None:
        return result
    called = await _reply_parts(reply, model, "Call the tool report_ready with ready true.", (_PROBE_TOOL,))
    has_called = any(isinstance(part, ToolCallPart) for part in called)
    return replace(
        result, calls_tools=has_called, tools_failure=None if has_called else _first_failure(called)
    )


async def _reply_parts(
    reply: Reply, model: str, question: str, tools: tuple[ToolDescriptor, ...]
) -> list[ReplyPart]:
    messages = (Message(role="user", content=question),)
    request = ModelRequest(session_id="probe", model=model, messages=messages, tools=tools)
    async with aclosing(reply(request)) as parts:
        return [part async for part in parts]


def _first_failure(parts: list[ReplyPart]) -> FailurePart | None:
    return next((part for part in parts if isinstance(part, FailurePart)), None)


async def ask_object(
    endpoint: Endpoint,
    url: str,
    seconds: float,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
) -> ForeignObject:
    """Return the JSON object that a server answers with, an empty one for other JSON; a body is posted.

    Raises ModelsNotListed.
    """
    reply, data = await _answer(endpoint, url, seconds, headers or {}, body)
    if reply.status == 401 and endpoint.forget_key():
        reply, data = await _answer(endpoint, url, seconds, headers or {}, body)
    if reply.status != 200:
        raise ModelsNotListed(errors.status_failure(endpoint, "", reply.status, reply.headers, data))
    try:
        return json_object(json.loads(data))
    except (ValueError, RecursionError):
        start, kind = data[:400].decode("utf-8", "replace"), reply.headers.get("content-type", "")
        raise ModelsNotListed(errors.not_a_completion_failure(endpoint, start, kind)) from None


async def _answer(
    endpoint: Endpoint, url: str, seconds: float, headers: Mapping[str, str], body: bytes
) -> tuple[HttpReply, bytes]:
    try:
        request = HttpRequest(
            url=url, method="POST" if body else "GET", body=body,
            headers={"Accept": "application/json", **endpoint.authorized_headers(), **headers},
            connect_seconds=min(seconds, endpoint.connect_seconds), answer_seconds=seconds,
        )  # fmt: skip
        async with open_http(request) as reply:
            return reply, await reply.whole(seconds, _MAX_LIST_BYTES)
    except KeyMissing as error:
        raise ModelsNotListed(errors.key_missing_failure(error)) from None
    except HttpFailed as error:
        raise ModelsNotListed(errors.connection_failure(endpoint, error)) from None


def _listed_model(item: ForeignObject) -> ListedModel | None:
    name = next((value for key in ("id", "name", "model") if isinstance(value := item.get(key), str)), "")
    if not name.strip():
        return None
    return ListedModel(
        id=errors.quote_server_text(name),
        context=_context_tokens(json_object(item.get("meta"))) or _context_tokens(item),
        abilities=server_abilities(item),
    )


def server_abilities(values: ForeignObject) -> tuple[str, ...]:
    """Return what a server says that a model can do: a list of words, or an object of yes and no."""
    capabilities = values.get("capabilities")
    if isinstance(capabilities, dict):
        names = [name for name, can in cast("dict[str, object]", capabilities).items() if _is_supported(can)]
    else:
        names = [word for word in items_of(capabilities) if isinstance(word, str)]
    words = (errors.quote_server_text(word)[:_MAX_ABILITY] for word in names[:_MAX_ABILITIES])
    return tuple(dict.fromkeys(word for word in words if word and word not in _UNSAID_ABILITIES))


def _is_supported(ability: object) -> bool:
    return ability is True or json_object(ability).get("supported") is True


def _context_tokens(values: ForeignObject) -> int | None:
    return next(_context_counts(values), None)


def _context_counts(values: ForeignObject) -> Iterator[int]:
    for name in _CONTEXT_KEYS:
        value = values.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            yield value
