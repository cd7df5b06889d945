"""Where the next session works: in the folder of the screen, or in a git worktree of its own.

Nothing is made here: the worktree is added when the first message is sent.
"""

from typing import TYPE_CHECKING, Final

from workbench.text.human import home_as_tilde
from workbench.text.safe import one_line
from workbench.tui.backend import error_text

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext

_MAX_PATH_CELLS: Final = 80


def begin_session(context: "MainContext") -> None:
    """Show no session, so that the next message starts one in the folder of the screen."""
    context.status.worktrees = ""
    context.backend.models.choose_worktree(is_chosen=False)
    context.state.leave()
    context.presenter.everything()
    context.presenter.footer()


def toggle_worktree(context: "MainContext") -> None:
    """Let the next session work in a worktree of its own, or in the folder after all."""
    if context.status.worktrees:
        context.backend.models.choose_worktree(is_chosen=False)
        _chosen(context, "", "The next session works in this folder.")
    else:
        context.tasks.choose_worktree(lambda worktrees, why: _taken(context, worktrees, why))


def _taken(context: "MainContext", worktrees: str, why: str) -> None:
    """Take over where the worktree will lie, or say why there is none."""
    if why:
        context.say(why, is_error=True)
        return
    place = one_line(home_as_tilde(worktrees, context.status.home), _MAX_PATH_CELLS)
    _chosen(context, worktrees, f"The next session gets a git worktree and a branch in {place}/.")


def _chosen(context: "MainContext", worktrees: str, said: str) -> None:
    context.status.worktrees = worktrees
    context.presenter.composer()
    context.presenter.footer()
    context.say(said)


def why_refused(error: Exception) -> str:
    """Return why a worktree is refused, in one sentence."""
    why = str(getattr(error, "why", "")) or error_text(error)
    return f"No worktree: {why}"
