"""A background process and a fake agent as processes of their own, killed and started again, and what must hold."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.support.waits import PATIENCE, until
from workbench.domain.events import ActionApproved, CallExecuting
from workbench.effects.fault_points import FAULTS_VARIABLE
from workbench.host.agent_socket import agent_socket_name
from workbench.host.host_locks import live_host
from workbench.journal.index_tables import index_table_differences

PROGRAM = Path(__file__).with_name("agent_program.py")
SERVE = """
import sys
from pathlib import Path
from workbench.host.supervisor import serve_workspace
from workbench.journal.home import Home
sys.exit(serve_workspace(Home.open(Path(sys.argv[1])), sys.argv[2], linger=float(sys.argv[3])))
"""


class SupervisedPlace:
    """A stage whose agent and background process run on their own; `close` ends them."""

    def __init__(self, stage, plan, way):
        self.stage, self.way = stage, way
        self.log, self.plan = stage.root / "agent.log", stage.root / "plan.json"
        self.plan.write_text(json.dumps(plan))
        self.socket = stage.home.run / agent_socket_name(str(stage.workspace))
        self.host = self.agent = None
        self.said = stage.root / "said.txt"

    def start_host(self, faults="", linger=60.0):
        env = {**os.environ, FAULTS_VARIABLE: faults}
        argv = [
            sys.executable,
            "-c",
            SERVE,
            str(self.stage.home.path),
            str(self.stage.workspace),
            str(linger),
        ]
        self.host = self._start(argv, env)

    def start_agent(self, dies=""):
        folder = str(self.stage.workspace)
        argv = [sys.executable, "-I", "-S", str(PROGRAM), str(self.socket), folder, str(self.log)]
        self.agent = self._start([*argv, str(self.plan), self.way], {**os.environ, "AGENT_DIES": dies})

    def _start(self, argv, env):
        with self.said.open("ab") as file:
            return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=env)

    def is_served(self):
        return live_host(self.stage.home, self.stage.journal, str(self.stage.workspace)) is not None

    def words(self):
        return self.said.read_text()

    def attend(self, answer):
        """Answer what is asked, and start again what died, until the agent has done its plan."""

        def is_done():
            for action in self.waiting():
                answer(action)
            if self.host.poll() is not None:
                assert self.host.returncode == -9, self.words()
                self.start_host()
            if self.agent.poll() == -9:
                self.start_agent()
            return self.agent.poll() is not None

        until(is_done, self.words)
        assert self.agent.returncode == 0, self.words()
        self.settle()

    def settle(self):
        """Wait until nothing is open any more."""

        def is_settled():
            if self.host.poll() is not None:
                self.start_host()
            return not self.stage.journal.calls(self.session(), states=("pending", "approved", "executing"))

        until(is_settled, self.words)

    def session(self):
        (session,) = self.stage.journal.sessions(kinds=("supervised",))
        self.stage.session_id = session.id
        return session.id

    def waiting(self):
        sessions = self.stage.journal.sessions(kinds=("supervised",))
        return [a for s in sessions for a in self.stage.journal.actions(session_id=s.id, states=("pending",))]

    def lines(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def ran(self):
        return [line for line in self.lines() if "ran" in line]

    def close(self):
        for process in (self.agent, self.host):
            if process is not None and process.poll() is None:
                process.kill()
            if process is not None:
                process.wait(PATIENCE)


def check_supervised(place, rewritten=()):
    """Check that the agent ran each approval at most once, and nothing without, by its own log.

    `rewritten`: tools whose calls may have run with another input than they were asked with.
    """
    stage, session_id = place.stage, place.session()
    events = list(stage.journal.events(session_id))
    approved = {e.call_id for e in events if isinstance(e.body, ActionApproved)}
    handed = [e.call_id for e in events if isinstance(e.body, CallExecuting)]
    assert len(handed) == len(set(handed))
    rows = {row.id: row for row in stage.journal.calls(session_id)}
    assert set(handed) <= approved
    nonces = [line["nonce"] for line in place.ran()]
    assert len(nonces) == len(set(nonces)), nonces
    asked = [row for row in map(rows.get, handed) if row.tool not in rewritten]
    by_content = [json.dumps([row.tool, row.parameters], sort_keys=True) for row in asked]
    for line in (line for line in place.ran() if line["tool"] not in rewritten):
        # Each line takes a call away that was handed over with this very input.
        by_content.remove(json.dumps([line["tool"], line["ran"]], sort_keys=True))
    assert index_table_differences(stage.journal) == []
