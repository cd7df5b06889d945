"""The stage of a golden run of a pipeline: a run is asked for, driven, and answered by its human.

Owns the making of runs; folders, clock and what is kept are those of every golden session.
"""

import asyncio

from msgspec.structs import replace

from tests.golden.run_still import run_stillness
from tests.golden.staging import END, ENVIRONMENT, GONE, Scene
from tests.golden.words import recording_text
from tests.support.stage import provider_maker_with_sleep
from tests.support.waits import PATIENCE
from workbench.domain.values import Decision
from workbench.host import workspace_trust
from workbench.host.driver_context import open_driver_context
from workbench.host.steps import run_requests
from workbench.host.steps.pipeline_tool import SessionPipelineStarter
from workbench.host.steps.run_driver import RunDriverOptions, drive_run
from workbench.journal.decisions import decide_action
from workbench.journal.session_queries import pending_action_ids


class RunScene(Scene):
    """One making of a golden run; the human of it acts whenever the run waits or is over."""

    def __init__(self, name, root, steps, *, files, config=None):
        super().__init__(name, root, [], files=files, config=config)
        self.recording.unlink()
        self.recordings = root / "recordings"
        self.recordings.mkdir()
        for step, exchanges in steps.items():
            (self.recordings / f"{step}.json").write_text(recording_text(exchanges), encoding="utf-8")

    def trust(self):
        workspace_trust.grant_trust(self.journal, str(self.workspace), False, self.user)
        return self.passes(3)

    def begin_run(self, pipeline, **wish):
        wish = run_requests.RunRequest(name=pipeline, recordings=str(self.recordings), **wish)
        self.session_id = run_requests.request_run(self.journal, str(self.workspace), wish, self.user)
        return self

    def resume(self, step="", after=40):
        self.passes(after)
        run_requests.resume_run(self.journal, self.session_id, self.user, step)
        return self

    def cancel(self, reason="", after=9):
        self.passes(after)
        run_requests.cancel_run(self.journal, self.session_id, self.user, reason)
        return self

    def waiting(self, target=None):
        every = [self.journal.action(key) for key in pending_action_ids(self.journal, self.session_id)]
        return [action for action in every if target is None or target in action.target]

    def choose(self, choice, after=14, reason=None):
        """Answer the gate that waits with one of its choices."""
        action = self.one()
        self.passes(after)
        said = Decision(action_id=action.id, verdict="approve", choice=choice, reason=reason)
        return decide_action(self.journal, said, action.digest, self.user)

    async def _driving(self, driver, turns):
        context = open_driver_context(
            self.home,
            self.journal,
            str(self.workspace),
            provider=provider_maker_with_sleep(self._sleep),
            pipelines=SessionPipelineStarter,
            sleep=self._sleep,
        )

        def until(coordinator):
            if not coordinator.is_waiting or turns.wish in (END, GONE):
                return coordinator.is_waiting
            turns.wish = next(self._human, END)
            return turns.wish in (END, GONE)

        try:
            context = replace(context, environment={**ENVIRONMENT, "PWD": str(self.workspace)})
            with run_stillness(self.clock):
                driving = RunDriverOptions(context=context, driver=driver, until=until)
                await asyncio.wait_for(drive_run(driving, self.session_id), PATIENCE)
        finally:
            context.root.close()
        if turns.wish not in (END, GONE):
            turns.wish = next(self._human, END)

    def _recordings(self):
        return {f"recordings/{path.name}": path.read_bytes() for path in self.recordings.iterdir()}
