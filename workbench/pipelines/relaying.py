"""A step whose conversation is full: the summariser is run, and a fresh conversation goes on from its words.

Owns the commits of that: the step moves over `waiting`, for nothing else leads from one conversation to the
next, and the checkpoint is an artifact of the step.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.domain.events import Event
from workbench.domain.runs import StepChanged, StepEvent, StepOutcome, StepSpec
from workbench.domain.values import Usage
from workbench.pipelines import artifacts, relay
from workbench.pipelines.attempt import Attempt, NotReady
from workbench.pipelines.model import ArtifactSpec

if TYPE_CHECKING:
    from workbench.pipelines.coordinator import Coordinator

OnEvent = Callable[[StepEvent], Awaitable[None]]


async def relayed(
    run: "Coordinator",
    attempt: Attempt,
    spec: StepSpec,
    outcome: StepOutcome,
    on_event: OnEvent,
    begun: float,
) -> StepOutcome:
    """Go on with a step from checkpoint to checkpoint until it ends otherwise.

    Args:
        run: its coordinator.
        attempt: the attempt.
        spec: what was run, with the working time that was left when it began.
        outcome: what came of it: the conversation is full.
        on_event: told what the conversations report.
        begun: steady seconds at which the attempt began.

    Returns:
        The outcome of the last conversation; the tokens of those before are recorded.
    """
    prompt, deadline = spec.source, begun + (spec.timeout_seconds or 0)
    for number in range(1, relay.MOST + 1):
        try:
            checkpoint, used = await _checkpoint(run, attempt, _left(run, spec, deadline), outcome, on_event)
            text = relay.continued(prompt, checkpoint)
            spec = replace(_left(run, spec, deadline), source=text, part=f"relay-{number}", session_id=None)
            spec = await _moved(run, attempt, spec, "a fresh conversation goes on from the checkpoint", used)
        except NotReady as error:
            return StepOutcome(state="failed", reason=str(error), is_retryable=False)
        outcome = await run.executed(spec, on_event)
        if not outcome.is_full:
            return outcome
    why = f"its conversation was full {relay.MOST + 1} times"
    return StepOutcome(state="failed", reason=why, is_retryable=False, usage=outcome.usage)


def _left(run: "Coordinator", spec: StepSpec, deadline: float) -> StepSpec:
    """Return a spec with the working time that is left of the attempt."""
    return replace(spec, timeout_seconds=max(1.0, deadline - run.ledger.monotonic()))


async def _checkpoint(
    run: "Coordinator", attempt: Attempt, spec: StepSpec, outcome: StepOutcome, on_event: OnEvent
) -> tuple[str, Usage]:
    """Return what the summariser writes, and its tokens; NotReady if it writes nothing."""
    ledger = run.ledger
    said = ledger.unseal(outcome.transcript_ref) if outcome.transcript_ref else None
    asked = attempt.relayed(spec, (said or b"").decode("utf-8", "replace"))
    asked = await _moved(run, attempt, asked, f"{outcome.reason}; a checkpoint is written", outcome.usage)
    found = await run.executed(asked, on_event)
    data = ledger.unseal(found.stdout_ref) if found.stdout_ref else None
    if found.state != "completed" or not data or not data.strip():
        raise NotReady(f"no checkpoint was written: {found.reason or 'the summariser said nothing'}")
    kept = ArtifactSpec(name=relay.PART, path=f"{relay.PART}.md", type="markdown")
    stored = artifacts.sealed(ledger, kept, data, attempt.number)
    await ledger.append(ledger.event(stored, step=attempt.found.id))
    return data.decode("utf-8", "replace"), found.usage


async def _moved(run: "Coordinator", attempt: Attempt, spec: StepSpec, why: str, used: Usage) -> StepSpec:
    """Record that the step goes on in another conversation, and what the one before used.

    Returns:
        The spec with its session.
    """
    ledger, found = run.ledger, attempt.found
    opening: list[Event] = list(run.parts.executor.opening(spec))
    child = opening[0].session_id if opening else None
    waiting = StepChanged(state="waiting", attempt=attempt.number, detail=ledger.scrubbed(why), usage=used)
    running = StepChanged(
        state="running", attempt=attempt.number, workspace=attempt.workspace, session_id=child,
        matrix=found.matrix, item=found.item,
    )  # fmt: skip
    events = [ledger.event(body, step=found.id) for body in (waiting, running)]
    await ledger.append(*events, *opening)
    run.catch_up()
    return replace(spec, session_id=child)
