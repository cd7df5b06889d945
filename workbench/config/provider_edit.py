"""Changes of the providers in the text of a config.json: text in, text out.

What is not changed stays byte for byte: order, indentation, line ends, unknown keys.
"""

import json
import re
from collections.abc import Mapping
from typing import Final, cast

from msgspec import Struct
from msgspec.structs import asdict

from workbench.config.keys import (
    CONFIG_VERSION,
    PROVIDER_KINDS,
    PROVIDER_NAME_PATTERN,
    InvalidValue,
    convert_node,
)
from workbench.config.layer_reader import LayerValue
from workbench.config.layers import USER_CONFIG_FILE, build_provider
from workbench.config.types import PROVIDER_KEYS_BY_PATH, Origin, ProviderSettings
from workbench.domain.values import Json, JsonObject, Refused
from workbench.text.json_edit import remove_member, set_member
from workbench.text.json_nodes import JsonError, node_of_value, parse_json_nodes
from workbench.text.problems import Problem
from workbench.text.safe import one_line

NOT_CHANGED: Final = f"{USER_CONFIG_FILE} was not changed."
_KEY_FIELDS: Final = ("key_env", "key_command")
_NEW_FILE: Final = json.dumps({"config_version": CONFIG_VERSION}, indent=2) + "\n"
_SHORTEST_KEY: Final = 16
_WORDS_OF_A_NAME: Final = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")


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

    @property
    def members(self) -> dict[str, str]:
        """Return what is written, in the order in which it is."""
        return {field: value for field, value in asdict(self).items() if field != "name" and value}


def require_valid_draft(draft: ProviderDraft, env: Mapping[str, str]) -> None:
    """Check a draft as config.json would be checked. Raises ProviderRefused: says which field, and why.

    A `key_env` that looks like a key is refused without being repeated; `env` holds the set variables.
    """
    if not re.fullmatch(PROVIDER_NAME_PATTERN, draft.name):
        why = f"“{one_line(draft.name, 40)}” is not a name for a provider."
        raise ProviderRefused(NOT_CHANGED, why, "Use letters, digits, _ and -.")
    _refuse_keys(draft, env)
    for field, value in draft.members.items():
        try:
            convert_node(node_of_value(value), PROVIDER_KEYS_BY_PATH[field].kind)
        except InvalidValue as unfit:
            raise ProviderRefused(NOT_CHANGED, f"{field} must be {unfit.expected}.", unfit.remedy) from None
    settings_of(draft, "")


def settings_of(draft: ProviderDraft, file: str) -> ProviderSettings:
    """Return a draft as settings of the user's own file. Raises ProviderRefused: they do not go together."""
    origin = Origin(layer="user", file=file)
    fields = {name: LayerValue(value=value, origin=origin) for name, value in draft.members.items()}
    built = build_provider(draft.name, fields)
    if isinstance(built, Problem):
        raise ProviderRefused(NOT_CHANGED, built.message, built.remedy)
    return built


def _refuse_keys(draft: ProviderDraft, env: Mapping[str, str]) -> None:
    if draft.key_env and draft.key_env not in env and looks_like_key(draft.key_env):
        why = "That looks like a key, and keys are never written into files."
        remedy = "Give the NAME of a variable, such as OPENAI_API_KEY."
        raise ProviderRefused(NOT_CHANGED, why, remedy)
    if draft.key_command and _has_known_secret(draft.key_command):
        why = "The command holds a key itself."
        raise ProviderRefused(
            NOT_CHANGED, why, "Give a command that looks the key up, such as 'pass show models'."
        )


def looks_like_key(text: str) -> bool:
    """Return whether a text is more likely an API key than the name of a variable."""
    if _WORDS_OF_A_NAME.fullmatch(text):
        return False
    is_long_mixture = len(text) >= _SHORTEST_KEY and bool(
        re.search(r"\d", text) and re.search("[a-zA-Z]", text)
    )
    return is_long_mixture or text.startswith("sk-") or _has_known_secret(text)


