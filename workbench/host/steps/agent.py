"""An agent step by the built-in agent: a child session with the persona's prompt, limits and hooks.

Owns how that session is begun, what its driver may, and what its end means for the step. Every call of it
passes the gate and names pipeline and step.
"""

import asyncio
import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from workbench.agents.due import FULL
from workbench.domain.events import (
    ActionCancelled,
    CallFinished,
    ErrorRaised,
    Event,
    PromptSubmitted,
    ReplyCompleted,
    SessionCreated,
    SessionStatusChanged,
    TurnEnded,
)
from workbench.domain.machines import TERMINAL_SESSIONS
from workbench.domain.runs import StepOutcome, StepSpec
from workbench.domain.values import Actor, Json, Usage
from workbench.effects.files import FileRefused, Root, read_bounded
from workbench.host import record
from workbench.host.charge import Charge
from workbench.host.desk import Desk
from workbench.host.drive import Progress, drive_session
from workbench.host.kit import Kit
from workbench.host.settling import settle_call
from workbench.host.steps.transcript import transcript
from workbench.journal.errors import JournalError
from workbench.journal.lease import DriverIdentity, guard, release, take
from workbench.pipelines.relay import PART
from workbench.policy.globs import Glob
from workbench.policy.hooks import HookRule

CONTEXT = 200_000
"""Tokens of a context of which nothing is known."""

RECORDINGS = ".workbench/recordings"
"""Where the recordings of personas are that have `provider: recorded`, one a step."""

SeeEvents = Callable[[Sequence[Event]], None]


class NoRecording(Exception):
    """A step has no recording in the folder that the run was given."""


def opening(kit: Kit, spec: StepSpec, run_id: str, recordings: str) -> list[Event]:
    """Return the events that begin the child session of an attempt.

    Raises:
        NoRecording: the run plays recordings, and there is none for this step.
    """
    journal, persona = kit.journal, spec.persona
    session_id = journal.clock.new_id()
    actor = Actor(kind="host", pid=os.getpid())
    prompt, ref = record.text(str(persona.get("prompt") or ""), journal.blobs)
    provider, model, configuration = _brain(kit, spec, recordings)
    created = SessionCreated(
        session_kind="step", parent_id=run_id, title=record.scrubbed_line(spec.title, 120),
        workspace=spec.workspace, provider=provider, model=model, system_prompt=prompt,
        system_prompt_ref=ref, configuration=configuration, telemetry_id=journal.clock.new_id(),
    )  # fmt: skip
    said, said_ref = record.text(spec.source, journal.blobs)
    bodies = (created, PromptSubmitted(text=said, text_ref=said_ref))
    return [journal.event(body, session_id, actor, step=spec.title) for body in bodies]


def _brain(kit: Kit, spec: StepSpec, recordings: str) -> tuple[str, str, dict[str, Json]]:
    config, persona = kit.loaded().config, spec.persona
    configuration: dict[str, Json] = {}
    if persona.get("temperature") is not None:
        configuration["temperature"] = persona["temperature"]
    model = str(persona.get("model") or config.default_model or "")
    if not recordings and persona.get("provider") == "recorded":
        recordings = f"{kit.workspace}/{RECORDINGS}"
    if not recordings:
        return str(persona.get("provider") or config.default_provider or ""), model, configuration
    path = _recording(recordings, spec)
    data = read_bounded(path) or b""
    configuration["recording"] = {"path": str(path), "sha256": hashlib.sha256(data).hexdigest()}
    return "recorded", model or "recorded", configuration


def _recording(folder: str, spec: StepSpec) -> Path:
    step = spec.id.step
    names = (f"{step}.{spec.id.attempt}", step, step.partition("[")[0])
    if spec.part:
        own = (f"{step}.{spec.id.attempt}.{spec.part}", f"{step}.{spec.part}")
        names = own if spec.part == PART else (*own, *names)
    for name in names:
        path = Path(folder) / f"{name}.json"
        if path.is_file():
            return path.resolve()
    raise NoRecording(f"there is no recording {names[-1]}.json in {folder}")


def most_tokens(kit: Kit, spec: StepSpec) -> int:
    """Return the tokens at which the conversation of a step is full: a part of its context."""
    provider = kit.loaded().config.providers.get(str(spec.persona.get("provider") or ""))
    window = spec.context_window or (provider.num_ctx if provider and provider.num_ctx else CONTEXT)
    return window * spec.relay_percent // 100


def charge_of(spec: StepSpec, project: str, most_tokens: int = 0) -> Charge:
    """Return what the persona of a step may not, which hooks watch it, and when its context is full."""
    persona = spec.persona
    allowed = cast("list[list[str]]", persona.get("allowed") or [])
    deny = cast("list[list[str]]", persona.get("deny") or [])
    hooks = cast("list[list[str]]", persona.get("hooks") or [])
    name = str(persona.get("name", ""))
    return Charge(
        run_id=spec.id.run, step=spec.title, project=project, most_tokens=most_tokens,
        deny=tuple(Glob(text=text, origin=f"persona {name}, {origin}") for text, origin in deny),
        ceiling=tuple(Glob(text=text, origin=f"persona {name}, {origin}") for text, origin in allowed)
        or None,
        hooks=tuple(
            HookRule(
                event="PreToolUse" if event == "PreToolUse" else "PostToolUse", matcher=matcher,
                command=command, origin=origin, folder=project,
            )
            for event, matcher, command, origin in hooks
        ),
    )  # fmt: skip


