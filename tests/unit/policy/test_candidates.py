"""The rules that a call suggests: narrowest first, each judged, none that does not cover it."""

import pytest

from tests.support.tables import each_row
from tests.unit.policy.gate_cases import CREATE, FETCH, GREP, READ, REPLACE, SHELL, rule
from workbench.policy import rules
from workbench.policy.rule_suggestions import (
    SuggestedRule,
    rule_concerns_tool,
    suggest_rules,
    suggestion_refusal,
    unsaved_rule,
)
from workbench.policy.rules import call_subject
from workbench.policy.shell.command_paths import CommandBoundary


def patterns(found):
    return [candidate.pattern for candidate in found.candidates if not candidate.refused]


@pytest.mark.parametrize(
    ("command", "offered"),
    [
        ("git log -3 --stat", ["Bash(git log -3 --stat)", "Bash(git log -3 *)", "Bash(git log *)"]),
        ("ls", ["Bash(ls)", "Bash(ls *)"]),
        ("npm run test", ["Bash(npm run test)", "Bash(npm run *)"]),
        ("wc -l < a.txt", ["Bash(wc -l < a.txt)", "Bash(wc *)"]),
        ("CI=1 npm test", ["Bash(CI=1 npm test)"]),
    ],
)
def test_a_command_suggests_itself_and_its_beginnings(command, offered):
    found = suggest_rules(SHELL, {"command": command}, "")
    assert patterns(found)[: len(offered)] == offered
    assert (found.about.split(" <")[0], found.part, found.why_none) == (command.split(" <")[0], None, "")
    for candidate in found.candidates:
        assert candidate.refused or rules.rule_covers(unsaved_rule(candidate), found.subject)


@each_row(
    ("command", "offered"),
    [
        ("pytest --weird -q x", ["Bash(pytest --weird -q x)"]),
        ("git merge-file a b c", ["Bash(git merge-file a b c)"]),
        ("FOO=1 ls -l", ["Bash(FOO=1 ls -l)", "Bash(FOO=1 ls *)"]),
        ("FOO='a b' ls 'c d'", ["Bash(FOO='a b' ls 'c d')", "Bash(FOO='a b' ls *)"]),
        ("export FOO=1", ["Bash(export FOO=1)"]),
        ("foo a --x b", ["Bash(foo a --x b)", "Bash(foo a --x *)"]),
        ("npm test -- --run x", ["Bash(npm test -- --run x)", "Bash(npm test -- --run *)"]),
        ("tar -xzf a.tgz", ["Bash(tar -xzf a.tgz)"]),
    ],
)
def test_what_is_not_known_to_be_harmless_is_offered_as_it_stands(command, offered):
    found = suggest_rules(SHELL, {"command": command}, "")
    assert patterns(found) == offered
    refused = [candidate.refused for candidate in found.candidates if candidate.refused]
    assert all("spell out" in why or "too wide" in why or "allow nothing" in why for why in refused)


def test_the_exact_parameters_of_what_is_not_known_are_offered():
    found = suggest_rules(SHELL, {"command": "pytest --weird 'a*[b]'"}, "")
    first = found.candidates[0]
    assert (first.pattern_kind, first.refused) == ("regex", "")
    for other in ("pytest --weirder 'a*[b]'", "X=1 pytest --weird 'a*[b]'", "pytest --weird 'a*[b]' x"):
        assert not rules.rule_covers(unsaved_rule(first), call_subject(SHELL, {"command": other}, ""))


def test_a_command_with_signs_of_patterns_is_offered_to_the_letter():
    found = suggest_rules(SHELL, {"command": "grep 'a*(b)' x"}, "")
    first = found.candidates[0]
    assert (first.pattern_kind, first.refused) == ("regex", "")
    assert rules.rule_covers(unsaved_rule(first), found.subject)
    assert not rules.rule_covers(unsaved_rule(first), call_subject(SHELL, {"command": "grep 'aab' x"}, ""))


def test_a_long_command_offers_its_two_longest_and_two_shortest_beginnings():
    found = suggest_rules(SHELL, {"command": "pytest a b c d e f g"}, "")
    assert [c.pattern for c in found.candidates] == [
        "Bash(pytest a b c d e f g)", "Bash(pytest a b c d e f *)", "Bash(pytest a b c d e *)",
        "Bash(pytest a *)", "Bash(pytest *)",
    ]  # fmt: skip


def test_of_several_commands_the_first_that_nothing_covers_is_asked_about():
    standing = [rule(pattern="Bash(ls *)")]
    found = suggest_rules(SHELL, {"command": "ls -l | wc -l"}, "", standing)
    assert (found.about, found.part, found.parts) == ("wc -l", 2, 2)
    assert found.part_subject.parameters == {"command": "wc -l"}
    covered = suggest_rules(SHELL, {"command": "ls -l | ls"}, "", standing)
    assert covered.part == 1


