"""Names of models as people write them: `MODEL`, or `PROVIDER/MODEL` with a provider of the settings."""

# Names of models may hold a slash themselves, so only a provider of the settings counts as one; and where
# `default_provider` is set, `default_model` is a name of its models, slash or not.

from workbench.config.keys import PROVIDER_KINDS
from workbench.config.types import Config


def split_model_name(config: Config, text: str) -> tuple[str, str]:
    """Return the provider and the model of a name; the provider is empty where the name begins with none."""
    head, _, rest = text.partition("/")
    return (head, rest) if rest and head in server_provider_names(config) else ("", text)


def server_provider_names(config: Config) -> tuple[str, ...]:
    """Return the configured providers that ask a server."""
    return tuple(
        name for name, provider in config.providers.items() if PROVIDER_KINDS[provider.kind].has_server
    )


def split_default_model(config: Config) -> tuple[str, str]:
    """Return the provider, if it names one, and the model of `default_model`; empty texts if unset."""
    text = config.default_model or ""
    return ("", text) if config.default_provider else split_model_name(config, text)


def default_provider_name(config: Config) -> str:
    """Return the provider that a new conversation asks: the named one, else the only one with a server."""
    if named := config.default_provider or split_default_model(config)[0]:
        return named
    names = server_provider_names(config)
    return names[0] if len(names) == 1 else ""


def default_model_of(config: Config, provider: str) -> str | None:
    """Return the model that `default_model` names for a provider; None where it is about another one."""
    return split_default_model(config)[1] or None if default_provider_name(config) == provider else None
