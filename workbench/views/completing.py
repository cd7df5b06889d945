"""What `tab` writes in the filter of the library: keys, and the values that sessions have.

Pure. Owns which words are offered for what is half typed; what they mean is `views.query`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from workbench.domain.rows import Session
from workbench.records import dataclass
from workbench.text.safe import one_line

KEYS: Final = ("status:", "model:", "provider:", "in:", "tag:", "since:", "until:", "origin:", "is:", "tool:",
               "asked:")  # fmt: skip
_TIMES: Final = ("today", "yesterday", "7d", "30d", "90d")
_FIXED: Final[Mapping[str, Sequence[str]]] = {
    "since": _TIMES, "until": _TIMES, "is": ("live", "imported", "archived"),
    "asked": ("approved", "rejected", "expired", "cancelled", "pending"),
}  # fmt: skip
_VALUES: Final[Mapping[str, Callable[[Session], Iterable[str]]]] = {
    "status": lambda one: (one.status,),
    "model": lambda one: (one.model,),
    "provider": lambda one: (one.provider,),
    "in": lambda one: (one.workspace.rstrip("/").rpartition("/")[2],),
    "tag": lambda one: one.tags,
    "origin": lambda one: (one.origin or "workbench",),
    "kind": lambda one: (one.kind,),
}
_MOST: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What could stand where the cursor is."""

    begin: int
    """Where the half typed word begins."""
    words: tuple[str, ...] = ()

    def taken(self, text: str, cursor: int, which: int = 0) -> tuple[str, int]:
        """Return the text with one of the words in it, and where the cursor is then."""
        word = self.words[which % len(self.words)]
        end = "" if word.endswith(":") else " "
        head = f"{text[: self.begin]}{word}{end}"
        return head + text[cursor:].lstrip(), len(head)


def offer(text: str, cursor: int, sessions: Iterable[Session], tools: Iterable[str] = ()) -> Offer:
    """Return what completes the word before the cursor.

    Args:
        text: The filter as it stands.
        cursor: Characters before the cursor.
        sessions: Whose values are offered, the most frequent ones first.
        tools: Names of tools.
    """
    begin = text.rfind(" ", 0, cursor) + 1
    word = text[begin:cursor].casefold()
    key, colon, value = word.partition(":")
    if not colon:
        return Offer(begin=begin, words=tuple(one for one in KEYS if word and one.startswith(word)))
    values = _FIXED.get(key) or (tuple(tools) if key == "tool" else _common(key, sessions))
    found = [_quoted(one) for one in values if one.casefold().startswith(value.strip('"'))]
    return Offer(begin=begin, words=tuple(f"{key}:{one}" for one in found[:_MOST]))


def _common(key: str, sessions: Iterable[Session]) -> list[str]:
    values = _VALUES.get(key)
    if values is None:
        return []
    counts: dict[str, int] = {}
    for session in sessions:
        for value in values(session):
            if value:
                counts[value] = counts.get(value, 0) + 1
    return [one_line(value, 60) for value in sorted(counts, key=lambda one: (-counts[one], one))]


def _quoted(value: str) -> str:
    return f'"{value}"' if " " in value else value
