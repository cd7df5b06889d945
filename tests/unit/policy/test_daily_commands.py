"""Patterns as people write them let through what they plainly mean, and nothing that does more."""

import re

import pytest

from tests.unit.policy.daily_commands import HARMLESS, HOSTILE
from workbench.cli.check import check_command

SMUGGLED = {"Bash(id *)", "Bash(rm *)", "Bash(sh *)"}


@pytest.mark.spec(48)
def test_everyday_lines_pass_with_a_pattern_for_each_program():
    for line in HARMLESS:
        parts = [
            part.split(" ") for part in check_command({"command": line, "allow": [], "deny": []})["commands"]
        ]
        allow = [f"Bash({' '.join(part[:count])}*)" for part in parts for count in (1, 2, 3)]
        told = check_command({"command": line, "allow": allow, "deny": []})
        assert told["verdict"] == "allow", (line, told["reason"])


@pytest.mark.spec(48)
def test_a_line_that_does_more_is_asked_for_whatever_is_allowed():
    for line in HOSTILE:
        allow = sorted({f"Bash({word} *)" for word in re.findall(r"[\w./+-]+", line)} - SMUGGLED)
        told = check_command({"command": line, "allow": allow, "deny": []})
        assert told["verdict"] != "allow", (line, told["rule"])


@pytest.mark.spec(48)
def test_an_everyday_line_is_denied_by_a_pattern_for_any_of_its_programs():
    for line in HARMLESS:
        first = check_command({"command": line, "allow": [], "deny": []})["commands"][0]
        told = check_command({"command": line, "allow": ["Bash"], "deny": [f"Bash({first.split()[0]}*)"]})
        assert told["verdict"] == "deny", line
