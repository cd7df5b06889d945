"""Approval rules: whether one may be saved, and whether one covers a call.

Owns the checks of S0 ApprovalRule and matching on canonical JSON. Counting uses and storing rules belong
to the journal. A rule that lets pass matches less in doubt, one that stands in the way more.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from typing import Final, Literal

from workbench.domain.rows import Rule
from workbench.domain.values import JsonObject, PatternKind, RuleEffect, RuleScope, ToolDescriptor
from workbench.policy import backtracking, globs, probes, regex, rule_regex
from workbench.policy.names import MCP
from workbench.policy.paths import ResolvedPath
from workbench.policy.shell import ShellView, Simple, view
from workbench.policy.shell_judging import judge
from workbench.policy.shell_lists import TOO_BROAD, program
from workbench.policy.variables import variable_reason
from workbench.text import canonical
from workbench.text.safe import one_line

_ASSIGNED: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")

Acceptance = Literal["accept", "reject_blanket", "reject_invalid", "reject_redos"]
"""What is said of a pattern before it may become a rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A call as rules see it."""

    descriptor: ToolDescriptor
    parameters: JsonObject
    targets: Mapping[str, ResolvedPath]
    canonical: str
    """Canonical JSON of the parameters."""
    view: ShellView | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Where and when a rule has to hold."""

    session_id: str
    workspace: str
    run_id: str | None
    now: int


# --- may it be saved? ----------------------------------------------------------------------------


def problems(
    *,
    tool: str,
    pattern_kind: PatternKind,
    pattern: str,
    description: str,
    known_tools: Mapping[str, ToolDescriptor],
    effect: RuleEffect = "allow",
    scope: RuleScope = "always",
) -> tuple[str, ...]:
    """Return why a rule may not be saved; nothing if it may.

    Args:
        tool: Id of the tool; a glob rule may also name it by a field name, or say `*`.
        pattern_kind: How to read the pattern.
        pattern: Regular expression over canonical JSON, or a permission pattern.
        description: What the rule is for.
        known_tools: Descriptors by id.
        effect: Only a rule that allows has to say what it allows.
        scope: A grant for one run repeats a list that was shown line by line, and may be as wide as that.
    """
    found = [] if description.strip() else ["description: empty; say what the rule is for"]
    about = covered(tool, pattern_kind, known_tools)
    if not about:
        found.append(f"tool: {one_line(tool, 60)} is not registered")
    if pattern_kind == "regex":
        found.extend(_regex_problems(pattern, about, effect))
    else:
        found.extend(_glob_problems(pattern, about, effect, scope))
    return tuple(found)


def notes(*, pattern_kind: PatternKind, pattern: str) -> tuple[str, ...]:
    """Return what is to be said about a rule that may be saved."""
    if pattern_kind == "glob":
        return tuple(note.text for note in globs.parse(pattern).notes if note.level != "error")
    if _ends_in_dollar(pattern) and "}" not in pattern:
        return (
            f"{one_line(pattern, 80)} can never match: parameters are JSON and end in }}; "
            'write for example \\.txt"}$',
        )
    return ()


def _ends_in_dollar(pattern: str) -> bool:
    return pattern.endswith("$") and (len(pattern) - len(pattern[:-1].rstrip("\\"))) % 2 == 1


def covered(tool: str, kind: PatternKind, known: Mapping[str, ToolDescriptor]) -> list[ToolDescriptor]:
    """Return the tools that a rule is about, each once."""
    once = {descriptor.id: descriptor for descriptor in known.values()}
    return [found for found in once.values() if _names(tool, kind, found)]


def _names(tool: str, kind: PatternKind, descriptor: ToolDescriptor) -> bool:
    if kind == "glob":
        return globs.names_tool(globs.ParsedGlob(name=tool), descriptor)
    return tool in (descriptor.id, descriptor.wire_name)


def acceptance(tool: str, pattern: str, known_tools: Mapping[str, ToolDescriptor]) -> tuple[Acceptance, str]:
    """Say whether a regular expression may become a rule that allows, and why not.

    Args:
        tool: Id or wire name of the tool.
        pattern: Regular expression over canonical JSON.
        known_tools: Descriptors by id.
    """
    about = covered(tool, "regex", known_tools)
    if not about:
        return "reject_invalid", f"tool: {one_line(tool, 60)} is not registered"
    found = next(_regex_objections(pattern, about, "allow"), None)
    return found or ("accept", "it says what it allows, and runs in linear time")


def _regex_problems(pattern: str, covered: Sequence[ToolDescriptor], effect: RuleEffect) -> Iterator[str]:
    for _, why in _regex_objections(pattern, covered, effect):
        yield why


