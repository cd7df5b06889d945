"""Changes of the providers in the text of a config.json: text in, text out.

What is not changed stays byte for byte: order, indentation, line ends, unknown keys.
"""

from collections.abc import Mapping

from msgspec import Struct

from workbench.domain.values import Json, Refused


class ProviderRefused(Refused):
    """A change that cannot be made: what was not done, why, and what helps."""


class ProviderDraft(Struct, frozen=True, kw_only=True):
    """A provider to be written into config.json; None is not written."""

    name: str
    kind: str = "openai-compatible"
    base_url: str | None = None
    model: str | None = None
    key_env: str | None = None
    """NAME of the variable that holds the key, never the key."""
    key_command: str | None = None


def require_valid_draft(draft: ProviderDraft, env: Mapping[str, str]) -> None:
    """Check a draft as config.json would be checked. Raises ProviderRefused: says which field, and why.

    A `key_env` that looks like a key is refused without being repeated; `env` holds the set variables.
    """
    raise NotImplementedError


def with_provider(text: str, draft: ProviderDraft) -> str:
    """Add a provider, or change the fields that the draft names of one that is there.

    Other members of a provider that is there (`headers`, `prices`) stay; `key_env` and `key_command`
    replace each other. An empty text becomes a new file. Raises ProviderRefused: the text is not JSON.
    """
    raise NotImplementedError


def without_provider(text: str, name: str) -> str:
    """Remove a provider, and `default_provider` where it names it (with its `default_model`).

    Raises ProviderRefused: it is not there, or the text is not JSON.
    """
    raise NotImplementedError


def with_default(text: str, provider: str, model: str | None = None) -> str:
    """Make a provider, and where named a model, what new sessions ask.

    `default_model` is set where it is there already and removed where no model is named, since it would
    go to the wrong provider; otherwise the model is written into the provider. Raises ProviderRefused.
    """
    raise NotImplementedError


def provider_members(text: str) -> Mapping[str, Json]:
    """Return the providers of a config.json by name, as they are written. Raises ProviderRefused."""
    raise NotImplementedError
