"""The repository of a linked git worktree, read from git's own files; git is not started.

A folder is a worktree only if the repository says so too: a `.git` file alone may name any repository.
"""

import os

from workbench.policy.paths import is_below, read_short_text

_GIT_FILE = "gitdir:"


def worktree_origin(folder: str) -> str | None:
    """Return the folder in the main work tree for a folder of a linked worktree; None for any other."""
    real = os.path.realpath(folder)
    top = real
    while not os.path.lexists(f"{top}/.git"):
        above = os.path.dirname(top)  # noqa: PTH120 -- text
        if above == top:
            return None
        top = above
    main = _main_folder(top)
    return None if main is None else os.path.normpath(f"{main}/{os.path.relpath(real, top)}")


def _main_folder(top: str) -> str | None:
    named = (read_short_text(f"{top}/.git") or "").strip()
    if not named.startswith(_GIT_FILE) or "\0" in named:
        return None
    own = os.path.realpath(os.path.join(top, named.removeprefix(_GIT_FILE).strip()))  # noqa: PTH118 -- text
    back = (read_short_text(f"{own}/gitdir") or "").strip()
    common = (read_short_text(f"{own}/commondir") or "").strip()
    if not back or not common or "\0" in f"{back}{common}":
        return None
    repository = os.path.realpath(os.path.join(own, common))  # noqa: PTH118 -- text
    names_it = os.path.realpath(os.path.join(own, back)) == os.path.realpath(f"{top}/.git")  # noqa: PTH118
    is_usual = os.path.basename(repository) == ".git" and is_below(own, repository)  # noqa: PTH119 -- text
    return os.path.dirname(repository) if names_it and is_usual else None  # noqa: PTH120 -- text
