"""The places of a session where something was found: who said it, and the words around it.

Pure. Owns which text of an event is searched and shown (the same as the index has), and the cut around a hit.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from workbench.domain import events as e
from workbench.domain.events import Event
from workbench.text.safe import safe
from workbench.views.query import Term, words_of

_PART: Final = (
    r"(?-i:(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z]))"
)
AROUND: Final = 30
"""Characters before a hit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One event that holds what was looked for."""

    sequence_number: int
    at: int
    who: str
    """`you`, `agent`, `call`, `file`, `title`."""
    text: str
    """One safe line around the first hit."""
    hits: tuple[tuple[int, int], ...] = ()
    """Where the words are in `text`: first character, and the one behind the last."""


def place(event: Event, terms: Sequence[Term], length: int = 160) -> Place:
    """Return where in an event the terms are.

    Args:
        event: Of a kind that is searched.
        terms: What was looked for.
        length: Characters of the line.
    """
    who, text = spoken(event)
    pattern = _pattern(terms, text)
    found = pattern.search(text) if pattern else None
    first = max(0, found.start() - AROUND) if found else 0
    cut = " ".join(text[first : first + length].split())
    line = safe(
        ("…" if first else "") + cut + ("…" if first + length < len(text) else ""), keep_newlines=False
    )
    return Place(
        sequence_number=event.sequence_number, at=event.at, who=who, text=line, hits=hits(line, terms)
    )  # fmt: skip


def hits(line: str, terms: Sequence[Term]) -> tuple[tuple[int, int], ...]:
    """Return where in a line the terms are: first character, and the one behind the last."""
    pattern = _pattern(terms, line)
    return tuple(one.span() for one in pattern.finditer(line)) if pattern else ()


def spoken(event: Event) -> tuple[str, str]:
    """Return who says an event, and its text as the index has it."""
    match event.body:
        case e.PromptSubmitted(text=text):
            return "you", text
        case e.ReplyCompleted(text=text):
            return "agent", text
        case e.CallProposed() as body:
            named = (body.parameters.get(key) for key in ("command", "path"))
            words = (body.target, *(word for word in named if isinstance(word, str) and word != body.target))
            return "call", " ".join(word for word in words if word)
        case e.FileChanged(path=path):
            return "file", path
        case e.ActionRejected(reason=reason):
            return "you", reason or ""
        case e.SessionCreated(title=title):
            return "title", title
        case e.SessionChanged(title=title, tags=tags):
            return "title", " ".join((title or "", *(tags or ()))).strip()
        case _:
            return "", ""


def _pattern(terms: Sequence[Term], text: str) -> re.Pattern[str] | None:
    wanted = "|".join(_found_in(text, term) for term in terms if not term.is_excluded)
    return re.compile(wanted, re.IGNORECASE) if wanted else None


def _found_in(text: str, term: Term) -> str:
    """Return a term as a pattern: its words may be apart by anything that is no letter or digit.

    A word begins behind what is none, and where a part of a compound word does (`text.compounds`); within
    a word only where the text has it nowhere else.
    """
    words = r"[\W_]+".join(re.escape(word) for word in words_of(term.text))
    begun = rf"(?:(?<![^\W_])|{_PART}){words}"
    return begun if term.is_phrase or re.search(begun, text, re.IGNORECASE) else words
