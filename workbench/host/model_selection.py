"""Which provider and model a session asks, and the endpoint, key and limits that it asks with.

A key goes only to the address it was set for, is registered with the scrubber first, and is never stored.
"""

# A key goes to one place. It is sent to the address that the user's own configuration names beside it.
# `--base-url` takes a provider's settings along, but its key and headers only to the same scheme, host and
# port. An address that only a workspace names must be this machine's, or a host that the user's
# configuration names too.
#
# A session's model and what it asks about are events of the session (`session.changed`), not settings of a
# process: whoever drives it reads its row before the next question and the next call, and a replay shows
# from when on it was so. Another server never gets the key that was named for the one before. What a human
# let pass with `/mode reads` holds for that session only and is not taken over by a fork; `every` is.

import asyncio
import difflib
import functools
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, cast
from urllib.parse import urlsplit

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.config.keys import OPENAI_COMPATIBLE, PROVIDER_KINDS
from workbench.config.types import Config, ProviderSettings
from workbench.domain.events import SessionChanged
from workbench.domain.rows import Session
from workbench.domain.values import Actor, Json, JsonObject, Refused
from workbench.effects.http import is_loopback
from workbench.host.provider_keys import (
    KeyEnvironment,
    forget_command_key,
    key_from_command,
    key_from_environment,
)
from workbench.host.session_requests import SessionRefused, require_changeable_session
from workbench.journal.journal import Journal
from workbench.providers.base import (
    DEFAULT_FIRST_TOKEN_SECONDS,
    DEFAULT_SILENCE_SECONDS,
    Endpoint,
    KeySource,
    ModelsNotListed,
    Provider,
    Sampling,
)
from workbench.providers.recording import Recording, RecordingBroken, load_recording
from workbench.providers.registry import (
    ProviderError,
    ProviderSource,
    Sleep,
    create_provider,
    provider_kinds,
)
from workbench.text.safe import one_line

UNNAMED_PROVIDER: Final = OPENAI_COMPATIBLE.name
"""The provider of an address that is named without one."""
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
    """Return the endpoint of a provider; `chosen` is what a session was begun with (`base_url`, `key_env`).

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
    chosen = _session_endpoint_settings(session, session.provider) or {}
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
    config: Config,
    provider: ProviderSettings | None,
    base_url: str,
    key_env: str | None,
    env: KeyEnvironment,
) -> KeySource:
    """Return how the key is got, and from where in words; a key only goes where it was meant to go."""
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


def provider_maker_with_sleep(sleep: Sleep) -> ProviderMaker:
    """Return `provider_of` with another way to wait."""
    return lambda session, config: make_provider(session, config, sleep)


def make_provider(session: Session, config: Config, sleep: Sleep, *, in_background: bool = False) -> Provider:
    """Make a provider; see `provider_of`."""
    if session.provider not in config.providers and session.provider not in PROVIDER_KINDS:
        known = ", ".join(usable_providers(config)) or "none"
        why = (
            f"There is no provider “{one_line(session.provider, 40)}” in the configuration (there: {known})."
        )
        raise ProviderUnavailable(why, _UNKNOWN_PROVIDER_REMEDY)
    try:
        source = replace(_provider_source(session, config, in_background=in_background), sleep=sleep)
        return create_provider(provider_kind(session.provider, config), source)
    except RecordingBroken as error:
        raise ProviderUnavailable(str(error), "Fix the recording and continue.") from None
    except EndpointUnavailable as error:
        raise ProviderUnavailable(error.why, error.remedy) from None
    except ProviderError as error:
        raise ProviderUnavailable(str(error), "Start a session with another provider.") from None


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
    source = ProviderSource(endpoint=endpoint_of(config, name, chosen))
    return create_provider(provider_kind(name, config), source)


def _provider_source(session: Session, config: Config, *, in_background: bool) -> ProviderSource:
    if plays_recording(session.provider, config):
        return ProviderSource(recording=_session_recording(session))
    if not has_server(session.provider, config):
        return ProviderSource()
    chosen = _session_endpoint_settings(session, session.provider)
    endpoint = endpoint_of(config, session.provider, chosen, in_background=in_background)
    return ProviderSource(endpoint=_with_persona_temperature(endpoint, session))


def _with_persona_temperature(endpoint: Endpoint, session: Session) -> Endpoint:
    value = session.configuration.get("temperature")
    if not isinstance(value, int | float) or isinstance(value, bool):
        return endpoint
    return endpoint.with_sampling(temperature=float(value))


def _session_recording(session: Session) -> Recording | None:
    facts = session.configuration.get("recording")
    if not isinstance(facts, dict):
        return None
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


_MAX_SHOWN_MODELS: Final = 12


class NoModelSelected(Refused):
    """No model was chosen; `is_misuse`: what was asked for cannot be meant."""

    def __init__(self, why: str, remedy: str, *, is_misuse: bool = False) -> None:
        super().__init__("No session was started.", why, remedy)
        self.is_misuse = is_misuse


class ModelPreference(Struct, frozen=True, kw_only=True):
    """What a human asked for; None leaves it to the settings."""

    provider: str | None = None
    model: str | None = None
    base_url: str | None = None
    key_env: str | None = None


class SelectedModel(Struct, frozen=True, kw_only=True):
    """Whom a session will ask."""

    provider: str
    model: str
    configuration: dict[str, Json] = field(default_factory=dict[str, Json])


ModelLister = Callable[[Provider, float], tuple[str, ...]]


def list_model_names(provider: Provider, seconds: float) -> tuple[str, ...]:
    """Return the names of a provider's models; waits for them and may raise ModelsNotListed."""
    return tuple(model.id for model in asyncio.run(provider.list_models(seconds)))


