"""Approval rules: whether one is in force, and whether it covers a call.

An expression that allows has to match from the beginning of the parameter that says what the call acts on;
rules that deny or ask are searched everywhere. In doubt, a rule that allows does not match, and one that
denies or asks does.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from workbench.domain.rows import Rule
from workbench.domain.values import (
    Json,
    JsonObject,
    PatternKind,
    PermissionPattern,
    RuleEffect,
    ToolDescriptor,
)
from workbench.policy import permissions, regex
from workbench.policy.paths import PathRefused, ResolvedPath, resolve_path
from workbench.policy.shell.analysis import ShellView, SimpleCommand, view_command
from workbench.text import canonical


class RuleSubject(Struct, frozen=True, kw_only=True):
    """A call as rules see it."""

    descriptor: ToolDescriptor
    parameters: JsonObject
    targets: Mapping[str, ResolvedPath]
    files: tuple[ResolvedPath, ...] = ()
    """Files that it names elsewhere than in its path parameters: a rule that allows has to cover each."""
    canonical: str
    view: ShellView | None = None

    @property
    def named_paths(self) -> Mapping[str, ResolvedPath]:
        return with_files(self.targets, self.files)


class RuleMoment(Struct, frozen=True, kw_only=True):
    """Where and when a rule has to hold."""

    session_id: str
    workspace: str
    run_id: str | None
    now: int
    turn_id: str | None = None
    """The turn of the session that is not over; None between turns."""
    settings_of: str = ""
    """The workspace whose settings hold, if it is another one, as for a step of a pipeline."""


def with_files(
    targets: Mapping[str, ResolvedPath], files: Iterable[ResolvedPath]
) -> Mapping[str, ResolvedPath]:
    """Return all paths of a call; those that no parameter names have a key that no parameter has."""
    return {**targets, **{f"paths[{number}]": file for number, file in enumerate(files)}}


def rule_names_tool(
    tool: str, kind: PatternKind, descriptor: ToolDescriptor, effect: RuleEffect = "allow"
) -> bool:
    """Return whether a rule is about a tool; a name denies more than it allows."""
    if kind == "glob":
        purpose = "grant" if effect == "allow" else "deny"
        return permissions.permission_names_tool(permissions.ParsedPermission(name=tool), descriptor, purpose)
    counterparts = descriptor.acts_as if effect != "allow" or len(descriptor.acts_as) == 1 else ()
    return tool in (descriptor.id, descriptor.wire_name, *counterparts)


def allows_commands(rule: Rule, descriptors: Iterable[ToolDescriptor]) -> bool:
    """Return whether a rule allows command lines, so that it matters where they run."""
    return rule.effect == "allow" and any(
        tool.command_parameter is not None and rule_names_tool(rule.tool, rule.pattern_kind, tool)
        for tool in descriptors
    )


# --- does it cover a call? -----------------------------------------------------------------------


def is_rule_in_force(rule: Rule, moment: RuleMoment) -> bool:
    """Say whether a rule holds here and now: not revoked, not expired, in its scope."""
    if rule.revoked_at is not None or (rule.expires_at is not None and rule.expires_at <= moment.now):
        return False
    if rule.scope == "always":
        return True
    is_setting = rule.origin == "config" and moment.settings_of
    workspace = moment.settings_of if is_setting else moment.workspace
    scope_id = {
        "turn": moment.turn_id, "session": moment.session_id, "workspace": workspace, "run": moment.run_id,
    }[rule.scope]  # fmt: skip
    return scope_id is not None and rule.scope_id == scope_id


def rule_covers(rule: Rule, subject: RuleSubject) -> bool:
    """Say whether a rule matches a call, whatever its effect is."""
    if not rule_names_tool(rule.tool, rule.pattern_kind, subject.descriptor, rule.effect):
        return False
    if rule.effect != "allow":
        return _obstructs_call(rule, subject)
    if subject.descriptor.command_parameter is None:
        return _allows_call(rule, subject)
    view = subject.view
    return (
        view is not None
        and view.plain
        and all(_passes_command(rule, subject, simple) for simple in view.commands_to_cover)
    )


def first_rule_passing(rules: Iterable[Rule], subject: RuleSubject, simple: SimpleCommand) -> Rule | None:
    """Return the first of some allowing rules that allows one simple command of a plain line."""
    candidates = (rule for rule in rules if rule_names_tool(rule.tool, rule.pattern_kind, subject.descriptor))
    return next((rule for rule in candidates if _passes_command(rule, subject, simple)), None)


def rules_in_force(effect: RuleEffect, rules: Iterable[Rule], moment: RuleMoment) -> list[Rule]:
    return [rule for rule in rules if rule.effect == effect and is_rule_in_force(rule, moment)]


def _passes_command(rule: Rule, subject: RuleSubject, simple: SimpleCommand) -> bool:
    if rule.pattern_kind == "glob":
        return (
            permissions.first_permission_covering(
                (PermissionPattern(text=rule.pattern),), subject.descriptor, simple
            )
            is not None
        )
    name = subject.descriptor.command_parameter or ""
    texts = [_call_with_command(subject, name, simple.source)]
    if subject.view is not None and len(subject.view.commands) == 1:
        texts.append(subject.canonical)
    if not _finds_any(rule.pattern, texts, in_doubt=False) or not _begins_at_command(
        rule, subject, name, simple
    ):
        return False
    others = (_call_with_command(subject, name, other) for other in permissions.respelled_commands(simple))
    return not _finds_any(rule.pattern, others, in_doubt=True)


def _begins_at_command(rule: Rule, subject: RuleSubject, name: str, simple: SimpleCommand) -> bool:
    sources = [simple.source]
    if subject.view is not None and len(subject.view.commands) == 1:
        sources.append(str(subject.parameters.get(name, "")))
    return regex_begins_at_command(rule.pattern, subject.parameters, name, sources, simple)


def _call_with_command(subject: RuleSubject, name: str, command: str) -> str:
    return canonical.dumps({**subject.parameters, name: command})


def first_rule_covering(
    effect: RuleEffect, rules: Iterable[Rule], subject: RuleSubject, moment: RuleMoment
) -> Rule | None:
    return next((rule for rule in rules_in_force(effect, rules, moment) if rule_covers(rule, subject)), None)


def _allows_call(rule: Rule, subject: RuleSubject) -> bool:
    if rule.pattern_kind == "regex":
        return _regex_allows_files(rule.pattern, subject.files) and (
            (bool(subject.files) and not subject.targets)
            or regex_allows(rule.pattern, subject.descriptor, subject.parameters, subject.targets)
        )
    glob = PermissionPattern(text=rule.pattern)
    return permissions.permission_matches(
        glob, subject.descriptor, subject.parameters, subject.named_paths, subject.view
    )


def _obstructs_call(rule: Rule, subject: RuleSubject) -> bool:
    if rule.pattern_kind == "regex":
        is_whole = subject.view is None or subject.view.has_all_deny_texts
        return not is_whole or _finds_any(rule.pattern, _obstructing_texts(subject), in_doubt=True)
    glob = PermissionPattern(text=rule.pattern)
    if permissions.permission_matches(
        glob, subject.descriptor, subject.parameters, subject.named_paths, subject.view, purpose="deny"
    ):
        return True
    return rule.effect == "ask" and bool(rule_doubt(rule, subject))


def rule_doubt(rule: Rule, subject: RuleSubject) -> str:
    """Return why a rule that does not match a command for certain may be meant for it; empty if it is not."""
    if rule.pattern_kind == "regex" or not rule_names_tool(rule.tool, rule.pattern_kind, subject.descriptor):
        return ""
    glob = PermissionPattern(text=rule.pattern)
    return permissions.permission_doubt(glob, subject.descriptor, subject.view)


def _obstructing_texts(subject: RuleSubject) -> Iterator[str]:
    yield subject.canonical
    for real in with_real_paths(subject.parameters, subject.targets):
        yield canonical.dumps(real)
    for file in subject.files:
        for seen in _file_parameters(file):
            yield canonical.dumps(seen)
    name = subject.descriptor.command_parameter
    if name is not None and subject.view is not None:
        for text in subject.view.deny_texts:
            yield canonical.dumps({**subject.parameters, name: text})


def _finds_any(pattern: str, texts: Iterable[str], *, in_doubt: bool) -> bool:
    try:
        compiled = regex.compile_regex(pattern)
        return any(compiled.is_in(text) for text in texts)
    except (regex.InvalidRegex, regex.RegexTooCostly):
        return in_doubt


_REGEX_SPECIAL: Final = frozenset("\\.^$*+?()[]{}|")


def exact_regex(parameters: JsonObject) -> str:
    """Return the expression that matches exactly these parameters."""
    text = canonical.dumps(dict(parameters))
    return "^" + "".join(f"\\{sign}" if sign in _REGEX_SPECIAL else sign for sign in text) + "$"


def with_real_paths(parameters: JsonObject, targets: Mapping[str, ResolvedPath]) -> Iterator[JsonObject]:
    """Yield parameters with their real paths: relative to the workspace, then absolute."""
    yield {**parameters, **{name: target.relative for name, target in targets.items()}}
    if targets:
        yield {**parameters, **{name: target.path for name, target in targets.items()}}


def regex_allows(
    pattern: str, descriptor: ToolDescriptor, parameters: JsonObject, targets: Mapping[str, ResolvedPath]
) -> bool:
    """Say whether an expression allows a call that runs no command; unresolved paths are not allowed."""
    acted_on = [name for name in descriptor.path_parameters if name in parameters]
    if not targets.keys() >= set(acted_on):
        return False
    if not acted_on and descriptor.url_parameter in parameters:
        acted_on = [str(descriptor.url_parameter)]
    return any(_matches_target(pattern, real, acted_on) for real in with_real_paths(parameters, targets))


def _regex_allows_files(pattern: str, files: Iterable[ResolvedPath]) -> bool:
    """Say whether an expression allows every file that a call names elsewhere than in its parameters."""
    return all(
        any(_matches_target(pattern, seen, [_FILE_PARAMETER]) for seen in _file_parameters(file))
        for file in files
    )


_FILE_PARAMETER: Final = "path"


def _file_parameters(file: ResolvedPath) -> Iterator[JsonObject]:
    """Yield a file as an expression sees it: `{"path": ...}`, relative to the workspace, then absolute."""
    yield {_FILE_PARAMETER: file.relative}
    yield {_FILE_PARAMETER: file.path}


def _matches_target(pattern: str, parameters: JsonObject, acted_on: list[str]) -> bool:
    if pattern == exact_regex(parameters):
        return True
    whole = canonical.dumps(dict(parameters))
    if not _finds_any(pattern, (whole,), in_doubt=False):
        return False
    if not acted_on:
        members = (_canonical_member(parameters, name) for name in parameters)
        return _matches_at_start(pattern, whole) or any(_matches_at_start(pattern, text) for text in members)
    if all(_matches_at_start(pattern, _canonical_member(parameters, name)) for name in acted_on):
        return True
    if not _matches_at_start(pattern, whole):
        return False
    return _pins_members(pattern, parameters, acted_on) or _depends_on(pattern, parameters, acted_on)


def _pins_members(pattern: str, parameters: JsonObject, acted_on: list[str]) -> bool:
    """Say whether an expression over the whole JSON fixes how each of these members begins."""
    others = ({**parameters, name: f"{permissions.UNRELATED_WORD}{parameters[name]}"} for name in acted_on)
    return not any(_matches_at_start(pattern, canonical.dumps(other), in_doubt=True) for other in others)


def _depends_on(pattern: str, parameters: JsonObject, acted_on: list[str]) -> bool:
    """Say whether an expression over the whole JSON matches because of these members and nothing else."""
    neutral = {
        name: value if name in acted_on else _neutral_value(value) for name, value in parameters.items()
    }
    others = ({**neutral, name: permissions.UNRELATED_WORD} for name in acted_on)
    return _matches_at_start(pattern, canonical.dumps(neutral)) and not any(
        _matches_at_start(pattern, canonical.dumps(other), in_doubt=True) for other in others
    )


def _neutral_value(value: Json) -> Json:
    return value if value is None or isinstance(value, bool | int | float) else permissions.UNRELATED_WORD


def regex_begins_at_command(
    pattern: str, parameters: JsonObject, name: str, sources: Iterable[str], simple: SimpleCommand
) -> bool:
    """Say whether an expression matches a simple command from its first word on, and that word as a whole."""
    words = [*simple.assignments, *simple.written]
    head = len(simple.assignments)
    words[head : head + 1] = [f"{word}{permissions.UNRELATED_WORD}" for word in words[head : head + 1]]
    longer = " ".join(words)
    return any(
        pattern == exact_regex({**parameters, name: source})
        or _matches_whole_word(pattern, parameters, name, source, longer)
        for source in sources
    )


def _matches_whole_word(pattern: str, parameters: JsonObject, name: str, source: str, longer: str) -> bool:
    pairs = zip(
        _command_texts(parameters, name, source), _command_texts(parameters, name, longer), strict=True
    )
    return any(
        _matches_at_start(pattern, text)
        and (
            _matches_at_start(pattern, text, ending=_WORD_END)
            or not _matches_at_start(pattern, other, in_doubt=True)
        )
        for text, other in pairs
    )


def _command_texts(parameters: JsonObject, name: str, source: str) -> Iterator[str]:
    """Yield a command from its first word on, as its member, and as the JSON of a call without others."""
    call = {**{key: _neutral_value(value) for key, value in parameters.items()}, name: source}
    yield canonical.dumps(source)[1:]
    yield _canonical_member(call, name)
    yield canonical.dumps(call)


_WORD_END: Final = r'(?:[\s"\\]|$)'


def _canonical_member(parameters: JsonObject, name: str) -> str:
    return canonical.dumps({name: parameters[name]})[1:-1] + ("}" if name == max(parameters) else ",")


def _matches_at_start(pattern: str, text: str, *, ending: str = "", in_doubt: bool = False) -> bool:
    return _finds_any(f"\\A(?:{pattern}){ending}", (text,), in_doubt=in_doubt)


def call_subject(descriptor: ToolDescriptor, proposed: JsonObject, workspace: str) -> RuleSubject:
    """Return a call as rules see it; paths are resolved where there is a workspace."""
    parameters = dict(proposed)
    targets: dict[str, ResolvedPath] = {}
    for name in descriptor.path_parameters:
        if isinstance(path := parameters.get(name), str):
            try:
                targets[name] = resolve_path(workspace, path)
            except PathRefused:
                continue
    command = parameters.get(descriptor.command_parameter or "")
    return RuleSubject(
        descriptor=descriptor, parameters=parameters, targets=targets, canonical=canonical.dumps(parameters),
        view=view_command(command, workspace or None) if isinstance(command, str) else None,
    )  # fmt: skip
