"""What the engine costs: steps of one run, items of a matrix, many runs at once, mounts of many files.

Each part prints one JSON object with its aim. Floors are measured beside it in the same run, because machines
are shared; the processor time says what is left when nobody else runs.

`python benchmarks/pipelines.py [--only PART] [--quick]`; parts are steps, flat, wide, matrix, runs, mounts. A
folder for `mounts` is named by WORKBENCH_BENCH_FOLDER: one on btrfs or XFS shows reflinks.
"""

import argparse
import asyncio
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from workbench.domain.rows import PipelineState
from workbench.domain.values import Actor
from workbench.effects.folders import remove_tree
from workbench.effects.process_table import read_process_table
from workbench.effects.tree_copies import copy_tree
from workbench.host import workspace_trust
from workbench.host.driver_context import open_driver_context
from workbench.host.session_provider import provider_of
from workbench.host.steps import run_requests
from workbench.host.steps.pipeline_tool import SessionPipelineStarter
from workbench.host.steps.run_driver import RunDriverOptions, drive_run
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverIdentity, DriverLock
from workbench.journal.place_queue import places_taken, waiting_runs

STEPS = int(os.environ.get("WORKBENCH_BENCH_STEPS", "1000"))
USER = Actor(kind="user", pid=1, via="cli")
COMMITS = 2
"""Durable transactions of one command step: begun with its process, and ended."""
TRUE = "workspace: {root: ./}, exec: {type: command, source: 'true'}"


def chain(count: int) -> str:
    needs = [""] + [f", dependencies: [s{n - 1}]" for n in range(1, count)]
    return "".join(f"  - {{id: s{n}, {TRUE}{need}}}\n" for n, need in enumerate(needs))


def wide(count: int) -> str:
    return "".join(f"  - {{id: s{n}, {TRUE}}}\n" for n in range(count))


def matrix(count: int) -> str:
    listed = f"exec: {{type: command, source: 'python3 -c \"print(list(range({count})))\" > l.json'}}"
    return (
        f"  - {{id: list, workspace: {{root: ./}}, {listed}, "
        "output_artifacts: [{name: l, path: l.json}]}\n"
        f"  - {{id: m, dependencies: [list], strategy: {{type: matrix, items_source: list/l}}, {TRUE}}}\n"
    )


class Bench:
    """A project and a home in which runs are driven by this process."""

    def __init__(self, root: Path, settings: str = "{}") -> None:
        self.project, self.home = (root / "project").resolve(), Home.open(root / "home")
        self.project.mkdir()
        (self.project / ".workbench.json").write_text(settings)
        self.journal = Journal.open(self.home)

    def request(self, steps: str, count: int = 1, name: str = "bench") -> list[str]:
        text = f"kind: WavePipeline\nmetadata: {{name: {name}}}\nsteps:\n{steps}"
        (self.project / f"{name}.yaml").write_text(text)
        workspace, wish = str(self.project), run_requests.RunRequest(name=f"{name}.yaml")
        workspace_trust.grant_trust(self.journal, workspace, False, USER)
        return [run_requests.request_run(self.journal, workspace, wish, USER) for _ in range(count)]

    def drive(
        self,
        runs: list[str],
        host: str = "bench",
        looks: Callable[[], None] = lambda: None,
        at_end: Callable[[], object] = lambda: None,
    ) -> float:
        """Drive runs at once to their end; return the seconds that it took.

        `at_end` is called while the process that owns the commands is there.
        """
        context = open_driver_context(
            self.home, self.journal, str(self.project), provider=provider_of, pipelines=SessionPipelineStarter
        )
        driver = DriverIdentity(host_id=host, pid=os.getpid(), driver="run")

        async def look() -> None:
            while True:
                looks()
                await asyncio.sleep(0.05)

        async def go() -> list[PipelineState]:
            looking = asyncio.create_task(look())
            options = RunDriverOptions(context=context, driver=driver)
            rows = await asyncio.gather(*(drive_run(options, run) for run in runs))
            looking.cancel()
            return rows

        with DriverLock(self.journal, driver):
            begun = time.perf_counter()
            rows = asyncio.run(go())
            taken = time.perf_counter() - begun
        at_end()
        context.jobs.close()
        context.root.close()
        assert {row.status for row in rows} == {"completed"}, rows[0].error_message
        return taken


