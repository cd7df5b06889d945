"""Wide tables of commands: what every pattern must stop at, what must pass, and what a deny must see."""

import re

import pytest

from tests.support.tables import each_row
from tests.unit.policy.denied_commands import DENIED, DENY, SPOKEN
from tests.unit.policy.harmless_commands import ALLOWED
from tests.unit.policy.hostile_commands import EVERYWHERE
from tests.unit.policy.more_commands import HARMLESS, HOSTILE
from workbench.cli.check import check_command

WIDE = sorted(
    {f"Bash({word} *)" for line in EVERYWHERE for word in re.findall(r"[\w./-]+", line)}
    - {"Bash(rm *)", "Bash(id *)"}
)
"""Every word of every line as a program that is allowed, but for those that the lines smuggle in."""


def _short(line: str) -> str:
    return ascii(line)[:60]


def verdict(line, allow=(), deny=()):
    return check_command({"command": line, "allow": list(allow), "deny": list(deny)})["verdict"]


@each_row("line", EVERYWHERE, ids=_short)
def test_no_pattern_lets_a_hostile_command_pass(line):
    assert verdict(line, WIDE) != "allow"


@each_row("line", HOSTILE, ids=_short)
def test_its_own_patterns_do_not_let_a_command_pass_that_does_more(line):
    own = {f"Bash({word} *)" for word in re.findall(r"[\w./+-]+", line)}
    assert verdict(line, sorted(own - {"Bash(id *)", "Bash(sh *)"})) != "allow"


@each_row(("patterns", "line"), HARMLESS, ids=[_short(line) for _, line in HARMLESS])
def test_everyday_commands_pass(patterns, line):
    assert verdict(line, patterns) == "allow"


@pytest.mark.parametrize("joint", [" && ", "; ", " | ", " || ", "\n", ";\n", " &&\n  "])
def test_a_long_line_of_plain_commands_is_judged_as_its_parts_are(joint):
    long, short = (joint.join(f"git log -{number}" for number in range(length)) for length in (900, 90))
    assert verdict(long, ["Bash(git log *)"]) == "allow"
    assert verdict(f"{long}{joint}ls", ["Bash(git log *)"]) == "ask"
    assert verdict(f"{long}{joint}rm x", ["Bash(git log *)"], ["Bash(rm *)"]) == "deny"
    # The end of a long line is read, as the lines above show: how it is read does not need one.
    assert verdict(f"{short}{joint}sudo ls", ["Bash(git log *)", "Bash(sudo *)"]) == "ask"
    for odd in ("; ;", "&", "|&", "if x", "X=1 y", "&& &&", "cd /x\ngit status"):
        assert (
            verdict(f"{short}{joint}{odd}", ["Bash(git *)", "Bash(cd *)", "Bash(x *)", "Bash(y *)"]) == "ask"
        )


@each_row(("patterns", "line"), ALLOWED, ids=[_short(line) for _, line in ALLOWED])
def test_a_command_that_its_patterns_plainly_mean_passes(patterns, line):
    assert verdict(line, patterns) == "allow"


def test_the_harmless_ones_are_not_let_pass_by_patterns_for_others():
    assert {verdict(line, ["Bash(nothing *)"]) for _, line in ALLOWED} == {"ask"}


@each_row("line", DENIED, ids=_short)
def test_a_deny_sees_through_a_disguise(line):
    assert verdict(line, ["Bash(*)"], DENY) == "deny"


@each_row("line", SPOKEN, ids=_short)
def test_a_deny_leaves_alone_what_only_speaks_of_it(line):
    assert verdict(line, ["Bash(*)"], DENY) != "deny"
