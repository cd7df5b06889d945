"""Permission patterns such as `Bash(git diff *)`: what they name, and which calls they match.

Owns reading a pattern and trying it on a call. A pattern that stands in the way (deny, hooks, ask) is
tried on everything that the call might reach; one that lets pass (allow, ceiling) must cover all of it.
"""

import os
import sys
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal
from urllib.parse import urlsplit

from workbench.domain.values import JsonObject, ToolDescriptor
from workbench.policy import regex
from workbench.policy.names import FIELD_NAMES, LOOKING, MCP, OWN_IDS, Note, note
from workbench.policy.paths import ResolvedPath
from workbench.policy.shell import GAP, ShellView, Simple, dequoted
from workbench.policy.shell_reach import could_hold
from workbench.policy.variables import is_harmless
from workbench.text.safe import one_line

Purpose = Literal["deny", "ceiling", "grant"]
"""Which way to err: `deny` matches in doubt, the others do not."""

LONGEST: Final = 500
_DOMAIN: Final = "domain:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Glob:
    """A permission pattern as it was written."""

    text: str
    origin: str = ""
    """Where it was written, in words: `config.json:12`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedGlob:
    """A pattern taken apart."""

    name: str
    argument: str | None = None
    """What stands in the parentheses; None without any."""
    problem: str | None = None
    """Why it cannot be read; it then stands in the way of every call of the tool, and grants nothing."""
    notes: tuple[Note, ...] = ()

    @property
    def is_bare(self) -> bool:
        """Say whether it covers every call of the tool."""
        return self.argument is None or self.argument.strip("*") == ""


@lru_cache(maxsize=1024)
def parse(text: str, known: Collection[str] = OWN_IDS) -> ParsedGlob:
    """Take a pattern apart. Never raises: what is wrong with it is in the result.

    Args:
        text: `Tool` or `Tool(argument)`.
        known: Ids of tools there are besides the built-in ones; hashable.
    """
    head, bracket, rest = text.strip().partition("(")
    name = head.strip()
    problem = _problem(text, name, bracket, rest)
    argument = rest[:-1].strip() if bracket and problem is None else None
    notes = [] if problem is None else [Note(level="error", text=f"{one_line(text, 80)}: {problem}")]
    if problem is None and (found := note(name, known)):
        notes.append(found)
    is_command = name == "Bash" or name in FIELD_NAMES["Bash"]
    if argument and not is_command and set(argument) & set("[]{}"):
        notes.append(
            Note(level="note", text=f"{one_line(text, 80)}: brackets and braces stand for themselves")
        )
    return ParsedGlob(name=name, argument=argument, problem=problem, notes=tuple(notes))


def _problem(text: str, name: str, bracket: str, rest: str) -> str | None:
    if not name:
        return "names no tool"
    if len(text) > LONGEST:
        return f"longer than {LONGEST} characters"
    if bracket and not rest.endswith(")"):
        return "the parenthesis does not close"
    if not bracket and ")" in name:
        return "a closing parenthesis without an opening one"
    if any(character.isspace() for character in name):
        return "a tool's name has no spaces"
    return None


# --- which tools ---------------------------------------------------------------------------------


def names_tool(parsed: ParsedGlob, descriptor: ToolDescriptor, purpose: Purpose = "grant") -> bool:
    """Say whether a pattern is about a tool at all."""
    name, ids = parsed.name, (descriptor.id, descriptor.wire_name)
    if name in ids or descriptor.id in FIELD_NAMES.get(name, ()):
        return True
    if purpose == "deny" and name == "Read" and parsed.is_bare and descriptor.id in LOOKING:
        return True
    if name.startswith(MCP) and name.count("__") == 1:
        return any(given.startswith(f"{name}__") for given in ids)
    return "*" in name and any(spans(name, given) for given in ids)


# --- which calls ---------------------------------------------------------------------------------


def matches(
    glob: Glob,
    descriptor: ToolDescriptor,
    parameters: JsonObject,
    targets: Mapping[str, ResolvedPath],
    view: ShellView | None,
    *,
    purpose: Purpose = "grant",
) -> bool:
    """Say whether a pattern matches a call.

    Args:
        glob: The pattern.
        descriptor: The tool.
        parameters: The call's.
        targets: Its path parameters, resolved.
        view: Its command, if it has one.
        purpose: Which way to err.
    """
    parsed = parse(glob.text)
    if not names_tool(parsed, descriptor, purpose):
        return False
    if parsed.problem is not None:
        return purpose == "deny"
    if descriptor.command_parameter is not None:
        return _matches_command(parsed, view, purpose)
    if parsed.is_bare or parsed.argument is None:
        return True
    if descriptor.path_parameters:
        return _matches_paths(parsed.argument, list(targets.values()), purpose)
    given = parameters.get(descriptor.url_parameter or descriptor.target_parameter or "")
    if not isinstance(given, str):
        return False
    if descriptor.url_parameter and parsed.argument.startswith(_DOMAIN):
        return _matches_domain(parsed.argument.removeprefix(_DOMAIN), given, purpose)
    return spans(parsed.argument, given)


def first_match(
    globs: Iterable[Glob],
    descriptor: ToolDescriptor,
    parameters: JsonObject,
    targets: Mapping[str, ResolvedPath],
    view: ShellView | None,
    *,
    purpose: Purpose,
) -> Glob | None:
    """Return the first pattern that matches a call."""
    return next(
        (g for g in globs if matches(g, descriptor, parameters, targets, view, purpose=purpose)), None
    )


def is_within(
    ceiling: Sequence[Glob],
    descriptor: ToolDescriptor,
    parameters: JsonObject,
    targets: Mapping[str, ResolvedPath],
    view: ShellView | None,
) -> bool:
    """Say whether a ceiling covers a call: of a command every simple one, each by any pattern."""
    if any(matches(g, descriptor, parameters, targets, view, purpose="ceiling") for g in ceiling):
        return True
    if view is None or not view.is_certain or not view.segments:
        return False
    parsed = [found for g in ceiling if names_tool(found := parse(g.text), descriptor) and not found.problem]
    return all(any(_covers(found.argument or "", text) for found in parsed) for text in view.segments)


def covering(globs: Iterable[Glob], descriptor: ToolDescriptor, simple: Simple) -> Glob | None:
    """Return the first pattern that lets one simple command of a plain line pass."""
    ways = tuple(simple.ways())
    for glob in globs:
        parsed = parse(glob.text)
        if parsed.problem is None and names_tool(parsed, descriptor) and _covers_any(parsed, ways):
            return glob
    return None


_Ways = Sequence[tuple[str, tuple[tuple[int, int], ...]]]


def _covers_any(parsed: ParsedGlob, ways: _Ways) -> bool:
    if parsed.is_bare or parsed.argument is None:
        return any(not spans for _, spans in ways)
    return any(
        _fits(form, text) and (not spans or _spells(form, text, spans))
        for pattern in _spellings(parsed.argument)
        for form in _forms(pattern)
        for text, spans in ways
    )


_MOST_STARS: Final = 16


def _spells(form: tuple[str, ...], text: str, places: Sequence[tuple[int, int]]) -> bool:
    """Say whether a pattern fits a text so that none of its stars takes a part of certain places.

    Every place where a part of the pattern may end is followed, the earliest within each gap being enough.
    """
    if len(form) == 1:
        return True
    if len(form) > _MOST_STARS:
        return False
    begins = [begin for begin, _ in places]
    ends = {len(form[0])}
    for part in form[1:-1]:
        reached: dict[int, int] = {}
        for end in ends:
            limit = _reach(end, places, begins)
            reached[limit] = min(end, reached.get(limit, end))
        ends = {
            place + len(part)
            for limit, end in reached.items()
            for place in _occurrences(part, text, end, limit)
        }
    last = len(text) - len(form[-1])
    return any(end <= last <= _reach(end, places, begins) for end in ends)


def _reach(begin: int, places: Sequence[tuple[int, int]], begins: Sequence[int]) -> int:
    """Return how far a star that begins somewhere may take the text."""
    at = bisect_right(begins, begin)
    if at and begin < places[at - 1][1]:
        return begin
    return begins[at] if at < len(begins) else sys.maxsize


def _occurrences(part: str, text: str, begin: int, limit: int) -> Iterator[int]:
    at = text.find(part, begin)
    while 0 <= at <= limit:
        yield at
        at = text.find(part, at + 1)


def misspelled(simple: Simple) -> Iterator[str]:
    """Yield a command with each word that a pattern has to spell out replaced by another one.

    An expression that finds one of them does not spell that word out. Of a command with very many such
    words the command itself is yielded: then no expression does.
    """
    words = [*simple.assignments, *simple.written]
    front = len(simple.assignments)
    places = {front + place for place in simple.literal}
    places |= {at for at, word in enumerate(simple.assignments) if not is_harmless(word)}
    if len(places) > _MOST_LITERAL:
        yield simple.source
    elif simple.spelled:
        yield _with(words, front + simple.spelled - 1, UNRELATED)
    for place in sorted(places)[:_MOST_LITERAL]:
        for other in (UNRELATED, words[place] + UNRELATED, UNRELATED + words[place]):
            yield _with(words, place, other)


_MOST_LITERAL: Final = 100

UNRELATED: Final = "qvx7kd"
"""Takes the place of a word, to find out whether a pattern says which one it means."""


def _with(words: Sequence[str], place: int, other: str) -> str:
    return " ".join((*words[:place], other, *words[place + 1 :]))


def _spellings(argument: str) -> Iterator[str]:
    """Yield a command pattern as it stands, and with its quotes taken off."""
    yield argument
    if (bare := dequoted(argument)) is not None:
        yield bare


def _matches_command(parsed: ParsedGlob, view: ShellView | None, purpose: Purpose) -> bool:
    if view is None:
        return purpose == "deny" or (purpose == "ceiling" and parsed.is_bare)
    if purpose == "deny":
        return parsed.is_bare or _denies(parsed.argument or "", view)
    if purpose == "ceiling" and parsed.is_bare:
        return True
    if purpose == "ceiling":
        return (
            view.is_certain and len(view.segments) == 1 and _covers(parsed.argument or "", view.segments[0])
        )
    return view.plain and all(_covers_any(parsed, tuple(simple.ways())) for simple in view.commands)


def _denies(argument: str, view: ShellView) -> bool:
    patterns = [pattern.replace(GAP, " ") for pattern in _spellings(argument)]
    if any(_covers(pattern, text) for pattern in patterns for text in view.reach):
        return True
    return not view.is_reach_whole and any(could_hold(pattern, view.raw) for pattern in patterns)


def _covers(pattern: str, text: str) -> bool:
    """Try a command pattern: `x *` is x with or without more words, `x:*` the same, `x*` any beginning."""
    return any(_fits(form, text) for form in _forms(pattern))


@lru_cache(maxsize=1024)
def _forms(pattern: str) -> tuple[tuple[str, ...], ...]:
    """Return the ways in which a command pattern may be meant, each taken apart at its stars."""
    pattern = f"{pattern.removesuffix(':*')} *" if pattern.endswith(":*") else pattern
    normal = " ".join(pattern.split(" ")) if GAP in pattern else " ".join(pattern.split())
    forms = [normal.removesuffix(" *"), normal] if normal.endswith(" *") else [normal]
    return tuple(tuple(form.split("*")) for form in dict.fromkeys([*forms, pattern]))


def spans(pattern: str, text: str) -> bool:
    """Say whether a pattern, in which `*` is any text, is the whole of a text; linear in both."""
    return _fits(tuple(pattern.split("*")), text)


def _fits(form: tuple[str, ...], text: str) -> bool:
    first = form[0]
    if len(form) == 1:
        return text == first
    last = form[-1]
    if not text.startswith(first) or len(text) < len(first) + len(last) or not text.endswith(last):
        return False
    at, end = len(first), len(text) - len(last)
    for part in form[1:-1]:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


def _matches_domain(domain: str, url: str, purpose: Purpose) -> bool:
    try:
        host = (urlsplit(url).hostname or "").rstrip(".").lower()
    except ValueError:
        return purpose == "deny"
    wanted = domain.strip().rstrip(".").lower()
    if purpose == "deny":
        return host == wanted or host.endswith(f".{wanted.removeprefix('*.')}") or spans(wanted, host)
    return spans(wanted, host)


# --- paths ---------------------------------------------------------------------------------------


def _matches_paths(pattern: str, targets: Sequence[ResolvedPath], purpose: Purpose) -> bool:
    if purpose == "deny":
        return any(_is_denied(pattern, target) for target in targets)
    return bool(targets) and all(_is_granted(pattern, target) for target in targets)


def _is_granted(pattern: str, target: ResolvedPath) -> bool:
    pattern = _expanded(pattern)
    return _found(_path_regex(pattern), target.path if pattern.startswith("/") else target.relative)


def _is_denied(pattern: str, target: ResolvedPath) -> bool:
    """Match as exclusion lists do: a pattern without `/` at any depth, a name also what lies below it."""
    pattern = _folded(_expanded(pattern))
    inner = _path_regex(pattern).removeprefix("(?s)^").removesuffix("$")
    start = "^" if "/" in pattern else "(?:^|/)"
    end = "$" if "*" in pattern.rsplit("/", 1)[-1] else "(?:/|$)"
    return any(_found(f"(?s){start}{inner}{end}", text) for text in _texts(target))


def _texts(target: ResolvedPath) -> Iterator[str]:
    given = os.path.normpath(target.given) if target.given else target.relative
    for text in dict.fromkeys((target.relative, target.path, target.relative + "/", given)):
        yield _folded(text)


def _expanded(pattern: str) -> str:
    pattern = pattern.removeprefix("./")
    if pattern == "~" or pattern.startswith("~/"):
        pattern = os.path.expanduser(pattern)  # noqa: PTH111 -- a pattern, not a path
    if pattern.startswith("//"):
        pattern = pattern[1:]
    return f"{pattern}**" if pattern.endswith("/") else pattern


@lru_cache(maxsize=1024)
def _path_regex(pattern: str) -> str:
    """Return the expression for a path pattern: `**` crosses `/`, `*` and `?` do not."""
    out, at = "", 0
    while at < len(pattern):
        if pattern.startswith("**/", at) and (at == 0 or pattern[at - 1] == "/"):
            out, at = out + "(?:.*/)?", at + 3
        elif pattern.startswith("**", at):
            out, at = out + ".*", at + 2
        elif pattern[at] in "*?":
            out, at = out + ("[^/]*" if pattern[at] == "*" else "[^/]"), at + 1
        else:
            out, at = out + _literal(pattern[at]), at + 1
    return f"(?s)^{out}$"


def _literal(character: str) -> str:
    return character if character.isalnum() or character in "/_- " else f"\\x{{{ord(character):x}}}"


def _found(expression: str, text: str) -> bool:
    return regex.compiled(expression).is_in(text)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()
