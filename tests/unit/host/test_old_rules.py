"""The one question about rules that were saved before there was a sandbox."""

import pytest
from msgspec.structs import replace

from tests.support.stage import USER, exchange, recording, text
from workbench.domain.events import RuleAdded, RulePlaced
from workbench.domain.values import SYSTEM_SESSION, Actor, Decision
from workbench.effects.sandbox import Sandbox
from workbench.host.old_rules import open_rules_question
from workbench.journal.decisions import add_rule, decide_action, place_rule, revoke_rule
from workbench.journal.errors import GuardFailed
from workbench.policy.rules import exact_regex

FULL = Sandbox(backend="bubblewrap", program="/usr/bin/bwrap")
FILES = Sandbox(backend="landlock", problem="no namespaces")


def old_rule(journal, number, pattern, tool="Bash", **more):
    """Add a rule as an older version did: without a place."""
    body = RuleAdded(
        rule=number, effect="allow", origin="user", scope="always", tool=tool, pattern_kind="glob",
        pattern=pattern, description="from before",
    )  # fmt: skip
    journal.append([journal.event(replace(body, **more), SYSTEM_SESSION, USER)])


@pytest.fixture
def stage(staged):
    stage = staged(recording(exchange(text("done"))))
    old_rule(stage.journal, "R1", "Bash(git commit *)")
    old_rule(stage.journal, "R2", "Bash(pytest *)")
    old_rule(stage.journal, "R3", "Read(docs/*)", tool="read_file")
    old_rule(stage.journal, "R4", "Bash(rm *)", effect="deny")
    old_rule(stage.journal, "R5", "Bash(make *)")
    revoke_rule(stage.journal, "R5", USER)
    old_rule(
        stage.journal, "R6", "from a file", tool="run_in_terminal", origin="config", pattern_kind="regex"
    )
    return stage


def asked(stage, sandbox=FULL, **changed):
    config = stage.context().read_settings().config
    config = replace(config, sandbox=replace(config.sandbox, **changed))
    action = open_rules_question(stage.journal, str(stage.workspace), config, lambda choice: sandbox)
    return None if action is None else stage.journal.action(action)


def answer(stage, action, choice, verdict="approve"):
    decision = Decision(action_id=action.id, verdict=verdict, choice=choice)
    return decide_action(stage.journal, decision, action.digest, USER)


def places(stage):
    return {rule.id: rule.place for rule in stage.journal.rules()}


OPEN = {"R3": None, "R4": None, "R6": None}


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("as_proposed", {"R1": "outside", "R2": "inside"}),
        ("all_inside", {"R1": "inside", "R2": "inside"}),
        ("all_outside", {"R1": "outside", "R2": "outside"}),
        ("not_now", {"R1": None, "R2": None}),
    ],
)
def test_an_answer_places_each_rule_in_the_same_transaction(stage, choice, expected):
    action = asked(stage)
    prompt = stage.opened(action).prompt
    assert "R1 Bash(git commit *): outside (git commit writes .git" in prompt
    assert "R2 Bash(pytest *): inside\n" in prompt
    assert answer(stage, action, choice).ok
    assert places(stage) == {**expected, **OPEN}
    assert asked(stage) is None, "it is asked once"


def test_an_expression_is_read_where_it_names_commands_and_else_it_is_said_that_it_is_not(stage):
    for number, pattern in (
        ("R7", exact_regex({"command": "git push origin main"})),
        ("R8", '"command":"(npm install|npm test)'),
        ("R9", '^\\{"command":"pytest -q.*"\\}$'),
        ("R10", '"command":"(?i:GIT push)"'),
        ("R11", '"command":".*"'),
    ):
        old_rule(stage.journal, number, pattern, tool="run_in_terminal", pattern_kind="regex")
    action = asked(stage)
    rows = {row["rule"]: (row["proposed"], row["needs"]) for row in action.subject["placed_rules"]}
    assert rows["R7"][0] == "outside" and "git push needs the network" in rows["R7"][1]
    assert rows["R8"] == ("outside", "npm install needs the network, which the sandbox does not have")
    assert rows["R9"] == ("inside", "")
    assert rows["R10"] == rows["R11"] == ("inside", "cannot tell what its commands need")
    assert '"command":".*": inside (cannot tell what its commands need)' in stage.opened(action).prompt


def test_a_rejection_places_nothing_and_nobody_is_asked_again(stage):
    action = asked(stage)
    assert answer(stage, action, "not_now", "reject").ok
    assert places(stage) == {"R1": None, "R2": None, **OPEN}
    assert asked(stage) is None


def test_it_is_asked_once_while_it_waits_too_and_of_new_ones_alone(stage):
    assert asked(stage) is not None
    assert asked(stage) is None
    old_rule(stage.journal, "R7", "Bash(npm install *)")
    (row,) = asked(stage).subject["placed_rules"]
    assert (row["rule"], row["proposed"]) == ("R7", "outside")


@pytest.mark.parametrize(("sandbox", "changed"), [(FILES, {}), (FULL, {"level": "outside"})])
def test_it_is_not_asked_where_no_full_sandbox_is_in_force(stage, sandbox, changed):
    assert asked(stage, sandbox, **changed) is None


def test_nothing_is_proven_where_there_is_no_such_rule(staged):
    stage = staged(recording(exchange(text("done"))))
    config = stage.context().read_settings().config
    assert open_rules_question(stage.journal, str(stage.workspace), config, pytest.fail) is None


def test_a_new_rule_runs_inside_unless_it_says_outside(stage):
    body = RuleAdded(
        rule="", effect="allow", origin="user", scope="always", tool="Bash", pattern_kind="glob",
        pattern="Bash(ls *)", description="new",
    )  # fmt: skip
    assert add_rule(stage.journal, body, USER).place == "inside"
    assert add_rule(stage.journal, replace(body, place="outside"), USER).place == "outside"
    assert add_rule(stage.journal, replace(body, effect="ask"), USER).place is None


def test_only_a_human_places_a_rule_and_only_one_that_allows(stage):
    assert place_rule(stage.journal, "R2", "outside", USER).place == "outside"
    for number in ("R4", "R5", "R9"):
        with pytest.raises(GuardFailed):
            place_rule(stage.journal, number, "outside", USER)
    for actor in (Actor(kind="host", pid=1), Actor(kind="agent")):
        with pytest.raises(GuardFailed, match="only a human"):
            place_rule(stage.journal, "R1", "outside", actor)
    unknown = stage.journal.event(RulePlaced(rule="R9", place="inside"), SYSTEM_SESSION, USER)
    with pytest.raises(GuardFailed, match="no rule R9"):
        stage.journal.append([unknown])
