"""Keys of the findings, of an incident in full, and of the page from which work is started."""

from typing import TYPE_CHECKING, Final

from workbench.domain.machines import LOST, TERMINAL_SESSION_STATES
from workbench.tui.keyboard.keymap import Key, unless

if TYPE_CHECKING:
    from workbench.tui.incidents.incident_dialogs import IncidentScreen, StartScreen
    from workbench.tui.incidents.incidents_pane import IncidentsPane

_NO_FINDINGS: Final = "there are no findings; I opens some"
_NO_QUESTION: Final = "nothing about this finding waits for you; n goes to what does"
_NO_AGENT: Final = "no agent was asked about this finding yet"
_NO_OTHER: Final = "there is no other list of findings in this folder"


def _why_not_start(pane: "IncidentsPane") -> str:
    if pane.snapshot is None:
        return _NO_FINDINGS
    if pane.snapshot.session.status in TERMINAL_SESSION_STATES:
        return "this list has ended; I reads its findings again"
    is_any = any(row.is_askable for row in pane.marked or pane.listed)
    return unless(is_any, "none of these can be asked about now")


def _why_not_continue(pane: "IncidentsPane") -> str:
    is_paused = pane.snapshot is not None and pane.snapshot.session.status in ("paused", LOST)
    return unless(is_paused and pane.is_working, "nothing of this list is paused")


