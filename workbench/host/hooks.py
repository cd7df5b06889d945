"""Run the configured hooks around a call, in threads, and record each one.

Owns only the wiring between the policy's hook rules and processes. What a hook's end means is the policy's
word.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Literal

from workbench.config.values import Hook, Loaded
from workbench.domain.events import HookRan
from workbench.domain.values import Verdict
from workbench.effects.hook import HookExit, run_hook
from workbench.host.kit import Kit
from workbench.policy import hook_files
from workbench.policy import hooks as policy
from workbench.policy.gate import Passed
from workbench.policy.hooks import HookPayload, HookRule


def rules(kit: Kit, loaded: Loaded) -> tuple[HookRule, ...]:
    """Return the hooks that the settings in force configure, and those of a step's persona."""
    configured = loaded.config.hooks
    before_call = [_rule(kit, "PreToolUse", hook) for hook in configured.pre_tool_use]
    after_call = [_rule(kit, "PostToolUse", hook) for hook in configured.post_tool_use]
    return (*before_call, *after_call, *kit.charge.hooks)


def _rule(kit: Kit, event: Literal["PreToolUse", "PostToolUse"], hook: Hook) -> HookRule:
    # A relative path in a workspace's file is the workspace's; in any other layer it is the user's own.
    folder = kit.governor if hook.origin.layer == "workspace" else str(kit.home.path)
    return HookRule(
        event=event, matcher=hook.matcher, command=hook.command, origin=hook.origin.where(), folder=folder
    )


def named_files(kit: Kit, loaded: Loaded) -> tuple[str, ...]:
    """Return the real paths that hooks and key commands name: they are closed to agents."""
    path = hook_files.absolute_path(kit.environment.get("PATH", ""))
    keys = [one.key_command for one in loaded.config.providers.values() if one.key_command]
    home = str(kit.home.path)
    commands = [(hook.command, hook.folder or kit.governor) for hook in rules(kit, loaded)]
    commands += [(command, home) for command in keys]
    found = (
        name for command, folder in commands
        for name in hook_files.protected(command, folder, kit.governor, path)
    )  # fmt: skip
    return tuple(dict.fromkeys(found))


async def before(
    kit: Kit, passed: Passed, session_id: str, already: Sequence[HookRan], on_ran: Callable[[HookRan], None]
) -> Verdict | None:
    """Run the PreToolUse hooks that have not run for this call yet; return the verdict of one that blocks."""
    payload = HookPayload(passed=passed, session_id=session_id, cwd=kit.workspace)
    done = policy.already_run(already)
    return await policy.run_pre(rules(kit, kit.loaded()), payload, done, _runner(kit), on_ran)


async def after(
    kit: Kit, passed: Passed, session_id: str, outcome: str, on_ran: Callable[[HookRan], None]
) -> None:
    """Run the PostToolUse hooks of a call; none of them can block."""
    payload = HookPayload(passed=passed, session_id=session_id, cwd=kit.workspace, outcome=outcome)
    await policy.run_post(rules(kit, kit.loaded()), payload, _runner(kit), on_ran)


def _runner(kit: Kit) -> policy.Runner:
    path = hook_files.absolute_path(kit.environment.get("PATH", ""))
    environment = {**kit.environment, "PATH": path} if path else dict(kit.environment)

    async def run(command: str, stdin: bytes) -> HookExit:
        return await asyncio.to_thread(run_hook, command, stdin, kit.governor, environment, policy.SECONDS)

    return run
