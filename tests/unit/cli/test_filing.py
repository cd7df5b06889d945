"""Sessions searched, renamed, tagged, archived, ended, deleted and forked from the command line."""

import json
import re

import pytest

from screenshots.make import Session, load
from tests.support.stage import Stage, call, exchange, recording, text
from workbench.domain.events import ActionOpened, PromptSubmitted, ReplyCompleted
from workbench.domain.values import Actor
from workbench.host import session_requests
from workbench.journal.imports import SessionImport

USER = Actor(kind="user")


@pytest.fixture
def stage(tmp_path, monkeypatch):
    found = Stage(
        tmp_path / "stage",
        recording(exchange(text("I rename the handler in router.py.")), exchange(text("Again."))),
    )
    found.begin("rename the handler").drive()
    monkeypatch.setenv("WORKBENCH_HOME", str(found.home.path))
    yield found
    found.close()


def test_search_names_the_sessions_and_the_places(shell, stage):
    (row,) = shell.json("sessions", "search", "--json", "handler")
    assert (row["id"], row["places"] >= 2) == (stage.session_id, True)
    assert {match["who"] for match in row["matches"]} >= {"you", "agent"}
    assert shell("sessions", "search", "router.py") == 0
    assert "I rename the handler in router.py." in shell.out
    assert (shell("sessions", "search", "nowhere"), shell.out) == (0, "Nothing matches.\n")
    assert shell.json("sessions", "search", "--json", "handler status:completed") == []
    assert shell.json("sessions", "search", "--json", "handler tool:nothing") == []
    assert shell.json("sessions", "list", "--json", "--search", "handler asked:expired") == []
    assert shell.json("sessions", "list", "--all", "--json", "--search", "router") != []


