"""Gates: a row of the queue that is a step. Opened when the step is due, settled by what a human decides.

Owns the words of a gate's row and what an answer means for the steps behind it. A gate that expired never
takes a default.
"""

from typing import TYPE_CHECKING

from workbench.changes.digest import action_digest
from workbench.domain.events import ActionCancelled, ActionOpened
from workbench.domain.rows import Action
from workbench.domain.runs import StepChanged
from workbench.domain.values import JsonObject
from workbench.pipelines import due, failing, routes
from workbench.pipelines.attempt import Attempt, NotReady
from workbench.pipelines.expanding import ENDS, FAIL
from workbench.pipelines.model import GateSpec, Step
from workbench.pipelines.state import StepRun
from workbench.views.pipeline import run_title

if TYPE_CHECKING:
    from workbench.pipelines.coordinator import Coordinator


async def settle(run: "Coordinator") -> None:
    """Open the gates that are due and settle those that were decided."""
    steps = [step for step in run.frontier.open() if step.kind == "gate"]
    if not steps and not run.state.waiting:
        return
    for found in list(due.ready(run.state, steps)):
        await _open(run, run.pipeline.step(due.base(found.id, run.state)), found)
    for found in list(run.state.waiting.values()):
        if found.action_id is None:
            continue
        action = _latest(run, found.action_id)
        if action is not None and action.state != "pending":
            await _decided(run, run.pipeline.step(due.base(found.id, run.state)), found, action)
    run.catch_up()


def _latest(run: "Coordinator", action_id: str) -> Action | None:
    """Return the action that stands for a gate now: an extension supersedes the one it opened."""
    action = run.ledger.action(action_id)
    while action is not None and action.state == "superseded" and action.successor:
        action = run.ledger.action(action.successor)
    return action


async def _open(run: "Coordinator", step: Step, found: StepRun) -> None:
    attempt = Attempt(run.parts, step, found, found.attempt + 1)
    running = run.ledger.event(
        StepChanged(state="running", attempt=attempt.number, matrix=found.matrix, item=found.item),
        step=found.id,
    )
    gate = step.gate or GateSpec()
    if gate.type == "timer":
        await run.ledger.append(running)
        run.wait_for(found.id, gate.wait_seconds, attempt.number)
        return
    try:
        if gate.type != "approval":
            raise NotReady(f"gates of type {gate.type} are not run here")
        spec = await attempt.ready()
    except NotReady as error:
        failed = StepChanged(state="failed", attempt=attempt.number, detail=run.ledger.scrubbed(str(error)))
        await run.ledger.append(running, run.ledger.event(failed, step=found.id))
        return
    if not run.options.can_ask:
        failed = StepChanged(state="failed", attempt=attempt.number, detail="nobody can answer it here")
        await run.ledger.append(running, run.ledger.event(failed, step=found.id))
        return
    action_id = run.ledger.new_id()
    waiting = StepChanged(state="waiting", attempt=attempt.number)
    await run.ledger.append(
        running,
        run.ledger.event(waiting, step=found.id, action_id=action_id),
        run.ledger.event(_opened(run, found, gate, spec.source), step=found.id, action_id=action_id),
    )


def _opened(run: "Coordinator", found: StepRun, gate: GateSpec, prompt: str) -> ActionOpened:
    ledger, words = run.ledger, run.ledger.scrubbed(prompt)
    failed = failing.allowed(run.state, run.pipeline)
    subject: JsonObject = {"run": ledger.run_id, "pipeline": run_title(run.parts.row), "step": found.id}
    if failed:
        subject = {**subject, "failed": ledger.scrubbed("; ".join(failed))}
    now = ledger.now()
    minutes = gate.window_minutes or run.options.window_minutes
    return ActionOpened(
        action_kind="gate", tool=None, target=words.splitlines()[0][:200] if words else found.id,
        digest=action_digest(
            ledger.keyed, kind="gate", parameters=subject, cwd=run.parts.definition.root, prompt=words,
            choices=gate.choices,
        ),
        created_at=now, expires_at=now + round(minutes * 60_000_000), verb="gate",
        cwd=run.parts.definition.root, prompt=words, choices=gate.choices, subject=subject,
        warnings=("failed step",) if failed else (),
    )  # fmt: skip


async def _decided(run: "Coordinator", step: Step, found: StepRun, action: Action) -> None:
    gate, ledger = step.gate or GateSpec(), run.ledger
    target = gate.targets.get(action.choice or "")
    said = f": {action.reason or action.text}" if action.reason or action.text else ""
    running = StepChanged(state="running", attempt=found.attempt)
    if (
        action.state == "approved"
        and target
        and target not in ENDS
        and routes.leads_back(run, step.id, target)
    ):
        await _back(run, found, target)
        return
    if action.state == "approved" and target != FAIL:
        bodies = [running, StepChanged(state="completed", attempt=found.attempt)]
        rest = gate.targets.values() if target else ()
        others = {one for one in rest if one not in (target, *ENDS)}
        events = [ledger.event(body, step=found.id) for body in bodies]
        await ledger.append(*events, *routes.not_chosen(run, others, f"not chosen ({action.choice})"))
        return
    why = {
        "approved": f"the choice {action.choice} fails it",
        "rejected": f"rejected{said}",
        "expired": "gate expired: nobody answered in time",
        "cancelled": f"the question was withdrawn{said}",
    }.get(action.state, action.state)
    failed = StepChanged(state="failed", attempt=found.attempt, detail=ledger.scrubbed(why))
    await ledger.append(ledger.event(failed, step=found.id))


async def _back(run: "Coordinator", found: StepRun, target: str) -> None:
    """Begin a later round from a step before the gate, which asks again when its turn comes."""
    reset = routes.again(run, target)
    if any(run.state.steps[name].state in ("running", "retrying") for name in reset):
        return  # what is done again has to have ended; its end rings
    moved = [StepChanged(state=state, attempt=found.attempt) for state in ("running", "completed")]
    events = [run.ledger.event(body, step=found.id) for body in moved]
    await run.ledger.append(*events, *routes.back(run, found.id, reset))
    run.catch_up()


async def withdraw(run: "Coordinator", found: StepRun) -> None:
    """Withdraw the row of a gate that waits."""
    action = _latest(run, found.action_id) if found.action_id else None
    if action is not None and action.state == "pending":
        body = ActionCancelled(why="the run was cancelled")
        await run.ledger.append(run.ledger.event(body, step=found.id, action_id=action.id))
