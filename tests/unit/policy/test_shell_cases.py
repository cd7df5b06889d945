"""Wide tables of commands: what every pattern must stop at, what must pass, and what a deny must see."""

import re

import pytest

from tests.unit.policy.denied_commands import DENIED, DENY, SPOKEN
from tests.unit.policy.harmless_commands import ALLOWED
from tests.unit.policy.hostile_commands import EVERYWHERE
from workbench.cli.check.kinds import command

WIDE = sorted(
    {f"Bash({word} *)" for line in EVERYWHERE for word in re.findall(r"[\w./-]+", line)}
    - {"Bash(rm *)", "Bash(id *)"}
)
"""Every word of every line as a program that is allowed, but for those that the lines smuggle in."""


def _short(line: str) -> str:
    return ascii(line)[:60]


def verdict(line, allow=(), deny=()):
    return command({"command": line, "allow": list(allow), "deny": list(deny)})["verdict"]


@pytest.mark.parametrize("line", EVERYWHERE, ids=_short)
def test_no_pattern_lets_a_hostile_command_pass(line):
    assert verdict(line, WIDE) != "allow"


@pytest.mark.parametrize(("patterns", "line"), ALLOWED, ids=[_short(line) for _, line in ALLOWED])
def test_a_command_that_its_patterns_plainly_mean_passes(patterns, line):
    assert verdict(line, patterns) == "allow"


def test_the_harmless_ones_are_not_let_pass_by_patterns_for_others():
    assert {verdict(line, ["Bash(nothing *)"]) for _, line in ALLOWED} == {"ask"}


@pytest.mark.parametrize("line", DENIED, ids=_short)
def test_a_deny_sees_through_a_disguise(line):
    assert verdict(line, ["Bash(*)"], DENY) == "deny"


@pytest.mark.parametrize("line", SPOKEN, ids=_short)
def test_a_deny_leaves_alone_what_only_speaks_of_it(line):
    assert verdict(line, ["Bash(*)"], DENY) != "deny"
