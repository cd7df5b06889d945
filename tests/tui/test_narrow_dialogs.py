"""Dialogs on small screens: what is decided in them was seen, and nothing is decided where it cannot be read."""

import pytest
from msgspec.structs import replace

from tests.support.stage import call, exchange, recording, text
from tests.tui.screens import play, staged
from workbench.tui.approvals.batch_dialog import BatchDialog
from workbench.tui.rules.rule_dialog import RuleDialog

TWO = recording(exchange(text("hm"), *(call(f"c{n}", "create_file", path=f"{n}.txt", content="x\n") for n in (1, 2))))  # fmt: skip


@pytest.mark.parametrize("size", [(60, 18), (80, 24), (160, 48)])
def test_what_stands_in_the_batch_was_seen(tmp_path, size):
    stage = staged(tmp_path, TWO)

    async def body(shown):
        await shown.press("M", "a", "j", "k")
        assert "seen 2 of 2" in shown.text
        assert "esc back" in shown.text
        await shown.press("a")
        assert not isinstance(shown.app.screen, BatchDialog)
        assert stage.waiting() == []

    play(stage, body, size=size)


@pytest.mark.parametrize("size", [(60, 18), (120, 36)])
def test_no_time_of_the_batch_is_cut(tmp_path, size):
    stage = staged(tmp_path, TWO)

    async def body(shown):
        await shown.press("M", "a")
        table = shown.app.screen._list
        late = [replace(one, row=replace(one.row, left_seconds=85_200.0)) for one in table.rows.values()]
        table.show_rows(late, table.choosing)
        table.invalidate()
        await shown.settle()
        assert shown.text.count("23:40:00") == 2

    play(stage, body, size=size)


@pytest.mark.parametrize("verdict", ["a", "r"])
def test_nothing_is_answered_in_a_batch_that_became_too_small(tmp_path, verdict):
    stage = staged(tmp_path, TWO)

    async def body(shown):
        await shown.press("M", "a", "j", "k")
        await shown.pilot.resize_terminal(40, 12)
        await shown.settle()
        assert "40×12 is too small to decide here." in shown.text
        await shown.press(verdict)
        assert len(stage.waiting()) == 2
        assert isinstance(shown.app.screen, BatchDialog)
        await shown.pilot.resize_terminal(80, 24)
        await shown.settle()
        await shown.press(verdict)
        assert stage.waiting() == []

    play(stage, body)


def test_no_rule_is_saved_on_a_screen_that_became_too_small(tmp_path):
    stage = staged(tmp_path)

    async def body(shown):
        await shown.press("j", "A")
        await shown.pilot.resize_terminal(59, 18)
        await shown.settle()
        await shown.press("enter")
        assert stage.journal.rules() == []
        await shown.press("escape")
        assert not isinstance(shown.app.screen, RuleDialog)
        assert len(stage.waiting()) == 3

    play(stage, body)


@pytest.mark.parametrize("size", [(60, 18), (72, 20), (160, 48)])
def test_the_dialog_of_a_rule_has_its_width_at_once_and_its_way_back(tmp_path, size):
    stage = staged(tmp_path, recording(exchange(call("c1", "run_in_terminal", command="git diff --stat"))))

    async def body(shown):
        await shown.press("A")
        assert "Bash(git diff --stat)" in shown.text
        assert "enter save" in shown.text
        assert "esc back" in shown.text

    play(stage, body, size=size)


@pytest.mark.parametrize("keys", [(":", "r"), ("R", "x"), ("?",), ("M", "a"), ("6",), ()], ids="".join)
def test_no_bar_stands_in_what_does_not_fit(tmp_path, keys):
    stage = staged(tmp_path)

    async def body(shown):
        await shown.press(*keys)
        for size in ((110, 34), (120, 36)):  # What was seen begins anew in another size.
            await shown.pilot.resize_terminal(*size)
            await shown.settle()
        before = shown.text
        for size in ((40, 12), (20, 5)):
            await shown.pilot.resize_terminal(*size)
            await shown.settle()
            for screen in shown.app.screen_stack:
                assert not screen.show_vertical_scrollbar
                assert not screen.show_horizontal_scrollbar
            assert all(len(row) <= size[0] for row in shown.text.split("\n"))
        await shown.pilot.resize_terminal(120, 36)
        await shown.settle()
        assert shown.text == before

    play(stage, body)
