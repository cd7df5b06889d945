"""`workbench pipeline run --dry-run`: what a run would do and ask."""

import os
from argparse import Namespace
from typing import TYPE_CHECKING

from msgspec import Struct

from workbench.cli.console import Console
from workbench.cli.errors import EXIT_FAILED, EXIT_OK
from workbench.cli.pipeline_output import code_host_json, problem_json
from workbench.cli.row_json import JsonFields
from workbench.pipelines import load
from workbench.pipelines.code_hosts import CodeHost, names_code_host
from workbench.pipelines.granted_patterns import patterns_of_steps, still_asked
from workbench.pipelines.model import Manifest, Pipeline, Step
from workbench.pipelines.repository_checks import check_repository, with_personas_of_host
from workbench.pipelines.step_notes import step_notes, wait_text
from workbench.pipelines.step_order import parallel_waves
from workbench.text.human import counted
from workbench.text.safe import one_line

if TYPE_CHECKING:
    from workbench.host.steps.run_requests import RunRequest


class DryRunResult(Struct, frozen=True, kw_only=True):
    """What a run with these words would come to."""

    pipeline: Pipeline | None
    """With the personas that the code host gives its steps."""
    is_able: bool
    wrong_input: str = ""
    host: CodeHost | None = None
    """The code host of the project, where a step names it."""
    kept: frozenset[str] = frozenset()
    """Steps that are taken from an earlier run."""


def _try_run(loaded: load.LoadedPipeline, request: "RunRequest") -> DryRunResult:
    from workbench.host.steps.run_requests import kept_steps
    from workbench.pipelines.contracts import InputRefused, check_input

    pipeline = loaded.pipeline
    if pipeline is None:
        return DryRunResult(pipeline=None, is_able=False)
    host = check_repository(loaded, os.environ)
    input_problem = ""
    try:
        check_input(pipeline.input, request.input)
    except InputRefused as error:
        input_problem = str(error)
    is_able = loaded.report.for_running().is_ok and not any(s.unrunnable for s in pipeline.steps)
    kept = kept_steps(pipeline, request.from_step) if request.from_step else ()
    return DryRunResult(
        pipeline=with_personas_of_host(pipeline, loaded.manifest, host), kept=frozenset(kept), host=host,
        is_able=is_able and not input_problem, wrong_input=input_problem,
    )  # fmt: skip


def print_plan(
    loaded: load.LoadedPipeline, request: "RunRequest", options: Namespace, console: Console
) -> int:
    """Tell the plan; 1 if a run could not begin."""
    result = _try_run(loaded, request)
    pipeline = result.pipeline
    if options.output_format in ("json", "stream-json", "s2"):
        console.json(_plan_json(loaded, result))
        return EXIT_OK if result.is_able else EXIT_FAILED
    console.note_lines(map(str, loaded.report.for_running().ordered()))
    if result.wrong_input:
        console.note(one_line(result.wrong_input, 600))
    if pipeline is None:
        return EXIT_FAILED
    if about := load.ProjectFacts.of(loaded.manifest).text:
        console.say(about)
    if result.host is not None:
        console.say(f"code host: {result.host.summary()}")
    _print_steps(pipeline, loaded.manifest, result, console)
    if not result.is_able:
        console.say("A run could not start as it is.")
    return EXIT_OK if result.is_able else EXIT_FAILED


def _print_steps(
    pipeline: Pipeline, manifest: Manifest | None, result: DryRunResult, console: Console
) -> None:
    console.say(f"{pipeline.name}: {counted(len(pipeline.steps), 'step')}, nothing is run")
    for number, names in enumerate(parallel_waves({s.id: s.needs for s in pipeline.steps}), 1):
        for name in names:
            kept_note = "  taken from an earlier run" if name in result.kept else ""
            console.say(f"  {number}  {_step_line(pipeline.step(name), manifest)}{kept_note}")
    running = [step for step in pipeline.steps if step.id not in result.kept]
    grants = patterns_of_steps(running, manifest)
    for name in dict.fromkeys(step.persona for step in running if names_code_host(step.persona)):
        console.say(f"{one_line(name, 60)}: its calls are listed when the code host is known")
    if grants:
        console.say("Would ask for every call, or be granted for this run with --grant-personas:")
        for pattern in grants:
            console.say(f"  {pattern}")
        console.say("Would still ask:")
        for line in still_asked(grants):
            console.say(f"  {line}")


def _step_line(step: Step, manifest: Manifest | None) -> str:
    who = f"agent {step.persona}" if step.kind == "prompt" and step.persona else step.kind
    who += f" {step.source}" if step.kind == "pipeline" and step.source else ""
    facts = [f"{step.id:<24} {wait_text(step) or who}", *step_notes(step, manifest)]
    if step.unrunnable:
        facts.append(f"cannot run: {step.unrunnable}")
    return "  ".join(facts)


def _plan_json(loaded: load.LoadedPipeline, result: DryRunResult) -> JsonFields:
    pipeline, report = result.pipeline, loaded.report.for_running()
    grants = patterns_of_steps(pipeline.steps if pipeline else (), loaded.manifest)
    return {
        "pipeline": pipeline.name if pipeline else None, "file": loaded.file, "ok": result.is_able,
        "input_problem": result.wrong_input or None, **code_host_json(result.host),
        "steps": [
            {**_step_json(step, loaded.manifest), "taken_from_earlier_run": step.id in result.kept}
            for step in _steps_in_order(pipeline)
        ],
        "grants": list(grants), "still_asks": list(still_asked(grants)),
        "errors": [problem_json(problem) for problem in report.errors],
        "warnings": [problem_json(problem) for problem in report.warnings],
    }  # fmt: skip


def _steps_in_order(pipeline: Pipeline | None) -> list[Step]:
    if pipeline is None:
        return []
    order = parallel_waves({step.id: step.needs for step in pipeline.steps})
    return [pipeline.step(name) for names in order for name in names]


def _step_json(step: Step, manifest: Manifest | None) -> JsonFields:
    return {
        "step_id": step.id, "kind": step.kind, "persona": step.persona, "dependencies": list(step.needs),
        "contracts": [contract.written_type for contract in step.contracts],
        "attempts": step.failing.attempts,
        "on_failure": step.failing.then, "timeout_seconds": step.timeout_seconds(manifest),
        "sandbox": step.level(manifest), "matrix": step.matrix is not None,
        "cannot_run": step.unrunnable or None,
    }  # fmt: skip
