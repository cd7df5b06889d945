"""When a screen wakes up: at the moment something on it changes, and never while nothing does."""

from itertools import pairwise
from types import SimpleNamespace

import pytest

from workbench.domain.rows import Action, Call, Session
from workbench.tui import journal_source
from workbench.tui.main.redraw_timer import RedrawTimer, seconds_until_change
from workbench.views.approvals import seconds_left

S = 1_000_000
NOW = 1_000_000 * S


def action(left):
    expires = None if left is None else NOW + int(left * S)
    return Action(
        id="a", session_id="s", kind="edit", state="pending", opened_at=1, created_at=NOW, expires_at=expires,
        digest="d", verb="edit", target="t",
    )  # fmt: skip


def call(age, *, started=False, finished=False):
    at = NOW - int(age * S)
    return Call(
        id="c", session_id="s", turn_id="t", ordinal=0, provider_call_id="p", tool="x", state="pending",
        requested_at=at, started_at=at if started else None, finished_at=at if finished else None,
    )  # fmt: skip


def session(status):
    return Session(id="s", kind="chat", status=status, created_at=0, updated_at=0)


class Driven(journal_source.JournalSource):
    def __init__(self, is_driven):
        self._is = is_driven

    def is_driven(self, session_id):
        return self._is


def state(*, pending=(), calls=(), status="completed", is_driven=True, run_moves=False, is_asked=False):
    return SimpleNamespace(
        current=session(status) if is_asked else None, transcript=SimpleNamespace(is_model_asked=is_asked),
        pending=list(pending), listed_calls=list(calls), sessions={"s": session(status)},
        runs=SimpleNamespace(is_moving=run_moves, rows={}), source=Driven(is_driven),
        is_anything_driven=status == "processing" and is_driven, look_at_drivers=set,
    )  # fmt: skip


CASES = [
    ("nothing", state(), None),
    ("a question without an end", state(pending=[action(None)]), None),
    ("a minute left: the next second", state(pending=[action(60.4)]), 0.4),
    ("a whole second", state(pending=[action(60)]), 1.0),
    ("an hour left: the next of ten seconds", state(pending=[action(3603.4)]), 4.4),
    ("just above five minutes", state(pending=[action(300.5)]), 1.5),
    ("over, and not yet recorded", state(pending=[action(0)]), 1.0),
    ("two questions: the nearer", state(pending=[action(3603.4), action(3601.2)]), 2.2),
    ("a call that runs", state(calls=[call(1000, started=True)]), 1.0),
    ("a call that ran", state(calls=[call(5, started=True, finished=True)]), None),
    ("a call whose driver died", state(calls=[call(5, started=True)], is_driven=False), None),
    ("a call that waits", state(calls=[call(5)], is_driven=False), 1.0),
    ("a call that waits for long", state(calls=[call(400)]), 10.0),
    ("a session at work", state(status="processing"), 4.0),
    ("a session that nobody drives", state(status="processing", is_driven=False), None),
    ("a model that was asked", state(status="processing", is_asked=True), 1.0),
    ("a model whose driver died", state(status="processing", is_asked=True, is_driven=False), None),
    ("a run", state(run_moves=True), 1.0),
]


@pytest.mark.parametrize(("shown", "wanted"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_screen_counts_on_when_something_changes(shown, wanted):
    assert seconds_until_change(shown, NOW) == wanted


@pytest.mark.parametrize("left", [299.9, 300.0, 300.1, 305.0, 310.0, 3600.0, 61.5, 1.0])
def test_what_is_shown_of_a_countdown_changes_then_and_not_before(left):
    one = action(left)
    wait = int(seconds_until_change(state(pending=[one]), NOW) * S)
    before = seconds_left(one, NOW)
    assert seconds_left(one, NOW + wait - 1) == before
    assert seconds_left(one, NOW + wait) < before


@pytest.mark.usefixtures("real_redraw_timer")
def test_hundreds_of_questions_do_not_wake_the_screen_hundreds_of_times():
    clock, woken = [0.0], []

    def wait(seconds, call):
        clock[0] += seconds
        woken.append(clock[0])
        due.append(call)
        return SimpleNamespace(stop=lambda: None)

    due, one = [], state(pending=[action(200 + number / 300) for number in range(300)])
    one.source.now = lambda: NOW + int(clock[0] * S)
    one.is_due = lambda now: False
    one.runs.looks_otherwise = lambda now: False
    screen = SimpleNamespace(set_timer=wait, tell=lambda: None)
    context = SimpleNamespace(
        state=one, app=SimpleNamespace(monotonic=lambda: clock[0]),
        tasks=SimpleNamespace(read_trouble=lambda: None), folders=SimpleNamespace(look=lambda: None),
        presenter=SimpleNamespace(head=lambda: None, tick=lambda now: None),
    )  # fmt: skip
    timing = RedrawTimer(screen, context)
    screen.keep_time = timing.keep
    timing.keep()
    while clock[0] < 20:
        due.pop(0)()
    gaps = [later - before for before, later in pairwise(woken)]
    assert 0.5 <= min(gaps) <= max(gaps) < 0.6
