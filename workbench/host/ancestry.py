"""Refuse to decide for an agent: nobody below a host may answer what the host asks.

Owns one question about this process: does it descend from a driver? Two signs count, the variable that
hosts set and the line of parents; a process that shed both is not recognised (SECURITY.md says so).
"""

import os

from workbench.domain.events import SecurityNoted
from workbench.domain.values import SYSTEM_SESSION, Actor
from workbench.effects.locks import holder
from workbench.effects.marks import AGENT_VARIABLE
from workbench.effects.proctable import ancestors
from workbench.journal.home import Home
from workbench.journal.journal import Journal


class InsideAgent(Exception):
    """A deciding command was called by something that a host had started."""

    def __init__(self, what: str) -> None:
        self.what = f"Not done: {what}."
        self.why = "This process was started by an agent, and agents cannot answer for a human."
        self.remedy = "Do it in a terminal of your own."
        super().__init__(f"{self.what} {self.why} {self.remedy}")


def refuse_inside_agents(journal: Journal | None, home: Home, what: str) -> None:
    """Raise InsideAgent, and note the attempt, when this process descends from a driver.

    Args:
        journal: Where the attempt is noted; None where it cannot be opened, which must not let an agent act.
        home: The data folder.
        what: What was asked for.
    """
    line = tuple(ancestors())
    if AGENT_VARIABLE not in os.environ and not _driven_from(home, line):
        return
    if journal is not None:
        actor = Actor(kind="agent", pid=os.getpid())
        body = SecurityNoted(what="decision from inside an agent", detail=what, ancestry=line)
        journal.append([journal.event(body, SYSTEM_SESSION, actor)])
    raise InsideAgent(what)


def _driven_from(home: Home, line: tuple[int, ...]) -> bool:
    """Return whether a driver that lives is among some processes: the holder of its lock says its pid."""
    return any(holder(path) in line for path in home.run.glob("driver-*.lock"))
