"""What of a simple command is known to be harmless, by the table of `known_programs`.

Owns reading a line as its program reads it: groups of letters, values behind `=`, behind a letter and in the
next word, `--`, sub-commands. It says which words a pattern has to spell out, and which are text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from workbench.policy.known_programs import OPERANDS, PROGRAMS, REQUIRED, VALUES

WORDS: Final = frozenset({
    "ANY",  # every word that begins with `-` is an operand, or a test
    "MARKS",  # parentheses and `!` are operands that name nothing
    "PASSES",  # what stands behind `--` is for another program
    "REMOTE",  # the first operand is the name of a remote, the others are text
    "SCRIPT",  # the first operand is text, unless an option gives it
    "SUB",  # the first operand is a sub-command
    "TAR",  # the first word is a group of letters also without `-`
    "TEXT",  # no operand names a file
    "TEXT1",  # the first operand names no file
    "WHOLE",  # a word with one `-` is one option
})  # fmt: skip
"""The words in capitals of the table."""

_AT_IS_NO_FILE: Final = frozenset({"git", "npm", "pnpm", "yarn"})
_SCRIPT_OPTIONS: Final = frozenset({
    "-e", "-f", "--regexp", "--expression", "--file", "--files", "--type-list",
})  # fmt: skip
"""Options that give the pattern or script, or say that there is none."""

_READS_CONFIG: Final = frozenset({
    "--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l", "get", "list",
})  # fmt: skip
_REMOTE_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_NUMBER: Final = re.compile(r"-[0-9]+")
_SIGNED: Final = re.compile(r"-(?:[0-9]+[A-Za-z]?)?")
_PROGRAM_FOLDERS: Final = ("bin", "sbin", ".bin")
_BESIDE_ITS_PROJECT: Final = frozenset({"./gradlew", "./mvnw"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a table knows of one line."""

    spelled: int = 0
    literal: frozenset[int] = frozenset()
    text: frozenset[int] = frozenset()
    unknown: int | None = None
    """Place of the option or sub-command that the table does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    options: Mapping[str, str]
    """By option, as it is typed, the sign of what it takes; empty for nothing."""
    words: frozenset[str]


@dataclass(slots=True, kw_only=True)
class _Reading:
    """A line while it is read."""

    key: str
    row: _Row
    options: set[str] = field(default_factory=set[str])
    operands: list[int] = field(default_factory=list[int])
    text: set[int] = field(default_factory=set[int])
    behind: int | None = None
    """Where the words for another program begin."""
    is_known: bool = True
    unknown: int | None = None


def known(name: str, words: Sequence[str]) -> Known:
    """Say what is known of a simple command.

    Args:
        name: Its program, without folder and version.
        words: Its words, the program first.
    """
    if name not in PROGRAMS or not _is_the_program(words[0]):
        return Known(literal=foreign(words, 1))
    key, start = name, 1
    text: set[int] = set()
    while "SUB" in _row(key).words:
        reading = _read(key, words, start, is_leading=True)
        text |= reading.text
        if not reading.is_known:
            return _whole(words, reading.unknown)
        if not reading.operands:
            return Known(text=frozenset(text))
        at = reading.operands[0]
        key, start = f"{key} {words[at]}", at + 1
        if key not in PROGRAMS:
            return (
                _whole(words, at)
                if name == "git"
                else Known(spelled=start, literal=foreign(words, start), text=frozenset(text), unknown=at)
            )
    return _judged(_read(key, words, start), words, text)


def foreign(words: Sequence[str], start: int) -> frozenset[int]:
    """Return the places of words that may steer a program of which nothing is known."""
    return frozenset(at for at in range(start, len(words)) if _may_steer(words[at]))


def reads_config(words: Sequence[str]) -> bool:
    """Say whether the first word behind `config` says that it only reads."""
    return len(words) > 1 and words[1] in _READS_CONFIG


def _may_steer(word: str) -> bool:
    return (word.startswith(("-", "+", "@")) and len(word) > 1) or "=" in word or "://" in word


def _whole(words: Sequence[str], unknown: int | None = None) -> Known:
    return Known(literal=frozenset(range(len(words))), unknown=unknown)


def _is_the_program(head: str) -> bool:
    folder = head.rpartition("/")[0]
    return "/" not in head or head in _BESIDE_ITS_PROJECT or folder.rpartition("/")[2] in _PROGRAM_FOLDERS


@lru_cache(maxsize=1024)
def _row(key: str) -> _Row:
    """Read a row of the table."""
    options: dict[str, str] = {}
    words: set[str] = set()
    tokens = PROGRAMS[key].split()
    is_whole = "WHOLE" in tokens
    for token in tokens:
        if not token.startswith("-"):
            words.add(token)
            continue
        name = token.rstrip(":/?")
        takes = token[len(name) :]
        if name.startswith("--") or is_whole or name == "-#":
            options[name] = takes
        else:
            options.update(dict.fromkeys((f"-{letter}" for letter in name[1:]), ""))
            options[f"-{name[-1]}"] = takes
    return _Row(options=options, words=frozenset(words))


# --- reading a line as its program does --------------------------------------------------------------


def _read(key: str, words: Sequence[str], start: int, *, is_leading: bool = False) -> _Reading:
    """Read the words from one on; leading ones end at the first operand."""
    reading = _Reading(key=key, row=_row(key))
    at = start
    while at < len(words) and reading.is_known:
        word = words[at]
        if word == "--" and "ANY" not in reading.row.words:
            reading.text.add(at)
            reading.behind = at + 1
            break
        if at == start and "TAR" in reading.row.words and not word.startswith("-"):
            at = _letters(reading, words, at, f"-{word}")
        elif len(word) < 2 or not word.startswith("-") or "ANY" in reading.row.words:
            reading.operands.append(at)
            at += 1
            if is_leading:
                return reading
        elif word.startswith("--") or "WHOLE" in reading.row.words:
            at = _named(reading, words, at)
        elif "-#" in reading.row.options and _NUMBER.fullmatch(word):
            reading.text.add(at)
            at += 1
        else:
            at = _letters(reading, words, at, word)
    if reading.behind is not None and "PASSES" not in reading.row.words:
        reading.operands.extend(range(reading.behind, len(words)))
    return reading


def _named(reading: _Reading, words: Sequence[str], at: int) -> int:
    """Read an option that is a word, and return where the next word stands."""
    name, equals, value = words[at].partition("=")
    takes = reading.row.options.get(name)
    if takes is None and not words[at].startswith("--"):
        name, equals, value = words[at][:2], "=", words[at][2:]
        takes = reading.row.options.get(name) or None
        takes = None if takes == "/" else takes
    if takes is None or (equals and not takes):
        reading.is_known, reading.unknown = False, at
        return at
    if equals:
        return _attached(reading, name, takes, value, at)
    reading.text.add(at)
    return _following(reading, words, at + 1, name, takes)


def _letters(reading: _Reading, words: Sequence[str], at: int, group: str) -> int:
    """Read a group of letters, and return where the next word stands."""
    following = at + 1
    for place, letter in enumerate(group[1:], 2):
        name, value = f"-{letter}", group[place:]
        takes = reading.row.options.get(name)
        # A path within a group of letters is not seen by those who look for paths.
        if takes is None or (takes == "/" and value not in ("", "-") and group == words[at]):
            reading.is_known, reading.unknown = False, at
            return at
        if takes and value and group == words[at]:
            return _attached(reading, name, takes, value, at)
        following = _following(reading, words, following, name, takes)
    reading.text.add(at)
    return following


def _attached(reading: _Reading, name: str, takes: str, value: str, at: int) -> int:
    """Note an option that has its value within its word."""
    reading.options.add(name)
    reading.is_known = takes != "::" and _is_known_value(reading, name, value)
    if takes != "/":
        reading.text.add(at)
    return at + 1


def _following(reading: _Reading, words: Sequence[str], at: int, name: str, takes: str) -> int:
    """Note an option whose values are the words from one on, and return where the next word stands."""
    reading.options.add(name)
    end = at if takes == "?" else at + len(takes)
    values = words[at:end]
    # A value that looks like an option is one where the table is wrong about what comes before it.
    if (
        end > len(words)
        or any(value.startswith("-") and not _SIGNED.fullmatch(value) for value in values)
        or not all(_is_known_value(reading, name, value) for value in values)
    ):
        reading.is_known = False
    if takes != "/":
        reading.text.update(range(at, end))
    return end


def _is_known_value(reading: _Reading, name: str, value: str) -> bool:
    wanted = VALUES.get(f"{reading.key} {name}")
    return wanted is None or re.fullmatch(wanted, value) is not None


# --- what that says ----------------------------------------------------------------------------------


def _judged(reading: _Reading, words: Sequence[str], before: set[int]) -> Known:
    if not reading.is_known or not _has_known_operands(reading, words):
        return _whole(words, reading.unknown)
    text = frozenset(before | reading.text | set(_text_operands(reading, words)))
    if "PASSES" not in reading.row.words or reading.behind is None:
        return Known(text=text)
    if (inner := f"{reading.key} --") in PROGRAMS:
        passed = _read(inner, words, reading.behind)
        if passed.is_known:
            return Known(text=text | passed.text | set(_text_operands(passed, words)))
    return Known(text=text, literal=foreign(words, reading.behind))


def _has_known_operands(reading: _Reading, words: Sequence[str]) -> bool:
    kinds = reading.row.words
    operands = [words[at] for at in reading.operands]
    needed = REQUIRED.get(reading.key)
    if needed and not needed & reading.options:
        return False
    if "REMOTE" in kinds and operands and not _REMOTE_NAME.fullmatch(operands[0]):
        return False
    pattern = OPERANDS.get(reading.key)
    if pattern and not all(re.fullmatch(pattern, word) for word in _judged_operands(reading, operands)):
        return False
    if pattern or kinds & {"ANY", "TEXT", "REMOTE"}:
        return True
    names = operands[1:] if kinds & {"TEXT1", "SCRIPT"} else operands
    files = () if reading.key.partition(" ")[0] in _AT_IS_NO_FILE else ("@",)
    return not any("://" in word or word.startswith(files) for word in names)


def _judged_operands(reading: _Reading, operands: Sequence[str]) -> Sequence[str]:
    return operands[:1] if "TEXT1" in reading.row.words else operands


def _text_operands(reading: _Reading, words: Sequence[str]) -> Iterator[int]:
    kinds, operands = reading.row.words, reading.operands
    if kinds & {"TEXT", "REMOTE"}:
        yield from operands
    elif "TEXT1" in kinds or ("SCRIPT" in kinds and not reading.options & _SCRIPT_OPTIONS):
        yield from operands[:1]
    if "MARKS" in kinds:
        yield from (at for at in operands if words[at] in ("(", ")", "!", ","))
