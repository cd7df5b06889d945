"""Measure the screen from outside, in pseudo-terminals, beside bare apps of its framework in the same run.

    WORKBENCH_BENCH=DIR python -m benchmarks.screen [--quick] [--only WORD]

DIR holds `ttybench.py` and `floor/` with the bare apps. Homes are made in a temporary folder. Prints one line
a claim and exits with 1 if one does not hold; run it on a quiet machine.
"""

import argparse
import importlib.util
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks import homes

ASKS = f"Conversation\\s+{homes.TITLE}.*{homes.FIRST_HUNK}"
REPLAYED = r"REPLAY.*prompt 1\b"
SIZE = (160, 48)
KEYS = 60


def harness():
    """Load the program that runs others in a pseudo-terminal."""
    folder = os.environ.get("WORKBENCH_BENCH") or sys.exit("set WORKBENCH_BENCH to the folder of ttybench.py")
    place = importlib.util.spec_from_file_location("ttybench", Path(folder) / "ttybench.py")
    module = importlib.util.module_from_spec(place)
    sys.modules["ttybench"] = module
    place.loader.exec_module(module)
    return module, Path(folder) / "floor"


class Bench:
    """One run: the harness, a folder, what was found."""

    def __init__(self, root: Path, quick: bool) -> None:
        self.tty, self.floor = harness()
        self.root, self.quick, self.failed = root, quick, 0
        self.bytecode = str(root / "bytecode")
        self._stages: dict[str, homes.Stage] = {}

    def claim(self, name: str, value: float, unit: str, limit: float, note: str = "") -> None:
        """Print what was measured beside its limit."""
        holds = value <= limit
        self.failed += not holds
        print(
            f"{'ok  ' if holds else 'FAIL'} {name:<52} {value:>9.2f} {unit} (<= {limit:g}) {note}", flush=True
        )

    def home(self, name: str) -> homes.Stage:
        """Return a home by its name, made when it is first wanted."""
        if name not in self._stages:
            place = self.root / name
            make = {
                "small": lambda: homes.prepared(place),
                "million": lambda: homes.prepared(place, events=100_000 if self.quick else 1_000_000),
                "many": lambda: homes.prepared(place, count=2_000 if self.quick else 10_000),
                "queue": lambda: homes.queued(place, 200),
                "diff": lambda: homes.prepared(place, count=2, lines=20_000, edits=400),
                "short": lambda: homes.conversation(place, 1_000),
                "long": lambda: homes.conversation(place, 20_000 if self.quick else 100_000),
                "open": lambda: homes.conversation(place, 1_000, is_open=True, others=8),
            }[name]
            self._stages[name] = make()
        return self._stages[name]

    def env(self, stage: homes.Stage | None = None) -> dict[str, str]:
        """Return an environment in which Python keeps its bytecode, as an installed program has it."""
        home = {"WORKBENCH_HOME": str(stage.root / "home")} if stage else {}
        return {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": self.bytecode, **home}

    @contextmanager
    def shown(self, stage: homes.Stage | None, command: str, ready: str) -> Iterator[object]:
        """Run a program until it is ready; yields the child, with `ready_at` in seconds after its start."""
        child = self.tty.Child(command, size=SIZE, env=self.env(stage), cwd=str(self.root))
        try:
            hit = child.wait_for(ready, 60)
            if hit is None:
                sys.exit(f"{ready!r} never came from {command}; the screen was:\n{child.em.text()}")
            child.ready_at = hit - child.t0
            yield child
        finally:
            child.close()
            if stage is not None:
                self._stop(stage)

    def _stop(self, stage: homes.Stage) -> None:
        command = [sys.executable, "-m", "workbench", "host", "stop", "-C", str(stage.workspace)]
        subprocess.run(command, env={**os.environ, **self.env(stage)}, capture_output=True, check=False)

    def screen(self, name: str, ready: str):
        """Show the screen on a home."""
        stage = self.home(name)
        return self.shown(stage, f"{sys.executable} -m workbench {stage.workspace}", ready)

    def replay(self, name: str):
        """Show a long session again from the shell, without checkpoints of an earlier time."""
        stage = self.home(name)
        shutil.rmtree(stage.root / "home" / "replay", ignore_errors=True)
        return self.shown(stage, f"{sys.executable} -m workbench replay long", REPLAYED)

    def bare(self, name: str = "panes4.py", words: str = "", ready: str = "READY"):
        """Show a bare app."""
        return self.shown(None, f"{sys.executable} {self.floor / name} {words}", ready)


def own_memory(child) -> float:
    """Return the proportional memory of the program itself in MB, without the host that it started."""
    with Path(f"/proc/{child.pid}/smaps_rollup").open() as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pss:")) / 1024


def starts(bench: Bench) -> None:
    """Start, memory, and how both grow."""
    rounds = 3 if bench.quick else 9
    found: dict[str, list[tuple[float, float]]] = {}
    cases: dict[str, Callable[[], AbstractContextManager[Any]]] = {
        "bare": bench.bare,
        "replay": lambda: bench.replay("long"),
        "small": lambda: bench.screen("small", ASKS),
        "million": lambda: bench.screen("million", ASKS),
        "short": lambda: bench.screen("short", "talk long.*answer 1"),
        "long": lambda: bench.screen("long", "talk long.*answer 1"),
    }
    for number in range(rounds + 1):
        for name, opened in cases.items():
            with opened() as child:
                child.settle(limit=1.5)
                if number:
                    found.setdefault(name, []).append((child.ready_at, own_memory(child)))
    times = {name: statistics.median(time for time, _ in pairs) for name, pairs in found.items()}
    memory = {name: statistics.median(size for _, size in pairs) for name, pairs in found.items()}
    bench.claim("start on 1,000 sessions and a diff / bare app", times["small"] / times["bare"], "x", 1.3,
                f"{times['small'] * 1000:.0f} ms, bare {times['bare'] * 1000:.0f} ms")  # fmt: skip
    bench.claim("start with 1,000,000 events / without", times["million"] / times["small"], "x", 1.1)
    bench.claim("start on a session of 100,000 events / 1,000", times["long"] / times["short"], "x", 1.1)
    bench.claim("replay of 100,000 events, shell / bare app", times["replay"] / times["bare"], "x", 1.3,
                f"{times['replay'] * 1000:.0f} ms")  # fmt: skip
    bench.claim("memory / bare app", memory["small"] / memory["bare"], "x", 2,
                f"{memory['small']:.0f} MB, bare {memory['bare']:.0f} MB")  # fmt: skip
    bench.claim("memory with 100,000 events on show / 1,000", memory["long"] / memory["short"], "x", 1.1)


def demo(bench: Bench) -> None:
    """The demo until its first question."""
    found: dict[str, list[float]] = {"bare": [], "demo": []}
    for number in range(3 if bench.quick else 7):
        place = bench.root / f"demo{number}"
        with bench.bare() as child:
            found["bare"].append(child.ready_at)
        with bench.shown(None, f"{sys.executable} -m workbench demo --at {place}", "Trust ") as child:
            found["demo"].append(child.ready_at)
    ratio = statistics.median(found["demo"]) / statistics.median(found["bare"])
    bench.claim("demo until its first question / bare app", ratio, "x", 1.5)


def latency(
    bench: Bench, child, keys: bytes = b"j", count: int = KEYS, region: str = "5:40"
) -> dict[str, float]:
    """Return how long keys take to change the screen, and the processor time of the program for each."""
    options = argparse.Namespace(region=region, expect=None, key_timeout=1.0, quiet=0.03, gap=0.0, first=0)
    before = own_cpu(child)
    found = bench.tty.measure_latency(options, child, [keys] * count)
    return {**found, "own_ms": (own_cpu(child) - before) / count * 1000}


def press_one_by_one(child, keys: bytes) -> None:
    """Press keys, each on a screen that rests: an escape with another key behind it is another key."""
    for key in keys:
        child.settle(limit=2)
        child.send(bytes([key]))
    child.settle(limit=2)


def keys(bench: Bench) -> None:
    """`j` in a long diff and in a library, idle."""
    with bench.bare("list.py", "virtual 10000") as child:
        child.settle(limit=1)
        floor = latency(bench, child, b"\x1b[B")
    cases = (
        ("a diff of 3,200 lines", "diff", b"\r\r", "hunk 1 of 400"),
        ("10,000 sessions", "many", b"\x1b5", r"Library\s.*000"),
    )
    for name, home, pressed, ready in cases:
        with bench.screen(home, ASKS) as child:
            press_one_by_one(child, pressed)
            child.wait_for(ready, 60)
            child.settle(limit=2)
            idle = latency(bench, child)
        note = f"p50 {idle['p50_ms']:.1f} ms, bare list {floor['p50_ms']:.1f} ms"
        ratio, own = (
            idle["p50_ms"] / floor["p50_ms"],
            f"{idle['own_ms']:.1f} ms, bare {floor['own_ms']:.1f} ms",
        )
        bench.claim(f"j in {name}, p50 / bare list of 10,000", ratio, "x", 2, note)
        bench.claim(f"j in {name}, p95", idle["p95_ms"], "ms", 16.7)
        bench.claim(f"j in {name}, processor / bare", idle["own_ms"] / floor["own_ms"], "x", 1.5, own)


FRAME: Final = 16.7
"""Milliseconds of a frame at 60 Hz."""


def busy_keys(bench: Bench) -> None:
    """`j` in a queue of 200 actions, and in a conversation while eight sessions stream."""
    with bench.bare("list.py", "virtual 10000") as child:
        child.settle(limit=1)
        floor = latency(bench, child, b"\x1b[B")
    bare = f"bare list p50 {floor['p50_ms']:.1f}, p95 {floor['p95_ms']:.1f} ms"
    with bench.screen("queue", ASKS) as child:
        press_one_by_one(child, b"\x1b2")
        found = latency(bench, child)
    note = f"p50 {found['p50_ms']:.1f} ms, processor {found['own_ms']:.1f} ms; {bare}"
    bench.claim("j in 200 actions, each another diff, p95", found["p95_ms"], "ms", FRAME, note)
    with bench.screen("open", "talk long") as child:
        press_one_by_one(child, b"\x1b1gj")
        calm = latency(bench, child, region=_CONVERSATION)
        with writer(bench, "open", "streams"):
            child.step(1.0)
            loaded = latency(bench, child, region=_CONVERSATION)
    bench.claim("j while 8 sessions stream, p50 / idle", loaded["p50_ms"] / calm["p50_ms"], "x", 2.0)
    bench.claim("j while 8 sessions stream, p95 / idle", loaded["p95_ms"] / calm["p95_ms"], "x", 3.0)
    note = f"p50 {loaded['p50_ms']:.1f} ms, processor {loaded['own_ms']:.1f} ms; {bare}"
    bench.claim("j while 8 sessions stream, p95", loaded["p95_ms"], "ms", FRAME, note)


_CONVERSATION: Final = "5:30,30:80"
"""The pane in which `j` moves; lists of sessions in other panes change without a key."""


@contextmanager
def writer(bench: Bench, name: str, *words: str) -> Iterator[subprocess.Popen]:
    """Write events into a home from another process."""
    stage = bench.home(name)
    command = [sys.executable, "-m", "benchmarks.streamer", str(stage.root / "home"), *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **bench.env()})
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def cpu_while(child, seconds: float) -> float:
    """Return the share of a processor that the program itself takes."""
    before, begin = own_cpu(child), time.monotonic()
    while time.monotonic() - begin < seconds:
        child.step(0.05)
        child.queue.clear()
    return (own_cpu(child) - before) / (time.monotonic() - begin) * 100


