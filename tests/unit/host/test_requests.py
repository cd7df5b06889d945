"""Beginning sessions, asking things of them, trust, and who may ask."""

import os
import subprocess
import sys

import pytest
from msgspec.structs import replace

from tests.support.stage import USER, call, exchange, recording, text
from workbench.domain import events
from workbench.domain.values import SYSTEM_SESSION
from workbench.effects.process_marks import AGENT_VARIABLE
from workbench.host import session_requests, workspace_trust
from workbench.host.host_locks import (
    InsideAgent,
    host_lock_path,
    live_host,
    refuse_inside_agents,
    workspace_hash,
)
from workbench.journal.decisions import decide_action
from workbench.journal.leases import DriverLock


@pytest.fixture
def stage(staged):
    return staged(recording(exchange(text("ok"))))


def begin(stage, **more):
    given = {"workspace": str(stage.workspace), "provider": "recorded", "model": "m", "actor": USER, **more}
    return session_requests.create_session(stage.journal, **given)


@pytest.mark.spec(2, 3, 4, 139)
@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"workspace": "relative"}, "not an absolute path"),
        ({"workspace": "/nowhere/at/all"}, "does not exist"),
        ({"workspace": __file__}, "not a folder"),
        ({"model": " "}, "model is empty"),
    ],
)
def test_a_session_that_cannot_be_is_refused_by_name(stage, more, why):
    with pytest.raises(session_requests.SessionRefused, match=why):
        begin(stage, **more)
    assert stage.journal.sessions() == []


@pytest.mark.spec(3, 139)
@pytest.mark.parametrize(
    ("closed", "why"),
    [(os.R_OK, "is not accessible"), (os.X_OK, "is not accessible"), (os.W_OK, "for writing")],
)
def test_a_folder_that_lacks_a_right_is_refused_by_name(stage, monkeypatch, closed, why):
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & closed)
    with pytest.raises(session_requests.SessionRefused, match=f"{stage.workspace} .*{why}"):
        begin(stage)
    assert stage.journal.sessions() == []


@pytest.mark.spec(1, 133)
def test_every_session_has_an_id_of_its_own(stage):
    first, second = begin(stage), begin(stage)
    assert first != second
    assert stage.journal.session(first).created_at <= stage.journal.session(second).created_at


def test_an_empty_prompt_is_refused(stage):
    session = begin(stage)
    with pytest.raises(session_requests.SessionRefused, match="empty"):
        session_requests.submit_prompt(stage.journal, session, "  \n", USER)


@pytest.mark.spec(8)
def test_a_session_that_has_ended_takes_no_prompt(stage):
    session = begin(stage)
    stage.journal.append(
        [stage.journal.event(events.SessionStatusChanged(status="terminated"), session, USER)]
    )
    with pytest.raises(session_requests.SessionRefused, match="terminated"):
        session_requests.submit_prompt(stage.journal, session, "hello", USER)


def test_the_newest_session_that_can_go_on_is_found(stage):
    first, second = begin(stage), begin(stage)
    stage.journal.append(
        [stage.journal.event(events.SessionStatusChanged(status="terminated"), second, USER)]
    )
    assert session_requests.newest_open_session(stage.journal, str(stage.workspace)).id == first
    assert session_requests.newest_open_session(stage.journal, "/elsewhere") is None


# --- trust -----------------------------------------------------------------------------------------


def answer(stage, action_id, choice):
    from workbench.domain.values import Decision

    action = stage.journal.action(action_id)
    return decide_action(
        stage.journal, Decision(action_id=action_id, verdict="approve", choice=choice), action.digest, USER
    )


def test_the_trust_question_is_asked_once_for_each_content(stage):
    workspace = str(stage.workspace)
    first = workspace_trust.open_trust_question(stage.journal, workspace)
    assert workspace_trust.open_trust_question(stage.journal, workspace) == first
    row = stage.journal.action(first)
    assert (row.kind, row.expires_at, row.session_id) == ("trust", None, SYSTEM_SESSION)
    assert answer(stage, first, "not_now").ok
    assert not workspace_trust.is_trusted(stage.journal, workspace)
    assert workspace_trust.open_trust_question(stage.journal, workspace) is None
    (stage.workspace / ".workbench.json").write_text("{}")
    assert workspace_trust.open_trust_question(stage.journal, workspace) not in (None, first)


@pytest.mark.parametrize(("choice", "reads"), [("trust", False), ("trust_and_read", True)])
def test_trust_holds_for_exactly_this_content(stage, choice, reads):
    workspace = str(stage.workspace)
    assert answer(stage, workspace_trust.open_trust_question(stage.journal, workspace), choice).ok
    assert (
        workspace_trust.is_trusted(stage.journal, workspace),
        workspace_trust.has_read_grant(stage.journal, workspace),
    ) == (
        True,
        reads,
    )
    (stage.workspace / ".workbench.json").write_text("{}")
    assert not workspace_trust.is_trusted(stage.journal, workspace)
    assert not workspace_trust.has_read_grant(stage.journal, workspace)


def grants(stage):
    state = workspace_trust.trust_state(stage.journal, str(stage.workspace))
    return state.is_trusted, state.read_grant, state.sandbox_grant


def test_the_trust_question_offers_the_sandbox_only_where_one_works(stage):
    workspace = str(stage.workspace)
    plain = stage.journal.action(workspace_trust.open_trust_question(stage.journal, workspace))
    assert plain.choices == ("trust", "trust_and_read", "not_now")
    assert answer(stage, plain.id, "trust_and_sandbox").why == "choice"
    (stage.workspace / ".workbench.json").write_text("{}")
    offering = workspace_trust.open_trust_question(stage.journal, workspace, offers_sandbox=lambda: True)
    assert stage.journal.action(offering).choices == (
        "trust",
        "trust_and_read",
        "trust_and_sandbox",
        "not_now",
    )
    assert answer(stage, offering, "trust_and_sandbox").ok
    assert grants(stage) == (True, True, True)
    (stage.workspace / ".workbench.json").write_text("{ }")
    assert grants(stage) == (False, False, False), "it ends with the content"


