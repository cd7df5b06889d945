"""What a text hides, in a sentence: which characters, how they are shown, what a terminal would print.

Pure. It names characters by their marks in safe text, so it says exactly what the screen shows.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import Final

from workbench.text.safe import one_line, safe
from workbench.text.shown import has_crlf

_MARK: Final = re.compile("⟨U\\+([0-9A-F]{4,6})⟩")
_OVERRIDE: Final = "\u202e"
_OVERRIDDEN: Final = re.compile(f"([\\w.-]*){_OVERRIDE}([^\\s\"'\u202c]+)")
_MOST: Final = 3


def hidden_sentence(texts: Iterable[str]) -> str:
    """Return what texts hide; without any such character, that they hide something."""
    # What only ends all of its lines alike hides nothing by that.
    text = "\n".join(one.replace("\r\n", "\n") if has_crlf(one) else one for one in texts)
    counts = Counter(_MARK.findall(safe(text)))
    if not counts:
        return "It holds characters that cannot be seen. They are shown as ⟨U+…⟩."
    named = [f"{count} {_name(code)}" for code, count in counts.most_common(_MOST)]
    more = len(counts) - _MOST
    marks = ", ".join(f"⟨U+{code}⟩" for code, _ in counts.most_common(_MOST))
    named += [f"{more} other kinds"] if more > 0 else []
    return f"{', '.join(named)}. Shown as {marks}{_printed(text)}."


def _name(code: str) -> str:
    return unicodedata.name(chr(int(code, 16)), f"control character {code}").lower()


def _printed(text: str) -> str:
    """Return what a terminal makes of the first word that turns the direction around."""
    found = _OVERRIDDEN.search(text)
    if found is None:
        return ""
    return f"; without that a terminal prints “{one_line(found[1] + found[2][::-1], 60)}”"
