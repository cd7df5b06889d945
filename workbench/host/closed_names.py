"""What commands in a box cannot write or read of a workspace: found by name, by kind and by denials."""

import os
import re
import stat
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from workbench.effects.folder_index import (
    FolderFindings,
    FolderIndex,
    FolderReader,
    LetIn,
    TooManyNames,
)
from workbench.effects.search_path import link_chain
from workbench.policy.autorun_files import AUTORUN_PATTERNS, AutorunNames
from workbench.policy.git_settings import files_named_by_git, user_git_files
from workbench.policy.paths import HOME_NAMES, folded_path, is_below, protection_reason

CLOSED: Final = "closed"
REPOSITORY: Final = "repository"
"""A folder that git takes for a repository without a work tree; it is closed too."""
REPOSITORY_PART: Final = "part of a repository"
"""What git reads of a workspace that is such a folder; the rest of it can be written."""
_LINK: Final = "link"
"""A link in a closed folder: it cannot be replaced, but what it leads to may be in an open one."""
HIDDEN: Final = "hidden"
CLOSED_AND_HIDDEN: Final = "closed and hidden"
REPOSITORY_NAMES: Final = frozenset({
    "HEAD", "commondir", "config", "config.worktree", "gitdir", "hooks", "info", "modules", "objects",
    "packed-refs", "refs", "worktrees",
})  # fmt: skip
_REPOSITORY_MARKS: Final = (frozenset({"HEAD", "objects", "refs"}), frozenset({"HEAD", "commondir"}))
_GIT_NAMES: Final = (".git", "git~1")
_LAST_PARTS: Final = sorted({
    pattern.rpartition("/")[2] for pattern, _ in AUTORUN_PATTERNS if not pattern.endswith("/**")
})  # fmt: skip
_MAY_RUN: Final = re.compile(
    "|".join(re.escape(part).replace(r"\*", ".*") for part in _LAST_PARTS), re.DOTALL
)
"""Names of which files may run automatically; nearly all others need no closer look."""
_FIRST_HOME_NAMES: Final = frozenset(folded_path(name).split("/")[0] for name in HOME_NAMES)
_PROGRAMS_IN_HOME: Final = frozenset({
    ".local/bin", "bin", ".cargo/bin", "go/bin", ".local/lib", ".nvm", ".pyenv/shims",
})  # fmt: skip
"""Folders whose links may lead to what is built in a workspace, which has to stay writable."""
_OBEYED_IN_HOME: Final = frozenset(map(folded_path, HOME_NAMES - _PROGRAMS_IN_HOME))
_HOME_FOLDERS_ON_WAY: Final = frozenset(
    "/".join(name.split("/")[:count]) for name in _OBEYED_IN_HOME for count in range(1, name.count("/") + 1)
)
_MOST_HOME_DEPTH: Final = 4
_MOST_INDEXES: Final = 16
_STORES_BY_MARK: Final = {"HEAD": frozenset({"objects", "refs", "logs"}), "requires": frozenset({"store"})}
"""Folders of a repository that name no program and may be large, by a file of a git or Mercurial repository.

Hard links to their files do not count.
"""
_PACKAGE_FOLDERS: Final = frozenset({"node_modules", "site-packages"})
"""Folders whose files are often hard links to a cache or to each other."""
_BYTECODE_FOLDER: Final = "__pycache__"


def made_environment(path: str, before: Container[str]) -> str:
    """Return the virtual environment that a `.pth` file is of, if it is a new folder; empty for all else.

    `before`: the folders that were there. What such a file runs, the program of its environment runs too,
    and that is as new.
    """
    match = _ENVIRONMENT_FILE.fullmatch(path)
    if match is None or match[1] in before:
        return ""
    try:
        mode = os.lstat(f"{match[1]}/pyvenv.cfg").st_mode
    except OSError:
        return ""
    return match[1] if stat.S_ISREG(mode) else ""


_ENVIRONMENT_FILE: Final = re.compile(
    r"(.+)/lib/(?:python|pypy)3\.[0-9]+/site-packages/[^/]+\.pth", re.DOTALL
)


