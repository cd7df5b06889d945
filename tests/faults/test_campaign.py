"""Drivers die at every fault point of every scenario, and the ones who take over die too.

WORKBENCH_FAULT_RUNS says how many runs; all single deaths come first, then random sequences of deaths.
"""

import time

import pytest

from tests.support.campaign import every_crash, plan, spoken, wanted
from tests.support.crashes import crash, theatre
from tests.support.scenarios import SCENARIOS

RUNS = wanted()
PART = 40
PARTS = [(start, min(start + PART, RUNS)) for start in range(0, RUNS, PART)]

pytestmark = pytest.mark.faults


@pytest.fixture(scope="module")
def stages():
    with theatre(*SCENARIOS.values()) as found:
        yield found


@pytest.fixture(scope="module")
def crashes(stages):
    """Every crash there is; playing the scenarios for it proves that they end as they should."""
    return every_crash(stages)


@pytest.mark.spec(72, 154, 200, 209, 214)
@pytest.mark.parametrize(("first", "last"), PARTS, ids=[f"runs {a + 1} to {b} of {RUNS}" for a, b in PARTS])
def test_a_crash_anywhere_loses_nothing_and_runs_nothing_twice(stages, crashes, first, last, record_property):
    begun, died = time.monotonic(), 0
    for run in plan(crashes, RUNS)[first:last]:
        name, deaths = run
        try:
            died += crash(stages[name], *deaths)
        except AssertionError as error:
            pytest.fail(f"{spoken(run)}\n{error}", pytrace=False)
    record_property("runs", last - first)
    record_property("deaths", died)
    record_property("seconds per run", round((time.monotonic() - begun) / (last - first), 3))
    assert died >= (last - first) * 0.9, "most runs did not even reach their fault point"


def test_the_campaign_passes_every_point_that_a_session_passes(crashes):
    from workbench.effects.fault_points import FAULT_POINTS

    # The host process alone passes the one; runs, lists, changes that are taken up again, agents that execute
    # their own calls, imports that they take over and owners of commands pass the others, where the tests that
    # kill those do.
    kinds = (
        "job.",
        "run.",
        "step.",
        "tree.",
        "place.",
        "incident",
        "reopen.",
        "patch.",
        "supervised.",
        "import.",
    )
    elsewhere = {point for point in FAULT_POINTS if point.startswith(kinds)} | {"host.started"}
    assert {point for _, point, _ in crashes} == set(FAULT_POINTS) - elsewhere
