"""Expiry, staleness, stopping, undo, and what a driver finds that takes over from a dead one."""

import asyncio
import os
import signal

import pytest

from tests.support.stage import USER, Stage, call, exchange, no_wait, recording, result, text
from tests.support.waits import PATIENCE
from workbench.domain import events
from workbench.effects.clock import ManualClock
from workbench.effects.process_table import read_process
from workbench.host import model_call, session_driver, session_requests
from workbench.host.driver_context import open_driver_context
from workbench.host.fork import default_fork_plan, fork_session
from workbench.host.session_driver import drive_session
from workbench.host.steps.pipeline_tool import SessionPipelineStarter
from workbench.journal.decisions import expire_due_actions, extend_action

CREATE = call("c1", "create_file", path="n.txt", content="new\n")
MINUTE = 60


def waiting_stage(staged, *exchanges, clock=None, **more):
    stage = staged(
        recording(exchange(CREATE), *(exchanges or (exchange(text("ok")),))),
        clock=clock or ManualClock(),
        **more,
    )
    stage.begin().drive()
    return stage


@pytest.mark.spec(156, 206, 207)
def test_what_nobody_answers_expires_and_the_session_pauses(staged):
    stage = waiting_stage(staged, exchange(text("nobody"), expect=result("c1", "expired")))
    (action,) = stage.waiting()
    assert action.expires_at - action.created_at == 15 * MINUTE * 1_000_000
    stage.journal.clock.advance(15 * MINUTE)
    refused = stage.approve(action)
    assert (refused.ok, refused.why) == (False, "expired")
    progress = stage.drive()
    assert (progress.last_outcome, stage.session().reason) == ("unattended", "unattended")
    assert stage.calls()["c1"].state == "expired"
    assert not (stage.workspace / "n.txt").exists()
    assert len(stage.bodies(events.ReplyCompleted)) == 1
    session_requests.continue_session(stage.journal, stage.session_id, USER)
    assert stage.drive().last_outcome == "done"


@pytest.mark.spec(137)
def test_waiting_for_an_answer_is_no_work(staged, monkeypatch):
    monkeypatch.setattr(session_driver, "CLOCK_TICK_SECONDS", 0.01)
    clock, stop, waited = ManualClock(), session_driver.stop_long_turn, []
    script = recording(exchange(CREATE), exchange(text("Done."), when=result("c1", "succeeded")))
    stage = staged(script, clock=clock).begin(configuration={"timeout": 2})

    async def look(writer, state):
        await stop(writer, state)
        # The first look after the human has taken five minutes: had they counted, the turn is asked to stop.
        if waited == ["long"]:
            waited.append(stage.bodies(events.InterruptRequested))
            stage.approve(*stage.waiting())

    def until(progress):
        if progress.is_resting and not waited:
            clock.advance(5 * MINUTE)
            waited.append("long")
        return progress.is_idle

    monkeypatch.setattr(session_driver, "stop_long_turn", look)
    assert stage.drive(until).last_outcome == "done"
    assert waited == ["long", []]


def test_expiry_may_let_the_session_go_on(staged):
    stage = waiting_stage(
        staged,
        exchange(text("so"), expect=result("c1", "expired")),
        config={"approvals": {"on_expiry": "continue"}},
    )
    stage.journal.clock.advance(15 * MINUTE)
    assert expire_due_actions(stage.journal) == [stage.calls()["c1"].action_id]
    assert stage.drive().last_outcome == "done"


def test_an_approval_that_nothing_ran_in_time_lapses(staged):
    stage = waiting_stage(staged)
    assert stage.approve(stage.waiting()[0]).ok
    stage.journal.clock.advance(15 * MINUTE)
    stage.drive()
    assert (stage.calls()["c1"].state, stage.calls()["c1"].detail) == ("cancelled", "lapsed")
    assert not (stage.workspace / "n.txt").exists()


def test_extending_gives_a_new_id_and_the_same_bytes(staged):
    stage = waiting_stage(staged)
    (action,) = stage.waiting()
    stage.journal.clock.advance(14 * MINUTE)
    assert extend_action(stage.journal, action.id, USER).ok
    (longer,) = stage.waiting()
    assert (longer.digest, longer.supersedes, longer.extensions) == (action.digest, action.id, 1)
    assert stage.approve(longer).ok
    stage.drive()
    assert stage.read("n.txt") == b"new\n"


