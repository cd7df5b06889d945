"""How a session goes on: whom it asks, what it asks about, the moments a human marks.

Owns the checks of these wishes and their sentences. Each is an event of the session, made for a human;
whoever drives it reads its row before the next question to a model and before each call of a tool.
"""

import difflib
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field
from typing import Final, cast

from workbench.config.values import Config
from workbench.domain.events import MarkAdded, SessionChanged
from workbench.domain.machines import TERMINAL_SESSIONS
from workbench.domain.rows import Session
from workbench.domain.values import Actor, Json, JsonObject
from workbench.host import record
from workbench.host.choosing import Choice, Listing, listed, usable
from workbench.host.endpoints import KIND, NoEndpoint, endpoint_of
from workbench.host.models import kind_of
from workbench.host.sessions import SessionRefused
from workbench.journal.importing import is_imported
from workbench.journal.journal import Journal
from workbench.providers.model_list import NotListed
from workbench.records import dataclass
from workbench.text.safe import one_line

MODES: Final[Mapping[str, str]] = {
    "every": "asks before every tool",
    "reads": "asks before all but reads",
    "settings": "as the settings and the answer to the trust question say",
}
LONGEST_MARK: Final = 120
"""Characters of a mark's name."""
LONGEST_NAME: Final = 200
"""Characters of a model's name."""
_PATIENCE: Final = 5.0
"""Seconds that a server gets to list its models; somebody waits for it."""
_NEAR: Final = 5
_AT_ONCE: Final = 8
_AS_IT_WAS: Final = "The model is as it was."


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """A model that a session may ask."""

    provider: str
    model: str
    note: str = ""
    """Why nobody knows whether its server has it; empty where it says so itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Whom a session may ask, and which servers could not say what they have."""

    models: tuple[Offered, ...]
    silent: Mapping[str, str] = field(default_factory=dict[str, str])
    """Provider, and why it did not list its models."""


def offer(config: Config, session: Session | None, listing: Listing = listed) -> Offer:
    """Return the models that a session may ask; waits for the servers, which are asked beside one another.

    Args:
        config: The settings as trust allows them.
        session: Whose provider comes first; None for a session to be begun.
        listing: Asks a server what it has.
    """
    names = _providers(config, session)

    def ask(name: str) -> tuple[str, ...] | str:
        return _asked(config, session, name, listing)

    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        found = dict(zip(names, pool.map(ask, names), strict=True))
    models = [
        Offered(provider=name, model=model, note="" if isinstance(said, tuple) else said)
        for name, said in found.items()
        for model in _of_one(config, session, name, said)
    ]
    silent = {name: said for name, said in found.items() if isinstance(said, str)}
    return Offer(models=tuple(models), silent=silent)


def choose_model(config: Config, session: Session | None, text: str, listing: Listing = listed) -> Offered:
    """Return the model that a human means by `MODEL` or `PROVIDER/MODEL`.

    Raises:
        SessionRefused: No server that may be asked has it; says what there is.
    """
    wanted = text.strip()
    if not wanted or len(wanted) > LONGEST_NAME or one_line(wanted, LONGEST_NAME) != wanted or " " in wanted:
        why = f"“{one_line(wanted, 40)}” is no name of a model."
        raise SessionRefused(_AS_IT_WAS, why, "Write /model and one of those it lists.")
    providers = _providers(config, session)
    if not providers:
        why = "No provider that can be asked is set up."
        raise SessionRefused(_AS_IT_WAS, why, "Set one up in config.json (README, Models).")
    head, _, rest = wanted.partition("/")
    if rest and head in providers:
        return _checked(config, session, head, rest, listing)
    return _checked(config, session, providers[0], wanted, listing)


def set_model(
    journal: Journal, config: Config, session: Session, text: str, actor: Actor, listing: Listing = listed
) -> str:
    """Let a session ask another model from its next call of one on; return what to say.

    Raises:
        SessionRefused: It cannot, or there is no such model.
    """
    _refuse(journal, session, _AS_IT_WAS)
    if kind_of(session.provider, config) == "recorded":
        why = "This session plays a recording: it asks no model."
        raise SessionRefused(_AS_IT_WAS, why, "ctrl+n begins a session with a real one.")
    chosen = choose_model(config, session, text, listing)
    if (chosen.provider, chosen.model) == (session.provider, session.model):
        return f"It asks {chosen.model} already."
    endpoint = None if chosen.provider == session.provider else {"endpoint": None}
    body = SessionChanged(
        provider=chosen.provider, model=chosen.model, configuration=endpoint,
    )  # fmt: skip
    journal.append([journal.event(body, session.id, actor)])
    return said_of(chosen, "From its next question on it asks")


def said_of(chosen: Offered, begins: str) -> str:
    """Return the sentence about a model that was chosen."""
    unsure = f" Whether it is there is not known: {chosen.note}" if chosen.note else ""
    return f"{begins} {chosen.model} ({chosen.provider}).{unsure}"


