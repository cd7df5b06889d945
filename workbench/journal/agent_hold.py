"""Hold all agents, and release them: two events in the session `system`.

Owns that both change nothing where they have nothing to change. Only a human releases; the transaction and
the fold refuse everyone else.
"""

from collections.abc import Sequence

from workbench.domain.events import AgentsHeld, AgentsReleased, Event
from workbench.domain.values import SYSTEM_SESSION, Actor
from workbench.journal.journal import Journal
from workbench.journal.transaction import TransactionTables


def hold_agents(journal: Journal, actor: Actor) -> bool:
    """Have every call of every agent ask; False where they do already."""

    def work(live: TransactionTables, now: int) -> Sequence[Event]:
        if live.are_agents_held:
            return ()
        return (journal.event(AgentsHeld(), SYSTEM_SESSION, actor, at=now),)

    return bool(journal.transact(work))


def release_agents(journal: Journal, actor: Actor) -> bool:
    """Let rules, modes and trust count again; False where they do already.

    Raises GuardFailed: the actor is not a human.
    """

    def work(live: TransactionTables, now: int) -> Sequence[Event]:
        if not live.are_agents_held:
            return ()
        return (journal.event(AgentsReleased(), SYSTEM_SESSION, actor, at=now),)

    return bool(journal.transact(work))
