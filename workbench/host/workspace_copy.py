"""A new folder with the files of a workspace as they were at a moment: a copy or a git worktree."""

# The files are those that this program wrote, put back from the sealed images; what commands and people
# changed is as it is now, and said so.

import contextlib
import os
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from workbench.domain.events import FileChanged
from workbench.domain.values import BlobRef
from workbench.effects.file_primitives import FileMissing, FileRefused
from workbench.effects.files import Root
from workbench.effects.folders import make_folder, remove_tree
from workbench.effects.git import GitFailed, add_worktree, run_git
from workbench.effects.tree_copies import copy_tree
from workbench.host.session_requests import SessionRefused
from workbench.journal.journal import Journal
from workbench.journal.replay import workspace_file_changes

WorkspaceCopyKind = Literal["copy", "worktree"]
_NOT_FORKED: Final = "The session was not forked."


class FileAtMoment(Struct, frozen=True, kw_only=True):
    """One file as it stood."""

    path: str
    """Relative to the workspace."""
    ref: BlobRef | None
    """Its sealed bytes; None: they are not kept, or there was no file."""
    is_there: bool
    mode: int


class RestoredWorkspace(Struct, frozen=True, kw_only=True):
    """What became of the files of a moment."""

    workspace: str
    """The folder in which to go on; below a worktree the same folder as below the repository."""
    files: tuple[str, ...]
    """Put back, or removed as they were not there yet."""
    lost: tuple[str, ...]
    """Left as they are now, because their bytes of then are not kept any more or cannot be written."""


def files_at_position(journal: Journal, workspace: str, position: int) -> tuple[FileAtMoment, ...]:
    """Return every file of a workspace that was ever written here, as it stood at a position."""
    files: dict[str, FileAtMoment] = {}
    for moment, change in workspace_file_changes(journal, workspace):
        if moment <= position:
            files[change.path] = _file_after_change(change)
        elif change.path not in files:
            # First written later: until then it was what that change found.
            files[change.path] = _file_before_change(change)
    return tuple(files[path] for path in sorted(files))


def _file_after_change(change: FileChanged) -> FileAtMoment:
    is_there = change.after is not None
    return FileAtMoment(path=change.path, ref=change.after_ref, is_there=is_there, mode=change.mode)


def _file_before_change(change: FileChanged) -> FileAtMoment:
    is_there = change.before is not None
    return FileAtMoment(path=change.path, ref=change.before_ref, is_there=is_there, mode=change.mode)


def restore_workspace(
    journal: Journal, workspace: str, position: int, folder: str, kind: WorkspaceCopyKind
) -> RestoredWorkspace:
    """Make a folder with the files of a workspace as they stood at a journal position.

    `folder` must be new or empty; `kind` is a copy of the workspace or a git worktree under these files.
    Raises SessionRefused; nothing is left then.
    """
    target = _checked_target_folder(journal, workspace, folder)
    if not Path(workspace).is_dir():
        remedy = "Fork the conversation alone, into a folder that -C names."
        raise SessionRefused(_NOT_FORKED, f"Its workspace {workspace} no longer exists.", remedy)
    make, unmake = (_make_copy, _remove_copy) if kind == "copy" else (_make_worktree, _remove_worktree)
    with _removed_on_failure(workspace, target, unmake):
        inside = make(workspace, target)
        restored, lost = _restore_files(journal, files_at_position(journal, workspace, position), inside)
    return RestoredWorkspace(workspace=inside, files=restored, lost=lost)


def _checked_target_folder(journal: Journal, workspace: str, folder: str) -> str:
    target = os.path.realpath(Path(folder).expanduser())
    home = str(journal.home.path)
    for place, words in ((workspace, "the workspace itself"), (home, "the data folder")):
        if target == place or target.startswith(f"{place}/") or place.startswith(f"{target}/"):
            raise SessionRefused(
                _NOT_FORKED, f"{target} and {words} lie in one another.", "Name another folder."
            )
    if os.path.lexists(target) and not (Path(target).is_dir() and not any(Path(target).iterdir())):
        raise SessionRefused(
            _NOT_FORKED, f"{target} is there already.", "Name a folder that is not there yet."
        )
    return target


@contextlib.contextmanager
def _removed_on_failure(
    workspace: str, target: str, unmake: Callable[[str, str], None]
) -> Generator[None, None, None]:
    try:
        yield
    except BaseException as error:
        with contextlib.suppress(FileRefused, SessionRefused):
            unmake(workspace, target)
        if isinstance(error, FileRefused):
            raise SessionRefused(_NOT_FORKED, f"{error.path}: {error.why}.", error.remedy) from None
        raise


def _restore_files(
    journal: Journal, files: tuple[FileAtMoment, ...], folder: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    restored: list[str] = []
    kept_as_they_are: list[str] = []
    with Root(folder) as root:
        for file in files:
            (restored if _restore_file(journal, root, file) else kept_as_they_are).append(file.path)
    return tuple(restored), tuple(kept_as_they_are)


def _restore_file(journal: Journal, root: Root, file: FileAtMoment) -> bool:
    """Return whether a file is now as it stood; links and files whose bytes are gone are left alone."""
    if not file.is_there:
        if not _is_plain_or_absent(root, file.path):
            return False
        with contextlib.suppress(FileMissing):
            root.remove(file.path, lambda _: True)
        return True
    data = journal.blobs.read(file.ref) if file.ref is not None else None
    if data is None or not _is_plain_or_absent(root, file.path):
        return False
    root.commit(root.stage(file.path, data, file.mode), lambda _: True)
    return True


def _is_plain_or_absent(root: Root, path: str) -> bool:
    """Return whether a path is a file's or nobody's; a link is the user's own."""
    try:
        return root.stat(path).kind in ("file", None)
    except FileRefused:
        return False


def _make_copy(workspace: str, target: str) -> str:
    with contextlib.suppress(FileNotFoundError):
        Path(target).rmdir()
    copy_tree(workspace, target, is_readonly=False)
    return target


def _remove_copy(workspace: str, target: str) -> None:
    del workspace
    remove_tree(f"{target}.partial")
    remove_tree(target)


def _make_worktree(workspace: str, target: str) -> str:
    with _git_failure_as_refusal():
        return add_worktree_of(workspace, target, "--detach")


def add_worktree_of(workspace: str, target: str, *options: str) -> str:
    """Add a worktree of HEAD at a new folder; return the folder in it that matches the workspace.

    Raises GitFailed or FileRefused.
    """
    make_folder(str(Path(target).parent))
    git_prefix = run_git(workspace, "rev-parse", "--show-prefix", environment=os.environ)
    add_worktree(workspace, target, *options, "{}", "HEAD", environment=os.environ)
    prefix = git_prefix.decode("utf-8", "surrogateescape").removesuffix("\n").rstrip("/")
    inside = f"{target}/{prefix}" if prefix else target
    make_folder(inside)
    return inside


def _remove_worktree(workspace: str, target: str) -> None:
    if Path(target).is_dir():
        with _git_failure_as_refusal():
            run_git(workspace, "worktree", "remove", "--force", target, environment=os.environ)


@contextlib.contextmanager
def _git_failure_as_refusal() -> Generator[None, None, None]:
    try:
        yield
    except GitFailed as error:
        why = f"git made no worktree: {str(error)[-300:]}"
        raise SessionRefused(_NOT_FORKED, why, "Name a folder for a copy instead.") from None
