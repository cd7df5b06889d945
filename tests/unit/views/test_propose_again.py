"""Which expired actions can be asked for again, and what is said of the others."""

import pytest

from workbench.domain.rows import Action, Session
from workbench.views.approvals import propose_again_prompt
from workbench.views.propose_again import MAX_ASKED_AGAIN, propose_again_of, why_not_propose_again


def action(key="a1", **facts):
    given = {
        "id": key, "session_id": "s", "kind": "tool", "state": "expired", "target": "a.py", "digest": "d",
        "created_at": 1, "opened_at": 1, "tool": "create_file", "verb": "write",
    }  # fmt: skip
    return Action(**{**given, **facts})


def session(**facts):
    given = {"id": "s", "kind": "chat", "status": "paused", "created_at": 1, "updated_at": 1}
    return Session(**{**given, **facts})


@pytest.mark.parametrize(
    ("facts", "of", "why"),
    [
        ({}, {}, ""),
        ({"state": "pending"}, {}, "waiting still"),
        ({"state": "approved"}, {}, "it is approved"),
        ({}, {"kind": "pipeline"}, "R there tries the step again"),
        ({}, {"kind": "step"}, "workbench pipeline retry"),
        ({"kind": "gate"}, {}, "pipeline run"),
        ({}, {"origin": "codex"}, "came from a file"),
        ({}, {"status": "completed"}, "has ended; a new session can start"),
        ({"kind": "trust"}, {}, "only a call of a tool"),
    ],
)
def test_why_one_cannot_be_asked_for(facts, of, why):
    found = why_not_propose_again(session(**of), action(**facts))
    assert why in found and bool(found) == bool(why)


def test_all_of_the_session_are_those_that_were_not_asked_for():
    rows = [
        action("a3", opened_at=3), action("a1", opened_at=1), action("a2", opened_at=2), action("b", session_id="t"),
        action("c", state="rejected"), action("d", kind="gate"),
    ]  # fmt: skip
    assert propose_again_of(session(), rows[0], rows, {"a2"}).ids == ("a1", "a3")
    assert propose_again_of(session(), rows[0], rows, {"a3"}).why_not == "the agent was asked for it already"
    many = [action(f"m{n}", opened_at=n) for n in range(MAX_ASKED_AGAIN + 5)]
    assert len(propose_again_of(session(), many[0], many, ()).ids) == MAX_ASKED_AGAIN


def test_what_is_named_is_bounded_and_on_one_line():
    text = propose_again_prompt([action(target="x\ny\x1b[31m" + "z" * 5000)])
    assert "\n" not in text and "\x1b" not in text and len(text) < 500
