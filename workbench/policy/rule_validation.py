"""Validation of approval rules: whether one may be saved, and what to warn of before and after."""

# Both faults of a rule pattern: one that names something is told that it runs away, one that names nothing
# that it is blanket.

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import dropwhile
from typing import Any, Final, Literal, cast

from workbench.domain.rows import Rule
from workbench.domain.values import (
    Json,
    JsonObject,
    PatternKind,
    PermissionPattern,
    RuleEffect,
    RuleScope,
    ToolDescriptor,
)
from workbench.policy import autorun_files, permissions, regex, regex_analysis, rules
from workbench.policy.paths import GOVERNING_NAMES, ResolvedPath, folded_path
from workbench.policy.pattern_remedies import LITERAL_END, anchored_pattern, target_parameter
from workbench.policy.permissions import MCP_PREFIX
from workbench.policy.rules import rule_names_tool
from workbench.policy.shell.analysis import view_command
from workbench.policy.shell.command_risk import assess_command
from workbench.policy.shell.risk_lists import TOO_BROAD_PROGRAMS, program_name
from workbench.policy.shell.variable_risk import ASSIGNMENT, assigned_name, variable_risk
from workbench.text import canonical
from workbench.text.safe import one_line

_SAMPLE_WORDS: Final = (
    permissions.UNRELATED_WORD, "Zt/wob3/Hn.q8z", "9jf-mu/_xl.tqk", "kyw ~ PLO 41", "éß漢字-07",
    "deep/er/and/still/B.hh4", "..", "m", "#{}[]()|&;$<>!", "X" * 300, "two\nlines\t2", "-u --vv=3 ./0w",
)  # fmt: skip
_SAMPLE_COMMANDS: Final = (
    "qvxkd", "zt-wob --hn q8z", "/opt/jf/mu _xl.tqk", "KYW plo 41 42", "m -u", "./deep/er/b.hh4 --x=1",
    "9jf", "lubz wepo tam rin", "hoq -a -b -c", "Xq7 @zz", "brv.9 /", "oo11 ..",
)  # fmt: skip
_SAMPLE_URLS: Final = (
    f"https://{permissions.UNRELATED_WORD}.example/", "http://zt.wob3.invalid:8080/Hn?q=8z", "https://[2001:db8::9]/mu",
    "https://KYW.test", "http://192.0.2.41/", "https://e.f.g.h.example/i/j.k#l", "https://m.invalid",
    "https://u:p@x.test/", "http://xn--zca.test/", "https://a-b-c.example/d.e", "https://0w.test:1/", "https://9.test",
)  # fmt: skip
_SAMPLE_INTEGERS: Final = (7, 41, 190003, 2, 88, 1, 640, 12, 5, 33, 9, 271)


def sample_calls(descriptor: ToolDescriptor) -> Iterator[tuple[JsonObject, ...]]:
    """Yield two series of samples: with the required parameters only, then with all."""
    properties = cast("dict[str, JsonObject]", dict(descriptor.input_schema.get("properties", {})))
    required = [name for name in properties if name in descriptor.input_schema.get("required", ())]
    yield _sample_call_series(descriptor, required, properties)
    if len(required) < len(properties):
        yield _sample_call_series(descriptor, list(properties), properties)


def covers_most_samples(covers: Callable[[JsonObject], bool], descriptor: ToolDescriptor) -> bool:
    """Say whether something matches more than half of the samples of any shape."""
    return any(sum(map(covers, samples)) * 2 > len(samples) for samples in sample_calls(descriptor))


def _sample_call_series(
    descriptor: ToolDescriptor, names: list[str], properties: dict[str, JsonObject]
) -> tuple[JsonObject, ...]:
    return tuple(
        {name: _sample_value(descriptor, name, properties[name], turn) for name in names}
        for turn in range(len(_SAMPLE_WORDS))
    )


