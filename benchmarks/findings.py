"""Measure place 8 with 10,000 findings: opening, filtering, grouping, and `j`, beside a bare list of as many.

    WORKBENCH_BENCH=DIR python -m benchmarks.findings

Prints one line a claim and exits with 1 if one does not hold; run it on a quiet machine.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from benchmarks import homes
from benchmarks.screen import ASKS, Bench, latency
from workbench.domain import events as e
from workbench.domain.incidents import Incident
from workbench.domain.values import Actor
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.backend import IncidentBackend
from workbench.tui.incidents.incident_list import IncidentModel
from workbench.views.incidents import GROUP_NAMES, filter_incidents, group_incidents

COUNT, WORKED = 10_000, 3_000
USER = Actor(kind="user", pid=1, via="cli")


def listed(stage: homes.Stage) -> None:
    """Put a list of findings into a home, of which some were worked on."""
    incidents = tuple(
        Incident(
            id=f"i{n}", fingerprint=f"f{n}", rule=f"R{n % 97:03}", path=f"src/p{n % 31}/file_{n % 1201}.py",
            line=n % 900 + 1, message=f"finding {n}: the name {n * 7919 % 10_007} is not used here",
            severity=("critical", "error", "warning", "info")[n % 4],
        )
        for n in range(COUNT)
    )  # fmt: skip
    with Journal.open(Home.open(stage.root / "home")) as journal:
        ref = journal.blobs.record(msgspec.json.encode(incidents))
        bodies: list[e.EventBody] = [
            e.SessionCreated(session_kind="incidents", title="findings", workspace=str(stage.workspace)),
            e.IncidentsListed(source="lint", format="sarif", incidents_ref=ref, count=COUNT),
            e.IncidentsRequested(ids=tuple(f"i{n}" for n in range(WORKED))),
        ]
        for n in range(WORKED):
            bodies += [
                e.IncidentStarted(incident=f"i{n}", child_id=f"c{n // 20}"),
                e.IncidentEnded(incident=f"i{n}", outcome="fixed", duration_ms=5),
            ]
        events = [journal.event(body, "list", USER) for body in bodies]
        for start in range(0, len(events), 1_000):
            journal.append(events[start : start + 1_000], strict=False)


def reading(bench: Bench, stage: homes.Stage) -> None:
    """How long it takes to read a list, what is new of it, and to filter and group it."""
    with Journal.open(Home.open(stage.root / "home")) as journal:
        model = IncidentModel(journal, IncidentBackend, str(stage.workspace))
        begin = time.perf_counter()
        snapshot = model.read("")
        bench.claim(f"reading {COUNT:,} findings", (time.perf_counter() - begin) * 1000, "ms", 300)
        assert snapshot is not None
        begin = time.perf_counter()
        model.read("")
        bench.claim("reading what is new of them", (time.perf_counter() - begin) * 1000, "ms", 10)
        for text in ("name 5", "severity:error rule:R01", "file_77 -unused", "nothing-has-this"):
            bench.claim(f"filtering by “{text}”", median_ms(
                lambda text=text: filter_incidents(snapshot.rows, text, model.texts)), "ms", 50)  # fmt: skip
        for name in GROUP_NAMES:
            bench.claim(f"grouping by {name}", median_ms(
                lambda name=name: group_incidents(snapshot.rows, name)), "ms", 50)  # fmt: skip


def median_ms(work) -> float:
    """Return the median of nine times, in milliseconds."""
    taken: list[float] = []
    for _ in range(9):
        begin = time.perf_counter()
        work()
        taken.append((time.perf_counter() - begin) * 1000)
    return statistics.median(taken)


def keys(bench: Bench, stage: homes.Stage) -> None:
    """Place 8 opened for the first time, and `j` in it."""
    with bench.bare("list.py", f"virtual {COUNT}") as child:
        child.settle(limit=1)
        floor = latency(bench, child, b"\x1b[B")
    with bench.shown(stage, f"{sys.executable} -m workbench {stage.workspace}", ASKS) as child:
        child.settle(limit=2)
        child.send(b"\x1b")
        child.settle(limit=2)
        library = until(child, b"5", r"Library\s+\d")
        child.send(b"\x1b")
        child.settle(limit=2)
        took = until(child, b"8", r"Findings\s+10,000")
        bench.claim(
            "8 until the findings stand there", took, "ms", 300, f"the library of 20: {library:.0f} ms"
        )
        child.settle(limit=4)
        # All rows of the list: beyond them the cursor shows by the detail alone, which follows later.
        found = latency(bench, child, region="3:45")
    bare = f"bare list {floor['p50_ms']:.1f} and {floor['p95_ms']:.1f} ms"
    note = f"p50 {found['p50_ms']:.1f} ms, {bare}, {found['own_ms']:.1f} ms of processor"
    bench.claim("j in the findings, p95", found["p95_ms"], "ms", 16.7, note)


def until(child, key: bytes, shown: str) -> float:
    """Press a key and return the milliseconds until something is on the screen."""
    pressed = time.perf_counter()
    child.send(key)
    return (time.perf_counter() - pressed) * 1000 if child.wait_for(shown, 30) else 30_000.0


def main() -> int:
    """Run both."""
    with tempfile.TemporaryDirectory(prefix="findings-benchmark-", ignore_cleanup_errors=True) as folder:
        bench = Bench(Path(folder), quick=False)
        stage = homes.prepared(Path(folder) / "home", count=20)
        listed(stage)
        reading(bench, stage)
        keys(bench, stage)
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
