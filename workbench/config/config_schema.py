"""The JSON Schema of the configuration."""

from collections.abc import Mapping
from typing import Any, Final, Literal, cast, get_args, get_origin

from msgspec import Struct
from msgspec.json import schema as json_schema

from workbench.config.keys import (
    CONFIG_VERSION,
    PROVIDER_NAME_PATTERN,
    URL,
    ConfigKey,
    kind_parts,
    record_fields,
)
from workbench.config.types import (
    CONFIG_KEYS,
    KEY_ALIASES,
    PROVIDER_KEYS,
)

JsonSchema = dict[str, object]
SCHEMA_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_OLD_VERSION_PATTERN: Final = "^[01]([.][0-9]{1,4}){0,2}$"


def config_schema() -> JsonSchema:
    """Return the schema of `config.json` and `.workbench.json`."""
    properties: dict[str, object] = {}
    for key in CONFIG_KEYS:
        *sections, name = key.path.split(".")
        section_properties = properties
        for section in sections:
            inner = cast("JsonSchema", section_properties.setdefault(section, _object_schema({})))
            section_properties = cast("dict[str, object]", inner["properties"])
        section_properties[name] = _key_schema(key)
    properties["config_version"] = {
        "description": "Version of this form.",
        "anyOf": [{"const": CONFIG_VERSION}, {"type": "string", "pattern": _OLD_VERSION_PATTERN}],
    }
    providers = _object_schema({key.path: _key_schema(key) for key in PROVIDER_KEYS})
    properties["providers"] = {
        **_object_schema({}),
        "patternProperties": {f"^{PROVIDER_NAME_PATTERN}$": providers},
    }
    for alias, path in KEY_ALIASES.items():
        properties[alias] = {**_kind_schema(URL), "deprecated": True, "description": f"Older name of {path}."}
    return {"$schema": SCHEMA_DIALECT, "title": "workbench configuration", **_object_schema(properties)}


def _object_schema(properties: Mapping[str, object]) -> JsonSchema:
    return {"type": "object", "properties": dict(properties), "additionalProperties": False}


def _key_schema(key: ConfigKey) -> JsonSchema:
    schema: JsonSchema = {"description": key.meaning, **_kind_schema(key.kind)}
    if key.default is None:
        return {"description": schema.pop("description"), "anyOf": [schema, {"type": "null"}]}
    default: object = key.default
    if isinstance(default, tuple):
        default = list(cast("tuple[object, ...]", default))
    return {**schema, "default": default}


def _kind_schema(kind: Any) -> JsonSchema:
    base, facts = kind_parts(kind)
    if "schema" in facts:
        return facts["schema"]
    if "record" in facts:
        return {"anyOf": [json_schema(base), _record_schema(facts["record"])]}
    if get_origin(base) is Literal:
        return {"enum": list(get_args(base))}
    if get_origin(base) is list:
        return {"type": "array", "items": _kind_schema(get_args(base)[0])}
    if get_origin(base) is dict:
        names, values = map(_kind_schema, get_args(base))
        return {"type": "object", "propertyNames": names, "additionalProperties": values}
    if isinstance(base, type) and issubclass(base, Struct):
        return _record_schema(base)
    return json_schema(kind)


def _record_schema(record: type[Struct]) -> JsonSchema:
    members: dict[str, object] = {}
    for name, (kind, is_required) in record_fields(record).items():
        schema = {key: value for key, value in _kind_schema(kind).items() if key != "description"}
        described = schema if is_required else {"anyOf": [schema, {"type": "null"}]}
        members[name] = {"description": kind_parts(kind)[1]["description"], **described}
    required = [name for name, (_, is_required) in record_fields(record).items() if is_required]
    return {**_object_schema(members), "required": required}
