"""Keys of the conversation, of the composer, and of the table that undoes a turn or a session."""

from typing import TYPE_CHECKING, Final

from workbench.tui.keyboard.keymap import Key
from workbench.tui.pane import CommandTyped, ContinueSession, RetryModelCall, StopAgent
from workbench.tui.sub_agents import why_no_agent

if TYPE_CHECKING:
    from workbench.tui.conversation.composer import Composer
    from workbench.tui.conversation.conversation_pane import ConversationPane
    from workbench.tui.conversation.queue_dialog import QueueDialog
    from workbench.tui.conversation.undo_dialog import UndoDialog


NO_ERROR: Final = "There is no error to answer here."
NOT_FOLDED: Final = "Only thoughts and outputs can be folded."
NOT_LOOPING: Final = "No repeated call waits for an answer here."
NO_SESSION: Final = "There is no session here."
NOT_BESIDE_ANOTHER: Final = "The diff of a session is shown where it stands alone: esc leaves this one."
NOT_PAUSED: Final = "Nothing is paused here."


def _why_no_undo(pane: "ConversationPane") -> str:
    from workbench.tui.conversation.undo_dialog import why_no_undo

    return why_no_undo(pane)


def _undo_turn(pane: "ConversationPane") -> None:
    session, turn = pane.main.state.current, pane.turns.in_view
    if session is not None and turn is not None:
        pane.main.ask_undo(session.id, turn.id)


def _why_no_diff(pane: "ConversationPane") -> str:
    if pane.is_compared:
        return NOT_BESIDE_ANOTHER
    return "" if pane.main.state.current else NO_SESSION


def _open_diff(pane: "ConversationPane") -> None:
    session = pane.main.state.current
    if session is not None:
        pane.main.show_session_diff(session)


