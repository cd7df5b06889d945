"""A recording as the screen reads it: every moment equals a plain fold of the events until then."""

import pytest
from msgspec.structs import replace

from tests.support import golden
from workbench.domain.fold import MemoryTables
from workbench.domain.values import SYSTEM_SESSION
from workbench.tui.journal_source import JournalSource
from workbench.tui.replay.replay_source import ReplaySource
from workbench.tui.state import ScreenState

WHOLE = 1_000_000
"""Events: all that a session has, so that nothing streamed is left out of a window."""


def opened(name, folder):
    journal = golden.load(name, folder / "home")
    every = journal.events()
    newest = next(one for one in journal.sessions() if one.id != SYSTEM_SESSION and one.parent_id is None)
    return journal, every, newest


def here(rows, workspace):
    return {key: one for key, one in rows.sessions.items() if one.workspace == workspace}


@pytest.mark.spec(140, 144)
@pytest.mark.parametrize("name", golden.names())
def test_every_moment_is_the_fold_of_what_was_until_then(name, tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.views.row_snapshots.SNAPSHOT_EVENTS", 7)
    journal, every, session = opened(name, tmp_path)
    with journal:
        source = ReplaySource(journal, session)
        step = max(1, len(source.timeline) // 12)
        for index in [*range(0, len(source.timeline) + 1, step), len(source.timeline), 1, 0]:
            source.seek(index)
            told = MemoryTables().fold(event for event in every if event.position <= source.position())
            assert here(source.rows, session.workspace) == here(told, session.workspace)
            mine = {key for key, one in told.calls.items() if one.session_id == session.id}
            assert {key: source.rows.calls[key] for key in mine} == {key: told.calls[key] for key in mine}
            asked = {key: one for key, one in told.actions.items() if one.session_id == session.id}
            assert {key: source.rows.actions.get(key) for key in asked} == asked


@pytest.mark.spec(140)
@pytest.mark.parametrize("name", golden.names())
def test_going_on_event_by_event_comes_to_the_same_as_seeking(name, tmp_path):
    journal, _, session = opened(name, tmp_path)
    with journal:
        source, walked = ReplaySource(journal, session), ReplaySource(journal, session)
        state = ScreenState(walked)
        state.load()
        state.choose(session.id, WHOLE)
        for index in range(1, len(source.timeline) + 1):
            state.apply(walked.go_on(index))
        source.seek(len(source.timeline))
        there = ScreenState(source)
        there.load()
        there.choose(session.id, WHOLE)
        assert walked.rows == source.rows
        assert state.transcript.blocks == there.transcript.blocks
        assert state.calls == there.calls
        # The live screen does not read a session again for events that only touch its time.
        assert replace(state.current, updated_at=0) == replace(there.current, updated_at=0)


@pytest.mark.spec(140, 218)
@pytest.mark.parametrize("name", golden.names())
def test_the_end_of_a_recording_is_what_the_live_screen_knows(name, tmp_path):
    journal, every, session = opened(name, tmp_path)
    with journal:
        source, live = ReplaySource(journal, session), JournalSource(journal, session.workspace)
        source.seek(len(source.timeline))
        last = max(event.position for event in every if event.session_id != SYSTEM_SESSION)
        if source.position() < last:
            pytest.skip("the home holds a session that went on after this one")
        then, now = ScreenState(source), ScreenState(live)
        for state in (then, now):
            state.load()
            state.choose(session.id)
        assert then.transcript.blocks == now.transcript.blocks
        assert then.calls == now.calls
        assert list(then.sessions.items()) == list(now.sessions.items())
        assert {key for key in then.actions} == {key for key in now.actions}
        assert then.actions == now.actions
        assert journal.last_position() == every[-1].position


@pytest.mark.parametrize("name", ["release-run", "hotfix-run"])
def test_the_graph_at_a_moment_has_the_states_of_then(name, tmp_path):
    journal, every, session = opened(name, tmp_path)
    with journal:
        source = ReplaySource(journal, session)
        seen = set()
        for index in range(1, len(source.timeline) + 1, 5):
            source.seek(index)
            told = MemoryTables().fold(event for event in every if event.position <= source.position())
            run = source.run(session.id)
            assert run == told.pipeline_states.get(session.id)
            steps = {one.key: one for one in source.run_steps(session.id)}
            assert steps == {
                key: one for key, one in told.step_states.items() if one.pipeline_id == session.id
            }
            state = ScreenState(source)
            state.load(session.id)
            shown = state.runs.view(state.actions.values(), source.now())
            if shown is not None:
                seen.add((shown.status, shown.done))
        assert len(seen) > 4
        assert {done for _, done in seen} >= {0, 1}


@pytest.mark.spec(140)
@pytest.mark.parametrize("name", ["rename-handler", "release-run"])
def test_a_beginning_that_was_completed_is_the_recording(name, tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.tui.replay.replay_source.FIRST_READ_EVENTS", 5)
    journal, _, session = opened(name, tmp_path)
    with journal:
        whole, part = ReplaySource(journal, session), ReplaySource(journal, session, is_whole=False)
        assert (part.timeline.is_whole, len(part.timeline)) == (False, 5)
        assert (part.timeline.count, part.timeline.ends) == (len(whole.timeline), whole.timeline.ends)
        part.seek(5)
        whole.seek(5)
        assert part.rows == whole.rows
        assert part.complete()
        assert not part.complete()
        assert list(part.timeline.marks) == list(whole.timeline.marks)
        for index in (len(whole.timeline), 5):
            part.seek(index)
            whole.seek(index)
            assert part.rows == whole.rows
            assert (part.now(), part.position()) == (whole.now(), whole.position())
