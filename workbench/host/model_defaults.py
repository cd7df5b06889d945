"""Whom steps and overloaded sessions ask, by the settings alone, and how much a context holds."""

import contextlib
from typing import Final

from workbench.config.keys import PROVIDER_KINDS
from workbench.config.types import Config
from workbench.domain.rows import Session
from workbench.host.driver_context import DriverContext
from workbench.host.model_selection import (
    ModelPreference,
    NoModelSelected,
    ProviderUnavailable,
    SelectedModel,
    configured_model,
    has_server,
    is_default_provider,
    provider_kind,
    selected_provider,
)

_CONTEXT_SECONDS: Final = 5.0


def model_of_step(config: Config, provider: str, model: str) -> tuple[str, str]:
    """Return whom a step of a pipeline asks, by what its persona names; empty texts are left to the settings.

    The provider is chosen as a session's is. No server is asked for its models: a model that nobody names
    stays empty, and servers with one model take that.
    """
    wish = ModelPreference(provider=provider or None)
    try:
        name = selected_provider(config, wish)
    except NoModelSelected:
        return "", model or config.default_model or ""
    takes_default = is_default_provider(config, name) or name not in config.providers
    known = model or configured_model(config, wish, name)
    return name, known or (config.default_model if takes_default else None) or ""


def fallback_of(config: Config, name: str) -> SelectedModel | None:
    """Return whom a session may ask while a provider is overloaded; None where no setting names one."""
    provider = config.providers.get(name)
    other = provider.fallback if provider else None
    if other is None or not has_server(other, config):
        return None
    _, model = model_of_step(config, other, "")
    return SelectedModel(provider=other, model=model) if model else None


def known_context_tokens(config: Config, name: str, told: int | None = None) -> int | None:
    """Return the tokens that a model of a provider may hold: its num_ctx, else what its server told.

    That is at most what servers of its kind are asked for, which it also is where the server told nothing.
    """
    if asked := _context_setting(config, name):
        return asked
    kind = PROVIDER_KINDS.get(provider_kind(name, config))
    usual = kind.usual_context_tokens if kind else None
    return min(told, usual) if told and usual else told or usual


def _context_setting(config: Config, name: str) -> int | None:
    """Return the `num_ctx` of a provider."""
    provider = config.providers.get(name)
    return provider.num_ctx if provider else None


async def told_context_tokens(context: DriverContext, session: Session) -> int | None:
    """Return the tokens that a session's model may hold, as its server says; None where a setting says it."""
    config = context.loaded().config
    if _context_setting(config, session.provider):
        return None
    with contextlib.suppress(ProviderUnavailable):
        return await context.provider(session, config).context_tokens(session.model, _CONTEXT_SECONDS)
    return None
