"""A grant covers what is known to be harmless: a wildcard no unknown option, and the whole line that is spelled out."""

import re

import pytest

from tests.unit.policy.spelled_commands import SPELLED
from workbench.cli.check.kinds import command
from workbench.policy.shell import view


def verdict(line, *allow):
    return command({"command": line, "allow": list(allow), "deny": []})["verdict"]


def simple(line):
    (only,) = view(line).commands
    return only


def is_whole(line):
    """Say whether a pattern has to be the whole line."""
    return [len(each.literal) == len(each.words) for each in view(line).commands] == [True]


@pytest.mark.parametrize(("cause", "line"), SPELLED, ids=[line[:60] for _, line in SPELLED])
def test_no_wildcard_covers_what_is_not_known(cause, line):
    words = re.findall(r"[^ ;]+", line)
    assert verdict(line, *(f"Bash({word} *)" for word in words)) == "ask", cause
    assert verdict(line, f"Bash({words[0][:2]}*)", "Bash(*)", "Bash", "*") == "ask", cause
    if is_whole(line):
        assert verdict(line, f"Bash({line.rpartition(' ')[0]} *)") == "ask", cause
        assert verdict(line, f"Bash({line[:-1]}*)", f"Bash(*{line[1:]})") == "ask", cause


@pytest.mark.parametrize(("cause", "line"), SPELLED, ids=[line[:60] for _, line in SPELLED])
def test_the_whole_line_covers_it_unless_it_is_asked_for_always(cause, line):
    assert verdict(line, f"Bash({line})") == ("allow" if view(line).plain else "ask"), cause
