"""Every word that is in the search index, once: for letters in the middle of a word.

Owns the table `search_word`. The index itself finds words by how they begin; a question for letters within
words is asked of this list first, and the words that hold them are what the index is asked for. It holds no
word of an event that was deleted.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from workbench.journal.sql import Database

MOST_FOUND: Final = 64
"""Words that one question stands for, the shortest first."""

MOST_KNOWN: Final = 50_000
"""Words that are remembered to be there, so that they are not stored again."""

_WORD: Final = re.compile(r"[^\W_]{4,}")
_LONGEST: Final = 64
_MOST_DIGITS: Final = 3
"""With more, it is a number, a digest or an id: found by its beginning only."""


def learn(database: Database, text: str, known: set[str]) -> None:
    """Add the words of a text that was just indexed.

    Args:
        database: In a transaction of the writer.
        text: As the index has it.
        known: Words that are there; those of the text are added.
    """
    fresh = set(_WORD.findall(text.lower())) - known
    if not fresh:
        return
    kept = sorted(word for word in fresh if _is_word(word))
    for word in kept:
        database.execute("INSERT OR IGNORE INTO search_word (word) VALUES (?)", (word,))
    if len(known) > MOST_KNOWN:
        known.clear()
    known.update(kept)


def unlearn(database: Database, texts: Iterable[str]) -> None:
    """Remove the words of texts that the index has just forgotten, but those that another text holds."""
    for word in sorted(words_of(texts)):
        if not _is_indexed(database, word):
            database.execute("DELETE FROM search_word WHERE word = ?", (word,))


def words_of(texts: Iterable[str]) -> set[str]:
    """Return the words of texts that are kept."""
    return {word for text in texts for word in _WORD.findall(text.lower()) if _is_word(word)}


def holding(database: Database, letters: str, *, is_end: bool = False) -> Sequence[str]:
    """Return words that hold some letters behind their first, the shortest first.

    Args:
        database: A connection of a reader.
        letters: Letters and digits only.
        is_end: Only words that end with them.
    """
    where = "substr(word, -length(?1)) = ?1" if is_end else "instr(word, ?1) > 1"
    found = database.execute(
        f"SELECT word FROM search_word WHERE {where} ORDER BY length(word), word LIMIT ?2",  # noqa: S608 ours
        (letters.lower(), MOST_FOUND),
    )
    return [row[0] for row in found]


def rebuild(database: Database) -> None:
    """Make the list anew from what is indexed."""
    database.execute("DELETE FROM search_word")
    known: set[str] = set()
    for (text,) in database.execute("SELECT words FROM search_text").fetchall():
        learn(database, text, known)


def differences(database: Database) -> list[str]:
    """Compare the list with what is indexed; an empty list is the proof that they agree."""
    said = words_of(row[0] for row in database.execute("SELECT words FROM search_text"))
    kept = {row[0] for row in database.execute("SELECT word FROM search_word")}
    wrong: list[str] = []
    if kept - said:
        wrong.append(f"{len(kept - said)} words of the search are in no event")
    # A mark within a word, which the index passes over, makes words here that it does not know.
    if missing := sum(_is_indexed(database, word) for word in said - kept):
        wrong.append(f"{missing} words of events are not among those of the search")
    return wrong


def _is_word(word: str) -> bool:
    return len(word) <= _LONGEST and (word.isalpha() or sum(map(str.isdigit, word)) <= _MOST_DIGITS)


def _is_indexed(database: Database, word: str) -> bool:
    found = database.execute("SELECT 1 FROM search WHERE search MATCH ? LIMIT 1", (f'"{word}"',))
    return found.fetchone() is not None
