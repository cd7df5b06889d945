"""The one way in: how an event is made ready, checked and stored inside a transaction.

Owns that the same id is stored once, that times never run backwards, and that what an event refers to is
there. It opens no transaction itself.
"""

import functools
from collections.abc import Sequence
from typing import Final, Protocol

from workbench.domain.codec import MalformedEventError, actor_json, blob_refs, body_json, validate
from workbench.domain.events import Body, CallFinished, Event, FileChanged, SessionStatusChanged, TurnEnded
from workbench.journal.checks import require_legal, require_not_deleted
from workbench.journal.errors import BlobMissing, EventConflict
from workbench.journal.live import LiveTables
from workbench.records import dataclass, replace

OUTCOMES: Final[tuple[type[Body], ...]] = (CallFinished, FileChanged, SessionStatusChanged, TurnEnded)
"""What must still be written when the disk is full: what was done, and that it stopped."""


class Guard(Protocol):
    """What a producer relies on, checked in the transaction of its append."""

    @property
    def is_validating(self) -> bool:
        """Whether what is appended under it is validated field by field first."""
        ...

    def check(self, live: LiveTables) -> None:
        """Raise `GuardFailed` unless it holds."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """An event with its stored text, made in the producer's thread to keep the writer's short."""

    event: Event
    actor: str
    body: str


def prepare(event: Event, *, is_validated: bool = False) -> Prepared:
    """Make an event ready to be stored.

    Raises:
        MalformedEventError: It cannot be stored as JSON text, or a field has a wrong type or value.
    """
    if is_validated:
        validate(event)
    try:
        body = body_json(event)
        body.encode()
    except (ValueError, TypeError) as error:
        raise MalformedEventError(f"{event.kind}: body cannot be stored: {error}") from None
    return Prepared(event=event, actor=_actor(event.actor), body=body)


_actor = functools.lru_cache(maxsize=256)(actor_json)


def enter(prepared: Prepared, live: LiveTables, *, strict: bool, is_new: bool = False) -> Event:
    """Store an event with the rows that it changes, and return it as stored.

    Args:
        prepared: From `prepare`.
        live: The tables in this transaction.
        strict: False for imports, which may make any move and name bytes that are not here.
        is_new: The caller knows that no event has this id.

    Raises:
        EventConflict: Its id is taken by another event.
        BlobMissing: It names bytes that are not stored.
        GuardFailed, IllegalMoveError: See `checks`.
    """
    if not is_new and (known := live.stored(prepared.event.id)):
        _require_same(prepared, known)
        return known
    event = _timed(prepared.event, live, strict=strict)
    if strict:
        require_legal(event, live)
        _require_blobs(event, live)
    else:
        require_not_deleted(event, live)
    stored = live.insert(event, prepared.actor, prepared.body)
    if event.body.DURABLE:
        live.apply(stored)
    return stored


def enter_all(many: Sequence[Prepared], live: LiveTables, *, strict: bool) -> list[Event]:
    """Store events in order; any that is refused refuses all."""
    return [enter(prepared, live, strict=strict) for prepared in many]


def is_durable(events: Sequence[Event]) -> bool:
    """Return whether any of the events must survive a power loss."""
    return any(event.body.DURABLE for event in events)


def is_outcome(events: Sequence[Event]) -> bool:
    """Return whether the events say what has been done, so that the reserve may be spent on them."""
    return bool(events) and all(isinstance(event.body, OUTCOMES) for event in events)


def _timed(event: Event, live: LiveTables, *, strict: bool) -> Event:
    if event.recorded_at is not None:
        return event
    if not strict:
        return replace(event, recorded_at=live.now)
    # Two producers may commit in another order than they looked at the clock, and a clock may be set
    # back: a time before the newest event would let windows that have run out begin again.
    return replace(event, at=live.newest) if event.at < live.newest else event


def _require_same(prepared: Prepared, known: Event) -> None:
    event = prepared.event
    mine = (event.session_id, event.kind, prepared.body, event.turn_id, event.call_id, event.action_id)
    theirs = (known.session_id, known.kind, body_json(known), known.turn_id, known.call_id, known.action_id)
    if mine != theirs:
        why = f"event id {event.id} is taken by {known.kind} at position {known.position}"
        raise EventConflict(f"{event.kind} was not written", why, "make a new id for every event")


def _require_blobs(event: Event, live: LiveTables) -> None:
    for ref in blob_refs(event.body):
        if not live.has_blob(ref):
            why = f"the stored bytes {ref} are not there"
            raise BlobMissing(f"{event.kind} was not written", why, "store them again, then append")
