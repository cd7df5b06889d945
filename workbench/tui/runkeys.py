"""Keys of the launch form and of the comparison of two runs: a part of THE table of keys, `tui.keys`.

A row here is a row there; nothing else reads them.
"""

from typing import Final

from workbench.tui.keymap import Key

_DECIDE, _MOVE, _READ = "Decide", "Move", "Read"

LAUNCH: Final = (
    Key(id="launch.start", keys=("enter",), label="start", tooltip="begin the run as it stands here",
        group=_DECIDE, footer=1, in_palette=False),
    Key(id="launch.grant", keys=("space",), label="grant", tooltip="grant this for the run, or leave it",
        group=_DECIDE, footer=4, in_palette=False),
    Key(id="launch.grants", keys=("T",), label="all", tooltip="grant all, or none", group=_DECIDE, footer=5,
        in_palette=False),
    Key(id="launch.write", keys=("i",), label="input", tooltip="write the input", group=_DECIDE, footer=2,
        in_palette=False),
    Key(id="launch.edit", keys=("ctrl+o",), label="editor", tooltip="write the input in $EDITOR",
        group=_DECIDE, footer=6, in_palette=False),
    Key(id="launch.field-next", keys=("tab",), label="field", tooltip="field after, before", group=_MOVE,
        footer=3, in_palette=False),
    Key(id="launch.field-previous", keys=("shift+tab",), label="", tooltip="field before", shown="-",
        group=_MOVE, in_palette=False),
    Key(id="launch.row-down", keys=("j", "down"), label="row", tooltip="row down, up", shown="j k",
        group=_MOVE, in_palette=False),
    Key(id="launch.row-up", keys=("k", "up"), label="", tooltip="row up", shown="-", group=_MOVE,
        in_palette=False),
    Key(id="launch.row-first", keys=("g", "home"), label="", tooltip="first, last", shown="g G",
        group=_MOVE, in_palette=False),
    Key(id="launch.row-last", keys=("G", "end"), label="", tooltip="last", shown="-", group=_MOVE,
        in_palette=False),
    Key(id="launch.scroll-down", keys=("J", "ctrl+d", "pagedown"), label="", tooltip="scroll the dry run",
        shown="J K", group=_MOVE, in_palette=False),
    Key(id="launch.scroll-up", keys=("K", "ctrl+u", "pageup"), label="", tooltip="scroll it up", shown="-",
        group=_MOVE, in_palette=False),
    Key(id="launch.leave", keys=("escape", "q"), label="back, nothing is run", shown="esc",
        tooltip="back, nothing is run", group=_DECIDE, footer=7, in_palette=False),
)  # fmt: skip
