"""Leases: one driver at a time, fencing by epoch, and what waits for a driver."""

import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.unit.journal.scenes import ALLOW, HOST, USER, SettableClock, ask, assert_sound, start, status
from workbench.domain.codec import MalformedEventError
from workbench.domain.events import CallProposed, PromptSubmitted, SessionCreated, TurnEnded, TurnStarted
from workbench.domain.rows import Lease
from workbench.domain.values import Decision, Usage
from workbench.effects.fault_points import arm_fault
from workbench.journal.decisions import decide_action
from workbench.journal.errors import GuardFailed, LeaseLost, SessionDriven, SessionEnded
from workbench.journal.journal import Journal
from workbench.journal.leases import (
    DriverIdentity,
    DriverLock,
    is_lease_live,
    lease_guard,
    release_lease,
    take_lease,
    unfinished_sessions,
)

ONE = DriverIdentity(host_id="h1", pid=101, workspace="/w", version="0", variables=("OPENAI_API_KEY",))
TWO = DriverIdentity(host_id="h2", pid=102, driver="run", workspace="/w")


def prompt(journal: Journal, session_id: str = "s") -> None:
    journal.append([journal.event(PromptSubmitted(text="go"), session_id, USER)])


def waiting(journal: Journal) -> list[str]:
    return [session.id for session in unfinished_sessions(journal, "/w")]


@pytest.mark.spec(215)
def test_taking_writes_the_row_and_the_event_in_one(journal: Journal, clock: SettableClock) -> None:
    start(journal)
    with DriverLock(journal, ONE):
        lease = take_lease(journal, "s", ONE)
        assert lease == Lease(
            session_id="s", host_id="h1", epoch=1, pid=101, driver="host", taken_at=clock.now()
        )
        assert journal.events()[-1].kind == "lease.taken"
        assert is_lease_live(journal.home, lease)
        assert take_lease(journal, "s", ONE) == lease
    assert_sound(journal)


@pytest.mark.spec(215)
def test_a_second_driver_is_told_who_holds_the_session(journal: Journal) -> None:
    start(journal)
    with DriverLock(journal, ONE), DriverLock(journal, TWO):
        take_lease(journal, "s", ONE)
        with pytest.raises(SessionDriven) as caught:
            take_lease(journal, "s", TWO)
    assert (caught.value.pid, caught.value.driver, caught.value.host_id) == (101, "host", "h1")
    lease = journal.lease("s")
    assert lease is not None
    assert lease.host_id == "h1"


@pytest.mark.spec(215)
def test_a_driver_whose_session_another_took_at_once_is_told(journal: Journal) -> None:
    start(journal)
    with (
        arm_fault("lease.taken", lambda: take_lease(journal, "s", TWO)),
        pytest.raises(LeaseLost, match="another driver took it at once"),
    ):
        take_lease(journal, "s", ONE)
    lease = journal.lease("s")
    assert lease is not None
    assert (lease.host_id, lease.epoch) == ("h2", 2)


@pytest.mark.spec(215)
def test_a_dead_drivers_session_is_taken_over_and_the_old_one_is_fenced(journal: Journal) -> None:
    start(journal)
    first = DriverLock(journal, ONE)
    old = take_lease(journal, "s", ONE)
    first._lock.release()
    with DriverLock(journal, TWO):
        new = take_lease(journal, "s", TWO)
        assert (new.host_id, new.epoch) == ("h2", 2)
        body = TurnStarted(provider="p", model="m")
        before = journal.last_position()
        with pytest.raises(LeaseLost, match="pid 102, epoch 2"):
            journal.append([journal.event(body, "s", HOST, turn_id="t")], guard=lease_guard(old))
        assert journal.last_position() == before
        assert journal.append([journal.event(body, "s", HOST, turn_id="t")], guard=lease_guard(new))
        release_lease(journal, old)
        assert is_lease_live(journal.home, journal.lease("s"))
    assert_sound(journal)


@pytest.mark.spec(215)
def test_a_released_lease_no_longer_guards(journal: Journal) -> None:
    start(journal)
    with DriverLock(journal, ONE):
        lease = take_lease(journal, "s", ONE)
        release_lease(journal, lease)
        release_lease(journal, lease)
        found = journal.lease("s")
        assert found == replace(lease, released=True)
        assert not is_lease_live(journal.home, found)
        with pytest.raises(LeaseLost, match="nobody"):
            journal.append([journal.event(TurnEnded(outcome="done"), "s", HOST)], guard=lease_guard(lease))
        assert take_lease(journal, "s", ONE).epoch == 2
    assert [event.kind for event in journal.events("s")].count("lease.released") == 1


