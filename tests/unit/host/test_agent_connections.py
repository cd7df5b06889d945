"""Settings of other agents are changed only over what was seen, and taken back to the byte."""

import json
import os
import sys
import threading
from pathlib import Path

import pytest
from msgspec.structs import replace

from workbench.bridge.agent_modes import AGENT_SETTINGS
from workbench.bridge.agents import AGENTS, hooked_agent
from workbench.effects.file_locks import FileLock
from workbench.effects.file_primitives import FileRefused, NotDurable
from workbench.effects.files import Root
from workbench.host import agent_connections, connection_records
from workbench.host.agent_connections import (
    ConnectionChoice,
    apply_plan,
    connected_file,
    connection_files,
    hook_timeout,
    is_recorded,
    plan_connection,
    plan_removal,
)
from workbench.host.agent_settings_files import SettingsRefused, settings_file
from workbench.host.connection_records import read_records
from workbench.host.found_agents import find_agent, find_agents, with_versions
from workbench.journal.home import Home

CHOICE = ConnectionChoice(window_minutes=15.0)
CLAUDE, CODEX, OPENCODE = (hooked_agent(name) for name in ("claude", "codex", "opencode"))
SETTINGS = (
    '\ufeff{\r\n\t// mine\r\n\t"permissions": {"allow": ["Bash(ls)"],},\r\n\t"env": {"K": "fabricated"}\r\n}'
)


@pytest.fixture
def home():
    return Home.open()


@pytest.fixture
def user():
    return Path(os.environ["HOME"])


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def connect(home, agent, choice=CHOICE):
    plan = plan_connection(home, agent, choice)
    apply_plan(home, plan)
    return plan


def remove(home, agent, project=None):
    plan = plan_removal(home, agent, settings_file(agent, os.environ, project))
    apply_plan(home, plan)
    return plan


def tree(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
        if "workbench" not in path.relative_to(folder).parts[:1]
    }


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.id)
@pytest.mark.parametrize("is_project", [False, True])
def test_nothing_is_left_where_nothing_was(home, user, agent, is_project, tmp_path):
    choice = ConnectionChoice(window_minutes=15.0, project=str(tmp_path) if is_project else None)
    path = Path(connect(home, agent, choice).path)
    assert path.is_relative_to(tmp_path if is_project else user) and path.stat().st_mode & 0o777 == 0o600
    found = connected_file(home, agent, settings_file(agent, os.environ, choice.project), 15.0)
    assert (found.scope, found.otherwise, found.problems) == ("all", "ask", ())
    assert found.seconds == (0 if agent is OPENCODE else 960)
    assert not plan_connection(home, agent, choice).is_change
    remove(home, agent, choice.project)
    assert not tree(user) and not tree(tmp_path) and not read_records(home)


@pytest.mark.parametrize(
    "text", [SETTINGS, "{}", "", " \n\n", '{"hooks": {"PreToolUse": []}}\n', '{"hooks": {}}']
)
@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "qwen"])
def test_untouched_settings_are_as_before_also_when_connected_twice(home, name, text):
    agent = hooked_agent(name)
    path = put(Path(settings_file(agent, os.environ, None).path), text)
    path.chmod(0o640)
    connect(home, agent)
    first = path.read_bytes()
    connect(home, agent, ConnectionChoice(window_minutes=60.0, otherwise="deny"))
    assert path.read_bytes() != first
    connect(home, agent)
    assert path.read_bytes() == first and path.stat().st_mode & 0o777 == 0o640
    remove(home, agent)
    assert path.read_bytes() == text.encode() and not read_records(home)


def test_settings_that_were_changed_meanwhile_lose_only_our_hooks(home, user):
    path = put(user / ".claude/settings.json", '{"model": "a"}')
    connect(home, CLAUDE)
    value = json.loads(path.read_text())
    own = {"hooks": [{"type": "command", "command": "mine"}]}
    value["hooks"]["Stop"].append(own)
    value["model"] = "b"
    path.write_text(json.dumps(value, indent=4))
    remove(home, CLAUDE)
    assert path.read_text() == json.dumps({"model": "b", "hooks": {"Stop": [own]}}, indent=4)


def test_a_file_of_ours_that_its_user_wrote_in_stays_without_our_hooks(home, user):
    connect(home, CODEX)
    path = user / ".codex/hooks.json"
    value = json.loads(path.read_text())
    value["hooks"]["Mine"] = []
    path.write_text(json.dumps(value))
    remove(home, CODEX)
    assert json.loads(path.read_text()) == {"hooks": {"Mine": []}}
    assert not read_records(home)


def test_a_file_that_was_deleted_meanwhile_leaves_no_record(home, user):
    connect(home, CODEX)
    (user / ".codex/hooks.json").unlink()
    remove(home, CODEX)
    assert not tree(user) and not read_records(home)


