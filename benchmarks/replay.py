"""Measure the replay of a long session: how it is opened, how far it is to any moment, what checkpoints cost.

    python -m benchmarks.replay [--events N]

One session of 100,000 events, made here. Times are processor time of this process, so that a busy machine
counts less; of the screen, wall time is told beside it. Exits with 1 if a claim does not hold.
"""

import argparse
import asyncio
import random
import resource
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks import homes
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.app import WorkbenchApp
from workbench.tui.backend import Backend
from workbench.tui.replay.replay_screen import TAIL_EVENTS
from workbench.tui.replay.replay_source import ReplaySource
from workbench.tui.replay_app import ReplayApp
from workbench.tui.state import ScreenState

SEEKS = 100
BUILD, SEEK_MS, OPEN_MS = 50_000, 50.0, 300.0


def timed(work):
    """Return what work returns, its processor seconds, and its wall seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = work()
    return found, time.process_time() - cpu, time.perf_counter() - wall


def p95(values):
    """Return the value that 95 of 100 do not exceed."""
    return sorted(values)[int(len(values) * 0.95) - 1]


def megabytes():
    """Return the most memory that this process had."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def built(journal, session):
    """Return events a second while checkpoints are made and stored."""
    source = ReplaySource(journal, session)
    source.store()

    def build():
        while source.rewind.build():
            pass

    _, seconds, _ = timed(build)
    source.close()
    return len(source.timeline) / seconds


def sought(journal, session):
    """Return milliseconds of each seek with stored checkpoints, the conversation of the moment included."""
    source = ReplaySource(journal, session)
    while source.rewind.build():
        pass
    state, found = ScreenState(source), []
    for _ in range(SEEKS):
        index = random.randrange(1, len(source.timeline) + 1)

        def seek(index=index):
            source.seek(index)
            state.load(session.id, TAIL_EVENTS)

        found.append(timed(seek)[1] * 1_000)
    return found


async def drawn(journal, session):
    """Return milliseconds of each seek on the screen until it is drawn, checkpoints made."""
    app, found = ReplayApp(journal, session, at=1), []
    async with app.run_test(size=(160, 48)) as pilot:
        screen = app.main
        await app.workers.wait_for_complete()
        for _ in range(SEEKS):
            index, began = random.randrange(1, len(screen.player.timeline) + 1), time.process_time()
            screen.go(screen.player.seek(index))
            await pilot.pause(0)
            found.append((time.process_time() - began) * 1_000)
    return found


async def opened(journal, session):
    """Return processor and wall milliseconds from the key to the first frame, on a running screen."""
    app = WorkbenchApp(journal, Backend(), session.workspace)
    async with app.run_test(size=(160, 48)) as pilot:
        for _ in range(10):
            await pilot.pause(0.1)
        cpu, wall = time.process_time(), time.perf_counter()
        app.open_replay(session.id)
        while not any("REPLAY" in strip.text for strip in app.screen._compositor.render_strips()):
            await pilot.pause(0)
        return (time.process_time() - cpu) * 1_000, (time.perf_counter() - wall) * 1_000


def main():
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--events", type=int, default=100_000)
    count = options.parse_args().events
    random.seed(1)
    with tempfile.TemporaryDirectory() as folder:
        homes.conversation(Path(folder), count).journal.close()
        with Journal.open(Home.open(Path(folder) / "home")) as journal:
            session = journal.session("long")
            source, cpu, wall = timed(lambda: ReplaySource(journal, session))
            spent = f"{cpu * 1_000:.0f} ms ({wall * 1_000:.0f} ms by the clock)"
            print(f"{len(source.timeline):,} events read: {spent}")
            before = megabytes()
            rate = built(journal, session)
            print(f"checkpoints made and stored: {rate:,.0f} events a second (at least {BUILD:,})")
            seeks = sought(journal, session)
            print(f"seek with stored checkpoints: p95 {p95(seeks):.0f} ms (at most {SEEK_MS:.0f})")
            more = megabytes() - before
            print(f"memory: {megabytes():.0f} MB, {more:.0f} MB of it for checkpoints and seeks")
            seeks = asyncio.run(drawn(journal, session))
            print(f"the whole screen at another moment: p50 {median(seeks):.0f} ms, p95 {p95(seeks):.0f} ms")
            size = sum(path.stat().st_size for path in (Path(folder) / "home" / "replay").iterdir())
            print(f"stored: {size / 1_000:.0f} KB")
            screen, clock = asyncio.run(opened(journal, session))
            print(f"open from the screen: {screen:.0f} ms, {clock:.0f} by the clock (at most {OPEN_MS:.0f})")
    return int(rate < BUILD or p95(seeks) > SEEK_MS or screen > OPEN_MS)


if __name__ == "__main__":
    sys.exit(main())
