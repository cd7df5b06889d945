r"""Finds the tail of a private key whose head was cut off: lines in base64, and the line that ends it.

Owns that one form, read backwards from its end. It must never take more than linear time: every part of a
text is looked at for one end only.
"""

import re
from functools import cache
from typing import Final

KIND: Final = "pem"
_MARK: Final = f"⟨secret: {KIND}⟩"
_END: Final = r"-{4,5}END (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_FEWEST: Final = 4
"""Different signs of a body; documents write it as a row of one."""


@cache
def _ends() -> re.Pattern[str]:
    return re.compile(_END)


@cache
def _body() -> re.Pattern[str]:
    """Lines of base64 read backwards, the last of them of any length; a letter of an escape goes too."""
    gap = r"""(?>(?:[\s"',\\|>]|[nrt](?=\\)|[+-](?=\s))*)"""
    return re.compile(rf"{gap}[A-Za-z0-9+/=]{{1,200}}+(?>(?:{gap}[A-Za-z0-9+/=]{{16,}}+)*)")


def replaced(text: str) -> str:
    """Return a text with marks in the place of tails of keys; a whole key is left to the table of secrets."""
    if "END" not in text or "PRIVATE KEY" not in text:
        return text
    pieces: list[str] = []
    taken = 0
    for end in _ends().finditer(text):
        before = text[taken : end.start()]
        pieces.append(text[taken : end.end()] if "-----BEGIN" in before else _without(before, end[0]))
        taken = end.end()
    return "".join((*pieces, text[taken:])) if pieces else text


def _without(before: str, end: str) -> str:
    found = _body().match(before[::-1])
    body = found[0][::-1] if found else ""
    if len(set(body) & _LETTERS) < _FEWEST or not _is_long(body):
        return before + end
    kept = before[: len(before) - len(body)]
    return f"{kept}{_MARK}"


def _is_long(body: str) -> bool:
    return bool(re.search("[A-Za-z0-9+/]{16}", body))


_LETTERS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
