"""The life of an approval: one test for each row of its crash table, named by the row's words.

H is the host, S a second process that answers. What follows a row up to the end of the session, and what
must hold there, is checked by `take_over`.
"""

import os
import signal
import time

import pytest

from tests.support.crashes import Human, fork, reap
from tests.support.invariants import check_no_process, living
from tests.support.scenarios import RAN, WINDOW, Scenario, asked, call, ran
from tests.support.sizes import size
from tests.support.stage import USER
from workbench.domain import events
from workbench.domain.values import Actor
from workbench.effects import fault_points
from workbench.host import session_requests
from workbench.journal.decisions import expire_due_actions
from workbench.journal.errors import LeaseLost, SessionDriven

pytestmark = pytest.mark.faults

RACES = size("WORKBENCH_RACES", 2, 6)
"""How often two try at once."""

TALKS = Scenario(
    name="talks", script=asked(ran("c1", "; printf 'line 1\\nline 17\\n'; sleep 300")), commands=("c1",)
)  # fmt: skip
LONG = Scenario(name="long", script=asked(ran("c1", "; sleep 300")), commands=("c1",))


def asks(stage):
    """Let H drive up to the question and let go in order; return the action."""
    with stage.at_work():
        stage.drive(lambda progress: bool(progress.waiting))
        (action,) = stage.waiting()
    return action


def approves(stage, action):
    """Let S, a process of its own, approve."""
    with stage.at_work():
        return stage.approve(action)


def rests(stage):
    """Let the next H take over until it rests, with no human there; return the call and its session."""
    with stage.at_work():
        Human.rest(stage)
        return stage.calls()["c1"], stage.session()


def models(stage):
    with stage.at_work():
        return len(stage.bodies(events.ReplyCompleted))


def written(stage):
    return {
        str(path.relative_to(stage.workspace)): path.read_text()
        for path in stage.workspace.rglob("*")
        if path.is_file()
    }


def ends(stage):
    """Let a human continue, to the end, with everything checked; return the calls."""
    stage.take_over()
    reap()
    with stage.at_work():
        return stage.calls()


# --- before anything is executed ------------------------------------------------------------------------


@pytest.mark.parametrize("point", ["call.before_gate", "call.before_propose"])
def test_h_before_t2_the_call_is_gated_again_and_hooks_are_not_run_again(on_stage, point):
    hook = {"matcher": "*", "command": "echo hook >> ran.hooks"}
    config = {"hooks": {"PreToolUse": [hook]}}
    stage = on_stage(Scenario(name="hooked", script=asked(call("c1", "create_file", path="n.txt", content="n\n")),
                              config=config, outside={"ran.hooks": "hook\n"}))  # fmt: skip
    assert stage.die((point, 1)).code == 137
    with stage.at_work():
        assert len(stage.bodies(events.HookRan)) == (point == "call.before_propose")
        assert stage.calls()["c1"].state == "pending"
        assert stage.waiting() == []
    row, _ = rests(stage)
    assert (row.state, row.proposed) == ("pending", True)
    assert ends(stage)["c1"].state == "succeeded"
    assert written(stage)["ran.hooks"] == "hook\n"
    with stage.at_work():
        assert len(stage.bodies(events.HookRan)) == 1


@pytest.mark.spec(156, 207)
def test_h_after_t2_the_window_runs_and_anyone_expires_it(on_stage):
    stage = on_stage("one-file")
    assert stage.die(("call.proposed", 1)).code == 137
    with stage.at_work():
        (action,) = stage.waiting()
        assert expire_due_actions(stage.journal) == []
        stage.clock.advance(WINDOW)
        assert expire_due_actions(stage.journal) == [action.id]
        assert stage.approve(action).why == "expired"
    row, _ = rests(stage)
    assert row.state == "expired"
    assert ends(stage)["c1"].state == "expired"
    assert written(stage) == {}


