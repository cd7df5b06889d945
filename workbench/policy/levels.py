"""Where a command runs: inside the sandbox or as the user, with or without a question.

Two settings that never mix: the level says what commands inside may touch, approvals say who is asked. A
sandbox allows what nobody spoke about; it never answers what a rule asks, and never lets a denied line run.
"""

from typing import get_args

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.sandbox_strength import SandboxStrength, held_text
from workbench.domain.values import SANDBOX_SPEAKER, GateVerdict, SandboxLevel


class SandboxState(Struct, frozen=True, kw_only=True):
    """The sandbox that a session's commands have."""

    level: SandboxLevel
    strength: SandboxStrength
    is_auto: bool = False
    """Whether commands that nothing allows or denies run inside without a question."""
    is_required: bool = False
    problem: str = ""
    """Why this machine has no full sandbox; empty if it has one."""
    is_unsure: bool = False
    """Whether it may have one that could not be tried: then nothing is allowed as if it had none."""


class LineFacts(Struct, frozen=True, kw_only=True):
    """What is known about a command line before it runs."""

    leaves: str = ""
    """Why it has to run outside: what it needs, or the reason of the agent that asks for it."""
    objection: str = ""
    """Why a human has to see it although it fits into the sandbox, such as a denial that may apply."""


def lower_level(one: SandboxLevel, other: SandboxLevel) -> SandboxLevel:
    """Return the level of two that allows less."""
    levels: tuple[SandboxLevel, ...] = get_args(SandboxLevel)
    return levels[min(levels.index(one), levels.index(other))]


def place_command(verdict: GateVerdict, line: LineFacts, sandbox: SandboxState) -> GateVerdict:
    """Return the verdict on a command with its place, changed where the sandbox decides.

    The place of an allowed verdict says where its rules let it run; none means inside.
    """
    if verdict.outcome in ("denied", "refused"):
        return replace(verdict, place=None)
    if sandbox.level == "outside":
        return replace(verdict, place="outside")
    if verdict.outcome == "allowed" and verdict.place == "outside":
        return ask_in_read_only(verdict) if sandbox.level == "read-only" else verdict
    if line.leaves and (sandbox.strength != "none" or sandbox.is_required):
        return _ask_to_leave(verdict, line.leaves)
    if sandbox.strength != "full" and sandbox.is_required:
        return _refused_without_sandbox(sandbox.problem)
    if sandbox.strength == "none":
        return _place_without_sandbox(verdict, sandbox)
    if _is_answered_by_sandbox(verdict, line, sandbox):
        return _allowed_inside(sandbox)
    return replace(verdict, place="inside")


def _place_without_sandbox(verdict: GateVerdict, sandbox: SandboxState) -> GateVerdict:
    if verdict.outcome == "allowed" and sandbox.is_unsure:
        return _ask_to_leave(verdict, sandbox.problem)
    outside = replace(verdict, place="outside")
    is_change = verdict.outcome == "allowed" and sandbox.level == "read-only"
    return ask_in_read_only(outside) if is_change else outside


def ask_in_read_only(granted: GateVerdict) -> GateVerdict:
    """Return the question about a change that is allowed elsewhere, in a session that only reads."""
    why = f"the sandbox of this session is read-only; otherwise: {granted.reason}"
    return GateVerdict(outcome="ask", step="ask", by=granted.by, reason=why, place=granted.place)


def _ask_to_leave(verdict: GateVerdict, leaves: str) -> GateVerdict:
    if verdict.outcome == "ask":
        reason = f"{leaves}; {verdict.reason}" if verdict.reason else leaves
        return replace(verdict, place="outside", reason=reason)
    why = f"{leaves}; {verdict.reason}, but only inside the sandbox"
    return GateVerdict(outcome="ask", step="ask", by=verdict.by, reason=why, place="outside")


def _refused_without_sandbox(problem: str) -> GateVerdict:
    why = f"sandbox.required is set, and this machine has no full sandbox: {problem}"
    return GateVerdict(outcome="denied", step="ask", by="sandbox.required", reason=why)


def _is_answered_by_sandbox(verdict: GateVerdict, line: LineFacts, sandbox: SandboxState) -> bool:
    nobody_spoke = verdict.outcome == "ask" and verdict.step == "ask" and verdict.by == "default"
    return sandbox.is_auto and sandbox.strength == "full" and nobody_spoke and not line.objection


def _allowed_inside(sandbox: SandboxState) -> GateVerdict:
    return GateVerdict(
        outcome="allowed", step="grants", by=SANDBOX_SPEAKER, place="inside",
        reason=f"it runs inside the sandbox: it {held_text(sandbox.level, sandbox.strength)}",
    )  # fmt: skip
