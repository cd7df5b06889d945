r"""Words in `$'…'`: the text that bash makes of their escapes.

Owns every escape that bash knows there. Texts are bytes, one character each (latin-1), as bash sees them.
"""

import re
from typing import Final

_WORD: Final = re.compile(r"\$'((?:[^'\\]|\\.)*+)'", re.DOTALL)
_ESCAPE: Final = re.compile(
    r"\\(?:x\{(?P<braced>[0-9A-Fa-f]*)\}?|x(?P<byte>[0-9A-Fa-f]{1,2})|u(?P<short>[0-9A-Fa-f]{1,4})"
    r"|U(?P<long>[0-9A-Fa-f]{1,8})|(?P<octal>[0-7]{1,3})|c(?P<control>\\\\|.)|(?P<other>.))",
    re.DOTALL,
)
_LETTERS: Final = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip


def decode(inner: str) -> tuple[str, str]:
    """Return the text between the quotes as bash reads it, and why that is not certain; empty if it is.

    A NUL ends the text, as it does in bash.
    """
    doubts: list[str] = []

    def character(found: re.Match[str]) -> str:
        text = _character(found)
        if not text:
            doubts.append("an escape that is no character")
        return text

    text, nul, _ = _ESCAPE.sub(character, inner).partition("\0")
    return text, "a NUL in a quoted text" if nul else next(iter(doubts), "")


def _character(found: re.Match[str]) -> str:
    groups = found.groupdict()
    if (digits := groups["braced"]) is not None or (digits := groups["byte"]):
        return chr(int(digits or "0", 16) & 0xFF)
    if digits := groups["short"] or groups["long"]:
        value = int(digits, 16)
        is_character = value < 0x110000 and not 0xD800 <= value < 0xE000
        return chr(value).encode().decode("latin-1") if is_character else ""
    if digits := groups["octal"]:
        return chr(int(digits, 8) & 0xFF)
    if control := groups["control"]:
        return "\x7f" if control == "?" else chr(ord(control[0]) & 0x1F)
    return _LETTERS.get(groups["other"], "\\" + groups["other"])


def decode_text(inner: str) -> str:
    """Return the text between the quotes as bash reads it, for a text of any characters."""
    data = inner.encode("utf-8", "surrogatepass").decode("latin-1")
    return decode(data)[0].encode("latin-1").decode("utf-8", "replace")


def decode_words(command: str) -> str:
    """Return a line in which every `$'…'` is replaced by its text, whatever it stands in."""
    return _WORD.sub(lambda found: decode_text(found.group(1)), command) if "$'" in command else command
