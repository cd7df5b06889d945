"""Rules that a call suggests, from exactly this call to wider ones, and backtests on recorded calls."""

import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from typing import Final, cast
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.rows import Call, Rule, Session
from workbench.domain.tools import BuiltInTool
from workbench.domain.values import Json, JsonObject, PatternKind, RuleEffect, RuleScope, ToolDescriptor
from workbench.policy import rule_validation, rules
from workbench.policy.command_review import review_command
from workbench.policy.permissions import UNRELATED_WORD
from workbench.policy.rules import call_subject, exact_regex
from workbench.policy.shell.analysis import ShellView, SimpleCommand, view_command
from workbench.policy.shell.command_paths import CommandBoundary, boundary_objection
from workbench.policy.shell.risk_lists import (
    NETWORK_PROGRAMS,
    REMOVING_PROGRAMS,
    SHELLS,
    program_and_subcommand,
)
from workbench.policy.shell.scanner import scan_commands
from workbench.secrets.scrubber import scrub
from workbench.text.display import json_strings, text_warnings
from workbench.text.safe import one_line

_PATH_NAMES: Final = {"path": ("file_path", "absolute_path", "target_file", "filePath", "notebook_path")}
_COMMAND_NAMES: Final = {"command": ("cmd", "script")}
_EDIT_NAMES: Final = _PATH_NAMES | {"old_string": ("search", "old_str"), "new_string": ("replace", "new_str")}
_FOREIGN_TOOL_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "run_in_terminal": (
        "bash", "shell", "exec_command", "local_shell", "run_shell_command", "execute_bash",
        "execute_command", "run_terminal_cmd",
    ),
    "read_file": ("read", "read_file", "view"),
    "replace_string_in_file": ("edit", "replace", "str_replace", "search_replace", "replace_string_in_file"),
    "create_file": ("write", "write_file", "create_file"),
    "list_dir": ("ls", "list_directory", "list", "list_dir"),
    "grep_search": ("grep", "search_file_content"),
    "file_search": ("glob",),
    "fetch_webpage": ("webfetch", "web_fetch"),
}  # fmt: skip
"""What other agents call a tool, in lower case; source: their tool references."""
FOREIGN_COMMAND_TOOLS: Final = ("run_in_terminal", *_FOREIGN_TOOL_NAMES["run_in_terminal"])
"""Names of the tools with which agents run commands, in lower case."""
_FOREIGN_PARAMETER_NAMES: Final = {
    "run_in_terminal": _COMMAND_NAMES, "read_file": _PATH_NAMES, "replace_string_in_file": _EDIT_NAMES,
    "create_file": _PATH_NAMES | {"content": ("file_text", "contents")},
    "list_dir": {"path": ("dir_path", "directory", "target_directory")},
}  # fmt: skip
_OWN_TOOL_BY_FOREIGN_NAME: Final = {name: own for own, names in _FOREIGN_TOOL_NAMES.items() for name in names}


def as_own_call(tool: str, parameters: JsonObject) -> tuple[str, JsonObject]:
    """Return another agent's recorded call as the same call of our tool; any other call as it is."""
    own = _OWN_TOOL_BY_FOREIGN_NAME.get(tool.lower())
    if own is None:
        return tool, parameters
    own_parameters = dict(parameters)
    for name, others in _FOREIGN_PARAMETER_NAMES.get(own, {}).items():
        other = next((other for other in others if other in own_parameters), None)
        if name not in own_parameters and other is not None:
            own_parameters[name] = own_parameters.pop(other)
    if own == "run_in_terminal":
        own_parameters = (
            {"command": _command_line(own_parameters["command"])} if "command" in own_parameters else {}
        )
    return own, own_parameters


def _command_line(command: Json) -> Json:
    if not isinstance(command, list):
        return command
    words = [word for word in cast("list[Json]", command) if isinstance(word, str)]
    if len(words) == 3 and words[0].rpartition("/")[2] in SHELLS and words[1] in ("-c", "-lc", "-cl"):
        return words[2]
    return shlex.join(words)


