"""What a configuration may say about calls, and what happens when it cannot be used."""

import json
import os

import pytest

from tests.support.stage import call, exchange, recording, result, text
from workbench.host import driver_context
from workbench.host.driver_context import ConfigUnusable

READ = {
    "id": "r1",
    "tool_name": "read_file",
    "param_pattern": '^{"path":".*\\.txt"}$',
    "description": "text files",
}


def ruled(staged, *rules, **more):
    script = recording(exchange(call("c1", "read_file", path="a.txt")), exchange(text("ok")))
    stage = staged(script, files={"a.txt": "hello\n"}, config={"auto_approval_rules": list(rules), **more})
    context = stage.context()
    driver_context.sync_config_rules(
        stage.journal, context.read_settings().loaded, context.tools.descriptors()
    )
    return stage, context


@pytest.mark.spec(48, 54)
def test_a_rule_of_the_configuration_lets_a_call_pass_and_is_counted(staged):
    stage, _ = ruled(staged, READ)
    assert stage.begin().drive().last_outcome == "done"
    (rule,) = stage.journal.rules()
    assert (rule.id, rule.origin, rule.external_id, rule.use_count) == ("R1", "config", "r1", 1)
    assert stage.calls()["c1"].rule == "R1"


@pytest.mark.spec(49, 50, 51, 52)
@pytest.mark.parametrize(
    "change",
    [
        {"param_pattern": ".*"},
        {"param_pattern": "("},
        {"tool_name": "nonesuch"},
        {"description": " "},
        {"param_pattern": ""},
    ],
)
def test_a_rule_that_may_not_be_is_not_adopted_and_named(staged, change):
    stage, context = ruled(staged, {**READ, **change})
    assert stage.journal.rules() == []
    loaded = context.read_settings().loaded
    (problem,) = (*loaded.problems, *driver_context.config_rule_problems(loaded, context.tools.descriptors()))
    assert problem.key.startswith("auto_approval_rules")
    assert problem.line == 1


def test_a_rule_that_is_gone_or_says_something_else_is_revoked(staged):
    stage, context = ruled(staged, READ)
    (stage.home.path / "config.json").write_text(
        json.dumps({"config_version": 1, "auto_approval_rules": [{**READ, "param_pattern": '"path":"b'}]})
    )
    fresh = stage.context()
    for _ in range(2):
        driver_context.sync_config_rules(
            stage.journal, fresh.read_settings().loaded, context.tools.descriptors()
        )
    assert [(rule.id, rule.pattern) for rule in stage.journal.rules()] == [("R2", '"path":"b')]
    (stage.home.path / "config.json").write_text('{"config_version": 1}')
    driver_context.sync_config_rules(
        stage.journal, stage.context().read_settings().loaded, context.tools.descriptors()
    )
    assert stage.journal.rules() == []


def test_a_rule_of_the_configuration_says_where_its_commands_run(staged):
    stage, context = ruled(staged, READ)
    loaded_rules = []
    for where in ("inside", "outside", "outside", None):
        placed = {**READ, **({"where": where} if where else {})}
        content = {"config_version": 1, "auto_approval_rules": [placed]}
        (stage.home.path / "config.json").write_text(json.dumps(content))
        loaded = stage.context().read_settings().loaded
        driver_context.sync_config_rules(stage.journal, loaded, context.tools.descriptors())
        loaded_rules += [(rule.id, rule.place) for rule in stage.journal.rules()]
    assert loaded_rules == [("R1", "inside"), ("R2", "outside"), ("R2", "outside"), ("R3", "inside")]


@pytest.mark.spec(26)
def test_patterns_that_name_no_tool_or_can_never_match_are_named(staged):
    rule = {**READ, "param_pattern": ".*\\.txt$"}
    _, context = ruled(staged, rule, approvals={"deny": ["Baash(rm*)"]})
    found = list(
        driver_context.config_rule_problems(context.read_settings().loaded, context.tools.descriptors())
    )
    assert [problem.key for problem in found] == ["auto_approval_rules", "approvals.deny"]
    assert "Baash" in found[1].message


def test_a_configuration_that_cannot_be_read_starts_nothing(staged):
    stage = staged(recording(exchange(text("ok")))).begin()
    (stage.home.path / "config.json").write_text('{"config_version": 1, "approvals": {"deny": "Bash"}}')
    with pytest.raises(ConfigUnusable, match="deny"):
        stage.context()


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_configuration_that_is_no_file_is_refused_and_not_waited_for(staged, make):
    stage = staged(recording(exchange(text("ok"))))
    make(stage.home.path / "config.json")
    with pytest.raises(ConfigUnusable, match="not a regular file"):
        stage.context()


def test_a_workspace_that_is_not_trusted_cannot_break_the_start(staged):
    script = recording(
        exchange(call("c1", "read_file", path="a.txt")), exchange(text("ok"), expect=result("c1", "denied"))
    )
    stage = staged(
        script,
        files={"a.txt": "x", ".workbench.json": '{"approvals": {"deny": ["Read(a.txt)"]}, "nonsense": 1}'},
    )
    assert stage.begin().drive().last_outcome == "done"
