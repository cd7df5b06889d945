"""The provider that a session asks: its endpoint, key and limits, and how many tokens its context holds.

A key goes only to the address it was set for, is registered with the scrubber first, and is never stored.
"""

# A key goes to one place. It is sent to the address that the user's own configuration names beside it.
# `--base-url` takes a provider's settings along, but its key and headers only to the same scheme, host and
# port. An address that only a workspace names must be this machine's, or a host that the user's
# configuration names too.

import asyncio
import contextlib
import functools
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, cast
from urllib.parse import urlsplit

from workbench.config.keys import OPENAI_COMPATIBLE, PROVIDER_KINDS, RECORDED
from workbench.config.types import Config, ProviderSettings
from workbench.domain.rows import Session
from workbench.domain.values import Json, JsonObject, Refused
from workbench.effects.http import is_loopback
from workbench.host.provider_keys import (
    KeyEnvironment,
    forget_command_key,
    key_from_command,
    key_from_environment,
)
from workbench.providers.base import (
    DEFAULT_FIRST_TOKEN_SECONDS,
    DEFAULT_SILENCE_SECONDS,
    Endpoint,
    KeySource,
    Provider,
    Sampling,
    create_client,
)
from workbench.providers.recording import RecordedProvider, Recording, RecordingBroken, Sleep, load_recording
from workbench.text.safe import one_line

_CONTEXT_SECONDS: Final = 5.0
"""Seconds that a server gets to say how large a model's context is."""
_UNKNOWN_PROVIDER_REMEDY: Final = (
    "Choose another with /model, or add it: workbench providers add. /restart reads .workbench.json again."
)


class EndpointUnavailable(Refused):
    """A provider names no address that may be asked."""

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__("", why, remedy)


def endpoint_of(
    config: Config,
    name: str,
    chosen: JsonObject | None = None,
    env: Mapping[str, str] = os.environ,
    *,
    in_background: bool = False,
) -> Endpoint:
    """Return the endpoint of a provider; `chosen` is what a session started with (`base_url`, `key_env`).

    `in_background` says whose environment is meant where a key is missing. Raises EndpointUnavailable where
    there is none or it may not be asked there.
    """
    provider = config.providers.get(name)
    session_settings = chosen or {}
    base_url = _text_or_none(session_settings.get("base_url")) or (provider.base_url if provider else None)
    if base_url is None:
        why = f"No provider {name} with an address is set up."
        raise EndpointUnavailable(
            why, "Add it to providers in config.json, or name an address with --base-url."
        )
    if provider is not None and not session_settings.get("base_url"):
        _refuse_unknown_host(config, provider, base_url)
    environment = KeyEnvironment(variables=env, in_background=in_background)
    named = _text_or_none(session_settings.get("key_env"))
    source = _key_source(config, provider, base_url, named, environment)
    return _endpoint_from_settings(config, name, provider, base_url).with_key(source)


def key_variable_of(session: Session, config: Config) -> str | None:
    """Return the variable that should hold the key which a session asks with."""
    chosen = session_endpoint_settings(session, session.provider) or {}
    provider = config.providers.get(session.provider)
    return _text_or_none(chosen.get("key_env")) or (provider.key_env if provider else None)


def _endpoint_from_settings(
    config: Config, name: str, provider: ProviderSettings | None, base_url: str
) -> Endpoint:
    kind = PROVIDER_KINDS.get(provider_kind(name, config), OPENAI_COMPATIBLE)
    if provider is None:
        return Endpoint(name=name, base_url=kind.server_url(base_url), kind=kind)
    same = _is_same_origin(provider.base_url, base_url)
    sampling = Sampling(
        max_tokens=provider.max_tokens, temperature=provider.temperature, seed=provider.seed,
        stop=provider.stop, tool_choice=provider.tool_choice,
    )  # fmt: skip
    return Endpoint(
        name=name, base_url=kind.server_url(base_url), kind=kind,
        headers=dict(provider.headers) if same else {}, api_version=provider.api_version or "",
        context_tokens=provider.num_ctx, keep_alive=provider.keep_alive or "",
        thinking_tokens=provider.thinking_tokens,
        sampling=sampling, connect_seconds=config.api_timeout_seconds,
        first_token_seconds=provider.first_token_seconds or DEFAULT_FIRST_TOKEN_SECONDS,
        silence_seconds=provider.silence_seconds or DEFAULT_SILENCE_SECONDS,
    )  # fmt: skip