def test_a_waiting_edit_becomes_stale_and_is_refreshed_by_word(staged):
    edit = call("c1", "replace_string_in_file", path="a.txt", old_string="b\n", new_string="B\n")
    stage = staged(
        recording(exchange(edit), exchange(text("ok"), expect=result("c1", "succeeded"))),
        files={"a.txt": "a\nb\n"},
    )
    stage.begin().drive()
    (stage.workspace / "a.txt").write_text("x\na\nb\n")
    stage.drive(until=lambda p: any(a.stale_paths for a in p.waiting))
    (action,) = stage.waiting()
    assert action.warnings == ("stale",)
    assert stage.approve(action).why == "stale"
    session_requests.request_refresh(stage.journal, action.id, USER)
    stage.drive()
    (fresh,) = stage.waiting()
    assert (fresh.supersedes, fresh.warnings) == (action.id, ())
    assert stage.approve(fresh).ok
    assert stage.drive().last_outcome == "done"
    assert stage.read("a.txt") == b"x\na\nB\n"


def test_a_stale_edit_that_can_no_longer_be_made_is_withdrawn(staged):
    edit = call("c1", "replace_string_in_file", path="a.txt", old_string="b\n", new_string="B\n")
    stage = staged(
        recording(exchange(edit), exchange(text("ok"), expect=result("c1", "cancelled"))),
        files={"a.txt": "a\nb\n"},
    )
    stage.begin().drive()
    (stage.workspace / "a.txt").write_text("gone\n")
    stage.drive(until=lambda p: any(a.stale_paths for a in p.waiting))
    session_requests.request_refresh(stage.journal, stage.waiting()[0].id, USER)
    assert stage.drive().last_outcome == "done"
    assert stage.read("a.txt") == b"gone\n"


@pytest.mark.spec(158)
def test_an_applied_change_is_undone_from_its_sealed_images(staged):
    edit = call("c1", "replace_string_in_file", path="a.txt", old_string="b\n", new_string="B\n")
    stage = staged(recording(exchange(edit), exchange(text("ok"))), files={"a.txt": "a\nb\n"})
    stage.begin().drive()
    (action,) = stage.waiting()
    stage.approve(action)
    stage.drive()
    assert stage.read("a.txt") == b"a\nB\n"
    session_requests.request_undo(stage.journal, action.id, USER)
    stage.drive()
    assert stage.read("a.txt") == b"a\nb\n"
    assert [body.change for body in stage.bodies(events.FileChanged)] == ["modify", "modify"]
    session_requests.request_undo(stage.journal, action.id, USER)
    stage.drive()
    again = [row for row in stage.journal.calls(stage.session_id) if row.tool == "undo"][-1]
    assert (again.state, again.error) == ("rejected", "it is as it was before already")


def requests_of(stage, monkeypatch):
    """Return what each model call sends from here on."""
    from workbench.providers.recording import RecordedProvider

    requests, reply = [], RecordedProvider.reply

    def spied(provider, request):
        requests.append(request)
        return reply(provider, request)

    monkeypatch.setattr(RecordedProvider, "reply", spied)
    return requests


def note(path):
    return (
        "Note of the workbench: the user took back what you had changed.\n"
        f"- {path}: the change of your call c1 (create_file) was undone; "
        "the file is removed again: it was not there before.\n"
        "Read a file again before you build on it.\n\nwhat did you change?"
    )


@pytest.mark.parametrize("is_forked", [False, True])
def test_an_undo_is_told_to_the_agent_with_the_next_prompt(staged, monkeypatch, is_forked):
    stage = waiting_stage(staged, exchange(text("ok")), exchange(text("nothing is left of it")))
    (action,) = stage.waiting()
    stage.approve(action)
    stage.drive()
    session_requests.request_undo(stage.journal, action.id, USER)
    stage.drive()
    assert not (stage.workspace / "n.txt").exists()
    if is_forked:
        source = stage.session()
        stage.session_id = fork_session(stage.journal, source, default_fork_plan(source), USER)
    requests = requests_of(stage, monkeypatch)
    stage.say("what did you change?")
    stage.drive()
    assert [message.content for message in requests[0].messages if message.role == "user"] == [
        "do it",
        note("n.txt"),
    ]
    assert requests[0].fresh[-1].content == note("n.txt")


