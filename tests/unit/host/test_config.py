"""What a configuration may say about calls, and what happens when it cannot be used."""

import json
import os

import pytest
from msgspec.structs import replace

from tests.support.stage import USER, call, exchange, recording, result, text
from workbench.domain.events import RuleAdded
from workbench.host import driver_context
from workbench.host.driver_context import ConfigUnusable
from workbench.journal.decisions import add_rule

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
        stage.journal, context.read_settings().loaded, context.tools.descriptors(), str(stage.workspace)
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
            stage.journal, fresh.read_settings().loaded, context.tools.descriptors(), str(stage.workspace)
        )
    assert [(rule.id, rule.pattern) for rule in stage.journal.rules()] == [("R2", '"path":"b')]
    (stage.home.path / "config.json").write_text('{"config_version": 1}')
    driver_context.sync_config_rules(
        stage.journal,
        stage.context().read_settings().loaded,
        context.tools.descriptors(),
        str(stage.workspace),
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
        driver_context.sync_config_rules(
            stage.journal, loaded, context.tools.descriptors(), str(stage.workspace)
        )
        loaded_rules += [(rule.id, rule.place) for rule in stage.journal.rules()]
    assert loaded_rules == [("R1", "inside"), ("R2", "outside"), ("R2", "outside"), ("R3", "inside")]


COMMAND = {
    "id": "x", "tool_name": "run_in_terminal", "param_pattern": "touch made", "description": "makes a file",
}  # fmt: skip


def adopt(stage):
    context = stage.context()
    loaded, tools = context.read_settings().loaded, context.tools.descriptors()
    driver_context.sync_config_rules(stage.journal, loaded, tools, str(stage.workspace))
    return context, loaded


def of_workspace(staged, *rules, script=None, **more):
    own = json.dumps({"config_version": 1, "auto_approval_rules": list(rules)})
    stage = staged(script or recording(exchange(text("ok"))), files={".workbench.json": own}, **more)
    stage.trust()
    return stage


def test_a_rule_of_a_workspace_holds_there_alone(staged):
    stage = of_workspace(staged, COMMAND, config={"auto_approval_rules": [READ]})
    for _ in range(2):
        context, loaded = adopt(stage)
    scopes = {rule.external_id: (rule.scope, rule.scope_id) for rule in stage.journal.rules()}
    assert scopes == {"r1": ("always", None), "x": ("workspace", str(stage.workspace))}
    users = replace(
        loaded, config=replace(loaded.config, auto_approval_rules=loaded.config.auto_approval_rules[:1])
    )
    driver_context.sync_config_rules(stage.journal, users, context.tools.descriptors(), "/elsewhere")
    assert {rule.external_id for rule in stage.journal.rules()} == {"r1", "x"}, "opened elsewhere"
    (stage.workspace / ".workbench.json").write_text('{"config_version": 1}')
    adopt(stage)
    assert [rule.external_id for rule in stage.journal.rules()] == ["r1"]


def test_a_rule_that_an_older_version_took_from_a_workspace_is_narrowed(staged):
    stage = of_workspace(staged, COMMAND)
    body = RuleAdded(
        rule="", effect="allow", origin="config", scope="always", tool="run_in_terminal",
        pattern_kind="regex", pattern="touch made", description="makes a file", external_id="x",
    )  # fmt: skip
    add_rule(stage.journal, body, USER)
    adopt(stage)
    assert [(rule.id, rule.scope_id) for rule in stage.journal.rules()] == [("R2", str(stage.workspace))]


def test_a_rule_of_a_workspace_lets_no_command_outside(staged):
    line = call("c1", "run_in_terminal", command="touch made")
    script = recording(exchange(line), exchange(text("ok")))
    stage = of_workspace(staged, {**COMMAND, "where": "outside"}, script=script)
    _, loaded = adopt(stage)
    assert [(rule.external_id, rule.place) for rule in stage.journal.rules()] == [("x", "inside")]
    (problem,) = loaded.problems
    assert problem.message.startswith("The rule x runs commands inside the sandbox") and not problem.fatal
    assert loaded.is_usable


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