def select_model(
    config: Config, wish: ModelPreference, listing: ModelLister = list_model_names
) -> SelectedModel:
    """Return which model a new session asks, or raise NoModelSelected."""
    name = selected_provider(config, wish)
    if not has_server(name, config):
        raise _unusable_provider_error(name, config)
    chosen: dict[str, Json] = {}
    if wish.base_url:
        chosen["base_url"] = wish.base_url
    if wish.key_env:
        chosen["key_env"] = wish.key_env
    try:
        provider = server_provider(config, name, chosen)
    except EndpointUnavailable as error:
        raise NoModelSelected(error.why, error.remedy, is_misuse=True) from None
    model = (
        wish.model or configured_model(config, wish, name) or _only_listed_model(config, provider, listing)
    )
    return SelectedModel(provider=name, model=model, configuration={"endpoint": chosen} if chosen else {})


def is_provider_set_up(config: Config) -> bool:
    """Return whether the settings name a provider that a session can be begun with."""
    try:
        return has_server(selected_provider(config, ModelPreference()), config)
    except NoModelSelected:
        return False


def usable_providers(config: Config) -> tuple[str, ...]:
    """Return the names of the providers that can be asked in this version."""
    return tuple(name for name in config.providers if has_server(name, config))


def selected_provider(config: Config, wish: ModelPreference) -> str:
    """Return the provider that is asked for, else the default or the only one; may raise NoModelSelected."""
    if wish.provider is not None and wish.provider.strip():
        return wish.provider
    if wish.base_url:
        return UNNAMED_PROVIDER
    if config.default_provider:
        return config.default_provider
    usable = usable_providers(config)
    if len(usable) == 1:
        return usable[0]
    if usable:
        raise NoModelSelected(
            "Several providers are set up.", f"Name one with --provider: {', '.join(usable)}.", is_misuse=True
        )
    remedy = "Name an address with --base-url URL, or add a provider: workbench providers list."
    raise NoModelSelected("No provider is named.", remedy, is_misuse=True)


def _unusable_provider_error(name: str, config: Config) -> NoModelSelected:
    shown = one_line(name, 40)
    if plays_recording(name, config):
        why = f"The provider {shown} plays a recording."
        return NoModelSelected(why, "Name one with --recording FILE.", is_misuse=True)
    known = ", ".join(dict.fromkeys((*usable_providers(config), *provider_kinds())))
    why = f"There is no provider “{shown}”."
    return NoModelSelected(
        why, f"Name one of these: {known}; or add it: workbench providers add.", is_misuse=True
    )


