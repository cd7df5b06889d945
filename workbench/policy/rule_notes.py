"""What is to be said of a rule or a pattern: before it is saved, and of one that was saved before.

Owns the words about patterns that begin or end anywhere, and about rules that cover less than they did when
they were saved. What a pattern may not say is judged by `rules`, so whatever becomes stricter there is said
here too.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from workbench.domain.rows import Rule
from workbench.domain.values import PatternKind, RuleEffect, ToolDescriptor
from workbench.policy import autorun, globs, rules
from workbench.policy.paths import GOVERNING, folded
from workbench.policy.shell import view
from workbench.text.safe import one_line

_ASKS: Final = "asks now: "
_LITERAL_END: Final = re.compile(r"(?:^|[^\\])(?:\\\\)*[A-Za-z0-9_-]$|\\[.-]$")

Tools = Mapping[str, ToolDescriptor]


def notes(
    *, tool: str, pattern_kind: PatternKind, pattern: str, known_tools: Tools, effect: RuleEffect = "allow"
) -> tuple[str, ...]:
    """Return what is to be said of a rule before it is saved; nothing that keeps it from being saved."""
    found = list(rules.notes(pattern_kind=pattern_kind, pattern=pattern))
    if pattern_kind == "regex":
        for descriptor in rules.covered(tool, pattern_kind, known_tools):
            found.extend(_unanchored(pattern, descriptor, effect))
    return tuple(dict.fromkeys(found))


def rule_warnings(rule: Rule, known_tools: Tools) -> tuple[str, ...]:
    """Return what is wrong with a rule that was saved: what asks now and why, and what else it matches."""
    if rule.revoked_at is not None:
        return ()
    why = rules.problems(
        tool=rule.tool, pattern_kind=rule.pattern_kind, pattern=rule.pattern, description="-",
        known_tools=known_tools, effect=rule.effect, scope=rule.scope,
    )  # fmt: skip
    prefix = _ASKS if rule.effect == "allow" else ""
    found = [f"{prefix}{text.removeprefix('pattern: ')}" for text in why]
    if not found and rule.effect == "allow" and rule.pattern_kind == "glob":
        found += [f"{_ASKS}{text}" for text in _stricter(rule, known_tools)]
    found += notes(
        tool=rule.tool, pattern_kind=rule.pattern_kind, pattern=rule.pattern, known_tools=known_tools,
        effect=rule.effect,
    )  # fmt: skip
    return tuple(dict.fromkeys(found))


def width(pattern: str, known_tools: Tools) -> tuple[str, ...]:
    """Return why a pattern of `approvals.allow` is wider than a rule may be, or allows nothing."""
    parsed = globs.parse(pattern)
    if parsed.problem is not None or not rules.covered(parsed.name, "glob", known_tools):
        return ()
    found = rules.problems(
        tool=parsed.name, pattern_kind="glob", pattern=pattern, description="-", known_tools=known_tools
    )
    texts = [text.removeprefix("pattern: ") for text in found]
    return tuple({text.partition(";")[0]: text for text in reversed(texts)}.values())


# --- regular expressions ---------------------------------------------------------------------------


def _unanchored(pattern: str, descriptor: ToolDescriptor, effect: RuleEffect) -> Iterator[str]:
    shown, key = one_line(pattern, 80), _key(descriptor)
    is_named = pattern.startswith("^") or (key is not None and key in pattern)
    if effect != "allow":
        if not is_named:
            what = f'; anchor it as "{key}":"{shown}' if key else ""
            yield f"{shown} is searched in everything that a call says, contents and later words too{what}"
        return
    if key is None:
        return
    if descriptor.command_parameter is not None:
        yield from _open_command(shown, pattern, is_named=is_named)
    elif not is_named:
        yield (
            f"{shown} names no parameter: it could match contents as well as {key}, so it allows nothing; "
            f'anchor it as "{key}":"{shown}'
        )
    elif _LITERAL_END.search(pattern):
        yield f'{shown} also covers every {key} that begins so, such as {shown}-2; end it with / or "'


def _open_command(shown: str, pattern: str, *, is_named: bool) -> Iterator[str]:
    if is_named and not _LITERAL_END.search(pattern):
        return
    name = "" if is_named else '"command":"'
    end = '"' if _LITERAL_END.search(pattern) else ""
    also = f", and covers whatever goes on behind it, such as {shown} --more" if end else ""
    yield f"{shown} is tried from the first word of a command{also}; anchor it as {name}{shown}{end}"


def _key(descriptor: ToolDescriptor) -> str | None:
    """Return the parameter that says what a call acts on."""
    return descriptor.command_parameter or next(iter(descriptor.path_parameters), descriptor.url_parameter)


# --- globs that were saved before ------------------------------------------------------------------


def _stricter(rule: Rule, known_tools: Tools) -> Iterator[str]:
    parsed = globs.parse(rule.pattern)
    argument = parsed.argument or ""
    for descriptor in rules.covered(rule.tool, "glob", known_tools):
        if not globs.names_tool(parsed, descriptor):
            continue
        if descriptor.command_parameter is not None:
            yield from _line(rule, argument, descriptor)
        elif descriptor.path_parameters and descriptor.capability != "read":
            yield from _file(argument)


def _line(rule: Rule, argument: str, descriptor: ToolDescriptor) -> Iterator[str]:
    """Say why the shortest line that a pattern spells out is asked about."""
    line = argument.removesuffix(":*").removesuffix("*").strip()
    if not line or "*" in line:
        return
    seen = view(line)
    if not seen.plain:
        yield f"{one_line(line, 80)}: {', '.join(seen.reasons)}"
        return
    subject = rules.Subject(
        descriptor=descriptor, parameters={descriptor.command_parameter or "": line}, targets={},
        canonical="", view=seen,
    )  # fmt: skip
    if not rules.covers(rule, subject):
        yield f"{one_line(line, 80)} is not covered by {one_line(rule.pattern, 80)} any more"


def _file(argument: str) -> Iterator[str]:
    """Say why a file that a pattern names is asked about or refused."""
    path = argument.replace("**", "x").replace("*", "x").removeprefix("./").removeprefix("/")
    if not path.strip("x"):
        return
    if folded(path).split("/", maxsplit=1)[0] in GOVERNING:
        yield f"{one_line(argument, 80)} governs the workspace, and no agent may write it"
    elif why := autorun.reason(f"/{path}", "/"):
        yield f"{one_line(argument, 80)}: {autorun.MARK}; {why}"


def listed(rows: Sequence[Rule], known_tools: Tools) -> dict[str, tuple[str, ...]]:
    """Return the warnings of rules by their number, those without any left out."""
    if not known_tools:
        return {}
    found = {rule.id: rule_warnings(rule, known_tools) for rule in rows}
    return {number: texts for number, texts in found.items() if texts}
