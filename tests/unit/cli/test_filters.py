"""The filters of a list of sessions."""

import argparse

import pytest
from rows_cli import NOW, session

from tests.support.tables import each_row
from workbench.cli.errors import UsageError
from workbench.cli.session_search import add_filter_options, page_of_sessions, parse_filters
from workbench.domain.values import Usage

DAY = 86_400_000_000
ROWS = [
    session(id="a", title="Rename", model="m1", updated_at=NOW, usage=Usage(input_tokens=5)),
    session(
        id="b", title="fix login", model="m2", updated_at=NOW + DAY, status="completed", tags=("urgent",)
    ),
    session(
        id="c",
        title="Ängste",
        model="m1",
        updated_at=NOW + 2 * DAY,
        provider="other",
        usage=Usage(input_tokens=1),
    ),
]


def shown(*words):
    parser = argparse.ArgumentParser()
    add_filter_options(parser)
    return "".join(row.id for row in page_of_sessions(ROWS, parse_filters(parser.parse_args(words))))


@pytest.mark.spec(71, 178, 180)
@each_row(
    "words, ids",
    [
        ([], "cba"),
        (["--order", "asc"], "abc"),
        (["--status", "completed"], "b"),
        (["--model", "m1"], "ca"),
        (["--provider", "other"], "c"),
        (["--search", "NAME"], "a"),
        (["--search", "urg"], "b"),
        (["--search", "ängst"], "c"),
        (["--from", "2023-11-15T22:13:20Z"], "cb"),
        (["--to", "2023-11-15T22:13:20Z"], "a"),
        (["--model", "m1", "--search", "rename"], "a"),
        (["--sort", "title", "--order", "asc"], "bac"),
        (["--sort", "tokens"], "acb"),
        (["--limit", "1"], "c"),
        (["--limit", "1", "--offset", "1"], "b"),
        (["--offset", "9"], ""),
    ],
)
def test_filters(words, ids):
    assert shown(*words) == ids


@pytest.mark.spec(180)
@each_row("count, first_page", [(99, 99), (100, 100), (101, 100)])
def test_a_page_without_a_limit_has_a_hundred_rows(count, first_page):
    many = [session(id=f"s{number}", title="t", updated_at=NOW + number) for number in range(count)]
    parser = argparse.ArgumentParser()
    add_filter_options(parser)
    for options in ([], ["--order", "desc"]):
        page = page_of_sessions(many, parse_filters(parser.parse_args(options)))
        assert [row.id for row in page] == [f"s{number}" for number in reversed(range(count))][:first_page]


def test_a_date_that_is_none_is_refused():
    with pytest.raises(UsageError, match="2026"):
        shown("--from", "yesterday")
