"""Lines that grants of every program of the table cover, run by real shells: nothing starts but what the line names.

A sample at each commit, 20,000 lines in a campaign; WORKBENCH_WILD_LINES sets another number, WORKBENCH_WILD_SEED begins
elsewhere.
"""

import random
import shutil

import pytest

from tests.support.sizes import size
from tests.support.throwaway import Throwaway
from tests.unit.policy import wild_lines
from tests.unit.policy.gate_cases import SHELL
from workbench.domain.values import PermissionPattern
from workbench.policy.permissions import first_permission_covering
from workbench.policy.shell.analysis import view_command

LINES = size("WORKBENCH_WILD_LINES", 150, 20_000)
SEED = size("WORKBENCH_WILD_SEED", 20_261_128, 20_261_128)
MOST_MADE = 40
"""Lines that may be made for one that can be run."""
HEADS = wild_lines.heads(wild_lines.KEYS)
PATTERNS = [PermissionPattern(text=f"Bash({head} *)") for head in HEADS]
PATTERNS += [PermissionPattern(text=f"Bash({head})") for head in HEADS]
SHELLS = [found for name in ("bash", "dash") if (found := shutil.which(name))]


def covered(line):
    seen = view_command(line)
    return seen.plain and all(first_permission_covering(PATTERNS, SHELL, simple) for simple in seen.commands)


def named(line):
    """Return each program of a line with its first word."""
    found = set()
    for simple in view_command(line).commands:
        head, *rest = simple.words
        found.add((head.rpartition("/")[2], rest[0] if rest else ""))
    return found


def seen_by(shell, line, programs):
    """Return programs with their first words; dash does not decode `$'…'`, so there only the programs count."""
    is_decoded = "bash" in shell or "$" not in line
    return {(name, word if is_decoded else "") for name, word in programs}


def covered_lines(count, seed):
    some, left = random.Random(seed), count
    for _ in range(MOST_MADE * count):
        line = wild_lines.line(some)
        if "\0" not in line and covered(line):
            yield line
            left -= 1
        if left == 0:
            return
    raise AssertionError("too few of the lines that were made are covered, which proves nothing")


@pytest.mark.skipif(len(SHELLS) < 2, reason="needs bash and dash")
def test_nothing_starts_that_the_line_does_not_name(tmp_path):
    benches = [(shell, Throwaway(tmp_path / str(number), [name for name in (*HEADS, "evil") if name not in "[:"]))
               for number, shell in enumerate(SHELLS)]  # fmt: skip
    started = 0
    for line in covered_lines(LINES, SEED):
        for shell, bench in benches:
            (bench.work / "b.txt").write_text("")
            programs, files = bench.run(shell, "-c", "--", line)
            started += len(programs)
            assert seen_by(shell, line, programs) <= seen_by(shell, line, named(line)), (shell, line)
            assert files == ["b.txt"], (shell, line)
    assert started > LINES
    assert sum(bench.ended for _, bench in benches) <= LINES / 20
