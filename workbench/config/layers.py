"""Fold the layers into one Config: defaults, the user's file, the workspace's, environment, options.

A layer never takes away a denial or a hook of another; an untrusted workspace only narrows.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar, cast

from msgspec import Struct
from msgspec.structs import fields, replace

from workbench.config.config_file import UnreadableFile, read_config_file
from workbench.config.keys import PROVIDER_KINDS, ConfigKey
from workbench.config.layer_reader import (
    LayerRead,
    LayerValue,
    SingleSetting,
    read_layer_object,
    read_layer_setting,
    settings_from_environment,
    settings_from_options,
)
from workbench.config.sections import ToolSettings, narrowed_tools
from workbench.config.types import (
    CONFIG_KEYS,
    DEFAULT_ORIGIN,
    KEYS_BY_PATH,
    PROVIDER_KEYS,
    AutoApprovalRule,
    Config,
    IgnoredValue,
    LayerName,
    LoadedConfig,
    ProviderSettings,
    config_key_at,
)
from workbench.domain.values import WORKSPACE_CONFIG_FILE
from workbench.effects.search_path import note_workspace
from workbench.text.json_nodes import LocatedNode
from workbench.text.problems import Problem

S = TypeVar("S", bound=Struct)


def build_config(values: Mapping[str, Any], providers: Mapping[str, ProviderSettings]) -> Config:
    keymap = MappingProxyType(values["ui.keymap"])
    return _build_section(Config, "", {**values, "ui.keymap": keymap, "providers": providers})


def _build_section(section: type[S], prefix: str, values: Mapping[str, Any]) -> S:
    members = {field.name: (f"{prefix}{field.encode_name}", field.type) for field in fields(section)}
    return section(
        **{
            name: values[path] if path in values else _build_section(kind, f"{path}.", values)
            for name, (path, kind) in members.items()
        }
    )


def build_provider(name: str, fields: Mapping[str, LayerValue]) -> ProviderSettings | Problem:
    """Build a provider; where its fields do not go together, say so."""
    values: dict[str, Any] = {key.path: key.default for key in PROVIDER_KEYS}
    values |= {field: layer_value.value for field, layer_value in fields.items()}
    first = fields.get("kind") or next(iter(fields.values()))
    if values["kind"] is None and name in PROVIDER_KINDS:
        values["kind"] = name
    kind = PROVIDER_KINDS.get(str(values["kind"]))
    values["base_url"] = values["base_url"] or (kind.default_base_url if kind else None)
    values["headers"] = MappingProxyType(values["headers"])
    wrong = _provider_problem(values)
    if wrong is None:
        return ProviderSettings(name=name, **values, origin=first.origin)
    return first.origin.problem(
        f"providers.{name}", f"The provider {name} cannot be used: {wrong[0]}", wrong[1]
    )


def _provider_problem(values: Mapping[str, Any]) -> tuple[str, str] | None:
    if values["kind"] is None:
        return "it has no kind.", f"Add kind: {', '.join(PROVIDER_KINDS)}."
    if PROVIDER_KINDS[values["kind"]].has_server and values["base_url"] is None:
        return "it has no base_url.", 'Add base_url, such as "http://localhost:8080/v1".'
    if values["key_env"] is not None and values["key_command"] is not None:
        return "it has both key_env and key_command.", "Keep one of them."
    return None


USER_CONFIG_FILE = "config.json"
ONLY_OF_USER: Final[Mapping[str, str]] = {
    "approvals.allow": "Only your own configuration can allow calls.",
    "sandbox.visible": "Only your own configuration shows files outside the workspace to commands.",
    "sandbox.backend": "Only your own configuration chooses what the sandbox is made with.",
    "notify.command": "Only your own configuration names the command that carries notices.",
}
"""Settings that no workspace has, trusted or not, and why."""
_RULES: Final = "auto_approval_rules"
_ONLY_INSIDE: Final = "only your own configuration lets commands run outside."
NARROWED_BY_WORKSPACE: Final = frozenset({"sandbox.level", "sandbox.required", "approvals.sandboxed"})
"""Settings that a workspace only narrows, trusted or not."""


def load_config(
    home: Path,
    workspace: Path | None,
    *,
    trusted: bool,
    env: Mapping[str, str],
    options: Mapping[str, object],
) -> LoadedConfig:
    """Read all layers and fold them; whether the result may be used is `LoadedConfig.is_usable`.

    `home` holds the user's file, `workspace` may hold its own; an option that is None was not given. From now
    on this process looks for no program of its own in that workspace.
    """
    user = _read_file_layer("user", home / USER_CONFIG_FILE, is_binding=True)
    files = [user]
    if workspace is not None:
        note_workspace(str(workspace))
        files.append(_read_file_layer("workspace", workspace / WORKSPACE_CONFIG_FILE, is_binding=trusted))
    settings = _read_setting_layers([*settings_from_environment(env), *settings_from_options(options)])
    folding = _LayerFold(trusted)
    for read in [*files, *settings]:
        folding.add(read)
    return folding.result([*files, *settings])


def _read_file_layer(layer: LayerName, path: Path, *, is_binding: bool) -> LayerRead:
    read = LayerRead(layer=layer, file=str(path), is_binding=is_binding)
    try:
        root = read_config_file(path, may_be_link=layer == "user")
    except UnreadableFile as error:
        where = LocatedNode(value=None, line=error.line, column=error.column)
        message = f"The file is not used: {error.reason}"
        read.add(read.place("", where), message, error.remedy, fatal=True)
        return read
    if root is not None:
        read_layer_object(read, root)
    return read


def _read_setting_layers(settings: Iterable[SingleSetting]) -> list[LayerRead]:
    reads: list[LayerRead] = []
    for setting in settings:
        read = LayerRead(layer=setting.layer, file=setting.name, is_binding=True)
        read_layer_setting(read, setting)
        reads.append(read)
    return reads


class _LayerFold:
    def __init__(self, trusted: bool) -> None:
        self.trusted = trusted
        self.values = {key.path: LayerValue(value=key.default, origin=DEFAULT_ORIGIN) for key in CONFIG_KEYS}
        self.providers: dict[str, dict[str, LayerValue]] = {}
        self.ignored: list[IgnoredValue] = []
        self.problems: list[Problem] = []

    def add(self, read: LayerRead) -> None:
        replaced: set[str] = set()
        for path, layer_value in self._kept_inside(read).items():
            reason = self._refusal(read.layer, path, layer_value)
            if reason is not None:
                line = layer_value.origin.line
                self.ignored.append(IgnoredValue(key=path, file=read.file, line=line, reason=reason))
            elif path.startswith("providers."):
                self._add_provider(read.layer, path, layer_value, replaced)
            else:
                self._add_value(KEYS_BY_PATH[path], layer_value)

    def _kept_inside(self, read: LayerRead) -> Mapping[str, LayerValue]:
        """Return the values of a layer; the rules of a workspace let no command outside the sandbox."""
        rules = read.values.get(_RULES)
        if rules is None or read.layer != "workspace":
            return read.values
        own = cast("tuple[AutoApprovalRule, ...]", rules.value)
        for rule in own:
            if rule.where == "outside":
                message = f"The rule {rule.id} runs commands inside the sandbox: {_ONLY_INSIDE}"
                self.problems.append(rule.origin.problem(_RULES, message, 'Take "where" out.'))
        inside = tuple(replace(rule, where=None) for rule in own)
        return {**read.values, _RULES: LayerValue(value=inside, origin=rules.origin)}

    def _refusal(self, layer: LayerName, path: str, layer_value: LayerValue) -> str | None:
        if layer != "workspace":
            return None
        if path in ONLY_OF_USER:
            return ONLY_OF_USER[path]
        if self.trusted and path not in NARROWED_BY_WORKSPACE:
            return None
        key = config_key_at(path)
        if key is None or key.narrows is None:
            return "The workspace is not trusted."
        if not key.narrows(layer_value.value, self.values[path].value):
            why = "A workspace only narrows this" if self.trusted else "The workspace is not trusted"
            return f"{why}, and this would allow more than now."
        return None

    def _add_value(self, key: ConfigKey, layer_value: LayerValue) -> None:
        if key.is_united:
            merged = _united(self.values[key.path].value, layer_value.value)
            layer_value = LayerValue(value=merged, origin=layer_value.origin)
        self.values[key.path] = layer_value

    def _add_provider(self, layer: LayerName, path: str, layer_value: LayerValue, replaced: set[str]) -> None:
        """Add one field of a provider; a workspace replaces a provider as a whole.

        Otherwise a workspace could send the key that the user named to an address of its own.
        """
        _, name, field = path.split(".", 2)
        name = self._known_name(name) if layer == "environment" else name
        if layer == "workspace" and name not in replaced:
            replaced.add(name)
            self.providers[name] = {}
        self.providers.setdefault(name, {})[field] = layer_value

    def _known_name(self, name: str) -> str:
        folded = name.replace("-", "_").lower()
        names = [*self.providers, *PROVIDER_KINDS]
        return next((provider for provider in names if provider.replace("-", "_").lower() == folded), name)

    def result(self, reads: list[LayerRead]) -> LoadedConfig:
        providers = self._providers()
        self._check_default_provider(providers)
        self._drop_repeated_rules()
        origins = {path: layer_value.origin for path, layer_value in self.values.items()}
        for name, provider_fields in self.providers.items():
            origins |= {
                f"providers.{name}.{field}": layer_value.origin
                for field, layer_value in provider_fields.items()
            }
        values = {path: layer_value.value for path, layer_value in self.values.items()}
        return LoadedConfig(
            config=build_config(values, MappingProxyType(providers)),
            origins=MappingProxyType(origins),
            problems=tuple(
                self._completed(problem)
                for problem in (*(problem for read in reads for problem in read.report.found), *self.problems)
            ),
            ignored=tuple(self.ignored),
            notes=tuple(note for read in reads for note in read.notes),
        )

    def _providers(self) -> dict[str, ProviderSettings]:
        providers: dict[str, ProviderSettings] = {}
        for name, provider_fields in self.providers.items():
            provider = build_provider(name, provider_fields)
            if isinstance(provider, Problem):
                self.problems.append(provider)
            else:
                providers[name] = provider
        return providers

    def _check_default_provider(self, providers: Mapping[str, ProviderSettings]) -> None:
        default = self.values["default_provider"]
        if default.value is None or default.value in providers or default.value in PROVIDER_KINDS:
            return
        names = ", ".join(sorted(providers)) or "none"
        message = f'"default_provider" names {default.value}, which is not among the providers.'
        self.problems.append(default.origin.problem("default_provider", message, f"There are: {names}."))

    def _drop_repeated_rules(self) -> None:
        rules = self.values[_RULES]
        rules_by_id: dict[str, AutoApprovalRule] = {}
        for rule in cast("tuple[AutoApprovalRule, ...]", rules.value):
            if rule.id in rules_by_id:
                message = f"The rule {rule.id} is there twice; the second is not used."
                self.problems.append(rule.origin.problem(_RULES, message, "Give it another id."))
            rules_by_id.setdefault(rule.id, rule)
        self.values[_RULES] = LayerValue(value=tuple(rules_by_id.values()), origin=rules.origin)

    def _completed(self, problem: Problem) -> Problem:
        """Add what holds instead of a value that was not taken, where nobody said anything better."""
        if problem.remedy:
            return problem
        if problem.fatal:
            remedy = "Correct it; nothing is started before."
        elif problem.key not in self.values:
            remedy = "It has no effect."
        else:
            remedy = _replacement_words(self.values[problem.key])
        return replace(problem, remedy=remedy)


def _united(earlier: object, later: object) -> object:
    """Return what two layers say together: both lists, or the tools as far as both allow them."""
    if isinstance(later, tuple):
        return cast("tuple[object, ...]", earlier) + cast("tuple[object, ...]", later)
    tools = cast("tuple[Mapping[str, ToolSettings], Mapping[str, ToolSettings]]", (earlier, later))
    return MappingProxyType(narrowed_tools(*tools))


def _replacement_words(layer_value: LayerValue) -> str:
    if layer_value.origin.layer != "default":
        return f"The value of {layer_value.origin.where()} is used."
    if not layer_value.value and not isinstance(layer_value.value, bool | int):
        return "None is used."
    return f"The default ({json.dumps(layer_value.value)}) is used."
