"""Steps that the coordinator settles itself: gates, routes and reworks.

A gate is a row of the approval queue; with `auto`, and with `default` once its time is over, the pipeline
answers it itself, and the record says so. A route chooses where the
run continues, also back, within limits.
"""

# An answer that leads back starts a later round from that step, in the same run: nothing has a move out of
# `completed`, and the gate asks again. What a human said stays readable for templates (`{{ gate.ID.text
# }}`).
#
# A failure that a route takes counts as completed for that route alone (`has_failed`): the step is
# `warned`, the run does not fail for it, and nothing else that needs the step starts.
#
# Going round has limits: `max_visits` (10), `max_step_visits`, a loop's `max_iterations` (after which it
# continues, as the program whose files these are does), and three failures in a row with the same words. A
# resume counts again.
#
# A rework step stands for the step that failed, as the program whose files these are documents it: its
# artifacts are that step's, which counts as completed and is not run again.
#

from typing import Final

from msgspec.structs import replace

from workbench.changes.digest import action_digest
from workbench.domain.events import ActionCancelled, ActionOpened, ArtifactStored, Event, StepChanged
from workbench.domain.rows import Action, run_title
from workbench.domain.values import NOBODY_ASKED, JsonObject
from workbench.pipelines import conditions, templates
from workbench.pipelines.artifacts import ArtifactMissing
from workbench.pipelines.attempt import Attempt, is_failure_routed
from workbench.pipelines.executor import AttemptNotReady
from workbench.pipelines.model import GateSpec, Route, RouteEdge, Step
from workbench.pipelines.run_context import RunContext
from workbench.pipelines.schedule import due_rework, has_reworked, ready_steps, reworks_of
from workbench.pipelines.state import StepRun, allowed_failures
from workbench.pipelines.step_order import COMPLETE_TARGET, END_TARGETS, FAIL_TARGET, ancestors, descendants
from workbench.pipelines.template_values import TemplateValues
from workbench.text.human import MINUTE_MICROS
from workbench.text.safe import one_line


async def settle_gates(run: RunContext) -> None:
    """Open the gates that are due and settle those that were decided."""
    steps = [step for step in run.open_steps.controls() if step.kind == "gate"]
    if not steps and not run.state.waiting:
        return
    for step_run in list(ready_steps(run.state, steps)):
        await _open_gate(run, run.step_of(step_run), step_run)
    for step_run in list(run.state.waiting.values()):
        if step_run.action_id is None or run.step_of(step_run).kind != "gate":
            continue
        action = run.latest_action(step_run.action_id)
        if action is not None and action.state != "pending":
            await _settle_decided_gate(run, run.step_of(step_run), step_run, action)
    run.catch_up()


async def _open_gate(run: RunContext, step: Step, step_run: StepRun) -> None:
    attempt = Attempt(run, step, step_run, step_run.attempt + 1)
    running_change = StepChanged(
        state="running", attempt=attempt.number, matrix=step_run.matrix, item=step_run.item
    )
    running = run.journal.event(running_change, step=step_run.id)
    gate = step.gate or GateSpec()
    if gate.type == "timer":
        await run.journal.append(running)
        _start_timer(run, step_run.id, gate.wait_seconds, attempt.number)
        return
    if gate.type == "approval" and (gate.is_auto or (gate.default and not run.can_ask)):
        why = "auto" if gate.is_auto else "default, nobody can answer here"
        await _answer_by_default(run, step, step_run, attempt.number, why)
        return
    failed = StepChanged(state="failed", attempt=attempt.number)
    try:
        if gate.type != "approval":
            raise AttemptNotReady(f"gates of type {gate.type} are not run here")
        spec = await attempt.ready()
        if not run.can_ask:
            failed = replace(failed, is_unanswered=True)
            raise AttemptNotReady("nobody can answer it here")
    except AttemptNotReady as error:
        failed = replace(failed, detail=run.journal.scrubbed(str(error)))
        await run.journal.append(running, *run.step_events(step_run.id, failed))
        return
    action_id = run.journal.new_id()
    waiting = StepChanged(state="waiting", attempt=attempt.number)
    await run.journal.append(
        running,
        run.journal.event(waiting, step=step_run.id, action_id=action_id),
        run.journal.event(
            _gate_opened_event(run, step_run, gate, spec.source), step=step_run.id, action_id=action_id
        ),
    )


def _start_timer(run: RunContext, step_id: str, seconds: float, attempt: int) -> None:
    async def complete() -> None:
        body = StepChanged(state="completed", attempt=attempt, duration_ms=round(seconds * 1000))
        await run.record(step_id, body)
        run.wake.set()

    run.timers.start(step_id, seconds, complete)


