"""Exact bytes go some days after the sessions that need them have ended, and only then."""

import pytest

from tests.unit.journal.scenes import USER, SettableClock, assert_sound, question, start
from workbench.domain.events import PromptSubmitted, SessionCreated, SessionStatusChanged
from workbench.domain.values import Decision
from workbench.effects import fault_points
from workbench.journal.decisions import decide_action
from workbench.journal.journal import Journal
from workbench.journal.maintenance import expired_blobs, remove_expired_blobs
from workbench.text.human import DAY_MICROS


def said(journal, session, data):
    ref = journal.blobs.seal(data)
    journal.append([journal.event(PromptSubmitted(text="x", text_ref=ref), session, USER)])
    return ref


def end(journal, session, at=None):
    journal.append([journal.event(SessionStatusChanged(status="completed"), session, USER, at=at)])


def test_bytes_of_a_session_that_has_ended_go_and_those_of_others_stay(journal: Journal) -> None:
    for name in ("ended", "open"):
        start(journal, name)
    mine, shared, kept = (
        said(journal, "ended", b"a"),
        said(journal, "ended", b"b"),
        journal.blobs.record(b"c"),
    )
    assert said(journal, "open", b"b") == shared
    journal.append([journal.event(PromptSubmitted(text="x", text_ref=kept), "ended", USER)])
    assert remove_expired_blobs(journal, 0, older_than=-1) == 0
    end(journal, "ended")
    assert expired_blobs(journal, [mine, shared, kept]) == {mine}
    assert remove_expired_blobs(journal, 0, older_than=-1) == 1
    assert [journal.blobs.has(ref) for ref in (mine, shared, kept)] == [False, True, True]
    end(journal, "open")
    assert remove_expired_blobs(journal, 0, older_than=-1) == 1
    assert not journal.blobs.has(shared)
    assert_sound(journal)


def test_they_go_not_before_their_days_are_over_nor_just_after_they_were_stored(journal: Journal) -> None:
    start(journal, "s")
    ref = said(journal, "s", b"a")
    end(journal, "s")
    assert remove_expired_blobs(journal, 1, older_than=-1) == 0
    assert remove_expired_blobs(journal, 0, older_than=3600) == 0
    assert journal.blobs.has(ref)
    start(journal, "later")
    late = journal.event(PromptSubmitted(text="x"), "later", USER, at=journal.now() + DAY_MICROS + 1)
    journal.append([late])
    assert remove_expired_blobs(journal, 1, older_than=-1) == 1


def test_bytes_of_a_supervised_session_go_when_nothing_was_open_in_it_for_so_long(
    journal: Journal, clock: SettableClock
) -> None:
    created = SessionCreated(workspace="/w", session_kind="supervised")
    journal.append([journal.event(created, "s", USER)])
    ref = said(journal, "s", b"a")
    question(journal, "a", "s", expires_at=None, action_kind="files")
    clock.advance(40 * 86_400)
    assert remove_expired_blobs(journal, 0, older_than=-1) == 0 and expired_blobs(journal, [ref]) == set()
    assert decide_action(journal, Decision(action_id="a", verdict="approve"), "d", USER).ok
    clock.advance(3_600)
    assert remove_expired_blobs(journal, 0, older_than=-1) == 0
    clock.advance(86_400)
    assert expired_blobs(journal, [ref]) == {ref}
    assert remove_expired_blobs(journal, 2, older_than=-1) == 0
    assert remove_expired_blobs(journal, 0, older_than=-1) == 1
    said(journal, "s", b"its agent has come back")
    assert expired_blobs(journal, [ref]) == {ref}
    assert_sound(journal)


@pytest.mark.parametrize("step", ["journal.before_commit", "journal.after_commit"])
def test_a_crash_leaves_nothing_to_be_mended(journal: Journal, step: str) -> None:
    start(journal, "s")
    ref = said(journal, "s", b"a")
    end(journal, "s")
    with fault_points.arm_fault(step, "eio"), pytest.raises(Exception, match=r".+"):
        remove_expired_blobs(journal, 0, older_than=-1)
    assert_sound(journal)
    remove_expired_blobs(journal, 0, older_than=-1)
    assert not journal.blobs.has(ref)
    assert_sound(journal)
