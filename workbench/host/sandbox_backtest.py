"""What the own history says about the sandbox: which questions about commands would not have been asked."""

from collections.abc import Callable
from typing import Final

from workbench.domain.tools import BuiltInTool
from workbench.domain.values import SandboxLevel
from workbench.journal.asked_commands import asked_commands
from workbench.journal.journal import Journal
from workbench.policy.rule_suggestions import FOREIGN_COMMAND_TOOLS
from workbench.policy.sandbox_backtest import SandboxBacktest, count_questions

MOST_COMMANDS: Final = 5_000
"""Questions that are looked at, the newest; own ones first."""


def backtest(
    journal: Journal,
    workspace: str | None,
    since: int = 0,
    level: SandboxLevel = "workspace",
    on_progress: Callable[[int, int], None] = lambda _, __: None,
) -> SandboxBacktest:
    """Count the questions about commands that `approvals.sandboxed = auto` would have answered.

    Args:
        journal: The history.
        workspace: Only of its sessions; None is all.
        since: Microseconds: only questions of that time or later.
        level: The level of the sandbox in which the commands would have run.
        on_progress: Gets how many questions were looked at, and how many there are.
    """
    with journal.snapshot() as database:
        own = asked_commands(
            database, (BuiltInTool.RUN_IN_TERMINAL.id,), workspace=workspace, since=since, imported=False,
            most=MOST_COMMANDS + 1,
        )  # fmt: skip
        others = asked_commands(
            database, FOREIGN_COMMAND_TOOLS, workspace=workspace, since=since, imported=True,
            most=max(0, MOST_COMMANDS - len(own)) + 1,
        )  # fmt: skip
    is_cut = len(own) + len(others) > MOST_COMMANDS
    own = own[:MOST_COMMANDS]
    others = others[: MOST_COMMANDS - len(own)]
    every = len(own) + len(others)
    return SandboxBacktest(
        own=count_questions(own, level, imported=False, on_progress=lambda done: on_progress(done, every)),
        imported=count_questions(
            others, level, imported=True, on_progress=lambda done: on_progress(len(own) + done, every)
        ),
        is_cut=is_cut,
    )  # fmt: skip