def _has_known_secret(text: str) -> bool:
    from workbench.secrets.scrubber import scrub

    return bool(scrub(text).found)


def with_provider(text: str, draft: ProviderDraft) -> str:
    """Add a provider, or change one that is there into what the draft says.

    Members of one that is there which a draft does not have (`prices`, `num_ctx`) stay. With another
    address its `headers` go, because they were meant for the old one. An empty text becomes a new file.
    Raises ProviderRefused: the text is not JSON.
    """
    text = text if text.strip() else _NEW_FILE
    present = provider_members(text).get(draft.name)
    if not isinstance(present, dict):
        return _edited(text, ("providers", draft.name), draft.members)
    present, members = cast("JsonObject", present), draft.members
    dropped = [field for field in ("kind", "base_url", "model", *_KEY_FIELDS) if field not in members]
    if _address(present, draft.name) != _address(members, draft.name):
        dropped.append("headers")
    for field in dropped:
        if field in present:
            text = remove_member(text, ("providers", draft.name, field))
    for field, value in members.items():
        text = _edited(text, ("providers", draft.name, field), value)
    return text


def _address(members: Mapping[str, Json], name: str) -> Json:
    """Return the address of a provider as it is written, else the usual one of its kind."""
    kind = PROVIDER_KINDS.get(str(members.get("kind") or name))
    return members.get("base_url") or (kind.default_base_url if kind else None)


def without_provider(text: str, name: str) -> str:
    """Remove a provider, and `default_provider` where it names it (with its `default_model`).

    Raises ProviderRefused: it is not there, or the text is not JSON.
    """
    if name not in provider_members(text):
        why = f"It has no provider “{one_line(name, 40)}”."
        raise ProviderRefused(NOT_CHANGED, why, "workbench providers list shows where each one is set.")
    return without_default(remove_member(text, ("providers", name)), name)


def without_default(text: str, name: str) -> str:
    """Let new sessions ask no provider by default where it was this one. Raises ProviderRefused."""
    if not is_default_in(text, name):
        return text
    root = _members(text)
    for key in ("default_provider", "default_model"):
        text = remove_member(text, (key,)) if key in root else text
    return text


def with_default(text: str, provider: str, model: str | None = None) -> str:
    """Make a provider, and where named a model, what new sessions ask.

    `default_model` is set where it is there already and removed where no model is named, since it would
    go to the wrong provider; otherwise the model is written into the provider. Raises ProviderRefused.
    """
    text = text if text.strip() else _NEW_FILE
    if "default_model" in _members(text):
        text = _edited(text, ("default_model",), model) if model else remove_member(text, ("default_model",))
    elif model:
        is_there = provider in provider_members(text)
        text = _edited(text, ("providers", provider, "model") if is_there else ("default_model",), model)
    return _edited(text, ("default_provider",), provider)


def is_default_in(text: str, name: str) -> bool:
    """Return whether a config.json names a provider as the default. Raises ProviderRefused."""
    return _members(text).get("default_provider") == name


def provider_members(text: str) -> Mapping[str, Json]:
    """Return the providers of a config.json by name, as they are written. Raises ProviderRefused."""
    providers = _members(text).get("providers")
    return cast("Mapping[str, Json]", providers) if isinstance(providers, Mapping) else {}


def _members(text: str) -> Mapping[str, Json]:
    if not text.strip():
        return {}
    try:
        root = parse_json_nodes(text)
        if root.members is None:
            raise JsonError("the document is not an object", root.line, root.column)
    except JsonError as error:
        raise _unreadable(error) from None
    return cast("Mapping[str, Json]", root.value)


def _edited(text: str, path: tuple[str, ...], value: Json) -> str:
    try:
        return set_member(text, path, value)
    except JsonError as error:
        raise _unreadable(error) from None


def _unreadable(error: JsonError) -> ProviderRefused:
    why = f"Line {error.line}, column {error.column}: {error.reason}."
    return ProviderRefused(NOT_CHANGED, why, "Fix the file, then do this again.")