def configured_model(config: Config, wish: ModelPreference, name: str) -> str | None:
    """Return the model that the settings name for a provider; None where they name none."""
    provider = config.providers.get(name)
    own = provider.model if provider else None
    if wish.provider is None and not wish.base_url:
        return config.default_model or own
    return own


def _only_listed_model(config: Config, provider: Provider, listing: ModelLister) -> str:
    """Return the one model that a server offers, or raise NoModelSelected."""
    try:
        names = listing(provider, config.api_timeout_seconds)
    except ModelsNotListed as error:
        failure = error.failure
        why = f"No model is named, and its server cannot be asked: {failure.message}."
        raise NoModelSelected(why, failure.remedy or "Name one with --model.") from None
    if len(names) == 1:
        return names[0]
    address = provider.endpoint.base_url if provider.endpoint else provider.name
    if not names:
        raise NoModelSelected(f"{address} offers no model.", "Load one there, or name one with --model.")
    more = f" and {len(names) - _MAX_SHOWN_MODELS} more" if len(names) > _MAX_SHOWN_MODELS else ""
    shown = ", ".join(names[:_MAX_SHOWN_MODELS])
    raise NoModelSelected(
        f"{address} has several models.", f"Name one with --model: {shown}{more}.", is_misuse=True
    )


MAX_MODEL_NAME: Final = 200
"""Characters of a model's name."""
_LIST_SECONDS: Final = 5.0
"""Seconds that a server gets to list its models; somebody waits for it."""
_MAX_SUGGESTIONS: Final = 5
_PARALLEL_LISTINGS: Final = 8
_MODEL_UNCHANGED: Final = "The model was not changed."


class AvailableModel(Struct, frozen=True, kw_only=True):
    """A model that a session may ask."""

    provider: str
    model: str
    note: str = ""
    """Why nobody knows whether its server has it; empty where it says so itself."""


class AvailableModels(Struct, frozen=True, kw_only=True):
    """Whom a session may ask, and which servers could not say what they have."""

    models: tuple[AvailableModel, ...]
    silent: Mapping[str, str] = field(default_factory=dict[str, str])
    """Provider, and why it did not list its models."""


def available_models(
    config: Config, session: Session | None, listing: ModelLister = list_model_names
) -> AvailableModels:
    """Return the models that a session may ask, its own provider's first; waits for the servers."""
    names = _providers_to_ask(config, session)

    def ask(name: str) -> tuple[str, ...] | str:
        return _models_or_reason(config, session, name, listing)

    with ThreadPoolExecutor(max_workers=_PARALLEL_LISTINGS) as pool:
        listings = dict(zip(names, pool.map(ask, names), strict=True))
    models = [
        AvailableModel(
            provider=name, model=model, note="" if isinstance(listing_result, tuple) else listing_result
        )
        for name, listing_result in listings.items()
        for model in _known_models(config, session, name, listing_result)
    ]
    silent = {
        name: listing_result for name, listing_result in listings.items() if isinstance(listing_result, str)
    }
    return AvailableModels(models=tuple(models), silent=silent)


def model_named(
    config: Config, session: Session | None, text: str, listing: ModelLister = list_model_names
) -> AvailableModel:
    """Return the model meant by `MODEL` or `PROVIDER/MODEL`, or raise SessionRefused."""
    wanted = text.strip()
    if (
        not wanted
        or len(wanted) > MAX_MODEL_NAME
        or one_line(wanted, MAX_MODEL_NAME) != wanted
        or " " in wanted
    ):
        why = f"“{one_line(wanted, 40)}” is not a name of a model."
        raise SessionRefused(_MODEL_UNCHANGED, why, "Write /model and one of those it lists.")
    providers = _providers_to_ask(config, session)
    if not providers:
        why = "No provider that can be asked is set up."
        raise SessionRefused(_MODEL_UNCHANGED, why, "workbench providers list shows what can be added.")
    head, _, rest = wanted.partition("/")
    if rest and head in providers:
        return _checked_model(config, session, head, rest, listing)
    return _checked_model(config, session, providers[0], wanted, listing)