class PathDenials(Struct, frozen=True, kw_only=True):
    """What denials forbid, asked with absolute real paths; None where nothing is denied."""

    key: Hashable = None
    """Changes when an answer may."""
    reads: Callable[[str], bool] | None = None
    writes: Callable[[str], bool] | None = None


NO_DENIALS: Final = PathDenials()


def is_closed(kind: str) -> bool:
    """Return whether what is found as this may not be changed, nor be made by a command."""
    return kind not in ("", HIDDEN)


def is_hidden(kind: str) -> bool:
    """Return whether what is found as this cannot be read."""
    return kind in (HIDDEN, CLOSED_AND_HIDDEN)


_INDEXES: Final[dict[Hashable, FolderIndex]] = {}


class WorkspaceIndex:
    """What is closed or hidden in a workspace; what is hidden is not entered."""

    def __init__(
        self, folders: FolderIndex, reader: "_WorkspaceReader", named: Set[str], before: Mapping[str, str]
    ) -> None:
        self._folders, self._reader = folders, reader
        self.named: Final = named
        """What settings of git and links close, whether it is there or not."""
        self.before: Final = before
        """What was found when the index was made, as `found`."""
        self.closes_all: Final = reader.workspace in named
        """Whether git takes what it runs from the workspace itself."""

    @property
    def folders(self) -> Container[str]:
        """Return the folders that were there at the last look; it does not change later."""
        return self._folders.folders

    def found(self, let_in: LetIn | None = None) -> dict[str, str]:
        """Return what is found now, as `FolderIndex.found`. Raises TooManyNames."""
        try:
            return _with_named(
                _without_links(self._folders.found(let_in)), self.named, self._reader.workspace
            )
        except TooManyNames as error:
            found = _with_named(_without_links(error.found), self.named, self._reader.workspace)
            raise TooManyNames(str(error), found) from None

    def found_in_hidden(self, folder: str, let_in: LetIn) -> dict[str, str]:
        """Return what is closed in a hidden folder. Raises TooManyNames."""
        return _without_links(FolderIndex(folder, self._reader.without_hidden(), CLOSED).found(let_in))

    def closes_by_name(self, path: str) -> bool:
        """Return whether its name closes a path, in every box."""
        return self._reader.closes_by_name(path)

    def denies_change(self, path: str) -> bool:
        """Return whether a denial forbids to change a path."""
        writes = self._reader.denials.writes
        return writes is not None and writes(path)

    def other_names(
        self, paths: Container[str], numbers: Set[int], *, of_closed_folders: bool = False
    ) -> list[str]:
        """Return names, next to some known paths, of files that have some inode numbers, as hard links have.

        `of_closed_folders`: also of those in folders that are closed as a whole. As of the last look.
        """
        inner = frozenset(path for path in self.named if path in self._folders.folders)
        entries = self._folders.names_with(numbers, inner if of_closed_folders else None)
        return [entry.path for entry in entries if entry.path not in paths and _is_hard_linked(entry)]


def workspace_index(workspace: str, home: str, denials: PathDenials) -> WorkspaceIndex:
    """Look through a workspace and at the settings of all its repositories. Raises TooManyNames.

    What settings name is found wherever it is in the workspace, above the repository too.
    """
    reader = _WorkspaceReader(workspace, home, denials)
    folders = _index(workspace, (home, denials.key), reader)
    found = folders.found()
    links = [path for path, kind in found.items() if kind == _LINK]
    found = _without_links(found)
    tops = {*_work_trees_above(workspace), *_repositories(found)}
    named = frozenset[str]().union(*(files_named_by_git(top, home) for top in tops))
    named = frozenset(path for path in named if is_below(path, workspace))
    named = named.union(_led_to(links, found, workspace), _led_to_from_home(home, workspace))
    return WorkspaceIndex(folders, reader, named, _with_named(found, named, workspace))


def _without_links(found: Mapping[str, str]) -> dict[str, str]:
    return {path: kind for path, kind in found.items() if kind != _LINK}


def _led_to(links: Iterable[str], found: Mapping[str, str], workspace: str) -> Iterator[str]:
    """Yield what links in closed folders lead through and to in the open folders of a workspace."""
    for place in chain.from_iterable(map(link_chain, links)):
        is_inside = place != workspace and is_below(place, workspace)
        if is_inside and not is_closed(found.get(place, "")) and not _is_in_closed(place, found):
            yield place


