"""The ids of a list together with the line of each: made where the list is found, which may be a thread.

Owns what a caption is. It draws nothing; ten thousand rows are indexed without the screen waiting for it.
"""

from collections.abc import Iterable
from typing import Final, Self

from workbench.records import dataclass


@dataclass(frozen=True, slots=True)
class Indexed:
    """Rows in order. Ids that start with `-` are captions."""

    ids: tuple[str, ...]
    lines: dict[str, int]
    captions: list[int]

    @classmethod
    def of(cls, ids: Iterable[str]) -> Self:
        """Index rows."""
        found = tuple(ids)
        lines = {key: line for line, key in enumerate(found)}
        return cls(found, lines, [line for line, key in enumerate(found) if key.startswith("-")])


NO_ROWS: Final = Indexed((), {}, [])
