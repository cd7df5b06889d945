"""The header's facts: where, what waits, what runs, what failed, what it took, what time it is.

Owns the counts and nothing of their width: `draw` drops what does not fit.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.domain.rows import Action, Session
from workbench.views.queue import Urgency


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderFacts:
    """What the header says. Texts are one safe line each."""

    workspace: str = ""
    """The path, with the home folder as `~`."""
    branch: str = ""
    waiting: int = 0
    first_left: float | None = None
    urgency: Urgency = "calm"
    running: int = 0
    failed: int = 0
    model: str = ""
    tokens: int | None = None
    """Of the session on show."""
    money: str = ""
    clock: int = 0
    """Now, cut to the minute, in microseconds."""
    trouble: str = ""
    """`host does not answer, 12 s`; empty when all is well."""


def header(
    sessions: Iterable[Session],
    actions: Iterable[Action],
    now: int,
    *,
    workspace: str,
    home: str = "",
    branch: str = "",
    current: Session | None = None,
    money: str = "",
    trouble: str = "",
) -> HeaderFacts:
    """Return the header's facts.

    Args:
        sessions: those the screen knows; what runs and what failed is counted.
        actions: pending ones are counted.
        now: the moment, in microseconds.
        workspace: its path.
        home: the user's home folder, shown as `~`.
        branch: of the workspace, empty if none.
        current: the session on show, for model and tokens.
        money: what it cost, empty where nobody knows.
        trouble: what is wrong with the host.
    """
    raise NotImplementedError(sessions, actions, now, workspace, home, branch, current, money, trouble)


def terminal_title(facts: HeaderFacts) -> str:
    """Return the terminal's title: `◆ 3 · 0:41 · shop`, or the folder's name alone."""
    raise NotImplementedError(facts)
