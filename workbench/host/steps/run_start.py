"""Start a run or continue it: what is sealed, which steps are kept, what a dead driver left.

JOURNAL section 3, P1. A run that lost its driver continues only after a human's word.
"""

import asyncio
import json
import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.events import (
    ActionCancelled,
    ErrorRaised,
    Event,
    RunChanged,
    RunRequested,
    RunStarted,
    SessionStatusChanged,
    StepChanged,
)
from workbench.domain.rows import Session
from workbench.domain.values import BlobRef
from workbench.effects.fault_points import fault_point
from workbench.effects.git import GitFailed, run_git
from workbench.effects.path_files import private_folder
from workbench.host.driver_context import STEP_WORKSPACES_FOLDER, DriverContext, RunWriter
from workbench.host.steps import agent_step
from workbench.host.steps.run_requests import (
    RunRefused,
    RunRequest,
    kept_steps,
    load_requested_pipeline,
    require_runnable_pipeline,
)
from workbench.host.workspace_trust import is_trusted
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverIdentity, is_lease_live
from workbench.journal.session_queries import pending_action_ids
from workbench.pipelines.attempt import attempt_step_id
from workbench.pipelines.contracts import InputRefused, check_input
from workbench.pipelines.executor import StepExecutor
from workbench.pipelines.model import Manifest, Pipeline
from workbench.pipelines.repository_checks import RepositoryChecks, read_code_host
from workbench.pipelines.run_context import RunDefinition, define_run
from workbench.pipelines.schedule import due_rework, has_reworked, reworks_of
from workbench.pipelines.state import RunState, StepRun, fold_run
from workbench.pipelines.step_order import descendants, step_plans
from workbench.text.human import iso_time

RunContinuation = Literal["new", "again", "on", "lost", "over"]
"""A first round; a later one; the same round goes on; its driver is lost and nobody spoke; it is over."""


class StartedRun(Struct, frozen=True, kw_only=True):
    """A run that may be driven."""

    definition: RunDefinition
    pipeline: Pipeline
    manifest: Manifest | None
    state: RunState
    base: str
    """Its private folder of workspaces."""
    next_round: RunStarted | None = None
    """Of a run that a human continued: its later round, which does not say yet which steps start again."""
    is_first: bool = False
    """Nothing of it ran before."""
    changed: frozenset[str] = frozenset()
    """Steps of the round before that its files no longer have, or have in another form."""


def run_continuation(state: RunState, pending: int) -> RunContinuation:
    """Return how a run without a driver may continue, with `pending` questions of its steps open."""
    if state.request is None or state.status == "completed":
        return "over"
    is_ended = state.status in ("failed", "cancelled")
    if is_ended and (state.is_cancel_last or not state.is_continue_requested):
        return "over"
    if state.round == 0:
        return "new"
    if state.is_cancel_last:
        return "on"
    if state.is_continue_requested:
        return "again"
    if state.status == "waiting" or (state.reason == "parked" and state.is_lease_released):
        return "on"
    return "lost" if not pending or state.status == "running" else "on"


async def start_run(context: DriverContext, writer: RunWriter, state: RunState) -> StartedRun | None:
    """Begin a run or read what continues it; None if it cannot, which the journal says."""
    continuation = run_continuation(state, len(writer.pending(writer.run_id)))
    if continuation in ("lost", "over"):
        if continuation == "lost" and state.session_status != "paused":
            lost = SessionStatusChanged(status="paused", reason="host lost")
            await writer.append(writer.event(lost))
        return None
    if continuation == "new" and state.is_cancel_last:
        await _end_unstarted(writer, state)
        return None
    try:
        if continuation == "new":
            return await _start_first_round(context, writer, state)
        return await _continue_run(context, writer, state, is_new_round=continuation == "again")
    except RunRefused as error:
        await _record_refusal(writer, state, str(error))
        return None


async def _end_unstarted(writer: RunWriter, state: RunState) -> None:
    """End a run that was cancelled before its first step."""
    events = [writer.event(body) for body in _moves_to_ready(state)]
    why = writer.scrubbed(state.cancel_reason or "it was cancelled")
    events.append(writer.event(RunChanged(status="cancelled", detail=why)))
    await writer.append(*events, writer.event(SessionStatusChanged(status="paused", reason="run ended")))


