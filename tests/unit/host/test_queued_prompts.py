"""Queued messages: edited, taken back and moved before a turn begins with them, or refused."""

import threading

import pytest

from tests.support.stage import USER, exchange, recording, text
from workbench.agents.reducer import fold_turn
from workbench.domain.events import (
    ContinueRequested,
    InterruptRequested,
    PromptsReordered,
    PromptSubmitted,
    PromptWithdrawn,
    TurnEnded,
    TurnStarted,
)
from workbench.effects import fault_points
from workbench.host import fork as forks
from workbench.host.queued_prompts import edit_prompt, move_prompt, withdraw_prompt
from workbench.host.session_requests import SessionRefused
from workbench.journal.errors import GuardFailed, JournalError
from workbench.journal.journal import Journal
from workbench.journal.leases import lease_guard, take_lease
from workbench.journal.prompt_queue_guard import PromptQueueGuard

BEGUN = TurnStarted(provider="recorded", model="m")


@pytest.fixture
def stage(staged):
    """Return a session that nobody drives, with its first prompt in a turn and three messages queued."""
    stage = staged(recording(exchange(text("ok")), exchange(text("ok again"))))
    stage.begin("first")
    append(stage, BEGUN, turn_id="t")
    for words in ("one", "two", "three"):
        stage.say(words)
    return stage


def append(stage, body, **about):
    stage.journal.append([stage.journal.event(body, stage.session_id, USER, **about)])


def state(stage, session_id=None):
    return fold_turn(stage.journal.events(session_id or stage.session_id))


def queue(stage, session_id=None):
    return [queued.prompt.text for queued in state(stage, session_id).queued_prompts]


def id_of(stage, words):
    return next(queued.id for queued in state(stage).queued_prompts if queued.prompt.text == words)


def edit(stage, before, after):
    edit_prompt(stage.journal, stage.session_id, id_of(stage, before), after, USER)


def withdraw(stage, words):
    withdraw_prompt(stage.journal, stage.session_id, id_of(stage, words), USER)


def test_a_queued_message_is_edited_in_its_place(stage):
    edit(stage, "two", "second")
    edit(stage, "second", "2")
    assert queue(stage) == ["one", "2", "three"]


def test_a_queued_message_is_taken_back_and_its_text_stays_in_the_journal(stage):
    withdraw(stage, "two")
    assert queue(stage) == ["one", "three"]
    assert "two" in [body.text for body in stage.bodies(PromptSubmitted)]


@pytest.mark.parametrize(
    ("words", "places", "order"),
    [
        ("one", 1, ["two", "one", "three"]),
        ("three", -1, ["one", "three", "two"]),
        ("one", 9, ["two", "three", "one"]),
        ("one", -1, ["one", "two", "three"]),
    ],
)
def test_a_queued_message_is_moved_as_far_as_the_queue_goes(stage, words, places, order):
    move_prompt(stage.journal, stage.session_id, id_of(stage, words), places, USER)
    assert queue(stage) == order
    assert len(stage.bodies(PromptsReordered)) == (order != ["one", "two", "three"])


def test_what_a_turn_has_begun_with_is_changed_by_nobody(stage):
    key = id_of(stage, "two")
    append(stage, TurnEnded(outcome="done"), turn_id="t")
    append(stage, BEGUN, turn_id="u")
    before = stage.kinds()
    for change in (
        lambda: edit_prompt(stage.journal, stage.session_id, key, "2", USER),
        lambda: withdraw_prompt(stage.journal, stage.session_id, key, USER),
        lambda: move_prompt(stage.journal, stage.session_id, key, 1, USER),
    ):
        with pytest.raises(SessionRefused, match="not queued any more"):
            change()
    assert stage.kinds() == before


def test_an_empty_edit_is_refused(stage):
    with pytest.raises(SessionRefused, match="empty"):
        edit(stage, "two", " \n")
    assert queue(stage) == ["one", "two", "three"]


def test_a_message_that_the_program_wrote_is_not_taken_back(stage):
    append(stage, PromptSubmitted(text="fix F401", incident="i"))
    with pytest.raises(SessionRefused, match="program wrote it"):
        withdraw(stage, "fix F401")


def test_editing_lets_no_paused_session_continue(stage):
    append(stage, InterruptRequested())
    append(stage, TurnEnded(outcome="interrupted"), turn_id="t")
    edit(stage, "two", "2")
    assert state(stage).is_held
    assert queue(stage) == ["one", "2", "three"]


