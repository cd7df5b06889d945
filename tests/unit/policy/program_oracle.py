"""What the table of programs lets pass, run by the real programs: what else they started and which files they wrote."""

import os
import random
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path

from msgspec import Struct

from tests.support.traced import Job, Outcome, run_all
from tests.unit.policy.gate_cases import SHELL
from tests.unit.policy.program_folders import make_folder
from tests.unit.policy.program_lines import (
    HOSTILE,
    dashed,
    drawn,
    operands_of,
    option_words,
    own_forms,
    packed,
    shuffled,
    swept,
    systematic,
    unique,
)
from tests.unit.policy.program_sources import NOT_RUN_ROWS, OPERANDS, ROW_CHILDREN, ROW_WRITES, SOURCES
from workbench.domain.values import PermissionPattern
from workbench.policy.permissions import first_permission_covering
from workbench.policy.shell import analysis, command_risk
from workbench.policy.shell.analysis import view_command
from workbench.policy.shell.known_command_match import _table_row
from workbench.policy.shell.known_programs import KNOWN_PROGRAMS

ENDLESS = frozenset({"yes", "tail", "uptime", "free", "sleep"})
"""Programs that may run forever on some lines: they are stopped after a moment."""


SLOW_OPTIONS = 12
"""Options of a slow program that are tried by themselves; the others come three at a time."""


class Harm(Struct, frozen=True, kw_only=True):
    """A line that passes although the program does more than its row says."""

    key: str
    line: str
    ran: tuple[str, ...]
    wrote: tuple[str, ...]


def program_of(key: str) -> str:
    """Return the program of a row."""
    return key.partition(" ")[0]


def rows_to_run() -> list[str]:
    """Return the rows that can be run: all but those that cannot be had."""
    return [
        key for key in KNOWN_PROGRAMS
        if SOURCES[program_of(key)].origin != "not run"
        and not any(key == name or key.startswith(f"{name} ") for name in NOT_RUN_ROWS)
    ]  # fmt: skip


def installed(name: str) -> tuple[str, ...]:
    """Return the paths of a program, one for each of its makers."""
    found = map(shutil.which, SOURCES[name].commands or (name,))
    return tuple(
        dict.fromkeys(
            os.path.realpath(path) if SOURCES[name].origin == "debian" else path for path in found if path
        )
    )


@contextmanager
def table_alone() -> Iterator[None]:
    """Let the table decide by itself: the second reader does not know any option of these programs."""
    kept, shared = command_risk.RISKY_OPTIONS, ("test", "[", "printf")
    command_risk.RISKY_OPTIONS = {name: kept[name] for name in shared}
    _forget()
    try:
        yield
    finally:
        command_risk.RISKY_OPTIONS = kept
        _forget()


def _forget() -> None:
    command_risk._assess_cached.cache_clear()
    analysis._view_without_links.cache_clear()


def covered(words: Sequence[str]) -> bool:
    """Return whether a grant of the program and anything behind it covers a line."""
    seen = view_command(shlex.join(words))
    front = " ".join(words[:3] if words[0] == "python3" else words[:1])
    patterns = [PermissionPattern(text=f"Bash({front} *)"), PermissionPattern(text=f"Bash({front})")]
    return seen.plain and all(first_permission_covering(patterns, SHELL, simple) for simple in seen.commands)


def _as_typed(words: Sequence[str]) -> tuple[str, ...]:
    return ("python3", "-m", *words) if words[0] == "unittest" else tuple(words)


