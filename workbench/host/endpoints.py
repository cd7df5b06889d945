"""From the settings of a provider to an endpoint that can be asked: address, key, limits.

Owns which address a key may go to, and that every key that is read is taught to the scrubber before it is
used. It never stores a key: sessions and configuration name the place that it comes from.
"""

import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from workbench.config.values import Config, Provider
from workbench.domain.values import Json, JsonObject
from workbench.effects.http import is_loopback
from workbench.providers.endpoint import (
    FIRST_TOKEN_SECONDS,
    SILENCE_SECONDS,
    Endpoint,
    NoKey,
    Sampling,
)
from workbench.text import known

KIND: Final = "openai-compatible"
_KEY_COMMAND_SECONDS: Final = 60.0
_SECRET_HEADERS: Final = ("auth", "key", "token", "secret", "cookie")


class NoEndpoint(Exception):
    """A provider names no address that may be asked; says why and what to do."""

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__(f"{why} {remedy}")
        self.why, self.remedy = why, remedy


def endpoint_of(
    config: Config, name: str, chosen: JsonObject | None = None, env: Mapping[str, str] = os.environ
) -> Endpoint:
    """Return the endpoint of a provider.

    Args:
        config: The settings as trust allows them.
        name: The provider as a session names it.
        chosen: What a session was begun with: `base_url`, `key_env`.
        env: Where keys are.

    Raises:
        NoEndpoint: There is no such provider, it has no address, or it may not be asked there.
    """
    provider = config.providers.get(name)
    given = chosen or {}
    base_url = _text(given.get("base_url")) or (provider.base_url if provider else None)
    if base_url is None:
        why = f"No provider {name} with an address is set up."
        raise NoEndpoint(why, "Add it to providers in config.json, or name an address with --base-url.")
    if provider is not None and not given.get("base_url"):
        _check_origin(config, provider, base_url)
    key, place = _key(config, provider, base_url, _text(given.get("key_env")), env)
    return _endpoint(config, name, provider, base_url).with_key(key, place)


def teach(config: Config, env: Mapping[str, str] = os.environ) -> None:
    """Let the scrubber know every key that the settings name and that is here."""
    for provider in config.providers.values():
        if provider.key_env:
            known.remember(env.get(provider.key_env, ""))
        for header, value in provider.headers.items():
            if any(word in header.lower() for word in _SECRET_HEADERS):
                known.remember(value.rpartition(" ")[2])


def key_variables(config: Config) -> tuple[str, ...]:
    """Return the variables that hold keys: no command of an agent gets them."""
    return tuple(provider.key_env for provider in config.providers.values() if provider.key_env)


def _endpoint(config: Config, name: str, provider: Provider | None, base_url: str) -> Endpoint:
    if provider is None:
        return Endpoint(name=name, base_url=base_url.rstrip("/"))
    same = _is_same_place(provider.base_url, base_url)
    sampling = Sampling(
        max_tokens=provider.max_tokens, temperature=provider.temperature, seed=provider.seed,
        stop=provider.stop, tool_choice=provider.tool_choice,
    )  # fmt: skip
    return Endpoint(
        name=name, base_url=base_url.rstrip("/"), headers=dict(provider.headers) if same else {},
        sampling=sampling, connect_seconds=config.api_timeout_seconds,
        first_token_seconds=provider.first_token_seconds or FIRST_TOKEN_SECONDS,
        silence_seconds=provider.silence_seconds or SILENCE_SECONDS,
    )  # fmt: skip


def _check_origin(config: Config, provider: Provider, base_url: str) -> None:
    """Refuse an address that only a workspace names: this machine's own, and hosts of the user's, are known.

    Raises:
        NoEndpoint: Says which host.
    """
    if provider.origin.layer != "workspace" or is_loopback(base_url):
        return
    own = {urlsplit(one.base_url).hostname for one in config.providers.values()
           if one.base_url and one.origin.layer != "workspace"}  # fmt: skip
    host = urlsplit(base_url).hostname
    if host not in own:
        why = f"Only the workspace names the host {host} for the provider {provider.name}."
        raise NoEndpoint(why, "Name it in your own config.json if the conversation may go there.")


def _key(
    config: Config, provider: Provider | None, base_url: str, key_env: str | None, env: Mapping[str, str]
) -> tuple[Callable[[], str | None], str]:
    """Return how the key is got, and from where in words; a key only goes where it was meant to go."""
    if key_env:
        return lambda: _from_environment(key_env, env), f"${key_env}"
    if provider is None or not _is_same_place(provider.base_url, base_url):
        return lambda: None, ""
    name, command = provider.key_env, provider.key_command
    own = _users(config, provider)
    if own is None:
        return lambda: None, ""
    if name:
        return lambda: _from_environment(name, env), f"${name}"
    if command:
        folder = os.path.dirname(own.origin.file or "") if own.origin.layer == "user" else ""  # noqa: PTH120
        return lambda: _from_command(command, folder or "/"), "key_command"
    return lambda: None, ""


def _users(config: Config, provider: Provider) -> Provider | None:
    """Return the user's own setting that sends this key to this place: a workspace's alone does not."""
    own = (
        one
        for one in config.providers.values()
        if one.origin.layer != "workspace"
        and (one.key_env, one.key_command) == (provider.key_env, provider.key_command)
        and _is_same_place(one.base_url, provider.base_url or "")
    )
    return next(own, None)


def _from_environment(name: str, env: Mapping[str, str]) -> str:
    value = env.get(name, "").strip()
    if not value:
        why = f"the variable {name} is not set here, and it should hold the key"
        remedy = f"Set it in a shell (export {name}=…), there workbench host restart, and continue."
        raise NoKey(why, remedy)
    return _checked(value, f"the variable {name}")


@lru_cache(maxsize=8)
def _from_command(command: str, folder: str) -> str:
    """Run the user's own command for a key in the folder of the file that names it; once, unless it fails."""
    from workbench.effects.foreground import capture

    said = capture(["/bin/sh", "-c", command], folder, _KEY_COMMAND_SECONDS, most=65_536)
    value = (said or b"").decode("utf-8", "replace").strip()
    if not value:
        raise NoKey("key_command gave no key", "Run it in a shell to see why, then continue.")
    return _checked(value.splitlines()[0].strip(), "what key_command printed")


def _checked(value: str, place: str) -> str:
    known.remember(value)
    if not value.isascii() or not value.isprintable() or " " in value:
        raise NoKey(f"{place} is no key: it has spaces or other characters", "Set it anew, then continue.")
    return value


def _is_same_place(one: str | None, other: str) -> bool:
    return one is not None and _place(one) == _place(other)


def _place(url: str) -> tuple[str, str | None, int]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) and value else None
