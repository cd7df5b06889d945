"""Permission patterns such as `Bash(git diff *)`: which tools they name, and which calls they match.

In doubt, a pattern that denies matches and one that grants does not.
"""

import os
import sys
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.tools import BUILT_IN_TOOLS, PATCH_TOOL, BuiltInTool, tools_of_denial, tools_of_pattern
from workbench.domain.values import JsonObject, PermissionPattern, ToolDescriptor
from workbench.policy import regex
from workbench.policy.paths import ResolvedPath
from workbench.policy.shell.analysis import ShellView, SimpleCommand
from workbench.policy.shell.denials import denial_doubt, doubtful_text, is_denied, parse_denial
from workbench.policy.shell.deny_texts import could_contain
from workbench.policy.shell.parser import WORD_GAP, dequoted_pattern
from workbench.policy.shell.variable_risk import is_harmless_assignment
from workbench.policy.wildcards import form_fits, wildcard_matches
from workbench.text.nearest import nearest_name
from workbench.text.safe import one_line

TOOL_ALIASES: Final[dict[str, frozenset[str]]] = {
    **{tool.pattern_name: tools_of_pattern(tool.pattern_name) for tool in BuiltInTool if tool.pattern_name},
    "MultiEdit": tools_of_pattern("Edit"),
    "NotebookEdit": tools_of_pattern("Edit"),
    "Write": tools_of_pattern("Write") | tools_of_pattern("Edit"),
}
"""A name that permissions of the field use, and the tools that it covers."""
_DENIED_TOOLS: Final[dict[str, frozenset[str]]] = {
    name: tools_of_denial("Edit") for name in ("Edit", "MultiEdit", "NotebookEdit")
}
"""The tools that a name covers only where it denies or asks: a file closed to edits is not moved either."""
SEARCH_TOOLS: Final = TOOL_ALIASES["Grep"] | TOOL_ALIASES["Glob"] | TOOL_ALIASES["LS"]
"""What a bare `Read` in a deny list covers besides reading."""
FOREIGN_TOOLS: Final = frozenset({
    "Agent", "AskUserQuestion", "BashOutput", "EnterPlanMode", "ExitPlanMode", "KillBash", "KillShell",
    "ListMcpResourcesTool", "NotebookRead", "ReadMcpResourceTool", "Skill", "SlashCommand", "Task",
    "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "TodoRead", "TodoWrite",
    "ToolSearch", "WebSearch",
})  # fmt: skip
"""Tools of other agents that have no counterpart here."""
MCP_PREFIX: Final = "mcp__"


class PatternNote(Struct, frozen=True, kw_only=True):
    """Something to say about a pattern when it is loaded."""

    level: Literal["note", "warning", "error"]
    text: str


def tool_name_note(name: str, tools: Iterable[str]) -> PatternNote | None:
    ids = BUILT_IN_TOOLS | {PATCH_TOOL} | frozenset(tools)
    if name in ids or name in TOOL_ALIASES or name.startswith(MCP_PREFIX) or "*" in name:
        return None
    if name in FOREIGN_TOOLS:
        return PatternNote(level="note", text=f"{name}: there is no such tool here, so this matches nothing")
    near = nearest_name(name, ids | TOOL_ALIASES.keys())
    hint = f"; did you mean {near}" if near else ""
    return PatternNote(level="warning", text=f"{name}: no tool is called that, so this matches nothing{hint}")


MatchPurpose = Literal["deny", "ceiling", "grant"]
"""Which way to err: `deny` matches in doubt, the others do not."""
MAX_PERMISSION_LENGTH: Final = 500
_DOMAIN_PREFIX: Final = "domain:"


class ParsedPermission(Struct, frozen=True, kw_only=True):
    """A pattern taken apart."""

    name: str
    argument: str | None = None
    problem: str | None = None
    """Why it cannot be read; it then denies every call of the tool, and grants nothing."""
    notes: tuple[PatternNote, ...] = ()

    @property
    def is_bare(self) -> bool:
        """Say whether it covers every call of the tool."""
        return self.argument is None or self.argument.strip("*") == ""


