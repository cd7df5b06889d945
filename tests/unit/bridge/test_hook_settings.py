"""Hooks in the settings of each agent: what is added, found, and cut out, next to what its user has there."""

import json
import tomllib
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.json_documents import documents
from workbench.bridge.agent_modes import AGENT_SETTINGS, off_switches, present_mode
from workbench.bridge.agents import AGENTS, hooked_agent
from workbench.bridge.hook_command import HookSetup
from workbench.bridge.hook_settings import (
    own_hooks,
    toml_hooks,
    with_hooks,
    without_hooks,
    workbench_hooks,
)
from workbench.text.json_nodes import parse_commented_json

SETUP = HookSetup(python="/bin/python3", data="/data", start=("/bin/python3", "-m", "it's"), seconds=960)
CASES = [(agent, scope) for agent in AGENTS if agent.dialect != "opencode" for scope in agent.scopes]
USERS = {"type": "command", "command": "echo hook_client.py"}


@pytest.mark.parametrize(("agent", "scope"), CASES)
def test_each_event_of_a_scope_gets_a_hook_with_the_timeout_in_its_unit(agent, scope):
    text, _ = with_hooks("{}", agent, scope, SETUP)
    groups = json.loads(text)["hooks"]
    assert list(groups) == [event.name for event in agent.events_of(scope)]
    unit = 1000 if agent.timeout_unit == "milliseconds" else 1
    for event in agent.events_of(scope):
        (group,) = groups[event.name]
        (hook,) = group["hooks"]
        seconds = {"ask": 960, "ended": 3, "interrupted": 3}.get(event.means, 30)
        assert hook["timeout"] == seconds * unit
        assert group.get("matcher") == ("*" if event.has_matcher else None)
        assert hook["type"] == "command" and f" {agent.id} {event.name} /data " in hook["command"]


@settings(max_examples=25)
@given(st.data(), st.sampled_from(CASES))
def test_settings_are_byte_for_byte_as_before(data, case):
    agent, scope = case
    content, text, _ = data.draw(documents(events=[event.name for event in agent.events_of(scope)]))
    changed, entries = with_hooks(text, agent, scope, SETUP)
    value = parse_commented_json(changed).value
    assert {name: value[name] for name in content if name != "hooks"} == {
        name: content[name] for name in content if name != "hooks"
    }
    for event, items in content.get("hooks", {}).items():
        assert value["hooks"][event][: len(items)] == items
    found = own_hooks(value, agent, "/data")
    assert sorted(hook.event for hook in found) == sorted(event.name for event in agent.events_of(scope))
    assert len(found) == len(entries)
    assert without_hooks(changed, agent, "/data", entries) == text
    # Without a record the same hooks go, and what was made around them may stay.
    rest = parse_commented_json(without_hooks(changed, agent, "/data", ())).value
    assert not own_hooks(rest, agent, "/data")
    assert {event: items for event, items in rest.get("hooks", {}).items() if items} == {
        event: items for event, items in content.get("hooks", {}).items() if items
    }


def test_only_ours_goes_from_what_the_user_changed_meanwhile():
    agent = hooked_agent("claude")
    text, entries = with_hooks('{\n  "model": "x"\n}\n', agent, "all", SETUP)
    value = json.loads(text)
    value["hooks"]["PreToolUse"][0]["hooks"].insert(0, USERS)
    value["hooks"]["Stop"].append({"hooks": [USERS]})
    value["hooks"]["Stop"].append(value["hooks"]["Stop"][0])
    value["hooks"]["Own"] = []
    rest = json.loads(without_hooks(json.dumps(value, indent=4), agent, "/data", entries))
    assert rest == {
        "model": "x",
        "hooks": {
            "PreToolUse": [{"matcher": "*", "hooks": [USERS]}],
            "Stop": [{"hooks": [USERS]}],
            "Own": [],
        },
    }


