"""What git has of the folder that a step works in; nothing where no repository has files there."""

from collections.abc import Mapping
from typing import Final

from workbench.effects.git import GitFailed, run_git

HEAD: Final = "HEAD"
_SECONDS: Final = 60.0


def require_tracked_files(workspace: str, environment: Mapping[str, str]) -> None:
    """Raise GitFailed where a step's folder has no files under version control; blocking.

    A folder of the engine may lie inside the project: the project's repository is not the step's.
    """
    words = ("ls-files", "--error-unmatch", "--", ".")
    if not run_git(workspace, *words, environment=environment, seconds=_SECONDS).strip():
        raise GitFailed("the step's folder has no files under version control")


def git_text(workspace: str, *words: str, environment: Mapping[str, str]) -> str:
    """Return what git prints in a step's folder; blocking. Raises GitFailed."""
    output = run_git(workspace, *words, environment=environment, seconds=_SECONDS)
    return output.decode("utf-8", "replace")


def changes_text(workspace: str, environment: Mapping[str, str]) -> str:
    """Return what changed in a step's folder since the last commit, as a unified diff; blocking.

    Raises GitFailed.
    """
    require_tracked_files(workspace, environment)
    return git_text(workspace, "diff", HEAD, "--", ".", environment=environment)
