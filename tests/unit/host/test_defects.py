"""A defect while a host drives: met once, and not again and again by itself."""

import asyncio

import pytest

from tests.support.stage import Stage, call, exchange, recording
from tests.support.waits import PATIENCE
from workbench.host.session_driver import SessionRunner
from workbench.host.supervisor import Supervisor


def hosted(stage):
    """Let a host drive until it finds nothing more to do."""

    async def run():
        supervisor = Supervisor(stage.context(), stage.driver(), lambda: False, linger=0.05)
        await asyncio.wait_for(supervisor.run(asyncio.Event()), PATIENCE)

    try:
        asyncio.run(run())
    finally:
        stage.lock.close()


@pytest.mark.parametrize("error", [KeyError("within"), OSError(5, "within")])
@pytest.mark.parametrize("handler", ["_call_model", "_execute"])
def test_a_defect_is_met_once_and_again_when_somebody_goes_on(tmp_path, monkeypatch, error, handler):
    replies = recording(exchange(call("c1", "read_file", path="a.py")))
    stage = Stage(tmp_path, replies, files={"a.py": "one\n"})
    stage.trust()
    stage.begin()
    met = []

    async def broken(self, effect):
        met.append(effect)
        raise error

    monkeypatch.setattr(SessionRunner, handler, broken)
    hosted(stage)
    assert len(met) == 1
    stage.say("again")
    hosted(stage)
    assert len(met) == 2
    assert stage.kinds().count("lease.taken") == 2
    assert stage.kinds().count("error.raised") == 2