async def _record_refusal(writer: RunWriter, state: RunState, why: str) -> None:
    events = [writer.event(body) for body in _moves_to_ready(state)]
    if state.status == "queued":
        events.append(writer.event(RunChanged(status="failed", detail=writer.scrubbed(why))))
    else:
        events.append(writer.event(ErrorRaised(code="not_continued", message=writer.scrubbed(why))))
    paused = SessionStatusChanged(status="paused", reason="run ended")
    await writer.append(*events, writer.event(paused))


def _moves_to_ready(state: RunState) -> list[SessionStatusChanged]:
    words = {"created": ("initializing", "ready"), "initializing": ("ready",), "paused": ("ready",)}
    return [
        SessionStatusChanged(status="initializing" if word == "initializing" else "ready")
        for word in words.get(state.session_status, ())
    ]


def _moves_to_processing(state: RunState) -> list[SessionStatusChanged]:
    if state.session_status == "processing":
        return []
    return [*_moves_to_ready(state), SessionStatusChanged(status="processing")]


# --- the first round -----------------------------------------------------------------------------------


async def _start_first_round(context: DriverContext, writer: RunWriter, state: RunState) -> StartedRun:
    body = state.request
    assert body is not None
    if not is_trusted(context.journal, context.workspace):
        raise RunRefused("the run did not start", "its workspace is not trusted", "run workbench trust")
    exact = writer.unseal(body.input_ref) if body.input_ref else None
    input_text = exact.decode("utf-8", "surrogatepass") if exact is not None else body.input
    definition, pipeline, manifest = await asyncio.to_thread(_define_run, context, body, input_text)
    try:
        check_input(pipeline.input, input_text)
    except InputRefused as error:
        raise RunRefused("the run did not start", str(error), "give an input that satisfies it") from None
    named = kept_steps(pipeline, body.from_step) if body.from_run else ()
    await asyncio.to_thread(_require_known_to_git, context, definition, pipeline, manifest, named)
    data = definition.to_bytes()
    base = _workspaces_folder(context, manifest, definition, writer.run_id)
    kept, copied = _kept_from_earlier_run(context, writer, pipeline, body)
    started = RunStarted(
        pipeline=pipeline.name, steps=step_plans(pipeline, manifest), definition_digest=writer.keyed(data),
        definition_ref=writer.seal(data), kept=kept, from_run=body.from_run,
        workers=worker_limit(context, manifest), workspace_root=base,
        trace=_trace_path(definition, manifest, writer.run_id),
    )  # fmt: skip
    events = [writer.event(moved) for moved in (*_moves_to_processing(state), started)]
    await writer.append(*events, *copied)
    fault_point("run.started")
    for event in writer.events(state.cursor):
        state.take(event)
    return StartedRun(
        definition=definition, pipeline=pipeline, manifest=manifest, state=state, base=base, is_first=True
    )


def _define_run(
    context: DriverContext, body: RunRequested, input_text: str
) -> tuple[RunDefinition, Pipeline, Manifest | None]:
    facts: dict[str, object] = {
        "input": input_text, "branch": _git_output(context, "branch", "--show-current"),
        "started_at": iso_time(context.journal.now()), "grants": body.grants,
        "recordings": body.recordings, "depth": body.depth, "mounted": _mounted_files(context, body),
        "values": _handed_down(context, body.values_ref) or {}, "handed": body.handed,
        "accepted": body.accepted,
    }  # fmt: skip
    if body.definition_ref is not None:
        data = context.journal.blobs.read(body.definition_ref)
        if data is None:
            why = "what was sealed for it is no longer kept"
            raise RunRefused("the run did not start", why, "ask for it again")
        definition = replace(RunDefinition.from_bytes(data), **facts)
        pipeline, manifest = definition.read()
        return _with_code_host(context, definition, manifest), pipeline, manifest
    loaded = load_requested_pipeline(
        context.workspace,
        RunRequest(name=body.file, manifest=body.manifest or None, handed=body.handed),
    )
    require_runnable_pipeline(loaded)
    assert loaded.pipeline is not None
    definition = _with_code_host(context, define_run(loaded, **facts), loaded.manifest)
    return definition, loaded.pipeline, loaded.manifest


def _with_code_host(
    context: DriverContext, definition: RunDefinition, manifest: Manifest | None
) -> RunDefinition:
    host = read_code_host(manifest, definition.root, context.environment)
    return replace(definition, forge=host.facts)


