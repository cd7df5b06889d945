"""The bytes of a file before an edit that an agent has made, from the bytes after it; never a guess."""

from typing import Final

_MOST_PLACES: Final = 200
"""Places that are tried; where there are more, the bytes before count as unknown."""


def bytes_before_edit(after: bytes, old: bytes, new: bytes, *, is_everywhere: bool) -> bytes | None:
    """Return the only bytes in which replacing `old` by `new` leaves `after`; None where others do as well.

    `is_everywhere`: the edit replaced every occurrence of `old`, which otherwise has to be the only one.
    """
    if not new or not old:
        return None
    places = _places(after, new)
    if len(places) > (1 if is_everywhere else _MOST_PLACES):
        return None
    made = {after[:place] + old + after[place + len(new) :] for place in places}
    before = [data for data in made if data.replace(old, new) == after]
    return before[0] if len(before) == 1 else None


def _places(data: bytes, part: bytes) -> list[int]:
    """Return where a part begins in some bytes, also where two of them overlap."""
    places: list[int] = []
    start = data.find(part)
    while start >= 0 and len(places) <= _MOST_PLACES:
        places.append(start)
        start = data.find(part, start + 1)
    return places
