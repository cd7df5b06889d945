"""Keys of the launch form and of the comparison of two runs: a part of THE table of keys, `tui.keys`.

A row here is a row there; nothing else reads them.
"""

from typing import Final

from workbench.tui.keymap import Key

_DECIDE, _MOVE, _READ = "Decide", "Move", "Read"

LAUNCH: Final = (
    Key(id="launch.start", keys=("enter",), label="start", tooltip="begin the run as it stands here",
        group=_DECIDE, footer=1, in_palette=False, decides=True),
    Key(id="launch.grant", keys=("space",), label="grant", tooltip="grant this for the run, or leave it",
        group=_DECIDE, footer=4, in_palette=False),
    Key(id="launch.grants", keys=("T",), label="all", tooltip="grant all, or none", group=_DECIDE, footer=5,
        in_palette=False),
    Key(id="launch.write", keys=("i",), label="input", tooltip="write the input", group=_DECIDE, footer=2,
        in_palette=False, opens_field=True),
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

COMPARE: Final = (
    Key(id="compare.row-down", keys=("j", "down"), label="step", tooltip="step after, before", shown="j k",
        group=_MOVE, footer=1, in_palette=False),
    Key(id="compare.row-up", keys=("k", "up"), label="", tooltip="step before", shown="-", group=_MOVE,
        in_palette=False),
    Key(id="compare.row-first", keys=("g", "home"), label="", tooltip="first, last step", shown="g G",
        group=_MOVE, in_palette=False),
    Key(id="compare.row-last", keys=("G", "end"), label="", tooltip="last step", shown="-", group=_MOVE,
        in_palette=False),
    Key(id="compare.page-down", keys=("ctrl+d", "pagedown"), label="", tooltip="ten steps", shown="ctrl+d u",
        group=_MOVE, in_palette=False),
    Key(id="compare.page-up", keys=("ctrl+u", "pageup"), label="", tooltip="ten steps up", shown="-",
        group=_MOVE, in_palette=False),
    Key(id="compare.difference-next", keys=("n",), label="difference", tooltip="next, previous that differs",
        shown="n N", group=_MOVE, footer=2, in_palette=False),
    Key(id="compare.difference-previous", keys=("N",), label="", tooltip="previous that differs", shown="-",
        group=_MOVE, in_palette=False),
    Key(id="compare.run-older", keys=("{",), label="other run", tooltip="compare with another run",
        shown="{ }", group=_READ, footer=3, in_palette=False),
    Key(id="compare.run-newer", keys=("}",), label="", tooltip="compare with another run", shown="-",
        group=_READ, in_palette=False),
    Key(id="compare.order", keys=("o",), label="order", tooltip="by file, time, tokens", group=_READ,
        footer=4, in_palette=False),
    Key(id="compare.open", keys=("enter",), label="its step", tooltip="its step in the graph", group=_MOVE,
        footer=5, in_palette=False),
    Key(id="compare.leave", keys=("escape", "q", "C"), label="back", shown="esc", tooltip="back",
        group=_MOVE, footer=6, in_palette=False),
)  # fmt: skip
