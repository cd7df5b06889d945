"""The guard of deciding keys, with exact times: what is typed decides nothing, what is pressed alone does."""

import pytest

from workbench.tui.decision_guard import HOLD_SECONDS, DecisionGuard

SPEEDS = (0.04, 0.12, 0.25)


def played(guard, words, gap, deciding, start=10.0):
    """Type words, each key handled at once; return the keys that took effect, and what was said of each."""
    effects, answers, now = [], [], start
    for letter in words:
        if (due := guard.take_due(now)) is not None:
            effects.append(due.key_id)
        press, _ = guard.pressed(letter, letter, now)
        if letter in deciding:
            answers.append(guard.begin(letter, press))
        now += gap
    if (due := guard.take_due(now + 5.0)) is not None:
        effects.append(due.key_id)
    return effects, answers


def alone(guard, key, at, text=None):
    press, cancelled = guard.pressed(key, key if text is None else text, at)
    return press, cancelled


def test_a_key_that_comes_alone_takes_effect_after_300_ms_and_not_before():
    guard = DecisionGuard()
    press, _ = alone(guard, "a", 10.0)
    assert guard.begin("approve", press) == "pending"
    assert guard.take_due(10.0 + HOLD_SECONDS - 0.001) is None
    due = guard.take_due(10.0 + HOLD_SECONDS)
    assert (due.key_id, due.press.at) == ("approve", 10.0)
    assert guard.take_due(99.0) is None, "once"


@pytest.mark.parametrize("gap", SPEEDS)
@pytest.mark.parametrize(
    "words", ["and add a test", "aardvark", "era", "quit", "area", "a a", "a bar", "eeraa"]
)
def test_no_letter_of_a_sentence_takes_effect_at_any_speed(words, gap):
    assert played(DecisionGuard(), words, gap, "aerxuqcR")[0] == []


def test_the_next_printable_key_cancels_even_if_it_is_only_read_after_the_time():
    guard = DecisionGuard()
    press, _ = alone(guard, "a", 10.0)
    guard.begin("approve", press)
    _, cancelled = alone(guard, "n", 10.29)
    assert cancelled.why == "burst"
    assert guard.take_due(99.0) is None


def test_a_key_whose_follower_came_before_it_was_handled_never_waits():
    guard = DecisionGuard()
    first, _ = alone(guard, "a", 10.0)
    alone(guard, "n", 10.1)
    assert guard.begin("approve", first) == "burst"
    other = DecisionGuard()
    first, _ = alone(other, "a", 10.0)
    alone(other, "down", 10.1, text="")
    assert other.begin("approve", first) == "followed"


@pytest.mark.parametrize(
    ("before", "answer"),
    [
        ("", "pending"), ("l ", "pending"), ("jjjjj", "pending"), ("jl", "pending"), ("jl ", "burst"),
        ("JKJ", "burst"), ("aaa", "pending"),
    ],
)  # fmt: skip
def test_fewer_than_three_other_keys_may_come_in_the_second_before(before, answer):
    guard = DecisionGuard()
    for number, key in enumerate(before):
        alone(guard, key, 10.0 + 0.2 * number)
    press, _ = alone(guard, "a", 10.0 + 0.2 * len(before))
    assert guard.begin("approve", press) == answer


def test_what_came_more_than_a_second_before_does_not_count():
    guard = DecisionGuard()
    for number, key in enumerate("jl k"):
        alone(guard, key, 10.0 + 0.1 * number)
    press, _ = alone(guard, "a", 11.4)
    assert guard.begin("approve", press) == "pending"


def test_keys_of_an_escape_or_arrow_are_not_printable_and_do_not_make_a_burst():
    guard = DecisionGuard()
    for number, key in enumerate(("down", "up", "escape", "left")):
        alone(guard, key, 10.0 + 0.1 * number, text="")
    press, _ = alone(guard, "a", 10.5)
    assert guard.begin("approve", press) == "pending"


@pytest.mark.parametrize("delay", [0.2, 0.35, 0.5, 0.66])
def test_a_held_key_takes_effect_once_whenever_the_keyboard_begins_to_repeat_it(delay):
    guard, effects = DecisionGuard(), []
    times = [10.0, *(10.0 + delay + 0.03 * n for n in range(80))]
    for at in times:
        effects += [one for one in [guard.take_due(at)] if one]
        press, _ = alone(guard, "a", at)
        guard.begin("approve", press)
    effects += [one for one in [guard.take_due(99.0)] if one]
    assert len(effects) == 1


def test_the_same_key_again_after_a_while_takes_effect_again():
    guard = DecisionGuard()
    for at in (10.0, 10.8):
        press, _ = alone(guard, "a", at)
        assert guard.begin("approve", press) == "pending"
        assert guard.take_due(at + 0.3) is not None


def test_escape_takes_a_waiting_key_back_and_is_marked_as_used():
    guard = DecisionGuard()
    press, _ = alone(guard, "a", 10.0)
    guard.begin("approve", press)
    escape, cancelled = alone(guard, "escape", 10.2, text="")
    assert (cancelled.why, escape.takes_back) == ("taken back", True)
    assert guard.take_due(99.0) is None
    escape, cancelled = alone(guard, "escape", 11.0, text="")
    assert (cancelled, escape.takes_back) == (None, False)


@pytest.mark.parametrize("key", ["tab", "down", "enter", "ctrl+t"])
def test_another_key_cancels_one_that_waits(key):
    guard = DecisionGuard()
    press, _ = alone(guard, "a", 10.0)
    guard.begin("approve", press)
    assert alone(guard, key, 10.1, text="")[1].why == "other key"
    assert guard.take_due(99.0) is None


def test_enter_behind_words_that_were_typed_into_its_own_line_counts_and_else_does_not():
    guard = DecisionGuard()
    for number, key in enumerate("wide"):
        alone(guard, key, 10.0 + 0.1 * number)
    press, _ = alone(guard, "enter", 10.4, text="")
    assert guard.begin("dialog.ok", press, after_words=True) == "pending"
    guard.drop()
    assert guard.begin("launch.start", press) == "burst"


def test_what_was_typed_in_one_go_is_known_word_by_word_without_what_stands_in_a_field():
    guard = DecisionGuard()
    for number, key in enumerate("xyz"):
        press, _ = alone(guard, key, 10.0 + 0.1 * number)
        press.is_field = key == "x"
    assert (guard.text_until(press), guard.count_before(press)) == ("yz", 2)
    press, _ = alone(guard, "w", 12.0)
    assert (guard.text_until(press), guard.count_before(press)) == ("w", 0)
    alone(guard, "escape", 12.1, text="")
    press, _ = alone(guard, "v", 12.2)
    assert guard.text_until(press) == "v"


def test_a_paste_is_one_key_that_cancels_and_brings_its_text():
    guard = DecisionGuard()
    press, _ = alone(guard, "a", 10.0)
    guard.begin("approve", press)
    paste, cancelled = guard.pressed("paste", "rm -rf\nyes", 10.1)
    assert (cancelled.why, guard.text_until(paste)) == ("burst", "arm -rf\nyes")


def test_what_was_sent_from_a_field_is_no_part_of_the_next_word():
    guard = DecisionGuard()
    for number, (key, text) in enumerate((("#", "#"), ("1", "1"), ("2", "2"), ("enter", ""), ("t", "t"))):
        press, _ = alone(guard, key, 10.0 + number * 0.1, text)
    assert guard.count_in_word(press) == 0
    assert guard.count_before(press) == 3, "a key that decides still counts them"
    press, _ = alone(guard, "o", 10.5)
    assert guard.count_in_word(press) == 1
