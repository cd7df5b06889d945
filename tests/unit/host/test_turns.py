"""A session from prompt to reply, with everything that a human can answer in between."""

import threading

import pytest

from tests.support.stage import USER, call, exchange, recording, result, text
from workbench.domain import events
from workbench.domain.values import SelectedHunk
from workbench.host import gate_runner, session_requests

THREE = "".join(f"line {n}\n" for n in range(1, 31))
EDITED = (
    THREE.replace("line 2\n", "LINE 2\n").replace("line 15\n", "LINE 15\n").replace("line 29\n", "LINE 29\n")
)


def edit(call_id="c1", path="a.txt", old="line 2\n", new="LINE 2\n"):
    return call(call_id, "replace_string_in_file", path=path, old_string=old, new_string=new)


def whole(call_id="c1", path="a.txt"):
    return call(call_id, "replace_string_in_file", path=path, old_string=THREE, new_string=EDITED)


def test_a_plain_reply_ends_the_turn(staged):
    stage = staged(recording(exchange(text("Hello "), text("there.")))).begin("hi")
    progress = stage.drive()
    assert progress.is_idle
    assert progress.last_outcome == "done"
    assert stage.session().status == "ready"
    (reply,) = stage.bodies(events.ReplyCompleted)
    assert (reply.text, reply.exchange) == ("Hello there.", 0)
    assert "text.streamed" in stage.kinds()


@pytest.mark.spec(153, 154, 205, 208)
def test_an_edit_waits_and_nothing_is_written_until_it_is_approved(staged):
    stage = staged(
        recording(exchange(whole()), exchange(text("ok"), expect=result("c1", "succeeded"))),
        files={"a.txt": THREE},
    )
    stage.begin().drive()
    (action,) = stage.waiting()
    opened = stage.opened(action)
    assert (action.target, action.verb, action.added, action.removed) == ("a.txt", "edit", 3, 3)
    assert [hunk.index for hunk in opened.hunks] == [1, 2, 3]
    assert stage.read("a.txt") == THREE.encode()
    assert stage.approve(action).ok
    assert stage.drive().is_idle
    assert stage.read("a.txt") == EDITED.encode()
    assert stage.calls()["c1"].state == "succeeded"


def test_a_change_is_compared_in_a_thread_so_that_other_sessions_are_not_held_up(staged, monkeypatch):
    stage = staged(recording(exchange(whole()), exchange(text("ok"))), files={"a.txt": THREE})
    compared_in, make_hunks = [], gate_runner.make_hunks

    def noted(changes):
        compared_in.append(threading.current_thread())
        return make_hunks(changes)

    monkeypatch.setattr(gate_runner, "make_hunks", noted)
    stage.begin().drive()
    refresh = stage.waiting()[0]
    (stage.root / "project" / "a.txt").write_text(f"first\n{THREE}")
    session_requests.request_refresh(stage.journal, refresh.id, USER)
    stage.drive()
    assert len(compared_in) >= 1 and threading.main_thread() not in compared_in


def test_some_hunks_are_taken_and_the_agent_is_told_which(staged):
    told = result("c1", "partial", "hunk")
    stage = staged(recording(exchange(whole()), exchange(text("ok"), expect=told)), files={"a.txt": THREE})
    stage.begin().drive()
    assert stage.approve(stage.waiting()[0], hunks=[1, 3], reason="15 is right").ok
    assert stage.drive().last_outcome == "done"
    assert stage.read("a.txt") == EDITED.replace("LINE 15", "line 15").encode()
    (finished,) = stage.bodies(events.CallFinished)
    assert (finished.hunks_taken, finished.hunks_left) == ((1, 3), (2,))


def test_single_lines_are_taken(staged):
    stage = staged(
        recording(exchange(edit(old="line 2\nline 3\n", new="two\nthree\n")), exchange(text("ok"))),
        files={"a.txt": THREE},
    )
    stage.begin().drive()
    assert stage.approve(stage.waiting()[0], hunks=[SelectedHunk(hunk=1, lines=(1, 3))]).ok
    stage.drive()
    assert stage.read("a.txt").startswith(b"line 1\nline 3\ntwo\nline 4")


