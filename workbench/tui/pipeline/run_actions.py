"""What keys of the pipeline ask of a run, and the way between runs: older and newer, above and below."""

from typing import TYPE_CHECKING

from workbench.domain.rows import run_title
from workbench.tui.pane import RunRequestKind

if TYPE_CHECKING:
    from workbench.tui.pipeline.pipeline_pane import PipelinePane
    from workbench.views.pipeline import PipelineStep


def ask_run(pane: "PipelinePane", what: RunRequestKind) -> None:
    """Ask something of the run on show, about the step under the cursor."""
    run, step, main = pane.run, pane.cursor_step, pane.main
    if run is None:
        return
    folder = main.folders.of(run.id)
    runs, step_id = main.backend.of(folder).runs, step.id if step is not None else ""

    def begun(run_id: str, why_not: str) -> None:
        if why_not:
            main.say(why_not, is_error=True)
        else:
            main.show_run(run_id)

    match what:
        case "cancel":
            main.tasks.ask(runs.cancel_run, run.id, "The run ends.")
        case "retry":
            main.tasks.ask(lambda key: runs.retry_step(key, step_id), run.id, _runs_again(step, step_id))
        case "from":
            main.tasks.begin_run(lambda: runs.run_from(run.id, step_id), begun, folder)


def _runs_again(step: "PipelineStep | None", step_id: str) -> str:
    from workbench.views.pipeline import next_attempt_text

    return f"{step_id} runs again{f' ({next_attempt_text(step)})' if step is not None else ''}."


def show_run_beside(pane: "PipelinePane", step: int) -> None:
    """Show an older (-1) or newer (1) run."""
    runs = pane.main.state.runs
    before = runs.current
    runs.beside(step)
    if runs.current == before:
        pane.main.say("That is the newest run." if step > 0 else "That is the oldest run that is listed.")
    pane.main.presenter.pipeline()


def run_below(pane: "PipelinePane") -> str:
    """Return the run that the step under the cursor, or the item of it, has started; empty without one."""
    graph, step = pane.graph, pane.cursor_step
    if step is None or step.kind != "pipeline":
        return ""
    item = graph.paint.item(graph.cursor or "") if graph.paint is not None else None
    return (item.session_id if item is not None else step.session_id) or ""


def run_above(pane: "PipelinePane") -> str:
    """Return the run that started the one on show; empty where a human did."""
    session = pane.main.state.source.session(pane.run.id) if pane.run is not None else None
    return (session.parent_id if session is not None else None) or ""


def open_run_below(pane: "PipelinePane") -> None:
    """Show the run that the step under the cursor has started."""
    _show(pane, run_below(pane))


def open_run_above(pane: "PipelinePane") -> None:
    """Show the run that started this one, with the cursor on its step."""
    below = pane.run
    _show(pane, run_above(pane))
    run = pane.run
    if run is not None and below is not None:
        steps = (step.id for step in run.steps if step.session_id == below.id)
        items = (i.id for step in run.steps for i in step.items if i.session_id == below.id)
        pane.graph.put_cursor(next(steps, None) or next(items, None) or pane.graph.cursor)


def _show(pane: "PipelinePane", run_id: str) -> None:
    runs = pane.main.state.runs
    if run_id and run_id not in runs.rows:
        runs.read([run_id])
    if run_id in runs.rows:
        runs.shown = run_id
        pane.main.presenter.pipeline()
        pane.main.say(f"This is {run_title(runs.rows[run_id])}.")


def why_no_run_below(pane: "PipelinePane") -> str:
    """Return why no run below can be opened; empty if one can."""
    if why := pane.why_no_run():
        return why
    step = pane.cursor_step
    if step is None or step.kind != "pipeline":
        return "The step under the cursor starts no pipeline."
    return "" if run_below(pane) else "Its pipeline did not start yet."


def why_no_run_above(pane: "PipelinePane") -> str:
    """Return why no run above can be opened; empty if one can."""
    return pane.why_no_run() or ("" if run_above(pane) else "No run started this one.")
