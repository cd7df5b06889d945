"""The limit across runs: never more steps at once, a fair queue that is seen, and places of the dead."""

import asyncio
import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from tests.support.waits import PATIENCE
from tests.unit.pipelines.projects import write
from workbench.config.types import PipelineSettings
from workbench.effects import fault_points
from workbench.host import host_locks
from workbench.host.driver_context import open_driver_context
from workbench.host.host_locks import workspace_hash
from workbench.host.session_provider import provider_of
from workbench.host.steps.pipeline_tool import SessionPipelineStarter
from workbench.host.steps.run_driver import RunDriverOptions, drive_run
from workbench.journal import place_queue
from workbench.journal.home import Home
from workbench.journal.leases import DriverIdentity, DriverLock


@pytest.fixture
def home(tmp_path):
    return Home.open(tmp_path / "home")


def places(home, workspace="/w", of_workspace=2, of_home=3, lent=0):
    settings = PipelineSettings(max_workspace_steps=of_workspace, max_home_steps=of_home)
    return OtherDriver(place_queue.PlaceQueues(home), workspace, settings, lent)


class OtherDriver(host_locks.SharedPlaces):
    """The places of a driver of its own, which nothing wakes."""

    def take(self, run_id, wake=lambda: None):
        return super().take(run_id, wake)


def test_never_more_than_the_limit_of_a_workspace_and_of_the_home(home):
    here, there = places(home), places(home, "/other")
    first, second = here.take("a"), here.take("b")
    assert first and second and here.take("c") is None  # the workspace has two
    assert here.before("c") == 0
    other = there.take("d")
    assert other and there.take("e") is None  # the home has three
    assert place_queue.places_taken(home) == 3
    assert (
        place_queue.places_taken(home, workspace_hash("/w")),
        place_queue.places_taken(home, workspace_hash("/other")),
    ) == (2, 2)
    waits = place_queue.waiting_runs(home)
    assert {run: (wait.before, wait.is_home) for run, wait in waits.items()} == {
        "c": (0, False),
        "e": (0, True),
    }
    first.release()
    assert there.take("e") is not None and here.take("c") is None  # e was first at the home's queue
    assert place_queue.waiting_runs(home)["c"].is_home
    other.release()
    assert here.take("c") is not None
    assert place_queue.waiting_runs(home) == {}


def test_the_queue_is_fair_and_nobody_passes_it(home):
    runs = {name: places(home, of_workspace=1) for name in "abcd"}
    held = runs["a"].take("a")
    assert [runs[name].take(name) for name in "bcd"] == [None] * 3
    assert [runs[name].before(name) for name in "bcd"] == [0, 1, 2]
    order = []
    for _ in range(3):
        held.release()
        held = None
        for name in "dcb":  # who asks first does not count
            if name not in order and (place := runs[name].take(name)) is not None:
                order.append(name)
                held = place
        assert held is not None
    assert order == ["b", "c", "d"]


def test_the_first_of_a_driver_is_woken_and_each_wakes_the_next(home):
    queues, woken = place_queue.PlaceQueues(home), []
    settings = PipelineSettings(max_workspace_steps=1, max_home_steps=9)
    runs = {name: host_locks.SharedPlaces(queues, "/w", settings) for name in "abcd"}
    held = runs["a"].take("a", lambda: woken.append("a"))
    assert not any(runs[name].take(name, lambda name=name: woken.append(name)) for name in "bcd")
    assert [runs[name].is_next(name) for name in "bcd"] == [True, False, False]
    runs["c"].withdraw("c")
    held.release()
    assert set(woken) == {"b"}
    assert runs["d"].take("d", lambda: None) is None  # it is not next
    woken.clear()
    held = runs["b"].take("b", lambda: None)
    assert held and woken == ["d"]
    held.release()
    assert runs["d"].take("d", lambda: None)


