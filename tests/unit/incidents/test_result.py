"""What came of a list of incidents, folded from its events: outcomes, errors and the words of S2 for them."""

import pytest

from workbench.domain import events as e
from workbench.domain.values import Actor
from workbench.incidents.result import processing_result

HOST = Actor(kind="host", pid=1)


def result_of(*bodies, child=()):
    """Return the result of a list whose events are a second apart."""

    def folded(bodies, session_id):
        for number, body in enumerate(bodies, 1):
            yield e.Event(
                id=f"{session_id}{number}", session_id=session_id, at=number * 1_000_000, actor=HOST, body=body,
                position=number, sequence_number=number, call_id="call-1",
            )  # fmt: skip

    return processing_result(
        "list", folded(bodies, "list"), lambda session_id: folded(child, session_id), lambda ref: None
    )


def begun(*ids):
    return (
        e.IncidentsRequested(ids=ids),
        *(e.IncidentStarted(incident=key, child_id="child") for key in ids),
    )


@pytest.mark.spec(161)
@pytest.mark.parametrize(
    ("error", "kind", "recoverable"),
    [
        ("", "IncidentProcessing", True), ("agent", "AgentCommunication", True), ("timeout", "TimeoutExpired", True),
        ("system", "SystemError", False),
    ],
)  # fmt: skip
def test_why_an_incident_failed_has_its_word_in_s2(error, kind, recoverable):
    failed = e.IncidentEnded(incident="i1", outcome="failed", detail="why", error=error)
    (found,) = result_of(*begun("i1"), failed).errors
    assert (found.error_type, found.message, found.incident_id, found.recoverable) == (
        kind,
        "why",
        "i1",
        recoverable,
    )


@pytest.mark.spec(161, 230)
def test_a_call_that_failed_or_was_cut_off_names_itself_and_its_incident():
    child = (
        e.PromptSubmitted(text="fix it", incident="i1"), e.CallFinished(state="succeeded"),
        e.CallFinished(state="failed", error="no such file"), e.CallFinished(state="interrupted", detail="outcome unknown"),
        e.CallFinished(state="rejected"),
    )  # fmt: skip
    found = result_of(*begun("i1"), e.IncidentEnded(incident="i1", outcome="fixed"), child=child)
    assert [(one.error_type, one.message, one.incident_id, one.tool_call_id) for one in found.errors] == [
        ("ToolExecution", "no such file", "i1", "call-1"), ("ToolExecution", "outcome unknown", "i1", "call-1"),
    ]  # fmt: skip


@pytest.mark.spec(160)
@pytest.mark.parametrize(
    ("outcomes", "status"),
    [
        ((), "InProgress"), (("fixed",), "InProgress"), (("fixed", "failed"), "Completed"),
        (("failed", "failed"), "Failed"), (("failed", "skipped"), "Completed"), (("fixed", "fixed"), "Completed"),
    ],
)  # fmt: skip
def test_single_failures_leave_a_result_completed_and_nothing_but_failures_do_not(outcomes, status):
    ended = [
        e.IncidentEnded(incident=f"i{number}", outcome=outcome) for number, outcome in enumerate(outcomes, 1)
    ]
    found = result_of(*begun("i1", "i2"), *ended)
    assert found.status == status
    cancelled = result_of(*begun("i1", "i2"), *ended, e.IncidentsCancelRequested())
    assert cancelled.status == "Cancelled"


@pytest.mark.spec(159, 164)
def test_a_result_begins_with_its_request_and_has_the_incidents_of_its_list():
    found = result_of(
        *begun("i1", "i2"), e.IncidentEnded(incident="i1", outcome="fixed", duration_ms=3),
        e.IncidentEnded(incident="i2", outcome="failed", duration_ms=4),
    )  # fmt: skip
    assert (found.id, found.session_id, found.incident_ids) == ("list1", "list", ("i1", "i2"))
    assert (found.created_at, found.completed_at) == (1_000_000, 5_000_000)
    assert found.metadata.total_processing_time_ms == 7
    assert [row.incident_id for row in found.incidents] == ["i1", "i2"]
