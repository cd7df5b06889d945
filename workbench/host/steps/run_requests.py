"""Ask for runs: begin, cancel, resume; each is an event. Everything is checked before a run exists."""

# A run keeps what it was started with. Pipeline, manifest, prompts and schemas are sealed with
# `run.started`; a file that changes later is checked at once and changes nothing of a run under way.

import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.events import (
    ContinueRequested,
    Event,
    RuleAdded,
    RunCancelRequested,
    RunRequested,
    SessionCreated,
    StepRetryRequested,
)
from workbench.domain.machines import ENDED_RUN_STATES, TERMINAL_SESSION_STATES
from workbench.domain.rows import PipelineState, Session
from workbench.domain.values import SYSTEM_SESSION, Actor, BlobRef, Refused
from workbench.effects.fault_points import fault_point
from workbench.host import redaction
from workbench.host.workspace_trust import is_trusted
from workbench.journal.errors import SessionDriven
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverIdentity, first_lease, next_lease
from workbench.journal.transaction import TransactionTables
from workbench.pipelines.accepted_commands import AcceptedCommand, commands_to_accept
from workbench.pipelines.checks import steps_using_input
from workbench.pipelines.contracts import InputRefused, check_input
from workbench.pipelines.documents import find_manifest, project_folder
from workbench.pipelines.load import LoadedPipeline, find_pipeline, load_pipeline, similar_pipeline_hint
from workbench.pipelines.model import Pipeline
from workbench.pipelines.run_context import RunDefinition
from workbench.pipelines.state import fold_run
from workbench.pipelines.step_order import descendants
from workbench.text.problems import Problem
from workbench.text.safe import one_line


class RunRefused(Refused):
    """A run was not started, or takes no request."""

    def __init__(self, what: str, why: str, remedy: str, problems: Sequence[Problem] = ()) -> None:
        super().__init__(what, why, remedy)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return f"{self.what}: {self.why}; {self.remedy}"


class RunRequest(Struct, frozen=True, kw_only=True):
    """What somebody wants to have run."""

    name: str
    """Name of a pipeline of the project, or the path of a file, absolute or in the workspace."""
    input: str = ""
    manifest: str | None = None
    grants: tuple[str, ...] = ()
    from_step: str = ""
    recordings: str = ""
    parent_id: str | None = None
    depth: int = 0
    sealed: BlobRef | None = None
    """Exactly what is to be run, sealed before; then no file is read."""
    handed: tuple[str, ...] = ()
    """Names of templates (`input`, `env.NAME`) whose values come from an agent, an artifact or a list."""
    accepted: tuple[str, ...] = ()
    """Digests of the commands that a person accepted, as `digests_of_commands` returns them."""


_NO_RUN = "no run was started"


def load_requested_pipeline(workspace: str, request: RunRequest) -> LoadedPipeline:
    """Load the pipeline that is asked for, or raise RunRefused."""
    file = str(Path(workspace) / request.name)
    if not Path(file).is_file():
        manifest = find_manifest(workspace)
        root = project_folder(manifest) if manifest else workspace
        path = find_pipeline(root, request.name)
        if path is None:
            why = f"there is no pipeline {one_line(request.name, 80)}"
            raise RunRefused(_NO_RUN, why, similar_pipeline_hint(root, request.name))
        file = str(Path(root) / path)
    return load_pipeline(file, manifest=request.manifest, handed=frozenset(request.handed))


def require_runnable_pipeline(loaded: LoadedPipeline) -> None:
    """Raise RunRefused with the problems of a pipeline that cannot begin."""
    report = loaded.report.for_running()
    if not report.is_ok or loaded.pipeline is None:
        first = report.errors[0] if report.errors else None
        why = str(first) if first else "it cannot be read"
        more = f" (and {len(report.errors) - 1} more)" if len(report.errors) > 1 else ""
        remedy = "fix it; workbench pipeline validate names everything"
        raise RunRefused(_NO_RUN, why + more, remedy, report.errors)
    agents = [step.id for step in loaded.pipeline.steps if step.kind == "prompt"]
    if agents and loaded.manifest is None:
        why = f"{agents[0]} is done by a persona, and no manifest was found that says who that is"
        raise RunRefused(_NO_RUN, why, "write workbench.yaml, or name a manifest with --manifest")
    unrunnable = [step for step in loaded.pipeline.steps if step.unrunnable]
    if unrunnable:
        why = f"{unrunnable[0].id}: {unrunnable[0].unrunnable}, which is not run here"
        raise RunRefused(_NO_RUN, why, "write the step with prompt, command, gate or pipeline")


