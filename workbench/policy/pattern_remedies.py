"""What to write instead of an expression that is not anchored at the parameter it is about.

A remedy is tried with the real search on real calls before anybody sees it; one that fails is not returned.
Judges no rule, and saves none.
"""

import re
from collections.abc import Iterable
from posixpath import normpath
from typing import Final

from msgspec import Struct

from workbench.domain.rows import Rule
from workbench.domain.values import JsonObject, RuleEffect, ToolDescriptor
from workbench.policy import regex, regex_analysis, rules
from workbench.policy.paths import ResolvedPath
from workbench.policy.shell.analysis import view_command
from workbench.text import canonical
from workbench.text.safe import one_line

LITERAL_END: Final = re.compile(r"(?:^|[^\\])(?:\\\\)*[A-Za-z0-9_-]$|\\[.-]$")
"""The end of an expression that is a letter, a digit, a dot or a hyphen: longer texts match it too."""
_MAX_LENGTH: Final = 80
_ANY_CHARACTER: Final = {"allow": '[^"]'}
_ANY_ESCAPED: Final = r'(?:[^"\\]|\\.)'
"""A character of a value, for a dot; what allows stops at every quotation mark, also at an escaped one."""
_FILE_ENDING: Final = re.compile(r"\\\.\w+$")
_TOKEN: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\.", re.DOTALL)
_GROUP: Final = re.compile(r"\([^()]*\)")


def target_parameter(descriptor: ToolDescriptor) -> str | None:
    """Return the name of the parameter that says what a call acts on."""
    return descriptor.command_parameter or next(iter(descriptor.path_parameters), descriptor.url_parameter)


def anchored_pattern(
    pattern: str, descriptor: ToolDescriptor, effect: RuleEffect, samples: Iterable[JsonObject]
) -> str | None:
    """Return a pattern of the same meaning that begins at the parameter; None where none proves right.

    `samples`: calls of the tool, in which the remedy is tried.
    """
    key = target_parameter(descriptor)
    if key is None or len(pattern) > _MAX_LENGTH or key in pattern.removeprefix(f'"{key}":"'):
        return None
    meant = _parse_value_pattern(pattern.removeprefix(f'"{key}":"'), is_named=key in pattern)
    if meant.is_open_start and descriptor.command_parameter and effect == "allow":
        return None  # whatever stands first in a command is what runs
    value = _example_value(meant, descriptor)
    remedy = f'"{key}":"{_remedy_body(meant, descriptor, effect)}'
    if value is None or regex.regex_problem(remedy) is not None or one_line(remedy, 400) != remedy:
        return None
    rule = Rule(
        id="", effect=effect, origin="user", scope="always", tool=descriptor.id, pattern_kind="regex",
        pattern=remedy, description="", created_at=0,
    )  # fmt: skip
    is_right = all(_covers_target_only(rule, descriptor, sample, key, value) for sample in samples)
    return remedy if is_right else None


class _ValuePattern(Struct, frozen=True, kw_only=True):
    """What somebody meant by an expression about a value."""

    body: str
    is_open_start: bool
    """Anything may be in front of it."""
    is_open_end: bool


def _parse_value_pattern(text: str, *, is_named: bool) -> _ValuePattern:
    is_closed = ends_in_dollar(text)
    body = text[:-1] if is_closed else text
    is_begun = is_named or body.startswith("^")
    body = body.removeprefix("^")
    return _ValuePattern(
        body=body.removeprefix(".*").removesuffix(".*"),
        is_open_start=body.startswith(".*") or (is_closed and not is_begun),
        is_open_end=not is_closed or body.endswith(".*"),
    )


def ends_in_dollar(pattern: str) -> bool:
    """Return whether a pattern ends in a dollar sign that is not escaped."""
    return pattern.endswith("$") and (len(pattern) - len(pattern[:-1].rstrip("\\"))) % 2 == 1


def _example_value(meant: _ValuePattern, descriptor: ToolDescriptor) -> str | None:
    """Return a value that is meant: what the expression says, with more where it is open."""
    text = regex_analysis.example_text(meant.body)
    if not text:
        return None
    more = " x" if descriptor.command_parameter else "/x"
    return f"{'x/' if meant.is_open_start else ''}{text}{more if _covers_more(meant, descriptor) else ''}"


def _covers_more(meant: _ValuePattern, descriptor: ToolDescriptor) -> bool:
    """Return whether more may follow: a file ending and the words of a command are meant to be all."""
    if not meant.is_open_end or not LITERAL_END.search(meant.body):
        return meant.is_open_end
    return not (descriptor.command_parameter or meant.is_open_start or _FILE_ENDING.search(meant.body))


def _remedy_body(meant: _ValuePattern, descriptor: ToolDescriptor, effect: RuleEffect) -> str:
    character = _ANY_CHARACTER.get(effect, _ANY_ESCAPED)
    body = _TOKEN.sub(lambda match: character if match.group() == "." else match.group(), meant.body)
    if _has_alternatives(meant.body):
        body = f"(?:{body})"
    start = f"{character}*" if meant.is_open_start else ""
    if not meant.is_open_end:
        return f'{start}{body}"'
    if effect != "allow" or not LITERAL_END.search(meant.body):
        return f"{start}{body}"
    return f"{start}{body}/" if _covers_more(meant, descriptor) else f'{start}{body}"'


def _has_alternatives(body: str) -> bool:
    """Return whether a choice between alternatives is outside every group."""
    text, shorter = "", _TOKEN.sub("", body)
    while text != shorter:
        text, shorter = shorter, _GROUP.sub("", shorter)
    return "|" in text


def _covers_target_only(
    rule: Rule, descriptor: ToolDescriptor, sample: JsonObject, key: str, value: str
) -> bool:
    """Return whether a rule covers a value in its parameter, and not in the others."""
    elsewhere = {
        name: value if isinstance(given, str) and name != key else given for name, given in sample.items()
    }
    return rules.rule_covers(rule, _subject(descriptor, {**sample, key: value})) and not rules.rule_covers(
        rule, _subject(descriptor, elsewhere)
    )


def _subject(descriptor: ToolDescriptor, parameters: JsonObject) -> rules.RuleSubject:
    """Return a call as rules see it, without a look at the disk."""
    targets = {
        name: ResolvedPath(path=f"/{path}", relative=path, exists=False)
        for name in descriptor.path_parameters
        if name in parameters and (path := normpath(str(parameters[name])))
    }
    command = parameters.get(descriptor.command_parameter or "")
    return rules.RuleSubject(
        descriptor=descriptor, parameters=parameters, targets=targets, canonical=canonical.dumps(parameters),
        view=view_command(command) if isinstance(command, str) else None,
    )  # fmt: skip
