"""Keys of the form that starts a pipeline."""

from typing import TYPE_CHECKING, Final

from workbench.tui.keyboard.keymap import Key

if TYPE_CHECKING:
    from workbench.tui.pipeline.launch_form import LaunchScreen

LAUNCH: Final[tuple[Key["LaunchScreen"], ...]] = (
    Key(id="launch.start", keys=("enter",), label="start", tooltip="start the run as shown",
        group="Decide", footer=1, in_palette=False, decides=True,
        action=lambda screen: screen.start()),
    Key(id="launch.grant", keys=("space",), label="grant", tooltip="grant this for the run, or leave it",
        group="Decide", footer=4, in_palette=False,
        action=lambda screen: screen.toggle()),
    Key(id="launch.grants", keys=("T",), label="all", tooltip="grant all, or none", group="Decide", footer=5,
        in_palette=False,
        action=lambda screen: screen.toggle_all()),
    Key(id="launch.write", keys=("i",), label="input", tooltip="write the input", group="Decide", footer=2,
        in_palette=False, opens_field=True,
        action=lambda screen: screen.write()),
    Key(id="launch.edit", keys=("ctrl+o",), label="editor", tooltip="write the input in $EDITOR",
        group="Decide", footer=6, in_palette=False,
        action=lambda screen: screen.edit()),
    Key(id="launch.field-next", keys=("tab",), label="field", tooltip="field after, before", group="Move",
        footer=3, in_palette=False,
        action=lambda screen: screen.to_field(1)),
    Key(id="launch.field-previous", keys=("shift+tab",), label="", tooltip="field before", shown="-",
        group="Move", in_palette=False,
        action=lambda screen: screen.to_field(-1)),
    Key(id="launch.row-down", keys=("j", "down"), label="row", tooltip="next, previous row", shown="j k",
        group="Move", in_palette=False,
        action=lambda screen: screen.move(1)),
    Key(id="launch.row-up", keys=("k", "up"), label="", tooltip="row up", shown="-", group="Move",
        in_palette=False,
        action=lambda screen: screen.move(-1)),
    Key(id="launch.row-first", keys=("g", "home"), label="", tooltip="first, last", shown="g G", group="Move",
        in_palette=False,
        action=lambda screen: screen.move_to_end(is_last=False)),
    Key(id="launch.row-last", keys=("G", "end"), label="", tooltip="last", shown="-", group="Move",
        in_palette=False,
        action=lambda screen: screen.move_to_end(is_last=True)),
    Key(id="launch.scroll-down", keys=("J", "ctrl+d", "pagedown"), label="", tooltip="scroll the dry run",
        shown="J K", group="Move", in_palette=False,
        action=lambda screen: screen.scroll_plan(3)),
    Key(id="launch.scroll-up", keys=("K", "ctrl+u", "pageup"), label="", tooltip="scroll it up", shown="-",
        group="Move", in_palette=False,
        action=lambda screen: screen.scroll_plan(-3)),
    Key(id="launch.leave", keys=("escape", "q"), label="back, nothing is run", shown="esc",
        tooltip="back, nothing is run", group="Decide", footer=7, in_palette=False,
        action=lambda screen: screen.leave()),
)  # fmt: skip
