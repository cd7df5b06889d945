"""Make untrusted text safe to draw: hidden characters and escape sequences become visible marks.

A mark reads like ⟨U+202E⟩. Holds the list of characters that steer a terminal, reorder text or hide in it.
Never drops a character without a mark in its place.
"""

import re
import unicodedata
from functools import cache

from workbench.text.width import cut_to_width

_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but tab and line feed, DEL, C1
    "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"  # signs that enclose what follows
    "\ufdd0-\ufdef"  # noncharacters, with the last two of every plane below
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, joiners, fillers, Mongolian
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"  # zero width, separators, bidi controls
    "\u2800"  # the Braille pattern without dots
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"  # variation selectors, BOM, annotations
    "\ud800-\udfff"  # surrogates: alone in any str that Python holds
    "\U00013430-\U0001343f"  # joiners of hieroglyphs
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # shorthand and musical format controls
    "\U000e0000-\U000e0fff"  # tags and the second block of variation selectors
) + "".join(chr(plane << 16 | last) for plane in range(1, 17) for last in (0xFFFE, 0xFFFF))
_ODD_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
"""Spaces (Unicode Zs) that look like the plain one, and do not separate the words of a command."""
_SEQUENCE = (
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"  # CSI
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])"  # OSC, DCS …
    r"[^\x00-\x06\x0a-\x1f\x7f-\x9f]{0,4096}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]{1,8}[0-~]|\x1b[0-OQ-WYZ\\`-~]"  # two and more characters
)
"""Escape sequences as terminals read them (ECMA-48); of one without an end the first character is marked."""
_LONGEST_SEQUENCE = 80
_MOST_MARKS = 4
"""Combining marks behind one character; languages need fewer, more only hide their neighbours."""
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f"
)
_PRESENTATION = "\ufe0e\ufe0f"
_KEYCAP = "\u20e3"
LINE_END_SYMBOL = "⏎"
"""Stands for a line end in a text that is shown as one line."""
ASCII_LINE_END_SYMBOL = "^J"
"""The same where the terminal shows ASCII only."""


@cache
def _hidden(keep_newlines: bool) -> re.Pattern[str]:
    return re.compile(f"[{_HIDDEN}{'' if keep_newlines else chr(9) + chr(10)}]")


@cache
def _sequence() -> re.Pattern[str]:
    return re.compile(_SEQUENCE)


@cache
def _mark_flood() -> re.Pattern[str]:
    return re.compile(f"(?<=[{_MARKS}]{{{_MOST_MARKS}}})[{_MARKS}]++")


def safe_text(text: str, *, keep_newlines: bool = True) -> str:
    """Replace every character that cannot be seen by a visible mark; escape sequences as a whole.

    A text or emoji presentation selector stays where it follows a symbol that it styles, once.
    `keep_newlines`: leave line feeds and tabs as they are. Returns text without control, bidi, zero-width and
    other hidden characters, and without more than four combining marks in a row. Applying it again changes
    nothing.
    """
    if text.isascii() and text.isprintable():
        return text
    if "\x1b" in text or not text.isascii():
        text = _mark_flood().sub(
            lambda run: f"⟨{len(run[0])} more marks⟩", _sequence().sub(_sequence_mark, text)
        )
    return _hidden(keep_newlines).sub(_mark, text)


@cache
def _odd_space() -> re.Pattern[str]:
    return re.compile(f"[{_ODD_SPACES}]")


def marked_spaces(text: str) -> str:
    """Replace spaces that are not the plain one by visible marks: for commands and paths, not for prose."""
    if text.isascii():
        return text
    return _odd_space().sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text)


def has_odd_spaces(text: str) -> bool:
    """Return whether a text holds a space that is not the plain one."""
    return marked_spaces(text) != text


def has_hidden_characters(text: str) -> bool:
    """Say whether the text holds a hidden character; line feeds and tabs are none."""
    return safe_text(text) != text


def escape_json(text: str) -> str:
    r"""Return JSON text that means the same, with every character that steers a terminal as `\uXXXX`."""
    if not has_hidden_characters(text):
        return text
    return "".join(
        _escape(character) if has_hidden_characters(character) else character for character in text
    )


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[index] << 8 | units[index + 1]:04x}" for index in range(0, len(units), 2))


def one_line(text: str, limit: int) -> str:
    """Make a single safe line of at most `limit` cells; line ends become ⏎, a cut is shown by ….

    `text`: untrusted text of any length; only its beginning is looked at.
    """
    if len(text) <= limit and text.isascii() and text.isprintable():
        return text
    head = text[: 16 * (limit + 1)]
    line = head.replace("\r\n", "\n").replace("\n", LINE_END_SYMBOL).replace("\t", " ")
    if len(head) < len(text):
        line += "…"
    return cut_to_width(safe_text(line), limit)


def reason_lines(text: str, limit: int, most: int = 9) -> list[str]:
    """Return a reason as up to `most` safe lines of at most `limit` cells, without those of marks alone."""
    lines = [one_line(line.strip(), limit) for line in text.splitlines()]
    return [line for line in lines if any(character.isalnum() for character in line)][:most]


def reason_line(text: str, limit: int) -> str:
    """Return a reason of several lines as one safe line of at most `limit` cells."""
    joined = ""
    for line in reason_lines(text, limit):
        joined += f"{'' if not joined else ' ' if joined.endswith(':') else ' / '}{line}"
    return one_line(joined, limit)


def _sequence_mark(match: re.Match[str]) -> str:
    sequence = match.group()
    inner = sequence[1:] if sequence[0] == "\x1b" else chr(ord(sequence[0]) - 0x40) + sequence[1:]
    inner = inner.removesuffix("\x1b\\").rstrip("\x07\x9c")
    return f"⟨ESC{inner if len(inner) <= _LONGEST_SEQUENCE else inner[:_LONGEST_SEQUENCE] + '…'}⟩"


def _mark(match: re.Match[str]) -> str:
    character = match.group()
    if character in _PRESENTATION and _follows_styled_symbol(match.string, match.start()):
        return character
    return f"⟨U+{ord(character):04X}⟩"


def _follows_styled_symbol(text: str, index: int) -> bool:
    before = text[index - 1 : index]
    if before and before in "#*0123456789":
        return text[index + 1 : index + 2] == _KEYCAP
    return bool(before) and not before.isascii() and (before in "‼⁉〰" or _is_symbol(before))


def _is_symbol(character: str) -> bool:
    return unicodedata.category(character) in ("So", "Sm")