def steps_missing_input(pipeline: Pipeline | None, text: str) -> tuple[str, ...]:
    """Return the steps that use an input which is empty; none where the pipeline itself refuses it."""
    if pipeline is None or pipeline.input.is_required or text.strip():
        return ()
    return steps_using_input(pipeline)


def request_run(
    journal: Journal,
    workspace: str,
    request: RunRequest,
    actor: Actor,
    *,
    needs_trust: bool = True,
    driver: DriverIdentity | None = None,
) -> str:
    """Begin a run with its session and grants; return its id, or raise RunRefused.

    `driver`: the process that drives the run, which holds its `DriverLock`; it owns the run from its first
    event. None leaves the run to the background process.
    """
    if needs_trust and not is_trusted(journal, workspace):
        remedy = "look at it, then run workbench trust"
        raise RunRefused(_NO_RUN, f"{workspace} is not trusted, so nothing in it acts", remedy)
    request, pipeline, file, manifest_file, is_generated = _requested(journal, workspace, request)
    try:
        check_input(pipeline.input, request.input)
    except InputRefused as error:
        raise RunRefused(_NO_RUN, str(error), "give an input that satisfies it with --input") from None
    name, run_id = pipeline.name, journal.clock.new_id()
    from_run = _earlier_run(journal, workspace, pipeline, request) if request.from_step else ""

    def work(live: TransactionTables, now: int) -> list[Event]:
        number = live.next_run_number(name, workspace)
        input_text, ref = redaction.redact_and_seal_text(request.input, journal.blobs)
        created = SessionCreated(
            session_kind="pipeline", parent_id=request.parent_id,
            title=redaction.redact_line(f"{name} #{number}", 120),
            workspace=workspace, provider="", model="", number=number, telemetry_id=journal.clock.new_id(),
        )  # fmt: skip
        requested = RunRequested(
            pipeline=name, file=file, manifest=manifest_file, definition_ref=request.sealed,
            is_generated=is_generated, input=input_text, input_ref=ref, grants=request.grants,
            from_step=request.from_step, from_run=from_run,
            recordings=request.recordings, depth=request.depth, handed=request.handed,
            accepted=request.accepted,
        )  # fmt: skip
        rules = [
            _run_grant_rule(pattern, run_id, f"R{int(live.next_rule()[1:]) + n}")
            for n, pattern in enumerate(request.grants)
        ]
        lease = [] if driver is None else [first_lease(journal, run_id, driver)]
        return [
            journal.event(created, run_id, actor, at=now), *lease,
            journal.event(requested, run_id, actor, at=now),
            *(journal.event(rule, SYSTEM_SESSION, actor, at=now) for rule in rules),
        ]  # fmt: skip

    journal.transact(work)
    fault_point("run.requested")
    return run_id


def _requested(
    journal: Journal, workspace: str, request: RunRequest
) -> tuple[RunRequest, Pipeline, str, str, bool]:
    """Return the request as it counts, the pipeline, its file, its manifest's; whether an agent wrote it."""
    data = journal.blobs.read(request.sealed) if request.sealed is not None else None
    if data is not None:
        definition = RunDefinition.from_bytes(data)
        file = definition.pipeline_file
        file = file if definition.is_generated else os.path.relpath(file, workspace)
        request = replace(request, handed=definition.handed, accepted=definition.accepted)
        pipeline = definition.read()[0]
        return request, pipeline, file, definition.manifest_file, definition.is_generated
    if request.sealed is not None:
        raise RunRefused(_NO_RUN, "what was sealed for it is no longer kept", "ask for it again")
    loaded = load_requested_pipeline(workspace, request)
    require_runnable_pipeline(loaded)
    assert loaded.pipeline is not None
    _require_accepted(journal, loaded, request)
    file = os.path.relpath(loaded.file, workspace)
    return request, loaded.pipeline, file, loaded.manifest_file or "", False


