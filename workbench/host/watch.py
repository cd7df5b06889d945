"""The clock of a driver: what is due by time, and what moved under a waiting question.

Owns expiry, staleness and the time of turns, once a second. Replaces nothing: a stale action waits for its
human.
"""

import asyncio
from collections.abc import Iterable

from workbench.agents.state import TurnState
from workbench.agents.working import worked
from workbench.changes.stale import moved
from workbench.domain.events import ActionBecameStale, InterruptRequested
from workbench.domain.rows import Action
from workbench.host.desk import Desk
from workbench.journal.decide import expire_due
from workbench.journal.journal import Journal
from workbench.text.human import duration
from workbench.tools.base import CommitTool

TICK = 1.0
"""Seconds between two looks."""

_MICROS = 1_000_000


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


async def time_out(desk: Desk, state: TurnState) -> None:
    """Ask the open turn to stop when it has worked as long as its session may (S2 configuration, timeout)."""
    seconds, turn = number_of(state, "timeout"), state.turn
    if seconds is None or turn is None or turn.is_interrupted:
        return
    if worked(turn, desk.kit.journal.now()) >= seconds * _MICROS:
        body = InterruptRequested(why=f"It worked for {duration(seconds)}, which is its time.")
        await desk.append(desk.event(body, turn_id=turn.id))


def number_of(state: TurnState, key: str) -> float | None:
    """Return a number above zero of a session's configuration; None where there is none."""
    value = state.created.configuration.get(key) if state.created else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if value > 0 else None


def _watched(desk: Desk, state: TurnState) -> Iterable[Action]:
    """Yield waiting file changes, but not those built on the after-image of a call that is still open."""
    for action in desk.kit.journal.actions(session_id=desk.session_id, states=("pending",)):
        call = state.call(action.call_id)
        is_commit = isinstance(desk.kit.tools.get(action.tool or ""), CommitTool)
        if not action.files or call is None or is_commit:
            continue
        bases = [state.call(base) for base, _ in call.on_top_of]
        if not any(base is not None and not base.is_settled for base in bases):
            yield action