def lines_of(key: str, most: int, seed: int) -> list[tuple[str, ...]]:
    """Return at most so many lines of a row that a grant covers.

    A third shows one option each, a third has strange words behind `--`, those of the program itself first.
    """
    some = random.Random(f"{seed} {key}")
    options = list(_table_row(key).options.items())
    some.shuffle(options)
    slow = SOURCES[program_of(key)].is_slow
    first = list(_each_option(key, options[: min(SLOW_OPTIONS, most // 3) if slow else most // 3], some))
    behind = [*dashed(key, own_forms(key), some), *dashed(key, shuffled(HOSTILE, some), some)]
    second = islice(filter(covered, map(_as_typed, unique(behind))), most // 3)
    made = [*packed(key, some)] * 5 if slow else []
    made += [*systematic(key, some), *swept(key, some), *(drawn(key, some) for _ in range(most))]
    found = dict.fromkeys(chain(first, second))
    # One after the other: to judge a line takes a millisecond, and a row has thousands.
    for line in filter(covered, map(_as_typed, unique(shuffled(made, some)))):
        if len(found) >= most:
            break
        found[line] = None
    return list(islice(found, most))


def _each_option(
    key: str, options: Sequence[tuple[str, str]], some: random.Random
) -> Iterator[tuple[str, ...]]:
    """Yield a line for each option, alone or with the first value that passes."""
    for name, takes in options:
        made = (
            (*key.split(), *words, *some.choice(operands_of(key)))
            for words in option_words(name, takes, some)
        )
        yield from islice(filter(covered, map(_as_typed, made)), 1)


_PROBE = """
state() {
    set | while read -r entry; do
        case $entry in
        _=*|BASH_*|FUNCNAME*|LINENO=*|PIPESTATUS=*|*RANDOM=*|SECONDS=*|EPOCH*|*PWD=*|OPTIND=*|SHELLOPTS=*|entry=*|CI=*) ;;
        *=*) echo "$entry" ;;
        esac
    done
}
set -- "$(state)"
@@@
[ "$1" = "$(state)" ] || /bin/true
"""
"""Runs a program where a line has changed a variable."""


def _argv(key: str, words: Sequence[str], program: str) -> tuple[str, ...]:
    if SOURCES[program_of(key)].origin == "shell":
        before = _PROBE.replace("@@@", shlex.join(words))
        return (program, "-c", before)
    return (*_with_interpreter(program), *words[1:])


def _with_interpreter(program: str) -> tuple[str, ...]:
    with Path(program).open("rb") as file:
        head = file.readline(200)
    found = re.match(rb"#!/usr/bin/env (?:-S )?([\w.-]+)", head)
    return (shutil.which(found[1].decode()) or "/bin/false", program) if found else (program,)


def run_rows(keys: Sequence[str], most: int, seed: int, folder: Path) -> tuple[list[Harm], int, int]:
    """Run lines of rows; return those that do harm, how many were run and how many ended without an error."""
    lines = [(key, words) for key in keys for words in lines_of(key, most, seed)]
    return run_lines(lines, folder)


def run_lines(lines: Sequence[tuple[str, Sequence[str]]], folder: Path) -> tuple[list[Harm], int, int]:
    """Run lines, each with its row, by every installed program of that name."""
    work = [(key, words, program) for key, words in lines for program in installed(program_of(key))]
    jobs = [_job(key, words, program, folder) for key, words, program in work]
    outcomes = run_all(jobs, folder / "box", os.environ["PATH"])
    harms = [
        harm for (key, words, _), outcome in zip(work, outcomes, strict=True) if (harm := harm_of(key, words, outcome))
    ]  # fmt: skip
    return harms, len(jobs), sum(outcome.status == 0 for outcome in outcomes)


def said_by(lines: Sequence[tuple[str, Sequence[str]]], folder: Path) -> list[tuple[str, str]]:
    """Return what each line prints, by every installed program of that name."""
    work = [(key, words, program) for key, words in lines for program in installed(program_of(key))]
    jobs = [_job(key, words, program, folder) for key, words, program in work]
    outcomes = run_all(jobs, folder / "box", os.environ["PATH"])
    return [(shlex.join(words), outcome.said) for (_, words, _), outcome in zip(work, outcomes, strict=True)]


def _job(key: str, words: Sequence[str], program: str, folder: Path) -> Job:
    source = SOURCES[program_of(key)]
    template = make_folder(source.folder, folder / source.folder)
    seconds = 0.5 if program_of(key) in ENDLESS else 10 if source.needs or not source.is_slow else 60
    most = 256 << 20 if source.is_slow else 4 << 20
    return Job(argv=_argv(key, words, program), template=str(template), seconds=seconds, bytes=most)


def harm_of(key: str, words: Sequence[str], outcome: Outcome) -> Harm | None:
    """Return what a line did beyond its row."""
    source = SOURCES[program_of(key)]
    children = _of_row(key, ROW_CHILDREN, source.children)
    ran = [path for path in outcome.ran if not re.fullmatch(children, path.rsplit("/", 1)[-1])]
    allowed = _writable(key, words)
    never = () if "RAN" in source.writes else ("work/RAN",)
    wrote = [path for path in outcome.wrote if path in never or not re.fullmatch(allowed, path)]
    return Harm(key=key, line=shlex.join(words), ran=tuple(ran), wrote=tuple(wrote)) if ran or wrote else None


def _writable(key: str, words: Sequence[str]) -> str:
    row = _of_row(key, ROW_WRITES, SOURCES[program_of(key)].writes)
    paths = [os.path.normpath(f"work/{word}") for word in words[1:]]
    operands = "(?:" + "|".join(map(re.escape, paths)) + r")(?:/.*|\.\w+)?"
    if key == "mkdir":  # with -p it makes the folders above them, too
        operands = "|".join(
            [operands, *(re.escape(str(above)) for path in paths for above in Path(path).parents)]
        )
    own = r"tmp(?:/.*)?"
    return f"{own}|{row.replace(OPERANDS, operands)}" if row else own


def _of_row(key: str, table: Mapping[str, str], default: str) -> str:
    words = key.split()
    names = (" ".join(words[:end]) for end in range(len(words), 0, -1))
    return next((table[name] for name in names if name in table), default)


def by_program(keys: Sequence[str]) -> dict[str, list[str]]:
    """Return the rows of each program."""
    names = dict.fromkeys(map(program_of, keys))
    return {name: [key for key in keys if program_of(key) == name] for name in names}


def flat(found: Sequence[Sequence[Harm]]) -> list[Harm]:
    """Return all harms of several programs."""
    return list(chain.from_iterable(found))
