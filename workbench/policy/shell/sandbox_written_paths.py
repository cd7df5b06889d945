"""The paths that a command names to be written, and the places where a sandbox lets it write."""

import os
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal

from workbench.effects.sandbox import CACHE_FOLDERS
from workbench.policy.autorun_files import AutorunNames
from workbench.policy.paths import folded_path, is_below, protection_reason, real_path
from workbench.policy.shell.derived_names import COMPRESSORS
from workbench.policy.shell.option_reading import CommandReading, read_line_command
from workbench.policy.shell.risk_lists import OUTPUT_SINKS, program_name

PlaceNeed = Literal["git", "outside"]

_WRITES_OPERANDS: Final = COMPRESSORS - {"gpg"} | {
    "mkdir", "mkfifo", "mknod", "mv", "rm", "rmdir", "shred", "srm", "tee", "touch", "truncate", "unlink",
    "venv", "virtualenv",
}  # fmt: skip
_WRITES_LATER_OPERANDS: Final = frozenset({"chgrp", "chmod", "chown", "sed"})
"""Programs whose first operand is no file."""
_WRITES_LAST_OPERAND: Final = frozenset({"cp", "git clone", "git worktree add", "install", "ln", "rsync"})
_OUTPUT_OPTIONS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("cp", "install", "ln", "mv"), ("--target-directory", "-t")),
    "tar": ("--directory",), "unzip": ("-d",), "sort": ("-o", "--output"),
    "curl": ("--output", "--output-dir"), "wget": ("--output-document", "--directory-prefix"),
    "git archive": ("-o", "--output"), "git format-patch": ("-o", "--output-directory"),
    **dict.fromkeys(("cc", "gcc", "clang", "go build", "rustc", "pandoc"), ("-o",)),
}  # fmt: skip
"""Options that name what a command writes."""
WRITING_PROGRAMS: Final = frozenset(
    name.partition(" ")[0]
    for name in (*_WRITES_OPERANDS, *_WRITES_LATER_OPERANDS, *_WRITES_LAST_OPERAND, *_OUTPUT_OPTIONS, "dd")
) | {"python", "pypy"}
"""Programs that may write a path of their line; Python as `python -m venv`."""
_SED_IN_PLACE: Final = "--in-place"
_SED_SCRIPTS: Final = frozenset({"--expression", "--file"})
_REDIRECT: Final = re.compile(r"(?:[0-9]+|&)?(<<<|<<-|<<|<>|<&|<|>>|>\||>&|>)(\S*)")


def split_redirects(words: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words of a command without its redirects, and the files to which its output goes."""
    if not any("<" in word or ">" in word for word in words):
        return tuple(words), ()
    rest, targets = list[str](), list[str]()
    awaits, is_output = False, False
    for word in words:
        if awaits:
            targets += [word] if is_output else []
            awaits = False
        elif redirect := _REDIRECT.fullmatch(word):
            is_output = ">" in redirect[1]
            awaits = not redirect[2]
            targets += [redirect[2]] if is_output and redirect[2] else []
        else:
            rest.append(word)
    return tuple(rest), tuple(target for target in targets if not target.rstrip("-").isdigit())


def written_paths(words: tuple[str, ...]) -> Iterator[str]:
    """Yield the paths that a command names to be written, as they are written in its words."""
    if program_name(words[0]) not in WRITING_PROGRAMS:
        return
    reading = read_line_command(words)
    operands = [names[0] for names in reading.operands]
    name = reading.key
    yield from _output_options(reading, words)
    if name in _WRITES_OPERANDS:
        yield from operands
    elif name in _WRITES_LATER_OPERANDS:
        yield from _later_operands(reading, operands)
    elif name in _WRITES_LAST_OPERAND:
        yield from _copied_path(operands)
    elif name == "dd":
        yield from (operand[3:] for operand in operands if operand.startswith("of="))
    elif name == "tar" and "--create" in {option.name for option in reading.options}:
        yield from (option.value or "" for option in reading.options if option.name == "--file")


def _copied_path(operands: Sequence[str]) -> Iterator[str]:
    if len(operands) > 1:
        name = operands[0].rstrip("/").rpartition("/")[2] if operands[-1].endswith("/") else ""
        yield f"{operands[-1]}{name}"


def _later_operands(reading: CommandReading, operands: Sequence[str]) -> Sequence[str]:
    options = {option.name for option in reading.options}
    if reading.key != "sed":
        return operands[1:]
    if _SED_IN_PLACE not in options:
        return ()
    return operands if options & _SED_SCRIPTS else operands[1:]


def _output_options(reading: CommandReading, words: Sequence[str]) -> Iterator[str]:
    wanted = _OUTPUT_OPTIONS.get(reading.key, ())
    if reading.is_listed:
        yield from (option.value or "" for option in reading.options if option.name in wanted)
        return
    for word, following in pairwise((*words, "")):
        name, equals, value = word.partition("=")
        if name in wanted:
            yield value if equals else following


# --- where a sandbox lets it write ------------------------------------------------------------------


_WRITABLE: Final = ("/tmp", "/var/tmp", "/dev/shm")
"""Places of its own that every sandbox has."""
_DEVICES: Final = OUTPUT_SINKS | {"/dev/tty", "/dev/zero", "/dev/full", "/dev/stdin"}
_HOME: Final = re.compile(r"(?:~|\$HOME|\$\{HOME\})(?=/|\Z)")


def home_folder() -> str:
    """Return the real home folder."""
    return _real_path_cached(os.path.expanduser("~"))  # noqa: PTH111 -- text


@lru_cache(maxsize=16)
def _real_path_cached(path: str) -> str:
    """Cached: the home folder does not move while the program runs."""
    return os.path.realpath(path)


def place_of(path: str, folder: str | None) -> str | None:
    """Return the absolute path that a word names from a folder; None where the line does not say which."""
    path = _HOME.sub(lambda _: home_folder(), path, count=1) if path.startswith(("~", "$")) else path
    if path in ("", "-") or path.startswith("~") or "$" in path or "\0" in path:
        return None
    if not path.startswith("/"):
        if folder is None:
            return None
        path = f"{folder}/{path}"
    try:
        followed = real_path("/", path)
    except (OSError, ValueError):
        return None
    return followed and followed[0]


class SandboxPlaces:
    """Tells which places a sandbox of a workspace lets a command write."""

    def __init__(self, workspace: str) -> None:
        """Ask about a workspace by its real path; empty where none may be written."""
        self._workspace = workspace
        self._names = AutorunNames(workspace)

    def need(self, place: str) -> PlaceNeed | None:
        """Return what writing an absolute path needs; None where a sandbox lets it write."""
        home = home_folder()
        if self._workspace and is_below(place, self._workspace):
            return self._need_inside(place, place[len(self._workspace) :].strip("/"), home)
        if is_below(place, home):
            return None if any(is_below(place, f"{home}/{name}") for name in CACHE_FOLDERS) else "outside"
        is_own = place in _DEVICES or any(is_below(place, folder) for folder in _WRITABLE)
        return None if is_own else "outside"

    def _need_inside(self, place: str, relative: str, home: str) -> PlaceNeed | None:
        if ".git" in folded_path(relative).split("/"):
            return "git"
        is_closed = protection_reason(place, relative, home) is not None or self._names.file_reason(place)
        return "outside" if relative and is_closed else None