def test_h_after_t2_it_goes_on_waiting(on_stage):
    stage = on_stage("one-file")
    assert stage.die(("call.proposed", 1)).code == 137
    row, _ = rests(stage)
    assert row.state == "pending"
    with stage.at_work():
        (action,) = stage.waiting()
    assert approves(stage, action).ok
    assert ends(stage)["c1"].state == "succeeded"


def test_s_before_t3_commits_the_user_sees_it_pending_and_answers_again(on_stage):
    stage = on_stage("one-file")
    action = asks(stage)
    assert stage.forked(lambda: stage.approve(action), ("decide.before_commit", 1)).code == 137
    with stage.at_work():
        assert [found.id for found in stage.waiting()] == [action.id]
        assert stage.bodies(events.ActionApproved) == []
    assert approves(stage, action).ok
    assert ends(stage)["c1"].state == "succeeded"


@pytest.mark.spec(209)
def test_s_after_t3_h_executes_and_a_second_answer_is_refused_by_name(on_stage):
    stage = on_stage("one-file")
    action = asks(stage)
    assert stage.forked(lambda: stage.approve(action), ("decide.after_commit", 1)).code == 137
    with stage.at_work():
        second = stage.approve(action)
        assert (second.ok, second.why) == (False, "decided")
        assert "user" in second.by or "cli" in second.by
        assert second.at == stage.journal.action(action.id).decided_at
    row, _ = rests(stage)
    assert row.state == "succeeded"
    assert written(stage) == {"n.txt": "new\n"}
    ends(stage)


def test_no_h_alive_at_t3_the_approval_waits_for_one_and_lapses(on_stage):
    stage = on_stage("one-file")
    action = asks(stage)
    assert approves(stage, action).ok
    stage.clock.advance(WINDOW)
    row, _ = rests(stage)
    assert (row.state, row.detail) == ("cancelled", "lapsed")
    assert written(stage) == {}
    ends(stage)


def test_no_h_alive_at_t3_the_next_one_executes_in_time(on_stage):
    stage = on_stage("one-file")
    assert approves(stage, asks(stage)).ok
    stage.clock.advance(WINDOW - 60)
    assert rests(stage)[0].state == "succeeded"
    ends(stage)


@pytest.mark.parametrize(
    "death",
    [
        pytest.param(("call.before_executing", 1), id="between T3 and T4"),
        pytest.param(("call.before_executing", 1, ("journal.before_commit", 1)), id="in T4"),
    ],
)
def test_h_between_t3_and_t4_or_in_t4_the_steps_begin_again(on_stage, death):
    stage = on_stage("one-file")
    assert stage.die(death).code == 137
    with stage.at_work():
        assert stage.calls()["c1"].state == "approved"
        assert stage.bodies(events.CallExecuting) == []
    row, _ = rests(stage)
    assert row.state == "succeeded"
    assert models(stage) == 1
    ends(stage)


# --- files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "death",
    [
        pytest.param(("call.before_executing", 1, ("journal.after_commit", 1)), id="T4 committed"),
        ("call.executing", 1),
        ("apply.staged", 1),
        ("apply.renaming", 1),
    ],
    ids=str,
)
@pytest.mark.parametrize("scenario", ["one-file", "three-files", "modify-create-delete"])
def test_h_after_t4_none_renamed_nothing_is_written_and_the_session_is_paused(on_stage, scenario, death):
    stage = on_stage(scenario)
    before = written(stage)
    assert stage.die(death).code == 137
    row, session = rests(stage)
    assert (row.state, row.detail) == ("interrupted", "nothing written")
    assert (session.status, session.reason) == ("paused", "host lost")
    assert written(stage) == before
    assert models(stage) == 1
    ends(stage)


