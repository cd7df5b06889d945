"""The parts of denials by meaning: exact ones, wildcards, what is not known, and what the gate makes of it."""

import random

import pytest

from tests.support.sizes import size
from tests.support.tables import each_row
from tests.unit.policy.gate_cases import KNOWN, READ, SHELL, context, rule
from tests.unit.policy.test_denials import verdict
from workbench.domain.values import PermissionPattern
from workbench.policy import denial_senses, rules
from workbench.policy.gate import GateCall, judge_screened_call, screen_call
from workbench.policy.permissions import permission_doubt
from workbench.policy.shell.analysis import view_command
from workbench.policy.shell.denials import parse_denial
from workbench.policy.shell.option_names import OPTION_NAMES
from workbench.policy.shell.option_reading import option_row
from workbench.policy.shell.option_synonyms import (
    EQUAL_OPTIONS,
    IMPLIED_OPTIONS,
    SIMILAR_OPTIONS,
    SUBCOMMAND_NAMES,
)


@each_row(
    ("pattern", "command", "expected"),
    [
        # --- without a star: that alone, in any spelling; with more words it asks if it names an option
        ("git push --force", "git push -f", "deny"),
        ("git push --force", "git push -f origin", "ask"),
        ("git push --force", "git push -fq", "ask"),
        ("git push --force", "git push", "-"),
        ("git push", "git push", "deny"),
        ("git push", "git push origin", "-"),
        ("npm install", "npm i", "deny"),
        ("git stash", "git stash push", "-"),
        # --- wildcards
        ("git push --force*", "git push -f origin", "deny"),
        ("git push --force*", "git push --force-with-lease", "deny"),
        ("git push --force*", "git push origin main", "-"),
        ("git reset --hard*", "git reset HEAD --hard", "deny"),
        ("rm -rf*", "rm -fr x", "deny"),
        ("rm -rf /tmp/*", "rm -fr a /tmp/x", "deny"),
        ("rm -rf /tmp/*", "rm -fr a", "-"),
        ("curl -X P*", "curl -sXPUT https://a.example", "deny"),
        ("curl -X P*", "curl -XGET https://a.example", "-"),
        ("git push * --force", "git push origin main -f", "-"),
        ("* --hard*", "git reset HEAD --hard", "deny"),
        ("git p* --force *", "git push -f", "-"),
        ("X=1 git push --force *", "git push -f", "-"),
        # --- words in an order
        ("git push origin main *", "git push -q origin main", "deny"),
        ("git push origin main *", "git push main origin", "-"),
        ("git checkout -- *", "git checkout HEAD -- a", "deny"),
        ("git checkout -- *", "git checkout HEAD", "-"),
        ("git checkout -- *", "git checkout -- a", "deny"),
        ("git commit -m 'a b' *", 'git commit -a --message="a b"', "deny"),
        ("git commit -m 'a b' *", 'git commit -a --message="a c"', "-"),
        # --- options that nobody knows
        ("git push --brand-new *", "git push origin --brand-new", "deny"),
        ("git push --brand-new *", "git push origin --brand-new=1", "deny"),
        ("git push --brand-new *", "git push --quiet", "-"),
        ("git push --force *", "git push --unheard", "ask"),
        ("git push --force --delete *", "git push --force-with-lease", "-"),
        ("git push --force --delete *", "git push --force-with-lease --prune", "ask"),
        ("git push --force *", "git push -Z", "ask"),
        ("git push --force *", "git commit --unheard", "-"),
        ("kubectl delete --all *", "kubectl --unheard x delete pods --all", "ask"),
        ("kubectl delete --all *", "kubectl --unheard x get pods", "-"),
        ("shipit --x=1 push *", "shipit push --x=2", "ask"),
        ("shipit push a --x *", "shipit push --y b a --x", "deny"),
        ("shipit push --x *", "shipit --y z push --x", "deny"),
        ("shipit push --x *", "shipit --y=z other push --x", "-"),
        # --- programs that read their words in their own way
        ("docker run --privileged *", "docker run -i=false --privileged x", "deny"),
        ("docker run --privileged *", "docker run --privileged=no x", "deny"),
        ("find -delete *", "find . -unheard -delete", "deny"),
        ("find -exec *", "find . -name x -exec cat {} ;", "deny"),
        ("find -print *", "find . -exec echo -print ; -name x", "-"),
        ("find -print *", "find . -exec echo {} + -print", "deny"),
        ("git push --force *", "git push https://a.example/b.git -f main", "deny"),
        ("git push --force *", "git push git@a.example:b/c main", "-"),
        ("git push --delete *", "git push origin :", "-"),
        ("git fetch --force *", "git fetch origin +main:main", "deny"),
        ("git fetch --force *", "git fetch origin main", "-"),
        ("npm install --global *", "npm install x --global false", "-"),
        ("npm install --global *", "npm install x --global true", "deny"),
        ("npm ru *", "npm rum x", "deny"),
        ("npm r *", "npm uninstall x", "deny"),
        ("npm install *", "npm instal-x x", "-"),
        ("chmod -x *", "chmod -R -x a", "deny"),
        ("chmod -R *", "chmod -x a", "-"),
        ("git stash push *", "git stash", "deny"),
        ("kubectl delete -A *", "kubectl delete -A=false pods", "-"),
        ("kubectl delete -A *", "kubectl delete -A=true pods", "deny"),
        ("tar -x *", "tar x", "deny"),
        ("tar -f a.tar *", "tar xf a.tar", "deny"),
        ("tar -x *", "tar f -x", "-"),
        ("kubectl delete --force *", "kubectl delete pod x --grace-period=0", "ask"),
        ("wget --no-clobber *", "wget -nc https://a.example", "deny"),
        ("wget --method POST *", "wget --post-data=x https://a.example", "deny"),
        ("sudo rm -rf *", "sudo", "-"),
        ("sudo rm -rf *", "sudo -l", "-"),
        ("sudo -u root rm -rf *", "sudo rm -rf x", "-"),
        ("sudo -u root rm -rf *", "sudo --user=root -n rm x -fr", "deny"),
        ("sudo X=1 rm *", "sudo rm -rf x", "-"),
        ("git --no-pager push --force *", "git --no-pager push -f", "deny"),
        ("git -c *", "git -c a=b push", "deny"),
        ("git -c *", "git commit -c HEAD", "-"),
        ("rm -r *", "rm " + "x " * 2_100 + "-r", "-"),
        ("python -m pip install *", "pip install x", "deny"),
        ("pip install -U *", "python3.12 -I -X utf8 -m pip install --upgrade x", "deny"),
        ("pip install -U *", "python3 -Im pip install -U x", "deny"),
        ("pip install -U *", "python3 x.py -m pip install -U x", "-"),
        ("pip install -U *", "python3 -m", "-"),
        ("chmod 777 *", "chmod u=rwx,go=rwx a", "deny"),
        ("chmod 777 *", "chmod u=rwx,g=rwx a", "-"),
        ("chmod 777 *", "chmod u=rwx,go+r a", "-"),
        ("chmod 777 *", "chmod 1777 a", "deny"),
        ("chmod 777 *", "chmod 0000 a", "-"),
        ("kill -s TERM *", "kill -15 4", "deny"),
        ("kill -s TERM *", "kill -l", "-"),
        ("git push --no-verify *", "git push --verify", "-"),
        ("git push --force *", "git push --force-with-lease --force", "deny"),
        # --- data and code
        ("git push --force *", 'git commit -m "git push -f"', "-"),
        ("git push --force *", "python -c \"os.system('git push -f')\"", "ask"),
        ("git push --force *", 'bash -c "git push -f"', "deny"),
        ("git push --force *", 'echo "git push -f" | sh', "ask"),
        ("git push --force *", "for b in a b; do git push -f origin $b; done", "deny"),
        ("git push --force *", "for f in -f -q; do git push $f; done", "deny"),
    ],
)  # fmt: skip
def test_a_denial_is_compared_part_by_part(pattern, command, expected):
    assert verdict(pattern, command) == expected


