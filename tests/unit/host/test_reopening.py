"""An approved change taken up again: its rest, or all of it after an undo, as a call of its own."""

import json
from pathlib import Path

import pytest

import workbench
from tests.support.stage import USER, call, exchange, recording, text
from tests.unit.host.test_time_and_loss import dying, reopened, requests_of
from workbench.domain.events import ActionOpened, CallProposed, RefreshRequested, ReplyCompleted, TurnStarted
from workbench.domain.values import REOPENS
from workbench.effects.clock import ManualClock
from workbench.host.fork import default_fork_plan, fork_session
from workbench.host.reopening import request_reopening
from workbench.host.session_requests import (
    SessionRefused,
    end_session,
    interrupt_session,
    request_refresh,
    request_undo,
)
from workbench.host.undo import plan_undo, request_undo_of_files
from workbench.journal.decisions import expire_due_actions

LINES = [f"line {number}\n" for number in range(90)]
OLD = "".join(LINES)
NEW = "".join([*LINES[:2], "TWO\n", *LINES[3:40], "FORTY\n", *LINES[41:80], "EIGHTY\n", *LINES[81:]])
PART = OLD.replace("line 40\n", "FORTY\n")
SCRIPT = recording(
    exchange(text("I change it."), call("c1", "replace_string_in_file", path="a.txt", old_string=OLD, new_string=NEW)),
    exchange(text("Done.")),
    exchange(text("I see.")),
)  # fmt: skip


@pytest.fixture
def stage(staged):
    return partly_taken(staged)


def partly_taken(staged, **more):
    """Return a stage with an edit of three hunks of which the second was taken; its turn is over."""
    made = staged(SCRIPT, files={"a.txt": OLD}, **more)
    made.trust().begin().drive()
    (made.first,) = made.waiting()
    assert made.approve(made.first, hunks=[2], reason="one is enough").ok
    made.drive()
    assert made.read("a.txt").decode() == PART
    return made


def reopen(stage, action=None):
    """Ask for it and drive; return the row that waits."""
    request_reopening(stage.journal, (action or stage.first).id, USER)
    stage.drive()
    (row,) = stage.waiting()
    return row


def undo(stage, action=None):
    request_undo(stage.journal, (action or stage.first).id, USER)
    stage.drive()


def refused_reasons(stage):
    return [one.verdict.reason for one in stage.bodies(CallProposed) if one.verdict.outcome == "refused"]


def test_the_rest_is_a_call_of_its_own_and_asks_no_model(stage):
    calls_before, turns = len(stage.calls()), len(stage.bodies(TurnStarted))
    row = reopen(stage)
    opened = stage.opened(row)
    assert [[line for line in hunk.lines if line[0] in "-+"] for hunk in opened.hunks] == [
        [("-", "line 2"), ("+", "TWO")],
        [("-", "line 80"), ("+", "EIGHTY")],
    ]
    assert row.digest != stage.first.digest
    assert (row.id != stage.first.id, row.call_id != stage.first.call_id) == (True, True)
    assert row.expires_at > stage.journal.now()
    assert (row.added, row.removed, row.verb, row.target) == (2, 2, "edit", "a.txt")
    assert stage.read("a.txt").decode() == PART
    assert stage.approve(row).ok
    stage.drive()
    assert stage.read("a.txt").decode() == NEW
    assert len(stage.calls()) == calls_before + 1
    assert stage.journal.call(row.call_id).state == "succeeded"
    assert len(stage.bodies(TurnStarted)) == turns
    assert stage.session().status == "ready"


def test_the_rest_can_be_taken_in_parts_and_each_part_undone(stage):
    second = reopen(stage)
    assert stage.approve(second, hunks=[1]).ok
    stage.drive()
    assert stage.read("a.txt").decode() == PART.replace("line 2\n", "TWO\n")
    third = reopen(stage, second)
    assert stage.approve(third).ok
    stage.drive()
    assert stage.read("a.txt").decode() == NEW
    for action, left in ((third, NEW.replace("EIGHTY", "line 80")), (second, PART), (stage.first, OLD)):
        undo(stage, action)
        assert stage.read("a.txt").decode() == left


def test_after_an_undo_the_same_bytes_are_approved_again_without_a_turn(stage):
    undo(stage)
    assert stage.read("a.txt").decode() == OLD
    row = reopen(stage)
    assert stage.opened(row).hunks == stage.opened(stage.first).hunks
    assert row.id != stage.first.id
    assert stage.approve(row).ok
    stage.drive()
    assert stage.read("a.txt").decode() == NEW
    undo(stage, row)
    assert stage.read("a.txt").decode() == OLD


def test_text_of_the_human_comes_back_as_it_was(staged):
    stage = staged(SCRIPT, files={"a.txt": OLD})
    stage.trust().begin().drive()
    (stage.first,) = stage.waiting()
    own = OLD.replace("line 5\n", "five, in my words\n").encode()
    assert stage.approve(stage.first, edited={"a.txt": own}).ok
    stage.drive()
    undo(stage)
    row = reopen(stage)
    assert stage.approve(row).ok
    stage.drive()
    assert stage.read("a.txt") == own


