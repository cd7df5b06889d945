"""A driver of a list killed at every step: after a human lets it go on no incident is lost and none is done twice."""

import os
from collections import Counter

import pytest

from tests.support.fork_server import run_forked
from tests.support.incident_lists import (
    FAULTS,
    FIX_NONE,
    FIX_OS,
    FIX_SYS,
    USER,
    Lists,
    asked,
    choose,
    edit,
    told,
)
from tests.support.sizes import rarely
from workbench.domain.events import (
    FileChanged,
    IncidentEnded,
    IncidentStarted,
    PromptSubmitted,
    UndoRequested,
)
from workbench.host.incident_requests import continue_incidents

pytestmark = pytest.mark.faults

POINTS = [
    ("incidents.begun", 1), ("incident.before_started", 2), ("incident.started", 1), ("incident.before_check", 1),
    ("incident.checked", 2), ("incident.before_ended", 1), ("incident.ended", 3), ("turn.model_called", 1),
    ("call.before_executing", 1), ("turn.before_end", 2),
]  # fmt: skip
MORE = [
    ("incidents.begun", 2), ("incident.before_started", 1), ("incident.started", 3), ("incident.before_check", 3),
    ("incident.checked", 1), ("incident.before_ended", 3), ("incident.ended", 1), ("incident.ended", 2), ("lease.taken", 1),
    ("lease.taken", 3), ("call.before_gate", 2), ("call.proposed", 1), *[("journal.after_commit", n) for n in range(1, 40, 3)],
    *[("journal.before_commit", n) for n in range(2, 40, 3)],
]  # fmt: skip
AGAIN = (asked("The checker still finds", edit("os2", "import os\n", "")), told("os2"))
"""For a change that was cut off: it is not made again by itself, but the checker finds out."""


@pytest.fixture
def here(tmp_path):
    found = Lists(tmp_path, *FIX_OS, *AGAIN, *FIX_SYS, *FIX_NONE)
    yield found
    found.close()


def driven(here, list_id, faults=""):
    environment = {**os.environ, "WORKBENCH_FAULTS": faults}
    return run_forked(
        "tests.support.drive_a_list", str(here.home.path), str(here.root), list_id, env=environment
    )


@pytest.mark.spec(123, 131)
@pytest.mark.parametrize(("point", "nth"), [*POINTS, *(rarely(*row) for row in MORE)])
def test_killed_at_any_point_no_incident_is_lost_or_done_twice(here, point, nth):
    list_id = here.ask(here.make())
    killed = driven(here, list_id, f"{point}:kill:{nth}")
    assert killed.returncode in (-9, 0), killed.stderr
    assert killed.returncode == -9 or point.startswith("journal") or nth > 1
    for _ in range(3):  # what was under way in the agent's own session may ask for one more word
        if here.status(list_id)[0] == "completed":
            break
        continue_incidents(here.journal, list_id, USER)
        again = driven(here, list_id)
        assert again.returncode == 0, again.stderr
    assert here.status(list_id) == ("completed", None), here.outcomes(list_id)
    assert set(here.outcomes(list_id).values()) == {"fixed"}
    assert here.read() == "\n\ndef f(x):\n    return x is None\n"
    assert max(Counter(body.incident for body in here.bodies(list_id, IncidentEnded)).values()) == 1
    started = Counter(body.incident for body in here.bodies(list_id, IncidentStarted))
    prompts = Counter(
        body.incident for child in here.children(list_id) for body in here.bodies(child.id, PromptSubmitted)
    )
    cut_off = [
        c for child in here.children(list_id) for c in here.journal.calls(child.id, states=("interrupted",))
    ]
    assert started == prompts and sum(started.values()) == 3 + len(cut_off)
    changes = [body for child in here.children(list_id) for body in here.bodies(child.id, FileChanged)]
    assert len(changes) == 3
    assert here.result(list_id).files_modified == ("a.py",)


def test_a_change_that_was_cut_off_is_asked_for_again_after_the_check(here):
    list_id = here.ask(here.make())
    assert driven(here, list_id, "call.executing:kill:1").returncode == -9
    continue_incidents(here.journal, list_id, USER)
    assert driven(here, list_id).returncode == 0
    assert set(here.outcomes(list_id).values()) == {"fixed"}
    assert [row.prompts for row in here.result(list_id).incidents] == [2, 1, 1]
    assert here.result(list_id).errors[0].error_type == "ToolExecution"


def test_without_a_word_of_a_human_a_lost_list_stays_lost(here):
    list_id = here.ask(here.make())
    assert driven(here, list_id, "incident.before_check:kill:1").returncode == -9
    before = here.read()
    assert driven(here, list_id).returncode == 0
    assert (here.read(), here.status(list_id)) == (before, ("paused", "host lost"))


STAYS = (asked("Please", edit("c1", "import os\n", "import os\n# x\n")), told("c1"))


@pytest.fixture
def stays(tmp_path):
    found = Lists(tmp_path, *STAYS)
    yield found
    found.close()


def test_killed_once_the_question_is_asked_it_is_asked_once(stays):
    list_id = stays.ask(stays.make(), stays.findings().incidents[0].id, max_turns=1)
    assert driven(stays, list_id, "incident.asked:kill:1").returncode == -9
    continue_incidents(stays.journal, list_id, USER)
    assert driven(stays, list_id).returncode == 0
    assert [action.kind for action in stays.waiting(list_id)] == ["finding"]
    choose("keep")(stays, list_id)
    assert driven(stays, list_id).returncode == 0
    (row,) = stays.result(list_id).incidents
    assert (row.outcome, row.prompts, row.files) == ("unchanged", 1, ("a.py",))


def test_killed_once_the_undo_is_asked_for_it_is_asked_for_once(stays):
    list_id = stays.ask(stays.make(), stays.findings().incidents[0].id, max_turns=1)
    stays.drive(list_id)
    choose("undo")(stays, list_id)
    assert driven(stays, list_id, "incident.undo_requested:kill:1").returncode == -9
    continue_incidents(stays.journal, list_id, USER)
    assert driven(stays, list_id).returncode == 0
    (child,) = stays.children(list_id)
    assert len(stays.bodies(child.id, UndoRequested)) == 1
    (row,) = stays.result(list_id).incidents
    assert (row.outcome, row.files, stays.read()) == ("unchanged", (), FAULTS)
