"""Read one layer of the configuration (file, environment, options).

All problems are collected at once with file, line and the nearest known key.
"""

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, cast, get_args, get_origin

from msgspec import Struct, field

from workbench.config.keys import (
    CONFIG_VERSION,
    PROVIDER_KINDS,
    PROVIDER_NAME_PATTERN,
    ConfigKey,
    InvalidValue,
    convert_node,
    joined_key,
    kind_parts,
)
from workbench.config.sections import ToolSettings
from workbench.config.types import (
    CONFIG_KEYS,
    KEY_ALIASES,
    KEYS_BY_PATH,
    PROVIDER_KEYS,
    PROVIDER_KEYS_BY_PATH,
    SECTION_PATHS,
    ApprovalPattern,
    ApprovalWindow,
    AutoApprovalRule,
    LayerName,
    Origin,
    TokenPrices,
    ToolHook,
    config_key_at,
)
from workbench.text.json_nodes import JsonError, LocatedNode, node_of_value, parse_json_nodes
from workbench.text.located import DocumentPlace
from workbench.text.nearest import nearest_name
from workbench.text.problems import ProblemReport
from workbench.text.safe import one_line

_VARIABLE_PREFIX = "WORKBENCH_"
_VARIABLES_OF_THE_PROGRAM = (
    "WORKBENCH_HOME", "WORKBENCH_CALL", "WORKBENCH_FAULT", "WORKBENCH_AGENT", "WORKBENCH_LAST_COMMAND",
    "WORKBENCH_LAST_EXIT",
)  # fmt: skip
"""Variables (and beginnings of variables) of the program that are no settings."""
_FLAG_WORDS = {
    "1": True,
    "yes": True,
    "on": True,
    "true": True,
    "0": False,
    "no": False,
    "off": False,
    "false": False,
}


class SingleSetting(Struct, frozen=True, kw_only=True):
    """A value that was given by itself, not as part of a file."""

    layer: LayerName
    name: str
    path: str
    """Dotted key; empty where the name is no known one."""
    node: LocatedNode


def settings_from_environment(env: Mapping[str, str]) -> list[SingleSetting]:
    """Return the settings among the environment variables, and those that only look like one."""
    return [
        _variable_setting(name, text)
        for name, text in sorted(env.items())
        if name.startswith(_VARIABLE_PREFIX) and not name.startswith(_VARIABLES_OF_THE_PROGRAM)
    ]


def settings_from_options(options: Mapping[str, object]) -> list[SingleSetting]:
    """Return the settings among the command-line options; None means not given."""
    return [
        SingleSetting(layer="option", name="option", path=path, node=node_of_value(value))
        for path, value in options.items()
        if value is not None
    ]


def variable_name(path: str) -> str:
    return _VARIABLE_PREFIX + path.replace(".", "_").replace("-", "_").upper()


def _variable_setting(name: str, text: str) -> SingleSetting:
    key, path = _known_path(name)
    node = node_of_value(text) if key is None else _variable_node(key, text)
    return SingleSetting(layer="environment", name=name, path=path, node=node)


def _known_path(name: str) -> tuple[ConfigKey | None, str]:
    for key in CONFIG_KEYS:
        if variable_name(key.path) == name and key.path != "config_version":
            return key, key.path
    for alias, path in KEY_ALIASES.items():
        if variable_name(alias) == name:
            return PROVIDER_KEYS_BY_PATH.get(path.rsplit(".", 1)[1]), path
    for key in PROVIDER_KEYS:
        start, end = f"{_VARIABLE_PREFIX}PROVIDERS_", f"_{key.path.upper()}"
        if name.startswith(start) and name.endswith(end) and len(name) > len(start) + len(end):
            return key, f"providers.{name[len(start) : -len(end)].lower()}.{key.path}"
    return None, ""


def _variable_node(key: ConfigKey, text: str) -> LocatedNode:
    base, _ = kind_parts(key.kind)
    if base is str or get_origin(base) is Literal:
        return node_of_value(text)
    if base is bool:
        return node_of_value(_FLAG_WORDS.get(text.lower(), text))
    try:
        return node_of_value(parse_json_nodes(text).value)
    except JsonError:
        is_list = get_origin(base) is list and kind_parts(get_args(base)[0])[0] is str
        return node_of_value([line for line in text.splitlines() if line.strip()] if is_list else text)


_HIDDEN_FIELDS = ("key_env", "key_command", "headers")
_KEY_FIELDS = ("key", "api_key", "apikey", "token", "secret")


class LayerValue(Struct, frozen=True, kw_only=True):
    """A value that a layer gives."""

    value: object
    origin: Origin


