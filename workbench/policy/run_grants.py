"""Whole tools that a human granted for one run: what such a grant covers of a command line.

A bare `Bash`, granted by a human for the run, covers every line: also those that no pattern may cover,
because they are not read to the end. What stays closed are places: the data folder, what governs the
workspace, what git or another program runs by itself, what a deny keeps from being read. They are looked for
by name, in all that may be a word of the line.
"""

import fnmatch
import itertools
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from workbench.domain.rows import Rule
from workbench.domain.values import ToolDescriptor
from workbench.policy.autorun_files import HIDDEN_NAMES, AutorunNames
from workbench.policy.paths import ResolvedPath, folded_path, is_below, protection_reason
from workbench.policy.permissions import parse_permission, permission_names_tool
from workbench.policy.shell.analysis import names_patch_program
from workbench.policy.shell.command_paths import COPYING_PROGRAMS, CommandBoundary
from workbench.policy.shell.deny_texts import deny_texts_of
from workbench.policy.shell.derived_names import COMPRESSORS
from workbench.policy.shell.risk_lists import program_name
from workbench.policy.shell.scanner import decode_ansi_words, scan_commands
from workbench.policy.trust import RUN_OUTPUT_FOLDERS
from workbench.text.safe import one_line

LONGEST_LINE: Final = 20_000
"""Characters of a line in which places are looked for."""
MOST_MATCHES: Final = 500
"""Files that the patterns of one word may name."""
_BETWEEN_WORDS: Final = re.compile(r"[\s;&|<>(){},=:`\"'@+]+")
_QUOTES: Final = re.compile(r"[\"'\\]")
_BETWEEN_BRACED_WORDS: Final = re.compile(r"[\s;&|<>()]+")
_INNERMOST_BRACES: Final = re.compile(r"\{([^{}]*)\}")
_PATTERN_SIGN: Final = re.compile(r"[*?\[]")
_MOST_LETTERS: Final = 8
"""Letters of one option group behind which a value may begin."""
_SCHEDULERS: Final = frozenset({
    "anacron", "at", "batch", "crontab", "launchctl", "schtasks", "systemctl", "systemd-run",
})  # fmt: skip
"""Programs that have others run when this line is over."""
_HOME_VARIABLE: Final = re.compile(r"\$(?:HOME\b|\{HOME\})")


def whole_tool_grant(rules: Sequence[Rule], descriptor: ToolDescriptor) -> Rule | None:
    """Return the first rule by which a human granted every call of a tool for the run; rules are in force."""
    return next((rule for rule in rules if _is_whole_tool(rule, descriptor)), None)


def _is_whole_tool(rule: Rule, descriptor: ToolDescriptor) -> bool:
    if rule.scope != "run" or rule.origin != "user" or rule.pattern_kind != "glob" or "*" in rule.tool:
        return False
    parsed = parse_permission(rule.pattern)
    return parsed.problem is None and parsed.is_bare and permission_names_tool(parsed, descriptor)


def protected_place(command: str, boundary: CommandBoundary) -> str:
    """Return why a whole grant does not cover a line: a protected place that it names; empty for none."""
    if len(command) > LONGEST_LINE:
        return f"it has more than {LONGEST_LINE:,} characters, in which no place is looked for"
    if names_patch_program(command):
        return "it may write any file that its patch names"
    programs = _programs(command)
    if later := programs & _SCHEDULERS:
        return f"{min(later)} starts programs later"
    try:
        words = _possible_words(command)
    except _TooManyWords:
        return f"its braces name more than {MOST_MATCHES} words"
    if _changes_git(words):
        return "it may change what git runs"
    return _place_objection(words, boundary, copies=not COPYING_PROGRAMS.isdisjoint(programs | words))


def _programs(command: str) -> frozenset[str]:
    """Return the names of the programs that a line may run, also behind wrappers and in quotes."""
    texts, _ = deny_texts_of(command, scan_commands(command))
    return frozenset(program_name(words[0]) for text in texts if (words := text.split(maxsplit=1)))


def _changes_git(words: set[str]) -> bool:
    if any("hookspath" in word.casefold() for word in words):
        return True
    return "git" in words and ("config" in words or any(word.startswith("--te") for word in words))


def _place_objection(words: set[str], boundary: CommandBoundary, *, copies: bool) -> str:
    root = os.path.realpath(boundary.workspace)
    governing = frozenset(folded_path(os.path.realpath(path)) for path in boundary.governing())
    names = AutorunNames(root)
    autorun = names.destination_reason if copies else names.file_reason
    for word in sorted(words):
        for path in itertools.islice(_paths(word, root), MOST_MATCHES):
            if why := _objection(path, root, boundary, governing, autorun):
                return f"{one_line(word, 80)} {why}"
        if why := _pattern_objection(word):
            return f"{one_line(word, 80)} {why}"
    return ""


