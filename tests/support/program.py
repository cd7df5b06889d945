"""The installed program in processes of its own, which can be killed like any other.

Watches the journal from outside and answers what it asks by running the program once more, as a human in
another terminal does.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.support.crashes import CrashStage, ShiftedClock
from tests.support.fork_server import run_forked
from tests.support.waits import PATIENCE
from workbench.domain import events
from workbench.domain.values import SYSTEM_SESSION
from workbench.effects.fault_points import FAULTS_VARIABLE
from workbench.journal.home import Home


class Program(CrashStage):
    """A home, a workspace, and the program in as many processes as a test starts."""

    def __init__(self, scenario, place: Path):
        self.scenario, self.clock = scenario, ShiftedClock()
        self.workspace = place / "project"
        for name, content in scenario.files.items():
            path = self.workspace / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        self.home = Home.open(place / "home")
        self.recording = place / "recording.json"
        self.recording.write_text(json.dumps(scenario.script))
        self.logs = place / "said"
        self.logs.mkdir()
        self.answering: dict[str, subprocess.Popen] = {}
        self.started: list[subprocess.Popen] = []

    @property
    def session_id(self):
        found = (session for session in self.journal.sessions() if session.id != SYSTEM_SESSION)
        return next((session.id for session in found), "")

    def _environment(self, faults=""):
        env = {**os.environ, "WORKBENCH_HOME": str(self.home.path), FAULTS_VARIABLE: faults}
        return {name: value for name, value in env.items() if value}

    def start(self, *words, faults=""):
        """Start the program; what it says is kept for messages."""
        with (self.logs / f"{len(self.started)}-{words[0]}").open("wb") as said:
            process = subprocess.Popen(
                [sys.executable, "-m", "workbench", *words], stdin=subprocess.DEVNULL, stdout=said,
                stderr=subprocess.STDOUT, cwd=self.workspace, env=self._environment(faults), start_new_session=True,
            )  # fmt: skip
        self.started.append(process)
        return process

    def run(self, faults=""):
        """Start a session."""
        words = ("-p", "do it", "--recording", str(self.recording), "--output-format", "stream-json")
        return self.start("run", *words, faults=faults)

    def attend(self, process, *, kill_at=None, faults=""):
        """Answer what waits until a process ends; kill it when the journal has come to a position.

        Args:
            process: From `start`.
            kill_at: The position.
            faults: What is armed in the processes that answer.

        Returns:
            Its exit code.
        """
        until = time.monotonic() + PATIENCE
        while process.poll() is None:
            assert time.monotonic() < until, f"it did not end: {self.story()}\n{self.said()}"
            cursor = self.journal.last_position()
            if kill_at is not None and cursor >= kill_at:
                process.send_signal(signal.SIGKILL)
                break
            if self.session_id:
                self.answer_all(faults)
            self.journal.wait(cursor, 0.02)
        return process.wait()

    def answer_all(self, faults=""):
        """Answer every question that waits and is not being answered."""
        for action in self.journal.actions(self.session_id, states=("pending",)):
            answering = self.answering.get(action.id)
            if answering is None or answering.poll() not in (None, 0):
                is_first = answering is None
                self.answering[action.id] = self.start(
                    "approvals", "approve", action.id, faults=faults if is_first else ""
                )

    def settled(self):
        """Wait for everybody who answers."""
        for process in self.answering.values():
            process.wait(PATIENCE)

    def said(self):
        """Return what all processes have said so far."""
        logs = sorted((*self.logs.iterdir(), *self.home.logs.iterdir()))
        return "\n".join(f"--- {path.name}\n{path.read_text()[-2000:]}" for path in logs)

    def stop_host(self):
        """Stop the host that a process may have started, by the command that does it."""
        run_forked("workbench.cli.main", "host", "stop", cwd=self.workspace, env=self._environment())

    def stop(self):
        """End every process that this object has started, and the host that they may have started."""
        self.stop_host()
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.wait()

    def is_over(self):
        """Return whether the session has come to its end."""
        ended = self.bodies(events.TurnEnded)
        return (
            bool(ended)
            and self.journal.calls(self.session_id, states=("pending", "approved", "executing")) == []
        )
