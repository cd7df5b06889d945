"""States as they are told: failed, expired and waiting sessions, reasons, refused calls, filled-in inputs."""

import pytest
from msgspec.structs import replace

from tests.support.stage import Stage, call, exchange, recording, text
from workbench.domain.rows import Session
from workbench.journal.replay import ReplayReader
from workbench.journal.session_queries import pending_action_counts
from workbench.journal.statistics_queries import StatisticsScope, statistics_facts
from workbench.policy.command_review import review_command
from workbench.text.safe import reason_line, reason_lines
from workbench.views.library import library_row
from workbench.views.pipeline import PlannedStep, with_input
from workbench.views.sessions import header_facts, session_rows
from workbench.views.status_icons import session_status, told_status
from workbench.views.timeline import FIELD_OF_EVENT_KIND, Timeline, mark_fact, mark_for

READY = Session(id="s1", kind="chat", status="ready", created_at=1, updated_at=2, title="a")
FAILED = replace(READY, id="s2", reason="failed")
EXPIRED = replace(READY, id="s3", status="paused", reason="unattended")
STOPPED = replace(READY, id="s4", status="paused", reason="failed")


@pytest.mark.parametrize(
    ("session", "waiting", "status"),
    [
        (READY, 0, ("ok", "ready")),
        (FAILED, 0, ("failed", "failed")),
        (STOPPED, 0, ("failed", "failed")),
        (EXPIRED, 0, ("expired", "expired")),
        (FAILED, 1, ("waiting", "waiting")),
        (replace(FAILED, status="processing"), 0, ("running", "running")),
    ],
)
def test_a_session_has_the_sign_of_what_became_of_it(session, waiting, status):
    assert session_status(session, waiting) == status


def test_failed_ones_are_counted_in_the_header_and_signed_in_list_and_library():
    sessions = [READY, FAILED, STOPPED, EXPIRED]
    assert header_facts(sessions, [], 5, workspace="/w").failed == 2
    signs = {row.id: row.sign for row in session_rows(sessions, [])}
    assert signs == {"s1": "ok", "s2": "failed", "s3": "expired", "s4": "failed"}
    assert [library_row(one, 0, None).note for one in (FAILED, EXPIRED)] == ["failed", "expired"]
    assert [told_status(one) for one in sessions] == ["ready", "failed", "failed", "paused"]


@pytest.fixture
def stage(tmp_path):
    made = Stage(
        tmp_path,
        recording(
            exchange(call("c1", "read_file", path="../x"), call("c2", "create_file", path="n", content="n")),
            exchange(text("ok")),
        ),
    )
    yield made
    made.close()


def test_a_refused_call_is_an_error_in_a_replay(stage):
    stage.begin().drive()
    timeline = Timeline(columns=ReplayReader(stage.journal, stage.session_id).columns(FIELD_OF_EVENT_KIND))
    events = stage.journal.events(stage.session_id)
    at = next(n for n, event in enumerate(events, 1) if event.kind == "call.proposed")
    errors = [mark.index for mark in timeline.marks.of("error")]
    assert errors == [at]
    proposed = [event for event in events if event.kind == "call.proposed"]
    assert [mark_for(one.kind, mark_fact(one)) for one in proposed] == [("error", "failed"), None]


def test_a_run_waits_where_its_step_asks(stage):
    from workbench.domain import events as e

    stage.begin().drive()
    run, step = "run1", "step1"
    about = {"title": "t", "workspace": "/w", "provider": "p", "model": "m", "telemetry_id": "t"}
    (action,) = stage.waiting()
    journal = stage.journal
    opened = stage.opened(action)
    from tests.support.stage import USER

    journal.append(
        [
            journal.event(e.SessionCreated(session_kind="pipeline", **about), run, USER),
            journal.event(e.SessionCreated(session_kind="step", parent_id=run, **about), step, USER),
            journal.event(replace(opened, action_kind="gate"), step, USER, action_id="gate1"),
        ]
    )
    with journal.snapshot() as database:
        assert pending_action_counts(database) == {stage.session_id: 1, run: 1, step: 1}


def test_a_session_whose_model_failed_is_counted_as_failed(tmp_path):
    error = {"error": {"kind": "provider", "message": "no"}}
    made = Stage(tmp_path, {**recording(exchange(error)), "exchanges": []})
    try:
        made.begin().drive()
        assert (made.session().status, made.session().reason) == ("ready", "failed")
        with made.journal.snapshot() as database:
            facts = statistics_facts(database, StatisticsScope())
        assert [fact.status for fact in facts.sessions] == ["failed"]
    finally:
        made.close()


REASON = "it ended with exit code 1:\n+ a new item at /items/new\n\n? ++++++\n  done\n"


def test_a_reason_of_several_lines_is_readable():
    assert reason_lines(REASON, 80) == ["it ended with exit code 1:", "+ a new item at /items/new", "done"]
    assert reason_line(REASON, 80) == "it ended with exit code 1: + a new item at /items/new / done"
    assert reason_lines(REASON, 80, most=1) == ["it ended with exit code 1:"]
    assert reason_line("", 80) == ""
    assert len(reason_line(REASON, 20)) <= 20


@pytest.mark.parametrize(
    ("typed", "does"), [("the router", "Plan the router. the router!"), ("", "Plan {{ input }}. {{input}}!")]
)
def test_the_input_stands_where_it_will_be(typed, does):
    step = PlannedStep(
        id="plan", wave=1, kind="prompt", who="agent", does="Plan {{ input }}. {{input}}!", asks="",
        is_asking=False,
    )  # fmt: skip
    assert with_input(step, typed).does == does


@pytest.mark.parametrize(
    ("command", "parts"),
    [
        ("for f in a b; do echo $f; done", ["echo $f"]),
        ("if test -f x; then cat x; else ls; fi", ["test -f x", "cat x", "ls"]),
        ("while read l; do wc -l; done", ["read l", "wc -l"]),
    ],
)
def test_words_of_the_shell_are_no_programs(command, parts):
    found = review_command(command, None).parts
    assert [part.text for part in found] == parts
    assert not any("is not a program" in reason for part in found for reason in part.reasons)
