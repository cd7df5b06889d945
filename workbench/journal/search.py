"""Full-text search over titles, prompts, replies, commands and paths, and ids by their prefix.

The index is written in the transaction of its event and holds scrubbed text only. A row is numbered
`session number * 2^24 + sequence number`: one session is one range, newest last.
"""

# The search index is part of the journal. It is written in the transaction of its event, so it needs no
# cursor and no repair after a crash. It keeps no text of its own (a view of the events is its content), and
# a row's number is `session << 24 | sequence`, so that a session is one range and the newest place comes
# first without sorting.
#
# Letters within words are found by a list of the words. A trigram index over all text takes three times the
# text and the time of an import. The index finds beginnings (and, of compound words, beginnings of parts);
# from three letters on a query is also asked of `search_word`, every different word once, and the 64
# shortest that hold them join the question: 8 ms for 110,000 words, 0.6 MB of table for 10 MB of index.
# Quoted phrases and excluded ones mean whole words. Numbers, digests and words over 64 letters are found by
# their beginning only. The index has no hyphens: what it finds of a word such as `-la` is compared with the
# text. A word goes with the last event that holds it.

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Final, Literal

from msgspec import Struct

from workbench.domain.events import CallProposed, Event, FileChanged, PromptSubmitted, ReplyCompleted
from workbench.journal.database import (
    Database,
    add_search_words,
    rebuild_word_list,
    remove_search_words,
    with_word_parts,
    word_list_differences,
    words_containing,
)

SEARCHED_KINDS: Final = frozenset({
    "session.created", "session.changed", "prompt.submitted", "reply.completed", "call.proposed",
    "file.changed", "action.rejected",
})  # fmt: skip
"""What is searched; the view `search_text` of the schema says which words of each."""
_ADD_TEXT: Final = (
    "INSERT INTO search (rowid, words) SELECT number * 16777216 + ?2, ?3 FROM search_session"
    " WHERE session_id = ?1"
)
_ADD_FROM_VIEW: Final = (
    "INSERT INTO search (rowid, words) SELECT id, words FROM search_text"
    " WHERE session_id = ? AND sequence_number = ?"
)
_SELECT_TEXT: Final = "SELECT words FROM search_text WHERE session_id = ? AND sequence_number = ?"
MOST_HITS: Final = 25_000
"""Places that are counted while somebody types."""
_MOST_EVENT_CHARACTERS: Final = 65_536
"""Characters of one event that are searched; the view says the same."""
_SEQUENCE_BITS: Final = 24
_SEQUENCE_MASK: Final = (1 << _SEQUENCE_BITS) - 1


class SessionMatches(Struct, frozen=True, kw_only=True):
    """How often a session holds what was looked for."""

    session_id: str
    places: int
    newest: int


def index_event(database: Database, event: Event, cached_words: set[str]) -> None:
    """Add an event that was just stored; nothing for kinds that are not searched.

    `cached_words`: words that are in the index, see `add_search_words`.
    """
    if event.kind not in SEARCHED_KINDS:
        return
    words = _event_words(event)
    if words == "":
        return
    place = (event.session_id, event.sequence_number)
    text = None if words is None else with_word_parts(words[:_MOST_EVENT_CHARACTERS])
    statement, values = (_ADD_FROM_VIEW, place) if text is None else (_ADD_TEXT, (*place, text))
    database.execute(statement, values)
    if not database.changes():
        database.execute("INSERT OR IGNORE INTO search_session (session_id) VALUES (?)", place[:1])
        database.execute(statement, values)
    add_search_words(
        database, database.execute(_SELECT_TEXT, place).get or "" if text is None else text, cached_words
    )


def _event_words(event: Event) -> str | None:
    """Return what the view says of an event, without asking it; None where only the view knows.

    The view reads JSON again for every event. Integrity checks and tests hold both to the same words.
    """
    match event.body:
        case PromptSubmitted(text=text) | ReplyCompleted(text=text):
            words = text
        case FileChanged(path=path):
            words = path
        case CallProposed(target=target, parameters=parameters):
            arguments = (parameters.get("command"), parameters.get("path"))
            parts = [word for word in (target or None, *arguments) if word is not None]
            words = " ".join(parts) if all(isinstance(word, str) for word in parts) else None
        case _:
            return None
    # SQLite ends a text at a NUL.
    return None if event.raw is not None or words is None or "\0" in words else words


def remove_searched_events(database: Database, session_id: str, most: int, after: int = 0) -> int:
    """Delete at most so many searched events of a session behind a number, from the index and the events.

    Both go in one step: the index can only be told to forget a text while the text is there. Returns how many
    were deleted.
    """
    some = (
        "SELECT sequence_number FROM search_text WHERE session_id = ?1 AND sequence_number > ?3"
        " ORDER BY sequence_number LIMIT ?2"
    )
    numbers = [row[0] for row in database.execute(some, (session_id, most, after))]
    texts = [database.execute(_SELECT_TEXT, (session_id, number)).get or "" for number in numbers]
    for number, text in zip(numbers, texts, strict=True):
        if text:  # an event without words never was in the index, and taking it out would spoil its count
            _forget_text(database, (session_id, number))
        database.execute(
            "DELETE FROM event WHERE session_id = ? AND sequence_number = ?", (session_id, number)
        )
    remove_search_words(database, texts)
    return len(numbers)


def _forget_text(database: Database, place: tuple[str, int]) -> None:
    """Take one text out of the index.

    The index counts its rows, and a count that fell behind ends a delete long before the rows do. Made anew
    from the events, which still hold the text, it counts right.
    """
    import apsw

    statement = (
        "INSERT INTO search (search, rowid, words) SELECT 'delete', id, words FROM search_text"
        " WHERE session_id = ? AND sequence_number = ?"
    )
    try:
        database.execute(statement, place)
    except apsw.CorruptError:
        database.execute("INSERT INTO search (search) VALUES ('rebuild')")
        database.execute(statement, place)


