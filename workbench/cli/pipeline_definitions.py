"""`workbench pipeline list, validate, graph` and `run --dry-run`: pipelines as their files define them."""

import shutil
import threading
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from workbench.cli.arguments import add_json_option
from workbench.cli.console import Console
from workbench.cli.context import open_journal
from workbench.cli.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, Refusal
from workbench.cli.pipeline_output import find_run, place_json, run_json, run_line
from workbench.cli.rows import JsonFields
from workbench.effects.files import workspace_path
from workbench.journal.place_queue import waiting_runs
from workbench.pipelines import load
from workbench.pipelines.documents import PIPELINE_SUFFIXES, find_manifest, project_folder
from workbench.pipelines.granted_patterns import granted_patterns, patterns_of_steps, still_asked
from workbench.pipelines.model import Manifest, Pipeline, Step
from workbench.pipelines.step_notes import step_notes, wait_text
from workbench.pipelines.step_order import parallel_waves
from workbench.text.human import counted
from workbench.text.problems import Problem, ProblemReport
from workbench.text.safe import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workbench.domain.rows import PipelineState
    from workbench.graph.layout import Layout
    from workbench.graph.model import GraphStep, StepFacts
    from workbench.host.steps.run_requests import RunRequest
    from workbench.journal.journal import Journal

LIST_EXAMPLE = """workbench pipeline list
workbench pipeline list --runs --json"""


def configure_list(parser: ArgumentParser) -> None:
    parser.add_argument("--runs", action="store_true", help="list runs instead, the newest first")
    parser.add_argument("--all", action="store_true", help="runs of every workspace")
    parser.add_argument("--limit", type=int, default=50, metavar="N", help="at most N runs (default: 50)")
    add_json_option(parser, "print a JSON array")


def execute_list(options: Namespace, console: Console) -> int:
    workspace = workspace_path(options.directory)
    return (
        _print_runs(workspace, options, console)
        if options.runs
        else _print_pipelines(workspace, options, console)
    )


def _print_pipelines(workspace: str, options: Namespace, console: Console) -> int:
    pipelines = load.list_pipelines(_project_root(workspace))
    width = max((len(entry.name) for entry in pipelines), default=0)
    lines = [_pipeline_line(entry, width) for entry in pipelines]
    nothing = "No pipeline yet. One is a file in .wave/pipelines or .workbench/pipelines."
    facts = [
        {
            "name": entry.name, "file": entry.file, "description": entry.description, "steps": entry.steps,
            "ok": not entry.is_broken,
        }
        for entry in pipelines
    ]  # fmt: skip
    return console.result(facts, lines or [nothing], is_json=options.json)


def _pipeline_line(entry: load.PipelineEntry, width: int) -> str:
    what = "cannot be used; see workbench pipeline validate" if entry.is_broken else entry.description
    return f"{entry.name.ljust(width)}  {entry.steps:>3} steps  {what or entry.file}"


def _print_runs(workspace: str, options: Namespace, console: Console) -> int:
    with open_journal() as journal:
        runs = journal.pipeline_states(None if options.all else workspace, max(0, options.limit))
        now, places = journal.now(), waiting_runs(journal.home)
    lines = [run_line(run, console.signs, now, places.get(run.pipeline_id)) for run in runs]
    nothing = "No run yet. workbench pipeline run NAME starts one."
    facts = [run_json(run) | {"place": place_json(places.get(run.pipeline_id))} for run in runs]
    return console.result(facts, lines or [nothing], is_json=options.json)


VALIDATE_EXAMPLE = """workbench pipeline validate .wave/pipelines/nightly.yaml
workbench pipeline validate nightly
workbench pipeline validate --strict --json"""
WATCHED_SUFFIXES: Final = (".yaml", ".yml", ".json", ".md")


def configure_validate(parser: ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="*", metavar="FILE",
        help="pipelines or manifests, or names of pipelines (default: all of this project)",
    )  # fmt: skip
    parser.add_argument("--manifest", metavar="M", help="the manifest (default: the nearest one upwards)")
    parser.add_argument("--root", metavar="DIR", help="what paths in the files are relative to")
    parser.add_argument("--strict", action="store_true", help="treat warnings as errors")
    parser.add_argument("--watch", action="store_true", help="keep running, and validate again after changes")
    add_json_option(parser, "print an object, or an array for several files")


def execute_validate(options: Namespace, console: Console) -> int:
    """Validate files; 0 with warnings, 1 with errors."""
    if options.root and not Path(options.root).is_dir():
        why = f"there is no folder {options.root}"
        raise Refusal("nothing was validated", why, "name the folder of the project with --root")
    code = _validate_files(options, console)
    if not options.watch:
        return code
    from workbench.effects.folders import folder_changes

    for _ in folder_changes(
        _watched_folders(options), threading.Event(), is_wanted=lambda path: path.endswith(WATCHED_SUFFIXES)
    ):
        _validate_files(options, console)
    return EXIT_INTERRUPTED