@pytest.mark.parametrize("nth", [1, 2])
@pytest.mark.parametrize("scenario", ["three-files", "modify-create-delete"])
def test_h_between_two_renames_what_was_renamed_is_put_back(on_stage, scenario, nth):
    stage = on_stage(scenario)
    before = written(stage)
    assert stage.die(("apply.renamed", nth)).code == 137
    assert written(stage) != before
    row, session = rests(stage)
    assert (row.state, row.detail) == ("interrupted", "rolled back")
    assert (session.status, session.reason) == ("paused", "host lost")
    assert written(stage) == before
    ends(stage)


def test_h_between_two_renames_files_of_others_are_untouched_and_named(on_stage):
    stage = on_stage("three-files")
    assert stage.die(("apply.renamed", 2)).code == 137
    (stage.workspace / "a.txt").write_text("by hand\n")
    with stage.at_work():
        # This test leaves a file that no scenario knows, so the general checks do not apply to it.
        stage.drive(lambda progress: progress.is_resting)
        row = stage.calls()["c1"]
    assert (row.state, row.detail) == ("interrupted", "rolled back")
    assert "put back: b.txt" in row.error
    assert "changed by something else: a.txt" in row.error
    assert written(stage) == {"a.txt": "by hand\n", "b.txt": "b\n", "d/c.txt": "c\n"}


@pytest.mark.parametrize(
    "death", [("apply.renamed", 3), ("apply.done", 1), ("call.finished_effect", 1)], ids=str
)
@pytest.mark.parametrize("scenario", ["three-files", "modify-create-delete"])
def test_h_after_the_last_rename_it_has_succeeded_recovered(on_stage, scenario, death):
    stage = on_stage(scenario)
    assert stage.die(death).code == 137
    after = written(stage)
    row, session = rests(stage)
    assert (row.state, row.detail) == ("succeeded", "recovered")
    assert session.reason == "host lost"
    assert written(stage) == after
    with stage.at_work():
        assert len(stage.bodies(events.FileChanged)) == 3
    ends(stage)


# --- commands -----------------------------------------------------------------------------------------------


def killed_while_it_runs(stage):
    """Drive in a fork that is killed when the command has left its line; return how it ended."""

    def look(progress):
        del progress
        if RAN in written(stage):
            os.kill(os.getpid(), signal.SIGKILL)
        return False

    assert approves(stage, asks(stage)).ok
    return stage.forked(lambda: stage.drive(look))


def call_end(stage):
    with stage.at_work():
        return stage.bodies(events.CallFinished)[-1]


def job_folder(stage):
    with stage.at_work():
        return stage.home.path / "jobs" / stage.session_id / stage.calls()["c1"].id


def test_what_a_command_had_printed_when_h_died_is_in_its_result(on_stage):
    stage = on_stage(TALKS)
    assert killed_while_it_runs(stage).code == -signal.SIGKILL
    row, _ = rests(stage)
    assert (row.state, row.detail) == ("interrupted", "outcome unknown")
    finished = call_end(stage)
    assert (finished.preview, finished.output_bytes) == ("line 1\nline 17\n", 15)
    assert "it was ended too" in finished.error
    assert not job_folder(stage).exists()
    ends(stage)


def test_a_command_whose_owner_is_gone_too_has_what_was_streamed(on_stage):
    stage = on_stage(TALKS)
    assert killed_while_it_runs(stage).code == -signal.SIGKILL
    (job_folder(stage) / "job.json").write_bytes(b"{}")
    with stage.at_work():
        call_row, journal = stage.calls()["c1"], stage.journal
        printed = events.OutputStreamed(offset=0, text="line 1\n")
        journal.append([
            journal.event(
                printed, call_row.session_id, Actor(kind="host"), call_id=call_row.id,
                turn_id=call_row.turn_id,
            )
        ])  # fmt: skip
    row, _ = rests(stage)
    assert (row.state, row.detail) == ("interrupted", "outcome unknown")
    assert "line 1\n" in call_end(stage).preview
    ends(stage)


