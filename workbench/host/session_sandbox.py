"""The sandbox of a session's commands: its level, who is asked, and what this machine can hold them with.

A sandbox is proven by running it, once a process and only before a command is judged or offered.
"""

import asyncio
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal

from workbench.config.types import Config
from workbench.domain.rows import Session
from workbench.domain.sandbox_strength import held_text
from workbench.domain.values import SandboxLevel
from workbench.host.governed_settings import GovernedSettings
from workbench.journal.home import default_home_path
from workbench.policy.levels import SandboxState
from workbench.text.human import sentence

if TYPE_CHECKING:  # not on the way to the first frame
    from workbench.effects.sandbox import Sandbox

SandboxChoice = Literal["auto", "landlock", "none"]
SandboxProof = Callable[[SandboxChoice], "Sandbox"]
_RUNS_NOTHING_HERE: Final = frozenset({"supervised", "ask", "import"})
"""Kinds of sessions whose commands are not run by us."""


def prove_sandbox_once(choice: SandboxChoice) -> "Sandbox":
    """Return what this machine can hold commands with; the first time that runs some processes."""
    from workbench.effects.sandbox_proof import prove_sandbox  # not on the way to the first frame
    from workbench.host.box_folders import proof_folder

    return prove_sandbox(choice, proof_folder(default_home_path(os.environ)))


def has_full_sandbox(config: Config, prove: SandboxProof) -> bool:
    """Return whether commands can be held here as the settings say; blocks the first time."""
    return config.sandbox.level != "outside" and prove(config.sandbox.backend).strength == "full"


def sandbox_level(session: Session, config: Config) -> SandboxLevel:
    """Return the level of a session: the one that a human chose for it, or the setting."""
    return session.sandbox_level or config.sandbox.level


def is_sandbox_answering(session: Session, settings: GovernedSettings) -> bool:
    """Return whether commands that nothing allows or denies run inside without a question."""
    if session.sandboxed is not None:
        return session.sandboxed == "auto"
    return settings.config.approvals.sandboxed == "auto" or settings.trust.sandbox_grant


def sandbox_state(
    session: Session, settings: GovernedSettings, prove: SandboxProof, *, is_command: bool = True
) -> SandboxState | None:
    """Return the sandbox that the gate judges by; None of an agent that executes its own calls.

    `is_command`: only then it is proven; all other calls depend on the level alone.
    """
    if session.kind in _RUNS_NOTHING_HERE:
        return None
    config, level = settings.config, sandbox_level(session, settings.config)
    if level == "outside" or not is_command:
        return SandboxState(level=level, strength="none")
    sandbox = prove(config.sandbox.backend)
    return SandboxState(
        level=level, strength=sandbox.strength, is_auto=is_sandbox_answering(session, settings),
        is_required=config.sandbox.required, problem=sandbox.problem, is_unsure=sandbox.is_unsure,
    )  # fmt: skip


def sandbox_text(session: Session, settings: GovernedSettings, sandbox: "Sandbox") -> str:
    """Return what holds for the commands of a session, in sentences; `sandbox` is what works here."""
    if session.kind in _RUNS_NOTHING_HERE:
        return "Its agent runs its own commands, which the sandbox here does not hold."
    level = sandbox_level(session, settings.config)
    if level != "outside" and sandbox.strength == "none":
        held = f"Commands run outside: there is no sandbox here. {sentence(sandbox.problem)}"
        if settings.config.sandbox.required:
            held = f"Commands inside are refused (sandbox.required). {sentence(sandbox.problem)}"
        return f"{held} {sentence(sandbox.remedy)}".strip()
    if level == "outside":
        return "Commands run outside the sandbox, as you."
    said = f"Commands run inside the sandbox: they {held_text(level, sandbox.strength, 'have')}."
    if sandbox.strength == "files":
        return f"{said} It is not a full sandbox, so all asks as without it."
    is_answering = is_sandbox_answering(session, settings)
    asks = "run without asking, unless one is denied" if is_answering else "ask"
    return f"{said} Commands that nothing allows {asks}; to leave the sandbox is always a question."


def sandbox_doubt(word: str, level: SandboxLevel, sandbox: "Sandbox") -> str:
    """Return why a word of `/sandbox` does not mean here what it says; empty where it does."""
    name = word.strip().casefold()
    if name not in ("auto", "read-only", "workspace") or (level != "outside" and sandbox.strength == "full"):
        return ""
    if level == "outside":
        return "But its level is outside, so they run outside and ask."
    holds = "no" if sandbox.strength == "none" else "no full"
    return f"But there is {holds} sandbox here, so they ask as without it. {sentence(sandbox.problem)}"


async def prove_in_thread(session: Session, settings: GovernedSettings, prove: SandboxProof) -> None:
    """Prove the sandbox by which the next command is judged, where the event loop does not wait for it."""
    config = settings.config
    if session.kind not in _RUNS_NOTHING_HERE and sandbox_level(session, config) != "outside":
        await asyncio.to_thread(prove, config.sandbox.backend)
