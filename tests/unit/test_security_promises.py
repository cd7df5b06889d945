"""Each promise of the documentation names tests that are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = ("promises-answers.md", "promises-grants.md")


def promises():
    """Yield the rows of the tables: a promise, and what holds it."""
    lines = [line for page in PAGES for line in (ROOT / "docs" / page).read_text("utf-8").splitlines()]
    for line in lines:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and cells != ["promise", "held by"]:
            yield cells


def missing(name):
    """Return whether a test that is named, as a file or with `::` and a function, is not there."""
    path, _, function = name.partition("::")
    file = ROOT / "tests" / path
    return not file.is_file() or (function and f"def {function}(" not in file.read_text("utf-8"))


def test_every_promise_names_a_test_that_holds_it():
    rows = list(promises())
    assert len(rows) > 30
    assert [cells for cells in rows if len(cells) != 2 or not re.search("`[^`]+`", cells[1])] == []
    assert [name for _, held in rows for name in re.findall("`([^`]+)`", held) if missing(name)] == []
