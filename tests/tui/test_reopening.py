"""`a` on a row that was approved in part, or undone, has what is left of it proposed as a row of its own."""

import asyncio

import pytest

from tests.support.stage import USER
from tests.tui.screens import play, staged
from workbench.host import session_requests


@pytest.fixture
def stage(tmp_path):
    """Return a stage with an edit of which the first hunk was taken."""
    made = staged(tmp_path)
    made.part = next(action for action in made.waiting() if action.verb == "edit")
    for action in made.waiting():
        if action.id == made.part.id:
            assert made.approve(action, hunks=[1]).ok
        else:
            assert made.reject(action).ok
    made.drive()
    return made


async def to_part(shown):
    shown.approvals.queue.focus()
    if not shown.approvals.ordering.shows_decided:
        await shown.press("d")
    shown.approvals.queue.put_cursor(shown.stage.part.id)
    await shown.look()


def rest(stage):
    return [action for action in stage.journal.actions(stage.session_id) if action.subject]


def test_the_rest_of_a_part_comes_as_a_row_and_is_answered_there(stage):
    before = stage.read(stage.part.target)

    async def body(shown):
        await to_part(shown)
        assert "a take the rest" in shown.text
        await shown.press("a")
        await asyncio.to_thread(shown.stage.drive)
        await shown.look()
        (row,) = rest(shown.stage)
        assert shown.stage.read(row.target) == before
        assert shown.approvals.queue.cursor == row.id, "it is what waits now"
        await to_part(shown)
        assert "a take the rest" not in shown.text
        why = "it waits already; answer the row that proposes it"
        assert shown.approvals.why_off("approvals.approve").startswith(why)
        shown.approvals.queue.put_cursor(row.id)
        await shown.look()
        await shown.press("a")
        assert shown.state(row) == "approved"
        await asyncio.to_thread(shown.stage.drive)
        await to_part(shown)
        assert shown.approvals.why_off("approvals.approve").startswith("a later row did that")

    play(stage, body, size=(160, 48))
    assert stage.read(stage.part.target) != before


def test_what_was_undone_is_proposed_again(stage):
    async def body(shown):
        await to_part(shown)
        await shown.press("u")
        await asyncio.to_thread(shown.stage.drive)
        await shown.look()
        assert "a propose it again" in shown.text
        await shown.press("a")
        await asyncio.to_thread(shown.stage.drive)
        (row,) = rest(shown.stage)
        assert len(shown.stage.opened(row).hunks) == len(shown.stage.opened(shown.stage.part).hunks)

    def undo(action_id):
        session_requests.request_undo(stage.journal, action_id, USER)
        return "Undone."

    play(stage, body, size=(160, 48), undo_change=undo)


def test_a_rejected_row_offers_neither(stage):
    async def body(shown):
        await to_part(shown)
        other = next(row.id for row in shown.approvals.rows if row.id != shown.stage.part.id)
        shown.approvals.queue.put_cursor(other)
        await shown.look()
        assert "take the rest" not in shown.text and "propose it again" not in shown.text

    play(stage, body, size=(160, 48))
