"""`workbench pipeline graph`: a pipeline or a run as a drawing, Mermaid or SVG."""

import shutil
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.console import Console
from workbench.cli.errors import EXIT_FAILED, EXIT_OK, Refusal
from workbench.cli.journal_access import open_journal
from workbench.cli.named_file import named_pipeline
from workbench.cli.pipeline_output import RunNotFound, find_run
from workbench.effects.files import workspace_path
from workbench.pipelines import load
from workbench.text.safe import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workbench.domain.rows import PipelineState
    from workbench.graph.layout import GraphLayout
    from workbench.graph.model import GraphStep, StepFacts
    from workbench.journal.journal import Journal


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
    """Print the picture, and errors of the pipeline on stderr; return 1 where there are any."""
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
    layout: "GraphLayout",
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
            request = RunRequest(name=named_pipeline(options.name))
            return _input_of_pipeline(load_requested_pipeline(workspace, request))
        except RunRefused as error:
            if Path(options.name).suffix in (".yaml", ".yml"):
                raise Refusal("nothing was drawn", error.why, error.remedy) from None
            return _input_of_run(workspace, options.name, error.remedy)
    return _input_of_run(workspace, options.name)


def _input_of_pipeline(
    loaded: load.LoadedPipeline,
) -> "tuple[Sequence[GraphStep], Mapping[str, StepFacts], list[str]]":
    from workbench.graph.folding import fold_steps
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
    from workbench.graph.folding import fold_steps
    from workbench.graph.run_graph import RunFacts, graph_steps
    from workbench.journal.session_queries import refused_calls
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
        with journal.snapshot() as database:
            refused = refused_calls(database, key)
        run = pipeline_run(row, plan, states, actions, journal.now(), listed=items_by_step, refused=refused)
    run_facts, folded_steps = RunFacts(run), fold_steps(graph_steps(run), alike=False)
    return (
        folded_steps.steps,
        {step.id: run_facts.of(step.id, folded_steps) for step in folded_steps.steps},
        [],
    )


def _find_run_or_explain(journal: "Journal", workspace: str, word: str, remedy: str) -> "PipelineState":
    """Return a run, or raise a Refusal that suggests similar names of pipelines."""
    try:
        return find_run(journal, workspace, word)
    except RunNotFound:
        if not remedy:
            raise
        why = f"there is no pipeline and no run {one_line(word, 60)}"
        raise Refusal("nothing was drawn", why, remedy) from None
