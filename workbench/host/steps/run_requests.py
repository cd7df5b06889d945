"""Ask for runs: begin, cancel, resume. Each request is an event of the run's own session.

Checks everything before a run exists, so that nothing is created that could not begin. Drives nothing.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from workbench.domain.events import (
    ContinueRequested,
    Event,
    RuleAdded,
    RunCancelRequested,
    RunRequested,
    SessionCreated,
    StepRetryRequested,
)
from workbench.domain.machines import TERMINAL_SESSION_STATES
from workbench.domain.rows import PipelineState
from workbench.domain.values import SYSTEM_SESSION, Actor, Body
from workbench.host import redaction
from workbench.host.workspace_trust import is_trusted
from workbench.journal.journal import Journal
from workbench.journal.transaction import TransactionTables
from workbench.pipelines.contracts import InputRefused, check_input
from workbench.pipelines.documents import Problem, find_manifest, project_folder
from workbench.pipelines.load import LoadedPipeline, find_pipeline, load_pipeline, similar_pipeline_hint
from workbench.pipelines.model import Pipeline
from workbench.pipelines.step_order import descendants
from workbench.text.safe import one_line


class RunRefused(Exception):
    """A run was not begun, or takes no request; says what, why and what to do."""

    def __init__(self, what: str, why: str, remedy: str, problems: Sequence[Problem] = ()) -> None:
        self.what, self.why, self.remedy, self.problems = what, why, remedy, tuple(problems)
        super().__init__(f"{what}: {why}; {remedy}")


class RunRequest(Struct, frozen=True, kw_only=True):
    """What somebody wants to have run."""

    name: str
    """Name of a pipeline of the project, or the path of a file."""
    input: str = ""
    manifest: str | None = None
    grants: tuple[str, ...] = ()
    from_step: str = ""
    recordings: str = ""
    parent_id: str | None = None
    depth: int = 0


_NO_RUN = "no run was begun"


def load_requested_pipeline(workspace: str, wish: RunRequest) -> LoadedPipeline:
    """Load the pipeline that is wished for.

    Raises:
        RunRefused: there is none of that name.
    """
    file = wish.name if Path(wish.name).is_file() else str(Path(workspace) / wish.name)
    if not Path(file).is_file():
        manifest = find_manifest(workspace)
        root = project_folder(manifest) if manifest else workspace
        found = find_pipeline(root, wish.name)
        if found is None:
            why = f"there is no pipeline {one_line(wish.name, 80)}"
            raise RunRefused(_NO_RUN, why, similar_pipeline_hint(root, wish.name))
        file = str(Path(root) / found)
    return load_pipeline(file, manifest=wish.manifest)


def require_runnable_pipeline(loaded: LoadedPipeline) -> None:
    """Refuse a pipeline that has problems with which a run may not begin.

    Raises:
        RunRefused: It has; they are named.
    """
    report = loaded.report.for_running()
    if not report.is_ok or loaded.pipeline is None:
        first = report.errors[0] if report.errors else None
        why = str(first) if first else "it cannot be read"
        more = f" (and {len(report.errors) - 1} more)" if len(report.errors) > 1 else ""
        remedy = "mend it; workbench pipeline validate names everything"
        raise RunRefused(_NO_RUN, why + more, remedy, report.errors)
    agents = [step.id for step in loaded.pipeline.steps if step.kind == "prompt"]
    if agents and loaded.manifest is None:
        why = f"{agents[0]} is done by a persona, and no manifest was found that says who that is"
        raise RunRefused(_NO_RUN, why, "write workbench.yaml, or name a manifest with --manifest")
    stuck = [step for step in loaded.pipeline.steps if step.unrunnable]
    if stuck:
        why = f"{stuck[0].id}: {stuck[0].unrunnable}, which is not run here"
        raise RunRefused(_NO_RUN, why, "write the step with prompt, command, gate or pipeline")


def request_run(
    journal: Journal, workspace: str, wish: RunRequest, actor: Actor, *, needs_trust: bool = True
) -> str:
    """Begin a run: its session, the request, and the grants; return the run's id.

    Raises:
        RunRefused: it could not begin.
    """
    if needs_trust and not is_trusted(journal, workspace):
        remedy = "look at it and say workbench trust"
        raise RunRefused(_NO_RUN, f"{workspace} is not trusted, so nothing in it acts", remedy)
    loaded = load_requested_pipeline(workspace, wish)
    require_runnable_pipeline(loaded)
    assert loaded.pipeline is not None
    try:
        check_input(loaded.pipeline.input, wish.input)
    except InputRefused as error:
        raise RunRefused(_NO_RUN, str(error), "give an input that satisfies it with --input") from None
    name, run_id = loaded.pipeline.name, journal.clock.new_id()
    from_run = _earlier_run(journal, workspace, loaded, wish) if wish.from_step else ""

    def work(live: TransactionTables, now: int) -> list[Event]:
        number = live.next_run_number(name, workspace)
        given, ref = redaction.redact_and_seal_text(wish.input, journal.blobs)
        created = SessionCreated(
            session_kind="pipeline", parent_id=wish.parent_id,
            title=redaction.redact_line(f"{name} #{number}", 120),
            workspace=workspace, provider="", model="", number=number, telemetry_id=journal.clock.new_id(),
        )  # fmt: skip
        wanted = RunRequested(
            pipeline=name, file=os.path.relpath(loaded.file, workspace), manifest=loaded.manifest_file or "",
            input=given, input_ref=ref, grants=wish.grants, from_step=wish.from_step, from_run=from_run,
            recordings=wish.recordings, depth=wish.depth,
        )  # fmt: skip
        rules = [
            _run_grant_rule(pattern, run_id, f"R{int(live.next_rule()[1:]) + n}")
            for n, pattern in enumerate(wish.grants)
        ]
        return [
            journal.event(created, run_id, actor, at=now), journal.event(wanted, run_id, actor, at=now),
            *(journal.event(rule, SYSTEM_SESSION, actor, at=now) for rule in rules),
        ]  # fmt: skip

    journal.transact(work)
    return run_id


def _run_grant_rule(pattern: str, run_id: str, number: str) -> RuleAdded:
    tool = pattern.partition("(")[0].strip() or "*"
    return RuleAdded(
        rule=number, effect="allow", origin="user", scope="run", tool=tool, pattern_kind="glob",
        pattern=pattern, description=f"granted for this run: {pattern}"[:200], scope_id=run_id,
    )  # fmt: skip


def kept_steps(pipeline: Pipeline, from_step: str) -> tuple[str, ...]:
    """Return the steps that a run from a step on takes from an earlier one, in file order.

    Raises:
        RunRefused: there is no such step.
    """
    needs = {step.id: step.needs for step in pipeline.steps}
    if from_step not in needs:
        raise RunRefused(_NO_RUN, f"there is no step {from_step}", f"there are {', '.join(needs)}")
    anew = descendants(from_step, needs) | {from_step}
    return tuple(step for step in needs if step not in anew)


def _earlier_run(journal: Journal, workspace: str, loaded: LoadedPipeline, wish: RunRequest) -> str:
    """Return the newest run of the pipeline that has everything before a step completed."""
    pipeline = loaded.pipeline
    assert pipeline is not None
    wanted = set(kept_steps(pipeline, wish.from_step))
    for run in journal.pipeline_states(workspace):
        if run.pipeline_name != pipeline.name:
            continue
        done = {
            row.step_id
            for row in journal.step_states(run.pipeline_id)
            if row.state in ("completed", "completed_empty", "skipped")
        }
        if wanted <= done:
            return run.pipeline_id
    why = f"no earlier run of {pipeline.name} has completed what comes before {wish.from_step}"
    raise RunRefused(_NO_RUN, why, "run the whole pipeline once")


# --- requests about a run that exists ------------------------------------------------------------------


def cancel_run(journal: Journal, run_id: str, actor: Actor, reason: str = "") -> None:
    """Ask for a run to be ended.

    Raises:
        RunRefused: it is over.
    """
    run = _existing_run(journal, run_id, "nothing was cancelled")
    if run.status in ("completed", "failed", "cancelled"):
        raise RunRefused("nothing was cancelled", f"the run is {run.status}", "begin another one")
    _append_run_request(journal, run_id, RunCancelRequested(reason=redaction.redact_line(reason, 500)), actor)


def resume_run(journal: Journal, run_id: str, actor: Actor, step: str = "") -> None:
    """Ask for a run to go on with what is not completed; with a step, also that one and what needs it.

    Raises:
        RunRefused: it is completed, or has no such step.
    """
    what = "nothing was resumed"
    run = _existing_run(journal, run_id, what)
    session = journal.session(run_id)
    if run.status == "completed" or session is None or session.status in TERMINAL_SESSION_STATES:
        raise RunRefused(what, f"the run is {run.status}", "begin another one with workbench pipeline run")
    if not step:
        _append_run_request(journal, run_id, ContinueRequested(), actor)
        return
    if all(row.step_id != step for row in journal.step_states(run_id)):
        raise RunRefused(what, f"the run has no step {step}", "see workbench pipeline status")
    _append_run_request(journal, run_id, StepRetryRequested(), actor, step)


def _existing_run(journal: Journal, run_id: str, what: str) -> PipelineState:
    run = journal.pipeline_state(run_id)
    if run is None:
        raise RunRefused(what, f"there is no run {run_id}", "see workbench pipeline list --runs")
    return run


def _append_run_request(
    journal: Journal, run_id: str, body: Body, actor: Actor, step: str | None = None
) -> None:
    journal.append([journal.event(body, run_id, actor, step=step)])
