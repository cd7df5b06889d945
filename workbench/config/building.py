"""Builds the frozen Config from checked values, and a provider from its fields.

Owns what holds across several keys. It must never read or check a single value again.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from workbench.config.keys import CONFIG_VERSION, DEFAULT_BASE_URLS, PROVIDER_KEYS, PROVIDER_KINDS
from workbench.config.reading import Found
from workbench.config.values import (
    Approvals,
    Config,
    Fetch,
    Hooks,
    Limits,
    Notify,
    Pipelines,
    Problem,
    Provider,
    Retention,
    Ui,
)

_NEEDS_ADDRESS = ("openai-compatible", "azure-openai")


def build(values: Mapping[str, Any], providers: Mapping[str, Provider]) -> Config:
    """Build the configuration from the values by dotted key."""
    ui: dict[str, Any] = {**_section(values, "ui"), "keymap": MappingProxyType(values["ui.keymap"])}
    return Config(
        config_version=CONFIG_VERSION,
        default_model=values["default_model"],
        default_provider=values["default_provider"],
        api_timeout_seconds=values["api_timeout_seconds"],
        max_session_messages=values["max_session_messages"],
        output_format=values["output_format"],
        auto_approval_rules=values["auto_approval_rules"],
        providers=providers,
        approvals=Approvals(**_section(values, "approvals")),
        limits=Limits(**_section(values, "limits")),
        ui=Ui(**ui, notify=Notify(**_section(values, "ui.notify"))),
        hooks=Hooks(pre_tool_use=values["hooks.PreToolUse"], post_tool_use=values["hooks.PostToolUse"]),
        fetch=Fetch(**_section(values, "fetch")),
        retention=Retention(**_section(values, "retention")),
        pipelines=Pipelines(**_section(values, "pipelines")),
    )


def provider_of(name: str, fields: Mapping[str, Found]) -> Provider | Problem:
    """Build a provider; where its fields do not go together, say so."""
    values: dict[str, Any] = {key.path: key.default for key in PROVIDER_KEYS}
    values |= {field: found.value for field, found in fields.items()}
    first = fields.get("kind") or next(iter(fields.values()))
    if values["kind"] is None and name in PROVIDER_KINDS:
        values["kind"] = name
    values["base_url"] = values["base_url"] or DEFAULT_BASE_URLS.get(str(values["kind"]))
    values["headers"] = MappingProxyType(values["headers"])
    wrong = _wrong(values)
    if wrong is None:
        return Provider(name=name, **values, origin=first.origin)
    return Problem(
        file=first.origin.file or first.origin.layer,
        line=first.origin.line,
        column=None,
        key=f"providers.{name}",
        message=f"The provider {name} cannot be used: {wrong[0]}",
        remedy=wrong[1],
        fatal=False,
    )


def _wrong(values: Mapping[str, Any]) -> tuple[str, str] | None:
    if values["kind"] is None:
        return "it has no kind.", f"Add kind: {', '.join(PROVIDER_KINDS)}."
    if values["kind"] in _NEEDS_ADDRESS and values["base_url"] is None:
        return "it has no base_url.", 'Add base_url, such as "http://localhost:8080/v1".'
    if values["key_env"] is not None and values["key_command"] is not None:
        return "it has both key_env and key_command.", "Keep one of them."
    return None


def _section(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    start = f"{name}."
    return {
        path.removeprefix(start): value
        for path, value in values.items()
        if path.startswith(start) and "." not in path.removeprefix(start)
    }
