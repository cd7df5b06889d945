"""The smaller commands: trust, config, host, tools, doctor, and the shapes of their JSON."""

import contextlib
import json
import os
import sqlite3

import pytest

from workbench.domain.events import PromptSubmitted, SessionCreated
from workbench.domain.values import Actor
from workbench.host.box_folders import running_boxes_folder
from workbench.host.running_boxes import BoxRecord, RunningBox
from workbench.journal.home import Home, default_home_path
from workbench.journal.journal import Journal

DOCTORS = [
    "data folder",
    "permissions",
    "database",
    "schema",
    "tables",
    "stored bytes",
    "supervised sessions",
    "processes",
    "commands in the sandbox",
    "hold",
    "SQLite",
    "settings",
    "grants",
    "limits",
    "connected agents",
    "notices",
    "providers",
]


def test_trust_is_given_shown_and_taken_back(shell):
    (shell.workspace / ".workbench.json").write_text("{}")
    assert shell.json("trust", "--show", "--json")["trusted"] is False
    assert shell("trust", "--yes", "--read") == 0
    assert "Files that control agents: .workbench.json" in shell.out
    shown = shell.json("trust", str(shell.workspace), "--show", "--json")
    assert (shown["trusted"], shown["read_grant"], shown["workspace"]) == (True, True, str(shell.workspace))
    (shell.workspace / ".workbench.json").write_text('{"approvals": {}}')
    shell("trust", "--show")
    assert "The files that control agents changed since it was trusted." in shell.out
    assert shell("trust", "--revoke") == 0
    assert shell("trust", "--revoke") == 0
    assert "Nothing to take back" in shell.out


def test_trust_shows_what_the_files_would_run(shell):
    hook = {"hooks": {"PreToolUse": [{"matcher": "*", "command": "./check me"}]}}
    (shell.workspace / ".workbench.json").write_text(json.dumps(hook))
    shell("trust", "--show")
    assert "Its hooks would run:\n  /bin/sh -c './check me' (PreToolUse *)\n" in shell.out
    shown = shell.json("trust", "--show", "--json")
    assert shown["hooks"] == [
        {"event": "PreToolUse", "matcher": "*", "argv": ["/bin/sh", "-c", "./check me"]}
    ]
    shell("trust", "--yes")
    (shell.workspace / ".workbench.json").write_text("{}")
    assert "its hooks were in force" in shell.json("trust", "--show", "--json")["grants_closed"]
    shell("trust", "--show")
    assert "nothing is allowed without asking" in shell.out


def test_trust_says_why_a_folder_cannot_be_judged(shell):
    os.mkfifo(shell.workspace / "wave.yaml")
    assert shell("trust", "--show") == 0
    assert "It cannot be trusted as it is: wave.yaml: not a regular file" in shell.out
    assert "not a regular file" in shell.json("trust", "--show", "--json")["problem"]
    assert shell("trust", "--yes") != 0


@pytest.mark.parametrize(
    "words", [["--revoke", "--read"], ["--json"], ["--show", "--revoke"], ["x", "-C", "y"]]
)
def test_trust_contradictions(shell, words):
    assert shell("trust", *words) == 2


def test_config_names_where_each_value_is_from(shell):
    Home.open()
    (Home.open().path / "config.json").write_text('{\n "limits": {"max_turns": 7},\n "limit": 3\n}')
    found = shell.json("config", "show", "--json")
    assert found["config"]["limits"]["max_turns"] == 7
    assert found["origins"]["limits.max_turns"].endswith("config.json line 2")
    assert shell("config", "validate") == 1
    assert "config.json line 3" in shell.err and "limits" in shell.err
    assert shell.json("config", "validate", "--json")["ok"] is False
    assert shell("config", "show") == 0
    assert "limits.max_turns = 7   (" in shell.out


