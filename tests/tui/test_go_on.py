"""After an answer the cursor is on the next row that waits, and no key decides that one unseen."""

import asyncio

import pytest

from tests.support.stage import call, exchange, recording, text
from tests.tui.screens import play, staged

FOUR = [call(f"c{n}", "create_file", path=f"f{n}.txt", content="x\n") for n in range(4)]


@pytest.fixture
def stage(tmp_path):
    script = recording(exchange(text("Four."), *FOUR), exchange(text("Done.")))
    return staged(tmp_path, script, files={})


def waiting(shown):
    return [row.target for row in shown.approvals.rows if row.is_pending]


def under_cursor(shown):
    return shown.approvals.queue.current.target


def test_one_key_for_each_of_a_row_of_asks(stage):
    async def body(shown):
        for n in range(4):
            assert under_cursor(shown) == f"f{n}.txt"
            await shown.press("a")
        assert waiting(shown) == []
        assert shown.approvals.has_pane_focus, "only a key or a click moves the focus"

    play(stage, body)


def test_below_first_then_from_the_top(stage):
    async def body(shown):
        shown.approvals.queue.put_cursor(shown.row("f2").id)
        await shown.settle()
        await shown.press("r")
        assert under_cursor(shown) == "f3.txt"
        await shown.press("a")
        assert under_cursor(shown) == "f0.txt"

    play(stage, body)


@pytest.mark.parametrize("pause", [0.0, 0.05, 0.11, 0.2, 0.29])
def test_keys_that_come_at_once_decide_one_row_only(stage, pause):
    async def body(shown):
        shown.hand.waits(1.0)
        for _ in range(6):
            await shown.press_once("a", wait=pause)
        await shown.wait_for_key()
        assert len(waiting(shown)) == 3

    play(stage, body)


def test_a_row_that_just_came_is_not_decided(stage):
    async def body(shown):
        await shown.press("a")
        shown.hand.waits(-0.5)  # the pause that the stage takes after each key
        await shown.press("a", wait=0.2)
        await shown.wait_for_key()
        assert (waiting(shown), under_cursor(shown)) == (["f1.txt", "f2.txt", "f3.txt"], "f1.txt")
        assert "Too quick" in shown.said

    play(stage, body)


def test_an_answer_that_is_on_its_way_is_no_next_row(stage):
    async def body(shown):
        rows = [row.id for row in shown.approvals.rows]
        shown.approvals.deciding.add(rows[1])
        await shown.press("a")
        assert under_cursor(shown) == "f2.txt"

    play(stage, body)


def test_it_is_said_where_an_approved_change_can_be_undone(stage):
    asked = []

    async def body(shown):
        await shown.press("a")
        assert shown.said == "Approved: write f0.txt. To undo: its row below what waits, u."
        await shown.press("r")
        assert shown.said == "Rejected: write f1.txt."
        await shown.press("r", "a")
        assert shown.said == "Approved: write f3.txt. To undo: esc, then u."
        await asyncio.to_thread(shown.stage.drive)
        await shown.look()
        await shown.press("escape", "u")
        last = next(row for row in shown.approvals.rows if row.target == "f3.txt")
        assert asked == [last.id]
        await shown.settle()
        assert shown.said == "Undone: write f3.txt."

    def undo(action_id):
        asked.append(action_id)
        return "Undone: write f3.txt."

    play(stage, body, undo_change=undo)


def test_in_full_screen_the_next_row_is_shown(stage):
    async def body(shown):
        await shown.press("enter", "a")
        assert (under_cursor(shown), shown.approvals.is_full) == ("f1.txt", True)

    play(stage, body)
