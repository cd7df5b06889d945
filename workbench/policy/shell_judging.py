"""What one simple command of plain words may do besides what its first word says.

Owns the judgement by the lists of `shell_lists`. It knows no pattern: it says why a command is not plain,
and how much of it a pattern has to spell out. In doubt it finds a reason.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from workbench.policy.known_options import foreign, known, reads_config
from workbench.policy.shell_lists import (
    EVALUATORS,
    GROUP_ENDS,
    INTERPRETER_OPTIONS,
    INTERPRETERS,
    MODULES,
    OPTIONS,
    REMOTE,
    RESERVED,
    RUNNERS,
    SHELL_LIKE,
    SINKS,
    SUBCOMMANDS,
    VALUED,
    WHOLE_OPTIONS,
    WRAPPERS,
    WRITERS,
    program,
)
from workbench.policy.shell_scripts import awk_reason, sed_reason
from workbench.policy.variables import is_harmless, variable_reason

_MOST_LAYERS: Final = 4
_VERSION_WORDS: Final = frozenset({"--version", "-V", "-v", "--help", "-h"})
_SET_WORD: Final = re.compile(
    r"[-+][befmnuvxCEHT]+|[-+][befmnuvxCEHT]*o"
    r"|pipefail|errexit|nounset|xtrace|verbose|noglob|noclobber|errtrace|functrace"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What was found about a simple command."""

    reasons: tuple[str, ...] = ()
    """Why no grant covers it, in words; none if one may."""
    spelled: int = 0
    """How many of its first words a pattern has to spell out to cover it."""
    literal: frozenset[int] = frozenset()
    """Places of further words that a pattern has to spell out, such as options that are not known."""
    text: frozenset[int] = frozenset()
    """Places of words that are known to be text and to name no file: a search pattern, a message."""
    unknown: int | None = None
    """Place of the option or sub-command that is not known of a known program."""


def judge(words: Sequence[str]) -> Judged:
    """Judge a simple command by its words, quotes taken off."""
    return _judge_once(tuple(words))


@lru_cache(maxsize=4096)
def _judge_once(words: tuple[str, ...]) -> Judged:
    return _judge(list(words), _MOST_LAYERS)


def _judge(words: Sequence[str], layers: int) -> Judged:
    head, name = words[0], program(words[0])
    if why := _head_reason(head, name):
        return Judged(reasons=(why,))
    if name in WRAPPERS and not only_looks(words):
        return Judged(reasons=(f"{name} runs other programs",))
    if name in SHELL_LIKE and not only_looks(words):
        return Judged(reasons=(f"{name} has commands of its own",))
    if name in INTERPRETERS:
        return _interpreted(name, words, layers)
    if name in RUNNERS and (inner := _inner(name, words)) is not None:
        return _run(words, inner, layers)
    if reasons := tuple(_reasons(name, words)):
        return Judged(reasons=reasons)
    return _known(name, words)


def _known(name: str, words: Sequence[str]) -> Judged:
    """Judge what the lists have nothing against by what is known of its program."""
    facts = known(name, words)
    literal = facts.literal
    if name == "export":
        literal |= {at for at, word in enumerate(words[1:], 1) if not is_harmless(word)}
    return Judged(spelled=facts.spelled, literal=literal, text=facts.text, unknown=facts.unknown)


def _behind(inner: Judged, at: int) -> Judged:
    """Return what was found about the words from a place on, with all those before spelled out."""
    return Judged(
        reasons=inner.reasons,
        spelled=at + max(inner.spelled, 1),
        literal=frozenset(at + place for place in inner.literal),
        text=frozenset(at + place for place in inner.text),
        unknown=None if inner.unknown is None else at + inner.unknown,
    )


def _head_reason(head: str, name: str) -> str | None:
    if (
        not head
        or head.startswith(("-", "%", "~"))
        or any(sign.isspace() for sign in head)
        or head in RESERVED
    ):
        return "its first word is no program"
    if "=" in head:
        return "an assignment"
    if name in EVALUATORS and "/" not in head:
        return f"{name} defines, evaluates or changes the shell"
    return None


def only_looks(words: Sequence[str]) -> bool:
    """Say whether it runs nothing: `command -v x`, `env` alone, `sudo --version`."""
    if words[0] == "command":
        return len(words) > 2 and words[1] in ("-v", "-V")
    if words[0] in ("builtin", "coproc", "exec", "time"):
        return False
    return len(words) == 2 and words[1] in ("--version", "--help") if len(words) > 1 else words[0] == "env"


# --- interpreters and runners ------------------------------------------------------------------------