def test_what_a_driver_appends_is_validated(journal: Journal) -> None:
    start(journal)
    with DriverLock(journal, ONE):
        lease = take_lease(journal, "s", ONE)
        bad = TurnStarted(provider="p", model="m", round=0)
        with pytest.raises(MalformedEventError, match="round"):
            journal.append([journal.event(bad, "s", HOST)], guard=lease_guard(lease))
        negative = replace(Usage(), input_tokens=-1)
        from workbench.domain.events import ReplyCompleted

        with pytest.raises(MalformedEventError, match="input_tokens"):
            journal.append(
                [journal.event(ReplyCompleted(usage=negative), "s", HOST)], guard=lease_guard(lease)
            )


def test_a_session_that_ended_is_not_taken_but_given_back(journal: Journal) -> None:
    start(journal)
    with DriverLock(journal, ONE):
        lease = take_lease(journal, "s", ONE)
        journal.append([journal.event(status("completed"), "s", HOST)], guard=lease_guard(lease))
        release_lease(journal, lease)
        with pytest.raises(SessionEnded):
            take_lease(journal, "s", ONE)


def test_a_driver_leaves_a_row_that_says_what_it_was(journal: Journal, clock: SettableClock) -> None:
    begun = clock.now()
    with DriverLock(journal, ONE) as lock:
        with pytest.raises(GuardFailed, match="h1"):
            DriverLock(journal, ONE)
        clock.advance(60)
        path = journal.home.driver_lock("h1")
        assert path.exists()
        lock.close()
        lock.close()
    assert not path.exists()
    (row,) = journal.hosts()
    assert (row.id, row.pid, row.variables, row.driver) == ("h1", 101, ("OPENAI_API_KEY",), "host")
    assert (row.started_at, row.ended_at) == (begun, begun + 60_000_000)


KILLED = """
import os, sys
from pathlib import Path
from tests.unit.journal.scenes import open_journal
from workbench.journal.leases import DriverIdentity, DriverLock, take_lease
journal = open_journal(Path(sys.argv[1]))
driver = DriverIdentity(host_id="h9", pid=os.getpid())
lock = DriverLock(journal, driver)
take_lease(journal, "s", driver)
print("taken", flush=True)
sys.stdin.read()
"""


@pytest.mark.spec(215)
def test_the_kernel_frees_the_lease_of_a_killed_process(journal: Journal) -> None:
    start(journal)
    home = str(journal.home.path)
    root = Path(__file__).parents[3]
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, home], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"taken\n"
        with DriverLock(journal, ONE):
            with pytest.raises(SessionDriven, match=f"pid {child.pid}"):
                take_lease(journal, "s", ONE)
            child.kill()
            child.wait()
            assert take_lease(journal, "s", ONE).epoch == 2


# --- what waits for a driver ---------------------------------------------------------------------


def test_a_session_waits_for_a_driver_from_its_prompt_until_it_is_given_back(journal: Journal) -> None:
    start(journal, to="created")
    start(journal, "elsewhere", workspace="/x", to="created")
    assert waiting(journal) == []
    prompt(journal)
    prompt(journal, "elsewhere")
    assert waiting(journal) == ["s"]
    with DriverLock(journal, ONE):
        lease = take_lease(journal, "s", ONE)
        assert waiting(journal) == []
        release_lease(journal, lease)
    assert waiting(journal) == []
    prompt(journal)
    assert waiting(journal) == ["s"]


def test_a_decision_wakes_a_parked_session(journal: Journal) -> None:
    start(journal)
    with DriverLock(journal, ONE):
        lease = take_lease(journal, "s", ONE)
        ask(journal, "s", "c", "a")
        release_lease(journal, lease)
    assert waiting(journal) == []
    decide_action(journal, Decision(action_id="a", verdict="reject"), "d", USER)
    assert waiting(journal) == ["s"]


def test_a_session_whose_driver_died_waits(journal: Journal) -> None:
    start(journal)
    prompt(journal)
    lock = DriverLock(journal, ONE)
    take_lease(journal, "s", ONE)
    assert waiting(journal) == []
    lock._lock.release()
    assert waiting(journal) == ["s"]


def test_an_open_call_waits_and_an_ended_session_never_does(journal: Journal) -> None:
    start(journal)
    with DriverLock(journal, ONE):
        lease = take_lease(journal, "s", ONE)
        journal.append([journal.event(CallProposed(tool="t", verdict=ALLOW), "s", HOST, call_id="c")])
        release_lease(journal, lease)
    assert waiting(journal) == ["s"]
    prompt(journal)
    journal.append([journal.event(status("terminated"), "s", USER)])
    assert waiting(journal) == []


def test_an_imported_prompt_asks_for_nothing(journal: Journal) -> None:
    events = [
        journal.event(body, "i", USER) for body in (SessionCreated(workspace="/w"), PromptSubmitted(text="x"))
    ]
    journal.append(events, strict=False)
    assert waiting(journal) == []