@pytest.mark.parametrize(
    ("descriptor", "parameters"),
    [
        (SHELL, {"command": "git log > x"}),
        (SHELL, {"command": "ls" + " " * 60 + "x"}),
        (CREATE, {"path": "a", "content": "x\u202ey"}),
    ],
)
def test_what_no_rule_can_cover_says_why(descriptor, parameters, tmp_path):
    found = suggest_rules(descriptor, parameters, str(tmp_path))
    assert (found.candidates, bool(found.why_none)) == ((), True)


def test_reading_odd_text_is_no_reason(tmp_path):
    assert suggest_rules(READ, {"path": "a\u200bb.txt"}, str(tmp_path)).candidates


@pytest.mark.parametrize(
    ("path", "offered"),
    [
        ("src/deep/a.py", ["Edit(src/deep/a.py)", "Edit(src/deep/*.py)", "Edit(src/deep/**)"]),
        ("a.py", ["Edit(a.py)"]),
        ("src/Makefile", ["Edit(src/Makefile)", "Edit(src/**)"]),
        ("src/.env", ["Edit(src/.env)", "Edit(src/**)"]),
        ("src/a*.py", []),
    ],
)
def test_a_path_suggests_itself_its_kind_and_its_folder(path, offered, tmp_path):
    found = suggest_rules(REPLACE, {"path": path, "new": "x"}, str(tmp_path))
    assert (found.about, patterns(found)) == (path, offered)
    assert "everything" in found.candidates[-1].refused


def test_an_address_suggests_itself_and_its_host():
    found = suggest_rules(FETCH, {"url": "https://docs.example.org/a?b=c"}, "")
    assert patterns(found)[1] == "WebFetch(domain:docs.example.org)"
    assert rules.rule_covers(unsaved_rule(found.candidates[0]), found.subject)
    assert found.candidates[-1].refused


def test_anything_else_suggests_exactly_its_parameters():
    found = suggest_rules(GREP, {"pattern": "a.b"}, "")
    assert found.about == "grep_search"
    other = call_subject(GREP, {"pattern": "aXb"}, "")
    assert rules.rule_covers(unsaved_rule(found.candidates[0]), found.subject)
    assert not rules.rule_covers(unsaved_rule(found.candidates[0]), other)


def test_a_refusal_says_what_is_wrong_once():
    subject = call_subject(SHELL, {"command": "ls"}, "")
    wide = SuggestedRule(tool="run_in_terminal", pattern_kind="glob", pattern="Bash(*)", covers="")
    elsewhere = SuggestedRule(tool="run_in_terminal", pattern_kind="glob", pattern="Bash(pwd)", covers="")
    assert "would allow everything" in suggestion_refusal(wide, subject)
    assert suggestion_refusal(elsewhere, subject) == "it does not cover this call"
    assert suggestion_refusal(wide, subject, effect="deny") == ""


def test_the_past_leaves_out_what_is_about_another_tool(tmp_path):
    assert rule_concerns_tool(rule(pattern="Bash(git *)"), SHELL)
    assert not rule_concerns_tool(rule(pattern="Bash(git *)"), READ)
    assert rule_concerns_tool(rule(tool="read_file", pattern_kind="regex", pattern='"path":"x"'), READ)
    assert not rule_concerns_tool(rule(tool="read_file", pattern_kind="regex", pattern='"path":"x"'), CREATE)


def test_a_recorded_path_that_leaves_the_workspace_is_no_target(tmp_path):
    subject = call_subject(READ, {"path": "../x"}, str(tmp_path))
    assert subject.targets == {}
    assert not rules.rule_covers(rule(tool="read_file", pattern="Read(src/**)"), subject)
    assert call_subject(READ, {"path": 3}, str(tmp_path)).targets == {}


def test_a_command_that_leaves_the_workspace_suggests_no_rule(tmp_path):
    where = CommandBoundary(workspace=str(tmp_path))
    found = suggest_rules(SHELL, {"command": "cat ../x"}, str(tmp_path), (), where)
    assert found.why_none == "no rule can cover it: cat ../x: ../x leaves the workspace"
    assert patterns(suggest_rules(SHELL, {"command": "cat x"}, str(tmp_path), (), where))[0] == "Bash(cat x)"


def test_a_cd_to_the_workspace_is_no_part_that_a_rule_is_needed_for(tmp_path):
    command = f"cd {tmp_path} && pytest -q && make"
    found = suggest_rules(SHELL, {"command": command}, str(tmp_path))
    assert (found.about, found.part, found.parts) == ("pytest -q", 2, 3)
    standing = [rule(pattern="Bash(pytest *)")]
    assert suggest_rules(SHELL, {"command": command}, str(tmp_path), standing).about == "make"
    assert suggest_rules(SHELL, {"command": f"cd {tmp_path}"}, str(tmp_path)).about == f"cd {tmp_path}"
    only = suggest_rules(SHELL, {"command": f"cd {tmp_path} && pytest -q"}, str(tmp_path))
    assert rules.rule_covers(unsaved_rule(only.candidates[1]), only.subject)
