"""Runs the tests of a row against small changes of the code behind it: each change has to make one of them fail.

The changes are data, `tests/data/row_mutations.jsonl`: a row of the specification, a file of the program, a text
that occurs once in it, and what that text becomes. Each is made in a copy of the source, never in the checkout.
Changes that no test can notice (`equivalent`) and those that the tests of the row do not notice (`survives`) are in the
list as well, with the reason: a run reports them, and says which of them are noticed by now.

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
PASSED, TESTS_FAILED, NOT_COLLECTED, NO_TESTS = 0, 1, 2, 5
"""Exit codes of pytest; a change that keeps a module from being imported was noticed."""
HUNG = -1
OUTCOMES = ("killed", "hung", "survived", "known", "equivalent", "noticed", "error")
"""What becomes of a change; of those that the list says survive, `known` still do and `noticed` do not."""
EXPECTED_OUTCOMES = frozenset({"killed", "hung", "known", "equivalent"})
TABLE_PROPERTY = "row mutations"
"""Under this name a test of the campaign reports its results to the summary."""


@dataclass(frozen=True)
class Mutation:
    """A change of the program that the tests of a row have to notice."""

    row: int
    file: str
    old: str
    new: str
    equivalent: str = ""
    """Why no test can notice it, where none can."""
    survives: str = ""
    """Why the unit tests of the row do not notice it, where a test could; only they are asked about it."""

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

    def __init__(self, folder, *, has_control=False):
        """Copy the source; with a control no change counts as noticed whose tests fail without it, too."""
        self.folder, self._has_control = folder, has_control
        self._controls = {}
        copy_source(folder)

    def outcome_of(self, mutation):
        """Return one of `OUTCOMES`, and what was seen."""
        path = self.folder / "workbench" / mutation.file
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        if before.count(mutation.old) != 1:
            return "error", f"its text occurs {before.count(mutation.old)} times"
        try:
            self._write(path, before.replace(mutation.old, mutation.new))
            is_named = bool(mutation.equivalent or mutation.survives)
            outcome, seen = self._outcome(mutation.row, only_units=is_named)
        finally:
            self._write(path, before)
        if outcome == "killed" and self._has_control and self._control(mutation.row) != "survived":
            return "error", "the tests of the row fail without the change as well"
        return _named_outcome(mutation, outcome), seen

    def _control(self, row):
        """Return what the tests of a row say of the source as it is."""
        if row not in self._controls:
            self._controls[row] = self._outcome(row)[0]
        return self._controls[row]

    @staticmethod
    def _write(path, text):
        path.write_text(text, encoding="utf-8")
        for cached in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            cached.unlink()

    def _outcome(self, row, *, only_units=False):
        files = marked_files().get(row, [])
        units = [name for name in files if name.startswith("tests/unit/")]
        outcome, seen = "error", "no test names the row"
        # Tests of whole programs take longest: they are asked where no unit test noticed anything.
        others = [] if only_units and units else [name for name in files if name not in units]
        for group in filter(None, (units, others)):
            code, last_line = self.run_tests(row, group)
            if code == NO_TESTS:
                continue
            outcome, seen = _OUTCOME_OF_CODE.get(code, "error"), last_line
            if outcome != "survived":
                break
        return outcome, seen

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
            return HUNG, f"the tests did not end within {MOST_SECONDS} s"
        failed = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return ran.returncode, (failed or output.splitlines() or [""])[-1][:200]


_OUTCOME_OF_CODE = {PASSED: "survived", TESTS_FAILED: "killed", NOT_COLLECTED: "killed", HUNG: "hung"}


def _named_outcome(mutation, outcome):
    """Return what becomes of a change that the list says is not noticed."""
    if not (mutation.equivalent or mutation.survives):
        return outcome
    if outcome == "survived":
        return "equivalent" if mutation.equivalent else "known"
    return "noticed" if outcome in ("killed", "hung") else outcome


def run_all(wanted, workers=1, see=print, *, has_control=False):
    """Return (mutation, outcome, what was seen) for each, in order of the list."""
    queue, found = Queue(), {}
    for mutation in wanted:
        queue.put(mutation)

    def work(folder):
        source = SourceCopy(folder, has_control=has_control)
        while True:
            try:
                mutation = queue.get_nowait()
            except Empty:
                return
            found[mutation] = source.outcome_of(mutation)
            see(f"{found[mutation][0]:10} {mutation.title}  [{found[mutation][1]}]")

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


def facts(results):
    """Return of each result what its table needs, as plain values."""
    return [[mutation.row, outcome, f"{mutation.title}  [{seen}]"] for mutation, outcome, seen in results]


def table(reported):
    """Return the facts of a run as lines: how many changes had each outcome, then those that need a look."""
    counted = Counter(outcome for _, outcome, _ in reported)
    rows = len({row for row, *_ in reported})
    return [
        f"{len(reported)} mutations of {rows} rows",
        *(f"  {outcome:10} {counted[outcome]:4}" for outcome in OUTCOMES),
        *unexpected(reported),
    ]


def unexpected(reported):
    """Return the lines of those changes whose outcome the list does not say."""
    return [f"{outcome}: {title}" for _, outcome, title in reported if outcome not in EXPECTED_OUTCOMES]


def summary(reports):
    """Return the table of all tests of the campaign, from their reports; nothing where none ran."""
    # The report of the end of a test repeats what its call has told.
    calls = [report for report in reports if getattr(report, "when", "") == "call"]
    properties = [entry for report in calls for entry in report.user_properties]
    reported = [row for name, rows in properties if name == TABLE_PROPERTY for row in rows]
    return table(reported) if reported else []


def main():
    """Run the changes of the list, or of some rows, and print what became of each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", default="", help="only these rows, with commas between them")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--list", type=Path, default=LIST)
    options = parser.parse_args()
    rows = set(map(int, filter(None, options.rows.split(","))))
    wanted = [mutation for mutation in mutations(options.list) if not rows or mutation.row in rows]
    results = run_all(wanted, options.workers, lambda line: print(line, flush=True), has_control=True)
    print("\n".join(table(facts(results))))


if __name__ == "__main__":
    main()
