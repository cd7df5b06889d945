"""The golden session of an agent that executes its own calls: what it does, and what its human answers.

Owns its stage too: a fake agent and the driver of such sessions, in turns with the human.
"""

from types import SimpleNamespace
from unittest import mock

from msgspec.structs import replace

from tests.golden.scenario import golden
from tests.golden.shop import FILES
from tests.golden.staging import ENVIRONMENT, MINUTE, Scene
from tests.golden.still import StillClock, stopped_clock
from tests.support.fake_agent import FakeAgent
from workbench.effects.clock import ManualClock
from workbench.host import supervised_driver
from workbench.host.agent_link import AgentLink
from workbench.host.driver_context import open_driver_context
from workbench.host.session_provider import background_provider_of
from workbench.host.steps.pipeline_tool import SessionPipelineStarter
from workbench.host.supervised_driver import drive_supervised
from workbench.host.supervised_session import require_supervised_session
from workbench.journal.decisions import expire_due_actions
from workbench.supervised.messages import Hello

HELLO = {"agent": "claude", "session": "5c1f7a52-0d7e-4f3a-9a53-2f6f0f6f2f11", "model": "claude-sonnet-4-5"}
AT_REST = SimpleNamespace(is_resting=True)


class LevelClock(StillClock):
    """Does not move when it is looked at: how often a driver looks depends on what wakes it."""

    def monotonic(self):
        return ManualClock.monotonic(self)


class SupervisedScene(Scene):
    """One making: the human and the agent act whenever the driver has nothing to do."""

    def __init__(self, name, root, exchanges, *, files, config=None):
        super().__init__(name, root, exchanges, files=files, config=config)
        self.recording.unlink()
        self.agent, self.link = FakeAgent(self.workspace, HELLO), AgentLink()

    def _open(self, clock):
        super()._open(LevelClock(self.name))

    def answer(self, nonce):
        return self.agent.connection.answers[nonce][-1]

    def run(self, nonce, tool, call, after=1):
        """Let the agent run what it was allowed, as it was allowed."""
        self.passes(after)
        answer = self.answer(nonce)
        assert answer.outcome == "allow", answer
        self.agent.run(tool, self.given[nonce] if answer.input is None else answer.input, call)
        return self

    def ask(self, nonce, tool, call, /, after=3, **given):
        self.passes(after)
        self.given = {**getattr(self, "given", {}), nonce: given}
        self.agent.ask(nonce, tool, given, call)
        return self

    async def _driving(self, driver, turns):
        root = str(self.workspace)
        context = open_driver_context(
            self.home, self.journal, root, provider=background_provider_of,
            pipelines=SessionPipelineStarter,
        )  # fmt: skip
        session = require_supervised_session(self.journal, Hello(cwd=root, **HELLO), root, driver)
        self.session_id = session.id

        def until(_):
            is_over = turns.until(AT_REST)
            self.link.changed.set()
            return is_over

        try:
            context = replace(context, environment={**ENVIRONMENT, "PWD": root})
            with mock.patch.object(supervised_driver, "running_clock", stopped_clock):
                await drive_supervised(context, driver, session.id, self.link, until)
        finally:
            context.root.close()

    def _recordings(self):
        return {}


@golden(
    "supervised",
    [],
    stage=SupervisedScene,
    config={"approvals": {"allow": ["Bash(cat *)"]}},
)
def supervised(scene):
    agent = scene.agent
    agent.connect(scene.link)
    yield
    # Its own settings allowed this one: nothing is asked here.
    agent.run("Bash", {"command": "ls src/shop", "description": "List the modules"}, "toolu_01")
    yield
    scene.ask("n2", "Bash", "toolu_02", command="cat docs/api.md")
    yield
    scene.run("n2", "Bash", "toolu_02")
    yield
    scene.ask("n3", "Write", "toolu_03", file_path="src/shop/router.py", content=ROUTER)
    yield
    scene.approve(after=21, hunks=[1], reason="the log lines stay")
    yield
    scene.run("n3", "Write", "toolu_03")
    yield
    scene.ask(
        "n4", "Write", "toolu_04", file_path="docs/router.md", content="# Router\n\nFirst match wins.\n"
    )
    yield
    scene.reject(after=14, reason="the page about the API says it already")
    yield
    scene.ask("n5", "Bash", "toolu_05", command="rm -r docs")
    yield
    scene.passes(15 * MINUTE + 1)
    expire_due_actions(scene.journal)
    yield
    change = {
        "old_string": "| /cart | GET | what lies in the cart |",
        "new_string": "| /cart | GET | the cart |",
    }
    scene.ask("n6", "Edit", "toolu_06", file_path="docs/api.md", **change)
    yield
    scene.approve(after=9)
    yield
    # The agent writes something else than what was approved.
    scene.passes(1).write("docs/api.md", "# API\n\nSee the code.\n")
    agent.done("Edit", scene.given["n6"], "toolu_06", output="The file was updated.")
    yield
    scene.reject(after=30, reason="put it back")
    yield
    scene.passes(2)
    agent.end_turn()
    yield
    agent.disconnect()
    yield
    scene.passes(3)
    yield
    scene.passes(40)
    agent.connect(scene.link)
    yield
    scene.ask("n7", "Bash", "toolu_07", command="sh scripts/test.sh")
    yield
    scene.approve(after=5)
    yield
    scene.run("n7", "Bash", "toolu_07")
    yield
    scene.ask("n8", "Edit", "toolu_08", file_path="docs/api.md", **change)
    yield


ROUTER = (
    FILES["src/shop/router.py"]
    .replace('"""Finds the handler for a request."""\n', '"""Finds the handler for a request: the first route that fits."""\n', 1)
    .replace("No route accepts", "No route fits")
)  # fmt: skip
