"""Patterns that would make a backtracking engine slow are told from those that would not."""

import re

import pytest

from tests.support.growth import bounded_work
from tests.support.tables import each_row
from workbench.policy.regex_analysis import backtracking_objection

SLOW = [
    r"(a+)+$", r"(a*)*$", r"(a|a)*$", r"(a|aa)+$", r"(a|ab|b)*c", r"([a-zA-Z]+)*$", r"(x+x+)+y", r"(.*a){20}",
    r"(.*a)*b", r"(?:.*?,){11}P", r"^(\d+)*$", r"\d+\d+$", r"\s*\s*$", r".*.*=.*", r"a*b?a*c", r"(a?){50}a{50}",
    r"(a|b|ab)*c", r"(\w+\s?)*$", r"([^/]+/?)+x", r"^(([a-z])+.)+[A-Z]([a-z])+$",
    r"(.+)+x", r"((ab)*)*c", r"(a+|b)+c", r"(a*b*)*c", r".*a.*a.*a.*b", r"(a{1,50}){1,50}b", r"(?:a+?)+?b",
    r"(\w|\d)+$", r"(?i)(a|A)+b", r"(a|[a-c])+$",
]  # fmt: skip

FAST = [
    r'^{"path":".*\.txt"}$', r'"path":"src/[^"]*\.py"', r'"command":"git (status|diff|log)( [a-z-]+)*"', r"a+b+c+",
    r'^\{"content":".*","path":"docs/.*"\}$', r"src/.*\.py", r"(ab)+c", r"(a+b)+", r"(?:[a-z]+/)*x\.py", r"[0-9a-f]{40}",
    r"\d{4}-\d{2}-\d{2}", r"(\d{1,3}\.){3}\d{1,3}", r"npm (test|run lint)", r"(?i)readme.*", r"x?y?z?", r"\bfoo\b.*bar",
    r"(a|b|c)*d", r"[a-z]*[0-9]*", r"^src/.*/.*\.py$", r"", r"a{0}b", r"(?s:.*)x", r"(foo|foobar)x", r"\w+@\w+",
    r"[0-9a-f]{10}[0-9a-f]*", r"(a|b)?(c|d)?e", r"(a|b|c)+$", r"(\w|-|\.)+b",
]  # fmt: skip


@each_row("pattern", SLOW)
def test_a_pattern_that_may_run_away_is_named(pattern):
    assert backtracking_objection(pattern)


@each_row("pattern", FAST)
def test_a_pattern_that_runs_straight_is_let_pass(pattern):
    assert backtracking_objection(pattern) is None


@each_row("pattern", FAST)
def test_what_is_let_pass_is_fast_in_python(pattern):
    """An oracle: the engine itself, on texts that repeat what the patterns name."""
    compiled = re.compile(pattern)
    with bounded_work():
        for piece in ("a", "ab", "0", "a/", "/", "src/", "x", " -", '","path":"docs/', "foo"):
            compiled.search('{"command":"git status' + piece * 400 + "!")


@pytest.mark.parametrize(
    "pattern",
    [
        "(a|b)" * 300,
        "(" * 90 + "a" + ")*" * 90,
        "[a-z]*x" * 200,
        "(?:a|" * 90 + "b" + ")" * 90,
        "(a?b?c?d?e?)*" * 30,
    ],
)
def test_there_is_a_verdict_on_any_pattern(pattern):
    with bounded_work():
        backtracking_objection(pattern)
