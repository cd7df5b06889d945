"""Describes the configuration: its JSON Schema, and a Config as plain JSON."""

# The JSON Schema is made from the key table, not from types: the table has the bounds, the sentences and
# the defaults.

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, Final, Literal, cast, get_args, get_origin

from msgspec import Struct, to_builtins
from msgspec.json import schema as json_schema

from workbench.config.keys import (
    CONFIG_VERSION,
    PROVIDER_NAME_PATTERN,
    URL,
    ConfigKey,
    kind_parts,
    record_fields,
)
from workbench.config.sections import ToolSettings
from workbench.config.types import (
    CONFIG_KEYS,
    KEY_ALIASES,
    PROVIDER_KEYS,
    ApprovalPattern,
    ApprovalWindow,
    AutoApprovalRule,
    Config,
    ProviderSettings,
    TokenPrices,
    ToolHook,
)
from workbench.secrets.scrubber import scrub_value
from workbench.text.human import iso_time


def config_as_json(config: Config) -> dict[str, object]:
    """Return a configuration as a JSON value of the form that config.json has."""
    result: dict[str, object] = {}
    for key in CONFIG_KEYS:
        *sections, name = key.path.split(".")
        section_json = result
        for section in sections:
            section_json = cast("dict[str, object]", section_json.setdefault(section, {}))
        section_json[name] = plain_json(attrgetter(key.attribute)(config))
    result["providers"] = {name: plain_json(provider) for name, provider in config.providers.items()}
    return result


def plain_json(value: object) -> object:
    """Return a value of a configuration as JSON, without where it came from."""
    match value:
        case ApprovalPattern():
            return value.text
        case ApprovalWindow():
            members = {"folder": value.folder, "kind": value.kind, "minutes": value.minutes}
            return {name: part for name, part in members.items() if part is not None}
        case ToolHook():
            return {"matcher": value.matcher, "command": value.command}
        case AutoApprovalRule():
            return _rule_json(value)
        case TokenPrices():
            return {name: price for name, price in to_builtins(value).items() if price is not None}
        case ToolSettings():
            return {"providers": list(value.providers)}
        case ProviderSettings():
            return _provider_json(value)
        case tuple():
            return [plain_json(item) for item in cast("tuple[object, ...]", value)]
        case Mapping():
            return {
                str(key): plain_json(item_value)
                for key, item_value in cast("Mapping[object, object]", value).items()
            }
        case _:
            return value


def _rule_json(rule: AutoApprovalRule) -> dict[str, object]:
    times = {"created_at": rule.created_at, "last_used_at": rule.last_used_at}
    return {
        "id": rule.id,
        "tool_name": rule.tool_name,
        "param_pattern": rule.param_pattern,
        "description": rule.description,
        **{name: iso_time(micros) for name, micros in times.items() if micros is not None},
        "use_count": rule.use_count,
    }


def _provider_json(provider: ProviderSettings) -> dict[str, object]:
    fields: dict[str, Any] = {key.path: getattr(provider, key.path) for key in PROVIDER_KEYS}
    known_values = {
        name: plain_json(value)
        for name, value in fields.items()
        if value is not None and value not in ({}, ())
    }
    return cast("dict[str, object]", scrub_value(known_values)[0])


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