def kit_of(kit: Kit, spec: StepSpec) -> Kit:
    """Return the kit of a step's session: its own folder, the run's settings, the persona's limits.

    Raises:
        FileRefused: the workspace is not there.
    """
    return replace(
        kit, workspace=os.path.realpath(spec.workspace), root=Root(spec.workspace),
        environment={**kit.environment, "PWD": spec.workspace},
        charge=charge_of(spec, kit.workspace, most_tokens(kit, spec)),
    )  # fmt: skip


async def run_agent(
    kit: Kit, driver: DriverIdentity, spec: StepSpec, see: SeeEvents, stop: asyncio.Event
) -> StepOutcome:
    """Drive the child session until it is done, or until nothing goes on without a human."""
    if spec.session_id is None:
        return StepOutcome(state="failed", reason="its session was never begun", is_retryable=False)
    try:
        own = kit_of(kit, spec)
    except FileRefused as error:
        return StepOutcome(state="failed", reason=f"its workspace is gone: {error}", is_retryable=False)
    try:
        progress = await drive_session(
            own, driver, spec.session_id, until=lambda found: stop.is_set() or _rests(found), on_events=see
        )
    finally:
        own.root.close()
    if stop.is_set():
        return StepOutcome(state="cancelled", reason="it was stopped")
    return _outcome(own, spec, progress)


def _rests(progress: Progress) -> bool:
    return progress.is_resting and (progress.is_idle or bool(progress.waiting))


def _outcome(kit: Kit, spec: StepSpec, progress: Progress) -> StepOutcome:
    if progress.waiting and progress.open_turn is not None:
        first = progress.waiting[0]
        return StepOutcome(
            state="parked", reason=f"asks: {first.verb} {first.target}"[:300],
            action_ids=tuple(action.id for action in progress.waiting),
        )  # fmt: skip
    usage, session = progress.session.usage, progress.session
    if progress.last_outcome == "done":
        reply = _last_reply(kit, session.id)
        stdout = kit.journal.blobs.seal(reply.encode("utf-8", "surrogatepass")) if spec.keeps_output else None
        return StepOutcome(
            state="completed", usage=usage, reply=reply[:4_000], stdout_ref=stdout, output=reply[-2_000:]
        )
    if progress.last_outcome == "limit" and (detail := _full(kit, session.id)):
        text = transcript(kit.journal.events(session.id))
        return StepOutcome(
            state="parked", reason=detail, is_full=True, usage=usage,
            transcript_ref=kit.journal.blobs.seal(text.encode("utf-8", "surrogatepass")),
        )  # fmt: skip
    why, is_retryable = _failure(kit, session.id, progress.last_outcome)
    return StepOutcome(state="failed", reason=why, is_retryable=is_retryable, usage=usage)


def _full(kit: Kit, session_id: str) -> str:
    """Return how full the context was when the newest turn ended for that; empty if it did not."""
    ended = [e.body.detail for e in kit.journal.events(session_id) if isinstance(e.body, TurnEnded)]
    return ended[-1] if ended and ended[-1].startswith(FULL) else ""


def _last_reply(kit: Kit, session_id: str) -> str:
    replies = [e.body.text for e in kit.journal.events(session_id) if isinstance(e.body, ReplyCompleted)]
    return next((text for text in reversed(replies) if text.strip()), "")


def _failure(kit: Kit, session_id: str, outcome: str | None) -> tuple[str, bool]:
    if outcome == "unattended":
        return "a question expired: nobody answered in time", False
    if outcome == "limit":
        return "the agent reached its limit of rounds", True
    if outcome == "interrupted":
        return "somebody stopped the agent", False
    errors = [e.body for e in kit.journal.events(session_id) if isinstance(e.body, ErrorRaised)]
    last = errors[-1] if errors else None
    return (
        (f"{last.message} {last.remedy}".strip(), last.recoverable) if last else ("the agent stopped", True)
    )


async def close_child(kit: Kit, driver: DriverIdentity, session_id: str, *, is_done: bool) -> Usage:
    """End a child session in order: what was executing is settled, what waits is withdrawn.

    Returns:
        What it used.
    """
    session = kit.journal.session(session_id)
    if session is None or session.status in TERMINAL_SESSIONS:
        return session.usage if session else Usage()
    try:
        lease = take(kit.journal, session_id, driver)
    except JournalError:
        return session.usage  # somebody else drives it and will end it
    desk = Desk(kit, session_id, guard(lease))
    try:
        await _settled(desk, session_id)
        status = (
            "completed" if is_done and session.status in ("ready", "processing", "paused") else "terminated"
        )
        await desk.append(desk.event(SessionStatusChanged(status=status)))
    finally:
        release(kit.journal, lease)
    return session.usage


async def _settled(desk: Desk, session_id: str) -> None:
    journal = desk.kit.journal
    for call in journal.calls(session_id, states=("executing",)):
        await settle_call(desk, call.id)
    for action in journal.actions(session_id, states=("pending",)):
        body = ActionCancelled(why="its step is over")
        await desk.append(
            desk.event(body, turn_id=action.turn_id, call_id=action.call_id, action_id=action.id)
        )
    for call in journal.calls(session_id, states=("pending", "approved")):
        await desk.append(desk.call_event(CallFinished(state="cancelled", detail="withdrawn"), call))
