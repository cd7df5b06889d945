"""Keys of the table that undoes a turn or a session."""

from typing import TYPE_CHECKING, Final

from workbench.tui.keymap import Key

if TYPE_CHECKING:
    from workbench.tui.conversation.undo_dialog import UndoDialog

UNDO: Final[tuple[Key["UndoDialog"], ...]] = (
    Key(id="undo.answer", keys=("a",), label="undo", tooltip="write the files that are taken", group="Decide",
        footer=1, in_palette=False, decides=True,
        action=lambda screen: screen.answer()),
    Key(id="undo.toggle", keys=("space",), label="take/leave", tooltip="take or leave this file",
        group="Decide", footer=2, in_palette=False,
        action=lambda screen: screen.toggle()),
    Key(id="undo.other-way", keys=("r",), label="other way", tooltip="restore what was undone, and back",
        group="Decide", footer=3, in_palette=False,
        action=lambda screen: screen.turn_round()),
    Key(id="undo.row-down", keys=("j", "down"), label="file", tooltip="file after, before", shown="j k",
        group="Move", footer=4, in_palette=False,
        action=lambda screen: screen.move(1)),
    Key(id="undo.row-up", keys=("k", "up"), label="", tooltip="file before", shown="-", group="Move",
        in_palette=False,
        action=lambda screen: screen.move(-1)),
    Key(id="undo.scroll-down", keys=("J",), label="", tooltip="three lines of the diff", shown="J K",
        group="Move", in_palette=False,
        action=lambda screen: screen.scroll_detail(3)),
    Key(id="undo.scroll-up", keys=("K",), label="", tooltip="three lines up", shown="-", group="Move",
        in_palette=False,
        action=lambda screen: screen.scroll_detail(-3)),
    Key(id="undo.leave", keys=("escape", "q"), label="back, nothing is done", shown="esc",
        tooltip="back, nothing is done", group="Decide", footer=5, in_palette=False,
        action=lambda screen: screen.leave()),
)  # fmt: skip
