"""What commands in a box cannot write or read of a workspace: found by name, by kind and by denials."""

import os
import re
import stat
from collections.abc import Callable, Container, Hashable, Iterable, Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from workbench.effects.folder_index import FolderFindings, FolderIndex, FolderReader, LetIn
from workbench.policy.autorun_files import AUTORUN_PATTERNS, AutorunNames
from workbench.policy.git_settings import files_named_by_git, repository_git_files, user_git_files
from workbench.policy.paths import HOME_NAMES, folded_path, is_below, protection_reason

CLOSED: Final = "closed"
REPOSITORY: Final = "repository"
"""A folder that git takes for a repository without a work tree; it is closed too."""
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
_MOST_INDEXES: Final = 16


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

    def __init__(self, folders: FolderIndex, reader: "_WorkspaceReader", rules: Hashable) -> None:
        self._folders, self._reader = folders, reader
        self.rules: Final = rules
        """Equal, as text in any process too, where the same denials and settings of git close paths."""

    @property
    def folders(self) -> Container[str]:
        """Return the folders that were there at the last look; it does not change later."""
        return self._folders.folders

    def found(self, let_in: LetIn | None = None) -> dict[str, str]:
        """Return what is found now, as `FolderIndex.found`. Raises TooManyNames."""
        return self._folders.found(let_in)

    def found_in_hidden(self, folder: str, let_in: LetIn) -> dict[str, str]:
        """Return what is closed in a hidden folder. Raises TooManyNames."""
        return FolderIndex(folder, self._reader.without_hidden(), CLOSED).found(let_in)

    def closes_by_name(self, path: str) -> bool:
        """Return whether its name closes a path, in every box."""
        return self._reader.closes_by_name(path)


def workspace_index(workspace: str, home: str, denials: PathDenials) -> WorkspaceIndex:
    """Return the index of a workspace, the same one until git's settings or the denials change."""
    settings = (*user_git_files(home), *repository_git_files(workspace))
    named = files_named_by_git(_work_tree(workspace), home)
    key = (home, tuple(map(_stamp, settings)), denials.key, named)
    reader = _WorkspaceReader(workspace, home, denials, named)
    return WorkspaceIndex(_index(workspace, key, reader), reader, (denials.key, *sorted(named)))


def shown_index(
    folder: str, workspace: str, denials: PathDenials, *, hides_private: bool = False
) -> FolderIndex:
    """Return the index of what is hidden in a folder that is shown, without the workspace.

    `hides_private`: also what not every user can read.
    """
    reader = _ShownReader(workspace, denials, hides_private=hides_private)
    return _index(folder, (workspace if is_below(workspace, folder) else "", denials.key), reader)


def other_names(paths: Iterable[str], workspace: str) -> frozenset[str]:
    """Return the names in a workspace that files among these paths have besides, as hard links."""
    statuses = filter(None, map(_hard_linked, paths))
    files = frozenset((status.st_dev, status.st_ino, status.st_ctime_ns) for status in statuses)
    # Another name changes the third of these, so that it is looked for again.
    return _names_of(files, workspace).difference(paths) if files else frozenset()


def _hard_linked(path: str) -> os.stat_result | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status if stat.S_ISREG(status.st_mode) and status.st_nlink > 1 else None