def commands_of_request(loaded: LoadedPipeline, request: RunRequest) -> list[AcceptedCommand]:
    """Return the commands of a run, and of runs below it, that a person has to accept before it starts."""
    if loaded.pipeline is None:
        return []
    return commands_to_accept(loaded.pipeline, loaded.manifest, loaded.root, request.input, request.handed)


def digests_of_commands(journal: Journal, commands: Sequence[AcceptedCommand]) -> tuple[str, ...]:
    """Return what a request keeps of accepted commands: it says nothing without the key of this home."""
    data = (command.command.encode("utf-8", "surrogatepass") for command in commands)
    return tuple(dict.fromkeys(map(journal.blobs.keyed, data)))


def _require_accepted(journal: Journal, loaded: LoadedPipeline, request: RunRequest) -> None:
    for command in commands_of_request(loaded, request):
        if not set(digests_of_commands(journal, [command])) <= set(request.accepted):
            why = f"{command.step}: {command.message}"
            raise RunRefused(_NO_RUN, why, "or look at the command and accept it: workbench pipeline run")


def _run_grant_rule(pattern: str, run_id: str, number: str) -> RuleAdded:
    tool = pattern.partition("(")[0].strip() or "*"
    return RuleAdded(
        rule=number, effect="allow", origin="user", scope="run", tool=tool, pattern_kind="glob",
        pattern=pattern, description=f"granted for this run: {pattern}"[:200], scope_id=run_id,
        place="inside",
    )  # fmt: skip


def kept_steps(pipeline: Pipeline, from_step: str) -> tuple[str, ...]:
    """Return the steps that a run from `from_step` takes from an earlier one, or raise RunRefused."""
    needs = {step.id: step.needs for step in pipeline.steps}
    if from_step not in needs:
        raise RunRefused(_NO_RUN, f"there is no step {from_step}", f"there are {', '.join(needs)}")
    redone = descendants(from_step, needs) | {from_step}
    return tuple(step for step in needs if step not in redone)


def _earlier_run(journal: Journal, workspace: str, pipeline: Pipeline, request: RunRequest) -> str:
    needed = set(kept_steps(pipeline, request.from_step))
    for run in journal.pipeline_states(workspace):
        if run.pipeline_name != pipeline.name:
            continue
        done = {
            row.step_id
            for row in journal.step_states(run.pipeline_id)
            if row.state in ("completed", "completed_empty", "skipped")
        }
        if needed <= done:
            return run.pipeline_id
    why = f"no earlier run of {pipeline.name} has completed what comes before {request.from_step}"
    raise RunRefused(_NO_RUN, why, "run the whole pipeline once")


# --- requests about a run that exists ------------------------------------------------------------------


def cancel_run(journal: Journal, run_id: str, actor: Actor, reason: str = "") -> None:
    """Ask for a run to end; RunRefused where it is over."""
    run = _existing_run(journal, run_id, "nothing was cancelled")
    if run.status in ("completed", "failed", "cancelled"):
        raise RunRefused("nothing was cancelled", f"the run is {run.status}", "start another one")
    body = RunCancelRequested(reason=redaction.redact_line(reason, 500))
    journal.append([journal.event(body, run_id, actor)])


def changed_files(journal: Journal, run_id: str) -> tuple[str, ...]:
    """Return the files that a run was started with and that are others now, also those of runs below it.

    As paths relative to the project; what a run that was never started would read is not asked.
    """
    started = fold_run(journal.events(run_id)).started
    data = journal.blobs.read(started.definition_ref) if started and started.definition_ref else None
    if data is None:
        return ()
    definition = RunDefinition.from_bytes(data)
    below = (row.session_id for row in journal.step_states(run_id) if row.kind == "pipeline")
    nested = (changed_files(journal, child) for child in below if child is not None)
    return tuple(dict.fromkeys((*definition.changed_files(), *itertools.chain.from_iterable(nested))))


class AskedRun(Struct, frozen=True, kw_only=True):
    """A run that was asked for, and the process that drives it."""

    run_id: str
    position: int
    """Position in the journal after the request."""
    driver_pid: int | None = None
    """The process that drives it already; None where none does, or the one that asked."""


