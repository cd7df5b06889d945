"""What ctrl+c and ctrl+q do in a dialog: they copy, stop the agent or go back, and never answer."""

from typing import Final

from textual.binding import Binding
from textual.events import Key
from textual.screen import ModalScreen

from workbench.tui.keyboard.keyboard_app import KeyboardApp
from workbench.tui.keyboard.owner import KeyDialog, KeyScreen

DIALOG_BINDINGS: Final = (
    Binding("ctrl+c", "stop_or_back", "stop", show=False, priority=True),
    Binding("ctrl+q", "leave_all", "leave", show=False, priority=True),
)
_MOST_DIALOGS: Final = 8
"""Dialogs that can lie over one another."""


def has_open_dialog(app: KeyboardApp) -> bool:
    """Return whether a dialog has the keys."""
    return isinstance(app.screen, ModalScreen)


def stop_agent_or_go_back(app: KeyboardApp) -> None:
    """Copy what is selected; else stop the agent on show; where none works go back from the dialog."""
    below = next(screen for screen in reversed(app.screen_stack) if not isinstance(screen, ModalScreen))
    if selected := _selected_text(app):
        app.copy_to_clipboard(selected)
    elif not isinstance(below, KeyScreen) or not below.stop_agent():
        _close_dialog(app)


def leave_all_dialogs(app: KeyboardApp) -> None:
    """Go back from every dialog, then press the key again where it means to leave."""
    for _ in range(_MOST_DIALOGS):
        if not has_open_dialog(app):
            break
        _close_dialog(app)
    app.guarded.log.forget()
    app.post_message(Key("ctrl+q", None))


def _selected_text(app: KeyboardApp) -> str:
    # Loaded for this key alone: the first frame has neither.
    from textual.widgets import Input, TextArea

    focused = app.focused
    return focused.selected_text if isinstance(focused, Input | TextArea) else ""


def _close_dialog(app: KeyboardApp) -> None:
    screen = app.screen
    if isinstance(screen, KeyDialog):
        screen.close()
