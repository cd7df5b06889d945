"""A fork holds every call with the answer that it got: a rejection is no error, a part is not the whole."""

import pytest

from tests.support.stage import USER, Stage, call, exchange, recording, text
from tests.unit.host.test_time_and_loss import requests_of
from workbench.domain.events import ActionOpened, CallProposed, ReplyCompleted, SessionCreated
from workbench.domain.rows import Call
from workbench.domain.values import GateVerdict, ReplyCall
from workbench.effects.clock import ManualClock
from workbench.host import fork
from workbench.host.fork import default_fork_plan, fork_session
from workbench.host.session_requests import request_undo
from workbench.host.undo import plan_undo, request_undo_of_files
from workbench.journal.decisions import expire_due_actions
from workbench.journal.session_queries import session_counts
from workbench.tui.approvals.approval_selection import why_no_undo
from workbench.tui.journal_source import JournalSource
from workbench.tui.state import ScreenState
from workbench.views.action_detail import action_detail
from workbench.views.call_summary import call_summary
from workbench.views.conversation import Transcript
from workbench.views.conversation_blocks import CallBlock
from workbench.views.toasts import answered_elsewhere_text
from workbench.views.tools import decided_by_text, failed_calls

LINES = [f"line {number}" for number in range(60)]
OLD, NEW = "\n".join(LINES), "\n".join([*LINES[:2], "TWO", *LINES[3:30], "THIRTY", *LINES[31:]])
SCRIPT = recording(
    exchange(
        text("I look and change it."),
        call("c1", "replace_string_in_file", path="a.txt", old_string=OLD, new_string=NEW),
        call("c2", "run_in_terminal", command="make test"),
        call("c3", "create_file", path="b.txt", content="b\n"),
        call("c4", "read_file", path="a.txt"),
        call("c5", "no_such_tool"),
        call("c6", "create_file", path="late.txt", content="late\n"),
    ),
    exchange(text("So it is.")),
    exchange(text("And on.")),
)


@pytest.fixture
def stage(tmp_path):
    made = Stage(tmp_path / "stage", SCRIPT, clock=ManualClock(), files={"a.txt": OLD})
    made.trust().begin().drive()
    partly, rejected, whole, late = made.waiting()
    assert late.target == "late.txt"
    assert made.approve(partly, hunks=[2], reason="keep the second line").ok
    assert made.reject(rejected, "run only the test of discount").ok
    assert made.approve(whole).ok
    made.drive()
    made.journal.clock.advance(16 * 60)
    assert expire_due_actions(made.journal) == [late.id]
    made.drive()
    yield made
    made.close()


def forked(stage):
    source = stage.session()
    return fork_session(stage.journal, source, default_fork_plan(source), USER)


def lines(stage, session_id):
    """Return what the conversation shows of each call."""
    shown = Transcript(session_id)
    shown.apply_all(stage.journal.events(session_id))
    return [
        (block.sign, block.tool, block.right, block.right_meaning, block.note, block.note_quote)
        for block in shown.blocks
        if isinstance(block, CallBlock)
    ]


def test_a_fork_shows_each_call_as_its_source_does(stage):
    copy = forked(stage)
    found = lines(stage, copy)
    assert found == lines(stage, stage.session_id)
    assert [row[0] for row in found] == ["partly", "rejected", "ok", "ok", "failed", "expired"]
    assert found[0][3:] == ("partly", "you left hunk 1", "keep the second line")
    assert found[1][4:] == ("you said no", "run only the test of discount")
    old, new = (stage.journal.calls(key) for key in (stage.session_id, copy))
    assert [decided_by_text(row) for row in new] == [decided_by_text(row) for row in old]
    assert failed_calls(new) == failed_calls(old) == 1


def test_its_model_reads_the_same_results(stage, monkeypatch):
    source, copy = stage.session_id, forked(stage)
    requests = requests_of(stage, monkeypatch)
    for stage.session_id in (source, copy):
        stage.say("and now?")
        stage.drive()
    told = [
        [(one.content, one.outcome) for one in request.messages if one.role == "tool"] for request in requests
    ]
    assert told[0] == told[1]
    assert told[0][0][0].startswith("Partly applied: hunk 2 applied, 1 refused")
    assert told[0][1] == (
        "Rejected by the human: run only the test of discount. Nothing was done.",
        "rejected",
    )