def resume_run(
    journal: Journal,
    run_id: str,
    actor: Actor,
    step: str = "",
    *,
    reads_files: bool | None = None,
    driver: DriverIdentity | None = None,
) -> AskedRun:
    """Ask for a run to continue, redoing `step` and what needs it; RunRefused where it cannot.

    With `reads_files` it continues with its files as they are now, without as they were when it was started;
    None is refused where they differ. `driver`, which holds its `DriverLock`, owns the run with the request,
    unless another process drives it. A run that is driven and has not ended takes only requests for a step.
    """
    run = _existing_run(journal, run_id, _NOT_RESUMED)
    _require_resumable(run, journal.session(run_id))
    if reads_files is None and (changed := changed_files(journal, run_id)):
        names = one_line(", ".join(changed[:4]), 200) + (" …" if len(changed) > 4 else "")
        why = f"{names} changed since this run was started, so it is not clear which files to use"
        raise RunRefused(_NOT_RESUMED, why, "say --as-it-is for the files as they are now, or --as-it-was")
    if reads_files:
        _require_readable(journal, run)
    if step and all(row.step_id != step for row in journal.step_states(run_id)):
        raise RunRefused(_NOT_RESUMED, f"the run has no step {step}", "see workbench pipeline status")
    kind = StepRetryRequested if step else ContinueRequested
    request = journal.event(kind(reads_files=bool(reads_files)), run_id, actor, step=step or None)
    driver_pids: list[int] = []

    def work(live: TransactionTables, _now: int) -> list[Event]:
        driver_pids.clear()
        run = live.pipeline_state(run_id)
        _require_resumable(run, live.session(run_id))
        try:
            lease = () if driver is None else next_lease(journal, live, run_id, driver)
        except SessionDriven as driven:
            driver_pids.append(driven.pid)
            is_heard = run is not None and run.status not in ENDED_RUN_STATES
            return [] if is_heard and not step and not reads_files else [request]
        return [request, *lease]

    stored = journal.transact(work)
    fault_point("run.requested")
    position = stored[-1].position if stored else journal.last_position()
    return AskedRun(run_id=run_id, position=position, driver_pid=next(iter(driver_pids), None))


_NOT_RESUMED: Final = "nothing was resumed"


def _require_resumable(run: PipelineState | None, session: Session | None) -> None:
    if run is None or session is None:
        raise RunRefused(_NOT_RESUMED, "the run was deleted", "see workbench pipeline list --runs")
    if run.status == "completed" or session.status in TERMINAL_SESSION_STATES:
        remedy = "start another one with workbench pipeline run"
        raise RunRefused(_NOT_RESUMED, f"the run is {run.status}", remedy)


def _require_readable(journal: Journal, run: PipelineState) -> None:
    session = journal.session(run.pipeline_id)
    workspace = session.workspace if session is not None else ""
    if not is_trusted(journal, workspace):
        why = f"{workspace} changed since it was trusted, so nothing in it acts"
        raise RunRefused(_NOT_RESUMED, why, "look at it, then run workbench trust")
    before = fold_run(journal.events(run.pipeline_id)).request
    handed = before.handed if before else ()
    request = RunRequest(name=run.file or run.pipeline_name, handed=handed)
    require_runnable_pipeline(load_requested_pipeline(workspace, request))


def _existing_run(journal: Journal, run_id: str, what: str) -> PipelineState:
    run = journal.pipeline_state(run_id)
    if run is None:
        raise RunRefused(what, f"there is no run {run_id}", "see workbench pipeline list --runs")
    return run


LARGEST_INPUT: Final = 1_048_576
"""Bytes of a file that is taken as the input of a run."""


def read_run_input(text: str, folder: str = "") -> str:
    """Return the input of a run: a text as it is, for `@FILE` the content of that file."""
    if not text.startswith("@"):
        return text
    from workbench.effects.file_primitives import FileRefused
    from workbench.effects.path_files import read_bounded

    name = text[1:].strip()
    remedy = "name another file behind the @"
    try:
        data = read_bounded(Path(folder, Path(name).expanduser()), LARGEST_INPUT)
    except FileRefused as error:
        raise Refused("no run was started", f"{name}: {error.why}", remedy) from None
    if data is None:
        raise Refused("no run was started", f"there is no file {name}", remedy)
    return data.decode("utf-8", "replace")