@pytest.mark.parametrize(
    ("script", "state", "detail", "code"),
    [("; exit 0", "succeeded", "recovered", 0), ("; echo oh; exit 3", "failed", "exit 3", 3)],
)
def test_a_command_that_ended_before_h_died_ended_as_it_did(on_stage, script, state, detail, code):
    stage = on_stage(Scenario(name=f"ended{code}", script=asked(ran("c1", script)), commands=("c1",)))
    assert stage.die(("call.finished_effect", 1)).code == 137
    row, session = rests(stage)
    assert (row.state, row.detail) == (state, detail)
    assert session.reason == "host lost"
    assert call_end(stage).exit_code == code
    assert written(stage)[RAN] == "c1\n"


@pytest.mark.parametrize("point", ["call.executing", "call.started", "call.process_recorded"])
def test_h_after_t4_command_before_the_byte_the_helper_is_gone_and_nothing_ran(on_stage, point):
    stage = on_stage("command")
    assert stage.die((point, 1)).code == 137
    row, session = rests(stage)
    assert (row.state, row.detail) == ("interrupted", "nothing ran")
    assert session.reason == "host lost"
    check_no_process([row.id])
    assert RAN not in written(stage)
    ends(stage)
    assert RAN not in written(stage)


def test_h_after_the_byte_before_t6_the_group_is_ended_and_the_outcome_unknown(on_stage):
    stage = on_stage(TALKS)
    assert killed_while_it_runs(stage).code == -signal.SIGKILL
    row, session = rests(stage)
    assert (row.state, row.detail) == ("interrupted", "outcome unknown")
    assert session.reason == "host lost"
    assert living([row.id]) == []
    ends(stage)
    assert written(stage)[RAN] == "c1\n"


def test_h_at_the_byte_the_command_ran_once_at_most(on_stage):
    stage = on_stage(LONG)
    assert stage.die(("call.released", 1)).code == 137
    row, _ = rests(stage)
    assert row.state == "interrupted"
    assert living([row.id]) == []
    ends(stage)


def test_h_after_t6_results_go_to_the_model_when_the_human_continues(on_stage):
    stage = on_stage("command")
    assert stage.die(("call.finished", 1)).code == 137
    row, session = rests(stage)
    assert row.state == "succeeded"
    assert (session.status, session.reason) == ("paused", "host lost")
    assert models(stage) == 1
    ends(stage)
    assert models(stage) == 2
    assert written(stage)[RAN] == "c1\n"


# --- two at once --------------------------------------------------------------------------------------------


def stopped(stage, point):
    """Fork an H that stops itself at a point, as one that sleeps; return its pid once it does."""
    pid = fork()
    if pid == 0:
        code = 1
        try:
            os.setsid()
            signal.alarm(60)
            fault_points.arm_fault(point, "stop")
            with stage.at_work():
                stage.perform(is_takeover=False)
            code = 0
        except LeaseLost:
            code = 3
        finally:
            os._exit(code)
    assert os.WIFSTOPPED(os.waitpid(pid, os.WUNTRACED)[1])
    return pid


def wake(pid):
    os.kill(pid, signal.SIGCONT)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def lose_the_lock(stage):
    """Take the lock of the old H away, as a network file system or a careless cleaner might."""
    with stage.at_work():
        stage.home.driver_lock(stage.journal.lease(stage.session_id).host_id).unlink()


@pytest.mark.spec(215)
def test_old_h_that_sleeps_keeps_its_lock_and_nobody_takes_over(on_stage):
    stage = on_stage("one-file")
    pid = stopped(stage, "call.before_executing")
    with stage.at_work(), pytest.raises(SessionDriven) as told:
        stage.drive()
    assert told.value.pid == pid
    assert wake(pid) == 0
    with stage.at_work():
        assert stage.calls()["c1"].state == "succeeded"


