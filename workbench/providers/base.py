"""The protocol of a provider, and the endpoint it asks: address, key, sampling, times and limits.

The key is a callable, so nothing here can be printed with a secret in it.
"""

# Three waits instead of one. Connecting is short (`api_timeout_seconds`), the first word may take ten
# minutes (a server may load its model), a pause three (some servers hold a tool call back until it is
# whole).

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field, replace
from pkgutil import resolve_name
from typing import Any, Final, Literal, Protocol

import msgspec
from msgspec import Struct

from workbench.config.keys import OPENAI_COMPATIBLE, ProviderKind
from workbench.domain.messages import FailurePart, ModelRequest, ReplyPart

DEFAULT_FIRST_TOKEN_SECONDS: Final = 600
"""A server may have to load a model, and to read a long conversation, before it says a word."""
DEFAULT_SILENCE_SECONDS: Final = 180
"""Some servers hold a tool call back until all of its arguments are there."""
DEFAULT_CONNECT_SECONDS: Final = 10
MAX_REPLY_BYTES: Final = 32 * 1024 * 1024
MAX_ARGUMENT_CHARACTERS: Final = 1_000_000
MAX_REPLY_CALLS: Final = 64
"""Calls of one reply; those of recorded sessions have 4 at most."""
MAX_REPLY_CHARACTERS: Final = 4_000_000
"""Characters of one reply: text, thinking and arguments together."""
DEFAULT_REPLY_SECONDS: Final = 3_600
"""One whole reply: a server that says a word now and then holds no turn longer."""
ToolChoice = Literal["auto", "required", "none"]


class KeyMissing(Exception):
    """The key of an endpoint is not there; says why and what to do, never the key."""

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__(f"{why} {remedy}")
        self.why, self.remedy = why, remedy


class Sampling(Struct, frozen=True, kw_only=True):
    """What is asked of the model besides the conversation; None is left to the server."""

    max_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    tool_choice: ToolChoice | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySource:
    """Where the key of an endpoint comes from; see there."""

    key: Callable[[], str | None] = field(default=lambda: None, repr=False)
    place: str = ""
    forget: Callable[[], bool] = field(default=lambda: False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One place that models answer from.

    No Struct: those print every field, also to `rich`.
    """

    name: str
    base_url: str
    """With everything before what the protocol adds (`/chat/completions`), without a slash at its end."""
    kind: ProviderKind = OPENAI_COMPATIBLE
    key: Callable[[], str | None] = field(default=lambda: None, repr=False)
    """Gives the key, None where none is needed; raises KeyMissing where it should be there and is not."""
    key_place: str = ""
    """What the key comes from, in words: `$NAME`, `key_command`; empty where none is set."""
    forget_key: Callable[[], bool] = field(default=lambda: False, repr=False)
    """Makes `key` ask for a new one; False where it would be the same again."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    sampling: Sampling = Sampling()
    connect_seconds: float = DEFAULT_CONNECT_SECONDS
    first_token_seconds: float = DEFAULT_FIRST_TOKEN_SECONDS
    silence_seconds: float = DEFAULT_SILENCE_SECONDS
    api_version: str = ""
    """Azure OpenAI: the version of its deployments' interface; empty uses the one without versions."""
    context_tokens: int | None = None
    """The size of the context that is asked for, where the protocol lets one ask (Ollama)."""
    keep_alive: str = ""
    """How long the server keeps a model loaded after a reply (Ollama); empty leaves it to the server."""
    thinking_tokens: int | None = None
    """How many tokens the model may think, where the protocol lets one say so; 0: it does not think."""

    def with_key(self, source: "KeySource") -> "Endpoint":
        return replace(self, key=source.key, key_place=source.place, forget_key=source.forget)

    def with_sampling(self, **changes: Any) -> "Endpoint":
        return replace(self, sampling=msgspec.structs.replace(self.sampling, **changes))

    @property
    def setting(self) -> str:
        """Return how the configuration calls this endpoint, for remedies."""
        return f"providers.{self.name}"

    def authorized_headers(self) -> dict[str, str]:
        """Return the headers of every request, the key among them. Raises KeyMissing."""
        key = self.key()
        authorization = self.kind.authorization(key) if key else {}
        return {
            "User-Agent": "workbench", "Content-Type": "application/json", **authorization, **self.headers
        }  # fmt: skip


class ListedModel(Struct, frozen=True, kw_only=True):
    """One model as its server lists it."""

    id: str
    context: int | None = None
    """Tokens, where the server says."""
    abilities: tuple[str, ...] = ()
    """What it can do in the server's own words, such as `tools`; empty where the server says nothing."""
    is_loaded: bool = False
    """Whether the server says that it is in memory."""


class ProbeResult(Struct, frozen=True, kw_only=True):
    """What two replies have shown; a thing that was not seen may still be possible."""

    streams: bool = False
    thinks: bool = False
    counts_tokens: bool = False
    calls_tools: bool = False
    context: int | None = None
    """Tokens that the server gives each request, where it says so."""
    failure: FailurePart | None = None
    """Why nothing was said to the plain question."""
    tools_failure: FailurePart | None = None
    """Why there was no reply to the one with a tool."""


class ModelsNotListed(Exception):
    """The models cannot be listed; `failure` says why."""

    def __init__(self, failure: FailurePart) -> None:
        super().__init__(failure.message)
        self.failure = failure


class Provider(Protocol):
    """A client of one kind of provider."""

    @property
    def name(self) -> str:
        """Return the provider's name as sessions record it."""
        ...

    @property
    def endpoint(self) -> Endpoint | None:
        """Return the server that is asked; None where none is."""
        ...

    def reply(self, request: ModelRequest) -> AsyncGenerator[ReplyPart, None]:
        """Yield one reply in parts; a `FailurePart` ends it. Closing the generator cancels."""
        ...

    async def list_models(self, seconds: float) -> tuple[ListedModel, ...]:
        """Return the models in the server's order, within so many seconds to connect, then to answer.

        Raises ModelsNotListed: the server cannot be reached or answers something else.
        """
        ...

    async def describe_models(self, seconds: float) -> tuple[ListedModel, ...]:
        """Do as `list_models`, with what each model can do where a server must be asked for that apart."""
        ...

    async def context_tokens(self, model: str, seconds: float) -> int | None:
        """Return the context that the server gives each request; None where nothing says it."""
        ...

    async def probe(self, model: str, seconds: float) -> ProbeResult:
        """Ask a model to say hello, then to call a tool that is never run; it may have to be loaded first."""
        ...


def create_client(endpoint: Endpoint) -> Provider:
    """Make the client of an endpoint, by the class that its kind names."""
    return resolve_name(f"workbench.providers.{endpoint.kind.client}")(endpoint)