def is_copied_by_fork(session: Session, call: Call) -> bool:
    """Say whether a call is a fork's copy, made in the session that was forked."""
    return "forked_from" in session.configuration and call.requested_at < session.created_at


def rule_concerns_tool(rule: Rule, descriptor: ToolDescriptor) -> bool:
    about = "" if rule.pattern_kind == "regex" else rule.pattern.partition("(")[0]
    return rules.rule_covers(replace(rule, effect="deny", pattern=about), _parameterless_subject(descriptor))


def _parameterless_subject(descriptor: ToolDescriptor) -> rules.RuleSubject:
    return rules.RuleSubject(
        descriptor=descriptor, parameters={}, targets={}, canonical="{}", view=view_command("true")
    )


_PATTERN_NAMES: Final = {tool.id: tool.pattern_name for tool in BuiltInTool if tool.pattern_name}
_PLAIN_WORD: Final = re.compile(r"[A-Za-z0-9_./:=,@%+~-]+")
"""A word that means the same with and without a shell."""
_REDIRECT: Final = re.compile(r"[0-9&]*[<>]")
_WILDCARD_SIGNS: Final = frozenset("*()?[]{}")


class SuggestedRule(Struct, frozen=True, kw_only=True):
    """A rule that could be saved, or why it could not."""

    tool: str
    pattern_kind: PatternKind
    pattern: str
    covers: str
    """What it would cover, in words: `exactly this`."""
    refused: str = ""


class RuleSuggestions(Struct, frozen=True, kw_only=True):
    """Everything that can be made of one call."""

    subject: rules.RuleSubject
    candidates: tuple[SuggestedRule, ...] = ()
    about: str = ""
    """The command or the part of it, the path or the address that the candidates are about; raw."""
    part: int | None = None
    """Which part of a line of several commands they are about, from 1."""
    parts: int = 1
    part_subject: rules.RuleSubject | None = None
    """That part as a call of its own."""
    why_none: str = ""
    """Why no rule can cover the call; then there are no candidates."""


def suggest_rules(
    descriptor: ToolDescriptor,
    parameters: JsonObject,
    workspace: str,
    standing: Sequence[Rule] = (),
    boundary: CommandBoundary | None = None,
) -> RuleSuggestions:
    """Return the rules that a call suggests, narrowest first.

    Of a line of several commands the suggestions are about the first one that no rule of `standing` covers.
    Without a boundary, the paths that commands touch are not checked.
    """
    subject = call_subject(descriptor, parameters, workspace)
    why = _uncoverable_reason(subject, boundary)
    if why:
        return RuleSuggestions(subject=subject, why_none=why)
    if subject.view is not None:
        return _command_suggestions(subject, standing)
    about, drafts = _target_drafts(subject)
    return RuleSuggestions(
        subject=subject, about=about, candidates=tuple(_judged_suggestion(subject, draft) for draft in drafts)
    )


def _uncoverable_reason(subject: rules.RuleSubject, boundary: CommandBoundary | None) -> str:
    view = subject.view
    if view is not None and not view.plain:
        return uncoverable_line_reason(view, subject.descriptor)
    if view is not None and boundary is not None and (why := boundary_objection(view.commands, boundary)):
        return f"no rule can cover it: {why}"
    name = subject.descriptor.command_parameter
    for key, value in subject.parameters.items():
        place = "approval_command" if key == name else "diff_preview"
        odd = {oddity for text in json_strings(value) for oddity in text_warnings(text, place)} - {"long"}
        if odd and subject.descriptor.capability != "read":
            return "no rule can cover it: it contains hidden or misleading characters"
    return ""


# --- lines that no rule can cover ----------------------------------------------------------------


