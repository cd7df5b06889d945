"""The player: time only goes forward while it plays, ends paused, and every way to a moment is bounded."""

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each_row
from workbench.views.replay import SPEEDS, Player, parse_replay_moment, replay_moment_forms, replay_status
from workbench.views.timeline import Timeline

SECOND = 1_000_000
NOON = 1_795_262_400 * SECOND


@pytest.fixture
def utc(monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def timeline(*seconds, kinds=()):
    kinds = [*kinds, *["reply.completed"] * len(seconds)]
    return Timeline((n + 1, NOON + int(at * SECOND), kinds[n], None) for n, at in enumerate(seconds))


def test_a_position_of_the_journal_is_the_moment_that_shows_it():
    timeline = Timeline((position, NOON + position, "reply.completed", None) for position in (3, 4, 9))
    assert [timeline.index_of(position) for position in (2, 3, 4, 8, 9, 10)] == [0, 1, 2, 2, 3, 3]
    assert [timeline.position(index) for index in range(4)] == [2, 3, 4, 9]


times = st.lists(st.floats(0, 500), max_size=30)
moves = st.lists(
    st.one_of(
        st.tuples(st.just("tick"), st.floats(0, 60)),
        st.tuples(st.just("skip"), st.sampled_from([-60, -10, 10, 60])),
        st.tuples(st.just("step"), st.sampled_from([-1, 1])),
        st.tuples(st.just("faster"), st.sampled_from([-1, 1])),
        st.tuples(st.just("toggle"), st.none()),
        st.tuples(st.just("follow"), st.none()),
        st.tuples(st.just("seek"), st.integers(-5, 50)),
    ),
    max_size=20,
)


@given(times, moves)
def test_wherever_one_goes_the_moment_is_one_of_the_recording(at, doing):
    player = Player(timeline(*at))
    for name, value in doing:
        do = getattr(player, name)
        do() if value is None else do(value)
        assert player.first <= player.index <= len(player.timeline)
        assert 0 <= player.played <= player.timeline.length
        assert player.speed in SPEEDS
        assert not (player.is_playing and player.is_at_end)
        if player.index < len(player.timeline) and player.index:
            assert player.timeline.time(player.index) <= player.now <= player.timeline.time(player.index + 1)


@given(times, st.lists(st.floats(0, 30), max_size=20), st.sampled_from(SPEEDS))
def test_playing_never_goes_back_and_comes_to_the_end(at, passing, speed):
    player = Player(timeline(*at), speed)
    player.toggle()
    seen = [player.tick(seconds) for seconds in passing]
    assert seen == sorted(seen)
    for _ in range(40):
        player.tick(1_000_000)
    assert player.is_at_end
    assert not player.is_playing


@given(times, st.floats(0, 100), st.floats(0, 100))
def test_two_short_times_are_one_long_time(at, first, then):
    one, two = Player(timeline(*at), 2.0), Player(timeline(*at), 2.0)
    one.toggle()
    two.toggle()
    one.tick(first)
    one.tick(then)
    two.tick(first + then)
    assert abs(one.played - two.played) <= 1


def test_a_speed_is_so_many_times_as_fast():
    player = Player(timeline(*range(20)), 4.0)
    player.toggle()
    assert player.tick(2.0) == 9
    player.faster(-1)
    assert player.tick(1.0) == 11
    for _ in range(20):
        player.faster(1)
    assert math.isinf(player.speed)
    assert player.tick(0.0) == 20


def test_space_at_the_end_begins_again():
    player = Player(timeline(0, 1, 2))
    player.seek(3)
    player.toggle()
    assert (player.index, player.is_playing) == (1, True)


def test_following_stays_at_the_end_of_what_grows():
    made = timeline(0, 1)
    player = Player(made)
    player.follow()
    made.extend([(3, NOON + 5 * SECOND, "reply.completed", None)])
    assert player.grown() == 3
    player.step(-1)
    made.extend([(4, NOON + 6 * SECOND, "reply.completed", None)])
    assert player.grown() == 2


def test_jumps_go_to_marks_of_their_kind():
    player = Player(timeline(0, 1, 2, 3, kinds=["session.created", "prompt.submitted", "x", "file.changed"]))
    assert player.jump("edit", 1).index == player.index == 4
    assert player.jump(None, -1).jump == "prompt"
    assert player.jump("error", 1) is None
    assert player.index == 2


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("12:00:02", 3), ("12:00", 1), ("12:00:59", None), ("11:59", None), ("25:00", None), ("12:61", None),
        ("0 %", 1), ("50%", 2), ("100 %", 4), ("101 %", None),
        ("#3", 3), ("4", 4), ("#5", None), ("", None), ("soon", None), ("#-1", None), ("9" * 40, None),
    ],
)  # fmt: skip
def test_moments_as_people_write_them(text, index, utc):
    assert parse_replay_moment(text, timeline(0, 1, 2, 3)) == index


@each_row(
    ("text", "index"),
    [
        ("0:00", 1), ("0:29", 1), ("0:30", 2), ("0:31", 3), ("10:04", 3), ("10:05", 4), ("0:60", None),
        ("1:02:03", 5), ("1:02:04", None), ("62:03", 5), ("1:02", 3), ("01:02", 3),
        ("12:00:31", 3), ("12:10:05", 4), ("13:02:03", 5), ("13:02", 4), ("13:02:04", None),
    ],
)  # fmt: skip
def test_a_time_from_the_start_is_what_the_bar_shows(text, index, utc):
    made = timeline(0, 30, 31.5, 605, 3723)
    assert parse_replay_moment(text, made) == index
    if index is not None and ":" in text and text[:2] not in ("12", "13"):
        player = Player(made)
        player.seek(index)
        assert replay_status(player).elapsed == {2: "0:30", 3: "0:31", 4: "10:05", 5: "1:02:03"}.get(
            index, "0:00"
        )


def test_a_time_that_can_be_both_is_a_time_of_day_where_it_has_two_digits_and_seconds(utc):
    made = timeline(*range(0, 14 * 3600, 600))
    assert parse_replay_moment("12:00", made) == 2, "12 minutes from the start"
    assert parse_replay_moment("12:10:00", made) == 2, "ten past twelve"
    assert parse_replay_moment("1:00:00", made) == 7, "an hour from the start"


@each_row(
    ("made", "forms"),
    [
        (timeline(), ""),
        (timeline(0, 30, 535), "0:00 to 8:55 from its start, 12:00:00 to 12:08:55, 0% to 100% or #1 to #3"),
        (timeline(0, 90_000), "0:00 to 25:00:00 from its start, 0% to 100% or #1 to #2"),
    ],
)
def test_the_moments_of_a_recording_are_named(utc, made, forms):
    assert replay_moment_forms(made) == forms


@pytest.mark.parametrize("at", [(), (0,), (5, 5, 5), (9, 3, 1)])
def test_short_and_crooked_recordings_can_be_played(at):
    player = Player(timeline(*at))
    player.toggle()
    for _ in range(5):
        player.tick(10)
    assert player.index == len(at)
    assert player.skip(-100) == min(1, len(at)) or at == (9, 3, 1)
