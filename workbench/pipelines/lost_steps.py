"""Steps whose process was lost: a person says whether they run again, are done, or failed.

The question is a row of the queue like that of a gate. Nothing runs again without that word: retries,
`on_failure` and rework steps of the file are for failures, and how a lost step ended is not known.
"""

from collections.abc import Iterator
from typing import Final

from workbench.changes.digest import action_digest
from workbench.domain.events import ActionCancelled, ActionOpened, Event, StepChanged
from workbench.domain.rows import Action, run_title
from workbench.domain.step_messages import StepOutcome
from workbench.domain.values import Choice, JsonObject
from workbench.pipelines import control_steps
from workbench.pipelines.attempt import Attempt
from workbench.pipelines.model import Step
from workbench.pipelines.run_context import RunContext
from workbench.pipelines.state import StepRun
from workbench.text.human import MINUTE_MICROS

AGAIN: Final = "again"
DONE: Final = "done"
FAILED: Final = "failed"
CHOICES: Final = (
    Choice(key=FAILED, label="It failed"),  # the first one is chosen until another one is
    Choice(key=DONE, label="It is done"),
    Choice(key=AGAIN, label="Run it again"),
)
_UNKNOWN: Final = "its process was lost while it ran, and how it ended is not known"
_SHOWN_LINES: Final = 8


def question_events(run: RunContext, attempt: Attempt, outcome: StepOutcome, spent_ms: int) -> list[Event]:
    """Return the events of a lost step: a question, or a failure in a run without anyone to ask."""
    journal, step_id = run.journal, attempt.step_run.id
    waiting = StepChanged(
        state="waiting", attempt=attempt.number, duration_ms=spent_ms, usage=outcome.usage,
        detail=journal.scrubbed(_reason(outcome)), output=outcome.output, output_ref=outcome.output_ref,
        output_bytes=outcome.output_bytes,
    )  # fmt: skip
    if not run.can_ask:
        why = f"{waiting.detail}; nobody can answer here"
        failed = StepChanged(
            state="failed", attempt=attempt.number, duration_ms=spent_ms, detail=why, is_unanswered=True
        )
        return run.step_events(step_id, waiting, failed)
    action_id = journal.new_id()
    return [
        journal.event(waiting, step=step_id, action_id=action_id),
        journal.event(_question(run, attempt.step_run, outcome), step=step_id, action_id=action_id),
    ]


def _reason(outcome: StepOutcome) -> str:
    return f"{_UNKNOWN}: {outcome.reason}" if outcome.reason else _UNKNOWN


def _question(run: RunContext, step_run: StepRun, outcome: StepOutcome) -> ActionOpened:
    journal = run.journal
    words = journal.scrubbed("\n".join(_prompt_lines(run.step_of(step_run), step_run.id, outcome)))
    subject: JsonObject = {"run": journal.run_id, "pipeline": run_title(run.row), "step": step_run.id}
    now = journal.now()
    return ActionOpened(
        action_kind="gate", tool=None, target=words.partition("\n")[0][:200], verb="gate",
        digest=action_digest(
            journal.keyed, kind="gate", parameters=subject, cwd=run.definition.root, prompt=words,
            choices=CHOICES,
        ),
        created_at=now, expires_at=now + round(run.window_minutes * MINUTE_MICROS), cwd=run.definition.root,
        prompt=words, choices=CHOICES, subject=subject,
    )  # fmt: skip


def _prompt_lines(step: Step, step_id: str, outcome: StepOutcome) -> Iterator[str]:
    yield f"{step_id} was running when its process was lost; how it ended is not known"
    if outcome.reason:
        yield outcome.reason
    command = step.source.strip().splitlines() if step.kind == "command" else []
    if command:
        more = ["…"] if len(command) > _SHOWN_LINES else []
        yield from ("", "Its command:", *command[:_SHOWN_LINES], *more)
    lines = [line for line in outcome.output.splitlines() if line.strip()][-_SHOWN_LINES:]
    if lines:
        yield from ("", "It printed last:", *lines)


def is_lost(run: RunContext, step_run: StepRun) -> bool:
    """Return whether a step waits because its process was lost."""
    is_asked = step_run.state == "waiting" and step_run.action_id is not None
    return is_asked and run.step_of(step_run).kind != "gate"


def answer_to(run: RunContext, step_run: StepRun) -> str:
    """Return the choice of a person about a lost step; empty until there is one, and where it fails."""
    action = run.latest_action(step_run.action_id or "") if is_lost(run, step_run) else None
    is_chosen = action is not None and action.state == "approved" and action.choice in (AGAIN, DONE)
    return action.choice or "" if action is not None and is_chosen else ""


def done_outcome(step_run: StepRun) -> StepOutcome:
    """Return the outcome of a lost step that a person counts as done."""
    return StepOutcome(state="completed", output=step_run.printed, output_ref=step_run.printed_ref)


async def settle_lost_steps(run: RunContext) -> None:
    """Fail the lost steps whose question was answered so, expired, or cannot be answered here."""
    for step_run in [step_run for step_run in run.state.waiting.values() if is_lost(run, step_run)]:
        action = run.latest_action(step_run.action_id or "")
        if action is None or answer_to(run, step_run):
            continue
        if action.state != "pending":
            why = _failure_reason(action)
            await _fail(run, step_run, why, is_unanswered=control_steps.is_unanswered(action))
        elif not run.can_ask:
            withdrawn = ActionCancelled(why="nobody can answer here")
            event = run.journal.event(withdrawn, step=step_run.id, action_id=action.id)
            await _fail(run, step_run, "nobody can answer here", event, is_unanswered=True)
    run.catch_up()


def _failure_reason(action: Action) -> str:
    comment = f": {action.reason or action.text}" if action.reason or action.text else ""
    return {
        "approved": f"a person said that it failed{comment}",
        "rejected": f"a person said that it failed{comment}",
        "expired": "nobody said in time how it ended",
        "cancelled": "the question was withdrawn",
    }.get(action.state, action.state)


async def _fail(run: RunContext, step_run: StepRun, why: str, *before: Event, is_unanswered: bool) -> None:
    failed = StepChanged(
        state="failed", attempt=step_run.attempt, duration_ms=step_run.working_ms,
        detail=run.journal.scrubbed(f"{_UNKNOWN}; {why}"), output=step_run.printed,
        output_ref=step_run.printed_ref, is_unanswered=is_unanswered,
    )  # fmt: skip
    await run.journal.append(*before, *run.step_events(step_run.id, failed))
