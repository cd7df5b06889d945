"""Measure importing: the parser alone, and lines scrubbed and stored, with the memory that it takes.

    python benchmarks/importing.py [--mb N]

The lines are made up in the shape of Claude Code's. Speeds are held to processor time, because machines are
shared: ≥ 20 MB/s for the parser, ≥ 3 MB/s stored, ≤ 80 MB of memory more for 100 MB. Exits with 1 if a claim
does not hold.
"""

import argparse
import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

from workbench.formats import detect
from workbench.formats.detect import detect_format
from workbench.journal.home import Home
from workbench.journal.imports import SessionImport
from workbench.journal.journal import Journal

WORDS = (
    "the", "handler", "of", "this", "route", "returns", "a", "value", "that", "its", "tests", "expect", "to",
    "be", "list", "paths", "and", "keys",
)  # fmt: skip


def prose(length):
    """Return some words."""
    return " ".join(random.choice(WORDS) for _ in range(length))


def code(lines):
    """Return what looks like a file."""
    return "\n".join(
        f"    {random.choice(WORDS)}_{n} = compute({random.choice(WORDS)}, {n})" for n in range(lines)
    )


def turn(number):
    """Yield the lines of one prompt, a thought, a call and its result."""
    stamp = f"2026-11-21T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"
    common = {
        "sessionId": "s",
        "cwd": "/home/me/shop",
        "version": "2.0",
        "gitBranch": "main",
        "timestamp": stamp,
    }

    def line(kind, part, content, **more):
        message = {"role": kind, "content": content, "id": f"m{number}", "model": "big",
                   "usage": {"input_tokens": 900, "output_tokens": 90}}  # fmt: skip
        return {**common, "type": kind, "uuid": f"u{number}.{part}", "message": message, **more}

    path = f"/home/me/shop/src/{random.choice(WORDS)}.py"
    yield line("user", 0, prose(30))
    yield line("assistant", 1, [{"type": "thinking", "thinking": prose(60)}])
    yield line("assistant", 2, [{"type": "text", "text": prose(50)}])
    yield line(
        "assistant",
        3,
        [{"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"file_path": path}}],
    )
    said = code(40)
    yield line("user", 4, [{"type": "tool_result", "tool_use_id": f"t{number}", "content": said}],
               toolUseResult={"type": "text", "file": {"filePath": path, "content": said}})  # fmt: skip


def write(path, size):
    """Write lines until the file is so large."""
    written = number = 0
    with path.open("w") as file:
        while written < size:
            for value in turn(number):
                written += file.write(json.dumps(value) + "\n")
            number += 1


def peak():
    """Return the most memory this process had, in MB."""
    found = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def main():
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=int, default=100)
    size = parser.parse_args().mb * 1_000_000
    random.seed(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lines"
        write(path, size)
        with path.open("rb") as stream:
            begin = time.process_time()
            count = sum(1 for _ in detect_format(stream, "x").items)
            parsed = size / 1e6 / (time.process_time() - begin)
        with Journal.open(Home.open(Path(folder) / "home")) as journal, path.open("rb") as stream:
            before, begin, wall = peak(), time.process_time(), time.perf_counter()
            intake = SessionImport(journal)
            opened = detect.open_file(
                stream, "x", 0, None, store=intake.store, current_id=intake.current_id, recorded_at=intake.now
            )
            for event in opened.events:
                intake.add(event)
            intake.finish()
            stored, real = (
                size / 1e6 / (time.process_time() - begin),
                size / 1e6 / (time.perf_counter() - wall),
            )
        grown = peak() - before
    print(f"parser alone       {parsed:6.1f} MB/s  (≥ 20), {count} records")
    print(f"scrubbed, stored   {stored:6.1f} MB/s  (≥ 3) of processor time, {real:.1f} MB/s by the clock")
    print(f"memory more        {grown:6.1f} MB    (≤ 80) for {size // 1_000_000} MB")
    return 0 if parsed >= 20 and stored >= 3 and grown <= 80 else 1


if __name__ == "__main__":
    sys.exit(main())