def _watched_folders(options: Namespace) -> list[str]:
    """Return the folders of the files that are validated, and that of their manifest."""
    files = _files_to_validate(options)
    manifests = [options.manifest or find_manifest(file) for file in files]
    named = [file for file in (*files, *manifests) if file is not None]
    return sorted({str(Path(file).resolve().parent) for file in named})


def _validate_files(options: Namespace, console: Console) -> int:
    files = _files_to_validate(options)
    results = [(file, _check_file(file, options)) for file in files]
    if options.json:
        facts = [_report_json(file, report) for file, report in results]
        console.json(facts[0] if len(options.files) == 1 else facts)
    else:
        _print_reports(results, console)
    return EXIT_OK if all(report.is_ok for _, report in results) else EXIT_FAILED


def _files_to_validate(options: Namespace) -> list[str]:
    workspace = workspace_path(options.directory)
    if not options.files:
        return _all_files(workspace)
    root = options.root or _project_root(workspace)
    return [file if Path(file).exists() else _file_of_pipeline(root, file) for file in options.files]


def _file_of_pipeline(root: str, word: str) -> str:
    file = load.find_pipeline(root, word)
    if file is None and Path(word).suffix not in PIPELINE_SUFFIXES:
        why = f"there is no file and no pipeline {one_line(word, 80)}"
        raise Refusal("nothing was validated", why, load.similar_pipeline_hint(root, word))
    return f"{root}/{file}" if file else word


def _project_root(workspace: str) -> str:
    manifest = find_manifest(workspace)
    return project_folder(manifest) if manifest else workspace


def _all_files(workspace: str) -> list[str]:
    manifest, root = find_manifest(workspace), _project_root(workspace)
    files = [f"{root}/{pipeline.file}" for pipeline in load.list_pipelines(root)]
    if manifest:
        files.insert(0, manifest)
    if not files:
        why = f"{workspace} has no manifest and no pipeline"
        raise Refusal("nothing was validated", why, "name a FILE")
    return files


def _check_file(file: str, options: Namespace) -> ProblemReport:
    if Path(file).is_file() and load.is_manifest(file):
        report = load.load_manifest(file)[1]
    else:
        report = load.load_pipeline(file, manifest=options.manifest, root=options.root).report
    return report.strict() if options.strict else report


def _report_json(file: str, report: ProblemReport) -> JsonFields:
    return {
        "file": file,
        "ok": report.is_ok,
        "runnable": report.is_runnable,
        "errors": [_problem_json(problem) for problem in report.errors],
        "warnings": [_problem_json(problem) for problem in report.warnings],
    }


def _problem_json(problem: Problem) -> JsonFields:
    fields: JsonFields = {
        "code": problem.code, "message": problem.message, "file": problem.file, "line": problem.line,
        "column": problem.column, "path": problem.key,
    }  # fmt: skip
    return {**fields, "stops_run": True} if problem.severity == "warning" and problem.fatal else fields


def _print_reports(results: list[tuple[str, ProblemReport]], console: Console) -> None:
    printed: set[str] = set()
    for file, report in results:
        for problem, others in report.grouped():
            # Several pipelines share one manifest: what is wrong with it is said once.
            if str(problem) not in printed:
                printed.add(str(problem))
                console.say(f"{problem}{_other_places(others)}")
        status = "ok" if report.is_runnable else "risk" if report.is_ok else "failed"
        counts = [counted(len(report.errors), "error"), counted(len(report.warnings), "warning")]
        if report.stopping:
            counts.append(f"could not start: {len(report.stopping)}")
        console.say(f"{console.signs.of(status)} {file}: {', '.join(counts)}")


def _other_places(lines: "Sequence[int]") -> str:
    """Return where else in the file the same is wrong."""
    numbers = ", ".join(map(str, lines[:6])) + (" …" if len(lines) > 6 else "")
    return f" ({len(lines) + 1} times, also in line{'s' * (len(lines) > 1)} {numbers})" if lines else ""


GRAPH_EXAMPLE = """workbench pipeline graph nightly
workbench pipeline graph nightly#41 --format svg > nightly.svg"""
_LEAST_WIDTH, _MOST_WIDTH, _USUAL_WIDTH = 20, 10_000, 100


