"""The mouse: it moves, shows and chooses, and never answers."""

from textual import events

from tests.tui.screens import play, staged


async def click(shown, x, y, times=1):
    shown.hand.waits()
    await shown.pilot.click(offset=(x, y), times=times)
    await shown.settle()


def column(shown, words):
    """Return where words begin in the footer."""
    return shown.text.splitlines()[-1].index(words)


def test_no_click_anywhere_answers(tmp_path):
    async def body(shown):
        waiting = {action.id for action in shown.main.state.pending}
        assert len(waiting) == 3
        for y in (0, 3, 4, 8, 10, 30, 35):
            for x in (3, 58, 115):
                await shown.pilot.click(offset=(x, y), times=2)
            await shown.press("escape", "escape", "2")
        await shown.look()
        assert {action.id for action in shown.main.state.pending} == waiting
        assert all(shown.state(action) == "pending" for action in shown.main.state.pending)

    play(staged(tmp_path), body)


def test_clicks_in_the_footer_choose_and_show_but_do_not_answer(tmp_path):
    async def body(shown):
        await shown.press("2")
        first = shown.main.state.pending[0]
        await click(shown, column(shown, "a see"), 29)
        assert "press a" in shown.said
        assert shown.state(first) == "pending"
        await click(shown, column(shown, "take/leave"), 29)
        assert "2 taken, 1 left" in shown.text
        await click(shown, column(shown, "all keys"), 29)
        assert "Keys here" in shown.text

    play(staged(tmp_path), body, size=(120, 30))


def test_the_box_of_a_hunk_is_clicked_and_the_wheel_scrolls_the_diff(tmp_path):
    async def body(shown):
        view = shown.approvals.detail_view
        await click(shown, view.region.x + 3, view.region.y)
        assert "2 taken, 1 left" in shown.text
        await shown.pilot._post_mouse_events([events.MouseScrollDown], view, (4, 4))
        await shown.settle()
        assert view.first_line > 0

    play(staged(tmp_path), body, size=(120, 24))


def test_nothing_counts_that_came_under_a_dialog(tmp_path):
    async def body(shown):
        await shown.press("2", "?")
        shown.approvals.queue.put_cursor(shown.row("docs/api.md").id)
        await shown.settle()
        action = shown.approvals.detail
        shown.hand.waits()
        assert action.target == "docs/api.md"
        assert action.id not in shown.approvals.choosing.seen.shown
        await shown.press("escape", "a", wait=0)
        assert "Too quick" in shown.said
        assert shown.state(action) == "pending"
        await shown.press("a")
        assert shown.state(action) == "approved"

    play(staged(tmp_path), body)