def test_its_copied_answers_are_counted_with_the_session_alone(stage):
    copy = forked(stage)
    with stage.journal.snapshot() as database:
        counts = session_counts(database, [copy])[copy]
    assert (counts.rejected, counts.expired, counts.failed) == (1, 1, 0)


@pytest.mark.parametrize("events_at_once", [1, 2, 3, 5, 7])
def test_no_question_is_stored_without_its_answer(stage, monkeypatch, events_at_once):
    monkeypatch.setattr(fork, "_EVENTS_AT_ONCE", events_at_once)
    stored, append = [], stage.journal.append

    def noted(events, **more):
        append(events, **more)
        stored.append(len(stage.journal.actions(states=("pending",))))

    monkeypatch.setattr(stage.journal, "append", noted)
    forked(stage)
    assert len(stored) > 3
    assert set(stored) == {0}


def test_nothing_of_it_can_be_written_or_undone_there(stage):
    copy = forked(stage)
    for event in stage.journal.events(copy):
        if isinstance(event.body, ActionOpened):
            assert (event.body.files, event.body.subject_ref) == ((), None)
            assert event.body.hunks or event.body.verb != "edit"
    partly = stage.journal.actions(copy)[0]
    opened = stage.opened(partly)
    detail = action_detail(partly, opened, opened.hunks, 0)
    assert [file.path for file in detail.files] == ["a.txt"]
    assert why_no_undo(detail) == "it was done in the session that this one was forked from; undo it there"


@pytest.mark.parametrize("is_joint", [False, True])
def test_what_was_undone_is_shown_as_undone_there(stage, is_joint):
    (partly,) = [row for row in stage.journal.actions(stage.session_id) if row.target == "a.txt"][:1]
    if is_joint:
        plan = plan_undo(stage.journal, stage.session())
        request_undo_of_files(stage.journal, plan, {"a.txt"}, USER)
    else:
        request_undo(stage.journal, partly.id, USER)
    stage.drive()
    copy = forked(stage)
    state = ScreenState(JournalSource(stage.journal, str(stage.workspace)))
    state.load(copy)
    (shown,) = [row for row in stage.journal.actions(copy) if row.selection is not None]
    assert shown.id in state.undone


def test_no_answer_that_a_fork_copied_is_announced_as_given_elsewhere(stage):
    copy = forked(stage)
    events = [event for event in stage.journal.events(copy) if event.kind == "action.approved"]
    assert len(events) == 2
    for event in events:
        assert answered_elsewhere_text(event, stage.journal.action(event.action_id), 99) == ""


def old_fork(journal, verdict):
    """Store a call as forks of earlier versions did: its answer is a verdict, with no event of its own."""
    key = journal.clock.new_id()
    created = SessionCreated(workspace="/w", configuration={"forked_from": "gone"})
    reply = ReplyCompleted(calls=(ReplyCall(call_id="x1", provider_call_id="x1", tool="run_in_terminal"),))
    proposed = CallProposed(tool="run_in_terminal", verdict=verdict, parameters={"command": "make"})
    journal.append([
        journal.event(created, key, USER),
        journal.event(reply, key, USER, turn_id="t"),
        journal.event(proposed, key, USER, turn_id="t", call_id="x1"),
    ], strict=False)  # fmt: skip
    return key


@pytest.mark.parametrize(
    ("by", "reason", "sign", "words"),
    [
        ("the human", "only one", "rejected", ("rejected", "you said no", "only one")),
        ("nobody", "nobody answered in time", "expired", ("expired, not done", "", "")),
        ("user config.json:3", "never", "failed", ("not allowed", "never", "")),
    ],
)
def test_an_answer_that_an_older_fork_holds_as_a_verdict_is_shown_as_one(stage, by, reason, sign, words):
    key = old_fork(stage.journal, GateVerdict(outcome="denied", step="ask", by=by, reason=reason))
    (row,) = lines(stage, key)
    assert (row[0], row[2], *row[4:]) == (sign, *words)
    (made,) = stage.journal.calls(key)
    assert failed_calls([made]) == (sign == "failed")
    assert decided_by_text(made) == {"rejected": "you", "expired": "nobody", "failed": "the gate"}[sign]


def test_a_part_is_not_the_whole_without_its_action():
    made = Call(
        id="c", session_id="s", turn_id=None, ordinal=1, provider_call_id="c", tool="create_file",
        state="succeeded", requested_at=0, detail="partial",
    )  # fmt: skip
    assert (call_summary(made, None, ()).right, call_summary(made, None, ()).meaning) == ("partly", "partly")
