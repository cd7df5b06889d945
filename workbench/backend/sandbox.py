"""The sandbox of a folder for the screen: its settings, what works on this machine, and the own history."""

from collections.abc import Mapping
from typing import get_args

from msgspec.structs import replace

from workbench.config.types import Config
from workbench.domain.values import Json, SandboxLevel
from workbench.journal.journal import Journal
from workbench.views.sandbox import SandboxPast, SandboxStanding


def sandbox_standing(
    journal: Journal, workspace: str, config: Config, members: Mapping[str, Json]
) -> SandboxStanding:
    """Return what holds commands in a workspace; the first time that runs some processes.

    `members` are what was chosen for the next session, which is shown until it begins.
    """
    from workbench.host.session_sandbox import prove_sandbox_once
    from workbench.host.workspace_trust import trust_state

    is_auto = config.approvals.sandboxed == "auto" or trust_state(journal, workspace).sandbox_grant
    sandboxed = members.get("sandboxed")
    standing = SandboxStanding(
        level=config.sandbox.level, is_auto=is_auto,
        next_level=next((level for level in get_args(SandboxLevel) if level == members.get("sandbox")), None),
        next_auto=None if sandboxed is None else sandboxed == "auto",
    )  # fmt: skip
    if config.sandbox.backend == "none":
        return standing
    proven = prove_sandbox_once(config.sandbox.backend)
    return replace(standing, backend=proven.backend, problem=proven.problem, remedy=proven.remedy)


def sandbox_past(journal: Journal, config: Config) -> SandboxPast | None:
    """Return what the sandbox would have done with the questions about commands; None without a history.

    Without own questions those of imported sessions count.
    """
    from workbench.host.sandbox_backtest import backtest

    level = config.sandbox.level
    found = backtest(journal, None, level="workspace" if level == "outside" else level)
    counts = found.own if found.own.asked else found.imported
    return SandboxPast(asked=counts.asked, spared=counts.spared) if counts.asked else None