def choice_of(chosen: Offered) -> Choice:
    """Return a chosen model as a session begins with it."""
    return Choice(provider=chosen.provider, model=chosen.model)


def mode_named(word: str) -> str:
    """Return the mode that a human means.

    Raises:
        SessionRefused: There is no such mode; names them.
    """
    name = word.strip().casefold()
    if name in MODES:
        return name
    known = ", ".join(MODES)
    why = f"There is no mode “{one_line(name, 40)}”." if name else "No mode is named."
    raise SessionRefused("The mode is as it was.", why, f"Write /mode and one of: {known}.")


def mode_member(name: str) -> dict[str, Json]:
    """Return what a mode is in a session's configuration."""
    return {"reads": None if name == "settings" else name}


def set_mode(journal: Journal, session: Session, word: str, actor: Actor) -> str:
    """Change what a session asks about, from its next call of a tool on; return what to say.

    Raises:
        SessionRefused: There is no such mode, or the session takes none.
    """
    name = mode_named(word)
    _refuse(journal, session, "The mode is as it was.")
    body = SessionChanged(configuration=mode_member(name))
    journal.append([journal.event(body, session.id, actor)])
    return f"This session: {MODES[name]}. What waits already still waits."


def mark(journal: Journal, session: Session, label: str, actor: Actor) -> str:
    """Mark this moment of a session; return what to say.

    Raises:
        SessionRefused: The session has ended, or came from a file.
    """
    _refuse(journal, session, "Nothing was marked.")
    line = one_line(record.scrubbed_line(label.strip(), LONGEST_MARK), LONGEST_MARK)
    journal.append([journal.event(MarkAdded(label=line), session.id, actor)])
    return f"Marked: {line}. In its replay m goes there." if line else "Marked. In its replay m goes there."


def _refuse(journal: Journal, session: Session, what: str) -> None:
    if session.status in TERMINAL_SESSIONS:
        raise SessionRefused(what, f"The session is {session.status}.", "ctrl+n begins another.")
    if session.kind != "chat":
        raise SessionRefused(what, "It is a step of a pipeline, which says how it works.", "Change it there.")
    if is_imported(journal, session.id):
        raise SessionRefused(what, "It came from a file; nobody works in it.", "F begins one from its end.")


def _providers(config: Config, session: Session | None) -> tuple[str, ...]:
    """Return the providers that can be asked, the session's own or the settings' first."""
    first = session.provider if session is not None else config.default_provider
    names = dict.fromkeys((*((first,) if first else ()), *usable(config)))
    return tuple(name for name in names if kind_of(name, config) == KIND)


def _asked(config: Config, session: Session | None, name: str, listing: Listing) -> tuple[str, ...] | str:
    """Return what a provider has, or why nobody knows."""
    try:
        endpoint = endpoint_of(config, name, _named(session, name))
        return listing(endpoint, min(_PATIENCE, config.api_timeout_seconds))
    except NotListed as error:
        return f"{error.failure.message}."
    except NoEndpoint as error:
        return error.why


def _named(session: Session | None, name: str) -> JsonObject | None:
    found = (
        session.configuration.get("endpoint") if session is not None and session.provider == name else None
    )
    return cast("JsonObject", found) if isinstance(found, dict) else None


def _of_one(config: Config, session: Session | None, name: str, said: tuple[str, ...] | str) -> Iterable[str]:
    """Return what a provider has, and what settings and session name for it."""
    own = _set(config, name)
    current = (session.model,) if session is not None and session.provider == name else ()
    return dict.fromkeys((*current, *own, *(said if isinstance(said, tuple) else ())))


def _set(config: Config, name: str) -> tuple[str, ...]:
    provider = config.providers.get(name)
    named = (
        provider.model if provider else None,
        config.default_model if _is_default(config, name) else None,
    )
    return tuple(one for one in named if one)


def _is_default(config: Config, name: str) -> bool:
    return config.default_provider == name or (not config.default_provider and usable(config) == (name,))


def _checked(config: Config, session: Session | None, name: str, model: str, listing: Listing) -> Offered:
    said = _asked(config, session, name, listing)
    if isinstance(said, str):
        return Offered(provider=name, model=model, note=said)
    known = tuple(_of_one(config, session, name, said))
    if model in known:
        return Offered(provider=name, model=model)
    why = f"{name} has no model “{one_line(model, 60)}”."
    near = difflib.get_close_matches(model, known, _NEAR, 0.4) or known[:_NEAR]
    remedy = f"It has {', '.join(near)}." if near else "Load one there first."
    more = len(known) - len(near)
    rest = f" {more} more: /model lists them." if near and more else ""
    raise SessionRefused(_AS_IT_WAS, why, remedy + rest)
