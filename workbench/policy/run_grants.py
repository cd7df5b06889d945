"""Whole tools that a human granted for one run: what such a grant covers of a command line.

A bare `Bash`, granted by a human for the run, covers every line: also those that no pattern may cover,
because they are not read to the end. What stays closed are places: the data folder, what governs the
workspace, what git or another program runs by itself, what a deny keeps from being read. They are looked for
by name, in all that may be a word of the line.
"""

import itertools
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from workbench.domain.rows import Rule
from workbench.domain.values import ToolDescriptor
from workbench.policy.autorun_files import autorun_reason
from workbench.policy.paths import ResolvedPath, folded_path, is_below, protection_reason
from workbench.policy.permissions import parse_permission, permission_names_tool
from workbench.policy.shell.command_paths import CommandBoundary
from workbench.policy.trust import RUN_OUTPUT_FOLDERS
from workbench.text.safe import one_line

LONGEST_LINE: Final = 20_000
"""Characters of a line in which places are looked for."""
MOST_MATCHES: Final = 500
"""Files that the patterns of one word may name."""
_BETWEEN_WORDS: Final = re.compile(r"[\s;&|<>(){},=:`\"'@+]+")
_QUOTES: Final = re.compile(r"[\"'\\]")
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
    words = _possible_words(command)
    if {"git", "config"} <= words or any("hookspath" in word.casefold() for word in words):
        return "it may change what git runs"
    root = os.path.realpath(boundary.workspace)
    governing = frozenset(folded_path(os.path.realpath(path)) for path in boundary.governing())
    for word in sorted(words):
        for path in itertools.islice(_paths(word, root), MOST_MATCHES):
            if why := _objection(path, root, boundary, governing):
                return f"{one_line(word, 80)} {why}"
    return ""


def _possible_words(command: str) -> set[str]:
    """Return everything that may be a word of a line, with quotes taken out and with quotes as borders."""
    text = _HOME_VARIABLE.sub("~", command)
    return {word for form in (text, _QUOTES.sub("", text)) for word in _BETWEEN_WORDS.split(form) if word}


def _paths(word: str, root: str) -> Iterator[str]:
    word = os.path.expanduser(word)  # noqa: PTH111 -- text
    place = os.path.join(root, word)  # noqa: PTH118 -- text
    yield place
    if any(sign in word for sign in "*?["):
        pattern = re.sub(r"\*\*+", "*", os.path.relpath(place, "/"))
        yield from map(str, Path("/").glob(pattern))


def _objection(path: str, root: str, boundary: CommandBoundary, governing: frozenset[str]) -> str:
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
    if why := autorun_reason(real, root):
        return f"cannot be granted: {why}"
    target = ResolvedPath(path=real, relative=relative, exists=os.path.lexists(real))
    return "is denied" if boundary.is_denied is not None and boundary.is_denied(target) else ""
