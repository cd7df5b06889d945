"""What a step of a pipeline brings to its session: who it is, what it may not, which hooks watch it.

Owns nothing but the record. Everything in it narrows; what is granted is a rule of the journal.
"""

from dataclasses import dataclass
from typing import Final

from workbench.policy.globs import Glob
from workbench.policy.hooks import HookRule

WORKSPACES: Final = "workspaces"
"""Folder of the data root in which steps have workspaces of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """A step's place in a run, and its persona's limits."""

    run_id: str = ""
    step: str = ""
    """`nightly #41 · tests`: every event of the step's session names it."""
    project: str = ""
    """Real path of the workspace that the run was started in: its trust and its settings hold."""
    deny: tuple[Glob, ...] = ()
    ceiling: tuple[Glob, ...] | None = None
    hooks: tuple[HookRule, ...] = ()
    most_tokens: int = 0
    """Tokens of one model call at which the conversation counts as full; 0 is no limit."""


PLAIN: Final = Charge()
"""A session that is no step."""