def test_an_edited_proposal_is_written_as_edited(staged):
    stage = staged(recording(exchange(edit()), exchange(text("ok"))), files={"a.txt": THREE})
    stage.begin().drive()
    assert stage.approve(stage.waiting()[0], edited={"a.txt": b"mine\n"}).ok
    stage.drive()
    assert stage.read("a.txt") == b"mine\n"


@pytest.mark.spec(28)
def test_a_rejection_reaches_the_model_with_its_reason(staged):
    told = result("c1", "rejected", "too wide")
    stage = staged(
        recording(exchange(edit()), exchange(text("I leave it."), expect=told)), files={"a.txt": THREE}
    )
    stage.begin().drive()
    assert stage.reject(stage.waiting()[0], "too wide").ok
    assert stage.drive().last_outcome == "done"
    assert stage.read("a.txt") == THREE.encode()
    assert "call.executing" not in stage.kinds()


def test_several_calls_are_answered_in_any_order_and_run_in_call_order(staged):
    script = recording(
        exchange(
            call("c1", "create_file", path="one.txt", content="1\n"),
            call("c2", "create_file", path="two.txt", content="2\n"),
            call("c3", "create_file", path="three.txt", content="3\n"),
        ),
        exchange(text("ok")),
    )
    stage = staged(script).begin()
    stage.drive()
    first, second, third = stage.waiting()
    for action in (third, second):
        assert stage.approve(action).ok
    stage.drive()
    assert not (stage.workspace / "two.txt").exists()
    assert stage.approve(first).ok
    stage.drive()
    order = [b.files_affected for b in stage.bodies(events.CallFinished)]
    assert order == [("one.txt",), ("two.txt",), ("three.txt",)]


def test_a_stacked_edit_is_shown_on_top_of_the_earlier_one(staged):
    script = recording(
        exchange(edit("c1"), edit("c2", old="LINE 2\n", new="Line two\n")), exchange(text("ok"))
    )
    stage = staged(script, files={"a.txt": THREE}).begin()
    stage.drive()
    first, second = stage.waiting()
    for action in (second, first):
        assert stage.approve(action).ok
    assert stage.drive().is_idle
    assert b"Line two\n" in stage.read("a.txt")


def test_a_stacked_edit_asks_again_when_the_earlier_one_is_not_taken(staged):
    script = recording(
        exchange(edit("c1"), edit("c2", old="line 29\n", new="LINE 29\n")),
        exchange(text("ok"), expect=result("c2", "succeeded")),
    )
    stage = staged(script, files={"a.txt": THREE}).begin()
    stage.drive()
    first, second = stage.waiting()
    assert stage.approve(second).ok
    assert stage.reject(first).ok
    stage.drive()
    (again,) = stage.waiting()
    assert (again.supersedes, again.id != second.id) == (second.id, True)
    assert stage.read("a.txt") == THREE.encode()
    assert stage.approve(again).ok
    assert stage.drive().is_idle
    assert stage.read("a.txt") == THREE.replace("line 29", "LINE 29").encode()


def test_a_base_that_moved_after_approval_asks_again(staged):
    script = recording(exchange(edit()), exchange(text("ok"), expect=result("c1", "succeeded")))
    stage = staged(script, files={"a.txt": THREE}).begin()
    stage.drive()
    (action,) = stage.waiting()
    assert stage.approve(action).ok
    (stage.workspace / "a.txt").write_text("new\n" + THREE)
    stage.drive()
    (again,) = stage.waiting()
    assert again.supersedes == action.id
    assert stage.read("a.txt") == b"new\n" + THREE.encode()
    assert stage.approve(again).ok
    assert stage.drive().is_idle
    assert stage.read("a.txt") == b"new\n" + THREE.replace("line 2\n", "LINE 2\n").encode()
    states = [row.state for row in stage.journal.calls(stage.session_id)]
    assert sorted(states) == ["cancelled", "succeeded"]