def _led_to_from_home(home: str, workspace: str) -> Iterator[str]:
    """Yield what links of a home folder lead to in a workspace, of startup and settings files of the user.

    Those in its folders of settings count too. Settings of git are yielded without links as well.
    """
    settings = user_git_files(home)
    yield from _led_to(_links_of_home(home, workspace), {}, workspace)
    for path in (*(f"{home}/{name}" for name in HOME_NAMES), *settings):
        above = os.path.dirname(path)  # noqa: PTH120 -- text
        if os.path.islink(path) or above != home:  # noqa: PTH114 -- text
            *links, end = link_chain(path)
            way = (*links, end) if links or path in settings else ()
            yield from (place for place in way if place != workspace and is_below(place, workspace))


def _links_of_home(home: str, workspace: str) -> list[str]:
    try:
        return list(_index(home, ("links", workspace), _HomeReader(home, workspace)).found())
    except TooManyNames as error:
        return list(error.found)


def _repositories(found: Mapping[str, str]) -> Iterator[str]:
    """Yield the folders of repositories among what was found: their work trees, or those that have none."""
    for path, kind in found.items():
        above, _, name = path.rpartition("/")
        if folded_path(name) in _GIT_NAMES:
            yield above
        elif kind == REPOSITORY:
            yield path


def _work_trees_above(workspace: str) -> Iterator[str]:
    """Yield a workspace, and the folders above it that have a `.git`."""
    yield workspace
    folder: str = workspace
    while folder != "/":
        folder = os.path.dirname(folder)  # noqa: PTH120 -- text
        if os.path.lexists(f"{folder}/.git"):
            yield folder


def _with_named(found: Mapping[str, str], named: Iterable[str], workspace: str) -> dict[str, str]:
    """Return what was found with what settings name and is there, the top first.

    Where a new link leads to it, the link is closed in its place.
    """
    names = set(named)
    places = (_place_there(path, names) for path in names if os.path.lexists(path))
    there = [path for path in places if is_below(path, workspace)]
    closed = {**found, **dict.fromkeys(there, CLOSED)}
    new = [path for path in there if not _is_in_closed(path, closed)]
    whole = {**dict.fromkeys(new, CLOSED), **found} if new else dict(found)
    whole |= {path: CLOSED_AND_HIDDEN for path in new if is_hidden(found.get(path, ""))}
    return dict(sorted(whole.items(), key=lambda item: item[0].count("/"))) if new else whole


def _place_there(path: str, named: Container[str]) -> str:
    """Return the first link on the way to a path that is not named itself, or the path.

    Empty where the way consists of named links: their ends are named too.
    """
    *links, end = link_chain(path)
    new = next((link for link in links if link not in named), "")
    return new or (path if path in links[:1] else "" if links else end)


def _is_in_closed(path: str, found: Mapping[str, str]) -> bool:
    """Return whether a path lies in a closed folder."""
    while path != "/":
        path = os.path.dirname(path)  # noqa: PTH120 -- text
        if is_closed(found.get(path, "")):
            return True
    return False


def bytecode_of(path: str) -> list[str]:
    """Return the files that hold the bytecode of a Python module, or the link that leads to them.

    Python runs them in the place of the module.
    """
    folder, _, name = path.rpartition("/")
    if not name.endswith(".py"):
        return []
    place = f"{folder}/{_BYTECODE_FOLDER}"
    if os.path.islink(place):  # noqa: PTH114 -- text
        return [place]
    try:
        cached = os.listdir(place)  # noqa: PTH208 -- text
    except OSError:
        return []
    start = name.removesuffix("py")
    return [f"{place}/{file}" for file in cached if file.startswith(start)]


def is_bytecode(path: str) -> bool:
    """Return whether Python would make a file again, by its name."""
    return path.endswith(".pyc") and path.split("/")[-2] == _BYTECODE_FOLDER


def shown_index(
    folder: str, workspace: str, denials: PathDenials, *, hides_private: bool = False
) -> FolderIndex:
    """Return the index of what is hidden in a folder that is shown, without the workspace.

    `hides_private`: also what not every user can read.
    """
    reader = _ShownReader(workspace, denials, hides_private=hides_private)
    return _index(folder, (workspace if is_below(workspace, folder) else "", denials.key), reader)


