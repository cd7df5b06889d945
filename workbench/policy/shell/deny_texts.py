"""Every text that a deny pattern has to be tried on: the simple commands of a line in all disguises."""

# A later word of an unknown program asks where a deny matches it. It may be a program that is run, or data:
# a denial would be wrong as often as a grant.
#
# A deny sees every text that something listening would run, and no here-document that nothing runs. `echo x
# | sh`, `docker exec c x` and `x${IFS}y` are `x`; `find -name x`, `npm rm x` and the text of a file that is
# written are not.

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from workbench.policy.paths import MAX_PATH_LENGTH
from workbench.policy.shell.command_risk import assess_command, runs_nothing
from workbench.policy.shell.risk_lists import (
    CODE_TAKERS,
    OPENERS,
    OPTIONS_WITH_VALUE,
    QUIET_CODE_TAKERS,
    RESERVED_WORDS,
    WRAPPERS,
    program_name,
)
from workbench.policy.shell.scanner import ScannedCommand, ShellScan, decode_ansi_words, scan_commands
from workbench.policy.shell.variable_risk import ASSIGNMENT

Words = tuple[str, ...]
MAX_DENY_TEXT: Final = 120_000
"""Characters of spellings; a line with more is only searched loosely."""


class CommandForm(NamedTuple):
    """A command as a deny pattern may have it."""

    words: Sequence[str]
    is_command: bool = True
    """Whether it is a command with all of its words, and under the name of its program."""
    is_certain: bool = True


_REDIRECT: Final = re.compile(r"[0-9]*(?:&?>{1,2}|<{1,3})[&|-]?(.*)", re.DOTALL)
_CRUDE_EDGES: Final = re.compile(r"[;&|(){}<>`'\"\n\r\[\]!]+")
_INNER_EDGES: Final = re.compile(r"[;&|(){}<>`\n\r\[\]!]+")
_SED_EXECUTE: Final = re.compile(r"[0-9,$~+]*e[ ]+")
_QUOTE_SIGNS: Final = re.compile(r"\$?[\"']|\\")
_CASE_WORD: Final = re.compile(r"\bcase\s")
_CODE_SIGNS: Final = re.compile(r"[\s\"'\\$`]")
_CODE_OPTION: Final = re.compile(r"-[A-Za-z]*[ce]|--(?:command|eval)")
_ECHO_SUBSTITUTION: Final = re.compile(r"\$\(\s*(?:echo|printf)\s([^()`]*)\)|`\s*(?:echo|printf)\s([^`]*)`")
_DEFAULT_EXPANSION: Final = re.compile(r"\$\{[A-Za-z0-9_@*#?!-]+:?[-=+]((?:[^{}]|\{[^{}]{0,80}\}){0,300}+)\}")
_IFS_EXPANSION: Final = re.compile(r"\$\{IFS\}|\$IFS(?![A-Za-z0-9_])")
_CODE_JOINTS: Final = re.compile(r"[\"',\\\s]+")
_BRACE_SIGNS: Final = re.compile(r"[{},]")
_GRAMMAR_WORDS: Final = RESERVED_WORDS - WRAPPERS
_PEELED_PROGRAMS: Final = WRAPPERS | {"eval", "trap", "source", ".", "alias"}
_EXPANSION: Final = "$()"
"""A scan has this in place of a substitution; as a first word it is a command that the substitution names."""
_ECHO_PROGRAMS: Final = frozenset({"echo", "printf"})
_MAX_ECHOED: Final = 8
_MAX_DEPTH: Final = 3
_MAX_CODE_LENGTH: Final = 4096
_MAX_LINKS: Final = 20


class DenyForms(NamedTuple):
    """What a deny pattern has to be tried on."""

    texts: tuple[str, ...]
    """The raw one first."""
    commands: tuple[Words, ...] = ()
    """The simple commands, word by word."""
    doubtful: tuple[Words, ...] = ()
    """More that may be commands, or data: they are cut out of text."""
    is_whole: bool = True
    """Whether those are all there are."""


def deny_forms_of(command: str, scan: ShellScan) -> DenyForms:
    """Return every form of a line that a deny pattern has to be tried on."""
    texts: dict[str, None] = dict.fromkeys((command, command.strip()))
    commands: dict[Words, None] = {}
    doubtful: dict[Words, None] = {}
    length = 0
    for form in _all_forms(command, scan):
        text = " ".join(form.words)
        if form.is_command:
            (commands if form.is_certain else doubtful)[tuple(form.words)] = None
        if text not in texts:
            texts[text] = None
            length += len(text)
            if length > MAX_DENY_TEXT:
                return DenyForms(tuple(texts), tuple(commands), tuple(doubtful), is_whole=False)
    return DenyForms(tuple(texts), tuple(commands), tuple(doubtful))


def deny_texts_of(command: str, scan: ShellScan) -> tuple[tuple[str, ...], bool]:
    """Return the texts, the raw one first, and whether they are all there are."""
    forms = deny_forms_of(command, scan)
    return forms.texts, forms.is_whole


def runs_text(scan: ShellScan) -> bool:
    """Say whether one of the commands runs text, or other programs by their names."""
    return any(_words_run_text(words) for segment in scan.segments for words in _command_forms(segment))


