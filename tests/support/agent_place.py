"""A queue, and real agents that are connected to it as users connect them: by `workbench connect`.

The agents' hooks start the background process themselves. Tests answer rows as a second process does.
"""

import contextlib
import os
import signal
import subprocess
from pathlib import Path

from tests.support.stage import USER, Stage, recording
from tests.support.waits import PATIENCE, until
from workbench.bridge.agents import hooked_agent
from workbench.domain.events import CallExecuting
from workbench.effects.fault_points import FAULTS_VARIABLE
from workbench.host.host_locks import live_host
from workbench.host.workspace_trust import grant_trust


class AgentPlace(Stage):
    """A stage with the installed program and the agents that a test adds; `close` ends what was started."""

    def __init__(self, root: Path, program: Path, **more):
        super().__init__(root, recording(), **more)
        self.program, self.agents, self._served = program, [], []
        self.workspace = self.workspace.resolve()
        self.trust()

    def add(self, make, folder=None, *, is_connected=True):
        """Return an agent of a class, in a folder of its own or in that of the stage."""
        work = self.workspace if folder is None else self.root.resolve() / folder
        work.mkdir(exist_ok=True)
        agent = make(self.root.resolve() / f"home of {make.id}", work)
        self.agents.append(agent)
        grant_trust(self.journal, str(work), True, USER)
        if is_connected:
            self.connect(agent)
        return agent

    def connect(self, agent, *words):
        self.workbench(agent, "connect", agent.id, "--yes", *words)

    def workbench(self, agent, *words):
        """Run the installed program as the user of an agent; returns what it printed."""
        done = subprocess.run(
            [str(self.program), *words], cwd=agent.folder, env=self.environment(agent), capture_output=True,
            text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def environment(self, agent):
        return {**agent.env, "WORKBENCH_HOME": str(self.home.path)}

    # --- the background process -------------------------------------------------------------------------

    def host(self, agent):
        """Return the background process of an agent's folder; None if there is none."""
        return live_host(self.home, self.journal, str(agent.folder))

    def serve(self, agent, faults=""):
        """Start the background process of an agent's folder if there is none, with a death armed in it."""
        if self.host(agent) is not None:
            return None
        env = {**self.environment(agent), FAULTS_VARIABLE: faults}
        with (self.root / "served.log").open("ab") as said:
            process = subprocess.Popen(
                [str(self.program), "host", "serve", str(agent.folder)], cwd=self.home.path, env=env,
                stdin=subprocess.DEVNULL, stdout=said, stderr=said,
            )  # fmt: skip
        self._served.append(process)
        until(lambda: process.poll() is not None or self.host(agent) is not None)
        return process

    def kill_host(self, agent):
        """Kill the background process of an agent's folder, if there is one."""
        host = self.host(agent)
        if host is not None:
            os.kill(host.pid, signal.SIGKILL)
            until(lambda: self.host(agent) is None)

    def clients(self):
        """Return the process ids of the hook's clients of this place."""
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                words = path.read_bytes().split(b"\0")
                if str(self.home.path).encode() in words and any(
                    w.endswith(b"/hook_client.py") for w in words
                ):
                    found.append(int(path.parent.name))
        return found

    def kill_clients(self):
        """Kill the hook's clients that wait for an answer of this place; returns how many there were."""
        killed = 0
        for pid in self.clients():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                killed += 1
        return killed

    # --- rows -------------------------------------------------------------------------------------------

    def session_of(self, agent):
        """Return the session of an agent in its folder; None before its first hook."""
        found = self.journal.sessions(kinds=("supervised",))
        origin = hooked_agent(agent.id).origin
        mine = [row for row in found if row.workspace == str(agent.folder) and row.provider == origin]
        return mine[0] if mine else None

    def rows_of(self, agent, *states):
        session = self.session_of(agent)
        return self.journal.actions(session_id=session.id, states=states) if session else []

    def row(self, agent):
        """Wait for the row that an agent waits at."""

        def found():
            assert agent.runs[-1].poll() is None, (
                f"it ended without a row: {agent.words()}\n{self.story(agent)}"
            )
            return self.rows_of(agent, "pending")

        return until(found, lambda: f"no row: {agent.words()}\n{self.story(agent)}")[0]

    def attend(self, agent, answer):
        """Answer each row of an agent until its run has ended; returns what its model was given last."""
        while agent.is_running():
            seen = len(agent.model.asked)
            until(
                lambda seen=seen: (
                    self.rows_of(agent, "pending") or not agent.is_running() or len(agent.model.asked) > seen
                ),
                lambda: f"it does not go on: {agent.words()}\n{self.story(agent)}",
            )
            for row in self.rows_of(agent, "pending"):
                answer(row)
        return agent.end()

    def calls_of(self, agent):
        session = self.session_of(agent)
        return self.journal.calls(session.id) if session else []

    def settled(self, agent):
        """Wait until each call of an agent has ended; returns them. A background process looks at the disk."""
        self.serve(agent)
        until(lambda: self.calls_of(agent) and all(call.finished_at for call in self.calls_of(agent)),
              lambda: self.story(agent))  # fmt: skip
        return self.calls_of(agent)

    def story(self, agent):
        """Return what became of an agent's calls, and what the background process logged."""
        lines = [
            f"{call.tool} {call.state} {call.verdict_by} {call.detail} {call.error}"
            for call in self.calls_of(agent)
        ]
        logs = [
            path.read_text(errors="replace")[-1500:]
            for path in sorted(self.home.logs.iterdir())
            if path.is_file()
        ]
        return "\n".join([*lines, *logs])

    def handed(self, agent):
        """Return the calls that were answered with an allow, in their order."""
        events = self.journal.events(self.session_of(agent).id)
        return [event.call_id for event in events if isinstance(event.body, CallExecuting)]

    def close(self):
        for agent in self.agents:
            agent.close()
        for process in self._served:
            process.kill()
            process.wait(PATIENCE)
        for agent in self.agents:
            self.kill_host(agent)
        super().close()
