"""Arming: what a key needs to count."""

from workbench.tui.keyboard.arming import KeyArming
from workbench.tui.keyboard.rule import ARM_SECONDS

ROW = ("action", "digest")


def test_a_key_counts_after_the_row_was_drawn_for_half_a_second():
    arming = KeyArming()
    arming.drawn(ROW, 10.0)
    assert ARM_SECONDS == 0.5
    assert not arming.is_armed(ROW, 10.0 + ARM_SECONDS - 0.001)
    assert arming.is_armed(ROW, 10.0 + ARM_SECONDS)


def test_a_key_that_arrived_before_the_row_was_drawn_never_counts():
    arming = KeyArming()
    arming.drawn(ROW, 10.0)
    assert not arming.take(ROW, 9.5)


def test_drawing_the_same_again_changes_nothing_and_another_row_starts_the_time_again():
    arming = KeyArming()
    assert arming.drawn(ROW, 10.0)
    assert not arming.drawn(ROW, 10.2)
    assert arming.is_armed(ROW, 10.5)
    assert arming.drawn(("other", "digest"), 10.5)
    assert not arming.is_armed(ROW, 11.0)
    assert not arming.is_armed(("other", "digest"), 10.9)


def test_a_key_that_counts_uses_the_arming_up_and_one_too_early_does_not():
    arming = KeyArming()
    arming.drawn(ROW, 0.0)
    assert [arming.take(ROW, at) for at in (0.1, 0.4, 0.6, 0.7)] == [False, False, True, False]


def test_nothing_counts_after_the_focus_left():
    arming = KeyArming()
    arming.drawn(ROW, 0.0)
    arming.disarm()
    assert not arming.take(ROW, 1.0)
    assert arming.drawn(ROW, 1.0)
    assert arming.take(ROW, 1.5)
