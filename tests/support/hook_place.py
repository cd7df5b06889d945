"""A workspace whose agents' hooks run as processes, with the real client and a real background process."""

import json
import os
import subprocess
import sys

from tests.support.supervised_place import SupervisedPlace
from tests.support.waits import PATIENCE, until
from workbench.bridge.agents import hooked_agent
from workbench.bridge.hook_command import HookSetup, hook_arguments
from workbench.formats.assemble import imported_session_id


class RunningHook:
    """A hook that runs."""

    def __init__(self, process, data):
        self._process = process
        process.stdin.write(data)
        process.stdin.close()

    def output(self):
        """Wait for its end; return exit code, what it printed as JSON if anything, and its stderr."""
        process = self._process
        with process:
            out, err = process.stdout.read(), process.stderr.read()
            process.wait(PATIENCE)
        return process.returncode, json.loads(out) if out else None, err.decode()

    def kill(self):
        self._process.kill()
        with self._process as process:
            process.wait(PATIENCE)


class HookPlace(SupervisedPlace):
    """A supervised place whose agent is the test itself; `close` ends what runs."""

    def __init__(self, stage, *, start=(), otherwise="ask", seconds=0):
        super().__init__(stage, [], "hook")
        self.setup = HookSetup(
            python=sys.executable,
            data=str(stage.home.path),
            start=start,
            otherwise=otherwise,
            seconds=seconds,
        )

    def hook(self, agent, event, document, folder=None, **variables):
        """Start a hook as the agent does; with `variables` in its environment."""
        known = hooked_agent(agent)
        argv = hook_arguments(known, known.event(event), self.setup)
        data = document if isinstance(document, bytes) else json.dumps(document).encode()
        pipe, env = subprocess.PIPE, {**os.environ, **variables}
        where = folder or self.stage.workspace
        return RunningHook(
            subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, cwd=where, env=env), data
        )

    def output(self, *given, **more):
        return self.hook(*given, **more).output()

    def row(self):
        """Wait for the one row that waits; the stage is then about its session."""
        (action,) = until(self.waiting, self.words)
        self.stage.session_id = action.session_id
        return action

    def watch(self, agent, session):
        """Let the stage be about the session of an agent; returns its row."""
        self.stage.session_id = imported_session_id(hooked_agent(agent).origin, session)
        return until(self.stage.session, self.words)

    def last_call(self):
        """Wait until each call of the session has ended; return the last one."""
        rows = self.stage.journal.calls(self.stage.session_id)
        until(lambda: all(r.finished_at for r in self.stage.journal.calls(self.stage.session_id)), self.words)
        return self.stage.journal.call(rows[-1].id)