class LayerRead(Struct, kw_only=True):
    """What one layer holds; filled while it is read."""

    layer: LayerName
    file: str
    is_binding: bool
    """Whether its mistakes may be fatal: not those of a workspace that is not trusted."""
    values: dict[str, LayerValue] = field(default_factory=dict[str, LayerValue])
    report: ProblemReport = field(default_factory=ProblemReport)
    notes: list[str] = field(default_factory=list[str])

    def origin(self, line: int) -> Origin:
        return Origin(layer=self.layer, file=self.file, line=line or None)

    def place(self, path: str, node: LocatedNode) -> DocumentPlace:
        return DocumentPlace(report=self.report, file=self.file, node=node, path=path)

    def add(self, place: DocumentPlace, message: str, remedy: str = "", *, fatal: bool = False) -> None:
        """Report a problem; without a remedy the fold says what holds instead."""
        is_fatal = fatal and self.is_binding
        place.at(place.node, one_line(place.path, 80)).add(
            message, remedy, severity="error" if is_fatal else "warning", fatal=is_fatal
        )


def read_layer_object(read: LayerRead, root: LocatedNode) -> None:
    place = read.place("", root)
    if _is_readable_version(read, place):
        _read_members(read, place)


def read_layer_setting(read: LayerRead, setting: SingleSetting) -> None:
    key, place = config_key_at(setting.path), read.place(setting.path, setting.node)
    if key is not None:
        _read_value(read, key, place)
    elif setting.layer == "environment":
        names = {variable_name(path): path for path in KEYS_BY_PATH}
        remedy = _nearest(setting.name, names, "No setting has this variable.")
        message = f"{one_line(setting.name, 80)} is not a known setting and has no effect."
        read.add(place.at(setting.node, setting.name), message, remedy)
    else:
        _report_unknown_key(read, place)


def _is_readable_version(read: LayerRead, root: DocumentPlace) -> bool:
    place = root.member("config_version")
    if place is None:
        return True
    version = place.node.value
    major = _major_version(version)
    if major is not None and major <= CONFIG_VERSION:
        if isinstance(version, str):
            read.notes.append(f"{read.file} is of the older version {version}; it was read as version 1.")
        return True
    if major is None:
        message = (
            f'"config_version" must be {CONFIG_VERSION}, is {_shown_value("config_version", place.node)}.'
        )
        read.add(place, message, "Nothing of this file is used.", fatal=True)
    else:
        message = (
            f"it was written for version {_shown_value('', place.node)};"
            f" this program knows version {CONFIG_VERSION}."
        )
        read.add(place, message, "Nothing of it is used. Install a newer workbench.", fatal=True)
    return False


def _major_version(version: object) -> int | None:
    if isinstance(version, int) and not isinstance(version, bool) and version > 0:
        return version
    if isinstance(version, str) and re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,4}){0,2}", version):
        return int(version.split(".")[0])
    return None


def _read_members(read: LayerRead, parent: DocumentPlace) -> None:
    for _, place in parent.members():
        path = place.path
        if path == "config_version":
            continue
        if path == "providers":
            _read_providers(read, place)
        elif path in SECTION_PATHS:
            _read_section(read, place)
        elif path in KEYS_BY_PATH:
            _read_value(read, KEYS_BY_PATH[path], place)
        elif path in KEY_ALIASES:
            known = place.at(place.node, KEY_ALIASES[path])
            _read_value(read, PROVIDER_KEYS_BY_PATH[known.path.rsplit(".", 1)[1]], known)
        else:
            _report_unknown_key(read, place)


def _read_section(read: LayerRead, place: DocumentPlace) -> None:
    path = place.path
    if place.node.members is not None:
        _read_members(read, place)
        return
    is_strict = any(key.is_strict for key in KEYS_BY_PATH.values() if key.path.startswith(f"{path}."))
    message = f'"{path}" must be an object, is {_shown_value(path, place.node)}.'
    read.add(place, message, fatal=is_strict)


def _read_providers(read: LayerRead, providers: DocumentPlace) -> None:
    if providers.node.members is None:
        shown = _shown_value("headers", providers.node)
        read.add(providers, f'"providers" must be an object of providers by name, is {shown}.')
        return
    for name, place in providers.members():
        if not re.fullmatch(PROVIDER_NAME_PATTERN, name) or place.node.members is None:
            message = (
                f'"{one_line(place.path, 80)}" must be a name of letters, digits, _ and - with an object.'
            )
            read.add(place.own_key(), message)
            continue
        _read_provider(read, name, place)