def test_every_row_of_the_tables_can_be_read():
    for key in OPTION_NAMES:
        row = option_row(key)
        assert row is not None and all(name.startswith("-") for name in row.by_name), key
        titles = [option.title for option in row.options]
        assert len(titles) == len(set(titles)), key
    for table in (EQUAL_OPTIONS, IMPLIED_OPTIONS, SIMILAR_OPTIONS):
        for key, entries in table.items():
            named = {
                name.partition("=")[0] for options in entries.items() for name in (options[0], *options[1])
            }
            assert named <= option_row(key).by_name.keys(), key
    for name, command in SUBCOMMAND_NAMES.items():
        assert command.split(" -")[0] in OPTION_NAMES and name not in OPTION_NAMES, name


def test_a_pattern_that_is_only_a_text_is_none():
    for pattern in ("", "*", "* x", "shipit push *", "a*b -c", "X=1 rm -rf *", "x " * 2_100 + "-r"):
        assert parse_denial(pattern) is None, pattern


# --- the gate --------------------------------------------------------------------------------------------


def judged(tmp_path, command, **changed):
    made = context(tmp_path, allow=(PermissionPattern(text="Bash(git push *)"),), **changed)
    passed = screen_call(GateCall(tool="run_in_terminal", parameters={"command": command}), made)
    return passed if not hasattr(passed, "view") else judge_screened_call(passed, made)


