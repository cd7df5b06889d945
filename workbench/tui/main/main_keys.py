"""Keys that work everywhere, in every list, in the sidebar, on the welcome page and in the prompt bar."""

from typing import TYPE_CHECKING, Final

from workbench.tui.backend import EXIT_FOR_DEMO
from workbench.tui.keyboard.keymap import Key
from workbench.tui.pane import FirstWaiting, JumpWanted
from workbench.tui.places import PLACE_OF_KEY, PLACES, Place

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp
    from workbench.tui.main.prompt_bar import PromptBar
    from workbench.tui.main.screen import MainScreen
    from workbench.tui.main.sidebar import Sidebar
    from workbench.tui.pane import Pane


KEYS_OF_FOUND: Final = ("m", "s", "t", "v", "w")
"""Keys of the first page that take a model which was found, in its order."""


def _open_palette(screen: "MainScreen") -> None:
    from workbench.tui.main.palette import open_palette

    open_palette(screen)


def _open_help(screen: "MainScreen") -> None:
    from workbench.tui.main.info_pages import open_help

    open_help(screen)


def _found_key(number: int) -> "Key[MainScreen]":
    return Key(
        id=f"first.found-{number}", keys=(KEYS_OF_FOUND[number - 1],), label="use it", shown="-",
        tooltip=f"add what was found as number {number}, and use it", group="Start", is_override=True,
        in_palette=False, decides=True, action=lambda screen: screen.context.providers.take(number - 1),
    )  # fmt: skip


def _place_key(place: Place) -> "Key[MainScreen]":
    is_first = place is PLACES[0]
    return Key(
        id=place.key_id, keys=(place.key,), label=place.name,
        tooltip=place.tooltip or place.name, aliases=place.aliases,
        shown=f"{place.key} … {PLACES[-1].key}" if is_first else "-",
        help="places, see the titles" if is_first else "",
        action=lambda screen: screen.context.go_by_key(PLACE_OF_KEY[place.key]),
    )  # fmt: skip


