"""Denials by meaning: every denial on every spelling, as the programs take them."""

import random

import pytest

from tests.unit.policy.denied_spellings import DENIALS, SPELLINGS, expected_verdict, rows_of
from tests.unit.policy.gate_cases import SHELL
from tests.unit.policy.respelled_lines import respelled_denials
from workbench.domain.values import PermissionPattern
from workbench.policy.permissions import permission_doubt, permission_matches
from workbench.policy.shell.analysis import view_command

ROWS, DENIED = rows_of(SPELLINGS), rows_of(DENIALS)


def verdict(pattern, command, folder=None):
    """Return what a denial does with a command: `deny`, `ask`, or `-` for nothing."""
    glob, seen = PermissionPattern(text=f"Bash({pattern})"), view_command(command, folder)
    if permission_matches(glob, SHELL, {"command": command}, {}, seen, purpose="deny"):
        return "deny"
    return "ask" if permission_doubt(glob, SHELL, seen) else "-"


def test_the_table_is_as_large_as_promised():
    assert len(DENIED) >= 40 and len(ROWS) >= 300


def test_every_denial_stops_what_its_program_would_do_and_nothing_else():
    wrong = [
        f"{denial[2]} on {spelling[2]}: {found}, not {expected}"
        for spelling in ROWS
        for denial in DENIED
        if (found := verdict(denial[2], spelling[2])) != (expected := expected_verdict(denial, spelling))
    ]
    assert not wrong, f"{len(wrong)} of {len(DENIED) * len(ROWS)}:\n" + "\n".join(wrong[:60])


def _allowed_respellings(seed, count):
    return [
        f"{pattern}  ←  {line}"
        for pattern, line in respelled_denials(random.Random(seed), count)
        if verdict(pattern, line) == "-"
    ]


def test_no_respelling_of_a_denied_command_is_allowed():
    assert not _allowed_respellings(34, 1_500)


@pytest.mark.campaign
def test_no_respelling_of_many_denied_commands_is_allowed():
    assert not _allowed_respellings(3_434, 100_000)
