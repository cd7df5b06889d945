"""What is typed to find sessions."""

from datetime import datetime

import pytest

from tests.support.tables import each_row
from workbench.domain.rows import Session
from workbench.views import library

NOW = int(datetime(2026, 11, 21, 12).astimezone().timestamp() * 1_000_000)


def day(year, month, number):
    return int(datetime(year, month, number).astimezone().timestamp() * 1_000_000)


def session(**facts):
    given = {"id": "s", "kind": "chat", "status": "paused", "created_at": NOW, "updated_at": NOW}
    return Session(**{**given, **facts})


@each_row(
    "typed, expression",
    [
        ("", ""),
        ("rename", '"rename"*'),
        ("rename handler", '"rename"* AND "handler"*'),
        ('"by hand"', '"by hand"'),
        ('"half typed', '"half typed"'),
        ("r", '"r"'),
        ("router.py", '"router.py"*'),
        ('rename -"draft"', '("rename"*) NOT "draft"'),
        ('-"draft"', ""),
        ("-draft", '"-draft"*'),
        ("fd -e go", '"fd"* AND "-e" AND "go"*'),
        ("--force-with-lease", '"--force-with-lease"*'),
        ("-other:thing", '"-other:thing"*'),
        ("-status:paused", ""),
        ('say"quoted', '"say""quoted"*'),
        ("* ( ) : ^ +", ""),
        ("status:paused", ""),
        ("other:thing", '"other:thing"*'),
        ("NEAR(a b)", '"NEAR(a"* AND "b)"*'),
    ],
)
def test_words_become_an_expression(typed, expression):
    assert library.fts_expression(library.parse_query(typed)) == expression


@pytest.mark.spec(179)
def test_a_hyphen_excludes_only_before_a_quotation_mark_or_a_known_key():
    asked = library.parse_query('ls -la -"by hand" -status:paused --depth -tag:"x y" -10')
    assert [(term.text, term.is_excluded) for term in asked.terms] == [
        ("ls", False), ("-la", False), ("by hand", True), ("--depth", False), ("-10", False),
    ]  # fmt: skip
    assert asked.excluded == {"status": ("paused",), "tag": ("x y",)}
    assert (asked.narrowed, asked.options) == ({}, ("-la", "--depth", "-10"))


@each_row(
    "typed, since, until",
    [
        ("since:2026-11-20", day(2026, 11, 20), None),
        ("until:2026-11-20", None, day(2026, 11, 21)),
        ("since:today", day(2026, 11, 21), None),
        ("since:yesterday", day(2026, 11, 20), None),
        ("since:7d", day(2026, 11, 14), None),
        ("since:oct until:oct", day(2026, 10, 1), day(2026, 11, 1)),
        ("since:dec", day(2025, 12, 1), None),
        ("since:fri", day(2026, 11, 20), None),
        ("since:2026-11-20T12:00:00Z", 1_795_176_000_000_000, None),
    ],
)
def test_dates_as_people_write_them(typed, since, until):
    asked = library.parse_query(typed, NOW)
    assert (asked.since, asked.until, asked.problems) == (since, until, ())


def test_what_is_no_date_is_said():
    assert library.parse_query("since:whenever", NOW).problems == ("since:whenever is not a date",)


@each_row(
    "typed, does_fit",
    [
        ("", True),
        ("status:paused", True),
        ("status:pa", True),
        ("status:ready", False),
        ("status:ready status:paused", True),
        ("-status:paused", False),
        ("-status:ready", True),
        ("-status:ready -status:paused", False),
        ("-tag:rel", False),
        ("-is:imported", False),
        ("-in:bill", True),
        ("-since:today", False),
        ("-since:tomorrowish", True),
        ("-until:yesterday", True),
        ("tag:rel", True),
        ("tag:rel tag:none", False),
        ("in:shop", True),
        ("in:bill", False),
        ("origin:claude", True),
        ("origin:workbench", False),
        ("is:imported", True),
        ("is:archived", False),
        ("is:live", True),
        ("is:nonsense", False),
        ("since:today", True),
        ("until:yesterday", False),
    ],
)
def test_rows_are_narrowed(typed, does_fit):
    row = session(tags=("Release",), workspace="/home/me/shop", origin="claude-code")
    assert library.session_fits(row, library.parse_query(typed, NOW)) is does_fit


def test_a_title_is_matched_inside_words_too():
    asked = library.parse_query('NAME -"draft"')
    assert library.title_fits(session(title="Rename"), asked)
    assert not library.title_fits(session(title="Rename", tags=("draft",)), asked)
