"""Deleting a session: gone at once, its id and positions never used again, its bytes removed."""

import os

import pytest

from tests.unit.journal.scenes import HOST, USER, ask, assert_sound, history, start, streamed
from workbench.domain.events import PromptSubmitted, SessionCreated, SessionDeleted
from workbench.effects import fault_points
from workbench.journal import maintenance
from workbench.journal.errors import GuardFailed, JournalFailed, SessionDriven, SessionUnknown
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverIdentity, DriverLock, take_lease
from workbench.journal.maintenance import compact_database, delete_session, finish_deletions


def test_a_deleted_session_leaves_only_its_tombstone(journal: Journal) -> None:
    for events in history(journal):
        journal.append(events)
    start(journal, "other")
    ask(journal, "other", "c9", "a9")
    last = journal.last_position()
    delete_session(journal, "s", USER)
    assert (journal.session("s"), journal.events("s"), journal.calls("s"), journal.actions("s")) == (
        None, [], [], [],
    )  # fmt: skip
    (stone,) = journal.events("system")
    assert (stone.body, stone.actor, stone.position) == (SessionDeleted(deleted_id="s"), USER, last + 1)
    assert [session.id for session in journal.sessions()] == ["other"]
    assert_sound(journal)


@pytest.mark.spec(133)
def test_an_id_and_a_position_are_never_used_again(journal: Journal) -> None:
    start(journal)
    journal.append([streamed(journal, "s", 0)])
    delete_session(journal, "s", USER)
    last = journal.last_position()
    for strict in (True, False):
        with pytest.raises(SessionUnknown, match="deleted"):
            journal.append([journal.event(SessionCreated(), "s", USER)], strict=strict)
    with pytest.raises(SessionUnknown):
        journal.append([streamed(journal, "s", 1)])
    start(journal, "new", to="created")
    assert journal.last_position() == last + 1


def test_blobs_go_unless_another_session_needs_them(journal: Journal) -> None:
    start(journal, "a")
    start(journal, "b")
    mine, shared = journal.blobs.seal(b"mine"), journal.blobs.record(b"shared")
    for session, ref in (("a", mine), ("a", shared), ("b", shared)):
        journal.append([journal.event(PromptSubmitted(text="x", text_ref=ref), session, USER)])
    delete_session(journal, "a", USER)
    assert (journal.blobs.has(mine), journal.blobs.has(shared)) == (False, True)
    delete_session(journal, "b", USER)
    assert not journal.blobs.has(shared)


def test_what_is_not_there_or_driven_or_the_journals_own_is_not_deleted(journal: Journal) -> None:
    with pytest.raises(SessionUnknown):
        delete_session(journal, "nobody", USER)
    with pytest.raises(GuardFailed):
        delete_session(journal, "system", USER)
    start(journal)
    driver = DriverIdentity(host_id="h", pid=7)
    with DriverLock(journal, driver):
        take_lease(journal, "s", driver)
        with pytest.raises(SessionDriven, match="was not deleted"):
            delete_session(journal, "s", USER)
    delete_session(journal, "s", USER)


@pytest.mark.parametrize("transaction", range(1, 7))
def test_a_delete_that_was_cut_short_is_finished_later(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, transaction: int
) -> None:
    monkeypatch.setattr(maintenance, "MOST_EVENTS_REMOVED", 5)
    start(journal)
    ref = journal.blobs.seal(b"x")
    journal.append([journal.event(PromptSubmitted(text="x", text_ref=ref), "s", USER)])
    journal.append([streamed(journal, "s", number) for number in range(7)])

    cut = fault_points.arm_fault("journal.before_commit", OSError(5, "cut"), transaction)
    with cut, pytest.raises(JournalFailed, match="cut"):
        delete_session(journal, "s", USER)
    if transaction == 1:
        assert len(journal.events("s")) == 12
        assert_sound(journal)
        return
    assert journal.session("s") is None
    assert_sound(journal)
    finish_deletions(journal)
    assert journal.events("s") == []
    assert finish_deletions(journal) == []
    maintenance.sweep_unused_blobs(journal, older_than=-1)
    assert not journal.blobs.has(ref)
    assert_sound(journal)


def test_a_driver_that_goes_on_with_a_deleted_session_is_refused(journal: Journal) -> None:
    start(journal)
    delete_session(journal, "s", USER)
    with pytest.raises(SessionUnknown):
        journal.append([journal.event(PromptSubmitted(text="x"), "s", HOST)])


def stored_earlier(journal: Journal, data: bytes, seconds: float) -> str:
    ref = journal.blobs.seal(data)
    path = journal.home.blobs / "sealed" / ref.partition(":")[2]
    then = path.stat().st_mtime - seconds
    os.utime(path, (then, then))
    return ref


def test_a_delete_sweeps_what_no_event_ever_named(journal: Journal) -> None:
    start(journal)
    named = stored_earlier(journal, b"named", 7200)
    journal.append([journal.event(PromptSubmitted(text="x", text_ref=named), "s", USER)])
    orphan, fresh = stored_earlier(journal, b"orphan", 120), journal.blobs.seal(b"fresh")
    start(journal, "gone")
    delete_session(journal, "gone", USER)
    compact_database(journal)
    assert [journal.blobs.has(ref) for ref in (named, orphan, fresh)] == [True, False, True]


def test_a_delete_leaves_to_living_drivers_what_they_may_be_about_to_name(journal: Journal) -> None:
    start(journal)
    orphan, old = stored_earlier(journal, b"orphan", 120), stored_earlier(journal, b"old", 7200)
    with DriverLock(journal, DriverIdentity(host_id="h", pid=7)):
        compact_database(journal)
        assert [journal.blobs.has(ref) for ref in (orphan, old)] == [True, False]
    compact_database(journal)
    assert not journal.blobs.has(orphan)
