"""The tool `pipeline.run`: one blocking run in a thread, under its session and within the limits of runs."""

import asyncio
import os
from collections.abc import Callable

from workbench.domain.events import RunRequested
from workbench.domain.values import Actor
from workbench.host.driver_context import SessionWriter
from workbench.host.steps.run_driver import RunDriverOptions, drive_run
from workbench.host.steps.run_requests import (
    RunRefused,
    RunRequest,
    cancel_run,
    load_requested_pipeline,
    request_run,
    require_runnable_pipeline,
)
from workbench.host.workspace_trust import is_governed_file
from workbench.journal.leases import DriverIdentity
from workbench.pipelines.model import MetaLimits
from workbench.text import canonical
from workbench.tools.base import ToolOutput, ToolRefused


class SessionPipelineStarter:
    """Starts pipelines for one session."""

    def __init__(self, writer: SessionWriter) -> None:
        self._writer = writer

    def check(self, name: str) -> None:
        try:
            loaded = load_requested_pipeline(self._writer.context.governing_workspace, RunRequest(name=name))
            require_runnable_pipeline(loaded)
        except RunRefused as error:
            raise ToolRefused(f"{error.why}; {error.remedy}") from None
        if not is_governed_file(loaded.file, self._writer.context.governing_workspace):
            raise ToolRefused(
                f"{name} does not lie where trust covers it, so an agent cannot start it; "
                "pipelines in .workbench/pipelines or .wave/pipelines can be started"
            )
        limits = loaded.manifest.runtime.meta if loaded.manifest else MetaLimits()
        if self._depth() > limits.max_depth:
            raise ToolRefused(
                f"pipelines may start pipelines {limits.max_depth} deep (meta_pipeline.max_depth)"
            )

    def _depth(self) -> int:
        """Return how many runs are above one that this session starts."""
        run_id = self._writer.context.constraints.run_id
        if not run_id:
            return 0
        bodies = (event.body for event in self._writer.journal.events(run_id))
        return 1 + next((body.depth for body in bodies if isinstance(body, RunRequested)), 0)

    def run(self, name: str, input_text: str, is_stopped: Callable[[], bool]) -> ToolOutput:
        self.check(name)
        writer, context = self._writer, self._writer.context
        actor = Actor(kind="agent", pid=os.getpid())
        request = RunRequest(name=name, input=input_text, parent_id=writer.session_id, depth=self._depth())
        try:
            run_id = request_run(context.journal, context.governing_workspace, request, actor)
        except RunRefused as error:
            raise ToolRefused(f"{error.why}; {error.remedy}") from None
        driver = DriverIdentity(
            host_id=writer.guard.host_id, pid=os.getpid(), workspace=context.governing_workspace
        )

        def until(_: object) -> bool:
            if is_stopped():
                _cancel_unless_over(writer, run_id, actor)
            return False

        asyncio.run(drive_run(RunDriverOptions(context=context, driver=driver, until=until), run_id))
        return self._run_output(run_id)

    def _run_output(self, run_id: str) -> ToolOutput:
        journal = self._writer.journal
        row = journal.pipeline_state(run_id)
        steps = [
            {"step": step.step_id, "state": step.state, "error": step.error_message}
            for step in journal.step_states(run_id)
        ]
        stored = [e for e in journal.events(run_id) if e.kind == "artifact.stored"]
        facts = {
            "run_id": run_id, "status": row.status if row else "gone", "steps": steps,
            "artifacts": [f"{event.step}/{getattr(event.body, 'name', '')}" for event in stored],
            "log": f"workbench pipeline logs {run_id}",
        }  # fmt: skip
        is_done = row is not None and row.status == "completed"
        error = "" if is_done else f"the run is {facts['status']}: {row.error_message if row else ''}"
        return ToolOutput(
            text=canonical.dumps(facts), error=error, summary=f"{facts['status']}, {len(steps)} steps"
        )


def _cancel_unless_over(writer: SessionWriter, run_id: str, actor: Actor) -> None:
    try:
        cancel_run(writer.journal, run_id, actor, "the call was stopped")
    except RunRefused:
        return  # it is over already
