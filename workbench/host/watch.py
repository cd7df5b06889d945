"""The clock of a driver: what is due by time, and what moved under a waiting question.

Owns expiry and staleness, once a second. Replaces nothing: a stale action waits for its human.
"""

import asyncio
from collections.abc import Iterable

from workbench.agents.state import TurnState
from workbench.changes.stale import moved
from workbench.domain.events import ActionBecameStale
from workbench.domain.rows import Action
from workbench.host.desk import Desk
from workbench.journal.decide import expire_due
from workbench.journal.journal import Journal

TICK = 1.0
"""Seconds between two looks."""


def expire(journal: Journal) -> list[str]:
    """Expire what is due and return the ids."""
    return expire_due(journal)


async def mark_stale(desk: Desk, state: TurnState) -> None:
    """Append `action.became_stale` for waiting actions of a session whose base moved."""
    for action in _watched(desk, state):
        paths = await asyncio.to_thread(moved, desk.kit.root, action.files, desk.kit.journal.blobs.keyed)
        if paths and paths != action.stale_paths:
            body = ActionBecameStale(paths=paths)
            event = desk.event(body, turn_id=action.turn_id, call_id=action.call_id, action_id=action.id)
            await desk.append(event)


def _watched(desk: Desk, state: TurnState) -> Iterable[Action]:
    """Yield waiting file changes, but not those built on the after-image of a call that is still open."""
    for action in desk.kit.journal.actions(session_id=desk.session_id, states=("pending",)):
        call = state.call(action.call_id)
        if not action.files or call is None:
            continue
        bases = [state.call(base) for base, _ in call.on_top_of]
        if not any(base is not None and not base.is_settled for base in bases):
            yield action