def test_patterns_that_are_too_wide_are_said_and_used(shell):
    Home.open()
    allow = '{"approvals": {"allow": ["*", "Bash(*)", "Write", "Bash(git *)", "Bash(git diff *)"]}}'
    (Home.open().path / "config.json").write_text(allow)
    wide = "config.json line 1: approvals.allow: Bash(*) would allow everything; name what is allowed"
    for words in (["config", "show"], ["config", "validate"]):
        assert shell(*words) == 0
        assert wide in shell.err
        notes = shell.json(*words, "--json")["notes"]
        assert len([note for note in notes if "approvals.allow" in note]) == 4
        assert not any("git diff" in note.partition(";")[0] for note in notes)
    assert shell("doctor") == 0
    assert wide in shell.out
    (check,) = [one for one in shell.json("doctor", "--json")["checks"] if one["name"] == "grants"]
    assert (check["ok"], len(check["notes"])) == (True, 4)


def test_the_command_for_notices_is_tried_with_a_sample_and_named_by_doctor(shell):
    def check():
        (found,) = [one for one in shell.json("doctor", "--json")["checks"] if one["name"] == "notices"]
        return found["ok"], found["fact"], found["problems"]

    config, received = Home.open().path / "config.json", shell.folder / "received"
    assert check() == (True, "no notify.command is set", [])
    assert shell("notify", "test") == 1
    assert "Set notify.command in config.json of the data folder." in shell.err
    config.write_text(json.dumps({"config_version": 1, "notify": {"command": f"cat >> {received}"}}))
    assert shell("notify", "test") == 0
    notice = json.loads(received.read_text())
    assert (notice["event"], notice["folder"]) == ("row_opened", str(shell.workspace))
    assert shell.out.splitlines() == [f"Sent: {received.read_text().rstrip()}", "notify.command took it."]
    assert check()[:2] == (True, f"cat >> {received} (workbench notify test tries it)")
    config.write_text(json.dumps({"config_version": 1, "notify": {"command": "./notify.sh"}}))
    found = shell.json("notify", "test", "--json")
    assert found["ok"] is False and f"{config.parent}/notify.sh, which is not there" in found["problem"]
    is_ok, _, (problem,) = check()
    assert not is_ok and problem.startswith("notify.command: the hook names")


def test_a_configuration_in_order(shell):
    assert shell("config", "validate") == 0
    assert shell.out == "Nothing is wrong.\n"


def test_no_host_runs(shell):
    found = shell.json("host", "status", "--json")
    assert (found["is_running"], found["pid"], found["workspace"]) == (False, None, str(shell.workspace))
    assert shell("host", "stop") == 0
    assert shell.out == "No background process runs here.\n"


@pytest.mark.spec(222)
def test_tools_and_their_schemas(shell):
    listed = shell.json("tools", "list", "--json")
    assert {"create_file", "read_file", "replace_string_in_file", "run_in_terminal"} <= {
        tool["id"] for tool in listed
    }
    found = shell.json("tools", "schema", "read_file")
    assert found["input_schema"]["required"] == ["path"] and found["examples"]
    assert shell("tools", "schema", "nonsense") == 1


@pytest.mark.spec(192, 193)
def test_tools_are_listed_as_the_settings_offer_them(shell, monkeypatch):
    home = Home.open().path
    (home / "config.json").write_text('{"tools": {"fetch_webpage": {"providers": ["ollama"]}}}')
    (shell.workspace / ".workbench.json").write_text(
        '{"tools": {"read_fil": {"providers": []}, "list_dir": {"providers": []}}}'
    )
    offered = {tool["id"]: tool["allowed_providers"] for tool in shell.json("tools", "list", "--json")}
    assert {name: offered[name] for name in ("fetch_webpage", "list_dir", "read_file")} == {
        "fetch_webpage": ["ollama"], "list_dir": [], "read_file": ["*"],
    }  # fmt: skip
    assert shell.json("tools", "schema", "fetch_webpage")["allowed_providers"] == ["ollama"]
    assert shell("tools", "list") == 0
    assert "asks  only for ollama: " in shell.out and "asks  only for no provider: " in shell.out
    with monkeypatch.context() as agent:
        agent.setenv("WORKBENCH_AGENT", "1")
        agent.setattr("workbench.cli.tools.default_home_path", lambda _env: home)
        assert shell.json("tools", "schema", "fetch_webpage")["allowed_providers"] == ["ollama"], (
            "its own home"
        )
        agent.delenv("WORKBENCH_HOME")
        assert shell.json("tools", "schema", "fetch_webpage")["allowed_providers"] == ["*"], (
            "its human's home"
        )
    assert shell("config", "validate") == 1
    assert "No tool is called read_fil, so it narrows nothing. Did you mean read_file?" in shell.err


