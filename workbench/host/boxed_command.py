"""A command of a session in its sandbox: the words that run it, and what was refused when it has ended."""

import os
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from workbench.config.types import Config
from workbench.domain.values import WHOLE_WORKSPACE, SandboxLevel, SandboxRefusal, SandboxUse
from workbench.effects.sandbox import Sandbox, boxed_argv, boxed_environment
from workbench.host.box_folders import moved_list
from workbench.host.command_box import (
    BoxPlaces,
    BoxUnavailable,
    ClosedChanges,
    CommandBox,
    command_box,
    quarantine_new_closed,
)
from workbench.host.driver_context import DriverContext
from workbench.host.path_denials import folder_gate, path_denials, patterns_as_globs
from workbench.policy.gate import GateContext, command_boundary
from workbench.policy.paths import is_below
from workbench.policy.sandbox_refusals import MOST_REFUSALS, read_refusals, shown_target
from workbench.text.human import sentence


class BoxedCommand(Struct, frozen=True, kw_only=True):
    """A command in its sandbox: the words and variables that start it."""

    argv: tuple[str, ...]
    environment: dict[str, str]
    planned: CommandBox


def box_command(
    context: DriverContext,
    session_id: str,
    config: Config,
    gate: GateContext,
    use: SandboxUse,
    argv: Sequence[str],
    environment: Mapping[str, str],
) -> BoxedCommand:
    """Return what runs a command inside; blocks, so call it in a thread.

    Raises BoxUnavailable where its sandbox cannot be made, and FileRefused for the data folder.
    """
    sandbox = context.prove_sandbox(config.sandbox.backend)
    if sandbox.backend != use.backend:
        raise BoxUnavailable(
            sentence(f"It is gone: {sandbox.problem or 'another one works now'}"), sandbox.remedy
        )
    planned = command_box(
        context, session_id, use.level, context.workspace, visible=config.sandbox.visible,
        closed=command_boundary(gate).governing(), denials=path_denials(gate),
    )  # fmt: skip
    return _boxed(sandbox, planned, argv, environment)


def box_program(
    context: DriverContext,
    owner_id: str,
    level: SandboxLevel,
    workspace: str,
    argv: Sequence[str],
    environment: Mapping[str, str],
    closed: Sequence[str],
    *,
    can_nest: bool = False,
) -> BoxedCommand:
    """Return what runs a program of a pipeline, or a hook, inside; blocks, so call it in a thread.

    What the settings and rules deny of files holds for it too. `owner_id`: whose /tmp it has, such as its
    run's. `closed`: files that it may not write, next to those that govern the workspace. `can_nest`: an
    agent may make sandboxes of its own in it. Raises BoxUnavailable where no full sandbox works here: a level
    that was asked for is a promise. Raises FileRefused for the data folder.
    """
    sandbox, config = require_full_sandbox(context, level), context.recall_settings().config
    placed, gate = replace(context, workspace=workspace), _program_gate(context, config, workspace, closed)
    planned = command_box(
        placed, owner_id, level, workspace, visible=config.sandbox.visible,
        closed=command_boundary(gate).governing(), denials=path_denials(gate),
    )  # fmt: skip
    planned = replace(planned, box=replace(planned.box, can_nest=can_nest))
    return _boxed(sandbox, planned, argv, environment)


def _program_gate(
    context: DriverContext, config: Config, workspace: str, closed: Sequence[str]
) -> GateContext:
    deny = (*context.constraints.deny, *patterns_as_globs(config.approvals.deny))
    return folder_gate(
        str(context.home.path), workspace, deny, context.journal.rules(), context.journal.now(),
        lambda: context.tools.descriptors(config.tools), hook_files=tuple(closed),
    )  # fmt: skip


def require_full_sandbox(context: DriverContext, level: SandboxLevel) -> Sandbox:
    """Return the sandbox of this machine; blocks. Raises BoxUnavailable where it is not a full one."""
    sandbox = context.prove_sandbox(context.recall_settings().config.sandbox.backend)
    if sandbox.strength != "full":
        raise BoxUnavailable(
            sentence(f"It is to run at the level {level}, and {sandbox.problem}"), sandbox.remedy
        )
    return sandbox


def _boxed(
    sandbox: Sandbox, planned: CommandBox, argv: Sequence[str], environment: Mapping[str, str]
) -> BoxedCommand:
    return BoxedCommand(
        argv=boxed_argv(sandbox, planned.box, argv),
        environment=boxed_environment(environment, planned.box),
        planned=planned,
    )


def refusals_of_command(
    boxed: BoxedCommand, output: str, exit_code: int | None
) -> tuple[SandboxRefusal, ...]:
    """Move out of the workspace what an ended command may not leave there; return all that was refused.

    Blocks, so call it in a thread.
    """
    places, level = boxed.planned.places, boxed.planned.box.level
    refusals = read_refusals(output, exit_code, level, places.workspace)
    return (*closed_refusals(quarantine_new_closed(boxed.planned), places), *refusals)


def closed_refusals(changes: ClosedChanges, places: BoxPlaces) -> tuple[SandboxRefusal, ...]:
    """Return what became of closed paths as refusals, what needs a look first; a few are named."""
    workspace = places.workspace
    paths = [
        *((path, "could not be moved out: look at it") for path in changes.left),
        *((path, f"is shut in the workspace as {_last_name(place)}") for path, place in changes.shut),
        *((path, "changed while it ran: look at it") for path in changes.changed),
        *((path, "") for path in changes.moved),
    ]
    refusals = [
        SandboxRefusal(kind="closed", target=_readable(os.path.relpath(path, workspace)), remark=remark)
        for path, remark in paths[:MOST_REFUSALS]
    ]
    if len(paths) > MOST_REFUSALS:
        listed = moved_list(places.storage)
        shown = os.path.relpath(listed, places.data) if is_below(listed, places.data) else listed
        more = len(paths) - MOST_REFUSALS
        refusals.append(SandboxRefusal(kind="closed", target=_readable(shown), more=more))
    if changes.unseen:
        remark = f"could not be looked through: {_readable(changes.unseen)}"
        refusals.insert(0, SandboxRefusal(kind="closed", target=WHOLE_WORKSPACE, remark=remark))
    return tuple(refusals)


def _last_name(path: str) -> str:
    return _readable(os.path.basename(path))  # noqa: PTH119 -- text


def _readable(text: str) -> str:
    """Return a text with paths as one safe line without secrets; names of files may be no UTF-8."""
    return shown_target(os.fsencode(text).decode("utf-8", "replace"))
