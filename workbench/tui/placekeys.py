"""Keys of the library and of statistics: a part of THE table of keys, `tui.keys`.

A row here is a row there; nothing else reads them.
"""

from typing import Final

from workbench.tui.keymap import Key

_DECIDE, _MOVE, _MANY, _READ = "Decide", "Move", "Many", "Read"

LIBRARY: Final = (
    Key(id="library.replay", keys=("p",), label="replay", tooltip="see it again, from its beginning",
        group=_READ, footer=49),
    Key(id="library.match-next", keys=("]",), label="match", tooltip="place found below, above; p goes there",
        shown="[ ]", group=_READ, footer=73, in_palette=False),
    Key(id="library.match-previous", keys=("[",), label="", tooltip="match before", shown="-", group=_READ,
        in_palette=False),
    Key(id="library.go-on", keys=("c",), label="continue", tooltip="let it go on, as run --continue does",
        group=_DECIDE, footer=49, decides=True),
    Key(id="library.fork", keys=("F",), label="fork", tooltip="new session from its end, conversation only",
        group=_DECIDE, footer=49, decides=True),
    Key(id="library.beside", keys=("B",), label="side by side", tooltip="the two marked ones, in step",
        group=_MANY, footer=69),
    Key(id="library.rename", keys=("e",), label="rename", tooltip="give it another title", group=_DECIDE,
        footer=63, decides=True),
    Key(id="library.tag", keys=("t",), label="tag", tooltip="its tags", group=_DECIDE, footer=49,
        decides=True),
    Key(id="library.mark", keys=("m",), label="mark", tooltip="mark it, for Z, D and t", group=_MANY,
        footer=64),
    Key(id="library.where", keys=("w",), label="where", tooltip="this workspace, or all", group=_MANY,
        footer=65),
    Key(id="library.send", keys=("E",), label="export", tooltip="write it to a file; its ending says how",
        group=_MANY, footer=49, decides=True),
    Key(id="library.take", keys=("I",), label="import", tooltip="take in a file or folder of other programs",
        group=_MANY, footer=66, decides=True),
    Key(id="library.archive", keys=("Z",), label="archive", tooltip="out of the way, or back", group=_DECIDE,
        footer=67, decides=True),
    Key(id="library.end", keys=("X",), label="end…", tooltip="end it for good; what it did stays",
        group=_DECIDE, footer=68, decides=True),
    Key(id="library.delete", keys=("D",), label="delete…", tooltip="delete it with everything in it",
        group=_DECIDE, footer=49, decides=True),
    Key(id="library.preview-down", keys=("J",), label="preview", tooltip="three lines of the preview",
        shown="J K", group=_MOVE, in_palette=False),
    Key(id="library.preview-up", keys=("K",), label="", tooltip="three lines up", shown="-", group=_MOVE,
        in_palette=False),
    Key(id="library.drop", keys=("escape",), label="back", tooltip="clear the filter, stop an import, back",
        group=_MOVE, is_override=True, in_palette=False),
)  # fmt: skip

FIND: Final = (
    Key(id="find.keep", keys=("enter",), label="to the list", tooltip="keep the filter", group=_MOVE,
        footer=1, in_palette=False),
    Key(id="find.complete", keys=("tab",), label="complete", tooltip="complete status: and the like",
        group=_MOVE, footer=2, in_palette=False),
    Key(id="find.row-down", keys=("down", "ctrl+d"), label="row", tooltip="row down, up", shown="↑ ↓",
        group=_MOVE, footer=3, in_palette=False),
    Key(id="find.row-up", keys=("up", "ctrl+u"), label="", tooltip="row up", shown="-", group=_MOVE,
        in_palette=False),
    Key(id="find.clear", keys=("escape",), label="clear", tooltip="clear the filter", group=_MOVE, footer=4,
        in_palette=False),
)  # fmt: skip

BESIDE: Final = (
    Key(id="beside.conversation", keys=("1",), label="conversation", tooltip="compare conversations",
        group=_READ, in_palette=False),
    Key(id="beside.approvals", keys=("2",), label="queue", tooltip="compare queues", group=_READ,
        in_palette=False),
    Key(id="beside.tools", keys=("3",), label="tools", tooltip="compare calls", group=_READ,
        in_palette=False),
    Key(id="beside.pipeline", keys=("4",), label="graph", tooltip="compare graphs", group=_READ,
        in_palette=False),
    Key(id="beside.other", keys=("tab", "shift+tab"), label="other side", tooltip="to the other side",
        group=_MOVE, in_palette=False),
    Key(id="beside.help", keys=("?", "f1"), label="keys", tooltip="this page", group=_MOVE, in_palette=False),
)  # fmt: skip

STATISTICS: Final = (
    Key(id="statistics.period-shorter", keys=("h", "left"), label="period", tooltip="7, 30, 90 days, all",
        shown="h l", group=_READ, footer=5, in_palette=False),
    Key(id="statistics.period-longer", keys=("l", "right"), label="", tooltip="a longer period", shown="-",
        group=_READ, in_palette=False),
    Key(id="statistics.where", keys=("w",), label="where", tooltip="all, this workspace, this session",
        group=_READ, footer=6),
)  # fmt: skip