class _TooManyWords(Exception):
    pass


def _possible_words(command: str) -> set[str]:
    """Return everything that may be a word of a line, with quotes taken out and with quotes as borders."""
    text = _HOME_VARIABLE.sub("~", command)
    lines = dict.fromkeys((text, decode_ansi_words(text)))
    forms = [form for line in lines for form in (line, _QUOTES.sub("", line))]
    words = {word for form in forms for text in (form, *_braced_words(form)) for word in _split(text)}
    return words | set(_values_of_options(words)) | set(_unpacked_names(words))


def _split(text: str) -> Iterator[str]:
    return filter(None, _BETWEEN_WORDS.split(text))


def _braced_words(line: str) -> Iterator[str]:
    """Yield what a shell makes of the words with braces: `.gi{t,x}` is `.git` and `.gix`."""
    count = 0
    for word in _BETWEEN_BRACED_WORDS.split(line):
        for expanded in _expanded_braces(word) if "{" in word else ():
            count += 1
            if count > MOST_MATCHES:
                raise _TooManyWords
            yield expanded


def _expanded_braces(word: str) -> Iterator[str]:
    waiting = [word]
    while waiting:
        text = waiting.pop()
        match = next(filter(_is_expanded, _INNERMOST_BRACES.finditer(text)), None)
        if match is None:
            yield text
            continue
        others = _alternatives(match[1])
        if len(waiting) + len(others) > MOST_MATCHES:
            raise _TooManyWords
        waiting.extend(text[: match.start()] + other + text[match.end() :] for other in others)


def _is_expanded(match: re.Match[str]) -> bool:
    return "," in match[1] or ".." in match[1]


def _alternatives(inside: str) -> Sequence[str]:
    """Return what stands for one pair of braces: the parts of `a,b`, every member of `a..c`."""
    if "," in inside:
        return inside.split(",")
    first, _, last = inside.partition("..")
    if len(first) == len(last) == 1 and not (first + last).isdigit():
        low, high = sorted((ord(first), ord(last)))
        return [chr(code) for code in range(low, high + 1)]
    return [first, last]


def _values_of_options(words: set[str]) -> Iterator[str]:
    """Yield what may follow the letters of an option, or the sign of a default: `-o.envrc`, `${x:-.git}`."""
    for word in words:
        yield word.lstrip("-?")
        if word.startswith("-"):
            yield from (word[start:] for start in range(2, min(len(word), _MOST_LETTERS)))


def _unpacked_names(words: set[str]) -> Iterator[str]:
    """Yield the names that a program which unpacks gives the files of a line."""
    if not COMPRESSORS.isdisjoint(words):
        for word in words:
            yield from (word[: ending.start()] for ending in re.finditer(r"[._-]", word))


def _pattern_objection(word: str) -> str:
    """Return why a pattern may name a protected file that is not where the line starts, as behind a `cd`."""
    patterns = [part for part in word.split("/") if part.startswith(".") and _PATTERN_SIGN.search(part)]
    if any(fnmatch.fnmatchcase(name, part) for part in patterns for name in HIDDEN_NAMES):
        return "may name a file that runs automatically"
    return ""


def _paths(word: str, root: str) -> Iterator[str]:
    word = os.path.expanduser(word)  # noqa: PTH111 -- text
    place = os.path.join(root, word)  # noqa: PTH118 -- text
    yield place
    if _PATTERN_SIGN.search(word):
        pattern = re.sub(r"\*\*+", "*", os.path.relpath(place, "/"))
        yield from map(str, Path("/").glob(pattern))


def _objection(
    path: str,
    root: str,
    boundary: CommandBoundary,
    governing: frozenset[str],
    autorun: Callable[[str], str],
) -> str:
    real = os.path.realpath(path)
    relative, folded = os.path.relpath(real, root), folded_path(real)
    if real == root or relative == "dev/null":
        return ""
    for place in map(folded_path, map(os.path.realpath, boundary.closed)):
        if is_below(folded, place) or is_below(place, folded):
            return "belongs to workbench or holds what does"
    if folded in governing:
        return "is run by the configuration"
    names = relative.split("/")
    is_outside = names[0] == ".."
    if not is_outside and "/".join(names[:2]) in RUN_OUTPUT_FOLDERS:
        return ""
    home = os.path.realpath(Path.home())
    rests = ["/".join(names[start:]) for start in range(len(names))] if is_outside else [relative]
    if why := next(filter(None, (protection_reason(real, rest, home) for rest in rests)), None):
        return why
    if why := autorun(real):
        return f"cannot be granted: {why}"
    target = ResolvedPath(path=real, relative=relative, exists=os.path.lexists(real))
    return "is denied" if boundary.is_denied is not None and boundary.is_denied(target) else ""