def test_a_file_that_changed_since_is_named_and_nothing_is_proposed(stage):
    (stage.workspace / "a.txt").write_text(PART + "mine\n")
    request_reopening(stage.journal, stage.first.id, USER)
    stage.drive()
    assert stage.waiting() == []
    assert refused_reasons(stage) == ["a.txt has changed since; ask the agent for it"]
    assert stage.read("a.txt").decode() == PART + "mine\n"
    (stage.workspace / "a.txt").write_text(NEW)
    request_reopening(stage.journal, stage.first.id, USER)
    stage.drive()
    assert refused_reasons(stage)[1:] == ["the files hold all of it already"]


@pytest.mark.parametrize(
    ("moved_to", "outcome"),
    [pytest.param(OLD, "asks for all", id="undone"), pytest.param(PART + "mine\n", "withdrawn", id="edited")],
)
def test_a_base_that_moves_while_it_waits_makes_it_stale(stage, moved_to, outcome):
    row = reopen(stage)
    (stage.workspace / "a.txt").write_text(moved_to)
    stage.drive(until=lambda progress: any(one.stale_paths for one in progress.waiting))
    assert stage.approve(row).why == "stale"
    request_refresh(stage.journal, row.id, USER)
    stage.drive()
    if outcome == "withdrawn":
        assert stage.waiting() == []
        assert stage.journal.call(row.call_id).error == (
            "it can no longer be made: a.txt has changed since; ask the agent for it"
        )
        return
    (fresh,) = stage.waiting()
    assert (fresh.supersedes, fresh.subject) == (row.id, {REOPENS: stage.first.id})
    assert len(stage.opened(fresh).hunks) == 3


def test_a_base_that_moves_after_the_answer_writes_nothing(stage):
    row = reopen(stage)
    assert stage.approve(row).ok
    (stage.workspace / "a.txt").write_text("mine\n")
    stage.drive()
    assert stage.read("a.txt") == b"mine\n"
    assert stage.waiting() == []
    assert (stage.journal.call(row.call_id).state, stage.journal.call(row.call_id).detail) == (
        "cancelled",
        "stale",
    )


def test_it_expires_and_is_rejected_without_stopping_the_session(staged):
    stage = partly_taken(staged, clock=ManualClock())
    row = reopen(stage)
    stage.journal.clock.advance(16 * 60)
    assert expire_due_actions(stage.journal) == [row.id]
    stage.drive()
    assert stage.session().status == "ready"
    again = reopen(stage)
    assert stage.reject(again, "no").ok
    stage.drive()
    assert stage.read("a.txt").decode() == PART
    assert stage.session().status == "ready"


def test_no_rule_answers_it_and_a_denial_counts(stage):
    from workbench.domain.events import RuleAdded
    from workbench.journal.decisions import add_rule

    def rule(effect):
        return RuleAdded(
            rule="", effect=effect, origin="user", scope="always", tool="replace_string_in_file",
            pattern_kind="glob", pattern="Edit(a.txt)", description="",
        )  # fmt: skip

    add_rule(stage.journal, rule("allow"), USER)
    row = reopen(stage)
    assert stage.read("a.txt").decode() == PART
    add_rule(stage.journal, rule("deny"), USER)
    assert stage.approve(row).ok
    stage.drive()
    assert stage.journal.call(row.call_id).state == "cancelled"
    assert stage.read("a.txt").decode() == PART
    request_reopening(stage.journal, stage.first.id, USER)
    stage.drive()
    assert stage.waiting() == []


def test_two_screens_get_one_row(stage):
    stage.journal.append([
        stage.journal.event(RefreshRequested(is_approved=True), stage.session_id, USER, action_id=stage.first.id)
        for _ in range(2)
    ])  # fmt: skip
    stage.drive()
    (row,) = stage.waiting()
    with pytest.raises(SessionRefused, match="waits already"):
        request_reopening(stage.journal, stage.first.id, USER)
    assert stage.approve(row).ok
    stage.drive()
    assert stage.waiting() == []
    assert stage.read("a.txt").decode() == NEW


@pytest.mark.parametrize(
    "point",
    ["reopen.before_propose", "reopen.proposed"],
)
def test_a_driver_that_dies_before_the_answer_leaves_one_row(stage, point):
    request_reopening(stage.journal, stage.first.id, USER)
    stage.journal.close()
    assert dying(stage, point) == 137
    later = reopened(stage)
    later.drive()
    (row,) = later.waiting()
    assert row.subject == {REOPENS: stage.first.id}
    assert later.approve(row).ok
    later.drive()
    assert later.read("a.txt").decode() == NEW


@pytest.mark.parametrize(
    "point", ["call.executing", "apply.staged", "apply.renamed", "apply.done", "call.finished"]
)
def test_a_driver_that_dies_in_the_writing_runs_it_at_most_once(stage, point):
    row = reopen(stage)
    assert stage.approve(row).ok
    stage.journal.close()
    assert dying(stage, point) == 137
    later = reopened(stage)
    later.drive()
    is_done = point in ("apply.renamed", "apply.done", "call.finished")
    assert later.read("a.txt").decode() == (NEW if is_done else PART)
    assert later.journal.call(row.call_id).state == ("succeeded" if is_done else "interrupted")
    assert [body for body in later.bodies(ActionOpened) if body.subject] == [later.opened(row)]


