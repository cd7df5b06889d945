"""Matches a simple command against the tables of known programs, reading its words as the program does."""

# A grant covers what is known to be harmless. Lists of dangerous options were never complete. For some 150
# programs a table names the options and sub-commands that run nothing, load nothing and write nothing that
# the line names; of all others a pattern has to spell each option. Variables go by a short list. To let a
# grant cover one more option, add it to its row. Words that may be paths are judged apart, after patterns
# and rules, at proposal and at execution.
#
# An interpreter or runner needs its script spelled out. `Bash(python -m pytest *)` covers `python -m pytest
# -q`; `Bash(python *)` covers nothing, because it would run any text. What follows `python -m NAME` is
# judged as NAME would be. Wrappers (`env`, `sudo`, `xargs`) are never covered.
#
# `--` is one of three things, and the row says which. With ENDS the words behind it are operands; this was
# tried with the real program. With PASSES they are for another program, whose options a pattern has to spell
# out unless the row `KEY --` has them. With neither, `--` is unknown: `find -- . -delete` deletes.

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct, field

from workbench.policy.shell.known_programs import (
    KNOWN_OPERANDS,
    KNOWN_PROGRAMS,
    KNOWN_VALUES,
    MOST_OPERANDS,
    REQUIRED_OPTIONS,
    VERSION_ALONE,
)

TABLE_WORDS: Final = frozenset({
    "ANY",  # every word that begins with `-` is an operand, or a test
    "ENDS",  # `--` ends the options: this was tried with the real program
    "GNU",  # tried with the program of GNU or Linux only; BSD and macOS have another one of that name
    "MARKS",  # parentheses and `!` are operands that name nothing
    "PASSES",  # the words behind `--` are for another program
    "REMOTE",  # the first operand is the name of a remote, the others are text
    "SCRIPT",  # the first operand is text, unless an option gives it
    "SUB",  # the first operand is a sub-command
    "TAR",  # the first word is a group of letters also without `-`
    "TEXT",  # no operand names a file
    "TEXT1",  # the first operand names no file
    "WHOLE",  # a word with one `-` is one option
})  # fmt: skip
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
_SIGNED_NUMBER: Final = re.compile(r"-(?:[0-9]+[A-Za-z]?)?")
_PROGRAM_FOLDERS: Final = ("bin", "sbin", ".bin")
_BESIDE_ITS_PROJECT: Final = frozenset({"./gradlew", "./mvnw"})


class KnownCommand(Struct, frozen=True, kw_only=True):
    """What a table knows of one line."""

    spelled: int = 0
    literal: frozenset[int] = frozenset()
    text: frozenset[int] = frozenset()
    unknown: int | None = None
    """Place of the option or sub-command that the table does not have."""


class _TableRow(Struct, frozen=True, kw_only=True):
    options: Mapping[str, str]
    """By option, as it is typed, the sign of what it takes; empty for nothing."""
    words: frozenset[str]


class _CommandReading(Struct, kw_only=True):
    key: str
    row: _TableRow
    options: set[str] = field(default_factory=set[str])
    operands: list[int] = field(default_factory=list[int])
    text: set[int] = field(default_factory=set[int])
    behind: int | None = None
    """Where the words for another program begin, after `--`."""
    is_known: bool = True
    unknown: int | None = None


def match_known_command(name: str, words: Sequence[str]) -> KnownCommand:
    """Return what the tables know of a command; `name` is its program without folder and version."""
    if name not in KNOWN_PROGRAMS or not _is_program_itself(words[0]):
        return KnownCommand(literal=steering_words(words, 1))
    if "GNU" in _table_row(name).words and has_bsd_tools() and not _is_gnu_copy(name, words[0]):
        return _match_unlisted_tool(name, words)
    if name in VERSION_ALONE and list(words[1:]) == ["--version"]:
        return KnownCommand()
    key, start = name, 1
    text: set[int] = set()
    while "SUB" in _table_row(key).words:
        reading = _read_words(key, words, start, is_leading=True)
        text |= reading.text
        if not reading.is_known:
            return _spelled_whole(words, reading.unknown)
        if not reading.operands:
            return KnownCommand(text=frozenset(text))
        index = reading.operands[0]
        key, start = f"{key} {words[index]}", index + 1
        if key not in KNOWN_PROGRAMS or " " in words[index]:
            return (
                _spelled_whole(words, index)
                if name == "git"
                else KnownCommand(
                    spelled=start, literal=steering_words(words, start), text=frozenset(text), unknown=index
                )
            )
    return _match_reading(_read_words(key, words, start), words, text)