def test_old_h_wakes_up_after_take_over_and_its_first_append_fails(on_stage):
    stage = on_stage("one-file")
    pid = stopped(stage, "call.before_executing")
    lose_the_lock(stage)
    assert rests(stage)[0].state == "succeeded"
    with stage.at_work():
        last = stage.journal.last_position()
    assert wake(pid) == 3
    with stage.at_work():
        assert [event.kind for event in stage.journal.events(after=last)] == []
        assert len(stage.bodies(events.CallExecuting)) == 1
    ends(stage)


@pytest.mark.parametrize(
    ("point", "detail"), [("call.started", "nothing ran"), ("call.released", "outcome unknown")]
)
def test_old_h_wakes_up_after_take_over_and_ends_its_children_and_itself(on_stage, point, detail):
    stage = on_stage(LONG)
    pid = stopped(stage, point)
    lose_the_lock(stage)
    row, _ = rests(stage)
    assert (row.state, row.detail) == ("interrupted", detail)
    assert wake(pid) == 3
    check_no_process([row.id])
    if point == "call.started":
        assert RAN not in written(stage)
    ends(stage)


def race(stage, *acts):
    """Run acts in processes of their own, let go at the same moment; return what each came to."""
    gate, open_gate = os.pipe()
    out, told = os.pipe()
    pids = []
    for number, act in enumerate(acts):
        pid = fork()
        if pid == 0:
            os.close(open_gate)
            with stage.at_work():
                os.read(gate, 1)
                os.write(told, f"{number} {act()}\n".encode())
            os._exit(0)
        pids.append(pid)
    os.close(told)
    os.close(gate)
    # Given away without a word: whoever reads sees the end at the same moment.
    time.sleep(0.02)
    os.close(open_gate)
    with os.fdopen(out) as pipe:
        found = dict(line.split(" ", 1) for line in pipe.read().splitlines())
    for pid in pids:
        os.waitpid(pid, 0)
    return [found[str(number)] for number in range(len(acts))]


@pytest.mark.parametrize("attempt", range(RACES))
def test_s_and_expiry_at_once_the_first_transaction_wins(on_stage, attempt):
    stage = on_stage("one-file")
    action = asks(stage)

    def expires():
        stage.clock.advance(WINDOW)
        return expire_due_actions(stage.journal) == [action.id]

    approved, expired = race(stage, lambda: stage.approve(action).why, expires)
    assert (approved, expired) in (("None", "False"), ("expired", "True"))
    row, _ = rests(stage)
    assert row.state in (("succeeded", "cancelled") if approved == "None" else ("expired",))
    ends(stage)


@pytest.mark.spec(207)
def test_approve_after_the_window_is_refused_even_if_nobody_expired_it(on_stage):
    stage = on_stage("one-file")
    action = asks(stage)
    stage.clock.advance(WINDOW)
    refused = approves(stage, action)
    assert (refused.ok, refused.why, refused.at) == (False, "expired", action.expires_at)
    with stage.at_work():
        assert stage.calls()["c1"].state == "pending"
        assert stage.journal.now() >= action.expires_at
    rests(stage)
    assert ends(stage)["c1"].state == "expired"


@pytest.mark.spec(215)
@pytest.mark.parametrize("attempt", range(RACES))
def test_two_s_the_second_gets_answer_refused(on_stage, attempt):
    stage = on_stage("one-file")
    action = asks(stage)
    results = race(stage, lambda: stage.approve(action).why, lambda: stage.reject(action, "no").why)
    assert sorted(results) == ["None", "decided"]
    with stage.at_work():
        (refused,) = stage.bodies(events.AnswerRefused)
        assert refused.why == "decided"
    row, _ = rests(stage)
    assert row.state == ("succeeded" if results[0] == "None" else "rejected")
    ends(stage)


def test_a_word_to_a_dead_h_counts_for_the_next(on_stage):
    stage = on_stage("one-file")
    assert stage.die(("call.finished", 1)).code == 137
    with stage.at_work():
        session_requests.continue_session(stage.journal, stage.session_id, USER)
        stage.drive()
        assert len(stage.bodies(events.ReplyCompleted)) == 2
        assert stage.session().status == "ready"
