"""Measure the journal's claims, all in one run, each beside its limit.

    python benchmarks/journal.py [--quick]

Speeds are ratios where a machine would decide otherwise: durable commits against one bare fdatasync of the
same disk in the same minute. `--quick` takes smaller numbers. Exits with 1 if a claim does not hold.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import timeit
from collections.abc import Callable, Iterator
from pathlib import Path

from workbench.domain.codec import actor_json, body_json, decode_stored_body
from workbench.domain.events import Event, PromptSubmitted, SessionCreated, TextStreamed
from workbench.domain.values import Actor
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.storage import decode_event
from workbench.journal.transaction import TransactionTables

HOST = Actor(kind="host", pid=1)
TEXT = "a few words of a reply "


def streamed(journal: Journal, offset: int) -> Event:
    """Return a piece of a reply."""
    return journal.event(TextStreamed(block=0, offset=offset, text=TEXT), "s", HOST, turn_id="t")


def new_journal(path: Path) -> Journal:
    """Open a new journal with one session."""
    journal = Journal.open(Home.open(path))
    journal.append([journal.event(SessionCreated(workspace="/w"), "s", HOST)])
    return journal


def fast_events(path: Path, count: int) -> float:
    """Return events a second, made, submitted one by one and committed; the best of three."""
    best = 0.0
    with new_journal(path) as journal:
        for _ in range(3):
            begin = time.perf_counter()
            futures = [journal.submit([streamed(journal, number)]) for number in range(count)]
            futures[-1].result()
            best = max(best, count / (time.perf_counter() - begin))
    return best


def sync_seconds(path: Path, count: int) -> float:
    """Return the median seconds to append a page to a log of its own and sync it, as bare as it goes."""
    sync = getattr(os, "fdatasync", os.fsync)
    taken: list[float] = []
    file = os.open(path / "bare", os.O_RDWR | os.O_CREAT, 0o600)
    for number in range(count):
        begin = time.perf_counter()
        os.pwrite(file, os.urandom(4096), number * 4096)
        sync(file)
        taken.append(time.perf_counter() - begin)
    os.close(file)
    return statistics.median(taken)


def commits_per_second(journal: Journal, count: int, producers: int) -> float:
    """Return durable appends a second, each waited for by its producer."""

    def produce() -> None:
        for _ in range(count // producers):
            journal.append([journal.event(PromptSubmitted(text=TEXT), "s", HOST)])

    threads = [threading.Thread(target=produce) for _ in range(producers)]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return count // producers * producers / (time.perf_counter() - begin)


def durable_ratio(path: Path, count: int, producers: int) -> tuple[float, float]:
    """Return durable commits a second and their ratio to bare syncs a second, the best of three."""
    found: list[tuple[float, float]] = []
    with new_journal(path) as journal:
        for _ in range(3):
            bare = 1 / sync_seconds(path, count // 3)
            commits = commits_per_second(journal, count // 3, producers)
            found.append((commits, commits / bare))
    return max(found, key=lambda pair: pair[1])


def fill(journal: Journal, count: int) -> None:
    """Store many fast events, past the door that checks them."""
    body, actor, now = body_json(streamed(journal, 5)), actor_json(HOST), journal.now()
    insert = (
        "INSERT INTO event (id, session_id, sequence_number, at, actor, turn_id, kind, body)"
        " VALUES (?, ?, ?, ?, ?, 't', 'text.streamed', ?)"
    )

    def rows(first: int, last: int) -> Iterator[tuple[object, ...]]:
        return ((f"{number:032x}", "big", number, now, actor, body) for number in range(first, last))

    for first in range(1, count + 1, 50_000):

        def work(live: TransactionTables, first: int = first) -> None:
            live.database.executemany(insert, rows(first, min(first + 50_000, count + 1)))  # type: ignore[attr-defined]

        journal.change(work)


def window_ms(path: Path, count: int) -> tuple[float, float]:
    """Return milliseconds for 200 rows from the middle: decoded, and as SQLite gives them."""
    with new_journal(path) as journal:
        fill(journal, count)
        middle = count // 2

        def decoded() -> None:
            assert len(journal.window("big", middle, 200)) == 200

        where = "SELECT * FROM event WHERE session_id = 'big' AND sequence_number >= ? LIMIT 200"

        def bare() -> None:
            assert len(journal._all(where, middle)) == 200

        return _best(decoded, 50) * 1000, _best(bare, 50) * 1000


def decode_us() -> tuple[float, float]:
    """Return microseconds for a trusted event, and for its body alone."""
    event = Event(
        id="i" * 36, session_id="s" * 36, at=1, actor=HOST, turn_id="t" * 36,
        body=TextStreamed(block=0, offset=5, text=TEXT),
    )  # fmt: skip
    body, actor = body_json(event), actor_json(HOST)
    values = (
        5,
        event.id,
        event.session_id,
        7,
        1,
        None,
        actor,
        event.turn_id,
        None,
        None,
        None,
        event.kind,
        body,
    )
    return _best(lambda: decode_event(values), 20_000) * 1e6, _best(
        lambda: decode_stored_body(event.kind, body), 20_000
    ) * 1e6


def _best(work: Callable[[], object], number: int) -> float:
    return min(timeit.repeat(work, number=number, repeat=7)) / number


READER = """
import sys, time
from pathlib import Path
from workbench.journal.home import Home
from workbench.journal.journal import Journal
with Journal.open(Home.open(Path(sys.argv[1]))) as journal:
    cursor = journal.last_position()
    journal.wait(cursor, 0.05)
    print("ready", flush=True)
    while True:
        journal.wait(cursor, 60)
        seen = time.time_ns()
        for event in journal.events(after=cursor):
            cursor = event.position
            print(event.body.text, seen, flush=True)