def _gate_opened_event(run: RunContext, step_run: StepRun, gate: GateSpec, prompt: str) -> ActionOpened:
    journal, words = run.journal, run.journal.scrubbed(prompt)
    failed = allowed_failures(run.state, run.pipeline)
    subject: JsonObject = {"run": journal.run_id, "pipeline": run_title(run.row), "step": step_run.id}
    if failed:
        subject = {**subject, "failed": journal.scrubbed("; ".join(failed))}
    now = journal.now()
    minutes = gate.window_minutes or run.window_minutes
    return ActionOpened(
        action_kind="gate", tool=None, target=words.splitlines()[0][:200] if words else step_run.id,
        digest=action_digest(
            journal.keyed, kind="gate", parameters=subject, cwd=run.definition.root, prompt=words,
            choices=gate.choices,
        ),
        created_at=now, expires_at=now + round(minutes * MINUTE_MICROS), verb="gate",
        cwd=run.definition.root, prompt=words, choices=gate.choices, subject=subject,
        warnings=("failed step",) if failed else (),
    )  # fmt: skip


async def _settle_decided_gate(run: RunContext, step: Step, step_run: StepRun, action: Action) -> None:
    gate, journal = step.gate or GateSpec(), run.journal
    if action.state == "expired" and gate.default:
        await _answer_by_default(run, step, step_run, step_run.attempt, "default, nobody answered in time")
        return
    target = gate.targets.get(action.choice or "")
    comment = f": {action.reason or action.text}" if action.reason or action.text else ""
    running = StepChanged(state="running", attempt=step_run.attempt)
    if (
        action.state == "approved"
        and target
        and target not in END_TARGETS
        and leads_back(run, step.id, target)
    ):
        await _return_from_gate(run, step_run, target)
        return
    if action.state == "approved" and target != FAIL_TARGET:
        events = run.step_events(
            step_run.id, running, StepChanged(state="completed", attempt=step_run.attempt)
        )
        rest = gate.targets.values() if target else ()
        others = {name for name in rest if name not in (target, *END_TARGETS)}
        await journal.append(*events, *skip_events(run, others, f"not chosen ({action.choice})"))
        return
    why = {
        "approved": f"the choice {action.choice} fails it",
        "rejected": f"rejected{comment}",
        "expired": "gate expired: nobody answered in time",
        "cancelled": f"the question was withdrawn{comment}",
    }.get(action.state, action.state)
    failed = StepChanged(
        state="failed", attempt=step_run.attempt, detail=journal.scrubbed(why),
        is_unanswered=is_unanswered(action),
    )  # fmt: skip
    await run.record(step_run.id, failed)


def is_unanswered(action: Action) -> bool:
    """Return whether a question expired, or was denied because no human could be asked."""
    return action.state == "expired" or (action.state == "rejected" and action.reason == NOBODY_ASKED)


async def _answer_by_default(run: RunContext, step: Step, step_run: StepRun, number: int, why: str) -> None:
    """End a gate with the pipeline's own choice; what it leads back to is bounded as for a route."""
    gate = step.gate or GateSpec()
    choice = gate.default or next((option.key for option in gate.choices), "")
    target = gate.targets.get(choice, "")
    detail = f"answered by the pipeline: {choice or 'yes'} ({why})"
    running = StepChanged(state="running", attempt=number, matrix=step_run.matrix, item=step_run.item)
    done = StepChanged(state="completed", attempt=number, detail=run.journal.scrubbed(detail), output=choice)
    more: list[Event] = []
    if target == FAIL_TARGET:
        done = replace(done, state="failed")
    elif target and target not in END_TARGETS and leads_back(run, step.id, target):
        try:
            reset = _repeat_within_limits(run, step, target)
            if any(run.state.steps[name].state in _ACTIVE_STATES for name in reset if name != step.id):
                return  # what is done again has to have ended; its end rings
            more = return_events(run, step_run.id, reset)
        except NoRoute as error:
            done = replace(done, state="failed", detail=run.journal.scrubbed(f"{detail}: {error}"))
    elif target:
        others = {name for name in gate.targets.values() if name not in (target, *END_TARGETS)}
        more = skip_events(run, others, f"not chosen ({choice})")
    await run.journal.append(*run.step_events(step_run.id, running, done), *more)
    run.catch_up()


async def _return_from_gate(run: RunContext, step_run: StepRun, target: str) -> None:
    """Start a later round from a step before the gate, which asks again in its turn."""
    reset = steps_to_repeat(run, target)
    if any(run.state.steps[name].state in ("running", "retrying") for name in reset):
        return  # what is done again has to have ended; its end rings
    moved = [StepChanged(state=state, attempt=step_run.attempt) for state in ("running", "completed")]
    events = run.step_events(step_run.id, *moved)
    await run.journal.append(*events, *return_events(run, step_run.id, reset))
    run.catch_up()