def _regex_objections(
    pattern: str, covered: Sequence[ToolDescriptor], effect: RuleEffect
) -> Iterator[tuple[Acceptance, str]]:
    if why := regex.problem(pattern):
        yield "reject_invalid", f"pattern: not a valid regular expression: {why}"
        return
    if effect != "allow":
        return
    compiled = regex.compiled(pattern)
    slow = backtracking.objection(pattern)
    slow = slow and f"pattern: {one_line(pattern, 80)} could run away in other programs: {slow}"
    if slow and backtracking.is_specific(pattern):
        yield "reject_redos", slow  # said first: `(a+)+` means something, `(.*)*` means everything
    for descriptor in covered:
        if probes.is_blanket(lambda sample: compiled.is_in(canonical.dumps(sample)), descriptor):
            yield (
                "reject_blanket",
                f"pattern: {one_line(pattern, 80)} would allow nearly every call of {descriptor.id}; "
                "name what is allowed, for example a file or a folder",
            )
    if slow and not backtracking.is_specific(pattern):
        yield "reject_redos", slow


def _glob_problems(
    pattern: str, covered: Sequence[ToolDescriptor], effect: RuleEffect, scope: RuleScope
) -> Iterator[str]:
    parsed = globs.parse(pattern)
    if parsed.problem is not None:
        yield f"pattern: {one_line(pattern, 80)}: {parsed.problem}"
        return
    named = [descriptor for descriptor in covered if globs.names_tool(parsed, descriptor)]
    if covered and not named and not parsed.name.startswith(MCP):
        yield f"pattern: {one_line(pattern, 80)} is about another tool than the rule"
    if effect != "allow" or scope == "run":
        return
    for descriptor in named:
        if why := _breadth(parsed, pattern, descriptor):
            yield f"pattern: {one_line(pattern, 80)} {why}"


def _breadth(parsed: globs.ParsedGlob, pattern: str, descriptor: ToolDescriptor) -> str | None:
    """Return why a pattern allows too much, or nothing at all."""
    if descriptor.command_parameter is not None and parsed.argument:
        argument = parsed.argument.removesuffix(":*")
        spaced = argument.replace("*", " * ").split()
        words = list(dropwhile(_ASSIGNED.match, spaced))
        whole = list(dropwhile(_ASSIGNED.match, argument.split()))
        head = program(words[0]) if words else "*"
        if why := _steers(argument.split()[: -len(whole) or None]) or _never(words) or _unspelled(whole):
            return f"can allow nothing: {why}, so each call of it is asked"
        if head in TOO_BROAD and (len(words) < 2 or words[1] == "*") and parsed.argument != words[0]:
            return f"is too wide: {TOO_BROAD[head]}"
    if probes.is_blanket(lambda sample: _glob_covers(pattern, descriptor, sample), descriptor):
        example = "Bash(git diff *)" if descriptor.command_parameter else f"{parsed.name}(src/**)"
        return f"would allow everything; name what is allowed, for example {example}"
    return None


def _steers(assignments: Iterable[str]) -> str | None:
    """Return why variables in front of a command are no harmless ones, or none that are spelled out."""
    for text in assignments:
        name = text.partition("=")[0].removesuffix("+")
        if why := variable_reason(name):
            return why
        if "*" in text:
            return f"it does not spell out what {name} is set to"
    return None


def _never(words: Sequence[str]) -> str | None:
    """Return why no command that begins with the words of a pattern is ever let pass."""
    if not words:
        return "it names no command"
    judged = judge([word.replace("*", globs.UNRELATED) for word in words])
    if judged.reasons:
        return judged.reasons[0]
    if judged.unknown is not None and "*" in words[judged.unknown]:
        return None
    if any("*" in word for word in words[: judged.spelled]) and judged.spelled > 1:
        return f"it does not name what {program(words[0])} may run"
    return None


def _unspelled(words: Sequence[str]) -> str | None:
    """Return why a pattern spells out too little of what is not known to be harmless."""
    starred = {at for at, word in enumerate(words) if "*" in word}
    judged = judge([word.replace("*", globs.UNRELATED) for word in words])
    if not starred or judged.unknown in starred:
        return None
    if len(judged.literal | set(range(judged.spelled))) < len(words):
        is_open = judged.literal & starred
        return f"it does not spell out the options of {program(words[0])}" if is_open else None
    if judged.unknown is None:
        return None
    return f"{words[judged.unknown]} is not known to be harmless, so a pattern has to be the whole line"


def _glob_covers(pattern: str, descriptor: ToolDescriptor, sample: JsonObject) -> bool:
    targets = {
        name: ResolvedPath(path=f"/{sample[name]}", relative=str(sample[name]), exists=False)
        for name in descriptor.path_parameters
        if name in sample
    }
    command = sample.get(descriptor.command_parameter or "")
    seen = view(command) if isinstance(command, str) else None
    return globs.matches(globs.Glob(text=pattern), descriptor, sample, targets, seen)


# --- does it cover a call? -----------------------------------------------------------------------


def is_in_force(rule: Rule, moment: Moment) -> bool:
    """Say whether a rule holds here and now: not revoked, not expired, in its scope."""
    if rule.revoked_at is not None or (rule.expires_at is not None and rule.expires_at <= moment.now):
        return False
    if rule.scope == "always":
        return True
    here = {"session": moment.session_id, "workspace": moment.workspace, "run": moment.run_id}[rule.scope]
    return here is not None and rule.scope_id == here


