"""A whole kernel on a small stage: a home, a workspace, a recorded model, a driver in this process.

Everything is real but the model. Tests drive a session until it rests, answer like a second process
would (through `journal.decide` with a digest they read), and drive on.
"""

import asyncio
import hashlib
import json
from contextlib import ExitStack
from pathlib import Path

from tests.support.waits import PATIENCE
from workbench.changes.decision import seal_decision
from workbench.domain.events import ActionOpened
from workbench.domain.values import Actor, Decision, SelectedHunk
from workbench.host import session_requests, workspace_trust
from workbench.host.driver_context import open_driver_context
from workbench.host.host_locks import driver_identity
from workbench.host.session_driver import drive_session
from workbench.host.session_provider import make_provider
from workbench.host.steps.pipeline_tool import SessionPipelineStarter
from workbench.journal.decisions import decide_action
from workbench.journal.home import Home
from workbench.journal.index_tables import index_table_differences
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverLock

USER = Actor(kind="user", pid=1, via="cli")


async def no_wait(seconds):
    await asyncio.sleep(0)


def provider_maker_with_sleep(sleep):
    return lambda session, config: make_provider(session, config, sleep)


def call(call_id, name, **arguments):
    return {"tool_call": {"id": call_id, "name": name, "arguments": arguments}}


def text(words):
    return {"text": words}


def exchange(*parts, when=None, expect=None):
    found = {"reply": list(parts)}
    if when:
        found["when"] = when
    if expect:
        found["expect"] = expect
    return found


def result(call_id, outcome, contains=None):
    found = {"id": call_id, "outcome": outcome}
    return {"tool_result": {**found, "contains": contains} if contains else found}


def recording(*exchanges):
    return {"recording": 1, "model": "recorded-test", "exchanges": list(exchanges)}


class Stage:
    """One home, one workspace, one session, one driver."""

    def __init__(
        self, root: Path, script: dict, *, clock=None, files=None, config=None, can_ask=True, folder="project"
    ):
        self.root = root
        self.workspace = root / folder
        self.workspace.mkdir(parents=True, exist_ok=True)
        for name, content in (files or {}).items():
            path = self.workspace / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        self.home = Home.open(root / "home")
        if config is not None:
            (root / "home" / "config.json").write_text(json.dumps({"config_version": 1, **config}))
        self.journal = Journal.open(self.home, clock)
        self.recording = root / "recording.json"
        self.recording.write_text(json.dumps(script))
        self.can_ask = can_ask
        self.lock = None
        self.session_id = ""
        self._held = ExitStack()

    # --- the agent --------------------------------------------------------------------------------

    def begin(self, prompt="do it", title="test", configuration=None, **more):
        facts = {
            "path": str(self.recording),
            "sha256": hashlib.sha256(self.recording.read_bytes()).hexdigest(),
        }
        self.session_id = session_requests.create_session(
            self.journal, workspace=str(self.workspace), provider="recorded", model="recorded-test", actor=USER,
            title=title, configuration={"recording": facts, **(configuration or {})}, **more,
        )  # fmt: skip
        self.say(prompt)
        return self

    def say(self, prompt):
        session_requests.submit_prompt(self.journal, self.session_id, prompt, USER)

    def trust(self, read=True):
        workspace_trust.grant_trust(self.journal, str(self.workspace), read, USER)
        return self

    def context(self):
        context = open_driver_context(
            self.home,
            self.journal,
            str(self.workspace),
            provider=provider_maker_with_sleep(no_wait),
            pipelines=SessionPipelineStarter,
            can_ask=self.can_ask,
            sleep=no_wait,
        )
        self._held.callback(context.root.close)
        return context

    def driver(self):
        """Become a driver; a test that plays a dead one just drops the lock."""
        self.lock = DriverLock(self.journal, driver_identity(self.journal, str(self.workspace), "run"))
        return self.lock.driver

    def drive(self, until=lambda progress: progress.is_resting, seconds=PATIENCE):
        """Drive the session until it rests (or `until`), as a driver of its own, and hand it back."""

        async def run():
            driving = drive_session(self.context(), self.driver(), self.session_id, until=until)
            return await asyncio.wait_for(driving, seconds)

        try:
            return asyncio.run(run())
        finally:
            self.lock.close()

    # --- the human --------------------------------------------------------------------------------

    def waiting(self):
        return self.journal.actions(session_id=self.session_id, states=("pending",))

    def opened(self, action):
        event = self.journal.event_at(action.opened_at)
        assert isinstance(event.body, ActionOpened)
        return event.body

    def approve(self, action, hunks=None, edited=None, **more):
        selection = (
            None
            if hunks is None
            else tuple(h if isinstance(h, SelectedHunk) else SelectedHunk(hunk=h) for h in hunks)
        )
        decision = Decision(action_id=action.id, verdict="approve", selection=selection, **more)
        made = seal_decision(self.opened(action), decision, self.journal.blobs, edited)
        return decide_action(self.journal, made, action.digest, USER)

    def reject(self, action, reason=None):
        made = Decision(action_id=action.id, verdict="reject", reason=reason)
        return decide_action(self.journal, made, action.digest, USER)

    # --- what there is ----------------------------------------------------------------------------

    def calls(self):
        return {row.provider_call_id: row for row in self.journal.calls(self.session_id)}

    def kinds(self):
        return [event.kind for event in self.journal.events(self.session_id)]

    def bodies(self, cls):
        return [e.body for e in self.journal.events(self.session_id) if isinstance(e.body, cls)]

    def read(self, name):
        return (self.workspace / name).read_bytes()

    def session(self):
        return self.journal.session(self.session_id)

    def close(self):
        """Check that the tables are what the events say, then let go."""
        with ExitStack() as stack:
            stack.callback(self.journal.close)
            stack.callback(self._held.close)
            assert index_table_differences(self.journal) == []
