"""A project with pipelines and everything that drives a run of them, in this process."""

import asyncio
import json
import sys

from msgspec.structs import replace

from tests.support.waits import PATIENCE
from tests.unit.pipelines.projects import MANIFEST, PROMPTS, write
from workbench.domain.values import Actor, Decision
from workbench.effects import fault_points
from workbench.host import workspace_trust
from workbench.host.driver_context import open_driver_context
from workbench.host.session_provider import provider_of
from workbench.host.steps import run_requests
from workbench.host.steps.pipeline_tool import SessionPipelineStarter
from workbench.host.steps.run_driver import RunDriverOptions, drive_run
from workbench.journal.decisions import decide_action
from workbench.journal.home import Home
from workbench.journal.index_tables import index_table_differences
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverIdentity, DriverLock
from workbench.journal.session_queries import pending_action_ids
from workbench.views.pipeline import last_started_step_plans, matrix_item_ids, pipeline_run

USER = Actor(kind="user", pid=1, via="cli")
PYTHON = sys.executable


class Runs:
    """A trusted project, its journal, and runs driven one after another."""

    def __init__(self, root, *, manifest=MANIFEST, files=None, trust=True):
        self.root = (root / "project").resolve()
        self.home = Home.open(root / "home")
        self.journal = Journal.open(self.home)
        self.recordings = root / "recordings"
        self.recordings.mkdir()
        write(self.root, {**PROMPTS, "wave.yaml": manifest, **(files or {})})
        self.drivers = 0
        if trust:
            self.trust()

    def trust(self):
        workspace_trust.grant_trust(self.journal, str(self.root), False, USER)

    def pipeline(self, steps, *, name="p", head=""):
        write(
            self.root,
            {f"{name}.yaml": f"kind: WavePipeline\nmetadata: {{name: {name}}}\n{head}steps:\n{steps}"},
        )
        self.trust()
        return f"{name}.yaml"

    def record(self, step, *exchanges):
        found = {"recording": 1, "model": "m", "exchanges": list(exchanges)}
        (self.recordings / f"{step}.json").write_text(json.dumps(found))

    def request(self, name="p.yaml", **wish):
        if any(self.recordings.iterdir()):
            wish.setdefault("recordings", str(self.recordings))
        return run_requests.request_run(
            self.journal, str(self.root), run_requests.RunRequest(name=name, **wish), USER
        )

    def drive(
        self,
        run,
        *,
        until=lambda c: c.is_waiting,
        can_ask=True,
        seconds=PATIENCE,
        see=lambda events: None,
        machine=None,
    ):
        self.drivers += 1
        driver = DriverIdentity(host_id=f"d{self.drivers}", pid=self.drivers, driver="run")
        context = open_driver_context(
            self.home,
            self.journal,
            str(self.root),
            provider=provider_of,
            pipelines=SessionPipelineStarter,
            can_ask=can_ask,
            sleep=no_sleep,
        )

        async def go():
            async with asyncio.timeout(seconds):
                options = RunDriverOptions(context=context, driver=driver, until=until, on_events=see)
                return await drive_run(replace(options, machine=machine) if machine else options, run)

        try:
            with DriverLock(self.journal, driver):
                return asyncio.run(go())
        finally:
            context.root.close()

    def run(self, steps, machine=None, **wish):
        """Write a pipeline, run it, and return its row."""
        return self.drive(self.request(self.pipeline(steps), **wish), machine=machine)

    def resume(self, run, step="", reads_files=None, machine=None):
        run_requests.resume_run(self.journal, run, USER, step, reads_files=reads_files)
        return self.drive(run, machine=machine)

    def states(self, run):
        return {row.step_id: row.state for row in self.journal.step_states(run)}

    def items(self, run, step):
        """Return the states of the items of a matrix as they are listed, also of those that never began."""
        events, read = self.journal.events(run), self.journal.blobs.read
        ids = matrix_item_ids([event for event in events if event.step == step], read)
        row, plans, states = (
            self.journal.pipeline_state(run), last_started_step_plans(events), self.journal.step_states(run)
        )  # fmt: skip
        shown = pipeline_run(row, plans, states, (), self.journal.now(), listed={step: ids})
        return {item.id: item.state for found in shown.steps if found.id == step for item in found.items}

    def step(self, run, step):
        return self.journal.step_state(run, step)

    def bodies(self, run, kind):
        return [(e.step, e.body) for e in self.journal.events(run) if e.kind == kind]

    def waiting(self, run):
        return [self.journal.action(key) for key in pending_action_ids(self.journal, run)]

    def answer(self, run, verdict="approve", **more):
        (action, *_) = self.waiting(run)
        said = Decision(action_id=action.id, verdict=verdict, **more)
        assert decide_action(self.journal, said, action.digest, USER).ok

    def read(self, path):
        return (self.root / path).read_text()

    def check(self):
        assert index_table_differences(self.journal) == []

    def close(self):
        fault_points.disarm_all_faults()
        self.check()
        self.journal.close()


async def no_sleep(seconds):
    await asyncio.sleep(min(seconds, 0.01))