FORCE = (PermissionPattern(text="Bash(git push --force *)", origin="config.json:3"),)
RULE = rule(id="R7", effect="deny", pattern="Bash(git push --force *)")


@each_row(
    ("command", "outcome", "reason"),
    [
        ("git push origin main", "allowed", "Bash(git push *)"),
        ("git push -f origin main", "denied", "Bash(git push --force *)"),
        ("git push origin +main", "denied", ""),
        (
            "git push --force-with-lease origin main",
            "ask",
            "the denial Bash(git push --force *) may apply: --force-with-lease does much of what --force does",
        ),
        ("git push --for origin", "ask", "may apply: --for may be short for --force"),
        ("git push --unheard", "ask", "may apply: --unheard is not known, and may mean --force"),
    ],
)
def test_the_gate_denies_what_is_meant_and_asks_in_doubt(tmp_path, command, outcome, reason):
    for changed in ({"deny": FORCE}, {"rules": (RULE,)}):
        found = judged(tmp_path, command, **changed)
        assert found.outcome == outcome
        assert reason in found.reason or "R7 denies this" in found.reason


def test_an_ask_rule_has_the_same_meaning(tmp_path):
    asking = rule(id="R8", effect="ask", pattern="Bash(git push --force *)")
    for command in ("git push -f", "git push --force-with-lease", "git push --unheard"):
        found = judged(tmp_path, command, rules=(asking,))
        assert (found.outcome, found.rule) == ("ask", "R8"), command
    assert judged(tmp_path, "git push origin", rules=(asking,)).outcome == "allowed"


def test_a_doubt_denies_where_nobody_can_answer(tmp_path):
    found = judged(tmp_path, "git push --force-with-lease", deny=FORCE, can_ask=False)
    assert found.outcome == "denied" and "nobody can answer" in found.reason


def test_a_grant_of_a_whole_run_does_not_beat_a_doubt(tmp_path):
    whole = rule(scope="run", scope_id="run1", pattern="Bash")
    made = {"rules": (whole,), "run_id": "run1"}
    assert judged(tmp_path, "git push --force-with-lease", **made).outcome == "allowed"
    assert judged(tmp_path, "git push --force-with-lease", deny=FORCE, **made).outcome == "ask"
    assert judged(tmp_path, "python -c \"os.system('git push -f')\"", deny=FORCE, **made).outcome == "ask"


def test_a_later_word_of_an_unknown_program_is_looked_into_by_meaning(tmp_path):
    allow = (PermissionPattern(text="Bash(qvx *)"),)
    made = context(tmp_path, allow=allow, deny=FORCE)
    for command, outcome in (("qvx git push origin -f", "ask"), ("qvx git push origin", "allowed")):
        passed = screen_call(GateCall(tool="run_in_terminal", parameters={"command": command}), made)
        found = judge_screened_call(passed, made)
        assert found.outcome == outcome, command
        assert ("a later word of it may run as a command" in found.reason) is (outcome == "ask")


def test_a_link_to_the_program_is_followed(tmp_path):
    (tmp_path / "g").symlink_to("/usr/bin/git")
    assert judged(tmp_path, "./g push -f origin", deny=FORCE).outcome == "denied"


def test_a_line_too_long_to_take_apart_asks():
    denial = PermissionPattern(text="Bash(git push --force *)")
    long = "git push -f; " + "echo $((1)) aaaaaaaaaaaaaaaaaaaa; " * 4_000
    assert permission_doubt(denial, SHELL, view_command(long)) == "the line is too long to compare every word"
    other = "echo $((1)) aaaaaaaaaaaaaaaaaaaa; " * 4_000
    assert permission_doubt(denial, SHELL, view_command(other)) == ""


