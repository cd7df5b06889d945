"""Times and sizes as people read them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each_row
from workbench.text import human


@each_row(
    ("seconds", "expected"),
    [
        (-1, "0 ms"),
        (0.012, "12 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1.0 s"),
        (4.1, "4.1 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1:00"),
        (72, "1:12"),
        (3599.6, "1 h"),
        (7500, "2 h 5 min"),
        (48 * 3600, "2 d"),
        (76 * 3600, "3 d 4 h"),
    ],
)
def test_duration(seconds: float, expected: str):
    assert human.duration_text(seconds) == expected


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KB"),
        (1126, "1.1 KB"),
        (10_240, "10 KB"),
        (1024 * 1024 - 1, "1 MB"),
        (104_857_600, "100 MB"),
    ],
)
def test_size(n: int, expected: str):
    assert human.size_text(n) == expected


@pytest.mark.parametrize(
    ("n", "expected"), [(812, "812"), (41_200, "41.2k"), (999_960, "1M"), (1_260_000, "1.3M")]
)
def test_tokens(n: int, expected: str):
    assert human.token_text(n) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(292, "4:52"), (291.1, "4:52"), (0.01, "0:01"), (0, "0:00"), (-5, "0:00"), (3723, "1:02:03")],
)
def test_countdown(seconds: float, expected: str):
    assert human.countdown_text(seconds) == expected


@each_row(
    ("seconds", "expected"),
    [
        (240, "4 minutes"),
        (299, "4 minutes"),
        (61, "1 minute"),
        (30, "30 seconds"),
        (1, "1 second"),
        (-1, "0 seconds"),
        (3600, "1 hour"),
        (3900, "1 hour 5 minutes"),
        (7260, "2 hours 1 minute"),
    ],
)
def test_spoken(seconds: float, expected: str):
    assert human.spoken_duration(seconds) == expected


NOON = int(datetime(2026, 11, 21, 12, tzinfo=UTC).timestamp()) * 1_000_000


@pytest.mark.spec(216)
@each_row(
    ("text", "micros"),
    [
        ("2026-11-21T12:00:00.123456Z", NOON + 123_456),
        ("2026-11-21T12:00:00Z", NOON),
        ("2026-11-21t12:00:00z", NOON),
        ("2026-11-21T13:30:00+01:30", NOON),
        ("2026-11-21 07:00:00-0500", NOON),
        ("2026-11-21T12:00:00.123456789Z", NOON + 123_456),
        ("2026-11-21T12:00:00,5", NOON + 500_000),
        ("2026-11-21T12:00", NOON),
        ("1969-12-31T23:59:59.999999Z", -1),
        ("0001-01-01T00:00:00Z", -62_135_596_800_000_000),
    ],
)
def test_parse_iso(text: str, micros: int):
    assert human.parse_iso_time(text) == micros


@pytest.mark.spec(216)
@each_row(
    "text",
    [
        "",
        "yesterday",
        "2026-11-21",
        "2026-13-01T00:00:00Z",
        "2026-02-30T00:00:00Z",
        "2026-11-21T24:00:00Z",
        "2026-11-21T12:00:60Z",
        "2026-11-21T12:00:00+25:00",
        "2026-11-21T12:00:00+01:99",
        "2026-11-21T12:00:00Z ",
        "２０２６-11-21T12:00:00Z",
        "0001-01-01T00:00:00+23:00x",
    ],
)
def test_parse_iso_refuses(text: str):
    with pytest.raises(ValueError, match="time"):
        human.parse_iso_time(text)


@given(st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999))
def test_iso_is_read_back(micros: int):
    assert human.parse_iso_time(human.iso_time(micros)) == micros


def test_iso_form_and_range():
    assert human.iso_time(NOON + 5) == "2026-11-21T12:00:00.000005Z"
    with pytest.raises(ValueError, match="years"):
        human.iso_time(10**18)


@each_row(
    ("words", "expected"),
    [
        ("it is approved", "It is approved."),
        ("no rule can cover it: x", "No rule can cover it: x."),
        ("workbench doctor says more", "workbench doctor says more."),
        ("a opens the table", "a opens the table."),
        ("/mode: not there yet.", "/mode: not there yet."),
        ("ctrl+z brings it back", "ctrl+z brings it back."),
        ("router.py is gone", "router.py is gone."),
        ("Nothing waits.", "Nothing waits."),
        ("", ""),
    ],
)
def test_messages_are_sentences(words, expected):
    assert human.sentence(words) == expected


def test_time_that_is_left_is_said_to_the_nearest_minute():
    said = {59: "59 seconds", 60: "1 minute", 899: "15 minutes", 840: "14 minutes", 3_629: "1 hour"}
    assert {seconds: human.spoken_time_left(seconds) for seconds in said} == said
    assert human.time_left_text(899, in_minutes=True) == "15 min"
    assert [human.counted(n, "rule") for n in (0, 1, 2_000)] == ["0 rules", "1 rule", "2,000 rules"]