def _sample_value(descriptor: ToolDescriptor, name: str, schema: JsonObject, turn: int) -> Json:
    kind: Any = schema.get("type", "string")
    if "enum" in schema:
        return schema["enum"][turn % len(schema["enum"])]
    match kind:
        case "integer" | "number":
            return _SAMPLE_INTEGERS[turn]
        case "boolean":
            return turn % 2 == 0
        case "array":
            return [_SAMPLE_WORDS[turn]]
        case "object":
            return {"k": _SAMPLE_WORDS[turn]}
        case _:
            return _sample_text(descriptor, name, turn)


def _sample_text(descriptor: ToolDescriptor, name: str, turn: int) -> str:
    if name == descriptor.command_parameter:
        return _SAMPLE_COMMANDS[turn]
    return _SAMPLE_URLS[turn] if name == descriptor.url_parameter else _SAMPLE_WORDS[turn]


_ASKS_NOW: Final = "asks now: "
ToolsById = Mapping[str, ToolDescriptor]


def rule_notes(
    *,
    tool: str,
    pattern_kind: PatternKind,
    pattern: str,
    known_tools: ToolsById,
    effect: RuleEffect = "allow",
) -> tuple[str, ...]:
    """Return notes on a rule before it is saved; none of them keeps it from being saved."""
    notes = never_matching_notes(
        tool=tool, pattern_kind=pattern_kind, pattern=pattern, known_tools=known_tools, effect=effect
    )
    if pattern_kind == "regex" and not notes:
        about = tools_named_by_rule(tool, pattern_kind, known_tools)
        notes = tuple(note for descriptor in about for note in _anchor_notes(pattern, descriptor, effect))
    return tuple(dict.fromkeys(notes))


def rule_warnings(rule: Rule, known_tools: ToolsById) -> tuple[str, ...]:
    """Return warnings about a saved rule: what it no longer allows and why, and what else it matches."""
    if rule.revoked_at is not None:
        return ()
    about = tools_named_by_rule(rule.tool, rule.pattern_kind, known_tools)
    # A saved rule may cover all calls of tools that only read: `workbench connect` saves such rules.
    may_be_wide = about and all(descriptor.risk_level == "read_only" for descriptor in about)
    why = rule_problems(
        tool=rule.tool, pattern_kind=rule.pattern_kind, pattern=rule.pattern, description="-",
        known_tools=known_tools, effect=rule.effect, scope="run" if may_be_wide else rule.scope,
    )  # fmt: skip
    prefix = _ASKS_NOW if rule.effect == "allow" else ""
    warnings = [f"{prefix}{text.removeprefix('pattern: ')}" for text in why]
    if not warnings and rule.effect == "allow" and rule.pattern_kind == "glob":
        warnings += [f"{_ASKS_NOW}{text}" for text in _coverage_losses(rule, known_tools)]
    warnings += rule_notes(
        tool=rule.tool, pattern_kind=rule.pattern_kind, pattern=rule.pattern, known_tools=known_tools,
        effect=rule.effect,
    )  # fmt: skip
    return tuple(dict.fromkeys(warnings))


def allow_pattern_problems(pattern: str, known_tools: ToolsById) -> tuple[str, ...]:
    """Return why a pattern of `approvals.allow` is wider than a rule may be, or allows nothing."""
    parsed = permissions.parse_permission(pattern)
    if parsed.problem is not None or not tools_named_by_rule(parsed.name, "glob", known_tools):
        return ()
    problems = rule_problems(
        tool=parsed.name, pattern_kind="glob", pattern=pattern, description="-", known_tools=known_tools
    )
    texts = [text.removeprefix("pattern: ") for text in problems]
    return tuple({text.partition(";")[0]: text for text in reversed(texts)}.values())


# --- regular expressions ---------------------------------------------------------------------------