def _all_forms(command: str, scan: ShellScan) -> Iterator[CommandForm]:
    # The bracket behind a pattern of `case` closes no substitution, though the scan takes it for that.
    has_code = not scan.is_certain or _CASE_WORD.search(command) is not None
    segments = dict.fromkeys(scan.segments)
    looked_into: set[tuple[str, ...]] = set()
    for segment in segments:
        for words in _command_forms(segment):
            has_code = has_code or _words_run_text(words)
            looked_into.add(words)
            yield from command_forms(words, _MAX_DEPTH)
    yield from _code_commands(command, _MAX_DEPTH, is_written=False)
    if has_code:
        yield from map(_as_doubtful, _echoed_commands(segments))
        joined = command.replace("\\\n", "")
        for line in dict.fromkeys(
            (command, decode_ansi_words(command), joined, _QUOTE_SIGNS.sub("", joined))
        ):
            for words in dict.fromkeys(_crude_commands(line)):
                if words not in looked_into:
                    yield from map(_as_doubtful, command_forms(words))


def _as_doubtful(form: CommandForm) -> CommandForm:
    return form._replace(is_certain=False)


def _echoed_commands(segments: Iterable[ScannedCommand]) -> Iterator[CommandForm]:
    """Yield what `echo` gives a shell that reads it: `echo git push | sh`."""
    for words in (words for segment in segments for words in _command_forms(segment)):
        if words[0] in _ECHO_PROGRAMS:
            printed = " ".join(words[1:]).split()
            for start in range(min(len(printed), _MAX_ECHOED)):
                yield from command_forms(printed[start:])


def _code_commands(text: str, deep: int, *, is_written: bool = True) -> Iterator[CommandForm]:
    for line in dict.fromkeys((text, _with_expansions(text))):
        if is_written or line != text:
            for segment in scan_commands(line).segments:
                for words in _command_forms(segment):
                    yield from command_forms(words, deep)


def _with_expansions(text: str) -> str:
    for _ in range(_MAX_DEPTH if "$" in text or "`" in text else 0):
        text = _DEFAULT_EXPANSION.sub(r"\1", _ECHO_SUBSTITUTION.sub(r"\1\2", text))
    return text


def _words_run_text(words: Sequence[str]) -> bool:
    words = _command_words(words)
    if not words or not words[0]:
        return False
    if _EXPANSION in words[0] or assess_command(words).reasons:
        return True
    name = program_name(words[0])
    return name in CODE_TAKERS and name not in QUIET_CODE_TAKERS


def _command_forms(segment: ScannedCommand) -> Iterator[tuple[str, ...]]:
    forms: dict[tuple[str, ...], None] = {segment.words: None, segment.bare: None}
    if any("{" in word for word in segment.bare):
        forms.setdefault(tuple(_BRACE_SIGNS.sub(" ", " ".join(segment.bare)).split()))
    forms.setdefault(tuple(_without_redirects(segment.bare)))
    forms.setdefault(tuple(_without_signs(segment.bare)))
    if any("$" in word for word in segment.words):
        forms.setdefault(tuple(_IFS_EXPANSION.sub(" ", " ".join(segment.words)).split()))
    yield from filter(None, forms)


def _without_redirects(words: Iterable[str]) -> Iterator[str]:
    takes_next = False
    for word in words:
        redirect = _REDIRECT.fullmatch(word)
        if takes_next:
            takes_next = False
        elif redirect is not None:
            takes_next = not redirect.group(1)
        else:
            yield word.split(">", 1)[0].split("<", 1)[0]


