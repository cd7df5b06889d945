"""Keys of the conversation: what they ask of the pane and of the screen."""

from workbench.tui.messages import CommandTyped, Continue, ForkAsked, LogWanted, Retry
from workbench.tui.panes.conversation import ConversationPane


def fold(pane: ConversationPane) -> None:
    """Fold or open the thought or output under the cursor."""
    pane.fold()


def follow(pane: ConversationPane) -> None:
    """Go to the end and stay there."""
    pane.move_to_end(is_last=True)


def continue_turn(pane: ConversationPane) -> None:
    """Let a paused session go on."""
    pane.post_message(Continue())


def retry(pane: ConversationPane) -> None:
    """Ask the model again after an error."""
    pane.post_message(Retry())


def model(pane: ConversationPane) -> None:
    """Choose another model after an error; `r` then asks that one."""
    pane.post_message(CommandTyped("model"))


def log(pane: ConversationPane) -> None:
    """Look at the log after an error."""
    if pane.error is not None:
        pane.post_message(LogWanted(pane.error))


def fork(pane: ConversationPane) -> None:
    """Begin a session from the block under the cursor; from the end where it is the last, or none."""
    pane.post_message(ForkAsked(None, pane.forked_block))