def test_an_undo_that_would_lose_later_work_is_refused(staged):
    stage = waiting_stage(staged)
    (action,) = stage.waiting()
    stage.approve(action)
    stage.drive()
    (stage.workspace / "n.txt").write_text("later\n")
    session_requests.request_undo(stage.journal, action.id, USER)
    stage.drive()
    assert stage.read("n.txt") == b"later\n"
    undo = next(row for row in stage.journal.calls(stage.session_id) if row.tool == "undo")
    assert (undo.state, "n.txt" in undo.error) == ("rejected", True)


def test_an_interrupt_ends_a_running_command_and_withdraws_what_waits(staged):
    script = recording(
        exchange(
            call("c1", "run_in_terminal", command="sleep 60"),
            CREATE | {"tool_call": {**CREATE["tool_call"], "id": "c2"}},
        ),
        exchange(text("ok")),
    )
    stage = staged(script).begin()
    stage.drive()
    first, _ = stage.waiting()
    stage.approve(first)

    def until(progress):
        states = {row.provider_call_id: row.state for row in progress.calls}
        if (
            states["c1"] == "executing"
            and "process.started" in stage.kinds()
            and "interrupt.requested" not in stage.kinds()
        ):
            session_requests.interrupt_session(stage.journal, stage.session_id, USER)
        return progress.is_idle

    progress = stage.drive(until=until)
    assert (progress.last_outcome, stage.session().reason) == ("interrupted", "user")
    assert {k: (c.state, c.detail) for k, c in stage.calls().items()} == {
        "c1": ("cancelled", "stopped"),
        "c2": ("cancelled", "withdrawn"),
    }
    assert stage.waiting() == []


def test_an_interrupt_keeps_what_the_model_had_said(staged):
    script = recording(exchange(text("half "), {"text": "never", "after_ms": 60_000}))
    stage = staged(script)
    stage.begin()

    async def forever(seconds):
        session_requests.interrupt_session(stage.journal, stage.session_id, USER)
        await asyncio.Event().wait()

    from tests.support.stage import provider_maker_with_sleep

    stage.context = lambda: open_driver_context(
        stage.home,
        stage.journal,
        str(stage.workspace),
        provider=provider_maker_with_sleep(forever),
        pipelines=SessionPipelineStarter,
    )
    progress = stage.drive(until=lambda p: p.is_idle)
    assert progress.last_outcome == "interrupted"
    assert [body.text for body in stage.bodies(events.ReplyCompleted)] == ["half "]


# --- replies without measure ----------------------------------------------------------------------


def of_replies(stage, *codes):
    return [body.message for body in stage.bodies(events.ErrorRaised) if body.code in codes]


def test_of_a_flood_of_calls_the_first_are_taken_and_both_are_told(staged, monkeypatch):
    monkeypatch.setattr(model_call, "MAX_REPLY_CALLS", 3)
    flood = [call(f"c{number}", "read_file", path="a.txt") for number in range(3_000)]
    stage = staged(recording(exchange(*flood), exchange(text("ok"))), files={"a.txt": "one"})
    requests = requests_of(stage, monkeypatch)
    stage.trust(read=True).begin().drive()
    assert list(stage.calls()) == ["c0", "c1", "c2"]
    assert len(of_replies(stage, "reply_calls")) == 1
    assert (
        requests[1]
        .messages[-1]
        .content.startswith("Note of the workbench: of your last reply not all was taken")
    )


def test_a_reply_that_is_too_long_is_cut_and_what_came_is_kept(staged, monkeypatch):
    monkeypatch.setattr(model_call, "MAX_REPLY_CHARACTERS", 50)
    long = exchange(text("a" * 40), text("b" * 40), call("c1", "create_file", path="n.txt", content="x"))
    stage = staged(recording(long, exchange(text("ok")))).begin()
    requests = requests_of(stage, monkeypatch)
    stage.drive()
    assert [body.text for body in stage.bodies(events.ReplyCompleted)] == ["a" * 40 + "b" * 10]
    assert (len(of_replies(stage, "reply_size")), stage.calls()) == (1, {})
    stage.say("go on")
    stage.drive()
    assert "not all was taken" in requests[-1].messages[-1].content