def configure_graph(parser: ArgumentParser) -> None:
    parser.add_argument(
        "name", metavar="NAME|FILE|RUN", help="a pipeline, a file, or a run: its id or NAME#NUMBER"
    )
    parser.add_argument(
        "--format", choices=("text", "mermaid", "svg"), default="text", help="(default: text)"
    )  # fmt: skip
    parser.add_argument("--width", type=int, metavar="N", help="cells of a line (default: the terminal's)")
    parser.add_argument("--ascii", action="store_true", help="draw in ASCII only")
    parser.add_argument("--implied", action="store_true", help="draw edges that others imply, too")


def execute_graph(options: Namespace, console: Console) -> int:
    """Print the picture; 1 when the pipeline has errors, which are said beside it."""
    from workbench.graph.layout import compute_layout
    from workbench.graph.model import build_graph

    width = options.width or shutil.get_terminal_size((_USUAL_WIDTH, 24)).columns
    if not _LEAST_WIDTH <= width <= _MOST_WIDTH:
        why = f"{options.width} is not a width between {_LEAST_WIDTH} and {_MOST_WIDTH}"
        raise Refusal("nothing was drawn", why, "leave --width out or give a number of cells")
    is_ascii = options.ascii or console.signs.minus == "-"
    steps, by_id, problems = _graph_input(options)
    graph = build_graph(steps)
    layout = compute_layout(graph, show_implied=options.implied, apart=is_ascii)
    facts = {index: by_id[step.id] for index, step in enumerate(graph.steps) if step.id in by_id}
    _print_graph(layout, facts, options.format, width, is_ascii, console)
    problems = problems or graph.problems
    console.note_lines(problems)
    return EXIT_FAILED if problems else EXIT_OK


def _print_graph(
    layout: "Layout",
    facts: "Mapping[int, StepFacts]",
    form: str,
    width: int,
    is_ascii: bool,
    console: Console,
) -> None:
    from workbench.graph.export import mermaid_text, svg_document
    from workbench.graph.fit import fit_picture, no_badge_width, step_labels
    from workbench.graph.model import PENDING_FACTS
    from workbench.graph.navigation import hidden_edges_note
    from workbench.graph.step_text import static_badge_width

    by_id = {layout.graph.steps[index].id: fact for index, fact in facts.items()}

    def known_slot(step: "GraphStep") -> int:
        return static_badge_width(step, by_id.get(step.id, PENDING_FACTS))

    slots = known_slot if facts else no_badge_width
    if form == "mermaid":
        console.say(mermaid_text(layout, facts or None).rstrip("\n"))
    elif form == "svg":
        console.say(svg_document(layout, step_labels(layout.graph, 40, slots), facts or None).rstrip("\n"))
    else:
        picture = fit_picture(layout, width, slots=slots, is_ascii=is_ascii)
        console.say_lines(picture.lines(facts))
        if picture.width > width:
            console.note(f"its lines need {picture.width} cells: the picture is wider than {width}")
        if note := hidden_edges_note(layout):
            console.note(f"{note}; --implied draws them")


def _graph_input(options: Namespace) -> "tuple[Sequence[GraphStep], Mapping[str, StepFacts], list[str]]":
    from workbench.host.steps.run_requests import RunRefused, RunRequest, load_requested_pipeline

    workspace = workspace_path(options.directory)
    if "#" not in options.name:
        try:
            return _input_of_pipeline(load_requested_pipeline(workspace, RunRequest(name=options.name)))
        except RunRefused as error:
            if Path(options.name).suffix in (".yaml", ".yml"):
                raise Refusal("nothing was drawn", error.why, error.remedy) from None
            return _input_of_run(workspace, options.name, error.remedy)
    return _input_of_run(workspace, options.name)


def _input_of_pipeline(
    loaded: load.LoadedPipeline,
) -> "tuple[Sequence[GraphStep], Mapping[str, StepFacts], list[str]]":
    from workbench.graph.navigation import fold_steps
    from workbench.graph.run_graph import planned_graph_steps
    from workbench.pipelines.step_order import step_plans

    problems = [str(problem) for problem in loaded.report.ordered() if problem in loaded.report.errors]
    if loaded.pipeline is None:
        why = problems[0] if problems else f"{loaded.file} is not a pipeline"
        raise Refusal("nothing was drawn", why, "see workbench pipeline validate")
    items_by_step = {
        step.id: tuple(map(str, range(len(step.matrix.items))))
        for step in loaded.pipeline.steps
        if step.matrix is not None and step.matrix.items is not None
    }
    graph_steps_planned = planned_graph_steps(step_plans(loaded.pipeline, loaded.manifest), items_by_step)
    return fold_steps(graph_steps_planned, alike=False).steps, {}, problems


