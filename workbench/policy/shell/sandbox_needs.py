"""What a command line needs that a sandbox does not give: only to ask better questions, never for safety.

A wrong answer costs a command that fails inside, or a question too many. A program that no list has needs
nothing.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, Literal

from msgspec import Struct

from workbench.policy.shell.analysis import ShellView
from workbench.policy.shell.command_risk import inner_program_start
from workbench.policy.shell.option_reading import CommandReading, read_line_command
from workbench.policy.shell.risk_lists import (
    COMMAND_STARTERS,
    COMMAND_WRAPPERS,
    OPENERS,
    PROGRAM_ALIASES,
    RUNNERS,
    SHELLS,
    program_name,
)
from workbench.policy.shell.sandbox_git_needs import git_needs
from workbench.policy.shell.sandbox_need_lists import (
    DAEMON_COMMANDS,
    GIT_WRITING_TOOLS,
    LOCAL_OPTIONS,
    NEEDING_NOTHING,
    NETWORK_COMMANDS,
    OUTSIDE_WRITING_COMMANDS,
    PRIVILEGE_COMMANDS,
)
from workbench.policy.shell.sandbox_written_paths import (
    WRITING_PROGRAMS,
    SandboxPlaces,
    place_of,
    split_redirects,
    written_paths,
)
from workbench.policy.shell.scanner import scan_commands
from workbench.policy.shell.variable_risk import ASSIGNMENT
from workbench.policy.shell.wrapped_command import WRAPPER_OPTIONS, wrapped_command
from workbench.secrets.scrubber import scrub
from workbench.text.safe import one_line

NeedKind = Literal["network", "git", "outside", "privilege", "daemon"]


class SandboxNeed(Struct, frozen=True, kw_only=True):
    """One thing that a line needs and a sandbox does not give."""

    kind: NeedKind
    word: str
    """What in the line needs it, as it is shown: `git commit`, `/etc/hosts`."""


_MAX_LENGTH: Final = 16_384
"""Characters of a line that are read."""
_MAX_COMMANDS: Final = 200
_MAX_WORDS: Final = 400
"""Words of one command that are read."""
_MAX_NEEDS: Final = 8
_MAX_INNER: Final = 4
"""Commands of one `find`, and here-documents of one row."""
_MAX_DEPTH: Final = 5
_WORD_CELLS: Final = 60


def sandbox_needs(view: ShellView, workspace: str, folder: str) -> tuple[SandboxNeed, ...]:
    """Return what a command line needs that a sandbox of its workspace does not give.

    Args:
        view: The line.
        workspace: Real path; empty where none may be written.
        folder: Where the line runs; empty is the workspace.
    """
    return line_needs(view.raw, workspace, folder)


def line_needs(line: str, workspace: str, folder: str) -> tuple[SandboxNeed, ...]:
    """Return what a shell line needs, as `sandbox_needs` does for a line that was read before."""
    if not _names_listed_program(line[:_MAX_LENGTH]):
        return ()
    needs: dict[SandboxNeed, None] = {}
    for need in _LineReader(workspace, folder).needs(line[:_MAX_LENGTH], _MAX_DEPTH):
        needs[need] = None
        if len(needs) == _MAX_NEEDS:
            break
    return tuple(needs)


_CLAUSES: Final[dict[NeedKind, tuple[str, str, str]]] = {
    "network": ("needs", "need", "the network, which the sandbox does not have"),
    "git": ("writes", "write", ".git, which the sandbox keeps read-only"),
    "outside": ("writes", "write", "outside the workspace, which the sandbox does not allow"),
    "privilege": ("needs", "need", "rights that the sandbox takes away"),
    "daemon": ("needs", "need", "a program outside the sandbox"),
}
"""The verb of one command, that of several, and the rest of the clause."""
_PATH_CLAUSE: Final = ("cannot", "cannot", "be written in the sandbox")


def needs_text(needs: Iterable[SandboxNeed]) -> str:
    """Return needs in words: `git commit writes .git, which the sandbox keeps read-only`."""
    words_by_clause: dict[tuple[str, str, str], list[str]] = {}
    for need in needs:
        # No command that the lists have is named with a slash.
        clause = _PATH_CLAUSE if "/" in need.word else _CLAUSES[need.kind]
        words_by_clause.setdefault(clause, []).append(need.word)
    return "; ".join(
        f"{_joined(words)} {one if len(words) == 1 else several} {rest}"
        for (one, several, rest), words in words_by_clause.items()
    )


def _joined(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


# --- the commands of a line -------------------------------------------------------------------------


class _LineReader:
    """Reads a line from its first command to its last, each in the folder to which `cd` led."""

    def __init__(self, workspace: str, folder: str) -> None:
        self._places = SandboxPlaces(workspace)
        self._folder: str | None = folder or workspace or None
        """None where the line does not say which it is."""

    def needs(self, line: str, depth: int) -> Iterator[SandboxNeed]:
        for segment in scan_commands(_without_heredocs(line)).segments[:_MAX_COMMANDS]:
            words, targets = split_redirects(segment.words)
            yield from self._path_needs(targets)
            if words := _command_words(words):
                yield from self._command_needs(words, depth)

    def _command_needs(self, words: tuple[str, ...], depth: int) -> Iterator[SandboxNeed]:
        name = program_name(words[0])
        if name in _FOLDER_CHANGERS:
            self._change_folder(words)
        elif name in _READ_PROGRAMS and LOCAL_OPTIONS.isdisjoint(words):
            yield from _listed_needs(read_line_command(words))
        yield from self._path_needs(written_paths(words))
        if depth:
            for inner in _inner_commands(name, words):
                yield from self._command_needs(inner, depth - 1)
            for code in _inner_lines(name, words):
                yield from self.needs(code, depth - 1)

    def _path_needs(self, paths: Iterable[str]) -> Iterator[SandboxNeed]:
        for path in paths:
            place = place_of(path, self._folder)
            kind = self._places.need(place) if place is not None else None
            if place is not None and kind is not None:
                yield SandboxNeed(kind=kind, word=_shown(path if "/" in path else place))

    def _change_folder(self, words: tuple[str, ...]) -> None:
        targets = [word for word in words[1:] if not word.startswith("-") or word == "-"]
        self._folder = place_of(targets[0] if targets else "~", self._folder)


_FOLDER_CHANGERS: Final = frozenset({"cd", "chdir", "pushd", "popd"})
_HEREDOC_MARK: Final = re.compile(r"(?<!<)<<-?[ \t]*\\?[\"']?([A-Za-z_][\w.-]*)")


def _without_heredocs(line: str) -> str:
    """Return a line without the texts of its here-documents, but for those that a shell reads."""
    if "<<" not in line:
        return line
    rows = line.split("\n")
    last = {row.strip(): number for number, row in enumerate(rows)}
    kept, index = list[str](), 0
    while index < len(rows):
        row = rows[index]
        kept.append(row)
        index += 1
        marks = [mark for mark in _HEREDOC_MARK.findall(row)[:_MAX_INNER] if last.get(mark, 0) >= index]
        if not marks or any(program_name(word) in SHELLS for word in row.split() if word):
            continue
        for mark in marks:
            index = next((at + 1 for at in range(index, len(rows)) if rows[at].strip() == mark), index)
    return "\n".join(kept)


def _command_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a command without keywords of the shell and assignments in front of it."""
    start = 0
    while start < len(words) and (words[start] in COMMAND_STARTERS or ASSIGNMENT.match(words[start])):
        start += 1
    return words[start : start + _MAX_WORDS]


