"""A git worktree of its own for a session: added with its first prompt, removed after its end.

It lies in a folder next to the repository, on a new branch. It is removed only when nothing is lost.
"""

# A worktree is trusted by its own answer, as that of a fork is: what its files say counts after a human
# looked at it. Every call of git goes through `effects.git`, so that no hook and no filter runs.

import contextlib
import os
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from workbench.domain.machines import TERMINAL_SESSION_STATES
from workbench.domain.rows import WORKTREE_SETTING, WORKTREES_SUFFIX, Session, SessionWorktree
from workbench.domain.values import Json
from workbench.effects.file_primitives import FileRefused
from workbench.effects.git import GitFailed, run_git
from workbench.host.redaction import redact_line
from workbench.host.session_requests import MAX_TITLE_LENGTH, SessionRefused
from workbench.host.workspace_copy import add_worktree_of
from workbench.journal.imports import is_imported_session
from workbench.journal.journal import Journal
from workbench.journal.session_queries import workspaces_below
from workbench.text.human import counted, sentence
from workbench.text.safe import one_line
from workbench.views.sessions import title_slug

_NOT_STARTED: Final = "No session was started."
_BRANCH_FOLDER: Final = "workbench"
_MOST_OF_A_NAME: Final = 99
_MAX_REASON: Final = 200


class SessionPlace(Struct, frozen=True, kw_only=True):
    """Where a new session works."""

    workspace: str
    configuration: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """What its configuration records of that."""


def worktrees_folder(repository: str) -> str:
    """Return the folder of the worktrees that are made of a repository."""
    return os.path.realpath(f"{repository}{WORKTREES_SUFFIX}")


