"""The dialog of `workbench ask`: a command with what the guard says of it, and keys that are read at once.

It stands on the terminal behind stderr, so that stdout has the accepted command alone.
"""

import os
import select
import sys
import termios
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from textwrap import wrap
from typing import Final, Literal

from workbench.cli.console import Console
from workbench.cli.errors import error_lines
from workbench.host.command_session import CommandRefused, Suggestion
from workbench.policy.command_review import CommandPart
from workbench.text.safe import LINE_END_SYMBOL, marked_spaces, safe_text
from workbench.tui.keyboard.rule import (
    ARM_SECONDS,
    ARMED,
    NO_WORD,
    SUSPECT_SECONDS,
    KeyState,
    Outcome,
    Role,
    Word,
    elapse,
    extend_word,
    follow,
    schedule,
)
from workbench.views.tools import verdict_text

_INDENT: Final = "  "
_LABEL_CELLS: Final = 8
_MOST_PARTS: Final = 8
_MOST_READ: Final = 64
_ESCAPE: Final = "\x1b"
_END_OF_INPUT: Final = "\x04"
_DECIDING: Final = {"a": "accept", "r": "reject", "q": "quit"}
"""Letters that decide, and what they do."""
_MOVES: Final = ("[", "]")
_TYPED_TEXT: Final = "You typed text, so no key decided. Nothing here reads it; r r asks what is wrong."
_EVENT_NAMES: Final = {"\r": "enter", "\n": "enter", "\x7f": "backspace", _ESCAPE: "escape"}
_MOMENT: Final = 0.001
_MOST_RAW_CHARACTERS: Final = 4_000
_NARROWEST: Final = 30
DialogEnding = Literal["rejected", "quit"]


class DialogKeys:
    """What keys mean in the dialog: a deciding letter counts when it is pressed twice, typed text never does.

    Pure: each key comes with the moment at which it was read.
    """

    def __init__(self) -> None:
        self._state: KeyState = ARMED
        self._word: Word = NO_WORD
        self._shown_at = 0.0
        self._text_until: float | None = None
        """Until when letters are more of a text that is being typed."""
        self.say: Callable[[str], None] = _say_nothing
        """Shows a sentence about a key."""

    @property
    def due(self) -> float | None:
        """Return when time alone changes something; None for never."""
        return self._text_until if self._text_until is not None else self._state.due

    def begin(self, at: float) -> None:
        """Forget all keys: something else has been shown since a moment."""
        self._state, self._word, self._text_until, self._shown_at = ARMED, NO_WORD, None, at

    def pass_time(self, at: float) -> str:
        """Return the letter that decides now that a moment has come; empty for none."""
        if self._text_until is not None:
            self._text_until = None if at >= self._text_until else self._text_until
            return ""
        key = self._state.key
        self._state, outcome = elapse(self._state, at)
        if outcome == "expired":
            self.say(f"Nothing was done: {key} was not pressed again.")
        return key if outcome == "decide" else ""

    def read(self, text: str, now: float) -> str:
        """Return what a read leads to: `[` or `]`, or nothing yet.

        Keys that come together are a paste, or one that is held down.
        """
        keys = [text] if text.startswith(_ESCAPE) else list(text)
        # When it came is not known, only when it was read: it may have come before a decision was due.
        at = min(now, self._state.due - _MOMENT) if self._state.phase == "settle" and self._state.due else now
        moved = [self._press(key, at) for key in keys]
        return moved[-1] if len(moved) == 1 else ""

    def _press(self, key: str, at: float) -> str:
        name, text = _EVENT_NAMES.get(key, key), key if key.isprintable() else ""
        self._word = extend_word(self._word, name, text, at)
        if self._is_more_text(name, text, at):
            return ""
        self.pass_time(at)
        before = self._state
        self._state, outcome = follow(self._state, name, text, at)
        if outcome != "pass":
            self._tell(outcome, self._state if outcome == "asks" else before, at)
            return ""
        if not text:
            return ""
        role, is_in_word = self._role(key, at), self._word.is_mixed
        self._state, outcome = schedule(self._state, key, at, role, is_in_word=is_in_word)
        self._tell(outcome, self._state, at)
        return key if key in _MOVES and outcome == "pass" else ""

    def _is_more_text(self, name: str, text: str, at: float) -> bool:
        """Return whether a key belongs to a text that is being typed; enter ends it."""
        if self._text_until is None or at >= self._text_until:
            self._text_until = None
            return False
        self._text_until = at + SUSPECT_SECONDS if text or name == "backspace" else None
        return True

    def _role(self, key: str, at: float) -> Role:
        if key in _DECIDING:
            return "decides" if at - self._shown_at >= ARM_SECONDS else "early"
        return "acts" if key in _MOVES else "nothing"

    def _tell(self, outcome: Outcome, state: KeyState, at: float) -> None:
        if outcome == "text":
            self._text_until = at + SUSPECT_SECONDS
            self.say(_TYPED_TEXT)
        elif outcome == "asks":
            times = "again" if state.is_last else "twice again"
            self.say(f"{state.key} {times}: {_DECIDING[state.key]} · esc cancels")
        elif outcome == "early":
            self.say(f"Too quick: this one just appeared. Press {state.key} again.")
        elif outcome in ("cancelled", "draft", "dropped"):
            self.say("Cancelled: nothing was done.")


