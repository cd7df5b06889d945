"""The rule for deciding keys, with exact times: a letter counts when it is pressed twice, typed text never does."""

import random

import pytest

from tests.support.sizes import size
from tests.support.typists import played
from workbench.tui.keyboard.press_log import KeyLog
from workbench.tui.keyboard.rule import (
    ARM_SECONDS,
    ARMED,
    HELD_SECONDS,
    NO_WORD,
    QUIET_SECONDS,
    RUN_SECONDS,
    SETTLE_SECONDS,
    SUSPECT_SECONDS,
    WAIT_SECONDS,
    elapse,
    enter_counts,
    extend_word,
    follow,
    schedule,
    sends_text,
)


def run(*presses, role="decides", until=60.0):
    """Press keys, each with its moment and perhaps its role; return what came of it, with the moments."""
    state, word, found = ARMED, NO_WORD, []
    for key, at, *own in (*presses, (None, until)):
        while (due := state.due) is not None and due <= at:
            state, outcome = elapse(state, due)
            found += [] if outcome == "pass" else [(outcome, round(due, 3))]
        if key is None:
            break
        text = key if len(key) == 1 else ""
        word = extend_word(word, key, text, at)
        state, outcome = follow(state, key, text, at)
        if outcome == "pass" and text:
            state, outcome = schedule(state, key, at, *(own or [role]), is_in_word=word.is_mixed)
        found.append((outcome, at))
    return found


def outcomes(*presses, **more):
    return [outcome for outcome, _ in run(*presses, **more)]


def test_the_times_of_the_rule():
    assert (ARM_SECONDS, HELD_SECONDS, SETTLE_SECONDS) == (0.5, 0.06, 0.1)
    assert (WAIT_SECONDS, SUSPECT_SECONDS, QUIET_SECONDS) == (5.0, 3.0, 1.0)


def test_two_presses_decide_a_tenth_of_a_second_after_the_second_and_one_alone_never():
    assert run(("a", 10.0), ("a", 10.27)) == [("asks", 10.0), ("settles", 10.27), ("decide", 10.37)]
    assert run(("a", 10.0)) == [("asks", 10.0), ("expired", 15.0)]


@pytest.mark.parametrize(
    ("gap", "decides"),
    [
        (HELD_SECONDS - 0.001, False), (HELD_SECONDS, True), (0.27, True), (WAIT_SECONDS - 0.001, True),
        (WAIT_SECONDS, False),
    ],
)  # fmt: skip
def test_the_second_press_comes_60_ms_to_5_s_after_the_first(gap, decides):
    assert ("decide" in outcomes(("a", 10.0), ("a", 10.0 + gap))) == decides


def test_a_third_press_within_a_tenth_of_a_second_makes_one_press_of_all():
    assert outcomes(("a", 10.0), ("a", 10.2), ("a", 10.2 + SETTLE_SECONDS - 0.001)) == [
        "asks", "settles", "held", "expired",
    ]  # fmt: skip
    assert "decide" in outcomes(("a", 10.0), ("a", 10.2), ("a", 10.2 + SETTLE_SECONDS))


@pytest.mark.parametrize("role", ["decides", "early", "shows"])
@pytest.mark.parametrize("seed", range(40))
def test_a_key_that_is_held_down_decides_nothing_however_unevenly_it_repeats(seed, role):
    chance = random.Random(seed)
    times = [10.0, 10.0 + chance.uniform(0.2, 0.66)]
    period = chance.uniform(0.02, 0.09)
    while len(times) < 80:
        times.append(times[-1] + period * chance.uniform(0.6, 1.05))
    # Whatever it was at first, it is about something that has been drawn for long enough by now.
    later = [("a", at, role if n < 3 else "decides") for n, at in enumerate(times)]
    assert "decide" not in outcomes(*later)
    after = times[-1] + 1.0
    assert "decide" in outcomes(*later, ("a", after), ("a", after + 0.3))


