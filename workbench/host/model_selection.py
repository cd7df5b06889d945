"""Which provider and model a session asks: as the settings say, as a human says, or in place of an overload.

A model that nobody names is asked for only where a human begins a session: steps leave it to the server.
"""

# A session's model and what it asks about are events of the session (`session.changed`), not settings of a
# process: whoever drives it reads its row before the next question and the next call, and a replay shows
# from when on it was so. Another server never gets the key that was named for the one before.

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.config.keys import OPENAI_COMPATIBLE, PROVIDER_KINDS
from workbench.config.model_names import (
    default_model_of,
    default_provider_name,
    split_default_model,
    split_model_name,
)
from workbench.config.types import Config
from workbench.domain.events import SessionChanged
from workbench.domain.rows import Session
from workbench.domain.values import Actor, Json, Refused
from workbench.host.session_provider import (
    EndpointUnavailable,
    has_server,
    plays_recording,
    server_provider,
    session_endpoint_settings,
    usable_providers,
)
from workbench.host.session_requests import SessionRefused, require_changeable_session
from workbench.journal.journal import Journal
from workbench.providers.base import ModelsNotListed, Provider
from workbench.text.nearest import nearest_names
from workbench.text.safe import one_line

UNNAMED_PROVIDER: Final = OPENAI_COMPATIBLE.name
"""The provider of an address that is named without one."""


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
    note: str = ""
    """Why it is not known whether the provider has the model; empty where it was not asked."""


ModelLister = Callable[[Provider, float], tuple[str, ...]]


def list_model_names(provider: Provider, seconds: float) -> tuple[str, ...]:
    """Return the names of a provider's models; waits for them and may raise ModelsNotListed."""
    return tuple(model.id for model in asyncio.run(provider.list_models(seconds)))


def select_model(
    config: Config,
    preference: ModelPreference,
    listing: ModelLister = list_model_names,
    *,
    checks_model: bool = True,
) -> SelectedModel:
    """Return which model a new session asks, or raise NoModelSelected.

    With `checks_model`, a model that the preference names must be in its provider's list or the settings;
    a server that is named by its address is not asked for a list.
    """
    preference = _with_provider_of_model(config, preference)
    name = selected_provider(config, preference)
    if not has_server(name, config):
        raise _unusable_provider_error(name, config)
    chosen: dict[str, Json] = {}
    if preference.base_url:
        chosen["base_url"] = preference.base_url
    if preference.key_env:
        chosen["key_env"] = preference.key_env
    try:
        provider = server_provider(config, name, chosen)
    except EndpointUnavailable as error:
        raise NoModelSelected(error.why, error.remedy, is_misuse=True) from None
    configuration: dict[str, Json] = {"endpoint": chosen} if chosen else {}
    is_checked = checks_model and not preference.base_url
    if is_checked and preference.model and preference.model not in _models_of_settings(config, name):
        model, note = _listed_model(config, provider, preference.model, listing)
        return SelectedModel(provider=name, model=model, configuration=configuration, note=note)
    model = preference.model or configured_model(config, preference, name)
    model = model or _only_listed_model(config, provider, listing)
    return SelectedModel(provider=name, model=model, configuration=configuration)


def _with_provider_of_model(config: Config, preference: ModelPreference) -> ModelPreference:
    if preference.provider or preference.base_url or not preference.model:
        return preference
    provider, model = split_model_name(config, preference.model)
    return replace(preference, provider=provider, model=model) if provider else preference


def _models_of_settings(config: Config, name: str) -> tuple[str, ...]:
    """Return the models that the settings name for a provider, also the one of `ask`."""
    provider, model = split_model_name(config, config.ask.model or "")
    return (*_models_in_settings(config, name), *((model,) if provider in ("", name) else ()))


def _listed_model(config: Config, provider: Provider, model: str, listing: ModelLister) -> tuple[str, str]:
    """Return a model by the name in its provider's list, and why the list is not known."""
    try:
        names = listing(provider, min(_LIST_SECONDS, config.api_timeout_seconds))
    except ModelsNotListed as error:
        failure = error.failure.message
        return (
            model,
            f"{_label(model)} was not checked: {provider.name} does not list its models ({failure}).",
        )
    if listed := _name_in_list(provider.name, model, names):
        return listed, ""
    why, remedy = _unlisted_model_text(provider.name, model, names)
    raise NoModelSelected(
        why, f"{remedy} One that providers.{provider.name}.model names is not checked.", is_misuse=True
    )


def _label(model: str) -> str:
    return f"“{one_line(model, 60)}”"


def _name_in_list(provider: str, model: str, names: Collection[str]) -> str:
    """Return how a list names a model: whole, with its provider in front, or with Ollama's tag."""
    return next((name for name in (model, f"{provider}/{model}", f"{model}:latest") if name in names), "")


def _unlisted_model_text(provider: str, model: str, names: Sequence[str]) -> tuple[str, str]:
    why = f"The provider {provider} has no model {_label(model)}."
    if not names:
        return why, "Load one there first."
    ordered = tuple(dict.fromkeys((*nearest_names(model, names, _MAX_SUGGESTIONS, 0.4), *names)))
    rest = f" and {len(ordered) - _MAX_SHOWN_MODELS} more" if len(ordered) > _MAX_SHOWN_MODELS else ""
    return why, f"It has {', '.join(one_line(name, 60) for name in ordered[:_MAX_SHOWN_MODELS])}{rest}."