CONVERSATION: Final[tuple[Key["ConversationPane"], ...]] = (
    Key(id="conversation.fold", keys=("space",), label="fold", tooltip="open or fold thought and output",
        aliases="collapse expand",
        group="Read", footer=20,
        action=lambda pane: pane.fold(), why_off=lambda pane: "" if pane.can_fold else NOT_FOLDED),
    Key(id="conversation.follow", keys=("f",), label="follow", tooltip="stay at the end", group="Read",
        footer=22,
        action=lambda pane: pane.move_to_end(is_last=True)),
    Key(id="conversation.turn-previous", keys=("[",), label="turn", tooltip="the turn before, after",
        shown="[ ]", group="Read", footer=24,
        action=lambda pane: pane.move_turn(-1)),
    Key(id="conversation.turn-next", keys=("]",), label="", tooltip="the turn after", shown="-", group="Read",
        action=lambda pane: pane.move_turn(1)),
    Key(id="conversation.diff", keys=("d",), label="diff", tooltip="all that it changed, as one diff",
        aliases="changes patch files", group="Read",
        action=lambda pane: _open_diff(pane), why_off=lambda pane: _why_no_diff(pane)),
    Key(id="conversation.continue-turn", keys=("c",), label="continue", tooltip="continue after a pause",
        aliases="resume continue",
        group="Decide", footer=10, decides=True,
        action=lambda pane: pane.post_message(ContinueSession()),
        why_off=lambda pane: "" if pane.is_paused else NOT_PAUSED),
    Key(id="conversation.stop-loop", keys=("x",), label="stop",
        tooltip="after a repeated call: stop the turn",
        group="Decide", footer=11, decides=True,
        action=lambda pane: pane.post_message(StopAgent()),
        why_off=lambda pane: "" if pane.is_looping else NOT_LOOPING),
    Key(id="conversation.retry", keys=("r",), label="ask again", tooltip="after an error: ask again",
        aliases="retry again",
        group="Decide", footer=12, decides=True,
        action=lambda pane: pane.post_message(RetryModelCall()),
        why_off=lambda pane: pane.why_not_asked("turn") or ("" if pane.error else NO_ERROR)),
    Key(id="conversation.model", keys=("p",), label="other model", tooltip="after an error: another model",
        aliases="switch llm",
        group="Decide", footer=13,
        action=lambda pane: pane.post_message(CommandTyped("model")),
        why_off=lambda pane: pane.why_not_asked("settings") or ("" if pane.error else NO_ERROR)),
    Key(id="conversation.log", keys=("l",), label="the log", tooltip="after an error: what is known of it",
        aliases="log error details",
        group="Decide", footer=14,
        action=lambda pane: pane.open_log(), why_off=lambda pane: "" if pane.error else NO_ERROR),
    Key(id="conversation.undo", keys=("u",), label="undo turn…",
        tooltip="undo all file changes of the turn in view, or restore them", group="Decide", footer=61,
        decides=True,
        action=lambda pane: _undo_turn(pane), why_off=lambda pane: _why_no_undo(pane)),
    Key(id="conversation.fork", keys=("F",), label="fork",
        tooltip="start a session from the block under the cursor, with its files or without",
        aliases="branch copy", group="Read", decides=True,
        action=lambda pane: pane.main.ask_fork(None, pane.forked_block)),
    Key(id="conversation.agent", keys=("O",), label="its agent",
        tooltip="the agent that the call started, as it was then",
        help="the agent that the call under the cursor started, at the same moment; esc goes back",
        aliases="subagent task child", group="Read", footer=19,
        action=lambda pane: pane.main.open_sub_agent(pane.agent_id),
        why_off=lambda pane: why_no_agent(pane)),
)  # fmt: skip
COMPOSER: Final[tuple[Key["Composer"], ...]] = (
    Key(id="composer.send", keys=("enter",), label="send",
        tooltip="send, or queue; !words become a command here", group="Write", footer=1, in_palette=False,
        action=lambda composer: composer.send()),
    Key(id="composer.newline", keys=("ctrl+j", "shift+enter"), label="new line", tooltip="new line",
        group="Write", footer=30, in_palette=False,
        action=lambda composer: composer.newline()),
    Key(id="composer.history-previous", keys=("up",), label="earlier", tooltip="what you said before, after",
        shown="↑ ↓", group="Write", footer=3, in_palette=False,
        action=lambda composer: composer.up()),
    Key(id="composer.history-next", keys=("down",), label="", tooltip="what you said after", shown="-",
        group="Write", in_palette=False,
        action=lambda composer: composer.down()),
    Key(id="composer.complete", keys=("tab",), label="complete",
        tooltip="complete @file, /command; when empty, next pane", group="Write", footer=32, is_override=True,
        in_palette=False,
        action=lambda composer: composer.complete()),
    Key(id="composer.editor", keys=("ctrl+o",), label="editor", tooltip="write in $EDITOR", group="Write",
        footer=31, in_palette=False,
        action=lambda composer: composer.edit()),
    Key(id="composer.leave", keys=("escape",), label="back", tooltip="back to the pane", group="Write",
        footer=2, is_override=True, in_palette=False,
        action=lambda composer: composer.leave()),
)  # fmt: skip


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


QUEUE: Final[tuple[Key["QueueDialog"], ...]] = (
    Key(id="queue.edit", keys=("enter", "e"), label="edit", tooltip="edit the message in the composer",
        group="Write", footer=1, in_palette=False,
        action=lambda screen: screen.edit()),
    Key(id="queue.take-back", keys=("d", "delete"), label="take back",
        tooltip="take the message back: it is not sent", group="Decide", footer=2, in_palette=False,
        decides=True,
        action=lambda screen: screen.take_back()),
    Key(id="queue.row-down", keys=("j", "down"), label="message", tooltip="message after, before",
        shown="j k", group="Move", footer=5, in_palette=False,
        action=lambda screen: screen.move(1)),
    Key(id="queue.row-up", keys=("k", "up"), label="", tooltip="message before", shown="-", group="Move",
        in_palette=False,
        action=lambda screen: screen.move(-1)),
    Key(id="queue.later", keys=("J", "shift+down"), label="later", tooltip="send it one place later",
        group="Move", footer=3, in_palette=False,
        action=lambda screen: screen.move_message(1)),
    Key(id="queue.earlier", keys=("K", "shift+up"), label="earlier", tooltip="send it one place earlier",
        group="Move", footer=4, in_palette=False,
        action=lambda screen: screen.move_message(-1)),
    Key(id="queue.leave", keys=("escape", "q"), label="back", tooltip="back", shown="esc", group="Move",
        footer=6, in_palette=False,
        action=lambda screen: screen.leave()),
)  # fmt: skip
