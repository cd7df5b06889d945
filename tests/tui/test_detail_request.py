"""The queue's cursor moves first: diffs of rows that are only passed are not made, and no key acts without its own."""

import pytest

from tests.support.keys import key_event, send_key
from tests.support.stage import call, exchange, recording, text
from tests.support.waits import until_true
from tests.tui.screens import play, staged
from workbench.tui.main.detail_request import DetailRequest
from workbench.tui.main.presenter import SessionPresenter
from workbench.tui.pane import KeysChanged

COUNT = 50
EDITS = [
    call(
        f"c{number}",
        "replace_string_in_file",
        path=f"f{number}.txt",
        old_string="b\n",
        new_string=f"b{number}\n",
    )
    for number in range(COUNT)
]
MANY = recording(exchange(text("I change all."), *EDITS), exchange(text("Done.")))
FILES = {f"f{number}.txt": "a\nb\nc\n" for number in range(COUNT)}


@pytest.fixture
def queue(tmp_path):
    return staged(tmp_path, MANY, FILES)


@pytest.fixture
def made(monkeypatch):
    """Record the ids of the actions whose details are made."""
    ids, real = [], SessionPresenter.detail_of

    def detail_of(presenter, action_id):
        ids.append(action_id)
        return real(presenter, action_id)

    monkeypatch.setattr(SessionPresenter, "detail_of", detail_of)
    return ids


@pytest.fixture
def no_frame(monkeypatch):
    """Let no frame come after which a detail that is due would be made."""
    monkeypatch.setattr(DetailRequest, "_after_frame", lambda request: None)


def rows_of(shown):
    return [row.id for row in shown.approvals.rows]


async def is_still(shown):
    await until_true(lambda: not (shown.app._typed.has_waiting or shown.main.detail_request.is_due))
    await shown.settle()


def test_moving_over_fifty_rows_at_once_makes_the_diff_of_the_last_one_only(queue, made):
    async def body(shown):
        rows = rows_of(shown)
        assert shown.approvals.queue.cursor == rows[0] and len(rows) == COUNT
        made.clear()
        for _ in rows[1:]:
            shown.app.post_message(key_event("j"))
        await until_true(lambda: shown.approvals.queue.cursor == rows[-1])
        await is_still(shown)
        # Once more where the detail came before what asks for it.
        assert set(made) == {rows[-1]} and len(made) <= 2
        assert shown.approvals.detail.id == rows[-1]

    play(queue, body)


def test_a_key_about_the_row_has_its_diff_made_first(queue, made, no_frame):
    async def body(shown):
        rows = rows_of(shown)
        await send_key(shown.app, "j")
        await until_true(lambda: shown.main.detail_request.is_due)
        assert shown.approvals.detail.id == rows[0]
        await send_key(shown.app, "space")
        await shown.settle()
        assert shown.approvals.detail.id == rows[1]
        chosen = {
            key: shown.approvals.choosing.taken_of(shown.main.presenter.detail_of(key)) for key in rows[:2]
        }
        assert not chosen[rows[0]].is_nothing and chosen[rows[1]].is_nothing

    play(queue, body)


def test_no_answer_counts_before_the_new_diff_was_drawn_for_its_time(queue, no_frame):
    async def body(shown):
        rows = rows_of(shown)
        await shown.press_once("j")
        await until_true(lambda: shown.main.detail_request.is_due)
        assert shown.approvals.subject == () and not shown.approvals.is_armed
        # The row has been under the cursor for long, its diff was never drawn.
        await shown.press("a", wait=5.0)
        assert "Too quick" in shown.said
        assert {action.id for action in shown.stage.waiting()} == set(rows)
        await shown.press("a")
        assert {action.id for action in shown.stage.waiting()} == set(rows) - {rows[1]}

    play(queue, body)


def test_a_press_of_the_mouse_finds_the_diff_of_the_row_under_the_cursor(queue, no_frame):
    async def body(shown):
        rows = rows_of(shown)
        await send_key(shown.app, "j")
        await until_true(lambda: shown.main.detail_request.is_due)
        await shown.pilot.click(offset=(1, 1))
        await shown.settle()
        assert shown.approvals.detail.id == rows[1]

    play(queue, body)


def test_the_keys_are_shown_for_another_row_only_once_its_frame_tells_what_was_seen(queue, monkeypatch):
    async def body(shown):
        told, pane = [], shown.approvals
        post, drawn = pane.post_message, pane._first_frame_drawn

        def post_message(message):
            told.append("keys") if isinstance(message, KeysChanged) else None
            return post(message)

        monkeypatch.setattr(pane, "post_message", post_message)
        monkeypatch.setattr(pane, "_first_frame_drawn", lambda: (told.append("frame"), drawn()))
        await shown.press_once("j")
        await is_still(shown)
        assert told[:2] == ["frame", "keys"]
        assert " approve" in shown.text.splitlines()[-1]

    play(queue, body)