def own_cpu(child) -> float:
    """Return the processor seconds of the program without its children."""
    fields = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children_cpu() -> float:
    """Return the processor seconds of the processes that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def streaming(bench: Bench) -> None:
    """A reply of 1,000 pieces a second: what it costs when it is short and when it is long."""
    for kind in ("prose", "fence"):
        shares: list[float] = []
        for size in (5_000, 100_000):
            with bench.screen("open", "talk long") as child:
                child.settle(limit=2)
                with writer(bench, "open", kind, str(size)) as process:
                    assert process.stdout.readline() == "ready\n"
                    shares.append(cpu_while(child, 4))
            shutil.rmtree(bench.root / "open")
            bench._stages.pop("open")
        note = f"{shares[0]:.0f} % and {shares[1]:.0f} % of a processor"
        bench.claim(f"processor at 100 KB of {kind} / at 5 KB", shares[1] / shares[0], "x", 1.15, note)


def arrival(bench: Bench) -> None:
    """From the moment an agent's event is written until it is on the screen."""
    delays: list[float] = []
    with bench.screen("open", "talk long") as child, writer(bench, "open", "marks") as process:
        child.settle(limit=2)
        for number in range(30):
            process.stdout.readline()
            told = time.perf_counter()
            hit = child.wait_for(f"mark{number}mark", 2, quiet=0.002)
            delays.append((hit - told) * 1000 if hit else 2000.0)
    late = statistics.quantiles(delays, n=20)[-1]
    bench.claim(
        "an agent's event on the screen, p95", late, "ms", 80, f"p50 {statistics.median(delays):.0f} ms"
    )


