"""Undo of a turn and of a session in one step: what it would do, all or none, told to the agent, and back."""

import pytest

from tests.support.stage import USER, call, exchange, recording, text
from tests.unit.host.test_time_and_loss import dying, reopened, requests_of
from workbench.domain import events
from workbench.host.fork import default_fork_plan, fork_session
from workbench.host.session_requests import SessionRefused, end_session
from workbench.host.undo import plan_undo, request_undo_of_files
from workbench.journal.replay import session_turns
from workbench.views.undo_plan import nothing_to_undo, undo_sentences


def edit(call_id, old, new, path="a.txt"):
    return call(call_id, "replace_string_in_file", path=path, old_string=old, new_string=new)


TURN = (
    edit("c1", "b\n", "B\n"),
    edit("c2", "B\n", "BB\n"),
    call("c3", "create_file", path="n.txt", content="new\n"),
    call("c4", "run_in_terminal", command="touch made"),
)
FILES = {"a.txt": "a\nb\n"}


def after_turn(staged, *exchanges, calls=TURN):
    """Return a stage whose first turn is over, everything in it approved."""
    stage = staged(recording(exchange(*calls), *(exchanges or (exchange(text("ok")),))), files=FILES)
    stage.begin()
    drive(stage)
    return stage


def drive(stage):
    stage.drive()
    while waiting := stage.waiting():
        for action in waiting:
            stage.approve(action)
        stage.drive()


def planned(stage, turn=None, **more):
    turns = session_turns(stage.journal, stage.session_id)
    return plan_undo(stage.journal, stage.session(), turns[turn] if turn is not None else None, **more)


def undo(stage, plan, paths=None):
    request_undo_of_files(stage.journal, plan, plan.ready if paths is None else paths, USER)
    stage.drive()
    return [row for row in stage.journal.calls(stage.session_id) if row.tool == "undo"][-1]


def shown(plan):
    return {row.path: (row.word, row.state) for row in plan.rows}


def test_several_edits_of_a_file_come_to_its_first_base_and_commands_are_counted(staged):
    stage = after_turn(staged)
    plan = planned(stage, 0)
    assert shown(plan) == {"a.txt": ("restored", "ready"), "n.txt": ("removed", "ready")}
    assert (plan.title, plan.commands) == ("Undo the changes of turn 1", 1)
    assert undo_sentences(plan, plan.ready) == ["1 command ran: what it did is not undone."]
    (hunk,) = plan.rows[0].hunks
    assert hunk.lines == ((" ", "a"), ("-", "BB"), ("+", "b"))
    assert undo(stage, plan).state == "succeeded"
    assert (stage.read("a.txt"), (stage.workspace / "n.txt").exists()) == (b"a\nb\n", False)
    assert (stage.workspace / "made").exists()
    assert planned(stage, 0).rows == ()
    assert nothing_to_undo(planned(stage, 0)) == "The changes of turn 1 are undone already."


def test_one_more_answer_brings_all_of_it_back_and_once_more_takes_it(staged):
    stage = after_turn(staged)
    undo(stage, planned(stage, 0))
    back = planned(stage, 0, is_redo=True)
    assert shown(back) == {"a.txt": ("changed again", "ready"), "n.txt": ("created again", "ready")}
    undo(stage, back)
    assert (stage.read("a.txt"), stage.read("n.txt")) == (b"a\nBB\n", b"new\n")
    assert planned(stage, 0, is_redo=True).rows == ()
    undo(stage, planned(stage))
    assert (stage.read("a.txt"), (stage.workspace / "n.txt").exists()) == (b"a\nb\n", False)


def test_a_deleted_file_is_brought_back(staged):
    stage = after_turn(staged, calls=(TURN[2],))
    undo(stage, planned(stage))
    assert shown(planned(stage, is_redo=True)) == {"n.txt": ("created again", "ready")}


def test_what_somebody_else_changed_is_named_and_left_alone_unless_it_is_taken(staged):
    stage = after_turn(staged)
    (stage.workspace / "a.txt").write_bytes(b"a\nBB\nmine\n")
    plan = planned(stage)
    assert shown(plan) == {"a.txt": ("restored", "stale"), "n.txt": ("removed", "ready")}
    assert undo_sentences(plan, plan.ready)[0] == (
        "1 file was changed since by somebody else: not touched unless you take it."
    )
    assert undo_sentences(plan, {"a.txt"})[0] == (
        "1 file was changed since: taking it loses what was done then."
    )
    undo(stage, plan)
    assert (stage.read("a.txt"), (stage.workspace / "n.txt").exists()) == (b"a\nBB\nmine\n", False)
    plan = planned(stage)
    undo(stage, plan, {"a.txt"})
    assert stage.read("a.txt") == b"a\nb\n"


def test_what_cannot_be_written_is_counted_in_words(staged):
    stage = after_turn(staged)
    (stage.workspace / "n.txt").unlink()
    (stage.workspace / "n.txt").mkdir()
    plan = planned(stage)
    assert "1 file cannot be written." in undo_sentences(plan, plan.ready)


