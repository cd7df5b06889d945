"""Which crashes to run: every fault point at every passage of every scenario, then crashes of crashes.

The plan is the same for the same number of runs, wherever it is made, so that it can be cut into parts.
"""

import random
from itertools import chain

from tests.support.crashes import passages
from tests.support.sizes import size

VARIABLE = "WORKBENCH_FAULT_RUNS"
DEFAULT_RUNS = 60
WHOLE = 2000
SEED = 20_261_121
STREAMING = ("journal.before_commit", "journal.after_commit")
"""Points whose number of passages depends on how fast events were grouped."""


def wanted(default=DEFAULT_RUNS):
    """Return how many runs are asked for."""
    return size(VARIABLE, default, WHOLE)


def every_crash(stages):
    """Return every (scenario, point, nth) there is, sorted."""
    counts = {name: passages(stage) for name, stage in sorted(stages.items())}
    return [
        (name, point, nth)
        for name, count in counts.items()
        for point in sorted(count)
        for nth in range(1, count[point] + 1)
    ]


def plan(crashes, runs, seed=SEED):
    """Return `runs` runs, each a scenario and one or more deaths; single deaths first."""
    chance = random.Random(seed)
    singles = [(name, ((point, nth),)) for name, point, nth in crashes]
    chance.shuffle(singles)
    doubles = (_double(chance, crashes) for _ in range(max(0, runs - len(singles))))
    return list(chain(singles, doubles))[:runs]


def _double(chance, crashes):
    name, point, nth = chance.choice(crashes)
    others = [(p, n) for n_, p, n in crashes if n_ == name]
    deaths = [(point, nth), chance.choice(others)]
    if chance.random() < 0.1:
        deaths.append(chance.choice(others))
    return name, tuple(deaths)


def spoken(run):
    """Return a run in words."""
    name, deaths = run
    return f"{name}: " + ", then ".join(f"{point} #{nth}" for point, nth in deaths)