def _require_known_to_git(
    context: DriverContext, definition: RunDefinition, pipeline: Pipeline, manifest: Manifest | None,
    kept: Collection[str],
) -> None:  # fmt: skip
    """Raise RunRefused where a step names a base of a worktree, or a persona, that is not there; blocking."""
    checks = RepositoryChecks(
        pipeline=pipeline, manifest=manifest, file=definition.pipeline_file, root=definition.root,
        environment=context.environment, host=read_code_host(manifest, definition.root, context.environment),
        texts=definition.texts, kept=kept,
    )  # fmt: skip
    fatal = next((problem for problem in checks.with_children() if problem.fatal), None)
    if fatal is not None:
        why = f"{os.path.relpath(fatal.file, definition.root)} line {fatal.line}: {fatal.message}"
        raise RunRefused("the run did not start", why, "workbench pipeline validate names everything")


def _mounted_files(context: DriverContext, body: RunRequested) -> tuple[str, ...] | None:
    listed = _handed_down(context, body.mounted_ref)
    return None if listed is None else tuple(listed)


def _handed_down(context: DriverContext, ref: BlobRef | None) -> Any:
    """Return what the step that started a run sealed for it; None for nothing."""
    if ref is None:
        return None
    data = context.journal.blobs.read(ref)
    if data is None:
        why = "what the step above gave it is no longer kept"
        raise RunRefused("the run did not start", why, "ask for it again")
    return json.loads(data)


def _git_output(context: DriverContext, *words: str) -> str:
    try:
        output = run_git(context.workspace, *words, environment=context.environment, seconds=10.0)
    except GitFailed:
        return ""
    return output.decode("utf-8", "replace").strip()


def worker_limit(context: DriverContext, manifest: Manifest | None) -> int:
    """Return how many steps may run at once: the smaller of manifest and configuration."""
    own = context.recall_settings().config.pipelines.max_concurrent_workers
    return min(own, manifest.runtime.max_concurrent_workers) if manifest else own


def _workspaces_folder(
    context: DriverContext, manifest: Manifest | None, definition: RunDefinition, run_id: str
) -> str:
    configured = manifest.runtime.workspace_root if manifest else ""
    if not configured:
        root = context.home.path / STEP_WORKSPACES_FOLDER
    elif configured.startswith("/"):
        root = private_folder(Path(configured))
    else:
        root = Path(definition.root) / configured
    return str(private_folder(root / run_id))


def _trace_path(definition: RunDefinition, manifest: Manifest | None, run_id: str) -> str:
    if manifest is None or not manifest.runtime.is_traced:
        return ""
    return f"{definition.root}/{manifest.runtime.audit_dir.strip('/')}/{run_id}.jsonl"


def _kept_from_earlier_run(
    context: DriverContext, writer: RunWriter, pipeline: Pipeline, body: RunRequested
) -> tuple[tuple[str, ...], Sequence[Event]]:
    if not body.from_run:
        return (), ()
    kept = kept_steps(pipeline, body.from_step)
    earlier = fold_run(context.journal.events(body.from_run))
    skipped = [step for step in kept if step in earlier.steps and earlier.steps[step].state == "skipped"]
    why = "skipped in the run that this one continues"
    kept = tuple(step for step in kept if step not in skipped)
    copied = [writer.event(StepChanged(state="skipped", detail=why), step=step) for step in skipped]
    copied += [
        writer.event(replace(artifact, attempt=1), step=step)
        for step in kept
        if step in earlier.steps
        for artifact in earlier.steps[step].artifacts.values()
    ]
    return kept, copied


# --- later -----------------------------------------------------------------------------------------------


