"""The table of spellings against the programs themselves: what it says they do is what they do."""

import random
import shutil
import sys

import pytest

from tests.unit.policy.denial_oracle import OBSERVED, Oracle
from tests.unit.policy.denied_spellings import DENIALS, SPELLINGS, rows_of
from tests.unit.policy.respelled_lines import WATCHED, drawn_line
from tests.unit.policy.test_denials import verdict

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the programs of other systems differ")
STOPPED_BY_TEXT = {"cp -S -r -b a.txt new"}
"""Stopped although they do not do it: see `denied_spellings`."""
ROWS = [
    row for row in rows_of(SPELLINGS)
    if row[0] in OBSERVED and row[2] not in STOPPED_BY_TEXT and shutil.which(row[0].split()[0])
]  # fmt: skip


def check(rows, tmp_path):
    oracle = Oracle(tmp_path)
    wrong = []
    for section, facts, command in rows:
        doubtful = {fact.rstrip("?") for fact in facts if fact.endswith("?")}
        seen = oracle.facts(section, command) - doubtful
        said = (facts & OBSERVED[section]) - doubtful
        if seen != said:
            wrong.append(f"{command}: did {sorted(seen)}, and the table says {sorted(said)}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.campaign
def test_every_spelling_does_what_the_table_says(tmp_path):
    check(ROWS, tmp_path)


def test_a_sample_of_spellings_does_what_the_table_says(tmp_path):
    check(random.Random(20261128).sample(ROWS, 16), tmp_path)


def escaped(count, seed, tmp_path):
    """Return random lines that did what a denial forbids, and that it let pass."""
    oracle, chance, found = Oracle(tmp_path), random.Random(seed), []
    for _ in range(count):
        section = chance.choice([each for each in WATCHED if shutil.which(each.split()[0])])
        line = drawn_line(chance, section)
        did = oracle.facts(section, line)
        found += [
            f"{pattern} let pass: {line}"
            for other, wanted, pattern in rows_of(DENIALS)
            if other == section and wanted and wanted <= did and verdict(pattern, line) == "-"
        ]
    return found


@pytest.mark.campaign
def test_no_random_line_does_what_is_denied(tmp_path):
    assert not escaped(800, 3_400, tmp_path)


def test_no_random_line_of_a_sample_does_what_is_denied(tmp_path):
    assert not escaped(24, 34, tmp_path)
