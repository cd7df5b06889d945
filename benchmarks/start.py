"""How long the command takes to say its version, beside Python doing nothing, in one run.

    python benchmarks/start.py [--runs N]

Prints the medians and their ratio; the aim is at most 5.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import time


def seconds(argv):
    """Return how long a command takes from outside."""
    started = time.perf_counter()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main():
    """Measure in turn, so that a machine that slows down slows both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=30)
    runs = parser.parse_args().runs
    command = shutil.which("workbench") or sys.exit("workbench is not installed here")
    bare = [sys.executable, "-c", "pass"]
    pairs = [(seconds(bare), seconds([command, "--version"])) for _ in range(runs + 1)][1:]
    floor, ours = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"python -c pass {floor * 1000:.1f} ms   --version {ours * 1000:.1f} ms   {ours / floor:.2f} x")


if __name__ == "__main__":
    main()