def uncoverable_line_reason(view: ShellView, descriptor: ToolDescriptor) -> str:
    """Return why no rule can cover a line, and for which part, with the nearest rule that can."""
    why = f"no rule can cover it: {', '.join(view.reasons)}"
    parts = review_command(view.raw).parts
    number, part = next(((n, each) for n, each in enumerate(parts, 1) if each.reasons), (0, None))
    if part is None:
        return why
    where = f", in part {number} of {len(parts)}: {_shown_command(part.text)}" if len(parts) > 1 else ""
    nearest = _nearest_pattern(part.text, descriptor) if "a syntax error" not in view.reasons else ""
    return f"{why}{where}{f'; without that, {nearest} would cover it' if nearest else ''}"


def _nearest_pattern(command: str, descriptor: ToolDescriptor) -> str:
    """Return a pattern for a command without its redirects and expansions, empty where none can be saved."""
    segments = scan_commands(command).segments
    written = list(takewhile(lambda word: not _REDIRECT.match(word), segments[0].words)) if segments else []
    words = [word for word in written if _PLAIN_WORD.fullmatch(word)]
    if words[:1] != written[:1] or not words:
        return ""
    parameters = {descriptor.command_parameter or "": " ".join((*words, UNRELATED_WORD))}
    subject = call_subject(descriptor, cast("JsonObject", parameters), "")
    if subject.view is None or not subject.view.plain or len(subject.view.commands) != 1:
        return ""
    drafts = _command_drafts(subject, subject.view.commands[0])
    judged = map(partial(_judged_suggestion, subject), drafts)
    patterns = [each.pattern for each in judged if not each.refused and each.pattern.endswith(" *)")]
    if program_and_subcommand(words) & (REMOVING_PROGRAMS | NETWORK_PROGRAMS):
        # A rule for everything that such a program can do is not what anyone needs.
        patterns = [pattern for pattern in patterns if pattern.count(" ") > 1]
    return next((pattern for pattern in patterns if scrub(pattern).text == pattern), "")


def _shown_command(text: str) -> str:
    return one_line(scrub(text[:4000]).text, 80)


# --- commands ------------------------------------------------------------------------------------


def _command_suggestions(subject: rules.RuleSubject, standing: Sequence[Rule]) -> RuleSuggestions:
    assert subject.view is not None
    commands = subject.view.commands
    needed = [n for n, simple in enumerate(commands) if not simple.stays] or [0]
    index = next(
        (n for n in needed if rules.first_rule_passing(standing, subject, commands[n]) is None), needed[0]
    )
    simple = commands[index]
    alone = call_subject(
        subject.descriptor,
        {**subject.parameters, subject.descriptor.command_parameter or "": _command_source(simple)},
        "",
    )
    suggestions = [_judged_suggestion(alone, draft) for draft in _command_drafts(alone, simple)]
    return RuleSuggestions(
        subject=subject, candidates=tuple(suggestions), about=_command_source(simple),
        part=index + 1 if len(commands) > 1 else None, parts=len(commands),
        part_subject=alone if len(commands) > 1 else None,
    )  # fmt: skip


def _command_source(simple: SimpleCommand) -> str:
    return simple.source + "".join(f" < {name}" for name in simple.inputs)


_RuleDraft = tuple[PatternKind, str, str]


def _command_drafts(subject: rules.RuleSubject, simple: SimpleCommand) -> Iterator[_RuleDraft]:
    words = [*simple.assignments, *simple.written]
    source = " ".join(words)
    suffix = "".join(f" < {name}" for name in simple.inputs)
    if _WILDCARD_SIGNS & set(source):
        yield "regex", exact_regex(subject.parameters), "exactly this, with all its parameters"
    else:
        yield "glob", f"Bash({source}{suffix})", "exactly this"
    first = len(simple.assignments)
    ends = list(range(len(words) - 1, first, -1))
    for end in ends if len(ends) <= 4 else (*ends[:2], *ends[-2:]):
        description = (
            "any command that starts with this" if end > first + 1 else f"every {words[first]} there is"
        )
        yield "glob", f"Bash({' '.join(words[:end])} *)", description
    if not ends:
        yield "glob", f"Bash({source} *)", "this, and any text after it"


# --- paths, addresses, anything else -------------------------------------------------------------


