"""Providers in the user's config.json: rows of them, and changes written under a lock of the data folder."""

import os
from collections.abc import Mapping

from workbench.config.provider_edit import ProviderDraft
from workbench.config.types import Config, LoadedConfig
from workbench.domain.rows import Host
from workbench.journal.home import Home
from workbench.views.providers import ProviderRow


def provider_rows(
    loaded: LoadedConfig, host: Host | None, env: Mapping[str, str] = os.environ
) -> tuple[ProviderRow, ...]:
    """Return the configured providers in their order; `host` is the background process if one runs."""
    raise NotImplementedError


def put_provider(
    home: Home, draft: ProviderDraft, *, is_default: bool = False, may_replace: bool = False
) -> str:
    """Write a provider into config.json, made (0600) where there is none; return what to say.

    The same provider again changes nothing and is no error. Raises ProviderRefused: the draft is not
    valid, another one has that name and `may_replace` is false, the file cannot be written, is not JSON, or
    was changed meanwhile.
    """
    raise NotImplementedError


def remove_provider(home: Home, name: str) -> str:
    """Take a provider out of config.json; return what to say. Raises ProviderRefused."""
    raise NotImplementedError


def set_default(home: Home, provider: str, model: str | None = None) -> str:
    """Make a provider (and a model) what new sessions ask; return what to say. Raises ProviderRefused."""
    raise NotImplementedError


def config_with(config: Config, draft: ProviderDraft) -> Config:
    """Return a configuration as it will be with a draft, to test it before it is written."""
    raise NotImplementedError
