"""Every dialog is on one of two bases, which alone know box, size, titles, arming and the way back."""

import importlib
import pkgutil

import pytest
from textual.screen import ModalScreen

import workbench.tui
from workbench.tui.widgets.dialog import Dialog, ListDialog

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
    assert deciding == {"BatchDialog", "UndoDialog", "RuleDialog", "LaunchScreen", "StartScreen"}
    assert all(dialog.LEAVES for dialog in DIALOGS if dialog.DECIDES)