INCIDENTS: Final[tuple[Key["IncidentsPane"], ...]] = (
    Key(id="incidents.start", keys=("L",), label="fix…",
        tooltip="have agents fix the marked findings, else all listed",
        aliases="start run work off solve launch incidents", group="Decide", footer=1, decides=True,
        action=lambda pane: pane.actions.ask_start(), why_off=lambda pane: _why_not_start(pane)),
    Key(id="incidents.answer", keys=("a",), label="answer…", tooltip="to its question in the queue",
        aliases="approve reject decide question", group="Decide", footer=1,
        action=lambda pane: pane.show_question(),
        why_off=lambda pane: unless(pane.row and pane.row.action_id, _NO_QUESTION)),
    Key(id="incidents.mark", keys=("m", "space"), label="mark", tooltip="mark it, for L and d", shown="m M",
        help="mark it; mark all that are listed, or none", group="Many", footer=3,
        action=lambda pane: pane.toggle_mark(), why_off=lambda pane: pane.why_no_row()),
    Key(id="incidents.mark-all", keys=("M",), label="", tooltip="mark all that are listed, or none",
        shown="-", group="Many",
        action=lambda pane: pane.toggle_all_marks(), why_off=lambda pane: pane.why_no_row()),
    Key(id="incidents.take", keys=("I",), label="open…",
        tooltip="findings of a file, or of a checker's command",
        aliases="import load sarif konveyor ruff pyright linter checker incidents", group="Many", footer=2,
        decides=True,
        action=lambda pane: pane.actions.ask_source()),
    Key(id="incidents.again", keys=("r",), label="read again",
        tooltip="read the file, or run the checker, again: a new list", aliases="refresh reload check rerun",
        group="Many", footer=8, decides=True,
        action=lambda pane: pane.actions.read_again(),
        why_off=lambda pane: unless(pane.snapshot, _NO_FINDINGS)),
    Key(id="incidents.session", keys=("O",), label="its agent", tooltip="the session of its agent",
        aliases="conversation child", group="Read", footer=4,
        action=lambda pane: pane.open_session(),
        why_off=lambda pane: pane.why_no_row() or unless(pane.row and pane.row.child_id, _NO_AGENT)),
    Key(id="incidents.dismiss", keys=("d",), label="dismiss…",
        tooltip="it will not be fixed, and why; again: take it back",
        aliases="ignore suppress wontfix skip", group="Decide", footer=5, decides=True,
        action=lambda pane: pane.actions.ask_dismissal(), why_off=lambda pane: pane.why_no_row()),
    Key(id="incidents.continue", keys=("c",), label="continue", tooltip="continue paused work on this list",
        aliases="resume unpause", group="Decide", footer=2, decides=True,
        action=lambda pane: pane.actions.go_on(),
        why_off=lambda pane: _why_not_continue(pane)),
    Key(id="incidents.cancel", keys=("X",), label="end work", tooltip="end the work on this list",
        aliases="stop abort cancel kill", group="Decide", footer=6, decides=True,
        action=lambda pane: pane.actions.ask_cancel(),
        why_off=lambda pane: unless(pane.is_working, "nothing of this list is being worked on")),
    Key(id="incidents.list-newer", keys=("[",), label="lists", tooltip="list after, before", shown="[ ]",
        group="Read", footer=7,
        action=lambda pane: pane.show_list(-1), why_off=lambda pane: unless(pane.model.lists[1:], _NO_OTHER)),
    Key(id="incidents.list-older", keys=("]",), label="", tooltip="list before", shown="-", group="Read",
        action=lambda pane: pane.show_list(1), why_off=lambda pane: unless(pane.model.lists[1:], _NO_OTHER)),
    Key(id="incidents.detail-down", keys=("J",), label="detail", tooltip="three lines of the detail",
        shown="J K", group="Move", in_palette=False,
        action=lambda pane: pane.scroll_preview(3)),
    Key(id="incidents.detail-up", keys=("K",), label="", tooltip="three lines up", shown="-", group="Move",
        in_palette=False,
        action=lambda pane: pane.scroll_preview(-3)),
    Key(id="incidents.drop", keys=("escape",), label="back", tooltip="clear filter, marks; stop; back",
        group="Move", is_override=True, in_palette=False,
        action=lambda pane: pane.step_back()),
)  # fmt: skip
INCIDENT: Final[tuple[Key["IncidentScreen"], ...]] = (
    Key(id="incident.session", keys=("O", "enter"), label="its agent", tooltip="the session of its agent",
        shown="O", group="Read", footer=1, in_palette=False,
        action=lambda screen: screen.open_session()),
    Key(id="incident.row-down", keys=("j", "down"), label="scroll", tooltip="a line down, up", shown="j k",
        group="Move", footer=3, in_palette=False,
        action=lambda screen: screen.scroll(1)),
    Key(id="incident.row-up", keys=("k", "up"), label="", tooltip="a line up", shown="-", group="Move",
        in_palette=False,
        action=lambda screen: screen.scroll(-1)),
    Key(id="incident.page-down", keys=("space", "ctrl+d", "pagedown"), label="page", tooltip="page down, up",
        shown="space", group="Move", footer=4, in_palette=False,
        action=lambda screen: screen.scroll_page(1)),
    Key(id="incident.page-up", keys=("ctrl+u", "pageup"), label="", tooltip="a page up", shown="-",
        group="Move", in_palette=False,
        action=lambda screen: screen.scroll_page(-1)),
    Key(id="incident.next", keys=("]",), label="finding", tooltip="finding after, before", shown="[ ]",
        group="Move", footer=2, in_palette=False,
        action=lambda screen: screen.turn(1)),
    Key(id="incident.previous", keys=("[",), label="", tooltip="finding before", shown="-", group="Move",
        in_palette=False,
        action=lambda screen: screen.turn(-1)),
    Key(id="incident.leave", keys=("escape", "q"), label="back", tooltip="back", shown="esc", group="Move",
        footer=5, in_palette=False,
        action=lambda screen: screen.leave()),
)  # fmt: skip
INCIDENT_START: Final[tuple[Key["StartScreen"], ...]] = (
    Key(id="incident-start.start", keys=("enter",), label="start", tooltip="start what is shown",
        group="Decide", footer=1, in_palette=False, decides=True,
        action=lambda screen: screen.start()),
    Key(id="incident-start.batch", keys=("b",), label="batch", tooltip="an agent a finding, file, rule",
        group="Decide", footer=2, in_palette=False,
        action=lambda screen: screen.next_batch()),
    Key(id="incident-start.more", keys=("+", "l"), label="turns", tooltip="more, fewer turns for each",
        shown="+ -", group="Decide", footer=3, in_palette=False,
        action=lambda screen: screen.change_turns(1)),
    Key(id="incident-start.fewer", keys=("-", "h"), label="", tooltip="fewer turns for each", shown="-",
        group="Decide", in_palette=False,
        action=lambda screen: screen.change_turns(-1)),
    Key(id="incident-start.time", keys=("t",), label="time", tooltip="more time for each; then the least",
        group="Decide", footer=4, in_palette=False,
        action=lambda screen: screen.next_time()),
    Key(id="incident-start.row-down", keys=("j", "down"), label="scroll", tooltip="a line down, up",
        shown="j k", group="Move", footer=6, in_palette=False,
        action=lambda screen: screen.scroll(1)),
    Key(id="incident-start.row-up", keys=("k", "up"), label="", tooltip="a line up", shown="-", group="Move",
        in_palette=False,
        action=lambda screen: screen.scroll(-1)),
    Key(id="incident-start.leave", keys=("escape", "q"), label="back, nothing is asked",
        tooltip="back, nothing is asked", shown="esc", group="Decide", footer=5, in_palette=False,
        action=lambda screen: screen.leave()),
)  # fmt: skip
