"""Edit, withdraw and reorder the prompts of a session that no turn has begun with."""

# Nobody holds a queued prompt while it is edited. One transaction looks whether a turn has begun with it and
# writes, and `PromptQueueGuard` does the same for the beginning of a turn: of the two exactly one wins.

from collections.abc import Callable, Sequence
from typing import Final

from workbench.agents.reducer import fold_turn
from workbench.agents.state import QueuedPrompt
from workbench.domain.events import Event, PromptsReordered, PromptSubmitted, PromptWithdrawn
from workbench.domain.values import Actor, Body
from workbench.host import redaction
from workbench.host.session_requests import SessionRefused
from workbench.journal.journal import Journal
from workbench.journal.transaction import TransactionTables

_NOT_QUEUED: Final = "It is not queued any more: the agent reads it, or another screen changed it."
_Queue = tuple[QueuedPrompt, ...]


def edit_prompt(journal: Journal, session_id: str, prompt_id: str, text: str, actor: Actor) -> None:
    """Put another text in the place of a queued prompt.

    Raises:
        SessionRefused: A turn has begun with it, it is not a human's, or the text is empty.
    """
    what = "The message was not changed."
    if not text.strip():
        raise SessionRefused(what, "The text is empty.", "Take the message back instead.")
    recorded, ref = redaction.redact_and_seal_text(text, journal.blobs)
    body = PromptSubmitted(text=recorded, text_ref=ref, replaces_id=prompt_id)

    def bodies(queue: _Queue) -> Sequence[Body]:
        _require_queued(queue, prompt_id, what)
        return (body,)

    _append_change(journal, session_id, actor, bodies)


def withdraw_prompt(journal: Journal, session_id: str, prompt_id: str, actor: Actor) -> None:
    """Take back a queued prompt, so that it is never sent.

    Raises:
        SessionRefused: A turn has begun with it, or it is not a human's.
    """

    def bodies(queue: _Queue) -> Sequence[Body]:
        _require_queued(queue, prompt_id, "The message was not taken back.")
        return (PromptWithdrawn(prompt_id=prompt_id),)

    _append_change(journal, session_id, actor, bodies)


def move_prompt(journal: Journal, session_id: str, prompt_id: str, places: int, actor: Actor) -> None:
    """Move a queued prompt by some places, earlier where they are negative, as far as the queue goes.

    Raises:
        SessionRefused: A turn has begun with it, or it is not a human's.
    """

    def bodies(queue: _Queue) -> Sequence[Body]:
        _require_queued(queue, prompt_id, "The message was not moved.")
        order = [queued.id for queued in queue]
        place = order.index(prompt_id)
        order.insert(max(0, min(place + places, len(queue) - 1)), order.pop(place))
        is_same = order == [queued.id for queued in queue]
        return () if is_same else (PromptsReordered(prompt_ids=tuple(order)),)

    _append_change(journal, session_id, actor, bodies)


def _require_queued(queue: _Queue, prompt_id: str, what: str) -> None:
    queued = next((queued for queued in queue if queued.id == prompt_id), None)
    if queued is None:
        raise SessionRefused(what, _NOT_QUEUED, "Send another message; ctrl+c stops the agent.")
    if not queued.is_withdrawable:
        raise SessionRefused(what, "The program wrote it.", "ctrl+c stops the agent that would read it.")


def _append_change(
    journal: Journal, session_id: str, actor: Actor, bodies: Callable[[_Queue], Sequence[Body]]
) -> None:
    """Append what `bodies` makes of the queue as it is inside the transaction."""
    known = journal.events(session_id)
    before, cursor = fold_turn(known), known[-1].position if known else 0

    def work(live: TransactionTables, now: int) -> list[Event]:
        state = fold_turn(live.events_after(session_id, cursor), before)
        return [journal.event(body, session_id, actor, at=now) for body in bodies(state.queued_prompts)]

    journal.transact(work)