def test_a_call_that_does_not_fit_is_left_out_whole(staged, monkeypatch):
    monkeypatch.setattr(model_call, "MAX_REPLY_CHARACTERS", 100)
    calls = [call(f"c{number}", "read_file", path="a" * 60) for number in range(3)]
    stage = staged(recording(exchange(*calls), exchange(text("ok")))).trust(read=True).begin()
    stage.drive()
    assert (list(stage.calls()), len(of_replies(stage, "reply_size"))) == (["c0"], 1)


def dripping(words, seconds):
    """Return a provider that says a word now and then and never ends."""
    from workbench.domain.messages import TextPart

    class Dripping:
        name = "recorded"

        async def reply(self, request):
            for word in words:
                yield TextPart(text=word)
            await asyncio.sleep(seconds)

    return lambda session, config: Dripping()


@pytest.mark.parametrize("words", [["half ", "a reply"], []])
def test_a_server_that_drips_holds_a_turn_no_longer_than_a_reply_may_take(staged, monkeypatch, words):
    monkeypatch.setattr(model_call, "DEFAULT_REPLY_SECONDS", 0.2)
    stage = staged(recording(exchange(text("ok")))).begin()
    made = open_driver_context(
        stage.home,
        stage.journal,
        str(stage.workspace),
        provider=dripping(words, 60),
        pipelines=SessionPipelineStarter,
        sleep=no_wait,
    )
    stage.context = lambda: made
    progress = stage.drive()
    assert [body.text for body in stage.bodies(events.ReplyCompleted)] == (["half a reply"] if words else [])
    assert progress.last_outcome == ("done" if words else "error")
    assert len(of_replies(stage, "reply_time" if words else "no_answer")) == 1


# --- drivers that die ---------------------------------------------------------------------------


def dying(stage: Stage, point: str, nth: int = 1) -> int:
    """Drive the session in a forked process that dies at a fault point; return its exit code."""
    pid = os.fork()
    if pid == 0:
        try:
            from workbench.effects import fault_points
            from workbench.journal.journal import Journal

            os.setsid()
            stage.journal = Journal.open(stage.home)
            fault_points.arm_fault(point, "exit", nth)
            stage.drive()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def approved_stage(staged):
    """Return a stage whose one action is approved, without any thread in this process."""
    stage = staged(recording(exchange(CREATE), exchange(text("ok"))))
    stage.begin().drive()
    stage.approve(stage.waiting()[0])
    stage.journal.close()
    return stage


def reopened(stage):
    from workbench.journal.journal import Journal

    stage.journal = Journal.open(stage.home)
    return stage


@pytest.mark.parametrize(
    ("point", "state", "detail", "written"),
    [
        ("call.before_executing", "succeeded", "", True),
        ("call.executing", "interrupted", "nothing written", False),
        ("apply.staged", "interrupted", "nothing written", False),
        ("apply.renamed", "succeeded", "recovered", True),
        ("call.finished_effect", "succeeded", "recovered", True),
        ("call.finished", "succeeded", "", True),
    ],
)
def test_a_dead_driver_is_settled_and_no_model_is_called(staged, point, state, detail, written):
    stage = approved_stage(staged)
    assert dying(stage, point) == 137
    reopened(stage).drive()
    row = stage.calls()["c1"]
    assert (row.state, row.detail, (stage.workspace / "n.txt").exists()) == (state, detail, written)
    assert stage.session().reason == "host lost"
    assert len(stage.bodies(events.ReplyCompleted)) == 1
    session_requests.continue_session(stage.journal, stage.session_id, USER)
    assert stage.drive().last_outcome == "done"


@pytest.mark.parametrize("point", ["apply.done", "call.finished", "turn.model_called"])
def test_an_undo_is_told_also_by_the_driver_that_took_over(staged, monkeypatch, point):
    stage = waiting_stage(staged, exchange(text("ok")), exchange(text("it is gone")), clock=None)
    (action,) = stage.waiting()
    stage.approve(action)
    stage.drive()
    session_requests.request_undo(stage.journal, action.id, USER)
    stage.say("what did you change?")
    stage.journal.close()
    assert dying(stage, point) != 0
    requests = requests_of(stage, monkeypatch)
    reopened(stage).drive()
    assert not (stage.workspace / "n.txt").exists()
    session_requests.continue_session(stage.journal, stage.session_id, USER)
    stage.drive()
    told = [message.content for message in requests[-1].messages if message.role == "user"]
    assert told == ["do it", note("n.txt")]


