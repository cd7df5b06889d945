import contextlib

import pytest

from tests.support.crashes import theatre
from tests.support.scenarios import SCENARIOS


@pytest.fixture(scope="session")
def _theatres():
    with contextlib.ExitStack() as stack:
        open_now = {}

        def stage(scenario):
            if scenario.name not in open_now:
                open_now[scenario.name] = stack.enter_context(theatre(scenario))[scenario.name]
            return open_now[scenario.name]

        yield stage


@pytest.fixture
def on_stage(_theatres):
    """Give the stage of a scenario, by name or as it is, at its beginning; its journal is closed."""

    def begin(scenario):
        stage = _theatres(SCENARIOS[scenario] if isinstance(scenario, str) else scenario)
        stage.reset()
        return stage

    return begin
