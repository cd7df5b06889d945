"""Which provider and model a new session gets: as asked for, as set, or as a server offers.

Owns that choice for every way to begin a session. It asks a server only for its list of models, and only
where nothing else names one.
"""

import asyncio
from collections.abc import Callable
from dataclasses import field
from typing import Final

from workbench.config.values import Config
from workbench.domain.values import Json
from workbench.host.endpoints import KIND, NoEndpoint, endpoint_of
from workbench.host.models import kind_of
from workbench.providers.endpoint import Endpoint
from workbench.providers.model_list import NotListed, models_of
from workbench.providers.registry import kinds
from workbench.records import dataclass
from workbench.text.safe import one_line

_SHOWN: Final = 12
OLLAMA: Final = "http://localhost:11434/v1"


class NoModel(Exception):
    """No model was chosen; says why and what to do.

    Attributes:
        is_misuse: What was asked for cannot be meant; nothing has to be mended elsewhere.
    """

    what = "No session was begun."

    def __init__(self, why: str, remedy: str, *, is_misuse: bool = False) -> None:
        super().__init__(f"{why} {remedy}")
        self.why, self.remedy, self.is_misuse = why, remedy, is_misuse


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a human asked for; None leaves it to the settings."""

    provider: str | None = None
    model: str | None = None
    base_url: str | None = None
    key_env: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Whom a session will ask."""

    provider: str
    model: str
    configuration: dict[str, Json] = field(default_factory=dict[str, Json])


Listing = Callable[[Endpoint, float], tuple[str, ...]]


def listed(endpoint: Endpoint, seconds: float) -> tuple[str, ...]:
    """Return the names of an endpoint's models; waits for them.

    Raises:
        NotListed: They cannot be listed.
    """
    return tuple(model.id for model in asyncio.run(models_of(endpoint, seconds)))


def choose(config: Config, wish: Wish, listing: Listing = listed) -> Choice:
    """Return whom a new session asks.

    Raises:
        NoModel: Nothing fits; says what to name or to mend.
    """
    name = _provider(config, wish)
    if kind_of(name, config) != KIND:
        raise _not_here(name, config)
    chosen: dict[str, Json] = {}
    if wish.base_url:
        chosen["base_url"] = wish.base_url
    if wish.key_env:
        chosen["key_env"] = wish.key_env
    try:
        endpoint = endpoint_of(config, name, chosen)
    except NoEndpoint as error:
        raise NoModel(error.why, error.remedy, is_misuse=True) from None
    model = wish.model or _set_model(config, wish, name) or _offered(config, endpoint, listing)
    return Choice(provider=name, model=model, configuration={"endpoint": chosen} if chosen else {})


def is_set_up(config: Config) -> bool:
    """Return whether the settings name a provider that a session can be begun with."""
    try:
        return kind_of(_provider(config, Wish()), config) == KIND
    except NoModel:
        return False


def usable(config: Config) -> tuple[str, ...]:
    """Return the names of the providers that can be asked in this version."""
    return tuple(name for name, provider in config.providers.items() if provider.kind == KIND)


def _provider(config: Config, wish: Wish) -> str:
    if wish.provider is not None and wish.provider.strip():
        return wish.provider
    if wish.base_url:
        return KIND
    if config.default_provider:
        return config.default_provider
    found = usable(config)
    if len(found) == 1:
        return found[0]
    if found:
        raise NoModel(
            "Several providers are set up.", f"Name one with --provider: {', '.join(found)}.", is_misuse=True
        )
    remedy = "Name an address with --base-url URL, or set up a provider in config.json (README, Models)."
    raise NoModel("No provider is named.", remedy, is_misuse=True)


def _not_here(name: str, config: Config) -> NoModel:
    kind = kind_of(name, config)
    shown = one_line(name, 40)
    if kind == "recorded":
        why = f"The provider {shown} plays a recording."
        return NoModel(why, "Name one with --recording FILE.", is_misuse=True)
    if kind in ("ollama", "azure-openai", "anthropic"):
        why = f"The provider {shown} is of the kind {kind}, which this version does not speak."
        ollama = f" Ollama answers as openai-compatible at {OLLAMA}." if kind == "ollama" else ""
        return NoModel(why, f"Take an endpoint of the kind {KIND}.{ollama}", is_misuse=True)
    known = ", ".join(dict.fromkeys((*usable(config), *kinds())))
    why = f"There is no provider “{shown}” in this version."
    return NoModel(why, f"The providers there are: {known}.", is_misuse=True)


def _set_model(config: Config, wish: Wish, name: str) -> str | None:
    """Return the model that the settings name: `default_model` is meant for the default provider."""
    provider = config.providers.get(name)
    own = provider.model if provider else None
    if wish.provider is None and not wish.base_url:
        return config.default_model or own
    return own


def _offered(config: Config, endpoint: Endpoint, listing: Listing) -> str:
    """Return the one model that a server offers.

    Raises:
        NoModel: It offers none or several, or cannot be asked.
    """
    try:
        names = listing(endpoint, config.api_timeout_seconds)
    except NotListed as error:
        failure = error.failure
        why = f"No model is named, and its server cannot be asked: {failure.message}."
        raise NoModel(why, failure.remedy or "Name one with --model.") from None
    if len(names) == 1:
        return names[0]
    if not names:
        raise NoModel(f"{endpoint.base_url} offers no model.", "Load one there, or name one with --model.")
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    shown = ", ".join(names[:_SHOWN])
    raise NoModel(
        f"{endpoint.base_url} has several models.", f"Name one with --model: {shown}{more}.", is_misuse=True
    )