def test_a_change_of_somebody_else_in_between_makes_a_file_stale(staged):
    stage = staged(
        recording(
            exchange(edit("c1", "b\n", "B\n")), exchange(text("ok")),
            exchange(edit("c2", "B\n", "BB\n")), exchange(text("ok")),
        ),
        files=FILES,
    )  # fmt: skip
    stage.begin()
    drive(stage)
    (stage.workspace / "a.txt").write_bytes(b"mine\nB\n")
    stage.say("more")
    drive(stage)
    assert shown(planned(stage)) == {"a.txt": ("restored", "stale")}
    assert shown(planned(stage, 1)) == {"a.txt": ("restored", "ready")}
    assert planned(stage, 0).rows[0].state == "stale"


def test_an_earlier_turn_that_a_later_one_built_on_is_stale_until_that_is_undone(staged):
    stage = staged(
        recording(
            exchange(edit("c1", "b\n", "B\n")), exchange(text("ok")),
            exchange(edit("c2", "B\n", "BB\n")), exchange(text("ok")),
        ),
        files=FILES,
    )  # fmt: skip
    stage.begin()
    drive(stage)
    stage.say("more")
    drive(stage)
    assert planned(stage, 0).rows[0].state == "stale"
    undo(stage, planned(stage, 1))
    assert planned(stage, 0).rows[0].state == "ready"
    undo(stage, planned(stage))
    assert stage.read("a.txt") == b"a\nb\n"


def test_nothing_is_written_where_one_file_moved_after_it_was_shown(staged):
    stage = after_turn(staged)
    plan = planned(stage)
    (stage.workspace / "a.txt").write_bytes(b"moved\n")
    row = undo(stage, plan)
    assert (row.state, "a.txt" in row.error) == ("rejected", True)
    assert (stage.read("a.txt"), stage.read("n.txt")) == (b"moved\n", b"new\n")


def test_bytes_that_no_change_of_the_session_knows_are_not_written(staged):
    stage = after_turn(staged)
    plan = planned(stage)
    blobs = stage.journal.blobs
    ref = blobs.seal(b"evil\n")
    from msgspec.structs import replace

    row = plan.rows[0]
    forged = replace(row, plan=replace(row.plan, after=blobs.keyed(b"evil\n"), after_ref=ref))
    done = undo(stage, replace(plan, rows=(forged,)))
    assert (done.state, stage.read("a.txt")) == ("rejected", b"a\nBB\n")


def test_a_session_that_has_ended_says_that_it_takes_no_requests(staged):
    stage = after_turn(staged)
    end_session(stage.journal, stage.session(), USER)
    with pytest.raises(SessionRefused, match="completed"):
        planned(stage)


UNDONE = (
    "Note of the workbench: the user took back what you had changed.\n"
    "- a.txt: the changes of your calls to it were undone; the file is as it was before them.\n"
    "- n.txt: the changes of your calls to it were undone; the file is removed: it was not there before them.\n"
    "Read a file again before you build on it.\n\nwhat now?"
)


@pytest.mark.parametrize("is_forked", [False, True])
def test_the_agent_is_told_with_the_next_prompt(staged, monkeypatch, is_forked):
    stage = after_turn(staged, exchange(text("ok")), exchange(text("I see")))
    undo(stage, planned(stage))
    if is_forked:
        source = stage.session()
        stage.session_id = fork_session(stage.journal, source, default_fork_plan(source), USER)
    requests = requests_of(stage, monkeypatch)
    stage.say("what now?")
    stage.drive()
    assert requests[0].messages[-1].content == UNDONE


def test_the_agent_is_told_of_what_was_restored(staged, monkeypatch):
    stage = after_turn(staged, exchange(text("ok")), exchange(text("I see")))
    undo(stage, planned(stage))
    undo(stage, planned(stage, is_redo=True), {"a.txt"})
    requests = requests_of(stage, monkeypatch)
    stage.say("what now?")
    stage.drive()
    said = requests[0].messages[-1].content
    assert "took back or restored, in this order" in said
    assert "- a.txt: your changes that had been undone were restored; the file is again as" in said


@pytest.mark.parametrize(
    "point", ["call.executing", "apply.staged", "apply.renamed", "apply.done", "call.finished"]
)
def test_a_driver_that_dies_in_it_leaves_all_files_or_none(staged, point):
    stage = after_turn(staged)
    request_undo_of_files(stage.journal, planned(stage), {"a.txt", "n.txt"}, USER)
    stage.journal.close()
    assert dying(stage, point) == 137
    reopened(stage).drive()
    found = (stage.read("a.txt"), (stage.workspace / "n.txt").exists())
    is_done = point in ("apply.done", "call.finished")
    assert found == ((b"a\nb\n", False) if is_done else (b"a\nBB\n", True))
    row = next(row for row in stage.journal.calls(stage.session_id) if row.tool == "undo")
    assert row.state == ("succeeded" if is_done else "interrupted")
    assert len(planned(stage).rows) == (0 if is_done else 2)
    assert len(stage.bodies(events.UndoRequested)) == 1
