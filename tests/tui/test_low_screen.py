"""A terminal of few rows, such as an editor's panel: one waiting row, its diff that scrolls, the keys."""

import pytest

from tests.tui.screens import play, staged

SIZES = [(80, 12), (60, 10), (160, 12)]


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_the_row_under_decision_stands_over_its_diff_and_is_approved_when_it_was_seen(tmp_path, size):
    stage = staged(tmp_path)

    async def body(shown):
        shown.approvals.queue.put_cursor(shown.row("router.py").id)
        await shown.settle()
        lines = shown.text.splitlines()
        assert "router.py" in lines[2] and "router.py" in lines[3]
        assert "reject" in lines[-1] and "◆ 3" in lines[1]
        assert not any("docs/api.md" in line for line in lines)
        for _ in range(40):
            await shown.press("a")
            if len(stage.waiting()) < 3:
                break
        assert sorted(action.target for action in stage.waiting()) == ["docs/api.md", "true"]

    play(stage, body, size=size)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_it_goes_from_row_to_row_and_from_place_to_place(tmp_path, size):
    async def body(shown):
        rows = [shown.text.splitlines()[2]]
        for _ in range(2):
            await shown.press("j")
            rows.append(shown.text.splitlines()[2])
        assert len(set(rows)) == 3
        for place in "013456":
            await shown.press(place)
            lines = shown.text.splitlines()
            assert len(lines) == size[1] and lines[-1].strip()
            await shown.press("escape")

    play(staged(tmp_path), body, size=size)


def test_the_candidates_of_the_composer_are_all_reached(tmp_path):
    async def body(shown):
        await shown.press("i", "/")
        assert "/commands" in shown.text and "/continue" in shown.text
        for _ in range(20):
            await shown.press("down")
            if "/stop" in shown.text:
                return
        raise AssertionError(shown.text)

    play(staged(tmp_path), body, size=(80, 12))


def test_dialogs_that_decide_need_more(tmp_path):
    async def body(shown):
        await shown.press("M", "a")
        assert "80×12 is too small to decide here." in shown.text
        await shown.press("a")
        assert len(shown.stage.waiting()) == 3

    play(staged(tmp_path), body, size=(80, 12))
