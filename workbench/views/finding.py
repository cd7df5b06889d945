"""Places of a conversation that hold some words: which events, and which blocks show them.

Owns what of an event counts as its words and which hit is meant by the next one. It reads single events, so a
search costs no fold and no memory but that of its hits. Pure.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from workbench.domain import events as e
from workbench.domain.events import Event
from workbench.domain.values import Json
from workbench.records import dataclass

LONGEST: Final = 200
"""Characters of what can be looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A block that holds the words."""

    number: int
    """The sequence number of its event."""
    at: int
    """When, in microseconds."""
    block_id: str
    """As `views.transcript` names it."""


def hits_of(event: Event, wanted: str) -> list[Hit]:
    """Return the blocks of one event that hold some words, whatever their case.

    Args:
        event: any event; those that show nothing hold nothing.
        wanted: not empty.
    """
    folded = wanted.casefold()
    return [
        Hit(number=event.sequence_number, at=event.at, block_id=block_id)
        for block_id, text in _spoken(event)
        if folded in text.casefold()
    ]


def _spoken(event: Event) -> Iterator[tuple[str, str]]:
    """Yield what is to be read of an event, with the block that shows it."""
    match event.body:
        case e.PromptSubmitted(text=text):
            yield f"prompt:{event.id}", text
        case e.ReplyCompleted():
            yield from _reply(event, event.body)
        case e.CallProposed(tool=tool, target=target):
            yield f"call:{event.call_id}", f"{tool} {target}"
        case e.CallFinished(preview=preview):
            yield f"output:{event.call_id}", preview
        case e.ActionRejected(reason=reason) | e.ActionApproved(reason=reason):
            yield f"call:{event.call_id}", reason or ""
        case e.ErrorRaised(message=message, details=details, remedy=remedy):
            yield f"error:{event.id}", f"{message}\n{details}\n{remedy}"
        case e.MarkAdded(label=label):
            yield f"notice:{event.id}", label
        case _:
            pass


def _reply(event: Event, body: e.ReplyCompleted) -> Iterator[tuple[str, str]]:
    key = f"{event.turn_id}:{body.round}"
    yield f"thought:{key}", body.thinking
    yield f"text:{key}", body.text
    for call in body.calls:
        yield f"call:{call.call_id}", f"{call.tool} {_first_text(call.arguments.values())}"


def _first_text(values: Iterable[Json]) -> str:
    return next((value for value in values if isinstance(value, str)), "")


class Finding:
    """The hits of one search, as far as they are known, and the one the reader is at."""

    def __init__(self, text: str = "", place: int = 0) -> None:
        """Begin a search.

        Args:
            text: what is looked for; empty finds nothing.
            place: when the last thing was said that the reader had on the screen, in microseconds.
        """
        self.text = text[:LONGEST]
        self.is_whole = False
        """Whether every event was looked at."""
        self.current: Hit | None = None
        self.place = place
        self._by_block: dict[str, Hit] = {}
        self._hits: list[Hit] = []
        self._order: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._hits)

    def add(self, hits: Iterable[Hit], *, is_whole: bool = False) -> None:
        """Take hits in; a block counts once, by its earliest event."""
        self.is_whole = self.is_whole or is_whole
        for hit in hits:
            known = self._by_block.get(hit.block_id)
            if known is None or hit.number < known.number:
                self._by_block[hit.block_id] = hit
        self._hits = sorted(self._by_block.values(), key=lambda hit: hit.number)
        self._order = {hit.block_id: at for at, hit in enumerate(self._hits)}

    def first(self) -> Hit | None:
        """Return where to begin: the last hit at or above the reader's place, else the first below.

        None while that is not known yet.
        """
        above = [hit for hit in self._hits if hit.at <= self.place]
        if above:
            return above[-1]
        return self._hits[0] if self._hits and self.is_whole else None

    def next(self, step: int) -> Hit | None:
        """Return the next (1) or previous (-1) hit; None at the end."""
        if self.current is None:
            return self.first()
        at = self._order[self.current.block_id] + step
        return self._hits[at] if 0 <= at < len(self._hits) else None

    @property
    def number(self) -> int:
        """Return which hit the reader is at, from 1; 0 for none."""
        return 0 if self.current is None else self._order[self.current.block_id] + 1

    @property
    def words(self) -> str:
        """Return how many there are: `3 of 17`, with a plus while more may come."""
        if not self._hits:
            return "nothing" if self.is_whole else "looking"
        total = f"{len(self._hits):,}{'' if self.is_whole else '+'}"
        return f"{self.number:,} of {total}" if self.current else total
