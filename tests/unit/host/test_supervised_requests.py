"""What a human asks of an agent that executes its own calls: undo, mode and marks; all else it is told there."""

import asyncio

import pytest

from tests.support.fake_agent import FakeAgent, supervise
from tests.support.stage import USER, recording
from tests.support.waits import until_true
from workbench.backend.session_fork import ForkOptions, ForkRefused, plan_fork
from workbench.cli.approvals import is_held
from workbench.cli.main import main
from workbench.domain.events import AgentGone, PromptSubmitted, SessionStatusChanged
from workbench.host import session_requests as requests
from workbench.host.model_selection import change_model
from workbench.host.session_requests import SessionRefused
from workbench.host.session_tools import narrow_tools
from workbench.host.undo import plan_undo, request_undo_of_files
from workbench.host.workspace_config import load_workspace_config

EDIT = {"file_path": "a.txt", "old_string": "one\n", "new_string": "two\n"}


@pytest.fixture
def stage(staged, monkeypatch):
    """Return a stage with the session of an agent that made one approved change and is in its turn."""
    made = staged(recording(), files={"a.txt": "one\n"})
    monkeypatch.setenv("WORKBENCH_HOME", str(made.home.path))

    async def scenario(agent):
        asking = asyncio.create_task(agent.call("n1", "Edit", EDIT, "c1"))
        (action,) = await until_true(made.waiting)
        made.approve(action)
        await asking
        await until_true(lambda: all(row.finished_at for row in made.calls().values()))

    supervise(made, scenario)
    assert made.read("a.txt") == b"two\n"
    return made


def before(stage):
    return len(stage.journal.events())


def config(stage):
    return load_workspace_config(stage.journal, str(stage.workspace)).config


REFUSED = {
    "a prompt": lambda s: requests.submit_prompt(s.journal, s.session_id, "hello", USER),
    "continuing": lambda s: requests.continue_session(s.journal, s.session_id, USER),
    "stopping": lambda s: requests.interrupt_session(s.journal, s.session_id, USER),
    "a summary": lambda s: requests.compact_session(s.journal, s.session(), "", USER),
    "a model": lambda s: change_model(s.journal, config(s), s.session(), "m", USER),
    "tools": lambda s: narrow_tools(s.journal, config(s), s.session(), "read_file", USER),
    "its end": lambda s: requests.end_session(s.journal, s.session(), USER),
}


@pytest.mark.parametrize("request_of", REFUSED)
def test_what_only_its_own_terminal_can_do_is_refused_with_the_reason(stage, request_of):
    count = before(stage)
    with pytest.raises(SessionRefused, match=r"fake (reads|is|has|ends)\b.* in its own terminal"):
        REFUSED[request_of](stage)
    assert before(stage) == count


def test_a_mode_and_a_mark_are_of_this_program_and_taken(stage):
    assert "asks before every call" in requests.set_approval_mode(
        stage.journal, stage.session(), "every", USER
    )
    assert requests.add_bookmark(stage.journal, stage.session(), "here", USER).startswith("Marked: here.")
    assert stage.session().reads == "every"


def test_it_is_not_the_session_that_continues_nor_one_that_asks_a_provider(stage):
    assert requests.newest_open_session(stage.journal, str(stage.workspace)) is None
    assert requests.sessions_naming(stage.journal, "fake") == []
    assert not is_held(stage.journal, stage.session(), is_idle=True)


def test_a_fork_of_it_asks_a_model_of_this_program(stage):
    with pytest.raises(ForkRefused, match="it comes from fake, and no session here says which model"):
        plan_fork(stage.journal, stage.session(), ForkOptions(kind="copy"))
    supervised = stage.session()
    stage.begin()
    plan = plan_fork(stage.journal, supervised, ForkOptions(kind="copy"))
    assert (plan.provider, plan.model) == ("recorded", "recorded-test")


def test_an_undo_of_its_change_is_made_by_its_driver(stage):
    agent = FakeAgent(stage.workspace)

    async def scenario(_):
        plan = plan_undo(stage.journal, stage.session(), None, is_redo=False)
        assert [row.path for row in plan.rows] == ["a.txt"]
        request_undo_of_files(stage.journal, plan, ["a.txt"], USER)
        await until_true(lambda: stage.read("a.txt") == b"one\n")

    supervise(stage, scenario, agent)
    assert agent.log == []


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["run", "--session", "{id}", "-p", "x"], "fake reads its prompts in its own terminal"),
        (["sessions", "stop", "{id}"], "fake is stopped and continued in its own terminal"),
        (["sessions", "end", "{id}"], "fake ends in its own terminal"),
    ],
)
def test_the_command_line_says_so(stage, words, why, capfd, monkeypatch):
    assert main([word.format(id=stage.session_id[:12]) for word in words]) != 0
    said = capfd.readouterr().err.casefold()
    assert why in said and not stage.bodies(PromptSubmitted)


def test_its_list_names_agent_and_state(stage, capfd):
    assert main(["sessions", "list", "--all"]) == 0
    assert "working" in capfd.readouterr().out
    stage.journal.append([stage.journal.event(SessionStatusChanged(status="ready"), stage.session_id, USER)])
    assert main(["sessions", "list", "--all"]) == 0
    assert "idle" in capfd.readouterr().out


LOOKED_UP = {
    "its diff": (["sessions", "diff", "{id}"], ["-one", "+two"]),
    "its words": (["sessions", "search", "a.txt"], ["a.txt"]),
    "its report": (["sessions", "show", "{id}"], ["edit", "a.txt"]),
    "its events": (["sessions", "export", "{id}"], ['"agent.gone"', '"grade":"bound"']),
    "its Markdown": (["sessions", "export", "{id}", "--format", "markdown"], ["Edit", "a.txt"]),
    "its statistics": (["sessions", "stats", "{id}"], ["edit"]),
}


@pytest.mark.parametrize("looked_up", LOOKED_UP)
def test_it_is_shown_searched_exported_and_counted_as_any_session(stage, looked_up, capfd):
    stage.journal.append([stage.journal.event(AgentGone(), stage.session_id, USER)])
    words, found = LOOKED_UP[looked_up]
    assert main([word.format(id=stage.session_id[:12]) for word in words]) == 0
    said = capfd.readouterr().out
    assert [word for word in found if word not in said] == []