def forget_search_session(database: Database, session_id: str) -> None:
    """Give up the number of a session that has no event left; it is never used again."""
    database.execute("DELETE FROM search_session WHERE session_id = ?", (session_id,))


def rebuild_search_index(database: Database) -> None:
    database.execute(
        "INSERT OR IGNORE INTO search_session (session_id)"
        " SELECT session_id FROM event GROUP BY session_id ORDER BY min(position)"
    )
    database.execute("INSERT INTO search (search) VALUES ('rebuild')")
    rebuild_word_list(database)


def word_finder(database: Database) -> Callable[[str, bool], Sequence[str]]:
    """Return a function that says which words of the index hold some letters, or end with them."""
    return lambda letters, is_end: words_containing(database, letters, is_end=is_end)


def hits_by_session(
    database: Database, match: str, most: int = -1, options: Sequence[str] = ()
) -> dict[str, int]:
    """Return in how many places each session holds what an expression asks for, see `matching_sessions`."""
    found = matching_sessions(database, match, most, options)
    return {matches.session_id: matches.places for matches in found}


def matching_sessions(
    database: Database, match: str, most: int = -1, options: Sequence[str] = ()
) -> list[SessionMatches]:
    """Return the sessions that hold what an expression asks for, in no order.

    `match`: an FTS5 expression, as the views make it. `most`: only the newest so many places are
    counted, of the sessions that came last: a word that is everywhere narrows nothing, and nobody waits for
    it while typing. -1 counts all. `options`: words such as `-la`, each of which a place has to hold.
    """
    counted = (
        f"SELECT rowid >> {_SEQUENCE_BITS} AS number, count(*) AS places,"  # noqa: S608
        f" max(rowid) & {_SEQUENCE_MASK} AS newest FROM ({_hits(options)}) GROUP BY number"
    )
    joined = f"SELECT session_id, places, newest FROM ({counted}) JOIN search_session USING (number)"  # noqa: S608
    return [
        SessionMatches(session_id=row[0], places=row[1], newest=row[2])
        for row in database.execute(joined, (match, *options, most))
    ]


def _hits(options: Sequence[str]) -> str:
    """Return the SQL of the newest places; its values are the expression, the options and how many."""
    return (
        f"SELECT rowid FROM search WHERE search MATCH ?{_holds_options(options)}"  # noqa: S608
        " ORDER BY rowid DESC LIMIT ?"
    )


def _holds_options(options: Sequence[str]) -> str:
    return " AND instr(lower(words), lower(?))" * len(options)


def newest_matches(
    database: Database, match: str, most: int, options: Sequence[str] = ()
) -> list[tuple[str, int]]:
    """Return the newest places that hold what an expression asks for, in all sessions: session and number."""
    joined = (
        f"SELECT session_id, place & {_SEQUENCE_MASK} FROM (SELECT rowid AS place FROM ({_hits(options)}))"  # noqa: S608
        f" JOIN search_session ON number = place >> {_SEQUENCE_BITS} ORDER BY place DESC"
    )
    return [(row[0], row[1]) for row in database.execute(joined, (match, *options, most))]


def matches_in_session(
    database: Database, match: str, session_id: str, most: int, options: Sequence[str] = ()
) -> list[int]:
    """Return the sequence numbers of the newest events of a session that hold it, newest first."""
    number = database.execute("SELECT number FROM search_session WHERE session_id = ?", (session_id,)).get
    if number is None:
        return []
    first = number << _SEQUENCE_BITS
    rows = database.execute(
        f"SELECT rowid & {_SEQUENCE_MASK} FROM search WHERE search MATCH ? AND rowid BETWEEN ? AND ?"  # noqa: S608
        f"{_holds_options(options)} ORDER BY rowid DESC LIMIT ?",
        (match, first, first + _SEQUENCE_MASK, *options, most),
    )
    return [row[0] for row in rows]


def search_index_differences(database: Database) -> Sequence[str]:
    """Compare the index with the events; an empty list is the proof that they agree. Writes nothing."""
    import apsw

    try:
        database.execute("INSERT INTO search (search, rank) VALUES ('integrity-check', 1)")
    except apsw.CorruptError:
        return ["the search index does not hold what the events say"]
    return word_list_differences(database)


IdTable = Literal["session", "action", "call"]
"""Tables whose ids people type."""
SHORTEST_ID: Final = 8
"""Characters of an id that are shown where they name it alone."""


def ids_with_prefix(database: Database, table: IdTable, prefix: str, most: int) -> list[str]:
    """Return the ids of a table that begin so, at most so many, in their own order."""
    statement = f"SELECT id FROM {table} WHERE id >= ? ORDER BY id LIMIT ?"  # noqa: S608 ours
    ids = (row[0] for row in database.execute(statement, (prefix, most)))
    # Those that begin so stand together, from the first that is not before them.
    return list(takewhile(lambda key: key.startswith(prefix), ids))


def unique_id_prefix(database: Database, table: IdTable, key: str) -> str:
    """Return the shortest beginning, from `SHORTEST_ID` on, of an id that no other id of its table has."""
    before = database.execute(f"SELECT max(id) FROM {table} WHERE id < ?", (key,)).get  # noqa: S608 ours
    behind = database.execute(f"SELECT min(id) FROM {table} WHERE id > ?", (key,)).get  # noqa: S608 ours
    shared = max(_shared_length(key, str(other or "")) for other in (before, behind))
    return key[: max(SHORTEST_ID, shared + 1)]


def _shared_length(left: str, right: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False)))