def index(rules: Iterable[Rule]) -> dict[str, tuple[Rule, ...]]:
    """Return rules by the tool they name, in their order."""
    found: dict[str, list[Rule]] = {}
    for rule in rules:
        found.setdefault(rule.tool, []).append(rule)
    return {tool: tuple(some) for tool, some in found.items()}


def covers(rule: Rule, subject: Subject) -> bool:
    """Say whether a rule matches a call, whatever its effect is."""
    if not _names(rule.tool, rule.pattern_kind, subject.descriptor):
        return False
    if rule.effect != "allow":
        return _stands_in_the_way(rule, subject)
    if subject.descriptor.command_parameter is None:
        return _allows(rule, subject)
    seen = subject.view
    return seen is not None and seen.plain and all(_lets_pass(rule, subject, one) for one in seen.to_cover)


def covering(rules: Iterable[Rule], subject: Subject, simple: Simple) -> Rule | None:
    """Return the first of some allowing rules that lets one simple command of a plain line pass."""
    named = (rule for rule in rules if _names(rule.tool, rule.pattern_kind, subject.descriptor))
    return next((rule for rule in named if _lets_pass(rule, subject, simple)), None)


def in_force(effect: RuleEffect, rules: Iterable[Rule], moment: Moment) -> list[Rule]:
    """Return the rules with an effect that hold here and now."""
    return [rule for rule in rules if rule.effect == effect and is_in_force(rule, moment)]


def _lets_pass(rule: Rule, subject: Subject, simple: Simple) -> bool:
    if rule.pattern_kind == "glob":
        return globs.covering((globs.Glob(text=rule.pattern),), subject.descriptor, simple) is not None
    name = subject.descriptor.command_parameter or ""
    texts = [_as_call(subject, name, simple.source)]
    if subject.view is not None and len(subject.view.commands) == 1:
        texts.append(subject.canonical)
    if not _finds(rule.pattern, texts, in_doubt=False) or not _begins(rule, subject, name, simple):
        return False
    others = (_as_call(subject, name, other) for other in globs.misspelled(simple))
    return not _finds(rule.pattern, others, in_doubt=True)


def _begins(rule: Rule, subject: Subject, name: str, simple: Simple) -> bool:
    """Say whether a regular expression matches a simple command from its first word on."""
    sources = [simple.source]
    if subject.view is not None and len(subject.view.commands) == 1:
        sources.append(str(subject.parameters.get(name, "")))
    return rule_regex.begins(rule.pattern, subject.parameters, name, sources, simple)


def _as_call(subject: Subject, name: str, command: str) -> str:
    return canonical.dumps({**subject.parameters, name: command})


def first(effect: RuleEffect, rules: Iterable[Rule], subject: Subject, moment: Moment) -> Rule | None:
    """Return the first rule with this effect that is in force and matches a call."""
    return next((rule for rule in in_force(effect, rules, moment) if covers(rule, subject)), None)


def matches(rule: Rule, tool: str, text: str) -> bool:
    """Say whether a regex rule is about a tool and matches canonical JSON; for backtests and checks."""
    return (
        rule.tool == tool and rule.pattern_kind == "regex" and _finds(rule.pattern, (text,), in_doubt=False)
    )


def _allows(rule: Rule, subject: Subject) -> bool:
    if rule.pattern_kind == "regex":
        return rule_regex.allows(rule.pattern, subject.descriptor, subject.parameters, subject.targets)
    glob = globs.Glob(text=rule.pattern)
    return globs.matches(glob, subject.descriptor, subject.parameters, subject.targets, subject.view)


def _stands_in_the_way(rule: Rule, subject: Subject) -> bool:
    if rule.pattern_kind == "regex":
        is_whole = subject.view is None or subject.view.is_reach_whole
        return not is_whole or _finds(rule.pattern, _texts(subject), in_doubt=True)
    glob = globs.Glob(text=rule.pattern)
    return globs.matches(
        glob, subject.descriptor, subject.parameters, subject.targets, subject.view, purpose="deny"
    )


def _texts(subject: Subject) -> Iterator[str]:
    """Yield the canonical JSON, also with real paths and with each command hidden in its command."""
    yield subject.canonical
    for real in rule_regex.grounded(subject.parameters, subject.targets):
        yield canonical.dumps(real)
    name = subject.descriptor.command_parameter
    if name is not None and subject.view is not None:
        for text in subject.view.reach:
            yield canonical.dumps({**subject.parameters, name: text})


def _finds(pattern: str, texts: Iterable[str], *, in_doubt: bool) -> bool:
    try:
        compiled = regex.compiled(pattern)
        return any(compiled.is_in(text) for text in texts)
    except (regex.BadPattern, regex.TooCostly):
        return in_doubt