TOLD = (
    "Note of the workbench: the user applied what had been left out of your change, or had been undone.\n"
    "- a.txt: the change of your call c1 (replace_string_in_file); {}.\n"
    "Read a file again before you build on it.\n\nand now?"
)


@pytest.mark.parametrize("is_forked", [False, True])
@pytest.mark.parametrize(
    ("hunks", "extent"),
    [(None, "all of it is in the file now"), ([1], "a part of it is still left out")],
)
def test_the_model_is_told_with_the_next_prompt(stage, monkeypatch, hunks, extent, is_forked):
    assert stage.approve(reopen(stage), hunks=hunks).ok
    stage.drive()
    if is_forked:
        source = stage.session()
        stage.session_id = fork_session(stage.journal, source, default_fork_plan(source), USER)
        assert stage.waiting() == []
    requests = requests_of(stage, monkeypatch)
    stage.say("and now?")
    stage.drive()
    assert requests[0].messages[-1].content == TOLD.format(extent)


def test_nothing_is_told_of_what_was_not_taken(stage, monkeypatch):
    assert stage.reject(reopen(stage)).ok
    stage.drive()
    requests = requests_of(stage, monkeypatch)
    stage.say("and now?")
    stage.drive()
    assert requests[0].messages[-1].content == "and now?"


def test_the_undo_of_its_turn_takes_both_parts_back(stage):
    assert stage.approve(reopen(stage)).ok
    stage.drive()
    turn = stage.journal.call(stage.first.call_id).turn_id
    plan = plan_undo(stage.journal, stage.session(), turn)
    request_undo_of_files(stage.journal, plan, plan.ready, USER)
    stage.drive()
    assert stage.read("a.txt").decode() == OLD


def test_within_a_turn_it_is_answered_next_to_what_waits_there(staged):
    script = recording(
        exchange(
            call("c1", "replace_string_in_file", path="a.txt", old_string=OLD, new_string=NEW),
            call("c2", "create_file", path="b.txt", content="b\n"),
        ),
        exchange(text("Done.")),
    )
    stage = staged(script, files={"a.txt": OLD})
    stage.trust().begin().drive()
    stage.first, other = stage.waiting()
    assert stage.approve(stage.first, hunks=[2]).ok
    stage.drive()
    request_reopening(stage.journal, stage.first.id, USER)
    stage.drive()
    rest = next(row for row in stage.waiting() if row.id != other.id)
    undo(stage)
    assert stage.read("a.txt").decode() == OLD, "an undo does not wait for a row that waits"
    request_reopening_refused(stage)
    interrupt_session(stage.journal, stage.session_id, USER)
    stage.drive()
    assert [row.id for row in stage.waiting()] == [rest.id], "a stopped turn takes its own calls with it"


def request_reopening_refused(stage):
    with pytest.raises(SessionRefused, match="waits already"):
        request_reopening(stage.journal, stage.first.id, USER)


def test_what_cannot_be_taken_up_says_why(stage, staged):
    with pytest.raises(SessionRefused, match="There is no action"):
        request_reopening(stage.journal, "none", USER)
    row = reopen(stage)
    with pytest.raises(SessionRefused, match="Only a change that was approved"):
        request_reopening(stage.journal, row.id, USER)
    source = stage.session()
    copy = fork_session(stage.journal, source, default_fork_plan(source), USER)
    copied = stage.journal.actions(copy)[0]
    with pytest.raises(SessionRefused, match="changed no file here"):
        request_reopening(stage.journal, copied.id, USER)
    end_session(stage.journal, stage.session(), USER)
    with pytest.raises(SessionRefused, match="has ended"):
        request_reopening(stage.journal, stage.first.id, USER)


EXAMPLE = Path(workbench.__file__).parent / "examples" / "demo"


def test_a_demo_that_ended_red_turns_green_when_the_rest_is_taken(staged):
    project = EXAMPLE / "project"
    files = {
        str(path.relative_to(project)): path.read_bytes() for path in project.rglob("*") if path.is_file()
    }
    stage = staged(json.loads((EXAMPLE / "recording.json").read_text()), files=files)
    stage.trust().begin().drive()
    edit, *others = stage.waiting()
    assert stage.approve(edit, hunks=[1, 2]).ok
    for action in others:
        assert stage.approve(action).ok
    stage.drive()
    assert stage.calls()["tests"].exit_code == 1
    assert "a a on the row of the edit takes the rest" in stage.bodies(ReplyCompleted)[-1].text
    assert stage.approve(reopen(stage, edit)).ok
    stage.drive()
    stage.say("and now?")
    stage.drive()
    (again,) = stage.waiting()
    assert stage.approve(again).ok
    stage.drive()
    assert stage.calls()["tests_again"].exit_code == 0
    assert stage.bodies(ReplyCompleted)[-1].text.startswith("All three tests are green now")