@examples(max_examples=15)
@given(order=st.permutations(range(5)), released=st.sets(st.integers(0, 5)), lower=st.integers(1, 6))
def test_whoever_looks_first_leaves_a_place_to_each_before_it(tmp_path_factory, order, released, lower):
    folder = tmp_path_factory.mktemp("places")
    drivers = [place_queue.PlaceQueue(folder) for _ in order]
    limits = [lower if number % 2 else 6 for number in range(5)]
    held = [place_queue.PlaceQueue(folder).take(f"held-{number}", 6, print) for number in range(6)]
    assert not any(driver.take(f"r{number}", limits[number], print) for number, driver in enumerate(drivers))
    free = set(released)
    for number in released:
        held[number].release()
    waiting = set(order)
    for number in order:
        mine = {place for place in free if place < limits[number]}
        before = sum(other < number for other in waiting)
        place = drivers[number].take(f"r{number}", limits[number], print)
        assert (place is not None) == (len(mine) > before)
        if place is not None:
            free.remove(int(place.lock.path.name.removeprefix("place-")))
            waiting.remove(number)
            assert len({other for other in free if other in mine}) >= before  # the lowest ones
            assert all(other < int(place.lock.path.name[6:]) for other in mine & free) or not before


def test_who_withdraws_keeps_nobody_waiting(home):
    one, two, three = (places(home, of_workspace=1) for _ in range(3))
    held = one.take("a")
    assert two.take("b") is three.take("c") is None
    two.withdraw("b")
    assert three.before("c") == 0
    held.release()
    assert three.take("c") is not None


def test_a_withdrawn_run_gives_its_workspaces_place_back(home):
    one, two = places(home, of_home=1), places(home)
    held = one.take("a")
    assert one.take("b") is None and place_queue.places_taken(home, workspace_hash("/w")) == 2
    one.withdraw("b")
    assert place_queue.places_taken(home, workspace_hash("/w")) == 1
    held.release()
    assert two.take("c") is not None


DIES = """
import os, sys
from pathlib import Path
from workbench.config.types import PipelineSettings
from workbench.host import host_locks
from workbench.host.host_locks import workspace_hash
from workbench.journal import place_queue
from workbench.journal.home import Home
settings = PipelineSettings(max_workspace_steps=1, max_home_steps=1)
home = Home.open(Path(sys.argv[1]))
places = host_locks.SharedPlaces(place_queue.PlaceQueues(home), "/w", settings)
assert places.take("dead", print) is not None
assert places.take("waits", print) is None
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.campaign
def test_a_killed_driver_leaves_neither_a_place_nor_a_ticket(home):
    child = subprocess.Popen(
        [sys.executable, "-c", DIES, str(home.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "ready\n"
    mine = places(home, of_workspace=1, of_home=1)
    assert mine.take("m") is None and mine.before("m") == 1
    child.kill()
    child.communicate()
    assert mine.before("m") == 0
    assert mine.take("m") is not None
    folder = home.run / place_queue.PLACES_FOLDER
    assert [path for path in folder.rglob("ticket-*")] == []


def test_a_run_that_an_agents_step_started_has_its_place(home):
    full = places(home, of_workspace=1)
    held = full.take("agent")
    below = places(home, of_workspace=1, lent=1)
    place = below.take("below")
    assert place is not None and below.take("below") is None
    below.withdraw("below")
    place.release()
    assert below.take("below") is not None
    held.release()


# --- runs ------------------------------------------------------------------------------------------------

COUNTED = """
import fcntl, os, sys, time
# Notes how many of us work at once: one byte each, and the most that ever stood there.
with open("count", "a+") as file:
    def change(by):
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        now, most = map(int, (file.read() or "0 0").split())
        now += by
        file.truncate(0)
        file.write(f"{now} {max(most, now)}")
        file.flush()
        fcntl.flock(file, fcntl.LOCK_UN)
    change(1)
    time.sleep(0.02)
    change(-1)
