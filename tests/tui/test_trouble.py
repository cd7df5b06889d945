"""What is wrong with the host is said in the header, and what was said is kept on a page."""

import pytest

from tests.support.waits import until_true
from tests.tui.screens import play, staged
from workbench.tui.backend import RestartLater
from workbench.tui.main import tasks


@pytest.fixture
def stage(tmp_path):
    return staged(tmp_path)


def test_trouble_is_in_the_header_until_it_is_over(stage):
    found = [
        (
            "background process has other settings, /restart",
            "The background process differs. It runs version 0.",
        )
    ]

    async def body(shown):
        for _ in range(2):
            shown.main.context.tasks.read_trouble()
            await shown.settle()
        assert "background process has other settings, /restart" in shown.text.splitlines()[0]
        told = [one for one in shown.main.notifications.kept if one.text == found[0][1]]
        assert len(told) == 1, "said once, not at every look"
        assert told[0].is_error
        found[0] = ("", "")
        shown.main.context.tasks.read_trouble()
        await shown.settle()
        assert "differs" not in shown.text.splitlines()[0]

    play(stage, body, host_trouble=lambda: found[0])


def test_what_is_over_leaves_the_header_and_the_row_at_the_next_look(stage):
    found, due = ["host is suspended"], []
    assert tasks.TROUBLE_SECONDS < 2

    async def body(shown):
        set_timer = shown.main.set_timer

        def noted(seconds, call):
            due.extend([call] if seconds == tasks.TROUBLE_SECONDS else [])
            return set_timer(seconds * 1_000, call)

        shown.main.set_timer = noted
        shown.main.context.tasks.read_trouble()
        await shown.settle()
        assert "host is suspended" in shown.text.splitlines()[0]
        assert shown.said == "It is."
        found[0] = ""
        (look,) = due
        look()
        await shown.settle()
        assert "suspended" not in shown.text.splitlines()[0]
        assert shown.said == ""
        assert len(due) == 1, "nobody looks again once it is over"

    play(stage, body, host_trouble=lambda: (found[0], "It is." if found[0] else ""))


def test_whoever_asks_something_of_a_suspended_host_sees_it_at_once(stage):
    trouble = ["", ""]

    async def body(shown):
        trouble[:] = ["host is suspended", "It is."]
        shown.main.context.tasks.ask(lambda about: None, stage.session_id, "Asked.")
        await shown.settle()
        assert "host is suspended" in shown.text.splitlines()[0]

    play(stage, body, host_trouble=lambda: tuple(trouble))


def test_on_a_narrow_screen_what_waits_stands_beside_trouble(stage):
    async def body(shown):
        shown.main.context.tasks.read_trouble()
        await shown.settle()
        first = shown.text.splitlines()[0]
        assert "the folder is gone" in first
        assert f"{len(shown.stage.waiting())} waiting" in first

    play(stage, body, size=(80, 24), host_trouble=lambda: ("the folder is gone", "It is gone."))


def test_the_host_is_restarted_by_a_command(stage):
    asked = []

    def restart():
        asked.append(True)
        return "Another background process works here now."

    async def body(shown):
        await shown.press("i", *"/restart", "enter")
        await shown.settle()
        assert asked == [True]
        assert "Another background process works here now." in [
            one.text for one in shown.main.notifications.kept
        ]

    play(stage, body, restart_host=restart)


def test_a_restart_waits_until_nothing_executes(stage, monkeypatch):
    monkeypatch.setattr("workbench.tui.main.tasks._RESTART_AGAIN_SECONDS", 0.01)
    busy, asked = [True], []

    def restart():
        asked.append(True)
        if busy:
            raise RestartLater("make all")
        return "Another background process works here now."

    async def until(shown, words):
        await until_true(
            lambda: any(words in one.text for one in shown.main.notifications.kept),
            shown.pilot.pause,
            lambda: words,
        )

    async def body(shown):
        await shown.press("i", *"/restart")
        await shown.pilot.press("enter")
        await until(shown, "make all is running: restarting after that")
        busy.clear()
        await until(shown, "Another background process works here now.")
        assert sum("is running" in one.text for one in shown.main.notifications.kept) == 1

    play(stage, body, restart_host=restart)


def test_a_restart_that_waits_is_taken_back_by_the_same_command(stage, monkeypatch):
    monkeypatch.setattr("workbench.tui.main.tasks._RESTART_AGAIN_SECONDS", 3_600)

    def restart():
        raise RestartLater("make all")

    async def body(shown):
        await shown.press("i", *"/restart", "enter")
        await shown.press(*"/restart", "enter")
        assert shown.said == "The background process is not restarted."

    play(stage, body, restart_host=restart)


def test_the_page_of_messages_shows_what_was_said(stage):
    async def body(shown):
        shown.main.say("The first.")
        shown.main.say("The second [red]x[/red].", is_error=True)
        await shown.press("i", *"/messages", "enter")
        await shown.settle()
        lines = shown.text.splitlines()
        assert any("Messages of this screen" in line for line in lines)
        assert any("× The second [red]x[/red]." in line for line in lines)
        await shown.press("escape")
        assert "Messages of this screen" not in shown.text

    play(stage, body)