def _anchor_notes(pattern: str, descriptor: ToolDescriptor, effect: RuleEffect) -> Iterator[str]:
    label, key = one_line(pattern, 80), target_parameter(descriptor)
    is_named = pattern.startswith("^") if key is None else key in pattern
    if effect != "allow":
        if not is_named:
            advice = _anchor_advice(pattern, descriptor, effect)
            yield f"{label} is searched in everything that a call says, contents and later words too{advice}"
        return
    if key is None:
        return
    if descriptor.command_parameter is not None:
        yield from _command_anchor_notes(label, pattern, descriptor, is_named=is_named)
    elif not is_named:
        advice = _anchor_advice(pattern, descriptor, effect)
        why = f"it could match contents as well as {key}, so it allows nothing"
        yield f"{label} names no parameter: {why}{advice}"
    elif LITERAL_END.search(pattern):
        yield f'{label} also covers every {key} that starts like this, such as {label}-2; end it with / or "'


def _command_anchor_notes(
    label: str, pattern: str, descriptor: ToolDescriptor, *, is_named: bool
) -> Iterator[str]:
    is_literal = LITERAL_END.search(pattern) is not None
    if is_named and not is_literal:
        return
    also = f", and covers whatever follows it, such as {label} --more" if is_literal else ""
    advice = _anchor_advice(pattern, descriptor, "allow")
    yield f"{label} is tried from the first word of a command{also}{advice}"


def _anchor_advice(pattern: str, descriptor: ToolDescriptor, effect: RuleEffect) -> str:
    remedy = _tried_remedy(pattern, descriptor, effect)
    return f"; anchor it as {remedy}" if remedy else ""


def _tried_remedy(pattern: str, descriptor: ToolDescriptor, effect: RuleEffect) -> str | None:
    samples = [sample for series in sample_calls(descriptor) for sample in series]
    remedy = anchored_pattern(pattern, descriptor, effect, samples)
    if remedy is None or next(_regex_objections(remedy, [descriptor], effect), None):
        return None
    return remedy


# --- globs that were saved before ------------------------------------------------------------------


def _coverage_losses(rule: Rule, known_tools: ToolsById) -> Iterator[str]:
    parsed = permissions.parse_permission(rule.pattern)
    argument = parsed.argument or ""
    for descriptor in tools_named_by_rule(rule.tool, "glob", known_tools):
        if not permissions.permission_names_tool(parsed, descriptor):
            continue
        if descriptor.command_parameter is not None:
            yield from _shortest_command_problem(rule, argument, descriptor)
        elif descriptor.path_parameters and descriptor.capability != "read":
            yield from _file_problem(argument)


def _shortest_command_problem(rule: Rule, argument: str, descriptor: ToolDescriptor) -> Iterator[str]:
    line = argument.removesuffix(":*").removesuffix("*").strip()
    if not line or "*" in line:
        return
    view = view_command(line)
    if not view.plain:
        yield f"{one_line(line, 80)}: {', '.join(view.reasons)}"
        return
    subject = rules.RuleSubject(
        descriptor=descriptor, parameters={descriptor.command_parameter or "": line}, targets={},
        canonical="", view=view,
    )  # fmt: skip
    if not rules.rule_covers(rule, subject):
        yield f"{one_line(line, 80)} is not covered by {one_line(rule.pattern, 80)} any more"


def _file_problem(argument: str) -> Iterator[str]:
    path = argument.replace("**", "x").replace("*", "x").removeprefix("./").removeprefix("/")
    if not path.strip("x"):
        return
    if folded_path(path).split("/", maxsplit=1)[0] in GOVERNING_NAMES:
        yield f"{one_line(argument, 80)} controls the workspace, and no agent may write it"
    elif why := autorun_files.autorun_reason(f"/{path}", "/"):
        yield f"{one_line(argument, 80)}: {autorun_files.AUTORUN_MARK}; {why}"


def warnings_by_rule(rows: Sequence[Rule], known_tools: ToolsById) -> dict[str, tuple[str, ...]]:
    """Return the warnings of rules by their number, those without any left out."""
    if not known_tools:
        return {}
    warnings = {rule.id: rule_warnings(rule, known_tools) for rule in rows}
    return {number: texts for number, texts in warnings.items() if texts}


PatternAcceptance = Literal["accept", "reject_blanket", "reject_invalid", "reject_redos"]


