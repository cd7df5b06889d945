"""What the composer offers while a word is typed: `/commands` at its start, `@files` anywhere.

Owns which word is being completed and which candidates match, best first. Pure: it is handed the candidates.
"""

import re
from collections.abc import Iterable, Sequence
from heapq import nsmallest
from typing import Final, Literal

from workbench.records import dataclass

LIMIT: Final = 8
"""Candidates shown."""

COMMANDS: Final = (
    ("/continue", "go on after a pause"),
    ("/end", "end this session for good"),
    ("/help", "keys and signs"),
    ("/new", "another session"),
    ("/messages", "everything this screen said"),
    ("/restart", "end the host, start another"),
    ("/stop", "stop the agent"),
)
"""Command and what it does; the screen carries them out."""

_FILE = re.compile(r"(?:^|(?<=\s))@(\S*)\Z")
_COMMAND = re.compile(r"\A/(\w*)\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """The word that is being typed."""

    kind: Literal["file", "command"]
    query: str
    """Without its `@` or `/`."""
    start: int
    """Where it begins in the text before the cursor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Candidates for one word."""

    word: Word
    candidates: tuple[tuple[str, str], ...]
    """What is put in its place, and what is said of it."""
    total: int = 0
    """Of how many there are."""


def word_at(before: str, *, is_first_line: bool) -> Word | None:
    """Return the word that a completion would replace.

    Args:
        before: the line up to the cursor.
        is_first_line: commands stand at the very beginning only.
    """
    if found := _FILE.search(before):
        return Word(kind="file", query=found.group(1), start=found.start())
    if is_first_line and (found := _COMMAND.match(before)):
        return Word(kind="command", query=found.group(1), start=0)
    return None


def offer(word: Word, files: Sequence[str]) -> Offer:
    """Return what can stand for a word."""
    if word.kind == "command":
        found = tuple(row for row in COMMANDS if row[0].startswith(f"/{word.query}"))
        return Offer(word=word, candidates=found, total=len(COMMANDS))
    names = best(files, word.query)
    return Offer(word=word, candidates=tuple((name, "") for name in names), total=len(files))


def best(files: Iterable[str], query: str) -> list[str]:
    """Return the files that match, best first: the name begins so, holds it, the path holds it.

    Only when none does: paths that hold the letters in this order.
    """
    wanted = query.lower()
    files = tuple(files)
    ranked = ((rank, len(name), name) for name in files if (rank := _rank(name.lower(), wanted)) is not None)
    found = [name for _, _, name in nsmallest(LIMIT, ranked)]
    if found:
        return found
    scattered = ((len(name), name) for name in files if _has_in_order(name.lower(), wanted))
    return [name for _, name in nsmallest(LIMIT, scattered)]


def _rank(name: str, query: str) -> int | None:
    if query not in name:
        return None
    base = name.rpartition("/")[2]
    if base.startswith(query):
        return 0
    return 1 if query in base else 2


def _has_in_order(name: str, query: str) -> bool:
    at = -1
    for character in query:
        at = name.find(character, at + 1)
        if at < 0:
            return False
    return True


def command_of(text: str) -> tuple[str, str] | None:
    """Return the command that a message is, with what follows it; None for words to the agent."""
    name, _, rest = text.strip().partition(" ")
    known = {command for command, _ in COMMANDS}
    return (name[1:], rest.strip()) if name in known else None


class History:
    """What was said before, and the draft that was left for it."""

    def __init__(self, entries: Sequence[str] = ()) -> None:
        self._entries = [*entries]
        self._at: int | None = None
        self._draft = ""

    def add(self, text: str) -> None:
        """Remember what was sent; the same words twice in a row count once."""
        if text and self._entries[-1:] != [text]:
            self._entries.append(text)
        self._at = None

    def earlier(self, current: str) -> str | None:
        """Return what was said before; None at the beginning."""
        if self._at is None:
            self._draft = current
        at = len(self._entries) if self._at is None else self._at
        if at == 0:
            return None
        self._at = at - 1
        return self._entries[self._at]

    def later(self) -> str | None:
        """Return what was said after, at last the draft; None when nothing was looked up."""
        if self._at is None:
            return None
        if self._at + 1 < len(self._entries):
            self._at += 1
            return self._entries[self._at]
        self._at = None
        return self._draft