def _without_signs(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        redirect = _REDIRECT.fullmatch(word)
        if redirect is None or redirect.group(1):
            yield redirect.group(1) if redirect else word


def command_forms(written: Sequence[str], deep: int = 0) -> Iterator[CommandForm]:
    """Yield a simple command in every way in which a deny pattern may have been written, word by word."""
    words = _command_words(written)
    if len(words) < len(written):
        yield CommandForm(written, is_command=False)
    if not words:
        return
    yield from _word_spellings(words)
    for start in _inner_command_starts(words):
        yield from _word_spellings(_command_words(words[start:]))
    codes = [word for before, word in pairwise(words) if _may_be_code(before, word)] if deep else []
    if codes and words[0] == "eval":
        codes.append(" ".join(words[1:])[:_MAX_CODE_LENGTH])
    if codes and _words_run_text(words):
        for word in codes:
            yield from _code_commands(word, deep - 1)


def _may_be_code(before: str, word: str) -> bool:
    looks_so = _CODE_SIGNS.search(word) is not None or _CODE_OPTION.fullmatch(before) is not None
    return looks_so and len(word) <= _MAX_CODE_LENGTH


def _inner_command_starts(words: Sequence[str]) -> Iterable[int]:
    name = program_name(words[0])
    if name in _PEELED_PROGRAMS:
        return range(1 if not runs_nothing(words) else len(words), len(words))
    openers = OPENERS.get(name)
    if openers is None:
        return ()
    first = next((index for index, word in enumerate(words) if word in openers), len(words))
    return range(first + 1 if openers else 1, len(words))


def _command_words(words: Sequence[str]) -> Sequence[str]:
    """Drop what may stand before a command: grammar, assignments, the name of a function."""
    start = 0
    while start < len(words) and (words[start] in _GRAMMAR_WORDS or ASSIGNMENT.match(words[start])):
        start += 2 if words[start] == "function" else 1
    return words[start:]


def _word_spellings(words: Sequence[str]) -> Iterator[CommandForm]:
    if not words:
        return
    rest = words[1:]
    base = words[0].rsplit("/", 1)[-1]
    heads = [words[0], base, program_name(words[0])]
    if sys.platform == "darwin":
        heads += [base.lower(), program_name(words[0].lower())]  # its file systems do not tell them apart
    for head in dict.fromkeys(heads):
        # Who reads a command word by word knows it by its folder, version and aliases too.
        yield CommandForm((head, *rest), is_command=head == words[0] or head not in heads[:3])
        for remaining in _without_options(program_name(head), rest):
            yield CommandForm((head, *remaining), is_command=False)


def _without_options(head: str, rest: Sequence[str]) -> Iterator[Sequence[str]]:
    valued = OPTIONS_WITH_VALUE.get(head)
    index = 0
    while index < len(rest) and rest[index].startswith("-"):
        has_value = "=" not in rest[index] and (valued is None or rest[index] in valued)
        index += 1
        if valued is None or not has_value:
            yield rest[index:]
        if has_value and index < len(rest) and not rest[index].startswith("-"):
            index += 1
            yield rest[index:]


def _crude_commands(command: str) -> Iterator[tuple[str, ...]]:
    """Cut at everything that can begin a command in any language, quotes or not."""
    for edges in (_CRUDE_EDGES, _INNER_EDGES):
        for piece in dict.fromkeys(edges.split(command)):
            text = _CODE_JOINTS.sub(" ", piece).strip()
            for form in dict.fromkeys((text, _SED_EXECUTE.sub("", text, count=1))):
                if words := _command_words(form.split()):
                    yield tuple(words)


# --- behind links ------------------------------------------------------------------------------------


def commands_by_real_name(commands: Iterable[Words], folder: str, path: str | None) -> Iterator[Words]:
    """Yield commands again under the names of the programs that their first words lead to."""
    path = path or os.environ.get("PATH", "")
    for words in commands:
        yield from ((name, *words[1:]) for name in _real_program_names(words[0], folder, path))


def texts_by_real_name(texts: Iterable[str], folder: str, path: str | None) -> Iterator[str]:
    """Yield the texts again under the names of the programs that their first words lead to."""
    names: dict[str, tuple[str, ...]] = {}
    for text in texts:
        head, space, rest = text.partition(" ")
        if head not in names:
            names[head] = tuple(_real_program_names(head, folder, path or os.environ.get("PATH", "")))
        yield from (f"{name}{space}{rest}" for name in names[head])


def _real_program_names(head: str, folder: str, path: str) -> Iterator[str]:
    if not head or "\0" in head or len(head) > MAX_PATH_LENGTH:
        return
    program = os.path.join(folder, head) if "/" in head else _program_path(head, path)  # noqa: PTH118 -- text
    for _ in range(_MAX_LINKS):
        if not program:
            return
        yield os.path.basename(os.path.realpath(program))  # noqa: PTH119 -- text
        target = _link_target(program)
        program = os.path.join(os.path.dirname(program), target) if target else None  # noqa: PTH118, PTH120
        if program:
            yield os.path.basename(program)  # noqa: PTH119


@lru_cache(maxsize=1024)
def _program_path(head: str, path: str) -> str | None:
    return shutil.which(head, path=path)


def _link_target(path: str) -> str | None:
    try:
        return os.readlink(path)  # noqa: PTH115
    except OSError:
        return None


# --- too much to look into ---------------------------------------------------------------------------


_WORD_CHARACTER: Final = re.compile(r"[\w.-]").match
_LOOSE_SIGNS: Final = re.compile(r"[\"'\\]|\$(?:\{[^}]{0,40}\}|\([^)]{0,40}\)|[A-Za-z_@*#?]\w{0,40})|\{|\}")


def could_contain(pattern: str, command: str) -> bool:
    """Say whether a command too long to take apart may hold the words of a deny pattern in order."""
    return any(_contains_in_order(pattern, text) for text in _loosened_command(command))


@lru_cache(maxsize=4)
def _loosened_command(command: str) -> tuple[str, ...]:
    lines = dict.fromkeys((command, decode_ansi_words(command)))
    return tuple(
        dict.fromkeys(
            text for line in lines for text in (line, _LOOSE_SIGNS.sub("", line), _LOOSE_SIGNS.sub(" ", line))
        )
    )


def _contains_in_order(pattern: str, text: str) -> bool:
    position = 0
    for word in pattern.replace(":*", " *").replace("*", " ").split():
        start = text.find(word, position)
        while position == 0 and start > 0 and _WORD_CHARACTER(text[start - 1]):
            start = text.find(word, start + 1)
        if start < 0:
            return False
        position = start + len(word)
    return True
