"""Kill a driver while a box runs: all processes of the box end, and the call's outcome is unknown."""

import os
import random
import signal

import pytest

from tests.support.crashes import theatre
from tests.support.invariants import check_no_process, living
from tests.support.scenarios import Scenario, asked, call
from tests.support.sizes import size
from workbench.domain import events as e
from workbench.effects.sandbox_proof import prove_sandbox

KILLS = size("WORKBENCH_BOX_KILLS", 0, 60)
LINE = (
    "python3 -c \"import os, time; os.setsid(); time.sleep(600)\" & (trap '' TERM HUP; sleep 600) & "
    "setsid sleep 600 & touch up; echo up; sleep 600"
)
BOXED = Scenario(
    name="boxed",
    script=asked(call("c1", "run_in_terminal", command=LINE)),
    config={"approvals": {"sandboxed": "auto"}},
    commands=("c1",),
)


@pytest.fixture
def boxed(monkeypatch):
    """Provide a stage whose session runs a command inside that leaves processes; skipped without a sandbox."""
    monkeypatch.delenv("WORKBENCH_SANDBOX_BACKEND")
    sandbox = prove_sandbox("auto")
    if sandbox.strength != "full":
        pytest.skip(f"no full sandbox: {sandbox.problem}")
    with theatre(BOXED) as stages:
        stage = stages["boxed"]
        stage.reset()
        yield stage


def killed_while_it_runs(stage):
    """Drive in a fork that is killed when the command is up; return how it ended."""

    def look(progress):
        del progress
        if (stage.workspace / "up").exists():
            os.kill(os.getpid(), signal.SIGKILL)
        return False

    return stage.forked(lambda: stage.drive(look))


def check_recovery(stage, death):
    assert death.code == -signal.SIGKILL, death
    with stage.at_work():
        marks = [row.id for row in stage.calls().values()]
        check_no_process(marks)
        stage.drive()
        row = stage.calls()["c1"]
        assert (row.state, row.detail) == ("interrupted", "outcome unknown")
        started = [body.sandbox.place for body in stage.bodies(e.ProcessStarted)]
        assert started == ["inside"], "it is not run again"
        assert living(marks) == []


def test_all_of_a_box_ends_with_its_driver_and_its_outcome_is_unknown(boxed):
    check_recovery(boxed, killed_while_it_runs(boxed))


@pytest.mark.campaign
@pytest.mark.parametrize("number", range(KILLS))
def test_all_of_a_box_ends_whenever_its_driver_is_killed(boxed, number):
    chance = random.Random(number)
    point = chance.choice(("call.executing", "call.started", "call.process_recorded", "call.released", ""))
    if not point:
        check_recovery(boxed, killed_while_it_runs(boxed))
        return
    boxed.die((point,))
    with boxed.at_work():
        check_no_process([row.id for row in boxed.calls().values()])
        boxed.drive()
        assert boxed.calls()["c1"].state == "interrupted"
