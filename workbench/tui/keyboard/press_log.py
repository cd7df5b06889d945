"""The keys that arrived, in their order, and what was typed in one go. Pure: reads no clock and no screen."""

from collections import deque
from typing import Final

from msgspec import Struct

from workbench.tui.keyboard.rule import RUN_SECONDS

REPEAT_SECONDS: Final = 0.1
"""A control key or enter again sooner than this is held down."""
WORD_KEYS: Final = 3
"""Printable keys that make a word, where a key would open a text field."""
FOLLOW_SECONDS: Final = 1.0
_MAX_REMEMBERED_KEYS: Final = 4_000


class KeyPress(Struct):
    """One key that arrived."""

    number: int
    key: str
    text: str
    """What it writes into a text field; empty for a key that writes nothing."""
    at: float
    is_repeat: bool = False
    """Whether it is held down: it came by itself."""
    is_field: bool = False
    """Whether it went into a text field already."""
    is_letter: bool = False
    """Whether it did nothing by itself: it means nothing here, or it has to be pressed again."""
    did: str = ""
    """What it did, as the id of a row of the table of keys; empty where it decides or means nothing."""
    is_used: bool = False
    """Whether it was part of a decision: it is not a letter of a text."""
    screen: int = 0
    """On which screen it was handled."""


class KeyLog:
    """The keys that arrived, in their order."""

    def __init__(self) -> None:
        self._presses: deque[KeyPress] = deque(maxlen=_MAX_REMEMBERED_KEYS)
        self._number = 0

    @property
    def arrived(self) -> int:
        """Return how many keys have arrived."""
        return self._number

    def record(self, key: str, text: str, at: float) -> KeyPress:
        """Record a key at its arrival, before anything is done for it.

        Args:
            key: Its name.
            text: What it writes; empty for a key that writes nothing.
            at: When it arrived, in seconds.
        """
        last = self._presses[-1] if self._presses else None
        self._number += 1
        press = KeyPress(self._number, key, text, at)
        press.is_repeat = last is not None and last.key == key and at - last.at <= REPEAT_SECONDS
        self._presses.append(press)
        return press

    def mark_used(self, press: KeyPress) -> None:
        """Mark what was typed in one go, up to a key or before it: it is not part of a later text."""
        before = [earlier for earlier in self._presses if earlier.number < press.number]
        for typed in self._run(press) or (self._run(before[-1]) if before else []):
            typed.is_used = True

    def last_letter(self, press: KeyPress) -> float | None:
        """Return when the last letter before a key was pressed on the same screen, outside of text fields."""
        moments = (
            earlier.at
            for earlier in reversed(self._presses)
            if earlier.number < press.number
            and earlier.text
            and not earlier.is_field
            and earlier.screen == press.screen
        )
        return next(moments, None)

    def count_in_word(self, press: KeyPress) -> int:
        """Return how many printable keys came before without a pause, back to the last other key.

        A key that is held or repeated counts as one; a letter that did nothing counts as a word, and so does
        a capital before a letter.
        """
        count, later = 0, press
        for earlier in reversed(self._presses):
            if earlier.number >= press.number:
                continue
            if not earlier.text or earlier.is_used or later.at - earlier.at >= RUN_SECONDS:
                break
            is_word = earlier.is_letter or (earlier.text.isupper() and press.text.isalpha())
            if is_word or earlier.key != later.key:
                count += WORD_KEYS if is_word else 1
            later = earlier
        return count

    def text_until(self, press: KeyPress) -> str:
        """Return what was typed in one go up to a key, without what went into a text field."""
        return "".join(typed.text for typed in self._run(press))

    def text_before(self, press: KeyPress) -> str:
        """Return what was typed in one go before a key that writes nothing."""
        before = [earlier for earlier in self._presses if earlier.number < press.number]
        return self.text_until(before[-1]) if before else ""

    def text_start(self, press: KeyPress) -> float:
        """Return when the first key of that was pressed."""
        run = self._run(press)
        return run[0].at if run else press.at

    def keys_until(self, press: KeyPress) -> list[str]:
        """Return the names of the keys of that."""
        return [typed.key for typed in self._run(press)]

    def done_until(self, press: KeyPress) -> list[str]:
        """Return what its keys did."""
        return [typed.did for typed in self._run(press)]

    def follows_text(self, press: KeyPress) -> bool:
        """Return whether a key came right behind one that writes, without a pause."""
        before = [earlier for earlier in self._presses if earlier.number < press.number]
        return bool(before) and bool(before[-1].text) and press.at - before[-1].at < FOLLOW_SECONDS

    def _run(self, press: KeyPress) -> list[KeyPress]:
        run: list[KeyPress] = []
        for typed in reversed(self._presses):
            if typed.number > press.number:
                continue
            is_apart = bool(run) and run[-1].at - typed.at >= RUN_SECONDS
            if not typed.text or typed.is_field or typed.is_used or is_apart:
                break
            run.append(typed)
        return run[::-1]

    def forget(self) -> None:
        """Forget what was pressed: the same key is passed on to something else, and is not held."""
        self._presses.clear()
