"""The rule for keys that decide: a letter that decides is pressed twice, and typed text decides nothing.

Pure. The state table is `follow`, `schedule` and `elapse`. Nothing here reads a clock or a screen: each key
comes with the moment at which it arrived, and with its role.
"""

# No waiting time separates a key from a letter of a sentence: people pause while they type. Structure does:
# no sentence begins with the same deciding letter twice. So the first press of a letter only asks for the
# second one, any other letter makes text of both, and a key that is held down counts as one press. The screen
# knows what a letter means and whether what it is about has been drawn for long enough; that is its role.
#
# Words may contain a doubled letter behind letters that only move the cursor: "keep", "tomorrow", "naar".
# Behind another letter the key is therefore pressed three times, unless five seconds or a key without a
# character came between: no word has the same letter three times.

from typing import Final, Literal

from msgspec import Struct

ARM_SECONDS: Final = 0.5
"""How long something must have been on the screen before a key about it counts."""
HELD_SECONDS: Final = 0.06
"""The same key again sooner than this is held down: no hand is that fast."""
SETTLE_SECONDS: Final = 0.1
"""How long after the second press a decision waits for a third one."""
SERIES_SECONDS: Final = 0.25
"""A key that was held down is a new press only after a pause this long: keyboards repeat unevenly."""
WAIT_SECONDS: Final = 5.0
"""How long the first press asks for the second one."""
SUSPECT_SECONDS: Final = 3.0
"""How long after a letter that did nothing another letter makes text of both."""
QUIET_SECONDS: Final = 1.0
"""How long nothing may follow a single press, where one is enough (`approvals.single_press`)."""
RUN_SECONDS: Final = 5.0
"""A pause this long ends what was typed in one go."""

Phase = Literal["armed", "wait", "settle", "shown", "suspect"]
Role = Literal["decides", "alone", "early", "shows", "nothing", "acts"]
"""What a printable key means: it decides, alone (one press is enough), it is off or about something that was
drawn too recently, it shows a part that was not seen, means nothing here, or only changes the screen."""
Outcome = Literal[
    "pass", "asks", "settles", "held", "early", "decide", "expired", "cancelled", "text", "draft", "dropped"
]
"""`pass`: the key does its own work. `asks`: it has to be pressed again. `settles`: it decides in a moment.
`text`, `draft`: what was typed is text (`draft`: and this key only ends it). `dropped`: nothing is decided,
and the key does its own work."""


class KeyState(Struct, frozen=True):
    """One row of the state table."""

    phase: Phase = "armed"
    key: str = ""
    """The key that led here."""
    last: float = 0.0
    """When it was pressed last."""
    is_series: bool = False
    """Whether it is held down."""
    is_answer: bool = False
    """Whether it is a deciding letter that is off or came too early: then it may be pressed again."""
    alone_at: float | None = None
    """When the first press decides without a second one."""
    is_last: bool = True
    """Whether the next press decides; if not, one more is asked for."""

    @property
    def due(self) -> float | None:
        """Return when time alone changes this; None for never."""
        if self.phase == "settle":
            return self.last + SETTLE_SECONDS
        if self.phase == "suspect":
            return self.last + SUSPECT_SECONDS
        if self.phase != "wait":
            return None
        return self.last + WAIT_SECONDS if self.alone_at is None else self.alone_at


ARMED: Final = KeyState()


class Word(Struct, frozen=True):
    """The letters that came without a pause, outside of text fields."""

    key: str = ""
    at: float = 0.0
    is_mixed: bool = False
    """Whether another letter came before the last one."""


NO_WORD: Final = Word()


def extend_word(word: Word, key: str, text: str, at: float) -> Word:
    """Return the word with one more key; a key without a character, or a pause, begins another one."""
    if not text:
        return NO_WORD
    if text.isdigit():
        return NO_WORD if at - word.at >= RUN_SECONDS else word
    if not word.key or at - word.at >= RUN_SECONDS:
        return Word(key, at)
    return Word(key, at, is_mixed=word.is_mixed or word.key != key)


def elapse(state: KeyState, at: float) -> tuple[KeyState, Outcome]:
    """Return what the time until a moment makes of a state."""
    if state.due is None or at < state.due:
        return state, "pass"
    if state.phase == "suspect":
        return ARMED, "pass"
    is_decision = state.phase == "settle" or state.alone_at is not None
    return ARMED, "decide" if is_decision else "expired"


def follow(state: KeyState, key: str, text: str, at: float) -> tuple[KeyState, Outcome]:
    """Return what an open state makes of the next key; `pass` where the key has its own meaning.

    Args:
        state: Where the keys before it led, after `elapse` until `at`.
        key: Its name.
        text: What it writes; empty for a key that writes nothing.
        at: When it arrived, in seconds.
    """
    if state.phase == "armed":
        return state, "pass"
    if key == state.key:
        return _pressed_again(state, text, at)
    if state.phase in ("wait", "settle"):
        return ARMED, _other_key(key, text)
    return ARMED, "text" if state.phase == "suspect" and text else "pass"


def _other_key(key: str, text: str) -> Outcome:
    if text:
        return "text"
    if key == "escape":
        return "cancelled"
    return "draft" if key in ("enter", "backspace") else "dropped"


def _pressed_again(state: KeyState, text: str, at: float) -> tuple[KeyState, Outcome]:
    if state.phase == "suspect" and not state.is_answer:
        return ARMED, "text" if text else "pass"
    if state.phase == "settle" or at - state.last < (SERIES_SECONDS if state.is_series else HELD_SECONDS):
        return _held(state, at), "held"
    if state.phase == "wait" and state.is_last:
        return KeyState("settle", state.key, at), "settles"
    if state.phase == "wait":
        return KeyState("wait", state.key, at), "asks"
    return state, "pass"


def _held(state: KeyState, at: float) -> KeyState:
    phase: Phase = "wait" if state.phase == "settle" else state.phase
    alone_at = None if state.alone_at is None else at + QUIET_SECONDS
    return KeyState(phase, state.key, at, True, state.is_answer, alone_at, state.is_last)


def schedule(
    state: KeyState, key: str, at: float, role: Role, *, is_in_word: bool = False
) -> tuple[KeyState, Outcome]:
    """Return what a printable key begins that `follow` let pass.

    Args:
        state: Where the keys before it led.
        key: Its name.
        at: When it arrived, in seconds.
        role: What it means.
        is_in_word: Whether other letters came before it (`Word.is_mixed`).
    """
    is_shown = state.phase == "shown" and state.key == key
    if role == "early":
        phase: Phase = "shown" if is_shown else "suspect"
        return KeyState(phase, key, at, is_answer=True), "early"
    if role == "nothing":
        return KeyState("suspect", key, at), "pass"
    if role == "shows":
        return KeyState("shown", key, at), "pass"
    if role == "acts":
        return ARMED, "pass"
    if is_shown and not is_in_word:
        return KeyState("settle", key, at), "settles"
    is_alone = role == "alone" and not is_in_word
    alone_at = at + QUIET_SECONDS if is_alone else None
    return KeyState("wait", key, at, alone_at=alone_at, is_last=is_shown or not is_in_word), "asks"


def enter_counts(last_letter: float | None, at: float) -> bool:
    """Return whether enter decides in a dialog: no letter was pressed in it for three seconds.

    Args:
        last_letter: When the last letter was pressed in the dialog; None for never.
        at: When enter was pressed.
    """
    return last_letter is None or at - last_letter >= SUSPECT_SECONDS


def sends_text(draft: str) -> bool:
    """Return whether enter right after typed text sends it: only if the composer was empty before."""
    return not draft.strip()