def _interpreted(name: str, words: Sequence[str], layers: int) -> Judged:
    """Judge an interpreter: a script or module that the pattern spells out may run, text may not."""
    if len(words) == 2 and words[1] in _VERSION_WORDS:
        return Judged()
    letters = INTERPRETERS[name]
    for at, word in enumerate(words[1:], 1):
        if not word.startswith("-"):
            return Judged(spelled=at + 1, literal=foreign(words, at + 1))
        if name in ("python", "pypy") and re.fullmatch(r"-[A-Za-z]*m", word) and at + 1 < len(words):
            return _module(words, at + 1, layers)
        if word in ("-", "--") or _gives_code(word, letters):
            return Judged(reasons=(f"{name} {word} runs text or loads code",))
    return Judged(reasons=(f"{name} runs what it reads",))


def _module(words: Sequence[str], at: int, layers: int) -> Judged:
    """Judge `python -m pytest -q` as `pytest -q`, spelled out as far as the module."""
    if words[at] in MODULES:
        return Judged(reasons=(f"{words[at]} runs text or what it is given",))
    if layers == 0 or words[at] in INTERPRETERS or words[at] in SHELL_LIKE or words[at] in WRAPPERS:
        return Judged(spelled=at + 1, literal=foreign(words, at + 1))
    return _behind(_judge(words[at:], layers - 1), at)


def _gives_code(word: str, letters: Sequence[str]) -> bool:
    if word.startswith("--"):
        return any(_is_long(word, option) for option in INTERPRETER_OPTIONS)
    return word.partition("=")[0] in INTERPRETER_OPTIONS or any(letter in word[1:] for letter in letters)


def _inner(name: str, words: Sequence[str]) -> int | None:
    """Return where the program stands that a runner runs; None if it runs none this time."""
    at = _behind_options(name, words, 1)
    starters = RUNNERS[name]
    if starters:
        if at >= len(words) or words[at] not in starters:
            return None
        at = _behind_options(name, words, at + 1)
    return at


def _run(words: Sequence[str], inner: int, layers: int) -> Judged:
    if inner >= len(words):
        is_asking = len(words) == 2 and words[1] in _VERSION_WORDS
        return Judged() if is_asking else Judged(reasons=(f"{words[0]} runs what is not named",))
    if any(word in ("-c", "--call", "-e", "--eval") for word in words[1:inner]) or words[inner - 1] == "eval":
        return Judged(reasons=(f"{words[0]} runs text",))
    name = program(words[0])
    for table in (name, f"{name} {words[1]}"):
        if risky := tuple(_risky_options(table, words[1:inner], name)):
            return Judged(reasons=risky)
    if layers == 0:
        return Judged(reasons=("too many programs run one another",))
    return _behind(_judge(words[inner:], layers - 1), inner)


def _behind_options(name: str, words: Sequence[str], at: int) -> int:
    valued = VALUED.get(name, frozenset())
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in valued else 1
    return at


# --- options, subcommands, operands ------------------------------------------------------------------


def _reasons(name: str, words: Sequence[str]) -> Iterator[str]:
    at = _behind_options(name, words, 1)
    subcommand = words[at] if at < len(words) else ""
    if subcommand in REMOTE.get(name, ()):
        yield f"{name} {subcommand} runs any program or goes anywhere"
    both = f"{name} {subcommand}"
    has_own = both in OPTIONS or name in SUBCOMMANDS
    front = words[1:at] if has_own and name == "git" else words[1:]
    yield from _risky_options(name, front, name)
    if both in OPTIONS:
        yield from _risky_options(both, words[at + 1 :], name)
    yield from _risky_subcommands(name, words[at:])
    special = _SPECIAL.get(name)
    if special is not None and (why := special(words)):
        yield why


def _risky_options(table: str, words: Sequence[str], name: str) -> Iterator[str]:
    options = OPTIONS.get(table, ())
    for at, word in enumerate(words):
        if word == "--":
            return
        bundle = f"-{word}" if name == "tar" and at == 0 and not word.startswith("-") else word
        if _is_output_to_sink(bundle, words[at + 1 : at + 2], name):
            bundle = bundle.rstrip("-")[:-1]
        if any(_is_option(bundle, option, _ends(table, name)) for option in options):
            yield f"{table} {word.partition('=')[0]} can run programs or write files"
            return


