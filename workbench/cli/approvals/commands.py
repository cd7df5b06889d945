"""What may be typed in line mode, taken apart; UX section 9.

Pure. Owns the words and letters of line mode. It never says what a number stands for.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Verb = Literal["approve", "reject", "show", "hunks", "extend", "skip", "list", "help", "quit"]

_VERBS: Mapping[str, Verb] = {
    "a": "approve", "approve": "approve", "r": "reject", "reject": "reject", "s": "show", "show": "show",
    "h": "hunks", "hunks": "hunks", "x": "extend", "extend": "extend", "k": "skip", "skip": "skip",
    "l": "list", "list": "list", "?": "help", "help": "help", "q": "quit", "quit": "quit",
}  # fmt: skip

_ALONE = frozenset({"list", "help", "quit"})

PROMPT = "approve, reject, show, hunks, skip, help?"

HELP = """a 1             approve 1 as it was said
a 1 1,3         approve hunks 1 and 3 of it; 1:2-4 is lines 2 to 4 of hunk 1
a 1 KEY         answer a question, a gate or the trust question with one of its choices, or with words
r 1 too wide    reject 1, the agent reads the reason
s 1             show 1: the diff or the command, and its risks
h 1             the hunks of 1, one line each
x 1             extend: give 1 another window, it gets a new number
k 1             skip 1: it goes on waiting and is not said again
l               list what waits
q               leave; what waits goes on waiting"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """A line that was understood."""

    verb: Verb
    number: int = 0
    rest: str = ""


def understood(line: str) -> Typed | str:
    """Return what a line asks for, or the sentence that says why it asks for nothing."""
    word, _, after = line.strip().partition(" ")
    verb = _VERBS.get(word.lower())
    if verb is None:
        return f"“{word[:40]}” is nothing that can be done here. ? shows what can."
    if verb in _ALONE:
        return Typed(verb=verb)
    number, _, rest = after.strip().partition(" ")
    if not (number.isascii() and number.isdigit() and len(number) <= 6):
        return f"{verb.capitalize()} which one? Say its number, for example {word} 1."
    return Typed(verb=verb, number=int(number), rest=rest.strip())
