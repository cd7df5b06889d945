"""Where a provider answers, how long it may take and what is sent along: one frozen record.

Owns the numbers that hold where a user set none. It never reads a file or the environment, and the key is a
callable: nothing here can be printed with a secret in it.
"""

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Final, Literal

from workbench.records import dataclass

FIRST_TOKEN_SECONDS: Final = 600
"""A server may have to load a model, and to read a long conversation, before it says a word."""
SILENCE_SECONDS: Final = 180
"""Some servers hold a tool call back until all of its arguments are there."""
CONNECT_SECONDS: Final = 10

MOST_REPLY_BYTES: Final = 32 * 1024 * 1024
"""Bytes of one reply on the wire."""
MOST_ARGUMENT_CHARACTERS: Final = 1_000_000
"""Characters of the arguments of one call."""
MOST_CALLS: Final = 64
"""Calls of one reply; those of recorded sessions have 4 at most."""
MOST_REPLY_CHARACTERS: Final = 4_000_000
"""Characters of one reply: text, thinking and arguments together."""
REPLY_SECONDS: Final = 3_600
"""One whole reply: a server that says a word now and then holds no turn longer."""

ToolChoice = Literal["auto", "required", "none"]


class NoKey(Exception):
    """The key of an endpoint is not there; says why and what to do, never the key."""

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__(f"{why} {remedy}")
        self.why, self.remedy = why, remedy


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """What is asked of the model besides the conversation; None is left to the server."""

    max_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    tool_choice: ToolChoice | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One place that speaks the OpenAI chat protocol."""

    name: str
    """The provider's name in the configuration."""
    base_url: str
    """With everything before `/chat/completions`, without a slash at its end."""
    key: Callable[[], str | None] = field(default=lambda: None, repr=False)
    """Gives the key, None where none is needed; raises NoKey where it should be there and is not."""
    key_place: str = ""
    """What the key comes from, in words: `$NAME`, `key_command`; empty where none is set."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    sampling: Sampling = Sampling()
    connect_seconds: float = CONNECT_SECONDS
    first_token_seconds: float = FIRST_TOKEN_SECONDS
    silence_seconds: float = SILENCE_SECONDS

    def with_key(self, key: Callable[[], str | None], place: str) -> "Endpoint":
        """Return the same endpoint with the way to its key."""
        return replace(self, key=key, key_place=place)

    @property
    def setting(self) -> str:
        """Return how the configuration calls this endpoint, for remedies."""
        return f"providers.{self.name}"