def _refuse_unknown_host(config: Config, provider: ProviderSettings, base_url: str) -> None:
    """Refuse a host that only a workspace names; this machine's and the user's own are known."""
    if provider.origin.layer != "workspace" or is_loopback(base_url):
        return
    user_hosts = {urlsplit(known.base_url).hostname for known in config.providers.values()
           if known.base_url and known.origin.layer != "workspace"}  # fmt: skip
    host = urlsplit(base_url).hostname
    if host not in user_hosts:
        why = f"Only the workspace names the server {host} for the provider {provider.name}."
        raise EndpointUnavailable(why, "Name it in your own config.json if the conversation may go there.")


def _key_source(
    config: Config, provider: ProviderSettings | None, base_url: str, key_env: str | None, env: KeyEnvironment
) -> KeySource:
    """Return how to get the key, and from where in words; it goes only to the address it was set for."""
    if key_env:
        return KeySource(key=lambda: key_from_environment(key_env, env), place=f"${key_env}")
    if provider is None or not _is_same_origin(provider.base_url, base_url):
        return KeySource()
    name, command = provider.key_env, provider.key_command
    user_provider = _user_provider_with_key(config, provider)
    if user_provider is None:
        return KeySource()
    if name:
        return KeySource(key=lambda: key_from_environment(name, env), place=f"${name}")
    if command:
        folder = (
            os.path.dirname(user_provider.origin.file or "") if user_provider.origin.layer == "user" else ""  # noqa: PTH120
        )
        place = folder or "/"
        return KeySource(
            key=lambda: key_from_command(command, place), place="key_command",
            forget=lambda: forget_command_key(command, place),
        )  # fmt: skip
    return KeySource()


def _user_provider_with_key(config: Config, provider: ProviderSettings) -> ProviderSettings | None:
    """Return the user's own provider that sends this key there; a workspace's alone does not count."""
    user_providers = (
        candidate
        for candidate in config.providers.values()
        if candidate.origin.layer != "workspace"
        and (candidate.key_env, candidate.key_command) == (provider.key_env, provider.key_command)
        and _is_same_origin(candidate.base_url, provider.base_url or "")
    )
    return next(user_providers, None)


def _is_same_origin(url: str | None, other: str) -> bool:
    return url is not None and _url_origin(url) == _url_origin(other)


def _url_origin(url: str) -> tuple[str, str | None, int]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


def _text_or_none(value: Json) -> str | None:
    return value if isinstance(value, str) and value else None


ProviderMaker = Callable[[Session, Config], Provider]


class ProviderUnavailable(Refused):
    """A session's provider cannot be made."""

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__("The model was not called.", why, remedy)


def provider_of(session: Session, config: Config) -> Provider:
    """Return the provider of a session, or raise ProviderUnavailable."""
    return make_provider(session, config, asyncio.sleep)


def background_provider_of(session: Session, config: Config) -> Provider:
    """Do as `provider_of` in the background process, whose environment is not that of a shell."""
    return make_provider(session, config, asyncio.sleep, in_background=True)


def make_provider(session: Session, config: Config, sleep: Sleep, *, in_background: bool = False) -> Provider:
    """Make a provider; see `provider_of`."""
    if session.provider not in config.providers and session.provider not in PROVIDER_KINDS:
        usable = ", ".join(usable_providers(config)) or "none"
        why = (
            f"There is no provider “{one_line(session.provider, 40)}” in the configuration (there: {usable})."
        )
        raise ProviderUnavailable(why, _UNKNOWN_PROVIDER_REMEDY)
    try:
        if plays_recording(session.provider, config):
            return RecordedProvider(_session_recording(session), sleep)
        chosen = session_endpoint_settings(session, session.provider)
        endpoint = endpoint_of(config, session.provider, chosen, in_background=in_background)
        return create_client(_with_persona_temperature(endpoint, session))
    except RecordingBroken as error:
        raise ProviderUnavailable(str(error), "Fix the recording and continue.") from None
    except EndpointUnavailable as error:
        raise ProviderUnavailable(error.why, error.remedy) from None