def _is_output_to_sink(word: str, following: Sequence[str], name: str) -> bool:
    """Say whether what it writes goes where output goes anyway: `-o /dev/null`, `wget -qO-`."""
    if word.startswith("--") or name not in _CAN_PRINT:
        return False
    letters = _CAN_PRINT[name]
    if word.endswith("-"):
        return word[-2:-1] in letters
    return word[-1:] in letters and bool(following) and (following[0] in SINKS or following[0] == "-")


_CAN_PRINT: Final = {"curl": ("o", "D"), "wget": ("O", "o"), "sort": ("o",)}
"""Letters of options that name a file, for which `-` or a device may stand."""


def _ends(table: str, name: str) -> str | None:
    return None if name in WHOLE_OPTIONS else GROUP_ENDS.get(table, "")


def _is_option(word: str, option: str, ends: str | None) -> bool:
    """Say whether a word may be an option: letters in groups, long names cut short or with a value.

    Args:
        word: The word.
        option: The option.
        ends: Letters behind which a group is a value; None where options of one dash are whole words.
    """
    if not word.startswith("-"):
        return False
    if ends is None:
        bare = word.lstrip("-").partition("=")[0]
        is_whole = bare == option.lstrip("-") or (len(option) == 2 and word.startswith(option))
        return is_whole or (option.startswith("--") and _is_long(word, option))
    if option.startswith("--"):
        return _is_long(word, option)
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


def _is_long(word: str, option: str) -> bool:
    name = word.partition("=")[0]
    return len(name) > 2 and option.startswith(name)


def _risky_subcommands(name: str, words: Sequence[str]) -> Iterator[str]:
    listed_here = SUBCOMMANDS.get(name, ())
    given = (
        [word for word in words if not word.startswith("-") or word in ("-w", "-u")] if listed_here else []
    )
    said = " ".join(given[:3]) + " "
    for listed in listed_here:
        if said.startswith(f"{listed} "):
            yield f"{name} {listed} can run programs or change what later ones run"
            return


def _operands(words: Sequence[str]) -> list[str]:
    return [word for word in words[1:] if not word.startswith("-") or word == "-"]


def _writes_operand(words: Sequence[str]) -> str | None:
    name = program(words[0])
    written = [word for word in _operands(words)[WRITERS[name] :] if word not in SINKS]
    return f"{name} writes {written[0]}" if written else None


def _git(words: Sequence[str]) -> str | None:
    at = _behind_options("git", words, 1)
    rest = words[at:]
    if rest[:1] == ["config"] and not reads_config(rest):
        return "git config can name programs that later commands run"
    if any("ext::" in word or "://-" in word for word in rest):
        return "such an address runs a program"
    return None


_FOLDER_OPTIONS: Final[dict[str, tuple[str, ...]]] = {
    "make": ("-C", "--directory"), "ninja": ("-C",), "npm": ("--prefix", "-C"), "pnpm": ("-C", "--dir"),
    "yarn": ("--cwd",), "go": ("-C",), "just": ("-d", "--working-directory"),
    "pytest": ("-c", "--config-file", "--rootdir", "--confcutdir"), "tox": ("-c", "--conf", "--root"),
    "jest": ("-c", "--config", "--rootDir"), "vitest": ("-c", "--config", "-r", "--root"),
    "mypy": ("--config-file",), "nox": ("-f", "--noxfile"), "ant": ("-f", "-file", "-buildfile"),
    "task": ("-t", "--taskfile", "-d", "--dir"),
}  # fmt: skip
"""Options that name the folder, or file, that says what is run; below this folder any is as good as this."""


def _elsewhere(words: Sequence[str]) -> str | None:
    """Say whether what it runs is named by files of a folder that is not below this one."""
    name = program(words[0])
    for at, word in enumerate(words[1:], 1):
        for option in _FOLDER_OPTIONS[name]:
            if word == option:
                folder = words[at + 1] if at + 1 < len(words) else ""
            elif word.startswith(f"{option}=" if option.startswith("--") else option):
                folder = word.removeprefix(option).removeprefix("=")
            else:
                continue
            if folder.startswith(("/", "~")) or ".." in folder.split("/"):
                return f"{name} {option} runs what the files of another folder say"
    return None


def _pytest(words: Sequence[str]) -> str | None:
    """Say whether a module is loaded that no file of the project names; `-p no:cacheprovider` loads none."""
    for at, word in enumerate(words[1:], 1):
        if found := re.match(r"-[vqxsl]*p(.*)", word):
            plugin = found[1] or "".join(words[at + 1 : at + 2])
            if not plugin.startswith("no:"):
                return f"pytest -p loads {plugin or 'a module'}"
    return _elsewhere(words)