# --- may it be saved? ----------------------------------------------------------------------------


def rule_problems(
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

    A glob rule names its tool by id, by a field name or by `*`. A grant for one run repeats a list that a
    human saw line by line, so it may be as wide as that.
    """
    problems = [] if description.strip() else ["description: empty; say what the rule is for"]
    about = tools_named_by_rule(tool, pattern_kind, known_tools)
    if not about:
        problems.append(f"tool: {one_line(tool, 60)} is not registered")
    if pattern_kind == "regex":
        problems.extend(_regex_rule_problems(pattern, about, effect))
    else:
        problems.extend(_permission_rule_problems(pattern, about, effect, scope))
    # Tools that one name stands for are judged one by one, and often alike.
    return tuple(dict.fromkeys(problems))


def never_matching_notes(
    *,
    tool: str,
    pattern_kind: PatternKind,
    pattern: str,
    known_tools: ToolsById,
    effect: RuleEffect = "allow",
) -> tuple[str, ...]:
    """Return a note for a pattern that can never match, and the notes of a permission pattern."""
    if pattern_kind == "glob":
        return tuple(
            note.text for note in permissions.parse_permission(pattern).notes if note.level != "error"
        )
    if regex.regex_problem(pattern) is not None:
        return ()
    anchor = regex_analysis.unreachable_anchor(pattern, "{", "}")
    if not anchor:
        return ()
    about = tools_named_by_rule(tool, pattern_kind, known_tools)
    remedy = next(filter(None, (_tried_remedy(pattern, descriptor, effect) for descriptor in about)), None)
    why = "start with {" if anchor == "start" else "end with }"
    advice = f"; write {remedy}" if remedy else ""
    return (f"{one_line(pattern, 80)} can never match: parameters are JSON and {why}{advice}",)


def tools_named_by_rule(
    tool: str, kind: PatternKind, tools: Mapping[str, ToolDescriptor]
) -> list[ToolDescriptor]:
    """Return the tools that a rule is about, each once."""
    once = {descriptor.id: descriptor for descriptor in tools.values()}
    return [registered for registered in once.values() if rule_names_tool(tool, kind, registered)]


def pattern_acceptance(
    tool: str, pattern: str, known_tools: Mapping[str, ToolDescriptor]
) -> tuple[PatternAcceptance, str]:
    """Say whether a regular expression over canonical JSON may become a rule that allows, and why not."""
    about = tools_named_by_rule(tool, "regex", known_tools)
    if not about:
        return "reject_invalid", f"tool: {one_line(tool, 60)} is not registered"
    objection = next(_regex_objections(pattern, about, "allow"), None)
    return objection or ("accept", "it says what it allows, and runs in linear time")


def _regex_rule_problems(
    pattern: str, covered: Sequence[ToolDescriptor], effect: RuleEffect
) -> Iterator[str]:
    for _, why in _regex_objections(pattern, covered, effect):
        yield why


def _regex_objections(
    pattern: str, covered: Sequence[ToolDescriptor], effect: RuleEffect
) -> Iterator[tuple[PatternAcceptance, str]]:
    if why := regex.regex_problem(pattern):
        yield "reject_invalid", f"pattern: not a valid regular expression: {why}"
        return
    if effect != "allow":
        return
    compiled = regex.compile_regex(pattern)
    slow = regex_analysis.backtracking_objection(pattern)
    slow = slow and f"pattern: {one_line(pattern, 80)} could be extremely slow in other programs: {slow}"
    if slow and regex_analysis.is_specific_regex(pattern):
        yield "reject_redos", slow  # said first: `(a+)+` means something, `(.*)*` means everything
    for descriptor in covered:
        if covers_most_samples(lambda sample: compiled.is_in(canonical.dumps(sample)), descriptor):
            yield (
                "reject_blanket",
                f"pattern: {one_line(pattern, 80)} would allow nearly every call of {descriptor.id}; "
                "name what is allowed, for example a file or a folder",
            )
    if slow and not regex_analysis.is_specific_regex(pattern):
        yield "reject_redos", slow


def _permission_rule_problems(
    pattern: str, covered: Sequence[ToolDescriptor], effect: RuleEffect, scope: RuleScope
) -> Iterator[str]:
    parsed = permissions.parse_permission(pattern)
    if parsed.problem is not None:
        yield f"pattern: {one_line(pattern, 80)}: {parsed.problem}"
        return
    tools = [descriptor for descriptor in covered if permissions.permission_names_tool(parsed, descriptor)]
    if covered and not tools and not parsed.name.startswith(MCP_PREFIX):
        yield f"pattern: {one_line(pattern, 80)} is about another tool than the rule"
    if effect != "allow" or scope == "run":
        return
    for descriptor in tools:
        if why := _breadth_problem(parsed, pattern, descriptor):
            yield f"pattern: {one_line(pattern, 80)} {why}"


def _breadth_problem(
    parsed: permissions.ParsedPermission, pattern: str, descriptor: ToolDescriptor
) -> str | None:
    if descriptor.command_parameter is not None and parsed.argument:
        argument = parsed.argument.removesuffix(":*")
        spaced = argument.replace("*", " * ").split()
        words = list(dropwhile(ASSIGNMENT.match, spaced))
        whole = list(dropwhile(ASSIGNMENT.match, argument.split()))
        head = program_name(words[0]) if words else "*"
        if (
            why := _assignment_problem(argument.split()[: -len(whole) or None])
            or _never_passed_reason(words)
            or _unspelled_reason(whole)
        ):
            return f"can allow nothing: {why}, so each call of it is asked"
        if head in TOO_BROAD_PROGRAMS and (len(words) < 2 or words[1] == "*") and parsed.argument != words[0]:
            return f"is too wide: {TOO_BROAD_PROGRAMS[head]}"
    if covers_most_samples(lambda sample: _permission_covers_sample(pattern, descriptor, sample), descriptor):
        example = "Bash(git diff *)" if descriptor.command_parameter else f"{parsed.name}(src/**)"
        return f"would allow everything; name what is allowed, for example {example}"
    return None


def _assignment_problem(assignments: Iterable[str]) -> str | None:
    for text in assignments:
        name = assigned_name(text)
        if why := variable_risk(name):
            return why
        if "*" in text:
            return f"it does not spell out what {name} is set to"
    return None


def _never_passed_reason(words: Sequence[str]) -> str | None:
    if not words:
        return "it names no command"
    judged = assess_command([word.replace("*", permissions.UNRELATED_WORD) for word in words])
    if judged.reasons:
        return judged.reasons[0]
    if judged.unknown is not None and "*" in words[judged.unknown]:
        return None
    if any("*" in word for word in words[: judged.spelled]) and judged.spelled > 1:
        return f"it does not name what {program_name(words[0])} may run"
    return None


def _unspelled_reason(words: Sequence[str]) -> str | None:
    starred = {index for index, word in enumerate(words) if "*" in word}
    judged = assess_command([word.replace("*", permissions.UNRELATED_WORD) for word in words])
    if not starred or judged.unknown in starred:
        return None
    if len(judged.literal | set(range(judged.spelled))) < len(words):
        is_open = judged.literal & starred
        return f"it does not spell out the options of {program_name(words[0])}" if is_open else None
    if judged.unknown is None:
        return None
    return f"{words[judged.unknown]} is not known to be harmless, so a pattern has to be the whole line"


def _permission_covers_sample(pattern: str, descriptor: ToolDescriptor, sample: JsonObject) -> bool:
    targets = {
        name: ResolvedPath(path=f"/{sample[name]}", relative=str(sample[name]), exists=False)
        for name in descriptor.path_parameters
        if name in sample
    }
    command = sample.get(descriptor.command_parameter or "")
    view = view_command(command) if isinstance(command, str) else None
    return permissions.permission_matches(PermissionPattern(text=pattern), descriptor, sample, targets, view)
