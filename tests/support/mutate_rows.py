"""Runs the tests of a row against small changes of the code behind it: each change has to make one of them fail.

The changes are data, `tests/data/row_mutations.jsonl`: a row of the specification, a file of the program, a text
that occurs once in it, and what that text becomes. Each is made in a copy of the source, never in the checkout.

    python -m tests.support.mutate_rows [--rows 7,32] [--workers 2] [--list FILE]
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from queue import Empty, Queue

from tests.support.row_selection import VARIABLE

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "tests/data/row_mutations.jsonl"
MOST_SECONDS = 200
"""How long the tests of one row may take; a change that makes them hang was noticed."""
NICENESS = 15
SEED = 37
TESTS_FAILED, NO_TESTS = 1, 5
"""Exit codes of pytest."""


@dataclass(frozen=True)
class Mutation:
    """A change of the program that the tests of a row have to notice."""

    row: int
    file: str
    old: str
    new: str
    equivalent: str = ""
    """Why no test can notice it, where none can."""

    @property
    def title(self):
        pairs = zip(self.old.splitlines(), self.new.splitlines(), strict=False)
        changed = next((pair for pair in pairs if pair[0] != pair[1]), (self.old, self.new))
        return f"row {self.row}: {self.file}: {changed[0].strip()}  ->  {changed[1].strip()}"


def mutations(path=LIST):
    """Return the changes of the list, in its order."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Mutation(**json.loads(line)) for line in lines if line]


def drawn_order(wanted, seed=SEED):
    """Return changes in an order of a seed, so that the first of them are of rows all over the specification."""
    return random.Random(seed).sample(wanted, len(wanted))


@cache
def marked_files(root=ROOT):
    """Return {row: files of tests that name it}, found by text."""
    found = {}
    for path in sorted((root / "tests").rglob("test_*.py")):
        for marks in re.findall(r"mark\.spec\(([^)]*)\)", path.read_text(encoding="utf-8")):
            for row in map(int, re.findall(r"\d+", marks)):
                found.setdefault(row, {})[str(path.relative_to(root))] = None
    return {row: list(files) for row, files in found.items()}


def copy_source(folder):
    """Copy the tracked and the new files of the checkout, and nothing outside it."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)


class SourceCopy:
    """A copy of the source in which one change at a time is made."""

    def __init__(self, folder):
        self.folder = folder
        copy_source(folder)

    def outcome_of(self, mutation):
        """Return `killed`, `survived` or `not run`, and what was seen."""
        path = self.folder / "workbench" / mutation.file
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        if before.count(mutation.old) != 1:
            return "not run", f"its text occurs {before.count(mutation.old)} times"
        try:
            self._write(path, before.replace(mutation.old, mutation.new))
            return self._outcome(mutation.row)
        finally:
            self._write(path, before)

    @staticmethod
    def _write(path, text):
        path.write_text(text, encoding="utf-8")
        for cached in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            cached.unlink()

    def _outcome(self, row):
        files = marked_files().get(row, [])
        units = [name for name in files if name.startswith("tests/unit/")]
        seen = "no test names the row"
        # Tests of whole programs take longest: they are asked where no unit test noticed anything.
        for group in filter(None, (units, [name for name in files if name not in units])):
            code, seen = self.run_tests(row, group)
            if code not in (0, NO_TESTS):
                return "killed", seen
        return "survived", seen

    def run_tests(self, row, files):
        """Return the exit code of pytest and its last line."""
        command = [
            "nice", "-n", str(NICENESS), sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p",
            "tests.support.row_selection", *files,
        ]  # fmt: skip
        environment = {
            **os.environ, VARIABLE: str(row), "PYTHONPATH": str(self.folder), "WORKBENCH_CAMPAIGN": "",
        }  # fmt: skip
        ran = subprocess.Popen(
            command, cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True,
        )  # fmt: skip
        try:
            output, _ = ran.communicate(timeout=MOST_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(ran.pid, 9)
            ran.communicate()
            return TESTS_FAILED, f"the tests did not end within {MOST_SECONDS} s"
        failed = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return ran.returncode, (failed or output.splitlines() or [""])[-1][:200]


def run_all(wanted, workers=1, see=print):
    """Return (mutation, outcome, what was seen) for each, in order of the list."""
    queue, found = Queue(), {}
    for mutation in wanted:
        queue.put(mutation)

    def work(folder):
        source = SourceCopy(folder)
        while True:
            try:
                mutation = queue.get_nowait()
            except Empty:
                return
            found[mutation] = source.outcome_of(mutation)
            see(f"{found[mutation][0]:9} {mutation.title}  [{found[mutation][1]}]")

    with tempfile.TemporaryDirectory(prefix="rows-") as temporary:
        threads = [
            threading.Thread(target=work, args=(Path(temporary) / f"copy-{number}" / "checkout",))
            for number in range(workers)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return [(mutation, *found[mutation]) for mutation in wanted if mutation in found]


def table(results):
    """Return the counts of a run as lines: rows, killed, survived, equivalent, not run."""
    counted = Counter(
        "equivalent" if outcome == "survived" and mutation.equivalent else outcome
        for mutation, outcome, _ in results
    )
    rows = len({mutation.row for mutation, *_ in results})
    return [
        f"rows {rows}, mutations {len(results)}: killed {counted['killed']}, survived {counted['survived']},"
        f" equivalent {counted['equivalent']}, not run {counted['not run']}",
        *(
            f"{outcome}: {mutation.title}"
            for mutation, outcome, _ in results
            if outcome == "not run" or (outcome == "survived" and not mutation.equivalent)
        ),
    ]


def main():
    """Run the changes of the list, or of some rows, and print what became of each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", default="", help="only these rows, with commas between them")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--list", type=Path, default=LIST)
    options = parser.parse_args()
    rows = set(map(int, filter(None, options.rows.split(","))))
    wanted = [mutation for mutation in mutations(options.list) if not rows or mutation.row in rows]
    results = run_all(wanted, options.workers, see=lambda line: print(line, flush=True))
    print("\n".join(table(results)))


if __name__ == "__main__":
    main()