def is_provider_set_up(config: Config) -> bool:
    """Return whether the settings name a provider that a session can be started with."""
    try:
        return has_server(selected_provider(config, ModelPreference()), config)
    except NoModelSelected:
        return False


def selected_provider(config: Config, preference: ModelPreference) -> str:
    """Return the provider that is asked for, else the default or the only one; may raise NoModelSelected."""
    if preference.provider is not None and preference.provider.strip():
        return preference.provider
    if preference.base_url:
        return UNNAMED_PROVIDER
    if name := default_provider_name(config):
        return name
    usable = usable_providers(config)
    if usable:
        raise NoModelSelected(
            "Several providers are set up.", f"Name one with --provider: {', '.join(usable)}.", is_misuse=True
        )
    remedy = "Name an address with --base-url URL, or add a provider: workbench providers list."
    raise NoModelSelected("No provider is named.", remedy, is_misuse=True)


def _unusable_provider_error(name: str, config: Config) -> NoModelSelected:
    provider_text = one_line(name, 40)
    if plays_recording(name, config):
        why = f"The provider {provider_text} plays a recording."
        return NoModelSelected(why, "Name one with --recording FILE.", is_misuse=True)
    choices = ", ".join(dict.fromkeys((*usable_providers(config), *sorted(PROVIDER_KINDS))))
    why = f"There is no provider “{provider_text}”."
    return NoModelSelected(
        why, f"Name one of these: {choices}; or add it: workbench providers add.", is_misuse=True
    )


def configured_model(config: Config, preference: ModelPreference, name: str) -> str | None:
    """Return the model that the settings name for a provider; None where they name none."""
    provider = config.providers.get(name)
    own = provider.model if provider else None
    if preference.provider is None and not preference.base_url:
        return split_default_model(config)[1] or own
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
    rest = f" and {len(names) - _MAX_SHOWN_MODELS} more" if len(names) > _MAX_SHOWN_MODELS else ""
    listed = ", ".join(names[:_MAX_SHOWN_MODELS])
    raise NoModelSelected(
        f"{address} has several models.", f"Name one with --model: {listed}{rest}.", is_misuse=True
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
    name = text.strip()
    if not name or len(name) > MAX_MODEL_NAME or one_line(name, MAX_MODEL_NAME) != name or " " in name:
        why = f"“{one_line(name, 40)}” is not a name of a model."
        raise SessionRefused(_MODEL_UNCHANGED, why, "Write /model and one of those it lists.")
    providers = _providers_to_ask(config, session)
    if not providers:
        why = "No provider that can be asked is set up."
        raise SessionRefused(_MODEL_UNCHANGED, why, "workbench providers list shows what can be added.")
    head, model = split_model_name(config, name)
    return _checked_model(config, session, head or providers[0], model, listing)


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
        provider = server_provider(config, name, session_endpoint_settings(session, name))
        return listing(provider, min(_LIST_SECONDS, config.api_timeout_seconds))
    except ModelsNotListed as error:
        return f"{error.failure.message}."
    except EndpointUnavailable as error:
        return error.why


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
        default_model_of(config, name),
    )
    return tuple(model for model in named if model)


def is_default_provider(config: Config, name: str) -> bool:
    """Return whether new sessions ask a provider: the named default, else the only one there is."""
    return default_provider_name(config) == name


def _checked_model(
    config: Config, session: Session | None, name: str, model: str, listing: ModelLister
) -> AvailableModel:
    listed = _models_or_reason(config, session, name, listing)
    if isinstance(listed, str):
        return AvailableModel(provider=name, model=model, note=listed)
    names = tuple(_known_models(config, session, name, listed))
    if listed_name := _name_in_list(name, model, names):
        return AvailableModel(provider=name, model=listed_name)
    why, remedy = _unlisted_model_text(name, model, names)
    raise SessionRefused(_MODEL_UNCHANGED, why, remedy)


def model_of_step(config: Config, provider: str, model: str) -> tuple[str, str]:
    """Return whom a step of a pipeline asks, by what its persona names; empty texts are left to the settings.

    The provider is chosen as a session's is. No server is asked for its models: a model that nobody names
    stays empty, and servers with one model take that.
    """
    if not provider:
        provider, model = split_model_name(config, model)
    preference = ModelPreference(provider=provider or None)
    try:
        name = selected_provider(config, preference)
    except NoModelSelected:
        return "", model or config.default_model or ""
    takes_default = is_default_provider(config, name) or name not in config.providers
    model_name = model or configured_model(config, preference, name)
    return name, model_name or (split_default_model(config)[1] if takes_default else "")


def fallback_of(config: Config, name: str) -> SelectedModel | None:
    """Return whom a session may ask while a provider is overloaded; None where no setting names one."""
    provider = config.providers.get(name)
    other = provider.fallback if provider else None
    if other is None or not has_server(other, config):
        return None
    _, model = model_of_step(config, other, "")
    return SelectedModel(provider=other, model=model) if model else None
