"""Runs and steps as JSON and as rows.

Owns their words on the command line. What they are is said by `views.pipeline` and the rows themselves.
"""

from collections.abc import Mapping
from typing import Final

from workbench.cli.render.facts import Facts
from workbench.cli.signs import Meaning, Signs
from workbench.domain.machines import DONE_STEPS
from workbench.domain.rows import PipelineState, StepState
from workbench.text.human import duration, iso
from workbench.text.safe import one_line
from workbench.views.pipeline import run_title

MEANINGS: Final[Mapping[str, Meaning]] = {
    "queued": "todo", "pending": "todo", "ready": "todo", "running": "running", "waiting": "waiting",
    "retrying": "running", "completed": "ok", "completed_empty": "ok", "warned": "failed", "failed": "failed",
    "skipped": "cancelled", "cancelled": "cancelled",
}  # fmt: skip


WORDS: Final[Mapping[str, str]] = {"warned": "failed, goes on"}
"""Words of states that say more than their name."""


def step_state(state: str, *, is_warned: bool, has_failed: bool = False) -> str:
    """Return how a step stands: `warned` failed, and its run goes on."""
    return "warned" if (is_warned or has_failed) and state in DONE_STEPS else state


def run_facts(run: PipelineState) -> Facts:
    """Return a run as JSON."""
    return {
        "run_id": run.pipeline_id, "pipeline_id": run.pipeline_id, "pipeline": run.pipeline_name,
        "number": run.number, "status": run.status, "file": run.file, "input": run.input,
        "round": run.round, "created_at": iso(run.created_at), "updated_at": iso(run.updated_at),
        "started_at": _moment(run.started_at), "finished_at": _moment(run.finished_at),
        "duration_ms": run.duration_ms, "error_message": run.error_message,
        "input_tokens": run.usage.input_tokens, "output_tokens": run.usage.output_tokens,
    }  # fmt: skip


def step_facts(step: StepState) -> Facts:
    """Return a step as JSON."""
    return {
        "step_id": step.step_id, "pipeline_id": step.pipeline_id, "state": step.state, "kind": step.kind,
        "persona": step.persona, "matrix": step.matrix or None, "attempt": step.attempt,
        "retry_count": step.retry_count, "warned": step.is_warned, "contract": step.contract,
        "started_at": _moment(step.started_at), "completed_at": _moment(step.completed_at),
        "duration_ms": step.duration_ms, "workspace_path": step.workspace_path,
        "session_id": step.session_id, "action_id": step.action_id if step.state == "waiting" else None,
        "exit_code": step.exit_code, "error_message": step.error_message,
        "input_tokens": step.usage.input_tokens, "output_tokens": step.usage.output_tokens,
    }  # fmt: skip


def run_row(run: PipelineState, signs: Signs, now: int) -> str:
    """Return a run as a row: sign, title, status, id, working time, when, why it failed."""
    age = duration(max(0, now - run.created_at) / 1_000_000)
    why = f"  {one_line(run.error_message, 80)}" if run.error_message else ""
    took = duration(run.duration_ms / 1000) if run.duration_ms else ""
    title = run_title(run)
    sign, run_id = signs.of(MEANINGS[run.status]), run.pipeline_id[:8]
    return f"{sign} {title:<28} {run.status:<10} {run_id}  {took:>9}  {age} ago{why}"


def step_row(step: StepState, signs: Signs) -> str:
    """Return a step as a row: sign, id, state, working time, attempt, contract, why it failed."""
    state = step_state(step.state, is_warned=step.is_warned)
    word = WORDS.get(state, state.replace("_", " "))
    took = duration(step.duration_ms / 1000) if step.duration_ms else ""
    tried = f" attempt {step.attempt}" if step.attempt > 1 else ""
    contract = f" contract {step.contract.replace('_', ' ')}" if step.contract else ""
    why = f"  {one_line(step.error_message, 160)}" if step.error_message else ""
    indent = "    " if step.matrix else "  "
    sign = signs.of(MEANINGS[state])
    return f"{indent}{sign} {step.step_id:<26} {word:<10} {took:>9}{tried}{contract}{why}"


def _moment(at: int | None) -> str | None:
    return None if at is None else iso(at)