def test_folders_with_other_files_stay(home, user):
    connect(home, OPENCODE)
    put(user / ".config/opencode/opencode.json", "{}")
    remove(home, OPENCODE)
    assert tree(user) == {".config": None, ".config/opencode": None, ".config/opencode/opencode.json": b"{}"}


def test_without_its_record_our_hooks_still_go(home, user):
    put(user / ".claude/settings.json", '{"a": 1}')
    connect(home, CLAUDE)
    put(home.path / "connections.json", "damaged")
    remove(home, CLAUDE)
    rest = json.loads((user / ".claude/settings.json").read_text())
    assert rest["a"] == 1 and not any(rest["hooks"].values())


def test_the_record_has_no_content_of_the_settings(home, user):
    put(user / ".claude/settings.json", SETTINGS)
    plan = connect(home, CLAUDE)
    assert "fabricated" not in (home.path / "connections.json").read_text()
    assert is_recorded(home, plan.image.file)


def test_a_secret_next_to_the_change_is_not_shown(home, user):
    secret = "sk-ant-" + "api03-" + "a1B2" * 24
    put(user / ".claude/settings.json", json.dumps({"env": {"ANTHROPIC_API_KEY": secret}}, indent=2))
    lines = plan_connection(home, CLAUDE, CHOICE).diff_lines()
    assert any("PreToolUse" in line for line in lines) and secret not in "\n".join(lines)


# --- what is refused -----------------------------------------------------------------------------------


def refused(home, agent=CLAUDE, env=os.environ):
    with pytest.raises(SettingsRefused) as error:
        plan_connection(home, agent, CHOICE, env)
    assert not read_records(home)
    return f"{error.value.why} {error.value.remedy}"


def test_nothing_is_written_through_a_link(home, user):
    real = put(user / "dotfiles/settings.json", "{}")
    (user / ".claude").mkdir()
    (user / ".claude/settings.json").symlink_to(real)
    assert "symbolic link" in refused(home)
    (user / ".claude/settings.json").unlink()
    (user / ".claude").rmdir()
    (user / ".claude").symlink_to(real.parent)
    assert "symbolic link" in refused(home)
    assert real.read_text() == "{}"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ('{\n  "a": 1,,\n}', "line 2, column 10: a key in double quotes is missing"),
        ('{"hooks": 3}', "line 1, column 11: \"hooks\" is not an object"),
        ('{"hooks": {"Stop": {}}}', '"Stop" is not an array'), ("[]", "the document is not an object"),
        (b'{"a": "\xff"}', "not UTF-8"), ("{} /* open", "a comment has no end"),
    ],
)  # fmt: skip
def test_broken_settings_are_refused_with_their_place(home, user, data, words):
    path = put(user / ".claude/settings.json", data)
    before = path.read_bytes()
    assert words in refused(home)
    assert path.read_bytes() == before


def test_settings_that_something_else_looks_after_are_refused(home, user, monkeypatch):
    path = put(user / ".claude/settings.json", "{}")
    path.chmod(0o400)
    assert "read-only" in refused(home)
    path.chmod(0o600)
    os.link(path, user / "other-name")
    assert "hard links" in refused(home)
    (user / "other-name").unlink()
    monkeypatch.setattr(agent_connections, "LARGEST_SETTINGS", 1000)
    assert "over 1,000 bytes" in refused(home)


def test_a_plugin_of_another_program_stays(home, user):
    path = put(user / ".config/opencode/plugins/workbench.js", "export const Mine = 1\n")
    assert "another program" in refused(home, OPENCODE)
    assert not plan_removal(home, OPENCODE, settings_file(OPENCODE, os.environ, None)).is_change
    assert path.read_text() == "export const Mine = 1\n"


def test_a_change_after_the_question_is_not_lost(home, user):
    path = put(user / ".claude/settings.json", "{}")
    plan = plan_connection(home, CLAUDE, CHOICE)
    path.write_text('{"new": 1}')
    with pytest.raises(SettingsRefused, match="at the same moment"):
        apply_plan(home, plan)
    assert path.read_text() == '{"new": 1}' and not read_records(home)
    plan = connect(home, CLAUDE)
    removal = plan_removal(home, CLAUDE, plan.image.file)
    path.write_text("{}")
    with pytest.raises(SettingsRefused, match="at the same moment"):
        apply_plan(home, removal)
    assert path.read_text() == "{}" and read_records(home)