def _not_entered(names: Set[str]) -> Set[str]:
    """Return the names of a closed folder that are not entered to look for hard links."""
    if ".git" in names:
        return names
    return _PACKAGE_FOLDERS.union(*(stores for mark, stores in _STORES_BY_MARK.items() if mark in names))


def _is_odd(entry: os.DirEntry[str]) -> bool:
    """Return whether something is a pipe, a socket or a device."""
    is_usual = entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)
    return not (is_usual or entry.is_symlink())


def _is_hard_linked(entry: os.DirEntry[str]) -> bool:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_nlink > 1


def _index(folder: str, key: Hashable, reader: FolderReader) -> FolderIndex:
    whole_key = (folder, key)
    if whole_key not in _INDEXES:
        while len(_INDEXES) >= _MOST_INDEXES:
            _INDEXES.pop(next(iter(_INDEXES)), None)
        _INDEXES[whole_key] = FolderIndex(folder, reader, CLOSED)
    return _INDEXES[whole_key]


class _WorkspaceReader:
    """Finds what is closed or hidden in a folder of a workspace, by its names alone."""

    def __init__(self, workspace: str, home: str, denials: PathDenials) -> None:
        self.workspace, self.denials = workspace, denials
        self._home = home
        self._names = AutorunNames(workspace)
        self._is_in_home_name = _first_name(workspace, home) in _FIRST_HOME_NAMES

    def __call__(self, folder: str, entries: Sequence[os.DirEntry[str]], is_inner: bool) -> FolderFindings:
        if is_inner:
            return self._in_closed(folder, entries)
        found: dict[str, str] = {}
        enter: list[str] = []
        inner: list[str] = []
        has_marks = any(marks <= {entry.name for entry in entries} for marks in _REPOSITORY_MARKS)
        if has_marks and not self.closes_by_name(folder):
            found[folder] = REPOSITORY
        is_closed_whole = bool(found) and folder != self.workspace
        parts = REPOSITORY_NAMES if found and not is_closed_whole else frozenset[str]()
        for entry in entries:
            path = f"{folder}/{entry.name}"
            kind = self._kind(path, entry) or (REPOSITORY_PART if entry.name in parts else "")
            if kind:
                found[path] = kind
            if not is_hidden(kind) and entry.is_dir(follow_symlinks=False):
                (inner if kind or is_closed_whole else enter).append(path)
        return FolderFindings(found=found, enter=enter, inner=inner)

    def _in_closed(self, folder: str, entries: Sequence[os.DirEntry[str]]) -> FolderFindings:
        """Look at a folder that is closed as a whole: for what cannot even be read, and for links.

        A work tree in it is a project of its own, whose files do not control this workspace.
        """
        reads = self.denials.reads
        skipped = _not_entered({entry.name for entry in entries})
        is_project = ".git" in skipped or not _PACKAGE_FOLDERS.isdisjoint(folder.split("/"))
        found = {
            f"{folder}/{entry.name}": _LINK for entry in entries if entry.is_symlink() and not is_project
        }
        hidden = {
            f"{folder}/{entry.name}": HIDDEN
            for entry in entries
            if _is_odd(entry) or (reads is not None and reads(f"{folder}/{entry.name}"))
        }
        below = (
            f"{folder}/{entry.name}"
            for entry in entries
            if (reads is not None or entry.name not in skipped) and entry.is_dir(follow_symlinks=False)
        )
        inner = [path for path in below if path not in hidden]
        return FolderFindings(found={**found, **hidden}, enter=(), inner=inner)

    def without_hidden(self) -> "_WorkspaceReader":
        """Return a reader that finds the same but enters what denials hide."""
        return _WorkspaceReader(self.workspace, self._home, replace(self.denials, reads=None))

    def closes_by_name(self, path: str) -> bool:
        """Return whether its name closes a path, whatever denials and settings say."""
        names = self._names
        if folded_path(os.path.basename(path)) in _GIT_NAMES or self._is_protected(path):  # noqa: PTH119 -- text
            return True
        if names.name_reason(path) or names.name_reason(f"{path}/x"):
            return True
        return os.path.islink(path) and bool(names.folder_name_reason(path))  # noqa: PTH114 -- text

    def _kind(self, path: str, entry: os.DirEntry[str]) -> str:
        denials = self.denials
        is_denied = denials.reads is not None and denials.reads(path)
        is_hidden = is_denied or _is_odd(entry)
        if self._is_closed(path, entry) or (denials.writes is not None and denials.writes(path)):
            return CLOSED_AND_HIDDEN if is_hidden else CLOSED
        return HIDDEN if is_hidden else ""

    def _is_closed(self, path: str, entry: os.DirEntry[str]) -> bool:
        folded, names = folded_path(entry.name), self._names
        if folded in _GIT_NAMES or self._is_protected(path):
            return True
        if entry.is_symlink():
            return bool(names.name_reason(path) or names.folder_name_reason(path))
        if entry.is_dir(follow_symlinks=False):
            return bool(names.name_reason(f"{path}/x"))
        return _MAY_RUN.fullmatch(folded) is not None and bool(names.name_reason(path))

    def _is_protected(self, path: str) -> bool:
        """Ask only where a name can count: at the top, or in a folder that the home folder protects."""
        is_at_top = "/" not in path[len(self.workspace) + 1 :]
        if not is_at_top and not self._is_in_home_name:
            return False
        return protection_reason(path, os.path.relpath(path, self.workspace), self._home) is not None