def idle(bench: Bench) -> None:
    """Nothing happens: what does it cost?"""
    seconds = 5 if bench.quick else 15
    shares: dict[str, tuple[float, float, int]] = {}
    for name in ("bare", "short", "small"):
        opened = (
            bench.bare() if name == "bare" else bench.screen(name, "talk long" if name == "short" else ASKS)
        )
        with opened as child:
            child.settle(limit=2)
            cpu_while(child, 12)  # until the host that it started has come to rest as well
            wakes, written = bench.tty.proc_switches(child.pid), child.nbytes
            share = cpu_while(child, seconds)
            wakes = (bench.tty.proc_switches(child.pid) - wakes) / seconds
            shares[name] = share, wakes, child.nbytes - written
    bench.claim("idle processor / bare app", shares["short"][0] / max(0.2, shares["bare"][0]), "x", 1.5,
                f"{shares['short'][0]:.2f} %, bare {shares['bare'][0]:.2f} %")  # fmt: skip
    bench.claim("idle wake-ups", shares["short"][1], "/s", 16, f"bare {shares['bare'][1]:.0f}/s")
    bench.claim("bytes written while idle", shares["short"][2], "B", 0)
    bench.claim("bytes a second with an action that waits", shares["small"][2] / seconds, "B/s", 400)


