"""What stands beside a recording: sessions of the workspace as they were, by the times of what was imported."""

import pytest

from workbench.domain.events import Event, PromptSubmitted, SessionCreated
from workbench.domain.values import Actor
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.replay.replay_source import ReplaySource

HOUR = 3_600 * 1_000_000
NOON = 1_760_000_000 * 1_000_000
SHOP = "/srv/shop"


def recorded(key, hours, *, origin="claude-code", parent=None):
    """Return a session with an event at each of these hours after noon, imported unless it has no origin."""
    body = SessionCreated(workspace=SHOP, title=key, origin=origin, parent_id=parent)
    bodies = [body, *(PromptSubmitted(text=f"{key} {hour}") for hour in hours[1:])]
    return [
        Event(
            id=f"{key}{n}", session_id=key, at=NOON + hour * HOUR, actor=Actor(kind="user"), body=found,
            recorded_at=NOON + 99 * HOUR if origin else None,
        )
        for n, (hour, found) in enumerate(zip(hours, bodies, strict=True))
    ]  # fmt: skip


@pytest.fixture
def journal(tmp_path):
    with Journal.open(Home.open(tmp_path / "home")) as found:
        yield found


def beside(journal, key):
    """Return what stands beside a session at its first and at its last event, with the time each moved last."""
    source = ReplaySource(journal, journal.session(key))
    found = []
    for index in (1, len(source.timeline)):
        source.seek(index)
        rows = source.sessions(99)
        found.append({one.id: (one.updated_at - NOON) // HOUR for one in rows if one.id != key})
    return found


@pytest.mark.spec(140, 218)
@pytest.mark.parametrize("order", [["early", "late", "long"], ["long", "late", "early"]])
def test_imported_sessions_stand_beside_each_other_by_their_times(journal, order):
    hours = {"early": [0, 1], "late": [10, 11], "long": [-1, 5, 12]}
    for key in order:
        journal.append(recorded(key, hours[key]), strict=False)
    assert beside(journal, "early") == [{"long": -1}] * 2
    assert beside(journal, "late") == [{"early": 1, "long": 5}] * 2
    assert beside(journal, "long") == [{}] * 2


def test_what_an_imported_session_began_goes_on_with_it(journal):
    journal.append(recorded("root", [0]), strict=False)
    journal.append(recorded("child", [1, 2], parent="root"), strict=False)
    journal.append(recorded("other", [3, 4]), strict=False)
    assert beside(journal, "root") == [{}, {"child": 2}]


def test_a_session_of_this_program_is_shown_as_its_screen_was(journal):
    journal.append(recorded("own", [20, 21], origin=None), strict=False)
    journal.append(recorded("imported", [0, 1]), strict=False)
    assert beside(journal, "own") == [{}, {}]
    journal.append(recorded("next", [30, 31], origin=None), strict=False)
    assert beside(journal, "next") == [{"own": 21, "imported": 1}] * 2