def test_a_disk_that_fails_leaves_settings_and_record_as_they_were(home, user, monkeypatch):
    put(user / ".claude/settings.json", "{}")
    plan = plan_connection(home, CLAUDE, CHOICE)

    def fail(*_):
        raise FileRefused(".claude/settings.json", "no room is left", "make room")

    monkeypatch.setattr(connection_records, "write_atomic", fail)
    with pytest.raises(SettingsRefused, match="no room is left"):
        apply_plan(home, plan)
    assert tree(user) == {".claude": None, ".claude/settings.json": b"{}"}
    monkeypatch.undo()
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.setattr(Root, "commit", fail)
    with pytest.raises(SettingsRefused, match="no room is left"):
        apply_plan(home, plan)
    assert tree(user) == {".claude": None, ".claude/settings.json": b"{}"} and not read_records(home)


def test_a_write_that_the_disk_did_not_confirm_keeps_its_record(home, user, monkeypatch):
    put(user / ".claude/settings.json", "{}")
    commit = Root.commit

    def unsure(self, staged, expect):
        commit(self, staged, expect)
        if staged.path.endswith("settings.json"):
            raise NotDurable(staged.path, "it is in place, but the disk did not confirm it", "check the disk")

    monkeypatch.setattr(Root, "commit", unsure)
    with pytest.raises(SettingsRefused, match="was changed"):
        connect(home, CLAUDE)
    assert read_records(home)


def test_no_agent_connects_anything(home, user, monkeypatch):
    plan = plan_connection(home, CLAUDE, CHOICE)
    monkeypatch.setenv("WORKBENCH_AGENT", "1")
    with pytest.raises(Exception, match="started by an agent"):
        apply_plan(home, plan)
    assert not tree(user)


def test_two_connects_at_once_lose_nothing(home, user):
    plans = [plan_connection(home, agent, CHOICE) for agent in AGENTS for _ in range(2)]
    begin, ends = threading.Barrier(len(plans)), []

    def write(plan):
        begin.wait()
        try:
            apply_plan(home, plan)
            ends.append("written")
        except SettingsRefused as error:
            ends.append(error.why)

    threads = [threading.Thread(target=write, args=(plan,)) for plan in plans]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ends.count("written") == len(AGENTS), ends
    assert len(read_records(home)) == len(AGENTS)
    for agent in AGENTS:
        assert not connected_file(home, agent, settings_file(agent, os.environ, None), 15.0).problems
        remove(home, agent)
    assert not tree(user)


def test_a_connect_waits_for_another_one_only_so_long(home, monkeypatch):
    monkeypatch.setattr(agent_connections, "_LOCK_SECONDS", 0.05)
    with FileLock(home.run / "connections.lock") as lock:
        assert lock.try_acquire()
        with pytest.raises(SettingsRefused, match="Another workbench"):
            connect(home, CLAUDE)


# --- where settings are, and what is connected ----------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "variable", "file"),
    [
        ("claude", "CLAUDE_CONFIG_DIR", "settings.json"), ("codex", "CODEX_HOME", "hooks.json"),
        ("qwen", "QWEN_HOME", "settings.json"), ("opencode", "XDG_CONFIG_HOME", "opencode/plugins/workbench.js"),
    ],
)  # fmt: skip
def test_the_agents_own_variables_count(home, user, tmp_path, name, variable, file, monkeypatch):
    agent = hooked_agent(name)
    for folder in (str(tmp_path / "new/place"), "~/elsewhere"):
        monkeypatch.setenv(variable, folder)
        plan = connect(home, agent)
        assert plan.path == str(Path(folder.replace("~", str(user))) / file)
        assert Path(plan.path).is_file()
    monkeypatch.delenv(variable)
    places = connection_files(home, agent, None)
    assert len(places) == 3, "what was connected under another variable is found by its record"
    for place in places:
        apply_plan(home, plan_removal(home, agent, place))
    assert not tree(user) and not tree(tmp_path)


def test_toml_with_hooks_is_shown_and_not_written(home, user):
    put(
        user / ".codex/config.toml",
        '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "mine"\n',
    )
    plan = plan_connection(home, CODEX, CHOICE)
    assert not plan.is_change and "[[hooks.PreToolUse]]" in plan.shown_only
    with (user / ".codex/config.toml").open("a") as file:
        file.write("\n".join(plan.shown_only))
    found = connected_file(home, CODEX, plan.image.file, 15.0)
    assert found.scope == "all" and not found.problems


def test_toml_that_only_says_which_hooks_are_trusted_does_not_stop_a_connection(home, user):
    state = '[hooks.state]\n[hooks.state."hooks.json:PreToolUse:0"]\ntrusted_hash = "sha256:00"\n'
    put(user / ".codex/config.toml", f'model = "m"\n{state}')
    assert plan_connection(home, CODEX, CHOICE).is_change