def diff(bench: Bench) -> None:
    """A file of 20,000 lines with 400 edits: processor time of the start, beside that of git."""
    stage = bench.home("diff")
    after = stage.root / "after.py"
    lines = homes.router(20_000).splitlines(keepends=True)
    for at in range(400):
        lines[(at + 1) * 20_000 // 401] = "changed\n"
    after.write_text("".join(lines))
    command = ["git", "diff", "--no-index", str(stage.workspace / "router.py"), str(after)]
    taken: list[float] = []
    for _ in range(5):
        begin = children_cpu()
        subprocess.run(command, capture_output=True, check=False)
        taken.append(children_cpu() - begin)
    times: dict[str, float] = {}
    for name in ("small", "diff"):
        found: list[float] = []
        for _ in range(3 if bench.quick else 5):
            with bench.screen(name, ASKS) as child:
                found.append(own_cpu(child))
        times[name] = min(found)
    git = statistics.median(taken)
    more = max(0.0, times["diff"] - times["small"])
    bench.claim(
        "20,000 lines with 400 edits more than 200 lines / git diff",
        more / git,
        "x",
        3,
        f"git {git * 1000:.0f} ms",
    )


def lag(bench: Bench) -> None:
    """How long the loop of the screen is busy at a time while 1,000 pieces a second come."""
    for kind in ("prose", "fence"):
        stage = bench.home("open")
        command = [sys.executable, "-m", "benchmarks.loop", str(stage.root / "home"), str(stage.workspace)]
        with writer(bench, "open", kind, "5000") as process:
            assert process.stdout.readline() == "ready\n"
            told = subprocess.run(
                command, capture_output=True, text=True, check=True, env={**os.environ, **bench.env()}
            )
        clock, own = map(float, told.stdout.split())
        shutil.rmtree(bench.root / "open")
        bench._stages.pop("open")
        bench.claim(
            f"wait of the loop while {kind} streams, p95", clock, "ms", 25, f"{own:.1f} ms its own work"
        )


PARTS = {
    "starts": starts,
    "demo": demo,
    "keys": keys,
    "busy-keys": busy_keys,
    "streaming": streaming,
    "lag": lag,
    "arrival": arrival,
    "idle": idle,
    "diff": diff,
}


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description="Measure the screen.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, smaller homes")
    parser.add_argument("--only", choices=PARTS, help="one part")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="screen-benchmark-", ignore_cleanup_errors=True) as folder:
        bench = Bench(Path(folder), options.quick)
        for name, part in PARTS.items():
            if options.only in (None, name):
                part(bench)
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
