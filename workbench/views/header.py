"""The header's facts: where, what waits, what runs, what failed, what it took, what time it is.

Owns the counts and nothing of their width: `draw` drops what does not fit.
"""

from collections.abc import Iterable

from workbench.domain.rows import Action, Session
from workbench.records import dataclass
from workbench.text.human import countdown
from workbench.text.safe import one_line
from workbench.views.queue import Urgency, summary

_MINUTE = 60_000_000


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
    waits = summary(actions, now)
    statuses = [session.status for session in sessions if not session.archived]
    return HeaderFacts(
        workspace=one_line(_short(workspace, home), 400), branch=one_line(branch, 80), waiting=waits.waiting,
        first_left=waits.first_left, urgency=waits.urgency, running=statuses.count("processing"),
        failed=statuses.count("failed"), model=one_line(current.model, 64) if current else "",
        tokens=current.usage.total_tokens if current else None, money=one_line(money, 20),
        clock=now - now % _MINUTE, trouble=one_line(trouble, 200),
    )  # fmt: skip


def _short(workspace: str, home: str) -> str:
    home = home.rstrip("/")
    if home and (workspace == home or workspace.startswith(home + "/")):
        return "~" + workspace[len(home) :]
    return workspace


def terminal_title(facts: HeaderFacts) -> str:
    """Return the terminal's title: `◆ 3 · 0:41 · shop`, or the folder's name alone."""
    folder = facts.workspace.rstrip("/").rpartition("/")[2] or facts.workspace
    if not facts.waiting:
        return folder
    left = [countdown(facts.first_left)] if facts.first_left is not None else []
    return " · ".join([f"◆ {facts.waiting}", *left, folder])


def leaving(working: int, waiting: int, *, is_wide: bool) -> str:
    """Return what goes on without a screen, and which key leaves.

    Args:
        working: how many agents are at work.
        waiting: how many questions are open.
        is_wide: whether there are 100 columns for it.
    """
    agents = f"{working} agents go on working" if working > 1 else "1 agent goes on working"
    asks = f"{waiting} asks wait" if waiting > 1 else "1 ask waits"
    parts = [words for words, count in ((agents, working), (asks, waiting)) if count]
    again = " to answer" if waiting and is_wide else ""
    return f"{', '.join(parts)}. Open workbench again{again}. q leaves, esc stays."
