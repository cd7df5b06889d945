"""What the pipeline pane says becomes views and requests: its part of the main screen's routing.

Owns reading a step in full and going to a gate's row. It decides nothing.
"""

from typing import Any, cast

from textual import on
from textual.screen import Screen

from workbench.tui import messages
from workbench.tui.panes.approvals import ApprovalsPane
from workbench.tui.panes.pipeline import PipelinePane
from workbench.tui.screens.requests import Requests
from workbench.tui.screens.showing import Showing
from workbench.tui.services import Services
from workbench.tui.state import State
from workbench.views.pipeline import run_title


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
        if message.is_opened:
            if not self.is_zoomed:
                self.is_zoomed = True
                self.go_to(4)
            self.pipeline.call_after_refresh(self.pipeline.open_step)
        if message.step == self.pipeline.graph.cursor:
            self.pipeline.show_step(self.showing.step_in_full(message.step or ""))

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
