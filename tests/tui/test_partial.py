"""What the terminal holds after keys, when only parts were drawn, is what drawing everything would give."""

import pyte
import pytest
from rich.console import Console
from textual.app import App

from tests.support.sizes import rarely
from tests.support.stage import call, exchange, recording, text
from tests.tui.screens import THREE, play, staged
from tests.tui.test_screen import play_golden

pytestmark = pytest.mark.usefixtures("drawn_frames")

WALK = (
    *"2jjkJK", "enter", *"jjjkt", "escape", *"z", *"jk", "z", *"1ggjjkk", *"3jjk", "enter", "escape",
    *"0jjk", *"4hjlk", "question_mark", "escape", "colon", "escape", *"2mM", "escape", "i", *"words", "escape",
)  # fmt: skip


def rows(screen):
    return ["".join(screen.buffer[y][x].data for x in range(screen.columns)) for y in range(screen.lines)]


async def walk(shown, keys, monkeypatch):
    """Press keys and compare the terminal with the whole screen after each."""
    width, height = shown.app.size
    screen = pyte.Screen(width, height)
    stream, console = pyte.Stream(screen), Console(color_system=None, width=width, force_terminal=True)

    def display(app, screen, renderable):
        if renderable is not None:
            sent.append(renderable.render_segments(console))
            stream.feed(sent[-1])

    sent = []
    monkeypatch.setattr(App, "_display", display)
    shown.main.refresh()
    await shown.settle()
    for key in keys:
        await shown.press(key)
        assert rows(screen) == shown.text.split("\n"), key
    return "".join(sent)


@pytest.mark.parametrize("size", [rarely((160, 48)), (80, 24)], ids=str)
def test_parts_put_together_are_the_whole(tmp_path, monkeypatch, size):
    async def body(shown):
        await walk(shown, WALK, monkeypatch)

    play(staged(tmp_path, THREE), body, size=size)


def test_parts_put_together_are_the_whole_with_wide_and_hostile_text(tmp_path, monkeypatch):
    async def body(shown):
        await walk(shown, WALK[:34], monkeypatch)

    play_golden("hostile-text", tmp_path, body)


def test_what_is_covered_is_not_drawn(tmp_path):
    async def body(shown):
        await shown.press("2", "enter")
        asked = []
        for pane in shown.main.query("*"):
            was = pane.render_lines
            pane.render_lines = lambda crop, pane=pane, was=was: (asked.append((pane, crop)), was(crop))[1]
        view = shown.approvals.detail_view
        view.invalidate([4])
        await shown.settle()
        assert [(pane.id, crop.y, crop.height) for pane, crop in asked] == [("detail", 4, 1)]

    play(staged(tmp_path, THREE), body)


@pytest.mark.parametrize("size", [rarely((160, 48)), (80, 24)], ids=str)
def test_a_long_diff_that_scrolls_is_moved_by_the_terminal_and_is_the_whole(tmp_path, monkeypatch, size):
    async def body(shown):
        keys = ("2", "enter", *"jjjkkj", "ctrl+d", *"jj", "ctrl+u", *"GkkgJJ]j[kzj", "escape", *"jk")
        sent = await walk(shown, keys, monkeypatch)
        assert "\x1b[1M\x1b[r" in sent
        assert "\x1b[1L\x1b[r" in sent

    long = call("c1", "create_file", path="long.py", content="".join(f"line {n}\n" for n in range(300)))
    play(
        staged(tmp_path, recording(exchange(text("I write."), long), exchange(text("Done.")))),
        body,
        size=size,
    )
