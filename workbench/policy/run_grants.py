"""Whole tools that a human granted for one run: what such a grant covers of a command line.

A bare `Bash`, granted by a human for the run, covers every line: also those that no pattern may cover,
because they are not read to the end. What stays closed are places: the data folder, what governs the
workspace, what git or another program runs by itself, what a deny keeps from being read. They are looked for
by name, in all that may be a word of the line.
"""

import itertools
import os
import re
from collections.abc import Callable, Iterator, Sequence, Set
from pathlib import Path
from typing import Final

from workbench.domain.rows import Rule
from workbench.domain.values import ToolDescriptor
from workbench.policy.autorun_files import AutorunNames, may_match_closed
from workbench.policy.paths import ResolvedPath, folded_path, is_below, protection_reason
from workbench.policy.permissions import parse_permission, permission_names_tool
from workbench.policy.shell.analysis import names_patch_program
from workbench.policy.shell.command_paths import CommandBoundary
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
    "anacron", "at", "batch", "crontab", "fcrontab", "launchctl", "loginctl", "schtasks", "systemctl",
    "systemd-run",
})  # fmt: skip
"""Programs that have others run when this line is over."""
_KNOWN_NAMES: Final = "HOME|USER|LOGNAME|PWD|OLDPWD|XDG_[A-Z_]+"
_KNOWN_VARIABLE: Final = re.compile(rf"\$(?:({_KNOWN_NAMES})\b|\{{({_KNOWN_NAMES})\b[^}}]*\}})")
_DEFAULT: Final = re.compile(r"\$\{\w+:?[-=+]([^{}]*)\}")
_NOTHING: Final = re.compile(r"\$[@*]|``|\$\(\)|\$\{[^{}]*\}|\$[A-Za-z_]\w*|\$(?=[\"'])")
"""Expansions that may leave nothing: `.env$()rc` is `.envrc`."""
_UNREAD_BRACES: Final = re.compile(
    r"[\w./-]\{[^{}\s]*,?[^{}\s]*['\"\\`$][^\n]*?[,}]|[\w./-]\{[^\s{}]*,[^\s{}]*['\"\\`$]"
)
"""Braces within a word whose parts hold quotes or expansions."""
_CD_HOME: Final = re.compile(r"\b(?:cd|pushd|popd)\s*(?:-\s*|--\s*)?(?:$|[;&|)\n])")
_GIT_RUNS: Final = re.compile(
    r"(?:core|filter|diff|merge|mergetool|difftool|credential|alias|sequence|include(?:if)?|init|hook|gpg|ssh|uploadpack"
    r"|receive|remote|url|protocol|pager|interactive)\.\w"
    r"|.*hookspath"
)
"""Settings of git that name programs, folders of hooks or other files of settings."""
_INSTALLS_HOOKS: Final = frozenset({"lefthook", "pre-commit", "husky", "lfs", "git-lfs", "overcommit", "dvc"})
_ONLY_LOOKS: Final = frozenset(
    {"ls", "cat", "head", "tail", "wc", "grep", "rg", "find", "tree", "echo", "cd", "pwd", "stat", "file"}
)
"""Programs that write nothing when the line has no redirect; `find` is read for its own words elsewhere."""
_SCHEDULES: Final = ("/etc/cron", "/var/spool/cron", "/var/spool/at", "/etc/systemd", "/etc/init.d")
_MOST_LOOKUPS: Final = 20_000


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
    programs = _programs(command)
    if later := programs & _SCHEDULERS:
        return f"{min(later)} starts programs later"
    if _UNREAD_BRACES.search(command):
        return "its braces cannot be read"
    try:
        words = _possible_words(command)
    except _TooManyWords:
        return f"its braces name more than {MOST_MATCHES} words"
    if names_patch_program(command) or any(map(names_patch_program, programs | words)):
        return "it may write any file that its patch names"
    if _changes_git(programs | words):
        return "it may change what git runs"
    is_reading = programs <= _ONLY_LOOKS and ">" not in command
    return _place_objection(words, boundary, _starts_at_home(command), is_reading=is_reading)


def _programs(command: str) -> frozenset[str]:
    """Return the names of the programs that a line may run, also behind wrappers and in quotes."""
    texts, _ = deny_texts_of(command, scan_commands(command))
    return frozenset(program_name(words[0]) for text in texts if (words := text.split(maxsplit=1)))


def _changes_git(words: Set[str]) -> bool:
    if any(_GIT_RUNS.match(word.casefold()) for word in words):
        return True
    if not _INSTALLS_HOOKS.isdisjoint(words) and not {"install", "init"}.isdisjoint(words):
        return True
    is_git = any(program_name(word).removesuffix(".exe") == "git" for word in words)
    return is_git and (
        not {"config", "maintenance"}.isdisjoint(words) or any(word.startswith("--te") for word in words)
    )


def _starts_at_home(command: str) -> bool:
    """Return whether a `cd` without a place, or back to one, leads to where the line does not say."""
    return _CD_HOME.search(command) is not None


def _place_objection(words: set[str], boundary: CommandBoundary, at_home: bool, *, is_reading: bool) -> str:
    root = os.path.realpath(boundary.workspace)
    governing = frozenset(folded_path(os.path.realpath(path)) for path in boundary.governing())
    names = AutorunNames(root)
    autorun = names.file_reason if is_reading else names.destination_reason
    start = os.path.realpath(boundary.folder or root)
    home = [os.path.expanduser("~")] if at_home else []  # noqa: PTH111 -- text
    bases = [*dict.fromkeys((start, root)), *home, *_folders(words, start)]
    if len(words) * len(bases) > _MOST_LOOKUPS:
        return "it names too many folders and files to look at"
    for base, word in itertools.product(bases, sorted(words)):
        for path in itertools.islice(_paths(word, base), MOST_MATCHES):
            if why := _objection(path, root, boundary, governing, autorun):
                return f"{one_line(word, 80)} {why}"
        if why := _pattern_objection(word):
            return f"{one_line(word, 80)} {why}"
    return ""


def _folders(words: set[str], root: str) -> Iterator[str]:
    """Yield the folders that a line names: a `cd` or an option may make them the place of its other words."""
    for word in sorted(words):
        place = os.path.realpath(os.path.join(root, os.path.expanduser(word)))  # noqa: PTH111, PTH118 -- text
        if place not in (root, "/") and os.path.isdir(place):  # noqa: PTH112 -- text
            yield place


class _TooManyWords(Exception):
    pass


def _possible_words(command: str) -> set[str]:
    """Return everything that may be a word of a line, with quotes taken out and with quotes as borders."""
    text = _KNOWN_VARIABLE.sub(_value_of_variable, command)
    whole = _NOTHING.sub("", _DEFAULT.sub(r"\1", text))
    lines = dict.fromkeys(form for line in (text, whole) for form in (line, decode_ansi_words(line)))
    forms = [form for line in lines for form in (line, _QUOTES.sub("", line))]
    words = {word for form in forms for text in (form, *_braced_words(form)) for word in _split(text)}
    return words | set(_values_of_options(words)) | set(_unpacked_names(words))


def _value_of_variable(match: re.Match[str]) -> str:
    name = match[1] or match[2]
    return "~" if name == "HOME" else os.environ.get(name, "")


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
    parts = [part for part in word.split("/") if part[:1] in (".", "?", "[")]
    return "may name a file that runs automatically" if any(map(may_match_closed, parts)) else ""


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
    if real.startswith(_SCHEDULES):
        return "starts programs later"
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
