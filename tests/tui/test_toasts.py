"""Toasts: only of what is not to be seen, never over a diff, never with the focus, four seconds, and kept."""

import pytest

from tests.support.waits import until_true
from tests.tui.screens import play, staged
from tests.tui.stills import HOST
from workbench.domain.events import ErrorRaised
from workbench.domain.values import SYSTEM_SESSION
from workbench.tui.main.toast_box import ToastBox

SAID = "The model stopped."


def fails(stage, session=None):
    body = ErrorRaised(code="closed", message=SAID, details="It closed the connection.")
    key = stage.session_id if session is None else session
    stage.journal.append([stage.journal.event(body, key, HOST)], strict=False)


@pytest.fixture
def stage(tmp_path):
    return staged(tmp_path)


def box(shown):
    return shown.main.toasts.box


def test_a_pane_that_shows_it_needs_no_toast(stage):
    async def body(shown):
        fails(stage)
        await shown.look()
        assert not box(shown).display
        assert SAID in shown.text, "the conversation shows the error"

    play(stage, body)


def test_it_stands_in_the_corner_of_another_pane_and_takes_no_focus(stage):
    async def body(shown):
        await shown.press("escape", "3", "z")
        focused = shown.main.focused
        fails(stage)
        await shown.look()
        lines = shown.text.splitlines()
        row = next(at for at, line in enumerate(lines) if SAID in line)
        assert lines[row].rstrip().endswith("│")
        assert "1 see it" in lines[row + 1]
        assert row > len(lines) // 2
        assert shown.main.focused is focused
        assert [one.text for one in shown.main.notifications.kept][-1] == f"{SAID} It closed the connection."
        await shown.press("1")
        assert shown.main.focused_pane is shown.main.conversation

    play(stage, body)


@pytest.mark.parametrize("keys", [(), ("enter",)])
def test_it_never_stands_over_a_diff(stage, keys):
    async def body(shown):
        await shown.press(*keys)
        fails(stage)
        await shown.look()
        assert not box(shown).display
        assert shown.said.startswith(SAID)
        assert len(shown.main.notifications.kept) == 1

    play(stage, body, size=(80, 24))


def test_it_moves_when_the_screen_is_laid_out_anew_and_goes_where_there_is_no_room(stage):
    async def body(shown):
        await shown.press("escape", "3")
        fails(stage)
        await shown.look()
        assert box(shown).display
        await shown.press("0")
        assert box(shown).display
        await shown.press("2")
        assert not box(shown).display

    play(stage, body, size=(80, 24))


def test_it_ends_by_itself(stage, monkeypatch):
    monkeypatch.setattr(ToastBox, "SECONDS", 0.01)

    async def body(shown):
        await shown.press("escape", "3", "z")
        fails(stage)
        await shown.look()
        await until_true(lambda: not box(shown).display, shown.pilot.pause)
        assert box(shown).toast is None
        assert SAID not in shown.text

    play(stage, body)


def test_one_at_a_time_with_the_number_of_the_others(stage):
    async def body(shown):
        await shown.press("escape", "3", "z")
        fails(stage)
        fails(stage)
        fails(stage)
        await shown.look()
        assert shown.text.count(SAID) == 1
        assert "2 more: /messages" in shown.text
        assert len(shown.main.notifications.kept) == 3

    play(stage, body)


def test_a_click_leads_to_the_pane(stage):
    async def body(shown):
        await shown.press("escape", "3", "z")
        fails(stage)
        await shown.look()
        await shown.pilot.click("#toast", offset=(3, 1))
        await shown.settle()
        assert shown.main.focused_pane is shown.main.conversation
        assert not box(shown).display

    play(stage, body)


def test_trouble_of_nobodys_session_is_told_and_that_of_another_folder_is_not(stage):
    async def body(shown):
        fails(stage, SYSTEM_SESSION)
        await shown.look()
        assert box(shown).toast.what == SAID
        box(shown).hide()
        shown.main.toasts.tell([stage.journal.event(ErrorRaised(code="x", message="No."), "unknown", HOST)])
        assert not box(shown).display

    play(stage, body)
