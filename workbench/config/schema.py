"""The configuration's form as JSON Schema (draft 2020-12), made from the key table for editors and programs.

Owns the outward form of every kind. It must never say more or less than the check of that kind, but where
JSON Schema has no words for it (hidden characters, a host that cannot be one).
"""

from collections.abc import Mapping
from typing import Final, cast

from workbench.config.keys import ALIASES, CONFIG_VERSION, KEYS, PROVIDER_KEYS, Key
from workbench.config.kinds import Choice, Flag, Kind, ListOf, Number, Record, Text, TextMap, Time, Url, Whole

Schema = dict[str, object]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
NAMES: Final = "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"
"""What a provider may be called."""

_OLD_VERSION: Final = "^[01]([.][0-9]{1,4}){0,2}$"


def schema() -> Schema:
    """Return the schema of `config.json` and `.workbench.json`."""
    properties: dict[str, object] = {}
    for key in KEYS:
        *sections, name = key.path.split(".")
        place = properties
        for section in sections:
            inner = cast("Schema", place.setdefault(section, _object({})))
            place = cast("dict[str, object]", inner["properties"])
        place[name] = _of_key(key)
    properties["config_version"] = {
        "description": "Version of this form.",
        "anyOf": [{"const": CONFIG_VERSION}, {"type": "string", "pattern": _OLD_VERSION}],
    }
    properties["providers"] = {**_object({}), "patternProperties": {NAMES: _provider()}}
    for alias, path in ALIASES.items():
        properties[alias] = {**_of(Url()), "deprecated": True, "description": f"Older name of {path}."}
    return {"$schema": DIALECT, "title": "workbench configuration", **_object(properties)}


def _provider() -> Schema:
    return _object({key.path: _of_key(key) for key in PROVIDER_KEYS})


def _object(properties: Mapping[str, object]) -> Schema:
    return {"type": "object", "properties": dict(properties), "additionalProperties": False}


def _of_key(key: Key) -> Schema:
    found: Schema = {"description": key.meaning, **_of(key.kind)}
    if key.default is None:
        return {"description": found.pop("description"), "anyOf": [found, {"type": "null"}]}
    default = list[object]() if key.default == () else key.default
    return {**found, "default": default}


def _of(kind: Kind) -> Schema:  # noqa: C901 -- one flat table of kinds
    match kind:
        case Whole(low=low, high=high):
            return {"type": "integer", "minimum": low, "maximum": high}
        case Number(low=low, high=high, includes_low=includes_low):
            bound = "minimum" if includes_low else "exclusiveMinimum"
            return {"type": "number", bound: low, "maximum": high}
        case Flag():
            return {"type": "boolean"}
        case Choice(options=options):
            return {"enum": list(options)}
        case Text():
            return _of_text(kind)
        case Url():
            return {"type": "string", "format": "uri", "pattern": "^https?://[^@?#\\s]+$"}
        case Time():
            return {"type": "string", "format": "date-time"}
        case ListOf(item=item):
            return {"type": "array", "items": _of(item)}
        case Record():
            return _of_record(kind)
        case TextMap(key=key, value=value):
            return {"type": "object", "propertyNames": _of(key), "additionalProperties": _of(value)}
        case _:
            return {}


def _of_text(kind: Text) -> Schema:
    pattern = "\\S" if kind.form == ".*" else f"^(?:{kind.form})$"
    return {"type": "string", "maxLength": kind.limit, "pattern": pattern}


def _of_record(kind: Record) -> Schema:
    members = {name: _member(_of(one.kind), one.is_required) for name, one in kind.fields.items()}
    described = {name: {"description": one.meaning, **members[name]} for name, one in kind.fields.items()}
    required = [name for name, one in kind.fields.items() if one.is_required]
    return {**_object(described), "required": required}


def _member(found: Schema, is_required: bool) -> Schema:
    return found if is_required else {"anyOf": [found, {"type": "null"}]}
