"""Keys of the dialog that makes a rule and of place 6: a part of THE table of keys, `tui.keys`.

A row here is a row there; nothing else reads them.
"""

from typing import Final

from workbench.tui.keymap import Key

_DECIDE, _MOVE, _MANY = "Decide", "Move", "Many"

ALWAYS: Final = (
    Key(id="always.save", keys=("enter",), label="save", tooltip="save the rule", group=_DECIDE, footer=1,
        in_palette=False, decides=True),
    Key(id="always.row-down", keys=("j", "down"), label="rule", tooltip="rule after, before", shown="j k",
        group=_MOVE, footer=2, in_palette=False),
    Key(id="always.row-up", keys=("k", "up"), label="", tooltip="rule before", shown="-", group=_MOVE,
        in_palette=False),
    Key(id="always.field-next", keys=("tab",), label="field", tooltip="field after, before", group=_MOVE,
        footer=3, in_palette=False),
    Key(id="always.field-previous", keys=("shift+tab",), label="", tooltip="field before", shown="-",
        group=_MOVE, in_palette=False),
    Key(id="always.choose-previous", keys=("h", "left"), label="choose", tooltip="choice before, after",
        shown="h l", group=_MOVE, footer=4, in_palette=False),
    Key(id="always.choose-next", keys=("l", "right"), label="", tooltip="choice after", shown="-",
        group=_MOVE, in_palette=False),
    Key(id="always.edit", keys=("e",), label="edit", tooltip="write the pattern yourself", group=_DECIDE,
        footer=5, in_palette=False, decides=True),
    Key(id="always.scroll-down", keys=("J", "ctrl+d", "pagedown"), label="", tooltip="scroll down",
        shown="J K", group=_MOVE, in_palette=False),
    Key(id="always.scroll-up", keys=("K", "ctrl+u", "pageup"), label="", tooltip="scroll up", shown="-",
        group=_MOVE, in_palette=False),
    Key(id="always.leave", keys=("escape", "q"), label="back, nothing is saved", shown="esc",
        tooltip="back, nothing is saved", group=_DECIDE, footer=6, in_palette=False),
)  # fmt: skip

RULES: Final = (
    Key(id="rules.row-down", keys=("j", "down"), label="rule", tooltip="rule after, before", shown="j k",
        group=_MOVE, footer=1, in_palette=False),
    Key(id="rules.row-up", keys=("k", "up"), label="", tooltip="rule before", shown="-", group=_MOVE,
        in_palette=False),
    Key(id="rules.row-first", keys=("g", "home"), label="", tooltip="first, last rule", shown="g G",
        group=_MOVE, in_palette=False),
    Key(id="rules.row-last", keys=("G", "end"), label="", tooltip="last rule", shown="-", group=_MOVE,
        in_palette=False),
    Key(id="rules.revoke", keys=("D",), label="revoke", tooltip="take the rule back", group=_DECIDE,
        footer=2, in_palette=False, decides=True),
    Key(id="rules.undo", keys=("u",), label="undo", tooltip="put back what was just revoked", group=_DECIDE,
        footer=3, in_palette=False, decides=True),
    Key(id="rules.add", keys=("A",), label="add", tooltip="write a rule", group=_DECIDE, footer=3,
        in_palette=False, decides=True),
    Key(id="rules.edit", keys=("e",), label="edit", tooltip="write it anew; it gets another number",
        group=_DECIDE, footer=3, in_palette=False, decides=True),
    Key(id="rules.backtest", keys=("b",), label="the past", tooltip="what it would have done",
        group=_MANY, footer=3, in_palette=False),
    Key(id="rules.past", keys=("d",), label="revoked ones", tooltip="show or hide revoked and expired",
        group=_MANY, footer=5, in_palette=False),
    Key(id="rules.filter", keys=("/",), label="filter", tooltip="filter", group=_MANY, footer=4,
        in_palette=False, opens_field=True),
    Key(id="rules.palette", keys=("ctrl+p", ":"), label="commands", tooltip="every command", shown="ctrl+p :",
        group=_MANY, in_palette=False, opens_field=True),
    Key(id="rules.help", keys=("?", "f1"), label="all keys", tooltip="this page", group=_MOVE, footer=7,
        in_palette=False),
    Key(id="rules.leave", keys=("escape", "q", "6"), label="back", shown="esc", tooltip="back",
        group=_MOVE, footer=6, in_palette=False),
)  # fmt: skip