@lru_cache(maxsize=1024)
def parse_permission(text: str, tools: Collection[str] = BUILT_IN_TOOLS) -> ParsedPermission:
    """Take `Tool` or `Tool(argument)` apart. Never raises: what is wrong with it is in the result."""
    head, bracket, rest = text.strip().partition("(")
    name = head.strip()
    problem = _syntax_problem(text, name, bracket, rest)
    argument = rest[:-1].strip() if bracket and problem is None else None
    notes = [] if problem is None else [PatternNote(level="error", text=f"{one_line(text, 80)}: {problem}")]
    if problem is None and (note := tool_name_note(name, tools)):
        notes.append(note)
    is_command = name == "Bash" or name in TOOL_ALIASES["Bash"]
    if argument and not is_command and set(argument) & set("[]{}"):
        notes.append(
            PatternNote(level="note", text=f"{one_line(text, 80)}: brackets and braces match only themselves")
        )
    return ParsedPermission(name=name, argument=argument, problem=problem, notes=tuple(notes))


def _syntax_problem(text: str, name: str, bracket: str, rest: str) -> str | None:
    if not name:
        return "names no tool"
    if len(text) > MAX_PERMISSION_LENGTH:
        return f"longer than {MAX_PERMISSION_LENGTH} characters"
    if bracket and not rest.endswith(")"):
        return "the parenthesis does not close"
    if not bracket and ")" in name:
        return "a closing parenthesis without an opening one"
    if any(character.isspace() for character in name):
        return "a tool's name has no spaces"
    return None


# --- which tools ---------------------------------------------------------------------------------


def permission_names_tool(
    parsed: ParsedPermission, descriptor: ToolDescriptor, purpose: MatchPurpose = "grant"
) -> bool:
    if descriptor.acts_as and _names_counterparts(parsed, descriptor, purpose):
        return True
    name, ids = parsed.name, (descriptor.id, descriptor.wire_name)
    if name in ids or descriptor.id in TOOL_ALIASES.get(name, ()):
        return True
    if purpose == "deny" and descriptor.id in _DENIED_TOOLS.get(name, ()):
        return True  # although it grants nothing of it
    if purpose == "deny" and name == "Read" and parsed.is_bare and descriptor.id in SEARCH_TOOLS:
        return True
    if name.startswith(MCP_PREFIX) and name.count("__") == 1:
        return any(tool_id.startswith(f"{name}__") for tool_id in ids)
    return "*" in name and any(wildcard_matches(name, tool_id) for tool_id in ids)


def _names_counterparts(parsed: ParsedPermission, descriptor: ToolDescriptor, purpose: MatchPurpose) -> bool:
    """Return whether a pattern covers the built-in tools that do the same: one to deny, all to grant."""
    counterparts = (replace(descriptor, id=each, wire_name=each, acts_as=()) for each in descriptor.acts_as)
    named = (permission_names_tool(parsed, each, purpose) for each in counterparts)
    return any(named) if purpose == "deny" else all(named)


# --- which calls ---------------------------------------------------------------------------------


def permission_matches(
    glob: PermissionPattern,
    descriptor: ToolDescriptor,
    parameters: JsonObject,
    targets: Mapping[str, ResolvedPath],
    view: ShellView | None,
    *,
    purpose: MatchPurpose = "grant",
) -> bool:
    """Say whether a pattern matches a call; `targets` are the paths that it names, resolved."""
    parsed = parse_permission(glob.text)
    if not permission_names_tool(parsed, descriptor, purpose):
        return False
    if parsed.problem is not None:
        return purpose == "deny"
    if descriptor.command_parameter is not None:
        return _command_matches(parsed, view, purpose)
    if parsed.is_bare or parsed.argument is None:
        return True
    if descriptor.path_parameters or targets:
        return _paths_match(parsed.argument, list(targets.values()), purpose)
    value = parameters.get(descriptor.url_parameter or descriptor.target_parameter or "")
    if not isinstance(value, str):
        return False
    if descriptor.url_parameter and parsed.argument.startswith(_DOMAIN_PREFIX):
        return _domain_matches(parsed.argument.removeprefix(_DOMAIN_PREFIX), value, purpose)
    return wildcard_matches(parsed.argument, value)