def has_bsd_tools() -> bool:
    """Return whether this system has its own tools in place of those of GNU."""
    return sys.platform == "darwin" or "bsd" in sys.platform


def _is_gnu_copy(name: str, head: str) -> bool:
    return head.rpartition("/")[2] == f"g{name}"


def _match_unlisted_tool(name: str, words: Sequence[str]) -> KnownCommand:
    """Match a tool whose options are not known here: each is spelled out, and so are operands that act."""
    if "TAR" in _table_row(name).words or name in KNOWN_OPERANDS:
        return _spelled_whole(words)
    return KnownCommand(literal=steering_words(words, 1))


def steering_words(words: Sequence[str], start: int) -> frozenset[int]:
    """Return the places of words that may steer a program of which nothing is known."""
    return frozenset(
        index
        for index, word in enumerate(words)
        if index >= start
        and ((word.startswith(("-", "+", "@")) and len(word) > 1) or "=" in word or "://" in word)
    )


def only_reads_config(words: Sequence[str]) -> bool:
    """Say whether a `git config` only reads, by the word after it."""
    return len(words) > 1 and words[1] in _READS_CONFIG


def _spelled_whole(words: Sequence[str], unknown: int | None = None) -> KnownCommand:
    return KnownCommand(literal=frozenset(range(len(words))), unknown=unknown)


def _is_program_itself(head: str) -> bool:
    folder = head.rpartition("/")[0]
    return "/" not in head or head in _BESIDE_ITS_PROJECT or folder.rpartition("/")[2] in _PROGRAM_FOLDERS


@lru_cache(maxsize=1024)
def _table_row(key: str) -> _TableRow:
    options: dict[str, str] = {}
    words: set[str] = set()
    tokens = KNOWN_PROGRAMS[key].split()
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
    return _TableRow(options=options, words=frozenset(words))


# --- reading a line as its program does --------------------------------------------------------------


def _read_words(key: str, words: Sequence[str], start: int, *, is_leading: bool = False) -> _CommandReading:
    reading = _CommandReading(key=key, row=_table_row(key))
    index = start
    while index < len(words) and reading.is_known:
        word = words[index]
        if word == "--" and "ANY" not in reading.row.words:
            _end_options(reading, index)
            break
        if index == start and "TAR" in reading.row.words and not word.startswith("-"):
            index = _read_letters(reading, words, index, f"-{word}")
        elif len(word) < 2 or not word.startswith("-") or "ANY" in reading.row.words:
            reading.operands.append(index)
            index += 1
            if is_leading:
                return reading
        elif word.startswith("--") or "WHOLE" in reading.row.words:
            index = _read_named_option(reading, words, index)
        elif "-#" in reading.row.options and _NUMBER.fullmatch(word):
            reading.text.add(index)
            index += 1
        else:
            index = _read_letters(reading, words, index, word)
    if reading.behind is not None and "PASSES" not in reading.row.words:
        reading.operands.extend(range(reading.behind, len(words)))
    return reading


def _end_options(reading: _CommandReading, index: int) -> None:
    if not reading.row.words & {"ENDS", "PASSES"}:
        reading.is_known, reading.unknown = False, index
    reading.text.add(index)
    reading.behind = index + 1


def _read_named_option(reading: _CommandReading, words: Sequence[str], index: int) -> int:
    name, equals, value = words[index].partition("=")
    takes = reading.row.options.get(name)
    if takes is None and not words[index].startswith("--"):
        name, equals, value = words[index][:2], "=", words[index][2:]
        takes = reading.row.options.get(name) or None
        takes = None if takes == "/" else takes
    if takes is None or (equals and not takes):
        reading.is_known, reading.unknown = False, index
        return index
    if equals:
        return _note_attached_value(reading, name, takes, value, index)
    reading.text.add(index)
    return _read_following_values(reading, words, index + 1, name, takes)