def test_problems_of_a_connection_are_named(home, user, tmp_path):
    path = Path(connect(home, CLAUDE).path)
    file = settings_file(CLAUDE, os.environ, None)
    longer = connected_file(home, CLAUDE, file, 20.5).problems
    assert longer == (
        "Questions wait up to 20.5 minutes, but Claude Code ends the hook after 960 s. "
        "workbench connect claude repairs it.",
    )
    text = path.read_text()
    path.write_text(text.replace("hook_client.py", "gone/hook_client.py"))
    assert "is not supervised" in connected_file(home, CLAUDE, file, 15.0).problems[0]
    path.write_text(text.replace(sys.executable, "/gone/python"))
    assert connected_file(home, CLAUDE, file, 15.0).problems[0].startswith("The hook's interpreter is gone")
    value = json.loads(text)
    del value["hooks"]["Stop"], value["hooks"]["PreToolUse"]
    path.write_text(json.dumps(value))
    assert "Hooks are missing: PreToolUse, Stop." in connected_file(home, CLAUDE, file, 15.0).problems[0]
    path.write_text(text.replace(str(home.path), "/another/home"))
    assert connected_file(home, CLAUDE, file, 15.0) is None


def test_hooks_of_another_agent_and_a_linked_plugin_are_no_connection(home, user):
    connect(home, CLAUDE)
    put(user / ".codex/hooks.json", (user / ".claude/settings.json").read_text())
    assert connected_file(home, CODEX, settings_file(CODEX, os.environ, None), 15.0) is None
    path = Path(connect(home, OPENCODE).path)
    path.rename(user / "plugin.js")
    path.symlink_to(user / "plugin.js")
    assert connected_file(home, OPENCODE, settings_file(OPENCODE, os.environ, None), 15.0) is None


def test_the_scope_of_a_connection_is_read_from_its_hooks(home):
    connect(home, CLAUDE, ConnectionChoice(scope="asked", otherwise="deny", window_minutes=1.001))
    found = connected_file(home, CLAUDE, settings_file(CLAUDE, os.environ, None), 1.001)
    assert (found.scope, found.otherwise, found.seconds, found.problems) == ("asked", "deny", 121, ())
    assert hook_timeout(1.001) == 121


def program(folder, name, text):
    path = put(folder / name, f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return str(path)


def test_agents_are_found_by_their_programs_and_say_their_versions(home, user, tmp_path):
    claude = program(tmp_path / "bin", "claude", "echo 2.1.332 '(Claude Code)'")
    opencode = program(user / ".opencode/bin", "opencode", "echo broken >&2; exit 3")
    program(tmp_path / "relative", "codex", "echo 0.1.0")
    env = {"HOME": str(user), "PATH": f"{tmp_path}/bin:relative:/usr/bin:/bin"}
    connect(home, CODEX)
    found = with_versions(find_agents(home, 15.0, str(tmp_path), env), env)
    assert [(one.agent.id, one.program, one.version) for one in found] == [
        ("claude", claude, "2.1.332"), ("codex", None, ""), ("opencode", opencode, ""),
    ]  # fmt: skip
    assert [len(one.connections) for one in found] == [0, 1, 0]
    Path(claude).unlink()
    assert with_versions(found[:1], env)[0].version == ""
    assert with_versions(()) == ()


def test_what_an_administrator_keeps_from_running_is_said(home, user, tmp_path, monkeypatch):
    managed = put(tmp_path / "managed-settings.json", '{"allowManagedHooksOnly": true}')
    known = replace(AGENT_SETTINGS["claude"], managed=("/nowhere/settings.json", str(managed)))
    monkeypatch.setitem(AGENT_SETTINGS, "claude", known)
    (obstacle,) = find_agent(home, CLAUDE, 15.0, str(user)).obstacles
    assert obstacle == "Its administrator: allowManagedHooksOnly is true, so no hook of ours runs."


def test_what_keeps_hooks_from_running_is_said(home, user):
    put(user / ".claude/settings.json", '{"disableAllHooks": true, "permissions": {"defaultMode": "plan"}}')
    found = find_agent(home, CLAUDE, 15.0, str(user))
    assert found.obstacles == ("Its settings: disableAllHooks is true, so no hook of ours runs.",)
    assert found.mode.name == "plan" and not found.is_here
    put(user / ".codex/config.toml", "[features]\nhooks = false\n")
    (obstacle,) = find_agent(home, CODEX, 15.0, str(user)).obstacles
    assert obstacle == "Its config.toml: features.hooks is false, so no hook of ours runs."
    put(user / ".codex/config.toml", "broken = ")
    (user / ".codex/hooks.json").symlink_to("nowhere")
    (obstacle,) = find_agent(home, CODEX, 15.0, str(user)).obstacles
    assert "symbolic link" in obstacle