def first_matching_permission(
    globs: Iterable[PermissionPattern],
    descriptor: ToolDescriptor,
    parameters: JsonObject,
    targets: Mapping[str, ResolvedPath],
    view: ShellView | None,
    *,
    purpose: MatchPurpose,
) -> PermissionPattern | None:
    return next(
        (g for g in globs if permission_matches(g, descriptor, parameters, targets, view, purpose=purpose)),
        None,
    )


def is_within_ceiling(
    ceiling: Sequence[PermissionPattern],
    descriptor: ToolDescriptor,
    parameters: JsonObject,
    targets: Mapping[str, ResolvedPath],
    view: ShellView | None,
) -> bool:
    """Say whether a ceiling covers a call; each simple command of a line by any of its patterns."""
    if any(permission_matches(g, descriptor, parameters, targets, view, purpose="ceiling") for g in ceiling):
        return True
    if view is None or not view.is_certain or not view.segments:
        return False
    parsed = [
        pattern
        for g in ceiling
        if permission_names_tool(pattern := parse_permission(g.text), descriptor) and not pattern.problem
    ]
    return all(
        any(_covers_command(pattern.argument or "", text) for pattern in parsed) for text in view.segments
    )


def first_permission_covering(
    globs: Iterable[PermissionPattern], descriptor: ToolDescriptor, simple: SimpleCommand
) -> PermissionPattern | None:
    """Return the first pattern that allows one simple command of a plain line."""
    spellings = tuple(simple.spellings())
    for glob in globs:
        parsed = parse_permission(glob.text)
        if (
            parsed.problem is None
            and permission_names_tool(parsed, descriptor)
            and _covers_any_spelling(parsed, spellings)
        ):
            return glob
    return None


_Spellings = Sequence[tuple[str, tuple[tuple[int, int], ...]]]


def _covers_any_spelling(parsed: ParsedPermission, spellings: _Spellings) -> bool:
    if parsed.is_bare or parsed.argument is None:
        return any(not spans for _, spans in spellings)
    return any(
        form_fits(form, text) and (not spans or _spells_out_places(form, text, spans))
        for pattern in _pattern_spellings(parsed.argument)
        for form in _pattern_forms(pattern)
        for text, spans in spellings
    )


_MAX_STARS: Final = 16


def _spells_out_places(form: tuple[str, ...], text: str, places: Sequence[tuple[int, int]]) -> bool:
    """Say whether a pattern fits a text so that none of its stars takes a part of certain places."""
    if len(form) == 1:
        return True
    if len(form) > _MAX_STARS:
        return False
    begins = [begin for begin, _ in places]
    ends = {len(form[0])}
    for part in form[1:-1]:
        reached: dict[int, int] = {}
        for end in ends:
            limit = _star_limit(end, places, begins)
            reached[limit] = min(end, reached.get(limit, end))
        ends = {
            place + len(part)
            for limit, end in reached.items()
            for place in _occurrences(part, text, end, limit)
        }
    last = len(text) - len(form[-1])
    return any(end <= last <= _star_limit(end, places, begins) for end in ends)


def _star_limit(begin: int, places: Sequence[tuple[int, int]], begins: Sequence[int]) -> int:
    index = bisect_right(begins, begin)
    if index and begin < places[index - 1][1]:
        return begin
    return begins[index] if index < len(begins) else sys.maxsize


