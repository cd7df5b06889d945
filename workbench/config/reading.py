"""Reads one layer: checks what it holds against the key table and collects all problems at once.

Owns turning located JSON into values with their origin. It must never take precedence or trust into
account: it says what a layer holds, not what holds.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import field
from typing import Any, cast

from workbench.config.keys import (
    ALIASES,
    BY_PATH,
    CONFIG_VERSION,
    PROVIDER_BY_PATH,
    PROVIDER_KINDS,
    SECTIONS,
    Key,
    key_at,
)
from workbench.config.kinds import Unfit
from workbench.config.sources import Setting, variable_name
from workbench.config.values import AutoApprovalRule, Hook, Layer, Origin, Pattern, Prices, Problem
from workbench.records import dataclass
from workbench.text.located import Node
from workbench.text.safe import one_line

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_UNSHOWN = ("key_env", "key_command", "headers")
_KEYS_IN_FILES = ("key", "api_key", "apikey", "token", "secret")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A value that a layer gives."""

    value: object
    origin: Origin


@dataclass(slots=True, kw_only=True)
class LayerRead:
    """What one layer holds; filled while it is read."""

    layer: Layer
    file: str
    is_binding: bool
    """Whether its mistakes may be fatal: not those of a workspace that is not trusted."""
    found: dict[str, Found] = field(default_factory=dict[str, Found])
    problems: list[Problem] = field(default_factory=list[Problem])
    notes: list[str] = field(default_factory=list[str])

    def origin(self, line: int) -> Origin:
        """Return the origin of a value in this line of the layer."""
        return Origin(layer=self.layer, file=self.file, line=line or None)

    def report(self, key: str, place: tuple[int, int], message: str, remedy: str, *, fatal: bool) -> None:
        """Note a problem."""
        line, column = place
        problem = Problem(
            file=self.file,
            line=line or None,
            column=column if line else None,
            key=one_line(key, 80),
            message=message,
            remedy=remedy,
            fatal=fatal and self.is_binding,
        )
        self.problems.append(problem)


def read_object(read: LayerRead, root: Node) -> None:
    """Read a configuration file into the layer."""
    if _is_readable_version(read, root):
        _members(read, "", root)


def read_setting(read: LayerRead, setting: Setting) -> None:
    """Read one variable or option into the layer."""
    key = key_at(setting.path)
    if key is not None:
        _value(read, key, setting.path, setting.node)
    elif setting.layer == "environment":
        names = {variable_name(path): path for path in BY_PATH}
        remedy = _nearest(setting.name, names, "No setting has this variable.")
        message = f"{one_line(setting.name, 80)} is no known setting and has no effect."
        read.report(setting.name, (0, 0), message, remedy, fatal=False)
    else:
        _unknown(read, setting.path, setting.node)


def _is_readable_version(read: LayerRead, root: Node) -> bool:
    node = (root.members or {}).get("config_version")
    if node is None:
        return True
    major = _major(node.value)
    if major is not None and major <= CONFIG_VERSION:
        if isinstance(node.value, str):
            read.notes.append(f"{read.file} is of the older version {node.value}; it was read as version 1.")
        return True
    place = (node.line, node.column)
    if major is None:
        message = f'"config_version" must be {CONFIG_VERSION}, is {_shown("config_version", node)}.'
        read.report("config_version", place, message, "Nothing of this file is used.", fatal=True)
    else:
        message = (
            f"it was written for version {_shown('', node)}; this program knows version {CONFIG_VERSION}."
        )
        read.report(
            "config_version", place, message, "Nothing of it is used. Install a newer workbench.", fatal=True
        )
    return False


def _major(version: object) -> int | None:
    """Return the whole part of a version: 1 is ours, "1.0" that of the form before it."""
    if isinstance(version, int) and not isinstance(version, bool) and version > 0:
        return version
    if isinstance(version, str) and re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,4}){0,2}", version):
        return int(version.split(".")[0])
    return None


def _members(read: LayerRead, prefix: str, node: Node) -> None:
    for name, member in (node.members or {}).items():
        path = f"{prefix}{name}"
        key = BY_PATH.get(path)
        if path == "config_version":
            continue
        if path == "providers":
            _providers(read, member)
        elif path in SECTIONS:
            _section(read, path, member)
        elif key is not None:
            _value(read, key, path, member)
        elif path in ALIASES:
            _value(read, PROVIDER_BY_PATH[ALIASES[path].rsplit(".", 1)[1]], ALIASES[path], member)
        else:
            _unknown(read, path, member)


def _section(read: LayerRead, path: str, node: Node) -> None:
    if node.members is not None:
        _members(read, f"{path}.", node)
        return
    is_strict = any(key.is_strict for key in BY_PATH.values() if key.path.startswith(f"{path}."))
    message = f'"{path}" must be an object, is {_shown(path, node)}.'
    read.report(path, (node.line, node.column), message, "", fatal=is_strict)


