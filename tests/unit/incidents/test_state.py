"""What comes next for an incident, as a table, and when a list may be driven."""

import pytest

from tests.support.tables import each_row
from workbench.domain.events import IncidentChecked
from workbench.domain.incidents import Incident
from workbench.incidents.state import (
    IncidentWork,
    ListState,
    TurnFacts,
    Verdict,
    is_list_runnable,
    next_move,
)

INCIDENT = Incident(id="i", fingerprint="f", rule="R", path="a")
STILL, GONE = "still there", "gone"


def move(facts=None, *, checked=None, changed=True, checker=True, answer="", **work):
    said = IncidentChecked(incident="i", outcome=checked, detail="m") if checked else None
    made = IncidentWork(incident=INCIDENT, checked=said, answer=answer, **{"round": 1, **work})
    told = TurnFacts(**{"outcome": "done", **(facts or {})})
    found = next_move(made, told, checker=checker, changed=changed, limit=2)
    return (found.outcome, found.error) if isinstance(found, Verdict) else found


@each_row(
    "expected,situation",
    [
        ("check", {}),
        ("check", {"changed": False}),
        (("fixed", ""), {"checked": GONE}),
        (("fixed", ""), {"checked": GONE, "changed": False}),
        (("fixed", ""), {"checked": GONE, "facts": {"rejection": "x"}}),
        ("again", {"checked": STILL}),
        ("again", {"checked": STILL, "changed": False}),
        ("ask", {"checked": STILL, "round": 2}),
        ("wait", {"checked": STILL, "round": 2, "action_id": "a"}),
        ("again", {"checked": STILL, "round": 2, "action_id": "a", "answer": "again"}),
        ("again", {"checked": STILL, "round": 2, "more_rounds": 1}),
        ("undo", {"checked": STILL, "round": 2, "action_id": "a", "answer": "undo"}),
        (("unchanged", ""), {"checked": STILL, "round": 2, "action_id": "a", "answer": "keep"}),
        (("unchanged", ""), {"checked": STILL, "round": 2, "action_id": "a", "answer": "rejected"}),
        (("unchanged", ""), {"checked": STILL, "round": 2, "action_id": "a", "answer": "expired"}),
        (("rejected", ""), {"facts": {"rejection": ""}, "changed": False}),
        (("rejected", ""), {"facts": {"rejection": "no"}, "checked": STILL}),
        ("check", {"facts": {"rejection": "no"}}),
        (("changed", ""), {"checker": False}),
        (("unchanged", ""), {"checker": False, "changed": False}),
        (("changed", ""), {"checked": "not checked"}),
        (("unchanged", ""), {"checked": "not checked", "changed": False}),
        (("unchanged", ""), {"checked": STILL, "facts": {"denied": "nobody"}, "changed": False}),
        (
            ("failed", "timeout"),
            {"facts": {"outcome": "limit", "detail": "It worked for 1 s, its time limit."}},
        ),
        (("failed", "incident"), {"facts": {"outcome": "limit", "detail": "50 model calls in one turn"}}),
        (("failed", "incident"), {"facts": {"outcome": "unattended"}}),
        (("failed", "agent"), {"facts": {"outcome": "error", "error": "no key"}}),
        (("failed", "system"), {"facts": {"outcome": "broken"}}),
        (("skipped", ""), {"facts": {"outcome": "interrupted"}}),
    ],
)
def test_what_comes_next(expected, situation):
    assert move(**situation) == expected


@pytest.mark.spec(135)
@each_row(
    "status,reason,has_request,waiting,is_runnable",
    [
        ("created", None, True, 0, True),
        ("created", None, False, 0, False),
        ("processing", None, False, 0, True),
        ("paused", "host lost", False, 0, False),
        ("paused", "host lost", True, 0, True),
        ("paused", "parked", False, 0, True),
        ("paused", "parked", False, 1, False),
        ("paused", "unattended", False, 0, False),
        ("paused", "failed", True, 0, True),
    ],
)
def test_when_a_list_is_driven(status, reason, has_request, waiting, is_runnable):
    state = ListState(
        status=status,
        reason=reason,
        has_request=has_request,
        works={"i": IncidentWork(incident=INCIDENT)},
        left={"a": 1},
    )
    assert is_list_runnable(state, waiting) is is_runnable


def test_a_list_with_nothing_asked_for_is_not_driven():
    assert not is_list_runnable(ListState(status="paused", reason="run ended", has_request=True), 0)