APP: Final[tuple[Key["MainScreen"], ...]] = (
    *(_place_key(place) for place in PLACES),
    Key(id="app.pane-next", keys=("tab",), label="next pane", tooltip="next pane",
        aliases="focus switch", shown="tab",
        action=lambda screen: screen.focus_next_pane(1)),
    Key(id="app.pane-previous", keys=("shift+tab",), label="previous pane", tooltip="previous pane",
        shown="-",
        action=lambda screen: screen.focus_next_pane(-1)),
    Key(id="app.waiting-first", keys=("ctrl+g",), label="first waiting", tooltip="go to the first waiting",
        aliases="next pending",
        action=lambda screen: screen.post_message(FirstWaiting())),
    Key(id="app.compose", keys=("i",), label="write", tooltip="write a message",
        aliases="chat prompt ask message type", opens_field=True,
        action=lambda screen: screen.compose_message()),
    Key(id="app.palette", keys=("ctrl+p", ":"), label="commands", tooltip="every command", shown="ctrl+p :",
        in_palette=False, opens_field=True,
        action=_open_palette),
    Key(id="app.help", keys=("?", "f1"), label="all keys", tooltip="this page",
        aliases="help shortcuts bindings keys keyboard hotkeys mouse ?", in_palette=False,
        action=_open_help),
    Key(id="app.zoom", keys=("z",), label="zoom", tooltip="pane full size, and back",
        aliases="maximize fullscreen",
        action=lambda screen: screen.toggle_zoom()),
    Key(id="app.session-new", keys=("ctrl+n",), label="new session", tooltip="new session",
        aliases="chat start session new",
        action=lambda screen: screen.begin_session()),
    Key(id="app.agent-stop", keys=("ctrl+c",), label="stop", tooltip="stop the agent",
        aliases="stop cancel interrupt abort pause kill",
        action=lambda screen: screen.copy_or_stop()),
    Key(id="app.back", keys=("escape",), label="back", tooltip="back one level", in_palette=False,
        action=lambda screen: screen.back()),
    Key(id="app.leave", keys=("q", "ctrl+q"), label="leave", tooltip="leave; agents keep working",
        aliases="quit exit close bye", decides=True,
        action=lambda screen: screen.leave_app()),
    Key(id="app.suspend", keys=("ctrl+z",), label="to the shell", tooltip="to the shell; fg comes back",
        aliases="background terminal shell",
        action=lambda screen: screen.suspend()),
    Key(id="app.redraw", keys=("ctrl+l",), label="redraw", tooltip="draw the screen again",
        aliases="refresh repaint clear",
        action=lambda screen: screen.redraw()),
)  # fmt: skip
AGENTS: Final[tuple[Key["WorkbenchApp"], ...]] = (
    Key(id="agents.hold", keys=("ctrl+s", "f8"), label="hold all agents", shown="ctrl+s f8",
        tooltip="hold all agents: every call asks; what runs keeps running",
        aliases="freeze emergency panic brake",
        action=lambda app: app.hold_agents()),
    Key(id="agents.release", keys=("ctrl+r",), label="release all agents",
        tooltip="release all agents: rules and trust count again",
        aliases="unhold unfreeze",
        action=lambda app: app.release_agents()),
)  # fmt: skip
"""Count before all other keys, whatever has the focus, also in dialogs and replays."""
LIST: Final[tuple[Key["Pane"], ...]] = (
    Key(id="list.row-down", keys=("j", "down"), label="row", tooltip="next, previous row", shown="j k",
        group="Move", in_palette=False,
        action=lambda pane: pane.move(1)),
    Key(id="list.row-up", keys=("k", "up"), label="", tooltip="row up", shown="-", group="Move",
        in_palette=False,
        action=lambda pane: pane.move(-1)),
    Key(id="list.problem-next", keys=("n",), label="next problem",
        tooltip="next waiting or failed",
        help="next, previous waiting or failed", shown="n N", group="Move", footer=50,
        action=lambda pane: pane.move_to_problem(1),
        why_off=lambda pane: pane.NO_PROBLEMS or pane.why_no_row()),
    Key(id="list.problem-previous", keys=("N",), label="", tooltip="previous waiting or failed", shown="-",
        group="Move",
        action=lambda pane: pane.move_to_problem(-1),
        why_off=lambda pane: pane.NO_PROBLEMS or pane.why_no_row()),
    Key(id="list.row-first", keys=("g", "home"), label="ends", tooltip="first, last", shown="g G",
        group="Move", in_palette=False,
        action=lambda pane: pane.move_to_end(is_last=False)),
    Key(id="list.row-last", keys=("G", "end"), label="", tooltip="last", shown="-", group="Move",
        in_palette=False,
        action=lambda pane: pane.move_to_end(is_last=True)),
    Key(id="list.jump", keys=(";",), label="jump", tooltip="jump: letters on what is seen, then one of them",
        aliases="goto letters",
        group="Move", footer=71, opens_field=True,
        action=lambda pane: pane.post_message(JumpWanted())),
    Key(id="list.half-down", keys=("ctrl+d", "pagedown"), label="half a page",
        tooltip="half a page down or up",
        shown="ctrl+d u", group="Move", in_palette=False,
        action=lambda pane: pane.scroll_half(1)),
    Key(id="list.half-up", keys=("ctrl+u", "pageup"), label="", tooltip="half a page up", shown="-",
        group="Move", in_palette=False,
        action=lambda pane: pane.scroll_half(-1)),
    Key(id="list.filter", keys=("/",), label="filter", tooltip="filter",
        aliases="search find grep", group="Many", footer=62,
        opens_field=True,
        action=lambda pane: pane.ask_filter(), why_off=lambda pane: pane.NO_FILTER),
    Key(id="list.order", keys=("o",), label="order", tooltip="change the sort order",
        aliases="sort", group="Many",
        footer=70,
        action=lambda pane: pane.next_order(), why_off=lambda pane: pane.ONE_ORDER or pane.why_no_row()),
    Key(id="list.open", keys=("enter",), label="open", tooltip="open full screen", group="Move",
        footer=48,
        action=lambda pane: pane.open_row(), why_off=lambda pane: pane.why_not_open()),
    Key(id="list.copy", keys=("y",), label="copy", tooltip="copy path, command, text",
        aliases="clipboard yank", group="Many",
        footer=72, decides=True,
        action=lambda pane: pane.copy_row(), why_off=lambda pane: pane.why_no_row()),
    Key(id="list.pipe", keys=("|",), label="pipe", tooltip="pipe the selection to a command",
        group="Many", decides=True,
        action=lambda pane: pane.pipe_row(), why_off=lambda pane: pane.why_no_row()),
)  # fmt: skip
RAIL: Final[tuple[Key["Sidebar"], ...]] = (
    Key(id="rail.replay", keys=("p",), label="replay", tooltip="see it again, from its beginning",
        aliases="replay",
        group="Read", footer=20,
        action=lambda pane: pane.main.app.open_replay(pane.list.cursor or ""),
        why_off=lambda pane: pane.why_not_open()),
    Key(id="rail.fork", keys=("F",), label="fork", tooltip="a session from its end, its files or not",
        aliases="branch copy",
        group="Read", footer=21, decides=True,
        action=lambda pane: pane.main.ask_fork(pane.list.cursor or ""),
        why_off=lambda pane: pane.why_not_open()),
    Key(id="rail.undo", keys=("u",), label="undo…", tooltip="undo all its file changes, or restore them",
        group="Decide", footer=71, decides=True,
        action=lambda pane: pane.main.ask_undo(pane.list.cursor or ""),
        why_off=lambda pane: pane.why_not_open()),
    Key(id="rail.beside", keys=("B",), label="side by side", tooltip="in step beside the one on show",
        aliases="compare",
        group="Read", footer=70,
        action=lambda pane: pane.main.open_beside(pane.list.cursor or ""),
        why_off=lambda pane: pane.why_not_open()),
)  # fmt: skip
FIRST: Final[tuple[Key["MainScreen"], ...]] = (
    Key(id="first.demo", keys=("d",), label="demo", tooltip="a recorded agent on a copy of an example",
        aliases="example tutorial try",
        group="Start", footer=1, is_override=True, decides=True,
        action=lambda screen: screen.textual.exit(EXIT_FOR_DEMO)),
    Key(id="first.providers", keys=("p",), label="set up a model", tooltip="set up a model", group="Start",
        footer=2, is_override=True, decides=True, in_palette=False,
        action=lambda screen: screen.context.providers.open_list()),
    Key(id="first.look", keys=("r",), label="look again", tooltip="look for models again", group="Start",
        footer=3, is_override=True, in_palette=False,
        action=lambda screen: screen.context.providers.look()),
    Key(id="first.agents", keys=("c",), label="connect an agent", group="Start",
        tooltip="have the edits of Claude Code, Codex and others come here", is_override=True,
        in_palette=False,
        action=lambda screen: screen.context.agents.open_list()),
    *(_found_key(number) for number in range(1, len(KEYS_OF_FOUND) + 1)),
)  # fmt: skip
DEMO: Final[tuple[Key["MainScreen"], ...]] = (
    Key(id="demo.replay", keys=("p",), label="replay it", tooltip="see the demo again, from its beginning",
        group="Start", footer=1, in_palette=False, decides=True,
        action=lambda screen: screen.first_page.replay_demo()),
    Key(id="demo.pipeline", keys=("L",), label="its pipeline", tooltip="start the pipeline of the demo",
        group="Start", footer=2, in_palette=False, decides=True,
        action=lambda screen: screen.pipeline.open_launch()),
)  # fmt: skip
"""Count once the agent of the demo is done."""
DIALOG: Final[tuple[Key["PromptBar"], ...]] = (
    Key(id="dialog.ok", keys=("enter",), label="do it", tooltip="do what the dialog says", group="Decide",
        footer=1, in_palette=False, decides=True,
        stays=True,
        action=lambda bar: bar.send()),
    Key(id="dialog.earlier", keys=("up",), label="earlier words", tooltip="words given here before",
        shown="↑ ↓", group="Decide", footer=2, in_palette=False,
        action=lambda bar: bar.recall(1)),
    Key(id="dialog.later", keys=("down",), label="", tooltip="later words", shown="-", group="Decide",
        in_palette=False,
        action=lambda bar: bar.recall(-1)),
    Key(id="dialog.leave", keys=("escape",), label="back, nothing is done", tooltip="back, nothing is done",
        group="Decide", footer=3, is_override=True, in_palette=False,
        action=lambda bar: bar.leave()),
)  # fmt: skip
