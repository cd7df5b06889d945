"""Splits terminal input into text, escape sequences and bracketed pastes; pure, without a clock of its own.

Bytes of a bracketed paste leave as one token and never as keys, however they are split over reads.
"""

# A terminal sends keys, reports and pasted text on one line, and a slow connection may pause anywhere.
#
# Inside a paste time means nothing: only the end mark ends it. An end mark may be lost, and then every key
# goes into the paste. The way out has a form that pasted text does not have: two of the keys esc, ctrl+c and
# ctrl+q in a row, each alone in its read, with a pause before and after. What was received is then the paste.
#
# Outside of a paste a lone ESC is the key esc after a short delay. `ESC [` and `ESC O` are no keys of a
# keyboard, so what follows may be late. What comes after the delay is told from typing by its form: `[A` in
# one read is the rest of a sequence, and letters that complete the start mark of a paste begin one.

import re
from typing import Final, Literal

from msgspec import Struct

ESC: Final = "\x1b"
PASTE_START: Final = "\x1b[200~"
PASTE_END: Final = "\x1b[201~"
MAX_PASTE_CHARACTERS: Final = 8_000_001
"""Characters of a paste that are kept; more than the composer accepts, so that it refuses the rest."""
SEQUENCE_SECONDS: Final = 1.0
"""How long the rest of a sequence may take, and how long after esc one is recognized as late."""
STALLED_SECONDS: Final = 2.0
"""Seconds without input after which an open paste is reported."""
RESTART_SECONDS: Final = 1.0
"""Seconds without input after which a start mark begins another paste instead of being pasted text."""
EXIT_PAUSE_SECONDS: Final = 0.1
"""Pause before and after the keys that end a paste without an end mark."""
_MAX_SEQUENCE: Final = 32
"""Characters of the longest sequence that the framework reads; of a longer one it would make keys."""
_MAX_PENDING: Final = 256

_CSI_HEAD = r"\[(?:\[|M[^\x00-\x1f\x7f]{0,2}|[ -?]*)"
_STRING_HEAD = r"(?:\][0-9]|P[0-9<=>?!$+;|]|_G)[^\x00-\x1f\x7f]*"
_COMPLETE: Final = re.compile(
    rf"\x1b(?:\[\[[^\x00-\x1f\x7f]|\[M[^\x00-\x1f\x7f]{{3}}|\[(?![M\[])[ -?]*[^\x00-?]"
    rf"|O[^\x00-\x1f\x7f]|{_STRING_HEAD}(?:\x07|\x1b\\))"
)
_HEAD: Final = re.compile(rf"\x1b(?:{_CSI_HEAD}|O|{_STRING_HEAD})")
_STRING_BEGIN: Final = re.compile(r"\x1b[\]P_]")
_LATE: Final = re.compile(r"(?:\[\[[A-E]|\[[0-?]*[ -/]*[@-~]|O[A-DFHPQRS])(?=\x1b|\Z)")
_LATE_HEAD: Final = re.compile(r"\[[0-?]+\Z")
_EXIT_KEY: Final = re.compile(r"[\x03\x11\x1b]+|\x1b\[(?:27|99|113)(?:;[\d:;]*)?u")
_REPORT: Final = re.compile(r"\x1b\[(?:<[\d;]*[Mm]|[IO])")
_REPORTS: Final = re.compile(rf"(?:{_REPORT.pattern})+")

TokenKind = Literal["text", "escape", "alt", "sequence", "paste", "stalled"]


class Token(Struct, frozen=True):
    """A part of what a terminal sent."""

    kind: TokenKind
    """`text`: characters without ESC. `escape`: the key esc. `alt`: ESC and one character. `sequence`: a
    whole sequence. `paste`: pasted text. `stalled`: an open paste has been without input for some time."""
    text: str = ""