async def _continue_run(
    context: DriverContext, writer: RunWriter, state: RunState, *, is_new_round: bool
) -> StartedRun:
    before = state.started
    assert before is not None
    data = writer.unseal(before.definition_ref) if before.definition_ref else None
    if data is None or writer.keyed(data) != before.definition_digest:
        what, why = "the run does not continue", "what it was started with no longer exists"
        raise RunRefused(what, why, "start another one with workbench pipeline run")
    definition, changed = RunDefinition.from_bytes(data), frozenset[str]()
    if is_new_round and state.reads_files and state.request is not None:
        earlier = definition.read()[0]
        definition, pipeline, manifest = await _define_again(context, state, state.request, definition)
        changed = _changed_steps(earlier, pipeline)
        data = definition.to_bytes()
        sealed, plans = writer.seal(data), step_plans(pipeline, manifest)
        before = replace(before, definition_ref=sealed, definition_digest=writer.keyed(data), steps=plans)
    else:
        pipeline, manifest = definition.read()
    private_folder(Path(before.workspace_root))
    again = replace(before, round=state.round + 1, kept=(), from_run="", returned_by="")
    return StartedRun(
        definition=definition, pipeline=pipeline, manifest=manifest, state=state, base=before.workspace_root,
        next_round=again if is_new_round else None, changed=changed,
    )  # fmt: skip


def _changed_steps(earlier: Pipeline, pipeline: Pipeline) -> frozenset[str]:
    steps = {step.id: replace(step, path="") for step in pipeline.steps}
    return frozenset(step.id for step in earlier.steps if steps.get(step.id) != replace(step, path=""))


async def take_over_steps(
    context: DriverContext,
    writer: RunWriter,
    driver: DriverIdentity,
    started_run: StartedRun,
    executor: StepExecutor,
) -> None:
    """Settle what a driver before left running, and begin the round of a run that continues.

    A step that the executor goes on with stays as it is; of the others nothing runs any more.
    """
    state = started_run.state
    if started_run.is_first:
        return
    reattached = await _reattached_steps(writer, started_run, executor)
    # A reviewer's conversation is named by no step; only those of steps that go on do so, too.
    open_session_ids = {state.steps[name].session_id for name in (*state.waiting, *reattached)}
    for child in context.journal.sessions(parent_id=writer.run_id, kinds=("step",)):
        if child.id not in open_session_ids:
            await agent_step.close_child_session(context, driver, child.id, is_done=False)
    events = [writer.event(body) for body in _moves_to_processing(state)]
    if started_run.next_round is not None:
        reset = _steps_to_reset(started_run, reattached)
        events += _withdrawn_questions(context, writer, [state.steps[name] for name in reset])
        events.append(writer.event(replace(started_run.next_round, reset=reset)))
    if events:
        await writer.append(*events)
    fault_point("run.started")
    while new_events := writer.events(state.cursor):
        for event in new_events:
            state.take(event)


def _withdrawn_questions(
    context: DriverContext, writer: RunWriter, steps: Sequence[StepRun]
) -> Iterator[Event]:
    """Yield the ends of the questions of steps that start again."""
    for step in steps:
        action = context.journal.action(step.action_id) if step.action_id else None
        while action is not None and action.successor:
            action = context.journal.action(action.successor)
        if action is not None and action.state == "pending":
            withdrawn = ActionCancelled(why="its step starts again")
            yield writer.event(withdrawn, step=step.id, action_id=action.id)


async def _reattached_steps(
    writer: RunWriter, started_run: StartedRun, executor: StepExecutor
) -> frozenset[str]:
    """Return the running steps that the executor continues; what is left of the others is ended."""
    state, reattached = started_run.state, set[str]()
    unwanted = _steps_not_continued(started_run)
    for step in list(state.steps.values()):
        if step.state != "running":
            continue
        step_id = attempt_step_id(writer.run_id, step)
        for part, process in step.part_processes.items():
            if await executor.reattach(step_id.with_part(part), process, None):
                await executor.cancel(step_id.with_part(part))
        if not await executor.reattach(step_id, step.process, step.session_id):
            continue
        if state.is_cancelled or step.id in unwanted or step.matrix in unwanted:
            await executor.cancel(step_id)
        else:
            reattached.add(step.id)
    return frozenset(reattached)


async def _define_again(
    context: DriverContext, state: RunState, request: RunRequested, before: RunDefinition
) -> tuple[RunDefinition, Pipeline, Manifest | None]:
    """Read the files of a run again, as a human said. Raises RunRefused: it cannot continue with them."""
    what = "the run does not continue"
    if not is_trusted(context.journal, context.workspace):
        raise RunRefused(what, "its workspace is not trusted as it is now", "run workbench trust")
    if not before.is_generated:
        request = replace(request, definition_ref=None)
    definition, pipeline, manifest = await asyncio.to_thread(_define_run, context, request, before.input)
    step_ids = {step.id for step in pipeline.steps}
    missing = [step.id for step in state.waiting.values() if (step.matrix or step.id) not in step_ids]
    if missing:
        why = f"{missing[0]} waits for an answer, and the file has no such step any more"
        raise RunRefused(what, why, "answer it first, or start another run")
    start_facts = {"started_at": before.started_at, "branch": before.branch, "grants": before.grants}
    return replace(definition, **start_facts), pipeline, manifest