@lru_cache(maxsize=_MOST_INDEXES)
def _names_of(files: frozenset[tuple[int, int, int]], workspace: str) -> frozenset[str]:
    wanted = {file[:2] for file in files}
    numbers = {number for _, number in wanted}
    named: set[str] = set()
    due = [workspace]
    while due:
        try:
            with os.scandir(due.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        due.append(entry.path)
                    elif entry.inode() in numbers:
                        status = entry.stat(follow_symlinks=False)
                        named.update((entry.path,) if (status.st_dev, status.st_ino) in wanted else ())
        except OSError:
            continue
    return frozenset(named)


def _work_tree(folder: str) -> str:
    """Return the nearest folder above, or this one, that has a `.git`; the folder itself where none has."""
    top: str = folder
    while not os.path.lexists(f"{top}/.git"):
        if top == "/":
            return folder
        top = os.path.dirname(top)  # noqa: PTH120 -- text
    return top


def _index(folder: str, key: Hashable, reader: FolderReader) -> FolderIndex:
    whole_key = (folder, key)
    if whole_key not in _INDEXES:
        while len(_INDEXES) >= _MOST_INDEXES:
            _INDEXES.pop(next(iter(_INDEXES)), None)
        _INDEXES[whole_key] = FolderIndex(folder, reader, CLOSED)
    return _INDEXES[whole_key]


def _stamp(path: str) -> tuple[int, ...]:
    try:
        status = os.stat(path)  # noqa: PTH116 -- text
    except OSError:
        return ()
    return status.st_ino, status.st_mtime_ns, status.st_size


class _WorkspaceReader:
    """Finds what is closed or hidden in a folder of a workspace."""

    def __init__(self, workspace: str, home: str, denials: PathDenials, named: Iterable[str]) -> None:
        self._workspace, self._home, self._denials = workspace, home, denials
        self._named = set(named)
        """What repositories name: that of the workspace, and those found in it before what is below them."""
        self._names = AutorunNames(workspace)
        self._is_in_home_name = _first_name(workspace, home) in _FIRST_HOME_NAMES

    def __call__(self, folder: str, entries: Sequence[os.DirEntry[str]]) -> FolderFindings:
        found: dict[str, str] = {}
        enter: list[str] = []
        has_marks = any(marks <= {entry.name for entry in entries} for marks in _REPOSITORY_MARKS)
        if has_marks and not self.closes_by_name(folder):
            found[folder] = REPOSITORY
        if folder != self._workspace and any(folded_path(entry.name) in _GIT_NAMES for entry in entries):
            self._named |= files_named_by_git(folder, self._home)
        is_closed = bool(found) and folder != self._workspace
        for entry in entries:
            path = f"{folder}/{entry.name}"
            kind = self._kind(path, entry)
            if kind:
                found[path] = kind
            is_entered = self._is_entered(CLOSED if is_closed and not kind else kind)
            if is_entered and entry.is_dir(follow_symlinks=False):
                enter.append(path)
        return FolderFindings(found=found, enter=enter)

    def without_hidden(self) -> "_WorkspaceReader":
        """Return a reader that finds the same but enters what denials hide."""
        denials = replace(self._denials, reads=None)
        return _WorkspaceReader(self._workspace, self._home, denials, self._named)

    def closes_by_name(self, path: str) -> bool:
        """Return whether its name closes a path, whatever denials and settings say."""
        names = self._names
        if folded_path(os.path.basename(path)) in _GIT_NAMES or self._is_protected(path):  # noqa: PTH119 -- text
            return True
        if names.name_reason(path) or names.name_reason(f"{path}/x"):
            return True
        return os.path.islink(path) and bool(names.folder_name_reason(path))  # noqa: PTH114 -- text

    def _is_entered(self, kind: str) -> bool:
        """Return whether a folder is looked at: a closed one only for what cannot even be read."""
        return not kind or (kind == CLOSED and self._denials.reads is not None)

    def _kind(self, path: str, entry: os.DirEntry[str]) -> str:
        denials = self._denials
        is_denied = denials.reads is not None and denials.reads(path)
        is_usual = entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)
        is_hidden = is_denied or not (is_usual or entry.is_symlink())
        if self._is_closed(path, entry) or (denials.writes is not None and denials.writes(path)):
            return CLOSED_AND_HIDDEN if is_hidden else CLOSED
        return HIDDEN if is_hidden else ""

    def _is_closed(self, path: str, entry: os.DirEntry[str]) -> bool:
        folded = folded_path(entry.name)
        if folded in _GIT_NAMES or path in self._named or self._is_protected(path):
            return True
        if entry.is_symlink():
            return bool(self._names.destination_reason(path))
        if entry.is_dir(follow_symlinks=False):
            return bool(self._names.file_reason(f"{path}/x"))
        return _MAY_RUN.fullmatch(folded) is not None and bool(self._names.file_reason(path))

    def _is_protected(self, path: str) -> bool:
        """Ask only where a name can count: at the top, or in a folder that the home folder protects."""
        is_at_top = "/" not in path[len(self._workspace) + 1 :]
        if not is_at_top and not self._is_in_home_name:
            return False
        return protection_reason(path, os.path.relpath(path, self._workspace), self._home) is not None


def _first_name(path: str, home: str) -> str:
    return folded_path(os.path.relpath(path, home)).split("/")[0] if is_below(path, home) else ""


class _ShownReader:
    """Finds what is hidden in a folder that is shown."""

    def __init__(self, skipped: str, denials: PathDenials, *, hides_private: bool) -> None:
        self._skipped, self._reads, self._hides_private = skipped, denials.reads, hides_private
        self._user, self._groups = os.geteuid(), {os.getegid(), *os.getgroups()}

    def __call__(self, folder: str, entries: Sequence[os.DirEntry[str]]) -> FolderFindings:
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