def test_a_healthy_home(shell):
    found = shell.json("doctor", "--json")
    assert (found["ok"], [check["name"] for check in found["checks"]]) == (True, DOCTORS)


def test_the_weight_of_supervised_sessions_is_told(shell):
    assert shell("doctor") == 0 and "supervised sessions: none" in shell.out
    with contextlib.closing(Journal.open(Home.open())) as journal:
        ref, gone = journal.blobs.record(b"x" * 2_048), journal.blobs.record(b"gone")
        created = SessionCreated(workspace="/w", session_kind="supervised")
        prompts = [PromptSubmitted(text="x", text_ref=kept) for kept in (ref, gone)]
        journal.append([journal.event(body, "s", Actor(kind="user")) for body in (created, *prompts)])
        journal.blobs.remove(gone)
    (check,) = [
        one for one in shell.json("doctor", "--json")["checks"] if one["name"] == "supervised sessions"
    ]
    assert (check["sessions"], check["events"], check["stored_bytes"]) == (1, 3, 2_048)
    assert check["event_bytes"] > 0 and "1 with 3 events" in check["fact"] and "2 KB" in check["fact"]


def test_settings_that_cannot_be_used_are_found(shell):
    home = Home.open().path
    (home / "config.json").write_text('{ "nope": 1 }')
    assert broken(shell)[0] == ["settings"]


def broken(shell):
    found = shell.json("doctor", "--json")
    return [check["name"] for check in found["checks"] if not check["ok"]], found


def test_a_table_that_lies_is_found_and_made_anew(shell):
    shell("trust", "--yes")
    database = sqlite3.connect(Home.open().database)
    database.execute("UPDATE trust SET read_grant = 1")
    database.commit()
    database.close()
    assert broken(shell)[0] == ["tables"]
    assert shell("doctor") == 1
    assert "doctor --rebuild rebuilds them" in shell.out
    assert shell("doctor", "--rebuild") == 0
    assert broken(shell)[0] == []


def test_a_lost_blob_and_an_open_folder_are_found(shell):
    call = {"tool_call": {"id": "c", "name": "create_file", "arguments": {"path": "a", "content": "b"}}}
    shell("run", "-p", "x", "--recording", shell.recording({"reply": [call]}), "--on-approval", "park")
    home = Home.open()
    for path in (home.blobs / "sealed").rglob("*"):
        if path.is_file():
            path.unlink()
    home.database.chmod(0o644)
    names, found = broken(shell)
    assert names == ["permissions", "stored bytes"]
    assert "is missing" in json.dumps(found)
    (row,) = [row for row in shell.json("approvals", "list", "--json") if row["kind"] == "tool"]
    assert shell("approvals", "show", row["id"]) == 1
    assert "Traceback" not in shell.err and "are missing" in shell.err


def test_hosts_are_listed_and_ended_also_where_the_journal_waits_for_them(shell, monkeypatch):
    from contextlib import contextmanager

    from workbench.effects.file_locks import FileLock
    from workbench.host.host_locks import host_lock_path
    from workbench.host.host_stop import StopResult
    from workbench.journal.errors import MigrationBlocked

    @contextmanager
    def blocked():
        raise MigrationBlocked(
            "the journal was not migrated", "sessions are driven", "stop the background processs"
        )
        yield

    home = Home.open()
    lock = FileLock(host_lock_path(home, str(shell.workspace)))
    assert lock.try_acquire()
    monkeypatch.setattr("workbench.cli.host.open_journal", blocked)
    asked = []
    monkeypatch.setattr(
        "workbench.cli.host.stop_lock_holder",
        lambda path, *, force: asked.append((path, force)) or StopResult(pid=7, is_gone=force),
    )
    (found,) = shell.json("host", "status", "--all", "--json")
    assert (found["pid"], found["state"], found["version"]) == (
        os.getpid(), "running", None,
    )  # fmt: skip
    assert "workbench host stop --all" in shell.err
    assert shell("host", "stop", "--all") == 1
    assert "Pid 7 still runs" in shell.err
    assert shell.json("host", "stop", "--all", "--force", "--json") == [
        {"pid": 7, "is_gone": True, "was_killed": False}
    ]
    assert asked == [(lock.path, False), (lock.path, True)]
    lock.release()
    assert shell.json("host", "stop", "--all", "--json") == []


