"""How a run ended: exit codes and the JSON object."""

from rows_cli import NOW, action, call, session

from tests.support.tables import each_row
from workbench.cli.run_output import RunTally, actions_of_run, result_json, run_exit_code
from workbench.domain.events import CallProposed, Event, FileChanged, ReplyCompleted, TurnEnded
from workbench.domain.values import Actor, GateVerdict


def event(body, **ids):
    return Event(id="e", session_id="s1", at=NOW, actor=Actor(kind="host"), body=body, **ids)


def verdict(outcome, step):
    return CallProposed(tool="t", verdict=GateVerdict(outcome=outcome, step=step, by="default"))


def tally(*events):
    found = RunTally()
    found.see(events)
    return found


DONE, ERROR = event(TurnEnded(outcome="done")), event(TurnEnded(outcome="error"))
NOBODY = event(verdict("denied", "ask"), call_id="c1")


@each_row(
    "events, ending, code",
    [
        ([DONE], "finished", 0),
        ([], "finished", 0),
        ([ERROR], "finished", 1),
        ([ERROR, DONE], "finished", 0),
        ([event(TurnEnded(outcome="limit"))], "finished", 1),
        ([event(TurnEnded(outcome="interrupted"))], "finished", 1),
        ([event(TurnEnded(outcome="unattended"))], "finished", 4),
        ([NOBODY, DONE], "finished", 4),
        ([event(verdict("denied", "deny")), DONE], "finished", 0),
        ([DONE], "parked", 3),
        ([DONE], "interrupted", 130),
    ],
)
def test_the_exit_code_of_a_run(events, ending, code):
    assert run_exit_code(tally(*events), ending) == code


def test_a_question_that_this_run_said_no_to_is_four():
    found = tally(DONE)
    found.refused = 1
    assert run_exit_code(found, "finished") == 4


def test_the_object():
    found = tally(
        event(ReplyCompleted(text="first")),
        event(FileChanged(path="a", change="create", before=None, after="x", added=2)),
        event(ReplyCompleted(text="last")),
        NOBODY,
    )
    facts = result_json(session(), found, [action()], [call(state="rejected", action_id=None)], 4)
    assert list(facts) == [
        "session_id",
        "status",
        "reason",
        "reply",
        "usage",
        "instructions",
        "actions",
        "files",
        "error",
        "exit",
    ]
    assert (facts["reply"], facts["exit"], facts["status"]) == ("last", 4, "paused")
    assert facts["files"] == [{"path": "a", "change": "create", "added": 2, "removed": 0}]
    assert [row["state"] for row in facts["actions"]] == ["pending", "denied"]
    assert list(facts["actions"][0]) == list(facts["actions"][1])


def test_which_actions_belong_to_a_run():
    rows = [
        action(id="old", opened_at=3, state="approved", decided_at=NOW - 1),
        action(id="carried-out", opened_at=3, state="approved", decided_at=NOW - 1),
        action(id="answered", opened_at=3, state="approved", decided_at=NOW + 1),
        action(id="waiting", opened_at=3),
        action(id="fresh", opened_at=9, state="rejected", decided_at=NOW + 2),
    ]
    calls = [call(action_id="old", finished_at=NOW - 1), call(action_id="carried-out", finished_at=NOW)]
    assert [row.id for row in actions_of_run(rows, calls, 5, NOW)] == [
        "carried-out",
        "answered",
        "waiting",
        "fresh",
    ]
