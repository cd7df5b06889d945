"""The guard alone, without a screen: what it asks an owner of keys, and everything that a press is about."""

from types import SimpleNamespace

import pytest
from textual import events
from textual.binding import Binding

from workbench.tui.keyboard import guard as guard_module
from workbench.tui.keyboard.guard import KeyGuard
from workbench.tui.keyboard.messages import LETTER_BEFORE_ENTER, SCREEN_CHANGED
from workbench.tui.keyboard.owner import KeyDialog, KeyOwner
from workbench.tui.keyboard.rule import SETTLE_SECONDS, SUSPECT_SECONDS

LETTER, CONTROL, ENTER = "approvals.reject", "approvals.approve-unseen", "always.save"
KEYS = {LETTER: "r", CONTROL: "ctrl+y", ENTER: "enter"}
SECOND = 0.3
"""Seconds between two presses."""


class Owner(KeyOwner):
    """An owner that says what a test lets it say, and records what it is asked to do."""

    subject = "row 1"

    def __init__(self):
        self.label, self.early, self.ran, self.was_told_early = "reject", "", [], 0

    def asked_label_of(self, key_id):
        return self.label

    def why_early(self, key_id):
        return self.early

    def was_early(self, key_id):
        self.was_told_early += 1

    def run_counted(self, key_id):
        self.ran.append(key_id)


class DecidingDialog(KeyDialog):
    """A dialog that decides by enter."""

    DECIDES = True

    def __init__(self):
        self.said = []

    def say(self, text):
        self.said.append(text)

    def reads_key(self, key):
        return True


class Keyboard:
    """A guard with a clock, a screen that never was drawn, and one owner."""

    def __init__(self, monkeypatch):
        self.said, self.at, self.owner = [], 100.0, Owner()
        main = SimpleNamespace(
            is_recording=False, is_leaving=False, is_on_show=True, say=self._say, show_keys=lambda: None
        )
        self.app = SimpleNamespace(
            screen=object(), focused=None, size=(80, 24), user_keys={}, key_screen=main, has_unread_keys=False,
            monotonic=lambda: self.at, key_time=0.0,
        )  # fmt: skip
        monkeypatch.setattr(guard_module, "call_once_after", lambda *_: None)
        monkeypatch.setattr(guard_module, "binding_of", lambda _, key: self._binding(key))
        self.guard = KeyGuard(self.app)

    def _say(self, text, *, is_kept):
        self.said.append(text)

    @staticmethod
    def _binding(key):
        return next((Binding(key, "do", id=key_id) for key_id, name in KEYS.items() if name == key), None)

    def press(self, key_id, wait=SECOND):
        """Press the key of a row; return whether its owner has run it at once."""
        self.at += wait
        key = KEYS.get(key_id, key_id)
        event = events.Key(key, key if len(key) == 1 else None)
        outcome = self.guard.accept(event, self.guard.record_key(event))
        return outcome == "run" and key_id in KEYS and not self.guard.defers(key_id, self.owner)

    def settle(self):
        """Let the time pass after which a second press decides."""
        self.at += SETTLE_SECONDS
        self.guard.commit_due()


@pytest.fixture
def keyboard(monkeypatch):
    return Keyboard(monkeypatch)


def test_two_presses_of_the_same_run_the_row_and_one_does_not(keyboard):
    assert not keyboard.press(LETTER) and keyboard.guard.pending_id == LETTER
    keyboard.settle()
    assert keyboard.owner.ran == []
    keyboard.press(LETTER)
    keyboard.settle()
    assert (keyboard.owner.ran, keyboard.guard.pending_id, keyboard.said) == ([LETTER], "", [])


def other(keyboard, what):
    match what:
        case "screen":
            keyboard.app.screen = object()
        case "focus":
            keyboard.app.focused = SimpleNamespace(check_consume_key=lambda *_: False)
        case "size":
            keyboard.app.size = (81, 24)
        case "subject":
            keyboard.owner.subject = "row 2"
        case "label":
            keyboard.owner.label = "reject 2 of 3"


@pytest.mark.parametrize("what", ["screen", "focus", "size", "subject", "label"])
def test_a_press_counts_only_while_all_that_it_is_about_stays_the_same(keyboard, what):
    keyboard.press(LETTER)
    keyboard.press(LETTER)
    other(keyboard, what)
    keyboard.settle()
    assert (keyboard.owner.ran, keyboard.said) == ([], [SCREEN_CHANGED])


@pytest.mark.parametrize("what", ["screen", "focus", "size", "subject", "label"])
def test_a_second_press_after_a_change_is_a_first_one(keyboard, what):
    keyboard.press(LETTER)
    other(keyboard, what)
    keyboard.press(LETTER)
    keyboard.settle()
    assert (keyboard.owner.ran, keyboard.said) == ([], [SCREEN_CHANGED])
    assert keyboard.guard.pending_id == LETTER


def test_a_letter_that_came_too_early_says_so_at_once_and_begins_nothing(keyboard):
    keyboard.owner.early = "Too quick."
    for count in (1, 2):
        assert not keyboard.press(LETTER)
        keyboard.settle()
        assert (keyboard.said, keyboard.owner.was_told_early) == (["Too quick."] * count, count)
        assert (keyboard.guard.pending_id, keyboard.owner.ran) == ("", [])


def test_a_control_key_counts_once_and_not_while_it_is_held_down(keyboard):
    assert keyboard.press(CONTROL)
    assert not keyboard.press(CONTROL, wait=0.03)
    assert not keyboard.press(CONTROL, wait=0.09)
    assert keyboard.press(CONTROL)


@pytest.mark.parametrize(("wait", "counts"), [(SUSPECT_SECONDS - 0.1, False), (SUSPECT_SECONDS, True)])
def test_enter_counts_in_a_dialog_that_decides_three_seconds_after_a_letter(keyboard, wait, counts):
    dialog = keyboard.app.screen = DecidingDialog()
    keyboard.press("n")
    assert keyboard.press(ENTER, wait) == counts
    assert dialog.said == ([] if counts else [LETTER_BEFORE_ENTER])


def test_what_a_click_asks_for_does_not_wait_for_the_key_before_it(keyboard):
    keyboard.press(LETTER)
    keyboard.guard.forget_key()
    assert not keyboard.guard.defers(LETTER, keyboard.owner)


def test_a_recording_defers_nothing(keyboard):
    keyboard.app.key_screen.is_recording = True
    assert keyboard.press(LETTER)
