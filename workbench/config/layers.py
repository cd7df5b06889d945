"""Puts the layers over each other: defaults, the user's file, the workspace's, environment, options.

Owns precedence and what a workspace may say before it is trusted: only what allows less. It must never
let a layer take away a denial or a hook of another, and never let a workspace grant.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import cast

from workbench.config.building import build, provider_of
from workbench.config.keys import BY_PATH, KEYS, PROVIDER_KINDS, Key, key_at
from workbench.config.reading import Found, LayerRead, problems_of, read_object, read_setting
from workbench.config.sources import Setting, Unreadable, from_environment, from_options, read_file
from workbench.config.values import DEFAULT, AutoApprovalRule, Ignored, Layer, Loaded, Problem, Provider

USER_FILE = "config.json"
WORKSPACE_FILE = ".workbench.json"


def load(
    home: Path,
    workspace: Path | None,
    *,
    trusted: bool,
    env: Mapping[str, str],
    options: Mapping[str, object],
) -> Loaded:
    """Read all layers and fold them.

    Args:
        home: The data home, where the user's config.json is.
        workspace: The workspace, where .workbench.json may be.
        trusted: Whether the user trusts the workspace as it is now.
        env: The environment; variables that are no settings are left alone.
        options: Settings of the command line by dotted key; None for what was not given.

    Returns:
        A configuration that can be used in any case; whether it may be is `Loaded.is_usable`.
    """
    user = _file_layer("user", home / USER_FILE, is_binding=True)
    files = [user]
    if workspace is not None:
        files.append(_file_layer("workspace", workspace / WORKSPACE_FILE, is_binding=trusted))
    settings = _setting_layers([*from_environment(env), *from_options(options)])
    folding = _Folding(trusted)
    for read in [*files, *settings]:
        folding.add(read)
    return folding.result([*files, *settings])


def _file_layer(layer: Layer, path: Path, *, is_binding: bool) -> LayerRead:
    read = LayerRead(layer=layer, file=str(path), is_binding=is_binding)
    try:
        root = read_file(path, may_be_link=layer == "user")
    except Unreadable as error:
        place = (error.line or 0, error.column or 0)
        message = f"The file is not used: {error.reason}"
        read.report("", place, message, error.remedy, fatal=True)
        return read
    if root is not None:
        read_object(read, root)
    return read


def _setting_layers(settings: Iterable[Setting]) -> list[LayerRead]:
    reads: list[LayerRead] = []
    for setting in settings:
        read = LayerRead(layer=setting.layer, file=setting.name, is_binding=True)
        read_setting(read, setting)
        reads.append(read)
    return reads


class _Folding:
    """The layers put over each other so far."""

    def __init__(self, trusted: bool) -> None:
        self.trusted = trusted
        self.values = {key.path: Found(value=key.default, origin=DEFAULT) for key in KEYS}
        self.providers: dict[str, dict[str, Found]] = {}
        self.ignored: list[Ignored] = []
        self.problems: list[Problem] = []

    def add(self, read: LayerRead) -> None:
        """Put one more layer on top."""
        replaced: set[str] = set()
        for path, found in read.found.items():
            reason = self._refusal(read.layer, path, found)
            if reason is not None:
                line = found.origin.line
                self.ignored.append(Ignored(key=path, file=read.file, line=line, reason=reason))
            elif path.startswith("providers."):
                self._add_provider(read.layer, path, found, replaced)
            else:
                self._add_value(BY_PATH[path], found)

    def _refusal(self, layer: Layer, path: str, found: Found) -> str | None:
        if layer != "workspace":
            return None
        if path == "approvals.allow":
            return "Only your own configuration can allow calls."
        if self.trusted:
            return None
        key = key_at(path)
        if key is None or key.narrows is None:
            return "The workspace is not trusted."
        if not key.narrows(found.value, self.values[path].value):
            return "The workspace is not trusted, and this would allow more than now."
        return None

    def _add_value(self, key: Key, found: Found) -> None:
        if key.is_united:
            earlier = cast("tuple[object, ...]", self.values[key.path].value)
            merged = earlier + cast("tuple[object, ...]", found.value)
            found = Found(value=merged, origin=found.origin)
        self.values[key.path] = found

    def _add_provider(self, layer: Layer, path: str, found: Found, replaced: set[str]) -> None:
        """Add one field of a provider; a workspace replaces a provider as a whole.

        Otherwise a workspace could send the key that the user named to an address of its own.
        """
        _, name, field = path.split(".", 2)
        name = self._known_name(name) if layer == "environment" else name
        if layer == "workspace" and name not in replaced:
            replaced.add(name)
            self.providers[name] = {}
        self.providers.setdefault(name, {})[field] = found

    def _known_name(self, name: str) -> str:
        """Find the provider that a variable means: variables have no small letters and no dash."""
        folded = name.replace("-", "_").lower()
        known = [*self.providers, *PROVIDER_KINDS]
        return next((one for one in known if one.replace("-", "_").lower() == folded), name)

    def result(self, reads: list[LayerRead]) -> Loaded:
        """Build the configuration and everything that is to be said about it."""
        providers = self._providers()
        self._check_default_provider(providers)
        self._drop_repeated_rules()
        origins = {path: found.origin for path, found in self.values.items()}
        for name, fields in self.providers.items():
            origins |= {f"providers.{name}.{field}": found.origin for field, found in fields.items()}
        values = {path: found.value for path, found in self.values.items()}
        return Loaded(
            config=build(values, MappingProxyType(providers)),
            origins=MappingProxyType(origins),
            problems=tuple(self._completed(problem) for problem in [*problems_of(reads), *self.problems]),
            ignored=tuple(self.ignored),
            notes=tuple(note for read in reads for note in read.notes),
        )

    def _providers(self) -> dict[str, Provider]:
        providers: dict[str, Provider] = {}
        for name, fields in self.providers.items():
            made = provider_of(name, fields)
            if isinstance(made, Problem):
                self.problems.append(made)
            else:
                providers[name] = made
        return providers

    def _check_default_provider(self, providers: Mapping[str, Provider]) -> None:
        found = self.values["default_provider"]
        if found.value is None or found.value in providers or found.value in PROVIDER_KINDS:
            return
        known = ", ".join(sorted(providers)) or "none"
        message = f'"default_provider" names {found.value}, which is not among the providers.'
        self._note(found, "default_provider", message, f"There are: {known}.")

    def _drop_repeated_rules(self) -> None:
        found = self.values["auto_approval_rules"]
        kept: dict[str, AutoApprovalRule] = {}
        for rule in cast("tuple[AutoApprovalRule, ...]", found.value):
            if rule.id in kept:
                message = f"The rule {rule.id} is there twice; the second is not used."
                self._note(
                    Found(value=None, origin=rule.origin),
                    "auto_approval_rules",
                    message,
                    "Give it another id.",
                )
            kept.setdefault(rule.id, rule)
        self.values["auto_approval_rules"] = Found(value=tuple(kept.values()), origin=found.origin)

    def _note(self, found: Found, key: str, message: str, remedy: str) -> None:
        origin = found.origin
        problem = Problem(
            file=origin.file or origin.layer,
            line=origin.line,
            column=None,
            key=key,
            message=message,
            remedy=remedy,
            fatal=False,
        )
        self.problems.append(problem)

    def _completed(self, problem: Problem) -> Problem:
        """Add what holds instead of a value that was not taken, where nobody said anything better."""
        if problem.remedy:
            return problem
        if problem.fatal:
            remedy = "Correct it; nothing is started before."
        elif problem.key not in self.values:
            remedy = "It has no effect."
        else:
            remedy = _instead(self.values[problem.key])
        return Problem(
            file=problem.file,
            line=problem.line,
            column=problem.column,
            key=problem.key,
            message=problem.message,
            remedy=remedy,
            fatal=problem.fatal,
        )


def _instead(found: Found) -> str:
    if found.origin.layer != "default":
        return f"The value of {found.origin.where()} is used."
    if not found.value and not isinstance(found.value, bool | int):
        return "None is used."
    return f"The default ({json.dumps(found.value)}) is used."