def require_worktree(workspace: str) -> str:
    """Return the top folder of the repository of a workspace; SessionRefused where it has no worktree."""
    try:
        top = _git(workspace, "rev-parse", "--show-toplevel")
    except GitFailed as error:
        is_missing = "not a git repository" in str(error)
        why = (
            f"{one_line(workspace, 120)} is not in a git repository."
            if is_missing
            else sentence(_reason(error))
        )
        raise SessionRefused(_NOT_STARTED, why, "Work in the folder itself.") from None
    try:
        _git(workspace, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    except GitFailed:
        remedy = "Commit something first, or work in the folder itself."
        raise SessionRefused(_NOT_STARTED, "The repository has no commit yet.", remedy) from None
    return top


def make_session_worktree(workspace: str, prompt: str) -> tuple[str, SessionWorktree]:
    """Add a worktree named after a prompt; return the folder to work in, and the worktree.

    Raises SessionRefused; nothing is left of it then.
    """
    top = require_worktree(workspace)
    # What is recorded of a prompt names it: a secret becomes no name of a folder.
    title = redact_line(next(iter(prompt.strip().splitlines()), ""), MAX_TITLE_LENGTH)
    planned = _free_worktree(workspace, worktrees_folder(top), title_slug(title) or "session")
    try:
        inside = add_worktree_of(workspace, planned.folder, "-b", planned.branch)
    except GitFailed as error:
        if "already exists" not in str(error):  # then it is the branch of somebody else
            _remove_branch(planned)
        _remove_empty_parent(planned)
        raise SessionRefused(_NOT_STARTED, sentence(_reason(error)), "Work in the folder itself.") from None
    except FileRefused as error:
        why = f"{one_line(error.path, 120)}: {error.why}."
        raise SessionRefused(_NOT_STARTED, why, sentence(error.remedy)) from None
    return inside, planned


@contextlib.contextmanager
def session_place(
    journal: Journal, workspace: str, prompt: str, *, is_worktree: bool
) -> Generator[SessionPlace]:
    """Provide the folder of a new session: its workspace, or a worktree that is added for it.

    The worktree is removed again if the session is not created in the block.
    """
    if not is_worktree:
        yield SessionPlace(workspace=workspace)
        return
    inside, worktree = make_session_worktree(workspace, prompt)
    try:
        yield SessionPlace(workspace=inside, configuration=_worktree_setting(worktree))
    finally:
        if not journal.sessions(workspace=inside, limit=1):
            _discard_worktree(worktree)


def _worktree_setting(worktree: SessionWorktree) -> dict[str, Json]:
    members: dict[str, Json] = {
        "origin": worktree.origin, "folder": worktree.folder, "branch": worktree.branch,
    }  # fmt: skip
    return {WORKTREE_SETTING: members}


def _discard_worktree(worktree: SessionWorktree) -> None:
    """Remove a worktree in which nothing was done yet, with its branch."""
    with contextlib.suppress(GitFailed):
        _remove_folder(worktree)
    _remove_branch(worktree)
    _remove_empty_parent(worktree)


def own_worktree(journal: Journal, session: Session) -> SessionWorktree | None:
    """Return the worktree that this program made for a session; what an imported one names is not ours."""
    return None if is_imported_session(journal, session.id) else session.worktree


def release_worktree(journal: Journal, session_id: str, worktree: SessionWorktree | None) -> str:
    """Remove the worktree of a session that ended or was deleted, unless something would be lost.

    Returns what became of it as a sentence; nothing where there is none, or it is gone already.
    """
    if worktree is None or not os.path.lexists(worktree.folder):
        return ""
    shown = one_line(worktree.folder, 160)
    if why := _why_kept(journal, session_id, worktree):
        return f"Its worktree {shown} stays: {why}."
    try:
        _remove_folder(worktree)
    except GitFailed as error:
        return f"Its worktree {shown} stays: {_reason(error)}."
    _remove_empty_parent(worktree)
    if _remove_branch(worktree):
        return f"Its worktree {shown} is removed."
    branch = one_line(worktree.branch, 80)
    return f"Its worktree {shown} is removed; its commits stay on the branch {branch}."


def _remove_folder(worktree: SessionWorktree) -> None:
    """Remove the folder of a worktree without changes. Raises GitFailed."""
    # git looks for changes in there, with filters that settings may name for this folder alone: it runs in
    # the folder, where those are found and switched off.
    _git(worktree.folder, "worktree", "remove", worktree.folder)


def _why_kept(journal: Journal, session_id: str, worktree: SessionWorktree) -> str:
    """Return why a worktree is not removed, empty when nothing would be lost."""
    with journal.snapshot() as database:
        workspaces = workspaces_below(database, worktree.folder)
    sharing = (other for workspace in workspaces for other in journal.sessions(workspace=workspace))
    if any(other.id != session_id and other.status not in TERMINAL_SESSION_STATES for other in sharing):
        return "another session works in it"
    try:
        listed = _git(worktree.folder, "status", "--porcelain", "-z", "--untracked-files=all", "--ignored")
    except GitFailed as error:
        return _reason(error)
    if count := listed.count("\0"):
        return f"{counted(count, 'path')} in it would be lost: changed, new or ignored by git"
    try:
        _git(worktree.folder, "symbolic-ref", "--quiet", "HEAD")
    except GitFailed:
        return "a commit without a branch is checked out in it"
    return ""


def _free_worktree(workspace: str, parent: str, name: str) -> SessionWorktree:
    """Return a worktree whose folder and branch do not exist yet."""
    for number in range(1, _MOST_OF_A_NAME + 1):
        numbered = name if number == 1 else f"{name}-{number}"
        worktree = SessionWorktree(
            origin=workspace, folder=f"{parent}/{numbered}", branch=f"{_BRANCH_FOLDER}/{numbered}"
        )
        if not os.path.lexists(worktree.folder) and not _has_branch(worktree):
            return worktree
    why = f"{one_line(parent, 120)} holds {_MOST_OF_A_NAME} worktrees of that name."
    raise SessionRefused(_NOT_STARTED, why, "Remove some, or start with other words.")


def _has_branch(worktree: SessionWorktree) -> bool:
    try:
        _git(worktree.origin, "rev-parse", "--verify", "--quiet", f"refs/heads/{worktree.branch}")
    except GitFailed:
        return False
    return True


def _remove_branch(worktree: SessionWorktree) -> bool:
    """Return whether the branch is gone; git keeps it while its commits are nowhere else."""
    with contextlib.suppress(GitFailed):
        _git(worktree.origin, "branch", "--delete", "--", worktree.branch)
    return not _has_branch(worktree)


def _remove_empty_parent(worktree: SessionWorktree) -> None:
    with contextlib.suppress(OSError):
        Path(worktree.folder).parent.rmdir()


def _reason(error: GitFailed) -> str:
    return f"git said: {one_line(str(error), _MAX_REASON).rstrip('.')}"


def _git(folder: str, *words: str) -> str:
    output = run_git(folder, *words, environment=os.environ)
    return output.decode("utf-8", "surrogateescape").removesuffix("\n")
