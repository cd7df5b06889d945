"""Run the crash campaign in numbers: every death of every scenario, then random sequences of deaths.

    python benchmarks/faults.py [RUNS] [--jobs N] [--seed N]

Prints a line of progress, the runs per second, and every run that broke a promise; ends with 1 if any did.
"""

import argparse
import multiprocessing
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.support.campaign import every_crash, plan, spoken
from tests.support.crashes import crash, theatre
from tests.support.scenarios import SCENARIOS


def work(part, jobs, runs, seed, results):
    """Do every `jobs`-th run of the plan, and report each as (deaths, what broke)."""
    with theatre(*SCENARIOS.values()) as stages:
        for run in plan(every_crash(stages), runs, seed)[part::jobs]:
            died, broken = 0, ""
            try:
                died = crash(stages[run[0]], *run[1])
            except Exception as error:  # noqa: BLE001 -- whatever it is, the run broke
                broken = f"{spoken(run)}\n{type(error).__name__}: {error}"
            results.put((died, broken))


def follow(results, runs):
    """Print progress until all results are there; return what broke."""
    begun, deaths, broken = time.monotonic(), 0, []
    for done in range(1, runs + 1):
        died, error = results.get(timeout=300)
        deaths += died
        broken += [error] if error else []
        rate = done / (time.monotonic() - begun)
        line = f"{done} of {runs} runs, {deaths} deaths, {len(broken)} broken, {rate:.1f} runs/s"
        print(f"\r{line}", end="", flush=True)
    print()
    return broken


def main():
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="?", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    workers = [
        context.Process(target=work, args=(part, given.jobs, given.runs, given.seed, results), daemon=True)
        for part in range(given.jobs)
    ]
    for worker in workers:
        worker.start()
    broken = follow(results, given.runs)
    for worker in workers:
        worker.join()
    for error in broken:
        print(f"\n{error}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
