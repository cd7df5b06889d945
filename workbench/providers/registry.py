"""The kinds of provider and how a client of each is made. Settings are passed in: nothing here reads them."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from workbench.config.keys import (
    ANTHROPIC,
    AZURE_OPENAI,
    OLLAMA,
    OPENAI_COMPATIBLE,
    OPENAI_RESPONSES,
    RECORDED,
)
from workbench.providers.anthropic_messages import AnthropicMessages
from workbench.providers.base import Endpoint, Provider
from workbench.providers.ollama_chat import OllamaChat
from workbench.providers.openai_compatible import AzureOpenAI, OpenAICompatible
from workbench.providers.openai_responses import OpenAIResponses
from workbench.providers.recording import RecordedProvider, Recording, load_recording
from workbench.providers.server_provider import ServerProvider

Sleep = Callable[[float], Awaitable[None]]


class ProviderError(Exception):
    """A provider cannot be made; says which, why and what to do."""


class ProviderSource(Struct, frozen=True, kw_only=True):
    """What a client is made of: `endpoint` for a server, `recording` for one that is played."""

    endpoint: Endpoint | None = None
    recording: Recording | str | Path | None = None
    sleep: Sleep = asyncio.sleep


def create_provider(kind: str, source: ProviderSource) -> Provider:
    """Make a provider. Raises ProviderError: the kind is unknown or lacks what it needs; RecordingBroken."""
    factory = _FACTORIES.get(kind)
    if factory is None:
        raise ProviderError(
            f'there is no provider of the kind "{kind}"; known: {", ".join(provider_kinds())}'
        )
    return factory(kind, source)


def provider_kinds() -> tuple[str, ...]:
    return tuple(sorted(_FACTORIES))


def _create_recorded(kind: str, source: ProviderSource) -> Provider:
    recording = source.recording
    if not isinstance(recording, Recording):
        if not recording:
            why = f"the {kind} provider has no recording to play; name one with --recording FILE"
            raise ProviderError(why)
        recording = load_recording(recording)
    return RecordedProvider(recording, source.sleep)


def _server_factory(client: type[ServerProvider]) -> Callable[[str, ProviderSource], Provider]:
    def create(kind: str, source: ProviderSource) -> Provider:
        if source.endpoint is None:
            raise ProviderError(f"the {kind} provider has no address; name one with --base-url URL")
        return client(source.endpoint)

    return create


_FACTORIES: Final[Mapping[str, Callable[[str, ProviderSource], Provider]]] = {
    ANTHROPIC.name: _server_factory(AnthropicMessages),
    AZURE_OPENAI.name: _server_factory(AzureOpenAI),
    OLLAMA.name: _server_factory(OllamaChat),
    OPENAI_COMPATIBLE.name: _server_factory(OpenAICompatible),
    OPENAI_RESPONSES.name: _server_factory(OpenAIResponses),
    RECORDED.name: _create_recorded,
}
"""By `config.keys.ProviderKind.name`: a new kind is a row there and one here."""
