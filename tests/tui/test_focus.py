"""The focus, and the footer that says what its keys do, belong to what is on the screen."""

import pytest

from tests.support.stage import Stage
from tests.tui.screens import FILES, THREE, play, staged
from workbench.effects.clock import ManualClock
from workbench.host import workspace_trust
from workbench.tui.compositor import DirtyScreen
from workbench.tui.places import PLACES

SIZES = [(80, 24), (160, 48)]


@pytest.fixture
def frames(monkeypatch):
    """Return the list of frames as they are drawn, each as the place it belongs to and its last row."""
    drawn = []
    refresh = DirtyScreen._compositor_refresh

    def record(screen):
        refresh(screen)
        if screen.has_frame and screen.is_current:
            drawn.append((screen.place, screen._compositor.render_strips()[-1].text))

    monkeypatch.setattr(DirtyScreen, "_compositor_refresh", record)
    return drawn


@pytest.mark.parametrize("size", SIZES)
def test_no_frame_shows_the_keys_of_a_pane_that_has_lost_the_focus(tmp_path, frames, size):
    async def body(shown):
        for number, place in enumerate(PLACES):
            if place.name in ("rules", "providers"):
                continue  # Screens of their own.
            await shown.press("2")
            frames.clear()
            await shown.press_once(place.key)
            assert shown.main.place == number
            late = [row for where, row in frames if where == number and "a approve" in row]
            assert not late or place.name == "approvals", (place.name, late[0])

    play(staged(tmp_path), body, size=size)


@pytest.fixture
def asking(tmp_path):
    """Return a stage whose only question is whether its folder is trusted."""
    stage = Stage(tmp_path, THREE, clock=ManualClock(), files={**FILES, ".workbench.json": "{}"})
    stage.begin()
    stage.question = workspace_trust.open_trust_question(stage.journal, str(stage.workspace))
    return stage


@pytest.mark.parametrize("place", ["composer", "0", "1", "2", "3", "4"])
def test_the_key_of_the_trust_question_counts_wherever_the_focus_is(asking, place):
    async def body(shown):
        if place != "composer":
            await shown.press("escape", place)
        before = shown.app.focused
        shown.approvals.disarm()
        await shown.settle()
        await shown.press_once("ctrl+t", wait=0.3)
        assert asking.journal.action(asking.question).state == "pending"
        assert "Too quick" in shown.said and "ctrl+t" in shown.said
        await shown.press_once("ctrl+t", wait=0.6)
        assert asking.journal.action(asking.question).state == "approved"
        assert shown.app.focused is before

    play(asking, body, size=(160, 48), goes_to_queue=False)


def test_the_key_of_the_trust_question_does_not_count_where_the_question_is_not_drawn(asking):
    async def body(shown):
        await shown.press("escape", "1")
        assert not shown.main.layout_controller.is_shown(shown.approvals)
        await shown.press_once("ctrl+t")
        await shown.press("z", "i")
        await shown.press_once("ctrl+t")
        assert asking.journal.action(asking.question).state == "pending"

    play(asking, body, size=(80, 24), goes_to_queue=False)


def test_the_key_of_the_trust_question_does_not_count_before_the_question_was_drawn_again(asking):
    async def body(shown):
        await shown.press("escape", "1", "5")
        shown.hand.waits(1.0)
        await shown.press_once("escape")
        await shown.press_once("ctrl+t", wait=0.1)
        assert asking.journal.action(asking.question).state == "pending"
        assert "Too quick" in shown.said

    play(asking, body, size=(160, 48), goes_to_queue=False)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
def test_a_demo_opens_on_its_question_in_the_middle_of_the_screen(tmp_path, size):
    stage = Stage(tmp_path, THREE, clock=ManualClock(), files={**FILES, ".workbench.json": "{}"})
    question = workspace_trust.open_trust_question(stage.journal, str(stage.workspace))

    async def body(shown):
        assert "may agents work in this folder?" in shown.text
        assert not shown.main.layout_controller.has_composer and "Conversation" not in shown.text
        top = next(row for row in shown.text.splitlines() if "may agents work" in row)
        assert abs((len(top) - len(top.lstrip())) - (len(top) - len(top.rstrip()))) <= 1
        focused = shown.app.focused
        await shown.press("enter")
        assert "ctrl+t answers" in shown.said and not shown.approvals.is_full
        for letter in "yesnow":
            await shown.press_once(letter, wait=0.2)
        shown.hand.waits(4.0)
        assert stage.journal.action(question).state == "pending"
        await shown.press("l", "l", "ctrl+t")
        assert stage.journal.action(question).state == "rejected"
        assert "may agents work" not in shown.text and shown.main.layout_controller.has_composer
        assert shown.app.focused is focused

    play(stage, body, size=size, goes_to_queue=False, opening=("a recorded agent",))
