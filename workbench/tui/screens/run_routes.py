"""What the pipeline pane says becomes views and requests: its part of the main screen's routing.

Owns reading a step in full and going to a gate's row. It decides nothing.
"""

from collections.abc import Sequence
from typing import Any, cast

from textual import on
from textual.screen import Screen

from workbench.domain.events import Event
from workbench.domain.rows import Call
from workbench.tui import messages
from workbench.tui.panes.approvals import ApprovalsPane
from workbench.tui.panes.pipeline import PipelinePane
from workbench.tui.screens.requests import Requests
from workbench.tui.screens.showing import Showing
from workbench.tui.services import Services
from workbench.tui.state import State
from workbench.views.calls import ToolDetail
from workbench.views.pipeline import run_title
from workbench.views.step import step_detail

_CHILD: int = 2_000
"""Events of a step's session that its log is made of: the first ones, which hold the prompt, and the rest."""


class RunRoutedScreen(Screen[None], inherit_bindings=False):
    """A screen that hears its pipeline pane."""

    state: State
    services: Services
    showing: Showing
    pipeline: PipelinePane
    approvals: ApprovalsPane
    requests: Requests
    is_zoomed: bool

    def go_to(self, place: int) -> None:
        """Go to a place."""
        raise NotImplementedError

    def say(self, text: str, *, is_error: bool = False, is_kept: bool = True) -> None:
        """Say a sentence."""
        raise NotImplementedError

    def look(self) -> None:
        """Show what the journal has new."""
        raise NotImplementedError

    def show_run(self, run_id: str) -> None:
        """Show a run that has just begun, and go to it."""
        self.state.runs.shown = run_id
        self.look()
        self.showing.pipeline()
        self.go_to(4)
        run = self.state.runs.rows.get(run_id)
        self.say(f"{run_title(run)} has begun." if run is not None else "The run has begun.")

    @on(messages.StepWanted)
    def _step_wanted(self, message: messages.StepWanted) -> None:
        if message.is_opened and not self.is_zoomed:
            self.is_zoomed = True
            self.go_to(4)
        if message.step == self.pipeline.graph.cursor:
            self.pipeline.show_step(self._step_in_full(message.step or ""))

    def _step_in_full(self, drawn: str) -> ToolDetail | None:
        source, graph = self.state.source, self.pipeline.graph
        run, step = self.pipeline.run, graph.step_under_cursor()
        if run is None or step is None or graph.paint is None:
            return None
        item = graph.paint.item(drawn)
        child_id = item.session_id if item is not None else step.session_id
        child: Sequence[Event] = ()
        calls: Sequence[Call] = ()
        if child_id is not None and source.run(child_id) is None:
            child, calls = source.events(child_id, 0, _CHILD), source.calls(child_id)
        return step_detail(
            run, step, source.run_events(run.id, step.id), child, calls, source.text_of, item
        )  # fmt: skip

    @on(messages.GateWanted)
    def _gate_wanted(self, message: messages.GateWanted) -> None:
        self.go_to(2)
        self.approvals.queue.put_cursor(message.action_id)

    @on(messages.LaunchWanted)
    def _launch_wanted(self) -> None:
        from workbench.tui.screens.launch import open_launch

        open_launch(cast("Any", self))

    @on(messages.CompareWanted)
    def _compare_wanted(self) -> None:
        from workbench.tui.screens.compare import open_compare

        open_compare(cast("Any", self))

    @on(messages.ArtifactWanted)
    def _artifact_wanted(self, message: messages.ArtifactWanted) -> None:
        from workbench.tui.screens.artifacts import open_artifact

        open_artifact(cast("Any", self), message.name)

    @on(messages.RunBeside)
    def _run_beside(self, message: messages.RunBeside) -> None:
        runs = self.state.runs
        before = runs.current
        runs.beside(message.step)
        if runs.current == before:
            self.say(
                "That is the newest run." if message.step > 0 else "That is the oldest run that is listed."
            )
        self.showing.pipeline()

    @on(messages.RunAsked)
    def _run_asked(self, message: messages.RunAsked) -> None:
        services, run, step = self.services, message.run, message.step
        match message.what:
            case "cancel":
                self.requests.ask(services.cancel_run, run, "The run ends.")
            case "retry":
                self.requests.ask(lambda key: services.retry_step(key, step), run, f"{step} is done again.")
            case "from":
                self.requests.begin_run(lambda: services.run_from(run, step), self._run_begun)

    def _run_begun(self, run_id: str, why_not: str) -> None:
        if why_not:
            self.say(why_not, is_error=True)
        else:
            self.show_run(run_id)
