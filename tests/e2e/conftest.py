"""The installed program, as a user has it: processes, pipes and a pseudo-terminal."""

import io
import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.fork_server import run_forked
from tests.support.installed import install
from tests.support.stage import call, exchange, recording, result, text
from tests.support.waits import until
from workbench.cli.console import Console
from workbench.cli.dispatch import dispatch
from workbench.journal.home import Home
from workbench.journal.journal import Journal

SCRIPT = recording(
    exchange(
        text("I write it. "),
        call("c1", "create_file", path="hello.py", content="print('hello')\n"),
        call("c2", "run_in_terminal", command="python3 hello.py"),
        {"usage": {"input_tokens": 100, "output_tokens": 20}},
    ),
    exchange(text("Nobody wanted it."), when=result("c1", "rejected")),
    exchange(text("Denied, then."), when=result("c1", "denied")),
    exchange(text("Done: it says hello."), when=result("c2", "succeeded", "hello")),
    exchange(text("So be it.")),
)


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """The program of a wheel that is installed once."""
    return install(tmp_path_factory.mktemp("installed"))


class Shop:
    """A user's machine: a home, a project, a shell to start things in."""

    def __init__(self, root: Path):
        self.root, self.project, self.home = root, root / "project", root / "home"
        self.project.mkdir()
        self.recording = root / "session.json"
        self.recording.write_text(json.dumps(SCRIPT))
        self.started = []

    def env(self, **more):
        return {**os.environ, "WORKBENCH_HOME": str(self.home), "PYTHONUNBUFFERED": "1", **more}

    def argv(self, *words):
        return [sys.executable, "-m", "workbench", *words]

    def start(self, *words, cwd=None, env=None, **more):
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
        process = subprocess.Popen(
            self.argv(*words), cwd=cwd or self.project, env=env or self.env(), text=True, **pipes
        )
        self.started.append(process)
        return process

    def call(self, *words, code=0, cwd=None, env=None, stdin=None):
        """Run a command to its end, in a fork of a process that has the program loaded; `start` starts it."""
        done = run_forked(
            "workbench.cli.main", *words, cwd=cwd or self.project, env=env or self.env(), stdin=stdin
        )
        assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        return done

    def json(self, *words, code=0):
        return json.loads(self.call(*words, "--json", code=code).stdout)

    def run(self, *more, prompt="say hello"):
        return self.start(
            "run", "-p", prompt, "--provider", "recorded", "--recording", str(self.recording), *more
        )

    def written(self, name):
        """Return what a file of the project holds once it is there: a decision is seen before it is carried out."""
        until((self.project / name).exists, lambda: f"{name} was not written")
        return (self.project / name).read_text()

    def _count_waiting(self):
        """Return how many tool actions wait: read here, as a program that only asks for them takes longer."""
        if not (self.home / "journal.db").exists():
            return 0
        with Journal.open(Home.open(self.home)) as journal:
            return sum(action.kind == "tool" for action in journal.actions(states=("pending",)))

    def waiting(self, count):
        """Wait until so many tool actions are in the queue, and return them."""
        until(lambda: self._count_waiting() == count, lambda: f"{self._count_waiting()} wait, not {count}")
        return [a for a in self.json("approvals", "list") if a["kind"] == "tool"]


def stop_hosts(home):
    """Stop the hosts of a home by the command that does it; in this process, as most tests leave none."""
    said = Console(io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8"))
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("WORKBENCH_HOME", str(home))
        assert dispatch(["host", "stop", "--all"], said) == 0


@contextmanager
def opened(root):
    """Open a shop, and leave nothing of it running."""
    made = Shop(root)
    try:
        yield made
    finally:
        for process in made.started:
            if process.poll() is None:
                process.kill()
            process.communicate()
        for home in (made.home, root / "demo" / "home"):
            if home.exists():
                stop_hosts(home)


@pytest.fixture
def shop(tmp_path):
    with opened(tmp_path) as made:
        yield made