def _read_letters(reading: _CommandReading, words: Sequence[str], index: int, group: str) -> int:
    following = index + 1
    for place, letter in enumerate(group[1:], 2):
        name, value = f"-{letter}", group[place:]
        takes = reading.row.options.get(name)
        # A path within a group of letters is not seen by those who look for paths.
        if takes is None or (takes == "/" and value not in ("", "-") and group == words[index]):
            reading.is_known, reading.unknown = False, index
            return index
        if takes and value and group == words[index]:
            return _note_attached_value(reading, name, takes, value, index)
        following = _read_following_values(reading, words, following, name, takes)
    reading.text.add(index)
    return following


def _note_attached_value(reading: _CommandReading, name: str, takes: str, value: str, index: int) -> int:
    reading.options.add(name)
    reading.is_known = takes != "::" and _is_known_value(reading, name, value)
    if takes != "/":
        reading.text.add(index)
    return index + 1


def _read_following_values(
    reading: _CommandReading, words: Sequence[str], index: int, name: str, takes: str
) -> int:
    reading.options.add(name)
    end = index if takes == "?" else index + len(takes)
    values = words[index:end]
    # A value that looks like an option is one where the table is wrong about what comes before it.
    if (
        end > len(words)
        or any(value.startswith("-") and not _SIGNED_NUMBER.fullmatch(value) for value in values)
        or not all(_is_known_value(reading, name, value) for value in values)
    ):
        reading.is_known = False
    if takes != "/":
        reading.text.update(range(index, end))
    return end


def _is_known_value(reading: _CommandReading, name: str, value: str) -> bool:
    pattern = KNOWN_VALUES.get(f"{reading.key} {name}")
    return pattern is None or re.fullmatch(pattern, value) is not None


# --- what that says ----------------------------------------------------------------------------------


def _match_reading(reading: _CommandReading, words: Sequence[str], before: set[int]) -> KnownCommand:
    if not reading.is_known or not _has_known_operands(reading, words):
        return _spelled_whole(words, reading.unknown)
    text = frozenset(before | reading.text | set(_text_operands(reading, words)))
    if "PASSES" not in reading.row.words or reading.behind is None:
        return KnownCommand(text=text)
    if (inner := f"{reading.key} --") in KNOWN_PROGRAMS:
        passed = _read_words(inner, words, reading.behind)
        if passed.is_known:
            return KnownCommand(text=text | passed.text | set(_text_operands(passed, words)))
    return KnownCommand(text=text, literal=steering_words(words, reading.behind))


def _has_known_operands(reading: _CommandReading, words: Sequence[str]) -> bool:
    kinds = reading.row.words
    operands = [words[index] for index in reading.operands]
    needed = REQUIRED_OPTIONS.get(reading.key)
    if needed and not needed & reading.options:
        return False
    if len(operands) > MOST_OPERANDS.get(reading.key, len(operands)):
        return False
    if "REMOTE" in kinds and operands and not _REMOTE_NAME.fullmatch(operands[0]):
        return False
    pattern = KNOWN_OPERANDS.get(reading.key)
    if pattern and not all(re.fullmatch(pattern, word) for word in _operands_to_match(reading, operands)):
        return False
    if pattern or kinds & {"ANY", "TEXT", "REMOTE"}:
        return True
    names = operands[1:] if kinds & {"TEXT1", "SCRIPT"} else operands
    files = () if reading.key.partition(" ")[0] in _AT_IS_NO_FILE else ("@",)
    return not any("://" in word or word.startswith(files) for word in names)


def _operands_to_match(reading: _CommandReading, operands: Sequence[str]) -> Sequence[str]:
    return operands[:1] if "TEXT1" in reading.row.words else operands


def _text_operands(reading: _CommandReading, words: Sequence[str]) -> Iterator[int]:
    kinds, operands = reading.row.words, reading.operands
    if kinds & {"TEXT", "REMOTE"}:
        yield from operands
    elif "TEXT1" in kinds or ("SCRIPT" in kinds and not reading.options & _SCRIPT_OPTIONS):
        yield from operands[:1]
    if "MARKS" in kinds:
        yield from (index for index in operands if words[index] in ("(", ")", "!", ","))