def _response_file(words: Sequence[str]) -> str | None:
    found = next((word for word in words[1:] if word.startswith("@")), None)
    return f"{words[0]} {found} takes its options from a file" if found else None


_SETTINGS: Final = re.compile(
    r"-Dexec\.|-Dmaven\.ext\.|exec:|-Dorg\.gradle\.(?:jvmargs|java\.home)|-J|-DCMAKE_[A-Z_]*(?:COMPILER|LAUNCHER|LINKER"
    r"|TOOLCHAIN_FILE|INCLUDE|PROGRAM|COMMAND)|-DMAKE_COMMAND"
)


def _settings(words: Sequence[str]) -> str | None:
    """Say whether a setting of a builder names a program or loads code."""
    found = next((word for word in words[1:] if _SETTINGS.match(word)), None)
    return f"{words[0]} {found.partition('=')[0]} can run programs" if found else None


def _make(words: Sequence[str]) -> str | None:
    if why := _elsewhere(words):
        return why
    found = next((word for word in words[1:] if "=" in word and not word.startswith("-")), None)
    return f"make {found.partition('=')[0]}= changes what its rules run" if found else None


def _less(words: Sequence[str]) -> str | None:
    found = next((word for word in words[1:] if word.startswith("+")), None)
    return f"{words[0]} {found} gives it commands" if found else None


def _curl(words: Sequence[str]) -> str | None:
    for before, word in pairwise(words):
        if "%output{" in word:
            return "curl %output{} writes a file"
        if _SENDS_FILE.fullmatch(word) or (_SENDING.fullmatch(before) and _FILE_VALUE.search(word)):
            return f"curl {before} {word[:20]} sends a file"
        if "://" in word and not word.startswith("-") and not _WEB.match(word):
            return "curl reaches files and other protocols by such an address"
    return None


_SENDING: Final = re.compile(r"-[A-Za-z]*[dFH]|--(?:data|form|json|header|variable|url-query)[a-z-]*")
_FILE_VALUE: Final = re.compile(r"\A[A-Za-z0-9_%-]*@|=[@<]")
_SENDS_FILE: Final = re.compile(
    r"-[A-Za-z]*[dH]@.*|-[A-Za-z]*F[^=]*=[@<].*|--(?:data|form|json|header|variable|url-query)[a-z-]*=[^=]*@.*",
    re.DOTALL,
)
_WEB: Final = re.compile(r"(?i:https?)://|[^:/]*[^:/A-Za-z0-9+.-]")


def _dd(words: Sequence[str]) -> str | None:
    found = next((word for word in words[1:] if word.startswith("of=")), None)
    return None if found is None or found[3:] in SINKS else f"dd writes {found[3:]}"


def _go(words: Sequence[str]) -> str | None:
    if why := _elsewhere(words):
        return why
    return "go runs the linker that is named" if any("-extld" in word for word in words) else None


def _test(words: Sequence[str]) -> str | None:
    if any("[" in word and ("$" in word or "`" in word) for word in words[1:]):
        return "a test that evaluates"
    return None


def _set(words: Sequence[str]) -> str | None:
    if len(words) > 1 and all(_SET_WORD.fullmatch(word) for word in words[1:]):
        return None
    return "set changes the shell"


def _export(words: Sequence[str]) -> str | None:
    if len(words) < 2 or words[0] != "export":
        return "it changes the shell"
    for word in words[1:]:
        if word.startswith("-"):
            return "export changes the shell"
        if why := variable_reason(word.partition("=")[0].removesuffix("+")):
            return why
    return None


_SPECIAL: Final[dict[str, Callable[[Sequence[str]], str | None]]] = {
    "[": _test, "awk": awk_reason, "curl": _curl, "dd": _dd, "export": _export, "git": _git, "go": _go,
    "less": _less, "make": _make, "more": _less, "sed": sed_reason, "set": _set, "tee": _writes_operand,
    "test": _test, "uniq": _writes_operand, "xxd": _writes_operand, "cpp": _writes_operand, "npm": _elsewhere,
    "pnpm": _elsewhere, "yarn": _elsewhere, "ninja": _elsewhere, "just": _elsewhere, "gcc": _response_file,
    "clang": _response_file, "ld": _response_file, "nasm": _response_file, "javac": _response_file,
    "mvn": _settings, "gradle": _settings, "cmake": _settings, "pytest": _pytest, "tox": _elsewhere,
    "jest": _elsewhere, "vitest": _elsewhere, "mypy": _elsewhere, "nox": _elsewhere, "ant": _elsewhere,
    "task": _elsewhere,
}  # fmt: skip
