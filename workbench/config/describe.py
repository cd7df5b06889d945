"""Describes the configuration: the key table in words, its JSON Schema, and a Config as plain JSON."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from msgspec import Struct

from workbench.config.keys import (
    CONFIG_KEYS,
    CONFIG_VERSION,
    KEY_ALIASES,
    PROVIDER_KEYS,
    PROVIDER_NAME_PATTERN,
    ConfigKey,
)
from workbench.config.types import (
    ApprovalPattern,
    AutoApprovalRule,
    ChoiceKind,
    Config,
    FlagKind,
    IntegerKind,
    ListKind,
    NumberKind,
    ProviderSettings,
    RecordKind,
    TextKind,
    TextMapKind,
    TimeKind,
    TokenPrices,
    ToolHook,
    UrlKind,
    ValueKind,
)
from workbench.secrets.scrubber import scrub_value
from workbench.text.human import iso_time


class KeyDescription(Struct, frozen=True, kw_only=True):
    """One key in words."""

    key: str
    """Dotted; `NAME` stands for a name of one's own, `[]` for an item of a list."""
    type: str
    default: object
    """As JSON; None where there is none."""
    meaning: str
    is_required: bool
    """Whether its object must have it."""


def key_descriptions() -> tuple[KeyDescription, ...]:
    """Return the table of all keys, in the order of the documentation."""
    own = [row for key in CONFIG_KEYS for row in _key_rows(key.path, key)]
    return (*own, *(row for key in PROVIDER_KEYS for row in _key_rows(f"providers.NAME.{key.path}", key)))


def config_as_json(config: Config) -> dict[str, object]:
    """Return a configuration as a JSON value of the form that config.json has."""
    result: dict[str, object] = {}
    for key in CONFIG_KEYS:
        *sections, name = key.path.split(".")
        section_json = result
        for section in sections:
            section_json = cast("dict[str, object]", section_json.setdefault(section, {}))
        section_json[name] = plain_json(config_value_at(config, key.path))
    result["providers"] = {name: plain_json(provider) for name, provider in config.providers.items()}
    return result


def _key_rows(path: str, key: ConfigKey) -> Iterator[KeyDescription]:
    default = list[object]() if key.default == () else key.default
    yield KeyDescription(
        key=path, type=key.kind.words, default=default, meaning=key.meaning, is_required=False
    )
    kind: ValueKind = key.kind
    if isinstance(kind, ListKind):
        path, kind = f"{path}[]", kind.item
    if isinstance(kind, RecordKind):
        for name, field in kind.fields.items():
            yield KeyDescription(
                key=f"{path}.{name}",
                type=field.kind.words,
                default=None,
                meaning=field.meaning,
                is_required=field.is_required,
            )


ATTRIBUTE_BY_KEY = {"PreToolUse": "pre_tool_use", "PostToolUse": "post_tool_use"}


def config_value_at(config: Config, path: str) -> object:
    """Return the value of a dotted key."""
    value: object = config
    for name in path.split("."):
        value = cast("object", getattr(value, ATTRIBUTE_BY_KEY.get(name, name)))
    return value


def plain_json(value: object) -> object:
    """Return a value of a configuration as JSON, without where it came from."""
    match value:
        case ApprovalPattern():
            return value.text
        case ToolHook():
            return {"matcher": value.matcher, "command": value.command}
        case AutoApprovalRule():
            return _rule_json(value)
        case TokenPrices():
            return {
                "input_per_million": value.input_per_million,
                "output_per_million": value.output_per_million,
            }
        case ProviderSettings():
            return _provider_json(value)
        case tuple():
            return [plain_json(item) for item in cast("tuple[object, ...]", value)]
        case Mapping():
            return {str(k): plain_json(v) for k, v in cast("Mapping[object, object]", value).items()}
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
    properties["providers"] = {
        **_object_schema({}),
        "patternProperties": {f"^{PROVIDER_NAME_PATTERN}$": _provider_schema()},
    }
    for alias, path in KEY_ALIASES.items():
        properties[alias] = {
            **_kind_schema(UrlKind()),
            "deprecated": True,
            "description": f"Older name of {path}.",
        }
    return {"$schema": SCHEMA_DIALECT, "title": "workbench configuration", **_object_schema(properties)}


def _provider_schema() -> JsonSchema:
    return _object_schema({key.path: _key_schema(key) for key in PROVIDER_KEYS})


def _object_schema(properties: Mapping[str, object]) -> JsonSchema:
    return {"type": "object", "properties": dict(properties), "additionalProperties": False}


def _key_schema(key: ConfigKey) -> JsonSchema:
    schema: JsonSchema = {"description": key.meaning, **_kind_schema(key.kind)}
    if key.default is None:
        return {"description": schema.pop("description"), "anyOf": [schema, {"type": "null"}]}
    default = list[object]() if key.default == () else key.default
    return {**schema, "default": default}


def _kind_schema(kind: ValueKind) -> JsonSchema:  # noqa: C901 -- one flat table of kinds
    match kind:
        case IntegerKind(low=low, high=high):
            return {"type": "integer", "minimum": low, "maximum": high}
        case NumberKind(low=low, high=high, includes_low=includes_low):
            bound = "minimum" if includes_low else "exclusiveMinimum"
            return {"type": "number", bound: low, "maximum": high}
        case FlagKind():
            return {"type": "boolean"}
        case ChoiceKind(options=options):
            return {"enum": list(options)}
        case TextKind():
            return _text_schema(kind)
        case UrlKind():
            return {"type": "string", "format": "uri", "pattern": "^https?://[^@?#\\s]+$"}
        case TimeKind():
            return {"type": "string", "format": "date-time"}
        case ListKind(item=item):
            return {"type": "array", "items": _kind_schema(item)}
        case RecordKind():
            return _record_schema(kind)
        case TextMapKind(key=key, value=value):
            return {
                "type": "object",
                "propertyNames": _kind_schema(key),
                "additionalProperties": _kind_schema(value),
            }
        case _:
            return {}


def _text_schema(kind: TextKind) -> JsonSchema:
    pattern = "\\S" if kind.form == ".*" else f"^(?:{kind.form})$"
    return {"type": "string", "maxLength": kind.limit, "pattern": pattern}


def _record_schema(kind: RecordKind) -> JsonSchema:
    members = {
        name: _member_schema(_kind_schema(field.kind), field.is_required)
        for name, field in kind.fields.items()
    }
    described = {name: {"description": field.meaning, **members[name]} for name, field in kind.fields.items()}
    required = [name for name, field in kind.fields.items() if field.is_required]
    return {**_object_schema(described), "required": required}


def _member_schema(schema: JsonSchema, is_required: bool) -> JsonSchema:
    return schema if is_required else {"anyOf": [schema, {"type": "null"}]}
