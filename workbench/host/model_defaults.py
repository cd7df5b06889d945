"""Whom steps and overloaded sessions ask, and how much a context holds, by the settings alone."""

from workbench.config.keys import PROVIDER_KINDS
from workbench.config.types import Config
from workbench.host.model_selection import (
    ModelPreference,
    NoModelSelected,
    SelectedModel,
    configured_model,
    has_server,
    is_default_provider,
    provider_kind,
    selected_provider,
)


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


def context_tokens_in_settings(config: Config, name: str) -> int | None:
    """Return the tokens that a provider's models may hold: its num_ctx, else what its kind is known for."""
    provider = config.providers.get(name)
    kind = PROVIDER_KINDS.get(provider_kind(name, config))
    return (provider.num_ctx if provider else None) or (kind.usual_context_tokens if kind else None)
