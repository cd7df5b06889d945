"""Ticks of a scale of time: steps that people count in, as many as fit, none needlessly far apart."""

from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each_row
from workbench.text.ticks import tick_step, tick_text

DAY = 86_400
COUNTED = {n * unit for unit in (1, 60) for n in (1, 2, 5, 10, 15, 30)} | {3_600 * n for n in (1, 2, 6, 12)}


def is_counted(step):
    days, rest = divmod(step, DAY)
    return step in COUNTED or (not rest and str(days).rstrip("0") in ("1", "2", "5"))


@given(st.floats(0, 1e10), st.integers(-3, 200))
def test_a_step_is_one_that_people_count_in_and_the_smallest_that_fits(seconds, most):
    step, room = tick_step(seconds, most), max(1, most)
    assert is_counted(step)
    assert step * room >= seconds
    smaller = (
        [other for other in range(max(1, step // 3), step) if is_counted(other)] if step < 10_000 else []
    )
    assert all(other * room < seconds for other in smaller)


@each_row(
    ("at", "step", "text"),
    [
        (0, 30, "0:00"),
        (90, 30, "1:30"),
        (5_400, 1_800, "1:30:00"),
        (43_200, 21_600, "12 h"),
        (3 * DAY, DAY, "3 d"),
    ],
)
def test_a_tick_says_its_time(at, step, text):
    assert tick_text(at, step) == text