"""
STEPS = "".join(
    f"  - {{id: s{n}, workspace: {{root: ./}}, exec: {{type: command, source: '{{python}} count.py'}}}}\n"
    for n in range(4)
).replace("{python}", sys.executable)


def drive_together(here, count, settings, seconds=PATIENCE):
    """Drive runs of one pipeline at once in one driver; return their rows."""
    write(here.root, {"count.py": COUNTED, ".workbench.json": json.dumps({"pipelines": settings})})
    name = here.pipeline(STEPS)
    runs = [here.request(name) for _ in range(count)]
    context = open_driver_context(
        here.home, here.journal, str(here.root), provider=provider_of, pipelines=SessionPipelineStarter
    )
    driver = DriverIdentity(host_id="many", pid=os.getpid(), driver="run")

    async def go():
        async with asyncio.timeout(seconds):
            options = RunDriverOptions(context=context, driver=driver)
            return await asyncio.gather(*(drive_run(options, run) for run in runs))

    try:
        with DriverLock(here.journal, driver):
            return asyncio.run(go())
    finally:
        context.root.close()


def test_many_runs_at_once_never_run_more_steps_than_the_workspace_may(runs):
    here = runs()
    rows = drive_together(here, 5, {"max_workspace_steps": 2})
    assert {row.status for row in rows} == {"completed"}
    now, most = map(int, here.read("count").split())
    assert (now, most) == (0, 2)
    assert place_queue.places_taken(here.home) == 0
    assert place_queue.waiting_runs(here.home) == {}


def test_a_run_that_waits_for_a_place_says_so_and_goes_on_when_there_is_one(runs):
    here = runs()
    write(here.root, {".workbench.json": json.dumps({"pipelines": {"max_workspace_steps": 1}})})
    run = here.request(here.pipeline("  - {id: a, exec: {type: command, source: 'true'}}\n"))
    other = places(here.home, str(here.root), of_workspace=1, of_home=9)
    held, looked = other.take("other"), []

    def until(coordinator):
        wait = place_queue.wait_of_run(here.home, run)
        if wait is not None:
            looked.append((wait.text, here.states(run)))
        said = [body.message for _, body in here.bodies(run, "progress.reported")]
        if said and not looked[-1][0].endswith("released"):
            assert said == ["waits for a place: it is next"]
            held.release()
            looked.append(("released", {}))
        return False

    row = here.drive(run, until=until)
    assert row.status == "completed"
    assert looked[0] == ("waits for a place: it is next", {"a": "pending"})
    assert looked[-1][0] == "released"
    assert place_queue.wait_of_run(here.home, run) is None


def test_a_run_that_is_cancelled_while_it_waits_leaves_the_queue(runs):
    from tests.support.runs import USER
    from workbench.host.steps.run_requests import cancel_run

    here = runs()
    write(here.root, {".workbench.json": json.dumps({"pipelines": {"max_workspace_steps": 1}})})
    run = here.request(here.pipeline("  - {id: a, exec: {type: command, source: 'true'}}\n"))
    other = places(here.home, str(here.root), of_workspace=1, of_home=9)
    held = other.take("other")

    def until(coordinator):
        if not coordinator.state.is_cancelled and place_queue.wait_of_run(here.home, run):
            cancel_run(here.journal, run, USER)
        return False

    assert here.drive(run, until=until).status == "cancelled"
    assert place_queue.waiting_runs(here.home) == {}
    held.release()


@pytest.mark.parametrize("point", ["place.waits", "place.taken"])
def test_a_driver_that_dies_at_a_place_leaves_a_run_that_goes_on(runs, point):
    here = runs()
    write(here.root, {".workbench.json": json.dumps({"pipelines": {"max_workspace_steps": 1}})})
    run = here.request(here.pipeline("  - {id: a, exec: {type: command, source: 'true'}}\n"))
    other = places(here.home, str(here.root), of_workspace=1, of_home=9)
    held = other.take("other")
    if point == "place.taken":
        held.release()
    with fault_points.arm_fault(point, SystemError("died")), pytest.raises(SystemError):
        here.drive(run)
    if point == "place.waits":
        held.release()
    assert place_queue.places_taken(here.home) == 0
    assert here.resume(run).status == "completed"
