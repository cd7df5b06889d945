"""Typing is text: a deciding key counts only if it came alone.

Pure. Knows which keys came when, which deciding key waits, and what was typed; it is told every key with the
moment at which it arrived and never reads a clock.
"""

# Typing is text. A deciding key waits 300 ms and counts only if it came alone: nothing printable behind it,
# fewer than three printable keys in the second before. What is typed where keys decide goes to the
# composer. Showing the next part that nobody saw decides nothing, so `a` does that at once. The screen
# begins in the composer; `ctrl+t` answers a question of trust, because a letter is a letter of the first
# sentence that somebody types.

from collections import deque
from typing import Final, Literal

from msgspec import Struct

HOLD_SECONDS: Final = 0.3
"""How long after its key a decision takes effect, if no other key follows."""
BURST_SECONDS: Final = 1.0
"""How far back the keys before it are counted; a pause this long ends what was typed in one go."""
BURST_KEYS: Final = 3
"""So many printable keys before a deciding key make it a letter of a word."""
REPEAT_SECONDS: Final = 0.1
"""A key that comes again this soon is held down: nobody presses one twice in that time."""
_MAX_REMEMBERED_KEYS: Final = 4_000
"""Presses that are remembered: what is typed in one go is offered with all its text."""
Answer = Literal["pending", "held", "burst", "followed"]
"""Of a deciding key: it waits; it counts already; it is a letter of a text; another key came behind it."""


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
    """Whether it went into a text field, where it stands already."""
    takes_back: bool = False
    """Whether it is the escape that took a waiting key back."""


class PendingKey(Struct, frozen=True):
    """A deciding key that takes effect in a moment."""

    key_id: str
    press: KeyPress

    @property
    def due(self) -> float:
        """Return when it takes effect."""
        return self.press.at + HOLD_SECONDS


class CancelledKey(Struct, frozen=True):
    """A waiting key that takes no effect."""

    pending: PendingKey
    why: Literal["burst", "taken back", "other key", "held"]


