"""What the engine costs a step: 1,000 steps of `true` in one run, beside bare subprocesses.

Prints one JSON object: milliseconds a step of the run, of its commits' own fdatasync (two a step), of a bare
`subprocess.run`, and the engine's overhead: what is left of the first without the second. Disk and bare
processes are measured before and after the run, each time half of them, because machines are shared; the
processor time says what is left when nobody else runs. WORKBENCH_BENCH_STEPS says how many steps.
"""

import asyncio
import json
import os
import resource
import subprocess
import tempfile
import time
from pathlib import Path

from workbench.domain.values import Actor
from workbench.host import workspace_trust
from workbench.host.driver_context import open_driver_context
from workbench.host.model_selection import provider_of
from workbench.host.steps import run_requests
from workbench.host.steps.pipeline_tool import SessionPipelineStarter
from workbench.host.steps.run_driver import RunDriverOptions, drive_run
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverIdentity, DriverLock

STEPS = int(os.environ.get("WORKBENCH_BENCH_STEPS", "1000"))
USER = Actor(kind="user", pid=1, via="cli")
COMMITS = 2
"""Durable transactions of one command step: begun with its process, and ended."""


def run_steps(root: Path) -> float:
    """Return the seconds that a chain of steps takes, from its start to its end."""
    project, home = root / "project", Home.open(root / "home")
    project.mkdir()
    lines = ["kind: WavePipeline", "metadata: {name: bench}", "steps:"]
    for n in range(STEPS):
        needs = f", dependencies: [s{n - 1}]" if n else ""
        lines.append(
            f"  - {{id: s{n}, workspace: {{root: ./}}, exec: {{type: command, source: 'true'}}{needs}}}"
        )
    (project / "bench.yaml").write_text("\n".join(lines) + "\n")
    journal = Journal.open(home)
    workspace = str(project.resolve())
    workspace_trust.grant_trust(journal, workspace, False, USER)
    run = run_requests.request_run(journal, workspace, run_requests.RunRequest(name="bench.yaml"), USER)
    context = open_driver_context(
        home, journal, workspace, provider=provider_of, pipelines=SessionPipelineStarter
    )
    driver = DriverIdentity(host_id="bench", pid=os.getpid(), driver="run")
    with DriverLock(journal, driver):
        begun = time.perf_counter()
        row = asyncio.run(drive_run(RunDriverOptions(context=context, driver=driver), run))
        taken = time.perf_counter() - begun
    journal.close()
    assert row.status == "completed", row.error_message
    return taken


def sync_seconds(root: Path, times: int) -> float:
    """Return the seconds that so many appends of a journal's page with fdatasync take."""
    page = b"x" * 4096
    file = os.open(root / "sync", os.O_CREAT | os.O_WRONLY)
    begun = time.perf_counter()
    for _ in range(times):
        os.write(file, page)
        os.fdatasync(file) if hasattr(os, "fdatasync") else os.fsync(file)
    taken = time.perf_counter() - begun
    os.close(file)
    return taken


def bare_seconds(times: int) -> float:
    """Return the seconds that so many bare subprocesses of the same shell line take."""
    begun = time.perf_counter()
    for _ in range(times):
        subprocess.run(["/bin/sh", "-c", "true"], check=True)
    return time.perf_counter() - begun


def cpu_seconds() -> float:
    """Return the processor time of this process and of the children that it has waited for."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def main() -> None:
    """Measure and print."""
    found = dict.fromkeys(("run", "fdatasync", "bare_subprocess", "cpu_run", "cpu_bare_subprocess"), 0.0)

    def beside(root: Path) -> None:
        found["fdatasync"] += sync_seconds(root, STEPS * COMMITS // 2)
        before = cpu_seconds()
        found["bare_subprocess"] += bare_seconds(STEPS // 2)
        found["cpu_bare_subprocess"] += cpu_seconds() - before

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        beside(root)
        before = cpu_seconds()
        found["run"] = run_steps(root)
        found["cpu_run"] = cpu_seconds() - before
        beside(root)
    found["overhead"] = found["run"] - found["fdatasync"]
    steps = {f"{name}_ms_a_step": round(seconds / STEPS * 1000, 3) for name, seconds in found.items()}
    print(json.dumps({"steps": STEPS, "load": round(os.getloadavg()[0], 1), **steps}))


if __name__ == "__main__":
    main()
