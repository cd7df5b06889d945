"""Hooks of the configuration: commands that are run before and after a call, and what they may stop.

Owns the order, what a hook is told, and the meaning of how it ends. Running a process is passed in. A
hook that fails, hangs or is missing blocks; one that runs after the call never does.
"""

import json
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from workbench.domain.events import HookRan
from workbench.domain.values import Verdict
from workbench.policy import globs, hook_files
from workbench.policy.gate import Passed
from workbench.text.safe import one_line, safe
from workbench.text.scrub import scrub, scrub_value

SECONDS: Final = 30.0
"""How long a hook may take."""

_OUTPUT: Final = 8000
_REASON: Final = 600

HookEvent = Literal["PreToolUse", "PostToolUse"]


class HookEnd(Protocol):
    """How a hook's process ended; `effects.hook.HookExit` is one."""

    @property
    def code(self) -> int | None:
        """Exit code, or None if a signal ended it."""
        ...

    @property
    def output(self) -> bytes:
        """What it wrote."""
        ...

    @property
    def timed_out(self) -> bool:
        """Whether it was ended because its time was up."""
        ...


Runner = Callable[[str, bytes], Awaitable[HookEnd]]
"""Runs a shell command with these bytes as its input; knows folder, environment and `SECONDS`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookRule:
    """A hook as configured; S1 HookRule."""

    event: HookEvent
    matcher: str
    """A permission pattern, or several with `|` between them."""
    command: str
    origin: str = ""
    folder: str = ""
    """Of the file that names it: where its relative programs and scripts lie."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookPayload:
    """What a hook is told about a call."""

    passed: Passed
    session_id: str
    cwd: str
    outcome: str | None = None
    """How the call ended; after it only."""

    def stdin(self, event: HookEvent) -> bytes:
        """Return the JSON that a hook reads, scrubbed of secrets."""
        parameters, _ = scrub_value(dict(self.passed.parameters))
        told = {
            "event": event,
            "session_id": self.session_id,
            "tool": self.passed.descriptor.id,
            "parameters": parameters,
            "cwd": self.cwd,
        }
        if self.outcome is not None:
            told["outcome"] = self.outcome
        return json.dumps(told, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def key(command: str, matcher: str) -> str:
    """Return the name under which a hook that has run is remembered."""
    return f"{command}{matcher}"


def already_run(events: Iterable[HookRan]) -> dict[str, HookRan]:
    """Return the PreToolUse hooks that have run for a call, by `key`."""
    return {key(ran.command, ran.matcher): ran for ran in events if ran.event == "PreToolUse"}


def selected(hooks: Iterable[HookRule], event: HookEvent, passed: Passed) -> tuple[HookRule, ...]:
    """Return the hooks for an event whose matcher matches a call, in their order."""
    return tuple(hook for hook in hooks if hook.event == event and _matches(hook.matcher, passed))


async def run_pre(
    hooks: Sequence[HookRule],
    payload: HookPayload,
    already: Mapping[str, HookRan],
    runner: Runner,
    on_ran: Callable[[HookRan], None],
    clock: Callable[[], float] = time.monotonic,
) -> Verdict | None:
    """Run the hooks before a call, one after another, until one blocks.

    Args:
        hooks: All that are configured; those that match are run.
        payload: The call.
        already: What has run for this call before a crash; it is not run again, its result counts.
        runner: Runs one command.
        on_ran: Told of each hook that was run.
        clock: Seconds, monotonic.

    Returns:
        The verdict of the hook that blocked, or None.
    """
    for hook in selected(hooks, "PreToolUse", payload.passed):
        ran = already.get(key(hook.command, hook.matcher))
        if ran is None:
            ran = await _run(hook, payload, runner, clock)
            on_ran(ran)
        if ran.blocked:
            return _verdict(hook, ran)
    return None


async def run_post(
    hooks: Sequence[HookRule],
    payload: HookPayload,
    runner: Runner,
    on_ran: Callable[[HookRan], None],
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Run the hooks after a call, every one that matches; none of them can block."""
    for hook in selected(hooks, "PostToolUse", payload.passed):
        on_ran(await _run(hook, payload, runner, clock))


async def _run(hook: HookRule, payload: HookPayload, runner: Runner, clock: Callable[[], float]) -> HookRan:
    started = clock()
    try:
        end = await runner(hook_files.resolved(hook.command, hook.folder), payload.stdin(hook.event))
        code, output, has_failed = end.code, _recorded(end.output), end.timed_out or end.code != 0
        if end.timed_out:
            output = f"{output}\nended after {SECONDS:.0f} s".lstrip()
    except Exception as error:  # noqa: BLE001 -- whatever kept a hook from running, the call is not let through
        code, output, has_failed = None, _recorded(f"could not be run: {error}".encode()), True
    return HookRan(
        event=hook.event,
        command=hook.command,
        matcher=hook.matcher,
        exit_code=code,
        output=output,
        blocked=has_failed and hook.event == "PreToolUse",
        duration_ms=max(0, round((clock() - started) * 1000)),
    )


def _recorded(output: bytes) -> str:
    """Return output as it is recorded: scrubbed before it is cut, so that no secret loses its beginning."""
    text = safe(scrub(output.decode("utf-8", "replace")).text).strip()
    return text if len(text) <= _OUTPUT else f"{text[:_OUTPUT]}\n… {len(text) - _OUTPUT} more characters"


def _verdict(hook: HookRule, ran: HookRan) -> Verdict:
    how = "failed" if ran.exit_code is None else f"ended with {ran.exit_code}"
    said = one_line(ran.output, _REASON) or "it said nothing"
    by = one_line(hook.command, 120)
    return Verdict(
        outcome="denied",
        step="hooks",
        by=f"{by} ({hook.origin})" if hook.origin else by,
        reason=f"the hook {how}: {said}",
        pattern=hook.matcher,
    )


def _matches(matcher: str, passed: Passed) -> bool:
    return any(_matches_one(part, passed) for part in _alternatives(matcher))


def _matches_one(pattern: str, passed: Passed) -> bool:
    parsed = globs.parse(pattern)
    if parsed.problem is not None:
        return True  # what cannot be read is taken to be about this call
    glob = globs.Glob(text=pattern)
    return globs.matches(
        glob, passed.descriptor, passed.parameters, passed.targets, passed.view, purpose="deny"
    )


def _alternatives(matcher: str) -> list[str]:
    """Split at `|`, but not inside parentheses."""
    parts, depth = [""], 0
    for character in matcher:
        depth += (character == "(") - (character == ")")
        if character == "|" and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]
