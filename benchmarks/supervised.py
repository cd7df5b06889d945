"""What agents that execute their own calls wait for, and what twenty of them cost the screen.

Real background processes, real connections: `python -m benchmarks.supervised [--only PART]`.
The part `keys` needs WORKBENCH_BENCH, as `benchmarks.screen` does.
"""

import argparse
import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.screen import Bench, latency, press_one_by_one
from tests.support.stage import Stage, recording
from workbench.host.agent_socket import agent_socket_name
from workbench.journal.home import Home

SERVE = """
import sys
from pathlib import Path
from workbench.host.supervisor import serve_workspace
from workbench.journal.home import Home
sys.exit(serve_workspace(Home.open(Path(sys.argv[1])), sys.argv[2]))
"""
FIRST_QUESTION_MS, ALLOWED_MS, FRAME_MS = 50.0, 10.0, 16.7
SESSIONS, FOLDERS, COMMANDS = 20, 10, 200
LINES = "".join(f"line {number}\n" for number in range(200))


class Agent:
    """One connection of one agent's session."""

    def __init__(self, home: Home, workspace: Path, session: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        place = home.run / agent_socket_name(str(workspace))
        folder = os.open(place.parent, os.O_RDONLY)
        until = time.monotonic() + 30
        while True:
            try:
                self._socket.connect(f"/proc/self/fd/{folder}/{place.name}")
                break
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.01)
        os.close(folder)
        self._answers = self._socket.makefile("rb")
        self.say(type="hello", agent="claude", session=session, cwd=str(workspace))

    def say(self, **message: object) -> None:
        """Send one message."""
        self._socket.sendall(json.dumps(message).encode() + b"\n")

    def ask(self, nonce: str, tool: str, given: dict[str, object]) -> None:
        """Ask for a call."""
        self.say(type="ask", nonce=nonce, tool=tool, input=given)

    def answer(self) -> dict[str, object]:
        """Wait for the next answer."""
        return json.loads(self._answers.readline())

    def close(self) -> None:
        """End the connection."""
        self._answers.close()
        self._socket.close()


@contextlib.contextmanager
def served(stage: Stage):
    """Run the background process of a stage; yields it."""
    argv = [sys.executable, "-c", SERVE, str(stage.home.path), str(stage.workspace)]
    process = subprocess.Popen(argv, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def staged(root: Path, name: str) -> Stage:
    """Return a stage whose commands `true` are allowed by a rule."""
    config = {"approvals": {"allow": ["Bash(true)"]}}
    return Stage(root / name, recording(), files={"a.txt": LINES}, config=config)


def edit(number: int) -> dict[str, object]:
    """Return the input of an edit of one line."""
    return {"file_path": "a.txt", "old_string": f"line {number}\n", "new_string": f"changed {number}\n"}


def answers(root: Path) -> bool:
    """Measure the first question of a session until it is in the journal, and allowed commands."""
    stage = staged(root, "answers")
    firsts, allowed = [], []
    with served(stage) as process:
        for number in range(20):
            agent = Agent(stage.home, stage.workspace, f"first {number}")
            began = time.perf_counter()
            agent.ask("n", "Edit", edit(number))
            while len(stage.journal.actions(states=("pending",))) <= number:
                stage.journal.wait(stage.journal.last_position(), 0.02)
            firsts.append((time.perf_counter() - began) * 1000)
        before = processor_seconds(process.pid)
        for number in range(COMMANDS):
            began = time.perf_counter()
            agent.ask(f"c{number}", "Bash", {"command": "true"})
            agent.answer()
            allowed.append((time.perf_counter() - began) * 1000)
            agent.say(type="done", tool="Bash", input={"command": "true"})
        own = (processor_seconds(process.pid) - before) / COMMANDS * 1000
    note = f"p50 {statistics.median(allowed):.1f} ms, processor {own:.1f} ms a command with its end"
    return all([
        claim("first question until its row, median", statistics.median(firsts), "ms", FIRST_QUESTION_MS),
        claim("allowed command, from its question to its answer, p95", p95(allowed), "ms", ALLOWED_MS, note),
    ])  # fmt: skip


def keys(root: Path) -> bool:
    """Measure `j` in the queue with twenty supervised sessions that wait with a question each."""
    bench, stage = Bench(root, quick=True), staged(root, "keys")
    with served(stage):
        agents = [Agent(stage.home, stage.workspace, f"session {number}") for number in range(SESSIONS)]
        for number, agent in enumerate(agents):
            agent.ask("n", "Edit", edit(number))
        while len(stage.journal.actions(states=("pending",))) < SESSIONS:
            stage.journal.wait(stage.journal.last_position(), 0.05)
        command = f"{sys.executable} -m workbench {stage.workspace}"
        with bench.shown(stage, command, "a.txt") as child:
            press_one_by_one(child, b"\x1b2")
            found = latency(bench, child, count=SESSIONS - 2)
    note = f"p50 {found['p50_ms']:.1f} ms, processor {found['own_ms']:.1f} ms a key"
    return claim(f"j with {SESSIONS} supervised sessions, p95", found["p95_ms"], "ms", FRAME_MS, note)


def memory(root: Path) -> bool:
    """Measure the memory of ten background processes with an agent each."""
    with contextlib.ExitStack() as opened:
        sizes = []
        for number in range(FOLDERS):
            stage = staged(root, f"folder {number}")
            process = opened.enter_context(served(stage))
            agent = Agent(stage.home, stage.workspace, "one")
            agent.ask("n", "Edit", edit(1))
            while not stage.journal.actions(states=("pending",)):
                stage.journal.wait(stage.journal.last_position(), 0.05)
            sizes.append(process)
        found = [proportional_mb(process.pid) for process in sizes]
    print(
        f"     ten folders with an agent each: {sum(found):.0f} MB, {statistics.mean(found):.1f} MB a folder"
    )
    return True


def proportional_mb(pid: int) -> float:
    """Return the proportional memory of a process in MB."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")) / 1024


def processor_seconds(pid: int) -> float:
    """Return the processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def p95(values: list[float]) -> float:
    """Return the value that 95 of 100 are not above."""
    return statistics.quantiles(values, n=20)[-1]


def claim(name: str, value: float, unit: str, limit: float, note: str = "") -> bool:
    """Print what was measured with its limit; returns whether it holds."""
    holds = value <= limit
    print(f"{'ok  ' if holds else 'FAIL'} {name:<56} {value:>8.2f} {unit} (<= {limit:g}) {note}", flush=True)
    return holds


PARTS = {"answers": answers, "keys": keys, "memory": memory}


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description="Measure supervised sessions.")
    parser.add_argument("--only", choices=PARTS, help="one part")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="supervised-benchmark-", ignore_cleanup_errors=True) as folder:
        held = [part(Path(folder)) for name, part in PARTS.items() if options.only in (None, name)]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
