"""Which settings may change while things run: those of the screen, limits of what comes next, what narrows.

Pure. Owns what a changed file changes at once and what waits for the next start. It must never let a file
that is being edited allow something that nobody was asked about since.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, cast

from workbench.config.describing import plain, value_at
from workbench.config.keys import KEYS, Key
from workbench.config.values import AutoApprovalRule, Config, Loaded, Origin, Pattern, Problem

_AT_ONCE: Final = frozenset(
    {
        "default_model", "default_provider", "api_timeout_seconds", "max_session_messages", "output_format",
        "retention.sealed_days",
    }
)  # fmt: skip
_SECTIONS_AT_ONCE: Final = ("ui.", "limits.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What came of reading the configuration again."""

    loaded: Loaded
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


def merged(present: Loaded, fresh: Loaded) -> Merged:
    """Take over from a configuration that was read again what may change while things run.

    Args:
        present: What holds now.
        fresh: What the files say.
    """
    if not fresh.is_usable:
        fatal = tuple(problem for problem in fresh.problems if problem.fatal)
        return Merged(loaded=present, problems=fatal)
    config, origins = present.config, dict(present.origins)
    applied: list[str] = []
    later: list[str] = []
    for key in KEYS:
        old, new = value_at(present.config, key.path), value_at(fresh.config, key.path)
        kept = _kept(key, old, new)
        is_whole = plain(kept) == plain(new)
        if is_whole:
            origins[key.path] = fresh.origins[key.path]
        if plain(old) != plain(new):
            (applied if is_whole else later).append(key.path)
        config = _with(config, key.path, kept)
    if plain(present.config.providers) != plain(fresh.config.providers):
        later.append("providers")
    return Merged(
        loaded=replace(fresh, config=config, origins=MappingProxyType(_origins(origins, fresh))),
        applied=tuple(applied), later=tuple(later),
    )  # fmt: skip


def _origins(origins: Mapping[str, Origin], fresh: Loaded) -> dict[str, Origin]:
    added = {key: origin for key, origin in fresh.origins.items() if key not in origins}
    return {**added, **origins}


def _kept(key: Key, old: object, new: object) -> object:
    """Return the value that holds from now on."""
    if plain(old) == plain(new) or key.path in _AT_ONCE or key.path.startswith(_SECTIONS_AT_ONCE):
        return new
    if key.path in _NARROWED:
        return _NARROWED[key.path](old, new)
    return new if key.narrows is not None and key.narrows(new, old) else old


def _united(old: Any, new: Any) -> object:
    """Return all denials: one that was taken out of a file counts until the next start."""
    texts = {pattern.text for pattern in cast("tuple[Pattern, ...]", new)}
    return (*new, *(one for one in cast("tuple[Pattern, ...]", old) if one.text not in texts))


def _common(old: Any, new: Any) -> object:
    """Return the grants that were there before and are there still."""
    texts = {pattern.text for pattern in cast("tuple[Pattern, ...]", old)}
    return tuple(one for one in cast("tuple[Pattern, ...]", new) if one.text in texts)


def _common_rules(old: Any, new: Any) -> object:
    known = {_sense(rule) for rule in cast("tuple[AutoApprovalRule, ...]", old)}
    return tuple(rule for rule in cast("tuple[AutoApprovalRule, ...]", new) if _sense(rule) in known)


def _sense(rule: AutoApprovalRule) -> tuple[str, str, str]:
    return rule.id, rule.tool_name, rule.param_pattern


_NARROWED: Final[Mapping[str, Callable[[Any, Any], object]]] = {
    "approvals.deny": _united,
    "approvals.allow": _common,
    "fetch.allowed_hosts": lambda old, new: tuple(host for host in new if host in old),
    "auto_approval_rules": _common_rules,
}


def _with(config: Config, path: str, value: object) -> Config:
    """Return a configuration with one value changed, by its dotted key."""
    if value_at(config, path) is value:
        return config
    return cast("Config", _replaced(config, path.split("."), value))


def _replaced(place: Any, names: list[str], value: object) -> object:
    name = {"PreToolUse": "pre_tool_use", "PostToolUse": "post_tool_use"}.get(names[0], names[0])
    if len(names) == 1:
        return replace(place, **{name: value})
    return replace(place, **{name: _replaced(getattr(place, name), names[1:], value)})
