"""The known name that a misspelled one most resembles, for the hints of messages."""

from collections.abc import Iterable
from typing import Final

_MOST_COMPARED: Final = 120
"""Characters of a misspelled name that are compared: the time grows with their square."""


def nearest_name(name: str, names: Iterable[str], likeness: float = 0.6) -> str:
    """Return the known name that is most like a misspelled one; empty where none is like it."""
    return next(iter(nearest_names(name, names, 1, likeness)), "")


def nearest_names(name: str, names: Iterable[str], most: int, likeness: float = 0.6) -> list[str]:
    """Return at most `most` known names that are like a misspelled one, the nearest first."""
    from difflib import get_close_matches

    return get_close_matches(name[:_MOST_COMPARED], list(names), most, likeness)
