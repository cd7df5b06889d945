"""`workbench pipeline graph`: a pipeline or a run as a picture, in text, mermaid or svg.

Owns what is drawn and how wide. The drawing is `workbench.graph`; a run is drawn as it stands.
"""

import shutil
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.console import Console
from workbench.cli.errors import DONE, FAILED, Refusal
from workbench.cli.pipeline.lookup import run_named
from workbench.cli.place import opened, workspace_of
from workbench.pipelines.load import LoadedPipeline
from workbench.text.safe import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workbench.domain.rows import PipelineState
    from workbench.graph.facts import Facts
    from workbench.graph.layout import Layout
    from workbench.graph.model import Step
    from workbench.journal.journal import Journal

EXAMPLE = """workbench pipeline graph nightly
workbench pipeline graph nightly#41 --format svg > nightly.svg"""

_LEAST, _WIDEST, _USUAL = 20, 10_000, 100


def configure(parser: ArgumentParser) -> None:
    """Add what is drawn and how."""
    parser.add_argument(
        "name", metavar="NAME|FILE|RUN", help="a pipeline, a file, or a run: its id or NAME#NUMBER"
    )
    parser.add_argument(
        "--format", choices=("text", "mermaid", "svg"), default="text", help="(else: text)"
    )  # fmt: skip
    parser.add_argument("--width", type=int, metavar="N", help="cells of a line (else: the terminal's)")
    parser.add_argument("--ascii", action="store_true", help="draw in ASCII only")
    parser.add_argument("--implied", action="store_true", help="draw edges that others imply, too")


def execute(options: Namespace, console: Console) -> int:
    """Print the picture; 1 when the pipeline has errors, which are said beside it."""
    from workbench.graph.layout import arrange
    from workbench.graph.model import build

    width = options.width or shutil.get_terminal_size((_USUAL, 24)).columns
    if not _LEAST <= width <= _WIDEST:
        why = f"{options.width} is no width between {_LEAST} and {_WIDEST}"
        raise Refusal("nothing was drawn", why, "leave --width out or give a number of cells")
    is_ascii = options.ascii or console.signs.minus == "-"
    steps, by_id, problems = _found(options)
    graph = build(steps)
    layout = arrange(graph, show_implied=options.implied, apart=is_ascii)
    facts = {at: by_id[step.id] for at, step in enumerate(graph.steps) if step.id in by_id}
    _print(layout, facts, options.format, width, is_ascii, console)
    problems = problems or graph.problems
    for problem in problems:
        console.note(problem)
    return FAILED if problems else DONE


def _print(
    layout: "Layout", facts: "Mapping[int, Facts]", form: str, width: int, is_ascii: bool, console: Console
) -> None:
    from workbench.graph.facts import PENDING, standing_slot
    from workbench.graph.fit import fit, labels, no_slots
    from workbench.graph.mermaid import mermaid
    from workbench.graph.svg import svg
    from workbench.graph.walk import hidden_note

    by_id = {layout.graph.steps[at].id: fact for at, fact in facts.items()}

    def known_slot(step: "Step") -> int:
        return standing_slot(step, by_id.get(step.id, PENDING))

    slots = known_slot if facts else no_slots
    if form == "mermaid":
        console.say(mermaid(layout, facts or None).rstrip("\n"))
    elif form == "svg":
        console.say(svg(layout, labels(layout.graph, 40, slots), facts or None).rstrip("\n"))
    else:
        picture = fit(layout, width, slots=slots, is_ascii=is_ascii)
        for line in picture.lines(facts):
            console.say(line)
        if picture.width > width:
            console.note(f"its lines need {picture.width} cells: the picture is wider than {width}")
        if note := hidden_note(layout):
            console.note(f"{note}; --implied draws them")


def _found(options: Namespace) -> "tuple[Sequence[Step], Mapping[str, Facts], list[str]]":
    """Return steps, how they stand, and what is wrong: of a pipeline, else of a run."""
    from workbench.host.steps.requests import RunRefused, Wish, find

    workspace = workspace_of(options.directory)
    if "#" not in options.name:
        try:
            return _of_pipeline(find(workspace, Wish(name=options.name)))
        except RunRefused as error:
            if Path(options.name).suffix in (".yaml", ".yml"):
                raise Refusal("nothing was drawn", error.why, error.remedy) from None
            return _of_run(workspace, options.name, error.remedy)
    return _of_run(workspace, options.name)


def _of_pipeline(loaded: LoadedPipeline) -> "tuple[Sequence[Step], Mapping[str, Facts], list[str]]":
    from workbench.draw.run_graph import planned_steps
    from workbench.graph.fold import fold
    from workbench.pipelines.plan import plans

    wrong = [str(problem) for problem in loaded.report.ordered() if problem in loaded.report.errors]
    if loaded.pipeline is None:
        why = wrong[0] if wrong else f"{loaded.file} is no pipeline"
        raise Refusal("nothing was drawn", why, "see workbench pipeline validate")
    lists = {
        step.id: tuple(map(str, range(len(step.matrix.items))))
        for step in loaded.pipeline.steps
        if step.matrix is not None and step.matrix.items is not None
    }
    planned = planned_steps(plans(loaded.pipeline, loaded.manifest), lists)
    return fold(planned, alike=False).steps, {}, wrong


def _of_run(
    workspace: str, word: str, remedy: str = ""
) -> "tuple[Sequence[Step], Mapping[str, Facts], list[str]]":
    from workbench.draw.run_graph import RunPaint, steps_of
    from workbench.graph.fold import fold
    from workbench.views.pipeline import items_of, pipeline, plans_of

    with opened() as (_, journal):
        key = (row := _run_named(journal, workspace, word, remedy)).pipeline_id
        plan = plans_of(journal.events(key, 0, 100))
        listed = {one.id: items_of(journal.reader.step_events(key, one.id)) for one in plan if one.is_matrix}
        states, actions = journal.step_states(key), journal.actions(key)
        run = pipeline(row, plan, states, actions, journal.now(), listed=listed)
    paint, folded = RunPaint(run), fold(steps_of(run), alike=False)
    return folded.steps, {step.id: paint.of(step.id, folded) for step in folded.steps}, []


def _run_named(journal: "Journal", workspace: str, word: str, remedy: str) -> "PipelineState":
    """Return a run; where the word is no pipeline either, say so and what may have been meant."""
    try:
        return run_named(journal, workspace, word)
    except Refusal as refusal:
        if not remedy or "there is none" not in refusal.why:
            raise
        why = f"there is no pipeline and no run {one_line(word, 60)}"
        raise Refusal("nothing was drawn", why, remedy) from None
