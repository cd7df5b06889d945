"""Pipelines that an agent starts with the tool `pipeline.run`: under its session, within the limits of runs.

One blocking run in a thread of its own; it belongs to the session's driver and to no other.
"""

import asyncio
import os
from collections.abc import Callable

from workbench.domain.events import RunRequested
from workbench.domain.values import Actor
from workbench.host.driver_context import SessionWriter
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

    def __init__(self, desk: SessionWriter) -> None:
        self._desk = desk

    def check(self, name: str) -> None:
        """Refuse a pipeline that is not there or could not begin.

        Raises:
            ToolRefused: Says why.
        """
        try:
            loaded = load_requested_pipeline(self._desk.kit.governing_workspace, RunRequest(name=name))
            require_runnable_pipeline(loaded)
        except RunRefused as error:
            raise ToolRefused(f"{error.why}; {error.remedy}") from None
        if not is_governed_file(loaded.file, self._desk.kit.governing_workspace):
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
        """Return how many runs stand above one that this session starts."""
        run_id = self._desk.kit.constraints.run_id
        if not run_id:
            return 0
        bodies = (event.body for event in self._desk.kit.journal.events(run_id))
        return 1 + next((body.depth for body in bodies if isinstance(body, RunRequested)), 0)

    def run(self, name: str, given: str, is_stopped: Callable[[], bool]) -> ToolOutput:
        """Run a pipeline to its end and return what came of it."""
        # A run drives sessions, whose gate fills this very place: at import that would be a circle.
        from workbench.host.steps.run_driver import RunDriverOptions, drive_run

        self.check(name)
        desk, kit = self._desk, self._desk.kit
        actor = Actor(kind="agent", pid=os.getpid())
        wish = RunRequest(name=name, input=given, parent_id=desk.session_id, depth=self._depth())
        try:
            run_id = request_run(kit.journal, kit.governing_workspace, wish, actor)
        except RunRefused as error:
            raise ToolRefused(f"{error.why}; {error.remedy}") from None
        driver = DriverIdentity(
            host_id=desk.guard.host_id, pid=os.getpid(), workspace=kit.governing_workspace
        )

        def until(_: object) -> bool:
            if is_stopped():
                _cancel_unless_over(desk, run_id, actor)
            return False

        asyncio.run(drive_run(RunDriverOptions(kit=kit, driver=driver, until=until), run_id))
        return self._told(run_id)

    def _told(self, run_id: str) -> ToolOutput:
        journal = self._desk.kit.journal
        row = journal.pipeline_state(run_id)
        steps = [
            {"step": one.step_id, "state": one.state, "error": one.error_message}
            for one in journal.step_states(run_id)
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


def _cancel_unless_over(desk: SessionWriter, run_id: str, actor: Actor) -> None:
    try:
        cancel_run(desk.kit.journal, run_id, actor, "the call was stopped")
    except RunRefused:
        return  # it is over already