def _target_drafts(subject: rules.RuleSubject) -> tuple[str, list[_RuleDraft]]:
    descriptor = subject.descriptor
    name = _PATTERN_NAMES.get(descriptor.id, descriptor.id)
    address = subject.parameters.get(descriptor.url_parameter or "")
    if isinstance(address, str) and (host := urlsplit(address).hostname):
        return address, [
            ("regex", exact_regex(subject.parameters), "exactly this address"),
            ("glob", f"{name}(domain:{host})", f"every page of {host}"),
            ("glob", name, "every page there is"),
        ]
    if len(subject.targets) > 1:
        paths = [target.relative for target in subject.targets.values()]
        return " -> ".join(paths), list(_move_drafts(subject, name, paths))
    if subject.targets:
        path = next(iter(subject.targets.values())).relative
        return path, list(_path_drafts(name, path))
    return descriptor.id, [
        ("regex", exact_regex(subject.parameters), "exactly these parameters"),
        ("glob", name, f"every call of {descriptor.id}"),
    ]  # fmt: skip


def _move_drafts(subject: rules.RuleSubject, name: str, paths: Sequence[str]) -> Iterator[_RuleDraft]:
    """Yield what covers every path of a call: a rule about one of them would not."""
    yield "regex", exact_regex(subject.parameters), "exactly these paths"
    folder = posixpath.commonpath([posixpath.dirname(path) for path in paths])
    if folder and not _WILDCARD_SIGNS & set(folder):
        yield "glob", f"{name}({folder}/**)", f"everything in {folder}/ and below it"
    yield "glob", name, "every path there is"


def _path_drafts(name: str, path: str) -> Iterator[_RuleDraft]:
    if not _WILDCARD_SIGNS & set(path):
        yield "glob", f"{name}({path})", "exactly this path, with any content"
        folder, _, last = path.rpartition("/")
        ending = last.rpartition(".")[2] if "." in last[1:] else ""
        if folder and ending:
            yield "glob", f"{name}({folder}/*.{ending})", f"files *.{ending} in {folder}/, not below it"
        if folder:
            yield "glob", f"{name}({folder}/**)", f"everything in {folder}/ and below it"
    yield "glob", name, "every path there is"


# --- judging -------------------------------------------------------------------------------------


def _judged_suggestion(subject: rules.RuleSubject, draft: _RuleDraft) -> SuggestedRule:
    kind, pattern, words = draft
    suggestion = SuggestedRule(tool=subject.descriptor.id, pattern_kind=kind, pattern=pattern, covers=words)
    return replace(suggestion, refused=suggestion_refusal(suggestion, subject))


def suggestion_refusal(
    candidate: SuggestedRule,
    subject: rules.RuleSubject,
    effect: RuleEffect = "allow",
    tools: Mapping[str, ToolDescriptor] | None = None,
) -> str:
    """Return why a suggestion may not be saved as a rule for its call, empty if it may."""
    problems = rule_validation.rule_problems(
        tool=candidate.tool, pattern_kind=candidate.pattern_kind, pattern=candidate.pattern,
        description="made from a call", known_tools=tools or {subject.descriptor.id: subject.descriptor},
        effect=effect, scope="always",
    )  # fmt: skip
    if problems:
        return problems[0].removeprefix("pattern: ").removeprefix(candidate.pattern).lstrip(": ")
    if rules.rule_covers(unsaved_rule(candidate, effect), subject):
        return ""
    view = subject.view
    if view is not None and any(spans for simple in view.commands for _, spans in simple.spellings()):
        return "it does not spell out every word that could do harm"
    return "it does not cover this call"


def unsaved_rule(candidate: SuggestedRule, effect: RuleEffect = "allow", scope: RuleScope = "always") -> Rule:
    """Return a suggestion as a rule that is not saved, to try it on calls."""
    return Rule(
        id="new", effect=effect, origin="user", scope=scope, tool=candidate.tool, created_at=0,
        pattern=candidate.pattern, pattern_kind=candidate.pattern_kind, description="tried on the past",
    )  # fmt: skip
