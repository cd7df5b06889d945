"""An agent that executes its own calls: it asks, waits, obeys or disobeys, and keeps its own log of what it ran."""

import asyncio

from tests.support.agent_tools import run_tool
from tests.support.waits import PATIENCE, until_true
from workbench.host.agent_link import AgentLink
from workbench.host.supervised_driver import drive_supervised
from workbench.host.supervised_session import require_supervised_session
from workbench.supervised.messages import Ask, CallAnswer, Done, Hello, TurnDone

HELLO = {"agent": "fake", "session": "s-1"}


class FakeConnection:
    """One connection: what it was answered, by nonce."""

    def __init__(self):
        self.answers: dict[str, list[CallAnswer]] = {}
        self.is_open = True

    def send(self, answer):
        if self.is_open:
            self.answers.setdefault(answer.nonce, []).append(answer)
        return self.is_open

    def close(self):
        self.is_open = False


class FakeAgent:
    """Asks over one connection and runs what it is allowed; `log` has each call that it ran."""

    def __init__(self, folder, hello=None):
        self.folder, self.log, self.hello = folder, [], hello or HELLO

    def connect(self, link):
        self.link, self.connection = link, FakeConnection()
        link.put(self.connection, Hello(cwd=str(self.folder), **self.hello))

    def ask(self, nonce, tool, given, call="", **more):
        self.link.put(self.connection, Ask(nonce=nonce, tool=tool, input=given, call=call, **more))

    async def answer(self, nonce):
        await until_true(lambda: nonce in self.connection.answers)
        return self.connection.answers[nonce][-1]

    async def call(self, nonce, tool, given, call="", **more):
        """Ask, and run the call if it is allowed; returns the answer."""
        self.ask(nonce, tool, given, call, **more)
        answer = await self.answer(nonce)
        if answer.outcome == "allow":
            self.run(tool, given if answer.input is None else answer.input, call)
        return answer

    def run(self, tool, given, call=""):
        """Run a call and say that it ended."""
        self.log.append((tool, given))
        try:
            output, is_error = run_tool(self.folder, tool, given), False
        except (ValueError, OSError) as error:
            output, is_error = str(error), True
        self.done(tool, given, call, output=output, is_error=is_error)

    def done(self, tool, given, call="", **more):
        self.link.put(self.connection, Done(tool=tool, input=given, call=call, **more))

    def end_turn(self):
        self.link.put(self.connection, TurnDone())

    def disconnect(self):
        self.connection.is_open = False
        self.link.put(self.connection, None)


async def waiting_row(stage):
    """Return the one row that waits."""
    (action,) = await until_true(stage.waiting)
    return action


async def settled_calls(stage):
    """Wait until the session has a call and each of its calls is settled; returns them."""
    rows = await until_true(lambda: stage.journal.calls(stage.session_id))
    await until_true(lambda: all(row.finished_at for row in stage.journal.calls(stage.session_id)))
    return rows


def supervise(stage, scenario, agent=None):
    """Drive the session of a fake agent while `scenario(agent)` runs; returns what it returns.

    Where the driver dies, so does the scenario, and its error is raised.
    """
    agent = agent or FakeAgent(stage.workspace)
    driver = stage.driver()
    try:
        return asyncio.run(_supervise(stage, scenario, agent, driver))
    finally:
        stage.lock.close()


async def _supervise(stage, scenario, agent, driver):
    link, is_over = AgentLink(), asyncio.Event()
    hello = Hello(cwd=str(stage.workspace), **HELLO)
    session = require_supervised_session(stage.journal, hello, str(stage.workspace), driver)
    stage.session_id = session.id
    agent.connect(link)
    acting = asyncio.create_task(scenario(agent))
    driving = asyncio.create_task(
        drive_supervised(stage.context(), driver, session.id, link, lambda _: is_over.is_set())
    )
    try:
        await asyncio.wait({acting, driving}, return_when=asyncio.FIRST_COMPLETED)
        if not driving.done():
            result = await acting
            is_over.set()
            link.changed.set()
        await asyncio.wait_for(driving, PATIENCE)
        return result
    finally:
        for task in (acting, driving):
            task.cancel()
        await asyncio.gather(acting, driving, return_exceptions=True)