def _inner_commands(name: str, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the commands that a command runs, as far as its words are theirs."""
    if name in COMMAND_WRAPPERS or name in WRAPPER_OPTIONS:
        inner = wrapped_command(words)
    elif name in RUNNERS:
        start = inner_program_start(name, words)
        inner = words[start:] if start is not None else ()
    elif name in ("find", "fd"):
        yield from filter(None, map(_command_words, islice(_executed(name, words), _MAX_INNER)))
        return
    else:
        return
    if inner := _command_words(inner):
        yield inner


def _executed(name: str, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for index, word in enumerate(words):
        if word in OPENERS[name]:
            rest = words[index + 1 :]
            end = next((at for at, mark in enumerate(rest) if mark in (";", "\\;", "+")), len(rest))
            yield rest[:end]


def _inner_lines(name: str, words: tuple[str, ...]) -> Iterator[str]:
    """Yield the shell text that a command runs: `bash -lc TEXT`, `eval TEXT`."""
    if name == "eval":
        yield " ".join(words[1:])
    elif name in SHELLS:
        code = next((at for at, word in enumerate(words) if _SHELL_CODE_OPTION.fullmatch(word)), None)
        if code is not None:
            yield from next(([word] for word in words[code + 1 :] if not word.startswith("-")), ())


_SHELL_CODE_OPTION: Final = re.compile(r"-[A-Za-z]*c[A-Za-z]*")


# --- what a command needs by the lists ---------------------------------------------------------------


_LISTS: Final[tuple[tuple[NeedKind, frozenset[str]], ...]] = (
    ("privilege", PRIVILEGE_COMMANDS), ("network", NETWORK_COMMANDS), ("daemon", DAEMON_COMMANDS),
    ("git", GIT_WRITING_TOOLS), ("outside", OUTSIDE_WRITING_COMMANDS),
)  # fmt: skip
_READ_PROGRAMS: Final = frozenset(
    name.partition(" ")[0] for _, names in _LISTS for name in names
) | {"git", "kill", "npx", "pypy", "python", "rsync", "systemctl"}  # fmt: skip
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.+-]*")
_LISTED_WORDS: Final = frozenset({
    *_READ_PROGRAMS, *WRITING_PROGRAMS,
    *(alias for alias, name in PROGRAM_ALIASES.items() if name in _READ_PROGRAMS | WRITING_PROGRAMS),
}) - {"sed", "gsed"}  # fmt: skip
_SED_WRITES: Final = re.compile(r"sed\b[^|;&\n]{0,200}\s(?:-[a-zA-Z]*i|--in)")


def _names_listed_program(line: str) -> bool:
    """Say whether a line may name a program of the lists, or a file for its output: most lines do not."""
    if ">" in line or _SED_WRITES.search(line):
        return True
    words = set(_WORD.findall(line))
    return not words.isdisjoint(_LISTED_WORDS) or any(
        word.rstrip("0123456789.") in _LISTED_WORDS for word in words if word[-1] in "0123456789."
    )


_TAKES_GOALS: Final = frozenset({"make", "mvn", "ninja"})
"""Programs each operand of which is something to do."""
_SAYS_WHAT_IT_IS: Final = frozenset({"-V", "-h", "-v", "help", "version", "-version"})
_REMOTE_PLACE: Final = re.compile(r"rsync://|[^/]*:")


def _listed_needs(reading: CommandReading) -> Iterator[SandboxNeed]:
    if len(reading.words) == 2 and reading.words[1] in _SAYS_WHAT_IT_IS:
        return
    names = tuple(_listed_names(reading))
    if not NEEDING_NOTHING.isdisjoint(names):
        return
    typed = _typed_name(reading)
    for kind, listed in _LISTS:
        if found := next((each for each in reversed(names) if each in listed), ""):
            yield SandboxNeed(kind=kind, word=_shown(found if " " in found else typed))
    yield from (SandboxNeed(kind=kind, word=_shown(typed)) for kind in _special_needs(reading))


def _typed_name(reading: CommandReading) -> str:
    """Return a program with the sub-command that its line names, not one that the line implies."""
    program, *below = reading.key.split(" ")
    is_alias = program_name(reading.words[0]) != program
    return " ".join((program, *(word for word in below if is_alias or word in reading.words)))


def _listed_names(reading: CommandReading) -> Iterator[str]:
    """Yield the names under which a list may have a command, longer ones later."""
    operands = [names[0] for names in reading.operands]
    program = reading.key.partition(" ")[0]
    yield program
    yield from (f"{program} {option.name}" for option in reading.options)
    if program in _TAKES_GOALS:
        yield from (f"{program} {operand}" for operand in operands)
    start = 0
    while start in reading.behind_options:  # it may be the value of the option
        start += 1
    for first in range(start + 1):
        parts = [*reading.key.split(" "), *operands[first : first + 2]]
        yield from (" ".join(parts[:count]) for count in range(2, len(parts) + 1))


def _special_needs(reading: CommandReading) -> Iterator[NeedKind]:
    words = reading.words
    match reading.key.partition(" ")[0]:
        case "git":
            yield from git_needs(reading)
        case "systemctl":
            yield "daemon" if "--user" in words else "privilege"
        case "rsync" if any(_REMOTE_PLACE.match(word) for word in words[1:] if not word.startswith("-")):
            yield "network"
        case "kill" if any(word.isdigit() for word in words[1:]):
            yield "daemon"
        case "npx" if not {"-y", "--yes"}.isdisjoint(words) or any("@" in word[1:] for word in words[1:]):
            yield "network"
        case _:
            pass


def _shown(word: str) -> str:
    return one_line(scrub(word[:4000]).text, _WORD_CELLS)