def test_a_command_whose_driver_died_is_ended_and_its_outcome_unknown(staged):
    script = recording(
        exchange(call("c1", "run_in_terminal", command="echo $$ | tee pid; sleep 300")), exchange(text("ok"))
    )
    stage = staged(script).begin()
    stage.drive()
    stage.approve(stage.waiting()[0])
    stage.journal.close()
    pid = os.fork()
    if pid == 0:
        reopened(stage).drive(
            until=lambda p: (
                (stage.workspace / "pid").exists() and (os.kill(os.getpid(), signal.SIGKILL) or True)
            )
        )
        os._exit(0)
    os.waitpid(pid, 0)
    reopened(stage).drive()
    row = stage.calls()["c1"]
    assert (row.state, row.detail) == ("interrupted", "outcome unknown")
    command = int(stage.read("pid"))
    left = read_process(command)
    assert left is None or not left.is_alive


@pytest.mark.spec(215)
def test_a_second_driver_is_told_who_drives(staged):
    from workbench.journal.errors import SessionDriven

    stage = waiting_stage(staged)
    seen = []

    async def run():
        context = stage.context()
        other = stage.driver()
        first = stage.lock

        def until(progress):
            try:
                asyncio.get_running_loop()
                from workbench.journal.leases import take_lease

                stage.driver()
                take_lease(stage.journal, stage.session_id, stage.lock.driver)
            except SessionDriven as error:
                seen.append(error.pid)
            finally:
                stage.lock.close()
            return True

        await drive_session(context, other, stage.session_id, until=until)
        first.close()

    asyncio.run(run())
    assert set(seen) == {os.getpid()}


def test_an_answer_that_comes_while_a_question_is_made_anew_counts(staged):
    """The host has to accept that it lost the race: exactly one of both can win."""
    config = {
        "hooks": {
            "PreToolUse": [
                {
                    "matcher": "Edit",
                    "command": "[ ! -e ask ] || { touch asked; while [ -e ask ]; do sleep 0.02; done; }",
                }
            ]
        }
    }
    edit = call("c1", "replace_string_in_file", path="a.txt", old_string="b\n", new_string="B\n")
    stage = staged(
        recording(exchange(edit), exchange(text("ok"), expect=result("c1", "rejected"))),
        files={"a.txt": "a\nb\n"},
        config=config,
    )
    stage.begin().drive()
    (stage.workspace / "a.txt").write_text("x\na\nb\n")
    stage.drive(until=lambda p: any(a.stale_paths for a in p.waiting))
    (action,) = stage.waiting()
    (stage.workspace / "ask").write_text("")
    session_requests.request_refresh(stage.journal, action.id, USER)

    async def answer():
        while not (stage.workspace / "asked").exists():
            await asyncio.sleep(0.01)
        assert stage.reject(action).ok
        (stage.workspace / "ask").unlink()

    async def both():
        driving = drive_session(stage.context(), stage.driver(), stage.session_id, until=lambda p: p.is_idle)
        return (await asyncio.wait_for(asyncio.gather(driving, answer()), PATIENCE))[0]

    progress = asyncio.run(both())
    stage.lock.close()
    assert progress.last_outcome == "done"
    assert stage.bodies(events.ErrorRaised) == []


def test_an_outcome_is_written_where_its_output_cannot_be_kept(staged, monkeypatch):
    from workbench.journal.errors import JournalFull

    command = call("c1", "run_in_terminal", command="yes 0123456789 | head -c 50000")
    stage = staged(
        recording(exchange(command), exchange(text("ok"), expect=result("c1", "succeeded")))
    ).begin()
    stage.drive()
    stage.approve(stage.waiting()[0])

    def full(data):
        raise JournalFull("not stored", "the disk is full", "free some space")

    monkeypatch.setattr(stage.journal.blobs, "record", full)
    assert stage.drive().last_outcome == "done"
    (finished,) = stage.bodies(events.CallFinished)
    assert (finished.state, finished.output_ref, finished.output_bytes) == ("succeeded", None, 50_000)
    assert "disk is full" in finished.metadata["output"]


def test_a_failure_is_not_hidden_by_a_recording_that_has_no_second_answer(staged):
    stage = staged(recording(exchange({"error": {"status": 500, "message": "boom"}}))).begin()
    assert stage.drive().last_outcome == "error"
    assert [error.message for error in stage.bodies(events.ErrorRaised)] == ["boom", "boom"]
