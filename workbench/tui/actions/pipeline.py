"""Keys of the pipeline pane: along the edges, folds, views of the graph, and what is asked of a run."""

from workbench.tui.messages import ArtifactWanted, CompareWanted, GateWanted, LaunchWanted, RunBeside, Said
from workbench.tui.panes.pipeline import PipelinePane


def edge_left(pane: PipelinePane) -> None:
    """Go against an edge."""
    pane.graph.go("left")


def edge_right(pane: PipelinePane) -> None:
    """Go along an edge."""
    pane.graph.go("right")


def edge_down(pane: PipelinePane) -> None:
    """Go to the step below."""
    pane.graph.go("down")


def edge_up(pane: PipelinePane) -> None:
    """Go to the step above."""
    pane.graph.go("up")


def page_down(pane: PipelinePane) -> None:
    """Scroll the open list under the cursor, else the graph."""
    _page(pane, 1)


def page_up(pane: PipelinePane) -> None:
    """Scroll them up."""
    _page(pane, -1)


def _page(pane: PipelinePane, step: int) -> None:
    if not pane.graph.scroll_items(step * 4):
        view = pane.graph
        view.scroll_to_line(view.first_line + step * max(1, view.size.height - 1))


def fold(pane: PipelinePane) -> None:
    """Open or close what stands for several steps."""
    if not pane.graph.toggle_fold():
        pane.post_message(Said("Nothing is folded under the cursor."))


def folds(pane: PipelinePane) -> None:
    """Open or close all folds."""
    pane.graph.toggle_folds()


def part_previous(pane: PipelinePane) -> None:
    """Show the part before."""
    pane.step.turn(-1)


def part_next(pane: PipelinePane) -> None:
    """Show the part after."""
    pane.step.turn(1)


def answer(pane: PipelinePane) -> None:
    """Go to the gate's row of the queue: there it is answered."""
    if pane.gate is not None:
        pane.post_message(GateWanted(pane.gate))


def follow(pane: PipelinePane) -> None:
    """Let the cursor stay on the newest running step, and the log at its end."""
    if pane.is_full:
        pane.step.follows = not pane.step.follows
        pane.post_message(Said("The log follows." if pane.step.follows else "The log stands still."))
    else:
        is_on = pane.graph.follow()
        pane.post_message(Said("The cursor follows the run." if is_on else "The cursor stays where it is."))


def only_way(pane: PipelinePane) -> None:
    """Draw only what the step needs and feeds, or everything again."""
    pane.graph.toggle_focus()


def zoom_in(pane: PipelinePane) -> None:
    """Draw one edge more around the step, or more facts."""
    _zoom(pane, 1)


def zoom_out(pane: PipelinePane) -> None:
    """Draw one edge fewer around it, or the overview."""
    _zoom(pane, -1)


def _zoom(pane: PipelinePane, step: int) -> None:
    if pane.graph.focus_step is not None:
        pane.graph.change_hops(step)
    elif (step < 0) != pane.has_overview:
        pane.toggle_overview()


def overview(pane: PipelinePane) -> None:
    """Show or hide the overview."""
    pane.toggle_overview()


def implied(pane: PipelinePane) -> None:
    """Draw edges that others imply, or hide them."""
    pane.graph.toggle_implied()


def kind(pane: PipelinePane) -> None:
    """Draw it another way."""
    pane.post_message(Said(f"Drawn as: {pane.graph.next_kind()}."))


def run_older(pane: PipelinePane) -> None:
    """Show the run before."""
    pane.post_message(RunBeside(-1))


def run_newer(pane: PipelinePane) -> None:
    """Show the run after."""
    pane.post_message(RunBeside(1))


def retry(pane: PipelinePane) -> None:
    """Do the step again."""
    pane.ask_run("retry")


def run_from(pane: PipelinePane) -> None:
    """Run again from here."""
    pane.ask_run("from")


def launch(pane: PipelinePane) -> None:
    """Open the launch form."""
    pane.post_message(LaunchWanted())


def artifact(pane: PipelinePane) -> None:
    """Open what the step under the cursor handed on."""
    pane.post_message(ArtifactWanted())


def compare(pane: PipelinePane) -> None:
    """Compare the run with another of its pipeline."""
    pane.post_message(CompareWanted())


def cancel(pane: PipelinePane) -> None:
    """Ask whether to end the run."""
    pane.ask_cancel()