"""


def bell_ms(path: Path, count: int) -> tuple[float, float]:
    """Return the median and the 95th percentile from an acknowledged commit to its reader elsewhere."""
    delays: list[float] = []
    with new_journal(path) as journal:
        command = [sys.executable, "-c", READER, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            for number in range(count):
                journal.append([journal.event(PromptSubmitted(text=str(number)), "s", HOST)])
                told = time.time_ns()
                text, seen = child.stdout.readline().split()
                assert int(text) == number
                delays.append(max(0.0, (int(seen) - told) / 1e6))
                time.sleep(0.01 + number % 7 * 0.003)
            child.kill()
    return statistics.median(delays), statistics.quantiles(delays, n=20)[-1]


def main() -> int:
    """Run everything and print one line a claim."""
    parser = argparse.ArgumentParser(description="Measure the journal's claims.")
    parser.add_argument("--quick", action="store_true", help="smaller numbers")
    quick = parser.parse_args().quick
    failed = 0

    def claim(name: str, value: float, unit: str, limit: float, is_floor: bool, note: str = "") -> None:
        nonlocal failed
        holds = value >= limit if is_floor else value <= limit
        failed += not holds
        sign = ">=" if is_floor else "<="
        print(
            f"{'ok  ' if holds else 'FAIL'} {name:<44} {value:>10.2f} {unit} ({sign} {limit:g}) {note}",
            flush=True,
        )

    with tempfile.TemporaryDirectory(prefix="journal-benchmark-") as folder:
        root = Path(folder)
        claim("fast events", fast_events(root / "fast", 5_000 if quick else 30_000), "/s", 10_000, True)
        commits = 300 if quick else 1500
        alone, alone_ratio = durable_ratio(root / "alone", commits, 1)
        many, ratio = durable_ratio(root / "durable", commits, 4)
        note = f"{many:.0f}/s by four producers; one alone {alone:.0f}/s, {alone_ratio:.2f} x"
        claim("durable commits against bare fdatasync", ratio, "x", 0.5, True, note)
        rows = 100_000 if quick else 1_000_000
        whole, bare = window_ms(root / "window", rows)
        claim(
            f"200 rows from the middle of {rows:,}", whole, "ms", 1.0, False, f"{bare:.2f} ms in SQLite alone"
        )
        event, body = decode_us()
        claim("decoding a trusted event", event, "µs", 3.0, False, f"{body:.2f} µs of it the body")
        median, late = bell_ms(root / "bell", 60 if quick else 300)
        claim("notice to a reader elsewhere, p95", late, "ms", 25.0, False, f"median {median:.2f} ms")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