def _providers(read: LayerRead, node: Node) -> None:
    if node.members is None:
        message = f'"providers" must be an object of providers by name, is {_shown("headers", node)}.'
        read.report("providers", (node.line, node.column), message, "", fatal=False)
        return
    for name, provider in node.members.items():
        path = f"providers.{name}"
        if not _NAME.fullmatch(name) or provider.members is None:
            message = f'"{one_line(path, 80)}" must be a name of letters, digits, _ and - with an object.'
            read.report(path, (provider.key_line, provider.key_column), message, "", fatal=False)
            continue
        _provider(read, name, provider)


def _provider(read: LayerRead, name: str, node: Node) -> None:
    path = f"providers.{name}"
    members = node.members or {}
    for field_name, member in members.items():
        key = PROVIDER_BY_PATH.get(field_name)
        if key is None:
            _unknown(read, f"{path}.{field_name}", member)
        else:
            _value(read, key, f"{path}.{field_name}", member)
    place = (node.key_line or node.line, node.key_column or node.column)
    if name in PROVIDER_KINDS:
        read.found.setdefault(f"{path}.kind", Found(value=name, origin=read.origin(place[0])))
    elif all(member.value is None for member in members.values()):
        message = f"The provider {name} cannot be used: it has no kind."
        read.report(path, place, message, f"Add kind: {', '.join(PROVIDER_KINDS)}.", fatal=False)


def _value(read: LayerRead, key: Key, path: str, node: Node) -> None:
    if node.value is None and key.default is None:
        return
    try:
        checked = key.kind.check(node)
    except Unfit as unfit:
        name = path + (unfit.key if unfit.key.startswith("[") or not unfit.key else f".{unfit.key}")
        message = f'"{one_line(name, 120)}" must be {unfit.expected}, is {_shown(name, unfit.node)}.'
        place = (unfit.node.line, unfit.node.column)
        read.report(path, place, message, unfit.remedy, fatal=key.is_strict)
        return
    origin = read.origin(node.key_line or node.line)
    read.found[path] = Found(value=_shaped(read, path, checked), origin=origin)


def _shaped(read: LayerRead, path: str, value: Any) -> object:
    """Give a checked value the form that the Config has it in."""
    match path.rsplit(".", 1)[-1]:
        case "allow" | "deny":
            return tuple(Pattern(text=text, origin=read.origin(line)) for text, line in value)
        case "PreToolUse" | "PostToolUse":
            return tuple(Hook(**hook, origin=read.origin(line)) for hook, line in value)
        case "auto_approval_rules":
            return tuple(_rule(rule, read.origin(line)) for rule, line in value)
        case "allowed_hosts" | "stop":
            return tuple(text for text, _ in value)
        case "prices":
            return Prices(**value)
        case _:
            return cast("object", value)


def _rule(rule: dict[str, Any], origin: Origin) -> AutoApprovalRule:
    counts: dict[str, Any] = {"created_at": None, "last_used_at": None, "use_count": 0}
    return AutoApprovalRule(**{**counts, **rule}, origin=origin)


def _unknown(read: LayerRead, path: str, node: Node) -> None:
    parent, _, name = path.rpartition(".")
    if parent.startswith("providers.") and name.lower() in _KEYS_IN_FILES:
        remedy = "Keys are not kept in files: name the variable that holds it in key_env, or a key_command."
    elif parent.startswith("providers."):
        remedy = _nearest(name, {known: known for known in PROVIDER_BY_PATH}, "")
    else:
        remedy = _nearest_path(path)
    place = (node.key_line or node.line, node.key_column or node.column)
    read.report(path, place, f'"{one_line(path, 80)}" is no known key.', remedy, fatal=True)


def _nearest_path(path: str) -> str:
    """Look for the key by its whole name first, then for one of the same last name in another section."""
    known = [*BY_PATH, *SECTIONS, *ALIASES, "providers"]
    names = {one: one for one in known} | {one.rsplit(".", 1)[-1]: one for one in known if "." in one}
    for text in (path, path.rsplit(".", 1)[-1]):
        found = _nearest(text, {one: one for one in known}, "") or _nearest(text, names, "")
        if found:
            return found
    return "workbench config show lists every key."


def _nearest(name: str, known: dict[str, str], otherwise: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name[:120], known, n=1, cutoff=0.7)
    return f"The nearest known key is {known[close[0]]}." if close else otherwise


def _shown(path: str, node: Node) -> str:
    if any(name in path for name in _UNSHOWN):
        return "something else"
    from workbench.text.scrub import scrub

    return one_line(scrub(json.dumps(node.value, ensure_ascii=False)).text, 60)


def problems_of(reads: Iterable[LayerRead]) -> list[Problem]:
    """Collect the problems of several layers in their order."""
    return [problem for read in reads for problem in read.problems]
