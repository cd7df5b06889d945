"""Reads the options and operands of a command as its program does, by the tables of option names."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from posixpath import normpath
from typing import Final

from msgspec import Struct, field

from workbench.policy.shell.option_names import OPTION_NAMES, ROW_WORDS
from workbench.policy.shell.option_synonyms import (
    DEFAULT_SUBCOMMANDS,
    EQUAL_OPTIONS,
    IMPLIED_OPTIONS,
    KUBERNETES_KINDS,
    METHOD_OPTIONS,
    SIGNAL_NAMES,
    SIMILAR_OPTIONS,
    SUBCOMMAND_NAMES,
)
from workbench.policy.shell.risk_lists import program_name

_FALSE: Final = frozenset({"false", "FALSE", "False", "f", "F", "0"})
_TRUE: Final = frozenset({"true", "TRUE", "True", "t", "T", "1"})
_MAX_INNER: Final = 4


class OptionName(Struct, frozen=True, kw_only=True):
    """One option of a program with all of its names."""

    names: tuple[str, ...]
    takes: str = ""
    """`:` for a value, `?` for one that is joined only, empty for none."""

    @property
    def title(self) -> str:
        """Return the name that says most: the first long one."""
        return next((name for name in self.names if name.startswith("--")), self.names[0])


class OptionRow(Struct, frozen=True, kw_only=True):
    """The options of a program or of one of its sub-commands."""

    key: str
    by_name: Mapping[str, OptionName]
    words: frozenset[str]

    @property
    def options(self) -> tuple[OptionName, ...]:
        """Return each option once."""
        return tuple({option.names: option for option in self.by_name.values()}.values())


class GivenOption(Struct, frozen=True, kw_only=True):
    """An option of a command."""

    row: str
    """The command whose table has it; empty where none has."""
    name: str
    """Its title, or the word as it is written."""
    names: tuple[str, ...]
    value: str | None = None


class CommandReading(Struct, kw_only=True):
    """A command taken apart."""

    key: str
    """Program and sub-command by their real names: `git push`."""
    words: tuple[str, ...] = ()
    is_listed: bool = True
    options: list[GivenOption] = field(default_factory=list[GivenOption])
    operands: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    """Each with all of its names."""
    similar: dict[str, str] = field(default_factory=dict[str, str])
    """Names of options that others of the command resemble, and those others."""
    shortened: dict[str, str] = field(default_factory=dict[str, str])
    """By title, options for which a name that is cut short may stand, and that name."""
    unknown: list[str] = field(default_factory=list[str])
    """Options that no table has."""
    is_key_sure: bool = True
    """Whether no unknown option comes before the sub-command."""
    ends_options: bool = False
    """Whether it has `--`."""
    behind_options: set[int] = field(default_factory=set[int])
    """Places of operands that may be the value of the option before them."""
    inner: tuple[str, ...] = ()
    """The command that it runs."""


@lru_cache(maxsize=1024)
def option_row(key: str) -> OptionRow | None:
    """Return the row of a program or command; None where no table has it."""
    text = OPTION_NAMES.get(key)
    return None if text is None else _parsed_row(key, text)


def _parsed_row(key: str, text: str) -> OptionRow:
    by_name: dict[str, OptionName] = {}
    words: set[str] = set()
    for token in text.split():
        if token in ROW_WORDS:
            words.add(token)
            continue
        bare = token.rstrip(":?")
        option = OptionName(names=tuple(bare.split("|")), takes=token[len(bare) :])
        by_name.update((name, option) for name in option.names if name not in by_name)
    return OptionRow(key=key, by_name=by_name, words=frozenset(words))


@lru_cache(maxsize=4096)
def read_line_command(words: tuple[str, ...]) -> CommandReading:
    """Read a command of a line, with everything that its options imply."""
    return _Reader(words, is_denial=False).read()


def read_denied_command(words: tuple[str, ...]) -> CommandReading:
    """Read the words of a denial: what it names, and nothing that this implies."""
    return _Reader(words, is_denial=True).read()


class _Reader:
    """Reads one command word by word."""

    def __init__(self, words: Sequence[str], *, is_denial: bool) -> None:
        self._words = _respelled_words(tuple(words))
        self._is_denial = is_denial
        self._reading = CommandReading(key=program_name(self._words[0]), words=self._words)
        self._operand_count = 0
        self._rows: tuple[OptionRow, ...] = ()
        self._index = 1
        self._was_option = False
        self._enter(self._reading.key)

    def read(self) -> CommandReading:
        while self._index < len(self._words):
            word = self._words[self._index]
            self._index += 1
            if word == "--":
                self._end_options()
                break
            if _is_option(word) and not (self._reading.key == "chmod" and _is_chmod_mode(word)):
                self._read_option(word)
            elif self._read_operand(word):
                break
        return self._finished()

    def _end_options(self) -> None:
        self._reading.ends_options = True
        if self._rows and "INNER" in self._rows[0].words:
            self._reading.inner = self._words[self._index :]
        else:
            self._add_operands(self._words[self._index :])

    # --- sub-commands and operands -----------------------------------------------------------------

    def _enter(self, key: str) -> None:
        """Go on with the table of a command, and of those above it whose options count everywhere."""
        name, *added = SUBCOMMAND_NAMES.get(key, key).split(" -", 1)
        self._reading.key = name
        row = option_row(name)
        self._reading.is_listed = row is not None
        above = tuple(each for each in self._rows if "GLOBAL" in each.words)
        self._rows = (*((row,) if row is not None else ()), *above)
        for option in added:
            self._add_known(f"-{option}", None)

    def _awaits_subcommand(self) -> bool:
        return bool(self._rows) and self._rows[0].key == self._reading.key and "SUB" in self._rows[0].words

    def _read_operand(self, word: str) -> bool:
        """Take a word that is no option; return whether the options end here."""
        if self._awaits_subcommand():
            if word.startswith("+") and self._reading.key == "cargo":
                return False
            self._enter(self._subcommand_key(word))
            return False
        words = self._rows[0].words if self._rows else frozenset[str]()
        if "INNER" in words:
            self._reading.inner = self._words[self._index - 1 :]
            return True
        self._add_operand(word)
        if "STOP" in words or ("STOP2" in words and self._operand_count == 2):
            self._add_operands(self._words[self._index :])
            return True
        return False

    def _subcommand_key(self, word: str) -> str:
        key = f"{self._reading.key} {word}"
        if self._reading.key != "npm" or key in OPTION_NAMES or key in SUBCOMMAND_NAMES:
            return key
        whole = {SUBCOMMAND_NAMES.get(each, each) for each in _subcommand_keys("npm") if each.startswith(key)}
        return whole.pop() if len(whole) == 1 else key

    def _add_operands(self, words: Iterable[str]) -> None:
        for word in words:
            self._add_operand(word)

    def _add_operand(self, word: str) -> None:
        kind, slash, name = word.partition("/")
        if slash and self._rows and self._rows[-1].key == "kubectl" and kind.isalpha() and name:
            self._add_operand(kind)
            word = name
        if self._was_option:
            self._reading.behind_options.add(len(self._reading.operands))
        self._was_option = False
        self._operand_count += 1
        self._reading.operands.append(tuple(self._operand_names(word)))

    def _operand_names(self, word: str) -> Iterator[str]:
        special = _OPERAND_NAMES.get(self._reading.key) or _OPERAND_NAMES.get(self._reading.key.split(" ")[0])
        names, options = special(word) if special is not None else ([word], ())
        for option in options:
            self._add_known(option, None)
        for name in dict.fromkeys(names):
            yield name
            if "/" in name and "://" not in name:
                yield "/" + normpath(name).lstrip("/") if name.startswith("/") else normpath(name)

    # --- options -----------------------------------------------------------------------------------

    def _read_option(self, word: str) -> None:
        if self._awaits_subcommand() and not self._rows[0].by_name:
            self._enter(DEFAULT_SUBCOMMANDS.get(self._reading.key, self._reading.key))
        if not self._reading.is_listed:
            self._add_unknown(word)
        elif self._rows[0].words & {"WHOLE"}:
            self._read_whole_word(word)
        elif word.startswith("--"):
            self._read_long(word)
        else:
            self._read_letters(word)

    def _read_whole_word(self, word: str) -> None:
        name, equals, value = word.partition("=")
        name = "-" + name.lstrip("-")
        if name in ("-exec", "-execdir", "-ok", "-okdir") and self._reading.key == "find":
            self._add_known(name, None)
            self._skip_executed()
        elif not self._add_known(name, value if equals else None, may_follow=not equals):
            self._add_unknown(word)

    def _skip_executed(self) -> None:
        while self._index < len(self._words) and self._words[self._index] not in (";", "+"):
            self._index += 1

    def _read_long(self, word: str) -> None:
        name, equals, value = word.partition("=")
        if self._add_known(name, value if equals else None, may_follow=not equals):
            return
        if self._is_negation(name):
            self._reading.options.append(GivenOption(row=self._rows[0].key, name=name, names=(name,)))
            return
        candidates = self._candidates(name)
        if len(candidates) == 1:
            self._add_known(candidates.pop(), value if equals else None, may_follow=not equals)
        elif candidates:
            self._reading.shortened.update(dict.fromkeys(candidates, word))
        else:
            self._add_unknown(word)

    def _is_negation(self, name: str) -> bool:
        """Say whether it takes an option back: `--no-force`, `--verify` where there is `--no-verify`."""
        opposite = f"--{name[5:]}" if name.startswith("--no-") else f"--no-{name[2:]}"
        return self._option(opposite) is not None

    def _candidates(self, name: str) -> set[str]:
        """Return the titles of the options for which a shortened long name may stand."""
        return {
            option.title
            for row in self._rows
            if "EXACT" not in row.words and "EXACT" not in self._rows[0].words
            for option in row.options
            if any(each.startswith(name) for each in option.names)
        }

    def _read_letters(self, word: str) -> None:
        for place, letter in enumerate(word[1:], 2):
            rest, name = word[place:], f"-{letter}"
            option = self._option(name)
            if option is None:
                self._add_unknown(word)
            elif "BOOLS" in self._rows[0].words and rest.startswith("=") and not option.takes:
                self._add_known(name, rest[1:])
                return
            elif option.takes and rest:
                self._add_known(name, rest.removeprefix("=") if "EXACT" in self._rows[0].words else rest)
                return
            else:
                self._add_known(name, None, may_follow=True)

    def _option(self, name: str) -> OptionName | None:
        return next((row.by_name[name] for row in self._rows if name in row.by_name), None)

    def _add_known(self, name: str, value: str | None, *, may_follow: bool = False) -> bool:
        """Add an option of the tables with its value; return whether they have it."""
        row = next((row for row in self._rows if name in row.by_name), None)
        if row is None:
            return False
        option = row.by_name[name]
        if value is None and may_follow:
            value = self._following_value(option, row)
        if value is not None and not option.takes and self._has_bools():
            if value in _FALSE:
                return True
            value = None if value in _TRUE else value
        self._reading.options.append(
            GivenOption(
                row=row.key, name=option.title, names=option.names, value=self._normal_value(option, value)
            )
        )
        return True

    def _has_bools(self) -> bool:
        return any("BOOLS" in row.words for row in self._rows)

    def _following_value(self, option: OptionName, row: OptionRow) -> str | None:
        following = self._words[self._index] if self._index < len(self._words) else None
        is_bool = "WORDBOOLS" in row.words and not option.takes and following in ("true", "false")
        if following is None or not (option.takes == ":" or is_bool):
            return None
        self._index += 1
        return following

    def _normal_value(self, option: OptionName, value: str | None) -> str | None:
        if value is None:
            return None
        if option.title == "--signal":
            return SIGNAL_NAMES.get(value, value.upper().removeprefix("SIG"))
        return value.upper() if option.title in ("--request", "--method") else value

    def _add_unknown(self, word: str) -> None:
        self._reading.unknown.append(word)
        self._reading.options.append(GivenOption(row="", name=word, names=(word, word.partition("=")[0])))
        self._was_option = "=" not in word
        self._reading.is_key_sure = self._reading.is_key_sure and not self._awaits_subcommand()

    # --- what that means ---------------------------------------------------------------------------

    def _finished(self) -> CommandReading:
        if not self._is_denial and self._awaits_subcommand() and self._reading.key in DEFAULT_SUBCOMMANDS:
            self._enter(DEFAULT_SUBCOMMANDS[self._reading.key])
        self._replace_equal_options()
        if not self._is_denial:
            self._add_implied_options()
        return self._reading

    def _replace_equal_options(self) -> None:
        given, self._reading.options = self._reading.options, []
        for option in given:
            others = _related(EQUAL_OPTIONS, option)
            if others is None:
                self._reading.options.append(option)
                continue
            for other in others:
                self._add_named(other)

    def _add_implied_options(self) -> None:
        key = self._reading.key
        named, reading = METHOD_OPTIONS.get(key, ()), self._reading
        has_method = any(option.name in named for option in reading.options)
        for option in tuple(reading.options):
            for other in _related(IMPLIED_OPTIONS, option) or ():
                if not (has_method and other.partition("=")[0] in named):
                    self._add_named(other)
            reading.similar.update(dict.fromkeys(_related(SIMILAR_OPTIONS, option) or (), option.name))

    def _add_named(self, text: str) -> None:
        name, equals, value = text.partition("=")
        self._add_known(name, value if equals else None)


def _is_option(word: str) -> bool:
    return len(word) > 1 and word.startswith("-")


def _related(
    table: Mapping[str, Mapping[str, tuple[str, ...]]], option: GivenOption
) -> tuple[str, ...] | None:
    row = table.get(option.row, {})
    names = (*option.names, *(f"{name}={option.value}" for name in option.names if option.value is not None))
    return next((row[name] for name in names if name in row), None)


@lru_cache(maxsize=16)
def _subcommand_keys(program: str) -> tuple[str, ...]:
    return tuple(key for key in (*OPTION_NAMES, *SUBCOMMAND_NAMES) if key.startswith(f"{program} "))


# --- programs that read their words in another way -------------------------------------------------------


def _respelled_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """Write the short forms of some programs as the options that they are."""
    name = program_name(words[0])
    if name in _PYTHONS and (module := _module_place(words)) is not None:
        return words[module:]
    if name in ("kill", "pkill", "killall"):
        return (words[0], *map(_signal_word, words[1:]))
    if name == "tar" and len(words) > 1 and words[1].isalpha():
        return (words[0], *_old_tar_words(words[1], words[2:]))
    return words


_PYTHONS: Final = frozenset({"python", "pypy", "py"})
_MODULE_OPTION: Final = re.compile(r"-[A-Za-z]*m")


def _module_place(words: Sequence[str]) -> int | None:
    """Return where the module of `python -m pip` is."""
    for index, word in enumerate(words[:-1]):
        if index and _MODULE_OPTION.fullmatch(word):
            return index + 1
        if index and not word.startswith("-") and words[index - 1] not in ("-X", "-W"):
            return None
    return None


def _signal_word(word: str) -> str:
    bare = word[1:].removeprefix("SIG") if word.startswith("-") else ""
    is_signal = bare.isdigit() or (len(bare) > 1 and bare in _SIGNALS)
    return f"--signal={bare}" if is_signal else word


_SIGNALS: Final = frozenset(SIGNAL_NAMES.values()) | {
    "BUS", "FPE", "ILL", "SEGV", "SYS", "TRAP", "TTIN", "TTOU", "URG", "VTALRM", "WINCH", "XCPU", "XFSZ",
    "IO", "PROF", "PWR", "STKFLT", "POLL",
}  # fmt: skip


def _old_tar_words(letters: str, following: Sequence[str]) -> Iterator[str]:
    """Yield `tar xfC a.tar out` as `tar -x -f a.tar -C out`: values follow in the order of the letters."""
    row, values = option_row("tar"), iter(following)
    for letter in letters:
        option = row.by_name.get(f"-{letter}") if row is not None else None
        yield f"-{letter}"
        if option is not None and option.takes == ":" and (value := next(values, None)) is not None:
            yield value
    yield from values


def _is_chmod_mode(word: str) -> bool:
    return len(word) > 1 and word[0] == "-" and not set(word[1:]) - set("rwxXstugo,+-=")


_Names = tuple[list[str], Sequence[str]]


def _pushed_names(word: str) -> _Names:
    """`+main` forces, `:main` deletes, `HEAD:main` and `refs/heads/main` are main."""
    options = ["--force"] if word.startswith("+") else []
    source, colon, target = word.lstrip("+").partition(":")
    if "://" in word or "@" in source or (colon and "/" in source[:1]):
        return [word], ()
    if colon and not source and target:
        options.append("--delete")
    names = [word, word.lstrip("+"), *((target,) if colon else (source,))]
    return [*names, *(name.removeprefix("refs/heads/").removeprefix("heads/") for name in names)], options


def _cleaned_names(word: str) -> _Names:
    """With a path named, `git clean` goes into folders without `-d` (its manual)."""
    return [word], ["-d"]


def _fetched_names(word: str) -> _Names:
    return [word, word.lstrip("+")], ["--force"] if word.startswith("+") else ()


def _chmod_names(word: str) -> _Names:
    if word.isdigit():
        return [word, word.lstrip("0") or "0", word[-3:]], ()
    return [word, "777"] if _gives_all_rights(word) else [word], ()


def _gives_all_rights(mode: str) -> bool:
    """Say whether a mode in letters lets everyone read, write and run: `a+rwx`, `u=rwx,go=rwx`."""
    given: set[str] = set()
    for clause in mode.split(","):
        if found := _CHMOD_CLAUSE.fullmatch(clause):
            who = {"u", "g", "o"} if not found[1] or "a" in found[1] else set(found[1])
            given |= who if {"r", "w"} <= set(found[2]) and set(found[2]) & {"x", "X"} else set()
    return given >= {"u", "g", "o"}


_CHMOD_CLAUSE: Final = re.compile(r"([ugoa]*)[+=]([rwxXst]+)")


def _kube_names(word: str) -> _Names:
    return [word, *(KUBERNETES_KINDS.get(kind.lower(), kind.lower()) for kind in word.split(","))], ()


def _unit_names(word: str) -> _Names:
    return [word, word.removesuffix(".service")], ()


_OPERAND_NAMES: Final[dict[str, Callable[[str], _Names]]] = {
    "git push": _pushed_names, "git clean": _cleaned_names, "git fetch": _fetched_names,
    "git pull": _fetched_names, "chmod": _chmod_names, "kubectl": _kube_names, "systemctl": _unit_names,
}  # fmt: skip
"""Other names of the operands of some programs, and the options that they stand for."""
