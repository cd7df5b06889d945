"""How a run begins and goes on: what is sealed, which steps are kept, what a dead driver left.

Owns P1 of JOURNAL section 3. A run that lost its driver is only begun again by a human's word.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from workbench.domain.events import Event, SessionStatusChanged
from workbench.domain.runs import RunChanged, RunRequested, RunStarted, StepChanged
from workbench.effects.faults import point
from workbench.effects.files import private_folder
from workbench.effects.git import GitFailed, run_git
from workbench.effects.process import ProcessIdentity, end_leftovers
from workbench.host.charge import WORKSPACES
from workbench.host.kit import Kit
from workbench.host.steps import agent
from workbench.host.steps.ledger import RunLedger
from workbench.host.steps.requests import RunRefused, Wish, find, kept_steps, require_runnable
from workbench.host.trusting import is_trusted
from workbench.journal.lease import DriverIdentity
from workbench.pipelines import forges
from workbench.pipelines.definition import Definition, define
from workbench.pipelines.inputs import InputRefused, check_input
from workbench.pipelines.model import Manifest, Pipeline
from workbench.pipelines.order import descendants
from workbench.pipelines.plan import plans
from workbench.pipelines.state import RunState, fold
from workbench.text.human import iso

Way = Literal["new", "again", "on", "lost", "over"]
"""A first round; a later one; the same round goes on; its driver is lost and nobody spoke; it is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A run that may be driven."""

    definition: Definition
    pipeline: Pipeline
    manifest: Manifest | None
    state: RunState
    base: str
    """Its private folder of workspaces."""


def way(state: RunState, pending: int) -> Way:
    """Return how a run that nobody drives may go on.

    Args:
        state: folded from its events.
        pending: how many questions of its steps wait for a human.
    """
    if state.request is None or state.status == "completed":
        return "over"
    if state.round == 0:
        return "over" if state.status in ("failed", "cancelled") else "new"
    if state.is_word_given:
        return "again"
    if state.status in ("failed", "cancelled"):
        return "over"
    if state.is_cancelled or state.status == "waiting" or (state.reason == "parked" and state.is_given_back):
        return "on"
    return "lost" if not pending or state.status == "running" else "on"


async def begin(kit: Kit, ledger: RunLedger, driver: DriverIdentity, state: RunState) -> Begun | None:
    """Begin a run or let it go on; None if it cannot, which is said in the journal."""
    how = way(state, len(ledger.pending(ledger.run_id)))
    if how in ("lost", "over"):
        if how == "lost" and state.session_status != "paused":
            lost = SessionStatusChanged(status="paused", reason="host lost")
            await ledger.append(ledger.event(lost))
        return None
    try:
        if how == "new":
            return await _first(kit, ledger, state)
        return await _later(kit, ledger, driver, state, is_new_round=how == "again")
    except RunRefused as error:
        await _refused(ledger, state, str(error))
        return None


async def _refused(ledger: RunLedger, state: RunState, why: str) -> None:
    events = [ledger.event(body) for body in _brought_up(state)]
    if state.status == "queued":
        events.append(ledger.event(RunChanged(status="failed", detail=ledger.scrubbed(why))))
    paused = SessionStatusChanged(status="paused", reason="run ended")
    await ledger.append(*events, ledger.event(paused))


def _brought_up(state: RunState) -> list[SessionStatusChanged]:
    """Return the moves that bring the run's session from where it is to ready."""
    words = {"created": ("initializing", "ready"), "initializing": ("ready",), "paused": ("ready",)}
    return [
        SessionStatusChanged(status="initializing" if word == "initializing" else "ready")
        for word in words.get(state.session_status, ())
    ]


def _processing(state: RunState) -> list[SessionStatusChanged]:
    if state.session_status == "processing":
        return []
    return [*_brought_up(state), SessionStatusChanged(status="processing")]


# --- the first round -----------------------------------------------------------------------------------


async def _first(kit: Kit, ledger: RunLedger, state: RunState) -> Begun:
    body = state.request
    assert body is not None
    if not is_trusted(kit.journal, kit.workspace):
        raise RunRefused("the run did not begin", "its workspace is not trusted", "say workbench trust")
    exact = ledger.unseal(body.input_ref) if body.input_ref else None
    given = exact.decode("utf-8", "surrogatepass") if exact is not None else body.input
    definition, pipeline, manifest = await asyncio.to_thread(_defined, kit, body, given)
    try:
        check_input(pipeline.input, given)
    except InputRefused as error:
        raise RunRefused("the run did not begin", str(error), "give an input that satisfies it") from None
    data = definition.to_bytes()
    base = _base(kit, manifest, definition, ledger.run_id)
    kept, copied = _kept(kit, ledger, pipeline, body)
    started = RunStarted(
        pipeline=pipeline.name, steps=plans(pipeline, manifest), definition_digest=ledger.keyed(data),
        definition_ref=ledger.seal(data), kept=kept, from_run=body.from_run,
        workers=workers(kit, manifest), workspace_root=base,
        trace=_trace(definition, manifest, ledger.run_id),
    )  # fmt: skip
    events = [ledger.event(one) for one in (*_processing(state), started)]
    await ledger.append(*events, *copied)
    point("run.started")
    for event in ledger.events(state.cursor):
        state.take(event)
    return Begun(definition=definition, pipeline=pipeline, manifest=manifest, state=state, base=base)


