"""Agents that execute their own calls, and the background process, killed for good at any moment.

WORKBENCH_SUPERVISED_KILLS says how many runs there are.
"""

import random

import pytest

from tests.support.sizes import size
from tests.support.stage import recording
from tests.support.supervised_place import SupervisedPlace, check_supervised
from tests.support.waits import until
from workbench.domain.events import CallFinished
from workbench.host.found_files import FILES_FOUND

pytestmark = pytest.mark.faults

RUNS = size("WORKBENCH_SUPERVISED_KILLS", 4, 60)
HOST_POINTS = ("supervised.asked", "supervised.before_executing", "supervised.executing", "supervised.answered",
               "supervised.observed", "journal.before_commit", "journal.after_commit")  # fmt: skip
AGENT_POINTS = ("asked", "answered", "logged", "ran", "told")
HALF = """*** Begin Patch
*** Update File: a.txt
@@
-two
+TWO
*** Update File: b.txt
@@
-b
+B
*** End Patch"""


@pytest.fixture
def placed(staged):
    made = []

    def make(plan, way, **files):
        stage = staged(recording(), files=files or {"a.txt": "one\ntwo\n", "b.txt": "b\n"})
        made.append(SupervisedPlace(stage, plan, way))
        return made[-1]

    yield make
    for place in made:
        place.close()


def write(nonce, path, text, key):
    return {"nonce": nonce, "tool": "Write", "input": {"file_path": path, "content": text}, "call": key}


def drawn_plan(chance):
    """Return groups of calls: one file again and again, others at once, each with the same id or with none."""
    plan = []
    for number in range(3):
        key = chance.choice(["", "call_0", f"call_{number}"])
        group = [write(f"n{number}", "a.txt", f"one\ntwo {number}\n", key)]
        if chance.random() < 0.5:
            group.append(write(f"m{number}", f"new{number}.txt", f"{number}\n", key))
        plan.append(group)
    return plan


def drawn_deaths(chance):
    host, agent = "", ""
    if chance.random() < 0.7:
        point = chance.choice(HOST_POINTS)
        host = f"{point}:kill:{chance.randint(1, 25 if point.startswith('journal') else 3)}"
    if not host or chance.random() < 0.5:
        agent = f"{chance.choice(AGENT_POINTS)}:{chance.randint(1, 3)}"
    return host, agent


@pytest.mark.parametrize("number", range(RUNS), ids=[f"{n + 1} of {RUNS}" for n in range(RUNS)])
def test_a_killed_agent_or_host_runs_no_approval_twice_and_nothing_without(placed, number):
    chance = random.Random(f"supervised {number}")
    plan = drawn_plan(chance)
    place = placed(plan, chance.choice(["hook", "connection"]))
    host, agent = drawn_deaths(chance)
    place.start_host(host)
    place.start_agent(agent)

    def answer(action):
        if FILES_FOUND not in action.subject and chance.random() < 0.2:
            place.stage.reject(action, "not now")
        else:
            place.stage.approve(action)

    place.attend(answer)
    check_supervised(place)
    executed = {}
    for line in place.ran():
        executed.setdefault(line["ran"]["file_path"], set()).add(line["ran"]["content"])
    for path in place.stage.workspace.iterdir():
        base = {"a.txt": "one\ntwo\n", "b.txt": "b\n"}.get(path.name, "")
        # Nothing of ours wrote a file: each has its first bytes, or some that the agent wrote.
        assert path.read_text() in {base, *executed.get(path.name, ())}, path


@pytest.mark.parametrize("is_kept", [True, False], ids=["kept", "put back"])
def test_a_patch_that_a_dead_agent_wrote_in_part_is_left_alone_and_is_a_row(placed, is_kept):
    call = {"nonce": "n1", "tool": "apply_patch", "input": {"patch": HALF}, "call": "call_0"}
    place = placed([[call]], "connection")
    place.start_host()
    place.start_agent("half:1")
    stage = place.stage
    (asked,) = until(place.waiting, place.words)
    assert stage.approve(asked).ok
    (found,) = until(lambda: [row for row in place.waiting() if FILES_FOUND in row.subject], place.words)
    place.settle()
    assert (stage.read("a.txt"), stage.read("b.txt")) == (b"one\nTWO\n", b"b\n")
    if is_kept:
        stage.approve(found)
        assert (stage.read("a.txt"), stage.read("b.txt")) == (b"one\nTWO\n", b"b\n")
        return
    stage.reject(found)
    until(lambda: stage.read("a.txt") == b"one\ntwo\n", place.words)
    assert stage.read("b.txt") == b"b\n"


FIVE = "*** Begin Patch\n{}*** End Patch".format(
    "".join(f"*** Update File: f{n}.txt\n@@\n-old {n}\n+new {n}\n" for n in range(5))
)


def test_five_files_cut_to_two_hunks_a_refusal_an_expiry_a_death_and_the_same_session_again(placed):
    """One session of one agent: every byte on the disk was approved, and nothing of ours wrote it."""
    calls = [
        {"nonce": "patch", "tool": "apply_patch", "input": {"patch": FIVE}, "call": "call_0"},
        write("refused", "no.txt", "no\n", "call_0"),
        {**write("expired", "late.txt", "late\n", "call_0"), "waits": 0.5},
        write("killed", "f4.txt", "the last words\n", "call_0"),
        write("resumed", "end.txt", "end\n", "call_0"),
    ]
    place = placed([[call] for call in calls], "hook", **{f"f{n}.txt": f"old {n}\n" for n in range(5)})
    stage = place.stage
    place.start_host()
    place.start_agent("ran:2")

    def answer(action):
        if action.tool == "apply_patch":
            stage.approve(action, hunks=[2, 4])
        elif action.target == "no.txt":
            stage.reject(action, "use the other folder")
        elif action.target != "late.txt":
            stage.approve(action)

    place.attend(answer)
    check_supervised(place, rewritten=("apply_patch",))
    by_nonce = {line["nonce"].partition("#")[0]: line for line in place.lines()}
    assert "use the other folder" in by_nonce["refused"]["denied"]
    assert "did not answer in time" in by_nonce["expired"]["denied"]
    files = {path.name: path.read_text() for path in stage.workspace.iterdir()}
    assert files == {
        "f0.txt": "old 0\n", "f1.txt": "new 1\n", "f2.txt": "old 2\n", "f3.txt": "new 3\n",
        "f4.txt": "the last words\n", "end.txt": "end\n",
    }  # fmt: skip
    finished = [(body.state, body.detail, body.metadata.get("grade")) for body in stage.bodies(CallFinished)]
    assert finished == [
        ("succeeded", "partial", "bound"), ("succeeded", "", "bound"), ("succeeded", "", "bound"),
    ]  # fmt: skip
