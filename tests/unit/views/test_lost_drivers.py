"""What is under way though the process that drove it is gone is listed as lost, with the way to continue it."""

from typing import get_args

import pytest

from workbench.domain.machines import SESSION_MOVES, RunStatus
from workbench.domain.rows import PipelineState, Session
from workbench.domain.values import SessionKind
from workbench.views.lost_drivers import listed_run, listed_session, lost_sentence
from workbench.views.status_icons import RUN_STATUSES, session_status


def session(kind="chat", status="processing", **more):
    return Session(id="3f2a9c1d-0000", kind=kind, status=status, created_at=0, updated_at=0, **more)


def gone(_session_id):
    return True


@pytest.mark.parametrize("status", SESSION_MOVES)
def test_only_what_is_under_way_is_lost(status):
    is_lost = status in ("processing", "initializing")
    assert listed_session(session(status=status), gone).status == ("lost" if is_lost else status)
    assert listed_session(session(status=status), lambda _: False).status == status


def test_an_agent_that_executes_its_own_calls_is_never_lost():
    assert listed_session(session("supervised"), gone).status == "processing"


@pytest.mark.parametrize("status", get_args(RunStatus))
def test_only_a_run_that_runs_is_lost(status):
    run = PipelineState(pipeline_id="r", pipeline_name="p", status=status, created_at=0, updated_at=0)
    assert listed_run(run, gone).status == ("lost" if status == "running" else status)
    assert listed_run(run, lambda _: False) is run


def test_lost_has_a_word_and_a_sign_of_its_own():
    assert session_status(listed_session(session(), gone)) == RUN_STATUSES["lost"] == ("unknown", "lost")


@pytest.mark.parametrize("kind", get_args(SessionKind))
def test_the_sentence_names_the_command_that_continues_it(kind):
    commands = {
        "chat": "workbench run --session 3f2a9c1d", "pipeline": "workbench pipeline resume 3f2a9c1d",
        "incidents": "workbench incidents resume 3f2a9c1d",
    }  # fmt: skip
    continues = f" {commands[kind]} continues it." if kind in commands else ""
    assert lost_sentence(session(kind)) == f"The process that ran it is gone.{continues}"
