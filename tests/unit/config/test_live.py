"""A configuration that changes while things run: what holds at once, what waits, what is refused."""

import json

import pytest

from workbench.config.describe import config_as_json
from workbench.config.layers import load_config
from workbench.config.reload import merge_reloaded
from workbench.config.types import CONFIG_KEYS

RULE = {"id": "1", "tool_name": "read_file", "param_pattern": "x", "description": "d"}
OTHER = {**RULE, "id": "2"}


def read(folder, content):
    text = content if isinstance(content, str) else json.dumps({"config_version": 1, **content})
    (folder / "config.json").write_text(text)
    return load_config(folder, None, trusted=True, env={}, options={})


def change(folder, before, after):
    return merge_reloaded(read(folder, before), read(folder, after))


def at(found, path):
    value = config_as_json(found.loaded.config)
    for name in path.split("."):
        value = value[name]
    return value


AT_ONCE = [
    ("ui.theme", {"ui": {}}, {"ui": {"theme": "x"}}, "x"),
    ("ui.keymap", {}, {"ui": {"keymap": {"a.b": "x"}}}, {"a.b": "x"}),
    ("ui.notify.bell", {}, {"ui": {"notify": {"bell": False}}}, False),
    ("notify.command", {}, {"notify": {"command": "cat"}}, "cat"),
    ("limits.max_turns", {}, {"limits": {"max_turns": 500}}, 500),
    ("max_session_messages", {}, {"max_session_messages": 20}, 20),
    ("retention.sealed_days", {}, {"retention": {"sealed_days": 1}}, 1),
    ("sessions.watch", {}, {"sessions": {"watch": True}}, True),
    ("sessions.leave_out", {"sessions": {"leave_out": ["codex"]}}, {}, []),
    ("approvals.window_minutes", {}, {"approvals": {"window_minutes": 5}}, 5),
    ("approvals.read_only", {"approvals": {"read_only": "auto"}}, {}, "ask"),
    ("approvals.deny", {}, {"approvals": {"deny": ["Bash(rm*)"]}}, ["Bash(rm*)"]),
    (
        "approvals.allow",
        {"approvals": {"allow": ["Read", "Grep"]}},
        {"approvals": {"allow": ["Grep"]}},
        ["Grep"],
    ),
    ("fetch.allowed_hosts", {"fetch": {"allowed_hosts": ["a.b"]}}, {}, []),
    ("fetch.allow_loopback", {"fetch": {"allow_loopback": True}}, {}, False),
]

LATER = [
    ("approvals.window_minutes", {}, {"approvals": {"window_minutes": 60}}, 15),
    ("approvals.windows", {}, {"approvals": {"windows": [{"minutes": 60}]}}, []),
    ("approvals.read_only", {}, {"approvals": {"read_only": "auto"}}, "ask"),
    ("approvals.on_expiry", {}, {"approvals": {"on_expiry": "continue"}}, "pause"),
    ("approvals.require_seen", {}, {"approvals": {"require_seen": False}}, True),
    ("approvals.single_press", {}, {"approvals": {"single_press": "edits"}}, "off"),
    ("approvals.deny", {"approvals": {"deny": ["Bash(rm*)"]}}, {}, ["Bash(rm*)"]),
    ("approvals.allow", {}, {"approvals": {"allow": ["Read"]}}, []),
    ("fetch.allowed_hosts", {}, {"fetch": {"allowed_hosts": ["a.b"]}}, []),
    ("hooks.PreToolUse", {}, {"hooks": {"PreToolUse": [{"matcher": "*", "command": "x"}]}}, []),
    ("hooks.PreToolUse", {"hooks": {"PreToolUse": [{"matcher": "*", "command": "x"}]}}, {},
     [{"matcher": "*", "command": "x"}]),
]  # fmt: skip


@pytest.mark.spec(47)
@pytest.mark.parametrize(("path", "before", "after", "value"), AT_ONCE)
def test_what_is_of_the_screen_or_narrows_holds_at_once(tmp_path, path, before, after, value):
    found = change(tmp_path, before, after)
    assert (at(found, path), found.applied, found.later) == (value, (path,), ())
    assert found.words == f"Configuration: {path} changed."


@pytest.mark.spec(47)
@pytest.mark.parametrize(("path", "before", "after", "value"), LATER)
def test_what_would_allow_more_waits_for_the_next_start(tmp_path, path, before, after, value):
    found = change(tmp_path, before, after)
    assert (at(found, path), found.applied, found.later) == (value, (), (path,))
    assert found.words == f"Configuration: From the next start: {path}."


def test_of_a_list_that_gains_and_loses_only_the_narrower_part_holds(tmp_path):
    found = change(
        tmp_path, {"approvals": {"allow": ["Read", "Grep"]}}, {"approvals": {"allow": ["Grep", "LS"]}}
    )
    assert (at(found, "approvals.allow"), found.later) == (["Grep"], ("approvals.allow",))
    rules = change(tmp_path, {"auto_approval_rules": [RULE]}, {"auto_approval_rules": [OTHER]})
    assert (rules.loaded.config.auto_approval_rules, rules.later) == ((), ("auto_approval_rules",))
    same_id = change(
        tmp_path, {"auto_approval_rules": [RULE]}, {"auto_approval_rules": [{**RULE, "param_pattern": ".*"}]}
    )
    assert same_id.loaded.config.auto_approval_rules == ()