class TerminalKeys:
    """Single keys and lines from a terminal; its settings are put back as they were."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.meaning = DialogKeys()

    def key(self) -> str:
        """Wait for a key of the dialog that counts and return it.

        A letter of a sentence decides nothing: the rest of it would be typed behind the command, and run with
        it.
        """
        with self._mode(is_by_line=False):
            while True:
                if counted := self._next_key():
                    return counted

    def any_key(self) -> str:
        """Wait for one key and return it; `` for what is no character, and for keys that come together."""
        with self._mode(is_by_line=False):
            data = os.read(self._descriptor, _MOST_READ)
        text = data.decode("utf-8", "replace")
        return text if len(text) == 1 and text not in (_ESCAPE, _END_OF_INPUT) else ""

    def _next_key(self) -> str:
        due = self.meaning.due
        wait = None if due is None else max(0.0, due - time.monotonic())
        if not self._is_readable(wait):
            return self.meaning.pass_time(time.monotonic())
        data = os.read(self._descriptor, _MOST_READ)
        if not data or data == _END_OF_INPUT.encode():
            return "q"
        return self.meaning.read(data.decode("utf-8", "replace"), time.monotonic())

    def _is_readable(self, wait: float | None) -> bool:
        """Return whether something was typed within some seconds, None for any time."""
        # `select` takes no descriptor above 1,023.
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        return bool(poll.poll(None if wait is None else wait * 1000))

    def line(self, show_question: Callable[[], None]) -> str:
        """Show a question and wait for its line, which the terminal lets its user edit.

        The terminal is ready before the question is shown: an answer that is typed at once is a line, too.
        """
        with self._mode(is_by_line=True):
            show_question()
            data = b""
            while not data.endswith(b"\n") and (more := os.read(self._descriptor, 65_536)):
                data += more
        return data.decode("utf-8", "replace").strip()

    def forget_typed(self) -> None:
        """Drop what was typed before now: it was no answer to what is shown next."""
        termios.tcflush(self._descriptor, termios.TCIFLUSH)
        self.meaning.begin(time.monotonic())

    @contextmanager
    def _mode(self, *, is_by_line: bool) -> Generator[None]:
        before = termios.tcgetattr(self._descriptor)
        now = termios.tcgetattr(self._descriptor)
        # A shell's line editor may have left any of these off.
        now[0] |= termios.ICRNL
        now[1] |= termios.OPOST | termios.ONLCR
        by_line = termios.ICANON | termios.ECHO | termios.ECHOE | termios.IEXTEN
        now[3] = (now[3] | by_line if is_by_line else now[3] & ~by_line) | termios.ISIG
        now[6][termios.VMIN], now[6][termios.VTIME] = (b"\x04", b"\x00") if is_by_line else (b"\x01", b"\x00")
        now[6][termios.VINTR] = b"\x03"
        if is_by_line:
            now[6][termios.VEOF] = b"\x04"
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, now)
        try:
            yield
        finally:
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, before)


def _say_nothing(_: str) -> None:
    """Show no sentence: there is no dialog yet."""


def terminal_keys(console: Console) -> TerminalKeys | None:
    """Return the keys of the terminal that a person sits at; None where there is none."""
    if not console.err.isatty() or sys.stdin is None or not sys.stdin.isatty():
        return None
    return TerminalKeys(sys.stdin.fileno())


class CommandDialog:
    """Shows suggestions and asks what to make of them."""

    def __init__(
        self, console: Console, keys: TerminalKeys, suggest: Callable[[str], Suggestion], columns: int
    ) -> None:
        """Begin; `suggest` asks the model, with words, or with what is wrong with the last command."""
        self._console, self._keys, self._suggest = console, keys, suggest
        self._columns = max(_NARROWEST, columns - 1)
        self._suggestions: list[Suggestion] = []
        self._index = 0
        self._is_warned = False
        keys.meaning.say = lambda words: console.note(f"{_INDENT}{words}")

    def ask_words(self) -> str:
        """Ask what the command should do."""
        return self._line("What should the command do? ")

    def run(self, words: str) -> Suggestion | DialogEnding:
        """Show what becomes of words until one is accepted or it ends; CommandRefused where nothing came."""
        self._take(self._suggest(words))
        while True:
            key = self._keys.key()
            if key == "a":
                if self._may_accept():
                    return self._suggestions[self._index]
            elif key == "r":
                feedback = self._line("What is wrong with it? Without words it ends. ")
                if not feedback:
                    return "rejected"
                self._retry(feedback)
            elif key == "q":
                return "quit"
            elif key in ("[", "]"):
                self._move(-1 if key == "[" else 1)

    def _take(self, suggestion: Suggestion) -> None:
        self._suggestions.append(suggestion)
        self._index = len(self._suggestions) - 1
        self._show()

    def _retry(self, feedback: str) -> None:
        try:
            self._take(self._suggest(feedback))
        except CommandRefused as refused:
            self._console.note_lines(refusal_lines(refused))
            self._show()

    def _move(self, step: int) -> None:
        index = self._index + step
        if 0 <= index < len(self._suggestions):
            self._index = index
            self._show()
        else:
            self._console.note(f"{_INDENT}There is no {'earlier' if step < 0 else 'later'} one.")

    def _may_accept(self) -> bool:
        suggestion = self._suggestions[self._index]
        if suggestion.answer.is_hidden:
            self._console.note(f"{_INDENT}Not accepted: it has characters that cannot be seen. r rejects it.")
            return False
        if suggestion.is_denied and not self._is_warned:
            self._is_warned = True
            self._console.note(f"{_INDENT}The guard denies it. a a once more accepts it all the same.")
            return False
        return True

    def _line(self, question: str) -> str:
        def show_question() -> None:
            self._console.err.write(f"{_INDENT}{question}")
            self._console.err.flush()

        self._keys.forget_typed()
        return self._keys.line(show_question)

    def _show(self) -> None:
        self._is_warned = False
        suggestion = self._suggestions[self._index]
        self._console.note_lines(suggestion_lines(suggestion, self._columns))
        total = len(self._suggestions)
        moves = f"   [ ] {self._index + 1} of {total}" if total > 1 else ""
        self._console.note(f"\n{_INDENT}a accept   r reject   q quit{moves}")
        self._keys.forget_typed()


def refusal_lines(refused: CommandRefused) -> Iterator[str]:
    """Yield why no command was made, and the reply where it could not be read."""
    yield from error_lines(refused) or ()
    if refused.raw:
        yield "The reply was:"
        yield safe_text(refused.raw[:_MOST_RAW_CHARACTERS])


def suggestion_lines(suggestion: Suggestion, columns: int) -> Iterator[str]:
    """Yield a suggestion: the command as it is, what it does, what the guard says, its parts."""
    answer = suggestion.answer
    yield ""
    for line in marked_spaces(answer.command).split("\n"):
        # Never wrapped here: what is copied from the terminal is the command.
        yield f"{_INDENT}{line}"
    yield ""
    for paragraph in safe_text(answer.explanation).splitlines():
        yield from wrap(paragraph, columns, initial_indent=_INDENT, subsequent_indent=_INDENT)
    if answer.explanation:
        yield ""
    yield from _labelled("guard", verdict_text(suggestion.verdict), columns)
    review = suggestion.review
    is_plain = len(review.parts) == 1 and not review.parts[0].does and not review.parts[0].reasons
    for number, part in enumerate(() if is_plain else review.parts[:_MOST_PARTS], 1):
        yield from _labelled("parts" if number == 1 else "", f"{number} {_part_text(part)}", columns)
    left = len(review.parts) - _MOST_PARTS + review.left_out
    if left > 0:
        yield from _labelled("", f"and {left} more", columns)
    if not review.is_certain:
        yield from _labelled("", "It may do more than can be read from it.", columns)


def _part_text(part: CommandPart) -> str:
    risks = "; ".join(dict.fromkeys((*part.does, *part.reasons)))
    text = safe_text(marked_spaces(part.text)).replace("\n", LINE_END_SYMBOL)
    return f"{text}  ({risks})" if risks else text


def _labelled(label: str, text: str, columns: int) -> list[str]:
    return wrap(
        safe_text(text), columns, initial_indent=f"{_INDENT}{label:<{_LABEL_CELLS - 2}}",
        subsequent_indent=" " * _LABEL_CELLS, break_on_hyphens=False,
    )  # fmt: skip
