"""A defect while a host drives: met once, and not again and again by itself."""

import asyncio

import pytest

from tests.support.stage import Stage, call, exchange, recording
from tests.support.waits import PATIENCE
from workbench.domain.machines import IllegalMoveError
from workbench.host import session_driver
from workbench.host.session_driver import SessionRunner, running_clock, session_log_name
from workbench.host.supervisor import Supervisor
from workbench.journal.errors import JournalError


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


@pytest.mark.spec(187)
def test_the_log_names_a_broken_session_by_its_id_and_its_telemetry_id(tmp_path, monkeypatch, caplog):
    stage = Stage(tmp_path, recording())
    stage.begin("x")
    row = stage.session()

    async def broken(_self, _session):
        raise KeyError("within")

    monkeypatch.setattr(Supervisor, "_drive_chat", broken)
    hosted(stage)
    (line,) = {record.getMessage() for record in caplog.records if "session" in record.getMessage()}
    assert row.telemetry_id and line == f"session {row.id} (telemetry {row.telemetry_id})"
    stage.close()


@pytest.mark.spec(187)
def test_the_log_names_the_session_whose_clock_could_not_be_read(tmp_path, caplog):
    stage = Stage(tmp_path, recording())
    stage.begin("x")
    row = stage.session()

    async def run():
        ticked = asyncio.Event()

        async def tick():
            ticked.set()
            raise JournalError("nothing was expired", "the disk is full", "make room")

        async with running_clock(session_log_name(row), tick):
            await asyncio.wait_for(ticked.wait(), PATIENCE)

    asyncio.run(run())
    told = (
        f"session {row.id} (telemetry {row.telemetry_id}): nothing was expired: the disk is full; make room"
    )
    assert told in [record.getMessage() for record in caplog.records]
    stage.close()


def test_an_answer_that_comes_before_a_tick_does_not_stop_the_clock(monkeypatch):
    monkeypatch.setattr(session_driver, "CLOCK_TICK_SECONDS", 0)

    async def run():
        ticks, again = [], asyncio.Event()

        async def tick():
            ticks.append(1)
            if len(ticks) == 1:
                raise IllegalMoveError("action", "approved", "expired")
            again.set()

        async with running_clock("a session", tick):
            await asyncio.wait_for(again.wait(), PATIENCE)

    asyncio.run(run())