@pytest.mark.parametrize(
    ("key", "outcome"),
    [
        ("b", "text"), ("r", "text"), ("j", "text"), ("escape", "cancelled"), ("enter", "draft"),
        ("backspace", "draft"), ("down", "dropped"), ("ctrl+t", "dropped"), ("tab", "dropped"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("presses", [(("a", 10.0),), (("a", 10.0), ("a", 10.3))], ids=["once", "twice"])
def test_another_key_ends_what_was_pressed_and_nothing_is_decided(presses, key, outcome):
    found = outcomes(*presses, (key, 10.35))
    assert found[len(presses)] == outcome
    assert "decide" not in found


def test_a_letter_that_did_nothing_makes_text_of_the_next_one_for_three_seconds():
    assert outcomes(("s", 10.0, "nothing"), ("j", 12.9, "acts")) == ["pass", "text"]
    assert outcomes(("s", 10.0, "nothing"), ("s", 10.5, "nothing")) == ["pass", "text"]
    assert outcomes(("s", 10.0, "nothing"), ("j", 10.0 + SUSPECT_SECONDS, "acts")) == ["pass", "pass"]
    assert outcomes(("s", 10.0, "nothing"), ("down", 10.5), ("j", 11.0, "acts")) == ["pass", "pass", "pass"]


def test_a_key_that_came_too_early_may_be_pressed_again_and_another_letter_makes_text():
    assert outcomes(("a", 10.0, "early"), ("n", 10.4, "acts")) == ["early", "text"]
    early = ("a", 10.0, "early"), ("a", 10.3, "early")
    assert outcomes(*early, ("a", 11.0), ("a", 11.3)) == ["early", "early", "asks", "settles", "decide"]


def test_after_the_last_part_was_shown_one_press_decides_unless_another_key_came_between():
    shown = ("a", 10.0, "shows"), ("a", 11.0, "shows")
    assert outcomes(*shown, ("a", 12.0)) == ["pass", "pass", "settles", "decide"]
    assert outcomes(*shown, ("a", 11.4, "early"), ("a", 12.0)) == [
        "pass", "pass", "early", "settles", "decide",
    ]  # fmt: skip
    assert outcomes(*shown, ("down", 11.5), ("a", 12.0)) == ["pass", "pass", "pass", "asks", "expired"]
    assert outcomes(*shown, ("J", 11.5, "acts"), ("a", 12.0))[3:] == ["asks", "expired"]


def test_behind_another_letter_a_key_is_pressed_three_times_as_words_have_doubled_letters():
    assert outcomes(("k", 10.0, "acts"), ("e", 10.5), ("e", 11.0), ("p", 11.5)) == [
        "pass", "asks", "asks", "text",
    ]  # fmt: skip
    thrice = [("e", 10.5), ("e", 11.0), ("e", 11.5)]
    assert outcomes(("k", 10.0, "acts"), *thrice)[1:] == ["asks", "asks", "settles", "decide"]
    assert outcomes(("e", 9.0, "early"), (" ", 12.5, "acts"), ("e", 13.0), ("e", 13.5))[2:] == [
        "asks", "asks", "expired",
    ]  # fmt: skip
    # A place's number, a key without a character, and a pause end the word before them.
    for before in (("2", 10.0, "acts"),), (("k", 10.0, "acts"), ("down", 10.2)), (("k", 5.4, "acts"),):
        assert outcomes(*before, ("e", 10.5), ("e", 11.0))[-2:] == ["settles", "decide"]
    assert RUN_SECONDS == 5.0


def test_where_one_press_is_enough_it_decides_after_a_second_of_quiet():
    assert run(("a", 10.0), role="alone") == [("asks", 10.0), ("decide", 10.0 + QUIET_SECONDS)]
    assert run(("a", 10.0), ("a", 10.3), role="alone")[-1] == ("decide", 10.4)
    assert outcomes(("a", 10.0), (" ", 10.9), role="alone") == ["asks", "text"]
    assert outcomes(("a", 10.0), ("escape", 10.9), role="alone") == ["asks", "cancelled"]
    assert outcomes(("n", 9.0, "acts"), ("a", 10.0, "alone")) == ["pass", "asks", "expired"]


def test_enter_counts_in_a_dialog_three_seconds_after_a_letter():
    assert [enter_counts(last, 10.0) for last in (None, 7.0, 7.1, 9.9)] == [True, True, False, False]


def test_text_is_sent_by_its_own_enter_only_if_nothing_was_written_before():
    assert [sends_text(draft) for draft in ("", " \n", "draft")] == [True, True, False]


# --- what was typed -------------------------------------------------------------------------------


def logged(*presses):
    log = KeyLog()
    return log, [log.record(key, key if len(key) == 1 else "", at) for key, at in presses]


def test_what_was_typed_in_one_go_ends_at_other_keys_pauses_fields_and_decisions():
    log, presses = logged(("x", 10.0), ("y", 10.1), ("z", 10.2), ("enter", 10.3), ("w", 10.4), ("v", 15.4))
    assert [log.text_until(press) for press in presses] == ["x", "xy", "xyz", "", "w", "v"]
    assert log.text_before(presses[3]) == "xyz"
    presses[0].is_field = True
    assert (log.text_until(presses[2]), log.text_start(presses[2])) == ("yz", 10.1)
    log.mark_used(presses[1])
    assert (log.text_until(presses[2]), log.keys_until(presses[2])) == ("z", ["z"])


def test_letters_make_a_word_in_which_no_field_opens():
    log, presses = logged(
        ("j", 1.0), ("j", 1.1), ("o", 1.2), ("T", 2.0), ("i", 3.0), ("down", 4.0), ("i", 5.0)
    )
    assert [log.count_in_word(press) for press in presses] == [0, 0, 1, 2, 5, 4, 0]
    log, presses = logged(("N", 1.0), ("/", 2.0))
    assert log.count_in_word(presses[1]) == 1, "a capital that moves, then a key that looks for something"
    presses[0].is_letter = True
    assert log.count_in_word(presses[1]) == 3


def test_a_letter_of_the_same_screen_outside_of_fields_is_the_last_letter():
    log, presses = logged(("a", 1.0), ("b", 2.0), ("c", 3.0), ("enter", 4.0))
    for press, screen in zip(presses, (1, 1, 2, 1), strict=True):
        press.screen = screen
    assert log.last_letter(presses[3]) == 2.0
    presses[1].is_field = True
    assert log.last_letter(presses[3]) == 1.0
    assert log.last_letter(presses[0]) is None


# --- sentences ------------------------------------------------------------------------------------


def typed(seed, count):
    wrong = [
        (typist.place.name, typist.armed_at, sentence, typist.decided, typist.composer)
        for typist, sentence in played(seed, count)
        if typist.decided or not typist.is_kept or (typist.place.closes_by_letter and typist.is_open)
    ]
    assert wrong == []


def test_drawn_sentences_decide_nothing_and_are_in_the_composer():
    typed(20_261_128, 1_200)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(size("WORKBENCH_TYPISTS", 1, 20)))
def test_ten_thousand_drawn_sentences_decide_nothing_and_are_in_the_composer(seed):
    typed(seed, 10_000)
