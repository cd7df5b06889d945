"""The program itself, killed for good (SIGKILL) while a second process approves what it asks.

WORKBENCH_KILL_RUNS says how many; each is another moment: a position of the journal, seen from outside, or
a fault point inside the one who drives or the one who answers.
"""

import os
import random
import shutil
import time

import pytest

from tests.support.crashes import new_place
from tests.support.invariants import check_end, check_no_process, temporaries
from tests.support.program import Program
from tests.support.scenarios import RAN, Scenario, call, edit
from tests.support.sizes import size
from tests.support.stage import exchange, recording, text
from tests.support.waits import PATIENCE, until
from workbench.domain import events
from workbench.effects.fault_points import FAULTS_VARIABLE
from workbench.effects.files import Root
from workbench.host import host_start

pytestmark = pytest.mark.faults

RUNS = size("WORKBENCH_KILL_RUNS", 3, 30)

KILLED = Scenario(
    name="killed",
    script=recording(
        exchange(
            text("I look "), {"text": "and write.", "after_ms": 30}, edit("c1", "a\n", "A\n"),
            call("c2", "create_file", path="d/n.txt", content="new\n"),
            call("c3", "run_in_terminal", command=f"printf 'c3\\n' >> {RAN}; sleep 0.1"),
        ),
        exchange({"text": "once more", "after_ms": 30}, edit("c4", "b\n", "B\n")),
        exchange(text("done")),
    ),
    files={"a.txt": "a\nb\n"},
    commands=("c3",),
)  # fmt: skip

DRIVER = (
    "lease.taken", "turn.model_called", "call.before_propose", "call.proposed", "call.before_executing",
    "call.executing", "apply.staged", "apply.renamed", "call.started", "call.process_recorded", "call.released",
    "call.finished_effect", "call.finished", "turn.before_end", "journal.after_commit", "journal.before_commit",
)  # fmt: skip
ANSWERING = ("decide.before_commit", "decide.after_commit")


@pytest.fixture
def program():
    place = new_place()
    found = Program(KILLED, place)
    with found.at_work():
        try:
            yield found
        finally:
            found.stop()
    shutil.rmtree(place, ignore_errors=True)


def moment(number):
    """Return where the n-th run is killed: (position, fault of the driver, fault of who answers)."""
    chance = random.Random(number)
    match number % 3:
        case 0:
            return chance.randint(4, 40), "", ""
        case 1:
            point = chance.choice(DRIVER)
            nth = chance.randint(1, 20) if point.startswith("journal.") else 1
            return None, f"{point}:kill:{nth}", ""
        case _:
            return chance.randint(12, 40), "", f"{chance.choice(ANSWERING)}:kill"


@pytest.mark.spec(72, 214)
@pytest.mark.parametrize("number", range(RUNS), ids=[f"{n + 1} of {RUNS}" for n in range(RUNS)])
def test_a_killed_program_loses_nothing_and_runs_nothing_twice(program, number):
    kill_at, in_driver, in_answer = moment(number)
    code = program.attend(program.run(in_driver), kill_at=kill_at, faults=in_answer)
    # Who kills at a position looks from outside: on a busy machine the program may be done before.
    assert code == -9 or (kill_at is not None and code == 0), program.said()
    program.settled()
    seen = {event.position: event.id for event in program.journal.events()}
    if not program.session_id:
        return  # Killed before there was a session: nobody was told of one.
    if not program.is_over():
        words = ("--session", program.session_id, "--output-format", "json")
        assert program.attend(program.start("run", *words)) == 0, program.said()
    program.settled()
    program.stop()
    there = {event.position: event.id for event in program.journal.events()}
    assert seen.items() <= there.items()
    _sweep(program)
    check_end(program)


def _sweep(program):
    """Remove what a kill in the middle of a write left; it is known by its name and is nothing else."""
    left = temporaries(program.workspace)
    assert len(left) <= 1, left
    with Root(program.workspace) as root:
        root.sweep(sorted({str(path.parent.relative_to(program.workspace)) for path in left}), 0)


def test_no_h_alive_at_t3_s_starts_one_that_executes_and_calls_no_model(program):
    running = program.run("call.proposed:kill:3")
    while running.poll() is None:
        program.journal.wait(program.journal.last_position(), 0.05)
    assert running.wait() == -9, program.said()
    assert len(program.waiting()) == 3
    program.answer_all()
    program.settled()
    under_way = ("pending", "approved", "executing")
    until(lambda: not program.journal.calls(program.session_id, states=under_way), program.said)
    assert {row.state for row in program.calls().values()} == {"succeeded"}, program.said()
    assert (program.workspace / "d/n.txt").read_text() == "new\n"
    program.stop_host()
    assert len(program.bodies(events.ReplyCompleted)) == 1
    assert (program.session().status, program.session().reason) == ("paused", "host lost")
    check_no_process(row.id for row in program.calls().values())
    assert program.attend(program.start("run", "--session", program.session_id)) == 0, program.said()
    program.stop()
    check_end(program)


def test_a_host_killed_at_its_start_is_not_waited_for_and_the_answer_stays(program, monkeypatch):
    running = program.run("call.proposed:kill:3")
    assert running.wait(PATIENCE) == -9, program.said()
    first = program.waiting()[0]
    answering = program.start("approvals", "approve", first.id, faults="host.started:kill")
    assert answering.wait(PATIENCE) == 0, program.said()
    assert program.journal.action(first.id).state == "approved"
    assert program.session().status == "processing"
    monkeypatch.setattr(host_start, "START_TIMEOUT_SECONDS", 2 * PATIENCE)
    begun, env = time.monotonic(), {**os.environ, FAULTS_VARIABLE: "host.started:kill"}
    # It may be met in the moment between its row and its death, or after that.
    host_start.ensure_host(program.home, program.journal, str(program.workspace), env)
    assert time.monotonic() - begun < PATIENCE, "it is dead, and so its time need not pass"
    assert program.attend(program.start("run", "--session", program.session_id)) == 0, program.said()
    program.settled()
    program.stop()
    check_end(program)