def _steps_wanted_again(state: RunState, pipeline: Pipeline) -> set[str]:
    """Return what a human wants done again, with what depends on it."""
    needs = {step.id: step.needs for step in pipeline.steps}
    again = set(state.retries)
    for step in state.retries:
        again |= descendants(step, needs)
    return again | {item.id for item in state.steps.values() if item.matrix and item.matrix in again}


def _steps_not_continued(started_run: StartedRun) -> set[str]:
    """Return the steps that start again, changed or not at all any more, with their rework steps."""
    steps = started_run.pipeline.steps
    names = _steps_wanted_again(started_run.state, started_run.pipeline) | started_run.changed
    return names | reworks_of(names, steps)


def _steps_with_rework(started_run: StartedRun, reattached: frozenset[str]) -> set[str]:
    """Return the failed steps whose rework step continues, waits, or has done their work already."""
    runs, unwanted, found = started_run.state.steps, _steps_not_continued(started_run), set[str]()
    for step in started_run.pipeline.steps:
        step_run = runs.get(step.id)
        rework = runs.get(due_rework(step_run, step)) if step_run and step.id not in unwanted else None
        if step_run is None or rework is None:
            continue
        is_open = rework.id in reattached or rework.state == "waiting"
        if is_open or (rework.is_done and has_reworked(rework, step_run)):
            found.add(step.id)
    return found


def _steps_to_reset(started_run: StartedRun, reattached: frozenset[str]) -> tuple[str, ...]:
    """Return the steps that begin again: those neither completed nor continued, and those wanted again."""
    state, pipeline = started_run.state, started_run.pipeline
    again = _steps_wanted_again(state, pipeline)
    reworked = _steps_with_rework(started_run, reattached)
    unfinished = set(state.steps_to_redo()) - reattached - reworked
    again |= reworks_of(again, pipeline.steps)
    again |= reworks_of(unfinished, pipeline.steps) - reattached - set(state.waiting)
    step_ids = {step.id for step in pipeline.steps}
    return tuple(
        step
        for step in state.steps
        if (state.steps[step].matrix or step) in step_ids
        and (step in unfinished or (step in again and state.steps[step].state != "pending"))
    )


def interrupted_command_steps(state: RunState) -> list[str]:
    """Return the steps whose program ran when the driver died; how it ended may not be known."""
    return [step.id for step in state.steps.values() if step.state == "running" and step.process is not None]


_MAX_RUNS = 50


def is_runnable(context: DriverContext, session: Session) -> bool:
    """Return whether a run may be begun or go on now."""
    journal = context.journal
    if session.parent_id is not None:
        return False  # a run below another is driven by the one above
    state = fold_run(journal.events(session.id))
    continuation = run_continuation(state, len(pending_action_ids(journal, session.id)))
    if continuation != "on":
        return continuation in ("new", "again")
    return state.is_cancelled or any(_is_step_answered(journal, step) for step in state.steps.values())


def _is_step_answered(journal: Journal, step: StepRun) -> bool:
    if step.state != "waiting":
        return False
    if step.action_id is not None:
        action = journal.action(step.action_id)
        while action is not None and action.state == "superseded" and action.successor:
            action = journal.action(action.successor)
        return action is not None and action.state != "pending"
    if step.session_id is None:
        return True
    return not pending_action_ids(journal, step.session_id) or any(
        (action.decided_at or 0) > step.moved_at and action.state != "superseded"
        for action in journal.actions(step.session_id)
    )


def answered_runs(context: DriverContext) -> list[Session]:
    """Return the workspace's runs that wait without a driver and were answered."""
    journal = context.journal
    runs: list[Session] = []
    for run in journal.pipeline_states(context.workspace, _MAX_RUNS):
        if run.status != "waiting" or is_lease_live(context.home, journal.lease(run.pipeline_id)):
            continue
        session = journal.session(run.pipeline_id)
        if session is not None and is_runnable(context, session):
            runs.append(session)
    return runs