def test_a_session_of_another_agent_is_found_by_the_word_for_its_tool(shell, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    rows = [
        {"type": "user", "sessionId": "s1", "uuid": "u1", "message": {"role": "user", "content": "list it"}},
        {
            "type": "assistant", "sessionId": "s1", "uuid": "u2", "parentUuid": "u1",
            "message": {"role": "assistant", "id": "m1", "content": [call]},
        },
    ]  # fmt: skip
    path = tmp_path / "s1.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert shell("sessions", "import", str(path)) == 0
    for word, count in (("shell", 1), ("bash", 1), ("read", 0)):
        found = shell.json("sessions", "list", "--all", "--json", "--search", f"tool:{word}")
        assert len(found) == count, word
        found = shell.json("sessions", "search", "--json", f"-tool:{word}", "list")
        assert len(found) == 1 - count, word


@pytest.mark.spec(179)
def test_a_word_with_a_hyphen_is_looked_for_in_the_commands(shell, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    for name, command in (("one", "ls -la src"), ("two", "cat latest")):
        call = {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": command}}
        rows = [
            {"type": "user", "sessionId": name, "uuid": f"u{name}", "message": {"role": "user", "content": name}},
            {
                "type": "assistant", "sessionId": name, "uuid": f"a{name}", "parentUuid": f"u{name}",
                "message": {"role": "assistant", "id": f"m{name}", "content": [call]},
            },
        ]  # fmt: skip
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        assert shell("sessions", "import", str(path)) == 0
    cases = {
        ("search", "-la"): ["one"], ("search", "--limit", "5", "-la", "ls"): ["one"],
        ("search", "ls", "-la", "--limit=5"): ["one"], ("search", "--", "-la"): ["one"],
        ("search", "la", '-"src"'): ["two"], ("search", "-status:completed"): [],
        ("search", "-status:paused", "-origin:workbench", "la", "-x"): [],
        ("list", "--all", "--search", "-la"): ["one"], ("list", "--all", "--search", "-x"): [],
    }  # fmt: skip
    for words, titles in cases.items():
        group, *others = words
        found = shell.json("sessions", group, "--json", *others)
        assert sorted(row["title"] for row in found) == titles, words
    (row,) = shell.json("sessions", "search", "--json", "-la")
    assert [(place["who"], place["text"]) for place in row["matches"]] == [("call", "ls -la src")]
    assert shell("sessions", "list", "--search", "--json") == 2


def test_search_says_what_it_does_not_understand(shell, stage):
    assert (shell("sessions", "search", "since:whenever"), shell.out) == (2, "")
    assert "since:whenever is not a date" in shell.err
    assert shell("sessions", "search", "x", "--limit", "0") == 2


@pytest.mark.spec(178)
def test_filing_changes_what_lists_show(shell, stage):
    key = stage.session_id
    assert shell("sessions", "rename", key, "  router\nwork ") == 0
    assert shell.json("sessions", "tag", key, "release", "draft", "--json")["tags"] == ["release", "draft"]
    assert shell.json("sessions", "tag", key, "--remove", "draft", "--json")["tags"] == ["release"]
    (row,) = shell.json("sessions", "list", "--all", "--json", "--tag", "release")
    assert (row["title"], row["tags"]) == ("router work", ["release"])
    assert shell("sessions", "archive", key) == 0
    assert shell.json("sessions", "list", "--all", "--json") == []
    assert [one["id"] for one in shell.json("sessions", "list", "--all", "--archived", "--json")] == [key]
    assert shell("sessions", "archive", "--undo", key) == 0
    assert [one["id"] for one in shell.json("sessions", "list", "--all", "--json")] == [key]
    assert shell.json("sessions", "list", "--all", "--json", "--origin", "claude-code") == []
    assert shell("sessions", "rename", key, " ") == 1
    assert "The title is empty" in shell.err


def test_a_secret_in_a_title_or_tag_is_scrubbed(shell, stage):
    token = "ghp_" + "a1B2" * 9
    shell("sessions", "rename", stage.session_id, f"use {token}")
    shell("sessions", "tag", stage.session_id, token)
    (row,) = shell.json("sessions", "list", "--all", "--json")
    assert token not in f"{row['title']}{row['tags']}"


def test_an_ended_session_takes_nothing_more(shell, stage):
    assert shell.json("sessions", "end", stage.session_id, "--json")["status"] == "completed"
    assert shell("sessions", "end", stage.session_id) == 1
    assert "It is completed" in shell.err
    with pytest.raises(session_requests.SessionRefused):
        session_requests.submit_prompt(stage.journal, stage.session_id, "go on", USER)


def test_ending_withdraws_what_is_asked(shell, stage):
    now = stage.journal.now()
    asked = ActionOpened(
        action_kind="question", tool=None, target="?", digest="d", created_at=now, expires_at=None
    )
    stage.journal.append([stage.journal.event(asked, stage.session_id, USER, action_id="q1")])
    assert shell("sessions", "end", stage.session_id) == 0
    action = stage.journal.action("q1")
    assert (action.state, action.reason) == ("cancelled", "the session was ended")


@pytest.mark.spec(133)
def test_delete_asks_and_then_really_deletes(shell, stage):
    assert shell("sessions", "delete", stage.session_id) == 2
    assert "--yes" in shell.err
    assert stage.journal.session(stage.session_id) is not None
    assert shell.json("sessions", "delete", "--yes", "--json", stage.session_id)["deleted"] == [
        stage.session_id
    ]
    assert stage.journal.session(stage.session_id) is None
    assert shell.json("sessions", "search", "--json", "handler") == []
    assert shell("sessions", "delete", "--yes", stage.session_id) == 1


def test_a_fork_has_the_conversation_and_goes_on_by_itself(shell, stage):
    made = shell.json("sessions", "fork", stage.session_id, "--json", "-C", str(stage.workspace))
    old, new = (stage.journal.events(key) for key in (stage.session_id, made["id"]))
    said = [
        [event.body.text for event in events if isinstance(event.body, PromptSubmitted | ReplyCompleted)]
        for events in (old, new)
    ]
    assert said[0] == said[1]
    assert {event.id for event in old}.isdisjoint(event.id for event in new)
    row = stage.journal.session(made["id"])
    assert (row.status, row.kind, row.usage) == (
        "ready",
        "chat",
        stage.journal.session(stage.session_id).usage,
    )
    assert row.configuration["forked_from"] == stage.session_id
    stage.session_id = made["id"]
    stage.say("and once more")
    stage.drive()
    replies = [e.body.text for e in stage.journal.events(made["id"]) if isinstance(e.body, ReplyCompleted)]
    assert replies == ["I rename the handler in router.py.", "Again."]


def test_a_fork_has_every_call_as_it_ended(shell, tmp_path, monkeypatch):
    script = recording(
        exchange(call("p1", "read_file", path="a.txt"), call("p2", "no_such_tool")), exchange(text("Looked."))
    )
    stage = Stage(tmp_path / "calls", script, files={"a.txt": "x"})
    monkeypatch.setenv("WORKBENCH_HOME", str(stage.home.path))
    stage.trust().begin("look").drive()
    made = shell.json("sessions", "fork", stage.session_id, "--json")
    old, new = (stage.journal.calls(key) for key in (stage.session_id, made["id"]))
    assert [(one.provider_call_id, one.tool, one.state) for one in new] == [
        (one.provider_call_id, one.tool, one.state) for one in old
    ]
    assert [one.state for one in new] == ["succeeded", "rejected"]
    assert {one.id for one in old}.isdisjoint(one.id for one in new)
    stage.close()


def test_an_empty_session_is_not_forked(shell, stage):
    key = session_requests.create_session(
        stage.journal, workspace=str(stage.workspace), provider="recorded", model="m", actor=USER
    )
    assert shell("sessions", "fork", key) == 1
    assert "Nothing was said in it" in shell.err


@pytest.mark.spec(210)
def test_stats_count_calls_answers_tokens_and_files(shell, tmp_path, monkeypatch):
    script = recording(
        exchange(
            call("p1", "create_file", path="a.txt", content="x\n"),
            call("p2", "run_in_terminal", command="ls"),
            {"usage": {"input_tokens": 11, "output_tokens": 4}},
        ),
        exchange(text("Made.")),
    )
    stage = Stage(tmp_path / "counted", script)
    monkeypatch.setenv("WORKBENCH_HOME", str(stage.home.path))
    stage.trust().begin("make it").drive()
    first, second = stage.journal.actions(states=("pending",))
    stage.approve(first)
    stage.reject(second)
    stage.drive()
    found = shell.json("sessions", "stats", "--json")
    tools = {one["tool"]: one for one in found["tools"]}
    assert (tools["create_file"]["ok"], tools["create_file"]["success"]) == (1, 1.0)
    assert (tools["run_in_terminal"]["not_run"], tools["run_in_terminal"]["run_ms"]) == (1, 0)
    assert (found["actions"]["approved"], found["actions"]["rejected"], found["deciding"]["answers"]) == (
        1,
        1,
        2,
    )
    assert (found["usage"]["total_tokens"], found["usage"]["cost"]) == (15, None)
    assert [(one["path"], one["times"], one["added"]) for one in found["files"]] == [("a.txt", 1, 1)]
    assert shell.json("sessions", "stats", "--json", "--here")["sessions"]["total"] == 0
    assert shell("sessions", "stats", stage.session_id) == 0
    assert "create_file" in shell.out
    stage.close()


def claude(number):
    message = {"role": "user", "content": f"prompt {number}"}
    return json.dumps({"type": "user", "uuid": f"u{number}", "sessionId": "s", "message": message}) + "\n"


def test_ctrl_c_takes_back_what_an_import_stored(shell, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    path = tmp_path / "lines"
    path.write_text("".join(map(claude, range(900))))
    add, count = SessionImport.add, iter(range(10**9))

    def stopped(self, event):
        if next(count) == 700:
            raise KeyboardInterrupt
        add(self, event)

    monkeypatch.setattr(SessionImport, "add", stopped)
    assert shell("sessions", "import", str(path)) == 130
    assert shell.json("sessions", "list", "--all", "--json") == []
    monkeypatch.setattr(SessionImport, "add", add)
    assert shell("sessions", "import", str(path)) == 0
    assert len(shell.json("sessions", "list", "--all", "--json")) == 1
    assert shell.json("doctor", "--json")["ok"]


def test_what_cannot_be_imported_is_named_with_the_reason(shell, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    (tmp_path / "notes.txt").write_text("just words")
    (tmp_path / "good.anything").write_text(claude(1))
    assert shell("sessions", "import", str(tmp_path / "notes.txt")) == 1
    assert "notes.txt: it is neither JSON" in shell.err
    assert shell("sessions", "import", str(tmp_path / "missing")) == 1
    assert "No such file" in shell.err
    found = shell.json("sessions", "import", str(tmp_path), "--dry-run", "--json")
    assert [one["result"] for one in found["sessions"]] == ["read"]
    assert shell.json("sessions", "list", "--all", "--json") == []
    assert shell("sessions", "import", "-", "-") == 2


@pytest.mark.spec(180)
def test_a_list_says_why_it_is_empty(shell, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    assert (shell("sessions", "list"), shell.out) == (0, "No session yet.\n")
    (tmp_path / "log.json").write_text(json.dumps({"id": "c1", "user_query": "list files", "metadata": {"final_status": "accepted"},
        "iterations": [{"timestamp": "2026-11-21T12:00:00Z", "model_output": {"command": "ls"}}]}))  # fmt: skip
    assert shell("sessions", "import", str(tmp_path / "log.json")) == 0
    assert (shell("sessions", "list"), shell.out) == (
        0, "No session of this workspace yet; 1 is elsewhere, --all shows them.\n",
    )  # fmt: skip
    assert len(shell.json("sessions", "list", "--all", "--json", "--status", "accepted")) == 1
    assert (shell("sessions", "list", "--all", "--status", "paused"), shell.out) == (0, "Nothing matches.\n")
    assert shell("sessions", "list", "--all", "--status", "puased") == 2
    assert "“puased” is not a status" in shell.err
    assert shell("sessions", "list", "--all", "--kind", "chats") == 2


def test_an_open_turn_is_stopped_and_nothing_else(shell, tmp_path, monkeypatch):
    reads = [exchange(call(f"c{n}", "read_file", path="a.txt")) for n in range(6)]
    stage = Stage(tmp_path / "loop", recording(*reads), files={"a.txt": "b"}).trust().begin("look")
    stage.drive()
    monkeypatch.setenv("WORKBENCH_HOME", str(stage.home.path))
    monkeypatch.setattr("workbench.host.host_start.ensure_host", lambda *_: None)
    told = shell.json("sessions", "stop", stage.session_id, "--json")
    assert told["id"] == stage.session_id and told["turn"]
    assert stage.drive().last_outcome == "interrupted"
    assert (shell("sessions", "stop", stage.session_id), shell.out) == (1, "")
    assert "No turn of it is running" in shell.err
    stage.close()


def test_ids_of_different_lengths_leave_the_columns_of_a_list_in_line(shell, tmp_path, monkeypatch):
    load((Session(name="release-run"), Session(name="commands")), tmp_path / "home").close()
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    assert shell("sessions", "list", "--all") == 0
    heads = [re.match(r"(\S+ (\S+) +)", line) for line in shell.out.splitlines()]
    assert len({len(head[2]) for head in heads}) > 1
    assert len({len(head[1]) for head in heads}) == 1
