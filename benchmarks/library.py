"""Measure the library with 10,000 sessions: opening, finding, and `j`, beside a bare list of as many rows.

    WORKBENCH_BENCH=DIR python -m benchmarks.library

Prints one line a claim and exits with 1 if one does not hold; run it on a quiet machine.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import homes
from benchmarks.screen import ASKS, Bench, latency
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.library.library_list import LibraryModel, LibraryQuery

COUNT = 10_000


def finding(bench: Bench, root: Path) -> None:
    """How long a filter takes over every title and every conversation."""
    with Journal.open(Home.open(root / "home")) as journal:
        shelf = LibraryModel(journal, lambda _provider, _sent, _received: None)
        begin = time.perf_counter()
        shelf.read()
        bench.claim("reading the rows of 10,000 sessions", (time.perf_counter() - begin) * 1000, "ms", 500)
        for text in ("old-9", "prompt errors", "nothing-has-this"):
            taken: list[float] = []
            for _ in range(9):
                begin = time.perf_counter()
                shelf.find(LibraryQuery(text=text))
                taken.append((time.perf_counter() - begin) * 1000)
            bench.claim(f"finding “{text}”", statistics.median(taken), "ms", 50)
        shelf.find(LibraryQuery())
        taken = []
        for key in list(shelf.sessions)[:9]:
            begin = time.perf_counter()
            shelf.read({key})
            shelf.find(LibraryQuery())
            taken.append((time.perf_counter() - begin) * 1000)
        bench.claim("a session that changed, in its place", statistics.median(taken), "ms", 10)


def keys(bench: Bench, stage: homes.Stage) -> None:
    """`j` in the list."""
    with bench.bare("list.py", f"virtual {COUNT}") as child:
        child.settle(limit=1)
        floor = latency(bench, child, b"\x1b[B")
    with bench.shown(stage, f"{sys.executable} -m workbench {stage.workspace}", ASKS) as child:
        child.settle(limit=2)
        child.send(b"5")
        child.settle(limit=4)
        found = latency(bench, child)
    note = f"p50 {found['p50_ms']:.1f} ms, bare list {floor['p50_ms']:.1f} ms"
    bench.claim("j in the library, p50 / bare list", found["p50_ms"] / floor["p50_ms"], "x", 1.2, note)
    bench.claim("j in the library, p95", found["p95_ms"], "ms", 16.7)


def main() -> int:
    """Run both."""
    with tempfile.TemporaryDirectory(prefix="library-benchmark-", ignore_cleanup_errors=True) as folder:
        bench = Bench(Path(folder), quick=False)
        stage = homes.prepared(Path(folder) / "home", count=COUNT)
        finding(bench, stage.root)
        keys(bench, stage)
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
