"""Ask for runs: begun, cancelled, let go on. Every request is an event of the run's own session.

Owns the checks before a run exists, so that nothing is created that could not begin. Drives nothing.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.domain.body import Body
from workbench.domain.events import ContinueRequested, Event, RuleAdded, SessionCreated
from workbench.domain.machines import TERMINAL_SESSIONS
from workbench.domain.rows import PipelineState
from workbench.domain.runs import RunCancelRequested, RunRequested, StepRetryRequested
from workbench.domain.values import SYSTEM_SESSION, Actor
from workbench.host import record
from workbench.host.trusting import is_trusted
from workbench.journal.journal import Journal
from workbench.journal.live import LiveTables
from workbench.pipelines.inputs import InputRefused, check_input
from workbench.pipelines.load import LoadedPipeline, close_to, find_manifest, load, named, project_of
from workbench.pipelines.model import Pipeline
from workbench.pipelines.order import descendants
from workbench.pipelines.problems import Problem
from workbench.text.safe import one_line


class RunRefused(Exception):
    """A run was not begun, or takes no request; says what, why and what to do."""

    def __init__(self, what: str, why: str, remedy: str, problems: Sequence[Problem] = ()) -> None:
        self.what, self.why, self.remedy, self.problems = what, why, remedy, tuple(problems)
        super().__init__(f"{what}: {why}; {remedy}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
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


_WHAT = "no run was begun"


def find(workspace: str, wish: Wish) -> LoadedPipeline:
    """Load the pipeline that is wished for.

    Raises:
        RunRefused: there is none of that name.
    """
    file = wish.name if Path(wish.name).is_file() else str(Path(workspace) / wish.name)
    if not Path(file).is_file():
        manifest = find_manifest(workspace)
        root = project_of(manifest) if manifest else workspace
        found = named(root, wish.name)
        if found is None:
            why = f"there is no pipeline {one_line(wish.name, 80)}"
            raise RunRefused(_WHAT, why, close_to(root, wish.name))
        file = str(Path(root) / found)
    return load(file, manifest=wish.manifest)


def require_runnable(loaded: LoadedPipeline) -> None:
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
        raise RunRefused(_WHAT, why + more, remedy, report.errors)
    agents = [step.id for step in loaded.pipeline.steps if step.kind == "prompt"]
    if agents and loaded.manifest is None:
        why = f"{agents[0]} is done by a persona, and no manifest was found that says who that is"
        raise RunRefused(_WHAT, why, "write workbench.yaml, or name a manifest with --manifest")
    stuck = [step for step in loaded.pipeline.steps if step.unrunnable]
    if stuck:
        why = f"{stuck[0].id}: {stuck[0].unrunnable}, which is not run here"
        raise RunRefused(_WHAT, why, "write the step with prompt, command, gate or pipeline")


def request(journal: Journal, workspace: str, wish: Wish, actor: Actor, *, needs_trust: bool = True) -> str:
    """Begin a run: its session, the request, and the grants; return the run's id.

    Raises:
        RunRefused: it could not begin.
    """
    if needs_trust and not is_trusted(journal, workspace):
        remedy = "look at it and say workbench trust"
        raise RunRefused(_WHAT, f"{workspace} is not trusted, so nothing in it acts", remedy)
    loaded = find(workspace, wish)
    require_runnable(loaded)
    assert loaded.pipeline is not None
    try:
        check_input(loaded.pipeline.input, wish.input)
    except InputRefused as error:
        raise RunRefused(_WHAT, str(error), "give an input that satisfies it with --input") from None
    name, run_id = loaded.pipeline.name, journal.clock.new_id()
    from_run = _earlier(journal, workspace, loaded, wish) if wish.from_step else ""

    def work(live: LiveTables, now: int) -> list[Event]:
        number = live.next_run_number(name, workspace)
        given, ref = record.text(wish.input, journal.blobs)
        created = SessionCreated(
            session_kind="pipeline", parent_id=wish.parent_id,
            title=record.scrubbed_line(f"{name} #{number}", 120),
            workspace=workspace, provider="", model="", number=number, telemetry_id=journal.clock.new_id(),
        )  # fmt: skip
        wanted = RunRequested(
            pipeline=name, file=os.path.relpath(loaded.file, workspace), manifest=loaded.manifest_file or "",
            input=given, input_ref=ref, grants=wish.grants, from_step=wish.from_step, from_run=from_run,
            recordings=wish.recordings, depth=wish.depth,
        )  # fmt: skip
        rules = [
            _grant(pattern, run_id, f"R{int(live.next_rule()[1:]) + n}")
            for n, pattern in enumerate(wish.grants)
        ]
        return [
            journal.event(created, run_id, actor, at=now), journal.event(wanted, run_id, actor, at=now),
            *(journal.event(rule, SYSTEM_SESSION, actor, at=now) for rule in rules),
        ]  # fmt: skip

    journal.transact(work)
    return run_id


def _grant(pattern: str, run_id: str, number: str) -> RuleAdded:
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
        raise RunRefused(_WHAT, f"there is no step {from_step}", f"there are {', '.join(needs)}")
    anew = descendants(from_step, needs) | {from_step}
    return tuple(step for step in needs if step not in anew)


def _earlier(journal: Journal, workspace: str, loaded: LoadedPipeline, wish: Wish) -> str:
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
    raise RunRefused(_WHAT, why, "run the whole pipeline once")


# --- requests about a run that exists ------------------------------------------------------------------


def cancel(journal: Journal, run_id: str, actor: Actor, reason: str = "") -> None:
    """Ask for a run to be ended.

    Raises:
        RunRefused: it is over.
    """
    run = _run(journal, run_id, "nothing was cancelled")
    if run.status in ("completed", "failed", "cancelled"):
        raise RunRefused("nothing was cancelled", f"the run is {run.status}", "begin another one")
    _ask(journal, run_id, RunCancelRequested(reason=record.scrubbed_line(reason, 500)), actor)


def resume(journal: Journal, run_id: str, actor: Actor, step: str = "") -> None:
    """Ask for a run to go on with what is not completed; with a step, also that one and what needs it.

    Raises:
        RunRefused: it is completed, or has no such step.
    """
    what = "nothing was resumed"
    run = _run(journal, run_id, what)
    session = journal.session(run_id)
    if run.status == "completed" or session is None or session.status in TERMINAL_SESSIONS:
        raise RunRefused(what, f"the run is {run.status}", "begin another one with workbench pipeline run")
    if not step:
        _ask(journal, run_id, ContinueRequested(), actor)
        return
    if all(row.step_id != step for row in journal.step_states(run_id)):
        raise RunRefused(what, f"the run has no step {step}", "see workbench pipeline status")
    _ask(journal, run_id, StepRetryRequested(), actor, step)


def _run(journal: Journal, run_id: str, what: str) -> PipelineState:
    run = journal.pipeline_state(run_id)
    if run is None:
        raise RunRefused(what, f"there is no run {run_id}", "see workbench pipeline list --runs")
    return run


def _ask(journal: Journal, run_id: str, body: Body, actor: Actor, step: str | None = None) -> None:
    journal.append([journal.event(body, run_id, actor, step=step)])
