"""Providers as rows: those of the configuration, those that were found on this machine, what a test showed.

No struct holds the value of a key; they name where it comes from.
"""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

KeySource = Literal["none", "variable", "command"]
"""Where a key comes from: nothing is needed, an environment variable, a command that prints it."""


class FoundModel(Struct, frozen=True, kw_only=True):
    """A provider that was found on this machine and can be added as it stands."""

    provider: str
    """Name to add it by; no provider of the configuration has it."""
    kind: str
    base_url: str
    model: str | None
    """Model to ask; None where there is no sensible default and one has to be chosen."""
    models: tuple[str, ...] = ()
    """Models that a local server lists; empty for a service, which is not asked before it is added."""
    key_env: str | None = None
    """Name of the variable that holds the key; None where no key is needed."""
    source: str
    """Why: `127.0.0.1:1234 (LM Studio's usual port), 3 models` or `xAI, XAI_API_KEY is set`."""


class ProviderRow(Struct, frozen=True, kw_only=True):
    """A provider of the configuration."""

    name: str
    kind: str
    base_url: str
    """Empty for a kind that has no server."""
    model: str
    """Its own model; empty where it names none."""
    key: KeySource = "none"
    key_name: str = ""
    """The variable's name, or the words of the command."""
    is_key_here: bool | None = None
    """Whether this process has the variable; None where the key is no variable."""
    is_key_in_background: bool | None = None
    """Whether the background process of the folder has it; None where it is no variable or none runs."""
    is_default: bool = False
    has_server: bool = True
    file: str = ""
    """File that sets it, or the variable `WORKBENCH_…`."""
    is_own: bool = True
    """Whether it stands in the user's own config.json, which `remove` can change."""

    @property
    def server(self) -> tuple[object, ...]:
        """Return what decides how its server answers."""
        return (self.kind, self.base_url, self.model, self.key, self.key_name)

    @property
    def facts(self) -> str:
        """Say model, key and address in a row, as far as there are any."""
        parts = [self.model, self.key_words if self.key != "none" else "", self.base_url]
        return ", ".join(part for part in parts if part)

    @property
    def key_words(self) -> str:
        """Say where the key comes from and whether it is there, in a few words."""
        match self.key:
            case "none":
                return "no key"
            case "command":
                return "key_command"
            case "variable":
                pass
        if not self.is_key_here and not self.is_key_in_background:
            return f"{self.key_name}, not set"
        if self.is_key_in_background is False:
            return f"{self.key_name}, not in the background process"
        return f"{self.key_name}, set"


class OfferedModel(Struct, frozen=True, kw_only=True):
    """A model that a server lists."""

    id: str
    context: int | None = None
    """Tokens, where the server says."""
    abilities: tuple[str, ...] = ()
    """What it can do, where the server says."""
    is_loaded: bool = False
    """Whether the server says that it is in memory."""

    @property
    def words(self) -> str:
        """Name it and what is known of it: `qwen3 (32,768 tokens, tools, loaded)`."""
        facts = [f"{self.context:,} tokens"] if self.context else []
        facts += [*self.abilities, *(["loaded"] if self.is_loaded else [])]
        return f"{self.id} ({', '.join(facts)})" if facts else self.id


class ProviderStatus(Struct, frozen=True, kw_only=True):
    """What a provider's server said when it was asked for its models."""

    provider: str
    models: tuple[OfferedModel, ...] = ()
    why_not: str = ""
    """Why it did not say them, with what helps; empty when it did."""


class ProviderUsage(Struct, frozen=True, kw_only=True):
    """What the sessions of a home took of a provider."""

    sessions: int
    input_tokens: int
    output_tokens: int
    cost: float | None = None
    """In US dollars, as far as prices are known; None where none is."""

    @property
    def words(self) -> str:
        """Say it as a sentence without its end."""
        count = "1 session" if self.sessions == 1 else f"{self.sessions:,} sessions"
        cost = f", which cost ${self.cost:.2f}" if self.cost is not None else ""
        return f"{self.input_tokens:,} tokens sent and {self.output_tokens:,} received in {count}{cost}"


class ProviderReport(Struct, frozen=True, kw_only=True):
    """What came of asking a provider for its models and a model for two short replies."""

    provider: str
    base_url: str
    models: tuple[OfferedModel, ...] = ()
    model: str = ""
    """The model that was asked; empty where none was."""
    answers: bool | None = None
    """None where no model was asked."""
    streams: bool | None = None
    calls_tools: bool | None = None
    counts_tokens: bool | None = None
    thinks: bool | None = None
    context: int | None = None
    problems: tuple[str, ...] = ()
    """What keeps agents from working with it, each with what helps; empty: all is well."""
    seconds: float = 0.0
    """How long all of it took."""

    @property
    def is_well(self) -> bool:
        return not self.problems

    @property
    def ability_words(self) -> str:
        """Say what the model that was asked can do: `streams, calls tools, counts tokens, …`."""
        can = [
            "streams" if self.streams else "does not stream",
            "calls tools" if self.calls_tools else "called no tool",
            "counts tokens" if self.counts_tokens else "counts no tokens",
            *(["thinks aloud"] if self.thinks else []),
            f"context of {self.context:,} tokens" if self.context else "context size not said",
        ]
        return ", ".join(can)


def found_words(found: Iterable[FoundModel]) -> tuple[str, ...]:
    """Say what was found, a line each."""
    return tuple(
        f"{one.provider}: {one.source}" + (f", model {one.model}" if one.model else "") for one in found
    )