class DecisionGuard:
    """The keys of the last moments, and the deciding key that waits."""

    def __init__(self) -> None:
        self._presses: deque[KeyPress] = deque(maxlen=_MAX_REMEMBERED_KEYS)
        self._number = 0
        self._committed: KeyPress | None = None
        self._burst_at = -1.0
        self.pending: PendingKey | None = None

    @property
    def arrived(self) -> int:
        """Return how many keys have arrived."""
        return self._number

    def pressed(self, key: str, text: str, at: float) -> tuple[KeyPress, CancelledKey | None]:
        """Take a key at its arrival, before anything is done for it.

        Args:
            key: Its name.
            text: What it writes; empty for a key that writes nothing.
            at: When it arrived, in seconds.

        Returns:
            The press, and the waiting key that it cancels.
        """
        last = self._presses[-1] if self._presses else None
        is_same = last is not None and last.key == key
        self._number += 1
        press = KeyPress(self._number, key, text, at)
        press.is_repeat = last is not None and is_same and at - last.at <= REPEAT_SECONDS
        self._presses.append(press)
        why = self._why_cancelled(press, is_same=is_same)
        if why is None or self.pending is None:
            return press, None
        press.takes_back = why == "taken back"
        return press, self._cancel(why)

    def _why_cancelled(
        self, press: KeyPress, *, is_same: bool
    ) -> Literal["burst", "taken back", "other key", "held"] | None:
        if self.pending is None:
            return None
        if is_same:
            return "held" if press.is_repeat and self._has_counted(self.pending.press) else None
        if press.key == "escape":
            return "taken back"
        return "burst" if press.text else "other key"

    def _has_counted(self, press: KeyPress) -> bool:
        """Return whether a press continues a held key whose first press has counted."""
        committed = self._committed
        if committed is None or committed.key != press.key or press.at - committed.at > BURST_SECONDS:
            return False
        between = (
            other_press
            for other_press in self._presses
            if committed.number < other_press.number < press.number
        )
        return all(other_press.key == press.key for other_press in between)

    def _cancel(self, why: Literal["burst", "taken back", "other key", "held"]) -> CancelledKey:
        assert self.pending is not None
        if why == "burst":
            self._burst(self.pending.press)
        cancelled, self.pending = CancelledKey(self.pending, why), None
        return cancelled

    def begin(self, key_id: str, press: KeyPress, *, after_words: bool = False) -> Answer:
        """Let a deciding key wait, or say why it does not count.

        Args:
            key_id: What it means.
            press: The key; others may have arrived behind it already.
            after_words: Whether words are typed before it on purpose, as into a line that enter sends.
        """
        behind = [
            later_press
            for later_press in self._presses
            if later_press.number > press.number and later_press.key != press.key
        ]
        if behind:
            self.pending = None
            return self._burst(press) if behind[0].text else "followed"
        if press.is_repeat:
            return "held"
        if not after_words and (self._is_in_burst(press) or self.count_before(press) >= BURST_KEYS):
            return self._burst(press)
        # The same key again, as in "aardvark": the first was the letter before it, or pressed by mistake.
        self.pending = PendingKey(key_id, press)
        return "pending"

    def _burst(self, press: KeyPress) -> Answer:
        self._burst_at = press.at
        return "burst"

    def _is_in_burst(self, press: KeyPress) -> bool:
        """Return whether a deciding key came as a letter before, and no pause since."""
        run = self._run(press)
        return bool(run) and self._burst_at >= run[0].at

    def count_before(self, press: KeyPress, *, after: int = 0) -> int:
        """Return how many printable keys came in the second before; one that is held or repeated is one.

        Args:
            press: The key.
            after: The number of the press behind which they are counted; 0 counts all.
        """
        count, last = 0, press.key
        for earlier_press in reversed(self._presses):
            if earlier_press.number >= press.number:
                continue
            if earlier_press.number <= after or press.at - earlier_press.at > BURST_SECONDS:
                break
            count += bool(earlier_press.text) and earlier_press.key != last
            last = earlier_press.key
        return count

    def count_in_word(self, press: KeyPress) -> int:
        """Return the same, back to the last key that writes nothing: enter ends what was typed in a field."""
        ends = (
            earlier_press.number
            for earlier_press in self._presses
            if earlier_press.number < press.number and not earlier_press.text
        )
        return self.count_before(press, after=max(ends, default=0))

    def text_until(self, press: KeyPress) -> str:
        """Return what was typed in one go up to a press, without what stands in a text field."""
        return "".join(typed_press.text for typed_press in self._run(press))

    def text_start(self, press: KeyPress) -> float:
        """Return when the first key of the same was pressed, in monotonic seconds."""
        run = self._run(press)
        return run[0].at if run else press.at

    def follows_text(self, press: KeyPress) -> bool:
        """Return whether a key came right behind one that writes, without a pause."""
        before = [earlier for earlier in self._presses if earlier.number < press.number]
        return bool(before) and bool(before[-1].text) and press.at - before[-1].at < BURST_SECONDS

    def keys_until(self, press: KeyPress) -> list[str]:
        """Return the names of the keys of which the same consists."""
        return [typed_press.key for typed_press in self._run(press)]

    def _run(self, press: KeyPress) -> list[KeyPress]:
        run: list[KeyPress] = []
        for typed_press in reversed(self._presses):
            if typed_press.number > press.number:
                continue
            if (
                not typed_press.text
                or typed_press.is_field
                or (run and run[-1].at - typed_press.at >= BURST_SECONDS)
            ):
                break
            run.append(typed_press)
        return run[::-1]

    def take_due(self, at: float) -> PendingKey | None:
        """Return the waiting key if its time has come; it waits no longer."""
        pending = self.pending
        if pending is None or at < pending.due:
            return None
        self.pending, self._committed = None, pending.press
        return pending

    def forget(self) -> None:
        """Forget what was pressed: the same key is passed on to something else, and is not held."""
        self._presses.clear()

    def drop(self) -> None:
        """Forget the waiting key: what it was about changed."""
        self.pending = None
