"""How long the screen's loop is busy at a time, for `benchmarks.screen`: the screen without a terminal.

    python -m benchmarks.loop HOME WORKSPACE

Prints two numbers: the 95th percentile of what a sleep of 5 ms takes longer, in ms of the clock and of this
thread's processor time. The second is the screen's own work, whatever else the machine does.
"""

import asyncio
import statistics
import sys
import time
from pathlib import Path

from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.app import WorkbenchApp
from workbench.tui.backend import Backend

SLEEP = 0.005
SECONDS = 5.0


async def measured(app: WorkbenchApp) -> list[tuple[float, float]]:
    """Return how much later each sleep ended, and the processor time meanwhile, in ms."""
    found: list[tuple[float, float]] = []
    async with app.run_test(size=(160, 48)):
        await asyncio.sleep(2)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            clock, own = time.monotonic(), time.thread_time()
            await asyncio.sleep(SLEEP)
            late = time.monotonic() - clock - SLEEP
            found.append((late * 1000, (time.thread_time() - own) * 1000))
    return found


def main() -> None:
    """Measure once."""
    home, workspace = sys.argv[1:]
    journal = Journal.open(Home.open(Path(home)))
    try:
        app = WorkbenchApp(journal, Backend(), workspace)
        found = asyncio.run(measured(app))
    finally:
        journal.close()
    for numbers in zip(*found, strict=True):
        print(f"{statistics.quantiles(numbers, n=20)[-1]:.2f}")


if __name__ == "__main__":
    main()