def test_a_doubt_is_about_commands_and_about_the_tool_that_is_named():
    seen = view_command("git push --unheard")
    for text in ("Read(git push --force *)", "Bash(git push --force", "Bash(shipit)", "Bash"):
        assert permission_doubt(PermissionPattern(text=text), SHELL, seen) == "", text
    force = PermissionPattern(text="Bash(git push --force *)")
    assert permission_doubt(force, READ, seen) == "" and permission_doubt(force, SHELL, None) == ""
    subject = rules.call_subject(SHELL, {"command": "git push --unheard"}, "")
    assert rules.rule_doubt(RULE, subject)
    assert not rules.rule_doubt(rule(effect="deny", pattern_kind="regex", pattern="x"), subject)
    assert not rules.rule_doubt(rule(effect="deny", tool="read_file"), subject)


# --- what is shown ---------------------------------------------------------------------------------------


@each_row(
    ("pattern", "text", "examples"),
    [
        (
            "git push --force *",
            "git push with --force (also -f, --mirror, +BRANCH), in any order and spelling; --force-with-lease asks",
            ("git push origin main -f", "git push origin +main", "git push --mirror origin main"),
        ),
        (
            "rm -rf *",
            "rm with --recursive (also -r, -R) and --force (also -f), in any order and spelling",
            ("rm build -fr", "rm --recursive --force build", "rm --verbose --recursive --force build"),
        ),
        (
            "git branch -D *",
            "git branch with --delete (also -d, -D) and --force (also -f, -D), in any order and spelling",
            ("git branch -fd", "git branch -D", "git branch --delete --force"),
        ),
        ("git push *", "every git push", ("git push origin main", "git push --quiet origin main", "git push x")),
        ("npm publish", "npm publish alone, by any of its names", ("npm publish",)),
        ("git commit --amend", "git commit with --amend, in any order and spelling; with more words it asks",
         ("git commit --amend",)),
        ("* --hard*", "compared as text: commands that read * --hard*", ("x --hardx", "x y --hardx y")),
        ("shipit push", "compared as text: commands that read shipit push, and nothing else", ("shipit push",)),
        ("shipit:*", "compared as text: commands that read shipit:*", ("shipit x", "shipit x y", "shipit")),
        (
            "shipit push --force *",
            "shipit push with --force, in any order and spelling; any other option of shipit asks, because its"
            " options are not known here",
            ("shipit push --force", "shipit --force push", "shipit push --force x"),
        ),
        (
            "sudo rm -rf *",
            "sudo that runs rm with --recursive (also -r, -R) and --force (also -f), in any order and spelling",
            ("sudo rm build -fr", "sudo rm --recursive --force build",
             "sudo rm --verbose --recursive --force build"),
        ),
        (
            "find -delete *",
            "find with -delete, in any order and spelling; -exec, -execdir, -ok, -okdir ask",
            ("find -delete", "find -delete x", "find -delete x y"),
        ),
    ],
)  # fmt: skip
def test_a_denial_says_what_it_means_with_commands_that_it_stops(pattern, text, examples):
    sense = denial_senses.denial_sense(f"Bash({pattern})")
    assert (sense.text, sense.examples) == (text, examples)


def test_every_example_is_stopped():
    options = [(key, option) for key in OPTION_NAMES for option in option_row(key).options]
    for key, option in random.Random(34).sample(
        options, size("WORKBENCH_DENIAL_EXAMPLES", 150, len(options))
    ):
        pattern = f"{key} {option.title}{' v' if option.takes == ':' else ''} *"
        sense = denial_senses.denial_sense(f"Bash({pattern})")
        assert sense.examples and len(sense.text) < 600, pattern
        assert {verdict(pattern, line) for line in sense.examples} == {"deny"}, pattern


@pytest.mark.parametrize("pattern", ["Read(x)", "Bash(rm", "WebFetch"])
def test_a_pattern_about_something_else_has_no_sense(pattern):
    assert denial_senses.denial_sense(pattern) is None


def test_only_rules_that_deny_or_ask_about_commands_are_explained():
    assert denial_senses.denial_sense("Bash").text == "every command"
    kinds = [RULE, rule(id="R1"), rule(id="R2", effect="deny", pattern_kind="regex", pattern="rm")]
    facts = denial_senses.sense_facts_by_rule(kinds)
    assert list(facts) == ["R7"] and [name for name, _ in facts["R7"]] == ["means", "stops", "stops", "stops"]
    assert KNOWN