class _OpenPaste:
    """Collects a paste until its end mark, within a bound."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._size = 0
        self._tail = ""
        self._exits = 0
        self._size_before_exit = 0
        self.is_reported = False

    def add(self, data: str) -> str | None:
        """Add input; return what follows the end mark, None while the paste is open."""
        text = self._tail + data
        end = text.find(PASTE_END)
        if end >= 0:
            self._keep(text[:end])
            self._tail = ""
            return text[end + len(PASTE_END) :]
        split = max(0, len(text) - len(PASTE_END) + 1)
        self._keep(text[:split])
        self._tail = text[split:]
        return None

    def _keep(self, text: str) -> None:
        text = text[: MAX_PASTE_CHARACTERS - self._size]
        self._parts.append(text)
        self._size += len(text)

    def begin_read(self, data: str, pause: float) -> None:
        """Note whether a read holds nothing but a key by which people leave."""
        if _EXIT_KEY.fullmatch(data) and (self._exits or pause >= EXIT_PAUSE_SECONDS):
            if not self._exits:
                self._size_before_exit = self._size + len(self._tail)
            self._exits += 1
        elif not _REPORTS.fullmatch(data):
            self._exits = 0

    @property
    def is_left(self) -> bool:
        """Return whether the last two reads were keys by which people leave."""
        return self._exits > 1

    def text(self) -> str:
        """Return the text received."""
        return "".join(self._parts) + self._tail

    def text_before_exit(self) -> str:
        """Return the text without the keys that ended it, and without reports of the terminal."""
        return _REPORT.sub("", self.text()[: self._size_before_exit])


class TokenReader:
    """Reads tokens from the input of one terminal."""

    def __init__(self, escape_seconds: float) -> None:
        """Read from the start.

        Args:
            escape_seconds: How long after ESC nothing may follow for it to be the key esc.
        """
        self._escape_seconds = escape_seconds
        self._pending = ""
        self._paste: _OpenPaste | None = None
        self._late: str | None = None
        self._last_at = self._late_at = float("-inf")

    @property
    def due(self) -> float | None:
        """Return when `elapse` has something to do; None while only input can change anything."""
        if self._paste is not None:
            return self._paste_due(self._paste)
        if not self._pending:
            return None
        is_short = self._pending == ESC or self._pending.endswith("$") or self._is_string_begin
        return self._last_at + (self._escape_seconds if is_short else SEQUENCE_SECONDS)

    def _paste_due(self, paste: _OpenPaste) -> float | None:
        if paste.is_left:
            return self._last_at + EXIT_PAUSE_SECONDS
        return None if paste.is_reported else self._last_at + STALLED_SECONDS

    @property
    def _is_string_begin(self) -> bool:
        return _STRING_BEGIN.fullmatch(self._pending) is not None

    def elapse(self, at: float) -> list[Token]:
        """Return the tokens that result from the absence of input until a moment."""
        if self.due is None or at < self.due:
            return []
        if self._paste is not None:
            return self._elapse_paste(self._paste, at)
        pending, self._pending = self._pending, ""
        if PASTE_START.startswith(pending):
            self._late, self._late_at = pending[1:], at
        if pending == ESC:
            return [Token("escape")]
        if _STRING_BEGIN.fullmatch(pending):
            return [Token("alt", pending)]
        return [Token("sequence", pending)] if pending.endswith("$") else []

    def _elapse_paste(self, paste: _OpenPaste, at: float) -> list[Token]:
        if not paste.is_left:
            paste.is_reported = True
            return [Token("stalled")]
        self._paste = None
        self._late, self._late_at = "", at
        return [Token("paste", paste.text_before_exit())]

    def feed(self, data: str, at: float, *, is_joined: bool = False) -> list[Token]:
        """Return the tokens that input completes.

        Args:
            data: Text of one read.
            at: When it was read, in seconds.
            is_joined: Whether it was there already when the read before it had been handled.
        """
        tokens = [] if is_joined else self.elapse(at)
        pause = 0.0 if is_joined else at - self._last_at
        self._last_at = at
        if self._paste is not None:
            tokens += self._begin_read(self._paste, data, pause)
        elif self._late is not None:
            data = self._after_late(self._late, data, at)
        while data:
            data = self._read_one(data, tokens)
        return tokens

    def close(self) -> list[Token]:
        """Return what is left at the end of the input: the text of an open paste."""
        paste, self._paste, self._pending = self._paste, None, ""
        return [] if paste is None else [Token("paste", paste.text())]

    def _begin_read(self, paste: _OpenPaste, data: str, pause: float) -> list[Token]:
        if pause >= RESTART_SECONDS and data.startswith(PASTE_START):
            self._paste = None
            return [Token("paste", paste.text())]
        paste.begin_read(data, pause)
        return []

    def _read_one(self, data: str, tokens: list[Token]) -> str:
        """Read one token from input that is not empty; return the rest."""
        if self._paste is not None:
            return self._read_paste(self._paste, data, tokens)
        data, self._pending = self._pending + data, ""
        if data[0] != ESC:
            text, _, _ = data.partition(ESC)
            tokens.append(Token("text", text))
            return data[len(text) :]
        length = sequence_length(data)
        if not length:
            self._pending = _bounded(data)
            return ""
        self._add_sequence(data[:length], tokens)
        return data[length:]

    def _read_paste(self, paste: _OpenPaste, data: str, tokens: list[Token]) -> str:
        rest = paste.add(data)
        if rest is None:
            return ""
        tokens.append(Token("paste", paste.text()))
        self._paste = None
        return rest

    def _add_sequence(self, sequence: str, tokens: list[Token]) -> None:
        if sequence == PASTE_START:
            self._paste = _OpenPaste()
        elif sequence == ESC:
            tokens.append(Token("escape"))
        elif not _HEAD.match(sequence):
            tokens.append(Token("alt", sequence))
        elif sequence[1] in "[O" and len(sequence) <= _MAX_SEQUENCE:
            tokens.append(Token("sequence", sequence))

    def _after_late(self, late: str, data: str, at: float) -> str:
        """Return input as it is to be read after a sequence whose rest did not come in time."""
        whole, begun_at = late + data, self._late_at
        self._late = None
        if at - begun_at > SEQUENCE_SECONDS:
            return data
        if whole.startswith(PASTE_START[1:]) or (not late and _LATE_HEAD.match(data)):
            return ESC + whole
        if PASTE_START[1:].startswith(whole):
            self._late, self._late_at = whole, at
            return data
        found = None if late else _LATE.match(data)
        return data if found is None else data[found.end() :]


def sequence_length(data: str) -> int:
    """Return the length of the sequence that input begins with; 0 where more is needed to know it.

    A sequence that is broken off is as long as its valid part, and a character that cannot be in one ends it.

    Args:
        data: Input that begins with ESC.
    """
    if found := _COMPLETE.match(data):
        return found.end()
    if len(data) == 1 or _STRING_BEGIN.fullmatch(data):
        return 0
    if data[1] == ESC:
        return 1
    if not (found := _HEAD.match(data)):
        return 2
    is_open = found.end() == len(data) or (data[1] not in "[O" and data[found.end() :] == ESC)
    return 0 if is_open else found.end()


def _bounded(pending: str) -> str:
    """Return an incomplete sequence cut to what is needed to find its end."""
    if len(pending) <= _MAX_PENDING or pending[1] == "[":
        return pending[:_MAX_PENDING]
    return pending[:3] + (ESC if pending[-1] == ESC else "")
