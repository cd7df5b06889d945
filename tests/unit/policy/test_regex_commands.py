"""The command lines that the expression of a rule is about."""

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each_row
from workbench.policy.regex_commands import commands_of_regex
from workbench.policy.rules import exact_regex

ROWS = (
    (r'^\{"command":"git push"\}$', ("git push",)),
    (r'"command":"git push', ("git push",)),
    (r'"command":"git (push|pull) origin"', ("git push origin", "git pull origin")),
    (r'"command":"git push( --tags)?"', ("git push", "git push --tags")),
    (r'"command":"git push [^"]*"', ("git push",)),
    (r'"command":"npm install .* --save"', ("npm install   --save",)),
    (r'"command":"make [ab]c x"', ("make ac x", "make bc x")),
    (r'"command":"make ([a-z]+) x"', None),
    (r'"command":"echo \\"a\\" b"', ('echo "a" b',)),
    (r'"command":"git .*"', None),
    (r'"command":".*"', None),
    (r'git push', None),
    (r'"command":"(?i:git) push"', None),
    (r'(?i)"command":"git push"', None),
    (r'"command":"(ab)+ push"', None),
    (r'"command":"git (?!x)push"', None),
    (r'"command":"(a|b)(a|b)(a|b)(a|b)(a|b)(a|b) x"', None),
    (r'"path":"a b"', None),
    (r'"command":"git (push){1} origin"', ("git push origin",)),
    (r'"command":"git \\q push"', None),
)  # fmt: skip


@each_row("pattern, commands", ROWS)
def test_the_commands_of_an_expression(pattern, commands):
    assert commands_of_regex(pattern, "command") == commands


@given(st.text(max_size=40).filter(lambda text: "\0" not in text))
def test_the_expression_of_exactly_one_command_is_read(command):
    pattern = exact_regex({"command": command})
    assert commands_of_regex(pattern, "command") == (command.strip(),), json.dumps(command)
