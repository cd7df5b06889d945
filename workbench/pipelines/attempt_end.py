"""What follows an attempt: completion, a retry, or the step's failure policy."""

import itertools

from msgspec.structs import replace

from workbench.domain.events import Event, StepChanged
from workbench.domain.messages import StepId
from workbench.pipelines import step_order
from workbench.pipelines.attempt import Attempt, AttemptResult
from workbench.pipelines.executor import RunJournal
from workbench.pipelines.model import FailurePolicy, Pipeline, Step
from workbench.pipelines.state import RunState, StepRun
from workbench.text.safe import one_line


def attempt_step_id(run: str, step_run: StepRun) -> StepId:
    """Return the id of a step's present attempt."""
    return StepId(run=run, step=step_run.id, attempt=max(1, step_run.attempt))


def retry_delay(step: Step, step_run: StepRun) -> float:
    """Return the seconds to wait before the next attempt."""
    policy = step.failing
    if policy.delay_seconds <= 0 or not step_run.failures:
        return 0.0
    before = step_run.failures - 1
    growth = before + 1 if policy.is_linear else policy.delay_factor**before
    return min(policy.most_delay_seconds, policy.delay_seconds * growth)


def allowed_failures(state: RunState, pipeline: Pipeline) -> list[str]:
    """Return a sentence for each step that failed and with which the run goes on."""
    policies = {step.id: step.failing.then for step in pipeline.steps}
    failed = [
        step_run
        for step_run in state.steps.values()
        if step_run.has_ended and (step_run.is_warned or step_run.has_failed)
    ]
    matrices = {step_run.matrix for step_run in failed if step_run.matrix}
    return [
        _allowed_failure(step_run, policies.get(step_run.matrix or step_run.id, "fail"))
        for step_run in failed
        if step_run.id not in matrices
    ]


def _allowed_failure(step_run: StepRun, policy: str) -> str:
    reasons = {"warn": "on_failure: warn", "continue": "on_failure: continue", "skip": "on_failure: skip"}
    reason = (
        "a route that takes failures" if step_run.has_failed else reasons.get(policy, "a check that may fail")
    )
    code = (
        f"exit {step_run.exit_code}"
        if step_run.exit_code
        else one_line(step_run.detail.split("\n", 1)[0], 160)
    )
    return f"{one_line(step_run.id, 80)} failed{f': {code}' if code else ''} (allowed by {reason})"


def attempt_end_events(
    journal: RunJournal, attempt: Attempt, result: AttemptResult, spent: int
) -> list[Event]:
    """Return P4: contracts, artifacts and the step's move, for one transaction."""
    body = _end_change(attempt, result, spent, journal)
    events = [journal.event(check, step=attempt.step_run.id) for check in result.contracts]
    if body.state in ("completed", "completed_empty"):
        events += [journal.event(stored, step=attempt.step_run.id) for stored in result.artifacts]
    return [*events, journal.event(body, step=attempt.step_run.id)]


def _end_change(attempt: Attempt, result: AttemptResult, spent: int, journal: RunJournal) -> StepChanged:
    outcome = result.outcome
    plain = StepChanged(
        state="completed", attempt=attempt.number, duration_ms=spent, exit_code=outcome.exit_code,
        usage=outcome.usage, output=outcome.output, output_ref=outcome.output_ref,
        output_bytes=outcome.output_bytes,
    )  # fmt: skip
    if not result.failure:
        is_warned = any(check.outcome == "warned" for check in result.contracts)
        warned = (c for c in result.contracts if c.outcome == "warned")
        said = [f"contract {c.contract}: {'; '.join(c.problems)}" for c in itertools.islice(warned, 1)]
        detail = "; ".join((*said, *result.details))
        state = "completed_empty" if result.is_empty else "completed"
        return replace(plain, state=state, is_warned=is_warned, detail=journal.scrubbed(detail))
    policy, why_text = attempt.step.failing, journal.scrubbed(result.failure)
    if result.failed_contract is not None and result.failed_contract.then:
        policy = replace(policy, then=result.failed_contract.then)
    if result.is_retryable and attempt.tried < policy.attempts:
        return replace(plain, state="retrying", detail=why_text)
    if policy.then == "rework" and attempt.tried == policy.attempts:
        return replace(plain, state="retrying", detail=why_text)
    return _final_failure(
        plain, result, policy, why_text, is_taken=is_failure_routed(attempt.step, attempt.context.pipeline)
    )


def is_failure_routed(step: Step, pipeline: Pipeline) -> bool:
    """Return whether a route goes on from the failure of a step."""
    return step.id in step_order.steps_with_routed_failure(pipeline.steps)


def _final_failure(
    plain: StepChanged, result: AttemptResult, policy: FailurePolicy, why: str, *, is_taken: bool
) -> StepChanged:
    must_pass = result.failed_contract is None or result.failed_contract.must_pass
    if policy.then in ("warn", "continue") or not must_pass:
        return replace(plain, state="completed", is_warned=True, detail=why)
    if is_taken:
        return replace(plain, state="completed", is_warned=True, has_failed=True, detail=why)
    # `skip`: the run does not fail for it, and what needs it is skipped.
    return replace(plain, state="failed", is_warned=policy.then == "skip", detail=why)
