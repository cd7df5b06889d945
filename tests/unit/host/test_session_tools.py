"""The tools of a session, narrowed by its human: from the next turn on, never beyond what it may have."""

import pytest

from tests.support.stage import USER, Stage, call, exchange, recording, text
from workbench.config.sections import ToolSettings
from workbench.config.types import Config
from workbench.domain import events
from workbench.host.session_requests import SessionRefused, end_session
from workbench.host.session_tools import narrow_tools, tools_of_next_session
from workbench.journal.index_tables import index_table_differences
from workbench.views.event_text import session_settings_text
from workbench.views.notices import notice_of

WRITE = call("c1", "create_file", path="n.txt", content="x\n")
AGAIN = call("c2", "create_file", path="m.txt", content="x\n")


@pytest.fixture
def stage(tmp_path):
    found = Stage(
        tmp_path / "stage",
        recording(exchange(WRITE), exchange(text("ok")), exchange(AGAIN), exchange(text("ok"))),
    )
    yield found
    found.close()


def narrow(stage, words, config=None):
    return narrow_tools(stage.journal, config or Config(), stage.session(), words, USER)


@pytest.mark.spec(189)
def test_it_holds_from_the_next_turn_on(stage):
    stage.begin().drive()
    said = narrow(stage, "read_file, grep_search")
    assert said.startswith("After this turn this session has 2 of 15 tools: ")
    assert stage.session().active_tools == ()
    (action,) = stage.waiting()
    stage.approve(action)
    stage.drive()
    assert stage.calls()["c1"].state == "succeeded"
    assert stage.session().active_tools == ("read_file", "grep_search")
    assert "next_tools" not in stage.session().configuration
    stage.say("again")
    stage.drive()
    row = stage.calls()["c2"]
    assert row.state == "rejected"
    assert not (stage.workspace / "m.txt").exists()
    (told,) = [event.body for event in stage.journal.call_events(row.id) if event.kind == "call.proposed"]
    assert told.verdict.reason == "create_file: not active in this session"
    assert index_table_differences(stage.journal) == []


def test_between_turns_it_holds_at_once_and_is_an_event(stage):
    stage.begin()
    assert narrow(stage, "reads") == (
        "From its next turn on this session has 6 of 15 tools: read_file, list_dir, file_search, grep_search,"
        " terminal_last_command, context.read."
    )
    (body,) = [body for body in stage.bodies(events.SessionChanged) if body.active_tools is not None]
    assert body.active_tools == stage.session().active_tools
    assert session_settings_text(body).startswith("tools: read_file, list_dir")
    assert notice_of(body, was_stopped=False)[1].startswith("Tools: read_file, list_dir")
    assert "all 15 tools" in narrow(stage, "all")
    assert stage.session().active_tools == ()
    assert session_settings_text(stage.bodies(events.SessionChanged)[-1]) == "tools: all"


def test_the_last_of_several_changes_counts(stage):
    stage.begin().drive()
    for words in ("reads", "read_file", "all", "context_read"):
        narrow(stage, words)
    stage.reject(stage.waiting()[0])
    stage.drive()
    assert stage.session().active_tools == ("context.read",)
    narrow(stage, "list")
    assert narrow(stage, "") == "This session has 1 of 15 tools: context.read."


def test_it_never_has_more_than_the_settings_offer(stage):
    stage.begin()
    settings = Config(tools={"run_in_terminal": ToolSettings(providers=("ollama",))})
    with pytest.raises(SessionRefused, match="can have no tool run_in_terminal"):
        narrow(stage, "run_in_terminal", settings)
    assert "all 14 tools" in narrow(stage, "all", settings)
    assert stage.session().active_tools == ()


def test_it_never_has_more_than_it_was_started_with(stage):
    stage.begin(active_tools=("read_file", "create_file"))
    with pytest.raises(SessionRefused, match="can have no tool list_dir"):
        narrow(stage, "read_file list_dir")
    assert narrow(stage, "reads").endswith("1 of 2 tools: read_file.")
    assert narrow(stage, "all").endswith("all 2 tools that it can have.")
    assert stage.session().active_tools == ("read_file", "create_file")


@pytest.mark.parametrize(
    ("words", "remedy"),
    [("read_fil", "Did you mean read_file?"), ("zzz", "Name some of context.read"), (",", "Name some of")],
)
def test_what_is_no_tool_is_said(stage, words, remedy):
    stage.begin()
    if words == ",":
        assert narrow(stage, words).startswith("This session has all")
        return
    with pytest.raises(SessionRefused) as refused:
        narrow(stage, words)
    assert refused.value.what == "The tools were not changed." and remedy in refused.value.remedy
    assert stage.bodies(events.SessionChanged) == []


def test_an_ended_session_keeps_its_tools(stage):
    stage.begin()
    end_session(stage.journal, stage.session(), USER)
    with pytest.raises(SessionRefused, match=r"is completed|is terminated"):
        narrow(stage, "reads")


def test_the_next_session_begins_with_them():
    tools, said = tools_of_next_session(Config(), "local", "reads")
    assert "read_file" in tools and "create_file" not in tools
    assert said.startswith("The next session has 6 of 15 tools")
    assert tools_of_next_session(Config(), "local", "all")[0] == ()
