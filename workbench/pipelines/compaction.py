"""Compaction: a full conversation becomes a checkpoint from which the step continues in a fresh one."""

# Relay moves a step over `waiting`. A full conversation ends its turn with `limit`; the summariser's
# session and the fresh one follow in the same attempt, each started in the transaction of `waiting` and
# `running`. A context of which nothing is known counts as 200,000 tokens; `relay.context_window` or the
# provider's `num_ctx` says better.

from typing import Final, cast

from msgspec.structs import replace

from workbench.agents.compaction import summary_prompt
from workbench.domain.events import Event, StepChanged
from workbench.domain.step_messages import StepOutcome, StepSpec
from workbench.domain.values import Json, Usage
from workbench.pipelines import artifacts
from workbench.pipelines.attempt import Attempt
from workbench.pipelines.executor import AttemptNotReady, OnStepEvent
from workbench.pipelines.model import ArtifactSpec
from workbench.pipelines.run_context import RunContext
from workbench.pipelines.step_agent import agent_facts, compaction_plan

MOST_COMPACTIONS: Final = 8
"""Compactions of one attempt: an agent that fills that many conversations gets nowhere."""
CHECKPOINT_NAME: Final = "checkpoint"
"""What the summariser's part of a step is called, and the artifact that it leaves."""
RELAY_PART: Final = "relay-"
"""How the parts are called in which a step continues from a checkpoint."""
_CONTINUATION_PROMPT: Final = """\
{prompt}

This work was begun before; the files in your folder are as it left them. Go on from this checkpoint and \
do not begin again:

{checkpoint}"""


def _summary_spec(attempt: Attempt, spec: StepSpec, transcript: str) -> StepSpec:
    values = attempt.values
    named = compaction_plan(attempt.step, attempt.context.manifest).persona
    name = values.persona_name(named or attempt.step.persona)
    facts = cast("dict[str, Json]", agent_facts(values, name)["persona"])
    return replace(
        spec, source=summary_prompt(transcript), id=spec.id.with_part(CHECKPOINT_NAME), session_id=None,
        keeps_output=True, title=f"{spec.title} · {CHECKPOINT_NAME}", relay_percent=0,
        persona={**facts, "deny": [["*", "a checkpoint needs no tools"]], "hooks": []},
    )  # fmt: skip


async def continue_after_compaction(
    context: RunContext,
    attempt: Attempt,
    spec: StepSpec,
    outcome: StepOutcome,
    on_event: OnStepEvent,
    started_at: float,
) -> StepOutcome:
    """Go on with a step from checkpoint to checkpoint until it ends otherwise."""
    prompt, deadline = spec.source, started_at + (spec.timeout_seconds or 0)
    for number in range(1, MOST_COMPACTIONS + 1):
        try:
            checkpoint, usage = await _write_checkpoint(
                context, attempt, _spec_with_time_left(context, spec, deadline), outcome, on_event
            )
            text = _CONTINUATION_PROMPT.format(prompt=prompt, checkpoint=checkpoint.strip())
            spec = replace(
                _spec_with_time_left(context, spec, deadline),
                source=text,
                id=spec.id.with_part(f"{RELAY_PART}{number}"),
                session_id=None,
            )
            spec = await _record_continuation(
                context, attempt, spec, "a fresh conversation goes on from the checkpoint", usage
            )
        except AttemptNotReady as error:
            return StepOutcome(state="failed", reason=str(error), is_retryable=False)
        outcome = await context.execute(spec, on_event)
        if not outcome.is_full:
            return outcome
    why = f"its conversation was full {MOST_COMPACTIONS + 1} times"
    return StepOutcome(state="failed", reason=why, is_retryable=False, usage=outcome.usage)


def _spec_with_time_left(context: RunContext, spec: StepSpec, deadline: float) -> StepSpec:
    return replace(spec, timeout_seconds=max(1.0, deadline - context.journal.monotonic()))


async def _write_checkpoint(
    context: RunContext, attempt: Attempt, spec: StepSpec, outcome: StepOutcome, on_event: OnStepEvent
) -> tuple[str, Usage]:
    journal = context.journal
    transcript = journal.unseal(outcome.transcript_ref) if outcome.transcript_ref else None
    summary_spec = _summary_spec(attempt, spec, (transcript or b"").decode("utf-8", "replace"))
    summary_spec = await _record_continuation(
        context, attempt, summary_spec, f"{outcome.reason}; a checkpoint is written", outcome.usage
    )
    summary = await context.execute(summary_spec, on_event)
    data = journal.unseal(summary.stdout_ref) if summary.stdout_ref else None
    if summary.state != "completed" or not data or not data.strip():
        raise AttemptNotReady(f"no checkpoint was written: {summary.reason or 'the summariser said nothing'}")
    output = ArtifactSpec(
        name=CHECKPOINT_NAME,
        path=f"{CHECKPOINT_NAME}.md",
        type="markdown",
    )
    stored = artifacts.seal_artifact(journal, output, data, attempt.number)
    await context.record(attempt.step_run.id, stored)
    return data.decode("utf-8", "replace"), summary.usage


async def _record_continuation(
    context: RunContext, attempt: Attempt, spec: StepSpec, why: str, usage: Usage
) -> StepSpec:
    """Record that the step continues in another conversation, and what the one before used."""
    journal, step_run = context.journal, attempt.step_run
    opening: list[Event] = list(context.executor.opening(spec))
    child_id = opening[0].session_id if opening else None
    waiting = StepChanged(state="waiting", attempt=attempt.number, detail=journal.scrubbed(why), usage=usage)
    running = StepChanged(
        state="running", attempt=attempt.number, workspace=attempt.workspace, session_id=child_id,
        matrix=step_run.matrix, item=step_run.item,
    )  # fmt: skip
    events = [journal.event(body, step=step_run.id) for body in (waiting, running)]
    await journal.append(*events, *opening)
    context.catch_up()
    return replace(spec, session_id=child_id)
