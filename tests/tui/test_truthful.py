"""What the screen says is so: of undone changes, of what is asked, of keys, of a model, in any theme."""

import asyncio

from tests.support import golden
from tests.tui.backend import backend
from tests.tui.screens import Hand, Shown
from tests.tui.test_screen import play_golden
from workbench.tui.app import WorkbenchApp
from workbench.tui.main.palette import PaletteEntry, ranked_entries
from workbench.tui.render_context import ink


def test_an_undone_change_says_so_and_cannot_be_undone_again(tmp_path):
    async def body(shown):
        undone = next(iter(shown.app.main.state.undone))
        shown.approvals.queue.put_cursor(undone)
        await shown.settle()
        row = shown.approvals.queue.current
        assert (row.sign, row.state_word) == ("cancelled", "undone")
        assert shown.approvals.why_not("approvals.undo") == "it is undone already"

    play_golden("undo-change", tmp_path, body)


def test_another_theme_reaches_what_is_drawn_already(tmp_path):
    async def body(shown):
        decided = next(one.id for one in shown.app.main.state.actions.values() if one.state == "approved")
        shown.approvals.queue.put_cursor(decided)
        await shown.settle()
        shown.app.theme = "workbench-light"
        await shown.settle()
        view = shown.approvals.detail_view
        styles = [segment.style for segment in view.draw_line(0, view.width) if segment.style]
        colours = {style.color.name for style in styles if style.color}
        assert ink(view).tokens.added in colours

    play_golden("undo-change", tmp_path, body)


def started(tmp_path, services, body):
    journal, hand = golden.load("undo-change", tmp_path / "home"), Hand()
    app = WorkbenchApp(journal, services, "/workspace/other", home="/workspace", monotonic=hand)

    async def run():
        async with app.run_test(size=(120, 36)) as pilot:
            shown = Shown(None, app, hand, pilot)
            await shown.settle()
            await body(shown)

    try:
        asyncio.run(run())
    finally:
        journal.close()


def test_the_composer_says_what_is_asked_about(tmp_path):
    async def body(shown):
        assert "asks before every call" in shown.text
        shown.app.main.context.tasks.read_asks()
        await shown.settle()
        assert "asks before all except reads" in shown.text

    started(tmp_path, backend(approval_setting=lambda: ("all except reads", 2)), body)


def test_how_a_model_is_set_up_is_a_page_and_a_model_that_comes_is_noticed(tmp_path):
    has = [False]

    async def body(shown):
        await shown.press("escape", "1", "p", "f")
        assert "/x/config.json" in shown.text
        await shown.press("escape", "escape")
        assert "p   set up a model" in shown.text and "Write below" not in shown.text
        has[0] = True
        shown.app.main.context.tasks.read_asks()
        await shown.settle()
        assert "Write below" in shown.text

    services = backend(has_model=lambda: has[0], config_file=lambda: "/x/config.json")
    started(tmp_path, services, body)


def entry(words, why=""):
    return PaletteEntry(id=words, words=words, group="", do=lambda: None, why_off=why)


def test_the_palette_has_what_begins_with_the_words_first_and_what_is_off_last():
    found = [entry("Show the log", "no error"), entry("Breathe"), entry("In the log"), entry("Theme: x")]
    assert [one.words for one in ranked_entries(found, "the")] == [
        "Theme: x",
        "In the log",
        "Breathe",
        "Show the log",
    ]
    assert [one.words for one in ranked_entries(found, "")] == [
        "Breathe",
        "In the log",
        "Theme: x",
        "Show the log",
    ]
