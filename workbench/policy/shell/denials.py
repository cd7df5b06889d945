"""Denials by meaning: a denied command in any order and spelling of its options.

`git push --force` is denied as `git push origin main -f` too. What is read here is added to the comparison of
texts: a denial that matches a text matches, whatever is found here.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from msgspec import Struct

from workbench.policy.shell.option_reading import (
    CommandReading,
    GivenOption,
    read_denied_command,
    read_line_command,
)
from workbench.policy.shell.parser import WORD_GAP, dequoted_pattern
from workbench.policy.shell.risk_lists import program_name
from workbench.policy.shell.variable_risk import ASSIGNMENT
from workbench.policy.wildcards import wildcard_matches

_MAX_WORDS: Final = 2_000
"""Words of a command; a longer one is compared as text only."""


class Denial(Struct, frozen=True, kw_only=True):
    """A pattern of a denial as the command that it means."""

    reading: CommandReading
    is_open: bool
    """Whether more words may follow."""
    inner: "Denial | None" = None
    """The denied command that it runs, as in `sudo rm -rf *`."""

    @property
    def program(self) -> str:
        """Return the program that it is about."""
        return self.reading.key.partition(" ")[0]


@lru_cache(maxsize=1024)
def parse_denial(argument: str) -> Denial | None:
    """Read a pattern such as `git push --force *`; None where it is only a text."""
    pattern = f"{argument.removesuffix(':*')} *" if argument.endswith(":*") else argument
    bare = dequoted_pattern(pattern)
    written = (pattern if bare is None else bare).replace("\t", " ").split(" ")
    words = [word.replace(WORD_GAP, " ") for word in filter(None, written)]
    is_open = pattern.endswith("*")
    return _denial_of_words(words[:-1] if words[-1:] == ["*"] else words, is_open=is_open)


def _denial_of_words(words: Sequence[str], *, is_open: bool) -> Denial | None:
    if words and words[-1].startswith("-") and not words[-1].startswith("--"):
        words = [*words[:-1], words[-1].rstrip("*")]
    if not words or len(words) > _MAX_WORDS or ASSIGNMENT.match(words[0]) or _has_early_star(words):
        return None
    reading = read_denied_command(tuple(words))
    if not reading.is_listed and not reading.options:
        return None
    if not reading.inner:
        return Denial(reading=reading, is_open=is_open)
    inner = _denial_of_words(reading.inner, is_open=is_open)
    return None if inner is None else Denial(reading=reading, is_open=is_open, inner=inner)


def _has_early_star(words: Sequence[str]) -> bool:
    """Say whether a wildcard comes before an option, or in the name of the program."""
    options = [index for index, word in enumerate(words) if word.startswith("-")]
    stars = [index for index, word in enumerate(words) if "*" in word]
    return any(star == 0 or any(option > star for option in options) for star in stars)


def is_denied(denial: Denial, commands: Iterable[tuple[str, ...]]) -> bool:
    """Say whether one of several commands is the denied one."""
    return any(match_command(denial, words).is_certain for words in _commands_of(denial, commands))


def denial_doubt(denial: Denial, commands: Iterable[tuple[str, ...]]) -> str:
    """Return why one of several commands may be the denied one; empty if none may."""
    return next(
        (
            match.doubt
            for words in _commands_of(denial, commands)
            if (match := match_command(denial, words)).doubt
        ),
        "",
    )


def doubtful_text(denial: Denial, commands: Iterable[tuple[str, ...]]) -> str:
    """Return that words which may be data are the denied command; empty if they are not."""
    for words in _commands_of(denial, commands):
        if match_command(denial, words).is_certain:
            return f"{' '.join(words)} may run as a command"
    return ""


def _commands_of(denial: Denial, commands: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Sort out the commands of other programs, except those that are named otherwise."""
    names = (denial.program, f"{denial.program}-compose", "python", "pypy")
    return (words for words in commands if program_name(words[0]) in names and len(words) <= _MAX_WORDS)


class DenialMatch(NamedTuple):
    """Whether a command is the denied one."""

    is_certain: bool
    doubt: str = ""
    """Why it may be."""


NO_MATCH: Final = DenialMatch(is_certain=False)
_MATCH: Final = DenialMatch(is_certain=True)


