"""The stage of a golden run of a pipeline: a run is asked for, driven, and answered by its human.

Owns the making of runs; folders, clock and what is kept are those of every golden session.
"""

import asyncio
from dataclasses import replace

from tests.golden.run_still import run_stillness
from tests.golden.staging import END, ENVIRONMENT, GONE, Scene
from tests.golden.words import recording_text
from workbench.domain.values import Decision
from workbench.host import trusting
from workbench.host.kit import open_kit
from workbench.host.models import paced_by
from workbench.host.steps import requests
from workbench.host.steps.drive import Driving, drive_run
from workbench.host.steps.ledger import pending_below
from workbench.journal.decide import decide


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
        trusting.grant(self.journal, str(self.workspace), False, self.user)
        return self.passes(3)

    def begin_run(self, pipeline, **wish):
        wish = requests.Wish(name=pipeline, recordings=str(self.recordings), **wish)
        self.session_id = requests.request(self.journal, str(self.workspace), wish, self.user)
        return self

    def resume(self, step="", after=40):
        self.passes(after)
        requests.resume(self.journal, self.session_id, self.user, step)
        return self

    def cancel(self, reason="", after=9):
        self.passes(after)
        requests.cancel(self.journal, self.session_id, self.user, reason)
        return self

    def waiting(self, target=None):
        every = [self.journal.action(key) for key in pending_below(self.journal, self.session_id)]
        return [action for action in every if target is None or target in action.target]

    def choose(self, choice, after=14, reason=None):
        """Answer the gate that waits with one of its choices."""
        action = self.one()
        self.passes(after)
        said = Decision(action_id=action.id, verdict="approve", choice=choice, reason=reason)
        return decide(self.journal, said, action.digest, self.user)

    async def _driving(self, driver, turns):
        kit = open_kit(
            self.home, self.journal, str(self.workspace), provider=paced_by(self._sleep), sleep=self._sleep
        )

        def until(coordinator):
            if not coordinator.is_waiting or turns.wish in (END, GONE):
                return coordinator.is_waiting
            turns.wish = next(self._human, END)
            return turns.wish in (END, GONE)

        try:
            kit = replace(kit, environment={**ENVIRONMENT, "PWD": str(self.workspace)})
            with run_stillness(self.clock):
                driving = Driving(kit=kit, driver=driver, until=until)
                await asyncio.wait_for(drive_run(driving, self.session_id), 60)
        finally:
            kit.root.close()
        if turns.wish not in (END, GONE):
            turns.wish = next(self._human, END)

    def _recordings(self):
        return {f"recordings/{path.name}": path.read_bytes() for path in self.recordings.iterdir()}
