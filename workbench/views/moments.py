"""The moment of a block: up to which event a session is as it was when a block of its conversation was done.

Pure. It reads single events from the newest back, so that a long session is not folded for it.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from workbench.domain import events as e
from workbench.domain.events import Event
from workbench.views.blocks import Block, CallRun

_QUIET: Final = (e.TurnEnded, e.SessionStatusChanged, e.LeaseTaken, e.LeaseReleased)
"""What may stand between the last words of a turn and its end."""


def block_name(block: Block) -> str:
    """Return the block whose moment is meant: of calls that are folded together the last."""
    return f"call:{block.call_ids[-1]}" if isinstance(block, CallRun) else block.id


def last_of(pieces: Iterable[Sequence[Event]], block_id: str) -> Event | None:
    """Return the last event of a block; the end of its turn where nothing else came before that.

    Args:
        pieces: lasting events of the session, so many at a time, the newest piece first.
        block_id: as `views.transcript` names it.

    Returns:
        None where the session has no such block, or its words still stream.
    """
    ended: Event | None = None
    for events in pieces:
        for event in reversed(events):
            if _is_of(event, block_id):
                return ended or event
            if isinstance(event.body, e.TurnEnded):
                ended = event
            elif not isinstance(event.body, _QUIET):
                ended = None
    return None


def _is_of(event: Event, block_id: str) -> bool:
    kind, _, name = block_id.partition(":")
    match kind:
        case "call" | "output":
            return event.call_id == name
        case "text" | "thought":
            return isinstance(event.body, e.ReplyCompleted) and name == f"{event.turn_id}:{event.body.round}"
        case _:
            return event.id == name