class Used(Struct, frozen=True, kw_only=True):
    """What a run takes, in seconds."""

    taken: float
    driver: float
    """Processor time of the driver."""
    owner: float
    """Processor time of the process that owns its commands, with its start, and of the commands."""

    @property
    def cpu(self) -> float:
        return self.driver + self.owner


def run_steps(root: Path, steps: str) -> Used:
    """Drive a run and return what it takes, from its start to its end."""
    root.mkdir(exist_ok=True)
    bench = Bench(root)
    runs = bench.request(steps)
    ends: list[tuple[float, float]] = []
    before, owner_before = cpu_seconds(), children_cpu_seconds()
    taken = bench.drive(runs, at_end=lambda: ends.append((cpu_seconds(), children_cpu_seconds())))
    bench.journal.close()
    driver, owner = ends[0]
    return Used(taken=taken, driver=driver - before, owner=owner - owner_before)


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


def children_cpu_seconds() -> float:
    """Return the processor time of the children that run, with that of their own children that have ended."""
    ticks = 0
    for pid, row in read_process_table().items():
        if row.parent == os.getpid():
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def measure_steps(root: Path, is_quick: bool) -> dict[str, object]:
    """Measure a chain beside its own fdatasync and bare processes."""
    count = STEPS // 5 if is_quick else STEPS
    names = (
        "run",
        "fdatasync",
        "bare_subprocess",
        "cpu_run",
        "cpu_driver",
        "cpu_owner",
        "cpu_bare_subprocess",
    )
    found = dict.fromkeys(names, 0.0)

    def beside() -> None:
        found["fdatasync"] += sync_seconds(root, count * COMMITS // 2)
        before = cpu_seconds()
        found["bare_subprocess"] += bare_seconds(count // 2)
        found["cpu_bare_subprocess"] += cpu_seconds() - before

    beside()
    used = run_steps(root / "steps", chain(count))
    found |= {"run": used.taken, "cpu_run": used.cpu, "cpu_driver": used.driver, "cpu_owner": used.owner}
    beside()
    found["overhead"] = found["run"] - found["fdatasync"]
    ms = {f"{name}_ms_a_step": round(seconds / count * 1000, 3) for name, seconds in found.items()}
    return {"steps": count, **ms, "aim": "overhead <= 10 ms"}


def compared(
    root: Path, make: Callable[[int], str], few: int, many: int, what: str, aim: str
) -> dict[str, object]:
    """Measure a run of few and one of many, and what one of them costs in both."""
    facts: dict[str, object] = {}
    for count in (few, many):
        used = run_steps(root / f"{what}-{count}", make(count))
        facts[f"ms_at_{count}"] = round(used.taken / count * 1000, 2)
        facts[f"cpu_ms_at_{count}"] = round(used.cpu / count * 1000, 2)
        facts[f"cpu_owner_ms_at_{count}"] = round(used.owner / count * 1000, 2)
        facts[f"ratio_at_{count}"] = round(used.cpu / count * 1000 / float(str(facts[f"cpu_ms_at_{few}"])), 2)
    return {**facts, "peak_mb": peak_megabytes(), "aim": aim}


def peak_megabytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def measure_runs(root: Path, is_quick: bool) -> dict[str, object]:
    """Measure runs at once: memory of their driver, and the most steps that ever worked beside each other."""
    limit, count = 10, 10 if is_quick else 50
    bench = Bench(root, json.dumps({"pipelines": {"max_workspace_steps": limit}}))
    step = "workspace: {root: ./}, exec: {type: command, source: 'sleep 0.3'}"
    runs = bench.request("".join(f"  - {{id: s{n}, {step}}}\n" for n in range(10)), count)
    most = {"steps": 0, "waiting": 0}

    def look() -> None:
        most["steps"] = max(most["steps"], places_taken(bench.home))
        most["waiting"] = max(most["waiting"], len(waiting_runs(bench.home)))

    taken = bench.drive(runs, looks=look)
    bench.journal.close()
    return {
        "runs": count, "seconds": round(taken, 1), "limit": limit, "most_steps_at_once": most["steps"],
        "most_runs_waiting": most["waiting"], "peak_mb": peak_megabytes(),
        "aim": "<= 100 MB, never over the limit",
    }  # fmt: skip


def measure_mounts(root: Path, is_quick: bool) -> dict[str, object]:
    """Measure a readonly copy of many files beside `cp -r`, each several times in turn."""
    folder = Path(tempfile.mkdtemp(dir=os.environ.get("WORKBENCH_BENCH_FOLDER") or root))
    files = 2_000 if is_quick else 20_000
    for number in range(files // 100):
        place = folder / "source" / f"d{number}"
        place.mkdir(parents=True)
        for file in range(100):
            (place / f"f{file}").write_text(f"{number} {file}\n" * 250)
    best = {"mount": math.inf, "cp": math.inf}
    cpu: dict[str, float] = {}
    for turn in range(2 if is_quick else 4):
        for name in best:
            source, target = str(folder / "source"), str(folder / f"{name}-{turn}")
            begun, used = time.perf_counter(), cpu_seconds()
            if name == "cp":
                subprocess.run(["cp", "-r", source, target], check=True)
            else:
                copy_tree(source, target, is_readonly=True)
            best[name] = min(best[name], time.perf_counter() - begun)
            cpu[name] = min(cpu.get(name, math.inf), cpu_seconds() - used)
            remove_tree(target)
    kind = subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, text=True, check=True)
    remove_tree(str(folder))
    return {
        "files": files, "file_system": kind.stdout.strip(),
        **{f"{name}_seconds": round(seconds, 3) for name, seconds in best.items()},
        **{f"cpu_{name}_seconds": round(seconds, 3) for name, seconds in cpu.items()},
        "ratio": round(best["mount"] / best["cp"], 2), "aim": "<= 0.3 s with reflinks, else <= 1.2 x cp -r",
    }  # fmt: skip


def parts(is_quick: bool) -> dict[str, Callable[[Path], dict[str, object]]]:
    """Return what is measured, by name."""
    few, many = (100, 500) if is_quick else (1_000, 10_000)
    return {
        "mounts": lambda root: measure_mounts(root, is_quick),
        "runs": lambda root: measure_runs(root, is_quick),
        "steps": lambda root: measure_steps(root, is_quick),
        "flat": lambda root: compared(root, chain, 100, many, "chain", "flat from 100 to 10,000"),
        "wide": lambda root: compared(root, wide, 100, many, "wide", "flat from 100 to 10,000"),
        "matrix": lambda root: compared(root, matrix, few, many, "matrix", "<= 1.2 x an item of 1,000"),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default="", metavar="PART")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--in-process", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    for name, measure in parts(options.quick).items():
        if options.only not in ("", name):
            continue
        if not options.in_process:  # a process of its own, so that no part has the memory of another
            words = ["--only", name, "--in-process", *(["--quick"] if options.quick else [])]
            subprocess.run([sys.executable, "-m", "benchmarks.pipelines", *words], check=True)
            continue
        with tempfile.TemporaryDirectory() as folder:
            facts = measure(Path(folder))
        print(json.dumps({"part": name, "load": round(os.getloadavg()[0], 1), **facts}), flush=True)


if __name__ == "__main__":
    main()
