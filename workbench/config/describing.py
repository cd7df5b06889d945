"""Tells what can be configured and what is: the key table in words, and a Config as plain JSON.

Owns the outward form of both. It must never show a secret: header values are scrubbed.
"""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from workbench.config.keys import KEYS, PROVIDER_KEYS, Key
from workbench.config.kinds import Kind, ListOf, Record
from workbench.config.values import AutoApprovalRule, Config, Hook, Pattern, Prices, Provider
from workbench.records import dataclass
from workbench.text.human import iso
from workbench.text.scrub import scrub_value


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """One key in words."""

    key: str
    """Dotted; `NAME` stands for a name of one's own, `[]` for an item of a list."""
    type: str
    default: object
    """As JSON; None where there is none."""
    meaning: str
    is_required: bool
    """Whether its object must have it."""


def describe() -> tuple[Described, ...]:
    """Return the table of all keys, in the order of the documentation."""
    own = [row for key in KEYS for row in _rows(key.path, key)]
    return (*own, *(row for key in PROVIDER_KEYS for row in _rows(f"providers.NAME.{key.path}", key)))


def as_dict(config: Config) -> dict[str, object]:
    """Return a configuration as a JSON value of the form that config.json has."""
    result: dict[str, object] = {}
    for key in KEYS:
        *sections, name = key.path.split(".")
        place = result
        for section in sections:
            place = cast("dict[str, object]", place.setdefault(section, {}))
        place[name] = plain(value_at(config, key.path))
    result["providers"] = {name: plain(provider) for name, provider in config.providers.items()}
    return result


def _rows(path: str, key: Key) -> Iterator[Described]:
    default = list[object]() if key.default == () else key.default
    yield Described(key=path, type=key.kind.words, default=default, meaning=key.meaning, is_required=False)
    kind: Kind = key.kind
    if isinstance(kind, ListOf):
        path, kind = f"{path}[]", kind.item
    if isinstance(kind, Record):
        for name, one in kind.fields.items():
            yield Described(
                key=f"{path}.{name}",
                type=one.kind.words,
                default=None,
                meaning=one.meaning,
                is_required=one.is_required,
            )


_ATTRIBUTES = {"PreToolUse": "pre_tool_use", "PostToolUse": "post_tool_use"}


def value_at(config: Config, path: str) -> object:
    """Return the value of a dotted key."""
    value: object = config
    for name in path.split("."):
        value = cast("object", getattr(value, _ATTRIBUTES.get(name, name)))
    return value


def plain(value: object) -> object:
    """Return a value of a configuration as JSON, without where it came from."""
    match value:
        case Pattern():
            return value.text
        case Hook():
            return {"matcher": value.matcher, "command": value.command}
        case AutoApprovalRule():
            return _rule(value)
        case Prices():
            return {
                "input_per_million": value.input_per_million,
                "output_per_million": value.output_per_million,
            }
        case Provider():
            return _provider(value)
        case tuple():
            return [plain(item) for item in cast("tuple[object, ...]", value)]
        case Mapping():
            return {str(k): plain(v) for k, v in cast("Mapping[object, object]", value).items()}
        case _:
            return value


def _rule(rule: AutoApprovalRule) -> dict[str, object]:
    times = {"created_at": rule.created_at, "last_used_at": rule.last_used_at}
    return {
        "id": rule.id,
        "tool_name": rule.tool_name,
        "param_pattern": rule.param_pattern,
        "description": rule.description,
        **{name: iso(micros) for name, micros in times.items() if micros is not None},
        "use_count": rule.use_count,
    }


def _provider(provider: Provider) -> dict[str, object]:
    fields: dict[str, Any] = {key.path: getattr(provider, key.path) for key in PROVIDER_KEYS}
    given = {
        name: plain(value) for name, value in fields.items() if value is not None and value not in ({}, ())
    }
    return cast("dict[str, object]", scrub_value(given)[0])
