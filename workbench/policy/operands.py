"""What a granted command may touch: every word that may name a path, resolved as the kernel would.

Owns the reasons why no grant covers a command for what its words name: places outside of the workspace,
protected ones, files that may not be read; and the folder in which each command of a line runs. It looks at
the file system but opens nothing, and it never denies: a word may be no path at all.
"""

import errno
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Final

from workbench.policy.paths import (
    ResolvedPath,
    folded,
    is_bare_repository,
    is_below,
    obeyed_by_git,
    protection,
    real_path,
)
from workbench.policy.shell import Simple
from workbench.policy.shell_lists import SINKS, SOURCES, program
from workbench.policy.word_paths import (
    LONGEST_PATH,
    copied,
    extracts,
    operands_of,
    pieces,
    value_letters,
    words_of,
)
from workbench.text.safe import one_line
from workbench.text.scrub import scrub

HARMLESS: Final = SINKS | SOURCES | {"/dev/tty"}
"""Places outside of the workspace that any command may name."""

_MOST_FOLDERS: Final = 16
_MOST_TEXT: Final = 300_000
_EACH: Final = 20
"""What looking at one path costs besides its length, in characters."""
_FOLDER_OPTIONS: Final = frozenset({
    "-C", "--directory", "--cwd", "--chdir", "-chdir", "--dir", "--prefix", "--working-directory",
    "--project-dir", "--root",
})  # fmt: skip
"""Options that name the folder in which a program takes its other words."""

_COPIERS: Final = frozenset({"cp", "mv", "ln", "install", "rsync"})
"""Programs that write into their last word under the names of the others."""

_CHANGERS: Final = frozenset({
    "rm", "rmdir", "shred", "srm", "trash", "trash-put", "chmod", "chown", "chgrp", "chcon", "chattr",
    "setfacl",
})  # fmt: skip
"""Programs that remove or change whole folders."""

_WRITERS: Final = _CHANGERS | {"touch", "truncate", "mkdir"}
"""Programs that make, change or remove the files that they are given."""

_WALKERS: Final = frozenset({"rg", "ag", "ack", "fd", "find", "tree", "grep", "ls", "du"})
"""Programs that look through the folder they run in when nothing else is named."""

_SPECIAL: Final = re.compile(r"/\.|/git~1|\A/(?:workbench|wave)\.yaml")
"""What a protected name has to hold; a folded path from the workspace that does not is none."""


