"""Every dialog is on one of two bases, which alone know box, size, titles, arming and the way back."""

import asyncio
import importlib
import pkgutil

import pytest
from textual.screen import ModalScreen

import workbench.tui
from tests.support.pane_host import Host
from tests.support.waits import until_true
from tests.tui.screens import play, staged
from workbench.tui.keyboard.rule import ARM_SECONDS
from workbench.tui.widgets.dialog import PAGE_SHARE, Dialog, ListDialog

for module in pkgutil.walk_packages(workbench.tui.__path__, "workbench.tui."):
    importlib.import_module(module.name)
PAGES = {"RulesScreen", "ProviderScreen"}
"""Lists over the whole body, which compose themselves."""
WITHOUT_BOX = {"JumpScreen"}
OF_DIALOGS = {
    "compose", "on_mount", "on_resize", "box", "fits", "set_titles", "follow", "hint_row", "note_drawn",
    "was_early", "is_armed_for_key", "end_arming", "close",
}  # fmt: skip
OF_LISTS = {"move", "move_to_end", "move_by_key"}


def subclasses(base):
    for each in base.__subclasses__():
        yield each
        yield from subclasses(each)


def is_ours(dialog):
    return dialog.__module__.startswith("workbench.tui.") and dialog not in (Dialog, ListDialog)


DIALOGS = sorted({each for each in subclasses(ModalScreen) if is_ours(each)}, key=lambda each: each.__name__)


@pytest.mark.parametrize("dialog", DIALOGS, ids=lambda dialog: dialog.__name__)
def test_a_dialog_is_on_a_base_and_writes_nothing_of_it_anew(dialog):
    assert issubclass(dialog, Dialog)
    shared = OF_DIALOGS | (OF_LISTS if issubclass(dialog, ListDialog) else set())
    assert dialog.__name__ in PAGES | WITHOUT_BOX or not shared & set(vars(dialog))


def test_what_decides_needs_room_for_what_is_read():
    deciding = {dialog.__name__ for dialog in DIALOGS if dialog.DECIDES}
    assert deciding == {
        "BatchDialog",
        "ConnectionDialog",
        "UndoDialog",
        "QueueDialog",
        "RuleDialog",
        "LaunchScreen",
        "NewPipelineScreen",
        "StartScreen",
    }
    assert all(dialog.LEAVES for dialog in DIALOGS if dialog.DECIDES)


class Question(Dialog):
    LEAVES = "batch.leave"
    decided = ("these bytes",)

    def fill(self):
        self.call_after_refresh(self.note_drawn)


class HandHost(Host):
    """A host whose clock moves only when a test moves it."""

    at = 100.0

    def monotonic(self):
        return self.at

    @property
    def key_time(self):
        return self.at


def ask(body, size=(80, 24)):
    async def go():
        app, question = HandHost(), Question("question")
        async with app.run(size) as pilot:
            await app.push_screen(question)
            question.note_drawn()
            await body(app, question, pilot)

    asyncio.run(go())


def test_a_key_counts_for_what_was_drawn_for_long_enough_and_once():
    async def body(app, question, _):
        assert not question.is_armed_for_key
        app.at += ARM_SECONDS
        assert question.is_armed_for_key
        assert question.end_arming()
        assert not question.end_arming()

    ask(body)


def test_what_is_drawn_in_another_size_has_to_be_there_for_the_whole_time_again():
    async def body(app, question, pilot):
        app.at += ARM_SECONDS
        await pilot.resize_terminal(100, 30)
        await until_true(lambda: question.size.width == 100, pilot.pause)
        assert not question.is_armed_for_key
        await until_true(lambda: question._arming.since is not None, pilot.pause)
        app.at += ARM_SECONDS
        assert question.is_armed_for_key

    ask(body)


def test_a_key_that_came_too_early_begins_the_time_again():
    async def body(app, question, _):
        app.at += ARM_SECONDS / 2
        question.was_early("batch.approve")
        app.at += ARM_SECONDS / 2
        assert not question.is_armed_for_key
        app.at += ARM_SECONDS / 2
        assert question.is_armed_for_key

    ask(body)


def test_what_decides_nothing_now_arms_nothing():
    async def body(app, question, _):
        question.decided = None
        question._arming.disarm()
        question.note_drawn()
        app.at += ARM_SECONDS
        assert not question.is_armed_for_key

    ask(body)


def test_on_a_small_screen_only_the_way_back_is_reached():
    async def body(_, question, pilot):
        assert question.reaches_key("batch.approve") and question.box.display
        await pilot.resize_terminal(59, 18)
        await until_true(lambda: not question.fits, pilot.pause)
        assert not question.reaches_key("batch.approve") and question.reaches_key("batch.leave")
        await until_true(lambda: not question.box.display, pilot.pause)

    ask(body)


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (160, 48)])
def test_a_dialog_of_nearly_the_whole_screen_leaves_no_letters_next_to_it(tmp_path, size):
    async def body(shown):
        pages = 0
        for keys in (("?",), ("ctrl+p",), ("M", "a"), ("A",)):
            shown.approvals.queue.put_cursor(shown.row("true").id)
            await shown.settle()
            await shown.press(*keys)
            box = shown.app.screen.box.region
            if max(box.width / size[0], box.height / size[1]) >= PAGE_SHARE:
                pages += 1
                rows = shown.text.splitlines()
                outside = [row[: box.x] + row[box.right :] for row in rows[box.y : box.bottom]]
                assert not "".join((*rows[: box.y], *outside, *rows[box.bottom :])).strip(), keys
            await shown.press("escape")
        assert pages >= 1

    play(staged(tmp_path), body, size=size)
