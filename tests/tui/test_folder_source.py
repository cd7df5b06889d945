"""What of a journal is listed: this workspace's part, or all; a step belongs where its run belongs."""

import pytest

from tests.unit.journal.scenes import HOST, TRUST_CHOICES, ask, open_journal, question, start
from workbench.domain.events import ActionRejected, RunRequested, SessionCreated
from workbench.tui.journal_source import JournalFeed, JournalSource
from workbench.tui.state import ScreenState


@pytest.fixture
def journal(tmp_path):
    journal = open_journal(tmp_path)
    start(journal, "mine", "/src/shop")
    start(journal, "other", "/src/pipes")
    ask(journal, "mine", "c1", "here")
    ask(journal, "other", "c2", "there")
    yield journal
    journal.close()


def add_step(journal, run, step, workspace, own_folder):
    created = SessionCreated(workspace=workspace, session_kind="pipeline", title=run)
    below = SessionCreated(workspace=own_folder, session_kind="step", parent_id=run, title=step)
    journal.append([journal.event(created, run, HOST)])
    journal.append([journal.event(below, step, HOST)])


def listed(state):
    return sorted(state.actions), sorted(state.elsewhere)


def test_one_folder_is_listed_or_all_of_them(journal):
    state = ScreenState(JournalSource(journal, "/src/shop"))
    state.load()
    assert listed(state) == (["here"], ["there"])
    state.list_folders(is_wide=True)
    assert listed(state) == (["here", "there"], [])
    assert state.workspaces == {"here": "/src/shop", "there": "/src/pipes"}
    assert {"mine", "other"} <= set(state.sessions)
    state.list_folders(is_wide=False)
    assert listed(state) == (["here"], ["there"]) and "other" not in state.sessions


def test_the_session_on_show_stays_listed_when_its_folder_is_not(journal):
    state = ScreenState(JournalSource(journal, "/src/shop"), is_wide=True)
    state.load("other")
    state.list_folders(is_wide=False)
    assert state.current.id == "other" and "other" in state.sessions


def test_events_of_other_folders_move_the_count_and_no_row(journal):
    state = ScreenState(JournalSource(journal, "/src/shop"))
    state.load()
    feed = JournalFeed(journal, lambda: None)
    ask(journal, "other", "c3", "later")
    state.apply(feed.fresh())
    assert listed(state) == (["here"], ["later", "there"])
    journal.append([journal.event(ActionRejected(), "other", HOST, call_id="c3", action_id="later")])
    state.apply(feed.fresh())
    assert listed(state) == (["here"], ["there"])


def test_what_is_due_in_another_folder_expires_too(journal):
    state = ScreenState(JournalSource(journal, "/src/nowhere"))
    state.load()
    assert sorted(state.elsewhere) == ["here", "there"]
    due = journal.action("there").expires_at
    assert state.is_due(due) and not state.is_due(due - 10**9)


def test_a_step_with_a_folder_of_its_own_belongs_to_the_folder_of_its_run(journal):
    add_step(journal, "run", "step", "/src/shop", "/home/worktrees/step")
    question(journal, "asked", "step")
    source = JournalSource(journal, "/src/shop")
    assert source.workspace_of(journal.action("asked")) == "/src/shop"
    assert journal.driving_session("step").id == "run"
    assert journal.driving_session("mine").id == "mine" and journal.driving_session("nobody") is None
    state = ScreenState(source)
    state.load()
    assert "asked" in state.actions and {"run", "step"} <= set(state.sessions)
    assert state.workspace_of(state.sessions["step"]) == "/src/shop"


def test_a_trust_question_belongs_to_the_folder_that_it_is_about(journal):
    question(
        journal,
        "trust",
        subject={"workspace": "/src/pipes", "content_hash": "h"},
        action_kind="trust",
        expires_at=None,
        tool=None,
        choices=TRUST_CHOICES,
    )
    state = ScreenState(JournalSource(journal, "/src/shop"))
    state.load()
    assert "trust" in state.elsewhere


def test_a_run_of_another_folder_does_not_come_into_the_list_of_runs(journal):
    state = ScreenState(JournalSource(journal, "/src/shop"))
    state.load()
    feed = JournalFeed(journal, lambda: None)
    for run, folder in (("ours", "/src/shop"), ("theirs", "/src/pipes")):
        created = SessionCreated(workspace=folder, session_kind="pipeline", title=run)
        asked = RunRequested(pipeline=run)
        journal.append([journal.event(created, run, HOST), journal.event(asked, run, HOST)])
    state.apply(feed.fresh())
    assert list(state.runs.rows) == ["ours"]
    state.choose("theirs")
    assert state.runs.current == "theirs"
