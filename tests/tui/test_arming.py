"""Arming: what a key needs to count."""

from workbench.tui.key_arming import ARM_SECONDS, KeyArming

ROW = ("action", "digest")


def test_a_key_counts_after_the_row_stood_for_300_ms():
    arming = KeyArming()
    arming.drawn(ROW, 10.0)
    assert not arming.is_armed(ROW, 10.0 + ARM_SECONDS - 0.001)
    assert arming.is_armed(ROW, 10.0 + ARM_SECONDS)


def test_a_key_that_arrived_before_the_row_was_drawn_never_counts():
    arming = KeyArming()
    arming.drawn(ROW, 10.0)
    assert not arming.take(ROW, 9.5)


def test_drawing_the_same_again_does_not_start_anew_and_another_does():
    arming = KeyArming()
    assert arming.drawn(ROW, 10.0)
    assert not arming.drawn(ROW, 10.2)
    assert arming.is_armed(ROW, 10.3)
    assert arming.drawn(("other", "digest"), 10.3)
    assert not arming.is_armed(ROW, 11.0)
    assert not arming.is_armed(("other", "digest"), 10.5)


def test_a_held_key_decides_once():
    arming = KeyArming()
    arming.drawn(ROW, 0.0)
    presses = [arming.take(ROW, 0.1 + 0.03 * n) for n in range(20)]
    assert presses == [False] * 20
    assert arming.take(ROW, 0.1 + 0.03 * 19 + ARM_SECONDS)
    assert not arming.take(ROW, 5.0)


def test_nothing_counts_after_the_focus_left():
    arming = KeyArming()
    arming.drawn(ROW, 0.0)
    arming.disarm()
    assert not arming.take(ROW, 1.0)
    assert arming.drawn(ROW, 1.0)
    assert arming.take(ROW, 1.4)