def test_whether_a_sandbox_works_is_asked_only_where_the_question_opens(stage):
    workspace, asked = str(stage.workspace), []
    for _ in range(2):
        workspace_trust.open_trust_question(
            stage.journal, workspace, offers_sandbox=lambda: bool(asked.append(1))
        )
    assert asked == [1]


def test_the_sandbox_that_was_trusted_is_taken_back_with_the_trust(stage):
    workspace = str(stage.workspace)
    workspace_trust.grant_trust(stage.journal, workspace, False, USER, sandbox=True)
    assert grants(stage) == (True, False, True)
    assert workspace_trust.revoke_trust(stage.journal, workspace, USER)
    assert grants(stage) == (False, False, False)
    workspace_trust.grant_trust(stage.journal, workspace, False, USER)
    assert grants(stage) == (True, False, False)


def test_trust_is_taken_back(stage):
    workspace = str(stage.workspace)
    workspace_trust.grant_trust(stage.journal, workspace, True, USER)
    assert workspace_trust.revoke_trust(stage.journal, workspace, USER)
    assert not workspace_trust.is_trusted(stage.journal, workspace)
    assert not workspace_trust.revoke_trust(stage.journal, workspace, USER)


def test_what_an_untrusted_workspace_configures_does_not_act(staged):
    import json

    hook = {"hooks": {"PreToolUse": [{"matcher": "*", "command": "touch acted; exit 1"}]}}
    allow = {"approvals": {"allow": ["Bash(echo *)"]}}
    script = recording(exchange(call("c1", "run_in_terminal", command="echo hi")))
    stage = staged(
        script, files={".workbench.json": json.dumps({"config_version": 1, **hook, **allow})}
    ).begin()
    stage.drive()
    assert len(stage.waiting()) == 1
    assert not (stage.workspace / "acted").exists()


# --- who may ask -----------------------------------------------------------------------------------


def test_a_child_of_an_agent_cannot_decide(stage, monkeypatch):
    refuse_inside_agents(stage.journal, stage.home, "approve")
    monkeypatch.setenv(AGENT_VARIABLE, "1")
    with pytest.raises(InsideAgent, match="started by an agent"):
        refuse_inside_agents(stage.journal, stage.home, "approve")
    (noted,) = [event.body for event in stage.journal.events(SYSTEM_SESSION)]
    assert (noted.what, os.getppid() in noted.ancestry) == ("decision from inside an agent", True)


CHILD = """
import sys
from pathlib import Path
from workbench.host.host_locks import InsideAgent, refuse_inside_agents
from workbench.journal.home import Home
try:
    refuse_inside_agents(None, Home.open(Path(sys.argv[1])), "approve")
except InsideAgent:
    print("refused")
else:
    print("may")
"""


def test_a_descendant_of_a_driver_cannot_decide_without_the_variable_either(stage):
    from workbench.journal.leases import DriverIdentity

    def child():
        argv = [sys.executable, "-c", CHILD, str(stage.home.path)]
        clean = {key: value for key, value in os.environ.items() if key != AGENT_VARIABLE}
        return subprocess.run(argv, env=clean, capture_output=True, text=True, check=True).stdout.strip()

    me = DriverIdentity(host_id="h", pid=os.getpid(), driver="host", workspace=str(stage.workspace))
    with DriverLock(stage.journal, me):
        assert child() == "refused"
    assert child() == "may"


# --- places ----------------------------------------------------------------------------------------


def test_the_lock_is_named_after_the_first_16_digits_of_the_hash(stage):
    import hashlib

    assert workspace_hash("/a/b") == hashlib.sha256(b"/a/b").hexdigest()[:16]
    assert host_lock_path(stage.home, "/a/b").name == f"{workspace_hash('/a/b')}.lock"
    assert live_host(stage.home, stage.journal, "/a/b") is None


def test_trust_by_command_answers_the_question_that_waits(stage):
    workspace = str(stage.workspace)
    question = workspace_trust.open_trust_question(stage.journal, workspace)
    workspace_trust.grant_trust(stage.journal, workspace, False, USER)
    assert stage.journal.action(question).state == "cancelled"
    assert workspace_trust.open_trust_question(stage.journal, workspace) is None


def test_a_question_about_other_files_is_withdrawn(stage):
    workspace = str(stage.workspace)
    first = workspace_trust.open_trust_question(stage.journal, workspace)
    (stage.workspace / ".workbench.json").write_text("{}")
    second = workspace_trust.open_trust_question(stage.journal, workspace)
    assert (stage.journal.action(first).state, stage.journal.action(second).state) == ("cancelled", "pending")
    assert not answer(stage, first, "trust").ok


@pytest.mark.parametrize(
    ("changed", "is_there", "expected"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"level": "outside"}, True, False),
        ({"backend": "none"}, True, False),
    ],
)
def test_a_first_frame_offers_a_sandbox_that_is_likely(stage, monkeypatch, changed, is_there, expected):
    config = stage.context().read_settings().config
    section = replace(config.sandbox, **{"backend": "auto", **changed})
    monkeypatch.setattr("os.path.lexists", lambda path: is_there)
    monkeypatch.setattr("sys.platform", "linux")
    assert workspace_trust.may_have_full_sandbox(replace(config, sandbox=section)) == expected
