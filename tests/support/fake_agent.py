"""An agent that executes its own calls: it asks, waits, obeys or disobeys, and keeps its own log of what it ran.

Its tools are written here once more, by the agent's rules, so that what the driver expects of them is compared
with something else.
"""

import asyncio

from tests.support.waits import PATIENCE, until_true
from workbench.host.supervised_driver import AgentLink, drive_supervised
from workbench.host.supervised_session import require_supervised_session
from workbench.supervised.messages import Ask, CallAnswer, Done, Hello, TurnDone

HELLO = {"agent": "fake", "session": "s-1"}


def run_tool(folder, tool, given):
    """Do what the agent's tool does; returns what it prints. Raises ValueError where it fails."""
    if tool == "Bash":
        return "ran"
    if tool == "apply_patch":
        return _patch(folder, given["patch"])
    path = folder / given["file_path"]
    if tool == "Write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(given["content"].encode())
        return "written"
    text = path.read_bytes().decode()
    count = text.count(given["old_string"])
    if count == 0 or (count > 1 and not given.get("replace_all")):
        raise ValueError(f"{count} occurrences")
    path.write_bytes(text.replace(given["old_string"], given["new_string"]).encode())
    return "edited"


def _patch(folder, text):
    """Apply sections of a patch whose context is exact."""
    lines = text.splitlines()
    assert (lines[0], lines[-1]) == ("*** Begin Patch", "*** End Patch"), text
    path, old, new = None, [], []

    def flush():
        if path is not None and (old or new):
            before = path.read_text() if path.exists() else ""
            part = "".join(f"{line}\n" for line in old)
            assert before.count(part) >= 1 or not old, (path, part)
            path.write_text(
                before.replace(part, "".join(f"{line}\n" for line in new), 1)
                if old
                else before + "".join(f"{line}\n" for line in new)
            )
        old.clear(), new.clear()

    for line in lines[1:-1]:
        if line.startswith("*** "):
            flush()
            kind, _, name = line.removeprefix("*** ").partition(": ")
            path = folder / name
            if kind == "Delete File":
                path.unlink()
                path = None
        elif line.startswith("@@"):
            flush()
        elif line[:1] == "+":
            new.append(line[1:])
        elif line[:1] == "-":
            old.append(line[1:])
        else:
            old.append(line[1:])
            new.append(line[1:])
    flush()
    return "patched"


class FakeConnection:
    """One connection: what it was answered, by nonce."""

    def __init__(self):
        self.answers: dict[str, list[CallAnswer]] = {}
        self.is_open = True

    def send(self, answer):
        if self.is_open:
            self.answers.setdefault(answer.nonce, []).append(answer)
        return self.is_open


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
