"""Two events hold all agents and release them, and only a human releases."""

import pytest

from tests.support.stage import USER
from workbench.domain import events
from workbench.domain.fold import MemoryTables
from workbench.domain.values import SYSTEM_SESSION, Actor
from workbench.journal.agent_hold import hold_agents, release_agents
from workbench.journal.errors import GuardFailed


@pytest.mark.parametrize("kind", ["agent", "host", "system"])
def test_only_a_human_releases(journal, kind):
    hold_agents(journal, USER)
    with pytest.raises(GuardFailed, match="only a human"):
        release_agents(journal, Actor(kind=kind, pid=3))
    with pytest.raises(GuardFailed, match="only a human"):
        journal.append([journal.event(events.AgentsReleased(), SYSTEM_SESSION, Actor(kind=kind))])
    assert journal.are_agents_held


def test_both_change_nothing_where_there_is_nothing_to_change(journal):
    assert not release_agents(journal, USER)
    assert hold_agents(journal, USER)
    before = journal.agent_hold()
    assert not hold_agents(journal, Actor(kind="user", pid=9))
    assert journal.agent_hold() == before
    assert release_agents(journal, USER)
    assert not release_agents(journal, USER)
    assert [event.kind for event in journal.events(SYSTEM_SESSION)] == ["agents.held", "agents.released"]
    assert hold_agents(journal, USER)
    assert journal.are_agents_held


def stored(journal, body, actor=USER, session_id=SYSTEM_SESSION, **more):
    return events.Event(id=str(more), session_id=session_id, at=1, actor=actor, body=body, **more)


def test_an_imported_session_and_an_agent_release_nothing_in_the_fold(journal):
    held = stored(journal, events.AgentsHeld(), position=1)
    tables = MemoryTables().fold([
        held,
        stored(journal, events.AgentsReleased(), session_id="s", recorded_at=2, position=2),
        stored(journal, events.AgentsReleased(), Actor(kind="agent"), position=3),
    ])  # fmt: skip
    assert tables.agent_hold().is_in_force
    imported = stored(journal, events.AgentsHeld(), session_id="s", recorded_at=2)
    assert MemoryTables().fold([imported]).agent_hold() is None
