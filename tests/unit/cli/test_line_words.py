"""Lines of line mode, taken apart; and numbers that stay what they were."""

import pytest
from rows_cli import action

from tests.support.tables import each_row
from workbench.cli.approval_line_mode import ActionNumbers, LineCommand, parse_line


@each_row(
    "line, typed",
    [
        ("a 1", LineCommand(verb="approve", number=1)),
        ("approve 12", LineCommand(verb="approve", number=12)),
        ("A 1 1,3", LineCommand(verb="approve", number=1, rest="1,3")),
        ("r 2 too wide", LineCommand(verb="reject", number=2, rest="too wide")),
        ("  s   3 ", LineCommand(verb="show", number=3)),
        ("h 1", LineCommand(verb="hunks", number=1)),
        ("x 1", LineCommand(verb="extend", number=1)),
        ("k 1", LineCommand(verb="skip", number=1)),
        ("l", LineCommand(verb="list")),
        ("?", LineCommand(verb="help")),
        ("q", LineCommand(verb="quit")),
    ],
)
def test_what_a_line_asks_for(line, typed):
    assert parse_line(line) == typed


@pytest.mark.parametrize(
    "line, said",
    [
        ("a", "which one"),
        ("a x", "which one"),
        ("a 1x", "which one"),
        ("a -1", "which one"),
        ("a ١", "which one"),
        ("yes", "“yes” is not a command. a 1 approves number 1, r 1 rejects it"),
        ("approve1", "is not a command"),
    ],
)
def test_what_a_line_does_not_ask_for(line, said):
    found = parse_line(line)
    assert isinstance(found, str) and said in found


def test_a_number_belongs_to_one_action_and_its_digest():
    numbers = ActionNumbers()
    first, second = numbers.bind(action(id="a", digest="d1")), numbers.bind(action(id="b", digest="d2"))
    assert (first.number, second.number) == (1, 2)
    assert numbers.bind(action(id="a", digest="other")) is first
    assert numbers.at(1).digest == "d1"
    assert numbers.bind(action(id="c")).number == 3
    assert numbers.at(4) is None and numbers.at(0) is None
    assert [bound.action_id for bound in numbers.all()] == ["a", "b", "c"]
