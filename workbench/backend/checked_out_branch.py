"""The branch that is checked out in a folder, read from git's own files; git is not started."""

import re
from pathlib import Path
from typing import Final

from workbench.effects.file_primitives import FileRefused
from workbench.effects.path_files import read_bounded

_MAX_BYTES: Final = 4_096
_BRANCH: Final = "ref: refs/heads/"
_COMMIT: Final = re.compile(r"[0-9a-f]{40,64}")
_SHORT_HASH: Final = 7
_MAX_NAME: Final = 80


def checked_out_branch(folder: str) -> str:
    """Return the branch of the repository that holds a folder, the short hash of a commit, or nothing.

    The folder may be a worktree, a submodule or below the top of the repository.
    """
    head = _head_text(Path(folder))
    if head.startswith(_BRANCH):
        return head.removeprefix(_BRANCH)[:_MAX_NAME]
    return head[:_SHORT_HASH] if _COMMIT.fullmatch(head) else ""


def _head_text(folder: Path) -> str:
    for place in (folder, *folder.parents):
        git = place / ".git"
        if git.is_dir():
            return _text_of(git / "HEAD")
        if git.is_file():
            # Of a worktree or a submodule: the file names the folder, relative to where it is.
            named = _text_of(git).removeprefix("gitdir:").strip()
            return _text_of(place / named / "HEAD") if named else ""
    return ""


def _text_of(path: Path) -> str:
    try:
        return (read_bounded(path, _MAX_BYTES) or b"").decode("utf-8", "replace").strip()
    except (FileRefused, OSError):
        return ""