def test_a_host_is_started_anew(shell, monkeypatch):
    from workbench.domain.rows import Host

    made = Host(id="h", pid=9, workspace="w", driver="host", started_at=1, version="1.2", schema=1)
    monkeypatch.setattr("workbench.cli.host.ensure_host", lambda *_: made)
    found = shell.json("host", "restart", "--json")
    assert (found["ended"], found["pid"], found["version"]) == (None, 9, "1.2")
    monkeypatch.setattr("workbench.cli.host.ensure_host", lambda *_: None)
    (Home.open().logs / "host-x.log").write_text("2026 INFO a\n2026 ERROR because of that\n")
    assert shell("host", "restart") == 1
    assert "Because of that" in shell.err


def test_the_schema_of_the_configuration_is_one_json_object(shell):
    found = shell.json("config", "schema")
    assert found["$schema"].endswith("2020-12/schema") and "providers" in found["properties"]


def test_a_configuration_is_migrated_with_a_copy_of_the_old_one(shell):
    path = Home.open().path / "config.json"
    assert shell("config", "migrate") == 0
    assert shell.out == f"There is no {path}.\n"
    old = '{"config_version": "1.0", "ollama_base_url": "http://localhost:1"}'
    path.write_text(old)
    found = shell.json("config", "migrate", "--dry-run", "--json")
    assert (found["written"], len(found["changes"]), path.read_text()) == (False, 2, old)
    assert shell("config", "migrate") == 0
    assert json.loads(path.read_text()) == {
        "config_version": 1, "providers": {"ollama": {"base_url": "http://localhost:1"}},
    }  # fmt: skip
    assert path.with_name("config.json.before-migration").read_text() == old
    assert shell("config", "validate") == 0
    assert shell("config", "migrate") == 0
    assert shell.out == f"{path} needs no change.\n"


@pytest.mark.parametrize("content", ["{", "[]", '{"a": 1, "a": 2}', "\xff", "[" * 100_000])
def test_a_file_that_is_no_configuration_is_left_as_it_is(shell, content):
    path = shell.workspace / ".workbench.json"
    path.write_bytes(content.encode("latin-1"))
    assert shell("config", "migrate", "--workspace") == 1
    assert "was not migrated" in shell.err and "Traceback" not in shell.err
    assert path.read_bytes() == content.encode("latin-1")


def test_many_files_that_control_agents_are_told_by_folder(shell):
    folder = shell.workspace / ".wave" / "personas"
    folder.mkdir(parents=True)
    for number in range(200):
        (folder / f"p{number}.md").write_text("You.\n")
    (shell.workspace / "wave.yaml").write_text("kind: WaveManifest\n")
    assert shell("trust", "--yes") == 0
    lines = shell.out.splitlines()
    assert "201 files control agents (all: workbench trust --show --json):" in lines
    assert "  .wave/personas/  200 files" in lines and "  wave.yaml" in lines
    assert max(len(line.replace(str(shell.workspace), "")) for line in lines) < 120


def test_doctor_names_workspaces_in_which_a_command_inside_was_lost(shell):
    home = default_home_path(os.environ)
    home.mkdir(parents=True, exist_ok=True)
    record = BoxRecord(workspace=b"/w\xff\n", before={})
    RunningBox(running_boxes_folder(str(home)), record).abandon(None)
    moved = home / "sandbox/sessions/run/quarantine/1"
    moved.mkdir(parents=True)
    (moved / ".envrc").touch()
    assert shell("doctor") == 0
    assert f"What was moved out of workspaces is in {moved.parent}\n" in shell.out
    assert (
        "commands in the sandbox: lost in /w\ufffd⏎, 0 days ago. The next command inside looks" in shell.out
    )
    (check,) = [
        one for one in shell.json("doctor", "--json")["checks"] if one["name"] == "commands in the sandbox"
    ]
    assert check["lost"] == [{"workspace": "/w\ufffd\n", "days": 0}]