_ABOUT_CD: Final = frozenset({"--", "-L", "-P", "-e", "-@"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """What commands may touch without a question."""

    workspace: str
    closed: tuple[str, ...] = ()
    """Folders that agents may neither read nor write: the data folder."""
    governing: Callable[[], Iterable[str]] = tuple
    """Returns further absolute paths that govern the workspace, such as its hook scripts."""
    is_denied: Callable[[ResolvedPath], bool] | None = None
    """Whether reading a path is denied; None where nothing is."""
    unwritable: Callable[[str], str] | None = None
    """Returns why no grant covers writing a real path, such as one that another program runs by itself."""


def objections(commands: Sequence[Simple], boundary: Boundary) -> tuple[str, ...]:
    """Return why no grant covers each of the commands of a line, in words; empty where nothing says so."""
    line = _Line(boundary)
    return tuple(line.said(line.reason(simple)) for simple in commands)


def objection(commands: Sequence[Simple], boundary: Boundary) -> str:
    """Return why no grant covers a line for what its commands touch, in words; empty if nothing says so."""
    line = _Line(boundary)
    for simple in commands:
        if why := line.reason(simple):
            if line.left_by is not None and simple is not commands[-1]:
                return line.said(_BEHIND)
            return f"{_command(simple)}: {line.said(why)}"
    return ""


def is_free(commands: Sequence[Simple], boundary: Boundary) -> bool:
    """Say whether a grant may cover a line, whatever its commands touch."""
    line = _Line(boundary)
    return not any(map(line.reason, commands))


class _Line:
    """The commands of a line, from the first to the last, each in every folder in which it may run."""

    def __init__(self, boundary: Boundary) -> None:
        self._places = _Places(boundary)
        self._now = self._every = {self._places.root: self._places.root}
        self._moved_last = False
        self.left_by: Simple | None = None
        """The `cd` that leads out of the workspace: everything behind it asks."""

    def reason(self, simple: Simple) -> str:
        """Return why no grant covers a command; empty if nothing says so."""
        if self.left_by is not None:
            return _BEHIND
        is_chained = simple.behind == "&&" or (simple.behind in ("|", "|&") and not self._moved_last)
        self._now = self._now if is_chained else self._every
        self._moved_last = simple.moves
        return next(self._reasons(simple), "") or (self._move(simple) if simple.moves else "")

    def said(self, why: str) -> str:
        """Return a reason without secrets and in one line."""
        if why == _BEHIND and self.left_by is not None:
            return f"behind {_command(self.left_by)}: {_BEHIND}"
        return one_line(scrub(why).text, 200)

    # --- where it runs ---------------------------------------------------------------------------

    def _move(self, simple: Simple) -> str:
        """Follow a `cd`; return why that cannot be done within the workspace."""
        targets = [word for word in simple.words[1:] if word not in _ABOUT_CD]
        if len(targets) != 1 or targets[0].startswith("-"):
            return self._leave(simple, "it")
        if simple.is_repeated and not simple.stays:
            return "where a cd in a loop leads is not followed"
        reached: dict[str, str] = {}
        for logical, real in self._now.items():
            for path in self._places.reached(logical, real, targets[0]):
                if not is_below(path[1], self._places.root):
                    return self._leave(simple, targets[0])
                reached[path[0]] = path[1]
        self._every = {**self._every, **reached}
        if len(self._every) > _MOST_FOLDERS:
            return "the folder is changed more often than is followed"
        is_sure = {"|", "|&", "||", "!"}.isdisjoint(simple.behind.split(" "))
        self._now = reached if is_sure else self._every
        return ""

    def _leave(self, simple: Simple, where: str) -> str:
        self.left_by = simple
        return f"{_short(where)} {_OUTSIDE}"

    # --- what it touches -------------------------------------------------------------------------

    def _reasons(self, simple: Simple) -> Iterator[str]:
        folders = tuple(dict.fromkeys(self._now.values()))
        yield from self._places.program(folders, simple.words[0])
        inner = tuple(self._places.inner(folders, simple.words))
        letters = value_letters(simple.words)
        for word in (*simple.sources, *words_of(simple)):
            why = self._places.first_reason((*folders, *inner), word, letters)
            if why:
                self.left_by = simple if simple.moves and why.endswith(_OUTSIDE) else None
                yield why
        if not simple.moves:
            yield from self._whole_folders(simple, folders, inner)

    def _whole_folders(self, simple: Simple, folders: Sequence[str], inner: Sequence[str]) -> Iterator[str]:
        """Yield why it would change, or look through, a folder that holds what is protected."""
        name, places = program(simple.words[0]), self._places
        operands = operands_of(simple)
        if name in _WRITERS:
            yield from (why for path in operands for why in places.writing(folders, path))
        if name in _COPIERS:
            yield from self._copied(simple, folders, operands)
        elif name in _CHANGERS:
            yield from (why for path in operands for why in places.holding(folders, path))
        elif extracts(name, simple.words):
            into = (*inner, *places.extracted(folders, simple.words)) or folders
            yield from places.holding(into, ".")
        if places.closed_inside:
            start = (".",) if name in _WALKERS else ()
            yield from (why for path in (*start, *operands) for why in places.holding_closed(folders, path))

    def _copied(self, simple: Simple, folders: Sequence[str], operands: Sequence[str]) -> Iterator[str]:
        """Yield what is wrong with the files that a copy writes under the names of others."""
        for path, is_whole in copied(simple.words[1:], operands):
            yield from self._places.reasons(folders, path)
            yield from self._places.writing(folders, path)
            if is_whole:
                yield from self._places.holding(folders, path)
        if program(simple.words[0]) == "ln":
            yield from self._linked(folders, operands)

    def _linked(self, folders: Sequence[str], operands: Sequence[str]) -> Iterator[str]:
        """Yield what is wrong with where links lead: a relative target counts from where the link is."""
        for target in operands[-1:]:
            places = [
                place for at in (target, f"{target}/..") for place in self._places.real_folders(folders, at)
            ]
            for path in operands[:-1]:
                yield from self._places.reasons(places, path)


_OUTSIDE: Final = "leaves the workspace"
_BEHIND: Final = "outside the workspace"


class _Places:
    """What may not be touched, and whether a path leads there; each is looked up once."""

    def __init__(self, boundary: Boundary) -> None:
        self._boundary = boundary
        self.root = _real_once(boundary.workspace)
        self._start = self.root.rstrip("/") + "/"
        self._closed = tuple(folded(_real_once(place)) for place in boundary.closed)
        self.closed_inside = any(is_below(place, folded(self.root)) for place in self._closed)
        self._known: dict[tuple[str, str], str] = {}
        self._bare: dict[str, bool] = {}
        self._left = _MOST_TEXT

    @cached_property
    def _git(self) -> tuple[str, ...]:
        return tuple(map(folded, obeyed_by_git(self.root)))

    @cached_property
    def _governing(self) -> frozenset[str]:
        return frozenset(folded(os.path.realpath(path)) for path in self._boundary.governing())

    # --- paths -----------------------------------------------------------------------------------

    def first_reason(self, folders: Sequence[str], word: str, letters: str) -> str:
        """Return why a word may not be passed, whatever of it a program takes for a path."""
        parts = pieces(word, letters)
        if parts is None:
            return _TOO_MUCH
        return next((why for path in parts for why in self.reasons(folders, path)), "")

    def reasons(self, folders: Sequence[str], path: str) -> Iterator[str]:
        """Yield why a path may not be touched from some folders."""
        for folder in folders:
            known = self._known.get((folder, path))
            if known is None:
                known = self._known[folder, path] = self._reason(folder, path)
            if known:
                yield known

    def program(self, folders: Sequence[str], word: str) -> Iterator[str]:
        """Yield why a relative program may not be run: its folder is not in the workspace."""
        folder, sign, _ = word.rpartition("/")
        if sign and not word.startswith("/"):
            for start in folders:
                real = self._real(start, folder)
                if real is None or not is_below(real, self.root):
                    yield f"{_short(word)} {_OUTSIDE}"

    def inner(self, folders: Sequence[str], words: Sequence[str]) -> Iterator[str]:
        """Yield the folders that options such as `-C` name."""
        for at, word in enumerate(words[1:], 1):
            option, sign, value = word.partition("=")
            if word in _FOLDER_OPTIONS:
                value = "".join(words[at + 1 : at + 2])
            elif word.startswith("-C"):
                value = word[2:]
            elif not sign or option not in _FOLDER_OPTIONS:
                continue
            yield from self.real_folders(folders, value)

    def extracted(self, folders: Sequence[str], words: Sequence[str]) -> Iterator[str]:
        """Yield the folder that an archive is unpacked into by `-d`."""
        for before, word in pairwise(words):
            if before == "-d":
                yield from self.real_folders(folders, word)

    def real_folders(self, folders: Iterable[str], path: str) -> Iterator[str]:
        """Yield where a path leads from some folders, as far as that is in the workspace."""
        for folder in folders:
            real = self._real(folder, path)
            if real is not None and is_below(real, self.root):
                yield real

    def reached(self, logical: str, real: str, target: str) -> Iterator[tuple[str, str]]:
        """Yield where a `cd` may lead: a shell takes `..` off the name it knows, or off the real one."""
        path = os.path.normpath(os.path.join(logical, target))  # noqa: PTH118 -- text, as the shell has it
        yield path, self._real("/", path) or path
        physical = self._real(real, target) or path
        yield physical, physical

    def _real(self, folder: str, path: str) -> str | None:
        try:
            followed = real_path(folder, path)
        except (OSError, ValueError):
            return None
        return followed and followed[0]

    def _reason(self, folder: str, path: str) -> str:
        self._left -= len(path) + _EACH
        if self._left < 0:
            return _TOO_MUCH
        if not path or path in HARMLESS or len(path) > LONGEST_PATH:
            return ""
        if "\ufffd" in path:
            return f"{_short(path)} holds bytes that are no text"
        try:
            followed = real_path(folder, path)
        except OSError as error:
            # No file can have such a name.
            return "" if error.errno == errno.ENAMETOOLONG else f"{_short(path)} cannot be looked up"
        except ValueError:
            return f"{_short(path)} cannot be looked up"
        if followed is None:
            return f"{_short(path)}: its links lead in a circle"
        return self._where(folder, path, *followed) or self._at_home(folder, path)

    def _at_home(self, folder: str, path: str) -> str:
        """Return what is wrong where a program takes `~` for a home folder, as some do by themselves."""
        expanded = os.path.expanduser(path) if path.startswith("~") else path  # noqa: PTH111 -- text
        return "" if expanded == path else self._reason(folder, expanded)

    def _where(self, folder: str, path: str, real: str, exists: bool) -> str:
        name = folded(real)
        if any(is_below(name, place) for place in self._closed):
            return f"{_short(path)} is in the data folder, which is closed to agents"
        relative = "." if real == self.root else real[len(self._start) :]
        if real != self.root:
            if not real.startswith(self._start):
                return f"{_short(path)} {_OUTSIDE}"
            if why := self._by_name(real, relative) or self._by_place(real, name, exists):
                return f"{_short(path)} {why}"
        if self._boundary.is_denied is not None:
            given = os.path.relpath(os.path.join(folder, path), self.root)  # noqa: PTH118 -- text
            target = ResolvedPath(path=real, relative=relative, exists=exists, given=given)
            if self._boundary.is_denied(target):
                return f"reading {_short(path)} is denied here"
        return ""

    def _by_name(self, real: str, relative: str) -> str | None:
        shown = f"/{folded(relative)}"
        home = _real_once(os.path.expanduser("~"))  # noqa: PTH111 -- text
        if not _SPECIAL.search(shown) and not _are_near(self.root, home):
            return None
        if shown.startswith("/.agents") and shown[8:9] in ("", "/"):
            return "governs this workspace"
        return protection(real, relative, home)

    def _by_place(self, real: str, name: str, exists: bool) -> str | None:
        if any(is_below(name, place) for place in self._git) or self._is_in_bare(real):
            return "belongs to git"
        if exists and name in self._governing:
            return "is run by the configuration of this workspace"
        return None

    def _is_in_bare(self, real: str) -> bool:
        here = real
        while here != self.root:
            here = os.path.dirname(here)  # noqa: PTH120 -- text, not a file
            if here not in self._bare:
                self._bare[here] = is_bare_repository(here)
            if self._bare[here]:
                return True
        return False

    # --- folders ---------------------------------------------------------------------------------

    def writing(self, folders: Sequence[str], path: str) -> Iterator[str]:
        """Yield why no grant covers writing a path."""
        if self._boundary.unwritable is not None:
            for real in self.real_folders(folders, path):
                if why := self._boundary.unwritable(real):
                    yield f"{_short(path)}: {why}"

    def holding(self, folders: Sequence[str], path: str) -> Iterator[str]:
        """Yield what is protected in a folder, which may not be changed as a whole."""
        for folder in folders:
            real = self._real(folder, path)
            if real is None:
                continue
            name = folded(real)
            inside = (*self._closed, *self._git, *self._governing)
            if real == self.root or any(is_below(place, name) for place in inside):
                yield f"{_short(path)} holds what governs this workspace"
            elif os.path.lexists(f"{real}/.git"):
                yield f"{_short(path)} holds a repository of git"

    def holding_closed(self, folders: Sequence[str], path: str) -> Iterator[str]:
        """Yield whether a folder holds the data folder, which no agent may read."""
        for folder in folders:
            real = self._real(folder, path)
            if real is not None and any(is_below(place, folded(real)) for place in self._closed):
                yield f"{_short(path)} holds the data folder, which is closed to agents"


@lru_cache(maxsize=64)
def _are_near(folder: str, other: str) -> bool:
    """Say whether one of two real folders holds the other."""
    return is_below(folded(folder), folded(other)) or is_below(folded(other), folded(folder))


@lru_cache(maxsize=64)
def _real_once(path: str) -> str:
    """Return where the workspace, the home or the data folder is: none of them moves while we run."""
    return os.path.realpath(path)


_TOO_MUCH: Final = "it holds more than is looked into"


def _command(simple: Simple) -> str:
    return one_line(scrub(simple.source[:4000]).text, 60)


def _short(path: str) -> str:
    """Return a path that may be long: its beginning and its end."""
    return path if len(path) <= 64 else f"{path[:16]}…{path[-47:]}"
