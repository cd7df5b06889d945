"""Pipelines that an agent starts by the tool `pipeline.run`: under its session, within the limits of runs.

Owns one blocking run in a thread of its own. The run belongs to the session's driver and to no other.
"""

import asyncio
import os
from collections.abc import Callable

from workbench.domain.runs import RunRequested
from workbench.domain.values import Actor
from workbench.host.desk import Desk
from workbench.host.steps.requests import RunRefused, Wish, cancel, find, request, require_runnable
from workbench.host.trusting import is_governed
from workbench.journal.lease import DriverIdentity
from workbench.pipelines.model import MetaLimits
from workbench.text import canonical
from workbench.tools.base import Output, ToolRefused


class DeskPipelines:
    """Starts pipelines for one session."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def check(self, name: str) -> None:
        """Refuse a pipeline that is not there or could not begin.

        Raises:
            ToolRefused: Says why.
        """
        try:
            loaded = find(self._desk.kit.governor, Wish(name=name))
            require_runnable(loaded)
        except RunRefused as error:
            raise ToolRefused(f"{error.why}; {error.remedy}") from None
        if not is_governed(loaded.file, self._desk.kit.governor):
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
        run_id = self._desk.kit.charge.run_id
        if not run_id:
            return 0
        bodies = (event.body for event in self._desk.kit.journal.events(run_id))
        return 1 + next((body.depth for body in bodies if isinstance(body, RunRequested)), 0)

    def run(self, name: str, given: str, is_stopped: Callable[[], bool]) -> Output:
        """Run a pipeline to its end and return what came of it."""
        # A run drives sessions, whose gate fills this very place: at import that would be a circle.
        from workbench.host.steps.drive import Driving, drive_run

        self.check(name)
        desk, kit = self._desk, self._desk.kit
        actor = Actor(kind="agent", pid=os.getpid())
        wish = Wish(name=name, input=given, parent_id=desk.session_id, depth=self._depth())
        try:
            run_id = request(kit.journal, kit.governor, wish, actor)
        except RunRefused as error:
            raise ToolRefused(f"{error.why}; {error.remedy}") from None
        driver = DriverIdentity(host_id=desk.guard.host_id, pid=os.getpid(), workspace=kit.governor)

        def until(_: object) -> bool:
            if is_stopped():
                _cancelled(desk, run_id, actor)
            return False

        asyncio.run(drive_run(Driving(kit=kit, driver=driver, until=until), run_id))
        return self._told(run_id)

    def _told(self, run_id: str) -> Output:
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
        return Output(
            text=canonical.dumps(facts), error=error, summary=f"{facts['status']}, {len(steps)} steps"
        )


def _cancelled(desk: Desk, run_id: str, actor: Actor) -> None:
    try:
        cancel(desk.kit.journal, run_id, actor, "the call was stopped")
    except RunRefused:
        return  # it is over already
