"""Files of a folder that a command runs, by its words: scripts, and what build tools are told by files.

A command inside the sandbox can write such a file. A program that no list has runs none, and programs that
run any other one, such as `env`, are covered by no grant.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from workbench.policy.shell.command_risk import first_operand_from, inner_program_start
from workbench.policy.shell.folder_run_lists import (
    FETCHING_RUNNERS,
    FOLDER_RUNNERS,
    PATH_INSTALLERS,
    PYTHON_INSTALLERS,
    QUIET_SUBCOMMANDS,
    RUNNING_SUBCOMMANDS,
)
from workbench.policy.shell.risk_lists import INTERPRETERS, RUNNERS, program_name

_VERSION_WORDS: Final = frozenset({"--version", "-V", "--help", "-h"})
_MODULE_OPTION: Final = re.compile(r"-[A-Za-z]*m")
_LIST_OPTION: Final = re.compile(r"-[recf].*|--(?:requirements?|editable|constraints?|find-links)(?:=.*)?")
_PACKAGE_FILE: Final = re.compile(
    r".+\.(?:whl|zip|egg|tar(?:\.[a-z0-9]+)?|tgz|tbz2?|txz|tlz|gem|deb|rpm|apk|snap|conda|rock|rockspec)"
)
"""A file that is installed as it is where the folder has one of that name."""
_MOUNT_OPTION: Final = re.compile(r"-[A-Za-z]*v.*|--(?:volume|mount)(?:=.*)?")
"""Options of pip and uv that name a list of what is installed, or where it is."""
_REMOTE_ADDRESS: Final = re.compile(r"(?!.*\bfile:).*://")


class RunFile(Struct, frozen=True, kw_only=True):
    """A file that a command runs."""

    program: str
    """The word that runs it."""
    path: str = ""
    """As it is written; empty where files of the folder say what runs, such as a Makefile."""


def files_run_by(words: Sequence[str]) -> Iterator[RunFile]:
    """Yield the files that a simple command runs, quotes taken off."""
    head, name = words[0], program_name(words[0])
    if "/" in head:
        yield RunFile(program=head, path=head)
    if len(words) == 2 and words[1] in _VERSION_WORDS:
        return
    if name in INTERPRETERS:
        yield from _scripts(name, words)
    elif _runs_folder(name, words):
        yield RunFile(program=head)
    if name in PATH_INSTALLERS:
        yield from _installed_paths(name, words)


def _scripts(name: str, words: Sequence[str]) -> Iterator[RunFile]:
    """Yield what an interpreter runs: its first operand, and all before that may be values of options."""
    is_behind_option = False
    for word in words[1:]:
        if name.startswith(("python", "pypy")) and _MODULE_OPTION.fullmatch(word):
            yield RunFile(program=words[0])  # modules are looked for in the folder first
            return
        if word.startswith("-"):
            is_behind_option = True
            continue
        yield RunFile(program=words[0], path=word)
        if not is_behind_option:
            return
        is_behind_option = False


def _runs_folder(name: str, words: Sequence[str]) -> bool:
    if name in FOLDER_RUNNERS:
        return True
    if name in RUNNERS and name not in FETCHING_RUNNERS and inner_program_start(name, words) is not None:
        return True
    start = first_operand_from(name, words, 1)
    subcommand = words[start] if start < len(words) else ""
    if name in ("docker", "podman", "nerdctl") and subcommand == "compose":
        return _runs_folder("docker-compose", words[start:])
    if name in ("docker", "podman", "nerdctl") and subcommand in ("create", "run"):
        return any(map(_MOUNT_OPTION.fullmatch, words[start:]))
    if name in QUIET_SUBCOMMANDS:
        return subcommand not in QUIET_SUBCOMMANDS[name]
    return subcommand in RUNNING_SUBCOMMANDS.get(name, ())


def _installed_paths(name: str, words: Sequence[str]) -> Iterator[RunFile]:
    for word in words[1:]:
        place = word.partition("=")[2] if word.startswith("-") else word
        if name in PYTHON_INSTALLERS and _LIST_OPTION.fullmatch(word):
            yield RunFile(program=words[0])
        elif (
            place.startswith(".") or "/" in place or _PACKAGE_FILE.fullmatch(place)
        ) and not _REMOTE_ADDRESS.match(place):
            yield RunFile(program=words[0], path=place)