def test_a_command_runs_and_its_output_reaches_the_model(staged):
    script = recording(
        exchange(call("c1", "run_in_terminal", command="echo out; echo err >&2; exit 3")),
        exchange(text("ok"), expect=result("c1", "failed", "err")),
    )
    stage = staged(script).begin()
    stage.drive()
    assert stage.approve(stage.waiting()[0]).ok
    assert stage.drive().last_outcome == "done"
    (finished,) = stage.bodies(events.CallFinished)
    assert (finished.state, finished.exit_code, finished.preview) == ("failed", 3, "out\nerr\n")
    kinds = stage.kinds()
    assert kinds.index("call.executing") < kinds.index("process.started") < kinds.index("call.finished")


@pytest.mark.spec(25, 195)
def test_an_unknown_tool_is_refused_and_recorded(staged):
    told = result("c1", "refused", "no tool")
    stage = staged(recording(exchange(call("c1", "rm_rf", path="/")), exchange(text("ok"), expect=told)))
    assert stage.begin().drive().last_outcome == "done"
    assert stage.waiting() == []
    assert stage.calls()["c1"].state == "rejected"


def test_malformed_arguments_are_told_and_nothing_is_asked(staged):
    part = {"tool_call": {"id": "c1", "name": "create_file", "arguments": '{"path": "a", "path": "b"}'}}
    stage = staged(recording(exchange(part), exchange(text("ok"), expect=result("c1", "refused", "JSON"))))
    assert stage.begin().drive().last_outcome == "done"
    assert stage.waiting() == []


def test_reads_run_without_asking_once_a_human_granted_it(staged):
    script = recording(
        exchange(call("c1", "read_file", path="a.txt")),
        exchange(text("ok"), expect=result("c1", "succeeded", "line 30")),
    )
    stage = staged(script, files={"a.txt": THREE}).trust(read=True).begin()
    assert stage.drive().last_outcome == "done"


@pytest.mark.spec(60)
def test_reads_ask_by_default(staged):
    stage = staged(recording(exchange(call("c1", "read_file", path="a.txt"))), files={"a.txt": THREE}).begin()
    stage.drive()
    assert [a.verb for a in stage.waiting()] == ["read"]


def test_where_nobody_can_answer_everything_is_denied(staged):
    script = recording(exchange(edit()), exchange(text("ok"), expect=result("c1", "denied")))
    stage = staged(script, files={"a.txt": THREE}, can_ask=False).begin()
    assert stage.drive().last_outcome == "done"
    assert stage.read("a.txt") == THREE.encode()


def test_a_deny_pattern_beats_a_grant(staged):
    config = {"approvals": {"deny": ["Edit(a.txt)"], "allow": ["Edit(a.txt)"]}}
    script = recording(exchange(edit()), exchange(text("ok"), expect=result("c1", "denied")))
    stage = staged(script, files={"a.txt": THREE}, config=config).begin()
    assert stage.drive().last_outcome == "done"
    assert stage.calls()["c1"].error.endswith("in a deny list")


def test_an_allowed_command_runs_without_a_question(staged):
    config = {"approvals": {"allow": ["Bash(echo *)"]}}
    script = recording(
        exchange(call("c1", "run_in_terminal", command="echo hello")),
        exchange(text("ok"), expect=result("c1", "succeeded", "hello")),
    )
    stage = staged(script, config=config).begin()
    assert stage.drive().last_outcome == "done"


def test_a_pre_hook_blocks_with_its_output_and_a_post_hook_never_does(staged):
    config = {"hooks": {
        "PreToolUse": [{"matcher": "Write", "command": "echo not today; exit 2"}],
        "PostToolUse": [{"matcher": "Bash", "command": "exit 9"}],
    }, "approvals": {"allow": ["Bash(echo *)"]}}  # fmt: skip
    script = recording(
        exchange(
            call("c1", "create_file", path="n.txt", content="x"),
            call("c2", "run_in_terminal", command="echo hi"),
        ),
        exchange(text("ok"), expect=result("c2", "succeeded")),
    )
    stage = staged(script, config=config).begin()
    assert stage.drive().last_outcome == "done"
    assert "not today" in stage.calls()["c1"].error
    hooks = stage.bodies(events.HookRan)
    assert [(hook.event, hook.exit_code, hook.blocked) for hook in hooks] == [
        ("PreToolUse", 2, True),
        ("PostToolUse", 9, False),
    ]
    assert not (stage.workspace / "n.txt").exists()


