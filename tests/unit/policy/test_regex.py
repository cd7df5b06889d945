"""Patterns: valid in both engines, bounded, and searched in linear time."""

import warnings

import pytest

from tests.support.growth import bounded_work
from tests.support.tables import each_row
from workbench.policy.regex import (
    MAX_SEARCH_STEPS,
    InvalidRegex,
    Regex,
    RegexTooCostly,
    TextFinder,
    compile_regex,
    regex_problem,
)

SEED = '^{"path":".*\\.txt"}$'


@pytest.mark.spec(50)
@each_row(
    "pattern",
    [
        "(",
        "[a",
        "*a",
        "a{2,1}",
        "(?P<a>x)(?P<a>y)",
        "(?=x)",
        "(?<!x)y",
        "(a)\\1",
        "a\\Z",
        "a++x(?>y)",
        "a{1001}",
        "\\p{Greek}",
    ],
)
def test_a_pattern_that_one_engine_cannot_read_is_named(pattern):
    assert regex_problem(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "(" * 900 + ")" * 900,
        "(" * 1001,
        "a{99999999999999999999}",
        "((a{100}){100}){100}",
        "x" * 3000,
        "\ud800",
        "(?:" * 600 + "a" + ")*" * 600,
    ],
)
def test_a_hostile_pattern_is_refused_in_time(pattern):
    with bounded_work():
        assert isinstance(regex_problem(pattern), str | None)


@each_row("pattern", [SEED, "a", "^git status$", '\\.py"', "[0-9]+", "(?i)x", "\u00e9", "\\d\\w\\s\\b"])
def test_a_good_pattern_has_no_problem(pattern):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert regex_problem(pattern) is None


@pytest.mark.spec(50)
def test_a_pattern_of_2000_characters_is_the_longest():
    assert [regex_problem("x" * length) for length in (2000, 2001)] == [None, "longer than 2000 characters"]


@pytest.mark.spec(50)
def test_the_reason_is_in_the_words_of_the_engine_that_refuses():
    re2, python = (str(regex_problem(pattern)) for pattern in ("(", "(?P<a>x)(?P<a>y)"))
    assert re2 == "RE2: missing ): ("
    assert python.startswith("Python: redefinition of group name 'a'")


def test_a_pattern_python_warns_about_is_judged_without_the_warning():
    assert regex_problem("[[a]b]") is None


def test_nothing_is_written_to_stderr(capfd):
    regex_problem("(")
    regex_problem("(?=x)")
    assert capfd.readouterr() == ("", "")


def test_search_finds_anywhere_and_reads_characters():
    assert compile_regex("b.d").is_in("a b\u00e9d e")
    assert not compile_regex("^b").is_in("ab")
    assert compile_regex(SEED).is_in('{"path":"a/b.txt"}')
    assert not compile_regex(SEED).is_in('{"path":"a/b.txtx"}')


def test_a_search_that_would_take_too_long_is_not_begun():
    slow = Regex("(?:a|b)*a(?:a|b){400}x")
    assert not slow.is_in("ab" * 20_000)
    slow._compiled = None  # whatever searches now fails
    with pytest.raises(RegexTooCostly):
        slow.is_in("ab" * (MAX_SEARCH_STEPS // 400))


def test_a_pattern_that_cannot_be_compiled_raises_its_reason():
    with pytest.raises(InvalidRegex, match="missing"):
        compile_regex("(")


def test_many_expressions_are_looked_for_together_in_either_case_and_on_each_line():
    finder = TextFinder(["^secret", "to[k]en"])
    found = [
        text
        for text in ("a\nSECRET", "my Token", "x\udc80token", "no secret", "tok en", "")
        if finder.is_in(text)
    ]
    assert found == ["a\nSECRET", "my Token", "x\udc80token"]
