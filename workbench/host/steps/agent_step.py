"""An agent step by the built-in agent: a child session with the persona's prompt, limits and hooks.

Every call of it passes the gate and names pipeline and step.
"""

import asyncio
import os
import posixpath
from typing import Literal, cast

from msgspec import convert
from msgspec.structs import replace

from workbench.agents.compaction import session_transcript
from workbench.agents.planner import CONTEXT_FULL
from workbench.domain.events import (
    ActionCancelled,
    CallFinished,
    ErrorRaised,
    PromptSubmitted,
    ReplyCompleted,
    SessionStatusChanged,
    TurnEnded,
)
from workbench.domain.machines import TERMINAL_SESSION_STATES
from workbench.domain.step_messages import StepOutcome, StepSpec
from workbench.domain.tools import tool_verb
from workbench.domain.values import SPEND_LIMIT, BlobRef, HookRule, PermissionPattern, Usage
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import Root
from workbench.host.crash_recovery import recover_call
from workbench.host.driver_context import DriverContext, OnEvents, SessionWriter, StepConstraints
from workbench.host.model_selection import model_of_step
from workbench.host.session_driver import SessionProgress, drive_session
from workbench.host.session_provider import known_context_tokens, told_context_tokens
from workbench.journal.errors import JournalError
from workbench.journal.leases import DriverIdentity, lease_guard, release_lease, take_lease

DEFAULT_CONTEXT_TOKENS = 200_000
"""Tokens of a context of which nothing is known."""
REPEATED_CALL = "the agent repeated the same call and got the same result"
"""Why a step, or an incident, is over whose agent goes in a loop."""


async def conversation_token_limit(context: DriverContext, spec: StepSpec) -> int:
    """Return the tokens at which the conversation of a step is full: a part of its context."""
    config, window = context.refresh_settings().config, spec.context_window
    if spec.relay_percent and not window:
        name, _ = model_of_step(config, str(spec.persona.get("provider") or ""), "")
        session = context.journal.session(spec.session_id) if spec.session_id else None
        is_asked = session is not None and session.provider == name  # and no recording in its place
        server_tokens = (
            await told_context_tokens(context.provider, config, session) if session and is_asked else None
        )
        window = known_context_tokens(config, name, server_tokens) or 0
    return (window or DEFAULT_CONTEXT_TOKENS) * spec.relay_percent // 100


def step_constraints(spec: StepSpec, project: str, most_tokens: int = 0) -> StepConstraints:
    """Return what a step's persona may do, its hooks, and when its context is full."""
    persona = spec.persona
    allowed = cast("list[list[str]]", persona.get("allowed") or [])
    deny = cast("list[list[str]]", persona.get("deny") or [])
    hooks = convert(persona.get("hooks") or [], tuple[HookRule, ...])
    name = str(persona.get("name", ""))
    return StepConstraints(
        run_id=spec.id.run, step=spec.title, project=project, most_tokens=most_tokens,
        deny=tuple(PermissionPattern(text=text, origin=f"persona {name}, {origin}") for text, origin in deny),
        ceiling=tuple(
            PermissionPattern(text=text, origin=f"persona {name}, {origin}") for text, origin in allowed
        )
        or None,
        hooks=tuple(replace(hook, folder=project) for hook in hooks),
    )  # fmt: skip


async def step_driver_context(context: DriverContext, spec: StepSpec) -> DriverContext:
    """Return the context of a step's session: its own folder, the run's settings; may raise FileRefused."""
    most_tokens = await conversation_token_limit(context, spec)
    return replace(
        context, workspace=os.path.realpath(spec.workspace), root=Root(spec.workspace),
        environment={**context.environment, "PWD": spec.workspace},
        constraints=_with_limits_above(step_constraints(spec, context.workspace, most_tokens), context),
    )  # fmt: skip


def _with_limits_above(constraints: StepConstraints, context: DriverContext) -> StepConstraints:
    """Return the constraints of a step with the budget of its run, and what its starter is denied."""
    above = context.constraints
    return replace(constraints, deny=(*constraints.deny, *above.deny), run_budget=above.run_budget)


async def run_agent_step(
    context: DriverContext, driver: DriverIdentity, spec: StepSpec, on_events: OnEvents, stop: asyncio.Event
) -> StepOutcome:
    """Drive the child session until it is done, or until nothing goes on without a human."""
    if spec.session_id is None:
        return StepOutcome(state="failed", reason="its session was never started", is_retryable=False)
    try:
        step_context = await step_driver_context(context, spec)
    except FileRefused as error:
        return StepOutcome(state="failed", reason=f"its workspace is gone: {error}", is_retryable=False)
    try:
        progress = await drive_session(
            step_context,
            driver,
            spec.session_id,
            until=lambda current: stop.is_set() or _is_resting(current),
            on_events=on_events,
        )
    finally:
        step_context.root.close()
    if stop.is_set():
        return StepOutcome(state="cancelled", reason="it was stopped")
    return _agent_step_outcome(step_context, spec, progress)


def _is_resting(progress: SessionProgress) -> bool:
    is_over = progress.is_idle or bool(progress.waiting) or progress.session.reason == "loop"
    return progress.is_resting and is_over


