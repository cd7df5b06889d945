"""Real findings of ruff solved from place 8: asked of a model server, answered in the queue, killed between."""

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
from contextlib import suppress

import pytest

from tests.support.chat_server import ChatServer, called, said, whole
from tests.support.waits import until_true
from tests.tui.screens import Hand, Shown
from workbench.backend.local_backend import LocalBackend
from workbench.domain.events import ActionOpened
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.app import WorkbenchApp

RUFF = "ruff check --isolated --no-cache --select F401 --output-format json"
MODULES = ("os", "sys", "json", "re", "csv", "math", "time", "uuid", "abc", "ast", "bz2", "cmd")
REJECTED = ("csv", "cmd")


class Agent:
    """A scripted model: it removes the import that it is asked about, and is done then."""

    def __init__(self):
        models = whole({"object": "list", "data": [{"id": "fixer", "object": "model"}]})
        self.server = ChatServer(otherwise=models)
        self.server._say, self._send = self._choose, self.server._say
        self.prompts = []

    def _choose(self, connection, answer):
        asked = self.server.asked[-1]
        self._send(
            connection, self._reply(asked.json) if asked.path.endswith("/chat/completions") else answer
        )

    def _reply(self, request):
        last = request["messages"][-1]
        if last["role"] != "user":
            return said("Done.")
        self.prompts.append(last["content"])
        name = re.search(r"`(\w+)` imported", last["content"])[1]
        path = re.search(r"^File: (.*)$", last["content"], re.MULTILINE)[1]
        arguments = {"path": path, "old_string": f"import {name}\n", "new_string": ""}
        return called("replace_string_in_file", json.dumps(arguments), f"call-{name}")


def git(shop, *words):
    name = ("-c", "user.name=n", "-c", "user.email=n@example.com")
    return subprocess.run(
        ["git", *name, *words], cwd=shop.project, capture_output=True, text=True, check=True
    ).stdout


def left(shop):
    found = subprocess.run(["sh", "-c", RUFF], cwd=shop.project, capture_output=True, text=True, check=False)
    return sorted(re.search(r"`(\w+)`", entry["message"])[1] for entry in json.loads(found.stdout))


def prepare(shop, agent):
    for number, path in enumerate(("a.py", "b.py")):
        names = MODULES[number * 6 : number * 6 + 6]
        (shop.project / path).write_text("".join(f"import {name}\n" for name in names) + "\nprint(1)\n")
    git(shop, "init", "-q", ".")
    git(shop, "add", ".")
    git(shop, "commit", "-qm", "faults")
    shop.home.mkdir(mode=0o700)
    provider = {"kind": "openai-compatible", "base_url": agent.server.base_url, "model": "fixer"}
    (shop.home / "config.json").write_text(json.dumps({"providers": {"local": provider}}))
    shop.call("trust", "--yes")


class Player:
    """The screen of the project with its real backend, and what a person does on it."""

    def __init__(self, shop, journal, shown):
        self.shop, self.journal, self.shown = shop, journal, shown

    async def until(self, holds, what):
        async def look():
            self.shown.main.look()
            await self.shown.pilot.pause()
            return holds()

        await until_true(look, said=lambda: f"{what} did not come:\n{self.shown.text}")

    async def type_in(self, words):
        for letter in words:
            await self.shown.pilot.press("space" if letter == " " else letter)
        await self.shown.settle()

    def waiting(self):
        return [action for action in self.journal.actions(states=("pending",)) if action.kind == "tool"]

    def listed(self):
        (session,) = self.journal.sessions(kinds=("incidents",))
        return session

    async def start(self):
        await self.shown.press("escape", "8", "I")
        await self.type_in(RUFF)
        await self.shown.press("enter")
        await self.until(lambda: f"{len(MODULES)} open" in self.shown.text, "the list")
        await self.shown.press("L")
        await self.until(lambda: "12 findings listed" in self.shown.text, "what would be asked")
        assert "local/fixer" in self.shown.text and "12 prompts, at most 36" in self.shown.text
        await self.shown.press("enter")

    async def answer(self):
        """Answer what waits next; return False where the list rests instead."""
        await self.until(
            lambda: self.waiting() or self.listed().status in ("paused", "completed"), "a question"
        )
        if not self.waiting():
            return False
        (action,) = self.waiting()
        await self.until(lambda: action.id in self.shown.main.state.actions, "its row")
        if self.shown.main.composer.has_focus_within:
            await self.shown.press("escape")
        await self.shown.press("2")
        self.shown.approvals.queue.put_cursor(action.id)
        await self.shown.settle()
        opened = self.journal.event_at(action.opened_at).body
        assert isinstance(opened, ActionOpened)
        gone = "".join(text for hunk in opened.hunks for sign, text in hunk.lines if sign == "-")
        is_refused = any(gone == f"import {name}" for name in REJECTED)
        await self.shown.press("r" if is_refused else "a")
        await self.until(lambda: self.journal.action(action.id).state != "pending", "the answer")
        return True

    async def kill_the_host(self):
        host = next(one for one in self.journal.hosts() if one.driver == "host" and one.ended_at is None)
        os.kill(host.pid, signal.SIGKILL)
        if self.shown.main.composer.has_focus_within:
            await self.shown.press("escape")
        await self.shown.press("8")
        await asyncio.to_thread(self.shown.main.context.backend.ensure_host, str(self.shop.project))
        await self.until(lambda: self.listed().status == "paused", "the pause")
        await self.until(lambda: "c continues it" in self.shown.text, "how it continues")
        await self.shown.press("c")


@pytest.mark.campaign
@pytest.mark.skipif(shutil.which("ruff") is None, reason="ruff is not there")
def test_ten_findings_are_solved_from_the_screen_two_rejected_and_a_kill_between(shop, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(shop.home))
    agent = Agent()
    with agent.server:
        prepare(shop, agent)
        assert left(shop) == sorted(MODULES)
        home = Home.open(shop.home)
        with Journal.open(home) as journal:
            try:
                play(shop, home, journal)
            finally:
                for host in journal.hosts():
                    if host.driver == "host" and host.ended_at is None:
                        with suppress(ProcessLookupError):
                            os.kill(host.pid, signal.SIGTERM)
    result = shop.json("incidents", "results")
    assert result["counts"] == {"fixed": 10, "rejected": 2}
    assert left(shop) == sorted(REJECTED)
    assert git(shop, "diff", "--name-only").split() == result["files_modified"] == ["a.py", "b.py"]
    counted = [line.split("\t")[:2] for line in git(shop, "diff", "--numstat").splitlines()]
    assert counted == [["0", "5"], ["0", "5"]]
    assert len(agent.prompts) == len(set(agent.prompts)) == 12


def play(shop, home, journal):
    app = WorkbenchApp(
        journal, LocalBackend(home, journal, str(shop.project)), str(shop.project), home=str(shop.root),
        monotonic=(hand := Hand()),
    )  # fmt: skip

    async def run():
        async with app.run_test(size=(120, 36)) as pilot:
            player = Player(shop, journal, Shown(None, app, hand, pilot))
            await player.shown.settle()
            await player.start()
            for _ in range(5):
                assert await player.answer()
            await player.kill_the_host()
            while await player.answer():
                pass
            await player.shown.press("escape", "8")
            await player.until(lambda: "10 fixed, 2 rejected" in player.shown.text, "the outcome")

    asyncio.run(run())
