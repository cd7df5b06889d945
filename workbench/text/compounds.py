"""The words within a word of code: `HTTPErrorHandler` is found by `error` and by `ErrorHandler`, too.

Pure. Owns where such a word is taken apart. Its output for a text must never change: the search index was
built with it, and is taken apart again with it.
"""

import re
from typing import Final

_WORD: Final = re.compile(r"[A-Za-z0-9]{3,80}")
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_MOST_PARTS: Final = 12


def with_parts(text: str) -> str:
    """Return a text followed by the ends of its compound words, each from where a part begins.

    Ends and not parts, so that the beginning of any run of parts is the beginning of a word of the index.
    """
    ends: dict[str, None] = {}
    for word in dict.fromkeys(_WORD.findall(text)):
        if not word[1:].islower() and not word.isupper() and not word.isdigit():
            ends.update(dict.fromkeys(_ends(word)))
    return f"{text} {' '.join(ends)}" if ends else text


def _ends(word: str) -> list[str]:
    starts = [found.start() for found in _PART.finditer(word)][1:_MOST_PARTS]
    return [word[at:] for at in starts if len(word) - at > 1]
