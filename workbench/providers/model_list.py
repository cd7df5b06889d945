"""Which models an endpoint offers (`GET /models`), and how large their contexts are said to be.

Owns that one request. Servers agree on the ids only, so a context size is taken where one of the known
names has it and is None otherwise. It never asks a model anything.
"""

import json
from collections.abc import Iterator
from typing import Final, cast
from urllib.parse import urlsplit, urlunsplit

from workbench.domain.messages import FailurePart
from workbench.effects.http import HttpFailed, HttpRequest, open_http
from workbench.providers import failures
from workbench.providers.endpoint import Endpoint, NoKey
from workbench.providers.openai_compatible import headers_of
from workbench.providers.openai_reply import Object, as_object
from workbench.records import dataclass

_MOST_BYTES: Final = 4 * 1024 * 1024
_MOST_MODELS: Final = 2_000
_CONTEXT_NAMES: Final = (
    "n_ctx", "loaded_context_length", "max_model_len", "context_length", "context_window",
    "max_context_length", "n_ctx_train",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One model as its server lists it."""

    id: str
    context: int | None = None
    """Tokens, where the server says."""


class NotListed(Exception):
    """The models cannot be listed.

    Attributes:
        failure: What went wrong, with its words.
    """

    def __init__(self, failure: FailurePart) -> None:
        super().__init__(failure.message)
        self.failure = failure


async def models_of(endpoint: Endpoint, seconds: float) -> tuple[Model, ...]:
    """Return the models of an endpoint in its order.

    Args:
        endpoint: Whom to ask.
        seconds: How long it may take to connect, and then to answer.

    Raises:
        NotListed: It cannot be reached, wants something else, or answers something else.
    """
    found = await _object(endpoint, f"{endpoint.base_url}/models", seconds)
    listed = found.get("data") if isinstance(found.get("data"), list) else found.get("models")
    if not isinstance(listed, list):
        raise NotListed(failures.garbage(endpoint, "a list of models without data"))
    items = map(as_object, cast("list[object]", listed)[:_MOST_MODELS])
    return tuple(model for item in items if (model := _model(item)) is not None)


async def context_of(endpoint: Endpoint, seconds: float) -> int | None:
    """Return the context that a llama.cpp server gives each request; None where nothing says it."""
    parts = urlsplit(endpoint.base_url)
    path = parts.path.rstrip("/").removesuffix("/v1")
    try:
        found = await _object(endpoint, urlunsplit(parts._replace(path=f"{path}/props")), seconds)
    except NotListed:
        return None
    return _context(as_object(found.get("default_generation_settings")))


async def _object(endpoint: Endpoint, url: str, seconds: float) -> Object:
    try:
        headers = {"Accept": "application/json", **headers_of(endpoint)}
        request = HttpRequest(
            url=url,
            headers=headers,
            connect_seconds=min(seconds, endpoint.connect_seconds),
            answer_seconds=seconds,
        )
        async with open_http(request) as reply:
            body = await reply.whole(seconds, _MOST_BYTES)
    except NoKey as error:
        raise NotListed(failures.no_key(error)) from None
    except HttpFailed as error:
        raise NotListed(failures.unreached(endpoint, error)) from None
    if reply.status != 200:
        raise NotListed(failures.refused(endpoint, "", reply.status, reply.headers, body))
    try:
        return as_object(json.loads(body))
    except (ValueError, RecursionError):
        seen = body[:400].decode("utf-8", "replace")
        raise NotListed(failures.garbage(endpoint, seen, reply.headers.get("content-type", ""))) from None


def _model(item: Object) -> Model | None:
    name = next((value for key in ("id", "name", "model") if isinstance(value := item.get(key), str)), "")
    if not name.strip():
        return None
    return Model(id=failures.quoted(name), context=_context(as_object(item.get("meta"))) or _context(item))


def _context(found: Object) -> int | None:
    return next(_counts(found), None)


def _counts(found: Object) -> Iterator[int]:
    for name in _CONTEXT_NAMES:
        value = found.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            yield value