def change_model(
    journal: Journal,
    config: Config,
    session: Session,
    text: str,
    actor: Actor,
    listing: ModelLister = list_model_names,
) -> str:
    """Let a session ask another model from its next call on; return what to say, or raise SessionRefused."""
    require_changeable_session(journal, session, _MODEL_UNCHANGED)
    if plays_recording(session.provider, config):
        why = "This session plays a recording: it asks no model."
        raise SessionRefused(_MODEL_UNCHANGED, why, "ctrl+n starts a session with a real one.")
    chosen = model_named(config, session, text, listing)
    if (chosen.provider, chosen.model) == (session.provider, session.model):
        return f"It asks {chosen.model} already."
    endpoint = None if chosen.provider == session.provider else {"endpoint": None}
    body = SessionChanged(
        provider=chosen.provider, model=chosen.model, configuration=endpoint,
    )  # fmt: skip
    journal.append([journal.event(body, session.id, actor)])
    return model_change_sentence(chosen, "From its next question on it asks")


def model_change_sentence(chosen: AvailableModel, begins: str) -> str:
    """Return the sentence about a model that was chosen."""
    unsure = f" Whether it is there is not known: {chosen.note}" if chosen.note else ""
    return f"{begins} {chosen.model} ({chosen.provider}).{unsure}"


def selected_model_of(chosen: AvailableModel) -> SelectedModel:
    """Return a chosen model as a session begins with it."""
    return SelectedModel(provider=chosen.provider, model=chosen.model)


def _providers_to_ask(config: Config, session: Session | None) -> tuple[str, ...]:
    first = session.provider if session is not None else config.default_provider
    names = dict.fromkeys((*((first,) if first else ()), *usable_providers(config)))
    return tuple(name for name in names if has_server(name, config))


def _models_or_reason(
    config: Config, session: Session | None, name: str, listing: ModelLister
) -> tuple[str, ...] | str:
    try:
        provider = server_provider(config, name, _session_endpoint_settings(session, name))
        return listing(provider, min(_LIST_SECONDS, config.api_timeout_seconds))
    except ModelsNotListed as error:
        return f"{error.failure.message}."
    except EndpointUnavailable as error:
        return error.why


def _session_endpoint_settings(session: Session | None, name: str) -> JsonObject | None:
    endpoint_settings = (
        session.configuration.get("endpoint") if session is not None and session.provider == name else None
    )
    return cast("JsonObject", endpoint_settings) if isinstance(endpoint_settings, dict) else None


def _known_models(
    config: Config, session: Session | None, name: str, listed: tuple[str, ...] | str
) -> Iterable[str]:
    own = _models_in_settings(config, name)
    current = (session.model,) if session is not None and session.provider == name else ()
    return dict.fromkeys((*current, *own, *(listed if isinstance(listed, tuple) else ())))


def _models_in_settings(config: Config, name: str) -> tuple[str, ...]:
    provider = config.providers.get(name)
    named = (
        provider.model if provider else None,
        config.default_model if is_default_provider(config, name) else None,
    )
    return tuple(model for model in named if model)


def is_default_provider(config: Config, name: str) -> bool:
    """Return whether new sessions ask a provider: the named default, else the only one there is."""
    return config.default_provider == name or (
        not config.default_provider and usable_providers(config) == (name,)
    )


def _checked_model(
    config: Config, session: Session | None, name: str, model: str, listing: ModelLister
) -> AvailableModel:
    listed = _models_or_reason(config, session, name, listing)
    if isinstance(listed, str):
        return AvailableModel(provider=name, model=model, note=listed)
    known = tuple(_known_models(config, session, name, listed))
    if model in known:
        return AvailableModel(provider=name, model=model)
    why = f"{name} has no model “{one_line(model, 60)}”."
    near = difflib.get_close_matches(model, known, _MAX_SUGGESTIONS, 0.4) or known[:_MAX_SUGGESTIONS]
    remedy = f"It has {', '.join(near)}." if near else "Load one there first."
    more = len(known) - len(near)
    rest = f" {more} more: /model lists them." if near and more else ""
    raise SessionRefused(_MODEL_UNCHANGED, why, remedy + rest)
