"""Limits of tokens and cost: a row asks, a yes allows as much again, a no stops, and a crash changes nothing."""

import json

import pytest

from tests.support.stage import call, exchange, recording, text
from workbench.domain.events import ActionCancelled, ContinueRequested, ReplyCompleted, TurnEnded
from workbench.domain.values import SPEND_LIMIT
from workbench.effects.clock import ManualClock

DAY = 86_400
READ = {"tokens": {"session": 100}}


def used(sent, received=0, cost=0):
    return {"usage": {"input_tokens": sent, "output_tokens": received}}


def reads(number, sent=60):
    """Return an exchange that reads a file and used tokens."""
    return exchange(call(f"c{number}", "read_file", path="a.txt"), used(sent))


def play(staged, *exchanges, limits=READ, **more):
    config = {"limits": limits, "approvals": {"read_only": "auto"}, **more.pop("config", {})}
    stage = staged(recording(*exchanges), files={"a.txt": "one"}, config=config, **more).trust(read=True)
    stage.begin().drive()
    return stage


def limit_row(stage):
    (action,) = stage.waiting()
    assert SPEND_LIMIT in action.subject
    return action


def test_a_session_asks_before_it_goes_beyond_its_limit(staged):
    stage = play(staged, reads(1), reads(2), exchange(text("done"), used(5)))
    action = limit_row(stage)
    assert len(stage.bodies(ReplyCompleted)) == 2, "120 of 100 tokens: nothing is asked of the model any more"
    assert (stage.session().status, stage.session().reason) == ("paused", "limit reached")
    assert action.verb == "limit" and "120 of 100 tokens used" in action.target
    assert action.expires_at is None
    assert stage.approve(action).ok
    stage.drive()
    assert len(stage.bodies(ReplyCompleted)) == 3 and not stage.waiting()
    assert stage.bodies(TurnEnded)[-1].outcome == "done"


def test_a_yes_allows_as_much_again_and_no_more(staged):
    stage = play(staged, *(reads(number) for number in range(1, 6)), exchange(text("done")))
    stage.approve(limit_row(stage))
    stage.drive()
    second = limit_row(stage)
    assert second.subject["allowed"] == 200 and second.subject["used"] == 240
    assert len(stage.bodies(ReplyCompleted)) == 4


def test_a_no_stops_the_turn(staged):
    stage = play(staged, reads(1), reads(2), exchange(text("done")))
    assert stage.reject(limit_row(stage)).ok
    stage.drive()
    assert len(stage.bodies(ReplyCompleted)) == 2 and not stage.waiting()
    assert stage.bodies(TurnEnded)[-1].outcome == "interrupted"
    assert stage.session().status == "paused"


def test_who_says_continue_or_asks_for_more_without_an_answer_finds_the_same_row(staged):
    stage = play(staged, reads(1), reads(2), exchange(text("done")))
    first = limit_row(stage)
    stage.say("go on")
    stage.drive()
    assert limit_row(stage).id == first.id and len(stage.bodies(ReplyCompleted)) == 2
    assert stage.session().reason == "limit reached"


def test_a_new_turn_asks_too(staged):
    stage = play(staged, exchange(text("one"), used(150)), exchange(text("two")))
    assert not stage.waiting()
    stage.say("more")
    stage.drive()
    stage.approve(limit_row(stage))
    stage.drive()
    assert [body.text for body in stage.bodies(ReplyCompleted)] == ["one", "two"]


@pytest.mark.parametrize("answer", ["approve", "reject"])
def test_the_row_waits_for_the_next_driver(staged, answer):
    """A driver that dies leaves the pause and the row; what was answered meanwhile holds for the next one."""
    stage = play(staged, reads(1), reads(2), exchange(text("done"), used(5)))
    action = limit_row(stage)
    stage.drive(lambda progress: True)  # one that takes the lease and goes at once
    assert limit_row(stage).id == action.id
    getattr(stage, answer)(action)
    stage.drive(lambda progress: True)
    stage.drive()
    assert len(stage.bodies(ReplyCompleted)) == (3 if answer == "approve" else 2)
    assert len(stage.bodies(ContinueRequested)) == (answer == "approve")


def test_a_limit_that_was_raised_withdraws_the_question(staged):
    stage = play(staged, reads(1), reads(2), exchange(text("done")))
    limit_row(stage)
    config = {
        "config_version": 1,
        "limits": {"tokens": {"session": 10_000}},
        "approvals": {"read_only": "auto"},
    }
    (stage.root / "home" / "config.json").write_text(json.dumps(config))
    stage.say("go on")
    stage.drive()
    assert not stage.waiting() and len(stage.bodies(ActionCancelled)) == 1
    assert len(stage.bodies(ReplyCompleted)) >= 3


def test_money_is_counted_by_the_prices(staged):
    prices = {"recorded-test": {"input_per_million": 10_000, "output_per_million": 0}}
    limits = {"cost": {"session": 1.0}}
    stage = play(staged, reads(1), reads(2), exchange(text("done")), limits=limits, config={"prices": prices})
    assert "$1.20 of $1.00 used" in limit_row(stage).target


def test_what_has_no_price_never_reaches_a_limit_of_cost(staged):
    stage = play(staged, reads(1), reads(2), exchange(text("done")), limits={"cost": {"session": 0.01}})
    assert not stage.waiting() and len(stage.bodies(ReplyCompleted)) == 3


def test_a_day_counts_all_sessions_and_ends_at_midnight(staged):
    clock = ManualClock()
    script = (exchange(text("one"), used(70)), exchange(text("two"), used(70)), exchange(text("three")))
    stage = play(staged, *script, limits={"tokens": {"day": 100}}, clock=clock)
    first = stage.session_id
    stage.begin().drive()
    stage.say("more")
    stage.drive()
    assert stage.session_id != first and "today" in limit_row(stage).target
    clock.advance(DAY)
    stage.say("more")
    stage.drive()
    assert not stage.waiting()


def test_where_nobody_can_answer_the_turn_ends(staged):
    stage = play(staged, reads(1), reads(2), exchange(text("done")), can_ask=False)
    assert not stage.waiting()
    (ended,) = stage.bodies(TurnEnded)
    assert ended.outcome == "limit" and "of 100 tokens used" in ended.detail
    assert stage.session().reason == "limit reached"


def test_without_limits_nothing_is_counted_or_asked(staged, monkeypatch):
    monkeypatch.setattr("workbench.host.spend_limits.usage_facts", None)
    stage = play(staged, reads(1), exchange(text("done")), limits={})
    assert len(stage.bodies(ReplyCompleted)) == 2