def _read_provider(read: LayerRead, name: str, provider: DocumentPlace) -> None:
    for member_name, place in provider.members():
        key = PROVIDER_KEYS_BY_PATH.get(member_name)
        if key is None:
            _report_unknown_key(read, place)
        else:
            _read_value(read, key, place)
    where = provider.own_key()
    if name in PROVIDER_KINDS:
        kind = LayerValue(value=name, origin=read.origin(where.node.line))
        read.values.setdefault(f"{provider.path}.kind", kind)
    elif all(member.value is None for member in (provider.node.members or {}).values()):
        message = f"The provider {name} cannot be used: it has no kind."
        read.add(where, message, f"Add kind: {', '.join(PROVIDER_KINDS)}.")


def _read_value(read: LayerRead, key: ConfigKey, place: DocumentPlace) -> None:
    path, node = place.path, place.node
    if node.value is None and key.default is None:
        return
    try:
        checked = convert_node(node, key.kind)
    except InvalidValue as unfit:
        name = joined_key(path, unfit.key)
        message = f'"{one_line(name, 120)}" must be {unfit.expected}, is {_shown_value(name, unfit.node)}.'
        read.add(place.at(unfit.node, path), message, unfit.remedy, fatal=key.is_strict)
        return
    origin = read.origin(node.key_line or node.line)
    read.values[path] = LayerValue(value=_config_value(read, path, checked, node), origin=origin)


_LOCATED_RECORDS: Mapping[str, type[ToolHook | ApprovalWindow | AutoApprovalRule]] = {
    "PreToolUse": ToolHook, "PostToolUse": ToolHook, "windows": ApprovalWindow,
    "auto_approval_rules": AutoApprovalRule,
}  # fmt: skip
"""Lists of records each of which knows its line."""


def _config_value(read: LayerRead, path: str, value: Any, node: LocatedNode) -> object:
    origins = [read.origin(item.line) for item in node.items or ()]
    match path.rsplit(".", 1)[-1]:
        case "allow" | "deny":
            return tuple(map(_approval_pattern, value, origins))
        case name if name in _LOCATED_RECORDS:
            record = _LOCATED_RECORDS[name]
            return tuple(map(lambda members, origin: record(**members, origin=origin), value, origins))
        case "allowed_hosts" | "stop" | "leave_out":
            return tuple(value)
        case "tools":
            return MappingProxyType({name: ToolSettings(**settings) for name, settings in value.items()})
        case "prices" if path == "prices":
            return MappingProxyType({name: TokenPrices(**prices) for name, prices in value.items()})
        case "prices":
            return TokenPrices(**value)
        case _:
            return cast("object", value)


def _approval_pattern(value: "str | dict[str, Any]", origin: Origin) -> ApprovalPattern:
    if isinstance(value, str):
        return ApprovalPattern(text=value, origin=origin)
    return ApprovalPattern(text=value["pattern"], where=value.get("where", "inside"), origin=origin)


def _report_unknown_key(read: LayerRead, place: DocumentPlace) -> None:
    path = place.path
    parent, _, name = path.rpartition(".")
    if parent.startswith("providers.") and name.lower() in _KEY_FIELDS:
        remedy = "Keys are not kept in files: name the variable that holds it in key_env, or a key_command."
    elif parent.startswith("providers."):
        remedy = _nearest(name, {field_name: field_name for field_name in PROVIDER_KEYS_BY_PATH}, "")
    else:
        remedy = _nearest_key_path(path)
    read.add(place.own_key(), f'"{one_line(path, 80)}" is not a known key.', remedy, fatal=True)


def _nearest_key_path(path: str) -> str:
    candidates = [*KEYS_BY_PATH, *SECTION_PATHS, *KEY_ALIASES, "providers"]
    names = {known_path: known_path for known_path in candidates} | {
        known_path.rsplit(".", 1)[-1]: known_path for known_path in candidates if "." in known_path
    }
    for text in (path, path.rsplit(".", 1)[-1]):
        nearest = _nearest(text, {known_path: known_path for known_path in candidates}, "") or _nearest(
            text, names, ""
        )
        if nearest:
            return nearest
    return "workbench config show lists every key."


def _nearest(name: str, names: dict[str, str], otherwise: str) -> str:
    near = nearest_name(name, names, 0.7)
    return f"The nearest known key is {names[near]}." if near else otherwise


def _shown_value(path: str, node: LocatedNode) -> str:
    if any(name in path for name in _HIDDEN_FIELDS):
        return "something else"
    from workbench.secrets.scrubber import scrub

    return one_line(scrub(json.dumps(node.value, ensure_ascii=False)).text, 60)