def _agent_step_outcome(context: DriverContext, spec: StepSpec, progress: SessionProgress) -> StepOutcome:
    asks_for_more = any(SPEND_LIMIT in action.subject for action in progress.waiting)
    if progress.waiting and (progress.open_turn is not None or asks_for_more):
        first = progress.waiting[0]
        return StepOutcome(
            state="parked", reason=f"asks: {first.verb} {first.target}"[:300],
            action_ids=tuple(action.id for action in progress.waiting),
        )  # fmt: skip
    usage, session = progress.session.usage, progress.session
    if session.reason == "loop":
        # Nobody reads along in a step, so it does not wait: `on_failure` and its retries say what is next.
        return StepOutcome(state="failed", reason=REPEATED_CALL, is_retryable=True, usage=usage)
    if progress.last_outcome == "done":
        reply = _last_reply(context, session.id)
        stdout = (
            context.journal.blobs.seal(reply.encode("utf-8", "surrogatepass")) if spec.keeps_output else None
        )
        return StepOutcome(
            state="completed", usage=usage, reply=reply[:4_000], stdout_ref=stdout, output=reply[-2_000:],
            transcript_ref=_sealed_thread(context, session.id) if spec.thread else None,
            rejected=_unwritten_files(context, session.id, "rejected"),
            denied=_denied_files(context, session.id),
            unanswered=_unwritten_files(context, session.id, "expired"),
        )  # fmt: skip
    if progress.last_outcome == "limit" and (detail := _full_context_detail(context, session.id)):
        text = session_transcript(context.journal.events(session.id))
        return StepOutcome(
            state="parked", reason=detail, is_full=True, usage=usage,
            transcript_ref=context.journal.blobs.seal(text.encode("utf-8", "surrogatepass")),
        )  # fmt: skip
    why, is_retryable = _failure_reason(context, session.id, progress.last_outcome)
    return StepOutcome(
        state="failed", reason=why, is_retryable=is_retryable, usage=usage,
        is_unanswered=progress.last_outcome == "unattended",
    )  # fmt: skip


def _unwritten_files(
    context: DriverContext, session_id: str, state: Literal["rejected", "expired"]
) -> tuple[str, ...]:
    actions = context.journal.actions(session_id, states=(state,))
    return tuple(plan.path for action in actions for plan in action.files)


def _denied_files(context: DriverContext, session_id: str) -> tuple[str, ...]:
    """Return the files of writes that were refused without a question, as the agent named them."""
    calls = context.journal.calls(session_id, states=("rejected",))
    writes = (call for call in calls if call.action_id is None and tool_verb(call.tool) in ("write", "edit"))
    paths = (call.parameters.get("path") for call in writes)
    return tuple(posixpath.normpath(path) for path in paths if isinstance(path, str))


def _sealed_thread(context: DriverContext, session_id: str) -> BlobRef:
    """Seal what an agent said and did, without the question that it was asked first: that is the step's."""
    events = context.journal.events(session_id)
    first = next((event for event in events if isinstance(event.body, PromptSubmitted)), None)
    text = session_transcript([event for event in events if event is not first])
    return context.journal.blobs.seal(text.encode("utf-8", "surrogatepass"))


def _full_context_detail(context: DriverContext, session_id: str) -> str:
    ended = [e.body.detail for e in context.journal.events(session_id) if isinstance(e.body, TurnEnded)]
    return ended[-1] if ended and ended[-1].startswith(CONTEXT_FULL) else ""


def _last_reply(context: DriverContext, session_id: str) -> str:
    replies = [e.body.text for e in context.journal.events(session_id) if isinstance(e.body, ReplyCompleted)]
    return next((text for text in reversed(replies) if text.strip()), "")


def _failure_reason(context: DriverContext, session_id: str, outcome: str | None) -> tuple[str, bool]:
    if outcome == "unattended":
        return "a question expired: nobody answered in time", False
    if outcome == "limit":
        return "the agent reached its limit of rounds", True
    if outcome == "interrupted":
        return "somebody stopped the agent", False
    errors = [e.body for e in context.journal.events(session_id) if isinstance(e.body, ErrorRaised)]
    last = errors[-1] if errors else None
    return (
        (f"{last.message} {last.remedy}".strip(), last.recoverable) if last else ("the agent stopped", True)
    )


async def close_child_session(
    context: DriverContext, driver: DriverIdentity, session_id: str, *, is_done: bool
) -> Usage:
    """End a child session, settling what was executing and withdrawing what waits; return its usage."""
    session = context.journal.session(session_id)
    if session is None or session.status in TERMINAL_SESSION_STATES:
        return session.usage if session else Usage()
    try:
        lease = take_lease(context.journal, session_id, driver)
    except JournalError:
        return session.usage  # somebody else drives it and will end it
    writer = SessionWriter(context, session_id, lease_guard(lease))
    try:
        await _settle_open_calls(writer, session_id)
        status = (
            "completed" if is_done and session.status in ("ready", "processing", "paused") else "terminated"
        )
        await writer.append(writer.event(SessionStatusChanged(status=status)))
    finally:
        release_lease(context.journal, lease)
    return session.usage


async def _settle_open_calls(writer: SessionWriter, session_id: str) -> None:
    journal = writer.journal
    for call in journal.calls(session_id, states=("executing",)):
        await recover_call(writer, call.id)
    for action in journal.actions(session_id, states=("pending",)):
        body = ActionCancelled(why="its step is over")
        await writer.append(
            writer.event(body, turn_id=action.turn_id, call_id=action.call_id, action_id=action.id)
        )
    for call in journal.calls(session_id, states=("pending", "approved")):
        await writer.append(writer.call_event(CallFinished(state="cancelled", detail="withdrawn"), call))