def _defined(kit: Kit, body: RunRequested, given: str) -> tuple[Definition, Pipeline, Manifest | None]:
    loaded = find(kit.workspace, Wish(name=body.file, manifest=body.manifest or None))
    require_runnable(loaded)
    assert loaded.pipeline is not None
    definition = define(
        loaded, input=given, branch=_git(kit, "branch", "--show-current"),
        forge=forges.facts(_git(kit, "remote", "get-url", "origin")),
        started_at=iso(kit.journal.now()), grants=body.grants, recordings=body.recordings, depth=body.depth,
    )  # fmt: skip
    return definition, loaded.pipeline, loaded.manifest


def _git(kit: Kit, *words: str) -> str:
    try:
        said = run_git(kit.workspace, *words, environment=kit.environment, seconds=10.0)
    except GitFailed:
        return ""
    return said.decode("utf-8", "replace").strip()


def workers(kit: Kit, manifest: Manifest | None) -> int:
    """Return how many steps may run at once: the smaller of what manifest and configuration say."""
    own = kit.loaded().config.pipelines.max_concurrent_workers
    return min(own, manifest.runtime.max_concurrent_workers) if manifest else own


def _base(kit: Kit, manifest: Manifest | None, definition: Definition, run_id: str) -> str:
    """Return the run's folder of workspaces, made and private."""
    wanted = manifest.runtime.workspace_root if manifest else ""
    if not wanted:
        root = kit.home.path / WORKSPACES
    elif wanted.startswith("/"):
        root = private_folder(type(kit.home.path)(wanted))
    else:
        root = type(kit.home.path)(definition.root) / wanted
    return str(private_folder(root / run_id))


def _trace(definition: Definition, manifest: Manifest | None, run_id: str) -> str:
    if manifest is None or not manifest.runtime.is_traced:
        return ""
    return f"{definition.root}/{manifest.runtime.audit_dir.strip('/')}/{run_id}.jsonl"


def _kept(
    kit: Kit, ledger: RunLedger, pipeline: Pipeline, body: RunRequested
) -> tuple[tuple[str, ...], Sequence[Event]]:
    """Return the steps that are taken from an earlier run, and their artifacts as events of this one."""
    if not body.from_run:
        return (), ()
    kept = kept_steps(pipeline, body.from_step)
    earlier = fold(kit.journal.events(body.from_run))
    skipped = [step for step in kept if step in earlier.steps and earlier.steps[step].state == "skipped"]
    why = "skipped in the run that this one goes on from"
    kept = tuple(step for step in kept if step not in skipped)
    copied = [ledger.event(StepChanged(state="skipped", detail=why), step=step) for step in skipped]
    copied += [
        ledger.event(replace(artifact, attempt=1), step=step)
        for step in kept
        if step in earlier.steps
        for artifact in earlier.steps[step].artifacts.values()
    ]
    return kept, copied


# --- later -----------------------------------------------------------------------------------------------


async def _later(
    kit: Kit, ledger: RunLedger, driver: DriverIdentity, state: RunState, *, is_new_round: bool
) -> Begun:
    before = state.started
    assert before is not None
    data = ledger.unseal(before.definition_ref) if before.definition_ref else None
    if data is None or ledger.keyed(data) != before.definition_digest:
        what, why = "the run does not go on", "what it was started with is not there any more"
        raise RunRefused(what, why, "begin another one with workbench pipeline run")
    definition = Definition.from_bytes(data)
    pipeline, manifest = definition.read()
    await _tidied(kit, driver, state)
    bodies = [*_processing(state)]
    events = [ledger.event(body) for body in bodies]
    if is_new_round:
        again = replace(
            before, round=state.round + 1, reset=_reset(state, pipeline), kept=(), from_run="", returned_by=""
        )
        events.append(ledger.event(again))
    if events:
        await ledger.append(*events)
    point("run.started")
    while found := ledger.events(state.cursor):
        for event in found:
            state.take(event)
    private_folder(type(kit.home.path)(before.workspace_root))
    return Begun(
        definition=definition, pipeline=pipeline, manifest=manifest, state=state, base=before.workspace_root
    )


def _reset(state: RunState, pipeline: Pipeline) -> tuple[str, ...]:
    """Return what begins anew: all that is not completed, and what a human wants done again."""
    needs = {step.id: step.needs for step in pipeline.steps}
    again = set(state.retries)
    for step in state.retries:
        again |= descendants(step, needs)
    again |= {item.id for item in state.steps.values() if item.matrix and item.matrix in again}
    left = set(state.left_over())
    return tuple(
        step
        for step in state.steps
        if step in left or (step in again and state.steps[step].state != "pending")
    )


async def _tidied(kit: Kit, driver: DriverIdentity, state: RunState) -> None:
    """End what is left of steps that were running when their driver died."""
    for step in state.steps.values():
        if step.state != "running":
            continue
        process = step.process
        if process is not None:
            identity = ProcessIdentity(pid=process.pid, group=process.group, start_time=process.start_time)
            await asyncio.to_thread(end_leftovers, identity, process.mark)
        row = kit.journal.pipeline_state(step.session_id) if step.session_id else None
        if step.session_id is not None and row is None:
            await agent.close_child(kit, driver, step.session_id, is_done=False)


def interrupted_commands(state: RunState) -> list[str]:
    """Return the command steps that were running when the driver died: they are run again."""
    return [step.id for step in state.steps.values() if step.state == "running" and step.process is not None]