def test_a_provider_error_ends_the_turn_and_the_session_goes_on(staged):
    script = recording(exchange({"error": {"status": 400, "message": "bad"}}), exchange(text("ok")))
    stage = staged(script).begin()
    assert stage.drive().last_outcome == "error"
    assert stage.session().status == "ready"
    stage.say("again")
    assert stage.drive().last_outcome == "done"


def test_what_is_refused_for_the_moment_is_tried_again(staged):
    script = recording(
        exchange({"error": {"status": 429, "retry_after_s": 1, "message": "slow down"}}), exchange(text("ok"))
    )
    stage = staged(script).begin()
    assert stage.drive().last_outcome == "done"
    assert [error.exchange for error in stage.bodies(events.ErrorRaised)] == [0]


def test_an_exhausted_recording_says_so(staged):
    stage = staged(recording(exchange(text("one")))).begin()
    stage.drive()
    stage.say("more")
    assert stage.drive().last_outcome == "error"
    assert "recording exhausted (1 of 1)" in stage.bodies(events.ErrorRaised)[0].message


def test_secrets_are_not_recorded_but_are_written(staged):
    secret = "ghp_" + "a1B2" * 9
    script = recording(
        exchange(
            text(f"use {secret} now"), call("c1", "create_file", path="s.txt", content=f"token {secret}\n")
        ),
        exchange(text("ok")),
    )
    stage = staged(script).begin(f"my key is {secret}")
    stage.drive()
    (action,) = stage.waiting()
    assert "scrubbed" in action.warnings
    assert stage.approve(action).ok
    stage.drive()
    assert secret in stage.read("s.txt").decode()
    database = b"".join(p.read_bytes() for p in stage.home.path.glob("journal.db*"))
    assert secret.encode() not in database
    for blob in (stage.home.blobs / "recorded").iterdir():
        assert secret.encode() not in blob.read_bytes()


@pytest.mark.spec(202)
def test_a_secret_in_a_humans_reason_is_not_recorded(staged):
    secret = "ghp_" + "a1B2" * 9
    stage = staged(recording(exchange(edit()), exchange(text("ok"))), files={"a.txt": THREE}).begin()
    stage.drive()
    stage.reject(stage.waiting()[0], f"use {secret}")
    (body,) = stage.bodies(events.ActionRejected)
    assert body.reason.startswith("use ⟨secret")


def test_escape_sequences_in_a_file_are_warned_of(staged):
    stage = staged(
        recording(exchange(call("c1", "create_file", path="n.txt", content="\x1b[2Jhello\n")))
    ).begin()
    stage.drive()
    assert "hidden" in stage.waiting()[0].warnings


def test_an_edited_proposal_is_not_called_partial(staged):
    stage = staged(recording(exchange(edit()), exchange(text("ok"))), files={"a.txt": THREE}).begin()
    stage.drive()
    stage.approve(stage.waiting()[0], edited={"a.txt": b"mine\n"})
    stage.drive()
    (finished,) = stage.bodies(events.CallFinished)
    assert (finished.detail, finished.hunks_taken) == ("edited", ())


@pytest.mark.spec(21)
@pytest.mark.parametrize("forged", ["digest", "result_digest"])
def test_an_approval_of_other_bytes_than_were_shown_writes_nothing(staged, forged):
    stage = staged(recording(exchange(edit()), exchange(text("ok"))), files={"a.txt": THREE})
    stage.begin().drive()
    (action,) = stage.waiting()
    event = stage.journal.event_at(action.opened_at)
    facts = {"digest": action.digest, "result_digest": action.digest, forged: "0" * 64}
    body = events.ActionApproved(approved_until=stage.journal.now() + 60_000_000, **facts)
    ids = {"turn_id": event.turn_id, "call_id": event.call_id, "action_id": action.id}
    stage.journal.append([stage.journal.event(body, stage.session_id, USER, **ids)], strict=False)
    stage.drive()
    assert stage.read("a.txt") == THREE.encode()
    ended = stage.calls()["c1"]
    assert (ended.state, ended.error) == ("cancelled", "what would be written is not what was approved")