def _occurrences(part: str, text: str, begin: int, limit: int) -> Iterator[int]:
    position = text.find(part, begin)
    while 0 <= position <= limit:
        yield position
        position = text.find(part, position + 1)


def respelled_commands(simple: SimpleCommand) -> Iterator[str]:
    """Yield a command with each word that a pattern has to spell out replaced by another one.

    With more than `_MAX_RESPELLED` such words the command itself is yielded: no expression spells them out.
    """
    words = [*simple.assignments, *simple.written]
    front = len(simple.assignments)
    places = {front + place for place in simple.literal}
    places |= {index for index, word in enumerate(simple.assignments) if not is_harmless_assignment(word)}
    if len(places) > _MAX_RESPELLED:
        yield simple.source
    elif simple.spelled:
        yield _with_word_replaced(words, front + simple.spelled - 1, UNRELATED_WORD)
    for place in sorted(places)[:_MAX_RESPELLED]:
        for other in (UNRELATED_WORD, words[place] + UNRELATED_WORD, UNRELATED_WORD + words[place]):
            yield _with_word_replaced(words, place, other)


_MAX_RESPELLED: Final = 100
UNRELATED_WORD: Final = "qvx7kd"
"""Stands for any other word or name, to find out whether a pattern says which one it means."""


def _with_word_replaced(words: Sequence[str], place: int, other: str) -> str:
    return " ".join((*words[:place], other, *words[place + 1 :]))


def _pattern_spellings(argument: str) -> Iterator[str]:
    yield argument
    if (bare := dequoted_pattern(argument)) is not None:
        yield bare


def _command_matches(parsed: ParsedPermission, view: ShellView | None, purpose: MatchPurpose) -> bool:
    if view is None:
        return purpose == "deny" or (purpose == "ceiling" and parsed.is_bare)
    if purpose == "deny":
        return parsed.is_bare or _denies_command(parsed.argument or "", view)
    if purpose == "ceiling" and parsed.is_bare:
        return True
    if purpose == "ceiling":
        return (
            view.is_certain
            and len(view.segments) == 1
            and _covers_command(parsed.argument or "", view.segments[0])
        )
    return view.plain and all(
        _covers_any_spelling(parsed, tuple(simple.spellings())) for simple in view.commands
    )


def _denies_command(argument: str, view: ShellView) -> bool:
    patterns = [pattern.replace(WORD_GAP, " ") for pattern in _pattern_spellings(argument)]
    if any(_covers_command(pattern, text) for pattern in patterns for text in view.deny_texts):
        return True
    if not view.has_all_deny_texts and any(could_contain(pattern, view.raw) for pattern in patterns):
        return True
    denial = parse_denial(argument)
    return denial is not None and is_denied(denial, view.deny_commands)


def stops_command(pattern: str, view: ShellView) -> bool:
    """Say whether a pattern that denies commands denies this one."""
    argument = parse_permission(pattern).argument
    return argument is not None and _denies_command(argument, view)


def permission_doubt(glob: PermissionPattern, descriptor: ToolDescriptor, view: ShellView | None) -> str:
    """Return why a pattern that does not match a command for certain may deny it; empty if it does not."""
    parsed = parse_permission(glob.text)
    if view is None or parsed.problem is not None or descriptor.command_parameter is None:
        return ""
    denial = parse_denial(parsed.argument or "")
    if denial is None or not permission_names_tool(parsed, descriptor, "deny"):
        return ""
    if not view.has_all_deny_texts and could_contain(denial.reading.key, view.raw):
        return "the line is too long to compare every word"
    return denial_doubt(denial, view.deny_commands) or doubtful_text(denial, view.doubtful_commands)


def _covers_command(pattern: str, text: str) -> bool:
    """`x *` and `x:*` are x with or without more words, `x*` any beginning."""
    return any(form_fits(form, text) for form in _pattern_forms(pattern))


