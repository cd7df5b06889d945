"""The files of a workspace as they stood at a moment, in a folder of their own: a copy, or a git worktree.

Owns which bytes a file had: of what this program wrote, the sealed images before and after each change; all
else is as it is now. It writes into a new folder only, and never into the workspace itself.
"""

import contextlib
import os
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from workbench.domain.events import FileChanged
from workbench.domain.values import BlobRef
from workbench.effects.files import FileRefused, NothingThere, Root
from workbench.effects.git import GitFailed, add_worktree, run_git
from workbench.effects.trees import copy_tree, make_folder, remove_tree
from workbench.host.sessions import SessionRefused
from workbench.journal.journal import Journal
from workbench.journal.reel import file_changes

Kind = Literal["copy", "worktree"]
_NOT: Final = "The session was not forked."


@dataclass(frozen=True, slots=True, kw_only=True)
class FileThen:
    """One file as it stood."""

    path: str
    """Relative to the workspace."""
    ref: BlobRef | None
    """Its sealed bytes; None: they are not kept, or there was no file."""
    is_there: bool
    mode: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What became of the files of a moment."""

    workspace: str
    """The folder in which to go on; below a worktree the same folder as below the repository."""
    files: tuple[str, ...]
    """Put back, or removed as they were not there yet."""
    lost: tuple[str, ...]
    """Left as they are now, because their bytes of then are not kept any more or cannot be written."""


def files_then(journal: Journal, workspace: str, position: int) -> tuple[FileThen, ...]:
    """Return every file of a workspace that was ever written here, as it stood at a position."""
    found: dict[str, FileThen] = {}
    for at, change in file_changes(journal, workspace):
        if at <= position:
            found[change.path] = _after(change)
        elif change.path not in found:
            # First written later: until then it was what that change found.
            found[change.path] = _before(change)
    return tuple(found[path] for path in sorted(found))


def _after(change: FileChanged) -> FileThen:
    is_there = change.after is not None
    return FileThen(path=change.path, ref=change.after_ref, is_there=is_there, mode=change.mode)


def _before(change: FileChanged) -> FileThen:
    is_there = change.before is not None
    return FileThen(path=change.path, ref=change.before_ref, is_there=is_there, mode=change.mode)


def restore(journal: Journal, workspace: str, position: int, folder: str, kind: Kind) -> Restored:
    """Make a folder with the files of a workspace as they stood at a position.

    Args:
        journal: Where the sealed images are.
        workspace: Real path.
        position: The moment, as a position of the journal.
        folder: The new folder; it must not be there yet, or be empty.
        kind: A copy of the workspace as it is now, or a git worktree of the commit that is checked out; over
            either the files of the moment are put.

    Raises:
        SessionRefused: It was not made; nothing is left of it.
    """
    target = _target(journal, workspace, folder)
    if not Path(workspace).is_dir():
        remedy = "Fork the conversation alone, into a folder that -C names."
        raise SessionRefused(_NOT, f"Its workspace {workspace} is not there any more.", remedy)
    make, unmake = (_copy, _uncopy) if kind == "copy" else (_worktree, _unworktree)
    with _undone(workspace, target, unmake):
        inside = make(workspace, target)
        done, lost = _put(journal, files_then(journal, workspace, position), inside)
    return Restored(workspace=inside, files=done, lost=lost)


def _target(journal: Journal, workspace: str, folder: str) -> str:
    target = os.path.realpath(Path(folder).expanduser())
    home = str(journal.home.path)
    for place, words in ((workspace, "the workspace itself"), (home, "the data folder")):
        if target == place or target.startswith(f"{place}/") or place.startswith(f"{target}/"):
            raise SessionRefused(_NOT, f"{target} and {words} lie in one another.", "Name another folder.")
    if os.path.lexists(target) and not (Path(target).is_dir() and not any(Path(target).iterdir())):
        raise SessionRefused(_NOT, f"{target} is there already.", "Name a folder that is not there yet.")
    return target


@contextlib.contextmanager
def _undone(workspace: str, target: str, unmake: Callable[[str, str], None]) -> Generator[None, None, None]:
    """Remove what was made when the rest fails, and say why in words."""
    try:
        yield
    except BaseException as error:
        with contextlib.suppress(FileRefused, SessionRefused):
            unmake(workspace, target)
        if isinstance(error, FileRefused):
            raise SessionRefused(_NOT, f"{error.path}: {error.why}.", error.remedy) from None
        raise


def _put(
    journal: Journal, files: tuple[FileThen, ...], folder: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    done: list[str] = []
    lost: list[str] = []
    with Root(folder) as root:
        for file in files:
            (done if _put_one(journal, root, file) else lost).append(file.path)
    return tuple(done), tuple(lost)


def _put_one(journal: Journal, root: Root, file: FileThen) -> bool:
    """Return whether a file is now as it stood; a link on its way, or bytes that are gone, leave it alone."""
    if not file.is_there:
        if not _is_free(root, file.path):
            return False
        with contextlib.suppress(NothingThere):
            root.remove(file.path, lambda _: True)
        return True
    data = journal.blobs.read(file.ref) if file.ref is not None else None
    if data is None or not _is_free(root, file.path):
        return False
    root.commit(root.stage(file.path, data, file.mode), lambda _: True)
    return True


def _is_free(root: Root, path: str) -> bool:
    """Return whether a path is a file's or nobody's; a link there, or on its way, is the user's own."""
    try:
        return root.stat(path).kind in ("file", None)
    except FileRefused:
        return False


# --- the folder -------------------------------------------------------------------------------------


def _copy(workspace: str, target: str) -> str:
    with contextlib.suppress(FileNotFoundError):
        Path(target).rmdir()
    copy_tree(workspace, target, is_readonly=False)
    return target


def _uncopy(workspace: str, target: str) -> None:
    del workspace
    remove_tree(f"{target}.partial")
    remove_tree(target)


def _worktree(workspace: str, target: str) -> str:
    make_folder(str(Path(target).parent))
    with _git_words():
        said = run_git(workspace, "rev-parse", "--show-prefix", environment=os.environ)
        add_worktree(workspace, target, "--detach", "{}", "HEAD", environment=os.environ)
    prefix = said.decode("utf-8", "surrogateescape").strip().rstrip("/")
    inside = f"{target}/{prefix}" if prefix else target
    make_folder(inside)
    return inside


def _unworktree(workspace: str, target: str) -> None:
    if Path(target).is_dir():
        with _git_words():
            run_git(workspace, "worktree", "remove", "--force", target, environment=os.environ)


@contextlib.contextmanager
def _git_words() -> Generator[None, None, None]:
    try:
        yield
    except GitFailed as error:
        why = f"git made no worktree: {str(error)[-300:]}"
        raise SessionRefused(_NOT, why, "Name a folder for a copy instead.") from None
