"""Asking an agent for what expired: once, in plain words, and only where somebody can act."""

import threading

import pytest

from tests.support.stage import USER, Stage, call, exchange, recording, result, text
from workbench.domain import events
from workbench.domain.events import PromptSubmitted
from workbench.effects.clock import ManualClock
from workbench.host.session_requests import SessionRefused, propose_again
from workbench.journal.decisions import expire_due_actions, extend_action
from workbench.journal.session_queries import asked_again_ids

WRITE = call("c1", "create_file", path="a.txt", content="a\n")
RUN = call("c2", "run_in_terminal", command="echo hi")
AGAIN = call("c3", "create_file", path="a.txt", content="a\n")


@pytest.fixture
def late(tmp_path):
    """Return a stage on which two actions have expired and the session rests."""
    script = recording(
        exchange(text("both"), WRITE, RUN),
        exchange(text("again"), AGAIN, expect=result("c1", "expired")),
        exchange(text("done")),
    )
    stage = Stage(tmp_path, script, clock=ManualClock())
    stage.trust()
    stage.begin()
    stage.drive()
    stage.journal.clock.advance(16 * 60)
    expire_due_actions(stage.journal)
    stage.drive()
    stage.expired = stage.journal.actions(stage.session_id, ("expired",))
    assert [action.verb for action in stage.expired] == ["write", "run"]
    yield stage
    stage.close()


def prompts(stage):
    return [body for body in stage.bodies(PromptSubmitted) if body.asks_again]


def ask(stage, *actions):
    return propose_again(stage.journal, [action.id for action in actions], USER)


def test_one_is_asked_for_in_plain_words_and_comes_back_as_another_row(late):
    first, _ = late.expired
    assert ask(late, first) == [first]
    (prompt,) = prompts(late)
    assert prompt.asks_again == (first.id,)
    assert prompt.text == (
        "Nobody answered in time, so this was not done: write a.txt (create_file). "
        "Propose it again if it is still wanted."
    )
    late.drive()
    (new,) = late.waiting()
    assert (new.verb, new.target, new.id != first.id) == ("write", "a.txt", True)
    assert late.journal.action(first.id).state == "expired"
    assert not (late.workspace / "a.txt").exists()


def test_several_are_one_prompt(late):
    assert ask(late, *late.expired) == late.expired
    (prompt,) = prompts(late)
    assert prompt.text.splitlines() == [
        "Nobody answered in time, so none of these was done:",
        "- write a.txt (create_file)",
        "- run echo hi (run_in_terminal)",
        "Propose again each one that is still wanted.",
    ]


def test_a_second_time_prompts_nothing(late):
    first, second = late.expired
    ask(late, first)
    with pytest.raises(SessionRefused, match="asked for it already"):
        ask(late, first)
    assert ask(late, first, second) == [second]
    assert [prompt.asks_again for prompt in prompts(late)] == [(first.id,), (second.id,)]
    with late.journal.snapshot() as database:
        assert asked_again_ids(database, late.session_id) == {first.id, second.id}


def test_of_many_at_the_same_time_one_prompts(late):
    first, _ = late.expired
    refused = []

    def one():
        try:
            ask(late, first)
        except SessionRefused:
            refused.append(1)

    threads = [threading.Thread(target=one) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(refused), len(prompts(late))) == (5, 1)


def test_what_did_not_expire_is_refused(late):
    ask(late, late.expired[0])
    late.drive()
    (waiting,) = late.waiting()
    with pytest.raises(SessionRefused, match="waiting still"):
        ask(late, waiting)
    late.reject(waiting)
    with pytest.raises(SessionRefused, match="rejected"):
        ask(late, waiting)
    with pytest.raises(SessionRefused, match="no action"):
        propose_again(late.journal, ["nope"], USER)
    with pytest.raises(SessionRefused, match="none is named"):
        propose_again(late.journal, [], USER)


def test_an_ended_session_is_refused_with_what_works(late):
    over = events.SessionStatusChanged(status="completed")
    late.journal.append([late.journal.event(over, late.session_id, USER)])
    with pytest.raises(SessionRefused, match="ended") as refused:
        ask(late, late.expired[0])
    assert "workbench sessions fork" in refused.value.remedy
    assert prompts(late) == []


def test_a_secret_in_a_command_stays_out_of_the_prompt(tmp_path):
    planted = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    script = recording(exchange(text("x"), call("c1", "run_in_terminal", command=f"login {planted}")))
    stage = Stage(tmp_path, script, clock=ManualClock())
    stage.trust()
    stage.begin()
    stage.drive()
    stage.journal.clock.advance(16 * 60)
    expire_due_actions(stage.journal)
    ask(stage, *stage.journal.actions(stage.session_id, ("expired",)))
    (prompt,) = prompts(stage)
    assert "run login" in prompt.text and planted not in prompt.text
    stage.close()


def test_a_row_has_the_window_of_its_kind_and_extending_gives_it_again(tmp_path):
    windows = [{"kind": "edit", "minutes": 40}, {"kind": "command", "minutes": 2}]
    script = recording(exchange(text("both"), WRITE, RUN))
    stage = Stage(tmp_path, script, clock=ManualClock(), config={"approvals": {"windows": windows}})
    stage.trust()
    stage.begin()
    stage.drive()
    found = {action.verb: (action.expires_at - action.created_at) // 60_000_000 for action in stage.waiting()}
    assert found == {"write": 40, "run": 2}
    stage.journal.clock.advance(30 * 60)
    write = next(action for action in stage.waiting() if action.verb == "write")
    extended = extend_action(stage.journal, write.id, USER)
    new = stage.journal.action(extended.successor)
    assert (new.expires_at - new.created_at) // 60_000_000 == 40
    stage.close()
