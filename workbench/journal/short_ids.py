"""Beginnings of ids: what one names, and how much of an id names it alone.

Owns the two questions to the index of ids, which cost the same in any journal. It decides nothing about what
several ids with one beginning mean.
"""

from itertools import takewhile
from typing import Final, Literal

from workbench.journal.sql import Database

Named = Literal["session", "action", "call"]
"""Tables whose ids people type."""

SHORT: Final = 8
"""Characters of an id that are shown where they name it alone."""


def beginning_with(database: Database, table: Named, prefix: str, most: int) -> list[str]:
    """Return the ids of a table that begin so, at most so many, in their own order."""
    asked = f"SELECT id FROM {table} WHERE id >= ? ORDER BY id LIMIT ?"  # noqa: S608 ours
    found = (row[0] for row in database.execute(asked, (prefix, most)))
    # Those that begin so stand together, from the first that is not before them.
    return list(takewhile(lambda key: key.startswith(prefix), found))


def shortened(database: Database, table: Named, key: str) -> str:
    """Return the shortest beginning of an id that no other id of its table has, at least `SHORT` long."""
    before = database.execute(f"SELECT max(id) FROM {table} WHERE id < ?", (key,)).get  # noqa: S608 ours
    behind = database.execute(f"SELECT min(id) FROM {table} WHERE id > ?", (key,)).get  # noqa: S608 ours
    shared = max(_shared(key, str(other or "")) for other in (before, behind))
    return key[: max(SHORT, shared + 1)]


def _shared(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
