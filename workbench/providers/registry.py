"""Which kinds of provider there are and how each is made from its settings.

Owns the table of kinds. It never reads configuration files or the environment: settings are passed in.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from workbench.providers.base import Provider
from workbench.providers.endpoint import Endpoint
from workbench.providers.recorded import RecordedProvider, Recording, load

Sleep = Callable[[float], Awaitable[None]]


class ProviderError(Exception):
    """A provider cannot be made; says which, why and what to do."""


def make(kind: str, settings: Mapping[str, object], *, sleep: Sleep = asyncio.sleep) -> Provider:
    """Make a provider of a kind.

    Args:
        kind: One of `kinds()`.
        settings: What that kind needs; `recorded` needs `recording`, a path or a loaded Recording;
            `openai-compatible` needs `endpoint`, an Endpoint.
        sleep: Waits so many seconds.

    Raises:
        ProviderError: The kind is unknown or a setting is missing.
        RecordingBroken: The recording cannot be played.
    """
    maker = _MAKERS.get(kind)
    if maker is None:
        raise ProviderError(f'there is no provider of the kind "{kind}"; known: {", ".join(kinds())}')
    return maker(settings, sleep)


def kinds() -> tuple[str, ...]:
    """Return the known kinds, sorted."""
    return tuple(sorted(_MAKERS))


def _recorded(settings: Mapping[str, object], sleep: Sleep) -> Provider:
    source = settings.get("recording")
    if isinstance(source, Recording):
        return RecordedProvider(source, sleep)
    if not isinstance(source, str | Path) or not str(source):
        raise ProviderError("the recorded provider has no recording to play; name one with --recording FILE")
    return RecordedProvider(load(source), sleep)


def _openai_compatible(settings: Mapping[str, object], sleep: Sleep) -> Provider:
    from workbench.providers.openai_compatible import OpenAICompatible

    del sleep
    endpoint = settings.get("endpoint")
    if not isinstance(endpoint, Endpoint):
        raise ProviderError("the openai-compatible provider has no address; name one with --base-url URL")
    return OpenAICompatible(endpoint)


_MAKERS: dict[str, Callable[[Mapping[str, object], Sleep], Provider]] = {
    "openai-compatible": _openai_compatible,
    "recorded": _recorded,
}
