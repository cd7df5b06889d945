"""Names of steps cut to the cells that they have, and kept different from each other."""

from collections.abc import Sequence

from workbench.text.width import cell_width, cut_to_width


def shorten_names(names: Sequence[str], rooms: Sequence[int], *, is_ascii: bool = False) -> list[str]:
    """Shorten names, each to its room, so that different ones look different wherever that can be."""
    shortened = [shorten_name(name, room, is_ascii=is_ascii) for name, room in zip(names, rooms, strict=True)]
    for ways in range(_MOST_CUTS):
        alike = _lookalikes(names, shortened)
        if not alike:
            return shortened
        for index in alike:
            shortened[index] = _other_cut(names[index], rooms[index], ways, is_ascii=is_ascii)
    for number, index in enumerate(_lookalikes(names, shortened), 1):
        mark = f"~{number}"[: rooms[index]]
        shortened[index] = (
            shorten_name(names[index], max(0, rooms[index] - len(mark)), is_ascii=is_ascii) + mark
        )
    return shortened


_MOST_CUTS = 40
"""Other places to cut names at that are tried before they are numbered."""


def _lookalikes(names: Sequence[str], shortened: Sequence[str]) -> list[int]:
    full: dict[str, set[str]] = {}
    for name, short in zip(names, shortened, strict=True):
        full.setdefault(short, set()).add(name)
    return [index for index, short in enumerate(shortened) if len(full[short]) > 1]


def _other_cut(name: str, room: int, way: int, *, is_ascii: bool) -> str:
    """Cut a name another way: first keep more of its end, then show parts from farther inside."""
    dots = ".." if is_ascii else "…"
    kept = max(0, room - len(dots))
    tail = kept // 2 + 1 + way
    if tail <= kept:
        return shorten_name(name, room, tail=tail, is_ascii=is_ascii)
    start = 1 + (tail - kept) * max(1, kept - len(dots))
    return (
        dots + cut_to_width(name[start:], kept).removesuffix("…")
        if start < len(name)
        else cut_to_width(name, room)
    )


def shorten_name(name: str, room: int, *, tail: int | None = None, is_ascii: bool = False) -> str:
    """Shorten a name in its middle: names of steps differ at their ends."""
    if cell_width(name) <= room:
        return name
    dots = ".." if is_ascii else "…"
    kept = max(0, room - len(dots))
    end = _text_tail(name, kept // 2 if tail is None else tail)
    head = cut_to_width(name, kept - cell_width(end) + 1).removesuffix("…")
    return cut_to_width(head + dots + end, room)


def _text_tail(text: str, room: int) -> str:
    start = len(text)
    while start and cell_width(text[start - 1 :]) <= room:
        start -= 1
    while start < len(text) and not cell_width(text[start]):
        start += 1  # a combining mark must not lose its letter
    return text[start:]
