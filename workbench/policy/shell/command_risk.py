"""Risk of one simple command: why no grant covers it, or which of its words a pattern has to spell out."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from msgspec import Struct

from workbench.policy.shell.known_command_match import match_known_command, only_reads_config, steering_words
from workbench.policy.shell.risk_lists import (
    CODE_MODULES,
    EVALUATORS,
    INTERPRETER_OPTIONS,
    INTERPRETERS,
    LETTERS_WITH_VALUE,
    OPERAND_WRITERS,
    OPTIONS_WITH_VALUE,
    OUTPUT_SINKS,
    REMOTE_RUNNERS,
    RESERVED_WORDS,
    RISKY_OPTIONS,
    RISKY_SUBCOMMANDS,
    RUNNERS,
    SHELL_LIKE_PROGRAMS,
    SINGLE_DASH_LONG_OPTIONS,
    WRAPPERS,
    program_name,
)
from workbench.policy.shell.sed_awk_scripts import awk_risk, sed_risk
from workbench.policy.shell.variable_risk import assigned_name, is_harmless_assignment, variable_risk

_MAX_LAYERS: Final = 4
_VERSION_WORDS: Final = frozenset({"--version", "-V", "-v", "--help", "-h"})
_HARMLESS_SET_WORD: Final = re.compile(
    r"[-+][befmnuvxCEHT]+|[-+][befmnuvxCEHT]*o"
    r"|pipefail|errexit|nounset|xtrace|verbose|noglob|noclobber|errtrace|functrace"
)


class CommandRisk(Struct, frozen=True, kw_only=True):
    """What was found about a simple command."""

    reasons: tuple[str, ...] = ()
    spelled: int = 0
    """How many of its first words a pattern has to spell out to cover it."""
    literal: frozenset[int] = frozenset()
    """Places of further words that a pattern has to spell out, such as options that are not known."""
    text: frozenset[int] = frozenset()
    """Places of words that are known to be text and to name no file: a search pattern, a message."""
    unknown: int | None = None
    """Place of the option or sub-command that is not known of a known program."""


def assess_command(words: Sequence[str]) -> CommandRisk:
    """Judge a simple command by its words, quotes taken off."""
    return _assess_cached(tuple(words))


@lru_cache(maxsize=4096)
def _assess_cached(words: tuple[str, ...]) -> CommandRisk:
    return _assess(list(words), _MAX_LAYERS)


def _assess(words: Sequence[str], layers: int) -> CommandRisk:
    head, name = words[0], program_name(words[0])
    if why := _head_reason(head, name):
        return CommandRisk(reasons=(why,))
    if name in WRAPPERS and not runs_nothing(words):
        return CommandRisk(reasons=(f"{name} runs other programs",))
    if name in SHELL_LIKE_PROGRAMS and not runs_nothing(words):
        return CommandRisk(reasons=(f"{name} runs commands that are typed into it",))
    if name in INTERPRETERS:
        return _assess_interpreter(name, words, layers)
    if name in RUNNERS and (inner := inner_program_start(name, words)) is not None:
        return _assess_runner(words, inner, layers)
    if reasons := tuple(_risk_reasons(name, words)):
        return CommandRisk(reasons=reasons)
    return _assess_known(name, words)


def _assess_known(name: str, words: Sequence[str]) -> CommandRisk:
    facts = match_known_command(name, words)
    literal = facts.literal
    if name == "export":
        literal |= {index for index, word in enumerate(words[1:], 1) if not is_harmless_assignment(word)}
    return CommandRisk(spelled=facts.spelled, literal=literal, text=facts.text, unknown=facts.unknown)


def _shifted_behind(inner: CommandRisk, offset: int) -> CommandRisk:
    return CommandRisk(
        reasons=inner.reasons,
        spelled=offset + max(inner.spelled, 1),
        literal=frozenset(offset + place for place in inner.literal),
        text=frozenset(offset + place for place in inner.text),
        unknown=None if inner.unknown is None else offset + inner.unknown,
    )


def _head_reason(head: str, name: str) -> str | None:
    if (
        not head
        or head.startswith(("-", "%", "~"))
        or any(sign.isspace() for sign in head)
        or head in RESERVED_WORDS
    ):
        return "its first word is not a program"
    if "=" in head:
        return "an assignment"
    if name in EVALUATORS and "/" not in head:
        return f"{name} defines, evaluates or changes the shell"
    return None


def runs_nothing(words: Sequence[str]) -> bool:
    """Say whether it runs nothing: `command -v x`, `env` alone, `sudo --version`."""
    if words[0] == "command":
        return len(words) > 2 and words[1] in ("-v", "-V")
    if words[0] in ("builtin", "coproc", "exec", "time"):
        return False
    return len(words) == 2 and words[1] in ("--version", "--help") if len(words) > 1 else words[0] == "env"


# --- interpreters and runners ------------------------------------------------------------------------


def _assess_interpreter(name: str, words: Sequence[str], layers: int) -> CommandRisk:
    """A script or module that the pattern spells out may run, text may not."""
    if len(words) == 2 and words[1] in _VERSION_WORDS:
        return CommandRisk()
    letters = INTERPRETERS[name]
    for index, word in enumerate(words[1:], 1):
        if not word.startswith("-"):
            return CommandRisk(spelled=index + 1, literal=steering_words(words, index + 1))
        if name in ("python", "pypy") and re.fullmatch(r"-[A-Za-z]*m", word) and index + 1 < len(words):
            return _assess_module(words, index + 1, layers)
        if word in ("-", "--") or _option_gives_code(word, letters):
            return CommandRisk(reasons=(f"{name} {word} runs text or loads code",))
    return CommandRisk(reasons=(f"{name} runs what it reads",))


def _assess_module(words: Sequence[str], index: int, layers: int) -> CommandRisk:
    """Judge `python -m pytest -q` as `pytest -q`, spelled out as far as the module."""
    if words[index] in CODE_MODULES:
        return CommandRisk(reasons=(f"{words[index]} runs text or what it is given",))
    if (
        layers == 0
        or words[index] in INTERPRETERS
        or words[index] in SHELL_LIKE_PROGRAMS
        or words[index] in WRAPPERS
    ):
        return CommandRisk(spelled=index + 1, literal=steering_words(words, index + 1))
    return _shifted_behind(_assess(words[index:], layers - 1), index)


def _option_gives_code(word: str, letters: Sequence[str]) -> bool:
    if word.startswith("--"):
        return any(_is_long_option(word, option) for option in INTERPRETER_OPTIONS)
    return word.partition("=")[0] in INTERPRETER_OPTIONS or any(letter in word[1:] for letter in letters)


def inner_program_start(name: str, words: Sequence[str]) -> int | None:
    """Return where the program begins that a runner such as `npx` or `uv run` runs; None if it runs none."""
    index = first_operand_from(name, words, 1)
    starters = RUNNERS[name]
    if starters:
        if index >= len(words) or words[index] not in starters:
            return None
        index = first_operand_from(name, words, index + 1)
    return index


def _assess_runner(words: Sequence[str], inner: int, layers: int) -> CommandRisk:
    if inner >= len(words):
        is_asking = len(words) == 2 and words[1] in _VERSION_WORDS
        return CommandRisk() if is_asking else CommandRisk(reasons=(f"{words[0]} runs what is not named",))
    if any(word in ("-c", "--call", "-e", "--eval") for word in words[1:inner]) or words[inner - 1] == "eval":
        return CommandRisk(reasons=(f"{words[0]} runs text",))
    name = program_name(words[0])
    for table in (name, f"{name} {words[1]}"):
        if risky := tuple(_option_reasons(table, words[1:inner], name)):
            return CommandRisk(reasons=risky)
    if layers == 0:
        return CommandRisk(reasons=("too many programs run one another",))
    return _shifted_behind(_assess(words[inner:], layers - 1), inner)


def first_operand_from(name: str, words: Sequence[str], index: int) -> int:
    """Return the index of the first operand of a program, at or after an index."""
    valued = OPTIONS_WITH_VALUE.get(name, frozenset())
    while index < len(words) and words[index].startswith("-"):
        index += 2 if words[index] in valued else 1
    return index


# --- options, subcommands, operands ------------------------------------------------------------------


def _risk_reasons(name: str, words: Sequence[str]) -> Iterator[str]:
    index = first_operand_from(name, words, 1)
    subcommand = words[index] if index < len(words) else ""
    if subcommand in REMOTE_RUNNERS.get(name, ()):
        yield f"{name} {subcommand} runs any program or goes anywhere"
    both = f"{name} {subcommand}"
    has_own = both in RISKY_OPTIONS or name in RISKY_SUBCOMMANDS
    front = words[1:index] if has_own and name == "git" else words[1:]
    yield from _option_reasons(name, front, name)
    if both in RISKY_OPTIONS:
        yield from _option_reasons(both, words[index + 1 :], name)
    yield from _subcommand_reasons(name, words[index:])
    special = _REASON_BY_PROGRAM.get(name)
    if special is not None and (why := special(words)):
        yield why


def _option_reasons(table: str, words: Sequence[str], name: str) -> Iterator[str]:
    options = RISKY_OPTIONS.get(table, ())
    # Behind `--` too: not every program stops there, and this reader does not trust the table on which do.
    for index, word in enumerate(words):
        bundle = f"-{word}" if name == "tar" and index == 0 and not word.startswith("-") else word
        if _is_output_to_sink(bundle, words[index + 1 : index + 2], name):
            bundle = bundle.rstrip("-")[:-1]
        if any(_may_be_option(bundle, option, _group_end_letters(table, name)) for option in options):
            yield f"{table} {word.partition('=')[0]} can run programs or write files"
            return


def _is_output_to_sink(word: str, following: Sequence[str], name: str) -> bool:
    """Say whether its output goes where output goes anyway: `-o /dev/null`, `wget -qO-`."""
    if word.startswith("--") or name not in _OUTPUT_LETTERS:
        return False
    letters = _OUTPUT_LETTERS[name]
    if word.endswith("-"):
        return word[-2:-1] in letters
    return word[-1:] in letters and bool(following) and (following[0] in OUTPUT_SINKS or following[0] == "-")


_OUTPUT_LETTERS: Final = {"curl": ("o", "D"), "wget": ("O", "o"), "sort": ("o",)}
"""Letters of options that name an output file."""


def _group_end_letters(table: str, name: str) -> str | None:
    return None if name in SINGLE_DASH_LONG_OPTIONS else LETTERS_WITH_VALUE.get(table, "")


def _may_be_option(word: str, option: str, ends: str | None) -> bool:
    """Say whether a word may be an option: letters in groups, long names cut short or with a value.

    `ends` are letters after which a group is a value; None where options of one dash are whole words.
    """
    if not word.startswith("-"):
        return False
    if ends is None:
        bare = word.lstrip("-").partition("=")[0]
        is_whole = bare == option.lstrip("-") or (len(option) == 2 and word.startswith(option))
        return is_whole or (option.startswith("--") and _is_long_option(word, option))
    if option.startswith("--"):
        return _is_long_option(word, option)
    if len(option) > 2:
        return word.partition("=")[0].lstrip("-") == option[1:] or (
            option[1:] in ("oN", "oX", "oG", "oA", "TT") and word.startswith(option)
        )
    if word.startswith("--"):
        return False
    for letter in word[1:]:
        if letter == option[1]:
            return True
        if letter in ends:
            return False
    return False


def _is_long_option(word: str, option: str) -> bool:
    name = word.partition("=")[0]
    return len(name) > 2 and option.startswith(name)


def _subcommand_reasons(name: str, words: Sequence[str]) -> Iterator[str]:
    risky = RISKY_SUBCOMMANDS.get(name, ())
    operands = [word for word in words if not word.startswith("-") or word in ("-w", "-u")] if risky else []
    text = " ".join(operands[:3]) + " "
    for listed in risky:
        if text.startswith(f"{listed} "):
            yield f"{name} {listed} can run programs or change what later ones run"
            return


def _operands_of(words: Sequence[str]) -> list[str]:
    """Return the words that are no options, and every word behind the place where options may end."""
    end = words.index("--") if "--" in words else len(words)
    if program_name(words[0]) in _ENDS_AT_OPERAND:
        end = min([end, *(index for index, word in enumerate(words[1:], 1) if _is_operand(word))])
    behind = words[end + 1 :] if words[end : end + 1] == ["--"] else words[end:]
    return [*filter(_is_operand, words[1:end]), *behind]


def _is_operand(word: str) -> bool:
    return not word.startswith("-") or word == "-"


_ENDS_AT_OPERAND: Final = frozenset({"xxd"})
"""Programs that write an operand, and know no option behind the first one."""


def _written_operand_reason(words: Sequence[str]) -> str | None:
    name = program_name(words[0])
    written = [word for word in _operands_of(words)[OPERAND_WRITERS[name] :] if word not in OUTPUT_SINKS]
    return f"{name} writes {written[0]}" if written else None


def _git_reason(words: Sequence[str]) -> str | None:
    index = first_operand_from("git", words, 1)
    rest = words[index:]
    if rest[:1] == ["config"] and not only_reads_config(rest):
        return "git config can name programs that later commands run"
    if any("ext::" in word or "://-" in word for word in rest):
        return "an address with ext:: or ://- can run a program"
    return None


_FOLDER_OPTIONS: Final[dict[str, tuple[str, ...]]] = {
    "make": ("-C", "--directory"), "ninja": ("-C",), "npm": ("--prefix", "-C"), "pnpm": ("-C", "--dir"),
    "yarn": ("--cwd",), "go": ("-C",), "just": ("-d", "--working-directory"),
    "pytest": ("-c", "--config-file", "--rootdir", "--confcutdir"), "tox": ("-c", "--conf", "--root"),
    "jest": ("-c", "--config", "--rootDir"), "vitest": ("-c", "--config", "-r", "--root"),
    "mypy": ("--config-file",), "nox": ("-f", "--noxfile"), "ant": ("-f", "-file", "-buildfile"),
    "task": ("-t", "--taskfile", "-d", "--dir"),
}  # fmt: skip
"""Options that name the folder or file that says what is run; one below this folder is as good as this."""


def _other_folder_reason(words: Sequence[str]) -> str | None:
    name = program_name(words[0])
    for index, word in enumerate(words[1:], 1):
        for option in _FOLDER_OPTIONS[name]:
            if word == option:
                folder = words[index + 1] if index + 1 < len(words) else ""
            elif word.startswith(f"{option}=" if option.startswith("--") else option):
                folder = word.removeprefix(option).removeprefix("=")
            else:
                continue
            if folder.startswith(("/", "~")) or ".." in folder.split("/"):
                return f"{name} {option} runs what the files of another folder say"
    return None


def _pytest_reason(words: Sequence[str]) -> str | None:
    for index, word in enumerate(words[1:], 1):
        if option := re.match(r"-[vqxsl]*p(.*)", word):
            plugin = option[1] or "".join(words[index + 1 : index + 2])
            if not plugin.startswith("no:"):
                return f"pytest -p loads {plugin or 'a module'}"
    return _other_folder_reason(words)


def _response_file_reason(words: Sequence[str]) -> str | None:
    option = next((word for word in words[1:] if word.startswith("@")), None)
    return f"{words[0]} {option} takes its options from a file" if option else None


_BUILD_SETTINGS: Final = re.compile(
    r"-Dexec\.|-Dmaven\.ext\.|exec:|-Dorg\.gradle\.(?:jvmargs|java\.home)|-J|-DCMAKE_[A-Z_]*(?:COMPILER|LAUNCHER|LINKER"
    r"|TOOLCHAIN_FILE|INCLUDE|PROGRAM|COMMAND)|-DMAKE_COMMAND"
)


def _build_setting_reason(words: Sequence[str]) -> str | None:
    setting = next((word for word in words[1:] if _BUILD_SETTINGS.match(word)), None)
    return f"{words[0]} {setting.partition('=')[0]} can run programs" if setting else None


def _make_reason(words: Sequence[str]) -> str | None:
    if why := _other_folder_reason(words):
        return why
    assignment = next((word for word in words[1:] if "=" in word and not word.startswith("-")), None)
    return f"make {assignment.partition('=')[0]}= changes what its rules run" if assignment else None


def _pager_reason(words: Sequence[str]) -> str | None:
    command = next((word for word in words[1:] if word.startswith("+")), None)
    return f"{words[0]} {command} gives it commands" if command else None


def _curl_reason(words: Sequence[str]) -> str | None:
    for before, word in pairwise(words):
        if "%output{" in word:
            return "curl %output{} writes a file"
        if _CURL_SENDS_FILE.fullmatch(word) or (
            _CURL_DATA_OPTION.fullmatch(before) and _CURL_FILE_VALUE.search(word)
        ):
            return f"curl {before} {word[:20]} sends a file"
        if "://" in word and not word.startswith("-") and not _CURL_WEB_ADDRESS.match(word):
            return "curl reaches files and other protocols by such an address"
    return None


_CURL_DATA_OPTION: Final = re.compile(
    r"-[A-Za-z]*[dFH]|--(?:data|form|json|header|variable|url-query)[a-z-]*"
)
_CURL_FILE_VALUE: Final = re.compile(r"\A[A-Za-z0-9_%-]*@|=[@<]")
_CURL_SENDS_FILE: Final = re.compile(
    r"-[A-Za-z]*[dH]@.*|-[A-Za-z]*F[^=]*=[@<].*|--(?:data|form|json|header|variable|url-query)[a-z-]*=[^=]*@.*",
    re.DOTALL,
)
_CURL_WEB_ADDRESS: Final = re.compile(r"(?i:https?)://|[^:/]*[^:/A-Za-z0-9+.-]")


def _dd_reason(words: Sequence[str]) -> str | None:
    target = next((word for word in words[1:] if word.startswith("of=")), None)
    return None if target is None or target[3:] in OUTPUT_SINKS else f"dd writes {target[3:]}"


def _go_reason(words: Sequence[str]) -> str | None:
    if why := _other_folder_reason(words):
        return why
    return "go runs the linker that is named" if any("-extld" in word for word in words) else None


_COUNT_OF_OUTPUT: Final = re.compile(r"%[^A-Za-z%]*[hjlLtz]*n")


def _printf_reason(words: Sequence[str]) -> str | None:
    if any(_COUNT_OF_OUTPUT.search(word.replace("%%", "")) for word in words[1:]):
        return "printf %n sets a variable"
    return None


def _test_reason(words: Sequence[str]) -> str | None:
    if any("[" in word and ("$" in word or "`" in word) for word in words[1:]):
        return "a test that evaluates"
    return None


def _set_reason(words: Sequence[str]) -> str | None:
    if len(words) > 1 and all(_HARMLESS_SET_WORD.fullmatch(word) for word in words[1:]):
        return None
    return "set changes the shell"


def _export_reason(words: Sequence[str]) -> str | None:
    if len(words) < 2 or words[0] != "export":
        return "it changes the shell"
    for word in words[1:]:
        if word.startswith("-"):
            return "export changes the shell"
        if why := variable_risk(assigned_name(word)):
            return why
    return None


_REASON_BY_PROGRAM: Final[dict[str, Callable[[Sequence[str]], str | None]]] = {
    "[": _test_reason, "awk": awk_risk, "curl": _curl_reason, "dd": _dd_reason, "export": _export_reason,
    "git": _git_reason, "go": _go_reason,
    "less": _pager_reason, "make": _make_reason, "more": _pager_reason, "printf": _printf_reason,
    "sed": sed_risk, "set": _set_reason,
    "tee": _written_operand_reason,
    "test": _test_reason, "uniq": _written_operand_reason, "xxd": _written_operand_reason,
    "cpp": _written_operand_reason, "npm": _other_folder_reason,
    "pnpm": _other_folder_reason, "yarn": _other_folder_reason, "ninja": _other_folder_reason,
    "just": _other_folder_reason, "gcc": _response_file_reason,
    "clang": _response_file_reason, "ld": _response_file_reason, "nasm": _response_file_reason,
    "javac": _response_file_reason,
    "mvn": _build_setting_reason, "gradle": _build_setting_reason, "cmake": _build_setting_reason,
    "pytest": _pytest_reason, "tox": _other_folder_reason,
    "jest": _other_folder_reason, "vitest": _other_folder_reason, "mypy": _other_folder_reason,
    "nox": _other_folder_reason, "ant": _other_folder_reason,
    "task": _other_folder_reason,
}  # fmt: skip
