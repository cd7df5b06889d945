"""Keys of the pipeline pane, the launch form and the comparison of two runs, and what they ask of a run."""

from typing import TYPE_CHECKING, Final

from workbench.domain.rows import run_title
from workbench.tui.keyboard.keymap import Key
from workbench.tui.pane import RunRequestKind, StatusMessage

if TYPE_CHECKING:
    from workbench.tui.pipeline.launch_form import LaunchScreen
    from workbench.tui.pipeline.pipeline_pane import PipelinePane
    from workbench.tui.pipeline.run_results import CompareScreen
    from workbench.tui.pipeline.run_times import TimesScreen


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
            main.tasks.ask(lambda key: runs.retry_step(key, step_id), run.id, f"{step_id} is done again.")
        case "from":
            main.tasks.begin_run(lambda: runs.run_from(run.id, step_id), begun, folder)


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
    """Return why there is no run to go down into; empty where there is one."""
    if why := pane.why_no_run():
        return why
    step = pane.cursor_step
    if step is None or step.kind != "pipeline":
        return "The step under the cursor starts no pipeline."
    return "" if run_below(pane) else "Its pipeline did not start yet."


def why_no_run_above(pane: "PipelinePane") -> str:
    """Return why there is no run above; empty where there is one."""
    return pane.why_no_run() or ("" if run_above(pane) else "No run started this one.")


def _why_no_links(pane: "PipelinePane") -> str:
    run = pane.run
    return pane.why_no_run() if run is None or run.links else "Nothing to link came of this run yet."


