"""Which moments a film is made of: all that matter, never more than asked for, first and last always."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.views.timeline import MIN_FRAME_MICROS, Timeline, countdown_times, plan_frames


def timeline(times, marks=()):
    return Timeline(
        (n, at, "prompt.submitted" if n in marks else "other", None) for n, at in enumerate(times, 1)
    )


@given(st.lists(st.integers(0, 3_000_000), min_size=1, max_size=300), st.integers(2, 60), st.data())
def test_a_plan_is_bounded_ordered_and_whole_at_both_ends(steps, most, data):
    times = [sum(steps[: n + 1]) for n in range(len(steps))]
    marks = data.draw(st.sets(st.integers(1, len(times)), max_size=8))
    strip = timeline(times, marks)
    found = plan_frames(strip, 1, most)
    assert len(found.indices) <= max(2, most)
    assert list(found.indices) == sorted(set(found.indices))
    assert (found.indices[0], found.indices[-1]) == (1, len(strip))
    if found.apart == MIN_FRAME_MICROS and found.has_marks:
        assert not found.is_thinned


def test_moments_of_one_time_are_shown_together():
    strip = timeline([0, 10, 20, 200_000, 200_000, 200_000, 900_000])
    assert plan_frames(strip, 1).indices == (1, 3, 6, 7)


def test_a_mark_is_never_between_two_frames_unless_said():
    strip = timeline([n * 10_000 for n in range(1000)], marks={555})
    assert 555 in plan_frames(strip, 1).indices
    many = timeline([n * 10_000 for n in range(1000)], marks=set(range(2, 900)))
    found = plan_frames(many, 1, 50)
    assert not found.has_marks
    assert found.is_thinned


@pytest.mark.parametrize(
    ("begins", "ends", "found"),
    [(0, 900_000, []), (0, 2_500_000, [1_000_000, 2_000_000]), (1_000_000, 2_000_000, []), (5, 5, [])],
)
def test_ticks_stand_strictly_between(begins, ends, found):
    assert list(countdown_times(begins, ends)) == found
