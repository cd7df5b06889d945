"""Which settings may change while the program runs: the screen's, limits for later, and what narrows.

A file that is being edited must never allow something that nobody was asked about since.
"""

# A changed configuration only narrows at once. The screen's settings and limits follow a file as it is
# saved; of denials the union holds, of grants and rules the intersection; everything else waits for the
# next start, and that is said. So a file that is being edited never allows what nobody was asked about.
# The user's own providers follow too: they say who is asked, not what may be done. Those of a workspace
# wait: its file may be changing while nobody has answered for it.

from collections.abc import Callable, Mapping
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, cast

from msgspec import Struct
from msgspec.structs import replace

from workbench.config.describe import plain_json
from workbench.config.keys import ConfigKey
from workbench.config.types import (
    CONFIG_KEYS,
    ApprovalPattern,
    AutoApprovalRule,
    Config,
    LoadedConfig,
    Origin,
    ProviderSettings,
)
from workbench.text.problems import Problem

_IMMEDIATE_KEYS: Final = frozenset(
    {
        "default_model", "default_provider", "api_timeout_seconds", "max_session_messages", "output_format",
        "retention.sealed_days",
    }
)  # fmt: skip
_IMMEDIATE_SECTIONS: Final = ("ui.", "limits.", "sessions.", "notify.")


class ReloadResult(Struct, frozen=True, kw_only=True):
    """What came of reading the configuration again."""

    loaded: LoadedConfig
    """What holds from now on."""
    applied: tuple[str, ...] = ()
    """Keys whose new value holds now, wholly."""
    later: tuple[str, ...] = ()
    """Keys whose new value, or a part of it, holds from the next start."""
    problems: tuple[Problem, ...] = ()
    """Why nothing was taken over; empty where it could be."""

    @property
    def words(self) -> str:
        """Say it in a sentence or two; empty where nothing changed."""
        if self.problems:
            return f"The changed configuration is not used: {self.problems[0]}"
        parts = [f"{', '.join(self.applied)} changed."] if self.applied else []
        parts += [f"From the next start: {', '.join(self.later)}."] if self.later else []
        return f"Configuration: {' '.join(parts)}" if parts else ""


def merge_reloaded(present: LoadedConfig, fresh: LoadedConfig) -> ReloadResult:
    """Take over from a fresh reading of the files what may change while things run."""
    if not fresh.is_usable:
        fatal = tuple(problem for problem in fresh.problems if problem.fatal)
        return ReloadResult(loaded=present, problems=fatal)
    config, origins = present.config, dict(present.origins)
    applied: list[str] = []
    later: list[str] = []
    for key in CONFIG_KEYS:
        value_of = attrgetter(key.attribute)
        old, new = value_of(present.config), value_of(fresh.config)
        value = _effective_value(key, old, new)
        is_whole = plain_json(value) == plain_json(new)
        if is_whole:
            origins[key.path] = fresh.origins[key.path]
        if plain_json(old) != plain_json(new):
            (applied if is_whole else later).append(key.path)
        config = _with_value(config, key.attribute, value)
    providers = _merged_providers(present.config.providers, fresh.config.providers)
    if plain_json(providers) != plain_json(present.config.providers):
        applied.append("providers")
    if plain_json(providers) != plain_json(fresh.config.providers):
        later.append("providers of the workspace")
    config = replace(config, providers=MappingProxyType(providers))
    origins = _without_providers(origins) | _provider_origins(providers, present, fresh)
    return ReloadResult(
        loaded=replace(fresh, config=config, origins=MappingProxyType(origins)),
        applied=tuple(applied), later=tuple(later),
    )  # fmt: skip


def _merged_providers(
    present: Mapping[str, ProviderSettings], fresh: Mapping[str, ProviderSettings]
) -> dict[str, ProviderSettings]:
    """Take over the user's providers; keep those of a workspace that are still there as they were."""
    merged = {
        name: provider if provider.origin.layer != "workspace" else present.get(name)
        for name, provider in fresh.items()
    }
    return {name: provider for name, provider in merged.items() if provider is not None}


def _without_providers(origins: Mapping[str, Origin]) -> dict[str, Origin]:
    return {key: origin for key, origin in origins.items() if not key.startswith("providers.")}


def _provider_origins(
    providers: Mapping[str, ProviderSettings], present: LoadedConfig, fresh: LoadedConfig
) -> dict[str, Origin]:
    """Return the origins of providers from the reading that each was taken from."""
    origins: dict[str, Origin] = {}
    for name, provider in providers.items():
        source = fresh if fresh.config.providers.get(name) is provider else present
        start = f"providers.{name}."
        origins |= {key: origin for key, origin in source.origins.items() if key.startswith(start)}
    return origins


def _effective_value(key: ConfigKey, old: object, new: object) -> object:
    if (
        plain_json(old) == plain_json(new)
        or key.path in _IMMEDIATE_KEYS
        or key.path.startswith(_IMMEDIATE_SECTIONS)
    ):
        return new
    if key.path in _NARROWING_BY_KEY:
        return _NARROWING_BY_KEY[key.path](old, new)
    return new if key.narrows is not None and key.narrows(new, old) else old


def _united_patterns(old: Any, new: Any) -> object:
    """Return all denials: one that was taken out of a file counts until the next start."""
    texts = {pattern.text for pattern in cast("tuple[ApprovalPattern, ...]", new)}
    return (
        *new,
        *(denial for denial in cast("tuple[ApprovalPattern, ...]", old) if denial.text not in texts),
    )


def _common_patterns(old: Any, new: Any) -> object:
    """Return the grants of both, each outside the sandbox only if both say so."""
    places = {pattern.text: pattern.where for pattern in cast("tuple[ApprovalPattern, ...]", old)}
    return tuple(
        replace(candidate, where=places[candidate.text]) if candidate.where == "outside" else candidate
        for candidate in cast("tuple[ApprovalPattern, ...]", new)
        if candidate.text in places
    )


def _common_rules(old: Any, new: Any) -> object:
    places = {_rule_meaning(rule): rule.where for rule in cast("tuple[AutoApprovalRule, ...]", old)}
    return tuple(
        replace(rule, where=places[_rule_meaning(rule)]) if rule.where == "outside" else rule
        for rule in cast("tuple[AutoApprovalRule, ...]", new)
        if _rule_meaning(rule) in places
    )


def _rule_meaning(rule: AutoApprovalRule) -> tuple[str, str, str]:
    return rule.id, rule.tool_name, rule.param_pattern


_NARROWING_BY_KEY: Final[Mapping[str, Callable[[Any, Any], object]]] = {
    "approvals.deny": _united_patterns,
    "approvals.allow": _common_patterns,
    "fetch.allowed_hosts": lambda old, new: tuple(host for host in new if host in old),
    "auto_approval_rules": _common_rules,
    "approvals.windows": lambda old, _new: old,
}


def _with_value(config: Config, attribute: str, value: object) -> Config:
    if attrgetter(attribute)(config) is value:
        return config
    return cast("Config", _with_nested_value(config, attribute.split("."), value))


def _with_nested_value(section: Any, names: list[str], value: object) -> object:
    name, *below = names
    return replace(
        section, **{name: _with_nested_value(getattr(section, name), below, value) if below else value}
    )