def match_command(denial: Denial, words: tuple[str, ...]) -> DenialMatch:
    """Compare a command with a denial: it matches with at least the options and words of the denial."""
    line = read_line_command(words)
    match = _match_reading(denial, line)
    if match == NO_MATCH or denial.inner is None:
        return match
    inner = match_command(denial.inner, line.inner) if line.inner else NO_MATCH
    return match if inner.is_certain else inner


def _match_reading(denial: Denial, line: CommandReading) -> DenialMatch:
    wanted = denial.reading
    if not _is_same_command(wanted.key, line.key):
        return _unknown_subcommand_doubt(wanted, line)
    if not _has_operands(wanted, line) or (wanted.ends_options and not line.ends_options):
        return NO_MATCH
    missing = [option for option in wanted.options if not _has_option(line, option)]
    if missing:
        doubts = [_option_doubt(line, option) for option in missing]
        return _doubt(doubts[0]) if all(doubts) else NO_MATCH
    if denial.is_open or not _has_more(wanted, line):
        return _MATCH
    return _doubt("it says more than the denial") if wanted.options else NO_MATCH


def _doubt(why: str) -> DenialMatch:
    return DenialMatch(is_certain=False, doubt=why)


def _unknown_subcommand_doubt(wanted: CommandReading, line: CommandReading) -> DenialMatch:
    program, *subcommand = wanted.key.split(" ")
    if line.is_key_sure or line.key.split(" ")[0] != program or not {*subcommand} <= {*line.words}:
        return NO_MATCH
    return _doubt(f"{line.unknown[0]} is not known, so this may be {wanted.key}")


def _is_same_command(wanted: str, given: str) -> bool:
    return given == wanted or given.startswith(f"{wanted} ")


def _has_more(wanted: CommandReading, line: CommandReading) -> bool:
    return (
        len(line.operands) > len(wanted.operands)
        or line.key != wanted.key
        or any(not _has_option(wanted, option) for option in line.options)
    )


# --- options -------------------------------------------------------------------------------------------


def _has_option(line: CommandReading, wanted: GivenOption) -> bool:
    return any(_is_same_option(wanted, option) and _is_same_value(wanted, option) for option in line.options)


def _is_same_option(wanted: GivenOption, given: GivenOption) -> bool:
    if "*" in wanted.name:
        return any(wildcard_matches(wanted.name, name) for name in given.names)
    if wanted.row and given.row:
        return (wanted.row, wanted.name) == (given.row, given.name)
    return wanted.names[0] in given.names or given.names[0] in wanted.names


def _is_same_value(wanted: GivenOption, given: GivenOption) -> bool:
    if wanted.value is None or not wanted.row:
        return True
    return given.value is not None and wildcard_matches(wanted.value, given.value)


def _option_doubt(line: CommandReading, wanted: GivenOption) -> str:
    """Return why an option that is similar, cut short or not known may do what the denied one does."""
    for name in wanted.names:
        if name in line.similar:
            return f"{line.similar[name]} does much of what {wanted.name} does"
    if wanted.name in line.shortened:
        return f"{line.shortened[wanted.name]} may be short for {wanted.name}"
    if not line.unknown:
        return ""
    where = "" if line.is_listed else f", as no option of {line.key} is"
    return f"{line.unknown[0]} is not known{where}, and may mean {wanted.name}"


# --- operands ------------------------------------------------------------------------------------------


def _has_operands(wanted: CommandReading, line: CommandReading) -> bool:
    """Say whether the words of a denial that are no options are there, in their order."""
    place = 0
    for number, names in enumerate(wanted.operands):
        while place < len(line.operands) and not _is_same_operand(names, line.operands[place]):
            # Of a program that no table has, only a word behind an option can be a value, and no first word.
            if not line.is_listed and not number and place not in line.behind_options:
                return False
            place += 1
        if place == len(line.operands):
            return False
        place += 1
    return True


def _is_same_operand(wanted: Sequence[str], given: Sequence[str]) -> bool:
    if any("*" in name for name in wanted):
        return any(wildcard_matches(wanted[0], name) for name in given)
    return not set(wanted).isdisjoint(given)