@lru_cache(maxsize=1024)
def _pattern_forms(pattern: str) -> tuple[tuple[str, ...], ...]:
    pattern = f"{pattern.removesuffix(':*')} *" if pattern.endswith(":*") else pattern
    normal = " ".join(pattern.split(" ")) if WORD_GAP in pattern else " ".join(pattern.split())
    forms = [normal.removesuffix(" *"), normal] if normal.endswith(" *") else [normal]
    return tuple(tuple(form.split("*")) for form in dict.fromkeys([*forms, pattern]))


def _domain_matches(domain: str, url: str, purpose: MatchPurpose) -> bool:
    try:
        host = (urlsplit(url).hostname or "").rstrip(".").lower()
    except ValueError:
        return purpose == "deny"
    pattern = domain.strip().rstrip(".").lower()
    if purpose == "deny":
        return (
            host == pattern
            or host.endswith(f".{pattern.removeprefix('*.')}")
            or wildcard_matches(pattern, host)
        )
    return wildcard_matches(pattern, host)


# --- paths ---------------------------------------------------------------------------------------


def _paths_match(pattern: str, targets: Sequence[ResolvedPath], purpose: MatchPurpose) -> bool:
    if purpose == "deny":
        return any(_path_is_denied(pattern, target) for target in targets)
    return bool(targets) and all(_path_is_granted(pattern, target) for target in targets)


def _path_is_granted(pattern: str, target: ResolvedPath) -> bool:
    pattern = _expanded_pattern(pattern)
    return _expression_finds(
        _path_regex(pattern), target.path if pattern.startswith("/") else target.relative
    )


def _path_is_denied(pattern: str, target: ResolvedPath) -> bool:
    """Match as exclusion lists do: a pattern without `/` at any depth, a name also what lies below it."""
    pattern = _folded_text(_expanded_pattern(pattern))
    inner = _path_regex(pattern).removeprefix("(?s)^").removesuffix("$")
    start = "^" if "/" in pattern else "(?:^|/)"
    end = "$" if "*" in pattern.rsplit("/", 1)[-1] else "(?:/|$)"
    return any(_expression_finds(f"(?s){start}{inner}{end}", text) for text in _target_texts(target))


def _target_texts(target: ResolvedPath) -> Iterator[str]:
    spelled = os.path.normpath(target.given) if target.given else target.relative
    for text in dict.fromkeys((target.relative, target.path, target.relative + "/", spelled)):
        yield _folded_text(text)


def _expanded_pattern(pattern: str) -> str:
    pattern = pattern.removeprefix("./")
    if pattern == "~" or pattern.startswith("~/"):
        pattern = os.path.expanduser(pattern)  # noqa: PTH111 -- a pattern, not a path
    if pattern.startswith("//"):
        pattern = pattern[1:]
    return f"{pattern}**" if pattern.endswith("/") else pattern


@lru_cache(maxsize=1024)
def _path_regex(pattern: str) -> str:
    """Translate a path pattern: `**` crosses `/`, `*` and `?` do not."""
    out, position = "", 0
    while position < len(pattern):
        if pattern.startswith("**/", position) and (position == 0 or pattern[position - 1] == "/"):
            out, position = out + "(?:.*/)?", position + 3
        elif pattern.startswith("**", position):
            out, position = out + ".*", position + 2
        elif pattern[position] in "*?":
            out, position = out + ("[^/]*" if pattern[position] == "*" else "[^/]"), position + 1
        else:
            out, position = out + _escaped_character(pattern[position]), position + 1
    return f"(?s)^{out}$"


def _escaped_character(character: str) -> str:
    return character if character.isalnum() or character in "/_- " else f"\\x{{{ord(character):x}}}"


def _expression_finds(expression: str, text: str) -> bool:
    return regex.compile_regex(expression).is_in(text)


def _folded_text(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()
