"""What the end of an attempt means: completed, tried again, or one of the words of `on_failure`.

Pure but for the times and ids that the ledger gives to events.
"""

import itertools
from dataclasses import replace

from workbench.domain.events import Event
from workbench.domain.runs import StepChanged, StepId, StepSpec
from workbench.pipelines import expanding
from workbench.pipelines.attempt import Attempt, Result
from workbench.pipelines.executor import Ledger
from workbench.pipelines.model import Failing, Pipeline, Step
from workbench.pipelines.state import RunState, StepRun
from workbench.text.safe import one_line


def step_id(run: str, found: StepRun) -> StepId:
    """Return the id of a step's present attempt."""
    return StepId(run=run, step=found.id, attempt=max(1, found.attempt))


def delay(step: Step, found: StepRun) -> float:
    """Return the seconds to wait before the next attempt."""
    policy = step.failing
    if policy.delay_seconds <= 0 or not found.failures:
        return 0.0
    before = found.failures - 1
    growth = before + 1 if policy.is_linear else policy.delay_factor**before
    return min(policy.most_delay_seconds, policy.delay_seconds * growth)


def with_session(spec: StepSpec, found: StepRun | None) -> StepSpec:
    """Return a spec with the child session that the step's move to running made."""
    return replace(spec, session_id=found.session_id) if found and found.session_id else spec


def too_long(spec: StepSpec) -> str:
    """Return why an attempt was ended by the clock."""
    minutes = (spec.timeout_seconds or 0) / 60
    return f"it worked longer than it may ({minutes:g} min left at its start) and was ended"


def allowed(state: RunState, pipeline: Pipeline) -> list[str]:
    """Return a sentence for each step that failed and with which the run goes on."""
    policies = {step.id: step.failing.then for step in pipeline.steps}
    failed = [
        found for found in state.steps.values() if found.has_ended and (found.is_warned or found.has_failed)
    ]
    matrices = {found.matrix for found in failed if found.matrix}
    return [
        _allowed(found, policies.get(found.matrix or found.id, "fail"))
        for found in failed
        if found.id not in matrices
    ]


def _allowed(found: StepRun, policy: str) -> str:
    reasons = {"warn": "on_failure: warn", "continue": "on_failure: continue", "skip": "on_failure: skip"}
    reason = (
        "a route that takes failures" if found.has_failed else reasons.get(policy, "a check that may fail")
    )
    code = f"exit {found.exit_code}" if found.exit_code else one_line(found.detail.split("\n", 1)[0], 160)
    return f"{one_line(found.id, 80)} failed{f': {code}' if code else ''} (allowed by {reason})"


def ending(ledger: Ledger, attempt: Attempt, result: Result, spent: int) -> list[Event]:
    """Return P4: contracts, artifacts and the step's move, for one transaction."""
    body = _moved(attempt, result, spent, ledger)
    events = [ledger.event(check, step=attempt.found.id) for check in result.contracts]
    if body.state in ("completed", "completed_empty"):
        events += [ledger.event(stored, step=attempt.found.id) for stored in result.artifacts]
    return [*events, ledger.event(body, step=attempt.found.id)]


def _moved(attempt: Attempt, result: Result, spent: int, ledger: Ledger) -> StepChanged:
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
        return replace(plain, state=state, is_warned=is_warned, detail=ledger.scrubbed(detail))
    policy, why_text = attempt.step.failing, ledger.scrubbed(result.failure)
    if result.failed_contract is not None and result.failed_contract.then:
        policy = replace(policy, then=result.failed_contract.then)
    if result.is_retryable and attempt.tried < policy.attempts:
        return replace(plain, state="retrying", detail=why_text)
    if policy.then == "rework" and attempt.tried == policy.attempts:
        return replace(plain, state="retrying", detail=why_text)
    return _given_up(plain, result, policy, why_text, is_taken=is_taken(attempt.step, attempt.parts.pipeline))


def is_taken(step: Step, pipeline: Pipeline) -> bool:
    """Return whether a route goes on from the failure of a step."""
    return step.id in expanding.taken(pipeline.steps)


def _given_up(
    plain: StepChanged, result: Result, policy: Failing, why: str, *, is_taken: bool
) -> StepChanged:
    must_pass = result.failed_contract is None or result.failed_contract.must_pass
    if policy.then in ("warn", "continue") or not must_pass:
        return replace(plain, state="completed", is_warned=True, detail=why)
    if is_taken:
        return replace(plain, state="completed", is_warned=True, has_failed=True, detail=why)
    # `skip`: the run does not fail for it, and what needs it is skipped.
    return replace(plain, state="failed", is_warned=policy.then == "skip", detail=why)