def test_hooks_of_another_data_folder_and_agent_stay():
    claude, qwen = hooked_agent("claude"), hooked_agent("qwen")
    other = HookSetup(python="/bin/python3", data="/other", start=(), seconds=960)
    text, _ = with_hooks("{}", claude, "all", other)
    text, entries = with_hooks(text, claude, "asked", SETUP)
    rest = without_hooks(text, claude, "/data", entries)
    assert {hook.line.data for hook in workbench_hooks(json.loads(rest))} == {"/other"}
    assert without_hooks(rest, qwen, "/other", ()) == rest


@pytest.mark.parametrize(
    "value",
    [
        None, [], {"hooks": []}, {"hooks": {"Stop": {}}}, {"hooks": {"Stop": [3, {"hooks": 4}, {"hooks": [5]}]}},
        {"hooks": {"Stop": [{"hooks": [{"command": 6}]}]}},
    ],
)  # fmt: skip
def test_settings_of_another_form_have_no_hooks(value):
    assert not list(workbench_hooks(value))


def test_toml_has_the_same_hooks():
    agent = hooked_agent("codex")
    setup = HookSetup(python='/a "quoted"\\\x7f', data="/data", start=(), seconds=960)
    text, _ = with_hooks("{}", agent, "all", setup)
    shown = tomllib.loads("\n".join(toml_hooks(agent, "all", setup)))
    assert shown == json.loads(text)
    assert len(own_hooks(shown, agent, "/data")) == len(agent.events)


def test_every_agent_has_its_modes_and_switches():
    assert AGENT_SETTINGS.keys() == {agent.id for agent in AGENTS}
    assert Counter(agent.id for agent in AGENTS).most_common(1)[0][1] == 1
    for agent in AGENTS:
        known = AGENT_SETTINGS[agent.id]
        assert known.default_mode in (known.modes or {"": ""}) and known.own_questions
        assert set(agent.unasking_modes) <= known.modes.keys() | {"bypassPermissions"}


@pytest.mark.parametrize(
    ("permission", "words"),
    [
        (None, "files outside its folder, .env files and repeated calls only"),
        ({"edit": "deny", "bash": {"*": "allow"}}, "files outside its folder"),
        ("ask", "every call that no other rule allows"),
        ({"*": "ask", "bash": "allow"}, "every call that no other rule allows"),
        ({"edit": "ask", "bash": {"*": "allow", "git push *": "ask"}}, "about edit, bash, by pattern"),
        ([1], "files outside its folder"),
    ],
)
def test_the_permission_rules_of_opencode_are_said(permission, words):
    config = {} if permission is None else {"permission": permission}
    assert words in present_mode("opencode", {"config": config}).meaning


def test_a_mode_and_a_switch_are_read_from_settings():
    files = {"settings": {"permissions": {"defaultMode": "acceptEdits"}, "disableAllHooks": True}}
    assert present_mode("claude", files).meaning == "it asks about most commands, not about edits"
    assert present_mode("claude", {}).name == "auto"
    assert present_mode("claude", {"settings": {"permissions": {"defaultMode": "new"}}}).meaning.endswith(
        "known here"
    )
    assert present_mode("claude", {"settings": {"permissions": [1]}}).name == "auto"
    assert present_mode("codex", {"config": {"approval_policy": "never"}}).meaning == "it asks about nothing"
    granular = {"config": {"approval_policy": {"granular": {"rules": True}}}}
    assert present_mode("codex", granular).name == "granular"
    assert present_mode(
        "gemini", {"settings": {"general": {"defaultApprovalMode": "yolo"}}}
    ).meaning.startswith(present_mode("gemini", {}).meaning)
    assert [switch.path for switch in off_switches("claude", files)] == [("disableAllHooks",)]
    assert not list(off_switches("gemini", {"settings": {"hooksConfig": {"enabled": True}}}))
    assert list(off_switches("gemini", {"settings": {"hooksConfig": {"enabled": False}}}))