def provider_kind(name: str, config: Config) -> str:
    """Return the kind of a provider by its name; a name that is not set up is a kind itself."""
    provider = config.providers.get(name)
    return provider.kind if provider else name


def has_server(name: str, config: Config) -> bool:
    """Return whether a provider asks a server: its kind is known and plays no recording."""
    kind = PROVIDER_KINDS.get(provider_kind(name, config))
    return kind is not None and kind.has_server


def plays_recording(name: str, config: Config) -> bool:
    """Return whether a provider answers from a recording."""
    kind = PROVIDER_KINDS.get(provider_kind(name, config))
    return kind is not None and not kind.has_server


def server_provider(config: Config, name: str, chosen: JsonObject | None = None) -> Provider:
    """Return a client of a provider that has a server; see `endpoint_of`."""
    return create_client(endpoint_of(config, name, chosen))


def _with_persona_temperature(endpoint: Endpoint, session: Session) -> Endpoint:
    value = session.configuration.get("temperature")
    if not isinstance(value, int | float) or isinstance(value, bool):
        return endpoint
    return endpoint.with_sampling(temperature=float(value))


def _session_recording(session: Session) -> Recording:
    facts = session.configuration.get("recording")
    if not isinstance(facts, dict):
        why = f"the {RECORDED.name} provider has no recording to play; name one with --recording FILE"
        raise ProviderUnavailable(why, "Start a session with another provider.")
    named = cast("JsonObject", facts)
    recording = _cached_recording(str(named.get("path", "")))
    if recording.sha256 != named.get("sha256"):
        why = f"The recording {recording.path} is not the one that the session started with."
        raise ProviderUnavailable(why, "Put that one back, or start a new session.")
    return recording


def _cached_recording(path: str) -> Recording:
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return load_recording(path)
    return _load_file_version(path, status.st_mtime_ns, status.st_size, status.st_ino)


@functools.lru_cache(maxsize=16)
def _load_file_version(path: str, *_stamp: int) -> Recording:
    return load_recording(path)


def usable_providers(config: Config) -> tuple[str, ...]:
    """Return the names of the providers that can be asked in this version."""
    return tuple(name for name in config.providers if has_server(name, config))


def session_endpoint_settings(session: Session | None, name: str) -> JsonObject | None:
    """Return the address and key variable that a session started with, where it asks this provider."""
    if session is None or session.provider != name:
        return None
    settings = session.configuration.get("endpoint")
    return cast("JsonObject", settings) if isinstance(settings, dict) else None


def known_context_tokens(config: Config, name: str, server_tokens: int | None = None) -> int | None:
    """Return the context of a provider's model in tokens: its `num_ctx`, else what its server told.

    Some kinds of servers are asked for a usual size at most, which is also the answer where one told nothing.
    """
    if asked := _num_ctx(config, name):
        return asked
    kind = PROVIDER_KINDS.get(provider_kind(name, config))
    usual = kind.usual_context_tokens if kind else None
    return min(server_tokens, usual) if server_tokens and usual else server_tokens or usual


def _num_ctx(config: Config, name: str) -> int | None:
    """Return the `num_ctx` of a provider."""
    provider = config.providers.get(name)
    return provider.num_ctx if provider else None


async def told_context_tokens(make: ProviderMaker, config: Config, session: Session) -> int | None:
    """Return the tokens that a session's model may hold, as its server says; None where a setting says it."""
    if _num_ctx(config, session.provider):
        return None
    with contextlib.suppress(ProviderUnavailable):
        return await make(session, config).context_tokens(session.model, _CONTEXT_SECONDS)
    return None
