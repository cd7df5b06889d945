"""The last row of the queue lights the answer to the row under the cursor, and says what it does."""

import pytest

from tests.tui.screens import play, staged
from workbench.domain.events import SessionStatusChanged
from workbench.journal.decisions import expire_due_actions
from workbench.journal.leases import lease_guard, take_lease
from workbench.tui.keyboard.arming import ARM_SECONDS

SIZES = [(80, 24), (160, 48)]


def row_of(shown):
    """Return the last row of the queue as it is drawn."""
    region = shown.approvals.answers.region
    assert region.bottom == shown.approvals.region.bottom
    return shown.text.splitlines()[region.y][region.x : region.right].strip()


def lit(shown):
    """Return the words of the row that are drawn as a button."""
    paper = shown.app.ink.reverse("info").rich_style.bgcolor
    strip = shown.approvals.answers.render_line(0)
    return "".join(part.text for part in strip if part.style and part.style.bgcolor == paper).strip()


@pytest.mark.parametrize("size", SIZES)
def test_the_first_answer_is_lit_once_its_key_counts(tmp_path, size):
    async def body(shown):
        shown.approvals.queue.put_cursor(shown.row("true").id)
        await shown.settle()
        assert (row_of(shown)[:17], lit(shown)) == ("a a run outside  ", "")
        shown.hand.waits(ARM_SECONDS)
        shown.main.presenter.footer()
        assert lit(shown) == "a a run outside"
        assert "r reject" in row_of(shown)
        await shown.press_once("a")
        assert lit(shown) == row_of(shown) == "a again: run outside · esc cancels"
        await shown.press("escape")
        assert row_of(shown).startswith("a a run outside")

    play(staged(tmp_path), body, size=size)


def test_it_says_of_what_an_edit_is_approved_and_what_is_left(tmp_path):
    async def body(shown):
        shown.approvals.queue.put_cursor(shown.row("router.py").id)
        await shown.settle()
        shown.hand.waits()
        shown.main.presenter.footer()
        assert lit(shown) == "a a approve 3 of 3"
        await shown.press("space")
        assert row_of(shown).startswith("a a approve 2 of 3")

    play(staged(tmp_path), body, size=(160, 60))


@pytest.mark.parametrize("size", SIZES)
def test_enter_opens_the_full_diff_and_decides_nothing(tmp_path, size):
    async def body(shown):
        for _ in range(4):
            await shown.press("enter")
        assert len(shown.stage.waiting()) == 3
        await shown.press("enter")
        assert shown.approvals.is_full and row_of(shown).startswith("a ")

    play(staged(tmp_path), body, size=size)


def test_it_is_empty_while_the_keys_are_elsewhere(tmp_path):
    async def body(shown):
        await shown.press("1")
        assert row_of(shown) == ""
        await shown.press("2")
        assert "reject" in row_of(shown)

    play(staged(tmp_path), body, size=(160, 48))


@pytest.mark.parametrize("size", SIZES)
def test_what_expired_can_be_proposed_again(tmp_path, size):
    async def body(shown):
        shown.approvals.queue.put_cursor(shown.row("router.py").id)
        shown.stage.journal.clock.advance(3_600)
        expire_due_actions(shown.stage.journal)
        await shown.look()
        shown.hand.waits()
        shown.main.presenter.footer()
        assert lit(shown) == "p p propose again"
        await shown.press("enter")
        assert shown.approvals.is_full and "router.py" in shown.text
        assert "\u25a0" not in shown.text, "nothing of it is taken"

    play(staged(tmp_path), body, size=size)


@pytest.mark.parametrize("size", SIZES)
def test_an_answered_queue_says_which_session_may_ask_next(tmp_path, size):
    async def body(shown):
        await shown.press("r", "r", "r")
        assert row_of(shown).startswith("No agent works")
        journal, session = shown.stage.journal, shown.stage.session_id
        driver = shown.stage.lock.driver if shown.stage.lock else shown.stage.driver()
        guard = lease_guard(take_lease(journal, session, driver))
        working = journal.event(SessionStatusChanged(status="processing"), session, driver.actor)
        journal.append([working], guard=guard)
        await shown.look()
        assert "works: what it asks comes here." in row_of(shown)

    play(staged(tmp_path), body, size=size)