def test_own_providers_hold_at_once(tmp_path):
    before = {"providers": {"a": {"kind": "ollama"}, "b": {"kind": "ollama"}}}
    after = {"providers": {"a": {"kind": "ollama", "base_url": "http://elsewhere"}, "c": {"kind": "ollama"}}}
    found = change(tmp_path, before, after)
    assert (found.applied, found.later) == (("providers",), ())
    assert found.words == "Configuration: providers changed."
    providers = found.loaded.config.providers
    assert list(providers) == ["a", "c"] and providers["a"].base_url == "http://elsewhere"
    origins = {key for key in found.loaded.origins if key.startswith("providers.")}
    assert origins == {"providers.a.kind", "providers.a.base_url", "providers.c.kind"}


@pytest.mark.spec(47)
def test_providers_of_a_workspace_wait(tmp_path):
    """Its file may be changing while nobody has answered for it; one that is gone is gone at once."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()

    def both(own, theirs):
        (tmp_path / "config.json").write_text(json.dumps({"providers": own}))
        (workspace / ".workbench.json").write_text(json.dumps({"providers": theirs}))
        return load_config(tmp_path, workspace, trusted=True, env={}, options={})

    mine, other = {"kind": "ollama"}, {"kind": "ollama", "base_url": "http://other"}
    present = both({"a": mine}, {"w": mine, "x": mine})
    found = merge_reloaded(present, both({"a": mine}, {"a": other, "w": other, "v": mine}))
    providers = found.loaded.config.providers
    assert {name: one.base_url for name, one in providers.items()} == {
        "a": "http://localhost:11434", "w": "http://localhost:11434"
    }  # fmt: skip
    assert (found.applied, found.later) == (("providers",), ("providers of the workspace",))
    assert "providers.w.base_url" not in found.loaded.origins
    assert "providers.v.kind" not in found.loaded.origins


@pytest.mark.spec(47)
@pytest.mark.parametrize("broken", ['{"ui": ', '{"uj": {}}', "[]", '{"approvals": {"deny": 3}}'])
def test_a_file_that_is_being_edited_changes_nothing(tmp_path, broken):
    before = {"approvals": {"deny": ["Bash(rm*)"]}, "limits": {"max_turns": 3}}
    found = change(tmp_path, before, broken)
    assert at(found, "limits.max_turns") == 3 and at(found, "approvals.deny") == ["Bash(rm*)"]
    assert found.words.startswith("The changed configuration is not used: ") and "config.json" in found.words


def test_nothing_changed_says_nothing(tmp_path):
    found = change(tmp_path, {"limits": {"max_turns": 3}}, {"limits": {"max_turns": 3}})
    assert (found.words, found.applied, found.later) == ("", (), ())


def test_no_change_of_one_key_ever_allows_more(tmp_path):
    """Every key is either of the screen, a limit, or goes through a rule that narrows."""
    free = ("ui.", "limits.")
    granting = [key.path for key in CONFIG_KEYS if not key.path.startswith(free)]
    assert {"approvals.allow", "auto_approval_rules", "hooks.PreToolUse"} <= set(granting)
    present = read(tmp_path, {})
    wide = read(
        tmp_path,
        {
            "approvals": {"window_minutes": 60, "windows": [{"minutes": 60}], "read_only": "auto", "allow": ["*"], "on_expiry": "continue",
                          "require_seen": False, "single_press": "edits"},
            "auto_approval_rules": [RULE], "fetch": {"allow_loopback": True, "allowed_hosts": ["a"]},
        },
    )  # fmt: skip
    found = merge_reloaded(present, wide).loaded.config
    assert (found.approvals, found.auto_approval_rules, found.fetch) == (
        present.config.approvals, present.config.auto_approval_rules, present.config.fetch,
    )  # fmt: skip


OUTSIDE = {"pattern": "Bash(x *)", "where": "outside"}


@pytest.mark.parametrize(
    ("before", "after", "now"),
    [
        (["Bash(x *)"], [OUTSIDE], ["Bash(x *)"]),
        ([OUTSIDE], ["Bash(x *)"], ["Bash(x *)"]),
        ([OUTSIDE], [OUTSIDE], [OUTSIDE]),
    ],
)
def test_a_pattern_leaves_the_sandbox_only_after_a_start(tmp_path, before, after, now):
    found = change(tmp_path, {"approvals": {"allow": before}}, {"approvals": {"allow": after}})
    assert at(found, "approvals.allow") == now


def test_a_rule_leaves_the_sandbox_only_after_a_start(tmp_path):
    placed = {**RULE, "where": "outside"}
    found = change(tmp_path, {"auto_approval_rules": [RULE]}, {"auto_approval_rules": [placed]})
    assert "where" not in at(found, "auto_approval_rules")[0]
    found = change(tmp_path, {"auto_approval_rules": [placed]}, {"auto_approval_rules": [RULE]})
    assert "where" not in at(found, "auto_approval_rules")[0]
    found = change(tmp_path, {"auto_approval_rules": [placed]}, {"auto_approval_rules": [placed]})
    assert at(found, "auto_approval_rules")[0]["where"] == "outside"