async def withdraw_gate(run: RunContext, step_run: StepRun) -> None:
    action = run.latest_action(step_run.action_id) if step_run.action_id else None
    if action is not None and action.state == "pending":
        body = ActionCancelled(why="the run was cancelled")
        await run.journal.append(run.journal.event(body, step=step_run.id, action_id=action.id))


MOST_SAME_FAILURES: Final = 3
"""Rounds in a row in which a step fails with the same words before nothing leads back to it any more."""
_ACTIVE_STATES: Final = ("running", "waiting", "retrying")


class NoRoute(ValueError):
    """A route leads nowhere; says why."""


async def settle_routes(run: RunContext) -> None:
    """Take the routes that are due."""
    steps = [step for step in run.open_steps.controls() if step.kind == "route"]
    for step_run in list(ready_steps(run.state, steps)):
        await _take_route(run, run.pipeline.step(step_run.id), step_run)
        run.catch_up()


async def _take_route(run: RunContext, step: Step, step_run: StepRun) -> None:
    route = step.route or Route(edges=())
    number = step_run.attempt + 1
    try:
        target = _chosen_target(run, step, route, step_run)
        is_back = leads_back(run, step.id, target)
        reset = _repeat_within_limits(run, step, target) if is_back else ()
    except (NoRoute, templates.UnresolvedTemplate, ArtifactMissing, conditions.BadCondition) as error:
        await record_end(run, step, number, StepChanged(state="failed", attempt=number, detail=str(error)))
        return
    if is_back and any(run.state.steps[name].state in _ACTIVE_STATES for name in reset):
        return  # what is done again has to have ended; its end rings
    done = StepChanged(state="completed", attempt=number, detail=f"→ {target}")
    if is_back:
        await record_end(run, step, number, done, *return_events(run, step.id, reset))
        return
    if target == FAIL_TARGET:
        why = "; ".join(_needs_failures(run, step)) or "its condition holds"
        failed = StepChanged(state="failed", attempt=number, detail=f"leads to {FAIL_TARGET}: {why}")
        await record_end(run, step, number, failed)
        return
    others = {e.target for e in route.edges if e.target not in (*END_TARGETS, target)}
    others = {name for name in others if not leads_back(run, step.id, name)}
    await record_end(run, step, number, done, *skip_events(run, others, f"{step.id} leads to {target}"))


async def record_end(run: RunContext, step: Step, number: int, end: StepChanged, *more: Event) -> None:
    """Record that a step that does no work of its own started and ended."""
    running = StepChanged(state="running", attempt=number)
    end = replace(end, detail=run.journal.scrubbed(end.detail))
    await run.journal.append(*run.step_events(step.id, running, end), *more)


def _chosen_target(run: RunContext, step: Step, route: Route, step_run: StepRun) -> str:
    if route.most and step_run.visits + 1 >= route.most:
        return COMPLETE_TARGET  # a loop ends after its last round, whatever holds
    values = Attempt(run, step, step_run, step_run.attempt + 1).values
    for edge in route.edges:
        if conditions.parse_condition(edge.condition).holds(
            lambda name: _condition_value(run, step, values, name)
        ):
            return edge.target
    raise NoRoute(f"no edge holds: {'; '.join(_failed_edges_text(run, step, route.edges))}")


def _failed_edges_text(run: RunContext, step: Step, edges: tuple[RouteEdge, ...]) -> list[str]:
    facts = [f"outcome={_needs_outcome(run, step)}", *_needs_failures(run, step)]
    return [*facts, f"asked was {', '.join(edge.condition for edge in edges)}"]


def _needs_outcome(run: RunContext, step: Step) -> str:
    failed = any(run.state.steps[need].outcome == "failure" for need in step.needs)
    return "failure" if failed else "success"


def _needs_failures(run: RunContext, step: Step) -> list[str]:
    steps = (run.state.steps[need] for need in step.needs)
    return [f"{step_run.id}: {step_run.last_failure}" for step_run in steps if step_run.outcome == "failure"]


def _condition_value(run: RunContext, step: Step, values: TemplateValues, name: str) -> str:
    """Return what a name of a condition stands for; `context.x` is a field of what came before."""
    if name == "outcome":
        return _needs_outcome(run, step)
    if not name.startswith("context."):
        return values.condition_operand(name)
    values_before = (
        values.condition_operand(f"{need}.output.{name.removeprefix('context.')}") for need in step.needs
    )
    return next(filter(None, values_before), "")


# --- ways back, which gates take as well --------------------------------------------------------------


def leads_back(run: RunContext, step: str, target: str) -> bool:
    """Return whether a target is before a step, or the step itself."""
    needs = {known_step.id: known_step.needs for known_step in run.pipeline.steps}
    return target == step or target in ancestors(step, needs)


