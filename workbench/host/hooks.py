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
from workbench.policy import hooks as policy
from workbench.policy.gate import Passed
from workbench.policy.hooks import HookPayload, HookRule


def rules(loaded: Loaded) -> tuple[HookRule, ...]:
    """Return the hooks that the settings in force configure."""
    configured = loaded.config.hooks
    before_call = [_rule("PreToolUse", hook) for hook in configured.pre_tool_use]
    after_call = [_rule("PostToolUse", hook) for hook in configured.post_tool_use]
    return (*before_call, *after_call)


def _rule(event: Literal["PreToolUse", "PostToolUse"], hook: Hook) -> HookRule:
    return HookRule(event=event, matcher=hook.matcher, command=hook.command, origin=hook.origin.where())


async def before(
    kit: Kit, passed: Passed, session_id: str, already: Sequence[HookRan], on_ran: Callable[[HookRan], None]
) -> Verdict | None:
    """Run the PreToolUse hooks that have not run for this call yet; return the verdict of one that blocks."""
    payload = HookPayload(passed=passed, session_id=session_id, cwd=kit.workspace)
    done = policy.already_run(already)
    found = (*rules(kit.loaded()), *kit.charge.hooks)
    return await policy.run_pre(found, payload, done, _runner(kit), on_ran)


async def after(
    kit: Kit, passed: Passed, session_id: str, outcome: str, on_ran: Callable[[HookRan], None]
) -> None:
    """Run the PostToolUse hooks of a call; none of them can block."""
    payload = HookPayload(passed=passed, session_id=session_id, cwd=kit.workspace, outcome=outcome)
    await policy.run_post((*rules(kit.loaded()), *kit.charge.hooks), payload, _runner(kit), on_ran)


def _runner(kit: Kit) -> policy.Runner:
    async def run(command: str, stdin: bytes) -> HookExit:
        return await asyncio.to_thread(
            run_hook, command, stdin, kit.governor, dict(kit.environment), policy.SECONDS
        )

    return run
