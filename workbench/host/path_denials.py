"""Denials of files, which hold in a sandbox whatever runs there: a command, a hook or a program of a step."""

import os
from collections.abc import Callable, Mapping, Sequence

from workbench.config.types import ApprovalPattern
from workbench.domain.rows import Rule
from workbench.domain.values import PermissionPattern, ToolDescriptor
from workbench.host.closed_names import NO_DENIALS, PathDenials
from workbench.policy.gate import GateContext, command_boundary
from workbench.policy.paths import ResolvedPath, is_below

_Denies = Callable[[ResolvedPath], bool]


def patterns_as_globs(patterns: Sequence[ApprovalPattern]) -> tuple[PermissionPattern, ...]:
    """Return patterns of the settings as the gate reads them."""
    return tuple(
        PermissionPattern(text=pattern.text, origin=pattern.origin.where(), place=pattern.where)
        for pattern in patterns
    )


def folder_gate(
    data: str,
    workspace: str,
    deny: Sequence[PermissionPattern],
    rules: Sequence[Rule],
    now: int,
    descriptors: Callable[[], Mapping[str, ToolDescriptor]],
    *,
    hook_files: tuple[str, ...] = (),
) -> GateContext:
    """Return the context in which files of a folder are denied although no session asks.

    `descriptors`: returns the tools, where something is denied.
    """
    has_denials = bool(deny) or any(rule.effect == "deny" for rule in rules)
    return GateContext(
        descriptors=descriptors() if has_denials else {}, provider="", session_id="", workspace=workspace,
        protected=(data,), deny=tuple(deny), rules=tuple(rules), now=now, hook_files=hook_files,
    )  # fmt: skip


def path_denials(gate: GateContext) -> PathDenials:
    """Return what denials forbid of files."""
    boundary = command_boundary(gate)
    reads, writes = boundary.is_denied, boundary.is_write_denied
    if reads is None and writes is None:
        return NO_DENIALS
    root = os.path.realpath(gate.workspace)

    def test(denies: _Denies | None) -> Callable[[str], bool] | None:
        return None if denies is None else lambda path: denies(_resolved(path, root))

    denying = tuple(rule.id for rule in gate.rules if rule.effect == "deny" and rule.revoked_at is None)
    key = (root, tuple(glob.text for glob in gate.deny), denying)
    return PathDenials(key=key, reads=test(reads), writes=test(writes))


def _resolved(path: str, root: str) -> ResolvedPath:
    relative = os.path.relpath(path, root) if is_below(path, root) else path
    return ResolvedPath(path=path, relative=relative, exists=True, given=relative)