def steps_to_repeat(run: RunContext, target: str) -> tuple[str, ...]:
    """Return the steps and items that a way back to a step does again."""
    needs = {step.id: step.needs for step in run.pipeline.steps}
    names = {target, *descendants(target, needs)}
    names |= reworks_of(names, run.pipeline.steps)
    return tuple(
        name
        for name, step_run in run.state.steps.items()
        if (name in names or step_run.matrix in names) and step_run.state != "pending"
    )


def return_events(run: RunContext, step: str, reset: tuple[str, ...]) -> list[Event]:
    """Return the event that starts a later round with these steps."""
    return [_round_event(run, step, tuple(dict.fromkeys((*reset, step))))]


def _round_event(run: RunContext, step: str, reset: tuple[str, ...]) -> Event:
    started = run.state.started
    assert started is not None
    return run.journal.event(
        replace(started, round=run.state.round + 1, reset=reset, kept=(), from_run="", returned_by=step)
    )


def skip_events(run: RunContext, steps: set[str], why: str) -> list[Event]:
    """Return the skips of the ways that were not taken."""
    return [
        run.journal.event(StepChanged(state="skipped", detail=run.journal.scrubbed(why)), step=name)
        for name in sorted(steps)
        if name in run.state.steps and run.state.steps[name].state == "pending"
    ]


def _repeat_within_limits(run: RunContext, step: Step, target: str) -> tuple[str, ...]:
    """Return what a way back repeats. Raises NoRoute after too many rounds or failures for one reason."""
    reset = steps_to_repeat(run, target)
    for name in reset:
        step_run = run.state.steps[name]
        most = run.step_of(step_run).max_visits
        if step_run.visits + 1 >= most:
            raise NoRoute(f"{name} was done {step_run.visits + 1} times; max_visits is {most}")
        if step_run.same_failures >= MOST_SAME_FAILURES:
            raise NoRoute(
                f"{name} failed {step_run.same_failures} times in the same way: {step_run.last_failure}"
            )
    most = run.pipeline.max_step_visits
    total = sum(step_run.visits + (step_run.state != "pending") for step_run in run.state.steps.values())
    if most and total >= most:
        raise NoRoute(f"its steps were done {total} times in all; max_step_visits is {most}")
    return (*reset, step.id)


# --- steps that another does instead --------------------------------------------------------------------


async def settle_reworks(run: RunContext) -> None:
    """End the failed steps whose rework step has run for them, with its artifacts as theirs.

    A rework step that ran for another step only starts again, in a later round.
    """
    shared: dict[str, str] = {}
    for step in run.open_steps.current():
        step_run = run.state.steps[step.id]
        rework = run.state.steps.get(due_rework(step_run, step))
        if rework is not None and has_reworked(rework, step_run):
            await _settle_rework(run, step, step_run, rework)
        elif rework is not None and rework.has_ended:
            shared.setdefault(rework.id, step.id)
    run.catch_up()
    for rework_id, step_id in shared.items():
        await run.journal.append(_round_event(run, step_id, (rework_id,)))
        run.catch_up()


async def _settle_rework(run: RunContext, step: Step, step_run: StepRun, rework: StepRun) -> None:
    end = StepChanged(
        state="completed", attempt=step_run.attempt, duration_ms=step_run.working_ms,
        detail=f"{rework.id} did it instead after: {one_line(step_run.detail, 400)}",
        output=rework.printed, output_ref=rework.printed_ref,
    )  # fmt: skip
    stored: list[Event] = []
    if rework.is_done and not rework.has_failed:
        bodies = _stand_in_artifacts(step, list(rework.artifacts.values()))
        stored = [run.journal.event(replace(body, attempt=step_run.attempt), step=step.id) for body in bodies]
    else:
        why = f"{step_run.detail}\n{rework.id}, its rework step, {rework.state}: {rework.detail}"
        is_taken = is_failure_routed(step, run.pipeline)
        state = "completed" if is_taken else "failed"
        end = replace(end, state=state, detail=why, is_warned=is_taken, has_failed=is_taken)
    running = StepChanged(state="running", attempt=step_run.attempt, duration_ms=step_run.working_ms)
    end = replace(end, detail=run.journal.scrubbed(end.detail))
    running_event, end_event = run.step_events(step.id, running, end)
    await run.journal.append(running_event, *stored, end_event)


def _stand_in_artifacts(step: Step, stored: list[ArtifactStored]) -> list[ArtifactStored]:
    """Return the artifacts of a rework step, also by the names that the failed step declares."""
    names = {artifact.name for artifact in stored}
    others = [output for output in step.outputs if output.name not in names]
    same = [
        replace(artifact, name=output.name)
        for output in others
        for artifact in stored
        if artifact.path == output.path or len(stored) == len(step.outputs) == 1
    ]
    return [*same, *stored]
