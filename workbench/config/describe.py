"""A Config as plain JSON."""

# The JSON Schema is made from the key table, not from types: the table has the bounds, the sentences and
# the defaults.

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, cast

from msgspec import to_builtins

from workbench.config.sections import ToolSettings
from workbench.config.types import (
    CONFIG_KEYS,
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
            is_plain = value.where == "inside"
            return value.text if is_plain else {"pattern": value.text, "where": value.where}
        case ApprovalWindow():
            members = {"folder": value.folder, "kind": value.kind, "minutes": value.minutes}
            return {name: part for name, part in members.items() if part is not None}
        case ToolHook():
            level = {} if value.sandbox is None else {"sandbox": value.sandbox}
            return {"matcher": value.matcher, "command": value.command, **level}
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
        **({"where": rule.where} if rule.where else {}),
    }


def _provider_json(provider: ProviderSettings) -> dict[str, object]:
    fields: dict[str, Any] = {key.path: getattr(provider, key.path) for key in PROVIDER_KEYS}
    known_values = {
        name: plain_json(value)
        for name, value in fields.items()
        if value is not None and value not in ({}, ())
    }
    return cast("dict[str, object]", scrub_value(known_values)[0])