PIPELINE: Final[tuple[Key["PipelinePane"], ...]] = (
    Key(id="pipeline.answer", keys=("a",), label="answer…",
        tooltip="open the gate's choices; an edit or a command: to its row", group="Decide", footer=1,
        action=lambda pane: pane.open_gate(), why_off=lambda pane: pane.why_no_gate()),
    Key(id="pipeline.edge-left", keys=("h", "left"), label="along edges", tooltip="along the edges",
        shown="h l", group="Move", footer=46, in_palette=False,
        action=lambda pane: pane.graph.go("left"), why_off=lambda pane: pane.why_no_run()),
    Key(id="pipeline.edge-right", keys=("l", "right"), label="", tooltip="along an edge", shown="-",
        group="Move", in_palette=False,
        action=lambda pane: pane.graph.go("right"), why_off=lambda pane: pane.why_no_run()),
    Key(id="pipeline.edge-down", keys=("j", "down"), label="beside", tooltip="step below, above", shown="j k",
        group="Move", is_override=True, in_palette=False,
        action=lambda pane: pane.graph.go("down"), why_off=lambda pane: pane.why_no_run()),
    Key(id="pipeline.edge-up", keys=("k", "up"), label="", tooltip="step above", shown="-", group="Move",
        is_override=True, in_palette=False,
        action=lambda pane: pane.graph.go("up"), why_off=lambda pane: pane.why_no_run()),
    Key(id="pipeline.page-down", keys=("J",), label="page", tooltip="page, or items of an open fold",
        shown="J K", group="Move", in_palette=False,
        action=lambda pane: pane.scroll_page(1), why_off=lambda pane: pane.why_no_run()),
    Key(id="pipeline.page-up", keys=("K",), label="", tooltip="page up", shown="-", group="Move",
        in_palette=False,
        action=lambda pane: pane.scroll_page(-1), why_off=lambda pane: pane.why_no_run()),
    Key(id="pipeline.fold", keys=("space",), label="fold", tooltip="open or close a matrix or a fold",
        group="Read", footer=51,
        action=lambda pane: pane.toggle_fold(), why_off=lambda pane: pane.why_no_run()),
    Key(id="pipeline.folds", keys=("T",), label="all folds", tooltip="open or close all folds", group="Read",
        action=lambda pane: pane.graph.toggle_folds(), why_off=lambda pane: pane.why_no_run()),
    Key(id="pipeline.follow", keys=("f",), label="follow", tooltip="the cursor, or the log, follows the run",
        group="Read", footer=58,
        action=lambda pane: pane.toggle_follow(), why_off=lambda pane: pane.why_no_run()),
    Key(id="pipeline.only-way", keys=("w",), label="its way", tooltip="only what this step needs and feeds",
        group="Read", footer=66,
        action=lambda pane: pane.graph.toggle_focus(), why_off=lambda pane: pane.why_no_run()),
    Key(id="pipeline.implied", keys=("t",), label="implied", tooltip="edges that others imply", group="Read",
        action=lambda pane: pane.graph.toggle_implied(), why_off=lambda pane: pane.why_no_run()),
    Key(id="pipeline.kind", keys=("v",), label="drawing", tooltip="band, wrapped, list, cards", group="Read",
        action=lambda pane: pane.post_message(StatusMessage(f"Drawn as: {pane.graph.next_kind()}.")),
        why_off=lambda pane: pane.why_no_run()),
    Key(id="pipeline.overview", keys=("o",), label="overview", tooltip="the whole graph on one row",
        group="Read", is_override=True,
        action=lambda pane: pane.toggle_overview(), why_off=lambda pane: pane.why_no_run()),
    Key(id="pipeline.zoom-in", keys=("+",), label="zoom", tooltip="more around the step",
        help="more, fewer around the step; overview",
        shown="+ -", group="Read", footer=68,
        action=lambda pane: pane.change_zoom(1), why_off=lambda pane: pane.why_no_run()),
    Key(id="pipeline.zoom-out", keys=("-",), label="", tooltip="fewer around the step; overview", shown="-",
        group="Read",
        action=lambda pane: pane.change_zoom(-1), why_off=lambda pane: pane.why_no_run()),
    Key(id="pipeline.part-previous", keys=("[",), label="part",
        tooltip="part before",
        help="log, contract, artifacts, attempts, prompt, tools, workspace", shown="[ ]", group="Read",
        footer=56,
        action=lambda pane: pane.step.turn(-1), why_off=lambda pane: pane.why_no_parts()),
    Key(id="pipeline.part-next", keys=("]",), label="", tooltip="part after", shown="-", group="Read",
        action=lambda pane: pane.step.turn(1), why_off=lambda pane: pane.why_no_parts()),
    Key(id="pipeline.artifact", keys=("e",), label="artifact", tooltip="open what the step handed on",
        aliases="output result",
        group="Read", footer=59, decides=True,
        action=lambda pane: pane.use_result("artifact"), why_off=lambda pane: pane.why_no_run()),
    Key(id="pipeline.links", keys=("U",), label="links", tooltip="copy a link of what came of the run",
        aliases="outcomes url pull request issue", group="Read", footer=61,
        action=lambda pane: pane.use_result("link"), why_off=lambda pane: _why_no_links(pane)),
    Key(id="pipeline.retry", keys=("R",), label="retry", tooltip="this step again, and what needs it",
        group="Runs", footer=52, decides=True,
        action=lambda pane: ask_run(pane, "retry"), why_off=lambda pane: pane.why_not_repeat()),
    Key(id="pipeline.run-from", keys=("F",), label="from here", tooltip="a new run from this step",
        group="Runs", footer=54, decides=True,
        action=lambda pane: ask_run(pane, "from"), why_off=lambda pane: pane.why_not_repeat()),
    Key(id="pipeline.launch", keys=("L",), label="start one…",
        tooltip="start a pipeline: input, dry run, grants",
        aliases="run workflow start", group="Runs", footer=57, decides=True,
        action=lambda pane: pane.open_launch()),
    Key(id="pipeline.cancel", keys=("X",), label="cancel run", tooltip="end the run",
        aliases="stop abort kill", group="Runs", footer=60,
        decides=True,
        action=lambda pane: pane.ask_cancel(), why_off=lambda pane: pane.why_not_cancel()),
    Key(id="pipeline.compare", keys=("C",), label="compare", tooltip="with another run of the pipeline",
        aliases="diff",
        group="Runs", footer=62,
        action=lambda pane: pane.open_compare(), why_off=lambda pane: pane.why_no_run()),
    Key(id="pipeline.times", keys=("d",), label="times",
        tooltip="when each step worked, and how it went before", aliases="gantt durations history",
        group="Runs", footer=63,
        action=lambda pane: pane.open_times(), why_off=lambda pane: pane.why_no_run()),
    Key(id="pipeline.run-below", keys=("D",), label="its run", tooltip="into the run that this step started",
        aliases="sub-pipeline nested child", group="Runs", footer=55,
        action=open_run_below, why_off=why_no_run_below),
    Key(id="pipeline.run-above", keys=("A",), label="run above",
        tooltip="back to the run that started this one", aliases="parent up", group="Runs", footer=53,
        action=open_run_above, why_off=why_no_run_above),
    Key(id="pipeline.run-older", keys=("{",), label="runs", tooltip="run before",
        help="run before, after", shown="{ }",
        group="Runs", footer=64,
        action=lambda pane: show_run_beside(pane, -1), why_off=lambda pane: pane.why_no_run()),
    Key(id="pipeline.run-newer", keys=("}",), label="", tooltip="run after", shown="-", group="Runs",
        action=lambda pane: show_run_beside(pane, 1), why_off=lambda pane: pane.why_no_run()),
)  # fmt: skip
GATE: Final[tuple[Key["PipelinePane"], ...]] = (
    Key(id="gate.answer", keys=("a",), label="answer", tooltip="give the chosen answer", group="Decide",
        footer=1, in_palette=False, decides=True,
        answers=True,
        action=lambda pane: pane.answer.actions.answer("a"), why_off=lambda pane: pane.answer.why_not()),
    Key(id="gate.reject", keys=("r",), label="reject", tooltip="reject", group="Decide", footer=2,
        in_palette=False, decides=True,
        answers=True,
        action=lambda pane: pane.answer.actions.reject(), why_off=lambda pane: pane.answer.why_not()),
    Key(id="gate.choose-previous", keys=("h", "left", "k", "up"), label="choice",
        tooltip="choice before, after", shown="h l", group="Decide", footer=3, is_override=True,
        in_palette=False,
        action=lambda pane: pane.answer.move_choice(-1), why_off=lambda pane: pane.answer.why_not()),
    Key(id="gate.choose-next", keys=("l", "right", "j", "down"), label="", tooltip="choice after", shown="-",
        group="Decide", is_override=True, in_palette=False,
        action=lambda pane: pane.answer.move_choice(1), why_off=lambda pane: pane.answer.why_not()),
    Key(id="gate.scroll-down", keys=("J",), label="scroll", tooltip="three lines of the question",
        shown="J K", group="Move", in_palette=False,
        action=lambda pane: pane.answer.detail_view.scroll_lines(3)),
    Key(id="gate.scroll-up", keys=("K",), label="", tooltip="three lines up", shown="-", group="Move",
        in_palette=False,
        action=lambda pane: pane.answer.detail_view.scroll_lines(-3)),
    Key(id="gate.row", keys=("enter",), label="its row", tooltip="to its row of the queue", group="Move",
        footer=4, is_override=True, in_palette=False,
        action=lambda pane: pane.go_to_row(), why_off=lambda pane: pane.why_no_gate()),
    Key(id="gate.close", keys=("escape",), label="back", tooltip="back to the graph, nothing is answered",
        shown="esc", group="Move", footer=5, is_override=True, in_palette=False,
        action=lambda pane: pane.answer.leave()),
)  # fmt: skip
STEP: Final[tuple[Key["PipelinePane"], ...]] = (
    Key(id="step.scroll-down", keys=("j", "down"), label="scroll", tooltip="line down, up", shown="j k",
        group="Move", footer=23, is_override=True, in_palette=False,
        action=lambda pane: pane.move(1)),
    Key(id="step.scroll-up", keys=("k", "up"), label="", tooltip="line up", shown="-", group="Move",
        is_override=True, in_palette=False,
        action=lambda pane: pane.move(-1)),
    Key(id="step.close", keys=("escape", "enter"), label="back", tooltip="back to the graph", group="Move",
        footer=2, is_override=True, in_palette=False,
        action=lambda pane: pane.set_full(is_full=False)),
)  # fmt: skip
LAUNCH: Final[tuple[Key["LaunchScreen"], ...]] = (
    Key(id="launch.start", keys=("enter",), label="start", tooltip="start the run as shown",
        group="Decide", footer=1, in_palette=False, decides=True,
        action=lambda screen: screen.start()),
    Key(id="launch.grant", keys=("space",), label="grant", tooltip="grant this for the run, or leave it",
        group="Decide", footer=4, in_palette=False,
        action=lambda screen: screen.toggle()),
    Key(id="launch.grants", keys=("T",), label="all", tooltip="grant all, or none", group="Decide", footer=5,
        in_palette=False,
        action=lambda screen: screen.toggle_all()),
    Key(id="launch.write", keys=("i",), label="input", tooltip="write the input", group="Decide", footer=2,
        in_palette=False, opens_field=True,
        action=lambda screen: screen.write()),
    Key(id="launch.edit", keys=("ctrl+o",), label="editor", tooltip="write the input in $EDITOR",
        group="Decide", footer=6, in_palette=False,
        action=lambda screen: screen.edit()),
    Key(id="launch.field-next", keys=("tab",), label="field", tooltip="field after, before", group="Move",
        footer=3, in_palette=False,
        action=lambda screen: screen.to_field(1)),
    Key(id="launch.field-previous", keys=("shift+tab",), label="", tooltip="field before", shown="-",
        group="Move", in_palette=False,
        action=lambda screen: screen.to_field(-1)),
    Key(id="launch.row-down", keys=("j", "down"), label="row", tooltip="next, previous row", shown="j k",
        group="Move", in_palette=False,
        action=lambda screen: screen.move(1)),
    Key(id="launch.row-up", keys=("k", "up"), label="", tooltip="row up", shown="-", group="Move",
        in_palette=False,
        action=lambda screen: screen.move(-1)),
    Key(id="launch.row-first", keys=("g", "home"), label="", tooltip="first, last", shown="g G", group="Move",
        in_palette=False,
        action=lambda screen: screen.move_to_end(is_last=False)),
    Key(id="launch.row-last", keys=("G", "end"), label="", tooltip="last", shown="-", group="Move",
        in_palette=False,
        action=lambda screen: screen.move_to_end(is_last=True)),
    Key(id="launch.scroll-down", keys=("J", "ctrl+d", "pagedown"), label="", tooltip="scroll the dry run",
        shown="J K", group="Move", in_palette=False,
        action=lambda screen: screen.scroll_plan(3)),
    Key(id="launch.scroll-up", keys=("K", "ctrl+u", "pageup"), label="", tooltip="scroll it up", shown="-",
        group="Move", in_palette=False,
        action=lambda screen: screen.scroll_plan(-3)),
    Key(id="launch.leave", keys=("escape", "q"), label="back, nothing is run", shown="esc",
        tooltip="back, nothing is run", group="Decide", footer=7, in_palette=False,
        action=lambda screen: screen.leave()),
)  # fmt: skip
TIMES: Final[tuple[Key["TimesScreen"], ...]] = (
    Key(id="times.row-down", keys=("j", "down"), label="step", tooltip="step after, before", shown="j k",
        group="Move", footer=1, in_palette=False,
        action=lambda screen: screen.move(1)),
    Key(id="times.row-up", keys=("k", "up"), label="", tooltip="step before", shown="-", group="Move",
        in_palette=False,
        action=lambda screen: screen.move(-1)),
    Key(id="times.row-first", keys=("g", "home"), label="", tooltip="first, last step", shown="g G",
        group="Move", in_palette=False,
        action=lambda screen: screen.move_to_end(is_last=False)),
    Key(id="times.row-last", keys=("G", "end"), label="", tooltip="last step", shown="-", group="Move",
        in_palette=False,
        action=lambda screen: screen.move_to_end(is_last=True)),
    Key(id="times.page-down", keys=("ctrl+d", "pagedown"), label="", tooltip="ten steps", shown="ctrl+d u",
        group="Move", in_palette=False,
        action=lambda screen: screen.move(10)),
    Key(id="times.page-up", keys=("ctrl+u", "pageup"), label="", tooltip="ten steps up", shown="-",
        group="Move", in_palette=False,
        action=lambda screen: screen.move(-10)),
    Key(id="times.open", keys=("enter",), label="its step", tooltip="its step in the graph", group="Move",
        footer=5, in_palette=False,
        action=lambda screen: screen.open_step()),
    Key(id="times.leave", keys=("escape", "q", "d"), label="back", shown="esc", tooltip="back",
        group="Move", footer=6, in_palette=False,
        action=lambda screen: screen.leave()),
)  # fmt: skip
COMPARE: Final[tuple[Key["CompareScreen"], ...]] = (
    Key(id="compare.row-down", keys=("j", "down"), label="step", tooltip="step after, before", shown="j k",
        group="Move", footer=1, in_palette=False,
        action=lambda screen: screen.move(1)),
    Key(id="compare.row-up", keys=("k", "up"), label="", tooltip="step before", shown="-", group="Move",
        in_palette=False,
        action=lambda screen: screen.move(-1)),
    Key(id="compare.row-first", keys=("g", "home"), label="", tooltip="first, last step", shown="g G",
        group="Move", in_palette=False,
        action=lambda screen: screen.move_to_end(is_last=False)),
    Key(id="compare.row-last", keys=("G", "end"), label="", tooltip="last step", shown="-", group="Move",
        in_palette=False,
        action=lambda screen: screen.move_to_end(is_last=True)),
    Key(id="compare.page-down", keys=("ctrl+d", "pagedown"), label="", tooltip="ten steps", shown="ctrl+d u",
        group="Move", in_palette=False,
        action=lambda screen: screen.move(10)),
    Key(id="compare.page-up", keys=("ctrl+u", "pageup"), label="", tooltip="ten steps up", shown="-",
        group="Move", in_palette=False,
        action=lambda screen: screen.move(-10)),
    Key(id="compare.difference-next", keys=("n",), label="difference", tooltip="next, previous that differs",
        shown="n N", group="Move", footer=2, in_palette=False,
        action=lambda screen: screen.move_to_difference(1)),
    Key(id="compare.difference-previous", keys=("N",), label="", tooltip="previous that differs", shown="-",
        group="Move", in_palette=False,
        action=lambda screen: screen.move_to_difference(-1)),
    Key(id="compare.run-older", keys=("{",), label="other run", tooltip="compare with another run",
        shown="{ }", group="Read", footer=3, in_palette=False,
        action=lambda screen: screen.other_run(1)),
    Key(id="compare.run-newer", keys=("}",), label="", tooltip="compare with another run", shown="-",
        group="Read", in_palette=False,
        action=lambda screen: screen.other_run(-1)),
    Key(id="compare.order", keys=("o",), label="order", tooltip="by file, time, tokens", group="Read",
        footer=4, in_palette=False,
        action=lambda screen: screen.next_order()),
    Key(id="compare.open", keys=("enter",), label="its step", tooltip="its step in the graph", group="Move",
        footer=5, in_palette=False,
        action=lambda screen: screen.open_step()),
    Key(id="compare.leave", keys=("escape", "q", "C"), label="back", shown="esc", tooltip="back",
        group="Move", footer=6, in_palette=False,
        action=lambda screen: screen.leave()),
)  # fmt: skip
