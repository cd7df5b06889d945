"""Words that mix letters of alphabets which look alike: `git` or `paypal.com` with a Cyrillic letter in it.

Pure. Owns which alphabets those are. A text in another language mixes none within a word, and signs of
physics and mathematics (ohm, delta, micro) are no such letters.
"""

import re
from functools import cache
from typing import Final
from urllib.parse import urlsplit

_LATIN: Final = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"
_ALIKE: Final = (
    "\u0400-\u052f\u0531-\u0587\u13a0-\u13fd\uff21-\uff3a\uff41-\uff5a"
    "\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
    "\u03b1\u03b9\u03ba\u03bd\u03bf\u03c1\u03c5\u03c7"
)
"""Cyrillic, Armenian, Cherokee, wide letters, and the Greek ones that are drawn like Latin ones."""


@cache
def _words() -> re.Pattern[str]:
    return re.compile(rf"[{_LATIN}][0-9_]{{0,8}}[{_ALIKE}]|[{_ALIKE}][0-9_]{{0,8}}[{_LATIN}]")


def has_mixed_scripts(text: str) -> bool:
    """Say whether a word of a text holds letters of Latin and of an alphabet that looks like it."""
    return not text.isascii() and bool(_words().search(text))


def is_mixed_host(address: str) -> bool:
    """Say whether the host of an address holds letters of both, in whichever of its parts."""
    if address.isascii():
        return False
    try:
        host = urlsplit(address).netloc
    except ValueError:
        return True
    letters = "".join(sign for sign in host if sign.isalpha())
    return has_mixed_scripts(letters)