def _input_of_run(
    workspace: str, word: str, remedy: str = ""
) -> "tuple[Sequence[GraphStep], Mapping[str, StepFacts], list[str]]":
    from workbench.graph.navigation import fold_steps
    from workbench.graph.run_graph import RunFacts, graph_steps
    from workbench.views.pipeline import last_started_step_plans, matrix_item_ids, pipeline_run

    with open_journal() as journal:
        key = (row := _find_run_or_explain(journal, workspace, word, remedy)).pipeline_id
        plan = last_started_step_plans(journal.events(key, 0, 100))
        items_by_step = {
            step_plan.id: matrix_item_ids(journal.step_events(key, step_plan.id), journal.blobs.read)
            for step_plan in plan
            if step_plan.is_matrix
        }
        states, actions = journal.step_states(key), journal.actions(key)
        run = pipeline_run(row, plan, states, actions, journal.now(), listed=items_by_step)
    run_facts, folded_steps = RunFacts(run), fold_steps(graph_steps(run), alike=False)
    return (
        folded_steps.steps,
        {step.id: run_facts.of(step.id, folded_steps) for step in folded_steps.steps},
        [],
    )


def _find_run_or_explain(journal: "Journal", workspace: str, word: str, remedy: str) -> "PipelineState":
    """Return a run; where the word is no pipeline either, say so and what may have been meant."""
    try:
        return find_run(journal, workspace, word)
    except Refusal as refusal:
        if not remedy or "there is none" not in refusal.why:
            raise
        why = f"there is no pipeline and no run {one_line(word, 60)}"
        raise Refusal("nothing was drawn", why, remedy) from None


class DryRunResult(Struct, frozen=True, kw_only=True):
    """What a run with these words would come to."""

    is_able: bool
    wrong_input: str = ""
    kept: frozenset[str] = frozenset()
    """Steps that are taken from an earlier run."""


def _try_run(loaded: load.LoadedPipeline, request: "RunRequest") -> DryRunResult:
    from workbench.host.steps.run_requests import kept_steps
    from workbench.pipelines.contracts import InputRefused, check_input

    pipeline = loaded.pipeline
    if pipeline is None:
        return DryRunResult(is_able=False)
    input_problem = ""
    try:
        check_input(pipeline.input, request.input)
    except InputRefused as error:
        input_problem = str(error)
    is_able = loaded.report.for_running().is_ok and not any(s.unrunnable for s in pipeline.steps)
    kept = kept_steps(pipeline, request.from_step) if request.from_step else ()
    return DryRunResult(
        is_able=is_able and not input_problem, wrong_input=input_problem, kept=frozenset(kept)
    )


def print_plan(
    loaded: load.LoadedPipeline, request: "RunRequest", options: Namespace, console: Console
) -> int:
    """Tell the plan; 1 if a run could not begin."""
    result, pipeline = _try_run(loaded, request), loaded.pipeline
    if options.output_format in ("json", "stream-json", "s2"):
        console.json(_plan_json(loaded, result))
        return EXIT_OK if result.is_able else EXIT_FAILED
    console.note_lines(map(str, loaded.report.for_running().ordered()))
    if result.wrong_input:
        console.note(one_line(result.wrong_input, 600))
    if pipeline is None:
        return EXIT_FAILED
    _print_steps(pipeline, loaded.manifest, result, console)
    if not result.is_able:
        console.say("A run could not start as it is.")
    return EXIT_OK if result.is_able else EXIT_FAILED


def _print_steps(
    pipeline: Pipeline, manifest: Manifest | None, result: DryRunResult, console: Console
) -> None:
    count = f"{len(pipeline.steps)} step{'' if len(pipeline.steps) == 1 else 's'}"
    console.say(f"{pipeline.name}: {count}, nothing is run")
    for number, names in enumerate(parallel_waves({s.id: s.needs for s in pipeline.steps}), 1):
        for name in names:
            kept_note = "  taken from an earlier run" if name in result.kept else ""
            console.say(f"  {number}  {_step_line(pipeline.step(name), manifest)}{kept_note}")
    grants = patterns_of_steps((step for step in pipeline.steps if step.id not in result.kept), manifest)
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
    pipeline, report = loaded.pipeline, loaded.report.for_running()
    return {
        "pipeline": pipeline.name if pipeline else None, "file": loaded.file, "ok": result.is_able,
        "input_problem": result.wrong_input or None,
        "steps": [
            {**_step_json(step, loaded.manifest), "taken_from_earlier_run": step.id in result.kept}
            for step in _steps_in_order(pipeline)
        ],
        "grants": list(granted_patterns(loaded)), "still_asks": list(still_asked(granted_patterns(loaded))),
        "errors": [_problem_json(problem) for problem in report.errors],
        "warnings": [_problem_json(problem) for problem in report.warnings],
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
        "matrix": step.matrix is not None, "cannot_run": step.unrunnable or None,
    }  # fmt: skip