def _first_name(path: str, home: str) -> str:
    return folded_path(os.path.relpath(path, home)).split("/")[0] if is_below(path, home) else ""


class _HomeReader:
    """Finds the links in the folders of a home folder that shells, logins and common programs obey.

    Not in those of programs: one that is built in a workspace may be named in `~/.local/bin`.
    """

    def __init__(self, home: str, workspace: str) -> None:
        self._home, self._workspace = home, workspace

    def __call__(self, folder: str, entries: Sequence[os.DirEntry[str]], is_inner: bool) -> FolderFindings:  # noqa: ARG002
        found: dict[str, str] = {}
        enter: list[str] = []
        for entry in entries:
            path = f"{folder}/{entry.name}"
            depth = self._depth(path)
            if entry.is_symlink() and depth is not None:
                found[path] = _LINK
            elif entry.is_dir(follow_symlinks=False) and path != self._workspace:
                is_on_way = folded_path(os.path.relpath(path, self._home)) in _HOME_FOLDERS_ON_WAY
                enter += [path] if is_on_way or (depth is not None and depth < _MOST_HOME_DEPTH) else []
        return FolderFindings(found=found, enter=enter)

    def _depth(self, path: str) -> int | None:
        """Return how many folders deep a path lies in such a folder; None if it lies in none."""
        names = folded_path(os.path.relpath(path, self._home)).split("/")
        tops = (count for count in range(1, len(names) + 1) if "/".join(names[:count]) in _OBEYED_IN_HOME)
        top = next(tops, None)
        return None if top is None else len(names) - top


class _ShownReader:
    """Finds what is hidden in a folder that is shown."""

    def __init__(self, skipped: str, denials: PathDenials, *, hides_private: bool) -> None:
        self._skipped, self._reads, self._hides_private = skipped, denials.reads, hides_private
        self._user, self._groups = os.geteuid(), {os.getegid(), *os.getgroups()}

    def __call__(self, folder: str, entries: Sequence[os.DirEntry[str]], is_inner: bool) -> FolderFindings:  # noqa: ARG002
        found: dict[str, str] = {}
        enter: list[str] = []
        for entry in entries:
            path = f"{folder}/{entry.name}"
            is_denied = self._reads is not None and self._reads(path)
            if is_denied or (self._hides_private and self._is_private(entry)):
                found[path] = HIDDEN
            elif entry.is_dir(follow_symlinks=False) and path != self._skipped:
                enter.append(path)
        return FolderFindings(found=found, enter=enter)

    def _is_private(self, entry: os.DirEntry[str]) -> bool:
        if entry.is_symlink():
            return False
        status = entry.stat(follow_symlinks=False)
        mode = status.st_mode
        if mode & stat.S_IROTH:
            return False
        is_own = status.st_uid == self._user and mode & stat.S_IRUSR
        return bool(is_own or (status.st_gid in self._groups and mode & stat.S_IRGRP))