def test_without_its_last_message_a_queue_wants_no_turn_unless_a_human_continued(stage):
    append(stage, TurnEnded(outcome="done"), turn_id="t")
    for words in ("one", "two", "three"):
        withdraw(stage, words)
    assert not state(stage).wants_turn
    stage.say("four")
    append(stage, ContinueRequested())
    withdraw(stage, "four")
    assert state(stage).wants_turn


# --- the race with the driver -----------------------------------------------------------------------


def test_a_driver_that_has_not_read_a_change_begins_no_turn(stage):
    lease = take_lease(stage.journal, stage.session_id, stage.driver())
    seen = stage.journal.last_position()
    withdraw(stage, "two")
    guard = PromptQueueGuard(lease=lease_guard(lease), cursor=seen)
    started = stage.journal.event(BEGUN, stage.session_id, USER, turn_id="u")
    with pytest.raises(GuardFailed, match="prompts have changed"):
        stage.journal.append([started], guard=guard)
    stage.journal.append(
        [started], guard=PromptQueueGuard(lease=lease_guard(lease), cursor=stage.journal.last_position())
    )
    stage.lock.close()


def test_of_a_driver_and_a_human_on_two_connections_exactly_one_gets_the_message(stage):
    lease = take_lease(stage.journal, stage.session_id, stage.driver())
    with Journal.open(stage.home) as other:
        for number in range(20):
            append(stage, TurnEnded(outcome="done"), turn_id=state(stage).turn.id)
            stage.say(f"message {number}")
            key, seen = id_of(stage, f"message {number}"), stage.journal.last_position()
            race(stage, other, lease, key, seen, f"u{number}")
            if state(stage).turn is None:
                append(stage, BEGUN, turn_id=f"next{number}")
    stage.lock.close()


def race(stage, other, lease, key, seen, turn):
    """Let both go for a message at once, and require that exactly one gets it."""
    gate, won = threading.Barrier(2), []

    def human():
        gate.wait()
        try:
            withdraw_prompt(other, stage.session_id, key, USER)
            won.append("human")
        except SessionRefused:
            pass

    thread = threading.Thread(target=human)
    thread.start()
    gate.wait()
    guard = PromptQueueGuard(lease=lease_guard(lease), cursor=seen)
    try:
        stage.journal.append([stage.journal.event(BEGUN, stage.session_id, USER, turn_id=turn)], guard=guard)
        won.append("driver")
    except GuardFailed:
        pass
    thread.join()
    assert len(won) == 1
    (withdrawn,) = [body for body in stage.bodies(PromptWithdrawn) if body.prompt_id == key] or [None]
    assert (withdrawn is not None) == (won == ["human"])


@pytest.mark.parametrize("point", ["journal.before_commit", "journal.after_commit"])
def test_a_death_around_the_commit_leaves_the_message_once(stage, point):
    with fault_points.arm_fault(point, "eio"), pytest.raises(JournalError):
        edit(stage, "two", "2")
    assert queue(stage) == ["one", "two" if point == "journal.before_commit" else "2", "three"]


# --- what a model reads -------------------------------------------------------------------------------


def test_what_was_taken_back_is_never_sent_and_what_was_edited_is_sent_in_its_place(staged):
    stage = staged(recording(exchange(text("ok"))))
    stage.begin("one")
    for words in ("two", "three"):
        stage.say(words)
    edit(stage, "two", "2")
    withdraw(stage, "three")
    stage.drive()
    said = [prompt.text for item in state(stage).history for prompt in getattr(item, "prompts", ())]
    assert said == ["one", "2"]


def test_a_fork_has_the_same_queue_and_none_of_what_was_taken_back_later(stage):
    edit(stage, "one", "1")
    move_prompt(stage.journal, stage.session_id, id_of(stage, "three"), -2, USER)
    moment = stage.journal.last_sequence(stage.session_id)
    session = stage.session()
    plan = forks.default_fork_plan(session)
    whole = forks.fork_session(stage.journal, session, plan, USER)
    assert queue(stage, whole) == ["three", "1", "two"]
    withdraw(stage, "two")
    earlier = forks.fork_session(stage.journal, session, plan, USER, moment)
    assert queue(stage, earlier) == ["three", "1"]
