"""One row of the palette, and which rows the typed words mean. Pure."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing that can be done."""

    id: str
    words: str
    place: str
    keys: str
    do: Callable[[], None]
    why_off: str = ""
    """Why it would do nothing now; doing it says so."""


def ranked(entries: Iterable[Entry], wanted: str) -> list[Entry]:
    """Return the entries that hold every typed word: what begins with them first, what is off last."""
    text = wanted.casefold().strip()

    def rank(entry: Entry) -> int:
        words = entry.words.casefold()
        place = 0 if words.startswith(text) else 1 if f" {text}" in words else 2
        return place + 3 * bool(entry.why_off)

    return sorted((one for one in entries if matches(f"{one.words} {one.place}", text)), key=rank)


def matches(words: str, wanted: str) -> bool:
    """Return whether words hold every typed word, whatever the case."""
    text = words.casefold()
    return all(word in text for word in wanted.casefold().split())


def doing(do: Callable[[str], object], argument: str) -> Callable[[], None]:
    """Return how something is done with an argument."""

    def done() -> None:
        do(argument)

    return done
